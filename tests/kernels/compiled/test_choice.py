"""Which blocks a compiled program makes, and that without its compiler nothing changes."""

import sys

import numpy as np
import pytest
from scipy import sparse

import semikpca.kernels.compiled._tiles as compiled_tiles
from outside_kernel import Matern
from semikpca import SemiKPCAClassifier
from semikpca.kernels import (
    RBF,
    CompiledTiles,
    Cosine,
    FactorTiles,
    Laplacian,
    Linear,
    PairwiseTiles,
    Polynomial,
    tiles_of,
)
from semikpca.operators import make_operator

KERNELS = [RBF(0.1), Laplacian(0.1), Matern(3.0), Polynomial(3, 0.1), Linear(), Linear(center=True), Cosine()]


@pytest.fixture
def rows(rng):
    return rng.normal(size=(300, 4))


@pytest.fixture
def without_compiler(monkeypatch):
    """Import nothing of LLVM, as if it were not installed."""
    for name in [name for name in sys.modules if name.startswith(("llvmlite", "semikpca.kernels.compiled._m"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.setattr(compiled_tiles, "FEWEST_ENTRIES", 0)


def product(kernel, rows, dtype):
    block = np.random.default_rng(0).normal(size=(len(rows), 5))
    return make_operator(kernel, rows, "blocked", dtype).matmat(block)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_formula_has_a_program(kernel, rows, with_programs):
    kernel = kernel.fit(rows)
    for dtype in (np.float32, np.float64):
        assert isinstance(tiles_of(kernel, rows, rows, dtype), CompiledTiles)


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=repr)
def test_sparse_rows_have_none(kernel, rows, with_programs):
    csr = sparse.csr_array(rows)
    assert not isinstance(tiles_of(kernel, csr, csr, np.float64), CompiledTiles)
    assert not isinstance(tiles_of(kernel, rows, csr, np.float64), CompiledTiles)


@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.3)], ids=repr)
def test_rows_far_apart_are_compared_by_their_differences(kernel, rows, with_programs):
    far = rows.copy()
    far[150:] += 1e4
    assert isinstance(tiles_of(kernel, far, far, np.float32), PairwiseTiles)
    shifted = rows + 1e4  # all of them: what counts is how far they are from each other
    assert isinstance(tiles_of(kernel, shifted, shifted, np.float32), CompiledTiles)


def test_rows_that_overflow_have_none(rows, with_programs):
    huge = rows * 1e307
    assert not isinstance(tiles_of(RBF(1.0), huge, huge, np.float64), CompiledTiles)
    assert not isinstance(tiles_of(Laplacian(1.0), huge, huge, np.float64), CompiledTiles)


def test_a_small_matrix_is_left_to_numpy(rows, monkeypatch, with_programs):
    monkeypatch.setattr(compiled_tiles, "FEWEST_ENTRIES", 300 * 300 + 1)
    assert isinstance(tiles_of(RBF(0.1), rows, rows, np.float64), FactorTiles)
    monkeypatch.setattr(compiled_tiles, "FEWEST_ENTRIES", 300 * 300)
    assert isinstance(tiles_of(RBF(0.1), rows, rows, np.float64), CompiledTiles)


def test_programs_can_be_switched_off(rows, monkeypatch, with_programs):
    monkeypatch.setenv("SEMIKPCA_FAST", "0")
    assert isinstance(tiles_of(RBF(0.1), rows, rows, np.float64), FactorTiles)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_without_the_compiler_nothing_changes(kernel, rows, without_compiler, monkeypatch):
    kernel = kernel.fit(rows)
    found = [product(kernel, rows, dtype) for dtype in (np.float32, np.float64)]
    assert not isinstance(tiles_of(kernel, rows, rows, np.float64), CompiledTiles)
    monkeypatch.setenv("SEMIKPCA_FAST", "0")
    for wanted, dtype in zip(found, (np.float32, np.float64), strict=True):
        np.testing.assert_array_equal(product(kernel, rows, dtype), wanted)


def test_no_rows_have_no_blocks(rows, with_programs):
    assert make_operator(RBF(0.1), rows, "blocked").product_at(np.empty(0, dtype=int), rows).shape == (0, 4)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_without_a_number_are_refused_as_before(value, rows, with_programs):
    rows[7, 2] = value
    y = np.where(np.arange(300) < 6, np.arange(300) % 2, -1)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        SemiKPCAClassifier(RBF(0.1), backend="blocked").fit(rows, y)


def test_values_beyond_the_range_of_numbers_are_refused_as_before(rows, with_programs):
    with pytest.raises(ValueError, match="range"):
        make_operator(Polynomial(3, 1.0), rows * 1e120, "blocked")


def test_distances_of_any_size_have_the_product_of_the_formula(rng, with_programs):
    # Exponents from 0, of rows that are there twice, to some −50, of rows at two ends.
    rows = rng.uniform(-1, 1, (400, 4)) * 3.9
    rows[200:] = rows[:200]
    block = rng.normal(size=(400, 3))
    for kernel, power in ((RBF(0.25), 2), (Laplacian(0.9), 1)):
        assert isinstance(tiles_of(kernel, rows, rows, np.float64), CompiledTiles)
        distances = (np.abs(rows[:, None] - rows).astype(np.longdouble) ** power).sum(axis=2)
        K = np.exp(-np.longdouble(kernel.gamma) * distances)
        assert float(K.min()) < 1e-8
        # Exponents are off by 16 roundings or so.
        allowed = 64 * np.finfo(float).eps * np.abs(K).sum(axis=1).max()
        assert (
            float(np.abs(make_operator(kernel.fit(rows), rows, "blocked").matmat(block) - K @ block).max()) <= allowed
        )
