"""The blend of numbers: bounded, immutable, exact without each label, and as sure as held-out labels allow."""

import numpy as np
import pytest

from oracles import SAME_TO_ROUNDING, relative_error
from semikpca.blending import LabelSystem, PlainSource, ValueBlend, ValueScale, label_folds
from semikpca.kernels import RBF, Linear, NeighborGraph
from semikpca.targets import encode_values


@pytest.fixture
def rows(rng):
    return rng.standard_normal((50, 3))


@pytest.fixture
def targets(rng, rows):
    y = np.sin(rows[:, 0]) + rows[:, 1] + 0.1 * rng.standard_normal(50)
    y[14:] = np.nan
    return encode_values(y)


def blend_of(rows, targets, *kernels, combine="ensemble"):
    return ValueBlend.of([PlainSource(kernel.fit(rows), rows) for kernel in kernels], targets, combine)


def test_another_blend_leaves_the_first_as_it_was(rows, targets):
    blend = blend_of(rows, targets, RBF(gamma=0.3), Linear())
    before = blend.values.copy()
    other = blend.with_labels(targets.without(np.array([0, 1])))
    assert not np.allclose(other.values, before)
    np.testing.assert_array_equal(blend.values, before)


def test_the_best_candidate_decides_alone_where_that_is_asked(rows, targets):
    blend = blend_of(rows, targets, RBF(gamma=0.3), Linear(), combine="best")
    assert sorted(set(blend.weights)) == [0, 1]
    assert blend.best_params["left_out_error"] == blend.results["left_out_error"].min()


def test_covariances_are_those_of_a_gaussian_process_with_an_unknown_mean(rows):
    labeled, asked, noise = np.arange(10), np.array([3, 20, 40]), 0.1
    K = RBF(gamma=0.3).pairwise(rows, rows)
    columns = K[:, labeled]
    system = LabelSystem(columns[labeled], columns.mean(axis=0))
    found = system.covariance(noise, lambda c: columns @ c, K[:, asked], labeled)
    # Universal kriging: k(x, x′) − [k_x; 1]ᵀ M⁻¹ [k_x′; 1] with the bordered matrix M.
    bordered = np.ones((11, 11))
    bordered[:10, :10] = K[:10, :10] + noise * (1 - K[:10, :10].mean()) * np.eye(10)
    bordered[10, 10] = 0
    sides = np.vstack([K[labeled], np.ones(50)])
    wanted = K[:, asked] - sides.T @ np.linalg.solve(bordered, sides[:, asked])
    assert relative_error(found, wanted) < SAME_TO_ROUNDING


def test_answers_far_outside_of_the_given_range_are_bounded_before_they_are_added(rows, targets):
    far = rows.copy()
    far[-1] *= 1000
    blend = blend_of(far, targets, Linear())
    given = targets.given
    beyond = 0.5 * np.ptp(given)
    assert blend.values.max() <= given.max() + beyond + 1e-12
    assert blend.values.min() >= given.min() - beyond - 1e-12
    at_the_bound = np.isclose(blend.values[-1], [given.min() - beyond, given.max() + beyond], atol=1e-9)
    assert at_the_bound.any()


def test_rows_out_of_reach_get_the_mean_and_the_spread_of_the_labels(rng):
    X = np.concatenate([rng.standard_normal((15, 2)), 100 + rng.standard_normal((15, 2))])
    y = np.full(30, np.nan)
    y[:6] = rng.standard_normal(6)
    blend = blend_of(X, encode_values(y), NeighborGraph(3))
    assert blend.reach.out[15:].all()
    np.testing.assert_allclose(blend.values[15:], y[:6].mean())
    values, deviations = blend.deviations(2.0)
    np.testing.assert_allclose(deviations[15:], y[:6].std())
    np.testing.assert_allclose(values[15:], y[:6].mean())
    new, of_new = blend.deviations(2.0, np.full((1, 2), 100.0))
    assert (new[0, 0], of_new[0, 0]) == pytest.approx((y[:6].mean(), y[:6].std()))


def test_one_label_is_the_answer_everywhere_and_nothing_is_known_of_its_error(rows):
    y = np.full(50, np.nan)
    y[7] = 3.0
    blend = blend_of(rows, encode_values(y), RBF(gamma=0.3))
    np.testing.assert_array_equal(blend.values, 3.0)
    assert np.isnan(blend.deviation_factor())
    assert np.isnan(blend.left_out(np.array([7]))).all()


def test_equal_numbers_are_the_answer_everywhere(rows):
    y = np.full(50, np.nan)
    y[:5] = 0.1 + 0.2
    blend = blend_of(rows, encode_values(y), RBF(gamma=0.3))
    np.testing.assert_allclose(blend.values, 0.3, rtol=1e-12)
    np.testing.assert_allclose(blend.deviations(blend.deviation_factor())[1], 0, atol=1e-12)


def test_the_factor_makes_variances_as_large_as_squared_errors_at_held_out_labels(rows, targets):
    blend = blend_of(rows, targets, RBF(gamma=0.3), Linear())
    factor, at = blend.deviation_factor(), targets.labeled_rows
    squares, variances = 0.0, 0.0
    given = targets.given[:, 0]
    spread = given.std()
    own_error = np.mean((blend.left_out(at)[:, 0] - given) ** 2) / spread**2
    for fold in range(len(at)):  # no more than 20 labels: each is a fold of its own
        without = blend.with_labels(targets.without(at[[fold]]))
        answers = [part.answer[at[fold], 0] * without.scale.spread[0] / spread for part in without.parts]
        weights = [part.weight for part in without.parts]
        mean = np.average(answers, weights=weights)
        variances += own_error + 3 * np.average((np.array(answers) - mean) ** 2, weights=weights)
        squares += ((without.values[at[fold], 0] - given[fold]) / spread) ** 2
    assert factor == pytest.approx(squares / variances, rel=SAME_TO_ROUNDING)


def test_folds_cover_every_label_once_and_are_at_most_twenty():
    for n in (1, 2, 20, 21, 57):
        folds = label_folds(n)
        assert len(folds) == min(n, 20)
        assert np.sort(np.concatenate(folds)).tolist() == list(range(n))
    assert label_folds(0) == []


def test_units_of_the_targets_come_back(rng):
    targets = encode_values(rng.standard_normal((6, 2)) * [1.0, 1000.0] + [5.0, -3.0])
    scale = ValueScale.of(targets)
    scaled = scale.scaled(targets.given)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), 1)
    assert relative_error(scale.unscaled(scaled), targets.given) < SAME_TO_ROUNDING
