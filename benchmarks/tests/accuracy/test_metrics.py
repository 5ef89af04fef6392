"""Measures against scikit-learn's, and against loops that share no code with them."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

from semikpca_benchmarks.accuracy import N_BINS
from semikpca_benchmarks.accuracy._metrics import (
    balanced_accuracy,
    calibration_error,
    probability_scores,
    rare_f1,
    recalls,
)

SEEDS = range(20)
ROUNDING = 1e-12


def made_up(seed, n_classes=4, n_rows=300):
    """Classes of very unequal size, labels that are often right, and probabilities with their largest anywhere."""
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet(np.ones(n_classes))
    truth = np.concatenate([np.arange(n_classes), generator.choice(n_classes, n_rows, p=shares)])
    labels = np.where(generator.random(len(truth)) < 0.6, truth, generator.integers(0, n_classes, len(truth)))
    return truth, labels, generator.dirichlet(np.full(n_classes, 0.4), len(truth))


def counts(truth, labels, n_classes=4):
    hits, predicted, true = (np.zeros(n_classes) for _ in range(3))
    for t, p in zip(truth, labels, strict=True):
        true[t] += 1
        predicted[p] += 1
        hits[t] += t == p
    return hits, predicted, true


@pytest.mark.parametrize("seed", SEEDS)
def test_balanced_accuracy_is_that_of_scikit_learn(seed):
    truth, labels, _ = made_up(seed)
    hits, _, true = counts(truth, labels)
    assert balanced_accuracy(hits, true) == pytest.approx(100 * balanced_accuracy_score(truth, labels), abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rare", [(2,), (0, 3)])
def test_f1_of_rare_classes_is_the_mean_of_those_of_scikit_learn(seed, rare):
    truth, labels, _ = made_up(seed)
    hits, predicted, true = counts(truth, labels)
    expected = f1_score(truth, labels, average=None)[list(rare)].mean()
    assert rare_f1(hits, predicted, true, rare) == pytest.approx(100 * expected, abs=1e-10)


def test_a_class_that_was_never_predicted_has_an_f1_of_0():
    assert rare_f1(np.array([9.0, 0.0]), np.array([10.0, 0.0]), np.array([9.0, 1.0]), (1,)) == 0.0


def test_a_class_without_a_row_to_be_predicted_counts_in_neither_measure():
    hits, predicted, true = np.array([3.0, 0.0, 2.0]), np.array([4.0, 1.0, 3.0]), np.array([4.0, 0.0, 4.0])
    assert np.isnan(recalls(hits, true)).tolist() == [False, True, False]
    assert balanced_accuracy(hits, true) == pytest.approx(100 * (0.75 + 0.5) / 2)
    assert rare_f1(hits, predicted, true, (1, 2)) == pytest.approx(100 * 2 * 2 / (3 + 4))


def test_draws_stand_in_rows_and_one_that_failed_has_no_value():
    hits = np.array([[4.0, 1.0], [np.nan, np.nan]])
    true = np.array([[4.0, 2.0], [4.0, 2.0]])
    assert balanced_accuracy(hits, true)[0] == 75.0
    assert np.isnan(balanced_accuracy(hits, true)[1])
    assert np.isnan(rare_f1(hits, hits, true, (1,))[1])
    assert np.isnan(rare_f1(hits, hits, true, ())).all()  # no class is rare


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_of_probabilities_are_those_of_loops_over_rows_and_bins(seed):
    truth, labels, probabilities = made_up(seed)
    brier, in_bin = 0.0, {number: [] for number in range(15)}
    for t, p, row in zip(truth, labels, probabilities, strict=True):
        brier += sum((row[c] - (1.0 if c == t else 0.0)) ** 2 for c in range(4))
        for number in range(15):
            if number / 15 < row[p] <= (number + 1) / 15:
                in_bin[number].append((row[p], t == p))
    error = 0.0
    for members in in_bin.values():
        if members:
            confidence = sum(value for value, _ in members) / len(members)
            accuracy = sum(right for _, right in members) / len(members)
            error += len(members) / len(truth) * abs(accuracy - confidence)
    found = probability_scores(probabilities, labels, truth)
    assert sum(map(len, in_bin.values())) == len(truth)
    assert found.calibration_error == pytest.approx(error, abs=ROUNDING)
    assert found.brier == pytest.approx(brier / len(truth), abs=ROUNDING)
    confidence = np.mean([row[p] for p, row in zip(labels, probabilities, strict=True)])
    assert found.overconfidence == pytest.approx(confidence - (labels == truth).mean(), abs=ROUNDING)


def test_certainty_has_the_best_and_the_worst_scores():
    truth = np.array([0, 1, 1, 2])
    sure = np.eye(3)[truth]
    right = probability_scores(sure, truth, truth)
    assert (right.calibration_error, right.brier, right.overconfidence) == (0.0, 0.0, 0.0)
    wrong = probability_scores(sure, truth, (truth + 1) % 3)
    assert (wrong.calibration_error, wrong.brier, wrong.overconfidence) == (1.0, 2.0, 1.0)


def test_there_are_fifteen_bins_and_their_upper_ends_belong_to_them():
    assert N_BINS == 15
    # 0.2 is the upper end of the third bin: two rows in one bin agree on average, in two bins they would not.
    together = calibration_error(np.array([0.2, 0.15]), np.array([0.35, 0.0]))
    assert together == pytest.approx(0.0, abs=ROUNDING)
    apart = calibration_error(np.array([0.2, 0.21]), np.array([0.41, 0.0]))
    assert apart == pytest.approx(0.21, abs=ROUNDING)


def test_a_confidence_of_0_is_in_the_first_bin():
    assert calibration_error(np.array([0.0, 0.0]), np.array([1.0, 0.0])) == 0.5
