"""Leave-one-label-out in closed form against refits without each label."""

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from oracles import SAME_TO_ROUNDING, relative_error
from semikpca import LSSVMClassifier, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.exceptions import SingleClassWarning
from semikpca.kernels import RBF, Normalized
from semikpca.labeling import leave_one_label_out

# A fixed coefficient: the median rule of a refit without a row would be another kernel.
KERNEL = RBF(gamma=0.1)

TRANSDUCTIVE = {
    "semi-kpca, k=0": SemiKPCAClassifier(KERNEL, n_components_removed=0),
    "semi-kpca, k=1": SemiKPCAClassifier(KERNEL),
    "semi-kpca, k=3, near the bound": SemiKPCAClassifier(KERNEL, n_components_removed=3, error_weight=0.99),
    "semi-kpca, normalized kernel": SemiKPCAClassifier(Normalized(KERNEL), error_weight=0.9),
    "semi-lssvm": SemiLSSVMClassifier(KERNEL, error_weight=10.0),
    "semi-lssvm without intercept": SemiLSSVMClassifier(KERNEL, error_weight=10.0, fit_intercept=False),
}


def without_label(y, row):
    y = y.copy()
    y[row] = -1
    return y


@pytest.mark.parametrize("name", TRANSDUCTIVE)
def test_decisions_equal_refits_without_each_label(data, name):
    X, y = data
    labeled = np.flatnonzero(y != -1)
    model = clone(TRANSDUCTIVE[name]).fit(X, y)

    left_out = leave_one_label_out(model)

    refits = [clone(model).fit(X, without_label(y, row)) for row in labeled]
    wanted = [refit.decision_[row] for refit, row in zip(refits, labeled, strict=True)]
    assert relative_error(left_out.decision, wanted) < SAME_TO_ROUNDING
    predictions = [refit.transduction_[row] for refit, row in zip(refits, labeled, strict=True)]
    np.testing.assert_array_equal(left_out.predictions, predictions)
    np.testing.assert_array_equal(left_out.rows, labeled)
    np.testing.assert_array_equal(left_out.given, y[labeled])
    assert not left_out.is_only_label.any()
    assert left_out.accuracy == np.mean(np.array(predictions) == y[labeled])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lssvm_decisions_equal_refits_without_each_row(data, fit_intercept):
    X, y = data
    X, y = X[y != -1], y[y != -1]
    model = LSSVMClassifier(KERNEL, error_weight=3.0, fit_intercept=fit_intercept).fit(X, y)

    left_out = leave_one_label_out(model)

    wanted, predictions = [], []
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        refit = clone(model).fit(X[others], y[others])
        wanted.append(refit.decision_function(X[[row]])[0])
        predictions.append(refit.predict(X[[row]])[0])
    assert relative_error(left_out.decision, wanted) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(left_out.predictions, predictions)
    np.testing.assert_array_equal(left_out.rows, np.arange(len(y)))


def test_minus_one_is_a_class_like_any_other_for_lssvm(two_classes):
    X, y = two_classes
    X, y = X[y != -1], y[y != -1]
    model = LSSVMClassifier(KERNEL).fit(X, y)
    signs = LSSVMClassifier(KERNEL).fit(X, 2 * y - 1)

    left_out, wanted = leave_one_label_out(signs), leave_one_label_out(model)
    assert relative_error(left_out.decision, wanted.decision) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(left_out.given, 2 * y - 1)
    np.testing.assert_array_equal(left_out.predictions, 2 * wanted.predictions - 1)


def test_large_models_solved_by_iteration_equal_refits(rng):
    X = rng.standard_normal((700, 5)) * np.linspace(1.0, 0.5, 5)
    y = np.full(700, -1)
    y[:8] = np.arange(8) % 2
    model = SemiKPCAClassifier(KERNEL, error_weight=0.3).fit(X, y)
    assert model.n_iter_ > 1, "this test is about conjugate gradients, and a direct solve takes one step"

    left_out = leave_one_label_out(model)

    wanted = [clone(model).fit(X, without_label(y, row)).decision_[row] for row in range(8)]
    assert relative_error(left_out.decision, wanted) < SAME_TO_ROUNDING


