"""How often labels are found again, against refits and against the rule that defines the interval."""

import numpy as np
import pytest

from semikpca import LSSVMClassifier
from semikpca.kernels import RBF
from semikpca.workflow import AccuracyEstimate

Z = 1.959963984540054  # a normal variable is farther from 0 in 5% of the cases
ROUNDING = 1e-12  # the same numbers, other arithmetic


@pytest.mark.parametrize(("right", "counted"), [(0, 3), (1, 1), (5, 8), (33, 40), (40, 40), (611, 1000)])
def test_the_interval_is_that_of_wilson(right, counted):
    estimate = AccuracyEstimate.of(right, counted)
    assert estimate.share == right / counted
    # Its ends are the shares p from which the observed one is as far as a normal variable is in 5% of the cases:
    # (share − p)² = z² p (1 − p) / n.
    a, b, c = 1 + Z**2 / counted, -(2 * estimate.share + Z**2 / counted), estimate.share**2
    assert (estimate.low, estimate.high) == pytest.approx(tuple(sorted(np.roots([a, b, c]))), abs=ROUNDING)
    assert 0 <= estimate.low <= estimate.share <= estimate.high <= 1


def test_nothing_counted_is_nothing_known():
    estimate = AccuracyEstimate.of(0, 0)
    assert not estimate.is_known
    assert np.isnan([estimate.share, estimate.low, estimate.high]).all()


def test_one_label_of_each_class_tells_nothing(label_numbers, two_classes):
    X, y = two_classes
    one_each = [None] * len(y)
    for label in (0, 1):
        one_each[int(np.flatnonzero(y == label)[0])] = f"c{label}"
    labeled = label_numbers(X, one_each)
    assert not labeled.estimate.is_known
    assert not labeled.baseline.is_known
    assert not labeled.looks_wrong.any()


def test_the_only_label_of_a_class_is_not_counted(label_numbers, five_classes):
    X, y = five_classes
    labels = [None if label == -1 else f"c{label}" for label in y]
    for row in np.flatnonzero(y == 2)[1:]:
        labels[row] = None
    assert label_numbers(X, labels).estimate.counted == 12  # 4 classes of 3 labels; the fifth has one


def test_the_baseline_is_a_refit_without_each_label(labeled_plants):
    X, rows = labeled_plants.X, np.flatnonzero(labeled_plants.is_given)
    distances = np.sqrt(((X[:, np.newaxis].astype(float) - X) ** 2).sum(axis=2))
    gamma = 1 / (2 * np.median(distances[np.triu_indices(len(X), 1)]) ** 2)
    labels = labeled_plants.given[rows].astype(str)
    hits = 0
    for left_out in range(len(rows)):
        others = np.arange(len(rows)) != left_out
        fit = LSSVMClassifier(RBF(gamma=gamma)).fit(X[rows[others]], labels[others])
        hits += fit.predict(X[rows[[left_out]]])[0] == labels[left_out]
    assert labeled_plants.baseline == AccuracyEstimate.of(int(hits), len(rows))


def test_the_estimate_counts_labels_found_again(labeled_plants):
    """Without its own label a row keeps the decision that the classifier itself reports for it."""
    model = labeled_plants.model
    rows = np.flatnonzero(labeled_plants.is_given)
    found = model.classes_[np.asarray(model.left_out_decisions(rows)).argmax(axis=1)]
    assert labeled_plants.estimate.counted == len(rows)
    assert labeled_plants.estimate.right == np.sum(found == labeled_plants.given[rows])
