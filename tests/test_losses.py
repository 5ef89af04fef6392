"""The loss of the error term, and the multipliers that follow from it."""

import numpy as np
import pytest
from sklearn.base import clone

from oracles import semi_kpca_from_the_paper
from semikpca import SemiKPCAClassifier
from semikpca.labels import signed_targets
from semikpca.losses import LogCosh, Loss, PseudoHuber, Squared, as_loss, check_loss

# A central difference with this step is off by its square, and by rounding over it.
STEP, FROM_DIFFERENCES = 1e-5, 1e-9
ROUNDING = 1e-12
LOSSES = [Squared(), PseudoHuber(), PseudoHuber(0.3), LogCosh(), LogCosh(2.5)]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_derivatives_are_those_of_the_value(loss, rng):
    errors = rng.standard_normal(50)
    slopes = (loss.value(errors + STEP) - loss.value(errors - STEP)) / (2 * STEP)
    curvatures = (loss.derivative(errors + STEP) - loss.derivative(errors - STEP)) / (2 * STEP)
    np.testing.assert_allclose(loss.derivative(errors), slopes, atol=FROM_DIFFERENCES)
    np.testing.assert_allclose(loss.second_derivative(errors), curvatures, atol=FROM_DIFFERENCES)
    assert (loss.second_derivative(errors) <= loss.lipschitz_constant).all()


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_loss_is_even_and_vanishes_without_an_error(loss, rng):
    errors = rng.standard_normal(50)
    np.testing.assert_array_equal(loss.value(errors), loss.value(-errors))
    assert loss.value(0.0) == 0


def test_only_the_square_is_linear_and_it_has_no_bounded_derivative():
    assert [loss.is_linear for loss in LOSSES] == [True, False, False, False, False]
    assert [loss.has_bounded_derivative for loss in LOSSES] == [False, True, True, True, True]


@pytest.mark.parametrize(
    ("loss", "definition"),
    [
        (PseudoHuber(0.3), lambda e: 0.3**2 * (np.sqrt(1 + (e / 0.3) ** 2) - 1)),
        (LogCosh(2.5), lambda e: 2.5**2 * np.log(np.cosh(e / 2.5))),
    ],
    ids=["pseudo-Huber", "log-cosh"],
)
def test_the_losses_are_what_their_names_say(loss, definition, rng):
    errors = 3 * rng.standard_normal(50)
    np.testing.assert_allclose(loss.value(errors), definition(errors), rtol=ROUNDING)


@pytest.mark.parametrize("loss", LOSSES[1:], ids=repr)
def test_huge_errors_overflow_nothing(loss):
    bound = next(iter(loss.get_params().values()))
    for dtype, error in ((np.float64, 1e200), (np.float32, 1e30)):
        errors = np.array([error, -error], dtype=dtype)
        np.testing.assert_allclose(loss.value(errors), bound * error, rtol=1e-6)  # float32
        np.testing.assert_allclose(loss.derivative(errors), [bound, -bound], rtol=1e-6)
        assert (loss.second_derivative(errors) == 0).all()
        assert loss.value(errors).dtype == dtype


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_tiny_errors_keep_their_digits(loss):
    errors = np.array([1e-9, -3e-7])
    np.testing.assert_allclose(loss.value(errors), errors**2 / 2, rtol=1e-9)  # the next term is error⁴


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_conjugate_is_the_largest_gap_between_a_slope_and_the_loss(loss):
    errors = np.linspace(-60, 60, 2_000_001)
    for slope in (0.0, 0.1, -0.25):
        # A grid misses the supremum by half of the second derivative times the square of its step.
        assert loss.conjugate(np.array([slope]))[0] == pytest.approx(
            np.max(slope * errors - loss.value(errors)), abs=1e-8
        )


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_loss_that_does_not_know_its_conjugate_finds_it(loss, rng):
    slopes = loss.derivative(2 * rng.standard_normal(40))
    np.testing.assert_allclose(Loss.conjugate(loss, slopes), loss.conjugate(slopes), atol=ROUNDING)


@pytest.mark.parametrize("loss", [PseudoHuber(0.5), LogCosh(0.5)], ids=repr)
def test_slopes_that_a_loss_does_not_have_are_infinitely_dear(loss):
    for conjugate in (loss.conjugate, lambda slopes: Loss.conjugate(loss, slopes)):
        assert np.isinf(conjugate(np.array([0.6, -7.0]))).all()


# -- parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_losses_clone_and_compare_by_their_parameters(loss):
    assert clone(loss) == loss
    assert clone(loss) is not loss
    assert hash(clone(loss)) == hash(loss)


def test_a_loss_is_frozen_but_for_the_searches_of_scikit_learn():
    loss = PseudoHuber(2.0)
    with pytest.raises(AttributeError):
        loss.delta = 3.0
    assert clone(loss).set_params(delta=3.0) == PseudoHuber(3.0)
    assert loss == PseudoHuber(2.0)
    with pytest.raises(ValueError, match="no parameter 'scale'"):
        loss.set_params(scale=1.0)


def test_a_model_keeps_a_copy_of_its_loss(two_classes):
    loss = PseudoHuber(2.0)
    model = SemiKPCAClassifier(loss=loss).fit(*two_classes)
    loss.set_params(delta=0.1)
    assert model.certificate_.loss == PseudoHuber(2.0)


