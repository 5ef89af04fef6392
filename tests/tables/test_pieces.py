"""Tables cut into pieces: together the pieces are the table, however they are cut."""

import datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from semikpca.exceptions import TableError
from semikpca.tables import _pieces
from semikpca.tables._pieces import features_like, frame_of, in_pieces

LINES = ["name,size", "fern,1", "moss,22", "", '"a, b",333', "palm,", '"said ""no""",5']
CELLS = {"name": ["fern", "moss", "a, b", "palm", 'said "no"'], "size": ["1", "22", "333", "", "5"]}


def joined(table):
    return frame_of(pa.concat_tables([piece.read() for piece in table.pieces])).to_dict("list")


# -- text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "end"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 21, 1000])
def test_every_row_is_in_one_piece_wherever_the_file_is_cut(size, ending, last, tmp_path, monkeypatch):
    monkeypatch.setattr(_pieces, "LARGEST_TEXT_PIECE", size)
    (tmp_path / "rows.csv").write_bytes((ending.join(LINES) + (ending if last else "")).encode())
    table = in_pieces(tmp_path / "rows.csv")
    assert len(table.pieces) > 1 or size == 1000
    assert table.pieces[0].names == ("name", "size")
    assert joined(table) == CELLS


def test_a_cell_that_goes_over_a_cut_is_refused_and_kept_where_the_file_is_whole(tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text('name,size\n"two\nlines",1\nmoss,2\n')
    assert joined(in_pieces(tmp_path / "rows.csv"))["name"] == ["two\nlines", "moss"]
    monkeypatch.setattr(_pieces, "LARGEST_TEXT_PIECE", 4)
    with pytest.raises(TableError, match=r"from byte 10 on: a cell in quotes goes on in the next piece.*parquet"):
        joined(in_pieces(tmp_path / "rows.csv"))


def test_some_columns_come_in_the_order_in_which_they_are_asked_for(tmp_path):
    (tmp_path / "rows.csv").write_text("\n".join(LINES))
    (piece,) = in_pieces(tmp_path / "rows.csv").pieces
    assert piece.read(["size", "name"]).column_names == ["size", "name"]


def test_numbers_in_file_names_are_numbers_in_their_order(tmp_path):
    for number in (10, 9, 1):
        (tmp_path / f"part-{number}.csv").write_text(f"a,b\n{number},x\n")
    assert joined(in_pieces(tmp_path / "part-*.csv"))["a"] == ["1", "9", "10"]


def test_delimiter_encoding_and_byte_order_mark_are_found_as_for_a_whole_table(tmp_path):
    (tmp_path / "rows.csv").write_bytes("größe;art\n1,5;Moos\n".encode("utf-8-sig"))
    table = in_pieces(tmp_path / "rows.csv")
    assert joined(table) == {"größe": ["1,5"], "art": ["Moos"]}
    assert "separated by a semicolon" in table.notes[0]
    (tmp_path / "old.csv").write_bytes("größe,art\n1,Moos\n".encode("cp1252"))
    with pytest.raises(TableError, match="--encoding cp1252"):
        in_pieces(tmp_path / "old.csv")
    assert in_pieces(tmp_path / "old.csv", encoding="cp1252").pieces[0].names == ("größe", "art")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"a,b\n", "column names and no rows"),
        (b"a,a\n1,2\n", "two columns named 'a'"),
        (b'"a\nb",c\n1,2\n', "line break in it"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16, which cannot be cut into lines. Save it as UTF-8"),
    ],
)
def test_a_text_file_that_cannot_be_cut_is_refused(content, words, tmp_path):
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(TableError, match=words):
        in_pieces(tmp_path / "rows.csv")


