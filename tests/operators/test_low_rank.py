"""A kernel matrix known by the features of its rows: products, costs and its whole spectrum."""

import pickle

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from oracles import relative_error
from semikpca.exceptions import KernelRankError
from semikpca.kernels import RBF, Linear, Nystroem
from semikpca.operators import (
    CenteredOperator,
    DenseOperator,
    LowRankOperator,
    ShiftedOperator,
    choose_backend,
    make_operator,
)
from semikpca.operators import _low_rank as low_rank
from semikpca.spectrum import full_spectrum, leading_spectrum, removable_spectrum

# Sums of some hundred products; features of a well-conditioned matrix of landmarks.
ROUNDING = {np.float64: 1e-10, np.float32: 1e-4}

generator = np.random.default_rng(7)
ROWS = generator.normal(size=(350, 3)) * [1.5, 1.0, 0.7]
LANDMARKS = generator.normal(size=(12, 3)) * [1.5, 1.0, 0.7]

every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
storage = pytest.mark.parametrize("stored", [True, False], ids=["stored", "made again"])


def matrix():
    """k(X, Z) k(Z, Z)⁻¹ k(Z, X), by scikit-learn and NumPy."""
    columns = rbf_kernel(ROWS, LANDMARKS, gamma=0.3)
    return columns @ np.linalg.solve(rbf_kernel(LANDMARKS, gamma=0.3), columns.T)


@pytest.fixture
def make(monkeypatch):
    """How to make the operator of that matrix, with the features in memory or not."""

    def made(dtype=np.float64, stored=True):
        if not stored:
            monkeypatch.setattr(low_rank, "_MOST_STORED_BYTES", 0)
        kernel = Nystroem(RBF(gamma=0.3), landmarks=LANDMARKS).fit(ROWS.astype(dtype))
        return make_operator(kernel, ROWS.astype(dtype), "low-rank")

    return made


# -- the matrix --------------------------------------------------------------------------------------------------------


@every_dtype
@storage
def test_it_is_the_matrix_of_the_definition(make, dtype, stored):
    operator, K = make(dtype, stored), matrix()
    block = generator.normal(size=(350, 3)).astype(dtype)
    assert isinstance(operator, LowRankOperator)
    assert operator.shape == (350, 350)
    assert operator.dtype == operator.matmat(block).dtype == operator.to_dense().dtype == dtype
    assert relative_error(operator.to_dense(), K) < ROUNDING[dtype]
    assert relative_error(operator.matmat(block), K @ block) < ROUNDING[dtype]
    assert relative_error(operator.diag(), np.diagonal(K)) < ROUNDING[dtype]


@storage
def test_features_at_some_rows_are_those_of_the_kernel(make, stored):
    operator = make(stored=stored)
    at = np.array([5, 300, 17])
    np.testing.assert_allclose(operator.features(at), operator.kernel.features(ROWS[at]), rtol=ROUNDING[np.float64])


def test_memory_is_that_of_the_features_or_less(make):
    stored, again = make(stored=True), make(stored=False)
    assert stored.nbytes == again.nbytes + 350 * 12 * 8
    assert again.nbytes < 350 * 12 * 8
    assert stored.facts.product_cost == 2 * 350 * 12
    assert stored.facts.product_cost < again.facts.product_cost < 350**2


def test_a_large_matrix_is_never_made_dense():
    rows = generator.normal(size=(10_500, 2))
    operator = LowRankOperator(Nystroem(RBF(gamma=0.3), 5, random_state=0).fit(rows), rows)
    for made_of in (operator, CenteredOperator(operator), ShiftedOperator(operator, 1.0, sign=1)):
        assert not made_of.facts.can_be_dense
        with pytest.raises(ValueError, match="backend='dense'"):
            made_of.to_dense()


def test_values_that_leave_the_range_of_numbers_are_refused():
    rows = np.full((6_000, 2), 1e160)
    with pytest.raises(ValueError, match=r"Values of Linear\(\) leave the range of float64"):
        make_operator(Linear(), rows, "low-rank").known_spectrum(1)


# -- which kernels -----------------------------------------------------------------------------------------------------


def test_auto_is_low_rank_where_the_kernel_is():
    assert choose_backend("auto", 100, is_low_rank=True) == "low-rank"
    assert choose_backend("dense", 100, is_low_rank=True) == "dense"
    assert choose_backend("low-rank", 100, is_low_rank=True) == "low-rank"
    with pytest.raises(ValueError, match="such as Nystroem"):
        choose_backend("low-rank", 100)
    with pytest.raises(NotImplementedError, match="RBF"):
        RBF().low_rank_factor()


def test_a_linear_kernel_has_low_rank_on_many_rows_only():
    assert Linear().is_low_rank_on(np.zeros((5_000, 3)))
    assert not Linear().is_low_rank_on(np.zeros((4_999, 3)))
    assert not Linear().is_low_rank_on(np.zeros((5_000, 2_000)))


@pytest.mark.parametrize("center", [False, True])
def test_a_linear_kernel_is_its_own_factor(center):
    rows = generator.normal(size=(400, 3)) + 1
    operator = make_operator(Linear(center).fit(rows), rows, "low-rank")
    wanted = linear_kernel(rows - center * rows.mean(axis=0))
    assert relative_error(operator.to_dense(), wanted) < ROUNDING[np.float64]
    assert not operator.facts.is_estimate


