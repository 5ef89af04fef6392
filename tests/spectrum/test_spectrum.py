"""One contract for all ways to compute eigenpairs, against numpy.linalg.eigh; then the choice and the cut."""

from dataclasses import replace

import numpy as np
import pytest

from semikpca.exceptions import KernelRankError
from semikpca.operators import DeflatedOperator, DenseOperator, OperatorFacts, Storage
from semikpca.spectrum import Spectrum, _block_krylov, _choice, full_spectrum, leading_spectrum, removable_spectrum
from semikpca.spectrum._block_krylov import leading_eigenpairs
from semikpca.spectrum._choice import Method, all_eigenpairs, choose_method

# Columns of unit length: products between them are off by a few eps, more where eigenvalues are clustered.
ORTHONORMAL = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-4}
# Uncertainty that is stated for eigenvalues of order one: it must be useful, not only true.
USEFUL_UNCERTAINTY = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-3}
# Eigenvalues of order one by two methods in double precision.
ROUNDING = 1e-12
# A whole spectrum by LAPACK costs as much arithmetic as products with about five times as many columns as the matrix
# has; an iteration that needs more than twice that has lost.
COLUMNS_WORTH_A_WHOLE_SPECTRUM = 10

N_SMALL, N_LARGE = 60, 400


def matrix_with(spectrum, dtype=np.float64, seed=0):
    n = len(spectrum)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    K = (Q * spectrum) @ Q.T
    return ((K + K.T) / 2).astype(dtype)


def rbf_matrix(n, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=2) / 4)


class CountingOperator(DenseOperator):
    """A stored matrix that counts the columns it was multiplied with, and stops where there are too many."""

    def __init__(self, matrix, most=np.inf):
        super().__init__(matrix)
        self.most = most
        self.n_columns = 0

    def matmat(self, block):
        self.n_columns += block.shape[1]
        assert self.n_columns <= self.most, "more products than the whole spectrum is worth"
        return super().matmat(block)


def by_lapack(operator, m):
    return all_eigenpairs(operator).head(m)


def by_block_krylov(operator, m):
    return leading_eigenpairs(operator, m, block_size=m + 6, rtol=0.0)[0]


METHODS = [
    pytest.param(by_lapack, id="LAPACK"),
    pytest.param(by_block_krylov, id="block Krylov"),
    pytest.param(leading_spectrum, id="chosen by size"),
]

_TAIL = np.geomspace(0.5, 1e-3, N_LARGE)
SPECTRA = {
    "well separated": 0.8 ** np.arange(N_LARGE),
    "slowly falling": np.linspace(1.0, 0.5, N_LARGE),
    "nearly flat": np.linspace(1.0, 0.99, N_LARGE),
    "repeated": np.concatenate([[4.0, 2.0, 2.0, 2.0, 1.0], _TAIL[5:]]),
    "repeated more often than a block has columns": np.concatenate([[4.0], np.full(20, 2.0), _TAIL[21:]]),
    "repeated from the start": np.concatenate([np.full(20, 3.0), _TAIL[20:]]),
    "close but not equal": np.concatenate([[3.0, 2.0, 2.0 - 1e-9, 2.0 - 2e-9], _TAIL[4:]]),
    "low rank": np.concatenate([[3.0, 2.0, 1.0], np.zeros(N_LARGE - 3)]),
    "multiple of the identity": np.full(N_LARGE, 0.7),
    "negative by rounding": np.concatenate([[3.0, 2.0], np.full(N_LARGE - 2, -1e-15)]),
}

with_every_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def matrices():
    return {name: matrix_with(spectrum) for name, spectrum in SPECTRA.items()}


@pytest.fixture(scope="module")
def eigenvalues_by_numpy(matrices):
    return {name: np.linalg.eigvalsh(K)[::-1] for name, K in matrices.items()}


# -- the contract ------------------------------------------------------------------------------------------------


