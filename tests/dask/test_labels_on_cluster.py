"""Labels in chunks: the rules are those of all labels at once, whatever a chunk alone would look like."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from semikpca.labels import LabelCoding
from semikpca.problem import _few_labels
from semikpca.problem._few_labels import FewLabels, labels_on_cluster

pytestmark = pytest.mark.slow  # a cluster of worker processes is started

# y, the classes, and the class number of each row (-1 for none), written out by hand.
CASES = {
    "whole numbers": (np.array([-1, 2, -1, 0, 2, -1]), [0, 2], [-1, 1, -1, 0, 1, -1]),
    "a NaN elsewhere makes -1 a class": (np.array([-1.0, 1.0, -1.0, np.nan]), [-1.0, 1.0], [0, 1, 0, -1]),
    "floats without NaN": (np.array([-1.0, 0.0, -1.0, 1.0]), [0.0, 1.0], [-1, 0, -1, 1]),
    "strings and None": (np.array(["b", None, None, "a", "b"], dtype=object), ["a", "b"], [1, -1, -1, 0, 1]),
    "-1 among objects": (np.array([-1, 3, -1, 4], dtype=object), [3, 4], [-1, 0, -1, 1]),
    "-1 and None among objects": (np.array([-1, 3, -1, None], dtype=object), [-1, 3], [0, 1, 0, -1]),
    "texts of different lengths": (np.array(["x", "longer", "x"]), ["longer", "x"], [1, 0, 1]),
    "yes and no": (np.array([True, False, True, True]), [False, True], [1, 0, 1, 1]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("size", [1, 2, 100])
def test_labels_in_chunks_are_read_as_all_labels_at_once(client, case, size):
    y, classes, codes = CASES[case]
    found = labels_on_cluster(da.from_array(y, chunks=size))
    assert found.classes.tolist() == classes
    assert found.codes[np.arange(len(y))].tolist() == codes
    assert found.labeled_rows.tolist() == [row for row, code in enumerate(codes) if code != -1]
    assert len(found.codes) == len(y)


def test_a_class_may_be_in_one_partition_of_a_series_only(client):
    labels = [None, "early", None, None, "late", "early", None]
    series = dd.from_pandas(pd.Series(labels, name="label"), npartitions=3)
    found = labels_on_cluster(series)
    assert found.classes.tolist() == ["early", "late"]
    assert found.codes[np.arange(7)].tolist() == [-1, 0, -1, -1, 1, 0, -1]


def test_categories_and_missing_whole_numbers_of_pandas_are_read(client):
    categories = dd.from_pandas(pd.Series(["a", None, "b", "a"], dtype="category"), npartitions=2)
    assert labels_on_cluster(categories).labeled_rows.tolist() == [0, 2, 3]
    numbers = dd.from_pandas(pd.Series([-1, 2, None, 2], dtype="Int64"), npartitions=2)
    found = labels_on_cluster(numbers)
    assert found.classes.tolist() == [-1, 2]
    assert found.labeled_rows.tolist() == [0, 1, 3]


def test_one_column_of_two_dimensions_is_taken(client):
    found = labels_on_cluster(da.from_array(np.array([[0], [-1], [1]]), chunks=(2, 1)))
    assert found.labeled_rows.tolist() == [0, 2]


def test_two_columns_no_labels_and_too_many_labels_are_refused(client, monkeypatch):
    with pytest.raises(ValueError, match=r"y must be one column of labels, got shape \(2, 2\)"):
        labels_on_cluster(da.zeros((2, 2), chunks=1))
    with pytest.raises(ValueError, match=r"No label is given: all 4 rows"):
        labels_on_cluster(da.full(4, -1, chunks=2))
    with pytest.raises(ValueError, match=r"The labels mix a number and str"):
        labels_on_cluster(da.from_array(np.array(["a", None, 3], dtype=object), chunks=1))
    monkeypatch.setattr(_few_labels, "MOST_LABELS", 3)
    with pytest.raises(ValueError, match=r"4 rows of y are labeled, and up to 3"):
        labels_on_cluster(da.from_array(np.array([0, 1, 0, -1, 1]), chunks=2))


# -- labels of few among many rows -------------------------------------------------------------------------------


def few():
    return FewLabels.at(np.array(["a", "b"]), 10**9, np.array([5, 10**8, 10**8 + 1]), np.array([1, 0, 1]))


def test_few_labels_answer_for_any_rows_without_a_number_for_each():
    labels = few()
    assert len(labels.codes) == 10**9
    assert labels.codes[np.array([0, 5, 10**8, 10**9 - 1, 10**8 + 1])].tolist() == [-1, 1, 0, -1, 1]
    assert labels.class_counts.tolist() == [1, 2]


def test_labels_change_at_some_rows_and_stay_at_the_others():
    before = few()
    after = before.changed(np.array([10**8, 3, 5]), np.array([1, 0, -1]))
    assert after.labeled_rows.tolist() == [3, 10**8, 10**8 + 1]
    assert after.codes[after.labeled_rows].tolist() == [0, 1, 1]
    assert before.labeled_rows.tolist() == [5, 10**8, 10**8 + 1]


def test_few_labels_of_a_plain_coding_are_the_same():
    plain = LabelCoding(np.array([3, 4]), np.array([-1, 1, 0, -1]))
    labels = FewLabels.of(plain)
    assert labels.labeled_rows.tolist() == [1, 2]
    assert labels.codes[np.arange(4)].tolist() == plain.codes.tolist()


@pytest.mark.parametrize("use", [np.asarray, list, lambda codes: codes == -1, lambda codes: codes != -1])
def test_a_look_at_every_label_is_refused(use):
    with pytest.raises(NotImplementedError, match=r"1,000,000,000 rows, which stay on the cluster"):
        use(few().codes)
