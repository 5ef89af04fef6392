"""The surfaces of Figure 1, held against the objective written out over data points."""

import numpy as np
import pytest

from oracles import algorithm_1
from semikpca.convexity import Regime
from semikpca.experiments._surfaces import objective_surfaces

# Both sides are sums of a few dozen products of numbers of size 100 at most.
ROUNDING = 1e-11

# The example that the defaults stand for: Σ x xᵀ = diag(4, 1), one label on each side.
CORNERS = np.array([[1.0, 0.5], [1.0, -0.5], [-1.0, 0.5], [-1.0, -0.5]])
CORNER_LABELS = np.array([1.0, 0.0, 0.0, -1.0])
PAPER_WEIGHTS = (0.125, 0.25, 0.5, 1.0, 4.0)


def written_out(points, labels, error_weight, w):
    """½⟨w, w⟩ − γ/2 Σ (y_i + ⟨w, x_i⟩)², without the part −γ/2 Σ y_i² that does not depend on w."""
    total = 0.5 * sum(entry * entry for entry in w)
    for x, y in zip(points, labels, strict=True):
        error = y + sum(a * b for a, b in zip(w, x, strict=True))
        total -= 0.5 * error_weight * (error * error - y * y)
    return total


def on_grid(surface, points, labels):
    return [
        [written_out(points, labels, surface.error_weight, (a, b)) for b in surface.coordinates]
        for a in surface.coordinates
    ]


@pytest.fixture(scope="module")
def surfaces():
    return objective_surfaces()


def of(surfaces, problem, error_weight):
    (found,) = [s for s in surfaces if s.problem == problem and s.error_weight == error_weight]
    return found


def test_kernel_pca_comes_first_then_semi_kpca_each_at_all_weights(surfaces):
    expected = [(problem, weight) for problem in ("kernel_pca", "semi_kpca") for weight in PAPER_WEIGHTS]
    assert [(surface.problem, surface.error_weight) for surface in surfaces] == expected


@pytest.mark.parametrize("error_weight", PAPER_WEIGHTS)
def test_values_are_the_objective_over_the_four_points_of_the_example(surfaces, error_weight):
    unlabeled, labeled = (of(surfaces, problem, error_weight) for problem in ("kernel_pca", "semi_kpca"))
    np.testing.assert_allclose(unlabeled.values, on_grid(unlabeled, CORNERS, np.zeros(4)), atol=ROUNDING)
    np.testing.assert_allclose(labeled.values, on_grid(labeled, CORNERS, CORNER_LABELS), atol=ROUNDING)


def test_values_are_the_objective_over_any_points_seen_along_their_eigenvectors(rng):
    points = rng.standard_normal((9, 2)) * [2.0, 0.7]
    labels = rng.integers(-1, 2, size=9).astype(float)
    ascending, vectors = np.linalg.eigh(points.T @ points)
    turned = points @ vectors[:, ::-1]
    for weight in (0.3 / ascending[1], 0.5 / ascending[0], 2.0 / ascending[0]):
        _, surface = objective_surfaces(ascending[::-1], [weight], label_pull=labels @ turned, n_steps=3)
        np.testing.assert_allclose(surface.values, on_grid(surface, turned, labels), atol=ROUNDING)


def test_the_grid_has_zero_in_its_middle_and_ends_at_the_extent():
    surface = objective_surfaces(extent=0.7, n_steps=5)[0]
    assert surface.coordinates.shape == (11,)
    assert surface.coordinates[5] == 0.0
    np.testing.assert_allclose(surface.coordinates[[0, -1]], [-0.7, 0.7], atol=ROUNDING)
    assert surface.values.shape == (11, 11)


def test_without_the_first_component_the_objective_along_the_second_is_left(surfaces):
    for surface in surfaces:
        middle = len(surface.coordinates) // 2
        np.testing.assert_array_equal(surface.values_without_first, surface.values[middle])


def test_regimes_are_those_of_the_five_columns_of_the_figure(surfaces):
    trivial, subspace, unbounded = Regime.TRIVIAL, Regime.SUBSPACE, Regime.UNBOUNDED
    columns = [
        (trivial, trivial),
        (subspace, trivial),
        (unbounded, trivial),
        (unbounded, subspace),
        (unbounded, unbounded),
    ]
    assert [surface.regimes for surface in surfaces] == columns + columns


def test_outcomes_are_those_of_the_caption_of_the_figure(surfaces):
    assert [surface.outcome.kind for surface in surfaces] == [
        *("point", "line", "fall", "fall", "fall"),
        *("point", "fall", "fall", "fall", "fall"),
    ]
    assert [surface.outcome_without_first.kind for surface in surfaces] == [
        *("point", "point", "point", "line", "fall"),
        *("point", "point", "point", "fall", "fall"),
    ]


def test_kernel_pca_below_the_bound_is_solved_by_zero_alone(surfaces):
    surface = of(surfaces, "kernel_pca", 0.125)
    np.testing.assert_array_equal(surface.outcome.paths, [[[0.0, 0.0, 0.0]]])
    assert surface.outcome.direction is None
    assert np.count_nonzero(surface.values <= 0) == 1


