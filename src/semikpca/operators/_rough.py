"""Rough leading eigenvectors of a kernel matrix at little cost, with which a search for exact ones should begin."""

import numpy as np

from semikpca._typing import Array, Rows
from semikpca.arrays import like, to_numpy
from semikpca.kernels import Kernel
from semikpca.operators.products import cross_product

_SEED = 0
# Rows in the sample. A larger one gives better vectors, but does not save another product with the matrix: 200 rows
# save one product in four, and so do 1,000 (docs/decisions/0014-few-products.md).
_SAMPLE_ROWS = 200
_LEAST_VALUE = 1e-6  # relative to the largest eigenvalue of the sample; smaller ones tell nothing about all rows


def rough_eigenvectors(kernel: Kernel, rows: Rows, m: int) -> Array:
    """Return at most m columns: eigenvectors of the matrix of a few rows, carried over to all of them (Nyström)."""
    return cross_product(kernel, rows, *sample_eigenvectors(kernel, rows, m))


def sample_eigenvectors(kernel: Kernel, rows: Rows, m: int) -> tuple[Rows, Array]:
    """Return a sample of rows S, and coefficients C of at most m columns, so that k(rows, S) @ C are the vectors."""
    n = int(rows.shape[0])
    chosen = np.sort(np.random.default_rng(_SEED).choice(n, min(n, _SAMPLE_ROWS), replace=False))
    sample = rows[chosen]
    values, vectors = np.linalg.eigh(to_numpy(kernel.pairwise(sample, sample)).astype(np.float64))
    n_found = min(m, int(np.count_nonzero(values > _LEAST_VALUE * values[-1])))
    leading = vectors[:, ::-1][:, :n_found] / values[::-1][:n_found]
    return sample, like(np.ascontiguousarray(leading), sample)
