"""Which method computes the spectrum, and how far it must reach."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from semikpca.exceptions import KernelRankError
from semikpca.operators import KernelOperator
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
    """Return all eigenpairs."""
    return all_eigenpairs(operator)


def leading_spectrum(operator: KernelOperator, m: int, rtol: float = 0.0, *, last_is_bound: bool = False) -> Spectrum:
    """Return the m leading eigenpairs (all of them where m exceeds the size).

    Parameters
    ----------
    rtol : float, default=0.0
        Residuals may stay below ``rtol`` times the largest eigenvalue; 0 asks for rounding.
    last_is_bound : bool, default=False
        Whether the eigenvalue of the last pair is all that is asked of it.

    Warns
    -----
    ConvergenceWarning
        Where the eigenpairs are less accurate than asked, and the matrix is too large to be made dense.
    """
    m = min(m, operator.n)
    known = operator.known_spectrum(m)
    if m == len(known):
        return Spectrum(known.eigenvalues, known.eigenvectors, np.full(m, rounding_of(operator, known.eigenvalues[0])))
    block_size = m + _GUARD_COLUMNS
    if operator.n > max(SMALL, 6 * block_size):
        if operator.product_cost < _CHEAP * float(operator.n) ** 2 or not operator.can_be_dense:
            value_rtol = _LAST_VALUE_RTOL if last_is_bound else 0.0
            found, is_good = filtered_eigenpairs(operator, m, block_size, rtol, value_rtol)
            if is_good or not operator.can_be_dense:
                if not is_good:
                    _warn_of(found)
                return found
        else:
            spectrum = leading_eigenpairs(operator, m, block_size, rtol)
            if spectrum is not None:
                return spectrum
    return all_eigenpairs(operator).head(m)


def removable_spectrum(operator: KernelOperator, k: int, rtol: float = 0.0) -> tuple[Spectrum, int]:
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
        spectrum = leading_spectrum(operator, wanted, rtol, last_is_bound=True)
        cut = next((c for c in range(k, len(spectrum)) if spectrum.is_cut_at(c)), len(spectrum))
        if spectrum.rank <= cut and (spectrum.rank < len(spectrum) or len(spectrum) == operator.n):
            raise KernelRankError(k, cut, spectrum.rank, operator.n)
        if cut < len(spectrum):
            return spectrum.head(cut + 1), cut
        wanted = 2 * wanted + 1


def _warn_of(spectrum: Spectrum) -> None:
    warnings.warn(
        f"The leading eigenpairs of the kernel matrix are known to {spectrum.uncertainty.max():.1e} only: they lie too "
        "close together. The certificate takes that into account. Remove fewer components, or use a larger teleport.",
        ConvergenceWarning,
        stacklevel=4,
    )
