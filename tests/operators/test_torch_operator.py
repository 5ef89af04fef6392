"""The operator on torch tensors keeps the contract of all operators."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from semikpca.kernels import RBF, Laplacian, Polynomial

torch = pytest.importorskip("torch")

from semikpca.operators._torch import TorchOperator, check_memory  # noqa: E402

# Some dozens of roundings, relative to the largest entry.
ROUNDING = {torch.float64: 1e-13, torch.float32: 3e-6}

generator = np.random.default_rng(5)
ROWS = generator.normal(size=(60, 4))
BLOCK = generator.normal(size=(60, 3))

CASES = {
    "RBF": (RBF(gamma=0.3), lambda A, B: rbf_kernel(A, B, gamma=0.3)),
    "Laplacian": (Laplacian(gamma=0.3), lambda A, B: laplacian_kernel(A, B, gamma=0.3)),
    "Polynomial": (Polynomial(gamma=0.3), lambda A, B: polynomial_kernel(A, B, gamma=0.3)),
}
every_case = pytest.mark.parametrize(("kernel", "reference"), CASES.values(), ids=CASES.keys())
every_dtype = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])


def tensor(array, dtype=torch.float64):
    return torch.as_tensor(array, dtype=dtype)


def assert_close(found, expected, dtype=torch.float64):
    assert isinstance(found, torch.Tensor)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=ROUNDING[dtype] * np.abs(expected).max())


@every_case
@every_dtype
def test_all_readings_are_those_of_the_matrix(kernel, reference, dtype):
    K = reference(ROWS, ROWS)
    operator = TorchOperator(kernel, tensor(ROWS, dtype))
    assert operator.shape == (60, 60)
    assert operator.n == 60
    assert operator.xp is torch
    assert operator.dtype == dtype
    assert operator.device == torch.device("cpu")
    assert_close(operator.matmat(tensor(BLOCK, dtype)), K @ BLOCK, dtype)
    assert_close(operator.columns(np.array([3, 0, 59])), K[:, [3, 0, 59]], dtype)
    assert_close(operator.columns(torch.tensor([7])), K[:, [7]], dtype)
    assert_close(operator.diag(), np.diag(K), dtype)
    assert_close(operator.to_dense(), K, dtype)


@every_case
@every_dtype
def test_the_stated_precision_covers_the_error_of_a_product(kernel, reference, dtype):
    K = reference(ROWS, ROWS)
    operator = TorchOperator(kernel, tensor(ROWS, dtype))
    units = BLOCK / np.linalg.norm(BLOCK, axis=0)
    rows = operator.rows.double().numpy()
    exact = reference(rows, rows) @ tensor(units, dtype).double().numpy()
    errors = np.linalg.norm(operator.matmat(tensor(units, dtype)).double().numpy() - exact, axis=0)
    assert errors.max() <= operator.facts.precision * np.linalg.norm(K, 2)
    assert operator.facts.precision <= ROUNDING[dtype]
    assert operator.facts.product_error == operator.facts.precision


def test_products_are_new_and_leave_the_block_alone():
    operator, block = TorchOperator(RBF(gamma=0.3), tensor(ROWS)), tensor(BLOCK)
    product = operator.matmat(block)
    product.zero_()
    assert torch.equal(block, tensor(BLOCK))
    assert operator.matmat(block).abs().max() > 0


def test_products_are_counted():
    operator = TorchOperator(RBF(gamma=0.3), tensor(ROWS))
    assert operator.log.n_products == 0  # what measures the precision is no product with the matrix
    operator.matmat(tensor(BLOCK))
    operator.matmat(tensor(BLOCK))
    assert operator.log.n_products == 2


def test_blocks_may_be_arrays_and_column_major():
    operator = TorchOperator(RBF(gamma=0.3), tensor(ROWS))
    expected = rbf_kernel(ROWS, gamma=0.3) @ BLOCK
    assert_close(operator.matmat(BLOCK), expected)
    assert_close(operator.matmat(tensor(np.asfortranarray(BLOCK))), expected)


@pytest.mark.skipif(torch.cuda.is_available(), reason="arrays go to the GPU if there is one")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_keep_their_type_on_a_cpu(dtype):
    operator = TorchOperator(RBF(gamma=0.3), ROWS.astype(dtype))
    assert operator.dtype == torch.as_tensor(np.empty(0, dtype)).dtype
    assert operator.device.type == "cpu"
    assert operator.mode == "chunked"


def test_the_operator_says_what_it_keeps_and_what_it_costs():
    operator = TorchOperator(RBF(gamma=0.3), tensor(ROWS))
    assert operator.nbytes == 60 * 4 * 8
    assert not operator.facts.is_stored
    assert operator.facts.product_cost >= 60**2
    known = operator.known_spectrum(3)
    assert len(known) == 0
    assert known.eigenvectors.shape == (60, 0)


def test_a_matrix_that_is_too_large_is_refused_with_its_size():
    operator = TorchOperator(RBF(gamma=0.3), torch.zeros(20_001, 1))
    assert not operator.facts.can_be_dense
    with pytest.raises(ValueError, match=r"20,001 rows, 1.6 GB, .* up to 10,000 rows"):
        operator.to_dense()


def test_values_out_of_range_are_refused():
    with pytest.raises(ValueError, match=r"Values of Polynomial\(.*\) leave the range of torch.float32. Scale"):
        TorchOperator(Polynomial(gamma=1.0, degree=3), tensor(1e7 * ROWS, torch.float32))


def test_an_unknown_precision_is_named():
    with pytest.raises(ValueError, match=r"precision must be one of .*, got 'half'"):
        TorchOperator(RBF(gamma=0.3), tensor(ROWS), precision="half")


def rows_on_a_gpu(n_rows, n_features):
    return SimpleNamespace(is_cuda=True, device="cuda:0", shape=(n_rows, n_features), element_size=lambda: 4)


@pytest.fixture
def gpu_with_four_gigabytes(monkeypatch):
    """What torch says of a GPU of 8 GB of which 3 GB are free, and 1 GB is held by torch without need."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (3 * 10**9, 8 * 10**9))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 3 * 10**9)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 2 * 10**9)


@pytest.mark.usefixtures("gpu_with_four_gigabytes")
def test_a_fit_that_would_not_fit_the_gpu_is_refused_before_it_starts():
    check_memory(rows_on_a_gpu(1_000_000, 64))
    with pytest.raises(MemoryError, match=r"20,000,000 rows with 64 features needs about 19.0 GB .* 4.0 of 8.0 GB"):
        check_memory(rows_on_a_gpu(20_000_000, 64))