def assert_keeps_the_contract(spectrum, K, expected, m):
    dtype = K.dtype
    scale = float(np.abs(expected[0]))
    assert len(spectrum) == m
    assert spectrum.n == len(K)
    assert spectrum.eigenvalues.shape == spectrum.uncertainty.shape == (m,)
    assert spectrum.eigenvectors.shape == (len(K), m)
    assert spectrum.eigenvalues.dtype == spectrum.eigenvectors.dtype == dtype
    assert (np.diff(spectrum.eigenvalues) <= 0).all(), "largest first"
    assert (np.abs(spectrum.eigenvalues - expected[:m]) <= spectrum.uncertainty).all()
    assert (spectrum.uncertainty <= USEFUL_UNCERTAINTY[dtype] * scale).all()
    V = spectrum.eigenvectors.astype(np.float64)
    np.testing.assert_allclose(V.T @ V, np.eye(m), atol=ORTHONORMAL[dtype])
    residuals = np.linalg.norm(K.astype(np.float64) @ V - V * spectrum.eigenvalues, axis=0)
    assert (residuals <= spectrum.uncertainty).all()


@with_every_method
@pytest.mark.parametrize("name", SPECTRA)
def test_eigenpairs_agree_with_numpy_within_the_stated_uncertainty(matrices, eigenvalues_by_numpy, method, name):
    K = matrices[name]
    assert_keeps_the_contract(method(DenseOperator(K), 4), K, eigenvalues_by_numpy[name], 4)


@with_every_method
@pytest.mark.parametrize("m", [1, 10])
def test_any_number_of_eigenpairs_can_be_asked_for(matrices, eigenvalues_by_numpy, method, m):
    K = matrices["well separated"]
    assert_keeps_the_contract(method(DenseOperator(K), m), K, eigenvalues_by_numpy["well separated"], m)


@with_every_method
def test_more_eigenpairs_than_the_rank_are_zeros(matrices, method):
    spectrum = method(DenseOperator(matrices["low rank"]), 8)
    assert spectrum.rank == 3
    np.testing.assert_allclose(spectrum.eigenvalues[3:], 0, atol=ROUNDING)


@with_every_method
def test_all_copies_of_a_repeated_eigenvalue_are_found(matrices, method):
    spectrum = method(DenseOperator(matrices["repeated more often than a block has columns"]), 23)
    np.testing.assert_allclose(spectrum.eigenvalues[1:21], 2.0, rtol=ROUNDING)
    assert spectrum.eigenvalues[21] < 1
    assert [k for k in range(23) if spectrum.is_cut_at(k)] == [0, 1, 21, 22]


@with_every_method
@pytest.mark.parametrize("falling", [0.8 ** np.arange(N_LARGE), np.linspace(1.0, 0.1, N_LARGE)])
def test_single_precision_keeps_the_contract_of_single_precision(method, falling):
    K = matrix_with(falling, np.float32)
    expected = np.linalg.eigvalsh(K.astype(np.float64))[::-1]
    assert_keeps_the_contract(method(DenseOperator(K), 4), K, expected, 4)


@with_every_method
def test_an_rbf_kernel_matrix_keeps_the_contract(method):
    K = rbf_matrix(N_LARGE)
    assert_keeps_the_contract(method(DenseOperator(K), 6), K, np.linalg.eigvalsh(K)[::-1], 6)


@with_every_method
def test_an_operator_that_is_not_stored_keeps_the_contract(method, matrices):
    K = matrices["well separated"]
    values, vectors = np.linalg.eigh(K)
    operator = DeflatedOperator(DenseOperator(K), values[:-3:-1], vectors[:, :-3:-1])
    deflated = operator.to_dense()
    assert_keeps_the_contract(method(operator, 3), deflated, np.linalg.eigvalsh(deflated)[::-1], 3)


@with_every_method
@pytest.mark.parametrize("name", ["well separated", "repeated", "low rank"])
def test_the_same_matrix_gives_the_same_eigenpairs(matrices, method, name):
    first, second = (method(DenseOperator(matrices[name].copy()), 3) for _ in range(2))
    np.testing.assert_array_equal(first.eigenvalues, second.eigenvalues)
    np.testing.assert_array_equal(first.eigenvectors, second.eigenvectors)


@with_every_method
def test_the_state_of_the_global_random_generator_does_not_matter(matrices, method):
    operator = DenseOperator(matrices["well separated"])
    np.random.seed(1)  # noqa: NPY002 - the legacy state is the one that must not matter
    first = method(operator, 3)
    np.random.seed(2)  # noqa: NPY002
    np.testing.assert_array_equal(first.eigenvectors, method(operator, 3).eigenvectors)


@with_every_method
def test_the_matrix_is_left_as_it_was(matrices, method):
    K = matrices["repeated"].copy()
    method(DenseOperator(K), 3)
    np.testing.assert_array_equal(K, matrices["repeated"])


