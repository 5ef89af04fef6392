"""Leading eigenpairs by a block Krylov method with Rayleigh-Ritz and thick restarts.

A block finds repeated eigenvalues, which a single-vector Lanczos method can miss: in exact arithmetic its
space holds only one vector of each eigenspace. That matters here, since a repeated eigenvalue at the cut must be
seen to be reported.

All linear algebra is NumPy's: NumPy and SciPy bring a BLAS each, and when small calls to both alternate, their
threads wait for each other (seen: a fit six times slower).
"""

import numpy as np

from semikpca._typing import FloatArray
from semikpca.operators import KernelOperator
from semikpca.spectrum._base import Spectrum, rounding_of

_SEED = 0
_MAX_BLOCKS = 12  # basis size at which to restart, in blocks
_MAX_PRODUCTS = 400


def leading_eigenpairs(operator: KernelOperator, m: int, block_size: int, rtol: float) -> Spectrum | None:
    """Return the m leading eigenpairs with residuals below rtol · λ1 (or rounding); None if that was not reached.

    The start block is seeded, so that the same matrix gives the same eigenvectors.
    """
    n = operator.n
    block = orthonormal(start_block(operator, block_size))
    basis = block
    products = operator.matmat(block)
    for _ in range(_MAX_PRODUCTS):
        ritz_values, rotation = rayleigh_ritz(basis, products)
        kept = rotation[:, :m]
        vectors, images = basis @ kept, products @ kept
        # In units of the largest eigenvalue, so that no square under- or overflows.
        scale = abs(ritz_values[0]) or 1.0
        residuals = scale * np.linalg.norm((images - vectors * ritz_values[:m]) / scale, axis=0)
        floor = rounding_of(operator, ritz_values[0])
        if (residuals <= max(rtol * ritz_values[0], floor)).all():
            return Spectrum(ritz_values[:m], vectors, residuals + floor)
        block = orthonormal_against(basis, products[:, -block_size:])
        if basis.shape[1] + block_size > min(n - block_size, _MAX_BLOCKS * block_size):
            # Thick restart: the leading Ritz vectors carry what the basis has learned, and their residuals lie in
            # the block just made, so the space stays a Krylov space.
            keep = rotation[:, : m + block_size]
            basis, products = basis @ keep, products @ keep
        basis = np.hstack([basis, block])
        products = np.hstack([products, operator.matmat(block)])
    return None


def start_block(operator: KernelOperator, block_size: int) -> FloatArray:
    """Return a seeded random block that begins with the leading eigenvectors that are known."""
    start = np.random.default_rng(_SEED).standard_normal((operator.n, block_size)).astype(operator.dtype)
    start[:, 0] = 1  # close to the first eigenvector of any kernel with positive values
    known = operator.known_spectrum(block_size).eigenvectors
    start[:, : known.shape[1]] = known
    return start


def rayleigh_ritz(basis: FloatArray, products: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Ritz values, largest first, and the rotation of the basis that belongs to them."""
    projected = basis.T @ products
    values, rotation = np.linalg.eigh((projected + projected.T) / 2)
    return values[::-1].copy(), rotation[:, ::-1]


def orthonormal(block: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the columns."""
    return np.asarray(np.linalg.qr(block)[0])


def orthonormal_against(basis: FloatArray, block: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what the columns add to an orthonormal basis."""
    # Twice is enough: the second pass removes what rounding left of the basis in the first.
    for _ in range(2):
        block = orthonormal(block - basis @ (basis.T @ block))
    return block
