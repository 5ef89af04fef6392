"""A kernel matrix known by the features of its rows."""

from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import length, one_blas_thread, taken
from semikpca.kernels import Kernel, LowRankFactor, above_rounding
from semikpca.operators._base import KernelOperator, KnownSpectrum, Storage

# The features of all rows are kept up to this many bytes; larger ones are computed again for each product.
_MOST_STORED_BYTES = 512 * 2**20
# Where a method asks for the dense matrix, it is made for up to this many rows: 800 MB.
_MOST_DENSE_ROWS = 10_000
# To compute a feature again takes as long as this many multiplications.
_COLUMN_COST = 10


class LowRankOperator(KernelOperator):
    """K = Φ Φᵀ, with Φ kept up to 512 MB; a larger one is computed again for each product, a block of rows at a time.

    All eigenpairs follow from the small matrix ΦᵀΦ = E Λ Eᵀ: the nonzero eigenvalues of K are Λ, the eigenvectors
    Φ E Λ^-½. The kernel is fitted and has a ``low_rank_factor``.
    """

    def __init__(self, kernel: Kernel, rows: Rows) -> None:
        self._factor, self._rows = kernel.low_rank_factor(), rows
        first = self._factor.features(rows[:1])
        super().__init__(length(rows), first.dtype)
        self.kernel = kernel
        self.n_features = int(first.shape[1])
        self._keeps_features = self.n * self.n_features * self.dtype.itemsize <= _MOST_STORED_BYTES
        if self._keeps_features:
            self._factor, self._rows = LowRankFactor(np.asarray), self._factor.features(rows)
        self.facts = replace(
            self.facts,
            storage=Storage.FEATURES,
            # Two products with the features.
            product_cost=float(2 * self.n * self.n_features * (1 if self._keeps_features else _COLUMN_COST)),
            can_be_dense=self.n <= _MOST_DENSE_ROWS,
            is_estimate=kernel.is_approximate,
        )

    # -- features ----------------------------------------------------------------------------------------------

    def features(self, rows: IntArray) -> FloatArray:
        """Return Φ at these row numbers, shape (len(rows), n_features)."""
        return self._factor.features(taken(self._rows, rows))

    def project(self, block: FloatArray) -> FloatArray:
        """Return Φᵀ @ block in float64, shape (n_features, n_columns); rows of zeros in the block cost nothing."""
        return self._factor.project(self._rows, block)

    def combine(self, coefficients: FloatArray) -> FloatArray:
        """Return Φ @ coefficients, shape (n, n_columns)."""
        return self._factor.combine(self._rows, coefficients)

    @cached_property
    def _gram(self) -> tuple[FloatArray, FloatArray]:
        """ΦᵀΦ and the diagonal of K: one pass over the rows, the largest part of a fit."""
        gram, squares = self._factor.gram(self._rows)
        if not np.isfinite(gram).all():
            raise ValueError(
                f"Values of {self.kernel!r} leave the range of {self.dtype}. Scale the features, for example with "
                "StandardScaler."
            )
        return gram, squares

    @cached_property
    def gram_spectrum(self) -> tuple[FloatArray, FloatArray]:
        """All eigenvalues of ΦᵀΦ in float64, largest first, and its eigenvectors E."""
        return _eigenpairs(self._gram[0])

    # -- the matrix --------------------------------------------------------------------------------------------

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the product with ``block``."""
        return self.combine(self.project(block))

    def diag(self) -> FloatArray:
        """Return the diagonal."""
        return self._gram[1].copy()

    def to_dense(self) -> FloatArray:
        """Return the whole matrix, unless it is too large."""
        if not self.facts.can_be_dense:
            raise self.too_large(
                f"for a kernel of low rank it is made for up to {_MOST_DENSE_ROWS:,} rows. The rank is at most "
                f"{self.n_features}: ask for no more eigenpairs, use fewer rows, or backend='dense' to have it anyway."
            )
        features = self._factor.features(self._rows)
        return np.asarray(features @ features.T)

    @property
    def nbytes(self) -> int:
        """The features, if they are kept, ΦᵀΦ and its eigenvectors; the rows are the caller's."""
        features = self._rows.nbytes if self._keeps_features else 0
        return int(features + 2 * 8 * self.n_features**2 + self.n * self.dtype.itemsize)

    # -- its spectrum ------------------------------------------------------------------------------------------

    def known_spectrum(self, m: int) -> KnownSpectrum:
        """Return the m leading eigenpairs; fewer if the rank is smaller. Values that rounding explains do not count."""
        return self._known(*self.gram_spectrum, m)

    def centered_spectrum(self, m: int) -> KnownSpectrum:
        """Return the same of the centered matrix: its features are Φ without their means."""
        means = self.project(np.ones((self.n, 1), dtype=self.dtype))[:, 0] / self.n
        return self._known(*_eigenpairs(self._gram[0] - self.n * np.outer(means, means)), m, means)

    def _known(self, values: FloatArray, E: FloatArray, m: int, means: FloatArray | None = None) -> KnownSpectrum:
        m = min(m, int(np.count_nonzero(above_rounding(values, self.dtype))))
        weights = E[:, :m] / np.sqrt(values[:m])
        vectors = self.combine(weights)
        if means is not None:
            vectors -= (means @ weights).astype(self.dtype)
        next_value = float(values[m]) if m < len(values) else 0.0
        rounding = float(np.finfo(self.dtype).eps * values[0])
        return KnownSpectrum(values[:m].astype(self.dtype), vectors, next_value + rounding)

    def whole_spectrum(self) -> KnownSpectrum:
        """Return all nonzero eigenvalues, and their eigenvectors as a matrix of which only products are made.

        A direction whose eigenvalue is within rounding of zero is there too, with a vector that is not quite of unit
        length: sums over all eigenpairs, such as the path of error weights, are right for it.
        """
        values, _ = self.gram_spectrum
        kept = values[above_rounding(values, np.float64)]
        # Products and slices are all that anyone asks of so many vectors.
        vectors = cast(FloatArray, FactoredVectors(self, slice(0, len(kept))))
        return KnownSpectrum(kept.astype(self.dtype), vectors, bound=0.0)

    def shifted_inverse(self, shift: float, sign: Literal[-1, 1], n_removed: int = 0) -> "LowRankInverse":
        """Return the inverse of shift · I + sign · K, where K may lack its first components."""
        return LowRankInverse(self, n_removed, shift, sign)

    def _weights(self, columns: slice) -> FloatArray:
        """Return E Λ^-½ for some of the eigenpairs: features times this are the eigenvectors."""
        values, vectors = self.gram_spectrum
        return np.asarray(vectors[:, columns] / np.sqrt(values[columns]))


