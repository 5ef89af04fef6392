"""Numbers that are left out: exact for each candidate, and wrong ones stand out."""

import numpy as np
import pytest
from scipy.stats import cauchy, t
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from oracles import relative_error
from regression_oracles import NOISES, dense_response, left_out_by_refit
from semikpca import SemiKPCARegressor, SemiKPCARegressorCV
from semikpca.kernels import RBF, Linear, NeighborGraph
from semikpca.labeling import audit_labels, leave_one_label_out
from semikpca.labeling._left_out_values import wrong_values

KERNEL = RBF(gamma=0.1)
MODELS = [SemiKPCARegressor(KERNEL), SemiKPCARegressorCV([KERNEL, Linear()])]


@pytest.fixture
def table(rng):
    X = rng.standard_normal((80, 3))
    truth = 5 + np.sin(X[:, 0]) + X[:, 1]
    y = np.full(80, np.nan)
    y[:30] = truth[:30] + 0.05 * rng.standard_normal(30)
    return X, y


def test_left_out_numbers_are_those_of_refits_of_each_candidate(table):
    X, y = table
    model = SemiKPCARegressor(KERNEL, tol=1e-12).fit(X, y)
    H = dense_response(rbf_kernel(X, gamma=0.1), 1)[:30, :30]
    mean, spread = y[:30].mean(), y[:30].std()
    given = (y[:30] - mean) / spread
    total = sum(w * left_out_by_refit(H, given, noise) for w, noise in zip(model.weights_, NOISES, strict=True))
    found = leave_one_label_out(model)
    assert relative_error(found.predictions, mean + spread * total) < 1e-7  # none of them is at the bounds
    np.testing.assert_array_equal(found.rows, np.arange(30))
    np.testing.assert_array_equal(found.given, y[:30])
    wanted = np.sqrt(np.mean((found.predictions - y[:30]) ** 2))
    assert found.root_mean_squared_error == pytest.approx(wanted)


def test_a_label_alone_in_its_piece_is_said_to_be_the_mean_of_the_others(rng):
    X = np.concatenate([rng.standard_normal((20, 2)), 100 + rng.standard_normal((20, 2))])
    y = np.full(40, np.nan)
    y[[0, 1, 2, 3, 30]] = [1.0, 2.0, 3.0, 4.0, 50.0]
    model = SemiKPCARegressor(NeighborGraph(4)).fit(X, y)
    found = leave_one_label_out(model)
    assert found.is_out_of_reach.tolist() == [False, False, False, False, True]
    assert found.predictions[-1] == pytest.approx(2.5)
    audit = audit_labels(model)
    assert audit.rows[-1] == 30  # nothing is known of it
    assert np.isnan(audit.suspicion[-1])


@pytest.mark.parametrize("model", MODELS)
def test_a_number_that_was_typed_wrong_is_found(table, model):
    X, y = table
    wrong = y.copy()
    wrong[4] += 6.0
    audit = audit_labels(clone(model).fit(X, wrong))
    assert audit.rows[0] == 4
    assert audit.looks_wrong[0]
    assert audit.suspicion[0] > 0.9
    assert audit.distance[0] > 5
    assert audit.suggested[0] == pytest.approx(y[4], abs=1.0)
    assert audit.given[0] == wrong[4]
    assert audit.to_frame()["row"].iloc[0] == 4
    assert audit.to_frame().columns.tolist() == ["row", "given", "suggested", "distance", "suspicion"]


@pytest.mark.parametrize("model", MODELS)
def test_no_number_looks_wrong_where_none_is(table, model):
    audit = audit_labels(clone(model).fit(*table))
    assert not audit.looks_wrong.any()
    assert audit.share_wrong < 0.1


def test_several_targets_are_audited_by_the_one_that_misses_most(table):
    X, y = table
    both = np.column_stack([y, y])
    both[4, 1] += 6.0
    audit = audit_labels(SemiKPCARegressor(KERNEL).fit(X, both))
    assert audit.rows[0] == 4
    assert audit.given.shape == (30, 2)
    assert audit.to_frame().columns.tolist()[:3] == ["row", "given 0", "given 1"]


def test_suspicion_is_the_mean_over_tails_by_their_likelihood(rng):
    """One share and one density at a time, by a grid of shares instead of expectation-maximization."""
    given, said = rng.standard_normal((2, 25, 1))
    given[0] += 8
    residuals = (given - said)[:, 0]
    errors = 1.4826 * np.median(np.abs(residuals))
    middle = np.median(given)
    size = max(1.4826 * np.median(np.abs(given - middle)), errors)
    wrong = cauchy.pdf((given[:, 0] - middle) / size) / size
    shares = np.linspace(1e-4, 0.5, 20001)[:, np.newaxis]
    total, expected, evidence = 0.0, 0.0, 0.0
    for degrees in (3, 6, 12, 30):
        right = t.pdf(residuals / errors, degrees) / errors
        mixed = (1 - shares) * right + shares * wrong
        prior = 10 * (0.05 * np.log(shares[:, 0]) + 0.95 * np.log1p(-shares[:, 0]))
        objective = np.log(mixed).sum(axis=1) + prior
        best = int(np.argmax(objective))
        likelihood = np.exp(objective[best])
        evidence += likelihood
        total = total + likelihood * (shares[best] * wrong / mixed[best])
        expected += likelihood * float(shares[best, 0])
    suspicion, share, distances = wrong_values(given, said)
    # The grid has steps of 2.5e-5, and the iteration stops at changes of 1e-6 a step.
    np.testing.assert_allclose(suspicion, total / evidence, atol=1e-3)
    assert share == pytest.approx(expected / evidence, abs=1e-3)
    np.testing.assert_allclose(distances, np.abs(residuals) / errors)


def test_a_model_that_is_not_fitted_is_refused():
    for reading in (leave_one_label_out, audit_labels):
        with pytest.raises(NotFittedError):
            reading(SemiKPCARegressor())
