"""A table of numbers on the page: how it is opened, what each action does, and what is downloaded."""

import json
from base64 import b64decode
from dataclasses import replace
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import pytest
from plotly.io.json import to_json_plotly

from semikpca.app import Workspace
from semikpca.app import _panels as panels
from semikpca.app._callbacks import answer
from semikpca.app._exchange import exported, import_labels
from semikpca.app._figure import changed_labels, map_figure
from semikpca.app._number_session import NumberSession
from semikpca.app._opening import Pending, open_table, read_upload
from semikpca.app._server import make_app
from semikpca.app._session import LabelingSession
from semikpca.app._snapshot import Doubt
from semikpca.app._table_view import block, columns
from semikpca.tables import CLASSES, NUMBERS, ColumnRoles, read_table
from semikpca.workflow import number_table

N_ROWS, N_GIVEN = 40, 14
QUERY = {
    "search": "",
    "given": "",
    "predicted": "",
    "low": 0,
    "high": 100,
    "wrong": False,
    "flagged": False,
    "sort": [],
}


def make_table(comma=False):
    numbers = np.random.default_rng(1).standard_normal((N_ROWS, 2)).round(3)
    prices = (100 + 30 * numbers[:, 0] - 9 * numbers[:, 1]).round(2)
    cells = [f"{price:.2f}" if row < N_GIVEN else "" for row, price in enumerate(prices)]
    frame = pd.DataFrame({"x": numbers[:, 0], "y": numbers[:, 1], "grade": np.arange(N_ROWS) % 4, "price": cells})
    if comma:
        frame = frame.astype(str).map(lambda cell: cell.replace(".", ","))
    return frame.to_csv(index=False, sep=";" if comma else ",").encode()


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))


class Hand:
    """A user in one tab."""

    def __init__(self, workspace):
        self.workspace, self.number = workspace, 0

    def __call__(self, act, value="", **more):
        self.number += 1
        return self.workspace.handle("tab", [{"number": self.number, "act": act, "value": value, **more}]).tab

    @property
    def session(self):
        return self.workspace.table.session

    def shown(self, name):
        tab = self.workspace.tab("tab")
        return to_json_plotly(panels.parts(self.workspace, tab)[name])


def opened(content=None, **roles):
    table = read_upload("rows.csv", make_table() if content is None else content).table
    return open_table(table, ColumnRoles("price", **roles), name="rows.csv", place="state folder")


@pytest.fixture
def hand():
    workspace = Workspace()
    workspace.show(opened())
    return Hand(workspace)


# -- classes or numbers ------------------------------------------------------------------------------------------------


def test_what_a_column_is_decides_on_the_session():
    table = opened()
    assert isinstance(table.session, NumberSession)
    assert any("is taken as numbers" in note for note in table.notes)
    other = opened(labels_as=CLASSES)
    assert type(other.session) is LabelingSession
    assert len(other.session.snapshot().classes) == N_GIVEN


def test_the_question_says_for_each_column_what_it_would_be_taken_for():
    workspace = Workspace()
    workspace.ask_for_column(Pending(read_upload("rows.csv", make_table()).table, "rows.csv", "state folder"))
    said = to_json_plotly(panels.start(workspace, 50, workspace.tab("tab")))
    assert f"Taken as numbers: {N_GIVEN} different ones, with fractions" in said
    assert "Taken as classes: 4 different whole numbers" in said
    assert "Open as classes" in said
    assert "--" not in said


@pytest.mark.parametrize(("column", "kind"), [("price", CLASSES), ("grade", NUMBERS), ("price", NUMBERS)])
def test_a_column_is_opened_as_the_user_says_and_so_again(tmp_path, column, kind):
    path = tmp_path / "rows.csv"
    path.write_bytes(make_table())

    def start(**event):
        workspace = Workspace()
        workspace.ask_for_column(Pending(read_table(path), path.name, "beside the file"))
        hand = Hand(workspace)
        hand("column", column, **event)
        return workspace.table

    assert start(name=kind).kind.name == kind
    assert start().kind.name == kind  # remembered


