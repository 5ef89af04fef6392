"""Formulas as data: what they refuse, and the values of those that no kernel of the package has."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process.kernels import Matern

from semikpca.kernels import (
    ExponentialDecay,
    FactorTiles,
    Formula,
    PairwiseTiles,
    Power,
    ProductKernel,
    row_sums,
    tiles_of,
)

# Two ways to compute the same number agree to some dozens of roundings, on values up to 1.
ROUNDING = 1e-13

generator = np.random.default_rng(3)
ROWS = generator.normal(size=(60, 3))
ROWS[:10] = ROWS[10:20]  # equal rows, whose distance is 0 but for rounding


class _Stated(ProductKernel):
    """Any formula as a kernel."""

    def __init__(self, stated):
        self.stated = stated

    @property
    def formula(self):
        return self.stated


def matern(nu):
    return lambda A, B: Matern(length_scale=2.0, nu=nu)(A, B)


def city_block(A, B):
    return np.abs(A[:, None] - B).sum(axis=2)


# The Matérn kernels for ν = 1/2, 3/2 and 5/2 are in t = √(2ν) ‖a − b‖ / 2, so scale = 2ν/4.
FORMULAS = {
    "Matern 1/2": (Formula("squared distance", ExponentialDecay(root=True), 0.25), matern(0.5)),
    "Matern 3/2": (Formula("squared distance", ExponentialDecay((1.0, 1.0), root=True), 0.75), matern(1.5)),
    "Matern 5/2": (Formula("squared distance", ExponentialDecay((1.0, 1.0, 1 / 3), root=True), 1.25), matern(2.5)),
    "city block": (
        Formula("city-block distance", ExponentialDecay((2.0, 1.0)), 0.3),
        lambda A, B: (2 + 0.3 * city_block(A, B)) * np.exp(-0.3 * city_block(A, B)),
    ),
    "scaled inner product": (Formula("inner product", Power(), 0.5), lambda A, B: 0.5 * A @ B.T),
}
every_formula = pytest.mark.parametrize(("formula", "wanted"), FORMULAS.values(), ids=FORMULAS.keys())


@every_formula
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_values_are_those_of_the_formula(formula, wanted, container):
    kernel, K = _Stated(formula), wanted(ROWS, ROWS)
    rows = container(ROWS)
    scale = np.abs(K).max()
    np.testing.assert_allclose(kernel.pairwise(rows, rows), K, rtol=0, atol=ROUNDING * scale)
    np.testing.assert_allclose(kernel.diag(rows), np.diag(K), rtol=0, atol=ROUNDING * scale)
    whole = slice(0, 60)
    np.testing.assert_allclose(tiles_of(kernel, rows, rows, np.float64)(whole, whole), K, rtol=0, atol=ROUNDING * scale)


@every_formula
def test_values_between_tensors_are_those_of_the_formula(formula, wanted):
    torch = pytest.importorskip("torch")
    from semikpca.operators.products._torch import ChunkedProduct

    kernel, K, rows = _Stated(formula), wanted(ROWS, ROWS), torch.as_tensor(ROWS)
    np.testing.assert_allclose(kernel.pairwise(rows, rows).numpy(), K, rtol=0, atol=ROUNDING * np.abs(K).max())
    np.testing.assert_allclose(kernel.diag(rows).numpy(), np.diag(K), rtol=0, atol=ROUNDING * np.abs(K).max())
    product = ChunkedProduct(kernel, rows).multiply(torch.ones(60, 1, dtype=rows.dtype)).numpy()[:, 0]
    np.testing.assert_allclose(product, K.sum(axis=1), rtol=0, atol=60 * ROUNDING * np.abs(K).max())


@every_formula
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 300, 1100])
def test_sums_over_rows_are_those_of_the_matrix(formula, wanted, dtype, n):
    rows, new = (np.random.default_rng(seed).normal(size=(n, 3)).astype(dtype) for seed in (0, 1))
    for A in (rows, new):
        K = wanted(A.astype(float), rows.astype(float))
        sums = row_sums(_Stated(formula), A, rows)
        assert sums.dtype == dtype
        # Off by some roundings of the values; relative to their absolute sums, since inner products cancel.
        np.testing.assert_allclose(sums, K.sum(axis=1), rtol=0, atol=100 * np.finfo(dtype).eps * np.abs(K).sum(1).max())


def test_a_root_that_loses_digits_between_equal_rows_takes_differences():
    rough, smooth = (_Stated(FORMULAS[name][0]) for name in ("Matern 1/2", "Matern 3/2"))
    assert isinstance(tiles_of(rough, ROWS, ROWS, np.float64), PairwiseTiles)
    assert isinstance(tiles_of(smooth, ROWS, ROWS, np.float64), FactorTiles)


def test_many_values_are_computed_in_parts(monkeypatch):
    from semikpca.kernels import _evaluation

    kernel, K = _Stated(FORMULAS["Matern 5/2"][0]), FORMULAS["Matern 5/2"][1](ROWS, ROWS)
    for numbers in (1, 7 * 60):
        monkeypatch.setattr(_evaluation, "_NUMBERS_AT_ONCE", numbers)
        np.testing.assert_allclose(kernel.pairwise(ROWS, ROWS), K, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Power(0), "degree must be a whole number, 1 or more, got 0"),
        (lambda: Power(2, float("nan")), "shift must be a finite number, got nan"),
        (lambda: ExponentialDecay(()), r"coefficients must be a tuple of one number or more, got \(\)"),
        (lambda: ExponentialDecay([1.0]), r"coefficients must be a tuple of one number or more, got \[1.0\]"),
        (lambda: ExponentialDecay((1.0, "x")), "each of the coefficients must be a finite number, got 'x'"),
        (
            lambda: Formula("distance", ExponentialDecay()),
            "pairing must be one of .*'squared distance'.*, got 'distance'",
        ),
        (lambda: Formula("inner product", ExponentialDecay()), "profile for 'inner product' must be of Power, got Exp"),
        (
            lambda: Formula("squared distance", Power(2)),
            "profile for 'squared distance' must be of ExponentialDecay, got Power",
        ),
        (lambda: Formula("inner product", Power(), 0.0), "scale must be a positive number, got 0.0"),
    ],
)
def test_what_no_product_could_compute_is_refused_by_value(make, said):
    with pytest.raises(ValueError, match=said):
        make()
