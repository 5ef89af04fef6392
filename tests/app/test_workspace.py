"""What each action of a user does, without a page."""

import json
import re
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from plotly.io.json import to_json_plotly

from semikpca.app import EXAMPLES, Workspace, open_table
from semikpca.app import _panels as panels
from semikpca.app._callbacks import answer
from semikpca.app._opening import read_upload
from semikpca.tables import ColumnRoles

ROWS = "x,y,kind\n" + "\n".join(f"{i % 7}.{i},{4 * (i % 2)}.{i},{'ab'[i % 2] if i < 6 else ''}" for i in range(30))


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


@pytest.fixture
def hand():
    workspace = Workspace()
    workspace.show(opened())
    return Hand(workspace)


def opened(text=ROWS):
    return open_table(
        read_upload("rows.csv", text.encode()).table, ColumnRoles("kind"), name="rows.csv", place="state folder"
    )


def shown(workspace, tab):
    """Everything that the page says, as text."""
    return json.loads(to_json_plotly(panels.parts(workspace, tab)))


# -- examples ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow  # whole tables are opened
@pytest.mark.parametrize("key", EXAMPLES)
def test_an_example_opens_and_follows_labels(key):
    hand = Hand(Workspace())
    tab = hand("example", key)
    assert tab.message is None
    assert f"{hand.session.n_rows:,} " in EXAMPLES[key][1]
    n_given = int(np.sum(hand.session.snapshot().given >= 0))
    for row, number in ((500 % hand.session.n_rows, 0), (3, 1)):
        hand("row", row)
        hand(*(("number", str(500 + number)) if key == "apartments" else ("label", number)))
    assert hand.session.snapshot().has_predictions
    assert np.sum(hand.session.snapshot().given >= 0) >= n_given + 1
    name, content = hand.workspace.table.download()
    assert name.endswith(".csv")
    assert len(pd.read_csv(BytesIO(content))) == hand.session.n_rows  # messages have line breaks


def test_a_download_says_what_was_accepted_once_that_is_found_out(hand):
    table = hand.workspace.table
    assert b"accepted" not in table.download(0.3)[1]
    assert table.session.find_acceptance()
    after = pd.read_csv(BytesIO(table.download(0.3)[1]))
    wanted = np.zeros(len(after), dtype=bool)
    wanted[table.session.accepted(0.3).rows] = True
    assert after["accepted"].tolist() == wanted.tolist()
    assert hand.workspace.error_rate == 0.05


@pytest.mark.slow  # the digits are opened
def test_a_picture_of_the_row_is_shown_instead_of_its_pixels():
    hand = Hand(Workspace())
    tab = hand("example", "digits")
    hand("row", 3)
    detail = json.dumps(shown(hand.workspace, tab)["detail"])
    assert detail.count('"opacity"') == 64
    assert "pixel_7" not in detail
    assert hand.workspace.table.titles[3] == "Picture 4"


@pytest.mark.slow  # the digits are opened
def test_the_digits_have_the_keys_that_are_printed_on_them():
    hand = Hand(Workspace())
    hand("example", "digits")
    assert hand.session.snapshot().classes == tuple("1234567890")


def test_an_unknown_example_is_refused_by_name():
    hand = Hand(Workspace())
    assert "no example 'iris'; there are tickets, digits, clusters" in hand("example", "iris").message.text


# -- opening -----------------------------------------------------------------------------------------------------------


def test_the_question_for_the_label_column_is_asked_and_can_be_cancelled(hand):
    hand.workspace.receive("other.csv", b"a,b\n1,x\n2,\n3,y\n")
    asked = {"client": "tab", "events": [], "shown": None, "marks": None, "dark": False}
    question = answer(hand.workspace, asked, 50)
    assert question["page"] == "asking"
    assert "Which column has the labels?" in to_json_plotly(question["parts"]["start"])
    hand("cancel")
    assert answer(hand.workspace, asked, 50)["page"] == "working"
    assert hand.workspace.table.name == "rows.csv"
    hand("cancel")  # nothing is pending any more
    hand("column", "b")
    assert hand.workspace.table.name == "rows.csv"


def test_how_texts_are_compared_is_asked_where_there_are_texts(hand):
    asked = {"client": "tab", "events": [], "shown": None, "marks": None, "dark": False}
    hand.workspace.receive("other.csv", b"a,b\n1,x\n2,\n3,y\n")
    assert "Texts are compared" not in to_json_plotly(answer(hand.workspace, asked, 50)["parts"]["start"])
    rows = [f"{'the parcel was lost' if row % 2 else 'what does this cost'} number {row}," for row in range(60)]
    rows[0] += "lost"
    rows[1] += "price"
    hand.workspace.receive("texts.csv", "\n".join(["words,topic", *rows]).encode())
    assert "Texts are compared" in to_json_plotly(answer(hand.workspace, asked, 50)["parts"]["start"])
    hand("encoder", "an encoder that nobody offered")
    assert hand.workspace.pending.text_encoder is None
    hand("encoder", "ngrams")
    assert hand.workspace.pending.text_encoder == "ngrams"
    hand("column", "topic")
    assert hand.workspace.table.roles.text_encoder == "ngrams"
    assert hand.workspace.table.vectorizer.encoder_ is None


