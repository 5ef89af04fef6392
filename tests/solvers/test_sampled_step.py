"""The last step of conjugate gradients without its product: what a sample of rows says, against all rows."""

import numpy as np
import pytest

import semikpca.solvers._sampled_step as sampled
from oracles import large_rbf
from semikpca.kernels import RBF
from semikpca.operators import BlockedOperator, DeflatedOperator, DenseOperator, ShiftedOperator, Subspace
from semikpca.solvers import ConjugateGradients, Status
from semikpca.solvers._sampled_step import sampled_step

N, GAMMA = 1_500, 0.05


@pytest.fixture(scope="module")
def rows():
    rows = np.random.default_rng(0).normal(size=(N, 4))
    rows.setflags(write=False)
    return rows


@pytest.fixture(scope="module")
def matrix(rows):
    return large_rbf(rows, rows, GAMMA)


@pytest.fixture(scope="module")
def pairs(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return values[::-1], vectors[:, ::-1]


@pytest.fixture
def system(rows, pairs):
    """I/γ − K′ with the first component removed and γ in the middle of its interval."""
    values, vectors = pairs
    deflated = DeflatedOperator(BlockedOperator(RBF(GAMMA), rows), values[:1], vectors[:, :1])
    return ShiftedOperator(deflated, float(np.sqrt(values[0] * values[1])), sign=-1)


@pytest.fixture
def dense(matrix, pairs, system):
    values, vectors = pairs
    return system.shift * np.eye(N) - matrix + values[0] * np.outer(vectors[:, 0], vectors[:, 0])


def residuals_of(n_columns, seed=1):
    return np.random.default_rng(seed).normal(size=(N, n_columns))


def after(dense, residual, direction, step):
    return ((residual - step * (dense @ direction)) ** 2).sum(axis=0)


@pytest.mark.parametrize("n_columns", [1, 5])
def test_the_norms_of_a_sample_are_those_of_all_rows_but_for_chance(system, dense, n_columns):
    residual = residuals_of(n_columns)
    step = np.full(n_columns, 0.5 / system.shift)
    wanted = after(dense, residual, residual, step)
    seen = sampled_step(system, residual, residual, step, 1e3 * wanted)
    # 64 squares of normal numbers stand for the 1,436 others: their sum is off by sqrt(2 / 64) = 18%, here up to 3σ.
    np.testing.assert_allclose(seen, wanted, rtol=0.55)


def test_what_is_left_in_a_few_rows_is_seen_to_all_digits(system):
    """A random sample of 64 rows would miss them eleven times out of twelve."""
    residual = np.zeros((N, 1))
    residual[700:702] = [[2.0], [-1.0]]
    direction, step = np.zeros((N, 1)), np.ones(1)
    seen = sampled_step(system, residual, direction, step, np.array([1e3]))
    np.testing.assert_allclose(seen, 5.0, rtol=1e-12)


@pytest.mark.parametrize(("allowed", "is_taken"), [(0.9, False), (1.5, False), (3.5, True), (100.0, True)])
def test_a_step_is_taken_only_where_half_of_the_goal_is_reached(system, dense, allowed, is_taken):
    residual, step = residuals_of(1), np.array([0.5 / system.shift])
    norm = np.sqrt(after(dense, residual, residual, step))
    seen = sampled_step(system, residual, residual, step, (allowed * norm) ** 2)
    assert (seen is not None) == is_taken


def test_one_column_that_is_not_done_is_enough_to_go_on(system, dense):
    residual, step = residuals_of(2), np.full(2, 0.5 / system.shift)
    goals = after(dense, residual, residual, step) * [100.0, 0.01]
    assert sampled_step(system, residual, residual, step, goals) is None


def test_where_a_few_rows_cost_as_much_as_all_there_is_no_sample(matrix, system):
    stored = ShiftedOperator(DenseOperator(matrix), system.shift, sign=-1)
    residual = residuals_of(1)
    assert sampled_step(stored, residual, residual, np.ones(1), np.array([1e9])) is None


def test_of_few_rows_there_is_no_sample(rows):
    system = BlockedOperator(RBF(GAMMA), rows[: sampled._FEWEST_ROWS - 1])
    residual = residuals_of(1)[: system.n]
    assert sampled_step(system, residual, residual, np.ones(1), np.array([1e9])) is None


# -- in a solve ------------------------------------------------------------------------------------------------------


def known_of(dense, pairs, m=10):
    basis = pairs[1][:, :m]
    return Subspace(basis, dense @ basis, 1)


@pytest.mark.parametrize("n_columns", [1, 4])
@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
def test_a_solve_saves_its_last_product_and_keeps_its_tolerance(system, dense, pairs, monkeypatch, n_columns, rtol):
    targets = dense[:, :n_columns] - system.shift * np.eye(N)[:, :n_columns]
    solver = ConjugateGradients(system, rtol, 100, known_of(dense, pairs))
    base = system.base.base
    found = solver.solve(targets)
    n_products, base.log.n_products = base.log.n_products, 0
    left = np.linalg.norm(targets - dense @ found.values, axis=0) / np.linalg.norm(targets, axis=0)
    assert found.status is Status.SOLVED
    assert left.max() <= rtol
    assert found.residual <= rtol
    monkeypatch.setattr(sampled, "_FEWEST_ROWS", N + 1)
    plain = solver.solve(targets)
    assert base.log.n_products == n_products + 1
    np.testing.assert_allclose(found.values, plain.values, atol=10 * rtol * np.abs(plain.values).max())


def test_a_solve_far_from_its_goal_makes_all_its_products(system, dense, pairs, monkeypatch):
    """Without a known space a step leaves too much for the next one to be the last."""
    asked = []
    monkeypatch.setattr(type(system), "product_at", lambda *given: asked.append(given))
    targets = residuals_of(1)
    found = ConjugateGradients(system, 1e-10, 3).solve(targets)
    assert found.status is Status.NOT_CONVERGED
    assert not asked
