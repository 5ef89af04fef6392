"""The benchmark of compiled programs runs at its smallest size, checks its answers, and writes what it promises."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import bench_compiled as benchmark
from commands import rows_of

SMALL = ["--rows", "900", "--many-rows", "1000", "--repetitions", "1"]
# Seconds and ratios are written with four and three digits.
THREE_DIGITS = 6e-3


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Keep machine code apart from that of the user."""
    monkeypatch.setenv("SEMIKPCA_CACHE_DIR", str(tmp_path / "code"))


def test_every_part_is_reported_with_its_circumstances(tmp_path):
    path = tmp_path / "compiled.csv"
    benchmark.main([*SMALL, "--out", str(path)])
    records = rows_of(path)
    assert list(dict.fromkeys(row["part"] for row in records)) == list(benchmark.PARTS)
    assert [row["bar"] for row in records if row["part"] == "fits"] == ["", "20", "35"]
    for row in records:
        ratio = float(row["reference_seconds"]) / float(row["seconds"])
        assert float(row["times_faster"]) == pytest.approx(ratio, rel=THREE_DIGITS)
        assert (
            row["command"].startswith("python benchmarks/bench_compiled.py --rows 900") or "THREADS" in row["command"]
        )


def test_no_time_is_taken_of_a_wrong_product(monkeypatch):
    right = benchmark.FORMULAS["RBF"]
    monkeypatch.setitem(benchmark.FORMULAS, "RBF", lambda *given: right(*given) * (1 + 1e-4))
    with pytest.raises(SystemExit, match="a product of RBF in float32 is off"):
        benchmark.main([*SMALL, "--parts", "products"])


def test_no_time_is_taken_of_a_wrong_decision(monkeypatch):
    monkeypatch.setattr(benchmark, "ALLOWED_DECISIONS", -1.0)
    with pytest.raises(SystemExit, match="the decision with programs differs"):
        benchmark.main([*SMALL, "--parts", "many"])


def test_no_time_is_taken_of_wrong_labels(monkeypatch):
    monkeypatch.setattr(
        benchmark, "two_clusters", lambda n: (np.random.default_rng(0).normal(size=(n, 10)), _labels(n))
    )
    with pytest.raises(SystemExit, match="of the labels right"):
        benchmark.main([*SMALL, "--parts", "fits"])


def _labels(n):
    return np.where(np.arange(n) < 20, np.arange(n) % 2, -1)
