"""The benchmark of suggestions at its smallest size: it checks its own answer and writes what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

from commands import rows_of

pytestmark = pytest.mark.slow  # a whole program

SCRIPT = Path(__file__).parents[2] / "bench_suggestions.py"


def test_with_the_automatic_classifier_it_also_reports_what_was_before(tmp_path):
    out = tmp_path / "suggestions.csv"
    command = [sys.executable, str(SCRIPT), "--automatic", "--datasets", "iris", "--draws", "1", "--out", str(out)]
    subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL)
    (row,) = rows_of(out)
    for choice in ("start", "suggest_labels", "of 64 candidates", "whole steps", "most uncertain", "random"):
        assert 1 / 3 < float(row[choice]) <= 1


def test_the_benchmark_reports_an_accuracy_for_every_choice(tmp_path):
    out = tmp_path / "suggestions.csv"
    command = [sys.executable, str(SCRIPT), "--datasets", "iris", "--draws", "1", "--out", str(out)]
    subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL)
    (row,) = rows_of(out)
    for choice in ("start", "suggest_labels", "expected change of predict_proba", "most uncertain", "random"):
        assert 1 / 3 < float(row[choice]) <= 1  # better than a guess among three species
    assert (row["data"], row["draws"], row["rows"]) == ("iris", "1", "150")
