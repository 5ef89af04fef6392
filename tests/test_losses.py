"""The loss of the error term, and the multipliers that follow from it."""

import numpy as np
import pytest

from oracles import semi_kpca_from_the_paper
from semikpca import SemiKPCAClassifier
from semikpca.labels import signed_targets
from semikpca.losses import Squared

# A central difference with this step is off by its square, and by rounding over it.
STEP, FROM_DIFFERENCES = 1e-5, 1e-9
ROUNDING = 1e-12


@pytest.mark.parametrize("loss", [Squared()], ids=repr)
def test_derivatives_are_those_of_the_value(loss, rng):
    errors = rng.standard_normal(50)
    slopes = (loss.value(errors + STEP) - loss.value(errors - STEP)) / (2 * STEP)
    curvatures = (loss.derivative(errors + STEP) - loss.derivative(errors - STEP)) / (2 * STEP)
    np.testing.assert_allclose(loss.derivative(errors), slopes, atol=FROM_DIFFERENCES)
    np.testing.assert_allclose(loss.second_derivative(errors), curvatures, atol=FROM_DIFFERENCES)
    assert (loss.second_derivative(errors) <= loss.lipschitz_constant).all()


@pytest.mark.parametrize("loss", [Squared()], ids=repr)
def test_a_loss_is_even_and_vanishes_without_an_error(loss, rng):
    errors = rng.standard_normal(50)
    np.testing.assert_array_equal(loss.value(errors), loss.value(-errors))
    assert loss.value(0.0) == 0


def test_only_the_square_is_linear_and_it_has_no_bounded_derivative():
    assert Squared().is_linear
    assert not Squared().has_bounded_derivative


def test_multipliers_of_a_fit_are_the_slopes_of_the_loss_at_its_errors(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier(backend="blocked", tol=1e-13).fit(X, y)
    errors = signed_targets(model.label_coding_.codes, 2)[:, 0] + model.decision_
    np.testing.assert_allclose(model.alpha_, model.error_weight_ * Squared().derivative(errors), rtol=ROUNDING)
    K = model.kernel_.pairwise(X, X)
    wanted = semi_kpca_from_the_paper(K, signed_targets(model.label_coding_.codes, 2)[:, 0], 1, model.error_weight_)
    np.testing.assert_allclose(model.decision_, wanted, atol=1e-9)  # the solve stops at 1e-13 of its right-hand side
