"""Time and memory of a fit with a Nystroem kernel, over the number of rows.

    python benchmarks/bench_nystroem.py
    python benchmarks/bench_nystroem.py --rows 2000 4000 --landmarks 50 --exact-rows 500 --out small.csv

Answers are checked before times are taken: a small fit against Algorithm 1 of the paper on the approximate matrix,
written naively, its predictions against its transduction and its path of error weights against fits of their own. Then
the labels are compared with those of the exact kernel, on as many rows as the exact kernel takes in seconds. Each size
runs in a process of its own, whose largest memory is read at the end of the fit. On a busy computer processor time,
over all threads, says more than seconds on the clock; both are there.

With ``--rules`` the rules that choose landmarks are compared instead, on small data sets and several seeds:

    python benchmarks/bench_nystroem.py --rules
"""

import argparse
import csv
import json
import os
import platform
import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.preprocessing import StandardScaler

import semikpca
from semikpca import SemiKPCAClassifier
from semikpca.kernels import RBF, Nystroem
from semikpca.labeling import error_weight_path

RESULTS = Path(__file__).parent / "results"
ROWS = [100_000, 200_000, 500_000, 1_000_000]
N_FEATURES = 10
N_LABELS = 20
N_NEW_ROWS = 10_000
N_WEIGHTS = 100
SEED = 0
THREADS = "OPENBLAS_NUM_THREADS"

# Two ways to the same numbers in double precision; largest difference against the largest decision.
RELATIVE_TOLERANCE = 1e-8
# Labels that may differ from those of the exact kernel, as a share.
MOST_OTHER_LABELS = 0.02


