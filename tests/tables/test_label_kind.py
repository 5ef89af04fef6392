"""Whether a label column has classes or numbers: every rule by examples."""

import datetime

import numpy as np
import pandas as pd
import pytest

from semikpca.exceptions import TableError
from semikpca.tables import ColumnRoles, Table, features_of, given_numbers, label_kind, label_warnings, read_table


def table_of(cells, format_="csv"):
    frame = pd.DataFrame({"a": [str(row) for row in range(len(cells))], "y": pd.Series(list(cells), dtype=object)})
    return Table(frame, features_of(frame), None, format_)


def kind(cells, format_="csv", **roles):
    return label_kind(table_of(cells, format_), ColumnRoles("y", **roles))


def numbers(cells, format_="csv", **options):
    return given_numbers(table_of(cells, format_), ColumnRoles("y", labels_as="numbers"), **options)


PRICES = [f"{price:.2f}" for price in np.random.default_rng(0).uniform(1, 100, 37)]
AGES = np.random.default_rng(1).permutation(np.arange(18, 78)).tolist()


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([*PRICES, ""], "37 different ones, with fractions"),
        ([*[price.replace(".", ",") for price in PRICES], ""], "37 different ones, with fractions"),
        (["12.5", "14", "9.75", ""], "3 different ones, with fractions"),
        ([*map(str, AGES), ""], "60 different whole numbers, from 18 to 77"),
        ([*map(str, AGES)] * 3, "60 different whole numbers, from 18 to 77"),
        (["1,200", "950", "1,875", "2,400", "1,100", "700", ""], "6 different whole numbers, from 700 to 2,400"),
        (["23", "45", "67", "31", "52", "38", "n/a", "?"], "6 different whole numbers, from 23 to 67, that hardly"),
        ([str(year) for year in (1990, 2021, 2004, 1998, 2011, 1985, 2015)], "from 1,985 to 2,021"),
        (["1.5", "2.75", "inf", "4"], "3 different ones, with fractions"),
        ([-3, 25, 17, 40, 8, 31, None], "from -3 to 40"),
    ],
)
def test_amounts_are_numbers(cells, why):
    found = kind(cells, "csv" if isinstance(cells[0], str) else "excel")
    assert found.is_number
    assert found.reason.startswith("'y' is taken as numbers: ")
    assert why in found.reason
    assert "--classes" in found.reason


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (["1", "2", "3", "4", "5"] * 8, "5 different whole numbers"),
        ([*map(str, range(10)), ""], "10 different whole numbers"),
        ([*map(str, range(100))] * 3, "100 different whole numbers without a gap"),
        ([1, 2, 3, 4, None], "4 different whole numbers"),
        (["1.0", "1.3", "1.7", "2.0", "2.3"] * 4, "5 different values that repeat, 4.0 times each"),
        ([str(1000 + row) for row in range(30)], "30 different whole numbers that grow from row to row"),
        (["100", "200", "404", "500"], "4 different whole numbers"),
        (["100", "200", "301", "404", "500", "503"] * 3, "6 different whole numbers"),
    ],
)
def test_numbers_that_name_something_are_classes(cells, why):
    found = kind(cells, "csv" if isinstance(cells[0], str) else "excel")
    assert not found.is_number
    assert why in found.reason
    assert "--numbers takes them by their size" in found.reason


@pytest.mark.parametrize(
    ("cells", "format_"),
    [
        (["spam", "ham", ""], "csv"),
        (["12.5", "cheap", "9.75"], "csv"),
        ([f"00{number}" for number in range(100, 140)], "csv"),
        ([True, False, None], "jsonl"),
        (["true", "false", ""], "csv"),
        (["0", "1", ""], "csv"),
        (["0.5", "1.5", ""], "csv"),
        (["", "n/a"], "csv"),
        ([datetime.date(2024, 1, 1) + datetime.timedelta(days=day) for day in range(30)], "excel"),
    ],
)
def test_of_text_truth_values_codes_dates_and_two_values_nothing_is_said(cells, format_):
    found = kind(cells, format_)
    assert not found.is_number
    assert found.reason == ""


