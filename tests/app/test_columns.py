"""What columns are on the page, what they can be, and what becomes of labels when they are changed."""

import json

import numpy as np
import pandas as pd
import pytest
from plotly.io.json import to_json_plotly

from semikpca.app import Workspace, open_table
from semikpca.app import _panels as panels
from semikpca.app._column_choices import CHOICES, ColumnChoices, place_beside, remembered
from semikpca.app._opening import read_upload
from semikpca.app._workspace import pending_file
from semikpca.tables import ColumnRoles, read_table

N = 60


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))


@pytest.fixture
def file(tmp_path):
    """A table with a column of each kind."""
    rng = np.random.default_rng(1)
    side = np.arange(N) % 2
    words = ["the line is dead", "please send the bill", "a parcel came late", "my contract ends soon"]
    frame = pd.DataFrame(
        {
            "id": [f"N-{row}" for row in range(N)],
            "x": (rng.normal(size=N) + 3 * side).round(3),
            "code": np.arange(N) % 3,
            "day": [f"2024-01-{1 + row % 28:02d}" for row in range(N)],
            "place": np.where(side, "bog", "shore"),
            "note": [f"{words[row % 4]}, says customer number {row} again" for row in range(N)],
            "same": "1",
            "kind": np.where(np.arange(N) < 8, np.where(side, "a", "b"), ""),
        }
    )
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


class Hand:
    """A user in one tab."""

    def __init__(self, file, **options):
        self.workspace, self.number = Workspace(**options), 0
        self.workspace.open(pending_file(file, read_table(file)), "kind")

    def __call__(self, act, value="", **more):
        self.number += 1
        return self.workspace.handle("tab", [{"number": self.number, "act": act, "value": value, **more}]).tab

    def change(self, encoder=None, **columns):
        asked = {"columns": columns} | ({} if encoder is None else {"encoder": encoder})
        return self("columns", json.dumps(asked))

    @property
    def table(self):
        return self.workspace.table

    def kinds(self):
        return {facts.name: facts.kind for facts in self.table.columns}


def labels_of(opened):
    return {row: label for row, label in enumerate(opened.session.given.tolist()) if label is not None}


def test_each_column_is_named_with_its_kind_its_reason_and_a_sample(file):
    hand = Hand(file)
    assert hand.kinds() == {
        "id": "identifier",
        "x": "number",
        "code": "number",
        "day": "date",
        "place": "category",
        "note": "text",
        "same": "left out",
        "kind": "label",
    }
    facts = {each.name: each for each in hand.table.columns}
    assert facts["id"].why == "a value of its own in every row"
    assert facts["place"].why == "2 different values"
    assert facts["same"].why == "the same in every row, or empty"
    assert facts["code"].sample == "0, 1, 2"
    assert [choice for choice, _ in facts["code"].choices] == list(CHOICES)
    assert facts["kind"].choices == ()


def test_a_changed_column_changes_what_the_model_learns_from_and_keeps_all_labels(file):
    hand = Hand(file)
    hand("row", 20)
    hand("label", 0)
    hand("add-class", "c")
    hand("row", 31)
    hand("label", 2)
    hand("middle")
    before, numbers = labels_of(hand.table), hand.table.session.X
    assert len(before) == 10

    tab = hand.change(code="category", place="text", x="left out")

    assert tab.message.kind == "note"
    assert (hand.kinds()["code"], hand.kinds()["place"], hand.kinds()["x"]) == ("category", "text", "left out")
    assert labels_of(hand.table) == before
    assert "c" in hand.table.session.snapshot().classes
    assert hand.table.session.X.shape != numbers.shape
    # The same as if the command line had said so.
    roles = ColumnRoles("kind", text=("place",), category=("code",), exclude=("x",))
    fresh = open_table(read_table(file), roles, name="rows.csv", place="state folder", choices=ColumnChoices())
    np.testing.assert_array_equal(hand.table.session.X, fresh.session.X)
    # Nothing that was given is undone by a step back, and the next label is saved beside the others.
    hand("undo")
    assert labels_of(hand.table) == before
    hand("row", 40)
    hand("label", 1)
    assert len(hand.table.session.autosave.load(N).labels) == 11


def test_labels_that_are_offered_are_offered_still_and_not_put_on_rows(file):
    first = Hand(file)
    first("row", 20)
    first("label", 0)
    again = Hand(file)
    assert again.workspace.offer is not None
    again.change(code="category")
    assert len(labels_of(again.table)) == 8
    assert len(again.workspace.offer.labels) == 9
    again("take-up")
    assert len(labels_of(again.table)) == 9


def test_labels_that_were_refused_are_not_offered_again_by_a_change(file):
    first = Hand(file)
    first("row", 20)
    first("label", 0)
    again = Hand(file)
    again("start-over")
    again.change(code="category")
    assert again.workspace.offer is None
    assert len(labels_of(again.table)) == 8


