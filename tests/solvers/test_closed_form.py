"""Direct solves in the dimension of the features, against NumPy's on the whole matrix."""

import numpy as np
import pytest

from oracles import relative_error
from semikpca.kernels import RBF, Linear, Nystroem
from semikpca.operators import DeflatedOperator, DenseOperator, ShiftedOperator, make_operator
from semikpca.solvers import AdaptiveSolver, ClosedForm, Status

# Systems with a condition number of up to 1e3.
ROUNDING = {np.float64: 1e-10, np.float32: 2e-3}

generator = np.random.default_rng(11)
ROWS = generator.normal(size=(90, 3)) * [1.5, 1.0, 0.7]

every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def low_rank_operator(dtype=np.float64):
    rows = ROWS.astype(dtype)
    return make_operator(Nystroem(RBF(gamma=0.3), 15, random_state=0).fit(rows), rows, "low-rank")


def system_and_matrix(operator, n_removed, relative_weight, sign):
    """The system of Semi-KPCA (sign −1) or LS-SVM (sign +1), and the same as a matrix, by NumPy."""
    K = operator.to_dense().astype(float)
    values, vectors = (part[..., ::-1] for part in np.linalg.eigh(K))
    removed = values[:n_removed], vectors[:, :n_removed]
    base = DeflatedOperator(operator, *(part.astype(operator.dtype) for part in removed)) if n_removed else operator
    shift = values[n_removed] / relative_weight
    deflated = K - (removed[1] * removed[0]) @ removed[1].T
    return ShiftedOperator(base, shift, sign), shift * np.eye(len(K)) + sign * deflated, deflated


@every_dtype
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("n_removed", [0, 1, 3])
@pytest.mark.parametrize("relative_weight", [0.01, 0.7, 0.999])
def test_solutions_are_those_of_the_whole_matrix(dtype, sign, n_removed, relative_weight):
    system, matrix, deflated = system_and_matrix(low_rank_operator(dtype), n_removed, relative_weight, sign)
    solver = ClosedForm(system.inverse())
    targets = generator.normal(size=(90, 2)).astype(dtype)

    solution = solver.solve(targets)

    wanted = np.linalg.solve(matrix, targets.astype(float))
    assert solution.values.dtype == dtype
    assert relative_error(solution.values, wanted) < ROUNDING[dtype]
    assert relative_error(solution.product, deflated @ wanted) < ROUNDING[dtype]
    assert (solution.status, solution.n_iter) == (Status.SOLVED, 1)
    at = np.array([4, 80])
    assert relative_error(solver.inverse_diagonal(at), np.diagonal(np.linalg.inv(matrix))[at]) < ROUNDING[dtype]


def test_few_targets_are_solved_as_many_are():
    system, matrix, _ = system_and_matrix(low_rank_operator(), 1, 0.7, -1)
    targets = np.zeros((90, 1))
    targets[[3, 50]] = [[1.0], [-1.0]]
    assert relative_error(ClosedForm(system.inverse()).solve(targets).values, np.linalg.solve(matrix, targets)) < 1e-10


def test_the_adaptive_solver_takes_it_where_it_can():
    operator = low_rank_operator()
    system, matrix, _ = system_and_matrix(operator, 1, 0.7, -1)
    solver = AdaptiveSolver(system, 3.0, 1e-3)
    targets = generator.normal(size=(90, 2))
    # The tolerance would allow for far less.
    assert relative_error(solver.solve(targets, rtol=1e-2).values, np.linalg.solve(matrix, targets)) < 1e-10
    assert solver.inverse_diagonal(np.array([2])) is not None
    assert solver.inverse_diagonal(np.array([], dtype=int)).shape == (0,)


def test_other_systems_are_left_to_others():
    dense = DenseOperator(np.eye(5))
    for system in (dense, ShiftedOperator(dense, 2.0, sign=1), low_rank_operator()):
        assert system.inverse() is None
    assert AdaptiveSolver(ShiftedOperator(dense, 2.0, sign=1), 2.0, 1e-3).inverse_diagonal(np.array([0])) is None


def test_a_tiny_own_response_keeps_its_digits_in_single_precision():
    rows = generator.normal(size=(20_000, 2)).astype(np.float32)
    operator = make_operator(Linear(), rows, "low-rank")
    shift = 2 * float(operator.gram_spectrum[0][0])
    own = ShiftedOperator(operator, shift, sign=-1).inverse().diagonal(np.arange(50)) * shift - 1
    G = rows.astype(float).T @ rows
    wanted = np.einsum("ij,jk,ik->i", rows[:50], np.linalg.inv(np.float32(shift) * np.eye(2) - G), rows[:50])
    np.testing.assert_allclose(own, wanted, rtol=1e-3)
    assert wanted.max() < 1e-3
