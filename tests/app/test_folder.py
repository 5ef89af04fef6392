"""A folder of tables: listed with their state, and nothing outside of it can be opened."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from semikpca.app import Folder, Workspace
from semikpca.app._callbacks import answer

ROWS = "x,y,kind\n" + "\n".join(f"{i % 7}.{i},{4 * (i % 2)}.{i},{'ab'[i % 2] if i < 6 else ''}" for i in range(30))
ASKED = {"client": "tab", "events": [], "shown": None, "marks": None, "dark": False}


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "project"
    (place / "more").mkdir(parents=True)
    (place / "rows.csv").write_text(ROWS, encoding="utf-8")
    (place / "more" / "quoted.tsv").write_text('a\tb\n"two\nlines"\t1\n\n2\t3\n', encoding="utf-8")
    np.save(place / "vectors.npy", np.zeros((12, 3)))
    pd.DataFrame({"a": range(5), "b": 1}).to_parquet(place / "five.parquet")
    (place / "lines.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    (place / "notes.txt").write_text("no table")
    (place / ".hidden.csv").write_text(ROWS)
    (place / "broken.parquet").write_text("no parquet")
    (tmp_path / "secret.csv").write_text(ROWS)
    os.symlink(tmp_path / "secret.csv", place / "link.csv")
    return place


def test_tables_are_listed_with_their_rows_where_these_are_known(folder):
    found = {table.name: table.n_rows for table in Folder(folder).tables}
    assert found == {
        "broken.parquet": None,
        "five.parquet": 5,
        "lines.jsonl": 2,
        "more/quoted.tsv": 2,
        "rows.csv": 30,
        "vectors.npy": 12,
    }


def act(workspace, number, act, value="", **more):
    return workspace.handle("tab", [{"number": number, "act": act, "value": value, **more}]).tab


def test_a_table_is_opened_labeled_and_listed_with_its_labels(folder):
    workspace = Workspace()
    workspace.folder = Folder(folder)
    assert "30 rows" in str(answer(workspace, ASKED, 50)["parts"]["start"])
    act(workspace, 1, "open-file", "rows.csv")
    assert workspace.pending.name == "rows.csv"
    act(workspace, 2, "column", "kind")
    act(workspace, 3, "row", 20)
    act(workspace, 4, "label", 0)
    act(workspace, 5, "list")
    state = {table.name: table for table in workspace.folder.tables}["rows.csv"]
    assert state.n_labels == 7
    assert state.last_visit.tzinfo is not None
    assert "7 labels, last visit" in str(answer(workspace, ASKED, 50)["parts"]["start"])


@pytest.mark.parametrize(
    "name", ["../secret.csv", "link.csv", "notes.txt", ".hidden.csv", "", ".", "more", "/etc/passwd", "rows.csv/../x"]
)
def test_nothing_but_what_is_listed_can_be_opened(folder, name):
    workspace = Workspace()
    workspace.folder = Folder(folder)
    assert "There is no table" in act(workspace, 1, "open-file", name).message.text
    assert workspace.pending is None


def test_an_absolute_path_is_refused(folder, tmp_path):
    workspace = Workspace()
    workspace.folder = Folder(folder)
    assert "There is no table" in act(workspace, 1, "open-file", str(tmp_path / "secret.csv")).message.text


def test_a_file_that_became_a_link_out_of_the_folder_is_refused(folder, tmp_path):
    listed = Folder(folder)
    (folder / "rows.csv").unlink()
    os.symlink(tmp_path / "secret.csv", folder / "rows.csv")
    with pytest.raises(ValueError, match=r"There is no table rows\.csv"):
        listed.file("rows.csv")


def test_without_a_folder_no_file_can_be_opened():
    assert "not started with a folder" in act(Workspace(), 1, "open-file", "rows.csv").message.text


def test_labels_that_cannot_be_read_are_said(folder):
    (folder / ".rows.csv.semikpca-labels.json").write_text("{")
    state = {table.name: table for table in Folder(folder).tables}["rows.csv"]
    assert (state.n_labels, state.problem) == (None, "labels of the last visit cannot be read")
    (folder / ".rows.csv.semikpca-labels.json").write_text(json.dumps({"format": 1, "labels": 3}))
    assert {table.name: table for table in Folder(folder).tables}["rows.csv"].problem
