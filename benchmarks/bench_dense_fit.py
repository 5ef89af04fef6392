"""Time a dense fit against scikit-learn's KernelPCA, and a path of error weights against one fit.

    python benchmarks/bench_dense_fit.py
    python benchmarks/bench_dense_fit.py --rows 200 --repetitions 1 --out small.csv

Every answer is checked before its time is taken: decisions against Algorithm 1 of the paper written naively, the path
against fits of its own at a few weights, the automatic fit against itself on new rows. Repetitions are interleaved, so
that whatever else the computer does falls on all candidates alike, and what counts is the ratio of two medians. On a
busy computer, processor time with one thread is the fairer measure:

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_dense_fit.py --clock cpu

With ``--order blocks`` all repetitions of one candidate come before those of the next.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.decomposition import KernelPCA

from results_csv import circumstances, command_line, write_csv
from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.labeling import error_weight_path, leave_one_label_out

N_FEATURES = 10
N_LABELS = 20
N_WEIGHTS = 100
SEED = 0

# Interleaved repetitions share whatever else the computer does, but NumPy's and SciPy's BLAS threads then wait for each
# other; in blocks each candidate has the computer to itself, as in a program of its own.
ORDERS = ("interleaved", "blocks")
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}

# What the package promises of its decisions; largest difference against the largest decision.
RELATIVE_TOLERANCE = 1e-8

# Rows of the report: what is timed, against what, and the ratio it should not exceed (None: said for the record).
COMPARISONS: list[tuple[str, str, float | None]] = [
    ("fit", "KernelPCA(2)", 1.0),
    ("fit", "KernelPCA(2, kernel='rbf')", 1.0),
    ("fit, linear kernel", "KernelPCA(2)", None),
    ("path of 100 weights with leave-one-label-out", "fit", 2.0),
    ("whole spectrum", "fit", None),
    ("automatic fit, SemiKPCAClassifierCV()", "fit", 10.0),
]


def main(arguments: list[str] | None = None) -> None:
    """Check, time, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000, help="rows of the data (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=15, help="of each measurement (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="CSV file to write (default: none)")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="time to take (default: %(default)s)")
    parser.add_argument("--order", choices=ORDERS, default=ORDERS[0], help="of repetitions (default: %(default)s)")
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    records = []
    for name, make_data in {"two clusters": two_clusters, "one cloud": one_cloud}.items():
        X, y = make_data(options.rows)
        check_decision(X, y)
        check_path(X, y)
        check_automatic(X, y)
        seconds = time_jobs(candidates(X, y), options.repetitions, CLOCKS[options.clock], options.order)
        records += [record(name, *comparison, seconds, options, command) for comparison in COMPARISONS]
    print_table(records)
    if options.out:
        write_csv(records, options.out)


# -- data ------------------------------------------------------------------------------------------------------


