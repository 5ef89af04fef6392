"""Any bytes at all as a table: read and checked, or refused with a TableError."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from fuzz.judging import no_warnings
from semikpca.exceptions import TableError
from semikpca.tables import ColumnRoles, Table, check_roles, given_labels, read_table, write_table
from semikpca.workflow import prepare_table

# The first byte of an input for the fuzzer tells the format; files of the corpus have a suffix instead.
SUFFIXES = {b"c": ".csv", b"t": ".tsv", b"j": ".jsonl", b"y": ".npy", b"z": ".npz", b"x": ".xlsx", b"p": ".parquet"}
MOST_CELLS = 2_000  # of a table whose columns are turned into numbers, which takes a while


def judge(data):
    """Return how reading ends for the bytes after the first, which tells the format."""
    suffix = SUFFIXES.get(data[:1])
    return "no format" if suffix is None else judged(data[1:], suffix)


def judged(content, suffix):
    """Return "answered" or the message of the refusal; any other error is a fault."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        path.write_bytes(content)
        try:
            with no_warnings():
                _read(path)
        except TableError as error:
            return str(error)
    return "answered"


def _read(path):
    """Go the way of ``semikpca label`` up to the fit: read, check, labels, numbers; then write the table again."""
    table = read_table(path)
    frame = table.frame
    assert len(frame) == len(table.features) > 0
    learned = list(table.features.columns)
    assert list(frame.columns) == (learned[:-1] if table.is_array else learned)
    assert all(isinstance(name, str) for name in learned)
    if table.is_array:
        labels = pd.DataFrame({"given label": [("a", "b")[row % 2] for row in range(len(frame))]}, dtype=object)
        table = read_table(path, labels=Table(labels, labels, None, "csv"))
        frame = table.frame
    names = list(frame.columns)[:: -1 if table.is_array else 1]  # labels beside an array are in front
    roles = ColumnRoles(names[-1], id=names[0] if len(names) > 2 else None)
    check_roles(table, roles)
    assert len(given_labels(table, roles, allow_all=True)) == len(frame)
    if frame.size <= MOST_CELLS:
        X = prepare_table(table, roles, allow_all=True).X
        assert X.shape[0] == len(frame)
        assert np.isfinite(X).all()
    frame = frame.assign(predicted_label="a")  # as ``label`` writes it; a row of empty cells alone would be none
    for suffix in (".csv", ".xlsx", ".jsonl", ".parquet"):
        again = path.with_name(f"again{suffix}")
        write_table(frame, again, like=table)
        back = read_table(again)
        assert len(back.frame) == len(frame), f"{len(frame)} rows were written to {suffix}, and {len(back.frame)} read"
        assert back.frame.shape[1] == frame.shape[1]
