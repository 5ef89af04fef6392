"""Where the candidates of the automatic classifier come from: a kernel, as it is or as Semi-KPCA uses it.

A source is a kernel between rows, of which only the columns at the labeled rows are ever computed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from semikpca._typing import Array, FloatArray
from semikpca.arrays import (
    allowed_threads,
    device_of,
    in_threads,
    length,
    like,
    one_blas_thread,
    slices,
    taken,
    to_numpy,
)
from semikpca.blending._columns import Columns, harder
from semikpca.blending._recent import RecentColumns
from semikpca.convexity import ConvexityCertificate
from semikpca.exceptions import IndistinguishableRowsError, KernelRankError
from semikpca.kernels import RBF, DefaultKernels, Kernel, NeighborGraph, finite_pairwise
from semikpca.operators import cross_product, fitted, memory_budget
from semikpca.problem import (
    DualSolution,
    Expansion,
    RemovedComponents,
    SemiKPCAFacts,
    SemiKPCAProblem,
    SemiKPCAResponse,
    kernel_matrix,
    stores_matrix,
)
from semikpca.solvers import COLUMNS_A_GROUP

Report = Callable[[str, int, int], None]  # which step, how much of it is done, of how much
_COLUMNS_AT_ONCE = 64
_NUMBERS_AT_ONCE = 2**23  # 64 MB of float64
_MOST_FACTORED_ROWS = 5_000  # with more, the factors of all sources would take more than a gigabyte
_FEW_ROWS = 2_500  # of which a core holds a factored matrix or two


class Source(ABC):
    """A kernel between the training rows, fitted: its columns are all that candidates are made of."""

    kernel: Kernel
    n_components_removed: int | None = None
    error_weight: float | None = None
    certificate: ConvexityCertificate | None = None
    learns_from_all_rows: ClassVar[bool]  # or from the labeled ones alone
    neighborhoods: NeighborGraph | None = None  # of what the kernel sees of the rows, where they were looked for
    coordinates: FloatArray | None = None  # of that along its leading components, where they were found on the way
    needs_labels: bool = False  # whether labels alone can tell that what the kernel sees matters; see DefaultKernels

    def __init__(self, kernel: Kernel, rows: Any) -> None:
        self.kernel, self.rows = kernel, rows

    @property
    def n(self) -> int:
        """Number of training rows."""
        return length(self.rows)

    @abstractmethod
    def compute(self, at: np.ndarray) -> tuple[np.ndarray, DualSolution | None]:
        """Return k(training rows, training rows ``at``), and the solve behind it, if there was one."""

    @abstractmethod
    def combined(self, at: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return Σ columns · coefficients at all training rows, for columns at rows ``at`` that are not kept."""

    @abstractmethod
    def expand(self, at: np.ndarray, coefficients: np.ndarray, sums: np.ndarray) -> tuple[Expansion, np.ndarray]:
        """Return Σ columns · coefficients as a function of new rows, and its values on the training rows.

        The columns are those at the rows ``at``, and ``sums`` what is known of the values: by columns that are as good
        as the solves behind them.
        """

    @abstractmethod
    def prepare(self, at: np.ndarray) -> None:
        """Do what takes long of :meth:`compute` beforehand."""

    def at_weight(self, error_weight: float | str) -> "Source":
        """Return the source at another error weight; a plain kernel has none."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave neighborhoods and coordinates behind: what is made of them is in the blend."""
        return {name: value for name, value in self.__dict__.items() if name not in ("neighborhoods", "coordinates")}


