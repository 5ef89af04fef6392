"""The benchmark of fits on a cluster at its smallest size: it checks its answers and writes what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

from commands import rows_of

pytest.importorskip("distributed", reason="distributed is not installed: pip install 'semikpca[dask]'")

pytestmark = pytest.mark.slow  # a whole program, which starts a cluster

SCRIPT = Path(__file__).parents[2] / "bench_dask.py"
SMALL = ["--rows", "4000", "--chunk-rows", "1000", "--landmarks", "60", "--checked-rows", "900", "--exact-rows", "900"]
SMALL += ["--exact-checked-rows", "400", "--pass-rows", "640", "--repetitions", "1"]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory of a process is read as Linux tells it")
def test_the_benchmark_of_a_cluster_reports_both_routes_the_graph_and_the_passes(tmp_path):
    out = tmp_path / "dask.csv"
    command = [sys.executable, str(SCRIPT), *SMALL, "--out", str(out)]
    subprocess.run(command, check=True, timeout=600, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = rows_of(out)
    by_part = {part: [row for row in rows if row["part"] == part] for part in ("nystroem", "exact", "graph", "passes")}
    assert [len(found) for found in by_part.values()] == [1, 1, 3, 6]
    for row in [*by_part["nystroem"], *by_part["exact"]]:
        assert float(row["accuracy"]) >= 0.85
        assert float(row["difference"]) < 1e-5
        assert 50 < float(row["worker_peak_mb"]) < 3_000
        assert float(row["fit_seconds"]) > 0
    assert by_part["nystroem"][0]["chunks"] == "4"
    # The bar of one exact product at a million rows.
    assert all(row["rows"] == "1000000" and int(row["tasks"]) <= 20_000 for row in by_part["graph"])
    assert {row["landmarks"] for row in by_part["passes"]} == {"250", "500", "1000"}
    assert all("python benchmarks/bench_dask.py --rows 4000" in row["command"] for row in rows)
