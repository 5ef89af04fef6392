"""A number as a person types it: read as it is meant, or refused."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semikpca.exceptions import TableError
from semikpca.tables import NUMBERS, ColumnRoles, given_numbers, number_cells, read_table, typed_number
from semikpca.tables._features import LARGEST_NUMBER

finite = st.floats(-1e12, 1e12).map(lambda value: round(value, 4))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("850", 850),
        (" 12.5 ", 12.5),
        ("12,5", 12.5),
        ("-0,125", -0.125),
        ("0,125", 0.125),
        (",5", 0.5),
        ("1 200,75", 1200.75),
        ("1\u202f200", 1200),
        ("1'200", 1200),
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("1,234,567", 1_234_567),
        ("12,3456", 12.3456),
        ("\u22125", -5),
        ("+3", 3),
        ("2e3", 2000),
    ],
)
def test_a_number_is_read_as_it_is_meant(text, value):
    assert typed_number(text) == value


@pytest.mark.parametrize("text", ["abc", "12x", "nan", "inf", "1e", "0x10", "1,2,3", "--5", "1.2.3", "5 €", "1;2"])
def test_what_is_no_number_is_refused_with_what_was_typed(text):
    with pytest.raises(TableError, match="is no number") as refused:
        typed_number(text)
    assert text in str(refused.value)


def test_what_may_be_a_thousand_times_as_much_is_refused():
    with pytest.raises(TableError, match=r"may be 1\.234 or 1234"):
        typed_number("1,234")


def test_nothing_and_too_much_are_refused():
    with pytest.raises(TableError, match="Type a number first"):
        typed_number("  ")
    with pytest.raises(TableError, match="too large"):
        typed_number(f"{10 * LARGEST_NUMBER:g}")


def test_there_is_no_negative_zero():
    assert math.copysign(1, typed_number("-0")) == 1


@given(finite)
def test_every_number_can_be_typed_with_a_point_or_a_comma(value):
    text = f"{value:.5f}"  # never three digits behind the sign
    assert typed_number(text) == typed_number(text.replace(".", ",")) == pytest.approx(value, abs=1e-9)


@given(st.text(max_size=12))
def test_whatever_is_typed_is_a_finite_number_or_refused(text):
    try:
        assert math.isfinite(typed_number(text))
    except TableError:
        pass


@pytest.mark.parametrize(("cells", "written"), [("1.5,2,", ["3", "4.25"]), ("1;5,2,", ["3", "4,25"])])
def test_numbers_are_written_with_the_decimal_sign_of_their_column(cells, written):
    labels = [cell.replace(";", ",") for cell in cells.split(",")]
    content = pd.DataFrame({"x": range(len(labels)), "price": labels}).to_csv(index=False, sep=";").encode()
    table = read_table("prices.csv", content=content)
    assert number_cells(table, ColumnRoles("price"), [3.0, 4.25]) == written


def test_any_number_of_numbers_can_be_allowed():
    for cells in (["", ""], ["3", ""], ["3", "3"], ["3", "4"]):
        content = pd.DataFrame({"x": range(2), "price": cells}).to_csv(index=False).encode()
        table = read_table("prices.csv", content=content)
        found = given_numbers(table, ColumnRoles("price", labels_as=NUMBERS), allow_fewer=True)
        np.testing.assert_array_equal(found, [float(cell) if cell else np.nan for cell in cells])
