"""A preconditioner from landmarks: the kernel matrix as a few of its columns show it (Nyström), plus the shift.

With the columns C at the landmarks and the block W between them, P = s I + C W⁻¹ Cᵀ is close to the system s I + K
wherever the landmarks explain K, and its inverse takes two products with C (Woodbury):

    P⁻¹ r = (r − C (s W + CᵀC)⁻¹ Cᵀ r) / s.

It decides how many steps a solve takes, and never what it solves: landmarks that are dropped, and a larger s in P, cost
steps and change no answer. docs/decisions/0038-ls-svm-at-scale.md has what was measured.
"""

import math
from typing import Any

import numpy as np
from scipy import linalg

from semikpca._typing import Array, FloatArray, IntArray
from semikpca.arrays import allowed_threads, in_threads, is_tensor, like, slices, to_numpy
from semikpca.operators import KernelOperator, OperatorFacts, memory_budget

_SEED = 0
# Landmarks for each √n: CᵀC then takes n · 64 n multiplications, about two products with the matrix whatever n is.
_LANDMARKS_A_ROOT = 8
# A solve that takes no more steps than this by their bound does as well without: to find landmarks costs a few of them.
_FEW_STEPS = 20
# Landmarks are left alone where they leave more than this share of the diagonal unexplained: there the matrix is close
# to its diagonal, and steps are few without them.
_MOST_UNEXPLAINED = 0.5
# Columns of dropped landmarks stay where they are few: to copy the others takes longer than to multiply with all.
_FEW_LEFT = 0.75
_SAMPLE_ROWS = 256  # rows that are asked what landmarks explain
_ROWS_AT_ONCE = 2_048
_FEW_ROWS_AT_ONCE = 128  # which stay in the cache of a core when they are turned into float64


def choose_landmarks(facts: OperatorFacts, n: int, steps: float, itemsize: int, budget: int | None = None) -> int:
    """Return how many landmarks to take for an n × n matrix; 0 where steps are cheaper without.

    ``steps`` is the bound on those without landmarks. The columns, n numbers of ``itemsize`` bytes each, keep to
    ``budget`` bytes: the memory budget of a kernel matrix unless it is given.

    Examples
    --------
    >>> from semikpca.operators import OperatorFacts, Storage
    >>> facts = OperatorFacts(product_cost=1e10, precision=1e-6, product_error=1e-6, storage=Storage.NOTHING)
    >>> choose_landmarks(facts, 50_000, steps=1000, itemsize=8, budget=2**30)
    1789
    >>> choose_landmarks(facts, 1_000_000, steps=1000, itemsize=8, budget=2**30)
    134
    >>> choose_landmarks(facts, 50_000, steps=10, itemsize=8, budget=2**30)
    0
    """
    if facts.is_stored or steps <= _FEW_STEPS:
        return 0
    room = (memory_budget() if budget is None else budget) // (itemsize * n)
    return min(n, room, math.ceil(_LANDMARKS_A_ROOT * math.sqrt(n)))


class NystroemPreconditioner:
    """P⁻¹ for the system shift · I + K, from landmarks drawn uniformly.

    With ``centered``, of K between vectors whose sum is zero: what goes in has sum zero, and what comes out too.
    ``unexplained`` is the share of the diagonal that landmarks do not explain, seen at a sample of rows.
    """

    def __init__(self, kernel: KernelOperator, shift: float, n_landmarks: int, *, centered: bool) -> None:
        generator = np.random.default_rng(_SEED)
        chosen = np.sort(generator.choice(kernel.n, n_landmarks, replace=False))
        columns = kernel.landmark_columns(chosen)
        between = to_numpy(columns[chosen]).astype(np.float64)
        noise = _rounding(between, kernel.n, float(kernel.xp.finfo(columns.dtype).eps))
        # A pivot divides the rounding of CᵀC, which must stay below the shift: so small pivots are dropped. Where the
        # shift is tiny, both give way: pivots below √noise are worth less than the digits they cost.
        least = max(_smallest_pivot(between), min(noise / shift, math.sqrt(noise)))
        factor, order, rank, _ = linalg.lapack.dpstrf(between, tol=least, lower=1)
        kept = order[:rank] - 1
        self.shift = max(shift, noise / least)
        self.centered = centered
        self.unexplained = _unexplained(kernel, columns, kept, np.tril(factor[:rank, :rank]), generator)
        self._columns: Array = columns
        self._kept: IntArray = np.sort(kept)
        if rank < _FEW_LEFT * n_landmarks:
            self._columns, self._kept = columns[:, self._kept], np.arange(rank)
        self._between = between[np.ix_(np.sort(kept), np.sort(kept))]
        self._factor: Any = None

    @property
    def n_landmarks(self) -> int:
        """Landmarks that are left: those that others explain to rounding are dropped."""
        return len(self._kept)

    @property
    def pays(self) -> bool:
        """Whether the landmarks explain enough of the matrix to be worth a sum over all rows."""
        return self.n_landmarks > 0 and self.unexplained <= _MOST_UNEXPLAINED

    def prepare(self) -> "NystroemPreconditioner":
        """Factor s W + CᵀC, the larger part of the cost; return the preconditioner itself."""
        if self.centered:
            self._columns -= self._columns.mean(axis=0)
        inner = _gram(self._columns)
        if self.n_landmarks < len(inner):
            inner = inner[np.ix_(self._kept, self._kept)]
        inner += self.shift * self._between
        self._factor = linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
        return self

    def solve(self, residual: FloatArray) -> FloatArray:
        """Return P⁻¹ @ residual, shape (n, n_columns)."""
        projected = _projected(self._columns, residual)
        inside = np.zeros_like(projected)
        inside[self._kept] = linalg.cho_solve(self._factor, projected[self._kept], check_finite=False)
        return (residual - _combined(self._columns, inside, residual.dtype)) / self.shift


