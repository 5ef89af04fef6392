"""The comparison of rules for landmarks at its smallest size; times of such fits are in benchmarks/tests/speed."""

from pathlib import Path

import numpy as np

import bench_nystroem as benchmark
from commands import rows_of

STORED = Path(__file__).parents[2] / "results" / "nystroem_rules.csv"
RULES = ("uniform", "k-means++", "leverage")


def test_rules_are_compared_by_the_error_of_the_matrix_and_of_the_labels():
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


def test_a_run_writes_every_rule_with_all_that_is_needed_to_make_it_again(monkeypatch, tmp_path, capsys):
    X, _, classes = benchmark.two_clusters(150)
    monkeypatch.setattr(benchmark, "small_sets", lambda: {"two clusters": (X, classes)})
    benchmark.main(["--seeds", "1", "--out", str(tmp_path / "rules.csv")])
    rows = rows_of(tmp_path / "rules.csv")
    assert [(row["landmarks"], row["rule"]) for row in rows] == [
        (count, rule) for count in ("20", "100") for rule in RULES
    ]
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(rows)
    for row in rows:
        assert 0 < float(row["relative_error"]) < 1
        assert "python benchmarks/bench_nystroem.py --seeds 1" in row["command"]
        assert all(row[name] for name in ("semikpca", "python", "numpy", "scipy", "scikit_learn", "threads"))
    assert list(rows_of(STORED)[0]) == list(rows[0])


def test_stored_comparison_has_every_rule_on_every_data_set():
    stored = rows_of(STORED)
    for data in {row["data"] for row in stored}:
        assert {row["rule"] for row in stored if row["data"] == data} == set(RULES)
    assert np.isfinite([float(row["relative_error"]) for row in stored]).all()
