"""What is done ahead for the row in view."""

from threading import Event

import numpy as np
import pytest

from semikpca.app._foresight import Foresight
from semikpca.app._session import LabelingSession

WAIT_S = 30


class Session:
    """Takes note of what is prepared; the first row takes until it is let go."""

    def __init__(self, fails=()):
        self.rows, self.fails = [], fails
        self.began, self.go_on, self.done = Event(), Event(), Event()

    def prepare(self, row):
        self.rows.append(row)
        if len(self.rows) == 1:
            self.began.set()
            assert self.go_on.wait(WAIT_S)
        if row in self.fails:
            raise ValueError("no such row")
        if row == 9:
            self.done.set()


def test_of_rows_that_were_looked_at_meanwhile_only_the_last_is_prepared():
    session, foresight = Session(), Foresight()
    foresight.look_at(session, 1)
    assert session.began.wait(WAIT_S)
    for row in (2, 3, 9):
        foresight.look_at(session, row)
    session.go_on.set()
    assert session.done.wait(WAIT_S)
    assert session.rows == [1, 9]


def test_a_row_that_cannot_be_prepared_does_not_keep_others_from_it():
    session, foresight = Session(fails=(1,)), Foresight()
    foresight.look_at(session, 1)
    assert session.began.wait(WAIT_S)
    foresight.look_at(session, 9)
    session.go_on.set()
    assert session.done.wait(WAIT_S)


@pytest.fixture
def session(rng):
    X = np.vstack([rng.normal(size=(20, 2)) + 4 * side for side in (-1, 1)])
    return LabelingSession(X, [*"a", *[None] * 20, *"b", *[None] * 18])


def test_a_row_that_has_a_label_is_not_prepared(session, monkeypatch):
    rows = []
    monkeypatch.setattr(type(session._model), "prepare_labels", lambda model, some: rows.extend(some))
    session.prepare(0)
    session.prepare(1)
    assert rows == [1]


def test_preparing_changes_nothing_that_is_shown(session):
    before = session.snapshot()
    session.prepare(5)
    assert session.snapshot() is before