def test_choices_are_there_at_the_next_visit_and_the_command_line_goes_before_them(file):
    Hand(file).change(code="category", note="left out")
    place = file.with_name(".rows.csv.semikpca-columns.json")
    assert remembered(place).kinds == {"code": "category", "note": "left out"}
    assert Hand(file).kinds()["code"] == "category"
    assert Hand(file).kinds()["note"] == "left out"
    said = Hand(file, roles=lambda label: ColumnRoles(label, text=("code",)))
    assert (said.kinds()["code"], said.kinds()["note"]) == ("text", "left out")


def test_a_column_goes_back_to_what_it_was_found_to_be(file):
    hand = Hand(file)
    hand.change(code="category", id="found")
    assert (hand.kinds()["code"], hand.kinds()["id"]) == ("category", "text")
    hand.change(code="found", id="identifier")
    assert (hand.kinds()["code"], hand.kinds()["id"]) == ("number", "identifier")
    assert hand.table.roles.id == "id"
    hand.change(day="identifier")
    assert hand.table.roles.id == "day"
    assert hand.kinds()["id"] == "left out"


def test_the_text_encoder_is_changed_there(file):
    hand = Hand(file)
    hand.change(encoder="ngrams")
    assert hand.table.roles.text_encoder == "ngrams"
    assert "Text was read by its letters." in said_of_columns(hand)
    assert Hand(file).table.roles.text_encoder == "ngrams"


def said_of_columns(hand):
    assert panels.parts(hand.workspace, hand.workspace.tab("tab"))["columns"] == []  # nobody looks yet
    hand.workspace.tab("tab").is_choosing = True
    said = to_json_plotly(panels.parts(hand.workspace, hand.workspace.tab("tab"))["columns"])
    hand.workspace.tab("tab").is_choosing = False
    return said


def test_what_was_learned_from_follows_the_columns(file):
    hand = Hand(file)
    assert "numbers: x, code; dates: day; categories: place; text: note" in said_of_columns(hand)
    assert hand.table.learned().what_matters in said_of_columns(hand)
    hand.change(code="left out")
    assert "numbers: x; dates: day" in said_of_columns(hand)


def test_a_change_that_cannot_be_leaves_the_table_and_says_so_in_the_dialog(file):
    hand = Hand(file)
    before = hand.table
    tab = hand.change(**dict.fromkeys(("x", "code", "day", "place", "note"), "left out"))
    assert hand.table is before
    assert tab.message.where == "columns"
    assert tab.message.text == "No column varies, so there is nothing to learn from: 'same'."
    assert "columns-problem" in said_of_columns(hand)
    assert not remembered(place_beside(before.session.autosave.path)).kinds


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ("nothing", "an object of names"),
        ('{"columns": {"nix": "text"}}', "no column 'nix'"),
        ('{"columns": {"x": "vector"}}', "'x' cannot be 'vector'"),
        ('{"columns": {"kind": "text"}}', "'kind' cannot be 'text'"),
        ('{"columns": {"x": ["text"]}}', "cannot be"),
        ('{"encoder": "nix"}', "no text encoder 'nix'"),
        ("[]", "an object of names"),
    ],
)
def test_what_no_page_asks_for_is_refused(file, asked, problem):
    tab = Hand(file)("columns", asked)
    assert tab.message.kind == "error"
    assert problem in tab.message.text


def test_vectors_are_learned_from_or_left_out(tmp_path, rng):
    np.save(tmp_path / "rows.npy", rng.normal(size=(40, 5)).astype(np.float32))
    table = read_table(tmp_path / "rows.npy")
    workspace = Workspace()
    workspace.ask_for_column(pending_file(tmp_path / "rows.npy", table))
    workspace.handle("tab", [{"number": 1, "act": "column", "value": "label", "new": "1"}])
    vector = next(facts for facts in workspace.table.columns if facts.kind == "vector")
    assert [choice for choice, _ in vector.choices] == ["found", "left out"]
    assert vector.why == "a list of 5 numbers in every row"


@pytest.mark.parametrize(
    "content", ["", "[]", '{"format": 2}', '{"format": 1, "columns": {"x": "no"}, "text_encoder": null}']
)
def test_a_damaged_file_of_choices_is_none(tmp_path, content):
    (tmp_path / "choices.json").write_text(content, encoding="utf-8")
    assert remembered(tmp_path / "choices.json") == ColumnChoices()


def test_choices_of_columns_that_are_gone_do_not_count(file):
    table = read_upload("rows.csv", b"a,b,kind\n1,2,x\n3,4,y\n5,7,\n").table
    roles = ColumnChoices({"gone": "text", "a": "left out", "kind": "text"}).applied_to(ColumnRoles("kind"), table)
    assert (roles.text, roles.exclude) == ((), ("a",))
