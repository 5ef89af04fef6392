"""Class priors: an offset for each class moves the predicted shares."""

import numpy as np
import pytest

from semikpca import SemiKPCAClassifier
from semikpca.decisions import prior_offsets, resolve_prior

# Shares are whole rows, and the maximum is smoothed a little while they are matched: a few rows of 200 may miss.
SHARE_TOLERANCE = 0.025
# With continuous scores of many rows the shares are met to about the smoothing.
SMOOTH_SHARE_TOLERANCE = 0.01
# Two formulas for the same decision.
ROUNDING = 1e-10
# The search for the offsets stops at a gradient of 1e-5.
SEARCH_TOLERANCE = 1e-6


def blobs(n_classes, n=200, seed=0):
    """Overlapping clusters on a circle, of equal size, with four labels each."""
    generator = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    angles = 2 * np.pi * truth / n_classes
    X = 2.0 * np.column_stack([np.cos(angles), np.sin(angles)]) + generator.normal(size=(n, 2))
    y = np.full(n, -1)
    y[: 4 * n_classes] = truth[: 4 * n_classes]
    return X, y, truth


def shares(predictions, n_classes):
    return np.bincount(predictions, minlength=n_classes) / len(predictions)


# -- through the classifier --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_no_prior_changes_nothing(n_classes):
    X, y, _ = blobs(n_classes)
    model = SemiKPCAClassifier().fit(X, y)
    assert (model.class_offsets_ == 0).all()
    expected = model.kernel_.pairwise(X, X) @ model.dual_coef_
    np.testing.assert_allclose(model.decision_, expected, atol=ROUNDING)


@pytest.mark.parametrize(
    "prior",
    [
        [0.5, 0.5],
        [0.2, 0.8],
        [0.9, 0.1],
        [0.97, 0.03],
        [0.25, 0.25, 0.25, 0.25],
        [0.4, 0.3, 0.2, 0.1],
        [0.05, 0.05, 0.3, 0.6],
        [0.85, 0.05, 0.05, 0.05],
    ],
    ids=str,
)
def test_the_predicted_shares_move_to_the_prior(prior):
    X, y, _ = blobs(len(prior))
    model = SemiKPCAClassifier(class_prior=prior).fit(X, y)
    np.testing.assert_allclose(shares(model.transduction_, len(prior)), prior, atol=SHARE_TOLERANCE)
    np.testing.assert_array_equal(model.transduction_, model.predict(X))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_prior_may_be_the_shares_of_the_labels(n_classes):
    X, y, truth = blobs(n_classes)
    extra = np.flatnonzero((truth == 0) & (y == -1))[:20]
    y[extra] = 0
    counts = np.bincount(y[y >= 0])
    model = SemiKPCAClassifier(class_prior="labeled").fit(X, y)
    expected = counts / counts.sum()
    np.testing.assert_allclose(shares(model.transduction_, n_classes), expected, atol=SHARE_TOLERANCE)
    same = SemiKPCAClassifier(class_prior=expected).fit(X, y)
    np.testing.assert_allclose(model.decision_, same.decision_, atol=ROUNDING)


def test_new_rows_get_the_same_offsets():
    X, y, _ = blobs(4)
    plain = SemiKPCAClassifier().fit(X, y)
    moved = SemiKPCAClassifier(class_prior=[0.4, 0.3, 0.2, 0.1]).fit(X, y)
    X_new = blobs(4, n=50, seed=1)[0]
    difference = moved.decision_function(X_new) - plain.decision_function(X_new)
    np.testing.assert_allclose(difference, np.tile(moved.class_offsets_, (50, 1)), atol=ROUNDING)
    np.testing.assert_allclose(
        moved.decision_ - plain.decision_, np.tile(moved.class_offsets_, (200, 1)), atol=ROUNDING
    )


def test_two_classes_share_one_offset():
    X, y, _ = blobs(2)
    plain = SemiKPCAClassifier().fit(X, y)
    moved = SemiKPCAClassifier(class_prior=[0.2, 0.8]).fit(X, y)
    assert moved.class_offsets_.shape == (1,)
    # More of the second class, whose decisions are positive.
    assert moved.class_offsets_[0] > 0
    np.testing.assert_allclose(moved.decision_, plain.decision_ + moved.class_offsets_[0], atol=ROUNDING)


def test_the_order_of_decisions_stays_within_a_class():
    X, y, _ = blobs(2)
    plain = SemiKPCAClassifier().fit(X, y).decision_
    moved = SemiKPCAClassifier(class_prior=[0.3, 0.7]).fit(X, y).decision_
    np.testing.assert_array_equal(np.argsort(plain, kind="stable"), np.argsort(moved, kind="stable"))


def test_a_true_prior_helps_where_labels_mislead():
    # One class in five, but as many labels of it as of the other: without a prior it is found too often.
    generator = np.random.default_rng(2)
    truth = (np.arange(300) % 5 == 0).astype(int)
    X = generator.normal(size=(300, 2)) + 2.0 * truth[:, np.newaxis]
    y = np.full(300, -1)
    for label in (0, 1):
        y[np.flatnonzero(truth == label)[:5]] = label
    plain = SemiKPCAClassifier().fit(X, y)
    informed = SemiKPCAClassifier(class_prior=[0.8, 0.2]).fit(X, y)
    assert np.mean(informed.transduction_ == truth) > np.mean(plain.transduction_ == truth)


UNEVEN = {"80/20": np.array([0.8, 0.2]), "70/20/10": np.array([0.7, 0.2, 0.1])}


