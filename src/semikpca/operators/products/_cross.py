"""K(A, B) @ coefficients between any rows: the one place that asks where they are, and what a kernel allows."""

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.base import clone

from semikpca._typing import Array, FloatArray, Rows
from semikpca.arrays import is_remote, is_tensor, length, like
from semikpca.kernels import (
    Kernel,
    Normalized,
    SparseFactor,
    as_kernel,
    finite_pairwise,
    normalized_product,
    positive_degrees,
    require_finite,
    row_sums,
    summed_features,
    tiles_of,
)
from semikpca.operators.products._blocked import rectangular_product, symmetric_product


def cross_product(kernel: Kernel, A: Rows, B: Rows, coefficients: Array) -> Array:
    """Return ``kernel.pairwise(A, B) @ coefficients`` of a fitted kernel, without the matrix where rows are vectors.

    Rows are arrays, CSR matrices, tensors or objects; B may be rows on a cluster, and A these rows themselves.
    Coefficients have shape (len(B),) or (len(B), n_columns).
    """
    if isinstance(kernel, Normalized):
        scaled = normalized_product(coefficients, _degrees(kernel, B))
        return normalized_product(cross_product(kernel.kernel_, A, B, scaled), _degrees(kernel, A))
    if is_remote(B):
        return require_finite(kernel, B.cross_product(kernel, A, coefficients))
    if kernel.is_sparse:
        left = kernel.sparse_factor(A)
        return _sparse_product(left, left if B is A else kernel.sparse_factor(B), coefficients)
    if kernel.is_low_rank_on(B):
        return features_product(A, kernel, _feature_weights(kernel, B, coefficients))
    if kernel.input_kind != "vectors":
        return np.asarray(finite_pairwise(kernel, A, B) @ coefficients)
    if is_tensor(A):
        from semikpca.operators.products._torch import torch_cross_product

        return torch_cross_product(kernel, A, B, coefficients, "float32")
    dtype = np.result_type(A.dtype, B.dtype)
    tiles = tiles_of(kernel, A, B, dtype)
    if A is B:
        return require_finite(kernel, symmetric_product(tiles, A.shape[0], coefficients, dtype))
    return require_finite(kernel, rectangular_product(tiles, (A.shape[0], B.shape[0]), coefficients, dtype))


def features_product(rows: Rows, kernel: Kernel, weights: FloatArray) -> FloatArray:
    """Return features(rows) @ weights."""
    return require_finite(kernel, kernel.low_rank_factor().combine(rows, weights))


def _feature_weights(kernel: Kernel, rows: Rows, coefficients: FloatArray) -> FloatArray:
    """Return what features are multiplied with for Σ c_i k(x, x_i) over rows; coefficients in one column or more."""
    weights = kernel.low_rank_factor().project(rows, coefficients.reshape(len(coefficients), -1))
    return weights.reshape(-1, *coefficients.shape[1:])


def expansion(kernel: Kernel, rows: Rows, coefficients: Array) -> Callable[[Rows], Array]:
    """Return the function x ↦ Σ c_i k(x, x_i) over ``rows``, prepared for being called often.

    Where the kernel has few features, a weight for each of them is all that it keeps of the rows.
    """
    if kernel.is_low_rank_on(rows):
        return partial(features_product, kernel=kernel, weights=_feature_weights(kernel, rows, coefficients))
    return partial(cross_product, kernel, B=rows, coefficients=coefficients)


def weighted_features(kernel: Kernel, weights: FloatArray) -> Callable[[Rows], FloatArray]:
    """Return the function x ↦ features(x) @ weights, with as little of the kernel as that takes."""
    if isinstance(kernel, Normalized) and kernel.feature_sums_ is not None:
        # The degree of a row is one more column.
        inner = weighted_features(kernel.kernel_, np.column_stack([weights, kernel.feature_sums_]))
        return partial(scaled_by_last, inner=inner, kernel=clone(as_kernel(kernel.kernel)))
    over = kernel.over_landmarks(weights)
    return partial(features_product, kernel=kernel, weights=weights) if over is None else expansion(*over)


def fitted(kernel: Kernel, rows: Rows) -> Kernel:
    """Return a fitted clone; the degrees of a normalized kernel come from products that are made where the rows are."""
    kernel = clone(kernel)
    if not isinstance(kernel, Normalized):
        return kernel.fit(rows)
    inside = fitted(as_kernel(kernel.kernel), rows)
    if not inside.is_low_rank_on(rows):
        return kernel.learn_degrees(inside, _sums(inside, rows, rows), rows)
    if is_remote(rows):
        return kernel.learn_feature_sums(inside, rows.summed(summed_features, inside))
    return kernel.learn_feature_sums(inside, summed_features(rows, inside), rows)


def _degrees(kernel: Normalized, rows: Rows) -> Array:
    """Return the degrees of rows, by a fast product where they are not known."""
    if kernel.feature_sums_ is not None or rows is kernel.rows_fit_:
        return kernel.degrees_at(rows)
    return kernel.degrees_at(rows, _sums(kernel.kernel_, rows, kernel.rows_fit_))


def _sums(kernel: Kernel, A: Rows, B: Rows) -> Array:
    """Return the sums of kernel values over the rows of B; on a GPU or a cluster, a product with a column of ones."""
    if not is_tensor(B) and not is_remote(B):
        return row_sums(kernel, A, B)
    return cross_product(kernel, A, B, like(np.ones((length(B), 1)), B))[:, 0]


def _sparse_product(left: SparseFactor, right: SparseFactor, coefficients: FloatArray) -> FloatArray:
    product = left.matrix @ (right.matrix.T @ coefficients)
    product *= left.damping
    product += (1 - left.damping) * np.multiply.outer(left.vector, right.vector @ coefficients)
    return np.asarray(product)


def scaled_by_last(rows: Rows, inner: Callable[[Rows], FloatArray], kernel: Kernel) -> FloatArray:
    """Return ``inner(rows)`` normalized by its last column, which holds the degrees of the rows by a kernel."""
    values = inner(rows)
    degrees = positive_degrees(kernel, values[:, -1], of_training_rows=False)
    return np.asarray(normalized_product(values[:, :-1], degrees))
