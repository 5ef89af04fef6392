"""Leading eigenpairs by a block Krylov method with Rayleigh-Ritz and thick restarts.

A block finds repeated eigenvalues, which a single-vector Lanczos method can miss: in exact arithmetic its
space holds only one vector of each eigenspace. That matters here, since a repeated eigenvalue at the cut must be
seen to be reported.

All linear algebra is NumPy's (or torch's): NumPy and SciPy bring a BLAS each, and when small calls to both alternate,
their threads wait for each other (seen: a fit six times slower). What has the size of the basis is done by NumPy in
float64, wherever the basis is.
"""

import numpy as np

from semikpca._typing import Array, FloatArray
from semikpca.arrays import like, namespace, to_numpy
from semikpca.operators import KernelOperator, Subspace
from semikpca.spectrum._base import Spectrum, rounding_of, value_errors

_SEED = 0
_MAX_BLOCKS = 12  # basis size at which to restart, in blocks
_MAX_PRODUCTS = 400
_MAX_COSTLY_PRODUCTS = 60  # where each product computes the matrix again
# After this many products a last eigenvalue that serves as a bound need be known to a tenth of a percent only.
_PATIENCE = 15
_IMPATIENT_RTOL = 1e-3
# Costly products that do not halve the residual, one after the other: rounding is then taken to be the limit, if the
# residual is within this factor of what was asked for.
_MOST_VAIN_PRODUCTS = 3
_STALL_FACTOR = 30


def leading_eigenpairs(
    operator: KernelOperator, m: int, block_size: int, rtol: float, value_rtol: float = 0.0, start: Array | None = None
) -> tuple[Spectrum, bool]:
    """Return the m leading eigenpairs, and whether their residuals are below rtol · λ1 (or rounding).

    The start block is seeded, so that the same matrix gives the same eigenvectors. It begins with the columns of
    ``start``: a solve with them afterwards finds most of its answer in the space. With a positive ``value_rtol`` the
    last of the m eigenpairs need not have a good vector if its eigenvalue is known this well.
    """
    block = orthonormal(start_block(operator, block_size, start))
    block_size = int(block.shape[1])
    basis = block
    products = operator.matmat(block)
    xp = operator.xp
    best, n_vain = np.inf, 0
    is_costly = not operator.facts.is_stored
    most_products = _MAX_COSTLY_PRODUCTS if is_costly else _MAX_PRODUCTS
    for n_products in range(1, most_products + 1):
        ritz_values, rotation = rayleigh_ritz(basis, products)
        kept = rotation[:, :block_size]
        vectors, images = basis @ kept, products @ kept
        values = ritz_values[:block_size]
        residuals = residual_norms(vectors, images, values)
        floor = rounding_of(operator, ritz_values[0])
        good = residuals[:m] <= max(rtol * ritz_values[0], floor)
        errors = residuals[:m]
        if value_rtol > 0:
            errors = value_errors(values, residuals)[:m]
            # An eigenvalue with many others close by takes long to find; its uncertainty says how well it is known.
            allowed = value_rtol if n_products < _PATIENCE else _IMPATIENT_RTOL
            good[m - 1] |= errors[m - 1] <= max(allowed * values[m - 1], floor)
        worst = float(residuals[: max(1, m - 1)].max() / (abs(values[0]) or 1.0))
        operator.log.report("eigenpairs", worst, rtol)
        n_vain = 0 if worst < best / 2 else n_vain + 1
        best = min(best, worst)
        if is_costly and n_vain >= _MOST_VAIN_PRODUCTS and worst <= _STALL_FACTOR * rtol:
            # Rounding of the products is the limit. The uncertainties say what it leaves.
            good[: max(1, m - 1)] = True
        if n_products == 1 and (residuals > max(rtol * ritz_values[0], floor)).any():
            # The columns to begin with may be eigenvectors, but not the leading ones: the residual of the random column
            # then shows that there are others.
            good[:] = False
        if good.all() or n_products == most_products:
            values = values[:m].astype(operator.dtype if xp is np else np.float64)  # always on the host
            known, is_estimate = Subspace(basis, products, block_size), operator.facts.is_estimate
            return Spectrum(values, vectors[:, :m], errors + floor, is_estimate, known), bool(good.all())
        block = orthonormal_against(basis, products[:, -block_size:])
        if basis.shape[1] + block_size > min(operator.n - block_size, _MAX_BLOCKS * block_size):
            # Thick restart: the leading Ritz vectors carry what the basis has learned, and their residuals lie in
            # the block just made, so the space stays a Krylov space.
            keep = rotation[:, : m + block_size]
            basis, products = basis @ keep, products @ keep
        basis = xp.hstack([basis, block])
        products = xp.hstack([products, operator.matmat(block)])
    raise AssertionError("the last round returns")


def start_block(operator: KernelOperator, block_size: int, start: Array | None = None) -> Array:
    """Return a block of at least this size: leading eigenvectors that are known, given columns, and others.

    The others are rough eigenvectors, where the operator has some, and at least one random column: it has a part in
    every eigenvector, which vectors from a sample of the rows may not have.
    """
    known = operator.known_spectrum(block_size).eigenvectors
    given = known[:, :0] if start is None else start
    n_more = block_size - known.shape[1] - given.shape[1]
    rough = known[:, :0] if known.shape[1] or n_more < 2 else operator.rough_eigenvectors(n_more - 1)
    n_random = max(n_more - rough.shape[1], 1)
    random = np.random.default_rng(_SEED).standard_normal((operator.n, n_random), dtype=np.float32)
    if not known.shape[1] and not rough.shape[1]:
        random[:, 0] = 1  # close to the first eigenvector of any kernel with positive values
    filling = like(random, known if start is None else given)
    return operator.xp.hstack([known, given, rough, filling])


def rayleigh_ritz(basis: FloatArray, products: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Ritz values, largest first, and the rotation of the basis that belongs to them."""
    projected = to_numpy(basis.T @ products)
    values, rotation = np.linalg.eigh((projected + projected.T) / 2)
    return values[::-1].copy(), like(np.ascontiguousarray(rotation[:, ::-1]), basis)


def residual_norms(vectors: FloatArray, images: FloatArray, values: FloatArray) -> FloatArray:
    """Return ‖K v − θ v‖ for Ritz vectors v and their values θ."""
    # In units of the largest eigenvalue, so that no square under- or overflows.
    scale = float(abs(values[0])) or 1.0
    differences = (images - vectors * like(values, vectors)) / scale
    squares = namespace(vectors).einsum("ij,ij->j", differences, differences)
    return np.asarray(scale * np.sqrt(to_numpy(squares)))


def orthonormal(block: Array) -> Array:
    """Return an orthonormal basis of the columns."""
    return namespace(block).linalg.qr(block)[0]


def orthonormal_against(basis: FloatArray, block: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what the columns add to an orthonormal basis."""
    # Twice is enough: the second pass removes what rounding left of the basis in the first.
    for _ in range(2):
        block = orthonormal(block - basis @ (basis.T @ block))
    return block