def test_only_an_approximation_is_an_estimate():
    approximate = Nystroem(RBF(gamma=0.3), 12, random_state=0).fit(ROWS)
    whole = Nystroem(RBF(gamma=0.3), 350).fit(ROWS)
    for backend in ("dense", "low-rank"):
        operator = make_operator(approximate, ROWS, backend)
        assert operator.facts.is_estimate
        assert CenteredOperator(operator).facts.is_estimate
        assert leading_spectrum(operator, 2).is_estimate
        assert full_spectrum(operator).head(3).is_estimate
        assert not make_operator(whole, ROWS, backend).facts.is_estimate
    assert not leading_spectrum(make_operator(RBF(gamma=0.3), ROWS, "dense"), 2).is_estimate


# -- the spectrum ------------------------------------------------------------------------------------------------------


@every_dtype
@storage
@pytest.mark.parametrize("centered", [False, True])
def test_leading_eigenpairs_are_known(make, dtype, stored, centered):
    K = matrix()
    operator = make(dtype, stored)
    if centered:
        H = np.eye(350) - 1 / 350
        K, operator = H @ K @ H, CenteredOperator(operator)
    values = np.linalg.eigvalsh(K)[::-1]
    known = operator.known_spectrum(4)
    V, scale = known.eigenvectors, values[0]
    assert len(known) == 4
    assert known.eigenvectors.dtype == known.eigenvalues.dtype == dtype
    np.testing.assert_allclose(known.eigenvalues, values[:4], atol=ROUNDING[dtype] * scale)
    np.testing.assert_allclose(V.T @ V, np.eye(4), atol=ROUNDING[dtype])
    np.testing.assert_allclose(K @ V, V * known.eigenvalues, atol=ROUNDING[dtype] * scale)
    assert values[4] <= known.bound + ROUNDING[dtype] * scale
    assert known.bound < known.eigenvalues[3]


def test_no_more_is_known_than_the_rank():
    rows = generator.normal(size=(500, 3))
    operator = make_operator(Linear(), rows, "low-rank")
    known = operator.known_spectrum(7)
    assert len(known) == 3
    assert known.bound < 1e-12 * known.eigenvalues[0]
    # Asked for more, the spectrum goes on with zeros.
    spectrum = leading_spectrum(operator, 5)
    assert spectrum.rank == 3
    assert len(spectrum) == 5
    np.testing.assert_allclose(spectrum.eigenvectors.T @ spectrum.eigenvectors, np.eye(5), atol=1e-10)


@pytest.mark.parametrize("n", [200, 12_000])
def test_nothing_left_after_the_cut_is_reported(n):
    operator = make_operator(Linear(), generator.normal(size=(n, 3)), "low-rank")
    spectrum, cut = removable_spectrum(operator, 2)
    assert (cut, len(spectrum)) == (2, 3)
    with pytest.raises(KernelRankError):
        removable_spectrum(operator, 3)


def test_a_matrix_of_zeros_has_no_spectrum():
    kernel = Nystroem(RBF(gamma=1.0), landmarks=ROWS[:5] + 1e6).fit(ROWS)
    operator = make_operator(kernel, ROWS, "low-rank")
    assert len(operator.known_spectrum(2)) == 0
    assert len(full_spectrum(operator)) == 0
    with pytest.raises(KernelRankError):
        removable_spectrum(operator, 1)


@every_dtype
@storage
def test_the_whole_spectrum_multiplies_without_being_stored(make, dtype, stored):
    K = matrix()
    spectrum = full_spectrum(make(dtype, stored))
    V = spectrum.eigenvectors
    assert V.shape == (350, 12)
    block = generator.normal(size=(350, 2)).astype(dtype)
    assert relative_error(V @ (spectrum.eigenvalues[:, np.newaxis] * (V.T @ block)), K @ block) < ROUNDING[dtype]
    assert relative_error((V[:, 2:] @ np.eye(10)), V.copy()[:, 2:]) < ROUNDING[dtype]
    some = np.array([3, 200])
    assert relative_error(V[some, 2:6], V.copy()[some, 2:6]) < ROUNDING[dtype]
    assert relative_error(V[some], V.copy()[some]) < ROUNDING[dtype]
    assert relative_error(spectrum.head(4).eigenvectors.copy(), V.copy()[:, :4]) < ROUNDING[dtype]
    values = np.linalg.eigvalsh(K)[::-1][:12]
    np.testing.assert_allclose(spectrum.eigenvalues, values, atol=ROUNDING[dtype] * values[0])
    assert (np.abs(spectrum.eigenvalues - values) <= spectrum.uncertainty).all()


def test_pickled_eigenvectors_are_an_array(make):
    vectors = full_spectrum(make()).eigenvectors
    loaded = pickle.loads(pickle.dumps(vectors))
    assert isinstance(loaded, np.ndarray)
    np.testing.assert_array_equal(loaded, vectors.copy())


def test_small_eigenvalues_are_off_by_no_more_than_the_uncertainty(rng):
    rows = rng.normal(size=(400, 1))
    kernel = Nystroem(RBF(gamma=0.05), 40, random_state=0).fit(rows)
    operator = make_operator(kernel, rows, "low-rank")
    spectrum = full_spectrum(operator)
    wanted = np.linalg.svd(kernel.features(rows), compute_uv=False)[: len(spectrum)] ** 2
    assert wanted[-1] < 1e-8 * wanted[0]
    assert (np.abs(spectrum.eigenvalues - wanted) <= spectrum.uncertainty).all()


def test_a_stored_matrix_knows_nothing_of_its_centered_form():
    assert len(CenteredOperator(DenseOperator(np.eye(5))).known_spectrum(3)) == 0
