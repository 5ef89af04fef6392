"""Which labels the page says can be accepted unseen, and the rows it lists for review."""

import json
import re

import numpy as np
import pytest
from plotly.io.json import to_json_plotly

from semikpca import SemiKPCAClassifierCV
from semikpca.app import Workspace, open_table
from semikpca.app import _panels as panels
from semikpca.app._acceptance import promised
from semikpca.app._autosave import Autosave
from semikpca.app._callbacks import answer
from semikpca.app._opening import read_upload
from semikpca.app._session import LabelingSession
from semikpca.labeling import AcceptedLabels, accept_labels
from semikpca.tables import ColumnRoles

# Iterative solves stop at a relative residual of 1e-6; probabilities follow it.
SOLVE_TOLERANCE = 1e-5


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))


@pytest.fixture
def rows(clear_clusters):
    """Rows of four clusters that overlap, and the label of each."""
    X, cluster = clear_clusters
    return X + 3 * np.random.default_rng(7).standard_normal(X.shape), [f"group {group}" for group in cluster]


@pytest.fixture
def labels(rows):
    """Half of the labels, drawn at random."""
    drawn = set(np.random.default_rng(1).permutation(80)[:40].tolist())
    return [label if row in drawn else None for row, label in enumerate(rows[1])]


@pytest.fixture
def session(rows, labels):
    return LabelingSession(rows[0], labels)


def unlabeled(session):
    return [row for row, label in enumerate(session.given) if label is None]


# -- what can be promised ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("error_rate", [0.2, 0.1, 0.02])
def test_the_session_accepts_what_a_fresh_fit_accepts(session, rows, labels, error_rate):
    hand = [row for row in unlabeled(session) if row not in session.checks()][:3]
    for row in hand:
        session.label([row], rows[1][row])
    assert session.find_acceptance()
    found = session.accepted(error_rate)
    model = SemiKPCAClassifierCV().fit(rows[0], session.given)
    drawn = [row for row, label in enumerate(labels) if label is not None]
    expected = accept_labels(model, error_rate, drawn_rows=drawn)
    assert sorted(found.rows) == sorted(expected.rows)
    assert found.n_labels == expected.n_labels == 40
    assert found.n_labels_needed == expected.n_labels_needed
    if error_rate == 0.2:
        assert len(found.rows) > 5
        assert found.threshold == pytest.approx(expected.threshold, abs=SOLVE_TOLERANCE)
    if error_rate == 0.02:
        assert len(found.rows) == 0  # 40 labels are too few, whatever they are


def test_a_promise_is_dropped_with_the_labels_it_was_for(session, rows):
    assert session.accepted(0.2) is None
    session.find_acceptance()
    assert session.accepted(0.2) is not None
    row = unlabeled(session)[0]
    session.label([row], rows[1][row])
    assert session.accepted(0.2) is None
    session.find_acceptance()
    session.set_error_weight(0.9)
    assert session.accepted(0.2) is None


