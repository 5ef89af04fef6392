"""Which method computes the spectrum, and how far it must reach."""

import warnings
from dataclasses import replace
from typing import cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from semikpca._typing import FloatArray
from semikpca.exceptions import KernelRankError
from semikpca.operators import KernelOperator, LowRankOperator
from semikpca.spectrum._base import Spectrum, rounding_of
from semikpca.spectrum._block_krylov import leading_eigenpairs
from semikpca.spectrum._filtered import filtered_eigenpairs
from semikpca.spectrum._lapack import all_eigenpairs

SMALL = 300  # rows up to which LAPACK's whole spectrum costs less than a few dozen products
_GUARD_COLUMNS = 6  # columns beyond the wanted eigenpairs; they set the rate of convergence

_CHEAP = 0.2  # of a dense product: what a product costs at most where many of them are better than few
# λ(k+1) sets the error weight, and through it the decisions: this leaves them seven digits near the bound.
_LAST_VALUE_RTOL = 1e-10


def full_spectrum(operator: KernelOperator) -> Spectrum:
    """Return all eigenpairs; of a matrix of low rank those that are not zero, with eigenvectors that are not stored."""
    if isinstance(operator, LowRankOperator):
        values, vectors = operator.whole_spectrum()
        uncertainty = np.full(len(values), rounding_of(operator, values.max(initial=0)))
        # Products and slices are all that anyone asks of so many vectors.
        spectrum = Spectrum(values, cast(FloatArray, vectors), uncertainty)
    else:
        spectrum = all_eigenpairs(operator)
    return replace(spectrum, is_estimate=operator.is_estimate)


def leading_spectrum(
    operator: KernelOperator,
    m: int,
    rtol: float = 0.0,
    *,
    last_is_bound: bool = False,
    start: FloatArray | None = None,
) -> Spectrum:
    """Return the m leading eigenpairs (all of them where m exceeds the size).

    Parameters
    ----------
    rtol : float, default=0.0
        Residuals may stay below ``rtol`` times the largest eigenvalue; 0 asks for rounding.
    last_is_bound : bool, default=False
        Whether the eigenvalue of the last pair is all that is asked of it.
    start : array of shape (n, n_columns), optional
        Columns that will be solved with afterwards; where products are costly, the search begins with them.

    Warns
    -----
    ConvergenceWarning
        Where the eigenpairs are less accurate than asked, and the matrix is too large to be made dense.
    """
    spectrum = _leading(operator, min(m, operator.n), rtol, last_is_bound, start)
    return replace(spectrum, is_estimate=operator.is_estimate)


def _leading(operator: KernelOperator, m: int, rtol: float, last_is_bound: bool, start: FloatArray | None) -> Spectrum:
    known = operator.known_spectrum(m)
    if m and m == len(known):
        return Spectrum(known.eigenvalues, known.eigenvectors, np.full(m, rounding_of(operator, known.eigenvalues[0])))
    block_size = m + _GUARD_COLUMNS
    if operator.n > max(SMALL, 6 * block_size):
        with operator.between_products():
            found, is_good = _iterated(operator, m, block_size, rtol, last_is_bound, start)
        if is_good or not operator.can_be_dense:
            if not is_good:
                _warn_of(found)
            return found
    return all_eigenpairs(operator).head(m)


def _iterated(
    operator: KernelOperator, m: int, block_size: int, rtol: float, last_is_bound: bool, start: FloatArray | None
) -> tuple[Spectrum, bool]:
    """Return eigenpairs by products alone, and whether they are as good as asked."""
    if not operator.is_stored:
        value_rtol = max(rtol, operator.precision) if last_is_bound else 0.0
        return leading_eigenpairs(operator, m, max(block_size, operator.block_columns), rtol, value_rtol, start)
    if operator.product_cost < _CHEAP * float(operator.n) ** 2 or not operator.can_be_dense:
        return filtered_eigenpairs(operator, m, block_size, rtol, _LAST_VALUE_RTOL if last_is_bound else 0.0)
    return leading_eigenpairs(operator, m, block_size, rtol)


def removable_spectrum(
    operator: KernelOperator, k: int, rtol: float = 0.0, start: FloatArray | None = None
) -> tuple[Spectrum, int]:
    """Return eigenpairs up to the one after the cut, and where the cut is.

    The cut is after component k, or, where eigenvalue k is repeated across it, after the last of its
    eigenvectors: only whole eigenspaces can be removed.

    Raises
    ------
    KernelRankError
        When nothing is left after the cut.
    """
    wanted = k + 1
    while True:
        spectrum = leading_spectrum(operator, wanted, rtol, last_is_bound=True, start=start)
        cut = next((c for c in range(k, len(spectrum)) if spectrum.is_cut_at(c)), len(spectrum))
        if spectrum.rank <= cut and (spectrum.rank < len(spectrum) or len(spectrum) == operator.n):
            raise KernelRankError(k, cut, spectrum.rank, operator.n)
        if cut < len(spectrum):
            return spectrum.head(cut + 1), cut
        wanted = 2 * wanted + 1


def _warn_of(spectrum: Spectrum) -> None:
    warnings.warn(
        f"The leading eigenpairs of the kernel matrix are known to {spectrum.uncertainty.max():.1e} only: they lie too "
        "close together. The certificate takes that into account. Remove fewer components, or use a kernel that tells "
        "rows apart better (of a neighbor graph, a larger teleport).",
        ConvergenceWarning,
        stacklevel=5,
    )