@pytest.mark.parametrize("loss", [PseudoHuber(0), PseudoHuber(-1.0), LogCosh(np.inf), LogCosh("1"), LogCosh(True)])
def test_a_width_that_is_no_positive_number_is_refused_with_its_value(loss):
    value = next(iter(loss.get_params().values()))
    with pytest.raises(ValueError, match="must be a positive, finite number") as caught:
        as_loss(loss)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("loss", ["huber", 1.0, PseudoHuber], ids=repr)
def test_what_is_no_loss_is_refused_with_those_that_there_are(loss, two_classes):
    with pytest.raises(ValueError, match=r"PseudoHuber\(delta=1.0\)"):
        SemiKPCAClassifier(loss=loss).fit(*two_classes)


# -- losses from outside ---------------------------------------------------------------------------------------------


class Outside(Loss):
    """Fair's loss, or what a test makes of it."""

    def value(self, errors):
        return abs(errors) - np.log1p(abs(errors))

    def derivative(self, errors):
        return errors / (1 + abs(errors))

    def second_derivative(self, errors):
        return 1 / (1 + abs(errors)) ** 2

    lipschitz_constant = 1.0
    has_bounded_derivative = True


class Scaled(Outside):
    """The same, times a factor."""

    factor = 3.0

    def value(self, errors):
        return self.factor * super().value(errors)

    def derivative(self, errors):
        return self.factor * super().derivative(errors)

    def second_derivative(self, errors):
        return self.factor * super().second_derivative(errors)

    lipschitz_constant = 3.0


class Huber(Outside):
    """Made of pieces, with joints at ±1."""

    def value(self, errors):
        return np.where(abs(errors) < 1, errors**2 / 2, abs(errors) - 0.5)

    def derivative(self, errors):
        return np.clip(errors, -1, 1)

    def second_derivative(self, errors):
        return np.where(abs(errors) < 1, 1.0, 0.0)


class Welsch(Outside):
    def value(self, errors):
        return 1 - np.exp(-(errors**2) / 2)

    def derivative(self, errors):
        return errors * np.exp(-(errors**2) / 2)

    def second_derivative(self, errors):
        return (1 - errors**2) * np.exp(-(errors**2) / 2)


class Lopsided(Outside):
    def value(self, errors):
        return super().value(errors) + 0.1 * errors

    def derivative(self, errors):
        return super().derivative(errors) + 0.1


class Lifted(Outside):
    def value(self, errors):
        return super().value(errors) + 0.25


class WrongSlope(Outside):
    def derivative(self, errors):
        return 1.01 * super().derivative(errors)


class WrongCurvature(Outside):
    def second_derivative(self, errors):
        return 0.99 * super().second_derivative(errors)


class TooModest(Outside):
    lipschitz_constant = 0.5


class Slow(Outside):
    """ρ′ = log(1 + |e|) has no bound, though it grows slowly."""

    def value(self, errors):
        return (1 + abs(errors)) * np.log1p(abs(errors)) - abs(errors)

    def derivative(self, errors):
        return np.sign(errors) * np.log1p(abs(errors))

    def second_derivative(self, errors):
        return 1 / (1 + abs(errors))


class Linear(Outside):
    is_linear = True


class Scalar(Outside):
    def value(self, errors):
        return 0.0


class Endless(Outside):
    def value(self, errors):
        return np.expm1(errors**2)


@pytest.mark.parametrize("loss", [*LOSSES, Outside(), Huber()], ids=repr)
def test_what_the_theorem_asks_for_is_seen(loss):
    check_loss(loss)


@pytest.mark.parametrize(
    ("loss", "reason"),
    [
        (Scaled(), r"at most 1, got 3\. Divide the loss by 3 and multiply an absolute error_weight by it"),
        (Welsch(), r"must be convex, but ρ″ is -0\."),
        (Lopsided(), "must be even"),
        (Lifted(), r"ρ\(0\) of Lifted\(\) must be 0, got 0\.25"),
        (WrongSlope(), "Let it be the derivative of value"),
        (WrongCurvature(), "Let it be the derivative of derivative"),
        (TooModest(), r"lipschitz_constant of TooModest\(\) is 0\.5, but ρ″ is 0\.99"),
        (Slow(), "claims a bounded derivative, but ρ′ is 13.82 at an error of 1e\\+06 and 27.63"),
        (Linear(), r"claims to be linear, but ρ′"),
        (Scalar(), "must return a finite number for each error, got shape"),
        (Endless(), "NaN or infinity"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_loss_that_breaks_the_contract_is_refused_with_the_reason(loss, reason, two_classes):
    with pytest.raises(ValueError, match=reason):
        check_loss(loss)
    with pytest.raises(ValueError, match=reason):
        SemiKPCAClassifier(loss=loss).fit(*two_classes)


def test_multipliers_of_a_fit_are_the_slopes_of_the_loss_at_its_errors(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier(backend="blocked", tol=1e-13).fit(X, y)
    errors = signed_targets(model.label_coding_.codes, 2)[:, 0] + model.decision_
    np.testing.assert_allclose(model.alpha_, model.error_weight_ * Squared().derivative(errors), rtol=ROUNDING)
    K = model.kernel_.pairwise(X, X)
    wanted = semi_kpca_from_the_paper(K, signed_targets(model.label_coding_.codes, 2)[:, 0], 1, model.error_weight_)
    np.testing.assert_allclose(model.decision_, wanted, atol=1e-9)  # the solve stops at 1e-13 of its right-hand side
