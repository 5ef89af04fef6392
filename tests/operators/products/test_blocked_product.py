"""Products that never hold the kernel matrix, against formulas written out over all pairs of rows."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from oracles import relative_error
from semikpca.kernels import (
    RBF,
    CompiledTiles,
    Cosine,
    FactorTiles,
    Laplacian,
    Linear,
    Normalized,
    PairwiseTiles,
    Polynomial,
    tiles_of,
)
from semikpca.operators import cross_product, make_operator
from semikpca.operators.products import KeptTiles, product_at, symmetric_product, two_sided_product


@pytest.fixture(autouse=True, params=["NumPy", "compiled"])
def maker(request):
    """Who makes the blocks: every test is held by both."""
    if request.param == "compiled":
        request.getfixturevalue("with_programs")
    return request.param


# Relative to the norm of the product of absolute values, so that cancellation in a sum does not count as an error.
# float64: sums of up to 700 numbers, each off by a few eps. float32: exponents up to 16 are off by 16 eps.
TOLERANCE = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 4e-6}

# Around what the sides of a block are or may be, 128, 256 and 512, and rows that leave a ragged strip behind.
SIZES = [1, 2, 127, 128, 129, 255, 257, 511, 513, 700]
D = 5


def _squared_distances(A, B):
    return ((A[:, None] - B) ** 2).sum(axis=2)


def _unit(A):
    lengths = np.sqrt((A**2).sum(axis=1, keepdims=True))
    return A / np.where(lengths > 0, lengths, 1)


FORMULAS = {
    "rbf": (RBF(gamma=0.3), lambda A, B: np.exp(-0.3 * _squared_distances(A, B))),
    "laplacian": (Laplacian(gamma=0.2), lambda A, B: np.exp(-0.2 * np.abs(A[:, None] - B).sum(axis=2))),
    "polynomial": (Polynomial(degree=3, gamma=0.2, coef0=1.0), lambda A, B: (0.2 * A @ B.T + 1.0) ** 3),
    "linear": (Linear(), lambda A, B: A @ B.T),
    "centered linear": (Linear(center=True), None),
    "cosine": (Cosine(), lambda A, B: _unit(A) @ _unit(B).T),
}
# Normalized kernels need positive degrees; on rows of positive numbers every one of these has them.
NORMALIZED = ["rbf", "laplacian", "polynomial", "linear", "cosine"]


def rows_of(n, seed=0, positive=False, csr=False, d=D):
    rows = np.random.default_rng(seed).normal(size=(n, d))
    if positive:
        rows = np.abs(rows) + 0.1
    if csr:
        rows[np.random.default_rng(seed + 1).random((n, d)) < 0.5] = 0
        rows[:, 0] += 0.1 * (rows[:, 0] == 0)  # no row is all zeros
    return rows


def matrix_of(name, A, B, training=None):
    """The kernel matrix by its formula, in double precision."""
    A, B = np.asarray(A, float), np.asarray(B, float)
    if name == "centered linear":
        return (A - training.mean(axis=0)) @ (B - training.mean(axis=0)).T
    return FORMULAS[name][1](A, B)


def normalized_of(name, A, B, training):
    formula = FORMULAS[name][1]
    degrees = [formula(rows, training).sum(axis=1) for rows in (A, B)]
    return formula(A, B) / np.sqrt(np.outer(*degrees))


def assert_product(found, K, block, dtype):
    wanted = K @ np.asarray(block, float)
    assert found.shape == wanted.shape
    scale = np.linalg.norm(np.abs(K) @ np.abs(np.asarray(block, float)))
    assert np.linalg.norm(found - wanted) <= TOLERANCE[np.dtype(dtype)] * scale


def block_of(n, n_columns, dtype, seed=9):
    return np.random.default_rng(seed).normal(size=(n, n_columns)).astype(dtype)


# -- the symmetric product -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", FORMULAS)
def test_the_product_is_that_of_the_formula(name, n, dtype):
    rows = rows_of(n).astype(dtype)
    operator = make_operator(FORMULAS[name][0].fit(rows), rows, "blocked")
    block = block_of(n, 3, dtype)
    product = operator.matmat(block)
    assert product.dtype == dtype
    assert_product(product, matrix_of(name, rows, rows, rows.astype(float)), block, dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [129, 700])
@pytest.mark.parametrize("name", [name for name in FORMULAS if name != "centered linear"])
def test_sparse_rows_have_the_product_of_the_formula(name, n, dtype):
    dense = rows_of(n, csr=True).astype(dtype)
    rows = sparse.csr_array(dense)
    operator = make_operator(FORMULAS[name][0], rows, "blocked")
    block = block_of(n, 3, dtype)
    product = operator.matmat(block)
    assert product.dtype == dtype
    assert_product(product, matrix_of(name, dense, dense), block, dtype)


@pytest.mark.parametrize("csr", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", NORMALIZED)
def test_a_normalized_kernel_has_the_product_of_the_formula(name, dtype, csr):
    dense = rows_of(300, positive=True).astype(dtype)
    rows = sparse.csr_array(dense) if csr else dense
    operator = make_operator(Normalized(FORMULAS[name][0]).fit(rows), rows, "blocked")
    block = block_of(300, 4, dtype)
    product = operator.matmat(block)
    assert product.dtype == dtype
    exact = dense.astype(float)
    assert_product(product, normalized_of(name, exact, exact, exact), block, dtype)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n_columns", [0, 1, 2, 7, 63, 64, 65, 70])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_any_number_of_columns_can_be_asked_for(name, n_columns, threads):
    rows = rows_of(513)
    operator = make_operator(FORMULAS[name][0], rows, "blocked")
    block = block_of(513, n_columns, np.float64)
    with threadpool_limits(threads, user_api="blas"):
        product = operator.matmat(block)
    assert_product(product, matrix_of(name, rows, rows), block, np.float64)


@pytest.mark.parametrize("n", [1, 129, 700])
def test_a_vector_has_a_vector_as_its_product(n):
    rows = rows_of(n)
    tiles = tiles_of(FORMULAS["rbf"][0], rows, rows, np.float64)
    vector = block_of(n, 1, np.float64)[:, 0]
    assert_product(symmetric_product(tiles, n, vector, np.float64), matrix_of("rbf", rows, rows), vector, np.float64)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "polynomial", "linear", "cosine"])
def test_single_precision_values_of_double_precision_rows_are_summed_in_double(name):
    rows = rows_of(700)
    operator = make_operator(FORMULAS[name][0], rows, "blocked", np.float32)
    block = block_of(700, 3, np.float64)
    product = operator.matmat(block)
    assert product.dtype == np.float64
    assert_product(product, matrix_of(name, rows, rows), block, np.float32)
    # The same rows with all digits: what was rounded are kernel values alone.
    assert_product(operator.sharper().matmat(block), matrix_of(name, rows, rows), block, np.float64)


@pytest.mark.parametrize(
    "layout",
    [
        lambda block: np.asfortranarray(block),
        lambda block: np.repeat(block, 2, axis=1)[:, ::2],
        lambda block: np.repeat(block, 3, axis=0)[::3],
        lambda block: block[::-1].copy()[::-1],
        lambda block: np.broadcast_to(block[:, :1], block.shape),
    ],
    ids=["columns first", "every other column", "every third row", "backwards", "one column many times"],
)
def test_any_layout_of_the_block_is_taken_and_left_alone(layout):
    rows = rows_of(300)
    block = layout(block_of(300, 4, np.float64))
    before = block.copy()
    assert_product(
        make_operator(FORMULAS["rbf"][0], rows, "blocked").matmat(block),
        matrix_of("rbf", rows, rows),
        block,
        np.float64,
    )
    np.testing.assert_array_equal(block, before)


def test_rows_in_any_layout_have_the_same_product():
    rows = rows_of(300)
    block = block_of(300, 4, np.float64)
    wanted = matrix_of("rbf", rows, rows)
    for other in (np.asfortranarray(rows), np.repeat(rows, 2, axis=1)[:, ::2], np.repeat(rows, 2, axis=0)[::2]):
        assert_product(make_operator(FORMULAS["rbf"][0], other, "blocked").matmat(block), wanted, block, np.float64)


def test_a_matrix_of_positive_values_is_symmetric_in_its_products():
    rows = rows_of(700)
    operator = make_operator(FORMULAS["rbf"][0], rows, "blocked")
    left, right = block_of(700, 2, np.float64), block_of(700, 2, np.float64, seed=10)
    difference = left.T @ operator.matmat(right) - operator.matmat(left).T @ right
    assert np.abs(difference).max() <= 1e-10  # sums of 700² numbers of order one, in two orders


# -- rows that are hard to round -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shift", [1e3, 1e6])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_rows_far_from_the_origin_keep_their_digits(name, shift, dtype):
    # Shifted rows are rounded to their type before anything is computed, and the formula gets the rounded ones.
    rows = (rows_of(300) + shift).astype(dtype)
    operator = make_operator(FORMULAS[name][0], rows, "blocked")
    block = block_of(300, 3, dtype)
    assert_product(operator.matmat(block), matrix_of(name, rows, rows), block, dtype)


def test_sparse_rows_far_from_the_origin_keep_their_digits():
    dense = rows_of(300) + 1e5
    operator = make_operator(FORMULAS["rbf"][0], sparse.csr_array(dense), "blocked")
    block = block_of(300, 3, np.float64)
    K = matrix_of("rbf", dense, dense)
    # Rows are scaled before differences are taken, which rounds numbers of order 1e5.
    assert relative_error(operator.matmat(block), K @ block) <= 1e-10


@pytest.mark.parametrize("value_dtype", [np.float64, np.float32])
def test_clusters_far_apart_keep_their_digits(value_dtype):
    # Two clusters 1,000 bandwidths apart: −gamma‖x‖² is far beyond 16, and products of factors have no digits left.
    rows = rows_of(400)
    rows[200:] += 2000
    kernel = FORMULAS["rbf"][0]
    assert isinstance(tiles_of(kernel, rows, rows, value_dtype), PairwiseTiles)
    operator = make_operator(kernel, rows, "blocked", value_dtype)
    block = block_of(400, 3, np.float64)
    assert_product(operator.matmat(block), matrix_of("rbf", rows, rows), block, value_dtype)


def test_rows_close_together_take_the_product_of_factors(maker):
    rows = rows_of(50)
    wanted = CompiledTiles if maker == "compiled" else FactorTiles
    assert isinstance(tiles_of(FORMULAS["rbf"][0], rows, rows, np.float64), wanted)


@pytest.mark.parametrize("value_dtype", [np.float64, np.float32])
def test_equal_rows_have_the_value_one_to_rounding(value_dtype):
    # Between equal rows the exponent is 0 only up to rounding, and a value above 1 would be no kernel value.
    rows = np.repeat(rows_of(4) * 2, 80, axis=0)
    operator = make_operator(RBF(gamma=0.3), rows, "blocked", value_dtype)
    units = np.eye(320)[:, ::80]
    found = operator.matmat(units)[np.arange(320), np.repeat(np.arange(4), 80)]
    eps = float(np.finfo(value_dtype).eps)
    assert np.abs(found - 1).max() <= 64 * eps


# -- new rows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n_new", "n"), [(1, 700), (129, 1), (128, 512), (300, 513)])
@pytest.mark.parametrize("name", FORMULAS)
def test_new_rows_have_the_product_of_the_formula(name, n_new, n, dtype):
    rows, new = rows_of(n).astype(dtype), rows_of(n_new, seed=3).astype(dtype)
    kernel = FORMULAS[name][0].fit(rows)
    coefficients = block_of(n, 2, dtype)
    K = matrix_of(name, new, rows, rows.astype(float))
    assert_product(cross_product(kernel, new, rows, coefficients), K, coefficients, dtype)
    assert_product(cross_product(kernel, new, rows, coefficients[:, 0]), K, coefficients[:, 0], dtype)


@pytest.mark.parametrize("name", NORMALIZED)
def test_new_rows_of_a_normalized_kernel_have_the_product_of_the_formula(name):
    rows, new = rows_of(300, positive=True), rows_of(140, seed=3, positive=True)
    kernel = Normalized(FORMULAS[name][0]).fit(rows)
    coefficients = block_of(300, 2, np.float64)
    K = normalized_of(name, new, rows, rows)
    assert_product(cross_product(kernel, new, rows, coefficients), K, coefficients, np.float64)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "polynomial", "linear", "cosine"])
def test_new_rows_may_be_sparse_or_dense(name):
    dense, new = rows_of(300, csr=True), rows_of(140, seed=3, csr=True)
    coefficients = block_of(300, 2, np.float64)
    kernel = FORMULAS[name][0]
    found = cross_product(kernel, sparse.csr_array(new), sparse.csr_array(dense), coefficients)
    assert_product(found, matrix_of(name, new, dense), coefficients, np.float64)


def test_no_new_rows_have_no_product():
    rows = rows_of(10)
    assert cross_product(FORMULAS["linear"][0], rows[:0], rows, np.ones((10, 2))).shape == (0, 2)


# -- the same numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_number_of_threads_gives_the_same_numbers(threads, dtype):
    rows = rows_of(700).astype(dtype)
    block = block_of(700, 5, dtype)
    with threadpool_limits(threads, user_api="blas"):
        products = [make_operator(FORMULAS["rbf"][0], rows, "blocked").matmat(block) for _ in range(5)]
    for product in products[1:]:
        np.testing.assert_array_equal(product, products[0])


def test_another_number_of_threads_changes_rounding_only():
    rows = rows_of(700)
    block = block_of(700, 5, np.float64)
    K = matrix_of("rbf", rows, rows)
    for threads in (1, 2, 3, 8):
        with threadpool_limits(threads, user_api="blas"):
            assert_product(make_operator(FORMULAS["rbf"][0], rows, "blocked").matmat(block), K, block, np.float64)


# -- both sides of a block at once -----------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(1, 1), (257, 513), (700, 30), (3, 600)])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_a_pass_over_the_tiles_serves_both_sides(name, shape, dtype, threads):
    A, B = rows_of(shape[0], 1).astype(dtype), rows_of(shape[1], 2).astype(dtype)
    right, left = block_of(shape[1], 3, dtype, 4), block_of(shape[0], 3, dtype, 5)
    tiles = tiles_of(FORMULAS[name][0], A, B, dtype)
    with threadpool_limits(threads, user_api="blas"):
        ahead, back = two_sided_product(tiles, shape, right, left, dtype)
    K = matrix_of(name, A, B)
    assert ahead.dtype == back.dtype == dtype
    assert_product(ahead, K, right, dtype)
    assert_product(back, K.T, left, dtype)


@pytest.mark.parametrize("n_columns", [0, 1, 64, 70])
def test_both_sides_have_any_number_of_columns(n_columns):
    A, B = rows_of(300, 1), rows_of(90, 2)
    right, left = block_of(90, n_columns, np.float64, 4), block_of(300, n_columns, np.float64, 5)
    ahead, back = two_sided_product(tiles_of(FORMULAS["rbf"][0], A, B, np.float32), (300, 90), right, left, np.float32)
    # Sums are kept in the type of the block, kernel values are not.
    assert ahead.dtype == back.dtype == np.float64
    K = matrix_of("rbf", A, B)
    assert_product(ahead, K, right, np.float32)
    assert_product(back, K.T, left, np.float32)


# -- blocks that are kept, and a few rows of a product -----------------------------------------------------------------


class Counted:
    """Tiles that count what they make."""

    def __init__(self, tiles):
        self.tiles, self.n_made, self.nbytes = tiles, 0, 0

    def __call__(self, rows, columns):
        self.n_made += 1
        return self.tiles(rows, columns)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
# 5,000 rows are slow: every product is held to one with the whole matrix, made naively.
@pytest.mark.parametrize("n", [1, 257, pytest.param(5_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_kept_blocks_are_made_once_and_give_the_product_again_and_again(name, n, dtype, threads):
    if name == "laplacian" and n > 1_000:
        n = 700  # its oracle takes a number for each pair and feature
    rows = rows_of(n)
    counted = Counted(tiles_of(FORMULAS[name][0], rows, rows, dtype))
    kept = KeptTiles(counted, n, dtype)
    with threadpool_limits(threads, user_api="blas"):
        products = [(block, symmetric_product(kept, n, block, dtype)) for block in _blocks(n)]
    for block, product in products:
        assert_product(product, matrix_of(name, rows, rows), block, dtype)
    n_made = counted.n_made
    symmetric_product(kept, n, products[0][0], dtype)
    assert counted.n_made == n_made
    # Half of the matrix, and the blocks on its diagonal whole.
    assert kept.nbytes == np.dtype(dtype).itemsize * sum((n - at) * min(256, n - at) for at in range(0, n, 256))


def test_blocks_of_a_program_are_kept_by_products_with_few_columns_alone(maker):
    rows = rows_of(700)
    kept = KeptTiles(tiles_of(FORMULAS["rbf"][0], rows, rows, np.float64), 700, np.float64)
    before, sizes = kept.nbytes, []
    for n_columns in (16, 1, 16):
        block = block_of(700, n_columns, np.float64)
        assert_product(symmetric_product(kept, 700, block, np.float64), matrix_of("rbf", rows, rows), block, np.float64)
        sizes.append(kept.nbytes)
    assert (sizes[0] == before) == (maker == "compiled")
    assert before < sizes[1] == sizes[2]


def _blocks(n):
    return [block_of(n, n_columns, np.float64) for n_columns in (13, 1, 3)]


def test_a_product_that_was_interrupted_leaves_blocks_that_are_right():
    rows = rows_of(1_300)
    tiles = tiles_of(FORMULAS["rbf"][0], rows, rows, np.float64)
    n_made = [0]

    def failing(*place):
        n_made[0] += 1
        if n_made[0] == 5:
            raise ArithmeticError
        return tiles(*place)

    kept = KeptTiles(failing, 1_300, np.float64)
    block = block_of(1_300, 2, np.float64)
    with pytest.raises(ArithmeticError):
        symmetric_product(kept, 1_300, block, np.float64)
    assert_product(symmetric_product(kept, 1_300, block, np.float64), matrix_of("rbf", rows, rows), block, np.float64)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("at", [[0], [699, 3, 3, 250], list(range(0, 700, 3))])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "polynomial"])
def test_a_few_rows_of_a_product_are_those_of_the_whole(name, at, keep, threads):
    rows, at = rows_of(700), np.array(at)
    tiles = tiles_of(FORMULAS[name][0], rows, rows, np.float64)
    tiles = KeptTiles(tiles, 700, np.float64) if keep else tiles
    block = block_of(700, 2, np.float64)
    with threadpool_limits(threads, user_api="blas"):
        found = product_at(tiles, at, 700, block, np.float64)
    assert_product(found, matrix_of(name, rows, rows)[at], block, np.float64)
