"""Where the candidates of the automatic classifier come from: a kernel, as it is or as Semi-KPCA uses it.

A source is a kernel between rows, of which only the columns at the labeled rows are ever computed.
"""

import copy
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from semikpca.arrays import allowed_threads, in_threads, length, taken
from semikpca.convexity import ConvexityCertificate
from semikpca.exceptions import DegenerateSpectrumWarning, KernelRankError
from semikpca.kernels import (
    RBF,
    Kernel,
    Laplacian,
    Linear,
    NeighborGraph,
    Normalized,
    finite_pairwise,
    fit_graphs,
    median_distance,
)
from semikpca.operators import KernelOperator, cross_product, expansion, fitted, make_operator
from semikpca.problem import EIGENPAIR_RTOL, DualSolution, SemiKPCAResponse, kernel_matrix
from semikpca.solvers import COLUMNS_A_GROUP
from semikpca.spectrum import removable_spectrum

# Normalized kernels need the whole matrix, which above this many rows is no longer worth its cost beside the graphs.
MOST_ROWS_FOR_WHOLE_MATRICES = 5_000

_NEIGHBORS = (5, 7, 10)
_AGREEMENT_NEIGHBORS = 10
_NOTHING = np.empty(0)
Report = Callable[[str, int, int], None]  # which step, how much of it is done, of how much
_COLUMNS_AT_ONCE = 64
_EIGENPAIR_SHARE = 0.01  # eigenpairs are found to this share of the tolerance of the solves


@dataclass(frozen=True)
class Expansion:
    """A sum of kernel columns, as a function of rows.

    Attributes
    ----------
    kernel : Kernel
    anchors : rows
    coefficients : ndarray of shape (n_anchors, n_columns)
    decision : ndarray of shape (n_samples, n_columns)
        Its values on the training rows.
    """

    kernel: Kernel
    anchors: Any
    coefficients: np.ndarray
    decision: np.ndarray

    @cached_property
    def _prepared(self) -> Callable[[Any], np.ndarray]:
        return expansion(self.kernel, self.anchors, self.coefficients)

    def __call__(self, rows: Any) -> np.ndarray:
        """Return the values at new rows; 0 where a row is so far away that a normalized kernel has no value."""
        if not isinstance(self.kernel, Normalized):
            return self._prepared(rows)
        near = np.flatnonzero(self.kernel.reaches(rows))
        values = np.zeros((length(rows), self.coefficients.shape[1]))
        if near.size:
            values[near] = cross_product(self.kernel, taken(rows, near), self.anchors, self.coefficients)
        return values


class Source(ABC):
    """A kernel between the training rows, fitted; its columns are kept for the rows that were asked for."""

    kernel: Kernel
    n_components_removed: int | None = None
    error_weight: float | None = None
    certificate: ConvexityCertificate | None = None
    hardest: DualSolution | None = None  # of the solves behind the columns, without its arrays

    def __init__(self, kernel: Kernel, rows: Any) -> None:
        self.kernel = kernel
        self.rows = rows
        self._known = np.empty(0, dtype=np.intp)
        # Each column in one piece of memory: one more is then added without a look at the others.
        self._columns = np.empty((0, length(rows)), dtype=np.float32).T  # columns bring their own type

    def columns(self, at: np.ndarray) -> np.ndarray:
        """Return k(training rows, training rows ``at``), shape (n_samples, len(at)), each column in one piece."""
        if np.array_equal(at, self._known):
            return self._columns
        new = np.setdiff1d(at, self._known)
        if new.size:
            self._columns = np.concatenate([self._columns.T, self._compute(new).T]).T
            self._known = np.concatenate([self._known, new])
        place = {int(row): number for number, row in enumerate(self._known)}
        return self._columns.T[[place[int(row)] for row in at]].T

    def n_missing(self, at: np.ndarray) -> int:
        """Return how many of these columns are not known yet."""
        return len(np.setdiff1d(at, self._known))

    def keep_only(self, at: np.ndarray) -> None:
        """Forget the columns of all other rows."""
        self._columns, self._known = self.columns(at), at

    @abstractmethod
    def _compute(self, at: np.ndarray) -> np.ndarray:
        """Return columns that are not known yet."""

    @abstractmethod
    def expand(self, at: np.ndarray, coefficients: np.ndarray) -> "Expansion":
        """Return Σ columns · coefficients, on the training rows and for new ones."""

    def __getstate__(self):
        """Leave behind what comes back from the rows."""
        state = self.__dict__.copy()
        state["_known"], state["_columns"], state["hardest"] = self._known[:0], self._columns[:, :0], None
        return state


class PlainSource(Source):
    """The kernel as it is: LS-SVM on the labeled rows, to which the unlabeled ones say nothing."""

    def _compute(self, at):
        if self.kernel.input_kind == "matrix":
            return finite_pairwise(self.kernel, self.rows, self.rows)[:, at]
        return finite_pairwise(self.kernel, self.rows, taken(self.rows, at))

    def expand(self, at, coefficients):
        decision = self.columns(at) @ coefficients
        if self.kernel.input_kind != "matrix":
            return Expansion(self.kernel, taken(self.rows, at), coefficients, decision)
        everywhere = np.zeros((length(self.rows), coefficients.shape[1]))
        everywhere[at] = coefficients
        return Expansion(self.kernel, self.rows, everywhere, decision)


