"""Compare the rules that choose the landmarks of a Nystroem kernel, on small data sets and several seeds.

    python benchmarks/bench_nystroem.py
    python benchmarks/bench_nystroem.py --seeds 1 --out small.csv

What counts is how close each rule comes to the exact kernel: to its matrix, and to the labels of its fit. Time and
memory of fits with landmarks, with their answers checked, are part of ``semikpca bench speed``.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.preprocessing import StandardScaler

from results_csv import circumstances, command_line, write_csv
from semikpca import SemiKPCAClassifier
from semikpca.kernels import RBF, Nystroem
from semikpca_benchmarks.speed import two_clusters

RESULTS = Path(__file__).parent / "results" / "nystroem_rules.csv"
SEED = 0


def main(arguments: list[str] | None = None) -> None:
    """Compare, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="of each comparison (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="CSV file to write (default: %(default)s)")
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    write_csv(compared_rules(options.seeds, command), options.out)


def small_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return rows and classes of small data sets of several kinds, standardized."""
    generator = np.random.default_rng(SEED)
    clusters, _, classes = two_clusters(2_000)
    centers = 6 * generator.standard_normal((5, 4))
    sizes = [1_200, 500, 200, 60, 40]
    uneven = np.repeat(centers, sizes, axis=0) + generator.standard_normal((2_000, 4))
    sets = {
        "two clusters": (clusters, classes),
        "uneven clusters": (uneven, np.repeat(np.arange(5), sizes)),
        "moons": make_moons(2_000, noise=0.1, random_state=SEED),
        "digits": load_digits(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
    }
    return {name: (StandardScaler().fit_transform(X), y) for name, (X, y) in sets.items()}


def compared_rules(n_seeds: int, command: str) -> list[dict[str, object]]:
    """Return how close each rule comes to the exact kernel: its matrix, and the labels of a fit."""
    records: list[dict[str, object]] = []
    titles = ("data", "landmarks", "rule", "error", "agreement", "worst", "seconds")
    print("  ".join(f"{title:>15}" for title in titles))
    for name, (X, classes) in small_sets().items():
        kernel = RBF().fit(X)
        exact = kernel(X)
        for n_landmarks in (20, 100):
            for rule in ("uniform", "k-means++", "leverage"):
                found = [
                    compared(X, classes, exact, Nystroem(kernel, n_landmarks, landmarks=rule, random_state=seed), seed)
                    for seed in range(n_seeds)
                ]
                errors, agreements, seconds = (np.array(column) for column in zip(*found, strict=True))
                records.append(
                    {
                        "data": name,
                        "rows": len(X),
                        "landmarks": n_landmarks,
                        "rule": rule,
                        "relative_error": f"{errors.mean():.4g}",
                        "agreement_with_exact": f"{agreements.mean():.4g}",
                        "worst_agreement": f"{agreements.min():.4g}",
                        "kernel_fit_seconds": f"{np.median(seconds):.4g}",
                        "seeds": n_seeds,
                        **circumstances(command),
                    }
                )
                shown = [str(value) for title, value in records[-1].items() if title != "rows"]
                print("  ".join(f"{value:>15}" for value in shown[: len(titles)]), flush=True)
    return records


def compared(X, classes, exact, kernel, seed: int) -> tuple[float, float, float]:
    """Return ‖K − K̃‖/‖K‖ (Frobenius), the share of labels that agree with the exact fit, and seconds."""
    generator = np.random.default_rng(seed)
    y = np.full(len(X), -1)
    for c in np.unique(classes):
        y[generator.choice(np.flatnonzero(classes == c), 3, replace=False)] = c
    start = time.perf_counter()
    approximate = kernel.fit(X)(X)
    seconds = time.perf_counter() - start
    error = float(np.linalg.norm(exact - approximate) / np.linalg.norm(exact))
    wanted = SemiKPCAClassifier("precomputed").fit_predict(exact, y)
    return error, float(np.mean(SemiKPCAClassifier(kernel).fit_predict(X, y) == wanted)), seconds


if __name__ == "__main__":
    main()
