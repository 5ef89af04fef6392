"""All eigenpairs by LAPACK, for matrices that fit in memory."""

import numpy as np
from scipy import linalg

from semikpca.arrays import to_numpy
from semikpca.operators import KernelOperator
from semikpca.spectrum._base import Spectrum, rounding_of


def all_eigenpairs(operator: KernelOperator) -> Spectrum:
    """Return the whole spectrum of the operator as a dense matrix."""
    values, vectors = linalg.eigh(to_numpy(operator.to_dense()), overwrite_a=True, check_finite=False, driver="evd")
    values, vectors = values[::-1].copy(), vectors[:, ::-1]
    uncertainty = np.full(len(values), rounding_of(operator, values[0]))
    return Spectrum(values, vectors if operator.xp is np else operator.block(vectors.copy()), uncertainty)
