"""The session behind the page: whatever is clicked, it shows what a fresh fit of the same labels would show."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semikpca import SemiKPCAClassifierCV
from semikpca.app._autosave import Autosave
from semikpca.app._session import LabelingSession
from semikpca.exceptions import UnboundedProblemError
from semikpca.labeling import leave_one_label_out

# Iterative solves stop at a relative residual of 1e-6; probabilities and decisions follow it.
SOLVE_TOLERANCE = 1e-5


def start_labels(truth, n_each=3):
    labels = [None] * len(truth)
    for group in np.unique(truth):
        for row in np.flatnonzero(truth == group)[:n_each]:
            labels[row] = f"group {group}"
    return labels


@pytest.fixture
def rows(clear_clusters):
    """Rows of four clusters that overlap, so that predictions depend on the labels, and the cluster of each."""
    X, cluster = clear_clusters
    return X + 3 * np.random.default_rng(7).standard_normal(X.shape), cluster


@pytest.fixture
def session(rows):
    X, cluster = rows
    return LabelingSession(X, start_labels(cluster))


def fresh(X, labels, **settings):
    return SemiKPCAClassifierCV(**settings).fit(X, np.array(labels, dtype=object))


def assert_shows_a_fresh_fit(session, X, labels):
    snapshot = session.snapshot()
    assert session.given.tolist() == list(labels)
    assert [None if code < 0 else snapshot.classes[code] for code in snapshot.given] == list(labels)
    if len({label for label in labels if label is not None}) < 2:
        assert snapshot.predicted is None
        assert snapshot.confidence is None
        assert not snapshot.estimate.is_known
        return
    model = fresh(X, labels)
    assert [snapshot.classes[code] for code in snapshot.predicted] == model.transduction_.tolist()
    np.testing.assert_allclose(snapshot.confidence, model.label_distributions_.max(axis=1), atol=SOLVE_TOLERANCE)
    left_out = leave_one_label_out(model)
    counted = ~left_out.is_only_label
    assert snapshot.estimate.counted == counted.sum()
    assert snapshot.estimate.right == np.sum((left_out.predictions == left_out.given)[counted])


def test_a_session_shows_the_labels_it_was_given(session, rows):
    assert_shows_a_fresh_fit(session, rows[0], start_labels(rows[1]))
    assert session.snapshot().classes == ("group 0", "group 1", "group 2", "group 3")


@st.composite
def steps(draw):
    kinds = st.sampled_from(["label", "label", "remove", "undo", "redo"])
    row = st.integers(0, 11)  # few rows, so that the same ones come again
    return draw(st.lists(st.tuples(kinds, st.lists(row, min_size=1, max_size=3), st.integers(0, 3)), max_size=8))


@settings(max_examples=25, deadline=None)
@given(steps=steps())
def test_any_sequence_of_steps_equals_a_fresh_fit_of_the_labels_it_leaves(steps):
    generator = np.random.default_rng(3)
    X = generator.standard_normal((40, 3)) + 1.5 * (np.arange(40) % 4)[:, np.newaxis]
    labels = [None] * 40
    labels[20], labels[21] = "c0", "c1"
    session = LabelingSession(X, labels, classes=("c0", "c1", "c2", "c3"))
    states, place = [list(labels)], 0  # every state that undo could come back to
    for kind, changed, number in steps:
        if kind == "undo":
            session.undo()
            place = max(place - 1, 0)
        elif kind == "redo":
            session.redo()
            place = min(place + 1, len(states) - 1)
        else:
            after = list(states[place])
            for row in changed:
                after[row] = None if kind == "remove" else f"c{number}"
            session.remove(changed) if kind == "remove" else session.label(changed, f"c{number}")
            if after != states[place]:
                states = [*states[: place + 1], after]
                place += 1
    assert_shows_a_fresh_fit(session, X, states[place])
    assert (session.snapshot().undo is None) == (place == 0)
    assert (session.snapshot().redo is None) == (place == len(states) - 1)


def test_predictions_begin_with_the_second_class(rows):
    X, _ = rows
    session = LabelingSession(X, [None] * len(X), classes=("left", "right"))
    assert session.snapshot().predicted is None
    assert len(session.advice().rows) == 10
    session.label([0], "left")
    assert session.snapshot().predicted is None
    session.label([40], "right")
    labels = [None] * len(X)
    labels[0], labels[40] = "left", "right"
    assert_shows_a_fresh_fit(session, X, labels)


def test_predictions_end_when_the_second_class_loses_its_last_label(rows):
    X, _ = rows
    labels = [None] * len(X)
    labels[0], labels[40] = "left", "right"
    session = LabelingSession(X, labels)
    session.remove([40])
    assert session.snapshot().predicted is None
    assert session.snapshot().classes == ("left", "right")
    session.undo()
    assert_shows_a_fresh_fit(session, X, labels)


def test_first_suggestions_lie_in_different_groups_of_rows(clear_clusters):
    X, cluster = clear_clusters
    advice = LabelingSession(X, [None] * len(X)).advice()
    assert set(cluster[list(advice.rows)]) == {0, 1, 2, 3}


def test_a_new_class_can_be_given_at_once(session, rows):
    X, cluster = rows
    assert session.add_class("  odd ") == "odd"
    session.label([70, 71], "odd")
    labels = start_labels(cluster)
    labels[70] = labels[71] = "odd"
    assert_shows_a_fresh_fit(session, X, labels)


@pytest.mark.parametrize("name", ["", "   ", "group 1", "x" * 101])
def test_a_class_without_a_new_short_name_is_refused(session, name):
    before = session.snapshot()
    with pytest.raises(ValueError, match=r"name|there already"):
        session.add_class(name)
    assert session.snapshot() is before


def test_a_new_class_beside_numbers_is_a_number(two_classes):
    X, y = two_classes
    session = LabelingSession(X, [None if label < 0 else int(label) for label in y])
    assert session.add_class("7") == 7
    with pytest.raises(ValueError, match=r"numbers \(0, 1, 7 …\), and 'seven' is none"):
        session.add_class("seven")


def test_a_label_that_is_no_class_is_refused(session):
    with pytest.raises(ValueError, match="no class 'other'"):
        session.label([0], "other")


@pytest.mark.parametrize("row", [-1, 80])
def test_a_row_that_is_none_is_refused(session, row):
    before = session.snapshot()
    with pytest.raises(ValueError, match=f"no row {row}"):
        session.label([0, row], "group 0")
    assert session.snapshot() is before


def test_giving_a_label_again_is_no_change(session):
    before = session.snapshot()
    assert session.label([0], "group 0") is before
    assert session.remove([79]) is before


def test_a_lasso_is_one_step_of_the_history(session, rows):
    session.label(range(60, 70), "group 0")
    assert session.snapshot().undo == "group 0 for 10 rows"
    session.undo()
    assert_shows_a_fresh_fit(session, rows[0], start_labels(rows[1]))


def test_a_new_change_forgets_what_could_have_been_done_again(session, rows):
    session.label([60], "group 0")
    session.undo()
    session.label([61], "group 1")
    assert session.snapshot().redo is None
    session.redo()
    labels = start_labels(rows[1])
    labels[61] = "group 1"
    assert_shows_a_fresh_fit(session, rows[0], labels)


def test_changed_predictions_are_counted(session, rows):
    before = session.snapshot()
    after = session.label([70], "group 0")
    changes = sum(before.classes[a] != after.classes[b] for a, b in zip(before.predicted, after.predicted, strict=True))
    assert after.n_changed == changes > 0


@pytest.mark.parametrize("weight", [0.2, 0.97, "middle"])
def test_error_weight_equals_a_fit_with_it(session, rows, weight):
    X, cluster = rows
    session.set_error_weight(0.5)
    session.set_error_weight(weight)
    session.label([70], "group 1")
    labels = start_labels(cluster)
    labels[70] = "group 1"
    model = fresh(X, labels, error_weights=[weight])
    snapshot = session.snapshot()
    assert [snapshot.classes[code] for code in snapshot.predicted] == model.transduction_.tolist()
    np.testing.assert_allclose(snapshot.confidence, model.label_distributions_.max(axis=1), atol=SOLVE_TOLERANCE)
    assert snapshot.certificate.relative_weight == pytest.approx(model.certificate_.relative_weight)
    assert snapshot.error_weight == weight


def test_the_bound_is_refused_and_everything_stays(session):
    before = session.set_error_weight(0.9)
    with pytest.raises(UnboundedProblemError):
        session.set_error_weight(1.0)
    assert session.snapshot() is before
    assert before.certificate.relative_weight == pytest.approx(0.9)


def test_a_wrong_label_is_doubted_and_a_suggestion_is_unlabeled(clear_clusters):
    X, cluster = clear_clusters
    labels = start_labels(cluster, n_each=5)
    labels[10] = "group 3"  # a row in the middle of cluster 0
    advice = LabelingSession(X, labels).advice()
    assert [(doubt.row, doubt.given, doubt.suggested) for doubt in advice.doubts] == [(10, "group 3", "group 0")]
    assert 0.5 < advice.doubts[0].suspicion <= 1
    assert advice.rows
    assert all(labels[row] is None for row in advice.rows)


def test_advice_follows_the_labels(session):
    first = session.advice()
    assert session.advice() is first
    session.label([first.rows[0]], "group 0")
    assert first.rows[0] not in session.advice().rows


def test_probabilities_of_a_row_are_those_of_the_model(session, rows):
    X, cluster = rows
    model = fresh(X, start_labels(cluster))
    expected = dict(zip(model.classes_, model.label_distributions_[33], strict=True))
    found = session.probabilities(33)
    assert [chance for _, chance in found] == sorted(expected.values(), reverse=True)
    assert dict(found) == pytest.approx(expected)


# -- labels on disk ----------------------------------------------------------------------------------------------


def saved_labels(path):
    return dict(json.loads(path.read_text(encoding="utf-8"))["labels"])


@pytest.fixture
def kept(rows, tmp_path):
    X, cluster = rows
    place = Autosave(tmp_path / "labels.json", "print of the rows")
    return LabelingSession(X, start_labels(cluster), autosave=place), place


def test_each_change_is_on_disk_when_it_is_answered(kept):
    session, place = kept
    start = saved = {row: label for row, label in enumerate(session.given) if label is not None}
    assert not place.path.exists()
    session.label([50, 51], "group 0")
    assert saved_labels(place.path) == (saved := {**saved, 50: "group 0", 51: "group 0"})
    session.remove([0])
    assert saved_labels(place.path) == {row: label for row, label in saved.items() if row != 0}
    session.undo()
    session.undo()
    assert saved_labels(place.path) == start
    session.redo()
    assert saved_labels(place.path) == saved


def test_a_change_that_cannot_be_saved_does_not_happen(kept, monkeypatch):
    session, _ = kept
    before = session.label([50], "group 0")

    def full_disk(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("semikpca.app._autosave.write_whole", full_disk)
    for change in (lambda: session.label([51], "group 1"), session.undo, lambda: session.add_class("new")):
        with pytest.raises(OSError, match="No space left"):
            change()
    assert session.snapshot() is before
    monkeypatch.undo()
    assert session.undo().undo is None  # the history is as it was, too


def test_the_next_visit_is_offered_the_labels_of_the_last(kept, rows):
    session, place = kept
    session.add_class("new")
    session.label([50], "new")
    session.set_error_weight(0.8)
    again = LabelingSession(rows[0], start_labels(rows[1]), autosave=place)
    offer = again.saved()
    assert offer.labels[50] == "new"
    again.take_up(offer)
    assert again.given.tolist() == session.given.tolist()
    assert again.snapshot().classes == session.snapshot().classes
    assert again.snapshot().certificate.relative_weight == pytest.approx(0.8)
    np.testing.assert_allclose(again.snapshot().confidence, session.snapshot().confidence, atol=SOLVE_TOLERANCE)
    again.undo()
    assert again.given.tolist() == start_labels(rows[1])


def test_nothing_is_offered_where_nothing_differs(kept, rows):
    session, place = kept
    assert session.saved() is None
    session.label([50], "group 0")
    session.undo()
    assert LabelingSession(rows[0], start_labels(rows[1]), autosave=place).saved() is None


@pytest.mark.parametrize(
    "change", [lambda session: session.add_class("new"), lambda session: session.set_error_weight(0.8)]
)
def test_the_next_visit_is_offered_classes_and_weight_without_a_label(kept, rows, change):
    session, place = kept
    change(session)
    again = LabelingSession(rows[0], start_labels(rows[1]), autosave=place)
    again.take_up(again.saved())
    assert again.snapshot().classes == session.snapshot().classes
    assert again.snapshot().error_weight == session.snapshot().error_weight
    assert again.snapshot().certificate == session.snapshot().certificate
    assert again.snapshot().undo is None  # no label changed
    np.testing.assert_allclose(again.snapshot().confidence, session.snapshot().confidence, atol=SOLVE_TOLERANCE)
    assert LabelingSession(rows[0], start_labels(rows[1]), autosave=place).saved() is not None


def test_what_is_taken_up_is_written_at_once(kept, rows, monkeypatch):
    session, place = kept
    session.label([50], "group 0")
    session.set_error_weight(0.8)
    again = LabelingSession(rows[0], start_labels(rows[1]), autosave=place)
    offer, written = again.saved(), []
    monkeypatch.setattr(Autosave, "save", lambda place, *saved: written.append(saved[1:3]))
    again.take_up(offer)
    # A program that dies between two writes would leave the labels without the weight.
    assert written == [(offer.labels, 0.8)]


def test_a_weight_that_cannot_be_saved_does_not_count(kept, rows, monkeypatch):
    session, _ = kept

    def full_disk(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("semikpca.app._autosave.write_whole", full_disk)
    with pytest.raises(OSError, match="No space left"):
        session.set_error_weight(0.99)
    monkeypatch.undo()
    session.label([50], "group 0")
    labels = start_labels(rows[1])
    labels[50] = "group 0"
    assert_shows_a_fresh_fit(session, rows[0], labels)


def test_labels_that_could_not_be_taken_up_are_still_not_overwritten(kept, rows, monkeypatch):
    session, place = kept
    session.label([50], "group 0")
    earlier = place.path.read_text(encoding="utf-8")
    again = LabelingSession(rows[0], start_labels(rows[1]), autosave=place)
    offer, before = again.saved(), again.snapshot()

    def full_disk(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("semikpca.app._autosave.write_whole", full_disk)
    with pytest.raises(OSError, match="No space left"):
        again.take_up(offer)
    monkeypatch.undo()
    assert again.snapshot() is before
    again.label([60], "group 1")
    assert (place.path.parent / "labels.previous-1.json").read_text(encoding="utf-8") == earlier


@pytest.mark.parametrize("has_links", [True, False])
def test_labels_are_offered_until_the_next_save_is_whole(kept, rows, monkeypatch, has_links):
    session, place = kept
    session.label([50], "group 0")
    earlier = place.path.read_text(encoding="utf-8")

    def no_links(source, target):
        raise OSError(95, "Operation not supported")

    if not has_links:
        monkeypatch.setattr("semikpca.app._autosave.os.link", no_links)
    place.set_aside()
    # A program that dies here has put labels aside and saved no others; without links they have one name only.
    assert place.path.exists() is has_links
    assert (place.path.parent / "labels.previous-1.json").read_text(encoding="utf-8") == earlier
    session.label([51], "group 0")
    assert saved_labels(place.path)[51] == "group 0"
    assert (place.path.parent / "labels.previous-1.json").read_text(encoding="utf-8") == earlier


def test_labels_that_are_not_taken_up_are_kept_under_another_name(kept, rows):
    session, place = kept
    session.label([50], "group 0")
    for number in (1, 2):
        again = LabelingSession(rows[0], start_labels(rows[1]), autosave=place)
        earlier = place.path.read_text(encoding="utf-8")
        assert again.saved() is not None
        again.label([60 + number], "group 1")
        assert (place.path.parent / f"labels.previous-{number}.json").read_text(encoding="utf-8") == earlier
    assert 50 not in saved_labels(place.path)
