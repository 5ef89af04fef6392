"""``semikpca bench accuracy --data`` as a user runs it: options, groups, changed files, and what is refused."""

import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from commands import changed_at, copied, rows_of
from semikpca_benchmarks.cli import bench

pytestmark = pytest.mark.slow  # whole runs of the command

FAST = ["--methods", "nearest neighbor,logistic regression", "--repetitions", "2"]


def run(*arguments):
    return CliRunner().invoke(bench, ["accuracy", *map(str, arguments), "--jobs", "1"])


def write_set(folder, name, n_rows, class_sizes, seed=0, scale=1.0):
    generator = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(class_sizes)), class_sizes)
    X = scale * (y[:, np.newaxis] + generator.normal(size=(len(y), 3)))
    np.savez_compressed(folder / f"{name}.npz", X=X.astype(np.float32), y=np.array(["ham", "spam", "other"])[y])
    assert len(y) == n_rows


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "sets"
    folder.mkdir()
    write_set(folder, "mails", 90, (30, 60))
    write_set(folder, "news-short", 100, (90, 10), seed=1)
    write_set(folder, "news-long", 200, (100, 60, 40), seed=2, scale=100.0)
    (folder / "groups.json").write_text(json.dumps({"news": ["news-*"]}))
    return folder


@pytest.fixture(scope="module")
def finished(sets, tmp_path_factory):
    out = tmp_path_factory.mktemp("bench") / "out"
    result = run("--out", out, "--data", sets, "--group", "all-text=mails,news-*", *FAST)
    assert result.exit_code == 0, result.stderr
    return out, result


def test_the_sets_of_the_folder_are_run_and_no_others(finished):
    out, _ = finished
    rows = rows_of(out / "results.csv")
    assert {row["dataset"] for row in rows} == {"mails", "news-short", "news-long"}
    counts = {(row["dataset"], row["labels"], row["n_labeled"]) for row in rows}
    assert {count for count in counts if count[0] == "news-short"} == {
        ("news-short", "1", "2"), ("news-short", "2", "4"), ("news-short", "5", "10"), ("news-short", "10", "16"),
    }  # fmt: skip
    assert {row["n_rare_classes"] for row in rows if row["dataset"] == "news-short"} == {"1"}


def test_groups_of_the_file_and_of_the_option_are_summarized_as_a_whole_and_by_labels(finished):
    out, _ = finished
    summary = rows_of(out / "summary.csv")
    groups = {row["group"]: int(row["n_cells"]) for row in summary}
    assert groups["folder"] == groups["all-text"] == groups["all"] == 12
    assert (groups["news"], groups["news 1"], groups["all 1 and 2"]) == (8, 2, 6)
    by_name = {(row["group"], row["method"]): row for row in summary}
    expected = np.mean(
        [
            float(row["accuracy_mean"])
            for row in rows_of(out / "results.csv")
            if row["labels"] in ("1", "2") and row["method"] == "nearest neighbor"
        ]
    )
    found = by_name["all 1 and 2", "nearest neighbor"]
    assert float(found["accuracy_mean"]) == pytest.approx(expected, abs=1e-4)
    assert (found["collection"], found["labels"]) == ("all", "1 and 2")
    assert by_name["news", "logistic regression"]["calibration_error_mean"]
    assert not by_name["news", "nearest neighbor"]["calibration_error_mean"]


