"""Leading eigenvectors of a kernel matrix, roughly, for little: where a search for them should begin."""

import numpy as np

from semikpca._typing import Array, Rows
from semikpca.arrays import like, to_numpy
from semikpca.kernels import Kernel
from semikpca.operators.products import cross_product

_SEED = 0
# Rows to look at. More of them make the vectors better, but not by a whole product with the matrix: 200 save one of
# four, and so do 1,000 (docs/decisions/0014-few-products.md).
_SAMPLE_ROWS = 200
_LEAST_VALUE = 1e-6  # of the largest eigenvalue of the sample; what is below tells nothing about all rows


def rough_eigenvectors(kernel: Kernel, rows: Rows, m: int) -> Array:
    """Return at most m columns: eigenvectors of the matrix of a few rows, carried over to all of them (Nyström)."""
    return cross_product(kernel, rows, *sample_eigenvectors(kernel, rows, m))


def sample_eigenvectors(kernel: Kernel, rows: Rows, m: int) -> tuple[Rows, Array]:
    """Return a few rows, and coefficients over them of at most m functions whose values at all rows are the vectors."""
    n = int(rows.shape[0])
    chosen = np.sort(np.random.default_rng(_SEED).choice(n, min(n, _SAMPLE_ROWS), replace=False))
    sample = rows[chosen]
    values, vectors = np.linalg.eigh(to_numpy(kernel.pairwise(sample, sample)).astype(np.float64))
    n_found = min(m, int(np.count_nonzero(values > _LEAST_VALUE * values[-1])))
    leading = vectors[:, ::-1][:, :n_found] / values[::-1][:n_found]
    return sample, like(np.ascontiguousarray(leading), sample)
