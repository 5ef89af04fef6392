"""Excel files for tests, and what the reader says against a file."""

import openpyxl
import pytest

from semikpca.exceptions import TableError
from semikpca.tables import read_table


def workbook(path, *rows_of_sheets, **named):
    """Write a workbook with the rows of each sheet: "Sheet 0", "Sheet 1" and so on, or by the names given."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in {**{f"Sheet {number}": rows for number, rows in enumerate(rows_of_sheets)}, **named}.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def refusal(path, **options):
    """Return what the refusal to read a file says."""
    with pytest.raises(TableError) as caught:
        read_table(path, **options)
    return str(caught.value)
