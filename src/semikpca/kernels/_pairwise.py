"""Kernels on vectors: each states its formula as data, and learns its coefficient from the rows."""

from typing import Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from semikpca._typing import Array, Rows
from semikpca.arrays import is_remote, is_tensor, like
from semikpca.kernels._bandwidth import Gamma, fitted_gamma, resolve_gamma
from semikpca.kernels._base import ProductKernel
from semikpca.kernels._formula import ExponentialDecay, Formula, Power, require_finite_number
from semikpca.kernels._low_rank import LowRankFactor
from semikpca.kernels._vectors import as_float, unit_rows

# Rows from which on a linear kernel is multiplied by way of its features; for fewer its matrix is small.
_MANY_ROWS = 5_000


class RBF(ProductKernel):
    """The Gaussian kernel exp(−gamma ‖a − b‖²).

    Parameters
    ----------
    gamma : {"median", "scale"} or float, default="median"
        "median" is the paper's rule, 1 / (2 median²) over the pairwise distances; "scale" is scikit-learn's
        1 / (n_features · variance of X).

    Examples
    --------
    >>> RBF(gamma=0.5)([[0.0], [2.0]]).round(3).tolist()
    [[1.0, 0.135], [0.135, 1.0]]
    """

    shorthand = "rbf"

    def __init__(self, gamma: Gamma = "median") -> None:
        self.gamma = gamma

    def fit(self, rows: Rows) -> Self:
        """Choose ``gamma_`` from the rows."""
        self.gamma_ = resolve_gamma(self.gamma, rows, lambda median: 0.5 / median**2, "euclidean")
        return self

    @property
    def formula(self) -> Formula:
        """exp(−gamma ‖a − b‖²)."""
        return Formula("squared distance", ExponentialDecay(), fitted_gamma(self))


class Laplacian(ProductKernel):
    """The Laplacian kernel exp(−gamma ‖a − b‖₁).

    Parameters
    ----------
    gamma : {"median", "scale"} or float, default="median"
        "median" is 1 / median over the pairwise L1 distances, so that the kernel does not depend on the units of X
        (the squared rule of :class:`RBF` would); "scale" is scikit-learn's 1 / (n_features · variance of X).
    """

    shorthand = "laplacian"

    def __init__(self, gamma: Gamma = "median") -> None:
        self.gamma = gamma

    def fit(self, rows: Rows) -> Self:
        """Choose ``gamma_`` from the rows."""
        self.gamma_ = resolve_gamma(self.gamma, rows, lambda median: 1.0 / median, "manhattan")
        return self

    @property
    def formula(self) -> Formula:
        """exp(−gamma ‖a − b‖₁)."""
        return Formula("city-block distance", ExponentialDecay(), fitted_gamma(self))


class Linear(ProductKernel):
    """The linear kernel a·b.

    Parameters
    ----------
    center : bool, default=False
        Whether the mean of the training rows is taken off first: (a − mean)·(b − mean). Needs dense rows, since sparse
        ones would be sparse no more.
    """

    shorthand = "linear"

    def __init__(self, center: bool = False) -> None:
        self.center = center

    def fit(self, rows: Rows) -> Self:
        """Learn the mean, if it is taken off."""
        if self.center:
            self.mean_: Array = self._dense(rows).mean(axis=0)
        return self

    @property
    def formula(self) -> Formula:
        """a·b."""
        return Formula("inner product", Power())

    def factor(self, rows: Rows) -> Rows:
        """Return the rows, centered or as they are."""
        if not self.center:
            return as_float(rows)
        if not hasattr(self, "mean_"):
            raise NotFittedError(f"{self!r} needs the mean of the training rows: call fit(rows) first.")
        rows = self._dense(rows)
        # A model may have been fitted on an array and be asked about tensors.
        return rows - (like(self.mean_, rows) if is_tensor(rows) else self.mean_)

    def _dense(self, rows: Rows) -> Array:
        if sparse.issparse(rows):
            raise ValueError("Linear(center=True) needs dense rows. Use center=False, or rows.toarray().")
        return as_float(rows)

    def is_low_rank_on(self, rows: Rows) -> bool:
        """Return whether there are many rows, dense ones, and far more than features."""
        is_dense = isinstance(rows, np.ndarray) or is_remote(rows)
        return is_dense and len(rows) >= max(_MANY_ROWS, 4 * rows.shape[1])

    def low_rank_factor(self) -> LowRankFactor:
        """Return the rows themselves, centered or as they are, as features."""
        return LowRankFactor(self.factor)


class Polynomial(ProductKernel):
    """The polynomial kernel (gamma a·b + coef0)^degree.

    Parameters
    ----------
    degree : int, default=3
    gamma : {"median", "scale"} or float, default="scale"
        As in :class:`RBF`.
    coef0 : float, default=1.0
        Negative values make the kernel indefinite in general; the matrix is then checked.
    """

    shorthand = "poly"

    def __init__(self, degree: int = 3, gamma: Gamma = "scale", coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def is_definite(self) -> bool:
        """True for coef0 ≥ 0, where the expansion has no negative term."""
        return self.coef0 >= 0

    def fit(self, rows: Rows) -> Self:
        """Choose ``gamma_`` from the rows."""
        self.gamma_ = resolve_gamma(self.gamma, rows, lambda median: 0.5 / median**2, "euclidean")
        return self

    @property
    def formula(self) -> Formula:
        """(gamma a·b + coef0)^degree."""
        require_finite_number("coef0", self.coef0)
        return Formula("inner product", Power(self.degree, self.coef0), fitted_gamma(self))


class Cosine(ProductKernel):
    """The cosine of the angle between two rows; 0 where a row is zero."""

    shorthand = "cosine"

    @property
    def formula(self) -> Formula:
        """a·b."""
        return Formula("inner product", Power())

    def factor(self, rows: Rows) -> Rows:
        """Return the rows scaled to unit length."""
        return unit_rows(as_float(rows))