@pytest.mark.parametrize(("k", "error_weight"), [(0, 0.125), (1, 0.125), (1, 0.25), (1, 0.5)])
def test_the_marked_solution_of_semi_kpca_is_that_of_algorithm_1(surfaces, k, error_weight):
    surface = of(surfaces, "semi_kpca", error_weight)
    outcome = surface.outcome_without_first if k else surface.outcome
    alpha = algorithm_1(CORNERS @ CORNERS.T, CORNER_LABELS, k, error_weight)[0]
    w = CORNERS.T @ alpha
    w[:k] = 0.0  # the eigenvectors are the axes
    np.testing.assert_allclose(
        outcome.paths[0], [[*w, written_out(CORNERS, CORNER_LABELS, error_weight, w)]], atol=ROUNDING
    )


def test_a_line_of_solutions_is_level_and_nothing_lies_below_it(surfaces):
    for error_weight, name, values in (
        (0.25, "outcome", "values"),
        (1.0, "outcome_without_first", "values_without_first"),
    ):
        surface = of(surfaces, "kernel_pca", error_weight)
        (path,) = getattr(surface, name).paths
        assert np.ptp(path[:, 2]) == 0.0
        assert path[0, 2] == getattr(surface, values).min()
        np.testing.assert_allclose(np.abs(path[[0, -1], :2]).max(axis=1), surface.coordinates[-1], atol=ROUNDING)


def test_a_line_is_level_to_the_last_digit_where_the_bound_is_no_short_number():
    assert 49 * (1 / 49) != 1
    for surface in objective_surfaces((98.0, 49.0), (1 / 98, 1 / 49))[:2]:
        outcome = surface.outcome if surface.regimes[0] is Regime.SUBSPACE else surface.outcome_without_first
        assert outcome.kind == "line"
        assert np.ptp(outcome.paths[0][:, 2]) == 0.0


def test_a_fall_goes_down_all_the_way_and_has_no_floor(surfaces):
    for surface in surfaces:
        labels = CORNER_LABELS if surface.problem == "semi_kpca" else np.zeros(4)
        for outcome in (surface.outcome, surface.outcome_without_first):
            if outcome.kind != "fall":
                continue
            for path in outcome.paths:
                assert (np.diff(path[:, 2]) < 0).all()
                assert np.abs(path[-1, :2]).max() == surface.coordinates[-1]
                step = path[-1, :2] - path[0, :2]
                far = [written_out(CORNERS, labels, surface.error_weight, path[0, :2] + t * step) for t in (1e3, 1e6)]
                assert far[1] < 100 * far[0] < 0


def test_every_marked_place_lies_on_the_surface(surfaces):
    for surface in surfaces:
        labels = CORNER_LABELS if surface.problem == "semi_kpca" else np.zeros(4)
        for path in surface.outcome.paths + surface.outcome_without_first.paths:
            heights = [written_out(CORNERS, labels, surface.error_weight, w) for w in path[:, :2]]
            np.testing.assert_allclose(path[:, 2], heights, atol=ROUNDING)


def test_at_the_bound_labels_make_a_slope_that_falls_one_way_above_it_both_ways_are_down(surfaces):
    at_bound, above = (of(surfaces, "semi_kpca", weight).outcome for weight in (0.25, 0.5))
    assert len(at_bound.paths) == 1
    assert len(above.paths) == 2
    np.testing.assert_array_equal(at_bound.direction, [1.0, 0.0])


def test_the_fall_follows_the_sign_of_the_labels():
    surface = objective_surfaces(error_weights=[0.25], label_pull=(-2.0, 1.0))[1]
    np.testing.assert_array_equal(surface.outcome.direction, [-1.0, 0.0])
    assert surface.outcome.paths[0][-1, 0] == -surface.coordinates[-1]


def test_without_labels_semi_kpca_is_kernel_pca():
    surfaces = objective_surfaces(label_pull=(0.0, 0.0))
    for kernel_pca, semi_kpca in zip(surfaces[:5], surfaces[5:], strict=True):
        np.testing.assert_array_equal(kernel_pca.values, semi_kpca.values)
        assert kernel_pca.outcome.kind == semi_kpca.outcome.kind


def test_a_fall_whose_top_is_off_the_grid_goes_one_way_from_edge_to_edge():
    # The top is at γ p1 / (1 − γλ1) = −10, and the grid ends at −2.
    surface = objective_surfaces(error_weights=[0.5], label_pull=(20.0, 0.0))[1]
    (path,) = surface.outcome.paths
    np.testing.assert_array_equal(path[[0, -1], 0], [-2.0, 2.0])
    assert (np.diff(path[:, 2]) < 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eigenvalues": (1.0, 4.0)}, "must descend"),
        ({"eigenvalues": (2.0, 2.0)}, "must descend"),
        ({"eigenvalues": (4.0, 0.0)}, "two positive"),
        ({"eigenvalues": (4.0, 2.0, 1.0)}, "two positive"),
        ({"error_weights": (0.0,)}, "error_weight must be"),
        ({"label_pull": (1.0,)}, "label_pull must be two"),
        ({"label_pull": (1.0, np.nan)}, "label_pull must be two"),
        ({"extent": -1.0}, "extent must be"),
        ({"n_steps": 0}, "n_steps must be"),
    ],
)
def test_arguments_that_make_no_surface_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        objective_surfaces(**arguments)
