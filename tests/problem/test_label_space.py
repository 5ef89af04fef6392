"""The space that holds the answers to labels at all error weights, against dense algebra."""

import numpy as np
import pytest

from oracles import algorithm_1, eigenpairs, large_rbf, relative_error
from semikpca.operators import DeflatedOperator, DenseOperator, Subspace
from semikpca.problem import LabelSpace, label_space
from semikpca.spectrum import Spectrum

N = 300
ROWS = np.array([0, 3, 17, 60, 61, 299])
WEIGHTS = np.array([1e-3, 0.2, 0.7, 0.95, 0.999])
# A residual of 1e-10 at the largest weight, where the condition number is 1e3 at most.
RTOL, AGREES = 1e-10, 1e-7


@pytest.fixture(scope="module")
def matrix():
    X = np.random.default_rng(0).normal(size=(N, 3)) * [2.0, 1.0, 0.5]
    K = large_rbf(X, X, 0.4)
    return K, eigenpairs(K)


@pytest.fixture
def targets():
    return np.random.default_rng(1).normal(size=(len(ROWS), 2))


def deflated(matrix, k, operator_class=DenseOperator):
    K, (values, vectors) = matrix
    return DeflatedOperator(operator_class(K), values[:k], vectors[:, :k])


def answers(matrix, k, gamma, targets):
    """Decisions, and decisions at the rows without their own target: the formula, weight by weight."""
    K, pairs = matrix
    alpha, projected, _ = algorithm_1(K, np.eye(N)[:, ROWS], k, gamma, pairs)
    H = projected @ alpha
    decision = H @ targets
    return decision, decision[ROWS] - np.diag(H[ROWS])[:, None] * targets


def krylov(matrix, n_blocks=3, width=4):
    """What a search for eigenpairs would have learned of the matrix: a small Krylov space, and its images."""
    K, _ = matrix
    block = np.linalg.qr(np.random.default_rng(2).normal(size=(N, width)))[0]
    basis = block
    for _ in range(n_blocks - 1):
        block = K @ block
        for _ in range(2):
            block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
        basis = np.hstack([basis, block])
    return Subspace(basis, K @ basis, width)


def assert_answers(space, matrix, k, bounds, targets):
    absolute = WEIGHTS * bounds
    decisions, left_out = space.decisions(targets, absolute), space.left_out(targets, absolute)
    assert decisions.shape == (len(WEIGHTS), N, targets.shape[1])
    assert left_out.shape == (len(WEIGHTS), len(ROWS), targets.shape[1])
    for weight, decision, out in zip(absolute, decisions, left_out, strict=True):
        wanted, wanted_out = answers(matrix, k, weight, targets)
        assert relative_error(decision, wanted) <= AGREES
        assert np.linalg.norm(out - wanted_out) <= AGREES * np.linalg.norm(wanted[ROWS])


@pytest.mark.parametrize("known", [None, krylov], ids=["from nothing", "from a Krylov space"])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_answers_at_all_weights_are_those_of_the_formula(matrix, targets, k, known):
    bound = 1 / matrix[1][0][k]
    known = None if known is None else known(matrix)
    space = label_space(deflated(matrix, k), ROWS, 0.999 * bound, RTOL, known)
    assert_answers(space, matrix, k, bound, targets)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_the_whole_spectrum_is_such_a_space(matrix, targets, k):
    values, vectors = matrix[1]
    space = LabelSpace.of_spectrum(Spectrum(values, vectors, np.zeros(N)), k, ROWS)
    assert_answers(space, matrix, k, 1 / values[k], targets)


def test_the_space_is_orthonormal_and_holds_what_it_says(matrix):
    bound = 1 / matrix[1][0][1]
    operator = deflated(matrix, 1)
    space = label_space(operator, ROWS, 0.9 * bound, RTOL, krylov(matrix))
    K = operator.to_dense()
    U = space.vectors
    np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-12)
    np.testing.assert_allclose(U.T @ K @ U, np.diag(space.values), atol=1e-9)
    np.testing.assert_allclose(space.pushed, U.T @ K[:, ROWS], atol=1e-12)
    np.testing.assert_allclose(space.own, K[np.ix_(ROWS, ROWS)], atol=1e-12)


class Counting(DenseOperator):
    def matmat(self, block):
        self.log.n_products += 1
        return super().matmat(block)


def test_a_looser_tolerance_takes_fewer_products(matrix):
    bound = 1 / matrix[1][0][1]
    counts = []
    for rtol in (1e-3, 1e-10):
        operator = deflated(matrix, 1, Counting)
        label_space(operator, ROWS, 0.99 * bound, rtol, None)
        counts.append(operator.base.log.n_products)
    assert counts[0] < counts[1]


def test_what_is_known_saves_products(matrix):
    bound = 1 / matrix[1][0][1]
    counts = []
    for known in (None, krylov(matrix, n_blocks=5)):
        operator = deflated(matrix, 1, Counting)
        label_space(operator, ROWS, 0.99 * bound, 1e-6, known)
        counts.append(operator.base.log.n_products)
    assert counts[1] < counts[0]


def test_the_known_space_is_left_as_it_was(matrix):
    known = krylov(matrix)
    before = known.basis.copy(), known.images.copy()
    label_space(deflated(matrix, 1), ROWS, 0.9 / matrix[1][0][1], RTOL, known)
    np.testing.assert_array_equal(known.basis, before[0])
    np.testing.assert_array_equal(known.images, before[1])


def test_a_space_that_grows_too_large_is_given_up():
    # Fifty labels among eighty rows: the whole spectrum is no more work.
    K = np.random.default_rng(3).normal(size=(80, 80))
    K = K @ K.T
    operator = DeflatedOperator(DenseOperator(K), np.empty(0), np.empty((80, 0)))
    assert label_space(operator, np.arange(50), 0.5 / np.linalg.eigvalsh(K)[-1], RTOL, None) is None


@pytest.mark.parametrize("rows", [ROWS[:1], ROWS[[0, 0, 1]]], ids=["one row", "a row twice"])
def test_dependent_columns_do_no_harm(matrix, rows):
    bound = 1 / matrix[1][0][1]
    space = label_space(deflated(matrix, 1), rows, 0.9 * bound, RTOL, None)
    targets = np.ones((len(rows), 1))
    K, pairs = matrix
    units = np.zeros((N, 1))
    np.add.at(units, rows, 1)
    alpha, projected, _ = algorithm_1(K, units, 1, 0.9 * bound, pairs)
    found = space.decisions(targets, np.array([0.9 * bound]))[0]
    assert relative_error(found, projected @ alpha) <= AGREES


def test_rows_without_any_link_have_no_answer_beside_their_own():
    # A row that no other is like: its column of K′ is a multiple of a unit vector, and nothing leads out of it.
    K = np.eye(40)
    K[1:, 1:] += 1
    operator = DeflatedOperator(DenseOperator(K), np.empty(0), np.empty((40, 0)))
    space = label_space(operator, np.array([0]), 0.02, RTOL, None)
    decision = space.decisions(np.ones((1, 1)), np.array([0.02]))[0, :, 0]
    np.testing.assert_allclose(decision, np.eye(40)[0] * 0.02 / 0.98, atol=1e-15)
    np.testing.assert_array_equal(space.left_out(np.ones((1, 1)), np.array([0.02])), 0)
