"""The benchmark of a click at its smallest size: it checks its own answers and writes what it promises."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # a whole program, which serves the page

SCRIPT = Path(__file__).parents[2] / "bench_click.py"
STORED = Path(__file__).parents[2] / "results" / "click.csv"


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_benchmark_times_the_session_and_the_server(tmp_path):
    out = tmp_path / "click.csv"
    options = ["--rows", "90", "--clicks", "2", "--parts", "session", "http", "--out", str(out)]
    subprocess.run([sys.executable, str(SCRIPT), *options], check=True, timeout=300, stdout=subprocess.DEVNULL)
    rows = rows_of(out)
    assert [(row["what"], row["rows"], row["clicks"]) for row in rows] == [("session", "90", "2"), ("http", "90", "2")]
    for row in rows:
        assert 0 < float(row["median_ms"]) <= float(row["slowest_ms"])
        assert row["bar_ms"] == "200"
        assert row["dash"]
        assert "bench_click.py --rows 90" in row["command"]


def test_stored_results_are_those_of_the_size_that_the_page_is_judged_by():
    rows = rows_of(STORED)
    assert [row["what"] for row in rows] == ["session", "http", "page", "map"]
    assert {(row["rows"], row["features"], row["classes"]) for row in rows} == {("10000", "20", "3")}
