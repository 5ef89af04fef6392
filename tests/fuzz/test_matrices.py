"""Precomputed kernel matrices of every kind: the system of the paper is solved, or a refusal is true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fuzz.judging import Choices
from fuzz.matrices_target import FORMS, MOST_ROWS, SCALES, WEIGHTS, judge, judged, matrix
from fuzz.profiles import drawn

pytestmark = pytest.mark.slow  # many inputs are drawn


@st.composite
def problems(draw, forms=tuple(FORMS), weights=tuple(WEIGHTS), scales=tuple(SCALES)):
    """A matrix of some form and scale, labels of two or three classes, a number of components and a weight."""
    n = draw(st.integers(2, MOST_ROWS))
    entries = draw(arrays.arrays(np.float64, (n, n), elements=st.integers(-128, 127))) / 16
    K = matrix(
        entries,
        draw(st.sampled_from(scales)),
        draw(st.sampled_from(forms)),
        draw(st.booleans()),
        Choices(draw(st.binary(max_size=3))),
    )
    y = np.array([0, 1, *draw(st.lists(st.sampled_from([0, 1, 2, -1]), min_size=n - 2, max_size=n - 2))])
    return K, y, draw(st.integers(0, 3)), draw(st.sampled_from(weights))


@drawn(250)
@given(problem=problems())
def test_any_matrix_is_solved_or_refused_with_reason(problem):
    judged(*problem)


@drawn(150)
@given(problem=problems(forms=("product", "repeated"), weights=("middle", 0.5, 0.9, 0.01), scales=(1.0, 1e-8, 1e8)))
def test_definite_matrices_of_ordinary_size_are_refused_for_their_rank_only(problem):
    ended = judged(*problem)
    assert ended == "answered" or "leaves nothing" in ended or "then nothing is left" in ended


@drawn(100)
@given(data=st.binary(min_size=6, max_size=120))
def test_matrices_made_of_bytes_are_solved_or_refused(data):
    judge(data)


@drawn(60)
@given(
    shape=arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    kind=st.sampled_from([np.float64, np.float32, np.int8, np.uint8, np.bool_, np.complex128, object, "M8[s]"]),
)
def test_things_that_are_no_square_matrix_are_refused(shape, kind):
    K = np.zeros(shape, dtype=kind)
    n_rows = len(K) if K.ndim else 0
    ended = judged(K, np.array([0, 1, -1, 0])[:n_rows], 0, 0.5)
    assert ended != "answered"


def test_multipliers_that_are_no_numbers_are_refused():
    # γ comes to 1e305 and the condition number to 1e9, so that α would be infinite.
    K = 1e-300 * np.diag([1.0, 1e-5, 0.9e-5])
    assert "multipliers leave the range of float64" in judged(K, np.array([0, 1, -1]), 1, 1 - 1e-9)
