"""Files as people have them: what is read, and what is said about files that cannot be."""

import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from semikpca.tables import read_table
from workbooks import refusal, workbook


@pytest.fixture
def write(tmp_path):
    """A function that writes text or bytes to a file and returns its path."""

    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


# -- text ------------------------------------------------------------------------------------------------------


def test_cells_of_a_csv_stay_as_they_were(write):
    table = read_table(write("a.csv", 'code,text\n007,"two\r\nlines, ""quoted"""\n , é\n1.0,=1+1\n'))
    assert table.frame.to_numpy().tolist() == [["007", 'two\r\nlines, "quoted"'], [" ", " é"], ["1.0", "=1+1"]]
    assert (table.format, table.options["delimiter"], table.options["encoding"]) == ("csv", ",", "utf-8")


def test_blank_cells_are_missing_features_and_the_cell_is_kept(write):
    table = read_table(write("a.csv", "a,b\n1, \n,x\n"))
    assert table.features.isna().to_numpy().tolist() == [[False, True], [True, False]]
    assert table.frame.to_numpy().tolist() == [["1", " "], ["", "x"]]


def test_a_byte_order_mark_is_no_part_of_the_first_name(write):
    table = read_table(write("a.csv", b"\xef\xbb\xbfa,b\n1,2\n"))
    assert list(table.frame) == ["a", "b"]
    assert table.options["encoding"] == "utf-8-sig"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_an_encoding_with_a_mark_is_found(write, encoding):
    assert read_table(write("a.csv", "a,b\né,2\n".encode(encoding))).frame.loc[0, "a"] == "é"


@pytest.mark.parametrize(("delimiter", "word"), [(";", "semicolon"), ("\t", "tab"), ("|", "vertical bar")])
def test_another_delimiter_is_found_and_told(write, delimiter, word):
    rows = [["name", "size", "note"], ["x", "1,5", "a"], ["y", "2", ""]]
    table = read_table(write("a.csv", "\n".join(delimiter.join(row) for row in rows)))
    assert table.frame.to_numpy().tolist() == rows[1:]
    assert table.options["delimiter"] == delimiter
    assert word in table.options["notes"][0]


def test_a_single_column_with_punctuation_is_not_cut(write):
    table = read_table(write("a.csv", "text\nfirst; second\nthird\n"))
    assert table.frame["text"].tolist() == ["first; second", "third"]


def test_a_tab_separated_file_may_contain_commas(write):
    assert read_table(write("a.tsv", "a\tb\n1,5\t2\n")).frame.loc[0, "a"] == "1,5"


def test_a_delimiter_that_was_asked_for_is_used(write):
    assert read_table(write("a.csv", "a:b\n1:2\n"), delimiter=":").frame.loc[0, "b"] == "2"


@pytest.mark.parametrize("delimiter", ["", "ab", '"', "\n"])
def test_an_impossible_delimiter_is_refused(write, delimiter):
    assert "--delimiter must be one character" in refusal(write("a.csv", "a,b\n1,2\n"), delimiter=delimiter)


def test_another_encoding_is_named_with_the_byte(write):
    message = refusal(write("a.csv", "name,b\nMüller,1\n".encode("cp1252")))
    assert "byte 9 is 0xFC" in message
    assert "--encoding cp1252" in message


def test_an_encoding_that_was_asked_for_is_used(write):
    path = write("a.csv", "name,b\nMüller,1\n".encode("cp1252"))
    assert read_table(path, encoding="cp1252").frame.loc[0, "name"] == "Müller"


def test_an_encoding_that_does_not_exist_is_refused(write):
    assert "no such encoding" in refusal(write("a.csv", "a\n1\n"), encoding="klingon")


@pytest.mark.parametrize("content", ["", "\n\n", " \n", "\ufeff"])
def test_an_empty_file_is_refused(write, content):
    assert "is empty" in refusal(write("a.csv", content))


def test_a_header_without_rows_is_refused(write):
    message = refusal(write("a.csv", "color,size\n\n"))
    assert "no rows" in message
    assert "'color', 'size'" in message


@pytest.mark.parametrize(("row", "cells"), [("1", "1 cell where"), ("1,2,3", "3 cells where")])
def test_a_row_of_another_length_is_named_by_its_line(write, row, cells):
    message = refusal(write("a.csv", f'a,b\n"two\nlines",2\n\n{row}\n'))
    assert "line 5" in message
    assert f"{cells} the header has 2" in message


def test_a_quote_that_never_closes_is_refused(write):
    assert "quote opened and not closed" in refusal(write("a.csv", 'a,b\n1,"x\n2,y\n'))


def test_two_columns_of_one_name_are_refused(write):
    message = refusal(write("a.csv", "x,y,x\n1,2,3\n"))
    assert "two columns named 'x'" in message
    assert "columns 1 and 3" in message


def test_a_column_without_a_name_gets_one_and_it_is_told(write):
    table = read_table(write("a.csv", ",b\n0,x\n"))
    assert list(table.frame) == ["unnamed_1", "b"]
    assert "'unnamed_1'" in table.options["notes"][0]


