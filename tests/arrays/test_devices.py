"""Where arrays are, asked without naming the library that put them there."""

import numpy as np
import pytest

from semikpca.arrays import device_of, is_lazy, on_device

torch = pytest.importorskip("torch")


def test_a_tensor_has_a_device_and_other_rows_have_none():
    assert device_of(torch.zeros(2)) == torch.device("cpu")
    for rows in (np.zeros(2), [0.0], "text", None):
        assert device_of(rows) is None


def test_numbers_go_to_a_device_and_stay_where_there_is_none():
    numbers = np.array([1.5, 2.5])
    moved = on_device(numbers, torch.device("cpu"))
    assert moved.dtype == torch.float64
    assert moved.tolist() == [1.5, 2.5]
    assert on_device(numbers, None) is numbers


def test_values_that_are_here_are_not_lazy():
    assert not is_lazy(np.zeros(2))
    assert not is_lazy(torch.zeros(2))
    assert not is_lazy([1])
