"""What columns are for, which labels are given, and what is said when they cannot be learned from."""

import datetime

import numpy as np
import pandas as pd
import pytest

from semikpca.exceptions import TableError
from semikpca.tables import (
    ColumnRoles,
    Table,
    check_roles,
    empty_rows,
    feature_columns,
    given_labels,
    read_table,
    settled_roles,
)
from semikpca.tables._features import features_of

N_ROWS = 40


def as_table(columns, format_="csv", **options):
    frame = pd.DataFrame({name: pd.Series(list(cells), dtype=object) for name, cells in columns.items()})
    return Table(frame, features_of(frame), None, format_, options)


def plain_table(**more):
    """A table that nothing is wrong with, and more columns."""
    label = ["x", "y", *[""] * (N_ROWS - 2)]
    size = [str((7 * row) % 13 / 2) for row in range(N_ROWS)]
    return as_table({"label": label, "size": size, **more})


def refusal(function, *arguments, **options):
    with pytest.raises(TableError) as caught:
        function(*arguments, **options)
    return str(caught.value)


# -- roles -----------------------------------------------------------------------------------------------------


def test_nothing_is_said_of_a_table_that_nothing_is_wrong_with():
    assert check_roles(plain_table(), ColumnRoles("label")) == []


def test_columns_with_another_role_are_no_features():
    table = plain_table(id=map(str, range(N_ROWS)), a="p" * N_ROWS, b="q" * N_ROWS)
    assert feature_columns(table, ColumnRoles("label", id="id", text=("b",), exclude=("a",))) == ["size", "b"]


def test_an_index_that_pandas_stored_is_no_feature(tmp_path):
    frame = pd.DataFrame({"label": ["x", "y", None], "size": [1, 2, 3]}, index=[5, 7, 9])
    frame.to_parquet(tmp_path / "a.parquet")
    assert feature_columns(read_table(tmp_path / "a.parquet"), ColumnRoles("label")) == ["size"]


def test_close_names_are_offered_for_a_missing_label_column():
    message = refusal(check_roles, as_table({"Category ": "xy", "size": "12"}), ColumnRoles("kategory"))
    assert "no column 'kategory'" in message
    assert "Did you mean 'Category '?" in message
    assert "Columns: 'Category ', 'size'" in message


@pytest.mark.parametrize(("asked", "there"), [("CATEGORY", "category"), (" label", "Label"), ("labels", "label")])
def test_neither_case_nor_blanks_hide_a_close_name(asked, there):
    assert f"Did you mean {there!r}?" in refusal(check_roles, as_table({there: "xy", "size": "12"}), ColumnRoles(asked))


@pytest.mark.parametrize(
    ("option", "roles"),
    [
        ("--id-column", ColumnRoles("label", id="q")),
        ("--text-column", ColumnRoles("label", text=("q",))),
        ("--exclude", ColumnRoles("label", exclude=("q",))),
    ],
)
def test_the_option_with_an_unknown_column_is_named(option, roles):
    assert refusal(check_roles, plain_table(), roles).startswith(f"{option}: ")


def test_a_file_without_a_header_is_recognized():
    message = refusal(check_roles, as_table({"5.1": "12", "3.5": "34", "setosa": ["", "x"]}), ColumnRoles("label"))
    assert "The first line looks like data" in message


def test_a_long_list_of_columns_is_cut():
    table = as_table({f"column {place}": "ab" for place in range(500)})
    message = refusal(check_roles, table, ColumnRoles("zzz"))
    assert "and 480 more" in message


def test_a_column_with_two_roles_is_refused():
    message = refusal(check_roles, plain_table(), ColumnRoles("label", exclude=("label",)))
    assert "--label-column and in --exclude" in message


def test_a_table_without_features_is_refused():
    assert "no column to learn from" in refusal(check_roles, as_table({"label": "xy"}), ColumnRoles("label"))


@pytest.mark.parametrize(
    "cells",
    [
        [f"T-{row}" for row in range(N_ROWS)],
        [str(row + 3) for row in range(N_ROWS)],
        [f"{row * row}" for row in range(N_ROWS)],
        [f"user{row}@example.org" for row in range(N_ROWS)],
    ],
)
def test_an_identifier_is_left_out_with_a_note(cells):
    table = plain_table(key=cells)
    roles, (note,) = settled_roles(table, ColumnRoles("label"))
    assert "key" not in feature_columns(table, roles)
    assert "'key' looks like an identifier" in note
    assert "--keep 'key'" in note
    assert check_roles(table, roles) == []


