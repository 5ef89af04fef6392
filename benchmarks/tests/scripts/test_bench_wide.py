"""The benchmark of wide rows at its smallest size: answers are checked, and what is promised is written."""

import contextlib
import io

import numpy as np
import pytest

import bench_wide as benchmark
from commands import rows_of

# Seconds and ratios are written with four digits: three roundings of half a unit in the fourth.
FOUR_DIGITS = 2e-3
SMALL = ["--small", "--repetitions", "1"]


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    """The report of a run with a few hundred rows and one repetition: its rows, and what it prints."""
    path = tmp_path_factory.mktemp("benchmark") / "wide.csv"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        benchmark.main([*SMALL, "--out", str(path)])
    return rows_of(path), printed.getvalue()


def test_every_comparison_is_reported(small_run):
    records, printed = small_run
    wanted = [(data, what, against) for data, rows in benchmark.COMPARISONS.items() for what, against, _ in rows]
    assert [(row["data"], row["what"], row["reference"]) for row in records] == wanted
    assert len(printed.splitlines()) == 1 + len(records)


def test_ratios_are_those_of_the_seconds_and_say_whether_the_bar_is_met(small_run):
    for row in small_run[0]:
        ratio = float(row["seconds"]) / float(row["reference_seconds"])
        assert float(row["seconds"]) > 0
        assert float(row["ratio"]) == pytest.approx(ratio, rel=FOUR_DIGITS)
        bar = float(row["bar"]) if row["bar"] else None
        assert row["met"] == ("" if bar is None else "yes" if float(row["ratio"]) <= bar else "no")


def test_every_row_says_how_to_make_it_again(small_run):
    for row in small_run[0]:
        assert "python benchmarks/bench_wide.py --small --repetitions 1" in row["command"]
        assert all(row[name] for name in ("rows", "features", "classes", "labels", "semikpca", "numpy", "threads"))


def test_some_of_the_sets_can_be_asked_for(tmp_path, capsys):
    benchmark.main([*SMALL, "--sets", "many classes", "--out", str(tmp_path / "wide.csv")])
    assert {row["data"] for row in rows_of(tmp_path / "wide.csv")} == {"many classes"}
    assert "many features" not in capsys.readouterr().out


def test_rows_are_as_many_as_promised_and_labels_evenly_spread():
    problem = benchmark.many_classes(small=False)
    assert problem.sizes == {"rows": 2_000, "features": 50, "classes": 500, "labels": 1_000}
    assert set(np.bincount(problem.y[problem.y != -1]).tolist()) == {2}
    assert benchmark.some_labels(problem.X, problem.truth, 750).sizes["labels"] == 750


@pytest.mark.parametrize("name", ["unit vectors", "many features"])
def test_no_time_is_taken_of_a_wrong_decision(tmp_path, monkeypatch, name):
    right = benchmark.algorithm_1
    monkeypatch.setattr(benchmark, "algorithm_1", lambda *problem: 1.01 * right(*problem))
    with pytest.raises(SystemExit, match=r"the decision is off by 9\.9e-03"):
        benchmark.main([*SMALL, "--sets", name, "--out", str(tmp_path / "wide.csv")])
    assert not (tmp_path / "wide.csv").exists()


def test_no_time_is_taken_of_a_wrong_graph(monkeypatch):
    class NinthNeighbor(benchmark.NeighborGraph):
        def __init__(self, n_neighbors=10):
            super().__init__(n_neighbors - 1)

    monkeypatch.setattr(benchmark, "NeighborGraph", NinthNeighbor)
    with pytest.raises(SystemExit, match="the radius of the graph is off"):
        benchmark.main([*SMALL, "--sets", "unit vectors"])


def test_no_time_is_taken_of_a_wrong_expected_change(monkeypatch):
    right = benchmark.expected_change
    monkeypatch.setattr(benchmark, "expected_change", lambda model, rows: right(model, rows) + 1)
    with pytest.raises(SystemExit, match="the expected change is off"):
        benchmark.main([*SMALL, "--sets", "many classes"])


def test_no_time_is_taken_of_labels_that_are_wrong(monkeypatch):
    monkeypatch.setattr(benchmark, "LEAST_ACCURACY", 1.01)
    with pytest.raises(SystemExit, match=r"labels only \d+\.\d% of the rows"):
        benchmark.main([*SMALL, "--sets", "many classes"])
