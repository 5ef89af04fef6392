"""Labels as people type them: spellings of one class, marks for no label, and values that are no classes."""

import datetime

import numpy as np
import pandas as pd
import pytest

from semikpca.exceptions import TableError
from semikpca.tables import ColumnRoles, Table, features_of, given_labels, label_warnings

OPTION = "--keep-labels-as-typed"


def as_table(cells, format_="csv"):
    frame = pd.DataFrame({"label": pd.Series(list(cells), dtype=object)})
    return Table(frame, features_of(frame), None, format_, {})


def labels(cells, format_="csv", *, as_typed=False, **options):
    roles = ColumnRoles("label", labels_as_typed=as_typed)
    return given_labels(as_table(cells, format_), roles, **options).tolist()


def notes(cells, format_="csv", *, as_typed=False):
    return label_warnings(as_table(cells, format_), ColumnRoles("label", labels_as_typed=as_typed))


def refusal(*arguments, **options):
    with pytest.raises(TableError) as caught:
        labels(*arguments, **options)
    return str(caught.value)


# -- spellings -------------------------------------------------------------------------------------------------

SPAM = ["Spam", "spam ", "SPAM", "Spam", "ham", ""]


def test_spellings_of_a_label_are_one_class_by_the_name_of_the_commonest():
    assert labels(SPAM) == ["Spam", "Spam", "Spam", "Spam", "ham", None]


def test_a_note_says_which_spellings_became_which_class_and_how_many_rows():
    (note,) = notes(SPAM)
    assert "'spam' (1 row) and 'SPAM' (1 row) as 'Spam'" in note
    assert OPTION in note


def test_labels_as_typed_are_left_alone_but_for_blanks_around_them():
    assert labels(SPAM, as_typed=True) == ["Spam", "spam", "SPAM", "Spam", "ham", None]
    assert notes(SPAM, as_typed=True) == []


def test_of_two_spellings_that_are_as_common_the_first_is_the_name():
    assert labels(["b", "bug", "Bug", ""]) == ["b", "bug", "bug", None]


@pytest.mark.parametrize("pair", [("a  b", "a b"), ("Straße", "STRASSE"), ("café", "cafe\u0301"), ("a\u00a0b", "a b")])
def test_blanks_case_and_accents_in_two_parts_make_no_difference(pair):
    assert len(set(labels([*pair, "c", ""]))) == 3


def test_labels_without_other_spellings_need_no_note():
    assert notes(["bug", "how to", "1", "", "bug"]) == []


def test_many_classes_with_spellings_are_counted_in_the_note():
    cells = [spelling for number in range(9) for spelling in (f"class {number}", f"Class {number}")]
    (note,) = notes([*cells, ""])
    assert "'Class 4' (1 row) as 'class 4' and 4 more" in note


def test_spellings_of_one_class_alone_are_refused_with_the_reason():
    message = refusal(["spam", "Spam", ""])
    assert "All labels" in message
    assert "'Spam' (1 row) as 'spam'" in message


# -- no label --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["n/a", "N/A", "NA", "nan", "NULL", "#N/A", "?", "-", "–", "--", "..."])
def test_a_mark_for_no_label_is_none_and_a_note_says_so(mark):
    cells = ["a", "b", mark, mark, ""]
    assert labels(cells) == ["a", "b", None, None, None]
    (note,) = notes(cells)
    assert f"{mark!r} (2 rows) in 'label' is taken as no label" in note
    assert OPTION in note


def test_several_marks_are_told_in_one_note():
    (note,) = notes(["a", "b", "?", "n/a", "n/a"])
    assert "'n/a' (2 rows) and '?' (1 row) in 'label' are taken as no label" in note


def test_a_mark_is_a_class_where_labels_are_taken_as_typed():
    assert labels(["a", "b", "n/a", ""], as_typed=True) == ["a", "b", "n/a", None]
    assert notes(["a", "b", "n/a", ""], as_typed=True) == []


@pytest.mark.parametrize("word", ["none", "None", "unknown"])
def test_an_answer_that_says_nothing_stays_a_class(word):
    assert labels([word, "mild", "severe", ""]) == [word, "mild", "severe", None]


