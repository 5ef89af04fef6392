"""How often labels are found again, against refits."""

import numpy as np
from sklearn.base import clone

from semikpca import LSSVMClassifier
from semikpca.kernels import RBF
from semikpca.workflow import AccuracyEstimate


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
    assert labeled_plants.baseline == AccuracyEstimate.of(
        int(hits), len(rows), worth=0.7
    )  # all of its rows have labels


def test_the_estimate_counts_labels_that_a_fit_without_them_finds_again(labeled_plants):
    """Of no more than 20 labels each is left out of everything by itself, the weights of the blend included."""
    rows = np.flatnonzero(labeled_plants.is_given)
    assert len(rows) <= 20
    hits = 0
    for row in rows:
        without = labeled_plants.given.copy()
        without[row] = None
        hits += (
            clone(labeled_plants.model).fit(labeled_plants.X, without).transduction_[row] == labeled_plants.given[row]
        )
    assert (labeled_plants.estimate.right, labeled_plants.estimate.counted) == (hits, len(rows))
