"""``semikpca label`` as a user runs it: what it writes, what it says, and what it never overwrites."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from commands import COMMAND
from semikpca.tables import read_table
from small_tables import make_plants

LABEL = ("label", "plants.csv", "--label-column", "kind", "--id-column", "plant")


def words(text):
    return " ".join(text.split())


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def labeled(semikpca, plants, tmp_path):
    result = semikpca(*LABEL)
    assert result.exit_code == 0, result.output
    return result


# -- what it writes --------------------------------------------------------------------------------------------


def test_the_table_is_written_beside_the_file_with_four_columns_more(labeled, plants, tmp_path):
    assert files(tmp_path) == ["plants.csv", "plants.labeled.csv"]
    before = pd.read_csv(tmp_path / "plants.csv", dtype=str, keep_default_na=False)
    after = pd.read_csv(tmp_path / "plants.labeled.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(after[before.columns], before)
    assert list(after.columns[-4:]) == ["predicted_label", "confidence", "label_was_given", "looks_wrong"]
    assert (after["predicted_label"].to_numpy() == plants).mean() > 0.9
    assert after["confidence"].astype(float).between(0, 1).all()


@pytest.mark.parametrize("suffix", [".tsv", ".parquet", ".xlsx", ".jsonl"])
def test_the_suffix_of_the_output_says_its_format(suffix, semikpca, plants, tmp_path):
    assert semikpca(*LABEL, "-o", f"all{suffix}").exit_code == 0
    frame = read_table(tmp_path / f"all{suffix}").frame
    assert len(frame) == 90
    assert (frame["predicted_label"].to_numpy() == plants).mean() > 0.9


def test_a_sheet_with_titles_is_labeled_and_named_in_what_to_do_next(semikpca, tmp_path):
    frame, _ = make_plants()
    with pd.ExcelWriter(tmp_path / "plants.xlsx") as book:
        pd.DataFrame({"about": ["these plants"]}).to_excel(book, sheet_name="Notes", index=False)
        frame.to_excel(book, sheet_name="2025", index=False, startrow=3)
    asked = ("label", "plants.xlsx", "-l", "kind", "--id-column", "plant", "--sheet", "2025", "--header-row", 4)
    result = semikpca(*asked)
    assert result.exit_code == 0, result.output
    assert "--sheet 2025 --header-row 4" in words(result.stdout)
    table = read_table(tmp_path / "plants.labeled.xlsx", header_row=4)
    assert table.options["origin"].sheet == "2025"
    assert list(table.frame)[: len(frame.columns)] == list(frame)
    assert "predicted_label" in table.frame


def test_embeddings_get_a_csv_file(semikpca, tmp_path, rng):
    import numpy as np

    group = np.arange(60) % 2
    np.save(tmp_path / "rows.npy", 4.0 * group[:, np.newaxis] + rng.normal(size=(60, 5)))
    pd.DataFrame({"topic": [("a", "b")[g] if row < 12 else "" for row, g in enumerate(group)]}).to_csv(
        tmp_path / "topics.csv", index=False
    )
    result = semikpca("label", "rows.npy", "--labels", "topics.csv", "--label-column", "topic")
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "rows.labeled.csv")
    assert (found["predicted_label"] == np.array(["a", "b"])[group]).mean() > 0.9


# -- what it says ----------------------------------------------------------------------------------------------


def test_the_summary_says_what_was_learned_from_and_how_good_it_is(labeled):
    said = words(labeled.stdout)
    assert "90 rows, 15 with a label, 75 without" in said
    assert "Learned from 3 columns" in said
    for name in ("fern", "moss", "palm"):
        assert f"{name} 5" in said  # labels given
    assert "with the unlabeled rows" in said
    assert "LS-SVM on the labels alone" in said
    assert "95% interval" in said
    assert "The interval is wide, because 15 labels are few" in said
    assert "Convexity certificate" in said
    assert "error weight below" in said
    assert "kernels in the blend" in said
    assert "semikpca audit plants.csv --label-column kind --id-column plant" in said or "No given label" in said
    assert "semikpca suggest plants.csv --label-column kind --id-column plant" in said
    assert "Labels: plants.labeled.csv" in said


def test_one_label_of_each_class_cannot_tell_how_good_it_is(semikpca, tmp_path):
    make_plants(n_labels=3)[0].to_csv(tmp_path / "plants.csv", index=False)
    said = words(semikpca(*LABEL).stdout)
    assert "This cannot be told: every class has one label" in said
    assert "95% interval" not in said


def test_rows_that_no_label_reaches_are_named(semikpca, tmp_path, rng):
    points = rng.normal(size=(60, 2))
    points[40:] += 1000
    frame = pd.DataFrame({"name": [f"N{row}" for row in range(60)], "x": points[:, 0], "y": points[:, 1], "label": ""})
    frame.loc[:9, "label"] = ["a", "b"] * 5
    frame.to_csv(tmp_path / "pieces.csv", index=False)
    result = semikpca("label", "pieces.csv", "-l", "label", "--id-column", "name", "--kernel", "graph")
    assert "No label reaches 20 rows: N40, N41, N42, N43, N44 and 15 more" in words(result.stdout)


def test_an_expert_sets_kernel_weight_and_components(semikpca, plants):
    result = semikpca(*LABEL, "--kernel", "rbf", "-k", 2, "--error-weight", 0.5)
    said = words(result.stdout)
    assert "components removed 2" in said
    assert "(50.0% of the bound)" in said
    assert "kernels in the blend RBF 100%" in said


def test_columns_are_left_out_one_by_one_or_with_commas(semikpca, plants, tmp_path):
    said = words(semikpca(*LABEL, "--exclude", "height,place").stdout)
    assert "Learned from 1 column," in said
    assert words(semikpca(*LABEL, "--exclude", "height", "--exclude", "place", "--force").stdout) == said.replace(
        "--exclude height,place", "--exclude height --exclude place"
    )


def test_control_characters_of_a_cell_do_not_reach_the_terminal(semikpca, tmp_path):
    frame, _ = make_plants()
    frame["kind"] = frame["kind"].replace("moss", "mo\x1b[31mss\x07")
    frame.to_csv(tmp_path / "plants.csv", index=False)
    result = semikpca(*LABEL)
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "\x07" not in result.output


def test_markup_in_names_and_cells_is_printed_as_it_is(semikpca, tmp_path):
    frame, _ = make_plants()
    frame["kind"] = frame["kind"].replace("moss", "[red]moss[/]")
    frame.to_csv(tmp_path / "plants.csv", index=False)
    assert "[red]moss[/]" in semikpca(*LABEL).stdout


# -- what it never overwrites ----------------------------------------------------------------------------------


def test_a_file_that_exists_is_kept_unless_force_is_given(labeled, semikpca, tmp_path):
    (tmp_path / "plants.labeled.csv").write_text("mine")
    result = semikpca(*LABEL)
    assert result.exit_code == 1
    assert "plants.labeled.csv exists already. Add --force" in words(result.stderr)
    assert (tmp_path / "plants.labeled.csv").read_text() == "mine"
    assert semikpca(*LABEL, "--force").exit_code == 0
    assert (tmp_path / "plants.labeled.csv").read_text() != "mine"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "plants.csv", "--force"], "is read: it is never written over"),
        (["-o", "./folder/../plants.csv", "--force"], "is read: it is never written over"),
        (["--save", "plants.csv", "--force"], "is read: it is never written over"),
        (["-o", "x.csv", "--save", "x.csv"], "--save and -o both name x.csv"),
        (["-o", "nowhere/x.csv"], "there is no folder nowhere"),
        (["-o", "folder"], "which is a folder"),
        (["-o", "x.pdf"], ".pdf"),
        (["--kernel", "rfb"], "Did you mean rbf?"),
        (["--error-weight", "1.5"], "between 0 and 1, got 1.5"),
        (["--exclude", "heightt"], "'height'"),
        (["--id-column", "nothing"], "no column 'nothing'"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_written(options, message, semikpca, plants, tmp_path):
    (tmp_path / "folder").mkdir()
    before = (tmp_path / "plants.csv").read_bytes()
    result = semikpca(*LABEL, *options)
    assert result.exit_code == 1
    assert message in words(result.stderr)
    assert files(tmp_path) == ["folder", "plants.csv"]
    assert (tmp_path / "plants.csv").read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_to_is_said(semikpca, plants, tmp_path):
    (tmp_path / "folder").mkdir(mode=0o500)
    result = semikpca(*LABEL, "-o", "folder/x.csv")
    assert result.exit_code == 1
    assert "may not be written to" in words(result.stderr)


def test_a_full_disk_leaves_no_file(semikpca, plants, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    result = semikpca(*LABEL)
    assert result.exit_code == 1
    assert "The disk is full" in result.stderr
    assert files(tmp_path) == ["plants.csv"]


# -- stopped half way ------------------------------------------------------------------------------------------


def test_ctrl_c_while_writing_leaves_no_file(semikpca, plants, tmp_path, monkeypatch):
    def stopped(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", stopped)
    result = semikpca(*LABEL)
    assert result.exit_code == 130
    assert "Stopped." in result.stderr
    assert files(tmp_path) == ["plants.csv"]


@pytest.mark.slow  # a process is started and stopped
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a file that never ends, to be stopped in the middle of")
def test_ctrl_c_in_a_terminal_ends_with_130_and_no_file(tmp_path):
    os.mkfifo(tmp_path / "plants.csv")
    process = subprocess.Popen([*COMMAND, *LABEL], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    writer = _opened_for_writing(tmp_path / "plants.csv")  # works once the command reads
    os.write(writer, b"plant,height\n")
    process.send_signal(signal.SIGINT)
    os.close(writer)  # a signal that comes right before a read is seen after it
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130, messages
    assert "Stopped." in messages
    assert "Traceback" not in messages
    assert files(tmp_path) == ["plants.csv"]


def _opened_for_writing(fifo, seconds=120):
    deadline = time.monotonic() + seconds
    while True:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


KILLED = """
import os, signal
import semikpca.tables
replace = os.replace
os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
from semikpca.cli import main
main()
"""


@pytest.mark.slow  # a process is started and stopped
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_command_leaves_the_old_file_as_it_was(tmp_path):
    make_plants()[0].to_csv(tmp_path / "plants.csv", index=False)
    (tmp_path / "old.csv").write_text("old")
    command = [sys.executable, "-c", KILLED, *LABEL, "-o", "old.csv", "--force"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert finished.returncode == -signal.SIGKILL
    assert (tmp_path / "old.csv").read_text() == "old"


# -- what is missing -------------------------------------------------------------------------------------------


def test_a_missing_package_is_said_with_how_to_install_it(semikpca, plants, monkeypatch):
    monkeypatch.setitem(sys.modules, "semikpca.cli._label", None)
    monkeypatch.setattr("semikpca.cli._app.import_module", _without_skrub)
    result = semikpca(*LABEL)
    assert result.exit_code == 1
    assert "semikpca label needs the package skrub" in result.stderr
    assert "pip install 'semikpca[label]'" in result.stderr


def _without_skrub(name):
    raise ModuleNotFoundError("No module named 'skrub'", name="skrub")


def test_help_lists_every_command_in_its_own_words(semikpca):
    from semikpca.cli._app import COMMANDS, _loaded

    listed = words(semikpca("--help").stdout)
    for name, command in COMMANDS.items():
        assert name in listed
        if name != "paper":  # whose help says more than the list has room for
            assert (_loaded(name).help or "").split("\n")[0].strip() == command.help


@pytest.mark.slow  # all tickets are labeled
def test_the_example_is_written_and_labeled(semikpca, tmp_path):
    result = semikpca("example")
    assert result.exit_code == 0
    command = result.stdout.split("Now try: semikpca ")[1].split()
    said = semikpca(*command)
    assert said.exit_code == 0, said.output
    assert "600 rows, 40 with a label" in said.stdout
    assert semikpca("example").exit_code == 1  # it is there already


@pytest.mark.parametrize("word", ["tab", "\\t"])
def test_a_tab_may_be_spelled_out_and_is_in_the_next_commands(semikpca, tmp_path, word):
    frame, _ = make_plants()
    frame.to_csv(tmp_path / "plants.txt", sep="\t", index=False)
    result = semikpca("label", "plants.txt", "-l", "kind", "--id-column", "plant", "--delimiter", word)
    assert result.exit_code == 0, result.output
    assert "suggest plants.txt --label-column kind --id-column plant --delimiter tab" in result.stdout
