"""Functions of features that are sent to workers, and draws of landmarks among more rows than can be numbered."""

import pickle

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from oracles import relative_error
from semikpca.kernels import RBF, Linear, Normalized, Nystroem, _nystroem
from semikpca.kernels._nystroem import RULES
from semikpca.operators import weighted_features

GAMMA = 0.4
# The same products in another order, with coefficients that R makes large.
SAME_PRODUCTS = 1e-9


def rows(n=400, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


@pytest.mark.parametrize(
    "kernel",
    [Linear(), Linear(center=True), Nystroem(RBF(GAMMA), 30, random_state=0)],
    ids=repr,
)
def test_weighted_features_are_the_features_times_the_weights(kernel):
    fitted = kernel.fit(rows())
    features = fitted.features(rows(7, seed=1))
    weights = np.random.default_rng(2).normal(size=(features.shape[1], 2))
    assert relative_error(weighted_features(fitted, weights)(rows(7, seed=1)), features @ weights) < SAME_PRODUCTS


def test_weighted_features_of_a_normalized_kernel_are_scaled_by_the_degree_of_each_row():
    X, new_rows = rows(), rows(7, seed=1)
    fitted = Normalized(Nystroem(RBF(GAMMA), 30, random_state=0)).fit(X)
    Z = fitted.kernel_.landmarks_
    inverse = np.linalg.inv(rbf_kernel(Z, gamma=GAMMA))
    degrees = rbf_kernel(new_rows, Z, gamma=GAMMA) @ inverse @ rbf_kernel(Z, X, gamma=GAMMA).sum(axis=1)
    weights = np.random.default_rng(2).normal(size=(fitted.kernel_.rank_, 2))
    wanted = fitted.kernel_.features(new_rows) @ weights / np.sqrt(degrees)[:, np.newaxis]
    assert relative_error(weighted_features(fitted, weights)(new_rows), wanted) < SAME_PRODUCTS


@pytest.mark.parametrize("kernel", [Nystroem(RBF(GAMMA), 200, random_state=0)], ids=repr)
@pytest.mark.parametrize("is_normalized", [False, True])
def test_what_is_sent_to_workers_has_the_landmarks_and_not_the_matrix_between_them(kernel, is_normalized):
    fitted = (Normalized(kernel) if is_normalized else kernel).fit(rows())
    rank = (fitted.kernel_ if is_normalized else fitted).rank_
    sent = pickle.dumps(weighted_features(fitted, np.ones((rank, 1))))
    assert 8 * 200 * 3 < len(sent) < 8 * 200 * rank / 5


class VeryManyRows:
    """Rows of which only the number is known."""

    shape = (10**12, 3)


def test_landmarks_are_drawn_among_more_rows_than_memory_could_number():
    drawn = np.sort(RULES["uniform"](RBF(), VeryManyRows(), 1_000, np.random.RandomState(0)))
    assert len(np.unique(drawn)) == 1_000
    assert 0 <= drawn[0] < 10**10  # a thousand of them leave gaps of about 10⁹
    assert 10**12 - 10**10 < drawn[-1] < 10**12
    assert np.array_equal(drawn, np.sort(RULES["uniform"](RBF(), VeryManyRows(), 1_000, np.random.RandomState(0))))


def test_the_draw_among_fewer_rows_is_what_it_was(monkeypatch):
    drawn = np.sort(RULES["uniform"](RBF(), rows(), 10, np.random.RandomState(3)))
    assert np.array_equal(drawn, np.sort(np.random.RandomState(3).choice(400, 10, replace=False)))
    monkeypatch.setattr(_nystroem, "_MOST_SHUFFLED_ROWS", 399)
    other = RULES["uniform"](RBF(), rows(), 10, np.random.RandomState(3))
    assert len(np.unique(other)) == 10
