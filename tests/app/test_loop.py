"""The labeling loop without a page: seven queues, what comes after a label, skip, flag and back."""

import json

import numpy as np
import pytest
from plotly.io.json import to_json_plotly

from semikpca.app import Workspace, open_table
from semikpca.app import _panels as panels
from semikpca.app._opening import read_upload
from semikpca.app._queues import QUEUES, queue_lengths, queue_rows
from semikpca.tables import ColumnRoles

N_ROWS, N_LABELS = 60, 12
WRONG = 4  # a row with the label of the other half
KINDS = "ab"
FLAG = '{"children": "flagged", "className": "tag"}'


def table_text(n_labels=N_LABELS):
    lines = []
    for row in range(N_ROWS):
        kind = KINDS[(row + (row == WRONG)) % 2] if row < n_labels else ""
        lines.append(f"{9 * (row % 2) + np.sin(row):.3f},{np.cos(2 * row):.3f},{kind}")
    return "x,y,kind\n" + "\n".join(lines)


class Hand:
    """A user in one tab."""

    def __init__(self, text):
        self.workspace, self.number = Workspace(), 0
        table = read_upload("rows.csv", text.encode()).table
        self.workspace.show(open_table(table, ColumnRoles("kind"), name="rows.csv", place="state folder"))

    def __call__(self, act, value="", **more):
        self.number += 1
        return self.workspace.handle("tab", [{"number": self.number, "act": act, "value": value, **more}]).tab

    @property
    def session(self):
        return self.workspace.table.session

    def row(self):
        (row,) = self("refresh").selected
        return row

    def detail(self):
        return json.dumps(json.loads(to_json_plotly(panels.parts(self.workspace, self("refresh"))["detail"])))


