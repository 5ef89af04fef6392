"""Tables written: what comes back, what is escaped, and what is never left behind half-written."""

import csv
import datetime
import io
from decimal import Decimal

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from semikpca.exceptions import TableError
from semikpca.tables import check_output, read_table, write_table

ODD_CELLS = [
    "007",
    "1.0",
    ' "quoted", ',
    "two\r\nlines",
    "nan",
    "",
    " ",
    "é 漢字 \u2028",
    "'quoted",
    "a;b|c\td",
    "<b>&amp;</b>",
]
FORMULAS = ["=1+1", "+a", "-a", "@x", "\ttab", "\rreturn", "=cmd|' /C calc'!A0", "-2+A3", "- see below", "'=1+1"]
HARMLESS = [
    "-1",
    "+1",
    "-1.5e-3",
    "-1,5",
    "-1.234,5",
    "-.5",
    "-1%",
    "+49 170 555",
    "-5 °C",
    "+",
    "-",
    "=",
    "@",
    "--",
    "'tis",
]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".xlsx", ".jsonl"])
def test_odd_cells_come_back_as_they_were(tmp_path, suffix):
    frame = pd.DataFrame({"a": ODD_CELLS, "b": ["x"] * len(ODD_CELLS)})
    write_table(frame, tmp_path / f"a{suffix}")
    back = read_table(tmp_path / f"a{suffix}").frame
    # Excel has no difference between an empty cell and an empty text, and one character between lines.
    expected = [cell.replace("\r\n", "\n") if suffix == ".xlsx" else cell for cell in ODD_CELLS]
    assert ["" if cell is None else cell for cell in back["a"]] == expected
    assert list(back) == ["a", "b"]


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_formulas_get_an_apostrophe_and_what_no_program_runs_does_not(tmp_path, suffix, delimiter):
    frame = pd.DataFrame({"=a": FORMULAS + HARMLESS, "b": "x"})
    assert write_table(frame, tmp_path / f"a{suffix}") == len(FORMULAS) + 1
    with open(tmp_path / f"a{suffix}", encoding="utf-8", newline="") as file:
        (name, _), *rows = csv.reader(file, delimiter=delimiter)
    assert name == "'=a"
    assert [cell for cell, _ in rows] == [f"'{cell}" for cell in FORMULAS] + HARMLESS


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".xlsx"])
def test_formulas_come_back_as_they_were(tmp_path, suffix):
    cells = [cell for cell in FORMULAS + HARMLESS if suffix != ".xlsx" or "\r" not in cell]
    write_table(pd.DataFrame({"=a": cells}), tmp_path / f"a{suffix}")
    assert read_table(tmp_path / f"a{suffix}").frame["=a"].tolist() == cells


def test_raw_cells_are_written_and_read_as_they_are(tmp_path):
    frame = pd.DataFrame({"=a": FORMULAS, "b": "x"})
    assert write_table(frame, tmp_path / "a.csv", raw_cells=True) == 0
    back = read_table(tmp_path / "a.csv", raw_cells=True).frame
    assert back["=a"].tolist() == FORMULAS
    assert (tmp_path / "a.csv").read_text().startswith("=a,b\n=1+1,x\n")