def uneven(true_shares, labels, seed):
    """Overlapping clusters of uneven size, with as many labels of each class or with the true shares of them."""
    generator = np.random.default_rng(seed)
    n_classes, n = len(true_shares), 400
    truth = generator.permutation(np.repeat(np.arange(n_classes), np.round(n * true_shares).astype(int)))
    angles = 2 * np.pi * truth / n_classes
    X = 2.0 * np.column_stack([np.cos(angles), np.sin(angles)]) + generator.normal(size=(n, 2))
    counts = np.full(n_classes, 10) if labels == "balanced" else np.round(30 * true_shares).astype(int)
    y = np.full(n, -1)
    for code, count in enumerate(counts):
        y[generator.choice(np.flatnonzero(truth == code), count, replace=False)] = code
    return X, y, truth


@pytest.mark.slow  # many fits
@pytest.mark.parametrize("kernel", ["rbf", "graph"])
@pytest.mark.parametrize("labels", ["balanced", "as in the rows"])
@pytest.mark.parametrize("problem", UNEVEN)
def test_the_true_prior_is_met_and_costs_no_accuracy(problem, labels, kernel):
    true_shares = UNEVEN[problem]
    plain_accuracy, accuracy = [], []
    for seed in range(4):
        X, y, truth = uneven(true_shares, labels, seed)
        plain = SemiKPCAClassifier(kernel).fit(X, y)
        # Labels as in the rows tell the shares themselves.
        for prior in [true_shares] if labels == "balanced" else [true_shares, "labeled"]:
            model = SemiKPCAClassifier(kernel, class_prior=prior).fit(X, y)
            np.testing.assert_allclose(shares(model.transduction_, len(true_shares)), true_shares, atol=SHARE_TOLERANCE)
            plain_accuracy.append(np.mean(plain.transduction_ == truth))
            accuracy.append(np.mean(model.transduction_ == truth))
    assert np.mean(accuracy) >= np.mean(plain_accuracy)


def test_changed_labels_change_the_shares_of_the_labels():
    X, y, truth = blobs(2)
    model = SemiKPCAClassifier(class_prior="labeled").fit(X, y)
    extra = np.flatnonzero((truth == 1) & (y == -1))[:16]
    changed = y.copy()
    changed[extra] = 1
    model.add_labels(extra, changed[extra])
    again = SemiKPCAClassifier(class_prior="labeled").fit(X, changed)
    np.testing.assert_allclose(model.class_offsets_, again.class_offsets_, atol=SEARCH_TOLERANCE)
    np.testing.assert_allclose(shares(model.transduction_, 2), np.array([4, 20]) / 24, atol=SHARE_TOLERANCE)


@pytest.mark.parametrize(
    "prior",
    [
        "balanced",
        "",
        [0.5, 0.5],
        [0.2, 0.2, 0.2, 0.2, 0.2],
        [0.5, 0.5, 0.0, 0.0],
        [0.5, 0.6, -0.1, 0.1],
        [0.5, np.nan, 0.2, 0.3],
        [0.5, np.inf, 0.2, 0.3],
        [[0.25, 0.25, 0.25, 0.25]],
        0.5,
        ["a", "b", "c", "d"],
        {0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25},
    ],
    ids=repr,
)
def test_what_is_no_prior_is_refused(prior):
    X, y, _ = blobs(4)
    with pytest.raises(ValueError, match="class_prior"):
        SemiKPCAClassifier(class_prior=prior).fit(X, y)


# -- the two functions -------------------------------------------------------------------------------------------


def test_shares_need_not_sum_to_one():
    codes = np.array([0, 1, -1, -1])
    np.testing.assert_allclose(resolve_prior([2, 6], codes, 2), [0.25, 0.75])


def test_unlabeled_rows_do_not_count_in_the_shares_of_the_labels():
    codes = np.array([0, 1, 1, 1, -1, -1, -1])
    np.testing.assert_allclose(resolve_prior("labeled", codes, 2), [0.25, 0.75])
    assert resolve_prior(None, codes, 2) is None


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    "prior", [[0.5, 0.5], [0.02, 0.98], [0.3, 0.3, 0.4], [0.01, 0.01, 0.98], [0.1] * 10, [0.55] + [0.05] * 9], ids=str
)
def test_offsets_meet_the_prior_whatever_the_scale_of_the_scores(prior, scale):
    prior = np.array(prior)
    scores = scale * np.random.default_rng(3).normal(size=(2000, len(prior)))
    offsets = prior_offsets(scores, prior)
    found = np.bincount((scores + offsets).argmax(axis=1), minlength=len(prior)) / 2000
    np.testing.assert_allclose(found, prior, atol=SMOOTH_SHARE_TOLERANCE)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_with_a_few_extreme_rows_still_meet_the_prior(n_classes):
    # Labeled rows have scores far above the rest; they must not set the scale of the smoothing alone.
    generator = np.random.default_rng(4)
    scores = 1e-3 * generator.normal(size=(1000, n_classes))
    scores[:n_classes] += 1.0 * np.eye(n_classes)
    prior = np.arange(1.0, n_classes + 1) / np.arange(1.0, n_classes + 1).sum()
    offsets = prior_offsets(scores, prior)
    found = np.bincount((scores + offsets).argmax(axis=1), minlength=n_classes) / 1000
    np.testing.assert_allclose(found, prior, atol=SHARE_TOLERANCE)


def test_offsets_sum_to_zero():
    scores = np.random.default_rng(5).normal(size=(100, 3))
    assert prior_offsets(scores, np.array([0.2, 0.3, 0.5])).sum() == pytest.approx(0, abs=ROUNDING)


def test_scores_that_are_all_equal_need_no_offset():
    np.testing.assert_array_equal(prior_offsets(np.zeros((10, 3)), np.array([0.2, 0.3, 0.5])), np.zeros(3))
