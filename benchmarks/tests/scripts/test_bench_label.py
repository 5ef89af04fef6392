"""The benchmark of ``semikpca label`` at a small size: it checks its own answer and writes what it promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands import rows_of

pytestmark = pytest.mark.slow  # a whole program, which runs commands

SCRIPT = Path(__file__).parents[2] / "bench_label.py"


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="memory of another process is only known on POSIX")
def test_the_benchmark_of_label_reports_time_memory_and_accuracy(tmp_path):
    out = tmp_path / "label.csv"
    command = [sys.executable, str(SCRIPT), "--rows", "400", "--labels", "80", "--out", str(out)]
    subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL)
    (row,) = rows_of(out)
    assert (row["rows"], row["columns"], row["labels"]) == ("400", "20", "80")
    assert float(row["accuracy"]) >= 0.9
    assert 50 < float(row["peak_mb"]) < 2_000
    assert float(row["seconds"]) > 0
    assert "python benchmarks/bench_label.py --rows 400 --labels 80" in row["command"]
