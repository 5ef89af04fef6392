"""Eigenpairs by the method that fits the operator: one table, how far they must reach, and whether one is negative."""

from enum import Enum

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from semikpca._typing import FloatArray
from semikpca.arrays import one_blas_thread, to_numpy
from semikpca.exceptions import IndefiniteKernelError, KernelRankError, warn_user
from semikpca.operators import KernelOperator, KnownSpectrum, OperatorFacts
from semikpca.spectrum._base import Spectrum, rounding_of
from semikpca.spectrum._block_krylov import leading_eigenpairs
from semikpca.spectrum._filtered import filtered_eigenpairs

# Up to this many rows LAPACK's whole spectrum costs less than a few dozen products.
SMALL = 300
# Columns in a block beyond the wanted eigenpairs. The eigenvalues behind them set the rate of convergence.
GUARD_COLUMNS = 6
# A product that costs at most this share of a dense one is cheap: many products are then better than few.
_CHEAP = 0.2
# λ(k+1) sets the error weight, and through it the decisions: this leaves them seven digits near the bound.
_LAST_VALUE_RTOL = 1e-10


class Method(Enum):
    """How leading eigenpairs are computed."""

    KNOWN = "the operator knows them"
    LAPACK = "the whole spectrum of the dense matrix"
    FEW_PRODUCTS = "block Krylov, wide blocks, begins with the columns that are solved for afterwards"
    FILTER = "subspace iteration with a Chebyshev filter: many products, few orthogonalizations"
    KRYLOV = "block Krylov"


def choose_method(facts: OperatorFacts, n: int, m: int, n_known: int) -> Method:
    """Return the method for m leading eigenpairs of an n × n matrix, of which the operator knows ``n_known``.

    It is that of the first rule that applies.
    """
    if 0 < m == n_known:
        return Method.KNOWN
    if n <= max(SMALL, 6 * (m + GUARD_COLUMNS)):
        return Method.LAPACK
    if not facts.is_stored:
        return Method.FEW_PRODUCTS
    if facts.product_cost < _CHEAP * float(n) ** 2 or not facts.can_be_dense:
        return Method.FILTER
    return Method.KRYLOV


def full_spectrum(operator: KernelOperator) -> Spectrum:
    """Return all eigenpairs; of a matrix of low rank those that are not zero, with eigenvectors that are not stored."""
    known = operator.whole_spectrum()
    return all_eigenpairs(operator) if known is None else _of_known(operator, known)


def leading_spectrum(
    operator: KernelOperator, m: int, rtol: float = 0.0, *, last_is_bound: bool = False, start: FloatArray | None = None
) -> Spectrum:
    """Return the m leading eigenpairs (all of them where m exceeds the size).

    Residuals may stay below ``rtol`` times the largest eigenvalue; 0 asks for rounding. With ``last_is_bound`` only the
    eigenvalue of the last pair is needed, and not its eigenvector. The columns of ``start`` will be solved with
    afterwards; where products are costly, the search begins with them. A ConvergenceWarning says where eigenpairs are
    less accurate than asked, and the matrix is too large to be made dense.
    """
    m = min(m, operator.n)
    known = operator.known_spectrum(m)
    method = choose_method(operator.facts, operator.n, m, len(known))
    if method is Method.KNOWN:
        return _of_known(operator, known)
    if method is not Method.LAPACK:
        # With products on one core BLAS has narrow blocks left to work on, for which a second thread would mostly wait.
        with one_blas_thread() if operator.facts.uses_one_core else operator.between_products():
            found, is_good = _iterated(method, operator, m, rtol, last_is_bound, start)
        if is_good:
            return found
        if not operator.facts.can_be_dense:
            message = (
                f"The leading eigenpairs of the kernel matrix are known to {found.uncertainty.max():.1e} only: they "
                "lie too close together. The certificate takes that into account. Remove fewer components, or use a "
                "kernel that tells rows apart better (of a neighbor graph, a larger teleport)."
            )
            warn_user(ConvergenceWarning(message))
            return found
    return all_eigenpairs(operator).head(m)


def _iterated(
    method: Method, operator: KernelOperator, m: int, rtol: float, last_is_bound: bool, start: FloatArray | None
) -> tuple[Spectrum, bool]:
    """Return eigenpairs by products alone, and whether they are as good as asked."""
    block_size, facts = m + GUARD_COLUMNS, operator.facts
    if method is Method.FEW_PRODUCTS:
        value_rtol = max(rtol, facts.precision) if last_is_bound else 0.0
        return leading_eigenpairs(operator, m, max(block_size, facts.block_columns), rtol, value_rtol, start)
    if method is Method.FILTER:
        return filtered_eigenpairs(operator, m, block_size, rtol, _LAST_VALUE_RTOL if last_is_bound else 0.0)
    return leading_eigenpairs(operator, m, block_size, rtol)


def _of_known(operator: KernelOperator, known: KnownSpectrum) -> Spectrum:
    """Return eigenpairs that the operator knows: nothing but rounding makes them uncertain."""
    rounding = rounding_of(operator, known.eigenvalues.max(initial=0))
    uncertainty = np.full(len(known), rounding)
    return Spectrum(known.eigenvalues, known.eigenvectors, uncertainty, operator.facts.is_estimate)


def removable_spectrum(
    operator: KernelOperator, k: int, rtol: float = 0.0, start: FloatArray | None = None
) -> tuple[Spectrum, int]:
    """Return eigenpairs up to the one after the cut, and where the cut is.

    The cut is after component k, or, where eigenvalue k is repeated across it, after the last of its
    eigenvectors: only whole eigenspaces can be removed. KernelRankError says that nothing is left after the cut.
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


def all_eigenpairs(operator: KernelOperator) -> Spectrum:
    """Return the whole spectrum of the operator as a dense matrix."""
    values, vectors = linalg.eigh(to_numpy(operator.to_dense()), overwrite_a=True, check_finite=False, driver="evd")
    values, vectors = values[::-1].copy(), vectors[:, ::-1]
    uncertainty = np.full(len(values), rounding_of(operator, values[0]))
    vectors = vectors if operator.xp is np else operator.block(vectors.copy())
    return Spectrum(values, vectors, uncertainty, operator.facts.is_estimate)


def require_semidefinite(operator: KernelOperator) -> None:
    """Raise IndefiniteKernelError where the matrix has a negative eigenvalue beyond rounding.

    The tolerance is half of the digits: sqrt(eps) times the largest row sum, which bounds the largest eigenvalue. So a
    matrix that was computed or stored with ordinary rounding passes, and one that is really indefinite does not. The
    matrix itself stays as it is.
    """
    matrix = operator.to_dense()
    tolerance = np.sqrt(np.finfo(operator.dtype).eps) * float(np.abs(matrix).sum(axis=1).max())
    if tolerance == 0:
        return  # all zeros
    matrix.reshape(-1)[:: operator.n + 1] += tolerance
    # Cholesky succeeds exactly where all eigenvalues exceed −tolerance, at a fraction of their cost.
    _, failed_at = linalg.lapack.get_lapack_funcs(("potrf",), (matrix,))[0](matrix, lower=True, overwrite_a=True)
    if failed_at:
        values = linalg.eigvalsh(operator.to_dense(), overwrite_a=True, check_finite=False)
        raise IndefiniteKernelError(float(values[0]), float(values[-1]))