@pytest.mark.parametrize("cells", [["+", "-", ""], ["++", "+", "-", "--", ""]])
def test_a_dash_beside_a_plus_is_a_class(cells):
    assert labels(cells) == [*cells[:-1], None]
    assert notes(cells) == []


def test_marks_among_numbers_leave_numbers():
    assert labels([1, 2, "n/a", None], "excel") == [1, 2, None, None]


def test_a_column_of_marks_alone_has_no_label():
    message = refusal(["n/a", "n/a", ""])
    assert "There is no label" in message
    assert "'n/a' (2 rows)" in message


@pytest.mark.parametrize("word", ["-1", "none", "unknown"])
def test_a_word_that_may_mean_no_label_is_pointed_out_when_every_row_has_one(word):
    assert f"Here {word} is a class" in refusal(["a", "b", word])


# -- values that are no classes --------------------------------------------------------------------------------

DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=day) for day in range(280)]
PRICES = np.round(np.random.default_rng(0).uniform(1, 100, 280), 2).tolist()
NAMES = [f"customer {number}" for number in range(280)]


@pytest.mark.parametrize(
    ("cells", "format_", "what"),
    [
        ([f"{price:.2f}" for price in PRICES], "csv", "numbers with fractions"),
        ([f"{price:.2f}".replace(".", ",") for price in PRICES], "csv", "numbers with fractions"),
        (PRICES, "parquet", "numbers with fractions"),
        (PRICES * 5, "parquet", "numbers with fractions"),
        ([str(day) for day in DAYS], "csv", "dates"),
        ([day.strftime("%d.%m.%Y") for day in DAYS], "csv", "dates"),
        ([f"{day}T12:30:00" for day in DAYS] * 3, "csv", "dates"),
        (DAYS, "excel", "dates"),
        (NAMES, "csv", "280 of 280 labels are the only one of their class"),
        (list(range(1000, 1280)), "excel", "280 of 280 labels are the only one of their class"),
    ],
)
def test_values_that_are_no_classes_are_refused_with_the_way_out(cells, format_, what):
    message = refusal([*cells, None], format_)
    assert f"{len(set(cells))} different labels in the column 'label'" in message
    assert what in message
    assert "20" in message
    assert "a few groups" in message
    assert OPTION in message


def test_who_has_numbers_is_told_what_predicts_them():
    assert "predicted by semikpca.SemiKPCARegressorCV" in refusal([*PRICES, None], "parquet")
    assert "Regressor" not in refusal([*NAMES, None], "excel")


@pytest.mark.parametrize("cells", [PRICES, DAYS, NAMES], ids=["prices", "dates", "names"])
def test_values_are_classes_where_labels_are_taken_as_typed(cells):
    assert len(set(labels([*cells, None], "excel", as_typed=True))) == len(set(cells)) + 1


def test_a_thousand_classes_with_several_labels_each_are_classes():
    assert len(set(labels([*[f"class {number}" for number in range(1_000)] * 3, ""]))) == 1_001


def test_a_hundred_numbered_classes_with_several_labels_each_are_classes_with_a_note():
    cells = [*map(str, range(100))] * 3
    assert len(set(labels([*cells, ""]))) == 101
    (note,) = notes([*cells, ""])
    assert note.startswith("'label' is taken as classes: 100 different whole numbers without a gap between them")


def test_few_dates_and_fractions_are_classes():
    assert len(set(labels([*[str(day) for day in DAYS[:20]], ""]))) == 21
    assert len(set(labels(["0.5", "1.5", ""]))) == 3


def test_versions_are_no_dates():
    assert len(set(labels([*[f"1.2.{number}" for number in range(100, 130)] * 3, ""]))) == 31


def test_someone_who_begins_to_label_may_have_a_label_of_each_class():
    assert len(set(labels([*NAMES, ""], allow_fewer=True))) == 281
    with pytest.raises(TableError, match="dates"):
        labels([*DAYS, None], "excel", allow_fewer=True)


def test_truth_values_are_no_numbers():
    assert labels([True, False, None], "jsonl") == [True, False, None]
