"""Where the candidates of the automatic classifier come from: a kernel, as it is or as Semi-KPCA uses it.

A source is a kernel between rows, of which only the columns at the labeled rows are ever computed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from semikpca.arrays import allowed_threads, in_threads, length, slices, taken
from semikpca.blending._agreement import NeighborAgreement
from semikpca.convexity import ConvexityCertificate
from semikpca.exceptions import IndistinguishableRowsError, KernelRankError
from semikpca.kernels import (
    DefaultKernels,
    Kernel,
    NeighborGraph,
    finite_pairwise,
)
from semikpca.operators import fitted, make_operator
from semikpca.problem import (
    DualSolution,
    Expansion,
    RemovedComponents,
    SemiKPCAFacts,
    SemiKPCAProblem,
    SemiKPCAResponse,
    kernel_matrix,
)
from semikpca.solvers import COLUMNS_A_GROUP

_AGREEMENT_NEIGHBORS = 10
Report = Callable[[str, int, int], None]  # which step, how much of it is done, of how much
_COLUMNS_AT_ONCE = 64


@dataclass(frozen=True)
class Columns:
    """Columns of a source at some training rows: k(training rows, training rows ``at``).

    Each column is in one piece of memory: one more is then added without a look at the others.
    """

    at: np.ndarray
    values: np.ndarray
    hardest: DualSolution | None = None  # the solve behind them with the largest residual, without its arrays

    def moved(self, source: "Source", at: np.ndarray) -> "Columns":
        """Return the columns at other rows; only those that are not here are computed."""
        if np.array_equal(at, self.at):
            return self
        known, values, hardest = self.at, self.values, self.hardest
        new = np.setdiff1d(at, known)
        if new.size:
            computed, solution = source.compute(new)
            hardest = harder(hardest, solution)
            values = np.concatenate([values.T, computed.T]).T if known.size else np.ascontiguousarray(computed.T).T
            known = np.concatenate([known, new])
        place = {int(row): number for number, row in enumerate(known)}
        return Columns(at, values.T[[place[int(row)] for row in at]].T, hardest)


NO_COLUMNS = Columns(np.empty(0, dtype=np.intp), np.empty((0, 0)))


def harder(one: DualSolution | None, other: DualSolution | None) -> DualSolution | None:
    """Return the solve that left the larger residual."""
    if one is None or other is None:
        return other if one is None else one
    return other if other.residual >= one.residual else one


class Source(ABC):
    """A kernel between the training rows, fitted: its columns are all that candidates are made of."""

    kernel: Kernel
    n_components_removed: int | None = None
    error_weight: float | None = None
    certificate: ConvexityCertificate | None = None

    def __init__(self, kernel: Kernel, rows: Any) -> None:
        self.kernel, self.rows = kernel, rows

    @abstractmethod
    def compute(self, at: np.ndarray) -> tuple[np.ndarray, DualSolution | None]:
        """Return k(training rows, training rows ``at``), and the solve behind it, if there was one."""

    @abstractmethod
    def expand(self, columns: Columns, coefficients: np.ndarray) -> tuple[Expansion, np.ndarray]:
        """Return Σ columns · coefficients as a function of new rows, and its values on the training rows."""

    def at_weight(self, error_weight: float | str) -> "Source":
        """Return the source at another error weight; a plain kernel has none."""
        return self


class PlainSource(Source):
    """The kernel as it is: LS-SVM on the labeled rows, to which the unlabeled ones say nothing."""

    def compute(self, at: np.ndarray) -> tuple[np.ndarray, None]:
        if self.kernel.input_kind == "matrix":
            return finite_pairwise(self.kernel, self.rows, self.rows)[:, at], None
        return finite_pairwise(self.kernel, self.rows, taken(self.rows, at)), None

    def expand(self, columns: Columns, coefficients: np.ndarray) -> tuple[Expansion, np.ndarray]:
        decision = columns.values @ coefficients
        if self.kernel.input_kind != "matrix":
            return Expansion(self.kernel, taken(self.rows, columns.at), coefficients, far_is_zero=True), decision
        everywhere = np.zeros((length(self.rows), coefficients.shape[1]))
        everywhere[columns.at] = coefficients
        return Expansion(self.kernel, self.rows, everywhere, far_is_zero=True), decision


class ResponseSource(Source):
    """The label response H of Semi-KPCA: a kernel that unlabeled rows have shaped.

    ``facts`` are what was learned of the kernel matrix; ``backend`` is as the user names it.
    """

    def __init__(
        self,
        kernel: Kernel,
        rows: Any,
        backend: str,
        problem: SemiKPCAProblem,
        facts: SemiKPCAFacts,
        response: SemiKPCAResponse | None = None,
    ) -> None:
        super().__init__(kernel, rows)
        self.backend, self.problem, self.facts = backend, problem, facts
        self.certificate, self.error_weight = facts.certificate, facts.error_weight
        self.n_components_removed = facts.removed.count
        self._made = [] if response is None else [response]

    def at_weight(self, error_weight: float | str) -> "ResponseSource":
        """Return the same at another relative error weight; kernel matrix and eigenpairs are shared."""
        problem = self.problem.at_weight(error_weight)
        set_up = problem.set_up(self.response.operator, known=self.facts.removed)
        return ResponseSource(self.kernel, self.rows, self.backend, problem, *set_up)

    @property
    def response(self) -> SemiKPCAResponse:
        """H; set up again where the source was loaded without it."""
        if not self._made:
            operator = kernel_matrix(self.kernel, self.rows, self.backend, tol=self.problem.matrix_tol)[1]
            self._made.append(self.problem.restored(operator, self.facts))
        return self._made[0]

    def compute(self, at: np.ndarray) -> tuple[np.ndarray, DualSolution]:
        response = self.response
        # A solve needs several times the memory of its answer.
        step = _COLUMNS_AT_ONCE if response.operator.facts.uses_one_core else len(at)
        columns = np.empty((length(self.rows), len(at)), dtype=response.operator.dtype)
        hardest: DualSolution | None = None
        for some in slices(0, len(at), step):
            solution = response.columns(at[some])
            columns[:, some] = solution.decision
            hardest = harder(hardest, solution.without_arrays())
        assert hardest is not None, "no columns are not asked for"
        return columns, hardest

    def expand(self, columns: Columns, coefficients: np.ndarray) -> tuple[Expansion, np.ndarray]:
        """Return a sum over all rows: decisions are linear in the targets, so that no further solve is needed."""
        response = self.response
        targets = np.zeros((length(self.rows), coefficients.shape[1]), dtype=response.operator.dtype)
        targets[columns.at] = coefficients
        dual_coef = response.dual_coef(columns.values @ coefficients, targets)
        return Expansion(self.kernel, self.rows, dual_coef, far_is_zero=True), response.operator.matmat(dual_coef)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the kernel matrix behind: it comes back from the rows when needed."""
        return {**self.__dict__, "_made": []}


