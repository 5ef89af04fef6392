"""Conjugate gradients that begin inside a known subspace, against numpy.linalg.solve."""

import numpy as np
import pytest

from semikpca.operators import DenseOperator, Subspace
from semikpca.solvers import AdaptiveSolver, ConjugateGradients, Status

RTOL = 1e-12
# Condition numbers are 1e3 or less: three digits fewer than the residual has.
AGREES = 1e-8

N = 80


def system_with(condition_number, dtype=np.float64, seed=0):
    """A symmetric positive definite matrix with eigenvalues from 1 to the condition number, and its eigenvectors."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(N, N)))[0]
    values = np.geomspace(1, condition_number, N)
    A = (Q * values) @ Q.T
    return ((A + A.T) / 2).astype(dtype), Q, values


class Counting(DenseOperator):
    """A stored matrix that counts its products, and the columns in them."""

    def matmat(self, block):
        self.log.n_products += 1
        self.n_columns = getattr(self, "n_columns", 0) + block.shape[1]
        return super().matmat(block)


def subspace_of(A, columns, n_last=1):
    basis = np.linalg.qr(columns)[0].astype(A.dtype)
    return Subspace(basis, A @ basis, n_last)


def exact(A, Q):
    return subspace_of(A, Q[:, -6:])


def inexact(A, Q):
    noise = np.random.default_rng(5).normal(size=(N, 6))
    return subspace_of(A, Q[:, -6:] + 1e-3 * noise)


def any_space(A, Q):
    return subspace_of(A, np.random.default_rng(6).normal(size=(N, 10)))


def one_column(A, Q):
    return subspace_of(A, np.ones((N, 1)))


def nearly_all(A, Q):
    return subspace_of(A, np.random.default_rng(7).normal(size=(N, N - 1)))


def no_column(A, Q):
    return Subspace(np.empty((N, 0)), np.empty((N, 0)), 0)


SPACES = [exact, inexact, any_space, one_column, nearly_all, no_column]


def targets_of(n_columns, seed=1):
    return np.random.default_rng(seed).normal(size=(N, n_columns))


@pytest.mark.parametrize("n_columns", [1, 3, 12])
@pytest.mark.parametrize("condition_number", [2.0, 1e3])
@pytest.mark.parametrize("space", SPACES)
def test_the_solution_is_that_of_numpy(space, condition_number, n_columns):
    A, Q, _ = system_with(condition_number)
    targets = targets_of(n_columns)
    solution = ConjugateGradients(DenseOperator(A), RTOL, 1000, space(A, Q)).solve(targets)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.values, np.linalg.solve(A, targets), rtol=0, atol=AGREES)


@pytest.mark.parametrize("space", SPACES)
def test_the_stated_residual_is_true(space):
    A, Q, _ = system_with(100.0)
    targets = targets_of(4)
    solution = ConjugateGradients(DenseOperator(A), 1e-6, 1000, space(A, Q)).solve(targets)
    found = np.linalg.norm(targets - A @ solution.values, axis=0) / np.linalg.norm(targets, axis=0)
    # Residuals are carried along rather than computed anew, which costs rounding only.
    assert found.max() == pytest.approx(solution.residual, rel=1e-4, abs=1e-12)
    assert solution.residual <= 1e-6


@pytest.mark.parametrize("space", SPACES)
def test_single_precision_keeps_the_digits_that_it_has(space):
    A, Q, _ = system_with(10.0, np.float32)
    targets = targets_of(3).astype(np.float32)
    subspace = space(A, Q)
    subspace = Subspace(*(part.astype(np.float32) for part in (subspace.basis, subspace.images)), subspace.n_last)
    solution = ConjugateGradients(DenseOperator(A), 1e-5, 1000, subspace).solve(targets)
    assert solution.values.dtype == np.float32
    wanted = np.linalg.solve(A.astype(float), targets.astype(float))
    # A residual of 1e-5 and a condition number of 10.
    assert np.linalg.norm(solution.values - wanted) <= 1e-4 * np.linalg.norm(wanted)


@pytest.mark.parametrize("space", SPACES)
def test_a_column_of_zeros_has_the_solution_zero_and_spoils_no_other(space):
    A, Q, _ = system_with(100.0)
    targets = targets_of(3)
    targets[:, 1] = 0
    solution = ConjugateGradients(DenseOperator(A), RTOL, 1000, space(A, Q)).solve(targets)
    assert (solution.values[:, 1] == 0).all()
    np.testing.assert_allclose(solution.values, np.linalg.solve(A, targets), rtol=0, atol=AGREES)


@pytest.mark.parametrize("space", SPACES)
def test_no_columns_have_no_solutions(space):
    A, Q, _ = system_with(100.0)
    solution = ConjugateGradients(DenseOperator(A), RTOL, 1000, space(A, Q)).solve(np.empty((N, 0)))
    assert solution.values.shape == (N, 0)
    assert solution.status is Status.SOLVED


def test_what_lies_in_the_space_is_solved_without_a_product():
    A, Q, values = system_with(100.0)
    operator = Counting(A)
    targets = Q[:, -3:] * [1.0, -2.0, 0.5]
    solution = ConjugateGradients(operator, 1e-10, 1000, exact(A, Q)).solve(targets)
    assert operator.log.n_products == 0
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.values, targets / values[-3:], rtol=0, atol=AGREES)


@pytest.mark.parametrize("space", [exact, inexact])
def test_the_largest_eigenvalues_cost_no_steps_once_they_are_known(space):
    # Six eigenvalues far above all others: without them the condition number is 2.
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(N, N)))[0]
    values = np.concatenate([np.geomspace(1, 2, N - 6), np.geomspace(1e3, 1e4, 6)])
    A = (Q * values) @ Q.T
    targets = targets_of(2)
    plain, known = (
        ConjugateGradients(DenseOperator(A), 1e-8, 1000, subspace).solve(targets) for subspace in (None, space(A, Q))
    )
    assert known.n_iter < plain.n_iter
    # Chebyshev's bound for a condition number of 2 and eight digits.
    assert known.n_iter <= np.ceil(0.5 * np.sqrt(2) * np.log(2e8)) + 1
    np.testing.assert_allclose(known.values, np.linalg.solve(A, targets), rtol=0, atol=1e-6)


def test_targets_and_space_are_left_as_they_were():
    A, Q, _ = system_with(100.0)
    space, targets = inexact(A, Q), targets_of(3)
    before = [array.copy() for array in (space.basis, space.images, targets)]
    ConjugateGradients(DenseOperator(A), RTOL, 1000, space).solve(targets)
    for array, kept in zip((space.basis, space.images, targets), before, strict=True):
        np.testing.assert_array_equal(array, kept)


def test_too_few_steps_are_admitted():
    A, Q, _ = system_with(1e3)
    solution = ConjugateGradients(DenseOperator(A), RTOL, 2, inexact(A, Q)).solve(targets_of(3))
    assert solution.status is Status.NOT_CONVERGED
    assert solution.residual > RTOL


def test_the_adaptive_solver_hands_the_space_on():
    A, Q, values = system_with(3.0)
    operator = Counting(A)
    solver = AdaptiveSolver(operator, 3.0, 1e-8, None, exact(A, Q))
    solution = solver.solve(Q[:, -1:])
    assert operator.log.n_products == 0
    np.testing.assert_allclose(solution.values, Q[:, -1:] / values[-1], rtol=0, atol=AGREES)