class LowRankInverse:
    """The inverse of s I ± K′ with K = Φ Φᵀ in closed form, in the dimension of the features: no solve needs steps.

    With ΦᵀΦ = E Λ Eᵀ and the first k eigenpairs removed, K′ x = Φ N Φᵀ y where N = Σ_{l>k} e_l e_lᵀ / (s ± λ_l), and
    x = (y ∓ K′ x) / s. No eigenvalue is divided by, so that small ones do no harm. ``n_removed`` is k, ``shift`` s.
    """

    def __init__(self, operator: LowRankOperator, n_removed: int, shift: float, sign: Literal[-1, 1]) -> None:
        self.operator, self.shift, self.sign = operator, shift, sign
        values, vectors = operator.gram_spectrum
        left = vectors[:, n_removed:]
        self._inner = (left / (shift + sign * values[n_removed:])) @ left.T

    def solve(self, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the solution and K′ times it: one pass over the rows, and one over those with a target."""
        product = self.operator.combine(self._inner @ self.operator.project(targets))
        return (targets - self.sign * product) / self.operator.dtype.type(self.shift), product

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return the diagonal of the inverse at ``rows``, in float64: its difference from 1/s may be tiny."""
        if not len(rows):
            return np.empty(0)
        features = self.operator.features(rows).astype(np.float64)
        own = np.einsum("ij,ij->i", features @ self._inner, features)
        return np.asarray((1 - self.sign * own) / self.shift)


class FactoredVectors:
    """Eigenvectors Φ E Λ^-½ of a matrix of low rank: n × rank numbers that are not stored.

    Knows what sums over eigenpairs need: columns by a slice, entries at some rows, and products from both sides.
    Pickled or copied it is a plain array.
    """

    def __init__(self, operator: LowRankOperator, columns: slice) -> None:
        self.operator = operator
        self.columns = columns
        self.shape = (operator.n, columns.stop - columns.start)
        self.dtype = operator.dtype

    def __getitem__(self, key: IntArray | tuple[slice | IntArray, slice]) -> "FloatArray | FactoredVectors":
        """Return some columns of all rows, or the entries at some row numbers."""
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        start, stop, _ = columns.indices(self.shape[1])
        some = slice(self.columns.start + start, self.columns.start + max(start, stop))
        if isinstance(rows, slice):
            return FactoredVectors(self.operator, some)
        return np.asarray(self.operator.features(rows) @ self.operator._weights(some))

    def __matmul__(self, coefficients: FloatArray) -> FloatArray:
        """Return the combinations of the vectors."""
        return self.operator.combine(self.operator._weights(self.columns) @ coefficients)

    @property
    def T(self) -> "_Transposed":  # noqa: N802  (NumPy's name)
        """The matrix to multiply blocks of n rows with."""
        return _Transposed(self)

    def copy(self) -> FloatArray:
        """Return the vectors as an array."""
        return self.operator.combine(self.operator._weights(self.columns))

    def __reduce__(self) -> tuple[Any, ...]:
        return np.asarray, (self.copy(),)


class _Transposed:
    def __init__(self, vectors: FactoredVectors) -> None:
        self.vectors = vectors

    def __matmul__(self, block: FloatArray) -> FloatArray:
        operator = self.vectors.operator
        return np.asarray(operator._weights(self.vectors.columns).T @ operator.project(block))


def _eigenpairs(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the eigenpairs of a small definite matrix, largest first."""
    # The threads of BLAS gain nothing at this size, and on a busy computer they wait for each other.
    with one_blas_thread():
        values, vectors = np.linalg.eigh(gram)
    return np.maximum(values[::-1], 0), np.ascontiguousarray(vectors[:, ::-1])
