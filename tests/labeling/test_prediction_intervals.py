"""Intervals of numbers: by refits, by another package, and as often right as promised."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import LeaveOneOut, PredefinedSplit

from oracles import relative_error
from semikpca import LSSVMRegressor, SemiKPCAClassifier, SemiKPCARegressor, SemiKPCARegressorCV
from semikpca.blending import label_folds
from semikpca.kernels import RBF, Linear
from semikpca.labeling import (
    accept_labels,
    error_weight_path,
    expected_change,
    held_out,
    prediction_intervals,
    prediction_sets,
    suggest_labels,
)

KERNEL = RBF(gamma=0.1)
MODELS = [SemiKPCARegressor(KERNEL), SemiKPCARegressorCV([KERNEL, Linear()])]
# Refits solve for other columns than the model that shares them, to a tolerance of 1e-6.
SAME_BY_REFIT = 1e-5


def table(rng, n_rows=60, n_labels=15):
    X = rng.standard_normal((n_rows, 3))
    truth = np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n_rows)
    y = np.full(n_rows, np.nan)
    rows = rng.choice(n_rows, n_labels, replace=False)
    y[rows] = truth[rows]
    return X, y, truth


def by_refits(model, X, y, error_rate, folds, asked, new=None):
    """Jackknife+ by definition: sort the answers of refits plus and minus their errors, and count."""
    labeled = np.flatnonzero(~np.isnan(y))
    lows, highs = [], []
    for fold in folds:
        kept = y.copy()
        kept[labeled[fold]] = np.nan
        without = clone(model).fit(X, kept)
        answers = without.transduction_[asked] if new is None else without.predict(new)
        for row in labeled[fold]:
            error = abs(y[row] - without.transduction_[row])
            lows.append(answers - error)
            highs.append(answers + error)
    n = len(labeled)
    place = int(np.ceil((1 - error_rate) * (n + 1) - 1e-9))
    return -np.sort(-np.array(lows), axis=0)[place - 1], np.sort(highs, axis=0)[place - 1]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n_labels", [15, 24])
def test_intervals_are_those_of_refits(rng, model, n_labels):
    X, y, _ = table(rng, n_labels=n_labels)
    fitted = clone(model).fit(X, y)
    found = prediction_intervals(fitted, 0.2)
    asked = np.flatnonzero(np.isnan(y))
    np.testing.assert_array_equal(found.rows, asked)
    low, high = by_refits(model, X, y, 0.2, label_folds(n_labels), asked)
    assert relative_error(found.low, low) < SAME_BY_REFIT
    assert relative_error(found.high, high) < SAME_BY_REFIT
    new = X[:7] + 0.2
    of_new = prediction_intervals(fitted, 0.2, new)
    low, high = by_refits(model, X, y, 0.2, label_folds(n_labels), None, new)
    assert relative_error(of_new.low, low) < SAME_BY_REFIT
    assert relative_error(of_new.high, high) < SAME_BY_REFIT
    assert np.isnan(of_new.promised_coverage)


class OnAllRows(RegressorMixin, BaseEstimator):
    """A transductive model as others see it: rows are named by their numbers, and labels come for some of them."""

    def __init__(self, model, X):
        self.model = model
        self.X = X

    def fit(self, numbers, values):
        y = np.full(len(self.X), np.nan)
        y[numbers[:, 0].astype(int)] = values
        self.fitted_ = clone(self.model).fit(self.X, y)
        return self

    def predict(self, numbers):
        return self.fitted_.transduction_[numbers[:, 0].astype(int)]


@pytest.mark.parametrize("n_labels", [15, 24])
def test_intervals_are_those_of_mapie(rng, n_labels):
    X, y, _ = table(rng, n_labels=n_labels)
    model = SemiKPCARegressor(KERNEL)
    found = prediction_intervals(clone(model).fit(X, y), 0.2)
    labeled = np.flatnonzero(~np.isnan(y))
    test_fold = np.empty(n_labels)
    for number, fold in enumerate(label_folds(n_labels)):
        test_fold[fold] = number
    cv = LeaveOneOut() if n_labels <= 20 else PredefinedSplit(test_fold)
    mapie = pytest.importorskip("mapie.regression")
    peer = mapie.CrossConformalRegressor(OnAllRows(model, X), confidence_level=0.8, method="plus", cv=cv)
    peer.fit_conformalize(labeled[:, np.newaxis].astype(float), y[labeled])
    intervals = peer.predict_interval(found.rows[:, np.newaxis].astype(float))[1][:, :, 0]
    assert relative_error(found.low, intervals[:, 0]) < SAME_BY_REFIT
    assert relative_error(found.high, intervals[:, 1]) < SAME_BY_REFIT


def test_what_is_promised_falls_with_folds_of_several_labels(rng):
    few, many = (table(rng, n_labels=n) for n in (20, 40))
    assert prediction_intervals(SemiKPCARegressor(KERNEL).fit(*few[:2]), 0.1).promised_coverage == pytest.approx(0.8)
    of_many = prediction_intervals(SemiKPCARegressor(KERNEL).fit(*many[:2]), 0.1)
    assert of_many.promised_coverage == pytest.approx(0.8 - (1 - 20 / 40) / 21)
    assert of_many.n_labels == 40
    assert of_many.is_informative


@pytest.mark.parametrize("model", MODELS)
def test_numbers_are_in_their_intervals_as_often_as_promised(rng, model):
    """Over 60 draws: 0.9 is asked for and 0.8 promised; the mean of 60 draws is off by about 0.01."""
    covered = []
    for _ in range(60):
        X, y, truth = table(rng, n_labels=20)
        found = prediction_intervals(clone(model).fit(X, y), 0.1)
        covered.append(np.mean((found.low <= truth[found.rows]) & (truth[found.rows] <= found.high)))
    assert 0.86 < np.mean(covered) < 0.97


def test_too_few_labels_for_the_error_rate_exclude_nothing(rng):
    X, y, _ = table(rng, n_labels=8)
    found = prediction_intervals(SemiKPCARegressor(KERNEL).fit(X, y), 0.1)
    assert np.isinf(found.low).all()
    assert np.isinf(found.high).all()
    assert not found.is_informative
    nine = prediction_intervals(SemiKPCARegressor(KERNEL).fit(*table(rng, n_labels=9)[:2]), 0.1)
    assert nine.is_informative
    assert np.isfinite(nine.low).all()


def test_one_label_excludes_nothing(rng):
    X, y, _ = table(rng, n_labels=1)
    found = prediction_intervals(SemiKPCARegressor(KERNEL).fit(X, y), 0.5)
    assert np.isinf(found.high).all()


def test_each_target_has_its_interval(rng):
    X, y, _ = table(rng)
    found = prediction_intervals(SemiKPCARegressor(KERNEL).fit(X, np.column_stack([y, 10 * y])), 0.2)
    assert found.low.shape == (45, 2)
    assert relative_error(found.high[:, 1], 10 * found.high[:, 0]) < SAME_BY_REFIT


def test_labels_of_suggested_rows_are_not_counted(rng):
    X, y, truth = table(rng)
    model = SemiKPCARegressor(KERNEL).fit(X, y)
    rows = suggest_labels(model, 4, check_rows=1)
    model.add_labels(rows, truth[rows])
    assert prediction_intervals(model, 0.2).n_labels == 16
    assert prediction_intervals(model, 0.2, drawn_rows=model.labeled_rows_).n_labels == 19
    model.remember_suggestions(model.labeled_rows_)
    with pytest.raises(ValueError, match="No label was drawn at random"):
        prediction_intervals(model)


def test_a_model_of_the_other_kind_is_refused_by_name(rng, two_classes):
    X, y, _ = table(rng)
    regressor, classifier = SemiKPCARegressor(KERNEL).fit(X, y), SemiKPCAClassifier().fit(*two_classes)
    with pytest.raises(TypeError, match=r"SemiKPCAClassifier predicts classes\. Use prediction_sets"):
        prediction_intervals(classifier)
    with pytest.raises(TypeError, match=r"SemiKPCARegressor fills in numbers\. Use prediction_intervals"):
        prediction_sets(regressor)
    with pytest.raises(TypeError, match="LSSVMRegressor does not say"):
        prediction_intervals(LSSVMRegressor().fit(X, np.nan_to_num(y)))
    with pytest.raises(ValueError, match="error_rate must lie between 0 and 1"):
        prediction_intervals(regressor, 1.0)
    for reading, arguments in ((held_out, ()), (accept_labels, ()), (error_weight_path, ()), (expected_change, ([5],))):
        with pytest.raises(TypeError, match=r"is about classes, and SemiKPCARegressor fills in numbers\. Use "):
            reading(regressor, *arguments)
