"""How much each candidate counts."""

import numpy as np
import pytest

from blending_oracles import left_out_loss
from semikpca.blending import candidate_log_weights, left_out_losses, normalized_weights

ROUNDING = 1e-10  # sums of a few hundred logarithms

# -- left-out labels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("strength", [0.0, 1.0, 5.0])
def test_losses_are_those_of_a_loop_over_labels(rng, n_classes, strength):
    codes = rng.integers(n_classes, size=25)
    left_out = rng.standard_normal((7, 25, n_classes)) + strength * np.eye(n_classes)[codes]

    found = left_out_losses(left_out, codes)

    np.testing.assert_allclose(found, [left_out_loss(scores, codes) for scores in left_out], rtol=ROUNDING)


def test_labels_alone_in_their_class_are_passed_over(rng):
    codes = np.array([0, 0, 1, 1, 2, 0, 3])
    left_out = rng.standard_normal((3, 7, 4))
    before = left_out_losses(left_out, codes)

    wild = left_out.copy()
    wild[:, [4, 6]] = 1e6 * rng.standard_normal((3, 2, 4))

    np.testing.assert_array_equal(left_out_losses(wild, codes), before)
    np.testing.assert_allclose(before, [left_out_loss(scores, codes) for scores in left_out], rtol=ROUNDING)


def test_one_label_a_class_leaves_nothing_to_compare(rng):
    np.testing.assert_array_equal(left_out_losses(rng.standard_normal((4, 3, 3)), np.arange(3)), np.zeros(4))


def test_a_candidate_that_finds_all_labels_loses_less_than_one_that_finds_none():
    codes = np.array([0, 0, 1, 1, 2, 2])
    right = np.eye(3)[codes]
    wrong = np.eye(3)[(codes + 1) % 3]
    undecided = np.zeros_like(right)
    losses = left_out_losses(np.stack([right, undecided, wrong]), codes)
    assert losses[0] < 0.1
    assert losses[0] < losses[1] < losses[2]


def test_units_of_the_scores_do_not_matter(rng):
    codes = rng.integers(3, size=20)
    left_out = rng.standard_normal((4, 20, 3))
    expected = left_out_losses(left_out, codes)
    for factor in (1e-100, 1e-3, 1e3, 1e100):
        np.testing.assert_allclose(left_out_losses(factor * left_out, codes), expected, rtol=ROUNDING)


def test_a_candidate_is_judged_for_itself(rng):
    codes = rng.integers(3, size=20)
    left_out = rng.standard_normal((5, 20, 3))
    losses = left_out_losses(left_out, codes)
    for number in range(5):
        assert left_out_losses(left_out[number : number + 1], codes)[0] == pytest.approx(losses[number], rel=ROUNDING)


def test_equal_scores_everywhere_lose_what_guessing_loses():
    codes = np.array([0, 0, 1, 1])
    loss = left_out_losses(np.full((1, 4, 2), 3.0), codes)[0]
    assert 4 * np.log(2) <= loss <= 4 * np.log(2) + 4 * 0.25


# -- the weight of a candidate -----------------------------------------------------------------------------------


def log_weights(losses=0.0, agreement=0.5, shares=(0.5, 0.5), counts=(3, 3), with_intercept=False):
    """The logarithms of the weights of candidates of which one property is given as a list, the others are equal."""
    n = max(len(np.atleast_1d(value)) for value in (losses, agreement, with_intercept))
    n = max(n, len(np.atleast_2d(shares)))
    return candidate_log_weights(
        np.broadcast_to(np.array(losses, dtype=float), n),
        np.broadcast_to(np.array(agreement, dtype=float), n),
        np.broadcast_to(np.array(shares, dtype=float), (n, len(counts))),
        np.array(counts),
        np.broadcast_to(np.array(with_intercept), n),
    )


def test_a_nat_of_loss_costs_a_nat():
    np.testing.assert_allclose(np.diff(log_weights(losses=[0.0, 1.0, 11.0])), [-1, -10])


