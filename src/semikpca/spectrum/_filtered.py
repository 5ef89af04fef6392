"""Leading eigenpairs by subspace iteration with a Chebyshev filter, for operators whose products are cheap.

The eigenvalues of a neighbor graph crowd below the largest one, and telling them apart takes polynomials of high degree
in the matrix. In a Krylov method each degree is paid with an orthogonalization, which costs more than a sparse product.
A Chebyshev polynomial that is small on [0, a] and grows beyond a takes a block many degrees further for one.

All linear algebra is NumPy's, for the reason given in ``_block_krylov``. The basis is in float64 whatever the products
are in: a filtered block adds little to a basis that has almost converged, and in float32 what it adds would be lost in
rounding, and with it the basis.
"""

import numpy as np

from semikpca._typing import FloatArray
from semikpca.operators import KernelOperator, Subspace
from semikpca.spectrum._base import Spectrum, rounding_of, value_errors
from semikpca.spectrum._block_krylov import orthonormal, orthonormal_against, rayleigh_ritz, start_block

_PLAIN_STEPS = 2  # steps without a filter, until the Ritz values show where it should begin
_MAX_BLOCKS = 5  # basis size at which to restart, in blocks
_DEGREES = (10, 60)
_MAX_PRODUCTS = 1_500
# After this many products a last eigenvalue that serves as a bound may be known less well than was asked, and after
# each so many again to one digit less: its uncertainty says how well, and the bound takes that into account. Where
# eigenvalues crowd, the last digits would cost minutes and change nothing.
_PATIENCE = 300
_IMPATIENT_RTOL = 1e-6


def filtered_eigenpairs(
    operator: KernelOperator, m: int, block_size: int, rtol: float, value_rtol: float
) -> tuple[Spectrum, bool]:
    """Return the m leading eigenpairs of a positive semi-definite operator, and whether they are as good as asked.

    Residuals may stay below ``rtol`` times the largest eigenvalue (or rounding). The last of the m eigenpairs need not
    have a good vector if its eigenvalue is known as well as ``value_rtol``; with 0 it needs one like the others.
    """
    known = operator.known_spectrum(m)
    block = orthonormal(start_block(operator, block_size).astype(np.float64))
    basis, products = block, _product(operator, block)
    n_products, step = 1, 0
    while True:
        ritz_values, rotation = rayleigh_ritz(basis, products)
        kept = rotation[:, :block_size]
        vectors, images = basis @ kept, products @ kept
        values = ritz_values[:block_size]
        residuals = np.linalg.norm(images - vectors * values, axis=0)
        floor = rounding_of(operator, values[0])
        errors = value_errors(values, residuals, known.bound, len(known))[:m]
        good = residuals[:m] <= max(rtol * values[0], floor)
        if value_rtol > 0:
            allowed = max(value_rtol, _impatience(n_products))
            good[m - 1] |= errors[m - 1] <= max(allowed * values[0], floor)
        if good.all() or n_products >= _MAX_PRODUCTS:
            space = Subspace(vectors.astype(operator.dtype), images.astype(operator.dtype), block_size)
            values, vectors = values[:m].astype(operator.dtype), space.basis[:, :m]
            found = Spectrum(values, vectors, errors + floor, operator.facts.is_estimate, space)
            return found, bool(good.all())
        if basis.shape[1] + block_size > _MAX_BLOCKS * block_size:
            keep = rotation[:, : 2 * block_size]
            basis, products = basis @ keep, products @ keep
        end = float(values[-1])
        if step < _PLAIN_STEPS or not 0 < end < values[0]:
            block = images
        else:
            distance = max((float(values[m - 1]) - end) / end, 1e-6)
            degree = int(np.clip(1.5 / np.sqrt(distance), *_DEGREES))
            block = _filtered(operator, vectors, end, float(values[0]), degree)
            n_products += degree
        block = orthonormal_against(basis, block)
        basis = np.hstack([basis, block])
        products = np.hstack([products, _product(operator, block)])
        n_products, step = n_products + 1, step + 1


def _impatience(n_products: int) -> float:
    """Return how well a last eigenvalue must be known after so many products, beside what was asked."""
    return 0.0 if n_products < _PATIENCE else _IMPATIENT_RTOL * 10 ** (n_products // _PATIENCE - 1)


def _product(operator: KernelOperator, block: FloatArray) -> FloatArray:
    """Return the operator times a block in float64, to the digits of the operator."""
    return operator.matmat(block.astype(operator.dtype, copy=False)).astype(np.float64, copy=False)


def _filtered(operator: KernelOperator, block: FloatArray, end: float, largest: float, degree: int) -> FloatArray:
    """Return T((2K − end) / end) @ block with the Chebyshev polynomial T of this degree, scaled to 1 at ``largest``.

    In the type of the operator: a filter need not be exact.
    """
    half = end / 2
    scale = half / (largest - half)
    twice = 2 / scale
    block = block.astype(operator.dtype, copy=False)
    before: FloatArray = block
    now: FloatArray = (operator.matmat(block) - half * block) * (scale / half)
    for _ in range(1, degree):
        next_scale = 1 / (twice - scale)
        after = operator.matmat(now)
        after -= half * now
        after *= 2 * next_scale / half
        after -= (scale * next_scale) * before
        before, now, scale = now, after, next_scale
    return now.astype(np.float64, copy=False)
