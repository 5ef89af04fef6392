"""Time LS-SVM where the matrix is not stored, with landmarks and without, against a fit of Semi-KPCA on the same rows.

    python benchmarks/bench_lssvm.py --clock cpu --out benchmarks/results/lssvm.csv
    python benchmarks/bench_lssvm.py --rows 1500 --out small.csv

Answers are checked first, at a small size against the dense system solved by NumPy; at the size that is timed the
residual y − b − Kα − α/γ, with kernel values of scikit-learn in double precision, is written beside the stated one.
Repetitions are interleaved. On a busy computer, processor time is the fairer measure (``--clock cpu``).
"""

import argparse
import sys
import time
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from results_csv import circumstances, command_line, write_csv
from semikpca import LSSVMClassifier, SemiKPCAClassifier
from semikpca_benchmarks.speed import two_clusters

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
SMALL = 1_500  # rows of the check against a dense system
TOL = 1e-6
# Residuals of TOL, amplified by the condition number of the part of the system that the targets see.
DECISION_TOLERANCE = 1e-4
ROWS_AT_ONCE = 1_000


def main(arguments: list[str] | None = None) -> None:
    """Check, time, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000, help="rows of the data (default: %(default)s)")
    parser.add_argument("--weight", type=float, default=100.0, help="error weight γ (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=3, help="of each fit (default: %(default)s)")
    parser.add_argument("--plain", type=int, default=1, help="fits without landmarks (default: %(default)s)")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="time to take (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="CSV file to write (default: none)")
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    check_small(options.weight)
    X, few_labels, classes = two_clusters(options.rows)
    clock = CLOCKS[options.clock]
    jobs = {
        "Semi-KPCA": lambda: SemiKPCAClassifier(backend="auto").fit(X, few_labels),
        "LS-SVM": lambda: fitted(X, classes, options.weight),
        "LS-SVM without landmarks": lambda: without_landmarks(X, classes, options.weight),
    }
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    models = {}
    for repetition in range(options.repetitions):
        for name, job in jobs.items():
            if "without" in name and repetition >= options.plain:
                continue
            start = clock()
            models[name] = job()
            seconds[name].append(clock() - start)
    records = []
    for name, times in seconds.items():
        if not times:
            continue
        model, is_lssvm = models[name], name.startswith("LS-SVM")
        true = true_residual(model, X, classes, options.weight) if is_lssvm else None
        records.append(
            {
                "method": name,
                "rows": options.rows,
                "features": X.shape[1],
                "error_weight": options.weight if is_lssvm else "middle",
                "backend": model.backend_,
                "seconds": round(median(times), 2),
                "fits_of_semi_kpca": round(median(times) / median(seconds["Semi-KPCA"]), 2),
                "products": model.n_products_,
                "steps": model.n_iter_,
                "stated_residual": f"{model.residual_:.1e}" if is_lssvm else "",
                "true_residual": f"{true:.1e}" if is_lssvm else "",
                "clock": options.clock,
                "repetitions": len(times),
                **circumstances(command),
            }
        )
        print({key: records[-1][key] for key in list(records[-1])[:11]})
    if options.out:
        write_csv(records, options.out)


def fitted(X: np.ndarray, classes: np.ndarray, weight: float) -> LSSVMClassifier:
    """Return LS-SVM as it is; blocks are what "auto" takes for many rows."""
    return LSSVMClassifier(error_weight=weight, tol=TOL).fit(X, classes)


def without_landmarks(X: np.ndarray, classes: np.ndarray, weight: float) -> LSSVMClassifier:
    """Return the same by the same steps without a preconditioner."""
    with patch("semikpca.problem._lssvm.choose_landmarks", return_value=0):
        return fitted(X, classes, weight)


def check_small(weight: float) -> None:
    """Compare decisions with those of the bordered system, solved by NumPy."""
    X, _, classes = two_clusters(SMALL)
    model = LSSVMClassifier(error_weight=weight, tol=TOL, backend="blocked").fit(X, classes)
    system = np.ones((SMALL + 1, SMALL + 1))
    system[0, 0] = 0
    K = rbf_kernel(X, gamma=model.kernel_.gamma_)
    system[1:, 1:] = K + np.eye(SMALL) / weight
    solution = np.linalg.solve(system, np.append(0.0, 2.0 * classes - 1))
    expected = K @ solution[1:] + solution[0]
    error = float(np.abs(model.decision_ - expected).max() / np.abs(expected).max())
    if not error <= DECISION_TOLERANCE:
        raise ValueError(f"decisions are off by {error:.1e}, {DECISION_TOLERANCE:.0e} is allowed: no time was taken.")


def true_residual(model: LSSVMClassifier, X: np.ndarray, classes: np.ndarray, weight: float) -> float:
    """Return ‖y − b − Kα − α/γ‖ / ‖y‖ with kernel values of scikit-learn."""
    left = 2.0 * classes - 1 - float(model.intercept_[0]) - model.alpha_ / weight
    for start in range(0, len(X), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        left[part] -= rbf_kernel(X[part], X, gamma=model.kernel_.gamma_) @ model.alpha_
    return float(np.linalg.norm(left) / np.sqrt(len(X)))


if __name__ == "__main__":
    main()
