"""Which matrices count as positive semi-definite."""

import numpy as np
import pytest

from semikpca import ConvexKernelPCA, LSSVMClassifier, SemiKPCAClassifier
from semikpca.exceptions import IndefiniteKernelError, KernelRankError
from semikpca.operators import DenseOperator
from semikpca.spectrum import require_semidefinite

# Two LAPACK calls for the same small matrix.
ROUNDING = 1e-9


def matrix_with(spectrum, seed=0):
    n = len(spectrum)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    K = (Q * spectrum) @ Q.T
    return (K + K.T) / 2


def gram_matrix(n, rank, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, rank))
    return rows @ rows.T


SEMIDEFINITE = {
    "definite": matrix_with(np.linspace(1.0, 5.0, 20)),
    "of low rank, with rounding": gram_matrix(50, 3),
    "of low rank, large": gram_matrix(400, 5),
    "all ones": np.ones((30, 30)),
    "identity": np.eye(10),
    "tiny": 1e-12 * gram_matrix(20, 3),
    "huge": 1e12 * gram_matrix(20, 3),
    "zero": np.zeros((6, 6)),
    "one row": np.array([[2.0]]),
    "negative by a few units of rounding": matrix_with(np.concatenate([[5.0, 1.0], np.full(18, -1e-14)])),
}
INDEFINITE = {
    "clearly": matrix_with(np.array([5.0, 2.0, 1.0, -0.5])),
    "a little": matrix_with(np.concatenate([np.linspace(5.0, 1.0, 19), [-1e-4]])),
    "zero diagonal": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "negative definite": -np.eye(5),
    "negative in one place": np.diag([1.0, 1.0, -1e-3]),
    "only one negative number": np.array([[-2.0]]),
    "tiny": 1e-12 * matrix_with(np.array([5.0, 2.0, -0.5])),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SEMIDEFINITE)
def test_a_semidefinite_matrix_is_accepted(name, dtype):
    require_semidefinite(DenseOperator(SEMIDEFINITE[name].astype(dtype)))


@pytest.mark.parametrize("name", INDEFINITE)
def test_an_indefinite_matrix_is_refused_with_its_eigenvalues(name):
    K = INDEFINITE[name]
    values = np.linalg.eigvalsh(K)
    with pytest.raises(IndefiniteKernelError) as caught:
        require_semidefinite(DenseOperator(K))
    assert caught.value.smallest_eigenvalue == pytest.approx(values[0], rel=ROUNDING)
    assert caught.value.largest_eigenvalue == pytest.approx(values[-1], rel=ROUNDING)
    assert f"{values[0]:.6g}" in str(caught.value)


@pytest.mark.parametrize("name", ["clearly", "zero diagonal", "negative definite"])
def test_single_precision_sees_what_is_clearly_indefinite(name):
    with pytest.raises(IndefiniteKernelError):
        require_semidefinite(DenseOperator(INDEFINITE[name].astype(np.float32)))


@pytest.mark.parametrize("name", ["clearly", "a little", "zero diagonal"])
def test_the_shift_that_the_message_offers_is_enough(name):
    K = INDEFINITE[name]
    with pytest.raises(IndefiniteKernelError) as caught:
        require_semidefinite(DenseOperator(K))
    require_semidefinite(DenseOperator(K - caught.value.smallest_eigenvalue * np.eye(len(K))))


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("name", ["definite", "of low rank, with rounding"])
def test_the_matrix_is_left_as_it_was(name, layout):
    K = np.array(SEMIDEFINITE[name], order=layout)
    require_semidefinite(DenseOperator(K))
    np.testing.assert_array_equal(K, SEMIDEFINITE[name])


def test_a_refused_matrix_is_left_as_it_was_too():
    K = INDEFINITE["clearly"].copy()
    with pytest.raises(IndefiniteKernelError):
        require_semidefinite(DenseOperator(K))
    np.testing.assert_array_equal(K, INDEFINITE["clearly"])


@pytest.mark.parametrize("model", [SemiKPCAClassifier, LSSVMClassifier, ConvexKernelPCA])
def test_every_estimator_refuses_a_matrix_that_is_no_kernel(model):
    K = matrix_with(np.array([5.0, 2.0, 1.0, 0.5, -0.5]))
    with pytest.raises(IndefiniteKernelError, match=r"smallest eigenvalue is -0\.5"):
        model(kernel="precomputed").fit(K, [0, 1, 0, 1, 0])


def test_a_function_is_checked_too():
    with pytest.raises(IndefiniteKernelError):
        SemiKPCAClassifier(lambda a, b: float(abs(a - b))).fit([1.0, 2.0, 5.0, 7.0], [0, -1, -1, 1])


def test_a_given_zero_matrix_is_a_kernel_with_nothing_to_learn_from():
    # Zero is semi-definite; what is wrong with it is its rank.
    with pytest.raises(KernelRankError):
        SemiKPCAClassifier("precomputed").fit(np.zeros((5, 5)), [0, -1, -1, -1, 1])
