"""The benchmark of numbers on the page, at its smallest size: predictions are checked before times are told."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("dash", reason="the page comes with the extra `app`")

SCRIPT = Path(__file__).parents[2] / "bench_number_page.py"


@pytest.mark.slow
def test_the_time_of_a_number_is_written_with_what_comes_after_it(tmp_path):
    out = tmp_path / "number_page.csv"
    subprocess.run([sys.executable, SCRIPT, "--sizes", "200x30", "--typed", "3", "--out", str(out)], check=True)
    with out.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["rows"], row["given"]) == ("200", "30")
    assert 0 < float(row["answer"]) <= float(row["slowest_answer"])
    assert float(row["errors"]) > 0
    assert "python benchmarks/bench_number_page.py --sizes 200x30" in row["command"]
