"""Probabilities: what they must satisfy, and how sure they may be."""

import numpy as np
import pytest

from semikpca import LSSVMClassifier, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.decisions._probability import (
    MAX_LEFT_OUT,
    MOST_ROWS_TO_MATCH,
    learn_sharpness,
    matching_sharpness,
    probabilities,
    rows_to_leave_out,
)
from semikpca.exceptions import SingleClassWarning

# Rows of probabilities sum to one within rounding.
ROUNDING = 1e-12
# The same in single precision.
SINGLE_PRECISION_ROUNDING = 1e-5
# Two ways to the same decisions differ by rounding, and a sharpness of up to a thousand magnifies it.
PROBABILITY_TOLERANCE = 1e-9
# The search for the sharpness ends within a relative step of about 1e-5.
SEARCH_TOLERANCE = 1e-3
# A factor is matched to a thousandth of itself. The mean probability p of the best of two classes then moves by a
# thousandth of p (1 - p) times their log-odds, which is 0.23 at most; of ten classes by 1.1 at most.
MATCHED = 1.1e-3
# Calibration in the large, over several draws: neither boastful nor shy by more than this.
CALIBRATION_TOLERANCE = 0.15
# "Moderate": with one label per class nobody may be nearly certain of a row.
MODERATE_CONFIDENCE = 0.95

MODELS = [SemiKPCAClassifier, SemiLSSVMClassifier, LSSVMClassifier]
TRANSDUCTIVE = [SemiKPCAClassifier, SemiLSSVMClassifier]


def clusters(n_classes=2, n=120, spread=1.0, seed=0):
    generator = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    angles = 2 * np.pi * truth / n_classes
    return 4.0 * np.column_stack([np.cos(angles), np.sin(angles)]) + spread * generator.normal(size=(n, 2)), truth


def with_labels(truth, n_each):
    y = np.full(len(truth), -1)
    for label in np.unique(truth):
        y[np.flatnonzero(truth == label)[:n_each]] = label
    return y


def confidence(model, X):
    return float(model.predict_proba(X).max(axis=1).mean())


# -- what always holds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("model", MODELS)
def test_rows_sum_to_one_and_the_largest_is_the_prediction(model, n_classes, dtype):
    X, truth = clusters(n_classes, spread=2.5)
    y = truth if model is LSSVMClassifier else with_labels(truth, 6)
    fitted = model().fit(X.astype(dtype), y)
    X_new = clusters(n_classes, spread=4.0, seed=1)[0].astype(dtype)
    for rows in (X.astype(dtype), X_new):
        given = fitted.predict_proba(rows)
        assert given.shape == (len(rows), n_classes)
        assert (given >= 0).all()
        np.testing.assert_allclose(
            given.sum(axis=1), 1, atol=ROUNDING if dtype is np.float64 else SINGLE_PRECISION_ROUNDING
        )
        np.testing.assert_array_equal(fitted.classes_[given.argmax(axis=1)], fitted.predict(rows))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", TRANSDUCTIVE)
def test_the_training_rows_have_label_distributions(model, n_classes):
    X, truth = clusters(n_classes)
    fitted = model().fit(X, with_labels(truth, 4))
    np.testing.assert_allclose(fitted.label_distributions_, fitted.predict_proba(X), atol=PROBABILITY_TOLERANCE)
    np.testing.assert_array_equal(fitted.classes_[fitted.label_distributions_.argmax(axis=1)], fitted.transduction_)


@pytest.mark.parametrize("model", MODELS)
def test_larger_decisions_are_surer(model):
    X, truth = clusters()
    fitted = model().fit(X, truth if model is LSSVMClassifier else with_labels(truth, 5))
    order = np.argsort(fitted.decision_)
    assert (np.diff(fitted.predict_proba(X)[order, 1]) >= 0).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_far_from_all_rows_no_class_is_likelier_than_the_predicted_one(n_classes):
    # Decisions fade to nothing there, and probabilities to equal shares; which of those is the first does not matter.
    X, truth = clusters(n_classes)
    fitted = SemiKPCAClassifier().fit(X, with_labels(truth, 4))
    far = 40.0 * np.random.default_rng(6).normal(size=(100, 2))
    given = fitted.predict_proba(far)
    predicted = np.searchsorted(fitted.classes_, fitted.predict(far))
    np.testing.assert_array_equal(given[np.arange(100), predicted], given.max(axis=1))


