"""Embeddings in a file of their own beside a table: in the order of the rows, or by ids."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from semikpca.exceptions import TableError
from semikpca.tables import read_table

X = np.arange(12.0).reshape(4, 3)
IDS = ["7", "a", "9", "b"]
TURNED = [2, 0, 3, 1]


@pytest.fixture
def table(tmp_path):
    """A table of four rows with ids."""
    path = tmp_path / "t.csv"
    pd.DataFrame({"id": IDS, "label": ["x", "y", "", ""], "size": ["1", "2", "3", "5"]}).to_csv(path, index=False)
    return path


def refusal(*arguments, **options):
    with pytest.raises(TableError) as caught:
        read_table(*arguments, **options)
    return str(caught.value)


def embedded(*arguments, **options):
    found = read_table(*arguments, **options)
    assert list(found.frame) == ["id", "label", "size"]
    assert list(found.features) == ["id", "label", "size", "embedding"]
    return np.stack(found.features["embedding"]), found.options["notes"]


def test_an_array_goes_by_the_order_of_the_rows(table, tmp_path):
    np.save(tmp_path / "e.npy", X)
    for id_column in (None, "id"):
        found, notes = embedded(table, embeddings=tmp_path / "e.npy", id_column=id_column)
        np.testing.assert_array_equal(found, X)
        assert notes == ()


@pytest.mark.parametrize("name", ["id", "names"])
def test_the_ids_in_an_npz_file_bring_embeddings_to_their_rows(table, tmp_path, name):
    np.savez(tmp_path / "e.npz", X=X[TURNED], **{name: np.array(IDS)[TURNED]})
    found, notes = embedded(table, embeddings=tmp_path / "e.npz", id_column="id")
    np.testing.assert_array_equal(found, X)
    assert notes == ()


def test_whole_numbers_as_ids_are_those_of_a_text_file(tmp_path):
    pd.DataFrame({"id": ["1", "2", "3", "4"], "label": list("xy  ")}).to_csv(tmp_path / "t.csv", index=False)
    np.savez(tmp_path / "e.npz", X=X[::-1], id=np.array([4, 3, 2, 1]))
    found = read_table(tmp_path / "t.csv", embeddings=tmp_path / "e.npz", id_column="id")
    np.testing.assert_array_equal(np.stack(found.features["embedding"]), X)


def test_a_list_column_goes_by_the_id_column_and_may_have_more_rows(table, tmp_path):
    cells = [X[place].tolist() for place in TURNED]
    pq.write_table(pa.table({"id": [*np.array(IDS)[TURNED], "more"], "v": [*cells, [0.0] * 3]}), tmp_path / "e.parquet")
    found, _ = embedded(table, embeddings=tmp_path / "e.parquet", id_column="id")
    np.testing.assert_array_equal(found, X)


def test_ids_that_both_files_have_are_found_and_told(table, tmp_path):
    columns = {"id": np.array(IDS)[TURNED], "size": ["1"] * 4, "v": list(X[TURNED])}
    pq.write_table(pa.table(columns), tmp_path / "e.parquet")
    found, notes = embedded(table, embeddings=tmp_path / "e.parquet")
    np.testing.assert_array_equal(found, X)
    assert notes == ("The embeddings of e.parquet belong to the rows with the same 'id'.",)


def test_a_list_column_without_ids_goes_by_the_order_and_says_so(table, tmp_path):
    pq.write_table(pa.table({"text": list("abcd"), "v": list(X)}), tmp_path / "e.parquet")
    found, notes = embedded(table, embeddings=tmp_path / "e.parquet")
    np.testing.assert_array_equal(found, X)
    assert "e.parquet are taken in the order of the rows" in notes[0]


def test_another_number_of_embeddings_is_refused_with_both(table, tmp_path):
    np.save(tmp_path / "e.npy", X[:3])
    message = refusal(table, embeddings=tmp_path / "e.npy")
    assert "e.npy has 3 embeddings and t.csv has 4 rows" in message
    assert "--id-column" in message


def test_rows_without_an_embedding_are_counted_and_named(table, tmp_path):
    np.savez(tmp_path / "e.npz", X=X[:2], id=np.array(["7", "b"]))
    message = refusal(table, embeddings=tmp_path / "e.npz", id_column="id")
    assert "2 of the 4 rows of t.csv have no embedding in e.npz" in message
    assert "'a', '9'" in message


def test_ids_that_come_twice_are_counted_and_named(table, tmp_path):
    np.savez(tmp_path / "e.npz", X=X, id=np.array(["7", "a", "9", "a"]))
    assert "e.npz has 1 id more than once in 'id': 'a'" in refusal(table, embeddings=tmp_path / "e.npz", id_column="id")


def test_a_file_without_vectors_or_with_several_is_refused(table, tmp_path):
    assert "It has none" in refusal(table, embeddings=table)
    pq.write_table(pa.table({"v": list(X), "w": list(X)}), tmp_path / "e.parquet")
    assert "It has 'v', 'w'" in refusal(table, embeddings=tmp_path / "e.parquet")


def test_a_table_that_has_a_column_of_that_name_is_refused(tmp_path):
    np.save(tmp_path / "e.npy", X)
    assert "has a column 'embedding'" in refusal(tmp_path / "e.npy", embeddings=tmp_path / "e.npy")