@pytest.mark.parametrize(
    "cells",
    [
        [f"a sentence with the number {row}" for row in range(N_ROWS)],
        [f"这是第{row}句话" for row in range(N_ROWS)],  # words without blanks
        [f"2025-{1 + row % 12:02d}-{1 + row // 2:02d}" for row in range(N_ROWS)],
        [str(row / 8) for row in range(N_ROWS)],
        [str(N_ROWS - row) for row in range(N_ROWS)],
        [str(row // 2) for row in range(N_ROWS)],
        [datetime.datetime(2025, 1, 1) + datetime.timedelta(days=row) for row in range(N_ROWS)],
    ],
)
def test_what_is_no_identifier_is_learned_from(cells):
    assert settled_roles(plain_table(key=cells), ColumnRoles("label")) == (ColumnRoles("label"), [])


def test_cells_that_are_too_long_to_be_learned_from_as_a_whole_are_told():
    cells = [f"a sentence with the number {row}" for row in range(N_ROWS - 1)]
    (warning,) = check_roles(plain_table(key=[*cells, "a " * 60_000]), ColumnRoles("label"))
    assert "'key', 1 cell has more than 100,000 characters" in warning


@pytest.mark.parametrize("named", [{"id": "key"}, {"keep": ("key",)}, {"text": ("key",)}])
def test_an_identifier_that_has_a_role_keeps_it(named):
    roles = ColumnRoles("label", **named)
    assert settled_roles(plain_table(key=[f"T-{row}" for row in range(N_ROWS)]), roles) == (roles, [])


def test_an_identifier_that_is_the_only_column_is_learned_from():
    table = as_table({"label": ["x", "y", *[""] * (N_ROWS - 2)], "name": [f"Ann{row}" for row in range(N_ROWS)]})
    roles, (note,) = settled_roles(table, ColumnRoles("label"))
    assert roles == ColumnRoles("label")
    assert "there is no other column" in note


def test_ten_thousand_names_that_are_kept_are_not_refused():
    table = as_table({"label": ["x", "y", *[""] * 19_998], "name": [f"Ann{row}" for row in range(20_000)]})
    assert check_roles(table, ColumnRoles("label", keep=("name",))) == []


def cities(n_categories):
    cells = [f"city {row % n_categories}" for row in range(20_000)]
    return as_table({"label": ["x", "y", *[""] * 19_998], "city": cells})


def test_ten_thousand_categories_are_refused_until_somebody_says_what_they_are():
    message = refusal(check_roles, cities(10_000), ColumnRoles("label"))
    assert "'city'" in message
    assert "10,000 different values" in message
    assert all(f"{option} 'city'" in message for option in ("--exclude", "--id-column", "--text-column"))
    assert check_roles(cities(10_000), ColumnRoles("label", text=("city",))) == []
    with_size = cities(10_000)
    with_size.frame["size"] = with_size.features["size"] = [str(row % 7) for row in range(20_000)]
    assert check_roles(with_size, ColumnRoles("label", exclude=("city",))) == []
    assert check_roles(with_size, ColumnRoles("label", id="city")) == []


@pytest.mark.parametrize(
    ("n_categories", "allowed"), [(1_000, {}), (9_999, {}), (10_000, {"allow_many_categories": True})]
)
def test_thousands_of_categories_are_warned_of(n_categories, allowed):
    (warning,) = check_roles(cities(n_categories), ColumnRoles("label"), **allowed)
    assert f"{n_categories:,} different values" in warning
    assert "--exclude 'city'" in warning


def test_columns_that_do_not_vary_are_named():
    table = plain_table(same=["5"] * N_ROWS, none=[""] * N_ROWS, word=["a"] * N_ROWS)
    (warning,) = check_roles(table, ColumnRoles("label"))
    assert "'same', 'none', 'word'" in warning


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e200"])
def test_an_infinite_number_is_refused_with_its_line(tmp_path, cell):
    (tmp_path / "a.csv").write_text(f"label,size\nx,1\ny,2\n,{cell}\n")
    message = refusal(check_roles, read_table(tmp_path / "a.csv"), ColumnRoles("label"))
    assert "line 4" in message
    assert "'size'" in message
    assert "--exclude" in message


def test_an_infinite_embedding_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.array([[0.0, 1.0], [np.inf, 2.0], [1.0, 3.0]]), y=np.array([0, 1, -1]))
    assert "row 2" in refusal(check_roles, read_table(tmp_path / "a.npz"), ColumnRoles("y"))


def test_an_infinite_number_in_an_excluded_column_is_nobodys_business():
    table = plain_table(big=["inf", *["1"] * (N_ROWS - 1)])
    assert check_roles(table, ColumnRoles("label", exclude=("big",))) == []


def test_what_was_assumed_in_reading_is_passed_on():
    table = as_table({"label": ["x", ""], "size": ["1", "2"]}, notes=("It was a guess.",))
    assert check_roles(table, ColumnRoles("label")) == ["It was a guess."]


def test_rows_without_anything_are_found_and_words_for_nothing_count_among_numbers_only():
    columns = {"size": ["1", "", "n/a", "", "?", ""], "test": ["+", "-", "", " ", "?", "none"]}
    table = as_table(columns)
    assert empty_rows(table.features, ["size", "test"]).tolist() == [2, 3]
    assert empty_rows(table.features, ["size"]).tolist() == [1, 2, 3, 4, 5]


# -- labels ----------------------------------------------------------------------------------------------------


def labels(cells, format_="csv", **options):
    return given_labels(as_table({"label": cells}, format_), ColumnRoles("label"), **options).tolist()


def test_empty_and_blank_cells_are_unlabeled_and_labels_are_trimmed():
    assert labels(["a", " b ", "", "  ", "\t"]) == ["a", "b", None, None, None]


def test_numbers_in_text_files_are_text():
    assert labels(["1", "1.0", "01", ""]) == ["1", "1.0", "01", None]


@pytest.mark.parametrize("format_", ["excel", "jsonl", "parquet"])
def test_numbers_in_typed_files_are_numbers(format_):
    result = labels([1, 2.0, None, float("nan"), np.int64(1)], format_)
    assert result == [1, 2, None, None, 1]
    assert {type(label) for label in result} == {int, type(None)}


def test_fractions_are_labels_too():
    assert labels([0.5, 1, None], "excel") == [0.5, 1.0, None]


def test_truth_values_are_labels():
    assert labels([True, False, None], "jsonl") == [True, False, None]


def test_minus_one_is_unlabeled_in_arrays_and_a_class_elsewhere():
    assert labels([0, -1, 1], "npz") == [0, None, 1]
    assert labels([0, -1, None], "excel") == [0, -1, None]


def test_dates_as_labels_are_text():
    assert labels([datetime.date(2025, 1, 2), None, "x"], "excel") == ["2025-01-02", None, "x"]


@pytest.mark.parametrize("cells", [["", " "], [None, float("nan")]])
def test_a_column_without_labels_is_refused(cells):
    assert "no label" in refusal(labels, cells, "excel")
    assert labels(cells, "excel", allow_fewer=True) == [None, None]


def test_labels_of_one_class_are_refused():
    assert "All labels in the column 'label' of The table are 'a'" in refusal(labels, ["a", "", " a"])
    assert labels(["a", ""], allow_fewer=True) == ["a", None]


def test_a_table_with_every_row_labeled_is_refused():
    assert "Every row has a label" in refusal(labels, ["a", "b"])
    assert labels(["a", "b"], allow_all=True) == ["a", "b"]


def test_minus_one_is_pointed_out_when_every_row_has_a_label():
    assert "-1 is a class" in refusal(labels, ["a", "b", "-1"])
    assert "-1 is a class" not in refusal(labels, ["a", "b", "1"])


def test_labels_of_mixed_types_are_refused_with_examples():
    table = as_table({"label": [None, "bug", 3, "bug"]}, "excel", lines=[2, 3, 5, 6])
    message = refusal(given_labels, table, ColumnRoles("label"), allow_fewer=True)
    assert "'bug' in row 3 of the sheet" in message
    assert "3 in row 5 of the sheet" in message


def test_truth_values_among_numbers_are_mixed():
    assert "mixed types" in refusal(labels, [True, 0, None], "jsonl")


def test_a_label_column_that_is_not_there_is_refused_by_name():
    assert "no column 'label'" in refusal(given_labels, as_table({"labels": "ab"}), ColumnRoles("label"))


@pytest.mark.parametrize("cell", ["None", "unknown", "-1"])
def test_a_word_that_may_mean_no_label_is_a_class_and_warned_of(cell):
    table = as_table({"label": ["a", "b", cell, cell, ""], "size": "12345"})
    (warning,) = check_roles(table, ColumnRoles("label"))
    assert f"{cell!r} is taken as a class of 'label' (2 rows)" in warning
    assert "Empty these cells" in warning


def test_numbers_that_are_written_otherwise_are_two_classes_and_warned_of():
    table = as_table({"label": ["1", "1.0", "2", ""], "size": "1234"})
    (warning,) = check_roles(table, ColumnRoles("label"))
    assert "'1' and '1.0'" in warning


def test_labels_that_all_differ_are_warned_of():
    table = plain_table(name=[f"name {row}" if row < 20 else "" for row in range(N_ROWS)])
    assert "occurs twice" in check_roles(table, ColumnRoles("name", exclude=("label",)))[0]