def test_columns_are_in_the_order_of_the_classes():
    X, truth = clusters(3)
    names = np.array(["zebra", "ant", "mouse"], dtype=object)
    y = np.array([None if code < 0 else names[code] for code in with_labels(truth, 5)], dtype=object)
    fitted = SemiKPCAClassifier().fit(X, y)
    assert fitted.classes_.tolist() == ["ant", "mouse", "zebra"]
    by_name = fitted.predict_proba(X).argmax(axis=1)
    assert np.mean(fitted.classes_[by_name] == names[truth]) > 0.9


def test_a_prior_keeps_prediction_and_probability_together():
    X, truth = clusters(3, spread=3.0)
    fitted = SemiKPCAClassifier(class_prior=[0.6, 0.3, 0.1]).fit(X, with_labels(truth, 6))
    np.testing.assert_array_equal(fitted.predict_proba(X).argmax(axis=1), fitted.predict(X))


@pytest.mark.parametrize("model", MODELS)
def test_one_class_is_certain(model):
    X, _ = clusters()
    y = np.zeros(len(X), dtype=int) if model is LSSVMClassifier else np.where(np.arange(len(X)) < 5, 7, -1)
    with pytest.warns(SingleClassWarning, match="every row gets that class"):
        fitted = model().fit(X, y)
    np.testing.assert_array_equal(fitted.predict_proba(X), np.ones((len(X), 1)))
    assert set(fitted.predict(X)) == {y[0]}


# -- how sure ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("model", TRANSDUCTIVE)
def test_more_labels_on_clear_data_give_more_confidence(model, n_classes):
    X, truth = clusters(n_classes, n=160, spread=0.7)
    levels = [confidence(model().fit(X, with_labels(truth, n_each)), X) for n_each in (1, 3, 10, 30)]
    assert levels == sorted(levels)
    assert levels[-1] > 0.95
    assert levels[-1] > levels[0] + 0.1


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("model", MODELS)
def test_wrong_labels_give_less_confidence(model, n_classes):
    X, truth = clusters(n_classes, n=160, spread=0.7)
    clean = truth if model is LSSVMClassifier else with_labels(truth, 20)
    labeled = np.flatnonzero(clean >= 0)
    levels = [confidence(model().fit(X, clean), X)]
    for share in (0.2, 0.4):
        noisy = clean.copy()
        wrong = np.random.default_rng(2).permutation(labeled)[: int(share * len(labeled))]
        noisy[wrong] = (noisy[wrong] + 1) % n_classes
        levels.append(confidence(model().fit(X, noisy), X))
    assert levels[0] > levels[1] > levels[2]


@pytest.mark.parametrize("n_classes", [2, 4, 8])
@pytest.mark.parametrize("model", TRANSDUCTIVE)
def test_with_one_label_a_class_confidence_stays_moderate(model, n_classes):
    X, truth = clusters(n_classes, n=160, spread=0.5)
    fitted = model().fit(X, with_labels(truth, 1))
    level = confidence(fitted, X)
    assert 1 / n_classes < level < MODERATE_CONFIDENCE


@pytest.mark.parametrize("model", TRANSDUCTIVE)
def test_labels_that_mean_nothing_give_little_confidence(model):
    generator = np.random.default_rng(3)
    X = generator.normal(size=(150, 3))
    y = np.where(np.arange(150) < 60, generator.integers(0, 2, size=150), -1)
    assert confidence(model().fit(X, y), X) < 0.75