def test_the_run_file_holds_checksums_and_a_command_that_gives_the_same_tables(finished, sets, tmp_path):
    out, _ = finished
    content = json.loads((out / "run.json").read_text())["content"]
    assert [len(info["sha256"]) for info in content["spec"]["folder"]["sets"]] == [64] * 3
    command = content["command"]
    assert f"--data {sets}" in command
    assert "--group 'all-text=mails,news-*'" in command
    again = run("--out", tmp_path / "again", *shlex.split(command)[3:])
    assert again.exit_code == 0, again.stderr
    for name in ("results.csv", "summary.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()


def test_scaling_is_told_and_can_be_overruled(finished, sets, tmp_path):
    out, _ = finished
    assert "standardized" in (out / "report.html").read_text()
    options = ["--as-is", "news-*", "--datasets", "news-long,mails", "--labels-per-class", "2"]
    assert run("--out", tmp_path / "out", "--data", sets, *options, *FAST).exit_code == 0
    infos = json.loads((tmp_path / "out" / "run.json").read_text())["content"]["spec"]["folder"]["sets"]
    assert {info["name"]: info["scaling"] for info in infos} == {"news-long": "none", "mails": "standardize"}
    assert {row["labels"] for row in rows_of(tmp_path / "out" / "results.csv")} == {"2"}


def test_a_set_of_many_rows_is_cut(sets, tmp_path):
    options = ["--most-rows", "80", "--datasets", "news-long", "--labels-per-class", "1"]
    assert run("--out", tmp_path / "out", "--data", sets, *options, *FAST).exit_code == 0
    assert {row["n_samples"] for row in rows_of(tmp_path / "out" / "results.csv")} == {"80"}


def test_other_sets_are_run_where_they_are_named(sets, tmp_path):
    assert run("--out", tmp_path / "out", "--data", sets, "--datasets", "iris,news", *FAST).exit_code == 0
    groups = {row["group"] for row in rows_of(tmp_path / "out" / "summary.csv")}
    assert {"paper", "paper 1%", "folder", "news", "news 10", "all 1 and 2"} <= groups
    assert "all-text" not in groups


def test_cells_of_a_changed_file_are_computed_again_and_all_others_kept(finished, sets, tmp_path):
    out, _ = finished
    data, copy = Path(shutil.copytree(sets, tmp_path / "sets")), copied(out, tmp_path / "out")
    options = ["--out", copy, "--data", data, "--group", "all-text=mails,news-*", *FAST, "--resume"]
    before = changed_at(copy)
    assert run(*options).exit_code == 0
    assert changed_at(copy) == before  # another place of the same files changes nothing
    write_set(data, "mails", 90, (30, 60), seed=9)
    assert run("--out", copy, "--report-only").exit_code == 0  # needs no data
    result = run(*options)
    assert result.exit_code == 0, result.stderr
    words = " ".join(result.stderr.split())
    assert "mails-1.json is of other data (SHA-256" in words
    assert "news" not in words
    after = changed_at(copy)
    assert {name for name in before if after[name] != before[name]} == {f"mails-{n}.json" for n in (1, 2, 5, 10)}
    fresh = run("--out", tmp_path / "fresh", "--data", data, "--group", "all-text=mails,news-*", *FAST)
    assert fresh.exit_code == 0
    assert (tmp_path / "fresh" / "results.csv").read_bytes() == (copy / "results.csv").read_bytes()


def test_other_groups_need_no_new_fits(finished, sets, tmp_path):
    out, _ = finished
    copy = copied(out, tmp_path / "out")
    before = changed_at(copy)
    assert run("--out", copy, "--data", sets, "--group", "post=mails", *FAST, "--resume").exit_code == 0
    assert changed_at(copy) == before
    assert {"post", "post 1", "news"} <= {row["group"] for row in rows_of(copy / "summary.csv")}


def test_a_set_that_is_too_small_for_all_counts_is_told(sets, tmp_path):
    data = Path(shutil.copytree(sets, tmp_path / "sets"))
    write_set(data, "tiny", 6, (3, 3))
    options = ["--labels-per-class", "5", "--datasets", "tiny,mails", *FAST]
    result = run("--out", tmp_path / "out", "--data", data, *options)
    assert result.exit_code == 0, result.stderr
    assert "No cell of tiny:" in " ".join(result.stdout.split())
    assert {row["dataset"] for row in rows_of(tmp_path / "out" / "results.csv")} == {"mails"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--labels-per-class", "1,x"], "--labels-per-class takes whole numbers from 1 on.*got '1,x'"),
        (["--labels-per-class", "0"], "--labels-per-class takes whole numbers from 1 on"),
        (["--labels-per-class", "90"], "leaves nothing to run"),
        (["--datasets", "iris"], "--datasets names no set of .*Name one of mails, news-long, news-short"),
        (["--datasets", "mail"], "no data set 'mail'; .*the folder has mails"),
        (["--standardize", "x*"], "--standardize: no set of the folder is named"),
        (["--group", "paper=mails"], "'paper' cannot be the name of a group"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_written(sets, tmp_path, options, message):
    result = run("--out", tmp_path / "out", "--data", sets, *options, *FAST)
    assert result.exit_code == 1
    assert re.search(message, " ".join(result.stderr.split()))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--labels-per-class", "--most-rows", "--standardize", "--as-is", "--group"])
def test_options_on_a_folder_need_one(tmp_path, option):
    result = run("--out", tmp_path / "out", option, "5", "--datasets", "iris")
    assert result.exit_code == 1
    assert f"{option} is about sets of your own: give their folder with --data too" in " ".join(result.stderr.split())


def test_a_broken_file_is_named(sets, tmp_path):
    data = Path(shutil.copytree(sets, tmp_path / "sets"))
    (data / "mails.npz").write_bytes(b"no archive")
    result = run("--out", tmp_path / "out", "--data", data, *FAST)
    assert result.exit_code == 1
    assert "mails.npz is no .npz file" in " ".join(result.stderr.split())
