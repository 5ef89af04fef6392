"""From a file to a table."""

from codecs import BOM_UTF8
from pathlib import Path

import pandas as pd

from semikpca.exceptions import TableError
from semikpca.tables._delimited import read_delimited
from semikpca.tables._embeddings import with_embeddings
from semikpca.tables._excel import read_excel
from semikpca.tables._features import features_of
from semikpca.tables._records import read_jsonl, read_npy, read_npz, read_parquet
from semikpca.tables._table import ARRAYS, Table
from semikpca.tables._vectors import vector_length

FORMATS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "excel",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npy": "npy",
    ".npz": "npz",
}
ADVICE = {
    ".xls": "Open it in a spreadsheet program and save it as .xlsx.",
    ".xlsm": "Save it as .xlsx, without macros.",
    ".ods": "Open it in a spreadsheet program and save it as .xlsx.",
    ".json": "Write one JSON object in each line (.jsonl).",
    ".gz": "Unpack it first.",
    ".zip": "Unpack it first.",
    ".pkl": "Pickle files can run code and are not read. Write .parquet instead.",
    ".feather": "Write .parquet instead.",
}
USUAL_DELIMITER = {"csv": ",", "tsv": "\t"}
READERS = {"parquet": read_parquet, "npy": read_npy, "npz": read_npz}


def read_table(
    path: str | Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    labels: "str | Path | Table | None" = None,
    sheet: str | None = None,
    header_row: int | None = None,
    embeddings: "str | Path | Table | None" = None,
    id_column: str | None = None,
    raw_cells: bool = False,
    content: bytes | None = None,
) -> Table:
    """Read a table: CSV, TSV, Parquet, Excel, JSON lines, or embeddings in .npy and .npz.

    Nothing in the file is run: formulas are read as the values that were last stored, and Python objects are refused.

    Parameters
    ----------
    path : path-like
        The suffix tells the format: .csv .txt .tsv .tab .parquet .pq .xlsx .jsonl .ndjson .npy .npz.
        An .npz file has one 2-D array and any number of 1-D arrays, which become columns. Lists of numbers in Parquet
        and JSON lines are vectors, as are the rows of a 2-D array.
    delimiter : str or None, default=None
        What separates the cells of a text file. By default a comma (a tab in .tsv), or what the file clearly uses.
    encoding : str or None, default=None
        The encoding of a text file, by default UTF-8, or what its byte order mark says.
    labels : path-like, Table or None, default=None
        A table with as many rows whose columns are put in front: for embeddings that come without labels.
    sheet : str or None, default=None
        Name or number, from 1, of a sheet of an Excel file; the first one by default.
    header_row : int or None, default=None
        The row of that sheet with the column names, from 1. By default the first one with cells, or the one below
        titles where that is clear.
    embeddings : path-like, Table or None, default=None
        Vectors of the rows, which become a column ``embedding`` to learn from: an .npy or .npz file, or a table with a
        column of lists. They are in the order of the rows, or go by ids that both files have.
    id_column : str or None, default=None
        The column with these ids. By default the only one that both files have and that differs in every embedding.
    raw_cells : bool, default=False
        Whether the apostrophe that :func:`write_table` puts before formulas in text files is left where it is.
    content : bytes or None, default=None
        The content of the file where it comes from elsewhere, such as a pipe. The path is then a name for messages.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        With the place and the remedy, when the file cannot be read as a table.
    """
    path = Path(path)
    kind = format_of(path)
    content = _content(path) if content is None else content
    if kind in USUAL_DELIMITER:
        usual = USUAL_DELIMITER[kind]
        frame, options = read_delimited(path, content, delimiter, encoding, usual, raw_cells=raw_cells)
    elif kind == "excel":
        frame, options = read_excel(path, content, sheet, header_row)
    elif kind == "jsonl":
        frame, options = read_jsonl(path, content, encoding)
    else:
        frame, options = READERS[kind](path, content)
    if kind != "excel" and labels is None and (sheet is not None or header_row is not None):
        raise TableError(f"--sheet and --header-row are for Excel files (.xlsx), and {path.name} is none.")
    if not len(frame):
        raise TableError(f"{path.name} has no rows.")
    features = features_of(frame)
    if kind in ARRAYS:
        frame = frame[[name for name in frame.columns if vector_length(features[name]) is None]]
    table = Table(frame, features, path, kind, options)
    if labels is not None:
        if not isinstance(labels, Table):
            if kind == "excel" and format_of(Path(labels)) != "excel":
                sheet, header_row = None, None
            labels = read_table(
                labels,
                delimiter=delimiter,
                encoding=encoding,
                sheet=sheet,
                header_row=header_row,
                raw_cells=raw_cells,
            )
        table = _beside(labels, table)
    if embeddings is not None:
        if not isinstance(embeddings, Table):
            embeddings = read_table(embeddings)
        table = with_embeddings(table, embeddings, id_column)
    return table


def format_of(path: Path) -> str:
    """Return the format that the suffix of a file stands for."""
    suffix = path.suffix.lower()
    if suffix in FORMATS:
        return FORMATS[suffix]
    advice = ADVICE.get(suffix, "Rename the file if its suffix is wrong.")
    known = ", ".join(FORMATS)
    raise TableError(f"{path.name}: the format is not known by the suffix {suffix!r}, only by {known}. {advice}")


def suffix_of_content(content: bytes) -> str:
    """Return the suffix that would tell the format of a file that came without a name."""
    for start, suffix in ((b"PAR1", ".parquet"), (b"\x93NUMPY", ".npy")):
        if content.startswith(start):
            return suffix
    if content.startswith(b"PK\x03\x04"):
        return ".npz" if b".npy" in content[:200] else ".xlsx"
    return ".jsonl" if content[:1000].removeprefix(BOM_UTF8).lstrip().startswith(b"{") else ".csv"


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise TableError(f"There is no file {path}. Check the name and the folder.") from None
    except IsADirectoryError:
        raise TableError(f"{path} is a folder. Name a file in it.") from None
    except PermissionError:
        raise TableError(f"{path} may not be read: the permission is missing.") from None


def _beside(labels: Table, table: Table) -> Table:
    if len(labels) != len(table):
        raise TableError(
            f"{labels.name} has {len(labels):,} rows and {table.name} has {len(table):,}. Each row of the one belongs "
            "to the same row of the other, so they must have as many."
        )
    taken = set(table.features.columns)
    if shared := [name for name in labels.frame.columns if name in taken]:
        raise TableError(f"{labels.name} and {table.name} both have a column {shared[0]!r}. Rename one of them.")
    frame = pd.concat([labels.frame, table.frame], axis=1)
    features = pd.concat([labels.features, table.features], axis=1)
    notes = (*labels.options.get("notes", ()), *table.options.get("notes", ()))
    files = dict.fromkeys(map(str, labels.frame.columns), labels.name)
    return Table(frame, features, table.path, table.format, {**table.options, "notes": notes, "files": files})
