"""How much each candidate counts."""

import numpy as np
import pytest

from blending_oracles import best_of_views, candidate_log_weight, counted_within_views, left_out_loss
from semikpca.blending import Evidence, candidate_log_weights, left_out_losses, normalized_weights
from semikpca.blending._weights import labels_are_few, placement_costs

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

ALIKE = {
    "losses": 0.0,
    "agreement": 0.5,
    "separation": 0.2,
    "view": 0,
    "halves": 0.3,
    "by_labels": False,
    "needs_labels": False,
    "from_labeled_alone": False,
}


def evidence(n_classes=2, **different):
    """Evidence of candidates of which some properties are given as lists; all others are equal."""
    shares = np.atleast_2d(different.pop("shares", np.full(n_classes, 1 / n_classes)))
    n = max([len(shares), *(len(np.atleast_1d(values)) for values in different.values())])
    types = {"view": np.intp, "by_labels": bool, "needs_labels": bool, "from_labeled_alone": bool}
    columns = {
        name: np.broadcast_to(np.array(different.get(name, value), dtype=types.get(name, float)), n)
        for name, value in ALIKE.items()
    }
    return Evidence(shares=np.broadcast_to(shares, (n, n_classes)), **columns)


def log_weights(counts=(3, 4), **different):
    return candidate_log_weights(evidence(len(counts), **different), np.array(counts))


@pytest.mark.parametrize(
    "counts", [(1, 1), (2, 2), (3, 5), (1, 9), (12, 12), (30, 2), (1, 1, 1), (4, 4, 4), (2, 7, 1, 5)]
)
def test_the_weight_is_the_sum_of_all_that_speaks_for_a_candidate(rng, counts):
    n, n_classes = 40, len(counts)
    shares = rng.dirichlet(np.ones(n_classes), size=n)
    shares[0] = np.eye(n_classes)[0]  # a class that is never predicted costs something finite
    found = Evidence(
        losses=rng.exponential(5, size=n),
        agreement=rng.choice([rng.uniform(), 0.97, 0.99, 1.0, 0.0], size=n),
        separation=rng.uniform(-2, 3, size=n),
        view=rng.integers(3, size=n),
        halves=rng.uniform(-0.2, 1, size=n),
        shares=shares,
        by_labels=rng.random(n) < 0.5,
        needs_labels=rng.random(n) < 0.5,
        from_labeled_alone=rng.random(n) < 0.5,
    )
    best = best_of_views(found.agreement, found.view)
    separations, halves = (counted_within_views(values, found.view) for values in (found.separation, found.halves))
    expected = [
        candidate_log_weight(
            counts,
            losses=found.losses[number],
            agreement=found.agreement[number],
            best=best[number],
            separation=separations[number],
            halves=halves[number],
            shares=found.shares[number],
            by_labels=found.by_labels[number],
            needs_labels=found.needs_labels[number],
            from_labeled_alone=found.from_labeled_alone[number],
        )
        for number in range(n)
    ]
    np.testing.assert_allclose(candidate_log_weights(found, np.array(counts)), expected, atol=ROUNDING)


def test_a_nat_of_loss_costs_a_nat():
    np.testing.assert_allclose(np.diff(log_weights(losses=[0.0, 1.0, 11.0])), [-1, -10])


@pytest.mark.parametrize("counts", [(1, 1), (3, 5), (1, 1, 1, 1)], ids=str)
def test_more_agreement_means_more_weight_the_more_classes_there_are(counts):
    counts = np.array(counts)
    shares = (counts + 1) / (counts.sum() + len(counts))  # no divergence, whatever it costs
    found = np.diff(log_weights(agreement=[0.0, 0.1, 0.9], shares=shares, counts=counts))
    np.testing.assert_allclose(found, len(counts) * np.log(len(counts)) * np.array([0.1, 0.8]))


@pytest.mark.parametrize("counts", [(1, 1), (30, 20), (5, 5, 5)], ids=str)
def test_a_nat_of_separation_is_worth_a_nat_for_each_class_within_a_view(counts):
    found = log_weights(separation=[-1.0, 0.0, 0.5, 2.5], counts=counts)
    np.testing.assert_allclose(np.diff(found), len(counts) * np.array([1.0, 0.5, 2.0]))


# -- halves of the labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "worth"), [((1, 1), 0.9), ((2, 2), 0.8), ((1, 4), 0.75), ((8, 10), 0.1), ((10, 10), 0)]
)
def test_halves_that_agree_are_worth_three_times_as_much_as_neighbors_and_fade_with_the_labels(counts, worth):
    found = np.diff(log_weights(halves=[0.0, 0.5, 1.0], counts=counts))
    np.testing.assert_allclose(found, 2 * np.log(2) * 3 * worth * 0.5, atol=ROUNDING)
    assert labels_are_few(np.array(counts)) == pytest.approx(worth)


# -- views -------------------------------------------------------------------------------------------------------


def test_separation_does_not_count_between_views():
    found = log_weights(separation=[0.9, 0.3, -0.5], view=[0, 1, 1])
    # Nothing is left of the best of each view, and the others are as far behind as they were.
    np.testing.assert_allclose(found - found[0], 2 * np.array([0.0, 0.0, -0.8]), atol=ROUNDING)