def test_options_decide_whatever_the_column_looks_like():
    assert kind(["1", "2", "3"] * 9, labels_as="numbers").is_number
    assert not kind(PRICES, labels_as="classes").is_number
    assert not kind(PRICES, labels_as_typed=True).is_number
    with pytest.raises(TableError, match="contradict"):
        kind(PRICES, labels_as="numbers", labels_as_typed=True)


def test_the_reason_comes_first_among_the_notes():
    first, *others = label_warnings(table_of([*PRICES, "n/a", ""]), ColumnRoles("y"))
    assert first.startswith("'y' is taken as numbers")
    assert others == ["'n/a' (1 row) in 'y' is taken as no number."]


# -- the numbers themselves ------------------------------------------------------------------------------------


def test_words_for_nothing_are_rows_to_be_predicted():
    found = numbers(["1.5", "", "n/a", "?", "unknown", "none", "-", "-1"])
    assert found[[0, 7]].tolist() == [1.5, -1.0]
    assert np.isnan(found[1:7]).all()


@pytest.mark.parametrize(
    ("cells", "read", "note"),
    [
        (["1,5", "2,25", ""], [1.5, 2.25], "the comma is the decimal sign: '1,5' is read as 1.5"),
        (["1.200,5", "2", ""], [1200.5, 2.0], "'1.200,5' is read as 1200.5"),
        (["1,200", "950", ""], [1200.0, 950.0], "thousands are set off by commas: '1,200' is read as 1200"),
    ],
)
def test_how_commas_are_read_is_said(cells, read, note):
    assert numbers(cells)[:2].tolist() == read
    (said,) = label_warnings(table_of(cells), ColumnRoles("y", labels_as="numbers"))
    assert note in said


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1.5", "cheap", "2"], ["'cheap' in row 2", "is no number", "--classes"]),
        (["1.5", "a", "b", "2"], ["'a' in row 2", "(2 such cells in all)"]),
        (["2024-01-05", "2024-02-05"], ["'2024-01-05' in row 1", "Dates are no numbers", "days since some date"]),
        (["1.5", "inf", "2"], ["'inf' in row 2", "infinite"]),
        (["1.5", "1e200", "2"], ["'1e200' in row 2", "too large"]),
        (["", "?", ""], ["There is no number", "Fill in a few rows", "'?' (1 row)"]),
        (["7", "7.0", ""], ["All numbers", "are 7", "another number"]),
        (["7", "8"], ["Every row has a number", "Empty the cells"]),
    ],
)
def test_what_cannot_be_learned_from_is_refused_with_the_way_out(cells, said):
    with pytest.raises(TableError) as refused:
        numbers(cells)
    for words in said:
        assert words in str(refused.value)


def test_truth_values_are_no_numbers():
    with pytest.raises(TableError, match=r"'true' in row 1 .* is no number"):
        numbers([True, 3.0, None], "jsonl")


def test_all_rows_may_have_a_number_where_they_are_checked():
    assert numbers(["7", "8"], allow_all=True).tolist() == [7.0, 8.0]


def test_in_arrays_of_fractions_nan_marks_a_row_and_minus_one_is_a_number(tmp_path):
    path = tmp_path / "rows.npz"
    np.savez(path, X=np.eye(4), y=np.array([-1.0, np.nan, 2.5, 0.25]))
    found = given_numbers(read_table(path), ColumnRoles("y", labels_as="numbers"))
    np.testing.assert_array_equal(found, [-1.0, np.nan, 2.5, 0.25])


def test_in_arrays_of_whole_numbers_minus_one_marks_a_row(tmp_path):
    path = tmp_path / "rows.npz"
    np.savez(path, X=np.eye(4), y=np.array([-1, 30, 25, -1]))
    found = given_numbers(read_table(path), ColumnRoles("y", labels_as="numbers"))
    np.testing.assert_array_equal(found, [np.nan, 30.0, 25.0, np.nan])


def test_who_marks_rows_of_an_array_of_fractions_with_minus_one_is_told(tmp_path):
    path = tmp_path / "rows.npz"
    np.savez(path, X=np.eye(4), y=np.array([-1.0, 30.5, 25.0, -1.0]))
    with pytest.raises(TableError, match=r"-1 \(2 rows\) is a number here: NaN marks a row without one"):
        given_numbers(read_table(path), ColumnRoles("y", labels_as="numbers"))
