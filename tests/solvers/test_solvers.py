"""One contract for all solvers, against numpy.linalg.solve. A new solver adds one line to ``SOLVERS``."""

from dataclasses import replace

import numpy as np
import pytest

from semikpca.operators import DenseOperator, OperatorFacts, ShiftedOperator, Storage
from semikpca.solvers import AdaptiveSolver, Cholesky, ConjugateGradients, Status
from semikpca.solvers._choice import COLUMNS_A_GROUP, Method, choose_method, direct_is_cheaper, expected_iterations

RTOL = 1e-12
# The systems below have condition numbers up to a thousand: three digits fewer than the residual has.
TOLERANCE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-2}
# A residual that is stated must be true up to what rounding adds behind the solver's back.
RESIDUAL_TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-3}

# Two answers in double precision to a system whose condition number is 30 or less.
AGREES = 1e-9

N = 60


def system_with(condition_number, dtype=np.float64, n=N, seed=0):
    """A symmetric positive definite matrix with eigenvalues from 1 to the condition number."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    K = (Q * np.geomspace(condition_number, 1.0, n)) @ Q.T
    return ((K + K.T) / 2).astype(dtype)


class OneCore(ShiftedOperator):
    """The same matrix, with products that are not threaded."""

    def __init__(self, base):
        super().__init__(base, 0.0, sign=1)
        self.facts = replace(self.facts, uses_one_core=True)


# Name and how to prepare the solver for a system of a known condition number.
SOLVERS = [
    ("Cholesky", lambda system, condition: Cholesky(system)),
    ("conjugate gradients", lambda system, condition: ConjugateGradients(system, RTOL, max_iter=1000)),
    ("adaptive", lambda system, condition: AdaptiveSolver(system, condition, RTOL)),
    # Told that the system is perfect, it does not turn to a factorization of its own accord.
    ("adaptive, iterating", lambda system, condition: AdaptiveSolver(system, 1e-6, RTOL, max_iter=1000)),
    ("in groups", lambda system, condition: AdaptiveSolver(OneCore(system), 1e-6, RTOL, max_iter=1000)),
]

with_every_solver = pytest.mark.parametrize("prepare", [pytest.param(make, id=name) for name, make in SOLVERS])


@pytest.fixture(params=[1.5, 30.0, 1000.0], ids=lambda condition: f"condition {condition:g}")
def condition(request):
    return request.param


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def dtype(request):
    return request.param


# -- the contract ------------------------------------------------------------------------------------------------


@with_every_solver
@pytest.mark.parametrize("n_columns", [1, 3, 70])
def test_the_solution_is_that_of_numpy(prepare, condition, dtype, n_columns):
    A = system_with(condition, dtype)
    targets = np.random.default_rng(1).normal(size=(N, n_columns)).astype(dtype)
    solution = prepare(DenseOperator(A), condition).solve(targets)
    expected = np.linalg.solve(A.astype(np.float64), targets)
    assert solution.values.shape == (N, n_columns)
    assert solution.values.dtype == dtype
    np.testing.assert_allclose(
        solution.values, expected, atol=TOLERANCE[np.dtype(dtype)] * np.abs(expected).max(), rtol=0
    )
    assert solution.status is Status.SOLVED
    assert solution.n_iter >= 1


@with_every_solver
def test_the_stated_residual_is_true(prepare, condition, dtype):
    A = system_with(condition, dtype)
    targets = np.random.default_rng(2).normal(size=(N, 3)).astype(dtype)
    solution = prepare(DenseOperator(A), condition).solve(targets)
    residuals = targets - A.astype(np.float64) @ solution.values
    relative = np.linalg.norm(residuals, axis=0) / np.linalg.norm(targets, axis=0)
    assert relative.max() <= solution.residual + RESIDUAL_TOLERANCE[np.dtype(dtype)]


@with_every_solver
def test_a_column_of_zeros_has_the_solution_zero(prepare):
    A = system_with(30.0)
    targets = np.zeros((N, 3))
    targets[:, 1] = np.random.default_rng(3).normal(size=N)
    solution = prepare(DenseOperator(A), 30.0).solve(targets)
    assert (solution.values[:, [0, 2]] == 0).all()
    np.testing.assert_allclose(solution.values[:, 1], np.linalg.solve(A, targets[:, 1]), atol=AGREES)
    assert solution.status is Status.SOLVED


@with_every_solver
def test_nothing_but_zeros_is_solved_at_once(prepare):
    solution = prepare(DenseOperator(system_with(30.0)), 30.0).solve(np.zeros((N, 2)))
    assert (solution.values == 0).all()
    assert solution.status is Status.SOLVED
    assert solution.residual == 0
    assert np.isfinite(solution.values).all()


@with_every_solver
def test_no_columns_have_no_solutions(prepare):
    solution = prepare(DenseOperator(system_with(30.0)), 30.0).solve(np.empty((N, 0)))
    assert solution.values.shape == (N, 0)
    assert solution.status is Status.SOLVED


@with_every_solver
def test_columns_of_very_different_size_are_solved_alike(prepare):
    A = system_with(30.0)
    targets = np.random.default_rng(4).normal(size=(N, 3)) * [1e-8, 1.0, 1e8]
    values = prepare(DenseOperator(A), 30.0).solve(targets).values
    expected = np.linalg.solve(A, targets)
    sizes = np.abs(expected).max(axis=0)
    np.testing.assert_allclose(values / sizes, expected / sizes, atol=AGREES)


@with_every_solver
def test_the_targets_are_left_as_they_were(prepare):
    targets = np.random.default_rng(5).normal(size=(N, 2))
    before = targets.copy()
    prepare(DenseOperator(system_with(30.0)), 30.0).solve(targets)
    np.testing.assert_array_equal(targets, before)


@with_every_solver
def test_the_matrix_is_left_as_it_was(prepare):
    A = system_with(30.0)
    before = A.copy()
    prepare(DenseOperator(A), 30.0).solve(np.ones((N, 1)))
    np.testing.assert_array_equal(A, before)


@with_every_solver
def test_one_preparation_serves_many_solves(prepare):
    A = system_with(30.0)
    solver = prepare(DenseOperator(A), 30.0)
    for seed in range(3):
        targets = np.random.default_rng(seed).normal(size=(N, 2))
        np.testing.assert_allclose(solver.solve(targets).values, np.linalg.solve(A, targets), atol=AGREES)


@with_every_solver
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_systems_of_the_paper_are_solved(prepare, sign):
    rows = np.random.default_rng(6).normal(size=(N, 4))
    K = rows @ rows.T
    shift = 1.25 * np.linalg.eigvalsh(K)[-1]
    targets = np.zeros((N, 1))
    targets[:2, 0] = [1, -1]
    solution = prepare(ShiftedOperator(DenseOperator(K), shift, sign), 5.0).solve(targets)
    expected = np.linalg.solve(shift * np.eye(N) + sign * K, targets)
    np.testing.assert_allclose(solution.values, expected, atol=AGREES * np.abs(expected).max())


# -- conjugate gradients -----------------------------------------------------------------------------------------


def test_too_few_steps_are_admitted():
    A = system_with(1000.0)
    targets = np.random.default_rng(7).normal(size=(N, 2))
    solution = ConjugateGradients(DenseOperator(A), RTOL, max_iter=3).solve(targets)
    assert solution.status is Status.NOT_CONVERGED
    assert solution.n_iter == 3
    residuals = np.linalg.norm(targets - A @ solution.values, axis=0) / np.linalg.norm(targets, axis=0)
    assert solution.residual == pytest.approx(residuals.max(), rel=AGREES)
    assert solution.residual > RTOL


def test_one_hard_column_is_enough_to_be_not_converged():
    A = system_with(1000.0)
    values, vectors = np.linalg.eigh(A)
    targets = np.column_stack([vectors[:, 0], np.random.default_rng(8).normal(size=N)])
    # An eigenvector is solved in one step; the other column is not.
    solution = ConjugateGradients(DenseOperator(A), 1e-6, max_iter=2).solve(targets)
    assert solution.status is Status.NOT_CONVERGED
    np.testing.assert_allclose(solution.values[:, 0], vectors[:, 0] / values[0], atol=AGREES)


def test_the_advice_names_what_can_be_changed():
    assert "max_iter" in Status.NOT_CONVERGED.value
    assert "tol" in Status.NOT_CONVERGED.value


def test_a_looser_tolerance_needs_fewer_steps_and_is_met():
    A = system_with(100.0)
    targets = np.random.default_rng(9).normal(size=(N, 1))
    loose = ConjugateGradients(DenseOperator(A), 1e-3, max_iter=1000).solve(targets)
    sharp = ConjugateGradients(DenseOperator(A), 1e-12, max_iter=1000).solve(targets)
    assert loose.n_iter < sharp.n_iter
    assert loose.residual <= 1e-3
    assert sharp.residual <= 1e-12


def test_the_steps_stay_within_what_theory_expects(condition):
    targets = np.random.default_rng(10).normal(size=(N, 1))
    solution = ConjugateGradients(DenseOperator(system_with(condition)), 1e-10, max_iter=1000).solve(targets)
    # The bound is on the energy norm of the error, the tolerance on the residual: sqrt(condition) lies between them.
    assert solution.n_iter <= expected_iterations(condition, 1e-10 / np.sqrt(condition)) + 1


def test_more_digits_than_the_precision_has_are_not_asked_for():
    A = system_with(30.0, np.float32)
    targets = np.random.default_rng(11).normal(size=(N, 2)).astype(np.float32)
    solution = ConjugateGradients(DenseOperator(A), 1e-12, max_iter=200).solve(targets)
    assert solution.status is Status.SOLVED


# -- the choice --------------------------------------------------------------------------------------------------


def cholesky_is_cheaper(n, n_columns, condition_number, rtol):
    return direct_is_cheaper(n, n_columns, condition_number, rtol, product_cost=float(n) ** 2)


@pytest.mark.parametrize(
    ("n", "n_columns", "condition_number", "direct"),
    [
        (50, 1, 2.0, True),
        (400, 400, 2.0, True),
        (10_000, 1, 2.0, False),
        (10_000, 1, 1e12, True),
        (10_000, 10_000, 2.0, True),
        (100_000, 10, 100.0, False),
    ],
)
def test_the_cheaper_solver_is_chosen(n, n_columns, condition_number, direct):
    assert cholesky_is_cheaper(n, n_columns, condition_number, RTOL) is direct


def test_the_choice_depends_on_its_arguments_alone():
    arguments = [(n, c, k, r) for n in (10, 1000, 10**5) for c in (1, 50) for k in (1.1, 1e4) for r in (1e-3, 1e-12)]
    assert [cholesky_is_cheaper(*a) for a in arguments] == [cholesky_is_cheaper(*a) for a in reversed(arguments)][::-1]


def test_harder_systems_and_more_columns_never_speak_against_a_factorization():
    for n in (100, 1000, 5000):
        by_condition = [cholesky_is_cheaper(n, 4, condition, 1e-12) for condition in np.geomspace(1, 1e12, 30)]
        by_columns = [cholesky_is_cheaper(n, columns, 10.0, 1e-12) for columns in range(1, 3 * n, 50)]
        by_tolerance = [cholesky_is_cheaper(n, 4, 10.0, rtol) for rtol in np.geomspace(1e-1, 1e-14, 30)]
        for answers in (by_condition, by_columns, by_tolerance):
            assert answers == sorted(answers)


# What is changed in the record of a matrix in memory, how many columns come, and the method. With 400 rows and a
# condition number of 1.2 the system is solved in steps for few columns, and by a factor for many.
METHODS = [
    ({}, 1, Method.BLOCK),
    ({}, 400, Method.CHOLESKY),
    ({"can_be_dense": False}, 400, Method.BLOCK),
    ({"storage": Storage.NOTHING}, 400, Method.BLOCK),
    ({"storage": Storage.SPARSE_FACTOR}, 400, Method.CHOLESKY),
    ({"product_cost": 1.0}, 400, Method.BLOCK),
    ({"uses_one_core": True}, 1, Method.BLOCK),
    ({"uses_one_core": True, "can_be_dense": False}, COLUMNS_A_GROUP, Method.BLOCK),
    ({"uses_one_core": True, "can_be_dense": False}, COLUMNS_A_GROUP + 1, Method.GROUPS),
]


@pytest.mark.parametrize(("changes", "n_columns", "method"), METHODS)
def test_the_method_is_this_table(changes, n_columns, method):
    facts = replace(OperatorFacts.of_stored_matrix(400, 1e-16), **changes)
    assert choose_method(facts, 400, n_columns, 1.2, 1e-3) is method
    assert choose_method(facts, 400, n_columns, 1.2, 1e-3, has_inverse=True) is Method.CLOSED_FORM


def test_a_factor_is_made_once_and_then_kept(monkeypatch):
    made = []
    original = Cholesky.__init__
    monkeypatch.setattr(Cholesky, "__init__", lambda self, system: (made.append(1), original(self, system))[1])
    solver = AdaptiveSolver(DenseOperator(system_with(30.0)), 30.0, RTOL)
    for _ in range(3):
        solver.solve(np.ones((N, 1)))
    assert len(made) == 1


def test_iterations_turn_into_a_factor_where_many_columns_come():
    n = 400
    A = system_with(1.2, n=n)
    solver = AdaptiveSolver(DenseOperator(A), 1.2, 1e-3)
    assert solver.solve(np.ones((n, 1))).n_iter > 1
    many = solver.solve(np.eye(n))
    assert many.n_iter == 1
    np.testing.assert_allclose(many.values, np.linalg.inv(A), atol=AGREES)
    # From here on the factor is there, and one more column is cheap.
    assert solver.solve(np.ones((n, 1))).n_iter == 1


def test_fewer_digits_may_be_asked_for_and_more_may_not():
    n = 400
    A = system_with(1.2, n=n)
    targets = np.random.default_rng(13).normal(size=(n, 1))
    solver = AdaptiveSolver(DenseOperator(A), 1.2, 1e-4)
    plain, loose, sharp = solver.solve(targets), solver.solve(targets, 1e-1), solver.solve(targets, 1e-12)
    assert loose.n_iter < plain.n_iter == sharp.n_iter
    residual = np.linalg.norm(targets - A @ loose.values) / np.linalg.norm(targets)
    assert residual <= 1e-1


def test_a_given_number_of_steps_is_kept_to():
    n = 400
    solver = AdaptiveSolver(DenseOperator(system_with(1.2, n=n)), 1.2, 1e-3, max_iter=1)
    solution = solver.solve(np.random.default_rng(12).normal(size=(n, 1)))
    assert solution.n_iter == 1
    assert solution.status is Status.NOT_CONVERGED


@pytest.mark.parametrize("condition_number", [1.0, 10.0, 1e6])
def test_without_a_given_number_of_steps_there_are_enough(condition_number):
    solver = AdaptiveSolver(DenseOperator(np.eye(3)), condition_number, RTOL)
    assert solver.max_iter >= expected_iterations(condition_number, RTOL)


def test_groups_of_columns_say_what_the_hardest_of_them_says():
    A = system_with(1000.0)
    targets = np.zeros((N, COLUMNS_A_GROUP + 1))
    targets[:, :-1] = np.linalg.eigh(A)[1][:, :1]  # one step each
    targets[0, -1] = 1
    solver = AdaptiveSolver(OneCore(DenseOperator(A)), 1e-6, RTOL, max_iter=5)
    alone = ConjugateGradients(DenseOperator(A), RTOL, max_iter=5).solve(targets[:, -1:])
    solution = solver.solve(targets)
    assert solution.status is Status.NOT_CONVERGED
    assert (solution.n_iter, solution.residual) == (5, pytest.approx(alone.residual))
    np.testing.assert_allclose(solution.values[:, -1:], alone.values, atol=AGREES)