class ResponseSource(Source):
    """The label response H of Semi-KPCA: a kernel that unlabeled rows have shaped."""

    def __init__(self, kernel, rows, backend, operator, spectrum, cut, error_weight, *, rtol, max_iter):
        super().__init__(kernel, rows)
        interval = ConvexityCertificate.from_spectrum(spectrum, cut)
        self.error_weight = interval.resolve(error_weight, "relative")
        self.certificate = interval.at(self.error_weight)
        self.n_components_removed = cut
        self._backend, self._rtol, self._max_iter = backend, rtol, max_iter
        self._removed = spectrum.eigenvalues[:cut], spectrum.eigenvectors[:, :cut]
        self._response: SemiKPCAResponse | None = self._set_up(operator)

    def at_weight(self, error_weight) -> "ResponseSource":
        """Return the same with another relative error weight; the kernel and its spectrum are kept."""
        assert self.certificate is not None
        moved = copy.copy(self)
        moved.error_weight = self.certificate.resolve(error_weight, "relative")
        moved.certificate = self.certificate.at(moved.error_weight)
        moved._known, moved._columns, moved.hardest = self._known[:0], self._columns[:, :0], None
        moved._response = moved._set_up(self._set_up_again().operator)
        return moved

    def _set_up(self, operator: KernelOperator) -> SemiKPCAResponse:
        assert self.certificate is not None
        return SemiKPCAResponse(operator, *self._removed, self.certificate, rtol=self._rtol, max_iter=self._max_iter)

    def _set_up_again(self) -> SemiKPCAResponse:
        if self._response is None:
            self._response = self._set_up(kernel_matrix(self.kernel, self.rows, self._backend, tol=self._rtol)[1])
        return self._response

    def _compute(self, at):
        response = self._set_up_again()
        if not response.operator.uses_one_core:
            return self._noted(response.columns(at)).decision
        # A solve needs several times the memory of its answer.
        columns = np.empty((length(self.rows), len(at)), dtype=response.operator.dtype)
        for start in range(0, len(at), _COLUMNS_AT_ONCE):
            some = slice(start, start + _COLUMNS_AT_ONCE)
            columns[:, some] = self._noted(response.columns(at[some])).decision
        return columns

    def _noted(self, solution: DualSolution) -> DualSolution:
        """Remember the solve that left the largest residual."""
        if self.hardest is None or solution.residual >= self.hardest.residual:
            self.hardest = replace(solution, alpha=_NOTHING, dual_coef=_NOTHING, intercept=_NOTHING, decision=_NOTHING)
        return solution

    def expand(self, at, coefficients):
        response = self._set_up_again()
        targets = np.zeros((length(self.rows), coefficients.shape[1]), dtype=response.operator.dtype)
        targets[at] = coefficients
        # Decisions are linear in the targets, so those of the columns give the sum; no further solve.
        dual_coef = response.dual_coef(self.columns(at) @ coefficients, targets)
        return Expansion(self.kernel, self.rows, dual_coef, response.operator.matmat(dual_coef))

    def __getstate__(self):
        state = super().__getstate__()
        state["_response"] = None
        return state


def default_sources(
    rows: Any, removed: Iterable[int], error_weights: Iterable[Any], *, report: Report, **options: Any
) -> list[Source]:
    """Return what is tried where the user names no kernels.

    Straight boundaries, local and global smooth ones, and neighbor graphs at three scales: no single one of them serves
    all data. Distances between more than half of the rows may be 0; what takes its scale from them is then left out.
    """
    report("kernels", 0, 1)
    plain: list[Kernel] = [Linear(center=not sparse.issparse(rows))]
    shaped: list[Kernel] = list(fit_graphs(_NEIGHBORS, rows))
    with np.errstate(over="ignore", divide="ignore"):
        wide = 1 / (2 * np.square(median_distance(rows)))
        wide_l1 = 1 / np.float64(median_distance(rows, "manhattan"))
    largest = np.finfo(rows.dtype).max / 4
    if 0 < wide < largest and 0 < wide_l1 < largest:
        plain += [Laplacian(gamma=float(wide_l1)), RBF(gamma=float(4 * wide))]
        if length(rows) <= MOST_ROWS_FOR_WHOLE_MATRICES:
            shaped += [fitted(Normalized(RBF(gamma=float(factor * wide))), rows) for factor in (1, 4)]
    sources: list[Source] = [PlainSource(kernel.fit(rows), rows) for kernel in plain]
    for number, kernel in enumerate(shaped):
        report("kernels", 1 + number, 1 + len(shaped))
        try:
            sources += response_sources(kernel, rows, removed, error_weights, quiet=True, **options)
        except KernelRankError as error:
            if error.requested > 1 or error.rank > 1:
                raise
            raise ValueError(
                "The rows of X are all equal, or nearly so: nothing tells them apart. Give other features."
            ) from error
    report("kernels", 1 + len(shaped), 1 + len(shaped))
    return sources


