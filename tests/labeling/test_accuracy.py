"""The estimate of accuracy: its interval against scipy's, and how often it contains the truth."""

import numpy as np
import pytest
from scipy.stats import binom

from conformal_oracles import changed, refitted
from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.kernels import RBF, Linear
from semikpca.labeling import AccuracyEstimate, estimate_accuracy

ROUNDING = 1e-12  # the same numbers, other arithmetic


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize(("right", "counted"), [(0, 3), (1, 1), (0, 12), (5, 8), (33, 40), (40, 40), (611, 1000)])
def test_the_interval_is_that_of_clopper_and_pearson(right, counted, confidence):
    """At either end a count as extreme as the one that was seen has half of what is left to chance."""
    estimate = AccuracyEstimate.of(right, counted, confidence)
    tail = pytest.approx((1 - confidence) / 2, abs=ROUNDING)
    assert estimate.share == right / counted
    assert binom.sf(right - 1, counted, estimate.low) == tail if right else estimate.low == 0
    assert binom.cdf(right, counted, estimate.high) == tail if right < counted else estimate.high == 1


@pytest.mark.parametrize(
    "model", [SemiKPCAClassifier(RBF(gamma=0.1)), SemiKPCAClassifierCV([RBF(gamma=0.1), Linear()])]
)
def test_the_estimate_counts_labels_that_refits_find_again(data, model):
    X, y = data
    labeled = np.flatnonzero(y != -1)
    found = [refitted(model, X, changed(y, row, -1)).transduction_[row] == y[row] for row in labeled]

    estimate = estimate_accuracy(model.fit(X, y), confidence=0.9)

    worth = 0.7 * np.mean(y == -1)
    assert estimate == AccuracyEstimate.of(int(sum(found)), len(labeled), 0.9, worth)


@pytest.mark.parametrize(("right", "counted"), [(0, 10), (7, 10), (10, 10)])
def test_labels_that_are_worth_half_have_the_interval_of_half_as_many(right, counted):
    half = AccuracyEstimate.of(2 * right, 2 * counted, 0.9, worth=0.5)
    whole = AccuracyEstimate.of(right, counted, 0.9)
    assert (half.low, half.high) == pytest.approx((whole.low, whole.high), abs=ROUNDING)
    assert (half.right, half.counted, half.share) == (2 * right, 2 * counted, whole.share)


def test_the_only_label_of_its_class_counts_as_not_found(two_classes):
    X, y = two_classes
    y = y.copy()
    y[np.flatnonzero(y == 0)[1:]] = -1

    estimate = estimate_accuracy(SemiKPCAClassifier().fit(X, y))

    assert estimate.counted == 7
    assert estimate.right <= 6


def test_without_labels_that_were_drawn_nothing_is_known(two_classes):
    estimate = estimate_accuracy(SemiKPCAClassifier().fit(*two_classes), drawn_rows=[])
    assert not estimate.is_known
    assert np.isnan([estimate.share, estimate.low, estimate.high]).all()


@pytest.mark.parametrize("confidence", [0, 1, 1.5, float("nan")])
def test_confidence_outside_0_and_1_is_refused(two_classes, confidence):
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        estimate_accuracy(SemiKPCAClassifier().fit(*two_classes), confidence=confidence)


def test_intervals_contain_the_accuracy_of_the_automatic_classifier_as_often_as_they_say():
    n_draws, contained = 10, 0
    for seed in range(n_draws):
        generator = np.random.default_rng(seed)
        truth = generator.integers(2, size=80)
        X = np.column_stack([1.2 * (2 * truth - 1), np.zeros(80)]) + generator.standard_normal((80, 2))
        y = np.full(80, -1)
        rows = generator.permutation(80)[:16]
        y[rows] = truth[rows]
        model = SemiKPCAClassifierCV([RBF(gamma=0.3), Linear()]).fit(X, y)
        estimate = estimate_accuracy(model, confidence=0.9)
        contained += estimate.low <= np.mean(model.transduction_[y == -1] == truth[y == -1]) <= estimate.high
    assert isinstance(estimate, AccuracyEstimate)
    assert contained >= 7  # a share of 0.9 gives fewer in 1 of 100 runs
