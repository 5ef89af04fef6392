"""Neutral names for rows that are held elsewhere and for lazy arrays; with a cluster they are tested in tests/dask."""

import subprocess
import sys

import numpy as np
import pytest

from semikpca.operators import gathered, map_rows, values_at

WITHOUT_DISTRIBUTED = """
import sys

sys.modules["distributed"] = None  # as if it were not installed

import semikpca.operators as operators

for use in (
    lambda: operators.remote_rows([[0.0]]),
    lambda: operators.checked_lazy_rows([[0.0]]),
    lambda: operators.map_parts(len, []),
    lambda: operators.join_cluster("127.0.0.1:1"),
    operators.require_cluster_packages,
):
    try:
        use()
    except ImportError as error:
        print(error, error.name)
"""


def doubled(rows):
    return 2 * rows


@pytest.mark.parametrize("apply", [map_rows, values_at])
def test_a_function_of_rows_that_are_here_is_called_at_once_and_with_all_of_them(apply):
    rows = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(apply(doubled, rows, 2, np.float64), [[0, 2], [4, 6], [8, 10]])
    assert apply(len, ["a", "b"], None, np.intp) == 2  # objects have no type


def test_values_that_are_here_are_not_gathered():
    labels = [0, -1, 1]
    assert gathered(labels) is labels


@pytest.mark.slow  # a process is started
def test_without_what_a_cluster_needs_the_remedy_is_named():
    finished = subprocess.run([sys.executable, "-c", WITHOUT_DISTRIBUTED], capture_output=True, text=True, check=True)
    assert finished.stdout == 5 * "Dask collections need distributed: pip install 'semikpca[dask]'. distributed\n"
