"""Cells of text files that a spreadsheet program would run: an apostrophe prevents it, and is taken off again."""

import re

SIGNS = ("+", "-", "@")  # begin a formula as "=" does, where something can be run after them
# A formula that does more than arithmetic has a name, a call or a link to another program (DDE).
RUNS = re.compile(r"[^\W\d_]|[()|]")
# A number with a unit after it, such as -5 °C, is no formula though it has letters.
AMOUNT = re.compile(r"[-+]\s?(\d+([.,]\d+)*|[.,]\d+)(e[-+]?\d+|\s?[°µ%]?[^\W\d_]{1,3})?", re.IGNORECASE)
# A cell must not begin with one of these at all: programs skip them, or take them for the end of a cell.
BLANKS = ("\t", "\r")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet program that opens a text file may run a cell.

    Examples
    --------
    >>> [is_formula(text) for text in ("=1+1", "-cmd|' /C calc'!A0", "@SUM(A1)", "+a")]
    [True, True, True, True]
    >>> [is_formula(text) for text in ("+", "-", "=", "-1%", "+49 30 1234", "-5 °C", "- - -", "a=b")]
    [False, False, False, False, False, False, False, False]
    """
    if text.startswith(SIGNS):
        return RUNS.search(text) is not None and AMOUNT.fullmatch(text) is None
    return text.startswith(BLANKS) or (text.startswith("=") and text != "=")


def with_apostrophe(text: str) -> str:
    """Return a cell that no spreadsheet program runs; one that has an apostrophe already gets another.

    Examples
    --------
    >>> with_apostrophe("=1+1"), with_apostrophe("'=1+1"), with_apostrophe("'tis")
    ("'=1+1", "''=1+1", "'tis")
    """
    return f"'{text}" if is_formula(text.lstrip("'")) else text


def without_apostrophes(cells: list[str]) -> list[str]:
    """Return cells as they were before :func:`with_apostrophe`."""
    return [cell[1:] if cell[:1] == "'" and is_formula(cell.lstrip("'")) else cell for cell in cells]
