"""Columns that are said to be categories, whatever their cells look like."""

import datetime

import numpy as np
import pandas as pd
import pytest

from semikpca.exceptions import TableError
from semikpca.tables import (
    ColumnRoles,
    TableToNumbers,
    check_roles,
    feature_kinds,
    make_vectorizer,
    read_table,
    settled_roles,
)

CODES = ["1", "2", "30", "2", "1", "30", "2", "1"] * 5


@pytest.fixture
def frame():
    return pd.DataFrame({"code": CODES, "x": [f"{row / 7:.3f}" for row in range(40)]})


def squared_distances(X):
    return ((X[:, np.newaxis] - X) ** 2).sum(axis=2)


def test_numbers_that_are_categories_are_the_same_or_not(frame):
    X = TableToNumbers(category=("code",)).fit_transform(frame[["code"]])
    apart = squared_distances(X)
    is_same = np.array(CODES)[:, np.newaxis] == np.array(CODES)
    assert np.abs(apart[is_same]).max() < 1e-10
    # All pairs of different categories are equally far apart: 1 is no nearer to 2 than to 30.
    np.testing.assert_allclose(apart[~is_same], apart[~is_same].mean(), rtol=1e-5)


def test_without_a_word_they_are_numbers(frame):
    assert feature_kinds(TableToNumbers().fit(frame))["numbers"] == ["code", "x"]
    assert feature_kinds(TableToNumbers(category=("code",)).fit(frame)) == {"numbers": ["x"], "categories": ["code"]}


@pytest.mark.parametrize(
    "cells",
    [
        [float(row % 4) for row in range(40)],
        [datetime.date(2020, 1, 1 + row % 5) for row in range(40)],
        [f"a sentence of several words, number {row % 6}" for row in range(40)],
        [("yes" if row % 3 else None) for row in range(40)],
    ],
    ids=["numbers", "dates", "sentences", "with gaps"],
)
def test_any_cells_can_be_categories(cells):
    from semikpca.tables import features_of

    features = features_of(pd.DataFrame({"a": pd.Series(cells, dtype=object), "x": np.arange(40.0)}))
    vectorizer = TableToNumbers(category=("a",)).fit(features)
    assert vectorizer.kinds_["a"] == "category"
    X = vectorizer.transform(features)
    assert np.isfinite(X).all()
    assert len(np.unique(X[:, 1:], axis=0)) == len(set(cells))


def test_a_category_is_no_identifier_and_has_one_role(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"n": np.arange(40), "x": np.sin(np.arange(40)), "kind": ["a", ""] * 20}).to_csv(path, index=False)
    table = read_table(path)
    assert settled_roles(table, ColumnRoles("kind"))[0].exclude == ("n",)
    roles, _ = settled_roles(table, ColumnRoles("kind", category=("n",)))
    assert roles.exclude == ()
    assert make_vectorizer(roles).category == ("n",)
    with pytest.raises(TableError, match="'n' is named in --category-column and in --exclude"):
        settled_roles(table, ColumnRoles("kind", category=("n",), exclude=("n",)))


def test_too_many_categories_are_refused_with_their_number(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"n": np.arange(1_001), "x": np.arange(1_001) % 7, "kind": "a"}).to_csv(path, index=False)
    with pytest.raises(TableError, match=r"'n' of rows\.csv has 1,001 different values, and at most 1,000"):
        check_roles(read_table(path), ColumnRoles("kind", category=("n",)))
