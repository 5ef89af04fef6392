"""Sheets of workbooks: which one, where its table begins, what a copy keeps, and files made to do harm."""

import datetime
import io
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest
from openpyxl.styles import Font
from openpyxl.worksheet.datavalidation import DataValidation

from semikpca.exceptions import TableError
from semikpca.tables import ColumnRoles, check_roles, read_table, write_table
from workbooks import refusal, workbook

NAMES, ROWS = ["kind", "size"], [["a", 1], ["b", 2]]


# -- sheets ------------------------------------------------------------------------------------------------------


@pytest.fixture
def two_sheets(tmp_path):
    return workbook(tmp_path / "a.xlsx", Notes=[["text"], ["hello"]], Data=[NAMES, *ROWS])


@pytest.mark.parametrize("sheet", ["Data", "2"])
def test_a_sheet_is_read_by_its_name_or_its_number(two_sheets, sheet):
    table = read_table(two_sheets, sheet=sheet)
    assert list(table.frame) == NAMES
    assert not table.options["notes"]


def test_a_name_goes_before_a_number(tmp_path):
    path = workbook(tmp_path / "a.xlsx", **{"2": [["x"], [1]], "Data": [NAMES, *ROWS]})
    assert list(read_table(path, sheet="2").frame) == ["x"]


@pytest.mark.parametrize(
    ("sheet", "hint"), [("data", "Did you mean 'Data'?"), ("3", "'Notes', 'Data'"), ("0", "from 1")]
)
def test_a_sheet_that_is_not_there_is_refused_with_those_that_are(two_sheets, sheet, hint):
    message = refusal(two_sheets, sheet=sheet)
    assert f"--sheet {sheet}" in message
    assert hint in message


def test_an_empty_first_sheet_points_to_the_others(tmp_path):
    path = workbook(tmp_path / "a.xlsx", Cover=[], Data=[NAMES, *ROWS])
    assert "--sheet: 'Data'" in refusal(path)


