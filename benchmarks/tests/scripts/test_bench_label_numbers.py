"""The benchmark of numbers in tables, at its smallest size: answers are checked before times are told."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("skrub", reason="tables come with the extra `label`")

SCRIPT = Path(__file__).parents[2] / "bench_label_numbers.py"


@pytest.mark.slow
def test_times_of_numbers_and_classes_stand_beside_each_other(tmp_path):
    out = tmp_path / "label_numbers.csv"
    subprocess.run([sys.executable, SCRIPT, "--rows", "300", "--given", "60", "--out", str(out)], check=True)
    with out.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["rows"], row["given"]) == ("300", "60")
    ratio = float(row["cpu_seconds"]) / float(row["cpu_seconds_of_classes"])
    assert float(row["cpu_ratio"]) == pytest.approx(ratio, rel=0.05)  # they are written with one decimal
    assert float(row["error"]) < 0.6
    assert "python benchmarks/bench_label_numbers.py --rows 300 --given 60" in row["command"]