def sources_of(
    kernels: Sequence[Kernel | DefaultKernels],
    rows: Any,
    backend: str,
    problems: Sequence[SemiKPCAProblem],
    *,
    report: Report,
) -> tuple[Source, ...]:
    """Return what is tried with these kernels.

    A kernel that the user names is tried as it is, and as Semi-KPCA uses it in all its settings. A sparse graph has no
    plain form worth trying: it knows nothing beyond two steps. :class:`DefaultKernels` say themselves what is which.
    """
    sources: list[Source] = []
    # Nobody asked for the default kernels, so that nobody is told of a cut that one of them moves.
    quiet = [replace(problem, reports_wider_cuts=False) for problem in problems]
    done, n_steps = 0, len(kernels)
    for kernel in kernels:
        report("kernels", done, n_steps)
        if isinstance(kernel, DefaultKernels):
            plain, shaped = kernel.fit(rows)
            n_steps += len(shaped)
            sources += [PlainSource(each, rows) for each in plain]
            for each in shaped:
                done += 1
                report("kernels", done, n_steps)
                sources += _unless_all_alike(each, rows, backend, quiet)
        else:
            shaped_sources = response_sources(fitted(kernel, rows), rows, backend, problems)
            sources += shaped_sources
            if not kernel.is_sparse:
                sources.append(PlainSource(shaped_sources[0].kernel, rows))
        done += 1
    report("kernels", done, n_steps)
    return tuple(sources)


