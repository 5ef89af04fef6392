"""Where the tables of commands come from and go to: files, or "-" for standard input and output."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from semikpca._words import counted
from semikpca.cli._messages import console, errors
from semikpca.tables import Table, encoded_table, read_table, suffix_of_content, write_table

PIPE = Path("-")
_TEXT_FORMATS = ("csv", "tsv", "jsonl")


def read_given(file: Path, **options: Any) -> Table:
    """Return the table of a file, or of standard input, whose format is told by its first bytes."""
    if file != PIPE:
        return read_table(file, **options)
    content = sys.stdin.buffer.read()
    name = f"standard input{suffix_of_content(content)}"
    return replace(read_table(name, content=content, **options), path=None)


def write_asked(frame: pd.DataFrame, target: Path, like: Table | None, *, raw_cells: bool) -> list[str]:
    """Write a table to a file or to standard output, there as text; return what a user should know of it."""
    if target == PIPE:
        kind = like.format if like is not None and like.format in _TEXT_FORMATS else "csv"
        content, n_changed = encoded_table(frame, f"standard output.{kind}", like, raw_cells=raw_cells)
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        n_changed = write_table(frame, target, like, raw_cells=raw_cells)
    if not n_changed:
        return []
    cells = counted(n_changed, "cell that looks like a formula has", "cells that look like formulas have")
    return [
        f"{cells} an apostrophe in front, so that no spreadsheet program runs what was written. semikpca takes it off "
        "when it reads the table; --raw-cells leaves cells as they are."
    ]


def talking(target: Path | None) -> Console:
    """Return where a command talks to its user: not where its table goes."""
    return errors if target == PIPE else console


def shown_name(file: Path) -> str:
    """Return what a file that is read is called in messages."""
    return "standard input" if file == PIPE else file.name