@pytest.mark.parametrize("model", TRANSDUCTIVE)
@pytest.mark.parametrize(("spread", "n_each"), [(2.0, 15), (4.0, 15), (4.0, 40)])
def test_confidence_is_about_as_high_as_accuracy(model, spread, n_each):
    differences = []
    for seed in range(6):
        X, truth = clusters(2, n=240, spread=spread, seed=10 + seed)
        y = with_labels(truth, n_each)
        fitted = model().fit(X, y)
        unlabeled = y < 0
        accuracy = np.mean(fitted.transduction_[unlabeled] == truth[unlabeled])
        differences.append(fitted.label_distributions_[unlabeled].max(axis=1).mean() - accuracy)
    assert abs(np.mean(differences)) < CALIBRATION_TOLERANCE


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_probabilities_do_not_depend_on_the_scale_of_the_decisions(scale):
    generator = np.random.default_rng(4)
    decision = generator.normal(size=(50, 3))
    codes = decision[:20].argmax(axis=1)
    codes[:4] = generator.integers(0, 3, size=4)
    plain = learn_sharpness(decision[:20], codes, 3, decision)
    scaled = learn_sharpness(scale * decision[:20], codes, 3, scale * decision)
    assert scaled * scale == pytest.approx(plain, rel=SEARCH_TOLERANCE)


@pytest.mark.parametrize("n_each", [2, 10, 100])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_labels_that_are_all_found_again_give_the_confidence_of_laplaces_rule(n_classes, n_each):
    # Every left-out label is found with the same margin: m successes in m trials, (m + 1) / (m + n_classes).
    codes = np.tile(np.arange(n_classes), n_each)
    scores = np.where(codes[:, np.newaxis] == np.arange(n_classes), 1.0, -1.0)
    decision = scores[:, 1:] if n_classes == 2 else scores
    sharpness = learn_sharpness(decision, codes, n_classes, decision)
    found = probabilities(decision, n_classes, sharpness).max(axis=1)
    m = n_classes * n_each
    np.testing.assert_allclose(found, (m + 1) / (m + n_classes), atol=SEARCH_TOLERANCE)


def test_decisions_that_are_all_zero_say_nothing():
    assert learn_sharpness(np.zeros((4, 1)), np.array([0, 1, 0, 1]), 2, np.zeros((10, 1))) == 1.0


# -- as high as labels are expected to be right ------------------------------------------------------------------


def decisions(n_classes, n=400, seed=5):
    scores = np.random.default_rng(seed).normal(size=(n, n_classes))
    return scores[:, 1:] - scores[:, :1] if n_classes == 2 else scores


def mean_of_the_highest(decision, n_classes, sharpness):
    """The mean probability of the predicted class, row by row."""
    highest = []
    for row in decision.reshape(len(decision), -1):
        scores = [-row[0], row[0]] if n_classes == 2 else row.tolist()
        powers = np.exp(sharpness * (np.array(scores) - max(scores)))
        highest.append(powers.max() / powers.sum())
    return float(np.mean(highest))