def named_sources(
    kernels: Sequence[Kernel],
    rows: Any,
    removed: Iterable[int],
    error_weights: Iterable[Any],
    *,
    report: Report,
    **options: Any,
) -> list[Source]:
    """Return the sources of kernels that the user names: Semi-KPCA in all its settings, and the plain kernel.

    A sparse graph has no plain form worth trying: it knows nothing beyond two steps.
    """
    sources: list[Source] = []
    for number, kernel in enumerate(kernels):
        report("kernels", number, len(kernels))
        shaped = response_sources(fitted(kernel, rows), rows, removed, error_weights, **options)
        sources += shaped
        if not kernel.is_sparse:
            sources.append(PlainSource(shaped[0].kernel, rows))
    report("kernels", len(kernels), len(kernels))
    return sources


def sources_at_weight(sources: Iterable[Source], error_weight: Any) -> list[Source]:
    """Return the sources with Semi-KPCA at one relative error weight; those that differ by it alone become one."""
    moved: list[Source] = []
    seen: set[tuple[int, int | None]] = set()
    for source in sources:
        if not isinstance(source, ResponseSource):
            moved.append(source)
        elif (which := (id(source.kernel), source.n_components_removed)) not in seen:
            seen.add(which)
            moved.append(source.at_weight(error_weight))
    return moved


def response_sources(
    kernel: Kernel,
    rows: Any,
    removed: Iterable[int],
    error_weights: Iterable[Any],
    *,
    backend,
    rtol,
    max_iter,
    quiet=False,
) -> list[Source]:
    """Return Semi-KPCA with one fitted kernel at all numbers of removed components and error weights.

    With ``quiet`` a cut through a repeated eigenvalue is not reported: nobody asked for it.
    """
    operator = kernel_matrix(kernel, rows, backend, tol=rtol)[1]
    sources: list[Source] = []
    cuts: set[int] = set()
    for requested in removed:
        spectrum, cut = removable_spectrum(operator, int(requested), max(EIGENPAIR_RTOL, _EIGENPAIR_SHARE * rtol))
        if cut > requested and not quiet:
            value = float(spectrum.eigenvalues[cut - 1])
            warnings.warn(DegenerateSpectrumWarning(int(requested), cut, value), stacklevel=5)
        if cut in cuts:
            continue  # a smaller request has taken the same components out already
        cuts.add(cut)
        sources += [
            ResponseSource(kernel, rows, backend, operator, spectrum, cut, weight, rtol=rtol, max_iter=max_iter)
            for weight in error_weights
        ]
    return sources


def keep_columns(sources: Sequence[Source], at: np.ndarray, *, report: Report) -> None:
    """Have every source know its columns at these rows, and no others."""
    report("labels", 0, len(sources))
    if all(source.n_missing(at) <= COLUMNS_A_GROUP for source in sources):
        # A solve with so few columns keeps one core busy: the sources take turns on all of them.
        in_threads(lambda source, thread: source.keep_only(at), sources, min(allowed_threads(), len(sources)))
    else:
        for number, source in enumerate(sources):
            report("labels", number, len(sources))
            source.keep_only(at)
    report("labels", len(sources), len(sources))


def expand_sources(sums: Sequence[tuple[Source, np.ndarray]], at: np.ndarray) -> list[Expansion]:
    """Return the expansion of each source with its coefficients for the columns at these rows."""
    expansions: dict[int, Expansion] = {}

    def expand(number: int, thread: int) -> None:
        source, coefficients = sums[number]
        expansions[number] = source.expand(at, coefficients)

    in_threads(expand, range(len(sums)), min(allowed_threads(), len(sums)))
    return [expansions[number] for number in range(len(sums))]


def neighbor_links(rows: Any, sources: list[Source]) -> Any:
    """Return a sparse matrix whose entries link each row with its nearest neighbors."""
    for source in sources:
        if isinstance(source.kernel, NeighborGraph) and source.kernel.n_neighbors == _AGREEMENT_NEIGHBORS:
            return source.kernel.matrix_
    kernel = sources[0].kernel
    if kernel.input_kind == "vectors":
        return NeighborGraph(n_neighbors=_AGREEMENT_NEIGHBORS).fit(rows).matrix_
    K = make_operator(kernel, rows, "dense").to_dense()
    own = np.diagonal(K).copy()
    squared_distances = own[:, np.newaxis] + own - 2 * K
    np.fill_diagonal(squared_distances, np.inf)
    count = min(_AGREEMENT_NEIGHBORS, len(K) - 1)
    nearest = np.argpartition(squared_distances, count - 1, axis=1)[:, :count]
    pairs = np.repeat(np.arange(len(K)), count), nearest.reshape(-1)
    links = sparse.csr_array((np.ones(len(pairs[0])), pairs), shape=K.shape)
    return links + links.T
