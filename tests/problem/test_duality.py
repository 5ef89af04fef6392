"""Primal and dual objective of fits, against CVXPY and against minimizers in explicit features."""

import cvxpy as cp
import numpy as np
import pytest

from loss_oracles import Primal, deflated, log_cosh, pseudo_huber
from semikpca import SemiKPCAClassifier
from semikpca.convexity import ConvexityCertificate
from semikpca.kernels import Nystroem
from semikpca.labels import signed_targets
from semikpca.losses import LogCosh, PseudoHuber, Squared
from semikpca.operators import DeflatedOperator, DenseOperator
from semikpca.problem import duality_gap

# What Clarabel is asked for, and what the feature was asked for.
SOLVER = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
AGREEMENT = 1e-8
ROUNDING = 1e-12


def targets_of(model):
    return signed_targets(model.label_coding_.codes, model.label_coding_.n_classes)


@pytest.mark.parametrize("share", [0.3, 0.9])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_both_objectives_of_the_paper_are_those_of_cvxpy(two_classes, k, share):
    X, y = two_classes
    model = SemiKPCAClassifier(n_components_removed=k, error_weight=share).fit(X, y)
    K, gamma, target = model.kernel_.pairwise(X, X), model.error_weight_, targets_of(model)[:, 0]
    values, vectors = np.linalg.eigh(K)
    Phi = vectors[:, : len(K) - k] * np.sqrt(values[: len(K) - k])
    # ½ wᵀ (I − γ ΦᵀΦ) w − γ yᵀΦ w − γ/2 yᵀy: the primal as the convex function that it is.
    w = cp.Variable(Phi.shape[1])
    curvature = cp.psd_wrap(np.eye(Phi.shape[1]) - gamma * Phi.T @ Phi)
    constant = gamma / 2 * target @ target
    primal = cp.Problem(cp.Minimize(cp.quad_form(w, curvature) / 2 - gamma * (target @ Phi) @ w - constant))
    alpha = cp.Variable(len(K))
    system = cp.psd_wrap(np.eye(len(K)) / gamma - deflated(K, k))
    dual = cp.Problem(cp.Minimize(cp.quad_form(alpha, system) / 2 - target @ alpha))
    found = model.duality_gap()
    assert found.primal == pytest.approx(primal.solve(**SOLVER), abs=AGREEMENT)
    assert found.dual == pytest.approx(dual.solve(**SOLVER), abs=AGREEMENT)
    assert found.dual == pytest.approx(found.primal, abs=ROUNDING)
    assert abs(found.gap) < ROUNDING
    np.testing.assert_allclose(Phi @ w.value, model.decision_, atol=1e-6)  # the objective is flat at its minimum


LOSSES = [(PseudoHuber(0.3), pseudo_huber(0.3)), (LogCosh(0.6), log_cosh(0.6))]


@pytest.mark.parametrize("share", [0.5, 0.95])
@pytest.mark.parametrize(("loss", "naive"), LOSSES, ids=["pseudo-Huber", "log-cosh"])
def test_primal_and_dual_of_a_loss_meet_at_the_minimum(data, loss, naive, share):
    X, y = data
    model = SemiKPCAClassifier(loss=loss, error_weight=share).fit(X, y)
    K, targets = model.kernel_.pairwise(X, X), targets_of(model)
    primals = [Primal.of(K, column, 1, model.error_weight_, naive) for column in targets.T]
    smallest = sum(primal(primal.minimized(np.zeros(primal.features.shape[1]))) for primal in primals)
    found = model.duality_gap()
    assert found.primal == pytest.approx(smallest, abs=AGREEMENT)
    assert found.dual == pytest.approx(smallest, abs=AGREEMENT)
    assert abs(found.gap) < ROUNDING


@pytest.mark.parametrize("loss", [Squared(), PseudoHuber(0.3), LogCosh(0.6)], ids=repr)
@pytest.mark.parametrize("share", [0.2, 0.9])
def test_away_from_the_solution_the_gap_bounds_how_far(two_classes, rng, loss, share):
    X, y = two_classes
    model = SemiKPCAClassifier(loss=loss, error_weight=share).fit(X, y)
    best, K, targets = model.duality_gap(), model.kernel_.pairwise(X, X), targets_of(model)
    operator = DeflatedOperator(DenseOperator(K), model.eigenvalues_[:1], model.eigenvectors_)
    for size in (1e-3, 0.1):
        # Slopes that the loss has: those of errors close to the solution's.
        errors = targets + model.decision_[:, np.newaxis] + size * rng.standard_normal(targets.shape)
        there = duality_gap(operator, model.certificate_, targets, model.error_weight_ * loss.derivative(errors))
        assert there.gap > 0
        assert there.dual - there.primal == pytest.approx(there.gap, abs=ROUNDING)
        assert -ROUNDING <= there.primal - best.primal <= there.excess + ROUNDING
        assert there.dual >= best.dual - ROUNDING


def test_slopes_that_a_loss_does_not_have_make_the_dual_infinite():
    K = np.eye(3)
    certificate = ConvexityCertificate(0, 1.0, loss=PseudoHuber(0.5)).at(0.5)
    operator = DeflatedOperator(DenseOperator(K), np.empty(0), np.empty((3, 0)))
    found = duality_gap(operator, certificate, np.zeros((3, 1)), np.full((3, 1), 0.4))
    assert found.gap == np.inf


@pytest.mark.parametrize("loss", [None, PseudoHuber(0.3)], ids=repr)
@pytest.mark.parametrize(
    "options", [{"backend": "blocked"}, {"kernel": "graph"}, {"kernel": Nystroem("rbf", 20)}], ids=str
)
def test_every_back_end_states_its_gap(five_classes, loss, options):
    model = SemiKPCAClassifier(loss=loss, error_weight=0.5, **options).fit(*five_classes)
    found = model.duality_gap()
    # tol is 1e-6 where the matrix is not stored, and the gap is the square of what is left.
    assert abs(found.gap) < 1e-10
    assert found.dual == pytest.approx(found.primal, abs=1e-10)
