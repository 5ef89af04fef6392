"""The operator whose matrix is made each time it is multiplied; its products are in tests/kernels."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from oracles import large_rbf
from semikpca.arrays import allowed_threads
from semikpca.exceptions import KernelMemoryError
from semikpca.kernels import RBF, Laplacian, Linear, Normalized, Polynomial
from semikpca.operators import (
    BlockedOperator,
    CenteredOperator,
    DeflatedOperator,
    DenseOperator,
    ScaledOperator,
    ShiftedOperator,
    make_operator,
)
from semikpca.spectrum import leading_spectrum, removable_spectrum

N, GAMMA = 350, 0.2
ROUNDING = 1e-12  # sums of a few hundred numbers of order one


@pytest.fixture(scope="module")
def rows():
    rows = np.random.default_rng(0).normal(size=(N, 4)) * [2.0, 1.0, 0.7, 0.4]
    rows.setflags(write=False)
    return rows


@pytest.fixture(scope="module")
def K(rows):  # noqa: N802
    return large_rbf(rows, rows, GAMMA)


@pytest.fixture
def operator(rows):
    return BlockedOperator(RBF(GAMMA), rows)


def test_columns_diagonal_and_dense_form_are_those_of_the_matrix(operator, K):
    at = np.array([5, 5, 0, 349])
    np.testing.assert_allclose(operator.columns(at), K[:, at], atol=ROUNDING)
    np.testing.assert_allclose(operator.diag(), np.diag(K), atol=ROUNDING)
    np.testing.assert_allclose(operator.to_dense(), K, atol=ROUNDING)
    assert operator.shape == (N, N)


def test_columns_at_no_rows_are_none(operator):
    assert operator.columns(np.empty(0, dtype=int)).shape == (N, 0)


def test_columns_of_what_is_made_of_it_are_those_of_the_matrix(operator, K, rows):
    at = np.array([7, 300])
    values, vectors = np.linalg.eigh(K)
    deflated = DeflatedOperator(operator, values[-2:], vectors[:, -2:])
    wanted = K - (vectors[:, -2:] * values[-2:]) @ vectors[:, -2:].T
    np.testing.assert_allclose(deflated.columns(at), wanted[:, at], atol=ROUNDING)
    scales = 1 / np.sqrt(K.sum(axis=1))
    np.testing.assert_allclose(
        ScaledOperator(operator, scales).columns(at), (scales[:, None] * K * scales)[:, at], atol=ROUNDING
    )
    means = K.mean(axis=0)
    np.testing.assert_allclose(CenteredOperator(operator).row_means(), means, atol=ROUNDING)


def test_products_are_counted_and_columns_are_not(operator, rows):
    operator.columns(np.arange(3))
    assert operator.log.n_products == 0
    operator.matmat(rows)
    operator.matmat(rows[:, :1])
    assert operator.log.n_products == 2


def test_the_matrix_is_not_kept(operator, rows):
    assert not operator.facts.is_stored
    # Two factors, each with the rows and two columns more.
    assert operator.nbytes == 2 * N * 6 * 8
    assert BlockedOperator(RBF(GAMMA), rows, np.float32).nbytes == 2 * N * 6 * 4
    assert BlockedOperator(Laplacian(0.2), rows).nbytes == 0
    factors = BlockedOperator(Linear(), sparse.csr_array(rows)).nbytes
    assert 2 * N * 4 * 8 <= factors <= 5 * N * 4 * 8


def test_a_product_costs_more_than_a_stored_one_and_more_with_more_features(operator, rows):
    wide = BlockedOperator(RBF(GAMMA), np.hstack([rows] * 20))
    assert N**2 < operator.facts.product_cost < wide.facts.product_cost


def test_the_dense_form_needs_the_budget_for_it(rows):
    with sklearn.config_context(working_memory=0.5):
        operator = BlockedOperator(RBF(GAMMA), rows)
        assert not operator.facts.can_be_dense
        with pytest.raises(KernelMemoryError, match="350 rows"):
            operator.to_dense()
    with sklearn.config_context(working_memory=1):
        assert BlockedOperator(RBF(GAMMA), rows).facts.can_be_dense
        # The record is that of the moment when the operator was made; to_dense follows a setting that was raised since.
        assert not operator.facts.can_be_dense
        assert operator.to_dense().shape == (N, N)


def test_rows_out_of_range_are_refused_without_the_matrix():
    with pytest.raises(ValueError, match="leave the range of float32"):
        BlockedOperator(Polynomial(degree=9, gamma=1.0), np.full((3, 1), 1e5, dtype=np.float32))


def test_values_in_single_precision_are_sharpened_where_there_are_more_digits(rows, K):
    rough = BlockedOperator(RBF(GAMMA), rows, np.float32)
    sharp = rough.sharper()
    block = np.random.default_rng(1).normal(size=(N, 2))
    wanted = K @ block
    error = np.linalg.norm(rough.matmat(block) - wanted) / np.linalg.norm(wanted)
    assert 1e-9 < error <= 10 * rough.facts.product_error
    np.testing.assert_allclose(sharp.matmat(block), wanted, atol=1e-11)
    assert sharp.sharper() is sharp
    single = BlockedOperator(RBF(GAMMA), rows.astype(np.float32))
    assert single.sharper() is single


def test_what_was_counted_and_who_listens_goes_with_the_sharper_one(rows):
    rough = make_operator(Normalized(RBF(GAMMA)).fit(rows), rows, "blocked", np.float32)
    rough.matmat(rows)
    sharp = rough.sharper()
    assert sharp.log is rough.log
    assert sharp.base.value_dtype == np.float64
    assert sharp.base.log.n_products == 1
    np.testing.assert_array_equal(sharp.scales, rough.scales)


def test_the_stated_precision_holds(rows, K):
    """The norm of what rounding adds to the matrix is below ``precision`` times the largest eigenvalue."""
    for dtype in (np.float64, np.float32):
        operator = BlockedOperator(RBF(GAMMA), rows, dtype)
        made = operator.matmat(np.eye(N))
        off = np.linalg.norm((made + made.T) / 2 - K, 2)
        assert off <= operator.facts.precision * np.linalg.eigvalsh(K)[-1]


# -- eigenpairs by products alone ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rtol", [0.0, 1e-6, 1e-3])
@pytest.mark.parametrize("m", [1, 2, 5])
def test_stated_uncertainty_holds(rows, K, m, rtol, dtype):
    operator = BlockedOperator(RBF(GAMMA), rows, dtype)
    values = np.linalg.eigvalsh(K)[::-1]
    found = leading_spectrum(operator, m, rtol, start=np.eye(N)[:, :2])
    assert (np.abs(found.eigenvalues - values[:m]) <= found.uncertainty + 1e-13 * values[0]).all()
    # Residuals are what was asked for, or rounding.
    residuals = np.linalg.norm(K @ found.eigenvectors - found.eigenvectors * found.eigenvalues, axis=0)
    assert (residuals <= max(2 * rtol, 2 * operator.facts.precision) * values[0]).all()


@pytest.mark.parametrize("k", [0, 1, 2, 4])
@pytest.mark.parametrize("rtol", [1e-8, 1e-6, 1e-3])
def test_the_eigenvalue_after_the_cut_is_known_as_well_as_it_is_said(rows, K, k, rtol):
    """The last vector may be poor; the bound on its eigenvalue must hold all the same."""
    values = np.linalg.eigvalsh(K)[::-1]
    targets = np.zeros((N, 1))
    targets[:6] = 1
    found, cut = removable_spectrum(BlockedOperator(RBF(GAMMA), rows), k, rtol, targets)
    assert cut == k
    assert values[k] <= found.eigenvalues[k] + found.uncertainty[k] + 1e-13 * values[0]
    assert found.eigenvalues[k] <= values[k] + 1e-13 * values[0]  # a Ritz value never exceeds it
    assert found.uncertainty[k] <= 10 * rtol * values[0]


def test_what_the_search_has_learned_is_true(rows, K):
    found = leading_spectrum(BlockedOperator(RBF(GAMMA), rows), 2, 1e-6)
    W = found.subspace.basis
    np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-12)
    np.testing.assert_allclose(found.subspace.images, K @ W, atol=1e-10)
    # Only the last columns lead out of the space.
    inside = found.subspace.images[:, : W.shape[1] - found.subspace.n_last]
    assert np.linalg.norm(inside - W @ (W.T @ inside)) <= 1e-10


def test_a_repeated_eigenvalue_is_found_whole(rows):
    # Two copies of the same rows, too far apart to be like each other: every eigenvalue comes twice.
    twice = np.vstack([rows, rows + 1e4])
    operator = BlockedOperator(RBF(GAMMA), twice)
    found, cut = removable_spectrum(operator, 1, 1e-6)
    assert cut == 2
    np.testing.assert_allclose(found.eigenvalues[0], found.eigenvalues[1], rtol=1e-6)


# -- a few rows of a product, and blocks that are kept -----------------------------------------------------------------


def test_products_at_a_few_rows_of_what_is_made_of_it_are_those_of_the_matrix(operator, K):
    at, block = np.array([7, 300, 7]), np.random.default_rng(1).normal(size=(N, 3))
    values, vectors = np.linalg.eigh(K)
    removed = (vectors[:, -2:] * values[-2:]) @ vectors[:, -2:].T
    scales = 1 / np.sqrt(K.sum(axis=1))
    deflated = DeflatedOperator(operator, values[-2:], vectors[:, -2:])
    for derived, matrix in [
        (operator, K),
        (deflated, K - removed),
        (DeflatedOperator(operator, values[:0], vectors[:, :0]), K),
        (ShiftedOperator(deflated, 3.0, sign=-1), 3 * np.eye(N) - K + removed),
        (ShiftedOperator(operator, 3.0, sign=1), 3 * np.eye(N) + K),
        (ScaledOperator(operator, scales), scales[:, None] * K * scales),
    ]:
        np.testing.assert_allclose(derived.product_at(at, block), (matrix @ block)[at], atol=10 * ROUNDING)


def test_a_few_rows_of_a_stored_matrix_are_not_worth_asking_for(K):
    block = np.ones((N, 1))
    stored = DenseOperator(K)
    for operator in (stored, ShiftedOperator(stored, 1.0, 1), ScaledOperator(stored, np.ones(N))):
        assert operator.product_at(np.array([1]), block) is None
    assert DeflatedOperator(stored, np.ones(1), block).product_at(np.array([1]), block) is None


@pytest.mark.parametrize("kernel", [RBF(GAMMA), Normalized(RBF(GAMMA))])
def test_blocks_are_kept_where_that_is_asked_for(kernel, rows):
    kernel = kernel.fit(rows)
    plain, kept = (make_operator(kernel, rows, "blocked", keep=keep) for keep in (False, True))
    block = np.random.default_rng(1).normal(size=(N, 3))
    before = plain.nbytes
    assert kept.nbytes == before
    for _ in range(2):
        np.testing.assert_allclose(kept.matmat(block), plain.matmat(block), atol=ROUNDING)
    assert plain.nbytes == before
    assert before + 8 * N**2 / 2 < kept.nbytes < before + 8 * N**2


def test_between_its_products_blas_has_one_thread_and_the_products_have_all(operator):
    with threadpool_limits(3, user_api="blas"):
        before = blas_threads()  # of several libraries; not all of them follow
        with ScaledOperator(operator, np.ones(N)).between_products():
            assert set(blas_threads()) == {1}
            assert allowed_threads() == 3
        assert blas_threads() == before


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
