"""Benchmarks run at their smallest size, check their answers, and write what they promise; times are not judged."""

import contextlib
import io

import pytest

import bench_dense_fit as benchmark
from commands import rows_of

# Seconds and ratios are written with four digits: three roundings of half a unit in the fourth.
FOUR_DIGITS = 2e-3


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    """The report of a run with 200 rows and one repetition: its rows, and what it prints."""
    path = tmp_path_factory.mktemp("benchmark") / "dense_fit.csv"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        benchmark.main(["--rows", "200", "--repetitions", "1", "--out", str(path)])
    return rows_of(path), printed.getvalue()


def test_dense_fit_reports_every_comparison_on_every_data_set(small_run):
    records, printed = small_run
    wanted = [(what, reference) for what, reference, _ in benchmark.COMPARISONS]
    for data in ("two clusters", "one cloud"):
        assert [(row["what"], row["reference"]) for row in records if row["data"] == data] == wanted
    assert len(printed.splitlines()) == 1 + len(records)


def test_dense_fit_ratios_are_those_of_its_seconds(small_run):
    for row in small_run[0]:
        assert float(row["seconds"]) > 0
        seconds, reference = float(row["seconds"]), float(row["reference_seconds"])
        assert float(row["ratio"]) == pytest.approx(seconds / reference, rel=FOUR_DIGITS)


def test_dense_fit_says_how_to_make_its_numbers_again(small_run):
    for row in small_run[0]:
        assert "python benchmarks/bench_dense_fit.py --rows 200 --repetitions 1" in row["command"]
        assert (row["rows"], row["repetitions"]) == ("200", "1")
        assert all(row[name] for name in ("semikpca", "python", "numpy", "scipy", "scikit_learn", "clock", "threads"))


def test_no_time_is_taken_of_a_wrong_decision(tmp_path, monkeypatch):
    right = benchmark.algorithm_1
    little = 100 * benchmark.RELATIVE_TOLERANCE
    monkeypatch.setattr(benchmark, "algorithm_1", lambda *problem: (1 + little) * right(*problem))
    path = tmp_path / "dense_fit.csv"
    with pytest.raises(SystemExit, match=f"the decision is off by {little:.1e}"):
        benchmark.main(["--rows", "200", "--repetitions", "1", "--out", str(path)])
    assert not path.exists()


def test_no_time_is_taken_of_a_wrong_path(tmp_path, monkeypatch):
    class FitsAtOtherWeights(benchmark.SemiKPCAClassifier):
        def fit(self, X, y):
            if self.error_weight != "middle":
                self.error_weight *= 0.999
            return super().fit(X, y)

    monkeypatch.setattr(benchmark, "SemiKPCAClassifier", FitsAtOtherWeights)
    with pytest.raises(SystemExit, match="the path is off"):
        benchmark.main(["--rows", "200", "--repetitions", "1", "--out", str(tmp_path / "dense_fit.csv")])
