"""The page on benchmarks names what is run."""

import re
from pathlib import Path

from semikpca_benchmarks.accuracy import METHODS, AccuracySpec
from semikpca_benchmarks.datasets import BENCHMARK_GROUPS

PAGE = (Path(__file__).parents[3] / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def table_rows(first_cell):
    return [line for line in PAGE.splitlines() if line.startswith(f"| {first_cell} |")]


def test_every_method_has_a_row_with_its_kind():
    settings = PAGE.split("### Methods")[1].split("###")[0].splitlines()
    for method in METHODS:
        (row,) = [line for line in settings if line.startswith(f"| {method.name} |")]
        assert row.split(" | ")[1] == method.kind


def test_every_group_lists_its_data_sets():
    for group, names in BENCHMARK_GROUPS.items():
        (row,) = table_rows(f"`{group}`")
        listed = re.split(r"[,;:] | \(| digits", row.split(" | ")[1])
        assert set(names) <= {name.strip() for name in listed} or group == "digits"


def test_the_number_of_cells_is_that_of_a_whole_run():
    assert f"runs {len(AccuracySpec().cells())} cells" in PAGE