def _rounding(between: FloatArray, n: int, eps: float) -> float:
    """Return the size of what rounding may add to CᵀC, from the block between the landmarks.

    That of sums in float64, and that of columns which are known to ``eps`` each.
    """
    m = len(between)
    largest = n / m * float(np.square(between).sum())  # about the sum of all eigenvalues of CᵀC
    return float(np.finfo(np.float64).eps) * largest + eps**2 * (n + m) * float(np.diagonal(between).max())


def _smallest_pivot(between: FloatArray) -> float:
    """Return the pivot of a positive semi-definite matrix below which nothing but rounding is left."""
    return len(between) * float(np.finfo(np.float64).eps) * float(np.diagonal(between).max())


def _unexplained(
    kernel: KernelOperator, columns: Array, kept: Any, factor: FloatArray, generator: np.random.Generator
) -> float:
    """Return the share of the diagonal that the landmarks leave at a sample of rows."""
    rows = np.sort(generator.choice(kernel.n, min(kernel.n, _SAMPLE_ROWS), replace=False))
    own = to_numpy(kernel.diag())[rows].astype(np.float64)
    if not kept.size or not own.sum() > 0:
        return 1.0
    seen = to_numpy(columns[rows]).astype(np.float64)[:, kept]
    explained = linalg.solve_triangular(factor, seen.T, lower=True, check_finite=False)
    return max(0.0, 1 - float(np.square(explained).sum() / own.sum()))


# -- products with the columns, in threads on NumPy arrays and where they are on tensors --------------------------


def _gram(columns: Array) -> FloatArray:
    """Return CᵀC, with sums in float64."""
    n, m = columns.shape
    parts = slices(0, n, _ROWS_AT_ONCE)
    if is_tensor(columns):
        return np.asarray(to_numpy(sum(columns[part].double().T @ columns[part].double() for part in parts)))
    n_threads = min(allowed_threads(), len(parts))
    sums = [np.zeros((m, m), order="F") for _ in range(n_threads)]

    def add(part: slice, thread: int) -> None:
        sums[thread] = linalg.blas.dsyrk(
            1.0, _doubled(columns[part]).T, beta=1.0, c=sums[thread], lower=True, overwrite_c=True
        )

    in_threads(add, parts, n_threads)
    lower = sums[0]
    for other in sums[1:]:
        lower += other
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


def _projected(columns: Array, block: Array) -> FloatArray:
    """Return Cᵀ @ block in float64 on the host."""
    if is_tensor(columns):
        return np.asarray(to_numpy(columns.T @ block)).astype(np.float64)
    parts = slices(0, len(columns), _FEW_ROWS_AT_ONCE)
    n_threads = min(allowed_threads(), len(parts))
    sums = [np.zeros((columns.shape[1], block.shape[1])) for _ in range(n_threads)]

    def add(part: slice, thread: int) -> None:
        sums[thread] += np.dot(_doubled(columns[part]).T, block[part])

    in_threads(add, parts, n_threads)
    return np.asarray(np.sum(sums, axis=0))


def _combined(columns: Array, coefficients: FloatArray, dtype: Any) -> FloatArray:
    """Return C @ coefficients, of the library of the columns."""
    if is_tensor(columns):
        return columns @ like(coefficients, columns)  # type: ignore[no-any-return]  # a tensor
    values: FloatArray = np.empty((len(columns), coefficients.shape[1]), dtype)
    parts = slices(0, len(columns), _FEW_ROWS_AT_ONCE)

    def fill(part: slice, thread: int) -> None:
        values[part] = np.dot(_doubled(columns[part]), coefficients)

    in_threads(fill, parts, min(allowed_threads(), len(parts)))
    return values


def _doubled(values: FloatArray) -> FloatArray:
    """Return values in float64: what is left of a residual by the columns has fewer digits than they have."""
    return values.astype(np.float64, copy=False)
