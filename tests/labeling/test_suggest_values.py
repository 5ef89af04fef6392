"""Rows to label next, for numbers: by brute force, and worth more than rows at random."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from semikpca import SemiKPCARegressor, SemiKPCARegressorCV
from semikpca.kernels import RBF, Linear
from semikpca.labeling import suggest_labels

MODELS = [SemiKPCARegressor(RBF(gamma=0.1)), SemiKPCARegressorCV([RBF(gamma=0.1), Linear()])]


@pytest.fixture
def table(rng):
    X = rng.standard_normal((40, 2))
    truth = np.sin(X[:, 0]) + X[:, 1]
    y = np.full(40, np.nan)
    y[:8] = truth[:8]
    return X, y, truth


def kriging_variances(K, labeled, noise):
    """Variances of all rows of a Gaussian process with an unknown mean, given labels: one row at a time."""
    m = len(labeled)
    bordered = np.ones((m + 1, m + 1))
    bordered[:m, :m] = K[np.ix_(labeled, labeled)] + noise * np.eye(m)
    bordered[m, m] = 0
    sides = np.vstack([K[labeled], np.ones(len(K))])
    return np.diag(K) - np.einsum("ij,ij->j", sides, np.linalg.solve(bordered, sides))


def test_rows_are_those_that_lower_variances_the_most_by_refits(table):
    X, y, _ = table
    plain = [rbf_kernel(X, gamma=0.1), linear_kernel(X)]
    model = SemiKPCARegressorCV([RBF(gamma=0.1), Linear()], tol=1e-12).fit(X, y)
    # The processes: a kernel, a noise and a size each; all but the size do not depend on the numbers.
    processes = []
    responses = {}
    for part in model.blend_.parts:
        source = model.blend_.sources[part.number]
        K = responses.setdefault(part.number, source.compute(np.arange(40))[0])
        if source.certificate is None:
            assert any(np.allclose(K, wanted) for wanted in plain)
        own = K[:8, :8]
        scale = np.mean(np.diag(own)) - np.mean(own)
        given = (y[:8] - y[:8].mean()) / y[:8].std()
        for noise, _, weight in part.settings:
            bordered = np.ones((9, 9))
            bordered[:8, :8] = own + noise * scale * np.eye(8)
            bordered[8, 8] = 0
            size = given @ np.linalg.solve(bordered, np.append(given, 0))[:8] / 7
            processes.append((weight, size, K, noise * scale))
    labeled, wanted = list(range(8)), []
    for _ in range(4):
        left = [row for row in range(40) if row not in labeled]
        after = [
            sum(w * size * kriging_variances(K, [*labeled, row], noise).mean() for w, size, K, noise in processes)
            for row in left
        ]
        wanted.append(left[int(np.argmin(after))])
        labeled.append(wanted[-1])
    assert suggest_labels(model, 4).tolist() == wanted


@pytest.mark.parametrize("model", MODELS)
def test_suggested_rows_are_unlabeled_different_and_remembered(table, model):
    X, y, _ = table
    model = clone(model).fit(X, y)
    rows = suggest_labels(model, 10, check_rows=3)
    assert len(set(rows.tolist())) == 10
    assert set(rows.tolist()) <= set(model.unlabeled_rows_.tolist())
    np.testing.assert_array_equal(model.suggested_rows_, np.sort(rows[:7]))
    assert len(suggest_labels(model, 100)) == 32
    assert len(suggest_labels(model, 3, max_candidates=5)) == 3


def test_no_row_is_suggested_where_all_are_labeled(table):
    X, _, truth = table
    assert suggest_labels(SemiKPCARegressor().fit(X, truth), 3).size == 0


def test_suggested_rows_do_not_depend_on_numbers_of_one_kernel_at_one_noise(table):
    X, y, _ = table
    one = SemiKPCARegressorCV([RBF(gamma=0.1)], combine="best").fit(X, y)
    other = one.with_labels(np.where(np.isnan(y), y, -3 * y + 2))
    np.testing.assert_array_equal(suggest_labels(one, 5), suggest_labels(other, 5))


def test_labels_of_suggested_rows_are_worth_more_than_labels_at_random(rng):
    suggested, at_random = [], []
    for _ in range(10):
        position = rng.uniform(0, 3 * np.pi, 150)
        X = np.column_stack([position * np.cos(position), position * np.sin(position)])
        y = np.full(150, np.nan)
        y[:6] = position[:6]
        model = SemiKPCARegressorCV().fit(X, y)
        for rows, errors in (
            (suggest_labels(model, 6), suggested),
            (rng.choice(model.unlabeled_rows_, 6, replace=False), at_random),
        ):
            known = y.copy()
            known[rows] = position[rows]
            errors.append(np.mean((model.with_labels(known).transduction_ - position) ** 2))
    assert np.mean(suggested) < 0.7 * np.mean(at_random)
