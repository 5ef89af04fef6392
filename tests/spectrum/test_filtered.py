"""The spectrum of neighbor graphs, whose eigenvalues crowd near the top."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

from semikpca.kernels import NeighborGraph
from semikpca.operators import SparseOperator
from semikpca.spectrum import _filtered, leading_spectrum, removable_spectrum

# What a fit asks for.
RTOL = 1e-11
# Eigenvalues of a dense matrix by LAPACK: a few eps of the largest, which is 1.
ROUNDING = 1e-13

DIGITS = load_digits().data[:900]
BLOBS, _ = make_blobs(800, n_features=5, centers=20, cluster_std=0.3, center_box=(-30, 30), random_state=0)
SETS = {
    "digits, 5 neighbors": (DIGITS, 5),
    "digits, 10 neighbors": (DIGITS, 10),
    "20 blobs": (BLOBS, 10),
    "two moons": (make_moons(800, noise=0.05, random_state=0)[0], 10),
}


def operator_of(rows, n_neighbors, dtype=np.float64):
    return SparseOperator(NeighborGraph(n_neighbors).fit(rows.astype(dtype)).sparse_factor())


@pytest.fixture(scope="module", params=SETS)
def graph(request):
    operator = operator_of(*SETS[request.param])
    return operator, np.linalg.eigvalsh(operator.to_dense())[::-1]


@pytest.mark.slow  # many spectra
@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_the_cut_is_certified(graph, k):
    operator, truth = graph
    spectrum, cut = removable_spectrum(operator, k, RTOL)
    assert cut >= k
    found = spectrum.eigenvalues
    # No eigenvalue is larger than what is promised, and what is promised is no more than a fit asks for.
    assert (truth[: cut + 1] <= found + spectrum.uncertainty + ROUNDING).all()
    assert (np.abs(found - truth[: cut + 1]) <= spectrum.uncertainty + ROUNDING).all()
    assert spectrum.uncertainty[-1] < 1e-9
    V = spectrum.eigenvectors[:, :cut]
    residuals = operator.to_dense() @ V - V * found[:cut]
    np.testing.assert_allclose(V.T @ V, np.eye(cut), atol=1e-10)
    assert np.linalg.norm(residuals, axis=0).max(initial=0) < 2 * RTOL


def test_repeated_eigenvalues_of_pieces_are_removed_whole():
    operator = operator_of(*SETS["20 blobs"])
    assert removable_spectrum(operator, 1, RTOL)[1] == 1
    assert removable_spectrum(operator, 2, RTOL)[1] == 20


def test_leading_vectors_are_all_good_where_they_are_asked_for():
    operator = operator_of(*SETS["digits, 10 neighbors"])
    spectrum = leading_spectrum(operator, 4)
    residuals = operator.to_dense() @ spectrum.eigenvectors - spectrum.eigenvectors * spectrum.eigenvalues
    assert np.linalg.norm(residuals, axis=0).max() < 1e-12


def test_single_precision_is_enough_for_a_cut():
    rows, n_neighbors = SETS["digits, 10 neighbors"]
    spectrum, cut = removable_spectrum(operator_of(rows, n_neighbors, np.float32), 1, RTOL)
    truth = np.linalg.eigvalsh(operator_of(rows, n_neighbors).to_dense())[::-1]
    assert cut == 1
    assert spectrum.eigenvectors.dtype == np.float32
    assert truth[1] <= spectrum.eigenvalues[1] + spectrum.uncertainty[1]


def test_single_precision_holds_where_eigenvalues_crowd():
    # A filtered block lies within rounding of the span of the basis here.
    rows = np.random.default_rng(0).standard_normal((2000, 30)).astype(np.float32)
    operator = operator_of(rows, 5, np.float32)
    spectrum, is_good = _filtered.filtered_eigenpairs(operator, 2, 8, 1e-8, 1e-10)
    truth = np.linalg.eigvalsh(operator.to_dense().astype(np.float64))[::-1]
    assert is_good
    assert spectrum.eigenvectors.dtype == np.float32
    # The second is a bound only, and known as well as its uncertainty says; that must say something.
    assert (np.abs(spectrum.eigenvalues - truth[:2]) <= spectrum.uncertainty).all()
    assert spectrum.uncertainty.max() < 1e-4


def test_a_filter_that_gives_up_says_how_much_it_knows(monkeypatch):
    operator = operator_of(*SETS["digits, 10 neighbors"])
    truth = np.linalg.eigvalsh(operator.to_dense())[::-1]
    monkeypatch.setattr(_filtered, "_MAX_PRODUCTS", 30)
    spectrum, is_good = _filtered.filtered_eigenpairs(operator, 3, 9, RTOL, 1e-10)
    assert not is_good
    assert (truth[:2] <= spectrum.eigenvalues[:2] + spectrum.uncertainty[:2]).all()
    # The bound is known without any product.
    assert spectrum.eigenvalues[1] + spectrum.uncertainty[1] <= (1 - 1.5e-3) ** 2 + 1e-9


def test_a_large_graph_whose_spectrum_is_not_found_warns(monkeypatch):
    operator = operator_of(*SETS["digits, 10 neighbors"])
    monkeypatch.setattr(_filtered, "_MAX_PRODUCTS", 30)
    operator.facts = replace(operator.facts, can_be_dense=False)
    with pytest.warns(ConvergenceWarning, match="too close together"):
        removable_spectrum(operator, 3, RTOL)