def _unless_all_alike(kernel: Kernel, rows: Any, backend: str, problems: Sequence[SemiKPCAProblem]) -> list[Source]:
    try:
        return response_sources(kernel, rows, backend, problems)
    except KernelRankError as error:
        if error.requested > 1 or error.rank > 1:
            raise
        raise IndistinguishableRowsError(error.n_samples) from error


def sources_at_weight(sources: Iterable[Source], error_weight: float | str) -> tuple[Source, ...]:
    """Return the sources with Semi-KPCA at one relative error weight; those that differ by it alone become one."""
    first: dict[tuple[int, int | None], Source] = {}
    for source in sources:
        first.setdefault((id(source.kernel), source.n_components_removed), source)
    return tuple(source.at_weight(error_weight) for source in first.values())


def response_sources(kernel: Kernel, rows: Any, backend: str, problems: Sequence[SemiKPCAProblem]) -> list[Source]:
    """Return Semi-KPCA with one fitted kernel at all numbers of removed components and error weights."""
    operator = kernel_matrix(kernel, rows, backend, tol=min(problem.matrix_tol for problem in problems))[1]
    sources: list[Source] = []
    known: dict[int, RemovedComponents] = {}  # by the number that was asked for
    for problem in problems:
        requested = problem.n_components_removed
        set_up = problem.set_up(operator, known=known.get(requested))
        source = ResponseSource(kernel, rows, backend, problem, *set_up)
        known.setdefault(requested, source.facts.removed)
        count = source.n_components_removed
        if any(removed.count == count and other != requested for other, removed in known.items()):
            continue  # another request has taken the same components out already
        sources.append(source)
    return sources


def columns_at(
    sources: Sequence[Source], known: Sequence[Columns], at: np.ndarray, *, report: Report
) -> tuple[Columns, ...]:
    """Return the columns of every source at these rows, with those that are known already."""
    report("labels", 0, len(sources))
    found: dict[int, Columns] = {}

    def find(number: int, thread: int) -> None:
        found[number] = known[number].moved(sources[number], at)

    if all(len(np.setdiff1d(at, columns.at)) <= COLUMNS_A_GROUP for columns in known):
        # A solve with so few columns keeps one core busy: the sources take turns on all of them.
        in_threads(find, range(len(sources)), min(allowed_threads(), len(sources)))
    else:
        for number in range(len(sources)):
            report("labels", number, len(sources))
            find(number, 0)
    report("labels", len(sources), len(sources))
    return tuple(found[number] for number in range(len(sources)))


def agreements_of(sources: Sequence[Source]) -> tuple[NeighborAgreement, ...]:
    """Return for each source the neighborhoods that its candidates are held against: among what its kernel sees."""
    seen = [source.kernel.seen(source.rows) for source in sources]
    alike: dict[int, list[Source]] = {}
    for part, source in zip(seen, sources, strict=True):
        alike.setdefault(id(part), []).append(source)
    found = {place: NeighborAgreement(_neighbor_links(some)) for place, some in alike.items()}
    return tuple(found[id(part)] for part in seen)


def _neighbor_links(sources: Sequence[Source]) -> Any:
    """Return a sparse matrix whose entries link each row with its nearest neighbors, as these sources see them."""
    for source in sources:
        graph = getattr(source.kernel, "kernel_", source.kernel)
        if isinstance(graph, NeighborGraph) and graph.n_neighbors == _AGREEMENT_NEIGHBORS:
            return graph.matrix_
    kernel, rows = sources[0].kernel, sources[0].rows
    if kernel.input_kind == "vectors":
        return NeighborGraph(n_neighbors=_AGREEMENT_NEIGHBORS).fit(kernel.seen(rows)).matrix_
    K = make_operator(kernel, rows, "dense").to_dense()
    own = np.diagonal(K).copy()
    squared_distances = own[:, np.newaxis] + own - 2 * K
    np.fill_diagonal(squared_distances, np.inf)
    count = min(_AGREEMENT_NEIGHBORS, len(K) - 1)
    nearest = np.argpartition(squared_distances, count - 1, axis=1)[:, :count]
    pairs = np.repeat(np.arange(len(K)), count), nearest.reshape(-1)
    links = sparse.csr_array((np.ones(len(pairs[0])), pairs), shape=K.shape)
    return links + links.T
