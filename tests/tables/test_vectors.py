"""Lists of numbers in a cell: one vector to learn from, scaled as a whole, and what is said where they are none."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from semikpca.exceptions import TableError
from semikpca.tables import (
    ColumnRoles,
    check_roles,
    feature_columns,
    feature_counts,
    feature_kinds,
    kinds_in_words,
    make_vectorizer,
    read_table,
    vector_length,
)

ROLES = ColumnRoles("label")
N_ROWS, LENGTH = 40, 6
TEXT_WEIGHT = 6.0  # what the documentation says
SINGLE = 1e-5  # the output has float32


@pytest.fixture
def vectors(rng):
    """Numbers of very different sizes: what a vector is made of has no scale of its own."""
    return rng.normal(size=(N_ROWS, LENGTH)) * np.array([10.0, 5.0, 1.0, 1.0, 0.1, 1e-9])


def in_parquet(path, cells, type_=None, **more):
    labels = ["x", "y", *[None] * (len(cells) - 2)]
    pq.write_table(pa.table({"label": labels, "vector": pa.array(cells, type_), **more}), path)
    return read_table(path)


def in_json_lines(path, cells):
    labels = ["x", "y", *[None] * (len(cells) - 2)]
    rows = [{"label": label, "vector": cell} for label, cell in zip(labels, cells, strict=True)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return read_table(path)


def fitted(table, roles=ROLES):
    return make_vectorizer(roles).fit(table.features[feature_columns(table, roles)])


@pytest.mark.parametrize("type_", [pa.list_(pa.float32()), pa.list_(pa.float64(), LENGTH), pa.large_list(pa.float16())])
def test_lists_of_as_many_numbers_are_one_vector(tmp_path, vectors, type_):
    cells = list(vectors.astype(type_.value_type.to_pandas_dtype()))
    table = in_parquet(tmp_path / "a.parquet", cells, type_)
    assert vector_length(table.features["vector"]) == LENGTH
    np.testing.assert_array_equal(np.stack(table.features["vector"]), np.stack(cells))
    assert check_roles(table, ROLES) == []
    assert feature_kinds(fitted(table)) == {"vectors": ["vector"]}


def test_lists_in_json_lines_are_vectors_too(tmp_path, vectors):
    table = in_json_lines(tmp_path / "a.jsonl", vectors.tolist())
    np.testing.assert_array_equal(np.stack(table.features["vector"]), vectors)
    assert table.frame["vector"].tolist() == vectors.tolist()


def test_lists_in_the_cells_of_a_text_file_are_vectors_too(tmp_path, vectors):
    cells = [*map(str, vectors[:-1].tolist()), ""]
    pd.DataFrame({"label": list("xy") + [""] * (N_ROWS - 2), "vector": cells}).to_csv(tmp_path / "a.csv", index=False)
    table = read_table(tmp_path / "a.csv")
    np.testing.assert_array_equal(np.stack(table.features["vector"][:-1]), vectors[:-1])
    assert table.features["vector"].iloc[-1] is None
    assert table.frame["vector"].tolist() == cells


def test_lists_of_unequal_lengths_in_a_text_file_are_refused_too(tmp_path):
    pd.DataFrame({"label": list("xy "), "vector": ["[1, 2]", "[3]", "[4, 5]"]}).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(TableError, match="2 numbers in line 2 and 1 in line 3"):
        check_roles(read_table(tmp_path / "a.csv"), ROLES)


@pytest.mark.parametrize("cell", ["[1.0]", "[1.0, 2.0", "n/a", '["1", "2"]', "[" * 100_000, "3"])
def test_a_text_file_with_something_else_beside_its_lists_has_texts(tmp_path, cell):
    pd.DataFrame({"vector": ["[1.0, 2.0]", cell]}).to_csv(tmp_path / "a.csv", index=False)
    assert read_table(tmp_path / "a.csv").features["vector"].tolist() == ["[1.0, 2.0]", cell]


def test_whole_numbers_and_missing_ones_in_a_list_are_numbers(tmp_path):
    table = in_parquet(tmp_path / "a.parquet", [[1, 2], [3, None], [5, 7]])
    np.testing.assert_array_equal(np.stack(table.features["vector"]), [[1, 2], [3, np.nan], [5, 7]])
    assert np.isfinite(fitted(table).transform(table.features)).all()


def test_a_vector_is_centered_and_scaled_as_a_whole_and_weighs_like_a_text(tmp_path, vectors):
    table = in_parquet(tmp_path / "a.parquet", list(vectors))
    centered = vectors - vectors.mean(axis=0)
    expected = centered * np.sqrt(TEXT_WEIGHT / centered.var(axis=0).sum())
    np.testing.assert_allclose(fitted(table).transform(table.features), expected, atol=SINGLE)


def test_a_vector_of_tiny_numbers_is_learned_from(tmp_path, vectors):
    table = in_parquet(tmp_path / "a.parquet", list(1e-12 * vectors))
    assert feature_counts(fitted(table)) == {"vector": LENGTH}


def test_a_vector_is_one_thing_in_words(tmp_path, vectors):
    table = in_parquet(tmp_path / "a.parquet", list(vectors), size=np.arange(N_ROWS) % 7)
    assert kinds_in_words(fitted(table)) == {"numbers": ["size"], "vectors": [f"vector ({LENGTH} numbers)"]}


def test_numbers_of_a_vector_that_do_not_vary_are_left_out(tmp_path, vectors):
    vectors[:, 2] = 7.0
    table = in_parquet(tmp_path / "a.parquet", list(vectors))
    assert feature_counts(fitted(table)) == {"vector": LENGTH - 1}


def test_vectors_that_are_all_the_same_are_left_out_with_a_note(tmp_path):
    table = in_parquet(tmp_path / "a.parquet", [[1.0, 2.0]] * N_ROWS, size=np.arange(N_ROWS) % 7)
    assert any("Nothing is learned from 'vector'" in note for note in check_roles(table, ROLES))
    assert feature_kinds(fitted(table)) == {"numbers": ["size"], "left out": ["vector"]}


def test_a_missing_or_empty_vector_is_the_mean_with_a_note(tmp_path, vectors):
    cells = [*vectors[:-2].tolist(), None, []]
    for table in (in_parquet(tmp_path / "a.parquet", cells), in_json_lines(tmp_path / "a.jsonl", cells)):
        assert check_roles(table, ROLES) == ["2 of 40 rows have no vector in 'vector': the mean is taken."]
        np.testing.assert_array_equal(fitted(table).transform(table.features)[-2:], 0.0)


def test_lists_of_unequal_lengths_are_refused_with_their_rows_and_what_to_do(tmp_path, vectors):
    cells = [*vectors[:-1].tolist(), [1.0, 2.0]]
    table = in_parquet(tmp_path / "a.parquet", cells)
    with pytest.raises(TableError, match=r"6 numbers in row 1 and 2 in row 40.*--exclude 'vector'.*--text-column"):
        check_roles(table, ROLES)
    with pytest.raises(TableError, match="6 numbers in line 1 and 2 in line 40"):
        check_roles(in_json_lines(tmp_path / "a.jsonl", cells), ROLES)
    assert "read as text" in " ".join(check_roles(table, ROLES, allow_many_categories=True))
    as_text = ColumnRoles("label", text=("vector",))
    check_roles(table, as_text)
    assert feature_kinds(fitted(table, as_text)) == {"text": ["vector"]}


@pytest.mark.parametrize("cell", [["a", "b"], [[1.0], [2.0]], "n/a", ["1", "2"]])
def test_lists_of_something_else_are_text_with_a_note(tmp_path, cell):
    table = in_json_lines(tmp_path / "a.jsonl", [[1.0, 2.0], cell, *[[3.0, float(row)] for row in range(N_ROWS)]])
    note = next(note for note in check_roles(table, ROLES) if "'vector'" in note)
    assert "read as text" in note
    assert "line 2" in note
    assert vector_length(table.features["vector"]) is None


def test_a_vector_named_as_text_is_text(tmp_path, vectors):
    roles = ColumnRoles("label", text=("vector",))
    table = in_parquet(tmp_path / "a.parquet", list(vectors))
    assert check_roles(table, roles) == []
    assert feature_kinds(fitted(table, roles)) == {"text": ["vector"]}


def test_an_infinite_number_in_a_list_is_refused_with_its_row(tmp_path, vectors):
    vectors[7, 3] = -np.inf
    table = in_parquet(tmp_path / "a.parquet", list(vectors))
    with pytest.raises(TableError, match=r"a.parquet, row 8: inf in the column 'vector'.*--exclude"):
        check_roles(table, ROLES)
    with pytest.raises(TableError, match="Column 'vector', data row 8: -inf"):
        fitted(table)


@pytest.mark.parametrize("others", [[[1.0, 2.0]] * 3, ["a", "b", "c"]])
def test_new_rows_with_other_vectors_are_refused_with_both_lengths(tmp_path, vectors, others):
    vectorizer = fitted(in_parquet(tmp_path / "a.parquet", list(vectors)))
    with pytest.raises(TableError, match=r"Column 'vector', data row 1: .* as vectors of 6 numbers"):
        vectorizer.transform(in_parquet(tmp_path / "b.parquet", others).features)


def test_new_rows_in_which_no_vector_is_given_are_the_mean(tmp_path, vectors):
    vectorizer = fitted(in_parquet(tmp_path / "a.parquet", list(vectors)))
    found = vectorizer.transform(pd.DataFrame({"vector": [None, None]}, dtype=object))
    np.testing.assert_array_equal(found, np.zeros((2, LENGTH)))
