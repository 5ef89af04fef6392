"""Kernels and their products on torch tensors, against the same formulas in NumPy."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import (
    cosine_similarity,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)

from semikpca.kernels import RBF, Cosine, Laplacian, Linear, Polynomial, values_of_products

torch = pytest.importorskip("torch")

from semikpca.operators.products import _torch  # noqa: E402
from semikpca.operators.products._torch import (  # noqa: E402
    ChunkedProduct,
    full_float32,
    measured_error,
    prepare_product,
    torch_cross_product,
)

# Two ways to compute the same number agree to some dozens of roundings, relative to the largest entry.
ROUNDING = {torch.float64: 1e-13, torch.float32: 3e-6}

generator = np.random.default_rng(20261115)
TRAINING = generator.normal(size=(40, 5))
NEW = generator.normal(size=(7, 5))
COLUMNS = generator.normal(size=(40, 3))


def centered(A, B):
    mean = TRAINING.mean(axis=0)
    return (A - mean) @ (B - mean).T


CASES = {
    "RBF": (RBF(gamma=0.3), partial(rbf_kernel, gamma=0.3)),
    "RBF, far": (RBF(gamma=30.0), partial(rbf_kernel, gamma=30.0)),
    "Laplacian": (Laplacian(gamma=0.3), partial(laplacian_kernel, gamma=0.3)),
    "Linear": (Linear(), linear_kernel),
    "Linear, centered": (Linear(center=True), centered),
    "Polynomial": (Polynomial(gamma=0.3), partial(polynomial_kernel, degree=3, gamma=0.3, coef0=1)),
    "Cosine": (Cosine(), cosine_similarity),
}
every_case = pytest.mark.parametrize(("kernel", "reference"), CASES.values(), ids=CASES.keys())
every_dtype = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])


def tensor(array, dtype=torch.float64):
    return torch.as_tensor(array, dtype=dtype)


def assert_close(found, expected, dtype):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=ROUNDING[dtype] * scale)


# -- kernels -----------------------------------------------------------------------------------------------------------


@every_case
@every_dtype
def test_values_between_tensors_are_those_of_the_formula(kernel, reference, dtype):
    training, new = tensor(TRAINING, dtype), tensor(NEW, dtype)
    kernel = clone(kernel).fit(training)
    values = kernel.pairwise(new, training)
    assert isinstance(values, torch.Tensor)
    assert values.dtype == dtype
    assert_close(values, reference(NEW, TRAINING), dtype)
    assert_close(kernel.diag(training), np.diag(reference(TRAINING, TRAINING)), dtype)


@every_case
def test_a_kernel_that_was_fitted_on_an_array_takes_tensors(kernel, reference):
    kernel = clone(kernel).fit(TRAINING)
    assert_close(kernel.pairwise(tensor(NEW), tensor(TRAINING)), reference(NEW, TRAINING), torch.float64)


def test_values_keep_their_digits_far_from_the_origin():
    far = TRAINING.copy()
    far[:20] += 1000.0  # γ‖x‖² is 10⁶: products of factors would have no digit left
    values = RBF(gamma=1.0).pairwise(tensor(far), tensor(far))
    assert_close(values, np.exp(-((far[:, None] - far[None]) ** 2).sum(-1)), torch.float64)


@pytest.mark.parametrize("rule", ["median", "scale"])
@pytest.mark.parametrize(
    "make", [RBF, Laplacian, partial(Polynomial, degree=2)], ids=["RBF", "Laplacian", "Polynomial"]
)
def test_gamma_from_a_rule_is_the_same_for_arrays_and_tensors(make, rule):
    expected = make(gamma=rule).fit(TRAINING).gamma_
    assert make(gamma=rule).fit(tensor(TRAINING)).gamma_ == pytest.approx(expected, rel=1e-12)


def test_the_median_of_many_rows_takes_the_same_sample():
    rows = generator.normal(size=(4100, 2)).astype(np.float32)
    assert RBF().fit(tensor(rows, torch.float32)).gamma_ == RBF().fit(rows).gamma_


def test_integers_count_as_numbers():
    rows = torch.arange(6).reshape(3, 2)
    assert_close(Linear().pairwise(rows, rows), rows.numpy() @ rows.numpy().T, torch.float64)


# -- products ----------------------------------------------------------------------------------------------------------


@every_case
@every_dtype
def test_products_in_blocks_are_those_of_the_formula(kernel, reference, dtype):
    training, columns = tensor(TRAINING, dtype), tensor(COLUMNS, dtype)
    kernel = clone(kernel).fit(training)
    product = ChunkedProduct(kernel, training)
    assert_close(product.multiply(columns), reference(TRAINING, TRAINING) @ COLUMNS, dtype)
    assert_close(product.multiply(columns, tensor(NEW, dtype)), reference(NEW, TRAINING) @ COLUMNS, dtype)


@every_case
@pytest.mark.parametrize("block_bytes", [1, 1000])
def test_the_size_of_blocks_changes_nothing_but_rounding(kernel, reference, block_bytes):
    training = tensor(TRAINING)
    product = ChunkedProduct(clone(kernel).fit(training), training, block_bytes)
    assert_close(product.multiply(tensor(COLUMNS)), reference(TRAINING, TRAINING) @ COLUMNS, torch.float64)


def test_blocks_stay_below_the_limit(monkeypatch):
    sizes = []

    def watched(formula, products):
        sizes.append(products.numel() * products.element_size())
        return values_of_products(formula, products)

    monkeypatch.setattr(_torch, "values_of_products", watched)
    limit = 3 * 40 * 8
    ChunkedProduct(RBF(gamma=0.3), tensor(TRAINING), limit).multiply(tensor(COLUMNS))
    assert sum(sizes) == 40 * 40 * 8
    assert max(sizes) <= limit


def test_columns_of_any_memory_layout():
    rows, expected = tensor(TRAINING), rbf_kernel(TRAINING, gamma=0.3)
    orthonormal = torch.linalg.qr(tensor(COLUMNS))[0]
    product = ChunkedProduct(RBF(gamma=0.3), rows)
    assert_close(product.multiply(orthonormal), expected @ orthonormal.numpy(), torch.float64)
    assert_close(product.multiply(tensor(COLUMNS)[:, ::2]), expected @ COLUMNS[:, ::2], torch.float64)


def test_a_cross_product_takes_one_column_or_many():
    kernel = RBF(gamma=0.3)
    expected = rbf_kernel(NEW, TRAINING, gamma=0.3) @ COLUMNS
    rows, new = tensor(TRAINING), tensor(NEW)
    assert_close(torch_cross_product(kernel, new, rows, tensor(COLUMNS)), expected, torch.float64)
    one = torch_cross_product(kernel, new, rows, tensor(COLUMNS[:, 0]))
    assert_close(one, expected[:, 0], torch.float64)


def test_nothing_learns_from_a_product():
    rows = tensor(TRAINING).requires_grad_()
    assert not ChunkedProduct(RBF(gamma=0.3), rows).multiply(tensor(COLUMNS)).requires_grad


def test_a_cpu_computes_in_the_type_of_the_rows():
    for dtype in (torch.float64, torch.float32):
        product, error = prepare_product(RBF(gamma=0.3), tensor(TRAINING, dtype), "tf32")
        assert product.mode == "chunked"
        assert torch.finfo(dtype).eps <= error <= ROUNDING[dtype]


def test_an_unknown_precision_is_named():
    with pytest.raises(ValueError, match=r"precision must be one of .*'tf32'.*, got 'double'"):
        prepare_product(RBF(gamma=0.3), tensor(TRAINING), "double")


class Off(ChunkedProduct):
    """A product that is off by a known share."""

    share = 0.0

    def multiply(self, coefficients, new_rows=None):
        return (1 + self.share) * super().multiply(coefficients, new_rows)


@every_case
@pytest.mark.parametrize("share", [1e-4, 1e-2])
def test_the_error_of_a_product_is_measured(kernel, reference, share):
    rows = tensor(TRAINING, torch.float32)
    product = Off(clone(kernel).fit(rows), rows)
    product.share = share
    # Twice what is seen, since other columns may fare worse.
    assert measured_error(product) == pytest.approx(2 * share, rel=0.1)


def test_a_product_that_is_no_number_has_an_infinite_error():
    product = Off(RBF(gamma=0.3), tensor(TRAINING, torch.float32))
    product.share = float("nan")
    assert measured_error(product) == float("inf")


@pytest.mark.parametrize("before", [True, False])
def test_float32_products_are_full_ones_inside_and_as_before_outside(before):
    settings = torch.backends.cuda.matmul
    at_start = settings.allow_tf32
    try:
        settings.allow_tf32 = before
        with full_float32():
            if hasattr(settings, "fp32_precision"):
                assert settings.fp32_precision == "ieee"
            else:
                assert settings.allow_tf32 is False
        assert settings.allow_tf32 is before
        with pytest.raises(KeyError), full_float32():
            raise KeyError
        assert settings.allow_tf32 is before
    finally:
        settings.allow_tf32 = at_start
