"""Compiled programs against formulas in more digits than they have, for the vectors of several kinds of processors."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from semikpca.kernels import ExponentialDecay, Power
from semikpca.kernels.compiled._machine import compiled, functions_of, optimized, target_machine
from semikpca.kernels.compiled._programs import Program
from semikpca.kernels.compiled._tiles import tiles_of_factors

# Bytes of a vector and how many of them a core has: x86 as it was in 2003, ARM, AVX2, AVX-512. LLVM splits vectors that
# the processor at hand does not have.
REGISTERS = [(16, 16), (16, 32), (32, 16), (64, 32)]
DTYPES = ["float32", "float64"]
EXP = ExponentialDecay()

# A value is rounded after the last multiplication, and the series has been rounded a little below and above it.
ROUNDINGS_OF_EXP = 2.0


@pytest.fixture(autouse=True)
def _programs(with_programs):
    """Keep machine code in the folder of the tests."""


def tiles_with(pairing, profile, dtype, left, right, registers=(32, 16)):
    return tiles_of_factors(functions_of(Program(pairing, profile, dtype, *registers)), left, right)


def exponentials(distances, dtype, registers=(32, 16)):
    """Return what a program makes of distances: those of numbers from 0, one feature each."""
    distances = np.asarray(distances, dtype)
    tiles = tiles_with("city-block distance", EXP, dtype, distances[:, None], np.zeros((1, 1)), registers)
    return tiles(slice(0, len(distances)), slice(0, 1))[:, 0].copy()


@pytest.mark.parametrize("registers", REGISTERS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_exponentials_are_right_to_the_last_digits(dtype, registers, rng):
    info = np.finfo(dtype)
    largest = -np.log(info.tiny)  # of a distance whose value is a normal number
    near = np.array([0.0, info.tiny, info.eps, 1e-3, np.log(2) / 2, np.log(2), 1.0])
    # Multiples of log(2)/2 are where the number of the power of two changes.
    steps = np.log(2) / 2 * np.arange(1, int(largest / np.log(2)))
    beside = np.concatenate([np.nextafter(steps.astype(dtype), 0), np.nextafter(steps.astype(dtype), np.inf)])
    distances = np.concatenate([near, steps, beside, rng.uniform(0, 1, 500), rng.uniform(0, largest, 2000)])
    distances = np.minimum(distances, np.nextafter(np.asarray(largest, dtype), 0)).astype(dtype)
    wanted = np.exp(-distances.astype(np.longdouble))
    found = exponentials(distances, dtype, registers)
    assert float(np.max(np.abs(found - wanted) / wanted)) <= ROUNDINGS_OF_EXP * info.eps


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_below_the_smallest_normal_number_are_zero(dtype):
    info = np.finfo(dtype)
    edge = -float(np.log(info.tiny))
    distances = np.array([edge * (1 - 1e-6), edge * (1 + 1e-6), edge + 5, 10 * edge, info.max, np.inf])
    found = exponentials(distances, dtype)
    assert found[0] >= info.tiny
    np.testing.assert_array_equal(found[1:], 0.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_no_number_stays_none(dtype):
    found = exponentials([1.0, np.nan, 0.0], dtype)
    assert np.isnan(found[1])
    assert found[2] == 1.0
    powers = tiles_with("inner product", Power(3, 1.0), dtype, np.array([[np.nan], [np.inf], [2.0]]), np.ones((1, 1)))
    np.testing.assert_array_equal(powers(slice(0, 3), slice(0, 1))[:, 0], [np.nan, np.inf, 27.0])


def matern_5_2(s):
    t = np.sqrt(s)
    return (1 + t + t**2 / 3) * np.exp(-t)


PROFILES = {
    "exp": ("inner product", EXP, lambda s: np.exp(s)),
    "twice exp": ("inner product", ExponentialDecay((2.0,)), lambda s: 2 * np.exp(s)),
    "polynomial of the distance": ("inner product", ExponentialDecay((1.0, 0.5)), lambda s: (1 - s / 2) * np.exp(s)),
    "matern 5/2": ("inner product", ExponentialDecay((1.0, 1.0, 1 / 3), root=True), lambda s: matern_5_2(-s)),
    "linear": ("inner product", Power(), lambda s: s),
    "square": ("inner product", Power(2), lambda s: s**2),
    "seventh power": ("inner product", Power(7, 0.5), lambda s: (s + 0.5) ** 7),
    "laplacian": ("city-block distance", EXP, lambda s: np.exp(s)),
    "root of city-block": ("city-block distance", ExponentialDecay((1.0, 1.0), root=True), lambda s: matern_3_2(-s)),
}


def matern_3_2(s):
    return (1 + np.sqrt(s)) * np.exp(-np.sqrt(s))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROFILES)
def test_values_are_those_of_the_profile(name, dtype, rng):
    pairing, profile, formula = PROFILES[name]
    # Products of negative numbers with positive ones are exponents as distances have them.
    left = -rng.uniform(0, 1, (70, 5)).astype(dtype)
    right = rng.uniform(0, 1, (130, 5)).astype(dtype)
    tiles = tiles_with(pairing, profile, dtype, left, right)
    wide_left, wide_right = left.astype(np.longdouble), right.astype(np.longdouble)
    if pairing == "inner product":
        exponents = wide_left @ wide_right.T
    else:
        exponents = -np.abs(wide_left[:, None] - wide_right).sum(axis=2)
    wanted = formula(exponents)
    # An exponent is a sum of five products below 1, and a seventh power multiplies its rounding by seven.
    allowed = 40 * np.finfo(dtype).eps * np.abs(wanted).max()
    for rows, columns in [
        (slice(0, 70), slice(0, 130)),
        (slice(64, 70), slice(128, 130)),
        (slice(3, 5), slice(1, 2)),
        (np.array([69, 0, 0]), slice(5, 77)),
    ]:
        found = tiles(rows, columns)
        assert found.dtype == dtype
        assert float(np.abs(found - wanted[rows, columns]).max()) <= allowed


@pytest.mark.parametrize("registers", REGISTERS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_columns", [1, 3, 16, 64])
def test_both_sides_are_multiplied_whatever_the_vectors(n_columns, dtype, registers, rng):
    left, right = -rng.uniform(0, 1, (150, 3)).astype(dtype), rng.uniform(0, 1, (300, 3)).astype(dtype)
    tiles = tiles_with("inner product", EXP, dtype, left, right, registers)
    lanes = tiles.lanes
    width = -(-n_columns // lanes) * lanes
    V, U = (np.zeros((n, width), dtype) for n in tiles.padded_shape[::-1])
    V[:300, :n_columns] = rng.normal(size=(300, n_columns))
    U[:150, :n_columns] = rng.normal(size=(150, n_columns))
    ahead, back = np.ones((tiles.padded_shape[0], width)), np.ones((tiles.padded_shape[1], width))
    tiles.add_both_sides(slice(0, 150), slice(0, 300), V, ahead, U, back)
    K = np.exp(left.astype(float) @ right.T.astype(float))
    allowed = 300 * np.finfo(dtype).eps * 3  # a sum of 300 terms, hardly any of them above 3
    assert np.abs(ahead[:150] - 1 - K @ V[:300]).max() <= allowed
    assert np.abs(back[:300] - 1 - K.T @ U[:150]).max() <= allowed


def test_sums_of_single_precision_values_are_kept_in_double(rng):
    # 100,000 equal values, whose sum in float32 would be off by 1e-4 and more: after 2^k terms digits are cut off.
    n = 100_000
    tiles = tiles_with("city-block distance", EXP, "float32", np.zeros((1, 1)), np.full((n, 1), 0.3))
    V = np.zeros((tiles.padded_shape[1], tiles.lanes), np.float32)
    V[:n, 0] = 1.0
    sums = np.zeros((tiles.padded_shape[0], tiles.lanes))
    tiles.add_ahead(slice(0, 1), slice(0, n), V, sums)
    value = float(exponentials([0.3], "float32")[0])
    # What a stretch of 128 values loses, as the product of BLAS does.
    assert abs(sums[0, 0] / (n * value) - 1) <= 16 * np.finfo(np.float32).eps


def test_a_program_compiles_to_the_same_code_each_time():
    program = Program("inner product", EXP, "float32", 32, 16)
    assert compiled(program) == compiled(program)


@pytest.mark.parametrize("registers", REGISTERS, ids=str)
def test_programs_call_no_other_functions(registers):
    # Whatever they called would have to be found in each process, on every system.
    program = Program("squared distance", ExponentialDecay((1.0, 1.0), root=True), "float64", *registers)
    text = target_machine().emit_assembly(optimized(program))
    called = [line for line in text.splitlines() if line.split()[:1] in (["call"], ["callq"], ["bl"])]
    assert called == []
