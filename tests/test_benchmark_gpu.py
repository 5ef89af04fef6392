"""The benchmark on a GPU: on a CPU its checks run, and a wrong product ends it."""

import csv
import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[1]
STORED = ROOT / "benchmarks" / "results" / "gpu.csv"


@pytest.fixture
def benchmark():
    """The benchmark script as a module, fresh for each test."""
    spec = importlib.util.spec_from_file_location("bench_gpu", ROOT / "benchmarks" / "bench_gpu.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_without_a_gpu_every_kernel_is_checked_in_blocks(benchmark, tmp_path):
    benchmark.main(["--device", "cpu", "--rows", "300", "--out", str(tmp_path)])
    records = rows_of(tmp_path / "gpu.csv")
    assert [row["kernel"].partition("(")[0] for row in records] == ["RBF", "RBF", "Laplacian", "Polynomial"]
    for row in records:
        assert 0 < float(row["error_random"]) < benchmark.LARGEST_ERROR["chunked"][0]
        assert "bench_gpu.py --rows 300" in row["command"]
    assert list(records[0]) == list(rows_of(STORED)[0])


def test_no_time_is_taken_of_a_wrong_product(benchmark, tmp_path, monkeypatch):
    right = benchmark.exact_product
    monkeypatch.setattr(benchmark, "exact_product", lambda *given: 1.001 * right(*given))
    with pytest.raises(SystemExit, match=r"RBF\(.*\), chunked: off by 1.0e-03 with random columns"):
        benchmark.main(["--device", "cpu", "--rows", "300", "--out", str(tmp_path)])


def test_stored_results_hold_the_sizes_that_the_package_is_judged_by():
    products = {(row["rows"], row["features"], row["mode"]) for row in rows_of(STORED) if row["what"] == "product"}
    assert {("1000000", "64", mode) for mode in ("tf32", "float16", "float32", "chunked")} <= products