def test_rows_are_named_by_the_line_they_begin_in(write):
    table = read_table(write("a.csv", 'a,b\n"1\n2",x\n\n3,y\n'))
    assert [table.line_of(row) for row in range(2)] == ["line 2", "line 5"]


def test_a_cell_longer_than_the_default_of_the_csv_module_is_read(write):
    text = "x" * 200_000
    assert read_table(write("a.csv", f"a,b\n{text},1\n")).frame.loc[0, "a"] == text


# -- Parquet, Excel, JSON lines --------------------------------------------------------------------------------


def test_whole_numbers_beside_empty_cells_stay_whole_in_parquet(tmp_path):
    pq.write_table(pa.table({"a": pa.array([1, None, 3], pa.int32()), "b": ["x", None, " "]}), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert [type(cell) for cell in table.frame["a"]] == [int, type(None), int]
    assert table.features["a"].dtype == np.float64
    assert table.features["b"].isna().tolist() == [False, True, True]


def test_types_of_parquet_columns_come_through(tmp_path):
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(["2025-01-01", None]),
            "yes": pd.array([True, None], dtype="boolean"),
            "kind": pd.Categorical(["a", None]),
            "size": np.array([1.5, np.nan], dtype=np.float32),
        }
    )
    frame.to_parquet(tmp_path / "a.parquet")
    features = read_table(tmp_path / "a.parquet").features
    assert features["day"].dtype.kind == "M"
    assert features["yes"].tolist()[0] == 1.0
    assert features["kind"].tolist()[0] == "a"
    assert features.isna().to_numpy().tolist() == [[False] * 4, [True] * 4]


def test_cells_of_a_sheet_keep_their_types(tmp_path):
    path = workbook(
        tmp_path / "a.xlsx", [["n", "when", "text", None], [1, pd.Timestamp("2025-02-03"), " x ", None], []]
    )
    table = read_table(path)
    assert table.frame.to_numpy().tolist() == [[1, pd.Timestamp("2025-02-03"), " x "]]
    assert table.features["when"].dtype.kind == "M"


def test_empty_rows_of_a_sheet_are_left_out_and_others_named_as_they_stand(tmp_path):
    table = read_table(workbook(tmp_path / "a.xlsx", [["a"], [1], [], [2]]))
    assert table.frame["a"].tolist() == [1, 2]
    assert table.line_of(1) == "row 4 of the sheet"


def test_the_first_sheet_is_read_and_it_is_told(tmp_path):
    table = read_table(workbook(tmp_path / "a.xlsx", [["a"], [1]], [["b"], [2]]))
    assert list(table.frame) == ["a"]
    assert "2 sheets" in table.options["notes"][0]


def test_formulas_are_never_computed(tmp_path):
    # openpyxl stores the formula without a value, as a program would that has not computed it yet.
    table = read_table(workbook(tmp_path / "a.xlsx", [["a", "b"], ["=1+1", 1]]))
    assert table.frame["a"].tolist() == [None]


@pytest.mark.parametrize("rows", [[], [["a", "b"]]])
def test_a_sheet_without_rows_is_refused(tmp_path, rows):
    assert "row" in refusal(workbook(tmp_path / "a.xlsx", rows))


def test_a_number_with_thousands_of_digits_is_refused_with_its_line(write):
    assert "line 2" in refusal(write("a.jsonl", '{"a": 1}\n{"a": ' + "7" * 5_000 + "}\n"))


def test_json_lines_may_have_different_keys(write):
    records = [{"a": 1, "b": {"c": [1]}}, {"b": "x", "d": True}, {"a": None, "d": False}]
    table = read_table(write("a.jsonl", "\n".join(map(json.dumps, records)) + "\n\n"))
    assert list(table.frame) == ["a", "b", "d"]
    assert table.frame.loc[0, "b"] == {"c": [1]}
    assert table.features["b"].tolist()[:2] == ['{"c": [1]}', "x"]
    assert table.features["d"].tolist()[1:] == [1.0, 0.0]


def test_a_line_that_is_no_json_is_named(write):
    assert "line 3" in refusal(write("a.jsonl", '{"a": 1}\n\n{"a": }\n'))


def test_a_line_that_is_no_object_is_named(write):
    assert "line 2 is not a JSON object" in refusal(write("a.ndjson", '{"a": 1}\n[1]\n'))


def test_empty_json_lines_are_refused(write):
    assert "is empty" in refusal(write("a.jsonl", "\n"))


# -- embeddings ------------------------------------------------------------------------------------------------


def test_an_array_is_a_column_of_vectors_to_learn_from_and_not_to_write(tmp_path):
    array = np.arange(24, dtype=np.float32).reshape(2, 12)
    np.save(tmp_path / "a.npy", array)
    table = read_table(tmp_path / "a.npy")
    assert list(table.features) == ["embedding"]
    np.testing.assert_array_equal(np.stack(table.features["embedding"]), array)
    assert table.features["embedding"][0].dtype == np.float32
    assert table.written.to_dict("list") == {"row": [1, 2]}


