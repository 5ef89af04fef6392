"""Time products and fits with compiled programs (the extra ``fast``) against the same without them, and against peers.

    python benchmarks/bench_compiled.py --out benchmarks/results/compiled.csv
    python benchmarks/bench_compiled.py --parts products --repetitions 15
    python benchmarks/bench_compiled.py --rows 1000 --many-rows 1500 --repetitions 1 --out small.csv

Parts: ``start``, what it takes to compile a program and to load it again; ``products`` of one matrix with 16 columns;
``fits`` beside those of scikit-learn; ``many`` rows, once with programs and once without.

Every answer is checked before its time is taken: products against the formula in more digits, at some of the rows, fits
against each other and against the truth. Repetitions are interleaved, so that whatever else the computer does falls on
all candidates alike, and what counts is the ratio of two medians. Times on the clock are followed by those of the
processor, over all threads, which other programs change less.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.semi_supervised import LabelSpreading

import semikpca.kernels.compiled._machine as machine
import semikpca.kernels.compiled._tiles as compiled_tiles
from bench_dense_fit import two_clusters
from results_csv import circumstances, command_line, write_csv
from semikpca import SemiKPCAClassifier
from semikpca.kernels import RBF, CompiledTiles, Kernel, Laplacian, Polynomial, tiles_of
from semikpca.operators import make_operator

PARTS = ("start", "products", "fits", "many")
N_COLUMNS = 16
CHECKED_ROWS = 64
SEED = 0
# Of a product, relative to that of absolute values: exponents up to 16 are off by 16 roundings.
ALLOWED = {"float32": 4e-6, "float64": 1e-13}
ALLOWED_DECISIONS = 1e-5  # fits end at residuals of 1e-6
LEAST_ACCURACY = 0.9  # of every method, on clusters four standard deviations apart
WITH, WITHOUT = "with", "without"

# What products are made of: a name, a kernel, features, type, and the least ratio (None: said for the record).
PRODUCTS: list[tuple[str, Kernel, int, str, float | None]] = [
    ("RBF", RBF(), 10, "float32", 1.8),
    ("RBF", RBF(), 64, "float32", 1.8),
    ("RBF", RBF(), 10, "float64", 1.8),
    ("RBF", RBF(), 64, "float64", 1.8),
    ("Laplacian", Laplacian(), 10, "float32", None),
    ("Polynomial", Polynomial(), 10, "float32", None),
]

FORMULAS: dict[str, Callable[[np.ndarray, np.ndarray, float], np.ndarray]] = {
    "RBF": lambda A, B, gamma: np.exp(-gamma * ((A[:, None] - B) ** 2).sum(axis=2)),
    "Laplacian": lambda A, B, gamma: np.exp(-gamma * np.abs(A[:, None] - B).sum(axis=2)),
    "Polynomial": lambda A, B, gamma: (gamma * A @ B.T + 1) ** 3,
}

Seconds = tuple[float, float]  # on the clock, of the processor


def main(arguments: list[str] | None = None) -> None:
    """Check, time, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="(default: all)")
    parser.add_argument("--rows", type=int, default=20_000, help="of products and fits (default: %(default)s)")
    parser.add_argument("--many-rows", type=int, default=100_000, help="of the part many (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=7, help="of each measurement (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="CSV file to write (default: none)")
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    parts = {"start": start, "products": products, "fits": fits, "many": many}
    records: list[dict[str, object]] = []
    for name in PARTS:
        if name in options.parts:
            for row in parts[name](options):
                print("  ".join(f"{key} {value}" for key, value in row.items() if value != ""), flush=True)
                records.append({**row, **circumstances(command)})
    if options.out:
        write_csv(records, options.out)


@contextmanager
def programs(how: str) -> Iterator[None]:
    """Let programs make every block that they can, or none."""
    before = os.environ.get(compiled_tiles.SWITCH_VARIABLE), compiled_tiles.FEWEST_ENTRIES
    os.environ[compiled_tiles.SWITCH_VARIABLE] = "1" if how == WITH else "0"
    compiled_tiles.FEWEST_ENTRIES = 0
    try:
        yield
    finally:
        compiled_tiles.FEWEST_ENTRIES = before[1]
        os.environ.pop(compiled_tiles.SWITCH_VARIABLE)
        if before[0] is not None:
            os.environ[compiled_tiles.SWITCH_VARIABLE] = before[0]


# -- parts -----------------------------------------------------------------------------------------------------


def start(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Time the compilation of each program of ``PRODUCTS``, and its loading from the file that was kept."""
    before = os.environ.get(machine.CACHE_FOLDER_VARIABLE)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[machine.CACHE_FOLDER_VARIABLE] = folder
        try:
            for name, kernel, n_features, dtype, _ in PRODUCTS:
                if n_features == 10:
                    X = two_clusters(200)[0]
                    kernel.fit(X)
                    seconds = {what: _start(kernel, X, dtype) for what in ("compiled", "loaded")}
                    yield {"part": "start", "what": name, "dtype": dtype, **_columns(seconds, "loaded", "compiled")}
        finally:
            os.environ.pop(machine.CACHE_FOLDER_VARIABLE)
            if before is not None:
                os.environ[machine.CACHE_FOLDER_VARIABLE] = before
            machine.functions_of.cache_clear()


def _start(kernel: Kernel, X: np.ndarray, dtype: str) -> Seconds:
    machine.functions_of.cache_clear()  # as in another process
    with programs(WITH):
        return timed(lambda: tiles_of(kernel, X, X, dtype))


def products(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Time one product of a kernel matrix that is not stored."""
    generator = np.random.default_rng(SEED)
    for name, kernel, n_features, dtype, bar in PRODUCTS:
        X = generator.standard_normal((options.rows, n_features))
        block = generator.standard_normal((options.rows, N_COLUMNS))
        kernel.fit(X)
        operators = {}
        for how in (WITH, WITHOUT):
            with programs(how):
                operators[how] = make_operator(kernel, X, "blocked", np.dtype(dtype))
                assert isinstance(tiles_of(kernel, X[:64], X[:64], dtype), CompiledTiles) == (how == WITH)
            check_product(name, X, block, kernel, operators[how].matmat(block), dtype)

        def multiply(how: str, operators: dict = operators, block: np.ndarray = block) -> Seconds:
            with operators[how].between_products():  # as in a fit
                return timed(lambda: operators[how].matmat(block))

        seconds = interleaved({how: lambda how=how, run=multiply: run(how) for how in operators}, options.repetitions)
        what = {"part": "products", "what": name, "rows": options.rows, "features": n_features, "dtype": dtype}
        yield {**what, **_columns(seconds, WITH, WITHOUT, bar)}


def fits(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Time a whole fit, and those of scikit-learn, one run each between two halves of the others."""
    X, y = two_clusters(options.rows)
    check_fits(X, y)
    gamma = RBF().fit(X).gamma_
    ours = {how: lambda how=how: fit_seconds(how, X, y) for how in (WITH, WITHOUT)}
    jobs = {how: [] for how in ours}
    half = -(-options.repetitions // 2)
    peers = {
        "KernelPCA(2)": lambda: KernelPCA(2, kernel="rbf", gamma=gamma, random_state=0).fit(X),
        "LabelSpreading(rbf)": lambda: LabelSpreading(kernel="rbf", gamma=gamma).fit(X, y),
    }
    seconds: dict[str, Seconds] = {}
    for peer in [None, *peers]:
        if peer is not None:
            seconds[peer] = timed(peers[peer])
        for _ in range(half):
            for how, job in ours.items():
                jobs[how].append(job())
    seconds |= {how: _medians(found) for how, found in jobs.items()}
    what = {"part": "fits", "what": "SemiKPCAClassifier()", "rows": len(X), "features": X.shape[1], "dtype": "float64"}
    bars = {WITHOUT: None, "KernelPCA(2)": 20.0, "LabelSpreading(rbf)": 35.0}
    for reference, bar in bars.items():
        yield {**what, **_columns(seconds, WITH, reference, bar)}


def many(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Time a fit of many rows, once with programs and once without."""
    X, y = two_clusters(options.many_rows)
    decisions, seconds = {}, {}
    for how in (WITH, WITHOUT):
        with programs(how):
            begun = time.perf_counter(), time.process_time()
            model = SemiKPCAClassifier().fit(X, y)
            seconds[how] = time.perf_counter() - begun[0], time.process_time() - begun[1]
        decisions[how] = model.decision_
        require_right(how, model.transduction_)
    require_close("decision", decisions[WITH], decisions[WITHOUT])
    what = {"part": "many", "what": "SemiKPCAClassifier()", "rows": len(X), "features": X.shape[1], "dtype": "float64"}
    yield {**what, **_columns(seconds, WITH, WITHOUT, 1 / 0.6)}


# -- checks ----------------------------------------------------------------------------------------------------


def check_product(name: str, X: np.ndarray, block: np.ndarray, kernel: Kernel, found: np.ndarray, dtype: str) -> None:
    """Stop unless a product is that of the formula at some rows, in more digits than float64 has where there are."""
    at = np.random.default_rng(SEED + 1).choice(len(X), min(CHECKED_ROWS, len(X)), replace=False)
    wanted, size = np.zeros((len(at), N_COLUMNS), np.longdouble), 0.0
    for first in range(0, len(X), 500):
        some = slice(first, first + 500)
        K = FORMULAS[name](X[at].astype(np.longdouble), X[some].astype(np.longdouble), kernel.gamma_)
        wanted += K @ block[some]
        size += float(np.abs(K).sum(axis=1).max())
    difference = float(np.abs(found[at] - wanted).max()) / size
    if not difference <= ALLOWED[dtype]:
        raise SystemExit(f"No times: a product of {name} in {dtype} is off by {difference:.1e}.")


def check_fits(X: np.ndarray, y: np.ndarray) -> None:
    """Stop unless fits with and without programs decide alike, and rightly."""
    decisions = {}
    for how in (WITH, WITHOUT):
        with programs(how):
            model = SemiKPCAClassifier().fit(X, y)
        decisions[how] = model.decision_
        require_right(how, model.transduction_)
    require_close("decision", decisions[WITH], decisions[WITHOUT])


def require_right(what: str, labels: np.ndarray) -> None:
    accuracy = float(np.mean(labels == np.arange(len(labels)) % 2))
    if not accuracy >= LEAST_ACCURACY:
        raise SystemExit(f"No times: the fit {what} programs has {accuracy:.1%} of the labels right.")


def require_close(what: str, found: np.ndarray, wanted: np.ndarray) -> None:
    difference = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    if not difference <= ALLOWED_DECISIONS:
        raise SystemExit(f"No times: the {what} with programs differs by {difference:.1e} of its largest value.")


# -- times -----------------------------------------------------------------------------------------------------


def timed(job: Callable[[], object]) -> Seconds:
    begun = time.perf_counter(), time.process_time()
    job()
    return time.perf_counter() - begun[0], time.process_time() - begun[1]


def fit_seconds(how: str, X: np.ndarray, y: np.ndarray) -> Seconds:
    with programs(how):
        return timed(lambda: SemiKPCAClassifier().fit(X, y))


def interleaved(jobs: dict[str, Callable[[], Seconds]], repetitions: int) -> dict[str, Seconds]:
    """Return the median seconds of each job, after one run that is not counted."""
    seconds: dict[str, list[Seconds]] = {name: [] for name in jobs}
    for repetition in range(repetitions + 1):
        for name, job in jobs.items():
            found = job()
            if repetition:
                seconds[name].append(found)
    return {name: _medians(found) for name, found in seconds.items()}


def _medians(seconds: list[Seconds]) -> Seconds:
    return median(wall for wall, _ in seconds), median(processor for _, processor in seconds)


def _columns(seconds: dict[str, Seconds], what: str, reference: str, bar: float | None = None) -> dict[str, object]:
    """Return what the report says of two times."""
    (wall, processor), (other_wall, other_processor) = seconds[what], seconds[reference]
    return {
        "seconds": f"{wall:.4g}",
        "reference": reference,
        "reference_seconds": f"{other_wall:.4g}",
        "times_faster": f"{other_wall / wall:.3g}",
        "bar": "" if bar is None else f"{bar:.3g}",
        "processor_seconds": f"{processor:.4g}",
        "reference_processor_seconds": f"{other_processor:.4g}",
    }


if __name__ == "__main__":
    main()
