"""What is timed. Each job is made, checked at a small size, run by the clock, and its answer read off afterwards."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.semi_supervised import LabelSpreading

import semikpca
from semikpca.kernels import RBF, Kernel, NeighborGraph, Nystroem
from semikpca.labeling import error_weight_path
from semikpca.operators import make_operator
from semikpca_benchmarks._typing import FloatArray, IntArray
from semikpca_benchmarks.speed._problems import (
    N_FEATURES,
    SEED,
    algorithm_1,
    difference,
    mixture,
    naive_nystroem,
    naive_rbf,
    two_clusters,
)
from semikpca_benchmarks.speed._spec import SpeedCell

N_COLUMNS = 8  # of the product that is timed
N_WEIGHTS = 100  # of a path
BLOCK_ROWS = 1_000  # of a plain product: 160 MB in float64 at 20,000 rows
SMALL = 300  # rows of the check before any clock runs
N_CHECKED_ROWS = 1_000  # training rows whose decisions are predicted again

# Largest relative differences of decisions. Two ways to the same numbers in double precision; a fit without a stored
# matrix, whose tolerance is 1e-6 and whose condition number here is below 10; rows that were rounded to float32.
SAME, SOLVED, ROUNDED = 1e-8, 1e-4, 1e-3


@dataclass
class Answer:
    """What is read off a result once the clock has stopped.

    ``error`` is the largest relative difference to another way to the same numbers, ``against`` says which.
    """

    decision: FloatArray | None = None
    labels: IntArray | None = None
    backend: str = ""
    dtype: str = "float64"
    n_features: int = N_FEATURES
    products: int | None = None
    residual: float | None = None
    setup_seconds: float | None = None
    error: float | None = None
    against: str = ""
    allowed: float = SOLVED


@dataclass
class Job:
    """One method at one size: ``run`` is what is timed, less the seconds that ``not_counted`` returns after it."""

    run: Callable[[], Any]
    read: Callable[[Any], Answer]
    not_counted: Callable[[], float] = lambda: 0.0


# Estimators follow scikit-learn's untyped conventions.
SemiKPCAClassifier: Any = semikpca.SemiKPCAClassifier
SemiKPCAClassifierCV: Any = semikpca.SemiKPCAClassifierCV


class WrongAnswerError(ValueError):
    """An answer that is not the right one: its time is worth nothing."""


def _require(what: str, error: float, allowed: float) -> None:
    if not error <= allowed:
        raise WrongAnswerError(f"{what} is off by {error:.1e}, and {allowed:.0e} is allowed: no time was taken.")


# -- fits ------------------------------------------------------------------------------------------------------------


def _classifier(method: str, kernel: Kernel | None = None) -> Any:
    backend = "auto" if method not in ("dense", "blocked", "blocked float32") else method.split()[0]
    return SemiKPCAClassifier(RBF() if kernel is None else kernel, backend=backend)


def _read_fit(model: Any, X: FloatArray) -> Answer:
    """Return what a fit has found, and how far its predictions at training rows are from its decisions there."""
    rows = np.linspace(0, len(X) - 1, min(N_CHECKED_ROWS, len(X))).astype(int)
    return Answer(
        decision=model.decision_,
        labels=model.transduction_,
        backend=getattr(model, "backend_", "several"),
        dtype=str(X.dtype),
        n_features=X.shape[1],
        products=getattr(model, "n_products_", None) or None,
        residual=float(model._fitted.solution.residual) if hasattr(model, "_fitted") else None,
        error=difference(model.decision_function(X[rows]), model.decision_[rows]),
        against="its own predictions",
        allowed=ROUNDED if X.dtype == np.float32 else SOLVED,
    )


def fit_job(cell: SpeedCell, method: str) -> Job:
    """Return the fit of a method, ours or a peer's, on two clusters."""
    X, y, _ = two_clusters(cell.n, "float32" if method.endswith("float32") else "float64")
    if method not in ("label spreading", "kernel pca"):
        return Job(lambda: _classifier(method).fit(X, y), lambda model: _read_fit(model, X))
    gamma = RBF().fit(X).gamma_
    if method == "kernel pca":
        return Job(lambda: KernelPCA(2, kernel="rbf", gamma=gamma).fit(X), lambda model: Answer(backend="scikit-learn"))
    return Job(
        lambda: LabelSpreading(kernel="rbf", gamma=gamma).fit(X, y),
        lambda model: Answer(labels=model.transduction_, backend="scikit-learn"),
    )