def test_class_prior_keeps_the_offsets_of_the_whole_fit(data):
    X, y = data
    n_classes = y.max() + 1
    prior = np.arange(1.0, n_classes + 1)
    plain = SemiKPCAClassifier(KERNEL).fit(X, y)
    shifted = SemiKPCAClassifier(KERNEL, class_prior=prior).fit(X, y)

    offsets = shifted.decision_[0] - plain.decision_[0]

    assert np.abs(offsets).max() > 0.01 * np.abs(plain.decision_).max(), "the prior is meant to move the decisions"
    wanted = leave_one_label_out(plain).decision + offsets
    assert relative_error(leave_one_label_out(shifted).decision, wanted) < SAME_TO_ROUNDING


def test_string_labels_come_back_as_strings(two_classes):
    X, y = two_classes
    names = np.array(["cat", "dog"], dtype=object)
    words = np.where(y == -1, None, names[y])

    left_out = leave_one_label_out(SemiKPCAClassifier(KERNEL).fit(X, words))

    numbers = leave_one_label_out(SemiKPCAClassifier(KERNEL).fit(X, y))
    np.testing.assert_array_equal(left_out.given, names[numbers.given])
    np.testing.assert_array_equal(left_out.predictions, names[numbers.predictions])
    assert left_out.accuracy == numbers.accuracy


# -- a class that vanishes with its only label ---------------------------------------------------------------------


def test_only_label_of_a_class_is_marked_and_left_out_of_the_accuracy(five_classes):
    X, y = five_classes
    y = y.copy()
    alone = np.flatnonzero(y == 3)[0]
    y[y == 3] = -1
    y[alone] = 3

    left_out = leave_one_label_out(SemiKPCAClassifier(KERNEL).fit(X, y))

    np.testing.assert_array_equal(left_out.rows[left_out.is_only_label], [alone])
    others = ~left_out.is_only_label
    assert left_out.accuracy == np.mean(left_out.predictions[others] == left_out.given[others])
    assert left_out.accuracy > np.mean(left_out.predictions == left_out.given), "its own label counts as an error here"


@pytest.mark.parametrize("name", ["semi-kpca, k=1", "semi-lssvm"])
def test_left_out_only_label_leaves_the_other_classes_as_a_refit_without_that_class(five_classes, name):
    X, y = five_classes
    y = y.copy()
    alone = np.flatnonzero(y == 3)[0]
    y[y == 3] = -1
    y[alone] = 3
    model = clone(TRANSDUCTIVE[name]).fit(X, y)

    left_out = leave_one_label_out(model)

    refit = clone(model).fit(X, without_label(y, alone))
    assert refit.classes_.tolist() == [0, 1, 2, 4]
    found = left_out.decision[left_out.rows == alone][:, [0, 1, 2, 4]]
    assert relative_error(found[0], refit.decision_[alone]) < SAME_TO_ROUNDING


@pytest.mark.parametrize("n_classes", [2, 5])
def test_accuracy_is_nan_with_one_label_for_each_class(five_classes, n_classes):
    X, given = five_classes
    y = np.full(len(given), -1)
    for label in range(n_classes):
        y[np.flatnonzero(given == label)[0]] = label

    left_out = leave_one_label_out(SemiKPCAClassifier(KERNEL).fit(X, y))

    assert left_out.is_only_label.all()
    assert math.isnan(left_out.accuracy)


def test_single_class_finds_its_labels_again(two_classes):
    X, y = two_classes
    y = np.where(y == 1, 1, -1)
    with pytest.warns(SingleClassWarning):
        model = SemiKPCAClassifier(KERNEL).fit(X, y)

    left_out = leave_one_label_out(model)

    assert left_out.accuracy == 1.0
    assert set(left_out.predictions.tolist()) == {1}


def test_model_is_left_as_it_was(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier(KERNEL).fit(X, y)
    decision, codes = model.decision_.copy(), model.label_coding_.codes.copy()

    leave_one_label_out(model)

    np.testing.assert_array_equal(model.decision_, decision)
    np.testing.assert_array_equal(model.label_coding_.codes, codes)


def test_model_that_was_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        leave_one_label_out(SemiKPCAClassifier())