def test_options_for_sheets_are_refused_for_other_files(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert "for Excel files" in refusal(tmp_path / "a.csv", sheet="1")
    assert "for Excel files" in refusal(tmp_path / "a.csv", header_row=2)


def test_labels_from_a_workbook_can_be_in_any_of_its_sheets(two_sheets, tmp_path):
    np.save(tmp_path / "a.npy", np.eye(2))
    assert list(read_table(tmp_path / "a.npy", labels=two_sheets, sheet="Data").frame)[:2] == NAMES


# -- the row with the column names -------------------------------------------------------------------------------


def test_titles_above_the_column_names_are_passed_over_with_a_note(tmp_path):
    path = workbook(tmp_path / "a.xlsx", Data=[["Second quarter"], [], ["by Ann"], NAMES, *ROWS])
    table = read_table(path)
    assert table.frame.to_numpy().tolist() == ROWS
    assert table.line_of(0) == "row 5 of the sheet"
    (note,) = table.options["notes"]
    assert "rows 1 to 3" in note
    assert "row 4 has the column names" in note
    assert "--header-row" in note


@pytest.mark.parametrize(
    "rows",
    [
        [["Second quarter"], ["kind", None, "size"], ["a", "x", 1]],  # a column without a name
        [["Second quarter"], ["a", 1], ["b", 2]],  # no names at all
        [["Second quarter"], NAMES],  # nothing below
    ],
)
def test_a_title_above_what_may_be_no_column_names_is_refused_with_the_remedy(tmp_path, rows):
    assert "--header-row 2" in refusal(workbook(tmp_path / "a.xlsx", Data=rows))


def test_the_row_with_the_column_names_can_be_named(tmp_path):
    path = workbook(tmp_path / "a.xlsx", Data=[["total", 3], ["in", "mm"], NAMES, *ROWS])
    assert list(read_table(path, header_row=3).frame) == NAMES


def test_a_title_can_be_declared_a_column_name(tmp_path):
    path = workbook(tmp_path / "a.xlsx", Data=[["kind"], ["a", 1], ["b", 2]])
    assert list(read_table(path, header_row=1).frame) == ["kind", "unnamed_2"]


def test_an_empty_row_has_no_column_names(tmp_path):
    message = refusal(workbook(tmp_path / "a.xlsx", Data=[NAMES, [], *ROWS]), header_row=2)
    assert "--header-row 2" in message
    assert "is empty" in message


def test_a_single_column_has_no_titles(tmp_path):
    assert list(read_table(workbook(tmp_path / "a.xlsx", Data=[["kind"], ["a"], ["b"]])).frame) == ["kind"]


def test_a_column_that_is_not_found_points_to_the_row_of_names(tmp_path):
    table = read_table(workbook(tmp_path / "a.xlsx", Data=[["total", 3], NAMES, *ROWS]))
    with pytest.raises(TableError, match="--header-row"):
        check_roles(table, ColumnRoles("kind"))


# -- what is written ---------------------------------------------------------------------------------------------


@pytest.fixture
def formatted(tmp_path):
    """A sheet as people keep them: a title, a bold header, formats, widths, a frozen header, an empty row."""
    path = tmp_path / "a.xlsx"
    day = datetime.datetime(2025, 2, 3)
    names = ["when", "price", "text", "kind"]
    rows = [[day, 1.5, "=1+1", "x"], [], [day, 2.5, "y", None]]
    book = openpyxl.load_workbook(workbook(path, Notes=[["x"]], Data=[["Second quarter"], names, *rows]))
    sheet = book["Data"]
    for row in (3, 5):
        sheet.cell(row, 1).number_format, sheet.cell(row, 2).number_format = "dd.mm.yyyy", "0.00"
    sheet["C3"].data_type = "s"  # a text that only looks like a formula
    for cell in sheet[2]:
        cell.font = Font(bold=True)
    sheet.freeze_panes, sheet.column_dimensions["C"].width = "B3", 50
    rule = DataValidation(type="list", formula1="Notes!$A$1:$A$3")
    rule.add("D3:D9")
    sheet.add_data_validation(rule)
    book.save(path)
    return path


def written(table, frame, path):
    write_table(frame, path, like=table)
    return openpyxl.load_workbook(path)


def test_a_written_workbook_is_a_copy_of_the_sheet_with_more_columns(formatted, tmp_path):
    table = read_table(formatted, sheet="Data")
    book = written(table, table.frame.assign(guess=["x", "=y"]), tmp_path / "b.xlsx")
    assert book.sheetnames == ["Data"]
    sheet = book["Data"]
    assert sheet["A1"].value == "Second quarter"
    assert [cell.value for cell in sheet[2]] == ["when", "price", "text", "kind", "guess"]
    assert sheet["E2"].font.bold
    assert (sheet["A5"].number_format, sheet["B5"].number_format) == ("dd.mm.yyyy", "0.00")
    assert (sheet.freeze_panes, sheet.column_dimensions["C"].width) == ("B3", 50)
    assert [sheet.cell(row, 5).value for row in (3, 4)] == ["x", None]
    assert (sheet["C3"].value, sheet["C3"].data_type, sheet["E5"].data_type) == ("=1+1", "s", "s")
    assert not sheet.data_validations.dataValidation  # of cells of a sheet that is not there
    again = read_table(tmp_path / "b.xlsx")
    pd.testing.assert_frame_equal(again.frame[list(table.frame)], table.frame)


def test_cells_that_were_changed_are_changed_in_the_copy(formatted, tmp_path):
    table = read_table(formatted, sheet="Data")
    sheet = written(table, table.frame.assign(kind=[None, "new"]), tmp_path / "b.xlsx")["Data"]
    assert [sheet.cell(row, 4).value for row in (3, 5)] == [None, "new"]


def test_other_rows_come_in_a_sheet_of_the_same_name(formatted, tmp_path):
    table = read_table(formatted, sheet="Data")
    sheet = written(table, table.frame.iloc[[1]], tmp_path / "b.xlsx")["Data"]
    assert [cell.value for cell in sheet["C"]] == ["text", "y"]


def test_a_sheet_too_large_to_be_copied_is_written_without_formats_and_a_note_says_so(formatted, tmp_path, monkeypatch):
    monkeypatch.setattr("semikpca.tables._excel.MOST_CELLS_WITH_FORMATS", 7)
    table = read_table(formatted, sheet="Data")
    assert "8 cells" in table.options["notes"][-1]
    sheet = written(table, table.frame, tmp_path / "b.xlsx")["Data"]
    assert sheet.freeze_panes is None
    assert sheet["B2"].value == 1.5


# -- files made to do harm ---------------------------------------------------------------------------------------


def with_sheet(path, xml):
    """Write a workbook whose sheet has this XML between its rows."""
    parts = zipfile.ZipFile(workbook(path, Data=[NAMES, *ROWS]))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in parts.namelist():
            part = parts.read(name)
            if name == "xl/worksheets/sheet1.xml":
                start, end = part.split(b"</sheetData>")
                part = start + xml + b"</sheetData>" + end
            archive.writestr(name, part)
    path.write_bytes(content.getvalue())
    return path


def test_a_small_file_that_unpacks_to_a_large_one_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = with_sheet(tmp_path / "a.xlsx", b"<row><c><v>1</v></c></row>" * 3_000_000)
    assert path.stat().st_size < 1_000_000
    monkeypatch.setattr("openpyxl.load_workbook", lambda *_, **__: pytest.fail("It was opened."))
    message = refusal(path)
    assert "times as much" in message
    assert ".csv" in message


def test_reading_stops_at_the_most_cells(tmp_path, monkeypatch):
    monkeypatch.setattr("semikpca.tables._excel.MOST_CELLS", 1_000)
    # Reading on would come to XML that is none.
    path = with_sheet(tmp_path / "a.xlsx", b"<row><c><v>1</v></c></row>" * 100_000 + b"<row></c>")
    assert "more than 1,000 cells" in refusal(path)


@pytest.mark.parametrize(
    "xml",
    [
        b'<row r="99999999999"><c><v>1</v></c></row>',
        b"".join(b'<row r="%d"><c r="XFD%d" s="0"/></row>' % (row, row) for row in range(4, 1_000)),
    ],
)
def test_a_cell_far_away_does_not_make_a_sheet_endless(tmp_path, monkeypatch, xml):
    monkeypatch.setattr("semikpca.tables._excel.MOST_CELLS", 1_000_000)
    monkeypatch.setattr("semikpca.tables._excel.MOST_EXCEL_ROWS", 10_000)
    assert "Delete the empty rows and columns" in refusal(with_sheet(tmp_path / "a.xlsx", xml))


def test_what_a_file_says_of_its_extent_is_not_believed(tmp_path):
    path = workbook(tmp_path / "a.xlsx", Data=[NAMES, *ROWS])
    parts = zipfile.ZipFile(io.BytesIO(path.read_bytes()))
    with zipfile.ZipFile(path, "w") as archive:
        for name in parts.namelist():
            archive.writestr(name, parts.read(name).replace(b'ref="A1:B3"', b'ref="A1:XFD1048576"'))
    assert read_table(path).frame.to_numpy().tolist() == ROWS
