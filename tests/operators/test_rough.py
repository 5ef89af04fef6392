"""Rough eigenvectors: close enough to save products, and never trusted."""

import numpy as np
import pytest
from scipy import linalg, sparse

from semikpca.kernels import RBF, Cosine, Linear, Normalized
from semikpca.operators import BlockedOperator, CenteredOperator, make_operator
from semikpca.spectrum import leading_spectrum

N = 900
# A sample of 200 rows knows an average over all of them to about 1/sqrt(200).
ROUGHLY = 0.2
RTOL = 1e-8


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((N, 5))
    X[::2, 0] += 4
    return X


def largest_sine(found, wanted):
    """Return the sine of the largest angle between the columns of ``wanted`` and the span of ``found``."""
    return np.sin(linalg.subspace_angles(found, wanted)).max()


def leading_vectors(K, m):
    return np.linalg.eigh(K)[1][:, ::-1][:, :m]


@pytest.mark.parametrize("kernel", [RBF(0.1), Cosine(), Normalized(RBF(0.1))], ids=["rbf", "cosine", "normalized"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_are_close_to_the_leading_eigenvectors(rows, kernel, dtype):
    X = rows.astype(dtype)
    operator = make_operator(kernel.fit(X), X, "blocked")
    rough = operator.rough_eigenvectors(8)
    assert rough.shape[1] <= 8
    assert rough.dtype == dtype
    assert largest_sine(rough, leading_vectors(operator.to_dense(), 2)) < ROUGHLY


def test_those_of_a_centered_matrix_are_centered(rows):
    operator = CenteredOperator(make_operator(RBF(0.1), rows, "blocked"))
    rough = operator.rough_eigenvectors(8)
    np.testing.assert_allclose(rough.mean(axis=0), 0, atol=1e-12)
    assert largest_sine(rough, leading_vectors(operator.to_dense(), 1)) < ROUGHLY  # the next ones are close to equal


def test_sparse_rows_have_them_too(rows):
    sparse_rows = sparse.csr_array(np.where(np.abs(rows) > 1, rows, 0))
    operator = make_operator(Linear(), sparse_rows, "blocked")
    assert largest_sine(operator.rough_eigenvectors(5), leading_vectors(operator.to_dense(), 2)) < ROUGHLY


def test_no_more_are_returned_than_the_matrix_has(rows):
    assert make_operator(Linear(), rows, "blocked").rough_eigenvectors(20).shape == (N, 5)


def test_a_stored_matrix_has_none(rows):
    assert make_operator(RBF(0.1), rows, "dense").rough_eigenvectors(3).shape == (N, 0)


def test_a_search_that_begins_with_them_takes_fewer_products(rows, monkeypatch):
    counts = {}
    for begins in ("rough", "random"):
        operator = BlockedOperator(RBF(0.1), rows)
        if begins == "random":
            monkeypatch.setattr(BlockedOperator, "rough_eigenvectors", lambda self, m: np.empty((N, 0)))
        leading_spectrum(operator, 2, 1e-6, last_is_bound=True)
        counts[begins] = operator.log.n_products
    assert counts["rough"] < counts["random"]


def test_an_eigenvector_that_they_know_nothing_of_is_found(rows, monkeypatch):
    operator = BlockedOperator(RBF(0.1), rows)
    values, vectors = np.linalg.eigh(operator.to_dense())
    monkeypatch.setattr(operator, "rough_eigenvectors", lambda m: vectors[:, -1 - m : -1])  # all but the first
    found = leading_spectrum(operator, 2, RTOL)
    np.testing.assert_allclose(found.eigenvalues, values[::-1][:2], rtol=RTOL)