@with_every_method
@pytest.mark.parametrize(
    ("scale", "dtype"), [(1e-6, np.float64), (1e6, np.float64), (1e-170, np.float64), (1e-22, np.float32)]
)
def test_a_scaled_matrix_has_scaled_eigenvalues(method, scale, dtype):
    K = matrix_with(np.geomspace(1.0, 0.01, N_LARGE), dtype)
    plain = method(DenseOperator(K), 3)
    scaled = method(DenseOperator(K * dtype(scale)), 3)
    allowed = plain.uncertainty + scaled.uncertainty / dtype(scale)
    assert (np.abs(scaled.eigenvalues / dtype(scale) - plain.eigenvalues) <= allowed).all()
    assert (allowed <= 3 * plain.uncertainty).all()


# -- the block Krylov method by itself ---------------------------------------------------------------------------


def test_a_loose_tolerance_saves_products_and_is_stated():
    K = matrix_with(SPECTRA["slowly falling"])
    expected = np.linalg.eigvalsh(K)[::-1]
    loose_operator, sharp_operator = CountingOperator(K), CountingOperator(K)
    loose, _ = leading_eigenpairs(loose_operator, 3, block_size=9, rtol=1e-3)
    leading_eigenpairs(sharp_operator, 3, block_size=9, rtol=0.0)
    assert loose_operator.n_columns < sharp_operator.n_columns
    assert (loose.uncertainty <= 1.01e-3 * loose.eigenvalues[0]).all()
    # An eigenvalue of the matrix lies within the uncertainty of each, though it need not be the one of the same rank.
    nearest = np.abs(loose.eigenvalues[:, np.newaxis] - expected).min(axis=1)
    assert (nearest <= loose.uncertainty).all()


def test_ritz_values_never_exceed_the_true_eigenvalues():
    K = matrix_with(SPECTRA["slowly falling"])
    expected = np.linalg.eigvalsh(K)[::-1]
    ritz = leading_eigenpairs(DenseOperator(K), 3, block_size=9, rtol=1e-2)[0].eigenvalues
    assert (ritz <= expected[:3] + ROUNDING).all()


@pytest.mark.parametrize("m", [2, 20, 28, 40, 55])
@pytest.mark.parametrize("name", ["slowly falling", "repeated"])
def test_no_number_of_eigenpairs_costs_more_than_the_whole_spectrum_would(matrices, name, m):
    operator = CountingOperator(matrices[name], most=COLUMNS_WORTH_A_WHOLE_SPECTRUM * N_LARGE)
    assert len(leading_spectrum(operator, m)) == m


def test_what_the_iteration_does_not_reach_comes_from_lapack(matrices, monkeypatch):
    monkeypatch.setattr(_block_krylov, "_MAX_PRODUCTS", 1)
    operator = DenseOperator(matrices["slowly falling"])
    assert not leading_eigenpairs(operator, 3, block_size=9, rtol=0.0)[1]
    np.testing.assert_array_equal(leading_spectrum(operator, 3).eigenvalues, all_eigenpairs(operator).eigenvalues[:3])


# -- which method ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m", "iterates"), [(60, 2, False), (300, 2, False), (400, 2, True), (400, 200, False)])
def test_small_matrices_and_many_eigenpairs_go_to_lapack(monkeypatch, n, m, iterates):
    called = []
    monkeypatch.setattr(_choice, "leading_eigenpairs", lambda *arguments: (called.append(arguments), False))
    leading_spectrum(DenseOperator(np.eye(n)), m)
    assert bool(called) is iterates


# What is changed in the record of a matrix in memory, its size, how many eigenpairs are wanted and known, the method.
CHOICES = [
    ({}, 400, 2, 0, Method.KRYLOV),
    ({}, 400, 2, 1, Method.KRYLOV),
    ({}, 400, 2, 2, Method.KNOWN),
    ({}, 400, 0, 0, Method.KRYLOV),
    ({}, 300, 2, 0, Method.LAPACK),
    ({}, 301, 2, 0, Method.KRYLOV),
    ({}, 10_000, 2_000, 0, Method.LAPACK),
    ({"storage": Storage.NOTHING}, 400, 2, 0, Method.FEW_PRODUCTS),
    ({"storage": Storage.NOTHING}, 300, 2, 0, Method.LAPACK),
    ({"storage": Storage.NOTHING, "can_be_dense": False}, 400, 2, 0, Method.FEW_PRODUCTS),
    ({"storage": Storage.NOTHING, "product_cost": 1.0}, 400, 2, 0, Method.FEW_PRODUCTS),
    ({"product_cost": 0.2 * 400**2}, 400, 2, 0, Method.KRYLOV),
    ({"product_cost": 0.19 * 400**2}, 400, 2, 0, Method.FILTER),
    ({"storage": Storage.SPARSE_FACTOR, "can_be_dense": False}, 400, 2, 0, Method.FILTER),
    ({"storage": Storage.FEATURES, "product_cost": 1.0}, 400, 2, 2, Method.KNOWN),
]


