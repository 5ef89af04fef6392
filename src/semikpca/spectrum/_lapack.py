"""All eigenpairs by LAPACK, or only whether one is negative, for matrices that fit in memory."""

import numpy as np
from scipy import linalg

from semikpca.arrays import to_numpy
from semikpca.exceptions import IndefiniteKernelError
from semikpca.operators import KernelOperator
from semikpca.spectrum._base import Spectrum, rounding_of


def all_eigenpairs(operator: KernelOperator) -> Spectrum:
    """Return the whole spectrum of the operator as a dense matrix."""
    values, vectors = linalg.eigh(to_numpy(operator.to_dense()), overwrite_a=True, check_finite=False, driver="evd")
    values, vectors = values[::-1].copy(), vectors[:, ::-1]
    uncertainty = np.full(len(values), rounding_of(operator, values[0]))
    return Spectrum(values, vectors if operator.xp is np else operator.block(vectors.copy()), uncertainty)


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
