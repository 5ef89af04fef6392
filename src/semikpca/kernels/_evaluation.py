"""The values of a formula: the matrix between rows, its diagonal, and the two factors that blocks of it are made of."""

from functools import partial

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from semikpca._typing import Array, Rows
from semikpca.arrays import is_tensor, namespace, slices
from semikpca.kernels._formula import ExponentialDecay, Formula, Power
from semikpca.kernels._product_distances import ProductDistances
from semikpca.kernels._vectors import beside, constant, dense, row_products, short_indices, squared_norms

# scale · ‖·‖² up to which a distance may come from products: its rounding error is then below a few dozen eps.
_LARGEST_EXPONENT = 16.0
# From so many features on it takes less time to add squared norms to products than to carry them along as columns.
_MANY_FEATURES = 64
# Numbers whose polynomial is computed at a time, beside the values themselves.
_NUMBERS_AT_ONCE = 2**20


def values_between(formula: Formula, A: Rows, B: Rows) -> Array:
    """Return the matrix of k(a, b), shape (len(A), len(B)), as a new array; rows are in float32 or float64."""
    if formula.pairing == "city-block distance":
        return values_of_products(formula, _city_block_exponents(formula.scale, A, B))
    if isinstance(A, np.ndarray) and isinstance(B, np.ndarray) and A.dtype == B.dtype and A.shape[1] >= _MANY_FEATURES:
        values = _values_of_wide_rows(formula, A, B)
        if values is not None:
            return values
    factors = product_factors(formula, A, B)
    if factors is None:
        return _values_from_differences(formula, A, B)
    products = dense(factors[0] @ factors[1].T)
    if formula.pairing == "squared distance":
        namespace(products).clip(products, None, 0, out=products)  # rounding between equal rows
    return values_of_products(formula, products)


def values_at_equal_rows(formula: Formula, A: Rows) -> Array:
    """Return k(a, a) for each row a of A."""
    if isinstance(formula.profile, ExponentialDecay):
        return constant(formula.profile.coefficients[0], A)
    return values_of_products(formula, row_products(A, A))


def product_factors(formula: Formula, A: Rows, B: Rows) -> tuple[Rows, Rows] | None:
    """Return L and R so that ``values_of_products(formula, L Rᵀ)`` is the matrix of A and B; None if digits are lost.

    For inner products they are the rows. For squared distances L Rᵀ = −scale ‖a − b‖², and the squared norms ride along
    as two more columns; rows that are far apart for it, and city-block distances, have no such factors.
    """
    if isinstance(formula.profile, Power):
        return A, B
    if formula.pairing == "city-block distance" or not formula.profile.is_smooth:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        if not sparse.issparse(A) and not sparse.issparse(B):
            # Distances do not change under a shift, but rounding does: far from the origin ‖a‖² would swamp them.
            origin = (B if B.shape[0] else A).mean(axis=0)
            A, B = A - origin, B - origin
        norms_a, norms_b = -formula.scale * squared_norms(A), -formula.scale * squared_norms(B)
        xp = namespace(A)
        left = beside(2 * formula.scale * A, norms_a, xp.ones_like(norms_a))
        right = beside(B, xp.ones_like(norms_b), norms_b)
        # The last columns hold −scale ‖·‖².
        squares = [abs(dense(rows[:, -2:])[:, place]) for place, rows in enumerate((left, right))]
        largest = max((float(each.max()) for each in squares if len(each)), default=0.0) / formula.scale
        return (left, right) if keeps_digits(formula, largest) else None


def values_of_squared(formula: Formula, squared: Array) -> Array:
    """Turn squared distances into values of a formula, in place, and return them."""
    squared *= -formula.scale
    return values_of_products(formula, squared)


def values_of_products(formula: Formula, products: Array) -> Array:
    """Turn products into values of a formula, in place, and return them; they are a·b, or −scale · distance."""
    profile = formula.profile
    if isinstance(profile, Power):
        return _powers(profile, formula.scale, products)
    if profile.is_plain:
        return namespace(products).exp(products, out=products)
    rows_at_once = max(1, _NUMBERS_AT_ONCE // max(1, products.shape[1]))
    for part in slices(0, products.shape[0], rows_at_once):
        _decay(profile, products[part])
    return products


def _powers(profile: Power, scale: float, products: Array) -> Array:
    if scale != 1:
        products *= scale
    if profile.is_linear:
        return products
    products += profile.shift
    if is_tensor(products):
        return products.pow_(profile.degree)
    return np.power(products, profile.degree, out=products)


def _decay(profile: ExponentialDecay, exponents: Array) -> None:
    """Turn −s into p(t) exp(−t)."""
    xp = namespace(exponents)
    if profile.root:
        xp.clip(exponents, None, 0, out=exponents)  # between equal rows s may be less than 0 by rounding
    xp.negative(exponents, out=exponents)
    if profile.root:
        xp.sqrt(exponents, out=exponents)
    *lower, highest = profile.coefficients
    polynomial = xp.full_like(exponents, highest)
    for coefficient in reversed(lower):
        polynomial *= exponents
        polynomial += coefficient
    xp.negative(exponents, out=exponents)
    xp.exp(exponents, out=exponents)
    exponents *= polynomial


def keeps_digits(formula: Formula, largest_norm: float) -> bool:
    """Return whether values may come from products of rows with squared norms up to this one, from their mean.

    Where norms are large, distances are small differences of large numbers.
    """
    return _is_smooth_decay(formula) and bool(formula.scale * largest_norm < _LARGEST_EXPONENT)


def _is_smooth_decay(formula: Formula) -> bool:
    """Return whether it is a function of squared distances in which their rounding errors do not grow."""
    profile = formula.profile
    return formula.pairing == "squared distance" and isinstance(profile, ExponentialDecay) and profile.is_smooth


def _values_of_wide_rows(formula: Formula, A: Array, B: Array) -> Array | None:
    """Return the matrix of distances from products without copies of the rows; None if digits would be lost.

    Of rows with themselves only one half is computed.
    """
    if not _is_smooth_decay(formula):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        products = ProductDistances(B, B.dtype)
        if not keeps_digits(formula, products.largest_norm):
            return None
        if A is B:
            return products.matrix(partial(values_of_squared, formula))
        squared, largest_norm = products.between(A)
        return values_of_squared(formula, squared) if keeps_digits(formula, largest_norm) else None


def _values_from_differences(formula: Formula, A: Rows, B: Rows) -> Array:
    """Return the matrix from differences of rows: slower, and exact wherever the rows are."""
    scale = np.sqrt(formula.scale)
    if is_tensor(A):
        xp = namespace(A)
        dtype = xp.result_type(A, B)
        distances = xp.cdist(scale * A.double(), scale * B.double(), compute_mode="donot_use_mm_for_euclid_dist")
        return values_of_products(formula, -distances.square_()).to(dtype)
    dtype = np.result_type(A.dtype, B.dtype)
    A, B = (scale * dense(rows).astype(np.float64) for rows in (A, B))
    return values_of_products(formula, -cdist(A, B, "sqeuclidean")).astype(dtype, copy=False)


def _city_block_exponents(scale: float, A: Rows, B: Rows) -> Array:
    """Return −scale ‖a − b‖₁."""
    if is_tensor(A):
        exponents = namespace(A).cdist(A, B, p=1.0)
    else:
        # manhattan_distances answers sparse rows in float64, whatever they were.
        distances = manhattan_distances(short_indices(A), short_indices(B))
        exponents = distances.astype(np.result_type(A.dtype, B.dtype), copy=False)
    exponents *= -scale
    return exponents