def test_it_is_found_once_for_each_state_of_the_labels(session, monkeypatch):
    session.find_acceptance()
    monkeypatch.setattr(SemiKPCAClassifierCV, "without_labels", lambda model, rows: 1 // 0)
    assert session.find_acceptance()


def test_a_label_that_is_given_meanwhile_ends_the_work(session, rows, monkeypatch):
    row, fits, without = unlabeled(session)[0], [], SemiKPCAClassifierCV.without_labels

    def interrupted(model, left_out):
        fits.append(len(left_out))
        session.label([row], rows[1][row])
        return without(model, left_out)

    monkeypatch.setattr(SemiKPCAClassifierCV, "without_labels", interrupted)
    assert session.find_acceptance() is False
    assert len(fits) == 1
    assert session.accepted(0.2) is None


def test_nothing_is_found_without_predictions(rows):
    session = LabelingSession(rows[0], [None] * 80, classes=("a", "b"))
    assert session.find_acceptance() is False
    assert session.accepted(0.2) is None
    assert session.to_review(0.2).tolist() == []


def test_labels_by_hand_alone_promise_nothing_and_say_how_many_are_needed(rows):
    X, truth = rows
    session = LabelingSession(X, [None] * 80, classes=sorted(set(truth)))
    for row in range(0, 80, 4):
        session.label([row], truth[row])
    assert session.snapshot().n_drawn == 0
    assert session.find_acceptance()
    found = session.accepted(0.05)
    assert (len(found.rows), found.n_labels) == (0, 0)
    assert found.n_labels_needed >= 45  # log(0.1) / log(0.95)


def test_rows_that_nothing_is_known_of_are_neither_accepted_nor_drawn(rows, labels):
    labeled = next(row for row, label in enumerate(labels) if label is not None)
    empty = [*[row for row, label in enumerate(labels) if label is None][::4], labeled]
    session = LabelingSession(rows[0], labels, empty=empty)
    session.find_acceptance()
    found = session.accepted(0.2)
    assert len(found.rows)
    assert not set(found.rows) & set(empty)
    assert found.n_labels == session.snapshot().n_drawn == 39
    assert set(empty[:-1]) <= set(session.to_review(0.2))


# -- which labels count ------------------------------------------------------------------------------------------


def test_labels_of_checks_count_where_they_were_looked_at_as_checks(session, rows):
    first, second, third = session.checks()
    session.label([first], rows[1][first], as_check=True)
    assert session.snapshot().n_drawn == 41
    session.label([second], rows[1][second])  # by hand: an easy one may have been taken
    assert session.snapshot().n_drawn == 41
    assert session.model().suggested_rows_.tolist() == [second]
    other = next(row for row in unlabeled(session) if row not in session.checks())
    session.label([third, other], rows[1][third], as_check=True)
    assert session.snapshot().n_drawn == 42
    assert session.model().suggested_rows_.tolist() == sorted([second, other])


def test_a_drawn_row_stays_drawn_when_its_label_is_corrected_or_given_again(session, rows):
    row = next(row for row, label in enumerate(session.given) if label is not None)
    right = session.given[row]
    session.label([row], next(label for label in rows[1] if label != right))
    assert session.snapshot().n_drawn == 40
    session.remove([row])
    assert session.snapshot().n_drawn == 39
    session.label([row], right)
    assert session.snapshot().n_drawn == 40


def test_undo_and_redo_take_the_count_with_them(session, rows):
    row = session.checks()[0]
    session.label([row], rows[1][row], as_check=True)
    assert session.undo().n_drawn == 40
    assert session.checks()[0] == row
    assert session.redo().n_drawn == 41


def test_suggestions_are_remembered_by_the_model_and_checks_are_not(session):
    advice = session.advice()
    assert set(advice.checks) == set(session.checks())
    assert set(advice.checks) < set(advice.rows)
    assert set(session.model().suggested_rows_) == set(advice.rows) - set(advice.checks)


@pytest.fixture
def place(tmp_path):
    return Autosave(tmp_path / "labels.json", "print of the rows")


def test_the_next_visit_knows_which_labels_were_drawn(rows, labels, place):
    session = LabelingSession(rows[0], labels, autosave=place)
    check = session.checks()[0]
    session.label([check], rows[1][check], as_check=True)
    hand = next(row for row in unlabeled(session) if row not in session.checks())
    session.label([hand], rows[1][hand])
    again = LabelingSession(rows[0], labels, autosave=place)
    again.take_up(again.saved())
    assert again.snapshot().n_drawn == 41
    assert again.model().suggested_rows_.tolist() == [hand]


def test_labels_that_were_saved_without_it_count_only_if_they_stand_in_the_table(rows, labels, place):
    session = LabelingSession(rows[0], labels, autosave=place)
    check = session.checks()[0]
    session.label([check], rows[1][check], as_check=True)
    content = json.loads(place.path.read_text(encoding="utf-8"))
    del content["drawn"]
    place.path.write_text(json.dumps(content), encoding="utf-8")
    again = LabelingSession(rows[0], labels, autosave=place)
    assert again.take_up(again.saved()).n_drawn == 40


def test_a_check_that_could_not_be_saved_does_not_count(rows, labels, place, monkeypatch):
    session = LabelingSession(rows[0], labels, autosave=place)
    check = session.checks()[0]

    def full_disk(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("semikpca.app._autosave.write_whole", full_disk)
    with pytest.raises(OSError, match="No space left"):
        session.label([check], rows[1][check], as_check=True)
    monkeypatch.undo()
    assert session.label([check], rows[1][check]).n_drawn == 40


# -- rows to review ----------------------------------------------------------------------------------------------


def test_all_rows_without_a_label_that_are_not_accepted_are_to_review_most_doubtful_first(session):
    session.find_acceptance()
    accepted, found = session.accepted(0.2), session.to_review(0.2)
    assert len(accepted.rows)
    assert set(found) == set(unlabeled(session)) - set(accepted.rows)
    confidence = session.snapshot().confidence
    assert np.all(np.diff(confidence[found]) >= 0)
    assert confidence[found].max() <= confidence[accepted.rows].min() + SOLVE_TOLERANCE
    assert sorted(session.to_review(0.01)) == unlabeled(session)


def test_as_long_as_nothing_is_known_no_row_counts_as_accepted(session):
    assert sorted(session.to_review(0.2)) == unlabeled(session)


# -- in words ----------------------------------------------------------------------------------------------------


def in_words(parts):
    """Return the texts of parts of a page, one after the other."""
    if isinstance(parts, str):
        return parts
    if isinstance(parts, list):
        return "".join(map(in_words, parts))
    return in_words(parts["props"].get("children", "")) if isinstance(parts, dict) else str(parts)


def said(parts):
    return in_words(json.loads(to_json_plotly(parts)))


def accepted(n_accepted, n_unlabeled, error_rate=0.05, needed=None):
    return AcceptedLabels(
        rows=np.arange(n_accepted),
        labels=np.full(n_accepted, "a"),
        error_rate=error_rate,
        confidence=0.9,
        threshold=0.8,
        n_labels=40,
        n_labels_needed=needed,
        n_unlabeled=n_unlabeled,
    )


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            accepted(1_204, 1_960),
            "1,204 of 1,960 rows can be accepted; at most 5% of them are wrong (with 90% confidence).",
        ),
        (accepted(1, 1, 0.005), "1 of 1 row can be accepted; at most 0.5% of them are wrong (with 90% confidence)."),
        (
            accepted(0, 560, needed=37),
            "Nothing can be promised yet: about 37 more labels, drawn at random, would be needed for at most 5% wrong "
            "(with 90% confidence).",
        ),
        (
            accepted(0, 560, needed=1_200),
            "Nothing can be promised: it takes about 1,200 more labels, and only 560 rows have none. Ask for a lower "
            "share.",
        ),
    ],
)
def test_the_promise_is_a_sentence(found, sentence):
    assert said(promised(found)) == sentence


