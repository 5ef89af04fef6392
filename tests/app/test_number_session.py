"""The session of numbers: whatever is typed, it shows what a fresh fit of the same numbers would show."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semikpca import SemiKPCARegressorCV
from semikpca.app._autosave import Autosave, AutosaveError
from semikpca.app._number_session import NumberAutosave, NumberSession
from semikpca.app._queues import queue_lengths, queue_rows
from semikpca.labeling import audit_labels, prediction_intervals

N_ROWS = 60
# Iterative solves stop at a relative residual of 1e-6; numbers are of the order of 10.
SOLVE_TOLERANCE = 1e-4


def truth_of(X):
    return np.round(10 + 5 * np.sin(2 * X[:, 0]) + X[:, 1], 2)


def make_rows():
    return np.random.default_rng(3).standard_normal((N_ROWS, 2))


def make_session(n_given=15, autosave=None):
    X = make_rows()
    given = [value if row < n_given else None for row, value in enumerate(truth_of(X).tolist())]
    return NumberSession(X, given, model=SemiKPCARegressorCV(), autosave=autosave)


@pytest.fixture
def rows():
    return make_rows()


@pytest.fixture
def truth(rows):
    return truth_of(rows)


@pytest.fixture
def session():
    return make_session()


def fresh(X, labels):
    return SemiKPCARegressorCV().fit(X, np.array([np.nan if label is None else label for label in labels]))


def assert_shows_a_fresh_fit(session, X, labels):
    snapshot = session.snapshot()
    assert session.given.tolist() == list(labels)
    assert [snapshot.label_of(row) for row in range(N_ROWS)] == list(labels)
    if len({label for label in labels if label is not None}) < 2:
        assert not snapshot.has_predictions
        assert session.model() is None
        return
    np.testing.assert_allclose(snapshot.values, fresh(X, labels).transduction_, atol=SOLVE_TOLERANCE)


def test_a_number_moves_the_predictions_to_those_of_a_fresh_fit(session, rows, truth):
    before = session.snapshot().values
    session.label([40], 99.5)
    labels = [*truth[:15].tolist(), *[None] * 45]
    labels[40] = 99.5
    assert_shows_a_fresh_fit(session, rows, labels)
    snapshot = session.snapshot()
    assert snapshot.moved == pytest.approx(np.mean(np.abs(snapshot.values - before)))
    assert snapshot.moved > 0


number = st.integers(-20, 40).map(lambda value: value / 2)
steps = st.one_of(
    st.tuples(st.just("label"), st.integers(0, N_ROWS - 1), number),
    st.tuples(st.just("remove"), st.integers(0, 20)),
    st.sampled_from([("undo",), ("redo",)]),
)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))  # each step is a fit
@given(st.lists(steps, max_size=6), st.sampled_from([0, 2, 15]))
def test_after_any_steps_it_shows_a_fresh_fit_of_the_numbers(acts, n_given):
    session, X = make_session(n_given), make_rows()
    labels = session.given.tolist()
    past, future = [], []
    for act, *more in acts:
        if act in ("undo", "redo"):
            source, target = (past, future) if act == "undo" else (future, past)
            if source:
                target.append(labels)
                labels = source.pop()
            getattr(session, act)()
            continue
        row, after = more[0], labels.copy()
        after[row] = more[1] if act == "label" else None
        session.label([row], more[1]) if act == "label" else session.remove([row])
        if after != labels:
            past.append(labels)
            future.clear()
            labels = after
    assert_shows_a_fresh_fit(session, X, labels)


def test_errors_and_intervals_are_those_of_models_without_the_numbers(session, rows, truth):
    assert session.snapshot().errors is None
    assert session.waits_for_fits(0.05, is_asked=False)
    assert session.find_out()
    assert not session.waits_for_fits(0.05, is_asked=False)
    labels = session.given.tolist()
    missed = []
    for row in range(15):  # fewer than 20 numbers: each is left out by itself
        without = labels.copy()
        without[row] = None
        missed.append(truth[row] - fresh(rows, without).transduction_[row])
    errors = session.snapshot().errors
    assert errors.estimate.root_mean_square == pytest.approx(np.sqrt(np.mean(np.square(missed))), abs=SOLVE_TOLERANCE)
    assert errors.estimate.counted == 15
    assert errors.by_drawn
    oracle = prediction_intervals(fresh(rows, labels), 0.1)
    np.testing.assert_allclose(errors.low[oracle.rows], oracle.low, atol=SOLVE_TOLERANCE)
    np.testing.assert_allclose(errors.high[oracle.rows], oracle.high, atol=SOLVE_TOLERANCE)
    assert "to" in session.snapshot().between(30)


def test_errors_are_forgotten_with_the_numbers_they_belong_to_and_kept_with_a_flag(session):
    session.find_out()
    errors = session.snapshot().errors
    session.flag([3])
    assert session.snapshot().errors is errors
    session.label([30], 5)
    assert session.snapshot().errors is None


def test_a_number_that_comes_meanwhile_ends_the_search_for_errors(session, monkeypatch):
    from semikpca.app import _number_session

    def interrupted(model, drawn, empty, ask):
        session.label([30], 5)
        ask()
        raise AssertionError("the search went on")

    monkeypatch.setattr(_number_session, "found_errors", interrupted)
    assert session.find_out() is False
    assert session.snapshot().errors is None


def test_a_search_for_errors_that_fails_is_not_begun_again_and_again(session, monkeypatch):
    from semikpca.app import _number_session

    monkeypatch.setattr(_number_session, "found_errors", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        session.find_out()
    assert not session.waits_for_fits(0.05, is_asked=False)
    assert not session.snapshot().errors.estimate.is_known


def test_numbers_of_suggested_rows_count_where_few_were_drawn():
    session = make_session(0)
    for row in range(6):
        session.label([row], float(row))
    session.find_out()
    assert not session.snapshot().errors.by_drawn
    assert session.snapshot().errors.estimate.counted == 6
    assert session.snapshot().ends(30) is None  # 90% takes nine of them


def test_the_most_doubtful_rows_are_those_with_the_largest_deviation(session, rows):
    model = fresh(rows, session.given.tolist())
    found = queue_rows(session, "doubtful", 0.05)
    deviations = model.transduction_std_[found]
    assert set(found) == set(range(15, N_ROWS))
    assert np.all(np.diff(deviations) <= SOLVE_TOLERANCE)


def test_there_is_no_queue_of_rows_to_review(session):
    assert set(queue_lengths(session, 0.05)) == {"suggested", "doubtful", "random", "wrong", "flagged", "file"}


def test_a_number_that_is_far_off_is_to_be_looked_at_again(session, rows):
    session.label([20], 500.0)
    doubts = session.advice().doubts
    assert (doubts[0].row, doubts[0].given) == (20, 500.0)
    audit = audit_labels(fresh(rows, session.given.tolist()))
    assert doubts[0].suggested == pytest.approx(audit.suggested[0], abs=SOLVE_TOLERANCE)
    assert queue_rows(session, "wrong", 0.05)[0] == 20
    session.label([20], 10.0)
    assert 20 not in queue_rows(session, "wrong", 0.05)  # before the next advice is there


def test_suggestions_and_random_checks_have_no_number(session):
    advice = session.advice()
    assert len(advice.rows) == 10
    assert all(row >= 15 for row in advice.rows)
    assert set(advice.checks) <= set(advice.rows)


def test_without_two_different_numbers_rows_of_each_group_are_suggested():
    session = make_session(0)
    assert len(session.advice().rows) == 10
    session.label([1, 2], 3.0)
    assert not session.snapshot().has_predictions
    assert not session.waits_for_fits(0.05, is_asked=True)
    assert session.find_out() is False


@pytest.mark.parametrize("label", ["5", None, True, np.nan, np.inf, [1.0]])
def test_what_is_no_number_is_refused(session, label):
    before = session.given.tolist()
    with pytest.raises(ValueError, match="is no number"):
        session.label([30], label)
    assert session.given.tolist() == before


def test_numbers_have_no_classes(session):
    for act in (session.add_class, session.class_named):
        with pytest.raises(ValueError, match="no classes"):
            act("a")
    assert session.snapshot().classes == ()
    assert session.probabilities(3) == []


def test_undo_names_the_number_as_it_was_typed(session):
    session.label([3], 850.0)
    assert session.snapshot().undo == "850 for row 4"
    session.label([3, 4], 850.5)
    assert session.snapshot().undo == "850.5 for 2 rows"


# -- kept and taken up -------------------------------------------------------------------------------------------------


def test_numbers_are_saved_before_they_count_and_taken_up_in_the_next_visit(tmp_path, rows):
    place = NumberAutosave(tmp_path / "labels.json", "these found")
    first = make_session(autosave=place)
    first.label([30], 12.25)
    first.flag([7])
    first.remove([0])
    assert json.loads(place.path.read_text())["labels"][-1] == [30, 12.25]
    second = make_session(autosave=place)
    saved = second.saved()
    assert saved.labels[30] == 12.25
    second.take_up(saved)
    assert_shows_a_fresh_fit(second, rows, first.given.tolist())
    assert second.flagged == {7}
    second.undo()
    assert second.given.tolist() == make_session().given.tolist()


def test_labels_of_a_visit_with_classes_are_taken_up_where_all_are_numbers(tmp_path):
    path = tmp_path / "labels.json"
    Autosave(path, "these rows").save(["12,5", "7"], {1: "12,5", 2: "7"}, "middle")
    saved = NumberAutosave(path, "these rows").load(N_ROWS)
    assert saved.labels == {1: 12.5, 2: 7.0}
    assert saved.classes == ()
    Autosave(path, "these rows").save(["cheap"], {1: "cheap"}, "middle")
    with pytest.raises(AutosaveError, match="are classes, such as 'cheap'"):
        NumberAutosave(path, "these rows").load(N_ROWS)


def test_a_visit_with_classes_can_read_numbers(tmp_path):
    path = tmp_path / "labels.json"
    NumberAutosave(path, "these rows").save((), {1: 12.5, 2: 7.0, 5: 7.0}, "middle")
    saved = Autosave(path, "these rows").load(N_ROWS)
    assert saved.classes == (7.0, 12.5)
    assert saved.labels == {1: 12.5, 2: 7.0, 5: 7.0}


def test_numbers_of_a_file_replace_those_of_the_same_rows(session):
    assert session.import_labels({0: "3,5", 40: "7"}, {41: "9"}, "numbers.csv") == 1
    assert (session.given[0], session.given[40], session.given[41]) == (3.5, 7.0, None)
    session.undo()
    assert session.given[40] is None
    with pytest.raises(ValueError, match=r"Row 4 in numbers\.csv: 'x' is no number"):
        session.import_labels({1: "5", 3: "x"}, {}, "numbers.csv")
    assert session.snapshot().undo is None
