"""A few rows in the place of many: the small problem has the answers of the whole one."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.metrics.pairwise import rbf_kernel

from oracles import (
    SAME_TO_ROUNDING,
    algorithm_1,
    eigenpairs,
    naive_signed_targets,
    paper_error_weight,
    relative_error,
    semi_kpca_from_the_paper,
)
from semikpca import SemiKPCAClassifier
from semikpca.kernels import RBF, Nystroem
from semikpca.labeling import leave_one_label_out
from semikpca.problem._compressed import CompressedRows, OnFeatures, joined, summary

GAMMA = 0.3
# Sums of squares in another order, and a square root of them: a few roundings of the largest.
SAME_SUMS = 1e-12


def rows_and_labels(n, n_labels, n_classes=3, seed=0):
    generator = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    X = 2 * generator.normal(size=(n_classes, 3))[truth] + generator.normal(size=(n, 3)) * [1.0, 0.8, 0.6]
    labeled = np.sort(generator.choice(n, n_labels, replace=False))
    labeled[:n_classes] = np.arange(n_classes)  # one label of each class at least
    y = np.full(n, -1)
    y[labeled] = truth[labeled]
    return X, y


def compressed(X, y, kernel, cuts=()):
    labeled = np.flatnonzero(y != -1)
    bounds = [0, *sorted(cuts), len(X)]
    parts = []
    for start, stop in pairwise(bounds):
        if stop > start:
            parts.append(summary(X[start:stop], kernel, labeled[(labeled >= start) & (labeled < stop)] - start))
    whole = joined(parts)
    return CompressedRows.of(kernel, whole.gram, labeled, whole.kept)


def naive_matrix(fitted, X):
    Z = fitted.landmarks_
    inside = np.linalg.solve(rbf_kernel(Z, gamma=GAMMA), rbf_kernel(Z, X, gamma=GAMMA))
    return rbf_kernel(X, Z, gamma=GAMMA) @ inside


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_small_rows_have_the_sums_of_all_rows_however_these_are_cut(data):
    n = data.draw(st.integers(4, 60), "rows")
    n_labels = data.draw(st.integers(3, n), "labels")
    X, y = rows_and_labels(n, n_labels, seed=data.draw(st.integers(0, 5), "seed"))
    cuts = data.draw(st.lists(st.integers(1, n - 1), max_size=6), "cuts")
    kernel = Nystroem(RBF(gamma=GAMMA), data.draw(st.integers(1, 20), "landmarks"), random_state=0).fit(X)
    features = kernel.features(X)
    small = compressed(X, y, kernel, cuts).small_rows
    n_labeled = np.count_nonzero(y != -1)
    assert np.allclose(small[:n_labeled], features[y != -1], rtol=0, atol=SAME_SUMS)
    assert np.allclose(small.T @ small, features.T @ features, rtol=0, atol=SAME_SUMS * n)
    assert len(small) <= n_labeled + features.shape[1]


@pytest.mark.parametrize("n_removed", [0, 1, 2])
def test_the_small_problem_has_the_decisions_and_left_out_decisions_of_algorithm_1(n_removed):
    X, y = rows_and_labels(90, 12)
    kernel = Nystroem(RBF(gamma=GAMMA), 15, random_state=0).fit(X)
    K = naive_matrix(kernel, X)
    error_weight = paper_error_weight(K, n_removed, "middle")
    targets, labeled = naive_signed_targets(y), np.flatnonzero(y != -1)
    rows = compressed(X, y, kernel, cuts=(31, 40)).small_rows
    small_y = np.full(len(rows), -1)
    small_y[: len(labeled)] = y[labeled]
    model = SemiKPCAClassifier(OnFeatures(), n_components_removed=n_removed, backend="low-rank").fit(rows, small_y)
    assert model.error_weight_ == pytest.approx(error_weight, rel=SAME_TO_ROUNDING)
    assert relative_error(model.eigenvalues_, eigenpairs(K)[0][: n_removed + 1]) < SAME_TO_ROUNDING
    decision = semi_kpca_from_the_paper(K, targets, n_removed, error_weight)
    assert relative_error(model.decision_[: len(labeled)], decision[labeled]) < SAME_TO_ROUNDING
    left_out = leave_one_label_out(model).decision
    for place, row in enumerate(labeled):
        without = targets.copy()
        without[row] = 0
        wanted = semi_kpca_from_the_paper(K, without, n_removed, error_weight)[row]
        assert relative_error(left_out[place], wanted) < SAME_TO_ROUNDING


def test_the_weights_of_the_small_problem_are_those_of_all_rows():
    X, y = rows_and_labels(90, 12)
    kernel = Nystroem(RBF(gamma=GAMMA), 15, random_state=0).fit(X)
    K, features = naive_matrix(kernel, X), kernel.features(X)
    error_weight = paper_error_weight(K, 1, "middle")
    alpha, _, V = algorithm_1(K, naive_signed_targets(y), 1, error_weight)
    wanted = features.T @ (alpha - V @ (V.T @ alpha))
    rows = compressed(X, y, kernel).small_rows
    small_y = np.full(len(rows), -1)
    small_y[:12] = y[y != -1]
    model = SemiKPCAClassifier(OnFeatures(), backend="low-rank").fit(rows, small_y)
    assert relative_error(rows.T @ model.dual_coef_, wanted) < SAME_TO_ROUNDING


def test_rows_that_are_kept_later_leave_the_sums_as_they_were():
    X, y = rows_and_labels(60, 9)
    kernel = Nystroem(RBF(gamma=GAMMA), 10, random_state=0).fit(X)
    before = compressed(X, y, kernel)
    further = np.setdiff1d(np.arange(60), before.numbers)[[5, 1]]
    after = before.with_rows(further, X[further])
    assert after.numbers.tolist() == sorted([*before.numbers, *further])
    assert np.allclose(after.features, kernel.features(X)[after.numbers], rtol=0, atol=SAME_SUMS)
    assert np.allclose(after.small_rows.T @ after.small_rows, before.gram, rtol=0, atol=60 * SAME_SUMS)
    assert after.places(further).tolist() == [after.numbers.tolist().index(row) for row in further]


def test_a_summary_does_not_change_what_it_is_made_of():
    X, _ = rows_and_labels(20, 6)
    kernel = Nystroem(RBF(gamma=GAMMA), 5, random_state=0).fit(X)
    parts = [summary(X[:10], kernel, np.array([1])), summary(X[10:], kernel, np.array([0]))]
    first = parts[0].gram.copy()
    whole = joined(parts)
    assert np.array_equal(parts[0].gram, first)
    assert np.array_equal(whole.kept, X[[1, 10]])


def test_more_labeled_features_than_memory_allows_are_refused_with_the_numbers():
    X, y = rows_and_labels(60, 50)
    kernel = Nystroem(RBF(gamma=GAMMA), 20, random_state=0).fit(X)
    with config_context(working_memory=1e-3), pytest.raises(ValueError, match=r"50 labeled rows with 20 features"):
        compressed(X, y, kernel)


def test_features_beyond_the_range_of_numbers_are_refused():
    X, _ = rows_and_labels(10, 3)
    kernel = Nystroem(RBF(gamma=GAMMA), 5, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"leave the range of float64\. Scale the features"):
        CompressedRows.of(kernel, np.full((5, 5), np.inf), np.array([0]), X[:1])
