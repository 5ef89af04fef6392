"""The benchmark of Nystroem fits at its smallest size: it checks its answers and writes what it promises."""

import csv
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "bench_nystroem.py"
RESULTS = SCRIPT.parent / "results"


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def benchmark():
    spec = importlib.util.spec_from_file_location("bench_nystroem", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("nystroem") / "nystroem.csv"
    sizes = ["--rows", "1000", "2000", "--landmarks", "40", "--exact-rows", "400"]
    subprocess.run([sys.executable, SCRIPT, *sizes, "--out", out], check=True, timeout=300, stdout=subprocess.DEVNULL)
    return rows_of(out)


def test_each_size_is_a_row_with_all_that_is_needed_to_make_it_again(small_run):
    assert [row["rows"] for row in small_run] == ["1000", "2000"]
    for row in small_run:
        assert float(row["fit_seconds"]) > 0
        assert 0 < float(row["peak_gb"]) < 6
        assert float(row["agreement_with_exact"]) > 0.98
        assert "--rows 1000 2000 --landmarks 40" in row["command"]
        assert all(row[name] for name in ("semikpca", "python", "numpy", "scipy", "scikit_learn", "seed", "threads"))


def test_no_time_is_taken_of_a_wrong_answer(benchmark, monkeypatch, tmp_path):
    right = benchmark.naive_decision
    monkeypatch.setattr(benchmark, "naive_decision", lambda *problem: 1.001 * right(*problem))
    with pytest.raises(SystemExit, match="the decision is off by"):
        benchmark.main(["--rows", "1000", "--out", str(tmp_path / "nystroem.csv")])
    assert not list(tmp_path.iterdir())


def test_rules_are_compared_by_the_error_of_the_matrix_and_of_the_labels(benchmark):
    X, _, classes = benchmark.two_clusters(200)
    kernel = benchmark.RBF().fit(X)
    exact = kernel(X)
    few, all_rows = (
        benchmark.compared(X, classes, exact, benchmark.Nystroem(kernel, count, random_state=0), seed=0)
        for count in (5, 200)
    )
    assert few[0] > 0.01
    assert all_rows[0] < 1e-6
    assert all_rows[1] == 1


def test_stored_results_hold_what_was_asked_for(small_run):
    stored = rows_of(RESULTS / "nystroem.csv")
    assert list(stored[0]) == list(small_run[0])
    (million,) = [row for row in stored if row["rows"] == "1000000"]
    assert (million["features"], million["landmarks"]) == ("10", "1000")
    assert float(million["fit_seconds"]) < 120
    assert float(million["peak_gb"]) < 6
    assert all(float(row["path_against_fit"]) < 1.3 for row in stored)


def test_stored_comparison_has_every_rule_on_every_data_set():
    stored = rows_of(RESULTS / "nystroem_rules.csv")
    rules = {"uniform", "k-means++", "leverage"}
    for data in {row["data"] for row in stored}:
        assert {row["rule"] for row in stored if row["data"] == data} == rules
    assert np.isfinite([float(row["relative_error"]) for row in stored]).all()
