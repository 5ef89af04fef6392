"""A solver that is told how many columns will come makes a factor where that pays for all of them."""

import numpy as np
import pytest

from oracles import relative_error
from semikpca.kernels import NeighborGraph
from semikpca.operators import ShiftedOperator, make_operator
from semikpca.solvers import AdaptiveSolver

X = np.random.default_rng(0).normal(size=(400, 3))
SHIFT = 1.2  # the largest eigenvalue of a graph is 1, and so the condition number at most 6


@pytest.fixture
def solver():
    operator = make_operator(NeighborGraph(5).fit(X), X, "sparse")
    return AdaptiveSolver(ShiftedOperator(operator, SHIFT, sign=-1), 6.0, 1e-10)


def test_few_columns_are_solved_by_steps_and_many_by_a_factor(solver):
    columns = np.eye(400)[:, :2]
    solver.expect(2)
    by_steps = solver.solve(columns)
    assert by_steps.n_iter > 1
    solver.expect(100_000)
    by_factor = solver.solve(columns)
    assert by_factor.n_iter == 1
    assert relative_error(by_steps.values, by_factor.values) < 1e-9


def test_a_factor_is_kept_when_few_columns_come_again(solver):
    solver.expect(100_000)
    solver.expect(1)
    assert solver.solve(np.eye(400)[:, :1]).n_iter == 1