def main(arguments: list[str] | None = None) -> None:
    """Check, time, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="sizes of the data (default: %(default)s)")
    parser.add_argument("--landmarks", type=int, default=1000, help="of the kernel (default: %(default)s)")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="(default: %(default)s)")
    parser.add_argument("--exact-rows", type=int, default=10_000, help="of the comparison (default: %(default)s)")
    parser.add_argument("--rules", action="store_true", help="compare the rules that choose landmarks instead")
    parser.add_argument("--seeds", type=int, default=10, help="of the comparison of rules (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="CSV file to write (default: nystroem.csv or nystroem_rules.csv)")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)  # one size, in a process of its own
    options = parser.parse_args(arguments)
    if options.measure:
        print(json.dumps(measured(options.measure, options.landmarks, options.dtype)))
        return
    command = command_line(sys.argv[1:] if arguments is None else arguments)
    if options.rules:
        records = compared_rules(options.seeds, command)
        write_csv(records, options.out or RESULTS / "nystroem_rules.csv")
        return
    check_small_fit()
    agreement = agreement_with_the_exact_kernel(options.exact_rows, options.landmarks)
    print(f"{agreement:.2%} of {options.exact_rows:,} labels are those of the exact kernel")
    records = []
    for n_rows in options.rows:
        records.append(record(n_rows, in_a_process_of_its_own(n_rows, options), agreement, options, command))
        print_row(records)
    write_csv(records, options.out or RESULTS / "nystroem.csv")


# -- data ------------------------------------------------------------------------------------------------------


def two_clusters(n_rows: int, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two Gaussian clusters four standard deviations apart, a few labels, and all classes."""
    generator = np.random.default_rng(SEED)
    classes = np.arange(n_rows) % 2
    X = generator.standard_normal((n_rows, N_FEATURES), dtype=dtype)
    X[:, 0] += 4 * classes
    y = np.full(n_rows, -1)
    labeled = generator.choice(n_rows // 2, N_LABELS // 2, replace=False)
    for c in (0, 1):
        y[2 * labeled + c] = c
    return X, y, classes


def model(n_landmarks: int) -> SemiKPCAClassifier:
    return SemiKPCAClassifier(Nystroem(RBF(), n_landmarks, random_state=SEED))


# -- checks ----------------------------------------------------------------------------------------------------


def naive_decision(X: np.ndarray, y: np.ndarray, landmarks: np.ndarray, gamma: float) -> np.ndarray:
    """Return the decisions of Algorithm 1 on the approximate matrix; shares no code with the package."""
    C, W = (np.exp(-gamma * ((A[:, np.newaxis] - landmarks) ** 2).sum(axis=2)) for A in (X, landmarks))
    K = C @ np.linalg.pinv(W, hermitian=True) @ C.T
    values, vectors = np.linalg.eigh(K)
    error_weight = 1 / np.sqrt(values[-1] * values[-2])
    K -= values[-1] * np.outer(vectors[:, -1], vectors[:, -1])
    targets = np.select([y == 1, y == 0], [1.0, -1.0], default=0.0)
    return K @ np.linalg.solve(np.eye(len(K)) / error_weight - K, targets)


def check_small_fit() -> None:
    """Stop unless a small fit is right in all that is timed later."""
    X, y, _ = two_clusters(600)
    fit = model(40).fit(X, y)
    wanted = naive_decision(X, y, fit.kernel_.landmarks_, fit.kernel_.kernel_.gamma_)
    require_equal("decision", fit.decision_, wanted)
    require_equal("prediction", fit.decision_function(X.copy()), wanted)
    path = error_weight_path(fit, N_WEIGHTS)
    for i in (N_WEIGHTS // 10, N_WEIGHTS * 9 // 10):
        alone = model(40).set_params(error_weight=float(path.relative_weights[i])).fit(X, y)
        require_equal("path", path.decision[i], alone.decision_)
    labeled = np.flatnonzero(y != -1)[:1]
    fewer = y.copy()
    fewer[labeled] = -1
    require_equal(
        "decision with a label added", model(40).fit(X, fewer).add_labels(labeled, y[labeled]).decision_, wanted
    )


def agreement_with_the_exact_kernel(n_rows: int, n_landmarks: int) -> float:
    """Return the share of rows that get the label that the exact kernel gives them; stop where it is too low."""
    X, y, _ = two_clusters(n_rows)
    agreement = float(np.mean(model(n_landmarks).fit_predict(X, y) == SemiKPCAClassifier(RBF()).fit_predict(X, y)))
    if agreement < 1 - MOST_OTHER_LABELS:
        raise SystemExit(f"No times: only {agreement:.1%} of the labels are those of the exact kernel.")
    return agreement


def require_equal(what: str, found: np.ndarray, wanted: np.ndarray) -> None:
    """Stop with the numbers where two answers differ."""
    difference = np.abs(found - wanted).max() / np.abs(wanted).max()
    if not difference <= RELATIVE_TOLERANCE:
        raise SystemExit(f"No times: the {what} is off by {difference:.1e} of its largest value.")


# -- times -----------------------------------------------------------------------------------------------------


def measured(n_rows: int, n_landmarks: int, dtype: str) -> dict[str, float]:
    """Return seconds and memory of one size."""
    X, y, classes = two_clusters(n_rows, dtype)
    model(10).fit(X[:200], classes[:200])  # loads everything that is loaded once
    seconds = {}
    start, start_cpu = time.perf_counter(), time.process_time()
    fit = model(n_landmarks).fit(X, y)
    seconds["fit"], seconds["fit_cpu"] = time.perf_counter() - start, time.process_time() - start_cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts in kB
    new = two_clusters(N_NEW_ROWS, dtype)[0]
    fit.predict(new[:1])  # the weights of the landmarks are made once
    for what, job in {
        "predict": lambda: fit.predict(new),
        "path": lambda: error_weight_path(fit, N_WEIGHTS),
        "add_labels": lambda: fit.add_labels([0], [0]),
    }.items():
        start = time.perf_counter()
        job()
        seconds[what] = time.perf_counter() - start
    return {
        **{f"{what}_seconds": value for what, value in seconds.items()},
        "peak_gb": peak / 1e9,
        "accuracy": float(np.mean(fit.transduction_ == classes)),
        "rank": fit.kernel_.rank_,
    }


def in_a_process_of_its_own(n_rows: int, options: argparse.Namespace) -> dict[str, float]:
    """Return what ``measured`` returns, in a fresh process."""
    arguments = ["--measure", str(n_rows), "--landmarks", str(options.landmarks), "--dtype", options.dtype]
    answer = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(answer.stdout)
    return found


# -- rules -----------------------------------------------------------------------------------------------------


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


# -- report ----------------------------------------------------------------------------------------------------


def record(n_rows, found, agreement, options, command) -> dict[str, object]:
    """Return one row of the report, with everything needed to make it again."""
    numbers = {name: value if name == "rank" else f"{value:.4g}" for name, value in found.items()}
    return {
        "rows": n_rows,
        "features": N_FEATURES,
        "landmarks": options.landmarks,
        "dtype": options.dtype,
        "labels": N_LABELS,
        **numbers,
        "fit_seconds_per_million": f"{1e6 * found['fit_seconds'] / n_rows:.4g}",
        "fit_cpu_seconds_per_million": f"{1e6 * found['fit_cpu_seconds'] / n_rows:.4g}",
        "path_against_fit": f"{found['path_seconds'] / found['fit_seconds']:.4g}",
        "agreement_with_exact": f"{agreement:.4g}",
        "exact_rows": options.exact_rows,
        "seed": SEED,
        **circumstances(command),
    }


def circumstances(command: str) -> dict[str, object]:
    """Return where the numbers of a row come from."""
    return {
        "cores": os.cpu_count(),
        "threads": os.environ.get(THREADS, "all"),
        "semikpca": semikpca.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit_learn": sklearn.__version__,
        "command": command,
    }


def command_line(arguments: list[str]) -> str:
    """Return what to type to make these numbers again."""
    setting = [f"{THREADS}={os.environ[THREADS]}"] if THREADS in os.environ else []
    return shlex.join([*setting, "python", "benchmarks/bench_nystroem.py", *arguments])


def print_row(records: list[dict[str, object]]) -> None:
    shown = {
        "rows": "rows",
        "fit_seconds": "fit, s",
        "fit_seconds_per_million": "s per million",
        "fit_cpu_seconds_per_million": "cpu s per million",
        "peak_gb": "peak, GB",
        "path_seconds": "path of 100, s",
        "add_labels_seconds": "add label, s",
        "predict_seconds": "predict 10,000, s",
        "accuracy": "accuracy",
    }
    if len(records) == 1:
        print("  ".join(f"{title:>17}" for title in shown.values()))
    print("  ".join(f"{records[-1][name]:>17}" for name in shown), flush=True)


def write_csv(records: list[dict[str, object]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)


if __name__ == "__main__":
    main()