# -- a user in one tab -------------------------------------------------------------------------------------------

N_ROWS = 240
TITLES = ['<b onclick="x()">bold</b>', *(f"row {row}" for row in range(1, N_ROWS))]
TABLE = "name,x,y,kind\n" + "\n".join(
    f'"{title.replace(chr(34), chr(34) * 2)}",{row % 7}.{row},{9 * (row % 2)}.{row},{"ab"[row % 2] if row < 30 else ""}'
    for row, title in enumerate(TITLES)
)


class Hand:
    """A user in one tab."""

    def __init__(self):
        self.workspace, self.number = Workspace(), 0
        table = read_upload("rows.csv", TABLE.encode()).table
        roles = ColumnRoles("kind", exclude=("name",))
        self.workspace.show(open_table(table, roles, name="rows.csv", place="state folder"))

    def __call__(self, act, value="", **more):
        self.number += 1
        return self.workspace.handle("tab", [{"number": self.number, "act": act, "value": value, **more}]).tab

    def shown(self, part):
        return said(panels.parts(self.workspace, self("refresh"))[part])

    def asks(self, *events):
        """Whether the tab is told to ask for what can be accepted."""
        return self.answer(*events)["find"]

    def answer(self, *events):
        asked = {"client": "tab", "events": list(events), "shown": None, "marks": None, "dark": False}
        return answer(self.workspace, asked, 50)

    @property
    def session(self):
        return self.workspace.table.session


@pytest.fixture
def hand():
    return Hand()


