"""Which method computes the spectrum, and how far it must reach."""

from semikpca.exceptions import KernelRankError
from semikpca.operators import KernelOperator
from semikpca.spectrum._base import Spectrum
from semikpca.spectrum._block_krylov import leading_eigenpairs
from semikpca.spectrum._lapack import all_eigenpairs

SMALL = 300  # rows up to which LAPACK's whole spectrum costs less than a few dozen products
_GUARD_COLUMNS = 6  # columns beyond the wanted eigenpairs; they set the rate of convergence


def full_spectrum(operator: KernelOperator) -> Spectrum:
    """Return all eigenpairs."""
    return all_eigenpairs(operator)


def leading_spectrum(operator: KernelOperator, m: int, rtol: float = 0.0) -> Spectrum:
    """Return the m leading eigenpairs (all of them where m exceeds the size).

    Parameters
    ----------
    rtol : float, default=0.0
        Residuals may stay below ``rtol`` times the largest eigenvalue; 0 asks for rounding.
    """
    m = min(m, operator.n)
    block_size = m + _GUARD_COLUMNS
    if operator.n > max(SMALL, 6 * block_size):
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
        spectrum = leading_spectrum(operator, wanted, rtol)
        cut = next((c for c in range(k, len(spectrum)) if spectrum.is_cut_at(c)), len(spectrum))
        if spectrum.rank <= cut and (spectrum.rank < len(spectrum) or len(spectrum) == operator.n):
            raise KernelRankError(k, cut, spectrum.rank, operator.n)
        if cut < len(spectrum):
            return spectrum.head(cut + 1), cut
        wanted = 2 * wanted + 1
