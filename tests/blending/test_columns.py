"""Columns that are kept whole, and what is kept of them where memory is short."""

import numpy as np
import pytest
import sklearn

from oracles import relative_error
from semikpca import SemiKPCAClassifierCV
from semikpca.blending import NO_COLUMNS, Columns, PlainSource, _candidates, _columns
from semikpca.blending._columns import ThinColumns
from semikpca.blending._sources import response_sources
from semikpca.kernels import RBF, NeighborGraph, Precomputed
from semikpca.labeling import suggest_labels
from semikpca.operators import fitted
from semikpca.problem import SemiKPCAProblem

# Solves are made to 1e-12, of which the condition number leaves this.
SAME = 1e-9

generator = np.random.default_rng(4)
X = np.vstack([generator.normal(size=(40, 3)) + 3 * side for side in (-1, 0, 1)])
TRUTH = np.repeat([0, 1, 2], 40)
AT = np.array([0, 3, 5, 41, 50, 77, 81, 90, 119])
SOURCES = {
    "plain": lambda: PlainSource(RBF(gamma=0.2), X),
    "given matrix": lambda: PlainSource(Precomputed(), RBF(gamma=0.2)(X)),
    "response": lambda: response_sources(fitted(RBF(), X), X, "auto", [SemiKPCAProblem()])[0],
    "response of a graph": lambda: response_sources(fitted(NeighborGraph(8), X), X, "auto", [SemiKPCAProblem()])[0],
}
every_source = pytest.mark.parametrize("source", [make() for make in SOURCES.values()], ids=list(SOURCES))


@every_source
def test_thin_columns_know_what_whole_ones_do(source):
    whole, thin = NO_COLUMNS.moved(source, AT), NO_COLUMNS.moved(source, AT, most_numbers=0)
    assert isinstance(thin, ThinColumns)
    assert thin.values.shape == (9, 9)
    coefficients = generator.normal(size=(9, 4))
    assert relative_error(thin.own, whole.own) < SAME
    assert relative_error(thin.means, whole.means) < SAME
    assert relative_error(thin.times(source, coefficients), whole.values @ coefficients) < SAME


@every_source
@pytest.mark.parametrize("at", [AT[2:], np.sort(np.append(AT, [7, 60])), np.array([1, 3, 41, 100])], ids=str)
@pytest.mark.parametrize("are_thin", [(False, True), (True, True), (True, False)], ids=str)
def test_columns_move_between_rows_whatever_is_kept(source, at, are_thin):
    first, second = (0 if thin else np.inf for thin in are_thin)
    moved = NO_COLUMNS.moved(source, AT, first).moved(source, at, second)
    fresh = NO_COLUMNS.moved(source, at)
    assert isinstance(moved, ThinColumns) == are_thin[1]
    np.testing.assert_array_equal(moved.at, at)
    assert relative_error(moved.own, fresh.own) < SAME
    assert relative_error(moved.means, fresh.means) < SAME


def test_what_is_known_is_not_computed_again(monkeypatch):
    source = SOURCES["response"]()
    thin = NO_COLUMNS.moved(source, AT, 0)
    asked, compute = [], source.compute
    monkeypatch.setattr(source, "compute", lambda at: asked.extend(at.tolist()) or compute(at))
    thin.moved(source, np.sort(np.append(AT[1:], 60)), 0)
    assert asked == [60]


@pytest.mark.parametrize("n_labels", [2, 10])
def test_a_model_with_little_memory_decides_as_one_with_much(n_labels):
    y = np.full(120, -1)
    for code in range(3):
        y[40 * code : 40 * code + n_labels] = code
    plenty = SemiKPCAClassifierCV().fit(X, y)
    with sklearn.config_context(working_memory=0.001):  # a kilobyte: no column of any source is kept
        scarce = SemiKPCAClassifierCV(backend="dense").fit(X, y)
        assert all(isinstance(columns, ThinColumns) for columns in scarce.blend_.columns)
        assert relative_error(scarce.decision_, plenty.decision_) < 1e-5  # solves are made to 1e-6
        np.testing.assert_array_equal(scarce.transduction_, plenty.transduction_)
        assert relative_error(scarce.decision_function(X[:9] + 0.1), plenty.decision_function(X[:9] + 0.1)) < 1e-5
        assert suggest_labels(scarce, n=3).tolist() == suggest_labels(plenty, n=3).tolist()
        more = [a.add_labels([35, 75], [0, 1]).decision_ for a in (scarce, plenty)]
    assert relative_error(*more) < 1e-5


@pytest.mark.parametrize("n_at_once", [7, 4096])
@pytest.mark.parametrize("silent", [[], [2, 5], list(range(9))], ids=str)
def test_sums_of_columns_are_products_whatever_says_nothing(rng, monkeypatch, n_at_once, silent):
    monkeypatch.setattr(_columns, "_ROWS_AT_ONCE", n_at_once)
    values = np.asfortranarray(rng.normal(size=(120, 9)).astype(np.float32))
    coefficients = rng.normal(size=(9, 4))
    coefficients[silent] = 0
    sums = Columns(AT, values).times(None, coefficients)
    expected = np.einsum("ij,jk->ik", values.astype(np.float64), coefficients)
    assert sums.dtype == np.float64
    np.testing.assert_allclose(sums, expected, rtol=0, atol=SAME)


def test_a_row_may_be_asked_for_twice():
    source = SOURCES["plain"]()
    twice = NO_COLUMNS.moved(source, AT).moved(source, np.array([5, 60, 5]))
    np.testing.assert_array_equal(twice.values[:, 0], twice.values[:, 2])


def test_a_blend_is_the_same_whether_sums_of_candidates_are_kept_or_made_again(monkeypatch):
    y = np.full(120, -1)
    y[[0, 1, 2, 40, 41, 80, 81]] = [0, 0, 0, 1, 1, 2, 2]
    kept = SemiKPCAClassifierCV().fit(X, y)
    monkeypatch.setattr(_candidates, "_MOST_SUMS", 0)
    again = SemiKPCAClassifierCV().fit(X, y)
    np.testing.assert_allclose(again.decision_, kept.decision_, rtol=0, atol=SAME)
    np.testing.assert_allclose(again.decision_function(X), kept.decision_function(X), rtol=0, atol=SAME)
