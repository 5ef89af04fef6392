"""Classes that are renamed, merged and deleted, flags and acceptances: one history, and each step can be undone."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semikpca import SemiKPCAClassifierCV
from semikpca.app._autosave import Autosave
from semikpca.app._session import LabelingSession

# Iterative solves stop at a relative residual of 1e-6; probabilities follow it.
SOLVE_TOLERANCE = 1e-5
N_ROWS = 40


def make_rows():
    generator = np.random.default_rng(3)
    return generator.standard_normal((N_ROWS, 3)) + 1.5 * (np.arange(N_ROWS) % 4)[:, np.newaxis]


def start_labels():
    labels = [None] * N_ROWS
    for row in range(20, 32):
        labels[row] = f"c{row % 4}"
    return labels


@pytest.fixture
def place(tmp_path):
    return Autosave(tmp_path / "labels.json", "print of the rows")


@pytest.fixture
def session(place):
    return LabelingSession(make_rows(), start_labels(), autosave=place)


class Naive:
    """The same, by copies of everything: labels, classes and flags, and a list of all states."""

    def __init__(self, labels, classes):
        self.states, self.place = [(tuple(labels), tuple(classes), frozenset())], 0

    @property
    def now(self):
        return self.states[self.place]

    def become(self, labels=None, classes=None, flags=None):
        old = self.now
        new = (
            tuple(old[0] if labels is None else labels),
            tuple(old[1] if classes is None else classes),
            frozenset(old[2] if flags is None else flags),
        )
        if new != old:
            self.states = [*self.states[: self.place + 1], new]
            self.place += 1

    def mapped(self, old, new):
        return [new if label == old else label for label in self.now[0]]


KINDS = ["label", "label", "remove", "flag", "unflag", "add", "rename", "merge", "delete", "undo", "undo", "redo"]


@st.composite
def steps(draw):
    rows = st.lists(st.integers(0, 11), min_size=1, max_size=3)
    return draw(st.lists(st.tuples(st.sampled_from(KINDS), rows, st.integers(0, 7), st.integers(0, 7)), max_size=12))


@settings(max_examples=40, deadline=None)
@given(steps=steps())
def test_any_sequence_of_steps_is_what_copies_of_everything_say(steps, tmp_path_factory):
    place = Autosave(tmp_path_factory.mktemp("saved") / "labels.json", "print")
    X, labels = make_rows(), start_labels()
    session, naive = LabelingSession(X, labels, autosave=place), Naive(labels, ("c0", "c1", "c2", "c3"))
    for number, (kind, rows, first, second) in enumerate(steps):
        old, classes, flags = naive.now
        one, other = (classes[which % len(classes)] if classes else None for which in (first, second))
        if kind in ("undo", "redo"):
            getattr(session, kind)()
            naive.place = min(max(naive.place + (1 if kind == "redo" else -1), 0), len(naive.states) - 1)
        elif kind == "remove":
            session.remove(rows)
            naive.become([None if row in rows else label for row, label in enumerate(old)])
        elif kind in ("flag", "unflag"):
            session.flag(rows, kind == "flag")
            naive.become(flags=flags | set(rows) if kind == "flag" else flags - set(rows))
        elif kind == "add":
            session.add_class(f"new {number}")
            naive.become(classes=[*classes, f"new {number}"])
        elif one is None:
            continue
        elif kind == "label":
            session.label(rows, one)
            naive.become([one if row in rows else label for row, label in enumerate(old)])
        elif kind == "rename":
            session.rename_class(one, f"name {number}")
            renamed = [f"name {number}" if label == one else label for label in classes]
            naive.become(naive.mapped(one, f"name {number}"), renamed)
        elif kind == "merge" and one != other:
            session.merge_classes(one, other)
            naive.become(naive.mapped(one, other), [label for label in classes if label != one])
        elif kind == "delete":
            session.delete_class(one)
            naive.become(naive.mapped(one, None), [label for label in classes if label != one])
    labels, classes, flags = naive.now
    snapshot = session.snapshot()
    assert tuple(session.given) == labels
    assert snapshot.classes == classes
    assert session.flagged == snapshot.flagged == flags
    assert (snapshot.undo is None) == (naive.place == 0)
    assert (snapshot.redo is None) == (naive.place == len(naive.states) - 1)
    if naive.place:
        saved = place.load(N_ROWS)
        assert saved.labels == {row: label for row, label in enumerate(labels) if label is not None}
        assert (saved.classes, saved.flagged) == (classes, flags)
    if len(set(labels) - {None}) > 1:
        model = SemiKPCAClassifierCV().fit(X, np.array(labels, dtype=object))
        assert [snapshot.classes[code] for code in snapshot.predicted] == model.transduction_.tolist()
        np.testing.assert_allclose(snapshot.confidence, model.label_distributions_.max(axis=1), atol=SOLVE_TOLERANCE)
    else:
        assert snapshot.predicted is None


def test_each_step_says_what_it_was(session):
    said = []
    session.add_class("odd")
    said.append(session.snapshot().undo)
    session.label([0, 1], "odd")
    said.append(session.rename_class("odd", "even").undo)
    said.append(session.merge_classes("even", "c0").undo)
    said.append(session.delete_class("c1").undo)
    said.append(session.flag([3]).undo)
    said.append(session.flag([3], on=False).undo)
    assert said == [
        "the new class odd",
        "the name even for the class odd",
        "the merge of even into c0",
        "the end of the class c1 and its 3 labels",
        "flag on row 4",
        "no flag on row 4",
    ]
    assert session.undo().redo == "no flag on row 4"


def test_a_mistyped_class_can_be_taken_back(session):
    session.add_class("spma")
    assert session.undo().classes == ("c0", "c1", "c2", "c3")
    assert session.redo().classes == ("c0", "c1", "c2", "c3", "spma")


def test_a_renamed_class_keeps_its_key_and_changes_no_prediction(session):
    before = session.snapshot()
    after = session.rename_class("c2", "another")
    assert after.classes == ("c0", "c1", "another", "c3")
    assert after.n_changed == 0
    names = {"c2": "another"}
    expected = [names.get(before.classes[code], before.classes[code]) for code in before.predicted]
    assert [after.classes[code] for code in after.predicted] == expected


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda session: session.rename_class("c0", "c1"), "The class c1 is there already. Merge c0 into it"),
        (lambda session: session.rename_class("c0", "  "), "A class needs a name"),
        (lambda session: session.rename_class("other", "c9"), "no class 'other'"),
        (lambda session: session.merge_classes("c0", "c0"), "into itself"),
        (lambda session: session.merge_classes("c0", "other"), "no class 'other'"),
        (lambda session: session.delete_class("other"), "no class 'other'"),
        (lambda session: session.flag([N_ROWS]), "no row 40"),
    ],
)
def test_what_cannot_be_done_changes_nothing(session, place, edit, words):
    before = session.snapshot()
    with pytest.raises(ValueError, match=words):
        edit(session)
    assert session.snapshot() is before
    assert not place.path.exists()


def test_a_name_that_stays_is_no_step(session):
    before = session.snapshot()
    assert session.rename_class("c0", " c0 ") is before


def test_names_of_numbers_are_numbers():
    labels = [None if label is None else int(label[1:]) for label in start_labels()]
    session = LabelingSession(make_rows(), labels)
    assert session.rename_class(2, "7").classes == (0, 1, 7, 3)
    with pytest.raises(ValueError, match="'seven' is none"):
        session.rename_class(7, "seven")
    session = LabelingSession(make_rows(), [None if label is None else float(label) for label in labels])
    for name in ("nan", "inf"):
        with pytest.raises(ValueError, match="is none"):
            session.add_class(name)


def test_what_cannot_be_saved_does_not_count(session, monkeypatch):
    before = session.label([0], "c0")

    def full_disk(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("semikpca.app._autosave.write_whole", full_disk)
    for edit in (
        lambda: session.rename_class("c0", "c9"),
        lambda: session.merge_classes("c0", "c1"),
        lambda: session.delete_class("c0"),
        lambda: session.flag([1]),
    ):
        with pytest.raises(OSError, match="No space left"):
            edit()
    assert session.snapshot() is before
    assert session.class_named("c0") == "c0"


# -- tabs that show classes of before ----------------------------------------------------------------------------


def test_a_class_that_was_renamed_or_merged_is_what_it_has_become(session):
    session.rename_class("c0", "first")
    session.rename_class("first", "second")
    session.merge_classes("second", "c1")
    assert [session.class_named(name) for name in ("c0", "first", "second", "c1")] == ["c1"] * 4
    session.undo()
    assert [session.class_named(name) for name in ("c0", "first", "second")] == ["second"] * 3
    session.undo()
    assert [session.class_named(name) for name in ("c0", "first", "second")] == ["first"] * 3
    session.undo()
    assert [session.class_named(name) for name in ("c0", "first", "second")] == ["c0"] * 3


def test_a_class_that_was_deleted_is_refused_until_it_is_back(session):
    session.delete_class("c0")
    with pytest.raises(ValueError, match="no class c0 any more"):
        session.class_named("c0")
    session.undo()
    assert session.class_named("c0") == "c0"


def test_a_new_class_of_an_old_name_is_itself(session):
    session.rename_class("c0", "c9")
    session.add_class("c0")
    assert session.class_named("c0") == "c0"


# -- labels that were accepted -----------------------------------------------------------------------------------


@pytest.fixture
def promising(clear_clusters, place):
    """A session in which much can be accepted, and the label of each row."""
    X, cluster = clear_clusters
    truth = [f"group {group}" for group in cluster]
    drawn = set(np.random.default_rng(1).permutation(80)[:40].tolist())
    return LabelingSession(X, [truth[row] if row in drawn else None for row in range(80)], autosave=place), truth


def test_accepting_is_one_step_that_teaches_nothing(promising):
    session, _ = promising
    with pytest.raises(ValueError, match="not found out for the present labels"):
        session.accept(0.1)
    session.find_acceptance()
    before, model = session.snapshot(), session.model()
    can_be = dict(zip(session.accepted(0.1).rows.tolist(), session.accepted(0.1).labels.tolist(), strict=True))
    assert len(can_be) > 10
    after = session.accept(0.1)
    assert session.accepted_labels == can_be
    assert after.n_accepted == len(can_be)
    assert after.undo == f"acceptance of {len(can_be)} rows"
    assert {row: after.classes[after.accepted[row]] for row in can_be} == can_be
    # Nothing was learned, and no promise rests on them.
    assert session.model() is model
    np.testing.assert_array_equal(after.given, before.given)
    np.testing.assert_array_equal(after.confidence, before.confidence)
    assert after.n_drawn == before.n_drawn
    assert after.estimate == before.estimate
    assert session.accepted(0.1).rows.tolist() == list(can_be)  # still known
    # They are not listed for review, nor suggested but as random checks.
    assert not set(session.to_review(0.001)) & set(can_be)
    assert not (set(session.advice().rows) - set(session.advice().checks)) & set(can_be)
    assert session.undo().n_accepted == 0
    assert session.redo().n_accepted == len(can_be)
    assert session.withdraw_accepted().undo == f"withdrawal of {len(can_be)} accepted rows"
    assert session.accepted_labels == {}
    assert session.undo().n_accepted == len(can_be)


def test_a_person_can_label_an_accepted_row(promising):
    session, _ = promising
    session.find_acceptance()
    session.accept(0.1)
    row, label = next(iter(session.accepted_labels.items()))
    other = next(one for one in session.snapshot().classes if one != label)
    n_accepted = session.snapshot().n_accepted
    session.label([row], other)
    assert session.given[row] == other
    assert row not in session.accepted_labels
    session.undo()
    assert session.given[row] is None
    assert session.accepted_labels[row] == label
    assert session.remove([row]).n_accepted == n_accepted - 1
    session.undo()
    # The same label is a label too: then a person has looked at it.
    session.label([row], label)
    assert (session.given[row], row in session.accepted_labels) == (label, False)


def test_random_checks_are_drawn_from_accepted_rows_as_well(promising):
    session, _ = promising
    session.find_acceptance()
    checks = session.checks()
    session.accept(0.1)
    assert session.checks() == checks
    assert set(checks) & set(session.accepted_labels)
    assert set(checks) <= set(session.advice().rows)


def test_accepted_labels_follow_their_class(promising):
    session, _ = promising
    session.find_acceptance()
    session.accept(0.1)
    of_first = [row for row, label in session.accepted_labels.items() if label == "group 0"]
    assert of_first
    session.rename_class("group 0", "zero")
    assert {session.accepted_labels[row] for row in of_first} == {"zero"}
    session.merge_classes("zero", "group 1")
    assert {session.accepted_labels[row] for row in of_first} == {"group 1"}
    session.delete_class("group 1")
    assert not set(session.accepted_labels) & set(of_first)
    session.undo()
    session.undo()
    session.undo()
    assert {session.accepted_labels[row] for row in of_first} == {"group 0"}


def test_accepting_again_adds_what_is_new_and_keeps_what_was_accepted(promising):
    session, truth = promising
    session.find_acceptance()
    session.accept(0.1)
    first = session.accepted_labels
    before = session.snapshot()
    assert session.accept(0.1) is before  # nothing new
    row = next(row for row, label in enumerate(session.given) if (label is None and row not in first) or row in first)
    session.label([row], truth[row])
    session.find_acceptance()
    session.accept(0.2)
    kept = {one: label for one, label in first.items() if one != row}
    assert kept.items() <= session.accepted_labels.items()


def test_flags_and_acceptances_outlive_the_program(promising, place, clear_clusters):
    session, _ = promising
    session.find_acceptance()
    session.accept(0.1)
    session.flag([1, 2])
    content = json.loads(place.path.read_text(encoding="utf-8"))
    assert content["format"] == 2
    assert {row for row, _ in content["labels"]}.isdisjoint(row for row, _ in content["accepted"])
    again = LabelingSession(clear_clusters[0], session.given, autosave=place)
    offer = again.saved()
    again.take_up(offer)
    assert again.accepted_labels == session.accepted_labels
    assert again.flagged == {1, 2}
    again.undo()
    assert (again.accepted_labels, again.flagged) == ({}, frozenset())


# -- what was saved before ---------------------------------------------------------------------------------------


def test_a_file_of_format_1_is_taken_up_as_it_is(place):
    place.path.write_text(
        json.dumps(
            {
                "format": 1,
                "fingerprint": "print of the rows",
                "saved_at": "2026-11-16T12:00:00+01:00",
                "error_weight": 0.8,
                "classes": ["c0", "c1", "c2", "c3", "kept"],
                "labels": [[0, "kept"], [1, "c1"]],
                "drawn": [1],
            }
        ),
        encoding="utf-8",
    )
    session = LabelingSession(make_rows(), start_labels(), autosave=place)
    offer = session.saved()
    assert (offer.labels, offer.drawn, offer.accepted, offer.flagged) == ({0: "kept", 1: "c1"}, {1}, {}, frozenset())
    after = session.take_up(offer)
    assert after.classes[-1] == "kept"
    assert after.error_weight == 0.8
    content = json.loads(place.path.read_text(encoding="utf-8"))
    assert (content["format"], content["labels"]) == (2, [[0, "kept"], [1, "c1"]])


def visit(place, labels, **given):
    """What a visit leaves that ends with these labels."""
    session = LabelingSession(make_rows(), start_labels(), autosave=place)
    session.saved()
    for row, label in labels.items():
        if label not in session.snapshot().classes:
            session.add_class(label)
        session.label([row], label)
    return session


def test_taking_up_keeps_what_was_changed_in_this_visit(place):
    visit(place, {0: "c1", 1: "c1", 20: "c3", 5: "rare"})
    session = LabelingSession(make_rows(), start_labels(), autosave=place)
    offer = session.saved()
    session.label([1], "c2")  # another label than last time
    session.remove([21])
    session.label([9], "c0")
    session.take_up(offer)
    expected = start_labels()
    # Newer where both have said something; as it was saved everywhere else.
    expected[0], expected[1], expected[20], expected[5], expected[21], expected[9] = (
        "c1",
        "c2",
        "c3",
        "rare",
        None,
        "c0",
    )
    assert session.given.tolist() == expected
    assert "rare" in session.snapshot().classes
    session.undo()
    assert session.given[0] is None
    assert session.given[9] == "c0"
    session.redo()
    assert session.given.tolist() == expected


@pytest.mark.parametrize(
    ("edit", "classes"),
    [
        (lambda session: session.rename_class("c0", "zero"), ("zero", "c1", "c2", "c3")),
        (lambda session: session.merge_classes("c0", "c1"), ("c1", "c2", "c3")),
        (lambda session: session.delete_class("c0"), ("c1", "c2", "c3")),
    ],
)
def test_a_class_that_was_edited_does_not_come_back_with_the_next_visit(session, place, edit, classes):
    edit(session)
    again = LabelingSession(make_rows(), start_labels(), autosave=place)
    assert again.take_up(again.saved()).classes == classes
    assert again.given.tolist() == session.given.tolist()


def test_a_class_without_labels_that_was_deleted_is_offered_to_be_gone_again(place):
    session = LabelingSession(make_rows(), start_labels(), classes=("c0", "c1", "c2", "c3", "unused"), autosave=place)
    session.delete_class("unused")
    again = LabelingSession(make_rows(), start_labels(), classes=("c0", "c1", "c2", "c3", "unused"), autosave=place)
    assert again.take_up(again.saved()).classes == ("c0", "c1", "c2", "c3")


def test_a_class_that_is_in_use_stays_when_a_visit_without_it_is_taken_up(place, session):
    session.merge_classes("c0", "c1")
    again = LabelingSession(make_rows(), start_labels(), autosave=place)
    offer = again.saved()
    again.label([0], "c0")
    again.add_class("new")
    assert again.take_up(offer).classes == ("c1", "c2", "c3", "c0", "new")


def test_an_earlier_visit_is_merged_and_present_labels_stay(place):
    visit(place, {0: "c1", 1: "c1", 5: "rare"})
    session = visit(place, {1: "c2", 2: "c3"})
    earlier = [one for one in session.visits() if not one.is_present]
    assert [len(one.saved.labels) for one in earlier] == [15]
    assert session.merge(earlier[0].saved) == 1
    expected = start_labels()
    expected[0], expected[1], expected[2], expected[5] = "c1", "c2", "c3", "rare"
    assert session.given.tolist() == expected
    assert session.snapshot().classes == ("c0", "c1", "c2", "c3", "rare")
    session.undo()
    session.restore(earlier[0].saved)
    assert {row: label for row, label in enumerate(session.given) if label is not None} == earlier[0].saved.labels


def test_visits_are_listed_newest_first_with_what_is_wrong_with_the_others(place):
    visit(place, {0: "c1"})
    visit(place, {0: "c2", 1: "c2"})
    session = visit(place, {0: "c3", 1: "c3", 2: "c3"})
    (place.path.parent / "labels.previous-7.json").write_text("{")
    (place.path.parent / "labels.previous-x.json").write_text("no file of ours")
    found = session.visits()
    assert [one.name for one in found if one.is_present] == ["labels.json"]
    assert sorted(len(one.saved.labels) for one in found if one.saved) == [13, 14, 15]
    (broken,) = [one for one in found if one.saved is None]
    assert broken is found[-1]
    assert broken.name == "labels.previous-7.json"
    assert "damaged" in broken.problem