def test_the_agreement_of_halves_does_not_count_between_views():
    found = log_weights(halves=[0.9, 0.3, -0.5], view=[0, 1, 1], counts=(2, 2))
    worth = 2 * np.log(2) * 3 * 0.8
    np.testing.assert_allclose(found - found[0], worth * np.array([0.0, 0.0, -0.8]), atol=ROUNDING)


def test_a_view_in_which_every_labeling_cuts_through_a_cloud_is_judged_by_all_of_it():
    found = log_weights(separation=[0.6, -0.4, -1.0], view=[0, 1, 1])
    np.testing.assert_allclose(found - found[0], 2 * np.array([0.0, -0.4, -1.0]), atol=ROUNDING)


def test_the_best_agreement_of_each_view_counts_half_as_much_again_between_them():
    shares = [[0.5, 0.5]]  # no divergence
    found = log_weights(agreement=[0.7, 0.5, 0.4], view=[0, 1, 1], shares=shares, counts=(3, 3))
    np.testing.assert_allclose(found - found[0], 2 * np.log(2) * np.array([0.0, -0.3, -0.4]), atol=ROUNDING)


@pytest.mark.parametrize(("counts", "cost"), [((1, 1), 4.5), ((2, 2), 4.0), ((5, 5), 2.5), ((10, 10), 0.0)])
def test_columns_that_only_labels_can_speak_for_wait_for_labels(counts, cost):
    found = log_weights(needs_labels=[False, True], counts=counts)
    np.testing.assert_allclose(found[0] - found[1], cost, atol=ROUNDING)


def test_numbers_of_views_are_names():
    separations = [0.9, 0.3, -0.5, 1.2]
    expected = log_weights(separation=separations, view=[0, 1, 1, 0])
    np.testing.assert_allclose(log_weights(separation=separations, view=[7, 2, 2, 7]), expected)


# -- shares ------------------------------------------------------------------------------------------------------


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
    # Three classes, a nat for each nat of divergence, which is at most log 3 here.
    assert missing >= balanced - 3 * np.log(3) - ROUNDING


def test_shares_count_for_nothing_where_no_link_leads_out_of_a_class():
    unequal, equal = log_weights(shares=[(0.9, 0.1), (0.5, 0.5)], agreement=1.0)
    assert unequal == equal
    costs = [np.diff(log_weights(shares=[(0.9, 0.1), (0.5, 0.5)], agreement=a))[0] for a in (0.5, 0.95, 0.975, 0.99)]
    np.testing.assert_allclose(costs, costs[0] * np.array([1, 1, 0.5, 0.2]))


# -- where the boundary is placed --------------------------------------------------------------------------------

BY_LABELS = [False, False, True, True]
FROM_LABELED_ALONE = [False, True, False, True]


def costs_of_placing(counts):
    """Costs by rows and by labels, each with a kernel that unlabeled rows have shaped and with a plain one."""
    found = evidence(len(counts), by_labels=BY_LABELS, from_labeled_alone=FROM_LABELED_ALONE)
    return placement_costs(found, np.array(counts)).tolist()


@pytest.mark.parametrize(
    ("counts", "by_labels"),
    [((1, 1), 2.7), ((1, 1, 1), 2.7), ((1, 2), 2.55), ((2, 9), 1.35), ((1, 2, 3), 2.4)],
    ids=str,
)
def test_a_boundary_that_few_labels_place_costs_three_nats_at_first_and_one_that_rows_place_nothing(counts, by_labels):
    assert costs_of_placing(counts) == pytest.approx([0, 0, by_labels, by_labels])


@pytest.mark.parametrize(
    ("counts", "by_labels"), [((2, 2), 2.4), ((5, 5, 5), 1.5), ((9, 9), 0.3), ((10, 10), 0.0)], ids=str
)
def test_labels_as_many_of_each_class_say_that_rows_do_not_know_the_shares(counts, by_labels):
    # A plain kernel, which knows the labels alone, had better leave the boundary to them.
    assert costs_of_placing(counts) == pytest.approx([2, 2, by_labels, 0])


@pytest.mark.parametrize("counts", [(10, 11), (100, 90), (1, 2000), (500, 400, 500)], ids=str)
def test_once_labels_are_many_no_place_costs_anything(counts):
    assert costs_of_placing(counts) == pytest.approx([0, 0, 0, 0])


@pytest.mark.parametrize("counts", [(1, 1), (3, 3), (2, 9), (7, 7, 7)], ids=str)
def test_the_cost_of_a_place_is_taken_off_the_weight(counts):
    found = log_weights(counts=counts, by_labels=BY_LABELS, from_labeled_alone=FROM_LABELED_ALONE)
    np.testing.assert_allclose(found[0] - found, np.array(costs_of_placing(counts)) - costs_of_placing(counts)[0])


# -- weights that sum to 1 ---------------------------------------------------------------------------------------


def test_weights_sum_to_one_and_keep_their_ratios(rng):
    log = rng.uniform(-9, 0, size=20)
    weights = normalized_weights(log)
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(np.log(weights / weights[0]), log - log[0], atol=ROUNDING)


def test_what_is_next_to_nothing_beside_the_heaviest_is_nothing():
    weights = normalized_weights(np.log([1.0, 1.01e-4, 0.99e-4, 0.5, 1e-9]))
    np.testing.assert_allclose(weights, np.array([1.0, 1.01e-4, 0, 0.5, 0]) / (1.5 + 1.01e-4), rtol=1e-12)
    assert (weights == 0).tolist() == [False, False, True, False, True]


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