@pytest.fixture
def hand(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))
    return Hand(table_text())


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A table without any label, and two classes."""
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))
    hand = Hand(table_text(0))
    for kind in KINDS:
        hand("add-class", kind)
    return hand


# -- queues ------------------------------------------------------------------------------------------------------


def test_each_queue_has_the_rows_that_its_name_says(hand):
    session = hand.session
    session.flag([20, 3])
    advice, snapshot = session.advice(), session.snapshot()
    unlabeled = [row for row in range(N_ROWS) if row >= N_LABELS]
    doubtful = sorted(unlabeled, key=lambda row: (snapshot.confidence[row], row))
    assert WRONG in [doubt.row for doubt in advice.doubts]
    expected = {
        "suggested": list(advice.rows),
        "doubtful": doubtful,
        "review": doubtful,  # nothing is accepted yet
        "random": list(session.checks()),
        "wrong": [doubt.row for doubt in advice.doubts],
        "flagged": [3, 20],
        "file": unlabeled,
    }
    assert {name: queue_rows(session, name, 0.05).tolist() for name in QUEUES} == expected
    lengths = queue_lengths(session, 0.05)
    assert lengths == {name: len(rows) for name, rows in expected.items()} | {"random": len(unlabeled)}


def test_what_is_accepted_is_not_to_be_reviewed(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))
    hand = Hand(table_text(40))
    hand.session.find_acceptance()
    for rate in (0.05, 0.2, 0.5):
        rows = queue_rows(hand.session, "review", rate)
        assert queue_lengths(hand.session, rate)["review"] == len(rows)
        assert not set(rows.tolist()) & set(hand.session.accepted(rate).rows.tolist())
    assert len(hand.session.accepted(0.5).rows)


def test_suggestions_that_are_out_of_date_are_gone_through_without_those_that_have_a_label(hand):
    rows = hand.session.advice().rows
    hand.session.label([rows[0], rows[2]], "a")
    assert queue_rows(hand.session, "suggested", 0.05).tolist() == [rows[1], *rows[3:]]
    assert hand.session.known_advice().rows == rows  # nothing was computed
    hand.session.label(rows, "a")
    assert queue_rows(hand.session, "suggested", 0.05).tolist() == queue_rows(hand.session, "doubtful", 0.05).tolist()


def test_a_doubt_is_gone_once_its_label_is_another(hand):
    hand.session.advice()
    before = queue_rows(hand.session, "wrong", 0.05).tolist()
    hand.session.label([WRONG], KINDS[WRONG % 2])
    assert queue_rows(hand.session, "wrong", 0.05).tolist() == [row for row in before if row != WRONG]


def test_without_predictions_there_are_suggestions_checks_and_the_order_of_the_file(fresh):
    lengths = queue_lengths(fresh.session, 0.05)
    assert (lengths["doubtful"], lengths["review"], lengths["wrong"]) == (0, 0, 0)
    assert lengths["file"] == lengths["random"] == N_ROWS
    assert len(queue_rows(fresh.session, "suggested", 0.05)) == 10
    assert "once two classes have labels" in fresh("queue", "doubtful").message.text


@pytest.mark.parametrize("queue", ["review", "wrong", "flagged", "doubtful"])
def test_an_empty_queue_says_so_and_the_row_in_view_stays(fresh, queue):
    fresh("row", 5)
    tab = fresh("queue", queue)
    assert tab.message.text == QUEUES[queue].nothing
    assert tab.selected == [5]


# -- after a label -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("queue", ["suggested", "doubtful", "random", "file"])
def test_after_a_label_the_next_row_of_the_queue_comes_by_itself(hand, queue):
    hand("queue", queue)
    seen = []
    for _ in range(8):
        row = hand.row()
        seen.append(row)
        hand("label", row % 2)
        assert hand.session.given[row] == KINDS[row % 2]
    assert len(set(seen)) == 8
    assert hand("refresh").loop.queue == queue
    if queue == "file":
        assert seen == list(range(N_LABELS, N_LABELS + 8))


def test_the_next_doubtful_row_is_the_most_doubtful_one_after_the_label(hand):
    hand("queue", "doubtful")
    for _ in range(3):
        row = hand.row()
        hand("label", row % 2)
        assert hand.row() == queue_rows(hand.session, "doubtful", 0.05)[0]


def test_one_who_has_gone_ahead_goes_on_from_there(hand):
    rows = queue_rows(hand.session, "file", 0.05).tolist()
    hand("queue", "file")
    hand("step", 1)
    assert hand.row() == rows[1]
    hand("label", 0)
    assert hand.row() == rows[2]
    hand("step", -1)
    assert hand.row() == rows[0]


def test_labels_of_the_random_queue_count_as_drawn_and_others_do_not(hand):
    for queue, n_drawn in (("random", N_LABELS + 3), ("doubtful", N_LABELS + 3)):
        hand("queue", queue)
        for _ in range(3):
            hand("label", hand.row() % 2)
        assert hand.session.snapshot().n_drawn == n_drawn


@pytest.mark.parametrize(
    ("act", "more"), [("row", {"value": 30}), ("pick", {"points": [30]}), ("rows", {"points": [30]})]
)
def test_a_row_that_was_picked_stays_after_its_label(hand, act, more):
    hand(act, **more)
    hand("label", 0)
    assert hand.row() == 30


def test_the_loop_does_not_go_on_by_itself_where_it_is_told_so(hand):
    hand("queue", "file")
    hand("goes-on")
    hand("label", 0)
    assert hand.row() == N_LABELS
    hand("goes-on")
    hand("step", 1)
    hand("label", 0)
    assert hand.row() == N_LABELS + 2


def test_a_line_of_a_list_goes_on_with_its_queue(hand):
    rows = queue_rows(hand.session, "review", 0.05).tolist()
    hand("row", rows[3], queue="review")
    hand("label", rows[3] % 2)
    assert hand("refresh").loop.queue == "review"
    assert hand.row() == rows[4]
    assert "There is no queue" in hand("row", 3, queue="nonsense").message.text
    assert "There is no queue" in hand("queue", "nonsense").message.text


def test_the_last_row_stays_in_view(hand):
    hand("rows", points=list(range(N_ROWS - 1)))
    hand("label", 0)
    hand("queue", "file")
    assert hand.row() == N_ROWS - 1
    hand("label", 1)
    assert hand.row() == N_ROWS - 1
    assert hand("refresh").message is None
    assert hand("step", 1).message.text == QUEUES["file"].nothing


# -- skip, back, flag --------------------------------------------------------------------------------------------


def test_skipped_rows_come_last_in_the_order_they_were_skipped(hand):
    hand("queue", "file")
    hand("skip")
    hand("skip")
    assert hand.row() == N_LABELS + 2
    for row in range(N_LABELS + 2, N_ROWS):
        assert hand.row() == row
        hand("label", row % 2)
    assert hand.row() == N_LABELS
    hand("skip")
    assert hand.row() == N_LABELS + 1
    hand("label", 0)
    assert hand.row() == N_LABELS
    assert hand("skip").message.text == "This is the only row of the queue."


def test_a_random_check_that_is_skipped_stays_on_the_list(hand):
    checks = hand.session.checks()
    hand("draw")
    hand("skip")
    assert hand.row() == checks[1]
    assert hand.session.checks() == checks


def test_back_shows_the_rows_again_that_were_shown(hand):
    assert hand("back").message.text == "There is no row to go back to."
    hand("queue", "file")
    for _ in range(3):
        hand("label", 0)
    for row in (N_LABELS + 2, N_LABELS + 1, N_LABELS):
        hand("back")
        assert hand.row() == row
    assert hand("back").message is not None
    # A label that is put right there, and on.
    hand("label", 1)
    assert hand.session.given[N_LABELS] == "b"
    assert hand.row() == N_LABELS + 3


def test_flags_make_a_queue_and_are_taken_away_again(hand):
    for row in (20, 3, 40):
        hand("row", row)
        hand("flag")
    assert hand("queue", "flagged").selected == [3]
    hand("label", 0)
    assert hand.row() == 20
    hand("flag")
    hand("queue", "flagged")
    assert {hand("step", 1).selected[0] for _ in range(3)} == {3, 40}
    hand("clear")
    assert "No row is selected" in hand("flag").message.text
    assert FLAG not in hand.detail()
    hand("row", 40)
    assert FLAG in hand.detail()


def test_several_rows_are_flagged_together(hand):
    hand("rows", points=[1, 2, 3])
    hand("flag")
    hand("rows", points=[3, 4])
    hand("flag")  # not all have one: all get one
    assert queue_lengths(hand.session, 0.05)["flagged"] == 4
    assert [hand("queue", "flagged").selected[0], *(hand("step", 1).selected[0] for _ in range(3))] == [1, 2, 3, 4]


def test_another_table_begins_with_another_loop(hand):
    hand("queue", "file")
    hand("skip")
    hand("flag")
    table = read_upload("rows.csv", table_text().encode()).table
    hand.workspace.show(open_table(table, ColumnRoles("kind"), name="rows.csv", place="state folder"))
    loop = hand("refresh").loop
    assert (loop.queue, loop.way, loop.skipped) == ("suggested", [], {})
    assert hand("queue", "flagged").message.text == QUEUES["flagged"].nothing


def test_rows_beyond_the_table_cannot_be_selected(hand):
    assert "There are 60 rows" in hand("rows", points=[0, 60]).message.text


# -- what is shown -----------------------------------------------------------------------------------------------


def test_with_many_classes_there_are_buttons_for_those_with_keys_and_the_likely_ones(hand):
    for number in range(30):
        hand("add-class", f"other {number}")
    hand("row", 30)
    hand("label", 25)
    hand("row", 32)
    detail = hand.detail()
    assert 10 <= detail.count('"data-act": "label"') <= 13
    hand("rows", points=[30, 32])
    assert hand.detail().count('"data-act": "label"') == 10
