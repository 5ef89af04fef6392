"""The contract that every kernel keeps."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator

from semikpca._typing import Array, BoolArray, FloatArray, IntArray, Rows
from semikpca.arrays import allowed_threads, in_threads, length, slices
from semikpca.kernels._evaluation import values_at_equal_rows, values_between
from semikpca.kernels._formula import Formula
from semikpca.kernels._low_rank import LowRankFactor
from semikpca.kernels._registry import register
from semikpca.kernels._vectors import as_float

_MANY_NUMBERS = 2**21  # in rows that are compared at a time

InputKind = Literal["vectors", "matrix", "objects"]


@dataclass(frozen=True)
class SparseFactor:
    """What some rows have in a kernel matrix K(A, B) = damping · S(A) S(B)ᵀ + (1 − damping) v(A) v(B)ᵀ.

    Of the training rows themselves S, the ``matrix``, is symmetric, has no eigenvalue outside [−1, 1], and S v = v; the
    ``vector`` v has unit length and is the eigenvector of K for its largest eigenvalue, 1.
    """

    matrix: Any  # CSR, shape (n_rows, n): against the n training rows
    vector: FloatArray
    damping: float  # in (0, 1]: every other eigenvalue of K is at most this


class Kernel(BaseEstimator, ABC):
    """A positive semi-definite function of two rows.

    ``fit`` learns what depends on the data (a bandwidth, degrees) and stores it in attributes that end in an
    underscore; ``pairwise`` evaluates. A kernel whose parameters are all numbers needs no ``fit``.

    Attributes
    ----------
    shorthand : str or None
        The name that stands for the kernel with its defaults, also on the command line; a class attribute.
    """

    shorthand: ClassVar[str | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Make the kernel known by its name, to files and to the command line."""
        super().__init_subclass__(**options)
        register(cls)

    @property
    def input_kind(self) -> InputKind:
        """What the rows are: vectors, rows of a given kernel matrix, or any objects."""
        return "vectors"

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may be a CSR matrix."""
        return True

    @property
    def is_definite(self) -> bool:
        """Whether the matrix is positive semi-definite by construction; otherwise it is checked."""
        return True

    @property
    def is_sparse(self) -> bool:
        """Whether ``sparse_factor`` gives the matrix of the training rows without its n² numbers."""
        return False

    def fit(self, rows: Rows) -> Self:
        """Learn what depends on the training rows; return the kernel itself."""
        return self

    @abstractmethod
    def pairwise(self, A: Rows, B: Rows) -> FloatArray:
        """Return the matrix of k(a, b), shape (len(A), len(B)), as a new array."""

    @abstractmethod
    def diag(self, A: Rows) -> FloatArray:
        """Return k(a, a) for each row a of A."""

    def known_matrix(self, rows: Rows) -> FloatArray | None:
        """Return the matrix of the training rows, if these are ``rows`` and it is known; nobody may change it."""
        return None

    def sparse_factor(self, rows: Rows | None = None) -> SparseFactor:
        """Return what rows (the training rows unless given) have in the matrix, where ``is_sparse``."""
        raise NotImplementedError(f"The matrix of {self!r} is not sparse.")

    @property
    def formula(self) -> Formula | None:
        """What the kernel is made of, where that can be said as data: see :class:`ProductKernel`."""
        return None

    def factor(self, rows: Rows) -> Rows:
        """Return rows as the formula compares them, in float32 or float64."""
        return as_float(rows)

    def seen(self, rows: Rows) -> Rows:
        """Return what the kernel looks at of rows: all or some columns; of the training rows always the same object."""
        return rows

    @property
    def is_approximate(self) -> bool:
        """Whether the kernel stands for another one, whose eigenvalues may be larger."""
        return False

    def is_low_rank_on(self, rows: Rows) -> bool:
        """Whether ``features`` is the way to the matrix of these rows: a few numbers a row instead of n."""
        return False

    def low_rank_factor(self) -> LowRankFactor:
        """Return what makes the features of rows, for a kernel that may have ``is_low_rank_on``."""
        raise NotImplementedError(f"The matrix of {self!r} has no low rank.")

    def features(self, rows: Rows) -> FloatArray:
        """Return features whose inner products are the kernel, shape (n_rows, n_features)."""
        return self.low_rank_factor().features(rows)

    def over_landmarks(self, weights: FloatArray) -> "tuple[Kernel, Rows, FloatArray] | None":
        """Return k, Z and c so that features(x) @ weights = k(x, Z) @ c, where the features are made of landmarks."""
        return None

    def components(self) -> IntArray | None:
        """Return the connected component of each training row; None where the kernel connects all of them."""
        return None

    def touches(self, A: Rows, marked: BoolArray) -> BoolArray:
        """Return whether each row of A is connected with a marked training row; only asked with ``components``."""
        return np.ones(length(A), dtype=bool)

    def __call__(self, A: Rows, B: Rows | None = None) -> FloatArray:
        """Return ``pairwise(A, B)``, or ``pairwise(A, A)`` without B."""
        return self.pairwise(A, A if B is None else B)


class ProductKernel(Kernel):
    """A kernel on vectors whose formula is data: k(a, b) = profile(scale · pairing(a, b)).

    A subclass says ``formula``, and where rows are to be changed before they are compared, ``factor``. Every product
    with the matrix, on NumPy arrays, CSR matrices, tensors or in a program on a GPU, is made from these two.
    """

    @property
    @abstractmethod
    def formula(self) -> Formula:
        """What rows are compared by, and what becomes of the comparison."""

    def pairwise(self, A: Rows, B: Rows) -> Array:
        """Return the matrix of k(a, b), shape (len(A), len(B))."""
        if A is B:
            rows = self.factor(A)
            return values_between(self.formula, rows, rows)
        right = self.factor(B)
        is_wide = isinstance(A, np.ndarray) and isinstance(B, np.ndarray) and A.size > _MANY_NUMBERS >= B.size
        if not is_wide or self.formula.pairing == "squared distance":
            return values_between(self.formula, self.factor(A), right)
        # A few rows at a time on each core: copies of all rows would take longer than their products with a few others.
        strips = slices(0, len(A), max(1, _MANY_NUMBERS // A.shape[1]))
        values: FloatArray = np.empty((len(A), len(B)), np.result_type(self.factor(A[:1]), right))

        def fill(strip: slice, thread: int) -> None:
            values[strip] = values_between(self.formula, self.factor(A[strip]), right)

        in_threads(fill, strips, min(allowed_threads(), len(strips)))
        return values

    def diag(self, A: Rows) -> Array:
        """Return k(a, a) for each row a of A."""
        return values_at_equal_rows(self.formula, self.factor(A))