def test_the_panel_waits_then_promises_and_the_slider_is_answered_at_once(hand):
    assert hand.shown("promise").startswith("Not found out for these labels yet.")
    assert not hand.asks()
    hand("find")
    assert hand.asks()
    assert hand.shown("promise").startswith("Being found out")
    hand.session.find_acceptance()
    assert not hand.asks()
    assert re.match(r"Nothing can be promised yet: about \d+ more labels, drawn at random", hand.shown("promise"))
    hand("share", 80)
    assert "210 of 210 rows can be accepted; at most 20% of them are wrong" in hand.shown("promise")
    assert hand.shown("review") == "No row is left to review."
    hand("share", 99.5)
    assert "Ask for a lower share." in hand.shown("promise")
    assert "210 rows without a label that are not accepted, most doubtful first." in hand.shown("review")


@pytest.mark.parametrize("share", [79.9, 100, -5])
def test_a_share_beyond_the_slider_is_refused(hand, share):
    tab = hand("share", share)
    assert "between 80% and 99.5%" in tab.message.text
    assert tab.share == 95


def test_a_drawn_row_counts_and_one_picked_on_the_map_does_not(hand):
    row = hand("draw").selected[0]
    assert row == hand.session.checks()[0]
    hand("label", row % 2)
    assert "A promise rests on 31 labels" in hand.shown("promise")
    picked = hand.session.checks()[0]  # even a check
    hand("pick", points=[hand.workspace.table.place_on_map[picked]])
    hand("label", picked % 2)
    assert "A promise rests on 31 labels" in hand.shown("promise")
    assert "1 other does not count: its row was suggested, listed for review or picked by hand." in hand.shown(
        "promise"
    )
    listed = hand.session.checks()[0]
    hand("check", listed)
    hand("label", listed % 2)
    assert "A promise rests on 32 labels" in hand.shown("promise")


def test_a_brush_counts_for_nothing(hand):
    hand("draw")
    hand("brush", 0)
    rows = list(hand.session.checks())
    hand("pick", points=[hand.workspace.table.place_on_map[row] for row in rows])
    assert hand.session.given[rows].tolist() == ["a"] * 3
    assert hand.session.snapshot().n_drawn == 30


def test_stepping_through_suggestions_gives_three_checks_in_ten(hand):
    for _ in range(10):
        row = hand("step", 1).selected[0]
        hand("label", row % 2)
    assert hand.session.snapshot().n_drawn == 33


def test_rows_to_review_are_stepped_through_and_labeled(hand):
    rows = hand.session.to_review(0.05).tolist()
    assert hand("review", 1).selected == rows[:1]
    assert hand("review", 1).selected == [rows[1]]
    assert hand("review", -1).selected == rows[:1]
    hand("label", rows[0] % 2)
    assert hand.session.given[rows[0]] is not None
    assert rows[0] not in hand.session.to_review(0.05)
    assert hand.session.snapshot().n_drawn == 30
    # The next row came by itself.
    assert hand("refresh").selected == hand.session.to_review(0.05)[:1].tolist()


def test_where_all_rows_have_a_label_there_is_nothing_to_draw_or_review(hand):
    hand("refresh").selected = list(range(N_ROWS))
    hand("label", 0)
    hand("refresh").selected = list(range(1, N_ROWS, 2))
    hand("label", 1)
    assert "There is no row left to draw" in hand("draw").message.text
    assert "There is no row to review" in hand("review", 1).message.text
    assert hand.shown("promise") == "All rows have a label."


def test_random_checks_are_marked_in_the_list(hand):
    table, advice = hand.workspace.table, hand.session.advice()
    listed = json.loads(to_json_plotly(panels.suggestions(table, hand.session.snapshot(), advice)))
    assert said(listed).count("random check") == 3
    assert json.dumps(listed).count('"data-act": "check"') == 3


def test_a_label_does_not_make_the_page_compute_what_can_be_accepted(hand):
    hand("find")
    hand.session.find_acceptance()
    hand("draw")
    answered = hand.answer({"number": 99, "act": "label", "value": 0})
    assert said(answered["parts"]["promise"]).startswith("Not found out for these labels yet.")
    assert not answered["find"]


def test_moving_the_slider_asks_and_a_fault_ends_the_asking(hand):
    hand("share", 90)
    assert hand.asks()
    hand("refused", "A fault of the program")
    assert not hand.asks()


def test_nothing_is_asked_for_without_predictions(hand):
    hand("refresh").selected = list(range(1, N_ROWS, 2))
    hand("remove")
    hand("find")
    assert not hand.asks()
    assert hand.shown("promise") == "Labels of two classes are needed first."
