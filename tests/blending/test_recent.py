"""Columns that were solved for lately are not solved for again, and are what they were."""

import numpy as np
import pytest

from oracles import relative_error
from semikpca import SemiKPCAClassifierCV
from semikpca.blending import _recent
from semikpca.blending._sources import response_sources
from semikpca.kernels import NeighborGraph
from semikpca.operators import fitted
from semikpca.problem import SemiKPCAProblem

# Columns are solved for alone or beside others, each time to 1e-9, of which the condition number leaves this.
SAME = 1e-6


@pytest.fixture
def source(rng):
    X = np.vstack([rng.normal(size=(40, 3)) + 3 * side for side in (-1, 1)])
    (found,) = response_sources(fitted(NeighborGraph(8), X), X, "auto", [SemiKPCAProblem()])
    return found


@pytest.fixture
def solved(source, monkeypatch):
    rows, solve = [], source._solved
    monkeypatch.setattr(source, "_solved", lambda at: rows.append(at.tolist()) or solve(at))
    return rows


def test_a_column_is_solved_for_once(source, solved):
    first, one = source.compute(np.array([3, 50]))
    again, other = source.compute(np.array([50, 7, 3]))
    assert solved == [[3, 50], [7]]
    np.testing.assert_array_equal(again[:, [2, 0]], first)
    assert other.residual >= one.residual  # that of the worst solve, also where it was made before


def test_columns_that_are_kept_are_those_of_a_fresh_source(source):
    source.prepare(np.array([3]))
    kept, _ = source.compute(np.array([3, 60]))
    fresh, _ = source._solved(np.array([3, 60]))
    assert relative_error(kept, fresh) < SAME


def test_nobody_can_change_what_is_kept(source):
    columns, _ = source.compute(np.array([3]))
    before = columns.copy()
    columns[:] = 0
    np.testing.assert_array_equal(source.compute(np.array([3]))[0], before)


def test_only_the_columns_that_were_asked_for_last_are_kept(source, solved, monkeypatch):
    monkeypatch.setattr(_recent, "_MOST_NUMBERS", 2 * source.n)
    for row in (1, 2, 1, 3, 1, 2):
        source.compute(np.array([row]))
    assert solved == [[1], [2], [3], [2]]
    source.compute(np.arange(10, 20))  # more than there is room for
    assert solved[-1] == list(range(10, 20))
    assert len(source._recent.known(np.arange(80))) == 2


def test_a_source_is_stored_without_them(source):
    before = set(source.__getstate__())
    source.prepare(np.array([3]))
    assert set(source.__getstate__()) == before


def test_a_label_that_was_prepared_says_the_same(rng):
    X = np.vstack([rng.normal(size=(60, 3)) + 2 * side for side in (-1, 0, 1)])
    y = np.full(180, -1)
    y[[0, 1, 60, 61, 120, 121]] = [0, 0, 1, 1, 2, 2]
    after = y.copy()
    after[100] = 1
    plain, prepared = SemiKPCAClassifierCV().fit(X, y), SemiKPCAClassifierCV().fit(X, y)
    prepared.prepare_labels([100])
    prepared.prepare_labels([])
    found, expected = prepared.with_labels(after), plain.with_labels(after)
    assert relative_error(found.decision_, expected.decision_) < SAME
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)


def test_a_row_that_does_not_exist_cannot_be_prepared(rng):
    model = SemiKPCAClassifierCV().fit(rng.normal(size=(20, 2)), [0, 1, *[-1] * 18])
    with pytest.raises(ValueError, match="Row 20 does not exist"):
        model.prepare_labels([20])
