"""The benchmark of labels by keyboard at its smallest size: it checks its own answers and writes what it promises."""

import csv
import subprocess
import sys

import pytest

import bench_keyboard

pytestmark = pytest.mark.slow  # a whole program, which serves the page to a browser


def test_labels_by_keyboard_are_timed_and_checked(tmp_path, browser):
    out = tmp_path / "keyboard.csv"
    # The fixture drives a browser in this thread already, so the program gets a process of its own.
    browser.contexts  # noqa: B018  (skipped where there is none)
    options = ["--rows", "90", "--labels", "3", "--pause", "0", "--out", str(out)]
    command = [sys.executable, bench_keyboard.__file__, *options]
    subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL)
    with out.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["rows"], row["labels"], row["queue"]) == ("90", "3", "suggested")
    assert 0 < float(row["median_ms"]) <= float(row["slowest_ms"])
    assert (row["bar_median_ms"], row["bar_slowest_ms"]) == ("200", "400")
    assert "bench_keyboard.py --rows 90" in row["command"]


def test_labels_on_other_rows_are_not_timed():
    table = b"color\nred\ngreen\n"
    bench_keyboard.check_labels(table, {0: "red", 1: "green"})
    with pytest.raises(SystemExit, match="1 labels are not on the rows"):
        bench_keyboard.check_labels(table, {0: "red", 1: "red"})
