"""Shares of the classes, from the counts of their labels."""

import math

import numpy as np
import pytest

from semikpca.decisions import _shares, expected_shares, prior_offsets

ROUNDING = 1e-12
PSEUDO_COUNTS = (0.3, 1.0, 3.0, 10.0, 30.0)  # how many labels of each class equal shares may be worth, as documented

COUNTS = [[1, 1], [1, 3], [5, 0], [1, 1, 1, 1], [2, 5, 9], [90, 10], [1000, 1, 1], [1] * 9 + [400]]


def naive_shares(counts):
    """The mean of a Dirichlet posterior for each strength, weighed by the probability of the counts, one by one."""
    shares, likelihoods = [], []
    for strength in PSEUDO_COUNTS:
        # Pólya's urn: every label is drawn with the share that its class has so far.
        urn, log_likelihood = [strength] * len(counts), 0.0
        for code, count in enumerate(counts):
            for _ in range(count):
                log_likelihood += math.log(urn[code] / sum(urn))
                urn[code] += 1
        shares.append([balls / sum(urn) for balls in urn])
        likelihoods.append(log_likelihood)
    weights = np.exp(np.array(likelihoods) - max(likelihoods))
    return weights / weights.sum() @ np.array(shares)


@pytest.mark.parametrize("counts", COUNTS, ids=str)
def test_shares_are_those_of_an_urn_whose_strength_is_weighed(counts):
    # Logarithms of factorials of a few hundred lose three digits.
    np.testing.assert_allclose(expected_shares(np.array(counts)), naive_shares(counts), atol=1e-9)


@pytest.mark.parametrize("counts", COUNTS, ids=str)
def test_shares_are_positive_and_sum_to_one(counts):
    shares = expected_shares(np.array(counts))
    assert shares.sum() == pytest.approx(1, abs=ROUNDING)
    assert (shares > 0).all()


@pytest.mark.parametrize("n_classes", [1, 2, 3, 10])
@pytest.mark.parametrize("count", [1, 5, 300])
def test_equal_counts_give_equal_shares(n_classes, count):
    shares = expected_shares(np.full(n_classes, count))
    np.testing.assert_allclose(shares, 1 / n_classes, atol=ROUNDING)


def test_a_few_labels_say_little():
    assert 0.5 < expected_shares(np.array([1, 2]))[1] < 0.6
    assert 0.5 < expected_shares(np.array([1, 3]))[1] < 0.67
    shares = expected_shares(np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 2]))
    assert shares.max() < 0.12


@pytest.mark.parametrize("truth", [[0.9, 0.1], [0.6, 0.3, 0.1]], ids=str)
def test_many_labels_say_all(truth):
    distances = [np.abs(expected_shares(np.array([int(n * p) for p in truth])) - truth).max() for n in (20, 200, 20000)]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.001


@pytest.mark.parametrize("counts", COUNTS, ids=str)
def test_order_of_the_classes_does_not_matter(counts, rng):
    order = rng.permutation(len(counts))
    shares = expected_shares(np.array(counts))
    np.testing.assert_allclose(expected_shares(np.array(counts)[order]), shares[order], atol=ROUNDING)


@pytest.mark.parametrize("counts", COUNTS, ids=str)
def test_more_labels_never_mean_a_smaller_share_and_shares_lie_between_equal_and_observed(counts):
    counts = np.array(counts)
    shares = expected_shares(counts)
    assert (np.diff(shares[np.argsort(counts, kind="stable")]) >= -ROUNDING).all()
    equal, observed = np.full(len(counts), 1 / len(counts)), counts / counts.sum()
    assert (shares >= np.minimum(equal, observed) - ROUNDING).all()
    assert (shares <= np.maximum(equal, observed) + ROUNDING).all()


def test_counts_are_not_modified():
    counts = np.array([3, 1])
    expected_shares(counts)
    assert counts.tolist() == [3, 1]


# Shares of rows on the edge of two classes count for both; their softness is a hundredth of the spread.
@pytest.mark.parametrize("n_classes", [3, 50, 51, 200])
def test_offsets_move_predicted_shares_to_the_prior_however_many_classes_there_are(rng, n_classes):
    scores = rng.normal(size=(60 * n_classes, n_classes))
    prior = rng.dirichlet(np.full(n_classes, 5.0))
    offsets = prior_offsets(scores, prior)
    found = np.bincount((scores + offsets).argmax(axis=1), minlength=n_classes) / len(scores)
    assert np.abs(found - prior).sum() < 0.02
    plain = np.bincount(scores.argmax(axis=1), minlength=n_classes) / len(scores)
    assert np.abs(plain - prior).sum() > 0.1
    assert offsets.sum() == pytest.approx(0, abs=1e-9)


def test_both_ways_to_find_offsets_agree(rng, monkeypatch):
    scores, prior = rng.normal(size=(500, 5)), np.array([0.4, 0.3, 0.1, 0.1, 0.1])
    one = prior_offsets(scores, prior, 1 / 3)
    monkeypatch.setattr(_shares, "_FEW_CLASSES", 2)
    # Slopes are brought down to 1e-5 and less, and the curvature is some hundredths.
    np.testing.assert_allclose(prior_offsets(scores, prior, 1 / 3), one, atol=2e-3)
