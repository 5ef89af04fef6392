"""Newton steps for Problem 4 with a loss, on operators."""

import numpy as np
import pytest

from loss_oracles import fixed_point, pseudo_huber
from semikpca.convexity import ConvexityCertificate
from semikpca.losses import Loss, PseudoHuber
from semikpca.operators import DeflatedOperator, DenseOperator
from semikpca.problem import _newton, newton
from semikpca.solvers import Solution, Status

# On a stored matrix steps go on to 1e-12 of the first decisions.
RTOL, AGREEMENT = 1e-12, 1e-10
N, K_REMOVED = 40, 1


@pytest.fixture
def problem(rng):
    """A kernel matrix, targets of three columns, and the operator without its first component."""
    rows = rng.standard_normal((N, 6))
    K = rows @ rows.T + 0.1 * np.eye(N)
    values, vectors = np.linalg.eigh(K)
    targets = np.zeros((N, 3))
    targets[:6] = np.sign(rng.standard_normal((6, 3)))
    deflated = DeflatedOperator(DenseOperator(K), values[::-1][:1], vectors[:, ::-1][:, :1])
    return K, targets, deflated, ConvexityCertificate(1, float(values[-2]))


def solved(problem, loss, share, **options):
    _, targets, deflated, interval = problem
    certificate = interval.at(share * interval.error_weight_max)
    pushed = deflated.matmat(loss.derivative(targets))
    return newton(deflated, loss, certificate, targets, pushed, **{"rtol": RTOL, **options}), certificate


@pytest.mark.parametrize("share", [0.3, 0.9, 0.99])
@pytest.mark.parametrize("delta", [0.01, 0.5, 10.0])
def test_every_start_leads_to_the_fixed_point(problem, rng, share, delta):
    K, targets, *_ = problem
    for start in (None, np.zeros((N, 3)), *(size * rng.standard_normal((N, 3)) for size in (0.1, 10, 1000))):
        found, certificate = solved(problem, PseudoHuber(delta), share, start=start)
        wanted = fixed_point(K, targets, K_REMOVED, certificate.error_weight, pseudo_huber(delta))
        assert found.status is Status.SOLVED
        np.testing.assert_allclose(found.decision, wanted, atol=AGREEMENT)
        np.testing.assert_allclose(found.slopes, pseudo_huber(delta).slope(targets + wanted), atol=AGREEMENT)


class Huber(Loss):
    """Made of two pieces: ρ″ jumps from 1 to 0."""

    def value(self, errors):
        return np.where(abs(errors) < 0.3, errors**2 / 2, 0.3 * (abs(errors) - 0.15))

    def derivative(self, errors):
        return np.clip(errors, -0.3, 0.3)

    def second_derivative(self, errors):
        return np.where(abs(errors) < 0.3, 1.0, 0.0)

    lipschitz_constant = 1.0
    has_bounded_derivative = True


class ClippedNaively:
    """The same slope, for the oracle."""

    slope = staticmethod(lambda e: np.maximum(np.minimum(e, 0.3), -0.3))


@pytest.mark.parametrize("share", [0.5, 0.99])
def test_a_loss_whose_second_derivative_jumps_is_solved_too(problem, share):
    found, certificate = solved(problem, Huber(), share)
    wanted = fixed_point(problem[0], problem[1], K_REMOVED, certificate.error_weight, ClippedNaively)
    assert found.status is Status.SOLVED
    np.testing.assert_allclose(found.decision, wanted, atol=AGREEMENT)


class Misleading:
    """A solver that answers with anything."""

    def __init__(self, system, condition_number, rtol, max_iter):
        self.rng = np.random.default_rng(0)

    def solve(self, targets):
        return Solution(100 * self.rng.standard_normal(targets.shape), Status.SOLVED, 1, 0.0)


def test_steps_that_lead_nowhere_are_replaced_by_fixed_point_steps(problem, monkeypatch):
    monkeypatch.setattr(_newton, "AdaptiveSolver", Misleading)
    found, certificate = solved(problem, PseudoHuber(0.5), 0.3)
    wanted = fixed_point(problem[0], problem[1], K_REMOVED, certificate.error_weight, pseudo_huber(0.5))
    assert found.status is Status.SOLVED
    np.testing.assert_allclose(found.decision, wanted, atol=AGREEMENT)
    assert found.n_iter > 10  # a contraction by 0.3 gains half a digit a step


def test_newton_steps_are_few_where_fixed_point_steps_are_many(problem):
    found, _ = solved(problem, PseudoHuber(0.5), 0.99)
    assert found.n_iter <= 10


def test_columns_without_a_target_are_zero_whatever_they_begin_with(problem, rng):
    K, targets, deflated, interval = problem
    targets = targets.copy()
    targets[:, 1] = 0
    found, certificate = solved((K, targets, deflated, interval), PseudoHuber(), 0.5, start=rng.standard_normal((N, 3)))
    assert (found.decision[:, 1] == 0).all()
    assert (found.slopes[:, 1] == 0).all()
    wanted = fixed_point(K, targets, K_REMOVED, certificate.error_weight, pseudo_huber(1.0))
    np.testing.assert_allclose(found.decision, wanted, atol=AGREEMENT)


def test_a_start_at_the_answer_takes_no_step(problem):
    found, _ = solved(problem, PseudoHuber(), 0.9)
    deflated = problem[2]
    before = deflated.log.n_products
    again, _ = solved(problem, PseudoHuber(), 0.9, start=found.slopes, rtol=1e-10)
    np.testing.assert_allclose(again.decision, found.decision, atol=AGREEMENT)
    assert deflated.log.n_products - before == 3  # what targets push, the decisions of the start, and what is missing


def test_the_residual_is_that_of_the_optimality_condition(problem):
    _, targets, deflated, _ = problem
    found, certificate = solved(problem, PseudoHuber(), 0.9, max_iter=2, rtol=1e-12)
    again = certificate.error_weight * deflated.matmat(pseudo_huber(1.0).slope(targets + found.decision))
    first = certificate.error_weight * deflated.matmat(pseudo_huber(1.0).slope(targets))
    seen = np.linalg.norm(again - found.decision, axis=0) / np.linalg.norm(first, axis=0)
    assert found.status is Status.NOT_CONVERGED
    assert found.n_iter == 2
    assert seen.max() <= found.residual  # a fixed-point step more than the residual knows of


def test_fixed_point_steps_alone_go_on_where_they_gain_a_tenth_each(problem, monkeypatch):
    monkeypatch.setattr(_newton, "AdaptiveSolver", Misleading)
    found, certificate = solved(problem, PseudoHuber(0.5), 0.85, max_iter=1000)
    wanted = fixed_point(problem[0], problem[1], K_REMOVED, certificate.error_weight, pseudo_huber(0.5))
    assert found.status is Status.SOLVED
    np.testing.assert_allclose(found.decision, wanted, atol=AGREEMENT)


def test_a_tolerance_that_rounding_does_not_allow_ends_where_rounding_does(problem):
    found, certificate = solved(problem, PseudoHuber(0.5), 0.9, rtol=0.0)
    wanted = fixed_point(problem[0], problem[1], K_REMOVED, certificate.error_weight, pseudo_huber(0.5))
    assert found.status is Status.SOLVED
    assert found.n_iter < 30
    np.testing.assert_allclose(found.decision, wanted, atol=AGREEMENT)