def test_arrays_beside_the_embeddings_are_columns(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(3), y=np.array([0, -1, 1]), name=np.array(["a", "b", "c"]))
    table = read_table(tmp_path / "a.npz")
    assert list(table.features) == ["y", "name", "X"]
    assert list(table.frame) == ["y", "name"]


def test_labels_come_from_a_table_with_as_many_rows(tmp_path, write):
    np.save(tmp_path / "a.npy", np.eye(3))
    table = read_table(tmp_path / "a.npy", labels=write("y.csv", "id,label\n1,x\n2,\n3,y\n"))
    assert list(table.features) == ["id", "label", "embedding"]
    assert table.frame["label"].tolist() == ["x", "", "y"]
    assert (table.file_of("label"), table.file_of("embedding")) == ("y.csv", "a.npy")


def test_labels_for_other_rows_are_refused(tmp_path, write):
    np.save(tmp_path / "a.npy", np.eye(3))
    assert "2 rows and a.npy has 3" in refusal(tmp_path / "a.npy", labels=write("y.csv", "label\nx\ny\n"))


def test_labels_with_a_name_of_the_embeddings_are_refused(tmp_path, write):
    np.save(tmp_path / "a.npy", np.eye(2))
    assert "'embedding'" in refusal(tmp_path / "a.npy", labels=write("y.csv", "embedding\nx\ny\n"))


@pytest.mark.parametrize("array", [np.arange(3.0), np.zeros((2, 2, 2)), np.array([["a", "b"]]), np.zeros((0, 3))])
def test_arrays_that_are_no_embeddings_are_refused(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    assert "2-D array of numbers" in refusal(tmp_path / "a.npy")


def test_python_objects_are_never_loaded(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[{"a": 1}]], dtype=object), allow_pickle=True)
    assert "can run code" in refusal(tmp_path / "a.npy")


def test_an_archive_needs_one_wide_array(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.eye(2), b=np.eye(2))
    assert "must have one 2-D array" in refusal(tmp_path / "a.npz")


def test_an_archive_with_columns_of_another_length_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=np.zeros(3))
    assert "'y' has the shape (3,)" in refusal(tmp_path / "a.npz")


def test_an_archive_that_fills_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("semikpca.tables._table.MOST_UNPACKED_BYTES", 10_000)
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((100, 100)))
    assert (tmp_path / "a.npz").stat().st_size < 10_000
    assert "unpacked" in refusal(tmp_path / "a.npz")


# -- files that are not what they seem -------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx", ".npy", ".npz"])
@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", b"", b"PK\x03\x04 but no archive", b"PAR1xxxxPAR1", b"\x93NUMPY\x01\x00"]
)
def test_a_file_that_is_not_what_its_suffix_says_is_refused(write, suffix, content):
    message = refusal(write(f"a{suffix}", content))
    assert "a" + suffix in message


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx", ".npy", ".npz"])
def test_a_file_that_was_cut_off_is_refused(tmp_path, write, suffix):
    whole = tmp_path / f"whole{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.table({"a": list(range(1000))}), whole)
    elif suffix == ".xlsx":
        workbook(whole, [["a"], *([i] for i in range(100))])
    else:
        (np.save if suffix == ".npy" else lambda path, X: np.savez(path, X=X))(whole, np.zeros((50, 5)))
    content = whole.read_bytes()
    assert "cut" in refusal(write(f"cut{suffix}", content[: len(content) // 2]))


def test_an_archive_that_is_no_workbook_is_refused(write):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("hello.txt", "hello")
    assert "not an Excel workbook" in refusal(write("a.xlsx", archive.getvalue()))


@pytest.mark.parametrize(
    ("name", "advice"),
    [("a.xls", "save it as .xlsx"), ("a.json", ".jsonl"), ("a.csv.gz", "Unpack"), ("a.what", ".csv")],
)
def test_a_format_that_is_not_known_comes_with_advice(write, name, advice):
    assert advice in refusal(write(name, "a\n1\n"))


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert f"There is no file {tmp_path / 'a.csv'}" in refusal(tmp_path / "a.csv")


def test_a_folder_is_refused(tmp_path):
    (tmp_path / "a.csv").mkdir()
    assert "is a folder" in refusal(tmp_path / "a.csv")


@pytest.mark.skipif(sys.platform == "win32", reason="needs permissions")
def test_a_file_without_permission_is_refused(write, monkeypatch):
    path = write("a.csv", "a\n1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may read everything

        def forbidden(self):
            raise PermissionError

        monkeypatch.setattr(type(path), "read_bytes", forbidden)
    assert "permission" in refusal(path)


@pytest.mark.slow  # a process is started
@pytest.mark.parametrize("package", ["pandas", "skrub"])
def test_a_missing_extra_is_named(package):
    code = f"import sys; sys.modules[{package!r}] = None\nimport semikpca\nimport semikpca.tables"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith(f"Tables need the package {package}: pip install 'semikpca[label]'")


def test_durations_are_numbers(tmp_path):
    pd.DataFrame({"took": pd.to_timedelta(["90s", None])}).to_parquet(tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").features["took"].tolist()[0] == 90.0