class PlainSource(Source):
    """The kernel as it is: LS-SVM on the labeled rows, to which the unlabeled ones say nothing."""

    learns_from_all_rows = False

    def compute(self, at: np.ndarray) -> tuple[np.ndarray, None]:
        if self.kernel.input_kind == "matrix":
            return finite_pairwise(self.kernel, self.rows, self.rows)[:, at], None
        return finite_pairwise(self.kernel, self.rows, taken(self.rows, at)), None

    def prepare(self, at: np.ndarray) -> None:
        """Do nothing: nothing takes long."""

    def combined(self, at: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        if self.kernel.input_kind == "matrix":
            return np.asarray(self.compute(at)[0] @ coefficients)
        return np.asarray(cross_product(self.kernel, self.rows, taken(self.rows, at), coefficients))

    def expand(self, at: np.ndarray, coefficients: np.ndarray, sums: np.ndarray) -> tuple[Expansion, np.ndarray]:
        if self.kernel.input_kind != "matrix":
            return Expansion(self.kernel, taken(self.rows, at), coefficients, far_is_zero=True), sums
        everywhere = np.zeros((length(self.rows), coefficients.shape[1]))
        everywhere[at] = coefficients
        return Expansion(self.kernel, self.rows, everywhere, far_is_zero=True), sums


class ResponseSource(Source):
    """The label response H of Semi-KPCA: a kernel that unlabeled rows have shaped.

    ``facts`` are what was learned of the kernel matrix; ``backend`` is as the user names it.
    """

    learns_from_all_rows = True

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
        moved = ResponseSource(self.kernel, self.rows, self.backend, problem, *set_up)
        if self.needs_labels:
            moved.needs_labels = True
        return moved

    @property
    def response(self) -> SemiKPCAResponse:
        """H; set up again where the source was loaded without it."""
        if not self._made:
            operator = kernel_matrix(self.kernel, self.rows, self.backend, tol=self.problem.matrix_tol)[1]
            self._made.append(self.problem.restored(operator, self.facts))
        return self._made[0]

    @cached_property
    def _recent(self) -> RecentColumns:
        return RecentColumns()

    def compute(self, at: np.ndarray) -> tuple[np.ndarray, DualSolution]:
        known = self._recent.known(at)
        if not known:
            solved = self._solved(at)
            self._recent.keep(at, *solved)
            return solved
        is_known = np.array([row in known for row in at.tolist()])
        columns, hardest = self._empty(len(at)), None
        if not is_known.all():
            columns[:, ~is_known], hardest = self.compute(at[~is_known])
        for place in np.flatnonzero(is_known).tolist():
            columns[:, place], solution = known[int(at[place])]
            hardest = harder(hardest, solution)
        assert hardest is not None, "no columns are not asked for"
        return columns, hardest

    def prepare(self, at: np.ndarray) -> None:
        """Solve now; the columns are kept until they are asked for."""
        self.compute(at)

    def _solved(self, at: np.ndarray) -> tuple[np.ndarray, DualSolution]:
        response = self.response
        step = self._columns_at_once
        if self.n <= _MOST_FACTORED_ROWS:
            response.solver.expect(len(at))
        columns = self._empty(len(at))
        hardest: DualSolution | None = None
        for some in slices(0, len(at), step):
            solution = response.columns(at[some])
            columns[:, some] = to_numpy(solution.decision)
            hardest = harder(hardest, solution.without_arrays())
        assert hardest is not None, "no columns are not asked for"
        return columns, hardest

    @property
    def _columns_at_once(self) -> int:
        """How many columns to solve for at a time: a solve needs several times the memory of its answer."""
        if self.response.operator.facts.uses_one_core:
            return _COLUMNS_AT_ONCE
        return max(_COLUMNS_AT_ONCE, _NUMBERS_AT_ONCE // self.n)

    def combined(self, at: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        response = self.response
        sums = self._empty(coefficients.shape[1])
        for some in slices(0, coefficients.shape[1], self._columns_at_once):
            targets = np.zeros((self.n, some.stop - some.start), dtype=sums.dtype)
            targets[at] = coefficients[:, some]
            sums[:, some] = to_numpy(response.solve(self._beside(targets)).decision)
        return sums

    def _empty(self, n_columns: int) -> np.ndarray:
        """Return an array for columns, with the digits that the response computes in."""
        return np.empty((self.n, n_columns), dtype=to_numpy(self.response.eigenvectors[:0]).dtype)

    def _beside(self, values: np.ndarray) -> Array:
        """Return values where the response computes: on its device, or as they are."""
        basis = self.response.eigenvectors
        return values if device_of(basis) is None else like(values, basis)

    def expand(self, at: np.ndarray, coefficients: np.ndarray, sums: np.ndarray) -> tuple[Expansion, np.ndarray]:
        """Return a sum over all rows: decisions are linear in the targets, so that no further solve is needed."""
        response = self.response
        targets = np.zeros_like(self._empty(coefficients.shape[1]))
        targets[at] = coefficients
        dual_coef = response.dual_coef(self._beside(sums), self._beside(targets))
        decision = to_numpy(response.operator.matmat(dual_coef))
        return Expansion(self.kernel, self.rows, to_numpy(dual_coef), far_is_zero=True), decision

    def __getstate__(self) -> dict[str, Any]:
        """Leave the kernel matrix and columns behind: they come back from the rows when needed."""
        state = {name: value for name, value in super().__getstate__().items() if name != "_recent"}
        return {**state, "_made": []}


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
            defaults: DefaultKernels = kernel
            found = defaults.fit(rows, stores_matrices=stores_matrix(RBF(), rows, backend))
            n_steps += len(found.shaped)
            suggested: list[Source] = [PlainSource(each, rows) for each in found.plain]
            for each in found.shaped:
                done += 1
                report("kernels", done, n_steps)
                suggested += _unless_all_alike(each, rows, backend, quiet)
            for source in suggested:
                source.neighborhoods, source.coordinates = found.neighborhoods, found.coordinates
                if defaults.needs_labels:
                    source.needs_labels = True  # sources in files of before have no such attribute
            sources += suggested
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
        # Blocks of few rows are too small for more threads of BLAS, which wait for each other where a core is busy.
        with one_blas_thread() if length(rows) <= _FEW_ROWS else nullcontext():
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
    """Return the columns of every source at these rows, with those that are known already.

    They are kept whole where all of them together fit the memory budget.
    """
    report("labels", 0, len(sources))
    most_numbers = most_column_numbers(len(sources))
    found: dict[int, Columns] = {}

    def find(number: int, thread: int) -> None:
        found[number] = known[number].moved(sources[number], at, most_numbers)

    is_small = all(source.n <= _FEW_ROWS for source in sources)
    if is_small or all(len(np.setdiff1d(at, columns.at)) <= COLUMNS_A_GROUP for columns in known):
        # A solve with so few columns, or rows, keeps one core busy: the sources take turns on all of them.
        in_threads(find, range(len(sources)), min(allowed_threads(), len(sources)))
    else:
        for number in range(len(sources)):
            report("labels", number, len(sources))
            find(number, 0)
    report("labels", len(sources), len(sources))
    return tuple(found[number] for number in range(len(sources)))


def most_column_numbers(n_sources: int) -> float:
    """Return how many numbers the columns of each source may have to be kept whole."""
    return memory_budget() / 8 / n_sources