def test_no_cell_of_a_sheet_is_a_formula(tmp_path):
    write_table(pd.DataFrame({"=a": FORMULAS}), tmp_path / "a.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} == {"s"}
    assert all(cell.quotePrefix for row in sheet.iter_rows() for cell in row if not cell.value.startswith("'"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("size;price\n1;2,5\n", "1;2,5;0,25\n"),
        ("size;price\n1;2.5\n", "1;2.5;0.25\n"),
        ("size;price;share\n1;2,5;0.5\n", "1;2,5;0.5;0.25\n"),
        ('size,price\n1,"2,5"\n', '1,"2,5","0,25"\n'),
        ("size,price\n1,2\n", "1,2,0.25\n"),
    ],
)
def test_fractions_get_the_decimal_sign_of_the_table(tmp_path, content, expected):
    (tmp_path / "a.csv").write_text(content)
    table = read_table(tmp_path / "a.csv")
    write_table(table.frame.assign(confidence=0.25), tmp_path / "b.csv", like=table)
    assert (tmp_path / "b.csv").read_text().splitlines(keepends=True)[1] == expected


def test_a_written_text_file_is_plain_csv(tmp_path):
    frame = pd.DataFrame({"n": [1, 2], "x": [0.5, np.nan], "t": ["a,b", None], "b": [True, False]})
    write_table(frame, tmp_path / "a.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "a.csv").read_text(encoding="utf-8"))))
    assert rows == [["n", "x", "t", "b"], ["1", "0.5", "a,b", "true"], ["2", "", "", "false"]]


def test_a_text_file_keeps_its_delimiter_and_encoding(tmp_path):
    content = "name;größe\nMüller;1,5\n".encode("cp1252")
    (tmp_path / "a.csv").write_bytes(content)
    table = read_table(tmp_path / "a.csv", encoding="cp1252")
    write_table(table.frame, tmp_path / "b.csv", like=table)
    assert (tmp_path / "b.csv").read_bytes() == content


def test_a_byte_order_mark_is_kept(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfa,b\n1,2\n")
    table = read_table(tmp_path / "a.csv")
    write_table(table.frame, tmp_path / "b.csv", like=table)
    assert (tmp_path / "b.csv").read_bytes() == b"\xef\xbb\xbfa,b\n1,2\n"


def test_another_format_does_not_take_over_the_delimiter(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1;2\n")
    table = read_table(tmp_path / "a.csv")
    write_table(table.frame, tmp_path / "b.tsv", like=table)
    assert (tmp_path / "b.tsv").read_text() == "a\tb\n1\t2\n"


def test_a_character_that_the_encoding_lacks_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes("a,b\né,2\n".encode("cp1252"))
    table = read_table(tmp_path / "a.csv", encoding="cp1252")
    with pytest.raises(TableError, match=r"'漢' does not exist in cp1252"):
        write_table(table.frame.assign(b="漢"), tmp_path / "b.csv", like=table)
    assert not (tmp_path / "b.csv").exists()


def test_parquet_types_come_back(tmp_path):
    arrow = pa.table(
        {
            "small": pa.array([1, None], pa.int16()),
            "money": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
            "day": pa.array([datetime.date(2025, 1, 2), None]),
            "time": pa.array([datetime.datetime(2025, 1, 2, 3, 4, 5, 6), None], pa.timestamp("us", tz="UTC")),
            "kind": pa.array(["a", None]).dictionary_encode(),
            "list": pa.array([[1, 2], None], pa.list_(pa.int8())),
            "yes": pa.array([True, None]),
        }
    )
    pq.write_table(arrow, tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    write_table(table.frame.assign(new=[0.5, 0.25]), tmp_path / "b.parquet", like=table)
    back = pq.read_table(tmp_path / "b.parquet")
    assert back.drop_columns("new").to_pylist() == arrow.to_pylist()
    assert back.schema.remove(7).types == arrow.schema.types


def test_numbers_and_text_in_one_column_become_text_in_parquet(tmp_path):
    write_table(pd.DataFrame({"a": pd.Series([1, "x", None, 2.5], dtype=object)}), tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet")["a"].to_pylist() == ["1", "x", None, "2.5"]


def test_types_of_a_sheet_come_back(tmp_path):
    cells = [1, 2.5, True, datetime.datetime(2025, 1, 2, 3, 4), None, "x"]
    write_table(pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": "y"}), tmp_path / "a.xlsx")
    assert read_table(tmp_path / "a.xlsx").frame["a"].tolist() == cells


def test_json_lines_come_back(tmp_path):
    text = '{"a": 1, "b": {"c": [1, "é"]}}\n{"a": null, "b": true}\n{"a": 2.5, "b": "x"}\n'
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
    table = read_table(tmp_path / "a.jsonl")
    write_table(table.frame, tmp_path / "b.jsonl", like=table)
    assert (tmp_path / "b.jsonl").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("times", "texts"),
    [
        (["2025-01-02", None], ["2025-01-02", ""]),
        (["2025-01-02", "2025-01-02 03:04:05"], ["2025-01-02T00:00:00", "2025-01-02T03:04:05"]),
        (["2025-01-02 03:04:05.25", None], ["2025-01-02T03:04:05.250", ""]),
    ],
)
def test_points_in_time_have_one_format_in_a_column(tmp_path, times, texts):
    write_table(
        pd.DataFrame({"when": pd.to_datetime(pd.Series(times), format="ISO8601"), "x": "y"}), tmp_path / "a.csv"
    )
    assert read_table(tmp_path / "a.csv").frame["when"].tolist() == texts


@pytest.mark.parametrize("type_", [pa.list_(pa.float32()), pa.list_(pa.float32(), 3), pa.large_list(pa.float64())])
def test_lists_of_numbers_are_written_as_they_came(tmp_path, type_):
    cells = pa.array([[0.5, 1.5, 2.5], None, [3.5, 4.5, 5.5]], type_)
    pq.write_table(pa.table({"label": ["x", "y", ""], "vector": cells}), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    write_table(table.written, tmp_path / "b.parquet", like=table)
    assert pq.read_table(tmp_path / "b.parquet")["vector"].combine_chunks().equals(cells)
    write_table(table.written, tmp_path / "b.jsonl", like=table)
    again = read_table(tmp_path / "b.jsonl")
    assert again.frame["vector"].tolist() == cells.to_pylist()
    np.testing.assert_array_equal(again.features["vector"][2], table.features["vector"][2])


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.doc", "no folder/a.csv", "folder.csv"])
def test_what_cannot_be_written_is_known_before(tmp_path, name):
    (tmp_path / "folder.csv").mkdir()
    for refuse in (check_output, lambda path: write_table(pd.DataFrame({"a": [1]}), path)):
        with pytest.raises(TableError):
            refuse(tmp_path / name)


def test_a_cell_too_long_for_a_sheet_is_refused_and_not_cut(tmp_path):
    with pytest.raises(TableError, match=r"column 'a', row 2 has 40,000 characters"):
        write_table(pd.DataFrame({"a": ["x", "x" * 40_000]}), tmp_path / "a.xlsx")
    assert not (tmp_path / "a.xlsx").exists()


def test_a_control_character_in_a_sheet_is_refused(tmp_path):
    with pytest.raises(TableError, match=r"row 1 has the control character"):
        write_table(pd.DataFrame({"a": ["x\x01"]}), tmp_path / "a.xlsx")


def test_more_columns_than_a_sheet_has_are_refused(tmp_path):
    with pytest.raises(TableError, match="16,384 columns"):
        write_table(pd.DataFrame(np.zeros((1, 16_385))), tmp_path / "a.xlsx")


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".parquet", ".jsonl"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"a{suffix}"
    write_table(pd.DataFrame({"a": [1]}), path)
    before = path.read_bytes()

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        write_table(pd.DataFrame({"a": [2]}), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_without_permission_is_told(tmp_path, monkeypatch):
    def forbidden(*arguments):
        raise PermissionError

    monkeypatch.setattr("os.replace", forbidden)
    with pytest.raises(TableError, match="permission"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "a.csv")