@pytest.mark.parametrize(("changes", "n", "m", "n_known", "method"), CHOICES)
def test_the_method_is_this_table(changes, n, m, n_known, method):
    facts = replace(OperatorFacts.of_stored_matrix(n, 1e-16), **changes)
    assert choose_method(facts, n, m, n_known) is method


def test_no_more_eigenpairs_come_back_than_there_are():
    assert len(leading_spectrum(DenseOperator(np.diag([3.0, 2.0, 1.0])), 10)) == 3


def test_the_whole_spectrum_puts_the_matrix_together_again():
    K = rbf_matrix(N_SMALL)
    spectrum = full_spectrum(DenseOperator(K))
    assert len(spectrum) == N_SMALL
    V = spectrum.eigenvectors
    np.testing.assert_allclose((V * spectrum.eigenvalues) @ V.T, K, atol=ROUNDING)


# -- readings of a spectrum --------------------------------------------------------------------------------------


def test_the_rank_counts_eigenvalues_above_their_uncertainty():
    spectrum = Spectrum(np.array([2.0, 1.0, 1e-9, -1e-9]), np.eye(4), np.full(4, 1e-8))
    assert spectrum.rank == 2


def test_the_head_keeps_the_first_eigenpairs():
    spectrum = Spectrum(np.array([3.0, 2.0, 1.0]), np.eye(3), np.array([0.1, 0.2, 0.3]))
    head = spectrum.head(2)
    assert head.eigenvalues.tolist() == [3.0, 2.0]
    assert head.uncertainty.tolist() == [0.1, 0.2]
    np.testing.assert_array_equal(head.eigenvectors, np.eye(3)[:, :2])


def test_a_cut_needs_a_gap_above_both_uncertainties():
    values = np.array([3.0, 2.0, 1.95, 1.0])
    spectrum = Spectrum(values, np.eye(4), np.full(4, 0.03))
    assert [spectrum.is_cut_at(k) for k in range(4)] == [True, True, False, True]


# -- where to cut ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_zeros", [0, 5, 400])
@pytest.mark.parametrize(("k", "cut"), [(0, 0), (1, 1), (2, 4), (3, 4), (4, 4), (5, 5)])
def test_only_whole_eigenspaces_are_cut_off(n_zeros, k, cut):
    K = matrix_with(np.concatenate([[6.0, 3.0, 3.0, 3.0, 2.0, 1.0], np.zeros(n_zeros)]))
    spectrum, found = removable_spectrum(DenseOperator(K), k)
    assert found == cut
    assert len(spectrum) == cut + 1
    np.testing.assert_allclose(spectrum.eigenvalues, [6.0, 3.0, 3.0, 3.0, 2.0, 1.0][: cut + 1], rtol=ROUNDING)


@pytest.mark.parametrize("n_zeros", [0, 5, 400])
@pytest.mark.parametrize("k", [6, 7, 1000])
def test_nothing_is_left_beyond_the_rank(n_zeros, k):
    K = matrix_with(np.concatenate([[6.0, 3.0, 3.0, 3.0, 2.0, 1.0], np.zeros(n_zeros)]))
    with pytest.raises(KernelRankError) as caught:
        removable_spectrum(DenseOperator(K), k)
    assert caught.value.requested == k
    assert caught.value.rank == 6
    assert caught.value.n_samples == 6 + n_zeros


@pytest.mark.parametrize("n", [10, 400])
def test_a_zero_matrix_has_nothing_to_cut(n):
    with pytest.raises(KernelRankError) as caught:
        removable_spectrum(DenseOperator(np.zeros((n, n))), 0)
    assert caught.value.rank == 0
