"""``semikpca paper`` as a user runs it: in a process of its own, killed, resumed, and on bad ground."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commands import COMMAND, changed_at, copied, rows_of, stopped_after_a_record
from semikpca.cli._app import app
from semikpca.experiments import paper_values

pytestmark = pytest.mark.slow  # whole runs of the command, some of them stopped half way

SMALL = ["--datasets", "iris,synth", "--repetitions", "2", "--seed", "3"]
TABLES = ("table1.csv", "table2.csv", "curves.csv")


def run(*arguments, **options):
    return subprocess.run(
        [*COMMAND, "paper", *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False, **options
    )


def tables(folder):
    return {name: (folder / name).read_bytes() for name in TABLES}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper") / "out"
    result = run("--out", folder, *SMALL, "--jobs", 1)
    assert result.returncode == 0, result.stderr
    return folder, result


def test_the_command_writes_tables_figures_and_report(finished):
    folder, result = finished
    for name in (*TABLES, "report.html", "run.json"):
        assert (folder / name).stat().st_size > 0
    names = {path.name for path in (folder / "figures").iterdir()}
    expected = {"surfaces", "schemes", *(f"curves-iris-{n}" for n in (2, 3, 8, 15)), "curves-synth-4"}
    assert {f"{stem}.{ending}" for stem in expected for ending in ("svg", "png")} <= names
    assert "within 2 standard errors" in result.stdout
    assert "report.html" in result.stdout


def test_table_2_has_the_columns_of_the_printed_one_and_then_the_comparison(finished):
    folder, _ = finished
    rows = rows_of(folder / "table2.csv")
    columns = "dataset n_labeled gamma_choice model accuracy_mean accuracy_std paper_mean paper_std z"
    assert list(rows[0]) == columns.split()
    assert len(rows) == 8 * 2 * 4
    printed = [row for row in rows if row["paper_mean"]]
    assert len(printed) == 8 * 2 * 3
    for row in printed:
        key = (row["dataset"], int(row["n_labeled"]), row["gamma_choice"], row["model"])
        assert float(row["paper_mean"]) == paper_values()[key].mean


def test_two_processes_give_the_same_bytes_as_one(finished, tmp_path):
    folder, _ = finished
    assert run("--out", tmp_path / "two", *SMALL, "--jobs", 2).returncode == 0
    assert tables(tmp_path / "two") == tables(folder)


def test_a_killed_run_goes_on_with_resume_and_gives_the_same_bytes(finished, tmp_path):
    folder, _ = finished
    out = tmp_path / "killed"
    stopped_after_a_record(out, "paper", *SMALL, "--jobs", "1", stop=signal.SIGKILL)
    kept = changed_at(out)
    assert kept
    result = run("--out", out, *SMALL, "--resume")
    assert result.returncode == 0, result.stderr
    assert tables(out) == tables(folder)
    assert kept.items() <= changed_at(out).items()  # not computed again


def test_the_report_is_rebuilt_from_records_alone(finished, tmp_path):
    folder, _ = finished
    copy = copied(folder, tmp_path / "copy")
    assert run("--out", copy, "--report-only").returncode == 0
    assert tables(copy) == tables(folder)
    assert (copy / "report.html").read_bytes() == (folder / "report.html").read_bytes()


def test_a_half_written_record_is_said_and_computed_again(finished, tmp_path):
    folder, _ = finished
    copy = copied(folder, tmp_path / "copy")
    record = copy / "records" / "iris-2.json"
    record.write_bytes(record.read_bytes()[:100])
    only_report = run("--out", copy, "--report-only")
    assert only_report.returncode == 1
    assert "iris-2.json is damaged" in only_report.stderr
    resumed = run("--out", copy, *SMALL, "--resume")
    assert resumed.returncode == 0
    assert "Computed again" in resumed.stderr
    assert tables(copy) == tables(folder)


def test_a_wrong_data_set_name_is_refused_with_the_known_ones(tmp_path):
    result = run("--out", tmp_path / "out", "--datasets", "iriss")
    assert result.returncode == 1
    assert "no data set 'iriss'" in result.stderr
    assert "monk-2" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = run("--out", tmp_path / "file" / "out", *SMALL)
    assert result.returncode == 1
    assert "--out" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unwritable_folder_is_said_with_what_to_do(tmp_path, monkeypatch):
    def denied(*arguments, **options):
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(Path, "mkdir", denied)  # root may write anywhere, so the refusal is played
    result = CliRunner().invoke(app, ["paper", "--out", str(tmp_path / "out"), *SMALL])
    assert result.exit_code == 1
    assert "cannot be written to (choose another with --out)" in result.stderr


def test_a_full_disk_keeps_the_finished_cells(tmp_path, monkeypatch):
    real_fsync, calls = os.fsync, []

    def full_after_three(descriptor):
        calls.append(descriptor)
        if len(calls) > 6:  # each write has two: of the file, and of its folder
            raise OSError(28, "No space left on device")
        real_fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full_after_three)
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["paper", "--out", str(out), *SMALL, "--jobs", "1"])
    assert result.exit_code == 1
    assert "The disk is full" in result.stderr
    assert "2 finished cells are kept" in result.stderr  # the first write is run.json
    monkeypatch.undo()
    assert CliRunner().invoke(app, ["paper", "--out", str(out), *SMALL, "--resume", "--jobs", "1"]).exit_code == 0


def test_resuming_with_other_options_is_refused(finished):
    folder, _ = finished
    result = run("--out", folder, "--datasets", "iris", "--repetitions", 2, "--seed", 4, "--resume")
    assert result.returncode == 1
    assert "seed was 3, now 4" in result.stderr


def test_report_only_without_records_says_so(tmp_path):
    result = run("--out", tmp_path / "nothing", "--report-only")
    assert result.returncode == 1
    assert "There is no record" in result.stderr


def test_interrupting_says_what_is_kept(tmp_path):
    out = tmp_path / "out"
    process, errors = stopped_after_a_record(out, "paper", "--repetitions", "50", "--jobs", "2")
    assert process.returncode == 130, errors
    assert "finished cells are kept" in errors
