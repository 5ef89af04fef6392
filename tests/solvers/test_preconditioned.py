"""Preconditioned solves without a stored matrix, against dense systems of NumPy's in double precision."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from semikpca.kernels import RBF, Laplacian, Normalized
from semikpca.operators import OperatorFacts, ShiftedOperator, Storage, make_operator
from semikpca.solvers import NystroemPreconditioner, PreconditionedGradients, Status, choose_landmarks

RTOL = 1e-6
# A residual that is stated may be off by what a sample of rows says of rounding.
STATED = 1.5
# Where the bound on it is below the tolerance, rounding is not looked at; what is seen of it is far less.
UNSEEN = 0.1
# P and its inverse, through normal equations that lose half of the digits.
INVERSE_TOLERANCE = 1e-5
N = 700


@pytest.fixture(name="X")
def rows(rng):
    return rng.normal(size=(N, 4))


@pytest.fixture(name="targets")
def two_columns(rng):
    return np.sign(rng.normal(size=(N, 2)))


def prepared(operator, weight, *, centered=False, n_landmarks=200, rtol=RTOL, max_iter=2000):
    system = ShiftedOperator(operator, 1 / weight, 1)
    landmarks = NystroemPreconditioner(operator, 1 / weight, n_landmarks, centered=centered).prepare()
    condition = 1 + weight * operator.n
    return PreconditionedGradients(system, rtol, max_iter, condition, landmarks, centered=centered)


def residual(K, weight, solution, targets, centered):
    left = targets - K @ solution.values - solution.values / weight
    if centered:
        left = left - left.mean(axis=0)
    return (np.linalg.norm(left, axis=0) / np.linalg.norm(targets, axis=0)).max()


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weight", [1e-3, 1.0, 1e2, 1e4, 1e6])
def test_the_true_residual_is_below_the_tolerance_and_is_the_one_that_is_stated(X, targets, dtype, weight, centered):
    K = rbf_kernel(X, gamma=0.1)
    solution = prepared(make_operator(RBF(0.1), X, "blocked", dtype), weight, centered=centered).solve(targets)
    true = residual(K, weight, solution, targets, centered)
    assert solution.status is Status.SOLVED
    assert true <= RTOL
    assert true <= STATED * solution.residual + UNSEEN * RTOL
    np.testing.assert_allclose(solution.product, K @ solution.values, atol=STATED * RTOL * np.sqrt(N))
    if centered:
        np.testing.assert_allclose(solution.values.sum(axis=0), 0, atol=1e-9 * np.abs(solution.values).sum())


@pytest.mark.parametrize("backend", ["blocked", "torch"])
def test_tensors_and_arrays_have_the_same_answer(X, targets, backend):
    if backend == "torch":
        pytest.importorskip("torch")
    operator = make_operator(RBF(0.1), X, backend)
    solution = prepared(operator, 100.0).solve(operator.block(targets))
    expected = np.linalg.solve(rbf_kernel(X, gamma=0.1) + np.eye(N) / 100, targets)
    # A residual of RTOL, times the largest eigenvalue of the inverse over the size of the answer.
    np.testing.assert_allclose(np.asarray(solution.values), expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("kernel", "matrix"),
    [
        (RBF(50.0), lambda X: rbf_kernel(X, gamma=50.0)),
        (Laplacian(0.3), lambda X: laplacian_kernel(X, gamma=0.3)),
        (Normalized(RBF(0.1)), None),
    ],
    ids=["next to the identity", "slow decay", "normalized"],
)
def test_hard_spectra_are_solved_too(X, targets, kernel, matrix):
    kernel = kernel.fit(X)
    if matrix is None:
        values = rbf_kernel(X, gamma=0.1)
        degrees = values.sum(axis=1)
        K = values / np.sqrt(np.outer(degrees, degrees))
    else:
        K = matrix(X)
    solution = prepared(make_operator(kernel, X, "blocked"), 100.0).solve(targets)
    assert residual(K, 100.0, solution, targets, centered=False) <= RTOL


def test_equal_rows_among_the_landmarks_are_dropped_and_change_no_answer(X, targets):
    X = np.repeat(X[:70], 10, axis=0)
    operator = make_operator(RBF(0.1), X, "blocked")
    solver = prepared(operator, 100.0, n_landmarks=300)
    assert solver.preconditioner.n_landmarks <= 70
    assert residual(rbf_kernel(X, gamma=0.1), 100.0, solver.solve(targets), targets, centered=False) <= RTOL


@pytest.mark.parametrize("weight", [1.0, 100.0])
@pytest.mark.parametrize("centered", [False, True])
def test_the_preconditioner_is_the_inverse_of_what_the_landmarks_show(X, targets, weight, centered):
    operator = make_operator(RBF(0.5), X, "blocked")
    found = NystroemPreconditioner(operator, 1 / weight, 60, centered=centered).prepare()
    assert found.n_landmarks == 60  # a bandwidth at which all of them are needed
    chosen = np.sort(np.random.default_rng(0).choice(N, 60, replace=False))
    C = rbf_kernel(X, X[chosen], gamma=0.5)
    if centered:
        C, targets = C - C.mean(axis=0), targets - targets.mean(axis=0)
    P = C @ np.linalg.solve(rbf_kernel(X[chosen], gamma=0.5), C.T) + np.eye(N) / weight
    expected = np.linalg.solve(P, targets)
    np.testing.assert_allclose(found.solve(targets), expected, atol=INVERSE_TOLERANCE * np.abs(expected).max())


def test_what_landmarks_do_not_explain_is_the_share_of_the_diagonal(X):
    few = NystroemPreconditioner(make_operator(RBF(0.5), X, "blocked"), 0.01, 60, centered=False)
    chosen = np.sort(np.random.default_rng(0).choice(N, 60, replace=False))
    C, W = rbf_kernel(X, X[chosen], gamma=0.5), rbf_kernel(X[chosen], gamma=0.5)
    expected = 1 - np.einsum("ij,ij->i", C @ np.linalg.inv(W), C).mean()
    # Of 256 rows out of 700, whose shares have a standard deviation of about 0.3.
    assert few.unexplained == pytest.approx(expected, abs=0.05)
    assert not NystroemPreconditioner(make_operator(RBF(500.0), X, "blocked"), 0.01, 60, centered=False).pays


def test_landmarks_save_steps(X, targets):
    operator = make_operator(RBF(0.1), X, "blocked")
    plain = PreconditionedGradients(ShiftedOperator(operator, 0.01, 1), RTOL, 5000, 1 + 100 * N)
    assert prepared(operator, 100.0).solve(targets).n_iter * 5 < plain.solve(targets).n_iter


def test_a_solve_that_is_cut_says_so(X, targets):
    solution = prepared(make_operator(RBF(2.0), X, "blocked"), 1e4, n_landmarks=20, max_iter=2).solve(targets)
    assert solution.status is Status.NOT_CONVERGED
    assert solution.n_iter == 2
    assert solution.residual > RTOL


def test_rounding_that_hides_the_answer_is_said(X, targets):
    single = make_operator(RBF(0.1), X.astype(np.float32), "blocked")
    solution = prepared(single, 1e6).solve(targets.astype(np.float32))
    assert solution.status is Status.ROUNDED
    K = rbf_kernel(X.astype(np.float32).astype(float), gamma=0.1)
    assert residual(K, 1e6, solution, targets, centered=False) > RTOL


def test_targets_that_the_bias_explains_take_no_step(X):
    solution = prepared(make_operator(RBF(0.1), X, "blocked"), 10.0, centered=True).solve(np.ones((N, 1)))
    assert not solution.values.any()


@pytest.mark.parametrize(
    ("storage", "n", "steps", "budget", "expected"),
    [
        (Storage.NOTHING, 10_000, 1000, 2**30, 800),
        (Storage.NOTHING, 10_000, 20, 2**30, 0),  # few steps
        (Storage.NOTHING, 10_000, 1000, 8 * 10_000 * 50, 50),  # little memory
        (Storage.NOTHING, 30, 1000, 2**30, 30),  # few rows
        (Storage.ENTRIES, 10_000, 1000, 2**30, 0),
        (Storage.SPARSE_FACTOR, 10_000, 1000, 2**30, 0),
    ],
)
def test_the_number_of_landmarks_follows_from_sizes(storage, n, steps, budget, expected):
    facts = OperatorFacts(product_cost=1.0, precision=1e-6, product_error=1e-6, storage=storage)
    assert choose_landmarks(facts, n, steps, 8, budget) == expected