def two_clusters(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two Gaussian clusters four standard deviations apart: the second eigenvalue stands alone."""
    generator = np.random.default_rng(SEED)
    classes = np.arange(n_rows) % 2
    X = generator.standard_normal((n_rows, N_FEATURES))
    X[:, 0] += 4 * classes
    return X, few_labels(classes, generator)


def one_cloud(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return one Gaussian cloud, cut in half by class: the second eigenvalue has neighbors, the hard case."""
    generator = np.random.default_rng(SEED)
    X = generator.standard_normal((n_rows, N_FEATURES))
    return X, few_labels((X[:, 0] > 0).astype(int), generator)


def few_labels(classes: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return the classes of N_LABELS rows, half of each class; all other rows are unlabeled, -1."""
    labeled = [generator.choice(np.flatnonzero(classes == c), N_LABELS // 2, replace=False) for c in (0, 1)]
    y = np.full(len(classes), -1)
    for rows in labeled:
        y[rows] = classes[rows]
    return y


# -- checks ----------------------------------------------------------------------------------------------------


def algorithm_1(K: np.ndarray, signed_targets: np.ndarray, k: int, gamma: float) -> np.ndarray:
    """Return the decisions of Algorithm 1, line by line; shares no code with the package."""
    eigenvalues, eigenvectors = np.linalg.eigh(K)
    for value, vector in list(zip(eigenvalues[::-1], eigenvectors.T[::-1], strict=True))[:k]:
        K = K - value * np.outer(vector, vector)
    alpha = np.linalg.solve(np.eye(len(K)) / gamma - K, signed_targets)
    return K @ alpha


def check_decision(X: np.ndarray, y: np.ndarray) -> None:
    """Stop unless the default fit decides as Algorithm 1 does."""
    model = SemiKPCAClassifier().fit(X, y)
    squared = squared_distances(X)
    distances = np.sqrt(squared[np.triu_indices(len(X), k=1)])
    K = np.exp(-squared / (2 * np.median(distances) ** 2))
    eigenvalues = np.linalg.eigvalsh(K)[::-1]
    gamma = 1 / np.sqrt(eigenvalues[0] * eigenvalues[1])
    signed_targets = np.select([y == 1, y == 0], [1.0, -1.0], default=0.0)
    require_equal("decision", model.decision_, algorithm_1(K, signed_targets, 1, gamma))


def squared_distances(X: np.ndarray) -> np.ndarray:
    """Return all squared distances, one column of X at a time, so that memory stays at one matrix."""
    squared = np.zeros((len(X), len(X)))
    for column in X.T:
        squared += (column[:, np.newaxis] - column) ** 2
    return squared


def check_path(X: np.ndarray, y: np.ndarray) -> None:
    """Stop unless the path equals fits of its own near both ends and in the middle."""
    path = error_weight_path(SemiKPCAClassifier().fit(X, y), N_WEIGHTS)
    for i in (N_WEIGHTS // 10, N_WEIGHTS // 2, N_WEIGHTS * 9 // 10):
        alone = SemiKPCAClassifier(error_weight=float(path.relative_weights[i])).fit(X, y)
        require_equal("path", path.decision[i], alone.decision_)
        require_equal("leave-one-label-out", path.left_out_decision[i], leave_one_label_out(alone).decision)


def check_automatic(X: np.ndarray, y: np.ndarray) -> None:
    """Stop unless the automatic fit decides on its rows as on new ones, and a label added equals a label given."""
    model = SemiKPCAClassifierCV().fit(X, y)
    require_equal("automatic decision", model.decision_function(X.copy()), model.decision_)
    labeled = np.flatnonzero(y != -1)[:1]
    fewer = y.copy()
    fewer[labeled] = -1
    added = SemiKPCAClassifierCV().fit(X, fewer).add_labels(labeled, y[labeled])
    require_equal("automatic decision with a label added", added.decision_, model.decision_)


def require_equal(what: str, found: np.ndarray, wanted: np.ndarray) -> None:
    """Stop with the numbers where two answers differ."""
    difference = np.abs(found - wanted).max() / np.abs(wanted).max()
    if not difference <= RELATIVE_TOLERANCE:
        raise SystemExit(f"No times: the {what} is off by {difference:.1e} of its largest value.")


# -- times -----------------------------------------------------------------------------------------------------


def candidates(X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], object]]:
    """Return what is timed, by the names that COMPARISONS uses."""
    model = SemiKPCAClassifier().fit(X, y)
    spectrum = model.full_spectrum()
    return {
        "fit": lambda: SemiKPCAClassifier().fit(X, y),
        "fit, linear kernel": lambda: SemiKPCAClassifier("linear").fit(X, y),
        "KernelPCA(2)": lambda: KernelPCA(2).fit(X),
        "KernelPCA(2, kernel='rbf')": lambda: KernelPCA(2, kernel="rbf").fit(X),
        "path of 100 weights with leave-one-label-out": lambda: error_weight_path(model, N_WEIGHTS, spectrum=spectrum),
        "whole spectrum": model.full_spectrum,
        "automatic fit, SemiKPCAClassifierCV()": lambda: SemiKPCAClassifierCV().fit(X, y),
    }


def time_jobs(
    jobs: dict[str, Callable[[], object]], repetitions: int, clock: Callable[[], float], order: str
) -> dict[str, float]:
    """Return the median seconds of each job, after one run that is not counted."""
    rounds = [(repetition, name) for repetition in range(repetitions + 1) for name in jobs]
    if order == "blocks":
        rounds = [(repetition, name) for name in jobs for repetition in range(repetitions + 1)]
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for repetition, name in rounds:
        start = clock()
        jobs[name]()
        if repetition:
            seconds[name].append(clock() - start)
    return {name: median(values) for name, values in seconds.items()}


# -- report ----------------------------------------------------------------------------------------------------


def record(data, what, reference, bar, seconds, options, command) -> dict[str, object]:
    """Return one row of the report, with everything needed to make it again."""
    return {
        "data": data,
        "what": what,
        "seconds": f"{seconds[what]:.4g}",
        "reference": reference,
        "reference_seconds": f"{seconds[reference]:.4g}",
        "ratio": f"{seconds[what] / seconds[reference]:.4g}",
        "bar": "" if bar is None else bar,
        "rows": options.rows,
        "features": N_FEATURES,
        "labels": N_LABELS,
        "repetitions": options.repetitions,
        "clock": options.clock,
        "order": options.order,
        **circumstances(command),
    }


def print_table(records: list[dict[str, object]]) -> None:
    print(f"{'data':<13} {'what':<45} {'ms':>8}   {'against':<27} {'ms':>8} {'ratio':>7} {'bar':>5}")
    for row in records:
        own, other = 1e3 * float(str(row["seconds"])), 1e3 * float(str(row["reference_seconds"]))
        print(
            f"{row['data']:<13} {row['what']:<45} {own:>8.1f}   {row['reference']:<27} {other:>8.1f} "
            f"{row['ratio']:>7} {row['bar']:>5}"
        )


if __name__ == "__main__":
    main()
