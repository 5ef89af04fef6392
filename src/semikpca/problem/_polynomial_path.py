"""All error weights at once by polynomials in the matrix, for operators whose products are cheap.

H(γ) = K′ (I/γ − K′)⁻¹ is the same function of every eigenvalue, x / (1/γ − x), and its Chebyshev series is known in
closed form for every γ. What the polynomials make of a column, T_j(K′) y, serves all weights; the weights are in the
coefficients alone. For own responses H[i, i] half of the products do: ⟨T_j e, T_j e⟩ is a value of T_2j.

The series converges the faster, the farther 1/γ is from the eigenvalues. So leading eigenvectors W are taken out first:
with P = I − WWᵀ and C = P K′ P, elimination gives the inverse of I/γ − K′ from that of I/γ − C. W need not be exact.
What K′ makes of it outside, the leaks P K′ W, are right-hand sides like the targets.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import allowed_threads, in_threads
from semikpca.exceptions import warn_user
from semikpca.operators import DeflatedOperator, KernelOperator

# Columns that are multiplied at once: with more of them a block leaves the cache.
_COLUMNS_AT_ONCE = 16
# Terms are kept until one matrix product adds them to the answers at all weights: so many degrees, or more of them
# where they take no more numbers than this.
_DEGREES_AT_ONCE = 16
_NUMBERS_AT_ONCE = 2**22
_MOST_KNOWN = 32  # eigenvectors that need not be computed
_SAME_DIRECTION = 1e-6  # what a vector adds to others, relative to its length, below which it adds nothing
_SEED = 0
# How well the largest eigenvalue of C is known, or better where an error weight is close to it.
_END_RTOL = 1e-3
_STEPS_WITHOUT_CARE = 6
# The series leaves up to twice the tolerance; more than this comes from eigenvalues beyond the end of the interval.
_MOST_RESIDUAL = 10


def polynomial_path(
    operator: DeflatedOperator,
    rows: IntArray,
    targets: FloatArray,
    error_weights: FloatArray,
    rtol: float,
    leading: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return decisions for targets at ``rows``, and those at the rows without their own targets, for all weights.

    Shapes (n_weights, n, n_columns) and (n_weights, n_rows, n_columns). ``rtol`` is the error of the series at the
    largest weight, the hardest, or what rounding of products allows, if that is more; decisions that do not solve their
    system to it are warned of. ``leading`` holds approximate eigenvectors of the largest eigenvalues.
    """
    rtol = max(rtol, operator.facts.product_error)
    parts = _Parts.of(operator, leading)
    series = _Series.of(parts.end(1 / float(error_weights.max())), error_weights, rtol)
    solves = _Solves.of(parts, series, rows)

    y = operator.block(np.zeros((operator.n, targets.shape[1])))
    y[rows] = targets
    inside = parts.W.T @ y
    alpha = solves.inside(inside + solves.leaked(targets))
    n_weights, n_columns = len(error_weights), targets.shape[1]
    # Decisions are summed with a row of n numbers for each column and weight: n is what matrix products run along.
    decisions = np.empty((n_columns, n_weights, operator.n), dtype=operator.dtype)
    moments = np.empty((2 * series.half_degree + 1, len(rows)))

    def sum_decisions(some: slice) -> None:
        outer = (alpha[:, :, some] * series.shifts[:, None, None] - inside[:, some]).transpose(2, 0, 1)
        response = np.broadcast_to(series.response, (len(outer), *series.response.shape))
        factors = np.concatenate([outer, response], axis=2)
        # The columns of W are the same for all columns of y.
        shared = (np.broadcast_to(w[:, None], (operator.n, len(outer))) for w in parts.W.T)
        for places, terms in _gathered(chain(shared, parts.polynomials(y[:, some], series)), factors.shape[2]):
            if not places.start:
                np.matmul(factors[:, :, places], terms, out=decisions[some])
            else:
                decisions[some] += factors[:, :, places] @ terms

    def take_moments(some: slice) -> None:
        units = operator.units(rows[some])
        moments[:, some] = _doubled(parts.polynomials(units, series, series.half_degree))

    n_threads = allowed_threads()
    work = [(sum_decisions, some) for some in _even_slices(n_columns, _COLUMNS_AT_ONCE // 2, n_threads)]
    work += [(take_moments, some) for some in _even_slices(len(rows), _COLUMNS_AT_ONCE, n_threads)]
    in_threads(lambda task, thread: task[0](task[1]), work, min(n_threads, len(work)))
    if parts.leaking.size:
        weights = series.shifts[:, None, None] * alpha[:, parts.leaking]
        for degrees, terms in _gathered(parts.polynomials(parts.leaks, series), series.degree + 1):
            factors = np.einsum("wlc,wd->cwld", weights, series.inverse[:, degrees])
            decisions += factors.reshape(n_columns, n_weights, -1) @ terms.reshape(-1, operator.n)
    own = series.response[:, : len(moments)] @ moments + solves.own(parts.W[rows])
    answers = decisions.transpose(1, 2, 0)
    hardest = int(np.argmax(error_weights))
    residual = _residual(operator, answers[hardest], y, float(series.shifts[hardest]))
    operator.log.report("path", residual, rtol)
    if not residual <= _MOST_RESIDUAL * rtol:  # written so that NaN warns as well
        message = (
            f"The path of error weights has a relative residual of {residual:.1e} at its largest weight, where "
            f"{rtol:.1e} was asked for. Leave out weights that close to the bound."
        )
        warn_user(ConvergenceWarning(message))
    return answers, answers[:, rows] - own[:, :, np.newaxis] * targets


@dataclass(frozen=True)
class _Series:
    """Chebyshev series on [0, end] for all error weights: 1/γ =: s is beyond the end.

    With x = end (t + 1) / 2, z = 2s/end − 1 and ρ = z + √(z² − 1), 1 / (s − x) = 2/end · Σ ρ^-j T_j(t) / √(z² − 1), all
    terms but the first counted twice.
    """

    end: float
    shifts: FloatArray  # s
    inverse: FloatArray  # coefficients of 1 / (s − x), shape (n_weights, degree + 1)
    response: FloatArray  # of x / (s − x)

    @classmethod
    def of(cls, end: float, error_weights: FloatArray, rtol: float) -> "_Series":
        shifts = 1 / error_weights.astype(np.float64)
        z = 2 * shifts / end - 1
        root = np.sqrt(z**2 - 1)
        rate = np.log(z + root)
        degree = 2 * int(np.ceil(-np.log(rtol) / rate.min() / 2))
        inverse = 2 * np.exp(-np.outer(rate, np.arange(degree + 1))) / root[:, np.newaxis] * (2 / end)
        inverse[:, 0] /= 2
        response = inverse * shifts[:, np.newaxis]
        response[:, 0] -= 1
        return cls(end, shifts, inverse, response)

    @property
    def degree(self) -> int:
        return int(self.inverse.shape[1]) - 1

    @property
    def half_degree(self) -> int:
        return self.degree // 2


@dataclass(frozen=True)
class _Parts:
    """K′ inside and outside of W, which holds the eigenvectors that K knows and those that K′ lacks."""

    kernel: KernelOperator  # K, whose products outside of W are those of K′
    W: FloatArray
    within: FloatArray  # WᵀK′W
    leaking: IntArray  # columns of W that K′ leads out of it
    leaks: FloatArray  # where to: P K′ W at those columns

    @classmethod
    def of(cls, operator: DeflatedOperator, leading: FloatArray | None) -> "_Parts":
        kernel = operator.base
        together = [kernel.known_spectrum(_MOST_KNOWN).eigenvectors, operator.eigenvectors]
        together += [] if leading is None else [leading]
        left, lengths, _ = np.linalg.svd(np.hstack(together).astype(np.float64), full_matrices=False)
        W = np.ascontiguousarray(left[:, lengths > _SAME_DIRECTION], dtype=operator.dtype)
        images = operator.matmat(W)
        within = W.T @ images
        leaks = images - W @ within
        # No eigenvalue is larger than 1, so that the precision needs no scale.
        leaking = np.flatnonzero(np.linalg.norm(leaks, axis=0) > operator.facts.precision)
        return cls(kernel, W, (within + within.T) / 2, leaking, leaks[:, leaking])

    def outside(self, block: FloatArray) -> FloatArray:
        """Return P @ block."""
        return np.asarray(block - self.W @ (self.W.T @ block))

    def end(self, shift: float) -> float:
        """Return a number between the largest eigenvalue of C and ``shift``, close to the former."""
        n = self.kernel.n

        def times(vector: FloatArray) -> FloatArray:
            return self._product(vector.reshape(n, 1))[:, 0]

        start = self.outside(np.random.default_rng(_SEED).standard_normal((n, 1)))[:, 0]
        matrix, rtol = LinearOperator((n, n), matvec=times, dtype=self.kernel.dtype), _END_RTOL
        while True:
            largest = float(eigsh(matrix, k=1, which="LA", tol=rtol, v0=start, return_eigenvectors=False)[0])
            # It may be too small by rtol, of which there must be room on both sides of the end.
            if 4 * rtol * largest <= shift - largest or rtol <= np.finfo(self.kernel.dtype).eps:
                return largest + min(2 * _END_RTOL * largest, (shift - largest) / 2)
            rtol /= 8

    def polynomials(self, block: FloatArray, series: "_Series", degree: int | None = None) -> Iterator[FloatArray]:
        """Yield T_j(2C/end − I) P @ block for j up to the degree of the series, or less.

        What was yielded lasts until the one after the next.
        """
        before = self.outside(block)
        yield before
        scale = self.kernel.dtype.type(2 / series.end)
        now = scale * self._product(before) - before
        for number in range(series.degree if degree is None else degree):
            yield now
            after = self.kernel.product_beside_known(now)
            after *= 2 * scale
            # In place, and without a product with 2: a pass over the block takes as long as a tenth of its product.
            before += now
            before += now
            after -= before
            # Where W is exact, rounding alone leads into it, and grows there slowly. It is taken out of both terms that
            # the next ones come from: out of one alone, it would grow all the faster.
            careful = number % _STEPS_WITHOUT_CARE == 0
            if careful or self.leaking.size:
                after -= self.W @ (self.W.T @ after)
            if careful:
                now -= self.W @ (self.W.T @ now)
            before, now = now, after

    def _product(self, block: FloatArray) -> FloatArray:
        """Return C @ block for a block that is outside of W."""
        product = self.kernel.product_beside_known(block)
        product -= self.W @ (self.W.T @ product)
        return product


@dataclass(frozen=True)
class _Solves:
    """The inverse of I/γ − K′ inside W, for all weights."""

    parts: _Parts
    schur: FloatArray  # I/γ − WᵀK′W − leaksᵀ (I/γ − C)⁻¹ leaks, shape (n_weights, m, m)
    at_rows: FloatArray  # (I/γ − C)⁻¹ leaks at the labeled rows, shape (n_weights, n_rows, m)
    shifts: FloatArray

    @classmethod
    def of(cls, parts: _Parts, series: _Series, rows: IntArray) -> "_Solves":
        m, n_weights = parts.W.shape[1], len(series.shifts)
        schur = series.shifts[:, None, None] * np.eye(m) - parts.within
        at_rows = np.zeros((n_weights, len(rows), m))
        if parts.leaking.size:
            terms = [(parts.leaks.T @ term, term[rows]) for term in parts.polynomials(parts.leaks, series)]
            between, there = (np.stack(numbers) for numbers in zip(*terms, strict=True))
            inside = np.ix_(np.arange(n_weights), parts.leaking, parts.leaking)
            schur[inside] -= np.tensordot(series.inverse, between, 1)
            at_rows[:, :, parts.leaking] = np.tensordot(series.inverse, there, 1)
        return cls(parts, schur, at_rows, series.shifts)

    def leaked(self, targets: FloatArray) -> FloatArray:
        """Return what targets at the rows bring into W by way of its outside, shape (n_weights, m, n_columns)."""
        return np.asarray(self.at_rows.transpose(0, 2, 1) @ targets)

    def inside(self, right: FloatArray) -> FloatArray:
        """Return α in W, shape (n_weights, m, n_columns)."""
        return np.linalg.solve(self.schur, right)

    def own(self, at: FloatArray) -> FloatArray:
        """Return what W adds to the own responses, with W at the rows, shape (n_weights, n_rows)."""
        right = (at + self.at_rows).transpose(0, 2, 1)
        squares = np.einsum("wmi,wmi->wi", right, self.inside(right))
        return np.asarray(self.shifts[:, np.newaxis] * squares - (at**2).sum(axis=1))


def _residual(operator: DeflatedOperator, decision: FloatArray, y: FloatArray, shift: float) -> float:
    """Return how far (I/γ − K′) f is from K′ y, relative to what these are made of."""
    product = operator.matmat(decision + y)
    difference = np.linalg.norm(product - shift * decision, axis=0)
    return float((difference / (shift * np.linalg.norm(decision + y, axis=0))).max())


def _even_slices(n: int, at_most: int, n_threads: int) -> list[slice]:
    """Return slices of about the same length, as many for each thread, and none that is empty."""
    rounds = -(-n // (at_most * n_threads))
    bounds = np.linspace(0, n, min(n, rounds * n_threads) + 1).astype(int)
    return [slice(int(start), int(stop)) for start, stop in pairwise(bounds)]


def _gathered(terms: Iterator[FloatArray], n_terms: int) -> Iterator[tuple[slice, FloatArray]]:
    """Yield terms in batches, as their places and an array of shape (n_columns, n_places, n) that is used again."""
    first = next(terms)
    at_once = min(n_terms, max(_DEGREES_AT_ONCE, _NUMBERS_AT_ONCE // first.size))
    batch = np.empty((first.shape[1], at_once, first.shape[0]), dtype=first.dtype)
    number = 0
    for number, term in enumerate(chain([first], terms)):
        batch[:, number % at_once] = term.T
        if number % at_once == at_once - 1:
            yield slice(number + 1 - at_once, number + 1), batch
    n_left = (number + 1) % at_once
    if n_left:
        yield slice(number + 1 - n_left, number + 1), batch[:, :n_left]


def _doubled(terms: Iterator[FloatArray]) -> FloatArray:
    """Return ⟨e, T_j e⟩ for j up to twice the degree of the terms: T_2j = 2 T_j² − 1 and T_2j+1 = 2 T_j T_j+1 − T_1."""
    moments: list[FloatArray] = []
    before: FloatArray | None = None
    for term in terms:
        squares = np.einsum("ij,ij->j", term, term)
        if before is None:
            moments.append(squares)
        else:
            mixed = np.einsum("ij,ij->j", before, term)
            moments.append(mixed if len(moments) == 1 else 2 * mixed - moments[1])
            moments.append(2 * squares - moments[0])
        before = term
    return np.stack(moments)
