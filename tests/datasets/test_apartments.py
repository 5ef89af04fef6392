"""Apartments: what a table of them is like."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import cross_val_score

from semikpca.datasets import make_apartments

COLUMNS = "apartment_id city district size rooms built floor heating balcony rent".split()


@pytest.fixture(scope="module")
def apartments():
    return make_apartments(return_truth=True)


def test_the_columns_are_those_of_an_agency(apartments):
    frame, truth = apartments
    assert list(frame) == COLUMNS
    assert frame["apartment_id"].is_unique
    assert (frame["built"] == "").any()
    assert truth.shape == (500,)


def test_given_rents_are_the_true_ones(apartments):
    frame, truth = apartments
    given = (frame["rent"] != "").to_numpy()
    assert given.sum() == 60
    np.testing.assert_allclose(frame["rent"][given].astype(float), truth[given], atol=0.005)


def test_columns_tell_most_of_the_rent(apartments):
    frame, truth = apartments
    X = pd.get_dummies(frame.drop(columns=["apartment_id", "rent"]), columns=["city", "district", "heating", "balcony"])
    X = X.replace("", "0").astype(float)
    assert cross_val_score(RandomForestRegressor(random_state=0), X, truth, scoring="r2").mean() > 0.7


def test_the_same_seed_gives_the_same_table():
    pd.testing.assert_frame_equal(make_apartments(50, 5, 3), make_apartments(50, 5, 3))
    assert not make_apartments(50, 5, 3).equals(make_apartments(50, 5, 4))


@pytest.mark.parametrize(("n_rows", "n_given"), [(10, 1), (5, 6), (10, 2.5)])
def test_sizes_that_make_no_table_are_refused(n_rows, n_given):
    with pytest.raises(ValueError, match="n_given must be 2 or more"):
        make_apartments(n_rows, n_given)