def test_an_autosave_that_is_damaged_is_said_and_the_table_opens(hand, tmp_path):
    hand("row", 20)
    hand("label", 0)
    (kept,) = (tmp_path / "state").rglob("*.json")
    kept.write_text("{")
    workspace = Workspace()
    message = workspace.show(opened())
    assert message.kind == "error"
    assert str(kept) in message.text
    assert workspace.opened is not None


def test_labels_of_the_last_visit_are_offered_and_can_be_left_alone(hand):
    hand("row", 20)
    hand("label", 0)
    again = Hand(Workspace())
    again.workspace.show(opened())
    assert "Labels of your last visit are there: 7" in json.dumps(shown(again.workspace, again("refresh"))["banners"])
    again("start-over")
    assert again.workspace.offer is None
    again("take-up")  # there is nothing to take up any more
    assert np.sum(again.session.snapshot().given >= 0) == 6
    third = Hand(Workspace())
    third.workspace.show(opened())
    third("take-up")
    assert np.sum(third.session.snapshot().given >= 0) == 7


def test_a_last_visit_with_the_same_labels_and_another_weight_says_so(hand):
    hand("weight", 1.5)
    again = Hand(Workspace())
    again.workspace.show(opened())
    said = json.dumps(shown(again.workspace, again("refresh"))["banners"])
    assert "other classes or another error weight" in said


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "value", "words"),
    [
        ("row", 30, "There is no row 31."),
        ("row", -1, "There is no row 0."),
        ("label", 7, "There are 2 classes; add one for this key."),
        ("add-class", "  ", "A class needs a name."),
        ("add-class", "a", "The class a is there already."),
        ("add-class", "x" * 101, "The name has 101 letters; at most 100 fit on the page."),
        ("refused", "a message of the browser", "a message of the browser"),
    ],
)
def test_what_cannot_be_done_is_explained_and_changes_nothing(hand, act, value, words):
    hand("row", 10)
    before = hand.session.snapshot()
    assert hand(act, value).message.text == words
    assert hand.session.snapshot() is before
    assert hand("dismiss").message is None


def test_without_unlabeled_rows_there_is_nothing_to_step_to(hand):
    hand("refresh").selected = list(range(30))
    hand("label", 0)
    assert "There is no row left to suggest" in hand("step", 1).message.text


def test_a_fault_of_the_program_is_told_and_the_page_goes_on(hand, monkeypatch, caplog):
    monkeypatch.setattr(type(hand.session), "undo", lambda session: 1 // 0)
    message = hand("undo").message
    assert "A fault of the program: ZeroDivisionError" in message.text
    assert "undo failed" in caplog.text
    monkeypatch.undo()
    assert hand("row", 4).message is None


def test_a_slider_that_the_page_moved_is_no_event_of_the_user(hand):
    hand("weight", 1.5)
    before = hand.session.snapshot()
    hand("weight", hand.workspace.slider())
    assert hand.session.snapshot() is before
    hand("middle")
    assert hand.session.snapshot().error_weight == "middle"


def test_several_selected_rows_are_counted_with_their_predictions(hand):
    tab = hand("refresh")
    tab.selected = [0, 1, 10, 11]
    detail = json.dumps(shown(hand.workspace, tab)["detail"])
    assert re.search(r'"4 rows".*"2 of them have a label\."', detail)
    assert "Remove their labels" in detail
    hand("remove")
    assert hand.session.given[:2].tolist() == [None, None]
    assert "Remove their labels" not in json.dumps(shown(hand.workspace, tab)["detail"])


# -- labels as people type them ----------------------------------------------------------------------------------------

TYPED = ROWS.replace("0.0,0.0,a", "0.0,0.0,A").replace("0.14,0.14,", "0.14,0.14,n/a") + "\n,,\n,,"


def test_spellings_are_one_class_on_the_page_and_stay_in_the_download():
    table = opened(TYPED)
    assert table.session.snapshot().classes == ("a", "b")
    assert any("'A' (1 row) as 'a'" in note for note in table.notes)
    assert any("'n/a' (1 row)" in note for note in table.notes)
    table.session.label([1], "a")
    lines = table.download()[1].decode().splitlines()
    assert lines[1].startswith("0.0,0.0,A,a")
    assert lines[2].split(",")[2] == "a"
    assert lines[15].startswith("0.14,0.14,n/a")


def test_rows_without_anything_have_the_shares_of_the_classes_on_the_page():
    table = opened(TYPED)
    assert any("2 rows have nothing" in note for note in table.notes)
    snapshot = table.session.snapshot()
    assert snapshot.confidence[-2:].tolist() == [0.5, 0.5]
    assert [chance for _, chance in table.session.probabilities(31)] == [0.5, 0.5]


def test_a_download_that_is_opened_again_is_learned_from_as_the_table_was():
    first = open_table(
        read_upload("rows.csv", ROWS.encode()).table, ColumnRoles("kind"), name="rows.csv", place="state folder"
    )
    name, content = first.download()
    again = open_table(read_upload(name, content).table, ColumnRoles("kind"), name=name, place="state folder")
    np.testing.assert_array_equal(again.session.X, first.session.X)
    assert any("come from an earlier run" in note for note in again.notes)
    assert again.download()[1] == content
