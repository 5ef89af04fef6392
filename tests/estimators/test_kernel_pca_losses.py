"""What a loss does to the regimes of Theorem 1: kernel PCA without labels."""

import numpy as np
import pytest

from loss_oracles import Primal, deflated, log_cosh, pseudo_huber, squared
from semikpca import ConvexKernelPCA
from semikpca.convexity import Regime
from semikpca.losses import LogCosh, PseudoHuber, Squared

LOSSES = [(PseudoHuber(0.5), pseudo_huber(0.5)), (LogCosh(0.5), log_cosh(0.5))]
NAMES = ["pseudo-Huber", "log-cosh"]
ROUNDING = 1e-10
# BFGS stops where the objective, of order one, has no digits left: its root in w.
FOUND = 1e-6


@pytest.fixture
def rows(two_classes):
    return two_classes[0]


def primal(model, rows, k, gamma, naive):
    K = model.kernel_.pairwise(rows, rows)
    return Primal.of(K, np.zeros(len(rows)), k, gamma, naive)


@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize(("loss", "naive"), [*LOSSES, (Squared(), squared())], ids=[*NAMES, "squared"])
def test_the_objective_is_that_of_problem_3_with_the_loss(rows, rng, loss, naive, k):
    model = ConvexKernelPCA(loss=loss).fit(rows)
    c = rng.standard_normal(len(rows))
    K = deflated(model.kernel_.pairwise(rows, rows), k)
    wanted = c @ K @ c / 2 - 0.07 * naive.value(K @ c).sum()
    assert model.objective(c, 0.07, k) == pytest.approx(wanted, rel=ROUNDING)


@pytest.mark.parametrize("k", [0, 1])
def test_a_bounded_loss_has_two_regimes_and_the_square_three(rows, k):
    robust, paper = ConvexKernelPCA(loss=PseudoHuber()).fit(rows), ConvexKernelPCA().fit(rows)
    bound = paper.certificate(k).error_weight_max
    assert robust.certificate(k).error_weight_max == bound
    weights = np.array([0.9, 1.0, 1.5]) * bound
    assert [paper.regime(weight, k) for weight in weights] == [Regime.TRIVIAL, Regime.SUBSPACE, Regime.UNBOUNDED]
    assert [robust.regime(weight, k) for weight in weights] == [Regime.TRIVIAL, Regime.BOUNDED, Regime.BOUNDED]
    assert not Regime.BOUNDED.has_unique_solution
    assert "several minima" in str(robust.certificate(k).at(weights[2]))


@pytest.mark.parametrize("share", [0.5, 0.95])
@pytest.mark.parametrize(("loss", "naive"), LOSSES, ids=NAMES)
def test_inside_the_interval_only_zero_is_a_solution(rows, rng, loss, naive, share):
    model = ConvexKernelPCA(loss=loss).fit(rows)
    objective = primal(model, rows, 1, share * model.certificate(1).error_weight_max, naive)
    for _ in range(5):
        found = objective.minimized(3 * rng.standard_normal(objective.features.shape[1]))
        assert np.abs(found).max() < FOUND


@pytest.mark.parametrize("share", [1.2, 3.0])
@pytest.mark.parametrize(("loss", "naive"), LOSSES, ids=NAMES)
def test_beyond_the_bound_w_and_its_opposite_are_solutions_that_do_not_run_away(rows, rng, loss, naive, share):
    model = ConvexKernelPCA(loss=loss).fit(rows)
    gamma = share * model.certificate(1).error_weight_max
    objective = primal(model, rows, 1, gamma, naive)
    # A quarter of a unit along component k + 1, which is where the objective first falls.
    start = np.zeros(objective.features.shape[1])
    start[-1] = 0.25
    one, other = objective.minimized(start), objective.minimized(-start)
    np.testing.assert_allclose(one, -other, atol=FOUND)
    assert np.linalg.norm(one) > 0.1
    assert objective(one) < -1e-3  # below w = 0, which is no minimum any more
    for w in (one, 100 * rng.standard_normal(len(one))):
        minimum = objective.minimized(w)
        # ρ′ is at most 0.5 in size, and w = γ Φᵀ ρ′.
        assert np.linalg.norm(minimum) <= gamma * np.linalg.norm(objective.features, 2) * 0.5 * np.sqrt(len(rows))
    # The model, which knows w by coefficients, sees the same objective there, and above it on both sides.
    c = np.linalg.lstsq(objective.features.T, one, rcond=None)[0]
    assert model.objective(c, gamma, 1) == pytest.approx(objective(one), rel=1e-6)
    assert model.objective(0.9 * c, gamma, 1) > model.objective(c, gamma, 1)
    assert model.objective(1.1 * c, gamma, 1) > model.objective(c, gamma, 1)


def test_at_the_bound_a_loss_below_the_square_has_no_line_of_solutions(rows):
    model = ConvexKernelPCA(loss=PseudoHuber(0.5)).fit(rows)
    along = model.eigenvectors_[:, 1]
    bound = model.certificate(1).error_weight_max
    paper = ConvexKernelPCA().fit(rows)
    for size in (0.5, 2.0):
        assert paper.objective(size * along, bound, 1) == pytest.approx(0, abs=ROUNDING)
        assert model.objective(size * along, bound, 1) > 1e-4