def test_the_command_line_goes_before_what_was_remembered(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(make_table())
    pending = Pending(read_table(path), path.name, "beside the file", labels_as=NUMBERS)
    Workspace().open(pending, "grade")
    workspace = Workspace(roles=lambda label: ColumnRoles(label, labels_as=CLASSES))
    workspace.open(Pending(read_table(path), path.name, "beside the file"), "grade")
    assert workspace.table.kind.name == CLASSES


def test_a_new_column_can_be_for_numbers():
    workspace = Workspace()
    workspace.ask_for_column(Pending(read_upload("rows.csv", make_table()).table, "rows.csv", "state folder"))
    hand = Hand(workspace)
    hand("column", "", new="1", name=NUMBERS)
    assert hand.workspace.table.roles.label == "label"
    for row, value in ((1, "5"), (2, "7,5")):
        hand("row", row)
        hand("number", value)
    assert hand.session.snapshot().has_predictions


# -- what is typed -----------------------------------------------------------------------------------------------------


def test_a_number_goes_to_the_selected_row_and_the_next_of_the_queue_comes(hand):
    first = hand("step", 1).selected
    tab = hand("number", "123,5")
    assert tab.message is None
    assert hand.session.given[first[0]] == 123.5
    assert tab.selected != first
    assert len(tab.selected) == 1


def test_a_row_picked_by_hand_stays_in_view(hand):
    hand("row", 30)
    assert hand("number", "50").selected == [30]


def test_what_is_no_number_is_said_beside_the_field_and_changes_nothing(hand):
    hand("row", 30)
    tab = hand("number", "12x")
    assert tab.message.where == "number"
    assert "is no number" in hand.shown("detail")
    assert "is no number" not in hand.shown("banners")
    assert tab.selected == [30]
    assert hand.session.given[30] is None


def test_without_a_row_it_is_said_where_one_looks(hand):
    hand("number", "12")
    assert "No row is selected" in hand.shown("detail")


def test_several_rows_get_the_same_number_and_lose_it_in_one_step(hand):
    hand("rows", points=[20, 21])
    assert "2 rows" in hand.shown("detail")
    hand("number", "7")
    assert hand.session.given[[20, 21]].tolist() == [7.0, 7.0]
    hand("undo")
    assert hand.session.given[[20, 21]].tolist() == [None, None]


@pytest.mark.parametrize("act", ["label", "brush"])
def test_keys_of_classes_give_nothing_here(hand, act):
    hand("row", 30)
    assert "There are 0 classes" in hand(act, 0).message.text
    assert hand("add-class", "a").message.kind == "error"
    assert hand.session.given[30] is None


def test_numbers_cannot_be_given_where_labels_are_classes():
    workspace = Workspace()
    workspace.show(opened(labels_as=CLASSES))
    hand = Hand(workspace)
    hand("row", 30)
    assert "There is no class" in hand("number", "12").message.text


def test_there_is_nothing_to_review(hand):
    assert "There is no queue" in hand("review", 1).message.text


# -- what is shown -----------------------------------------------------------------------------------------------------


def test_what_is_about_classes_is_not_there(hand):
    for part in ("classes", "promise", "review", "weight"):
        assert hand.shown(part) == "[]"


def test_errors_are_asked_for_by_themselves_and_shown_then(hand):
    asked = {"client": "tab", "events": [], "shown": None, "marks": None, "dark": False}
    assert answer(hand.workspace, asked, 50)["find"]
    assert "Being found out" in hand.shown("metrics")
    client = make_app(hand.workspace).server.test_client()
    assert client.post("/acceptance").json == {"ready": True, "error": None}
    assert not answer(hand.workspace, asked, 50)["find"]
    errors = hand.session.snapshot().errors
    assert hand.session.snapshot().amount(errors.estimate.root_mean_square) in hand.shown("metrics")
    hand("row", 30)
    assert hand.session.snapshot().between(30) in hand.shown("detail")


@pytest.mark.parametrize("dark", [False, True])
def test_the_map_has_the_color_of_each_number(hand, dark):
    tab = hand("row", 30)
    tab.dark = dark
    table, snapshot = hand.workspace.table, hand.session.snapshot()
    figure = json.loads(to_json_plotly(map_figure(table, snapshot, tab)))
    marker = figure["data"][0]["marker"]
    colors = np.frombuffer(b64decode(marker["color"]["bdata"]), dtype="<f4")
    np.testing.assert_allclose(colors, snapshot.values[table.map.rows], rtol=1e-6)  # four bytes each
    assert marker["cmin"] < marker["cmax"]
    given = figure["data"][1]["marker"]
    assert given["color"] == [snapshot.label_of(row) for row in range(N_ROWS) if row in table.place_on_map][:N_GIVEN]
    assert (given["cmin"], given["cmax"]) == (marker["cmin"], marker["cmax"])
    assert "cmax" in to_json_plotly(changed_labels(table, snapshot, tab))


def test_a_table_without_numbers_is_gray(tmp_path):
    content = make_table().decode().splitlines()
    empty = "\n".join([content[0], *(line.rsplit(",", 1)[0] + "," for line in content[1:])]).encode()
    table = opened(empty, labels_as=NUMBERS)
    workspace = Workspace()
    workspace.show(table)
    tab = Hand(workspace)("row", 3)
    scale = map_figure(table, table.session.snapshot(), tab)["data"][0]["marker"]["colorscale"]
    assert len({color for _, color in scale}) == 1
    assert "two different numbers" in to_json_plotly(panels.parts(workspace, tab))


def test_the_table_view_has_numbers_and_sorts_by_them(hand):
    hand.session.find_out()
    hand("row", 30)
    hand("number", "-900")  # below all others, and no empty cell
    names = [column["headerName"] for column in columns(hand.workspace.table)]
    assert names[:4] == ["Row", "Label", "Predicted", "Between"]

    def rows(**query):
        asked = {"client": "tab", "start": 0, "end": 100, "query": {**QUERY, **query}}
        return block(hand.workspace, asked)["rows"]

    assert rows(sort=[["given", "asc"]])[0]["given"] == "-900"
    assert rows(sort=[["given", "desc"]])[-1]["given"] == ""
    values = hand.session.snapshot().values
    assert [int(line["id"]) for line in rows(sort=[["predicted", "desc"]])] == np.argsort(-values).tolist()
    assert len(rows(given="with")) == N_GIVEN + 1
    low, high = np.quantile(values, (0.3, 0.6)).round(2)
    inside = np.flatnonzero((values >= low) & (values <= high)).tolist()
    assert [int(line["id"]) for line in rows(predicted=f"range:{low}:{high}")] == inside
    assert [int(line["id"]) for line in rows(predicted=f"range:{low}:")] == np.flatnonzero(values >= low).tolist()
    for nonsense in ("range:a:b", "range:1", "class:1", "range:-:.", "range:1e999999:"):
        assert rows(predicted=nonsense) == []


def test_suggestions_and_doubts_are_in_words(hand):
    table, snapshot, advice = hand.workspace.table, hand.session.snapshot(), hand.session.advice()
    said = panels.PANELS[NUMBERS]
    suggestions = to_json_plotly(said.suggestions(table, snapshot, advice))
    assert "random check" in suggestions
    assert all(f"{snapshot.amount(snapshot.values[row])}?" in suggestions for row in advice.rows)
    doubted = replace(advice, doubts=tuple(Doubt(row, 400.0, 98.7, 0.93) for row in range(10)))
    doubts = said.doubts(table, snapshot, doubted)
    assert "400 → 98.7? 93%" in json.dumps(json.loads(to_json_plotly(doubts)), ensure_ascii=False)
    assert "2 more numbers" in to_json_plotly(doubts)


# -- what is kept ------------------------------------------------------------------------------------------------------


def test_a_download_is_what_semikpca_label_writes(hand):
    hand("row", 30)
    hand("number", "77.25")
    name, content = hand.workspace.table.download()
    assert name == "rows-labeled.csv"
    written = pd.read_csv(BytesIO(content))
    frame = pd.read_csv(BytesIO(make_table()), dtype=str, keep_default_na=False)
    frame.loc[30, "price"] = "77.25"
    table = read_upload("rows.csv", frame.to_csv(index=False).encode()).table
    oracle = number_table(table, ColumnRoles("price"))
    # The page solves to four digits; the row was picked by hand, so that its error does not count.
    scale = np.ptp(oracle.predicted)
    np.testing.assert_allclose(written["predicted_value"], oracle.predicted, atol=1e-3 * scale)
    assert written.columns[-5:].tolist() == ["predicted_value", "low", "high", "label_was_given", "looks_wrong"]
    assert written["price"][30] == 77.25
    assert written["label_was_given"].sum() == N_GIVEN + 1
    assert (written["low"] <= written["predicted_value"]).all()


def test_before_there_are_predictions_a_download_has_empty_cells():
    content = make_table().decode().splitlines()
    empty = "\n".join([content[0], *(line.rsplit(",", 1)[0] + "," for line in content[1:])]).encode()
    written = pd.read_csv(BytesIO(opened(empty, labels_as=NUMBERS).download()[1]))
    assert written["predicted_value"].isna().all()
    assert not written["label_was_given"].any()


def test_a_file_with_decimal_commas_gets_its_numbers_so():
    workspace = Workspace()
    workspace.show(opened(make_table(comma=True)))
    hand = Hand(workspace)
    hand("row", 30)
    hand("number", "77,25")
    text = workspace.table.download()[1].decode()
    written = pd.read_csv(StringIO(text), sep=";", dtype=str, keep_default_na=False)
    assert written["price"][30] == "77,25"
    again = read_upload("rows.csv", text.encode()).table
    assert open_table(again, ColumnRoles("price"), name="r.csv", place="state folder").session.given[30] == 77.25


def test_numbers_go_out_and_come_back(hand):
    hand("row", 30)
    hand("number", "77.25")
    for kind in ("csv", "json"):
        content = exported(hand.workspace.table, kind)
        other = Workspace()
        other.show(opened())
        import_labels(other, f"labels.{kind}", content)
        assert other.table.session.given.tolist() == hand.session.given.tolist()


def test_other_columns_keep_all_numbers(hand):
    hand("row", 30)
    hand("number", "77.25")
    before = hand.session.given.tolist()
    tab = hand("columns", json.dumps({"columns": {"grade": "left out"}}))
    assert tab.message.kind == "note"
    assert hand.session.given.tolist() == before
    assert isinstance(hand.session, NumberSession)


def test_the_next_visit_is_offered_the_numbers(hand):
    hand("row", 30)
    hand("number", "77.25")
    other = Workspace()
    other.show(opened())
    assert other.offer is not None
    Hand(other)("take-up")
    assert other.table.session.given[30] == 77.25


def test_what_a_column_would_be_is_found_out_once(monkeypatch):
    workspace = Workspace()
    workspace.ask_for_column(Pending(read_upload("rows.csv", make_table()).table, "rows.csv", "x").looked_at())
    monkeypatch.setattr("semikpca.app._opening.label_kind", lambda *_: 1 // 0)
    hand = Hand(workspace)
    assert hand("leave-out", "x").message is None
    assert "Taken as numbers" in to_json_plotly(panels.start(workspace, 50, workspace.tab("tab")))
