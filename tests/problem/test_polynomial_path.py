"""Paths of error weights on neighbor graphs against the whole spectrum of the dense matrix."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from semikpca.kernels import NeighborGraph
from semikpca.operators import DeflatedOperator, make_operator
from semikpca.problem import _polynomial_path as module
from semikpca.problem import polynomial_path
from semikpca.spectrum import removable_spectrum

ROWS = np.array([0, 1, 2, 3, 40, 41, 77, 130])
TARGETS = np.array([1.0, -1, 1, -1, 1, -1, 1, -1])[:, np.newaxis] * [1.0, 0.5, -2.0]
RELATIVE_WEIGHTS = np.array([0.01, 0.5, 0.9, 0.999])
RTOL = 1e-10
# What the series leaves is divided by the distance to the bound, as the answers themselves are; only rows with small
# answers see less of that.
AS_ACCURATE_AS_ASKED = 1e-8
SINGLE_PRECISION = 2e-3  # rounding of float32, divided by the distance to the bound of the largest weight


def clusters(rng, *, apart, n=240):
    """Return rows of two clusters; far apart the graph falls into two pieces."""
    X = rng.standard_normal((n, 3))
    X[n // 2 :, 0] += apart
    return X


def answers_of_the_whole_spectrum(K, k, rows, targets, error_weights):
    values, vectors = np.linalg.eigh(K.astype(np.float64))
    left = slice(None, len(K) - k)
    decisions, left_out = [], []
    for weight in error_weights:
        H = (vectors[:, left] * (values[left] / (1 / weight - values[left]))) @ vectors[:, left].T
        decisions.append(H[:, rows] @ targets)
        others = H[np.ix_(rows, rows)].copy()
        np.fill_diagonal(others, 0)
        left_out.append(others @ targets)
    return np.stack(decisions), np.stack(left_out)


def path(operator, k, *, targets=TARGETS, leading="ritz", relative=RELATIVE_WEIGHTS, rtol=RTOL):
    spectrum, cut = removable_spectrum(operator, k, 1e-12)
    deflated = DeflatedOperator(operator, spectrum.eigenvalues[:cut], spectrum.eigenvectors[:, :cut])
    weights = relative / float(spectrum.eigenvalues[cut])
    if isinstance(leading, str):
        leading = None if spectrum.subspace is None else spectrum.subspace.basis
    found = polynomial_path(deflated, ROWS, targets.astype(operator.dtype), weights, rtol, leading)
    return found, answers_of_the_whole_spectrum(operator.to_dense(), cut, ROWS, targets, weights)


def assert_same(found, wanted, tolerance):
    for numbers, true in zip(found, wanted, strict=True):
        assert numbers.shape == true.shape
        for at_weight, true_at_weight in zip(numbers, true, strict=True):
            assert np.abs(at_weight - true_at_weight).max() < tolerance * np.abs(true_at_weight).max()


@pytest.fixture(params=[1.0, 30.0], ids=["one piece", "two pieces"])
def operator(request, rng):
    X = clusters(rng, apart=request.param, n=400)
    return make_operator(NeighborGraph(n_neighbors=8).fit(X), X, "sparse")


@pytest.mark.parametrize("k", [0, 1, 3])
def test_all_weights_equal_the_whole_spectrum(operator, k):
    assert_same(*path(operator, k), AS_ACCURATE_AS_ASKED)


@pytest.mark.parametrize("n_columns", [1, 3, 21])
def test_any_number_of_columns_is_answered(operator, rng, n_columns):
    targets = rng.standard_normal((len(ROWS), n_columns))
    assert_same(*path(operator, 1, targets=targets), AS_ACCURATE_AS_ASKED)


@pytest.mark.parametrize("leading", ["ritz", None])
@pytest.mark.parametrize("degrees_at_once", [1, 7, 10_000])
def test_terms_are_summed_in_batches_of_any_size(operator, rng, monkeypatch, degrees_at_once, leading):
    monkeypatch.setattr(module, "_NUMBERS_AT_ONCE", 1)
    monkeypatch.setattr(module, "_DEGREES_AT_ONCE", degrees_at_once)
    if leading is None:
        leading = np.linalg.qr(rng.standard_normal((operator.n, 4)))[0]  # the graph leads out of these
    assert_same(*path(operator, 1, leading=leading), AS_ACCURATE_AS_ASKED)


def test_vectors_that_are_no_eigenvectors_cost_steps_but_no_digits(operator, rng):
    leading = np.linalg.qr(rng.standard_normal((operator.n, 4)))[0]
    assert_same(*path(operator, 1, leading=leading), AS_ACCURATE_AS_ASKED)


def test_without_any_leading_vectors_answers_are_the_same(operator):
    assert_same(*path(operator, 1, leading=None), AS_ACCURATE_AS_ASKED)


def test_vectors_given_twice_do_no_harm(operator):
    known = operator.known_spectrum(2).eigenvectors
    assert_same(*path(operator, 1, leading=np.hstack([known, known])), AS_ACCURATE_AS_ASKED)


def test_good_leading_vectors_save_products(rng):
    X = clusters(rng, apart=3.0, n=400)
    counts = {}
    for leading in ("ritz", None):
        operator = make_operator(NeighborGraph(n_neighbors=8).fit(X), X, "sparse")
        removable_spectrum(operator, 1, 1e-12)
        before = operator.log.n_products
        path(operator, 1, leading=leading)
        counts[leading] = operator.log.n_products - 2 * before
    assert counts["ritz"] < 0.7 * counts[None]


def test_own_responses_take_half_of_the_degree(operator, monkeypatch):
    asked = []
    plain = module._Parts.polynomials

    def noted(self, block, series, degree=None):
        asked.append((degree, series.degree))
        return plain(self, block, series, degree)

    monkeypatch.setattr(module._Parts, "polynomials", noted)
    path(operator, 1)
    halves = [(degree, whole) for degree, whole in asked if degree is not None]
    assert halves
    assert all(2 * degree == whole for degree, whole in halves)


def test_rows_in_float32_are_answered_in_float32(rng):
    X = clusters(rng, apart=1.0, n=400).astype(np.float32)
    operator = make_operator(NeighborGraph(n_neighbors=8).fit(X), X, "sparse")
    found, wanted = path(operator, 1, rtol=1e-6)
    assert found[0].dtype == np.float32
    assert_same(found, wanted, SINGLE_PRECISION)


def test_fewer_digits_take_fewer_products(operator):
    path(operator, 1, rtol=1e-10)
    many = operator.log.n_products
    path(operator, 1, rtol=1e-3)
    assert operator.log.n_products - many < many


def test_a_path_that_does_not_solve_its_systems_says_so(operator, monkeypatch):
    """Polynomials grow without bound at eigenvalues beyond the end of their interval."""
    true_end = module._Parts.end
    monkeypatch.setattr(module._Parts, "end", lambda self, shift: 0.9 * true_end(self, shift))
    with pytest.warns(ConvergenceWarning, match="relative residual of"):
        path(operator, 1)
