"""Columns that have nothing to do with any other: against tests of SciPy, and by how often they are right."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from semikpca.workflow import _unrelated
from semikpca.workflow._unrelated import unrelated_columns

N_ROWS = 400


def ones_and_zeros(codes):
    return np.eye(codes.max() + 1)[codes]


def test_two_categories_are_held_against_each_other_as_by_pearson(rng, monkeypatch):
    first, second = rng.integers(3, size=N_ROWS), rng.integers(4, size=N_ROWS)
    chance = stats.chi2_contingency(pd.crosstab(first, second), correction=False).pvalue
    X = np.hstack([ones_and_zeros(first), ones_and_zeros(second)])
    places = {"first": range(3), "second": range(3, 7)}

    monkeypatch.setattr(_unrelated, "_LEVEL", chance * 1.001)
    assert unrelated_columns(X, places) == frozenset()
    monkeypatch.setattr(_unrelated, "_LEVEL", chance * 0.999)
    assert unrelated_columns(X, places) == {"first", "second"}


def test_a_number_and_a_category_are_related_where_the_means_differ(rng):
    codes = rng.integers(3, size=N_ROWS)
    number = 0.5 * codes + rng.standard_normal(N_ROWS)
    X = np.hstack([number[:, np.newaxis], ones_and_zeros(codes), rng.standard_normal((N_ROWS, 1))])
    assert unrelated_columns(X, {"number": [0], "category": [1, 2, 3], "noise": [4]}) == {"noise"}


def test_of_tables_of_noise_one_in_a_hundred_is_said_to_hold_together(rng):
    n_tables, wrong = 300, 0
    for _ in range(n_tables):
        X = np.hstack(
            [rng.standard_normal((N_ROWS, 5)), *(ones_and_zeros(rng.integers(k, size=N_ROWS)) for k in (2, 5))]
        )
        places = {f"number {place}": [place] for place in range(5)}
        places |= {"two": range(5, 7), "five": range(7, 12)}
        wrong += len(unrelated_columns(X, places)) < len(places)
    # Were the probability 0.03 or more, so few would be seen once in a thousand times; 3 are expected.
    assert wrong <= stats.binom.ppf(0.999, n_tables, 0.01) + 1


def test_units_places_and_constant_columns_do_not_matter(rng):
    X = rng.standard_normal((N_ROWS, 4))
    X[:, 3] -= X[:, 1]
    places = {"a": [0], "b": [1], "c": [2], "d": [3]}
    expected = {"a", "c"}
    assert unrelated_columns(X, places) == expected
    assert unrelated_columns(X * [1e6, 1e-3, 5, 1e3] + [1e3, 0, 7, -5], places) == expected
    with_constant = np.hstack([X, np.ones((N_ROWS, 1))])
    assert unrelated_columns(with_constant, {**places, "constant": [4], "left out": []}) == expected


@pytest.mark.parametrize("n_columns", [0, 1])
def test_without_another_column_there_is_no_relation(rng, n_columns):
    names = ["only"][:n_columns]
    assert unrelated_columns(rng.standard_normal((20, 1)), {name: [0] for name in names}) == set(names)


def test_of_many_rows_some_from_the_whole_table_are_looked_at(rng):
    X = rng.standard_normal((50_000, 2))
    X[25_000:, 1] = X[25_000:, 0]  # related in the second half alone
    assert unrelated_columns(X, {"a": [0], "b": [1]}) == frozenset()
