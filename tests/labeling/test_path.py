"""The path of error weights against separate fits."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from oracles import (
    SAME_TO_ROUNDING,
    as_fitted,
    entrywise,
    naive_rbf,
    naive_signed_targets,
    paper_error_weight,
    relative_error,
    semi_kpca_from_the_paper,
)
from semikpca import SemiKPCAClassifier
from semikpca.exceptions import DegenerateSpectrumWarning, UnboundedProblemError
from semikpca.kernels import RBF, NeighborGraph, Normalized
from semikpca.labeling import error_weight_path, leave_one_label_out

# What is asked of a path on a graph: see semikpca.problem.
SEVEN_DIGITS = 2e-7
WEIGHTS = [0.02, 0.3, 0.77, 0.9, 0.99]


@pytest.mark.parametrize("kernel", [RBF(gamma=0.1), Normalized(RBF(gamma=0.1))], ids=["rbf", "normalized"])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_every_weight_equals_a_fit_of_its_own(data, kernel, k):
    X, y = data
    model = SemiKPCAClassifier(kernel, n_components_removed=k, error_weight=0.5).fit(X, y)

    path = error_weight_path(model, WEIGHTS)

    for i, weight in enumerate(WEIGHTS):
        fit = clone(model).set_params(error_weight=weight).fit(X, y)
        left_out = leave_one_label_out(fit)
        assert path.error_weights[i] == pytest.approx(fit.error_weight_, rel=SAME_TO_ROUNDING)
        assert relative_error(path.decision[i], fit.decision_) < SAME_TO_ROUNDING
        assert relative_error(path.left_out_decision[i], left_out.decision) < SAME_TO_ROUNDING
        assert path.left_out_accuracy[i] == left_out.accuracy
    np.testing.assert_array_equal(path.relative_weights, WEIGHTS)
    np.testing.assert_array_equal(path.rows, np.flatnonzero(y != -1))


def test_every_weight_equals_algorithm_1(data):
    X, y = data
    K = entrywise(naive_rbf(0.1), X, X)
    path = error_weight_path(SemiKPCAClassifier(RBF(gamma=0.1), n_components_removed=2).fit(X, y), WEIGHTS)

    for decision, weight in zip(path.decision, WEIGHTS, strict=True):
        wanted = semi_kpca_from_the_paper(K, naive_signed_targets(y), 2, paper_error_weight(K, 2, weight))
        assert relative_error(decision, as_fitted(wanted)) < SAME_TO_ROUNDING


def test_large_models_whose_spectrum_was_cut_short_equal_fits_of_their_own(rng):
    X = rng.standard_normal((420, 5)) * np.linspace(1.0, 0.5, 5)
    y = np.full(420, -1)
    y[:12] = np.arange(12) % 3
    model = SemiKPCAClassifier(RBF(gamma=0.1)).fit(X, y)

    path = error_weight_path(model, WEIGHTS)

    for i, weight in enumerate(WEIGHTS):
        fit = clone(model).set_params(error_weight=weight).fit(X, y)
        assert relative_error(path.decision[i], fit.decision_) < SAME_TO_ROUNDING
        assert relative_error(path.left_out_decision[i], leave_one_label_out(fit).decision) < SAME_TO_ROUNDING


@pytest.mark.slow  # many fits
@pytest.mark.parametrize("apart", [1.0, 30.0], ids=["one piece", "three pieces"])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_neighbor_graphs_equal_fits_of_their_own(rng, apart, k):
    classes = np.arange(450) % 3
    X = rng.standard_normal((450, 4))
    X[:, :3] += apart * np.eye(3)[classes]
    y = np.where(np.arange(450) < 30, classes, -1)
    model = SemiKPCAClassifier(NeighborGraph(n_neighbors=6), n_components_removed=k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateSpectrumWarning)  # three pieces share an eigenvalue
        path = error_weight_path(model.fit(X, y), WEIGHTS)

        for i, weight in enumerate(WEIGHTS):
            fit = clone(model).set_params(error_weight=weight).fit(X, y)
            assert relative_error(path.decision[i], fit.decision_) < SEVEN_DIGITS
            assert relative_error(path.left_out_decision[i], leave_one_label_out(fit).decision) < SEVEN_DIGITS


def test_own_error_weight_and_class_prior_of_the_model_do_not_matter(data):
    X, y = data
    shares = np.arange(1.0, y.max() + 2)
    plain = SemiKPCAClassifier(RBF(gamma=0.1), error_weight=0.2).fit(X, y)
    other = SemiKPCAClassifier(RBF(gamma=0.1), error_weight=0.9, class_prior=shares).fit(X, y)

    found, wanted = error_weight_path(other, WEIGHTS), error_weight_path(plain, WEIGHTS)
    assert relative_error(found.decision, wanted.decision) < SAME_TO_ROUNDING
    assert relative_error(found.left_out_decision, wanted.left_out_decision) < SAME_TO_ROUNDING


def test_given_spectrum_gives_the_same_path(data):
    X, y = data
    model = SemiKPCAClassifier(RBF(gamma=0.1)).fit(X, y)

    path = error_weight_path(model, WEIGHTS, spectrum=model.full_spectrum())

    wanted = error_weight_path(model, WEIGHTS)
    assert relative_error(path.decision, wanted.decision) < SAME_TO_ROUNDING
    assert relative_error(path.left_out_decision, wanted.left_out_decision) < SAME_TO_ROUNDING


def test_whole_number_spreads_as_many_weights_from_a_thousandth_to_the_bound(two_classes):
    X, y = two_classes
    path = error_weight_path(SemiKPCAClassifier().fit(X, y), 25)

    assert path.decision.shape == (25, len(X))
    assert path.left_out_decision.shape == (25, len(path.rows))
    assert path.left_out_accuracy.shape == (25,)
    assert (np.diff(path.relative_weights) > 0).all()
    # The two ends are given in decimals, so they come back through log-odds to a few units in the last place.
    np.testing.assert_allclose(path.relative_weights[[0, -1]], [0.001, 0.999], rtol=1e-12)


def test_more_classes_add_a_last_axis(five_classes):
    X, y = five_classes
    path = error_weight_path(SemiKPCAClassifier().fit(X, y), WEIGHTS)

    assert path.decision.shape == (len(WEIGHTS), len(X), 5)
    assert path.left_out_decision.shape == (len(WEIGHTS), 15, 5)


def test_accuracy_is_nan_with_one_label_for_each_class(two_classes):
    X, given = two_classes
    y = np.full(len(given), -1)
    for label in (0, 1):
        y[np.flatnonzero(given == label)[0]] = label

    path = error_weight_path(SemiKPCAClassifier().fit(X, y), WEIGHTS)

    assert np.isnan(path.left_out_accuracy).all()


@pytest.mark.parametrize("weights", [[0.5, 1.0], [1.0], [0.2, 1.7], [np.inf]])
def test_weights_at_or_above_the_bound_are_refused(two_classes, weights):
    X, y = two_classes
    model = SemiKPCAClassifier(n_components_removed=2).fit(X, y)

    with pytest.raises(UnboundedProblemError) as caught:
        error_weight_path(model, weights)

    assert caught.value.error_weight_max == model.certificate_.error_weight_max
    assert caught.value.n_components_removed == 2


@pytest.mark.parametrize("weights", [[0.5, 0.0], [-0.1], [np.nan], [], 0, -3, 0.5, 2.5])
def test_weights_that_are_not_positive_numbers_are_refused_by_name(two_classes, weights):
    X, y = two_classes
    model = SemiKPCAClassifier().fit(X, y)

    with pytest.raises(ValueError, match="relative_weights") as caught:
        error_weight_path(model, weights)

    assert not isinstance(caught.value, UnboundedProblemError)


def test_model_is_left_as_it_was(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier().fit(X, y)
    decision, weight = model.decision_.copy(), model.error_weight_

    error_weight_path(model, WEIGHTS)

    np.testing.assert_array_equal(model.decision_, decision)
    assert model.error_weight_ == weight


def test_model_that_was_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        error_weight_path(SemiKPCAClassifier())
