"""The benchmark on a GPU: on a CPU its checks run, and a wrong product ends it."""

from pathlib import Path

import pytest

from commands import rows_of

pytest.importorskip("torch")

import bench_gpu as benchmark
import bench_gpu_fit

STORED = Path(__file__).parents[2] / "results"


def test_without_a_gpu_every_kernel_is_checked_in_blocks(tmp_path):
    benchmark.main(["--device", "cpu", "--rows", "300", "--out", str(tmp_path)])
    records = rows_of(tmp_path / "gpu.csv")
    assert [row["kernel"].partition("(")[0] for row in records] == ["RBF", "RBF", "Laplacian", "Polynomial"]
    for row in records:
        assert 0 < float(row["error_random"]) < benchmark.LARGEST_ERROR["chunked"][0]
        assert "bench_gpu.py --rows 300" in row["command"]
    assert list(records[0]) == list(rows_of(STORED / "gpu.csv")[0])


def test_no_time_is_taken_of_a_wrong_product(tmp_path, monkeypatch):
    right = benchmark.exact_product
    monkeypatch.setattr(benchmark, "exact_product", lambda *given: 1.001 * right(*given))
    with pytest.raises(SystemExit, match=r"RBF\(.*\), chunked: off by 1.0e-03 with random columns"):
        benchmark.main(["--device", "cpu", "--rows", "300", "--out", str(tmp_path)])


def test_stored_results_hold_the_sizes_that_the_package_is_judged_by():
    stored = rows_of(STORED / "gpu.csv")
    products = {(row["rows"], row["features"], row["mode"]) for row in stored if row["what"] == "product"}
    assert {("1000000", "64", mode) for mode in ("tf32", "float16", "float32", "chunked")} <= products


def test_whole_fits_are_checked_before_they_are_timed(tmp_path):
    sizes = ["--rows", "500", "--large", "0", "--checked", "400", "--repetitions", "1", "--device", "cpu"]
    bench_gpu_fit.main([*sizes, "--out", str(tmp_path / "gpu_fit.csv")])
    records = rows_of(tmp_path / "gpu_fit.csv")
    checks = [row for row in records if row["what"].startswith("check")]
    assert records[: len(checks)] == checks
    assert {(row["what"], row["backend"]) for row in checks} == {
        (f"check, {data}", backend) for data in ("two_clusters", "one_cloud") for backend in bench_gpu_fit.BACKENDS
    }
    for row in records[len(checks) :]:
        assert float(row["seconds"]) > 0
        assert "bench_gpu_fit.py --rows 500" in row["command"]
    assert {*records[0]} <= {*rows_of(STORED / "gpu_fit.csv")[0]}