def check_fit(cell: SpeedCell, method: str) -> None:
    """Hold a small fit to the formulas."""
    X, y, _ = two_clusters(SMALL)
    gamma = RBF().fit(X).gamma_
    K = naive_rbf(X, X, gamma)
    values = np.linalg.eigvalsh(K)[::-1]
    if method == "kernel pca":
        centered = K - K.mean(axis=0) - K.mean(axis=1)[:, np.newaxis] + K.mean()
        found = KernelPCA(2, kernel="rbf", gamma=gamma).fit(X).eigenvalues_
        _require("An eigenvalue of KernelPCA", difference(found, np.linalg.eigvalsh(centered)[::-1][:2]), SAME)
    elif method == "label spreading":
        np.fill_diagonal(K, 0)  # as scikit-learn's graph has it
        S = K / np.sqrt(np.outer(K.sum(axis=0), K.sum(axis=0)))
        labels = np.linalg.solve(np.eye(SMALL) - 0.2 * S, y[:, np.newaxis] == [0, 1]).argmax(axis=1)
        found = LabelSpreading(kernel="rbf", gamma=gamma).fit(X, y).transduction_
        _require("A label of LabelSpreading", float(np.mean(found != labels)), 0.01)
    else:
        small = X.astype("float32" if method.endswith("float32") else "float64")
        model = _classifier(method).fit(small, y)
        rounded = ROUNDED if method.endswith("float32") else SOLVED
        _require("A decision", difference(model.decision_, algorithm_1(K, y)), rounded)
        _require("An eigenvalue", difference(model.certificate_.eigenvalues, values[:2]), rounded)


# -- one product -----------------------------------------------------------------------------------------------------


def _columns(n: int) -> FloatArray:
    return np.random.default_rng(SEED + 1).standard_normal((n, N_COLUMNS), dtype=np.float32)


def _plain_product(X: FloatArray, V: FloatArray, gamma: float) -> FloatArray:
    blocks = (X[start : start + BLOCK_ROWS] for start in range(0, len(X), BLOCK_ROWS))
    return np.vstack([rbf_kernel(block, X, gamma=gamma) @ V for block in blocks])


def product_job(cell: SpeedCell, method: str) -> Job:
    """Return one product with the kernel matrix, made again or block by block with scikit-learn."""
    X, V = two_clusters(cell.n, "float32")[0], _columns(cell.n)
    kernel = RBF().fit(X)
    rows = np.linspace(0, cell.n - 1, 64).astype(int)
    exact = naive_rbf(X[rows].astype(float), X.astype(float), kernel.gamma_) @ V.astype(float)

    def read(product: FloatArray) -> Answer:
        backend = "blocked" if method.startswith("blocked") else "scikit-learn"
        error = difference(product[rows], exact)
        # Both round rows and values to float32; products of random columns cancel, which magnifies it.
        return Answer(backend=backend, dtype="float32", error=error, against="64 rows in float64", allowed=ROUNDED)

    if not method.startswith("blocked"):
        return Job(lambda: _plain_product(X, V, kernel.gamma_), read)
    operator = make_operator(kernel, X, "blocked")
    return Job(lambda: operator.matmat(V), read)


def check_product(cell: SpeedCell, method: str) -> None:
    """Hold a small product to the formula."""
    job = product_job(SpeedCell("product", SMALL, quick=True), method)
    answer = job.read(job.run())
    _require("The product", answer.error or 0.0, answer.allowed)


# -- landmarks and graphs --------------------------------------------------------------------------------------------


def _nystroem(cell: SpeedCell) -> Nystroem:
    return Nystroem(RBF(), cell.n_landmarks, random_state=SEED)


def nystroem_job(cell: SpeedCell, method: str) -> Job:
    """Return the fit with landmarks, or with the exact kernel."""
    X, y, _ = two_clusters(cell.n)
    kernel = _nystroem(cell) if method == "nystroem" else None
    return Job(lambda: _classifier("auto", kernel).fit(X, y), lambda model: _read_fit(model, X))


def check_nystroem(cell: SpeedCell, method: str) -> None:
    """Hold a small fit to the formula on the approximate matrix."""
    X, y, _ = two_clusters(2 * SMALL)
    if method == "nystroem":
        model = SemiKPCAClassifier(Nystroem(RBF(), 40, random_state=SEED)).fit(X, y)
        K = naive_nystroem(X, model.kernel_.landmarks_, model.kernel_.kernel_.gamma_)
        _require("A decision", difference(model.decision_, algorithm_1(K, y)), SAME)
        _require("A prediction", difference(model.decision_function(X.copy()), model.decision_), SAME)


class TimedGraph(NeighborGraph):
    """A neighbor graph that says how long it took to be made."""

    seconds = 0.0

    def fit(self, rows: Any) -> "TimedGraph":
        """Make the graph by the clock."""
        start = time.perf_counter()
        super().fit(rows)
        TimedGraph.seconds = time.perf_counter() - start
        return self


def _graph(method: str) -> TimedGraph:
    return TimedGraph(search="approximate" if method.startswith("approximate") else "exact")


