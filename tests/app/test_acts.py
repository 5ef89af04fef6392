"""Classes, flags, acceptances and earlier visits from the page: what each act does, and what the page then says."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from plotly.io.json import to_json_plotly

from semikpca.app import Workspace, make_app, open_table
from semikpca.app import _panels as panels
from semikpca.app._classes import offered, shown_classes
from semikpca.app._exchange import exported, import_labels
from semikpca.app._opening import read_upload
from semikpca.tables import ColumnRoles

ROWS = "x,y,kind\n" + "\n".join(f"{i % 7}.{i},{4 * (i % 2)}.{i},{'ab'[i % 2] if i < 6 else ''}" for i in range(30))


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))


class Hand:
    """A user in one tab."""

    def __init__(self, workspace, client="tab"):
        self.workspace, self.client, self.number = workspace, client, 0

    def __call__(self, act, value="", **more):
        self.number += 1
        return self.workspace.handle(self.client, [{"number": self.number, "act": act, "value": value, **more}]).tab

    def shown(self, part):
        tab = self.workspace.tab(self.client)
        return json.dumps(json.loads(to_json_plotly(panels.parts(self.workspace, tab)[part])), ensure_ascii=False)

    @property
    def session(self):
        return self.workspace.table.session


def opened(text=ROWS):
    table = read_upload("rows.csv", text.encode()).table
    return open_table(table, ColumnRoles("kind"), name="rows.csv", place="state folder")


def begun(text=ROWS):
    workspace = Workspace()
    workspace.show(opened(text))
    return Hand(workspace)


@pytest.fixture
def hand():
    return begun()


# -- classes -----------------------------------------------------------------------------------------------------


def test_a_class_is_renamed_and_the_page_says_so(hand):
    hand("edit-class", name="a")
    assert "Delete with 3 labels" in hand.shown("classes")
    tab = hand("rename-class", "first", name="a")
    assert tab.message.text == "a is now called first."
    assert hand.session.snapshot().classes == ("first", "b")
    assert "edit-class" not in re.findall(r'"id": "([^"]+)"', hand.shown("classes"))
    hand("undo")
    assert hand.session.snapshot().classes == ("a", "b")


def test_the_name_of_another_class_asks_in_words_whether_to_merge(hand):
    hand("rename-class", "b", name="a")
    assert hand.session.snapshot().classes == ("a", "b")
    assert "There is a class b already, with 3 labels. Merge a, with its 3 labels, into it?" in hand.shown("classes")
    tab = hand("merge-class", "b", name="a")
    assert tab.message.text == "a and b are one class now: b. Undo makes two of them again."
    assert hand.session.snapshot().classes == ("b",)
    assert hand("undo").message is None
    assert hand.session.given[:6].tolist() == ["a", "b"] * 3


def test_a_class_is_deleted_with_its_labels_and_comes_back(hand):
    assert "The class a is no more" in hand("delete-class", name="a").message.text
    assert hand.session.given[:6].tolist() == [None, "b"] * 3
    hand("undo")
    assert hand.session.given[:6].tolist() == ["a", "b"] * 3


def test_a_class_is_found_by_typing_and_given(hand):
    for name in ("Apple pie", "apple"):
        hand("add-class", name)
    hand("row", 20)
    hand("find-class", "app")
    assert '"Enter"' in hand.shown("classes")
    assert "gives Apple pie" in hand.shown("classes")
    hand("give-class", "APPLE")
    assert hand.session.given[20] == "apple"  # the whole name goes before the beginning of one
    assert hand("give-class", "pear").message.text.startswith("No class is called pear. Press Shift and Enter")
    hand("give-class", "pear", new="1")
    assert hand.session.given[20] == "pear"
    hand("undo")
    hand("undo")
    assert "pear" not in hand.session.snapshot().classes
    hand("clear")
    assert "No row is selected" in hand("give-class", "a").message.text


def test_hundreds_of_classes_are_few_buttons(hand):
    for number in range(300):
        hand.session.add_class(f"class {number}")
    hand("row", 20)
    hand("give-class", "class 299")
    snapshot = hand.session.snapshot()
    assert len(offered(snapshot)) == 10
    assert shown_classes(snapshot, "") == [*range(10), 301]
    assert shown_classes(snapshot, "class 29")[:2] == [31, 292]
    assert len(shown_classes(snapshot, "class")) == 20
    tab = hand("brush", 0, name="class 250")
    for part, most in (("toolbar", 12), ("detail", 19), ("classes", 21)):
        assert hand.shown(part).count('"data-act"') <= most, part
    assert "class 250" in hand.shown("toolbar")
    assert "302 classes; 291 are not listed" in hand.shown("classes")
    assert tab.message is None


# -- two tabs ----------------------------------------------------------------------------------------------------


def test_a_tab_that_shows_classes_of_before_gives_what_its_user_meant(hand):
    hand("add-class", "c")
    other = Hand(hand.workspace, "other")
    other("row", 20)
    other("brush", 2, name="c")
    hand("delete-class", name="a")  # now c has the place of b
    other("label", 1, name="b")
    assert other.session.given[20] == "b"
    other("pick", points=[hand.workspace.table.place_on_map[21]])
    assert other.session.given[21] == "c"
    hand("rename-class", "third", name="c")
    other("pick", points=[hand.workspace.table.place_on_map[22]])
    assert other.session.given[22] == "third"
    assert '"className": "button on"' in other.shown("toolbar")
    hand("delete-class", name="third")
    tab = other("pick", points=[hand.workspace.table.place_on_map[23]])
    assert tab.message.text == "There is no class third any more: it was deleted, perhaps in another tab."
    assert other.session.given[23] is None
    assert tab.brush is None


def test_both_tabs_rename_the_same_class_and_no_label_is_lost(hand):
    other = Hand(hand.workspace, "other")
    hand("rename-class", "mine", name="a")
    other("rename-class", "theirs", name="a")
    assert hand.session.snapshot().classes == ("theirs", "b")
    assert hand.session.given[:6].tolist() == ["theirs", "b"] * 3
    for client in (hand, other):
        assert "theirs" in client.shown("classes")


# -- flags and acceptances ---------------------------------------------------------------------------------------


def test_flags_go_on_and_off_with_the_selection(hand):
    assert "No row is selected" in hand("flag").message.text
    hand("row", 20)
    hand("flag")
    assert hand.session.flagged == {20}
    hand("flag", "1")
    assert hand.session.flagged == {20}
    hand("flag")
    assert hand.session.flagged == frozenset()
    hand("undo")
    assert hand.session.snapshot().flagged == {20}


HALVES = "x,y,kind\n" + "\n".join(
    f"{9 * (row % 2) + np.sin(row):.3f},{np.cos(2 * row):.3f},{'ab'[row % 2] if row < 30 else ''}" for row in range(90)
)


def test_rows_are_accepted_in_one_step_and_the_download_says_which():
    hand = begun(HALVES)
    assert "not found out" in hand("accept").message.text
    hand("share", 80.0)
    assert hand.session.find_acceptance()
    assert "Accept these 60 rows" in hand.shown("promise")
    assert hand("accept").message.text == "60 rows are accepted with the predicted label. Undo takes that back."
    assert "Undo: acceptance of 60 rows (u)" in hand.shown("header")
    assert "of 90 rows; 60 more accepted" in hand.shown("metrics")
    assert "Take back 60 accepted rows" in hand.shown("promise")
    assert "no row more to accept" in hand("accept").message.text
    assert hand("row", 40).message is None
    assert "accepted unseen" in hand.shown("detail")
    hand("label", 1, name="b")
    frame = pd.read_csv(pd.io.common.BytesIO(hand.workspace.table.download(0.05)[1]), keep_default_na=False)
    # What people have said is in the label column; what was accepted is an answer beside it.
    assert (frame["kind"] != "").sum() == 31
    assert frame["accepted"].sum() == 59
    assert not frame["accepted"][40]
    is_accepted = frame["accepted"].to_numpy()
    assert frame["predicted_label"][is_accepted].tolist() == [
        hand.session.accepted_labels[row] for row in np.flatnonzero(is_accepted)
    ]
    hand("withdraw")
    assert hand.session.snapshot().n_accepted == 0


def test_an_accepted_label_is_in_the_download_though_the_model_says_something_else_now():
    hand = begun(HALVES)
    hand("share", 80.0)
    hand.session.find_acceptance()
    hand("accept")
    for row in range(32, 90, 2):  # the half that was a is b now
        hand.session.label([row], "b")
    hand.session.merge_classes("a", "b")
    hand.session.add_class("a")
    hand.session.label([row for row in range(30) if row % 2], "a")
    table = hand.workspace.table
    frame = pd.read_csv(pd.io.common.BytesIO(table.download()[1]), keep_default_na=False)
    accepted = hand.session.accepted_labels
    assert accepted
    assert {row: frame["predicted_label"][row] for row in accepted} == accepted
    model = hand.session.model()
    chances = model.label_distributions_[:, model.classes_.tolist().index("b")]
    off = [abs(frame["confidence"][row] - chances[row]) for row in accepted]
    assert max(off) < 1e-3  # files have four digits


# -- earlier visits ----------------------------------------------------------------------------------------------


def test_the_offer_stays_until_it_is_answered(hand):
    hand("row", 20)
    hand("label", 0)
    hand("row", 21)
    hand("label", 0)
    again = begun()
    again("row", 20)
    again("label", 1)
    again("row", 25)
    again("label", 1)
    again("add-class", "new")
    again("row", 0)
    again("remove")
    assert "Labels of your last visit are there: 8" in again.shown("banners")
    assert "the 3 rows changed since keep the new label" in again.shown("banners")
    tab = again("take-up")
    assert "2 rows" not in tab.message.text
    assert tab.message.text.endswith("3 rows that you have changed since keep their present label.")
    given = again.session.given
    assert (given[20], given[21], given[25], given[0]) == ("b", "a", "b", None)
    assert "last visit are there" not in again.shown("banners")
    again("undo")
    assert again.session.given[21] is None


def test_earlier_visits_are_listed_opened_and_merged(hand):
    hand("row", 20)
    hand("label", 0)
    again = begun()
    again("start-over")
    again("row", 21)
    again("label", 1)
    again("row", 20)
    again("label", 1)
    assert again.shown("dialog") == "[]"
    again("dialog", "labels")
    assert "Present labels" in again.shown("dialog")
    (name,) = set(re.findall(r'"data-value": "([^"]+previous[^"]+)"', again.shown("dialog")))
    tab = again("merge-visit", name)
    assert re.fullmatch(r"0 labels of .* were added\. 1 row has another label now and kept it\.", tab.message.text)
    assert again.session.given[20] == "b"
    again("open-visit", name)
    assert again.session.given[20] == "a"
    assert again.session.given[21] is None
    again("undo")
    assert again.session.given[21] == "b"
    assert "no longer there" in again("open-visit", "../../etc/passwd").message.text
    assert again("dialog", "nothing of ours").dialog == ""


# -- other programs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_labels_leave_the_page_and_come_back(hand, kind):
    hand("row", 20)
    hand("give-class", "new one", new="1")
    content = exported(hand.workspace.table, kind)
    other = begun()
    note = import_labels(other.workspace, f"labels.{kind}", content)
    assert note == "7 labels came from the file. Undo takes that back."
    assert other.session.given.tolist() == hand.session.given.tolist()
    assert other.session.snapshot().undo == f"labels of labels.{kind}"
    other("row", 0)
    other("label", 1)
    assert "1 row had another label" in import_labels(other.workspace, f"labels.{kind}", content)
    other("undo")
    assert other.session.given[0] == "b"


def test_accepted_labels_stay_apart_when_they_leave_the_page():
    hand = begun(HALVES)
    hand("share", 80.0)
    hand.session.find_acceptance()
    hand("accept")
    accepted = hand.session.accepted_labels
    other = begun(HALVES)
    import_labels(other.workspace, "labels.json", exported(hand.workspace.table, "json"))
    assert other.session.accepted_labels == accepted
    assert len(exported(hand.workspace.table, "csv").splitlines()) == 31
    assert len(exported(hand.workspace.table, "csv", with_accepted=True).splitlines()) == 91


def test_the_routes_send_files_and_refuse_bad_ones(hand):
    client = make_app(hand.workspace).server.test_client()
    answer = client.get("/labels.csv")
    assert answer.headers["Content-Disposition"] == "attachment; filename=rows-labels.csv"
    assert answer.data.decode().splitlines()[:2] == ["row,kind", "1,a"]
    assert json.loads(client.get("/labels.json").data)[0]["data"]["semikpca_row"] == 1
    state = hand.workspace.state()
    answer = client.post("/labels?name=labels.csv", data=b"row,kind\n1,b\n99,a\n")
    assert answer.status_code == 400
    assert (
        answer.get_json()["error"]
        == "Nothing was changed. Line 3 of the file: no row of the table has the number '99'."
    )
    assert hand.workspace.state() == state
    assert client.post("/labels?name=labels.csv", data=b"row,kind\n1,b\n").get_json()["error"] is None
    assert hand.session.given[0] == "b"
    hand.workspace.opened = None
    assert client.get("/labels.csv").status_code == 404
    assert client.post("/labels?name=labels.csv", data=b"row,kind\n1,b\n").status_code == 400
