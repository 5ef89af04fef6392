"""The contract of an operator: a symmetric matrix known by its products, and a record of what they cost."""

import math
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.operators._progress import ProductLog

if TYPE_CHECKING:
    from semikpca.operators._low_rank import LowRankInverse


class Storage(Enum):
    """What an operator keeps of its matrix."""

    ENTRIES = "all n² numbers; columns are there to be read"
    SPARSE_FACTOR = "a sparse factor; a product costs no more than a few operations on vectors"
    FEATURES = "features Φ of the rows, K = Φ Φᵀ; eigenpairs and inverses follow from the small matrix ΦᵀΦ"
    NOTHING = "only the rows; each product computes the entries again"


@dataclass(frozen=True)
class OperatorFacts:
    """What an operator costs and what it promises: everything by which methods are chosen and stopped.

    An operator made of another one takes over this record whole, and replaces the numbers that it changes.

    - ``product_cost``: multiplications in a product with one column; n² where the matrix is stored
    - ``precision``: how far rounding may move a product, relative to the largest eigenvalue
    - ``product_error``: the relative residual below which steps that are made of products do not come
    - ``storage``: what is kept of the matrix (of the innermost one, where operators are made of others)
    - ``accepted_error``: the relative error of an answer that the user accepted by choosing this operator; 0 if none
    - ``rounding_scale``: a bound on the eigenvalues before something was subtracted from the matrix. Rounding is
      relative to it where it is larger than the eigenvalues that are left
    - ``can_be_dense``: whether ``to_dense`` is a way out where products alone do not lead to an answer, or raises
    - ``uses_one_core``: whether a product keeps only one core busy, so that several may run side by side
    - ``block_columns``: a product with this many columns costs little more than a product with one
    - ``is_estimate``: whether the matrix stands for another one, whose eigenvalues may be larger
    """

    product_cost: float
    precision: float
    product_error: float
    storage: Storage = Storage.ENTRIES
    accepted_error: float = 0.0
    rounding_scale: float = 0.0
    can_be_dense: bool = True
    uses_one_core: bool = False
    block_columns: int = 8
    is_estimate: bool = False

    @classmethod
    def of_stored_matrix(cls, n: int, eps: float) -> "OperatorFacts":
        """Return the facts of n² numbers in memory, with the rounding unit ``eps``.

        Rounding errors of n² entries add up like a random matrix, whose norm grows with sqrt(n); ten times that leaves
        room for an eigensolver's own steps. LAPACK's worst case, n · eps, would call half of a float32 spectrum noise.
        """
        return cls(product_cost=float(n) ** 2, precision=float(10 * np.sqrt(n) * eps), product_error=10 * eps)

    @property
    def is_stored(self) -> bool:
        """Whether a product is cheap compared to computing the matrix; if not, a fit costs what its products cost."""
        return self.storage is not Storage.NOTHING


@dataclass(frozen=True)
class KnownSpectrum:
    """Leading eigenpairs that are known beforehand: m of them, eigenvectors of shape (n, m)."""

    eigenvalues: FloatArray
    eigenvectors: FloatArray
    bound: float = math.inf  # no other eigenvalue is larger

    def __len__(self) -> int:
        return len(self.eigenvalues)


@dataclass(frozen=True)
class Subspace:
    """A subspace, and the products of an operator with it; both of shape (n, m)."""

    basis: FloatArray  # orthonormal columns
    images: FloatArray  # the operator times the basis
    n_last: int  # only the images of so many last columns lead out of the subspace (as in a Krylov space)


