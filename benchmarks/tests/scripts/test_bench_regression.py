"""The benchmark of regression at its smallest size: it writes what it promises, and goes on where it was stopped."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from commands import rows_of

pytestmark = pytest.mark.slow  # a whole program

SCRIPT = Path(__file__).parents[2] / "bench_regression.py"
METHODS = ["SemiKPCARegressorCV", "SemiKPCARegressor", "KernelRidge", "LSSVMRegressor"]


def run(tmp_path, *arguments):
    folder = ["--data", str(tmp_path), "--records", str(tmp_path / "records.csv"), "--out", str(tmp_path / "out")]
    command = [sys.executable, str(SCRIPT), *folder, "--sets", "line", "--labels", "10", *arguments]
    return subprocess.run(command, check=True, timeout=300, capture_output=True, text=True).stdout


@pytest.fixture
def line(tmp_path):
    """A set of the folder: numbers that are linear in the rows, which all methods find."""
    X = np.random.default_rng(0).standard_normal((60, 2))
    np.savez(tmp_path / "line.npz", X=X, y=X @ [1.0, 2.0])
    return tmp_path


def test_every_method_is_better_than_the_mean_on_a_line(line):
    assert "mean rank" in run(line, "--draws", "1")
    (cell,) = rows_of(line / "out" / "cells.csv")
    assert (cell["data"], cell["labels"], cell["draws"]) == ("line", "10", "1")
    ranks = {row["method"]: float(row["mean_rank"]) for row in rows_of(line / "out" / "ranks.csv")}
    assert sorted(ranks.values()) == list(range(1, 9))
    for method in ranks:
        assert 0 <= float(cell[method]) < 1
    (means,) = rows_of(line / "out" / "sets.csv")
    assert means["data"] == "line"
    intervals = rows_of(line / "out" / "intervals.csv")
    assert {row["method"] for row in intervals} == {"SemiKPCARegressorCV", "SemiKPCARegressor"}
    assert all(0 <= float(row["coverage"]) <= 1 for row in intervals)


def test_a_run_goes_on_from_its_records(line):
    run(line, "--draws", "1", "--methods", *METHODS)
    before = rows_of(line / "records.csv")
    run(line, "--draws", "2", "--methods", *METHODS)
    after = rows_of(line / "records.csv")
    assert after[: len(before)] == before
    assert len(after) == 2 * len(before)


def test_times_of_fits_are_written(tmp_path):
    run(tmp_path, "--speed")
    (row,) = rows_of(tmp_path / "out" / "speed.csv")
    wanted = float(row["SemiKPCARegressorCV seconds"]) / float(row["SemiKPCARegressor seconds"])
    assert float(row["ratio"]) == pytest.approx(wanted, rel=0.01)


def test_a_set_that_does_not_exist_is_named(line):
    command = [sys.executable, str(SCRIPT), "--sets", "nowhere"]
    found = subprocess.run(command, check=False, timeout=300, capture_output=True, text=True)
    assert found.returncode != 0
    assert "There is no set 'nowhere'" in found.stderr
