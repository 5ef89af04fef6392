"""Numbers that models were not given: by refits, and the intervals of errors by counting."""

import numpy as np
import pytest
from sklearn.base import clone

from semikpca import SemiKPCAClassifier, SemiKPCARegressor, SemiKPCARegressorCV
from semikpca.blending import label_folds
from semikpca.kernels import RBF, Linear
from semikpca.labeling import HeldOutValues, held_out_values, prediction_intervals, reach_of

KERNEL = RBF(gamma=0.1)
MODELS = [SemiKPCARegressor(KERNEL), SemiKPCARegressorCV([KERNEL, Linear()])]
# Refits solve for other columns than the model that shares them, to a tolerance of 1e-6.
SAME_BY_REFIT = 1e-5


def table(rng, n_rows=60, n_labels=15):
    X = rng.standard_normal((n_rows, 3))
    y = np.full(n_rows, np.nan)
    rows = rng.choice(n_rows, n_labels, replace=False)
    y[rows] = np.sin(X[rows, 0]) + X[rows, 1]
    return X, y


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n_labels", [15, 27])
def test_predictions_and_answers_are_those_of_refits(rng, model, n_labels):
    X, y = table(rng, n_labels=n_labels)
    found = held_out_values(clone(model).fit(X, y))
    labeled = np.flatnonzero(~np.isnan(y))
    assert found.rows.tolist() == labeled.tolist()
    assert found.given[:, 0].tolist() == y[labeled].tolist()
    for fold in label_folds(n_labels):
        kept = y.copy()
        kept[labeled[fold]] = np.nan
        refit = clone(model).fit(X, kept).transduction_
        np.testing.assert_allclose(found.predictions[fold, 0], refit[labeled[fold]], atol=SAME_BY_REFIT)
        (number,) = set(found.fold[fold].tolist())
        np.testing.assert_allclose(found.answers[number, :, 0], refit, atol=SAME_BY_REFIT)


def test_intervals_are_the_prediction_intervals(rng):
    X, y = table(rng)
    model = SemiKPCARegressor(KERNEL).fit(X, y)
    low, high = held_out_values(model).intervals(0.2)
    asked = prediction_intervals(model, 0.2)
    assert low.shape == high.shape == (60, 1)
    np.testing.assert_array_equal(low[asked.rows, 0], asked.low)
    np.testing.assert_array_equal(high[asked.rows, 0], asked.high)


def test_intervals_of_many_rows_are_made_piece_by_piece(rng, monkeypatch):
    X, y = table(rng)
    found = held_out_values(SemiKPCARegressor(KERNEL).fit(X, y))
    whole = found.intervals(0.2)
    monkeypatch.setattr("semikpca.labeling._held_out_values._NUMBERS_AT_ONCE", 100)
    np.testing.assert_array_equal(found.intervals(0.2), whole)


@pytest.mark.parametrize("error_rate", [0.1, 0.25, 0.5])
def test_own_intervals_reach_as_far_as_the_errors_of_the_others(rng, error_rate):
    given, said = rng.standard_normal((2, 30, 1))
    said[:5] = given[:5] + 0.25  # equal errors
    found = HeldOutValues(np.arange(30), given, said, np.zeros(30, dtype=int), np.zeros((1, 1, 1)))
    low, high = found.own_intervals(error_rate)
    errors = np.abs(given - said)[:, 0]
    for place in range(30):
        others = np.sort(np.delete(errors, place))
        reach = others[int(np.ceil((1 - error_rate) * 30 - 1e-9)) - 1]
        assert low[place, 0] == said[place, 0] - reach
        assert high[place, 0] == said[place, 0] + reach


def test_too_few_numbers_exclude_nothing(rng):
    X, y = table(rng, n_labels=5)
    found = held_out_values(SemiKPCARegressor(KERNEL).fit(X, y))
    assert np.isinf(found.own_intervals(0.1)).all()
    assert np.isinf(found.intervals(0.1)).all()
    assert found.reach(0.1).tolist() == [np.inf]


def test_one_number_is_all_there_is(rng):
    X, y = table(rng, n_labels=1)
    found = held_out_values(SemiKPCARegressor(KERNEL).fit(X, y))
    assert np.isnan(found.predictions).all()
    assert np.isinf(found.intervals(0.1)).all()
    assert np.isinf(found.own_intervals(0.1)).all() or np.isnan(found.own_intervals(0.1)).all()


def test_reach_is_the_rank_of_jackknife_among_the_errors(rng):
    errors = np.abs(rng.standard_normal(40))
    # ⌈0.9 · 41⌉ = 37 of 40.
    assert reach_of(errors, 0.1) == np.sort(errors)[36]
    assert reach_of(errors[:8], 0.1) == np.inf
    assert reach_of(errors[:9], 0.1) == errors[:9].max()


def test_classes_are_refused(rng):
    X, y = table(rng)
    model = SemiKPCAClassifier(KERNEL).fit(X, np.where(np.isnan(y), -1, y > 0).astype(int))
    with pytest.raises(TypeError, match="held_out_values is about numbers"):
        held_out_values(model)