def test_a_line_of_another_length_is_refused_with_its_place(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(TableError, match=r"rows\.csv, line 3: 1 cell where the header has 2"):
        joined(in_pieces(tmp_path / "rows.csv"))


# -- Parquet -----------------------------------------------------------------------------------------------------


def test_row_groups_are_joined_up_to_the_size_of_a_piece_and_types_stay(tmp_path, monkeypatch):
    arrow = pa.table({"a": pa.array(range(100), pa.int16()), "day": pa.array([datetime.date(2026, 1, 1)] * 100)})
    pq.write_table(arrow, tmp_path / "rows.parquet", row_group_size=10)
    table = in_pieces(tmp_path / "rows.parquet")
    assert len(table.pieces) == 1
    assert table.pieces[0].read().equals(arrow)
    sizes = [pq.ParquetFile(tmp_path / "rows.parquet").metadata.row_group(i).total_byte_size for i in range(10)]
    monkeypatch.setattr(_pieces, "LARGEST_PARQUET_PIECE", 3 * max(sizes))
    table = in_pieces(tmp_path / "rows.parquet")
    assert [len(piece.groups) for piece in table.pieces] == [3, 3, 3, 1]
    assert str(table.pieces[1]) == "rows.parquet, row groups 4-6"
    assert joined(table)["a"] == list(range(100))
    monkeypatch.setattr(_pieces, "MOST_PARQUET_ROWS", 29)
    assert [len(piece.groups) for piece in in_pieces(tmp_path / "rows.parquet").pieces] == [2] * 5


def test_a_stored_index_is_a_column_like_the_others(tmp_path):
    pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 6], name="key")).to_parquet(tmp_path / "rows.parquet")
    assert joined(in_pieces(tmp_path / "rows.parquet")) == {"a": [1, 2], "key": [5, 6]}


def test_files_of_other_types_are_refused_with_the_column(tmp_path):
    pq.write_table(pa.table({"a": [1], "b": [1]}), tmp_path / "part-0.parquet")
    pq.write_table(pa.table({"a": [1], "b": ["x"]}), tmp_path / "part-1.parquet")
    with pytest.raises(TableError, match=r"part-1\.parquet has other .* 'b' is string, not int64"):
        in_pieces(tmp_path)


def test_hidden_files_of_a_folder_are_no_part_of_the_table(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "part-0.parquet")
    (tmp_path / "_metadata.parquet").write_bytes(b"no table")
    (tmp_path / ".part-1.parquet").write_bytes(b"no table")
    assert joined(in_pieces(tmp_path)) == {"a": [1]}


def test_a_damaged_file_is_refused(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 and nothing")
    with pytest.raises(TableError, match="not a Parquet file, or it is damaged"):
        in_pieces(tmp_path / "rows.parquet")


# -- files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.csv", "There is no file"),
        ("missing-*.csv", "No file is named like"),
        ("folder", r"without \.parquet files.*\*\.csv"),
        ("rows.*", "several formats: csv, parquet"),
        ("book.xlsx", "not .xlsx. Write .parquet"),
    ],
)
def test_what_is_no_table_in_pieces_is_refused(name, words, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "book.xlsx").write_bytes(b"")
    (tmp_path / "rows.csv").write_text("a\n1\n")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "rows.parquet")
    with pytest.raises(TableError, match=words):
        in_pieces(tmp_path / name)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_that_is_gone_is_refused_with_where_and_what_to_do(suffix, tmp_path):
    path = tmp_path / f"rows{suffix}"
    path.write_text("a\n1\n") if suffix == ".csv" else pq.write_table(pa.table({"a": [1]}), path)
    (piece,) = in_pieces(path).pieces
    path.unlink()
    with pytest.raises(TableError, match=r"cannot be read on .* in a folder that they share"):
        piece.read()


def test_a_column_that_is_empty_in_a_piece_has_the_type_that_it_has_elsewhere():
    types = pd.Series({"day": "datetime64[ns]", "text": "object", "number": "float64"}).map(pd.api.types.pandas_dtype)
    empty = pd.DataFrame({"day": [None, None], "text": [None, None], "number": [None, ""]}, dtype=object)
    features = features_like(empty, types)
    assert features.dtypes.to_dict() == types.to_dict()
    assert features.isna().all(axis=None)
