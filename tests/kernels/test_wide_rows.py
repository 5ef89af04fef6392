"""Kernels of wide rows, which come from products in blocks, against the same formulas pair by pair."""

import numpy as np
import pytest

from oracles import (
    entrywise,
    naive_cosine,
    naive_laplacian,
    naive_linear,
    naive_polynomial,
    naive_rbf,
    relative_error,
    semi_kpca_from_the_paper,
)
from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.blending import _sources
from semikpca.kernels import RBF, Cosine, Laplacian, Linear, Polynomial, _base

D = 300
generator = np.random.default_rng(8)
ROWS = {
    "a cloud": generator.normal(size=(40, D)),
    "off the origin": generator.normal(size=(40, D)) + 20,
    "few of them": generator.normal(size=(2, D)),
    "with an outlier": np.vstack([generator.normal(size=(39, D)), generator.normal(size=(1, D)) + 1e4]),
}
KERNELS = {
    "rbf": (RBF(gamma=1e-3), naive_rbf(1e-3)),
    "narrow rbf": (RBF(gamma=0.5), naive_rbf(0.5)),  # products have too few digits for it
    "laplacian": (Laplacian(gamma=1e-3), naive_laplacian(1e-3)),
    "linear": (Linear(), naive_linear),
    "poly": (Polynomial(degree=2, gamma=1e-3, coef0=1.0), naive_polynomial(2, 1e-3, 1.0)),
    "cosine": (Cosine(), naive_cosine),
}
# Of the largest value of the matrix: exponents up to 16 with a few dozen roundings.
ROUNDING = {np.float64: 1e-13, np.float32: 2e-5}


@pytest.fixture(params=[False, True], ids=["at once", "a few rows at a time"])
def few_numbers_are_many(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(_base, "_MANY_NUMBERS", 5 * D)


@pytest.mark.usefixtures("few_numbers_are_many")
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_are_those_of_the_formula(name, kernel, dtype):
    rows, (kernel, formula) = ROWS[name].astype(dtype), KERNELS[kernel]
    others = np.vstack([rows[:2], (rows[:2] + rows[-2:]) / 2]).astype(dtype)
    for A, B in ((rows, rows), (rows, others), (others, rows)):
        found = kernel.pairwise(A, B)
        assert found.dtype == dtype
        wanted = entrywise(formula, A.astype(np.float64), B.astype(np.float64))
        assert np.abs(found - wanted).max() <= ROUNDING[dtype] * np.abs(wanted).max()


def test_the_matrix_of_rows_with_themselves_is_symmetric():
    K = RBF(gamma=1e-3).pairwise(ROWS["a cloud"], ROWS["a cloud"])
    np.testing.assert_array_equal(K, K.T)
    assert (np.diag(K) == 1).all()


def test_rows_of_two_types_are_compared_in_the_wider_one():
    rows = ROWS["a cloud"]
    for one, other in ((np.float32, np.float64), (np.float64, np.float32)):
        assert RBF(gamma=1e-3).pairwise(rows.astype(one), rows[:3].astype(other)).dtype == np.float64


def test_a_centered_kernel_takes_the_mean_off_a_few_rows_at_a_time(monkeypatch):
    rows = ROWS["off the origin"]
    kernel = Linear(center=True).fit(rows)
    whole = kernel.pairwise(rows, rows[:3])
    monkeypatch.setattr(_base, "_MANY_NUMBERS", 5 * D)
    centered = rows - rows.mean(axis=0)
    np.testing.assert_allclose(kernel.pairwise(rows, rows[:3]), centered @ centered[:3].T, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(kernel.pairwise(rows, rows[:3]), whole, rtol=1e-13)


# -- whole fits --------------------------------------------------------------------------------------------------------


def wide_problem(dtype=np.float64):
    rng = np.random.default_rng(1)
    truth = np.arange(120) % 2
    X = rng.normal(size=(120, D)) + 0.4 * truth[:, np.newaxis]
    y = np.full(120, -1)
    y[:10] = truth[:10]
    return X.astype(dtype), y, truth


def test_a_fit_of_wide_rows_is_algorithm_1_of_the_paper():
    X, y, _ = wide_problem()
    squared = ((X[:, np.newaxis] - X) ** 2).sum(axis=2)
    K = np.exp(-squared / (2 * np.median(np.sqrt(squared[np.triu_indices(120, k=1)])) ** 2))
    eigenvalues = np.linalg.eigvalsh(K)[::-1]
    signs = np.select([y == 1, y == 0], [1.0, -1.0], 0.0)
    wanted = semi_kpca_from_the_paper(K, signs, 1, 1 / np.sqrt(eigenvalues[0] * eigenvalues[1]))
    assert relative_error(SemiKPCAClassifier().fit(X, y).decision_, wanted) < 1e-9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_automatic_classifier_answers_wide_rows_seen_again_as_before(dtype):
    X, y, truth = wide_problem(dtype)
    model = SemiKPCAClassifierCV().fit(X, y)
    assert relative_error(model.decision_function(X.copy()), model.decision_) < (1e-8 if dtype == np.float64 else 1e-4)
    assert np.mean(model.transduction_ == truth) > 0.8  # far from half of them


def test_one_matrix_of_distances_for_all_does_not_change_what_the_automatic_classifier_decides(monkeypatch):
    X, y, _ = wide_problem()
    shared = SemiKPCAClassifierCV().fit(X, y)
    monkeypatch.setattr(_sources, "stores_matrix", lambda *asked: False)
    apart = SemiKPCAClassifierCV().fit(X, y)
    assert relative_error(shared.decision_, apart.decision_) < 1e-5  # solves are made to 1e-6
