"""``semikpca bench speed`` as a user runs it: small, stopped, resumed, and on bad ground. No time is judged."""

import json
import os
import re
import time

import pytest
from typer.testing import CliRunner

from commands import copied, rows_of, stopped_after_a_record
from semikpca_benchmarks.cli import bench
from semikpca_benchmarks.speed import SpeedSpec

pytestmark = pytest.mark.slow  # every method runs in processes of its own

FAST = ["--quick", "--repetitions", "1"]
SMALLEST = [*FAST, "--works", "product,add labels"]


def run(*arguments):
    return CliRunner().invoke(bench, ["speed", *map(str, arguments)])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("speed") / "out"
    result = run("--out", folder, *FAST)
    assert result.exit_code == 0, result.stderr
    return folder, result


def test_every_method_of_every_cell_is_a_row_with_all_that_is_needed_to_make_it_again(finished):
    rows = rows_of(finished[0] / "results.csv")
    wanted = [
        (cell.work, cell.place, cell.n, method) for cell in SpeedSpec(quick=True).cells() for method in cell.methods
    ]
    assert [(row["work"], row["place"], int(row["n"]), row["method"]) for row in rows] == wanted
    for row in rows:
        assert row["failure"] == ""
        assert float(row["seconds"]) > 0
        assert 0 < float(row["baseline_mb"]) <= float(row["peak_mb"])
        assert row["command"] == "semikpca bench speed --repetitions 1 --quick"
        assert all(
            row[name] for name in ("cores", "backend", "dtype", "n_features", "numpy", "scikit_learn", "semikpca")
        )
        if row["backend"] != "scikit-learn":
            assert float(row["error"]) < 1e-3


def test_ratios_are_those_of_the_seconds(finished):
    rows = rows_of(finished[0] / "results.csv")
    seconds = {(row["work"], row["place"], row["n"], row["method"]): float(row["seconds"]) for row in rows}
    compared = [row for row in rows if row["ratio"]]
    assert {row["work"] for row in compared} == {"fit", "product", "path", "add labels", "automatic"}
    for row in compared:
        ratio = float(row["seconds"]) / seconds[row["work"], row["place"], row["n"], row["reference"]]
        assert float(row["ratio"]) == pytest.approx(ratio, rel=2e-3)  # four digits each


def test_bars_stand_beside_figures_and_are_said_aloud(finished):
    folder, result = finished
    rows = rows_of(folder / "bars.csv")
    assert len(rows) >= 10
    assert {row["met"] for row in rows} == {""}
    for row in rows:
        assert row["what"] in result.stdout
    assert "too small to say" in result.stdout
    assert "report.html" in result.stdout


def test_the_page_needs_nothing_but_itself_and_shows_every_work(finished):
    page = (finished[0] / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    for title in ("What was promised", "Growth", "Path of 100 error weights", "A label added", "One product"):
        assert title in page
    assert "A quick run: sizes are too small to say anything of speed." in page
    assert (finished[0] / "growth.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_run_file_holds_command_and_versions(finished):
    content = json.loads((finished[0] / "run.json").read_text())["content"]
    assert content["command"] == "semikpca bench speed --repetitions 1 --quick"
    assert {"python", "numpy", "scipy", "scikit-learn", "threadpoolctl"} <= set(content["versions"])


def test_the_report_is_rebuilt_from_records_alone(finished, tmp_path):
    folder, _ = finished
    copy = copied(folder, tmp_path / "copy")
    assert run("--out", copy, "--report-only").exit_code == 0
    for name in ("results.csv", "bars.csv", "growth.svg", "report.html"):
        assert (copy / name).read_bytes() == (folder / name).read_bytes()


def test_only_damaged_and_missing_cells_are_run_again(finished, tmp_path):
    copy = copied(finished[0], tmp_path / "copy")
    (copy / "records" / "product-1000.json").unlink()
    damaged = copy / "records" / "add-labels-auto-400.json"
    damaged.write_bytes(damaged.read_bytes()[:60])
    kept = copy / "records" / "fit-800.json"
    before = kept.read_bytes(), kept.stat().st_mtime_ns
    assert run("--out", copy, "--report-only").exit_code == 1
    result = run("--out", copy, *FAST, "--resume")
    assert result.exit_code == 0, result.stderr
    assert "add-labels-auto-400.json is damaged" in result.stderr
    assert (kept.read_bytes(), kept.stat().st_mtime_ns) == before
    assert (copy / "records" / "product-1000.json").exists()


def test_another_run_is_not_resumed(finished, tmp_path):
    copy = copied(finished[0], tmp_path / "copy")
    result = run("--out", copy, *SMALLEST, "--resume")
    assert result.exit_code == 1
    assert "holds records of another run" in result.stderr
    assert "works was" in result.stderr


def test_figures_of_a_gpu_are_shown_where_they_are_given(finished, tmp_path):
    copy = copied(finished[0], tmp_path / "copy")
    columns = "what,kernel,mode,rows,features,columns,seconds,times_chunked,peak_gb,device"
    (tmp_path / "gpu.csv").write_text(f"{columns}\nproduct,RBF(),tf32,1000000,64,16,0.502,22,1.1,<b>GPU</b>\n")
    assert run("--out", copy, "--report-only", "--gpu", tmp_path / "gpu.csv").exit_code == 0
    page = (copy / "report.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;GPU&lt;/b&gt;" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--works", "fits"], "There is no work 'fits' to time; there are fit, product"),
        (["--works", "fit,fit"], "each once"),
        (["--gpu", "nowhere.csv"], "There is no file nowhere.csv"),
        (["--report-only"], "There is no record"),
    ],
)
def test_bad_questions_are_answered_with_a_message(arguments, message, tmp_path):
    result = run("--out", tmp_path / "out", "--quick", *arguments)
    assert result.exit_code == 1
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_a_table_that_is_no_gpu_table_is_named(finished, tmp_path):
    copy = copied(finished[0], tmp_path / "copy")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    result = run("--out", copy, "--report-only", "--gpu", tmp_path / "other.csv")
    assert result.exit_code == 1
    assert "it has no column 'what'" in " ".join(result.stderr.split())


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    result = run("--out", tmp_path / "file", *SMALLEST)
    assert result.exit_code == 1
    assert "choose another with --out" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals as a terminal sends them")
def test_ctrl_c_keeps_what_is_finished_and_leaves_no_process(tmp_path):
    out = tmp_path / "out"
    process, stderr = stopped_after_a_record(out, "bench", "speed", *FAST)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert "finished cells are kept in" in stderr
    assert not _alive(process.pid)
    n_kept = len(list((out / "records").glob("*.json")))
    assert 1 <= n_kept < len(SpeedSpec(quick=True).cells())


def _alive(group, seconds=10):
    """Whether any process of a group is left after a moment."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True