@pytest.mark.parametrize("counts", [(1, 1), (3, 5), (1, 1, 1, 1)], ids=str)
def test_more_agreement_means_more_weight_the_more_classes_there_are(counts):
    counts = np.array(counts)
    shares = (counts + 1) / (counts.sum() + len(counts))  # no divergence, whatever it costs
    found = np.diff(log_weights(agreement=[0.0, 0.1, 0.9], shares=shares, counts=counts))
    np.testing.assert_allclose(found, len(counts) * np.log(len(counts)) * np.array([0.1, 0.8]))


def test_shares_further_from_those_of_the_labels_mean_less_weight():
    for direction in (1, -1):
        shares = [(0.5 + direction * step, 0.5 - direction * step) for step in (0.0, 0.1, 0.3, 0.49, 0.5)]
        found = log_weights(shares=shares, counts=(4, 4))
        assert (np.diff(found) < 0).all()


def test_shares_of_the_labels_weigh_most_where_labels_are_unequal():
    grid = np.linspace(0.01, 0.99, 99)
    found = log_weights(shares=np.column_stack([grid, 1 - grid]), counts=(17, 1))
    assert grid[np.argmax(found)] == pytest.approx(18 / 20)  # Laplace's rule


@pytest.mark.parametrize("shares", [(1.0, 0.0, 0.0), (0.0, 0.5, 0.5), (0.0, 0.0, 1.0)], ids=str)
def test_classes_that_are_never_predicted_cost_something_finite(shares):
    balanced, missing = log_weights(shares=[(1 / 3, 1 / 3, 1 / 3), shares], counts=(2, 2, 2))
    assert np.isfinite(missing)
    assert missing < balanced
    # Three classes, two nats for each nat of divergence, which is at most log 3 here.
    assert missing >= balanced - 3 * 2 * np.log(3) - ROUNDING


def test_shares_count_for_nothing_where_no_link_leads_out_of_a_class():
    unequal, equal = log_weights(shares=[(0.9, 0.1), (0.5, 0.5)], agreement=1.0)
    assert unequal == equal
    costs = [np.diff(log_weights(shares=[(0.9, 0.1), (0.5, 0.5)], agreement=a))[0] for a in (0.5, 0.95, 0.975, 0.99)]
    np.testing.assert_allclose(costs, costs[0] * np.array([1, 1, 0.5, 0.2]))


@pytest.mark.parametrize("counts", [(1, 1), (3, 3), (2, 9), (9, 9)], ids=str)
def test_an_intercept_costs_something_while_labels_are_few(counts):
    without, with_intercept = log_weights(with_intercept=[False, True], counts=counts)
    assert with_intercept < without


@pytest.mark.parametrize("counts", [(10, 10), (11, 11), (100, 100), (1, 2000), (500, 500, 500)], ids=str)
def test_an_intercept_costs_nothing_and_earns_nothing_once_labels_are_many(counts):
    shares = np.full(len(counts), 1 / len(counts))
    without, with_intercept = log_weights(with_intercept=[False, True], shares=shares, counts=counts)
    assert with_intercept == pytest.approx(without, abs=ROUNDING)


def test_the_cost_of_an_intercept_falls_with_the_labels():
    costs = []
    for count in (1, 2, 5, 8):
        without, with_intercept = log_weights(with_intercept=[False, True], counts=(count, count))
        costs.append(without - with_intercept)
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) == 4
    assert costs[0] < 2  # nats


# -- weights that sum to 1 ---------------------------------------------------------------------------------------


def test_weights_sum_to_one_and_keep_their_ratios(rng):
    log = 3 * rng.standard_normal(20)
    weights = normalized_weights(log)
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(np.log(weights / weights[0]), log - log[0], atol=ROUNDING)


@pytest.mark.parametrize("offset", [0.0, -1e6, 1e6])
def test_only_differences_count(offset):
    # At 1e6 a number has ten digits behind the point.
    np.testing.assert_allclose(normalized_weights(offset + np.log([1.0, 3.0])), [0.25, 0.75], atol=1e-9)


@pytest.mark.parametrize("difference", [1e3, 1e6, 1e300])
def test_huge_differences_leave_the_best_alone(difference):
    weights = normalized_weights(np.array([-difference, 0.0, -difference, -2 * difference]))
    np.testing.assert_array_equal(weights, [0, 1, 0, 0])


def test_one_candidate_has_all_the_weight():
    np.testing.assert_array_equal(normalized_weights(np.array([-1e5])), [1.0])