@pytest.mark.parametrize("accuracy", [0.55, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_the_predicted_class_has_the_asked_probability_on_the_mean(n_classes, accuracy):
    decision = decisions(n_classes)
    sharpness = matching_sharpness(decision, n_classes, accuracy)
    assert mean_of_the_highest(decision, n_classes, sharpness) == pytest.approx(accuracy, abs=MATCHED)
    given = probabilities(decision, n_classes, sharpness)
    assert given.max(axis=1).mean() == pytest.approx(accuracy, abs=MATCHED)
    np.testing.assert_allclose(given.sum(axis=1), 1, atol=ROUNDING)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_more_accuracy_means_more_sharpness(n_classes):
    decision = decisions(n_classes)
    found = [
        matching_sharpness(decision, n_classes, accuracy) for accuracy in np.linspace(1 / n_classes + 0.05, 0.99, 20)
    ]
    assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("n_classes", [2, 5])
def test_what_no_sharpness_gives_is_come_as_near_to_as_can_be(n_classes):
    decision = decisions(n_classes)
    for too_low in (0.0, 0.1, 1 / n_classes):
        flat = mean_of_the_highest(decision, n_classes, matching_sharpness(decision, n_classes, too_low))
        assert 1 / n_classes < flat < 1 / n_classes + 0.01
    for too_high in (1.0, 1.5):
        sure = mean_of_the_highest(decision, n_classes, matching_sharpness(decision, n_classes, too_high))
        assert 0.99 < sure <= 1  # a row on the edge is not sure at any sharpness


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_matched_sharpness_does_not_depend_on_the_scale_of_the_decisions(n_classes, scale):
    decision = decisions(n_classes)
    plain, scaled = (matching_sharpness(factor * decision, n_classes, 0.8) for factor in (1.0, scale))
    assert scaled * scale == pytest.approx(plain, rel=SEARCH_TOLERANCE)


def test_decisions_that_say_nothing_and_one_class_have_no_sharpness_to_match():
    assert matching_sharpness(np.zeros((10, 1)), 2, 0.9) == 1.0
    assert matching_sharpness(np.zeros((10, 3)), 3, 0.9) == 1.0
    assert matching_sharpness(np.zeros((10, 1)), 1, 0.9) == 1.0


def test_rows_that_no_label_reaches_draw_the_others_up_where_they_are_counted():
    """They have even chances at any sharpness, so that whoever wants the others matched leaves them out."""
    decision = decisions(2)
    with_nothing = np.vstack([decision, np.zeros((400, 1))])
    found = matching_sharpness(with_nothing, 2, 0.7)
    assert mean_of_the_highest(with_nothing, 2, found) == pytest.approx(0.7, abs=MATCHED)
    assert mean_of_the_highest(decision, 2, found) == pytest.approx(0.9, abs=2 * MATCHED)


def test_many_rows_are_matched_by_an_even_choice():
    decision = decisions(3, n=4 * MOST_ROWS_TO_MATCH + 1)
    sharpness = matching_sharpness(decision, 3, 0.8)
    # Probabilities vary by 0.16 from row to row, their mean over 4,000 rows by 0.0025.
    assert mean_of_the_highest(decision[:5_000], 3, sharpness) == pytest.approx(0.8, abs=0.01)
    # The choice is every fifth row; only the unit of the search is that of all rows.
    assert sharpness == pytest.approx(matching_sharpness(decision[::5], 3, 0.8), rel=SEARCH_TOLERANCE)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_decisions_may_be_a_vector_or_single_precision(dtype):
    decision = decisions(2).astype(dtype)
    expected = matching_sharpness(decisions(2), 2, 0.8)
    for given in (decision, decision[:, 0]):
        assert matching_sharpness(given, 2, 0.8) == pytest.approx(expected, rel=SEARCH_TOLERANCE)


# -- which labels are left out -----------------------------------------------------------------------------------


def test_all_labels_are_left_out_in_turn_where_they_are_few():
    codes = np.array([-1, 0, -1, 1, 1])
    assert rows_to_leave_out(np.flatnonzero(codes != -1)).tolist() == [1, 3, 4]


def test_of_many_labels_an_even_choice_is_left_out():
    codes = np.zeros(5000, dtype=int)
    chosen = rows_to_leave_out(np.flatnonzero(codes != -1))
    assert len(chosen) == len(np.unique(chosen)) == MAX_LEFT_OUT
    assert chosen[0] == 0
    assert chosen[-1] == 4999
    assert np.diff(chosen).max() <= 2 * 5000 / MAX_LEFT_OUT


def test_sorted_labels_of_unequal_classes_are_all_represented():
    codes = np.repeat([0, 1, 2], [3000, 40, 200])
    assert set(codes[rows_to_leave_out(np.flatnonzero(codes != -1))]) == {0, 1, 2}
