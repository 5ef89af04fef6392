"""Real targets: what marks an unlabeled row, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from semikpca.targets import as_numbers, encode_values


def test_nan_and_none_mark_unlabeled_rows_and_minus_one_is_a_number():
    targets = encode_values([-1.0, None, float("nan"), 2])
    assert targets.labeled_rows.tolist() == [0, 3]
    assert targets.given.tolist() == [[-1.0], [2.0]]
    assert targets.is_one_column


@pytest.mark.parametrize("y", [pd.Series([1, None, 3], dtype="Int64"), pd.Series([1.0, np.nan, 3.0])])
def test_missing_values_of_pandas_are_unlabeled(y):
    assert encode_values(y).labeled_rows.tolist() == [0, 2]


def test_several_targets_come_back_as_columns():
    targets = encode_values([[1.0, 2.0], [np.nan, np.nan]])
    assert not targets.is_one_column
    assert targets.n_targets == 2
    assert targets.shaped(np.ones((2, 2))).shape == (2, 2)


def test_a_row_with_some_of_its_targets_is_refused_by_its_number():
    with pytest.raises(ValueError, match=r"Row 1 of y has some of its 2 targets.*1 rows do"):
        encode_values([[1.0, 2.0], [3.0, np.nan], [np.nan, np.nan]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([np.nan, None], "No label is given: all 2 rows"),
        ([1.0, np.inf], "infinity"),
        (["cat", 1.0], "'cat', which is no number"),
        ([1 + 2j, 1.0], "Complex data not supported"),
        (np.zeros((2, 2, 2)), "shape"),
        (np.zeros((2, 0)), "shape"),
    ],
)
def test_what_is_no_number_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        encode_values(y)


def test_a_change_leaves_the_targets_as_they_were():
    targets = encode_values([1.0, np.nan, 3.0])
    changed = targets.changed(np.array([1, 2]), np.array([[5.0], [np.nan]]))
    assert changed.labeled_rows.tolist() == [0, 1]
    assert targets.labeled_rows.tolist() == [0, 2]


def test_the_last_label_cannot_be_taken_away():
    with pytest.raises(ValueError, match="All 2 labels would be taken away"):
        encode_values([1.0, np.nan, 3.0]).without(np.array([0, 2]))


def test_digits_of_numbers_as_text_are_numbers():
    assert as_numbers(np.array(["1.5", None], dtype=object)).tolist()[0] == 1.5
