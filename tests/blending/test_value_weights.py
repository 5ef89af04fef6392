"""Weights of candidates for numbers, against a solver of convex problems."""

import numpy as np
import pytest

from regression_oracles import best_simplex
from semikpca.blending import first_weights, left_out_errors, stacked_weights

# Clarabel stops at gaps of 1e-12 of the objective, which is quadratic around its minimum with a curvature of 5 or more.
SOLVER = 1e-5


@pytest.fixture
def candidates(rng):
    """Answers of seven candidates at 15 left-out labels, and the labels, with mean 0 and variance 1."""
    y = rng.standard_normal(15)
    y = (y - y.mean()) / y.std()
    noise = np.linspace(0.2, 2.0, 7)[:, np.newaxis] * rng.standard_normal((7, 15))
    return y + noise, y


def test_stacked_weights_are_the_solution_of_the_convex_problem(candidates):
    left_out, y = candidates
    found = stacked_weights(left_out[:, :, np.newaxis], y[:, np.newaxis])
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(found, best_simplex(left_out.T, y), atol=SOLVER)


def test_several_targets_count_on_the_mean(candidates):
    left_out, y = candidates
    one = stacked_weights(left_out[:, :, np.newaxis], y[:, np.newaxis])
    twice = stacked_weights(np.stack([left_out, left_out], axis=2), np.column_stack([y, y]))
    np.testing.assert_allclose(twice, one, atol=1e-9)


def test_candidates_that_err_in_opposite_directions_count_together(rng):
    y = rng.standard_normal(40)
    y = (y - y.mean()) / y.std()
    error = rng.standard_normal(40)
    left_out = np.stack([y + error, y - error, y + 0.7 * rng.standard_normal(40)])
    alone = first_weights(left_out_errors(left_out[:, :, np.newaxis], y[:, np.newaxis]), 40)
    together = stacked_weights(left_out[:, :, np.newaxis], y[:, np.newaxis])
    assert alone.argmax() == 2
    assert together[:2].min() > 4 * alone[:2].max()


def test_a_candidate_without_error_gets_all_the_weight(rng):
    y = rng.standard_normal((20, 1))
    y = (y - y.mean()) / y.std()
    found = stacked_weights(np.stack([y, y + 1, np.zeros_like(y)]), y)
    np.testing.assert_allclose(found, [1, 0, 0], atol=1e-6)
