"""Labels to other programs and back: what is written is read again, and a bad record is named."""

import json

import pandas as pd
import pytest

from semikpca.exceptions import TableError
from semikpca.tables import ColumnRoles, read_table
from semikpca.workflow import labels_from_csv, labels_from_label_studio, labels_to_csv, labels_to_label_studio

ODD = ["spam", "a;b", 'say "no"', "a,b", "=1+1", "'quoted", "n/a", "0", "007", "ä\u2028ö", "two\nlines", "<b>"]
BY_NUMBER, BY_ID = ColumnRoles("kind"), ColumnRoles("kind", id="name")


def make_table(names=None):
    n_rows = len(ODD)
    frame = pd.DataFrame({"name": names or [f"r-{row}" for row in range(n_rows)], "x": range(n_rows), "kind": ""})
    return read_table("rows.csv", content=frame.to_csv(index=False).encode())


LABELS = {row: label for row, label in enumerate(ODD) if row != 3}


@pytest.mark.parametrize("roles", [BY_NUMBER, BY_ID])
def test_two_columns_are_read_again(roles):
    table = make_table()
    content = labels_to_csv(table, roles, LABELS)
    assert content.decode().splitlines()[0] == f"{roles.id or 'row'},kind"
    found = labels_from_csv(content, table, roles)
    assert (found.labels, found.accepted) == (LABELS, {})


def test_numbers_of_rows_are_known_by_their_heading_though_rows_have_names():
    table = make_table()
    found = labels_from_csv(labels_to_csv(table, BY_NUMBER, {2: "a"}), table, BY_ID)
    assert found.labels == {2: "a"}


@pytest.mark.parametrize("roles", [BY_NUMBER, BY_ID])
def test_tasks_of_label_studio_are_read_again_with_what_was_accepted_apart(roles):
    table = make_table()
    content = labels_to_label_studio(table, roles, LABELS, {3: "spam"})
    tasks = json.loads(content)
    assert len(tasks) == len(ODD)
    assert tasks[0] == {
        "data": {"name": "r-0", "x": "0", "semikpca_row": 1},
        "annotations": [
            {"result": [{"from_name": "label", "to_name": "row", "type": "choices", "value": {"choices": ["spam"]}}]}
        ],
        "predictions": [],
    }
    assert [len(task["predictions"]) for task in tasks].count(1) == 1
    found = labels_from_label_studio(content, table, roles)
    assert (found.labels, found.accepted) == (LABELS, {3: "spam"})


def task(label="spam", **more):
    """What Label Studio exports for a row, as its documentation shows it."""
    result = [
        {"id": "Dx_aB91ISN", "from_name": "q", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
    ]
    annotation = {"id": 1001, "result": result, "was_cancelled": False, "ground_truth": False, "completed_by": 10}
    return {"id": 7, "data": {"name": "r-4"}, "annotations": [annotation], "predictions": [], "project": 83, **more}


def read(*tasks, roles=BY_ID, table=None):
    return labels_from_label_studio(json.dumps(tasks).encode(), table or make_table(), roles)


def test_an_export_of_a_project_of_ones_own_is_matched_by_its_ids():
    assert read(task()).labels == {4: "spam"}


def test_what_was_skipped_does_not_count_and_ground_truth_decides():
    first, second = task("spam")["annotations"], task("ham")["annotations"]
    skipped = {**second[0], "was_cancelled": True}
    assert read(task(annotations=[*first, skipped])).labels == {4: "spam"}
    assert read(task(annotations=[*first, *first])).labels == {4: "spam"}
    truth = {**second[0], "ground_truth": True}
    assert read(task(annotations=[*first, truth])).labels == {4: "ham"}
    assert read(task(annotations=[])).labels == {}
    assert read(task(annotations=[skipped])).labels == {}


def test_predictions_of_other_models_are_no_labels():
    guess = {"model_version": "another", "result": task()["annotations"][0]["result"]}
    found = read(task(annotations=[], predictions=[guess]))
    assert (found.labels, found.accepted) == ({}, {})


def choices(*values, question="q"):
    return {"from_name": question, "to_name": "text", "type": "choices", "value": {"choices": list(values)}}


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ([{"id": 3, "name": "r-4", "q": "spam"}], r"Task 1 \(id 3\): it needs data and annotations.*JSON-MIN"),
        ([task(), task(data={"name": "stranger"})], r"Task 2 \(id 7\): no row of the table has 'stranger' in 'name'"),
        ([task(data={})], "Task 1 .*no semikpca_row nor name"),
        ([task(data={"semikpca_row": 99})], "Task 1 .*row 99 of 12"),
        ([task(data={"semikpca_row": True})], "Task 1 .*row True of 12"),
        ([task(data={"name": "r-4", "semikpca_row": 1})], "Task 1 .*says row 1, and its name is that of row 5"),
        ([task(annotations=3)], "Task 1 .*must be a list"),
        ([task(annotations=[{"result": [choices("a", "b")]}])], r"Task 1 .*\['a', 'b'\], and a row has one label"),
        ([task(annotations=[{"result": [choices(["a", "b"])]}])], "Task 1 .*one label"),
        ([task(annotations=[{"result": [{"type": "choices", "value": {}}]}])], "Task 1 .*without a list of choices"),
        ([task(annotations=[{"result": [choices("a"), choices("b", question="p")]}])], "Task 1 .*2 questions"),
        ([task(annotations=[{"result": [{"type": "labels", "value": {}}]}])], "Task 1 .*no choice"),
        ([task(annotations=[*task("a")["annotations"], *task("b")["annotations"]])], r"Task 1 .*differ \(a, b\)"),
        ([task("a"), task("b")], r"Task 2 .*row 5 has the label 'a' in an earlier one, and 'b' here"),
    ],
)
def test_a_task_that_cannot_be_used_is_named(tasks, words):
    with pytest.raises(TableError, match=words):
        read(*tasks)


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_export_is_refused(content):
    with pytest.raises(TableError, match=r"no JSON|list of tasks"):
        labels_from_label_studio(content, make_table(), BY_ID)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,kind\nr-1,a\nstranger,b\n", "Line 3 of the file: no row of the table has 'stranger' in 'name'"),
        ("name,kind\nr-1,a\nr-1,b\n", "Line 3 of the file: row 2 has the label 'a' in an earlier one, and 'b' here"),
        ("name,kind,more\nr-1,a,b\n", "3 columns, and needs two"),
        ("row,kind\n0,a\n", "Line 2 of the file: no row of the table has the number '0'"),
        ("row,kind\none,a\n", "no row of the table has the number 'one'"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(text, words):
    with pytest.raises(TableError, match=words):
        labels_from_csv(text.encode(), make_table(), BY_ID)


def test_lines_without_a_label_are_passed_over():
    assert labels_from_csv(b"name,kind\nr-1,\nr-2, b \n", make_table(), BY_ID).labels == {2: "b"}


def test_names_that_several_rows_have_are_refused():
    table = make_table(["same", *(f"r-{row}" for row in range(2, len(ODD))), "same"])
    with pytest.raises(TableError, match="2 rows of the table have 'same'"):
        labels_from_csv(b"name,kind\nsame,a\n", table, BY_ID)
    assert labels_from_csv(b"row,kind\n1,a\n", table, BY_ID).labels == {0: "a"}