def graph_job(cell: SpeedCell, method: str) -> Job:
    """Return the fit on a neighbor graph."""
    X, y, _ = mixture(cell.n)

    def read(model: Any) -> Answer:
        answer = _read_fit(model, X)
        answer.setup_seconds = TimedGraph.seconds
        return answer

    return Job(lambda: _classifier("auto", _graph(method)).fit(X, y), read, lambda: TimedGraph.seconds)


def check_graph(cell: SpeedCell, method: str) -> None:
    """Hold a small fit to Algorithm 1 on the matrix of the graph."""
    X, y, _ = mixture(SMALL)
    model = _classifier("auto", _graph(method)).fit(X, y)
    K = model.kernel_.pairwise(X, X)
    wanted = algorithm_1(K, y, model.error_weight_)
    _require("A decision", difference(model.decision_, wanted), SOLVED)


# -- readings of a fit -----------------------------------------------------------------------------------------------


def _placed(cell: SpeedCell) -> tuple[Any, FloatArray, IntArray]:
    """Return the model, rows and labels of work that is done on several back ends."""
    if cell.place == "graph":
        X, y, _ = mixture(cell.n)
        return _classifier("auto", NeighborGraph()), X, y
    X, y, _ = two_clusters(cell.n)
    return _classifier(cell.place, _nystroem(cell) if cell.place == "nystroem" else None), X, y


def path_jobs(cell: SpeedCell) -> dict[str, Job]:
    """Return a fit, and the path of error weights of what it made."""
    model, X, y = _placed(cell)

    def read(path: Any) -> Answer:
        # The same weight by way of a fit of its own; the middle of the path is far from both ends.
        middle = float(path.relative_weights[N_WEIGHTS // 2])
        own = _placed(cell)[0].set_params(error_weight=middle).fit(X, y)
        error = difference(path.decision[N_WEIGHTS // 2], own.decision_)
        answer = _read_fit(model, X)
        answer.decision = answer.labels = None
        answer.error, answer.against = error, "a fit of its own at one weight"
        return answer

    return {
        "fit": Job(lambda: model.fit(X, y), lambda model: _read_fit(model, X)),
        "path": Job(lambda: error_weight_path(model, N_WEIGHTS), read),
    }


def add_labels_jobs(cell: SpeedCell) -> dict[str, Job]:
    """Return a fit, and labels that are added to what it made."""
    model, X, y = _placed(cell)
    _, _, classes = two_clusters(cell.n)
    waiting = iter(np.flatnonzero(y < 0).tolist())
    added: list[int] = []

    def fit() -> Any:
        added.clear()
        return model.fit(X, y)

    def add() -> Any:
        added.append(next(waiting))
        return model.add_labels(added[-1:], classes[added[-1:]])

    def read(model: Any) -> Answer:
        answer = _read_fit(model, X)
        changed = y.copy()
        changed[added] = classes[added]
        own = _placed(cell)[0].fit(X, changed)
        answer.error, answer.against = difference(model.decision_, own.decision_), "a fit with all labels"
        answer.decision = answer.labels = None
        return answer

    return {"fit": Job(fit, lambda model: _read_fit(model, X)), "add labels": Job(add, read)}


def automatic_jobs(cell: SpeedCell) -> dict[str, Job]:
    """Return a plain fit, and the automatic one."""
    X, y, _ = two_clusters(cell.n)

    def read(model: Any) -> Answer:
        answer = _read_fit(model, X)
        answer.decision = None  # another model: only its labels may be compared
        return answer

    return {
        "fit": Job(lambda: _classifier("auto").fit(X, y), lambda model: _read_fit(model, X)),
        "automatic fit": Job(lambda: SemiKPCAClassifierCV().fit(X, y), read),
    }


# -- by name ---------------------------------------------------------------------------------------------------------

_ALONE: dict[str, tuple[Callable[[SpeedCell, str], Job], Callable[[SpeedCell, str], None]]] = {
    "fit": (fit_job, check_fit),
    "product": (product_job, check_product),
    "nystroem": (nystroem_job, check_nystroem),
    "graph": (graph_job, check_graph),
}
_TOGETHER: dict[str, Callable[[SpeedCell], dict[str, Job]]] = {
    "path": path_jobs,
    "add labels": add_labels_jobs,
    "automatic": automatic_jobs,
}


def make_jobs(cell: SpeedCell, methods: tuple[str, ...]) -> dict[str, Job]:
    """Check methods at a small size, and return their jobs."""
    if cell.work in _ALONE:
        make, check = _ALONE[cell.work]
        for method in methods:
            check(cell, method)
        return {method: make(cell, method) for method in methods}
    check_fit(cell, "dense")
    return _TOGETHER[cell.work](cell)


@contextmanager
def known_warnings_silenced() -> Iterator[None]:
    """Silence what peers say of their own convergence: their time counts all the same."""
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)
        yield
