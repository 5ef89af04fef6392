"""LS-SVM on the labeled rows alone, with every left-out answer in closed form."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from semikpca._typing import FloatArray, IntArray

_FEW_LABELS = 100  # no time is to be saved
_FEW_CLASSES = 16


@dataclass(frozen=True)
class LabelFit:
    """The answer f(x) = Σ k(x, labeled row) · coefficient + intercept at one noise level; a column a class."""

    coefficients: FloatArray  # each column sums to 0
    intercept: FloatArray
    center: FloatArray  # the mean of f − intercept over all training rows
    left_out: FloatArray  # f at each labeled row, as if fitted without that row
    left_out_centered: FloatArray  # the same for f − intercept − center


class LabelSystem:
    """The kernel between the labeled rows, with its means over all training rows, for several noise levels."""

    def __init__(self, kernel: FloatArray, kernel_means: FloatArray) -> None:
        rounding = float(np.finfo(kernel.dtype).eps)
        self.kernel = np.asarray(kernel, dtype=np.float64)
        self._last: tuple[float, tuple[FloatArray, FloatArray, float]] | None = None  # a noise, and what belongs to it
        self.kernel_means = np.asarray(kernel_means, dtype=np.float64)
        # A shift of all rows must not change the scale: the system sees the kernel centered over the labeled rows.
        size = float(np.mean(np.diagonal(self.kernel)))
        variance = size - float(np.mean(self.kernel))
        # 0 where two thirds of the digits cancel, or are lost below the smallest numbers: the kernel cannot tell the
        # labeled rows apart.
        told_apart = variance > rounding ** (2 / 3) * size and size > np.finfo(np.float64).tiny / rounding
        self.scale = variance if told_apart else 0.0

    def bordered_inverse(self, noise: float) -> tuple[FloatArray, FloatArray, float]:
        """Return P = A⁻¹ − A⁻¹1 s 1ᵀA⁻¹, u = A⁻¹1 s and s = 1 / (1ᵀA⁻¹1): the inverse of the bordered system in parts.

        A = k + noise · scale · I, where scale is the mean variance of the labeled rows. Coefficients are P y, and the
        intercept is uᵀy.
        """
        if self._last is None or self._last[0] != noise:
            system = self.kernel.copy()
            system.reshape(-1)[:: len(system) + 1] += noise * self.scale
            inverse = _inverse(system)
            sums = inverse.sum(axis=1)
            s = 1 / float(sums.sum())
            inverse -= np.outer(s * sums, sums)
            self._last = noise, (inverse, s * sums, s)
        return self._last[1]

    def fit(self, targets: FloatArray, noise: float) -> LabelFit:
        """Solve Problem 1 for each column of ``targets``; 1/γ is ``noise`` times the mean variance of the labeled rows.

        Leaving row i out takes A⁻¹'s row and column i with it: the coefficients change by P[:, i] · q_i with q_i =
        coefficient_i / P_ii, and its residual becomes q_i. No refit.
        """
        P, u, _ = self.bordered_inverse(noise)
        coefficients, intercept = _times_targets(P, targets), u @ targets
        center = self.kernel_means @ coefficients
        q = coefficients / np.diagonal(P)[:, np.newaxis]
        left_out = targets - q
        left_out_intercept = intercept - u[:, np.newaxis] * q
        left_out_center = center - (P @ self.kernel_means)[:, np.newaxis] * q
        return LabelFit(coefficients, intercept, center, left_out, left_out - left_out_intercept - left_out_center)

    def response(
        self,
        noise: float,
        known: Callable[[FloatArray], FloatArray],
        asked: FloatArray,
        own: IntArray,
        at: IntArray,
        *,
        intercept: bool,
    ) -> FloatArray:
        """Return how f at all rows changes for each unit that a further label differs from f there.

        Exact: the bordered system grows by a row and a column, whose Schur complement is a number. ``known`` multiplies
        the kernel columns at the labeled rows ``at``, ``asked`` are those at the rows ``own`` that might get a label. f
        has its ``intercept``, or a mean of 0 over all rows.
        """
        change, of_intercept = self._change(noise, known, asked, at)
        schur = (change - of_intercept)[own, np.arange(len(own))] + noise * self.scale
        moved = change - of_intercept if intercept else change - change.mean(axis=0)
        return np.asarray(moved / schur)

    def covariance(
        self, noise: float, known: Callable[[FloatArray], FloatArray], asked: FloatArray, at: IntArray
    ) -> FloatArray:
        """Return the covariances of f at all rows with f at the rows asked, of a Gaussian process given the labels.

        The process has the kernel as its covariance, noise as in :meth:`fit`, and an intercept of which nothing is
        known beforehand; its mean given the labels is f. Arguments are as in :meth:`response`.
        """
        change, of_intercept = self._change(noise, known, asked, at)
        return np.asarray(change - of_intercept)

    def _change(
        self, noise: float, known: Callable[[FloatArray], FloatArray], asked: FloatArray, at: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the columns asked, less what the labels explain of them without an intercept, and its share."""
        P, u, s = self.bordered_inverse(noise)
        return asked - known(P @ asked[at] + u[:, np.newaxis]), np.asarray(u @ asked[at] - s)


def _inverse(system: FloatArray) -> FloatArray:
    """Return the inverse of a matrix that is symmetric up to the tolerance of the solves behind it.

    A definite one is inverted in a third of the time that any other takes. It may be short of that by rounding, where
    the noise is small beside the kernel.
    """
    if len(system) <= _FEW_LABELS:
        return np.linalg.inv(system)
    system = (system + system.T) / 2
    # LAPACK counts columns first, which of a symmetric matrix makes no difference.
    factor, failed = lapack.dpotrf(system.T, lower=True)
    inverse, failed = lapack.dpotri(factor, lower=True, overwrite_c=True) if not failed else (factor, failed)
    if failed:
        return np.linalg.inv(system)
    full = np.asarray(inverse + inverse.T)  # above the diagonal there were zeros
    np.fill_diagonal(full, np.diagonal(inverse))
    return full


def _times_targets(matrix: FloatArray, targets: FloatArray) -> FloatArray:
    """Return the product of a symmetric matrix with targets, of which most are 0 where classes are many."""
    if targets.shape[1] <= _FEW_CLASSES:
        return np.asarray(matrix @ targets)
    return np.asarray((sparse.csr_array(targets).T @ matrix).T)
