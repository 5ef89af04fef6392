"""The benchmark of ``semikpca paper`` at its smallest size; times are not judged."""

import subprocess
import sys
from pathlib import Path

import pytest

from commands import rows_of

pytestmark = pytest.mark.slow  # a whole program, with processes side by side

SCRIPT = Path(__file__).parents[2] / "bench_paper.py"
STORED = SCRIPT.parent / "results" / "paper.csv"


def test_the_benchmark_checks_and_reports_a_small_run(tmp_path):
    out = tmp_path / "paper.csv"
    command = [sys.executable, str(SCRIPT), "--datasets", "iris", "--repetitions", "10", "--out", str(out)]
    subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL)
    (row,) = rows_of(out)
    assert (row["cells"], row["datasets"], row["repetitions"]) == ("24", "1", "10")
    assert float(row["seconds"]) > 0
    assert int(row["within_2"]) <= int(row["within_3"]) <= 24


def test_the_stored_results_hold_what_was_asked_of_the_reproduction():
    rows = {int(row["repetitions"]): row for row in rows_of(STORED)}
    cells, within_2, within_3 = (int(rows[100][name]) for name in ("cells", "within_2", "within_3"))
    assert cells == 216
    assert within_3 >= 0.95 * cells
    assert within_2 >= 0.85 * cells
    assert int(rows[10]["weights_per_model"]) >= 60