class KernelOperator(ABC):
    """A symmetric n × n matrix that can be multiplied from the left; SciPy's names where SciPy has one.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
    xp : module
        The library of the blocks that go in and come out: NumPy or torch.
    facts : OperatorFacts
        What the operator costs and promises. It begins as the record of a matrix in memory; a subclass replaces what
        differs.
    log : ProductLog
        Counts products, and reports them where somebody listens. Operators made of each other share it.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    xp: Any = np
    facts: OperatorFacts
    log: ProductLog

    def __init__(self, n: int, dtype: Any) -> None:
        self.shape = (n, n)
        self.dtype = dtype
        self.facts = OperatorFacts.of_stored_matrix(n, float(self.xp.finfo(dtype).eps))
        self.log = ProductLog()

    @property
    def n(self) -> int:
        """Number of rows and columns."""
        return self.shape[0]

    @abstractmethod
    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the product with ``block``, shape (n, n_columns), as a new array."""

    @abstractmethod
    def diag(self) -> FloatArray:
        """Return the diagonal."""

    @abstractmethod
    def to_dense(self) -> FloatArray:
        """Return the whole matrix as a new array that the caller may overwrite."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes that the operator keeps in memory."""

    def too_large(self, limit: str) -> ValueError:
        """Return the error of ``to_dense`` where ``facts.can_be_dense`` is False; ``limit`` says what helps."""
        size = self.n**2 * float(self.xp.finfo(self.dtype).bits) / 8
        return ValueError(f"This needs the whole kernel matrix of {self.n:,} rows, {size / 1e9:.2g} GB, and {limit}")

    # -- products, in parts or with more digits ----------------------------------------------------------------

    def block(self, values: Any) -> FloatArray:
        """Return values as a block that can be multiplied: of the right library, type and device."""
        return np.asarray(values, dtype=self.dtype)

    def units(self, rows: IntArray) -> FloatArray:
        """Return a block with a 1 in each column, at these rows."""
        units = self.block(np.zeros((self.n, len(rows))))
        units[rows, np.arange(len(rows))] = 1
        return units

    def columns(self, rows: IntArray) -> FloatArray:
        """Return the columns of the matrix at ``rows``, shape (n, len(rows))."""
        return self.matmat(self.units(rows))

    def landmark_columns(self, rows: IntArray) -> FloatArray:
        """Return hundreds of columns as a new array: as ``columns``, in the way that is fast for many."""
        return self.columns(rows)

    def product_at(self, rows: IntArray, block: FloatArray) -> FloatArray | None:
        """Return the product with ``block`` at a few rows; None where that costs as much as at all of them."""
        return None

    def product_beside_known(self, block: FloatArray) -> FloatArray:
        """Return the product with a block that is orthogonal to the first eigenvector of ``known_spectrum``."""
        return self.matmat(block)

    def sharper(self) -> "KernelOperator":
        """Return the same matrix with more digits in its products; the operator itself where there are no more."""
        return self

    def between_products(self) -> AbstractContextManager[None]:
        """Return a context for the work between products; it keeps BLAS to one thread where products use all cores."""
        return nullcontext()

    # -- what is known without products ------------------------------------------------------------------------

    def known_spectrum(self, m: int) -> KnownSpectrum:
        """Return those of the m leading eigenpairs that need not be computed; none by default."""
        return KnownSpectrum(np.empty(0), self.block(np.empty((self.n, 0))))

    def centered_spectrum(self, m: int) -> KnownSpectrum:
        """Return those of the m leading eigenpairs of the centered matrix that need not be computed."""
        return KernelOperator.known_spectrum(self, m)

    def whole_spectrum(self) -> KnownSpectrum | None:
        """Return all eigenpairs but those of eigenvalue zero, where that takes no dense matrix; otherwise None."""
        return None

    def rough_eigenvectors(self, m: int) -> FloatArray:
        """Return at most m columns that are close to leading eigenvectors and cost less than a product.

        None by default: where a product is cheap, so is a search that begins anywhere.
        """
        return self.block(np.empty((self.n, 0)))

    def inverse(self) -> "LowRankInverse | None":
        """Return the inverse of this matrix in closed form, where there is one."""
        return None

    def shifted_inverse(self, shift: float, sign: Literal[-1, 1], n_removed: int = 0) -> "LowRankInverse | None":
        """Return the inverse of shift · I + sign · K in closed form, where there is one.

        K is this matrix without its first ``n_removed`` components.
        """
        return None
