"""Tables that are larger than a memory, cut into pieces: rows of Parquet files, or lines of text files.

A piece says where its rows are; whoever needs them reads them. Cells come by the rules of :func:`read_table`.
"""

import csv
import glob
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from semikpca.exceptions import TableError
from semikpca.tables._delimited import SEEN_FOR_DELIMITER, chosen_delimiter, decoded, named_columns, read_delimited
from semikpca.tables._features import features_of
from semikpca.tables._formulas import without_apostrophes
from semikpca.tables._reading import USUAL_DELIMITER, format_of
from semikpca.tables._table import Table, damaged, listed

# Bytes of a piece. As text, cells take several times that in memory.
LARGEST_TEXT_PIECE = 2**25
# Row groups of Parquet are joined up to so many bytes, unpacked, and rows; a single one may be larger.
LARGEST_PARQUET_PIECE = 2**26
MOST_PARQUET_ROWS = 100_000
_PARQUET = ("*.parquet", "*.pq")


@dataclass(frozen=True)
class ParquetPiece:
    """Some row groups of a Parquet file."""

    path: Path
    groups: tuple[int, ...]
    names: tuple[str, ...]

    def __str__(self) -> str:
        first, last = self.groups[0] + 1, self.groups[-1] + 1
        return f"{self.path.name}, row group" + (f" {first}" if first == last else f"s {first}-{last}")

    def read(self, names: Sequence[str] | None = None) -> Any:
        """Return an Arrow table of all columns, or of some."""
        import pyarrow.parquet as pq

        names = self.names if names is None else names
        with _seen(self.path):
            try:
                with pq.ParquetFile(self.path) as file:
                    stored = dict(zip(self.names, file.schema_arrow.names, strict=True))
                    arrow = file.read_row_groups(list(self.groups), [stored[name] for name in names])
            except OSError:
                raise
            except Exception as error:  # whatever Arrow raises of damaged pages
                raise damaged(self.path, "a Parquet file", error) from None
        return arrow.select([stored[name] for name in names]).rename_columns(list(names)).replace_schema_metadata(None)


@dataclass(frozen=True)
class TextPiece:
    """Lines of a delimited file: those that begin in a range of bytes."""

    path: Path
    start: int
    stop: int
    is_whole_file: bool
    header: bytes
    names: tuple[str, ...]
    delimiter: str
    encoding: str
    raw_cells: bool = False

    def __str__(self) -> str:
        return self.path.name if self.is_whole_file else f"{self.path.name}, from byte {self.start:,} on"

    def read(self, names: Sequence[str] | None = None) -> Any:
        """Return an Arrow table of all columns, or of some; every cell is text."""
        import pyarrow as pa

        names = self.names if names is None else names
        with _seen(self.path), open(self.path, "rb") as file:
            begin, end = _line_from(file, self.start), _line_from(file, self.stop)
            file.seek(begin)
            lines = file.read(end - begin)
        if not self.is_whole_file and lines.count(b'"') % 2:
            raise TableError(
                f"{self}: a cell in quotes goes on in the next piece, or a quote is not closed. A file of more than "
                f"{LARGEST_TEXT_PIECE:,} bytes is cut between lines. Split it into files of up to that many and name "
                "all of them ('part-*.csv'), or write .parquet."
            )
        if not lines.strip():
            frame = pd.DataFrame(columns=list(self.names), dtype=object)
        else:
            place = Path(str(self))  # errors name it, and count lines from the header on
            content, cut = self.header + lines, self.delimiter
            frame, _ = read_delimited(place, content, cut, self.encoding, cut, raw_cells=self.raw_cells)
        return pa.table({name: pa.array(frame[name], pa.string()) for name in names})


@dataclass(frozen=True)
class PiecedTable:
    """A table in pieces, in the order of its rows."""

    path: Path  # as it was given; it may be a folder of Parquet files, or a pattern
    format: str
    pieces: tuple[ParquetPiece | TextPiece, ...]
    notes: tuple[str, ...] = ()  # what was assumed in reading, for the user

    @cached_property
    def head(self) -> Table:
        """The columns without rows, for what asks for names only."""
        frame = pd.DataFrame(columns=list(self.pieces[0].names), dtype=object)
        return Table(frame, frame, self.path, self.format, {"notes": self.notes})


def in_pieces(
    path: str | Path, *, delimiter: str | None = None, encoding: str | None = None, raw_cells: bool = False
) -> PiecedTable:
    """Cut a table into pieces without reading its rows.

    The path is a Parquet file, a folder of them, a CSV or TSV file, or a pattern of file names such as part-*.csv.
    Files are taken in the order of their names, with numbers in them as numbers: part-2 comes before part-10. All must
    have the same columns.
    """
    path = Path(path)
    files = _files(path)
    kinds = sorted({format_of(file) for file in files})
    if len(kinds) > 1:
        raise TableError(f"{path} names files of several formats: {', '.join(kinds)}. Choose those of one.")
    if kinds == ["parquet"]:
        return PiecedTable(path, "parquet", *_parquet_pieces(files))
    if kinds[0] in USUAL_DELIMITER:
        return PiecedTable(path, kinds[0], *_text_pieces(files, kinds[0], delimiter, encoding, raw_cells))
    raise TableError(
        f"{path.name}: tables in pieces are Parquet, CSV or TSV, not {files[0].suffix}. Write .parquet, or label the "
        "table on one computer."
    )


def frame_of(arrow: Any) -> pd.DataFrame:
    """Return the cells of an Arrow table, as :func:`read_table` has them."""
    frame: pd.DataFrame = arrow.to_pandas(ignore_metadata=True, integer_object_nulls=True)
    return frame


def features_like(frame: pd.DataFrame, types: pd.Series) -> pd.DataFrame:
    """Return columns to learn from; one that is empty here has the type that it has elsewhere."""
    features = features_of(frame)
    for name in features.columns:
        if features[name].dtype != types[name] and features[name].isna().all():
            features[name] = features[name].astype(types[name])
    return features


def _files(path: Path) -> list[Path]:
    """Return the files that a path stands for, as absolute ones: workers may run in other folders."""
    if path.is_dir():
        found = [file for pattern in _PARQUET for file in path.glob(pattern) if file.is_file()]
        found = [file for file in found if not file.name.startswith((".", "_"))]
        if not found:
            raise TableError(
                f"{path} is a folder without .parquet files in it (folders inside it are not looked at). For text "
                f"files give a pattern, such as '{path}/*.csv'."
            )
    elif glob.has_magic(str(path)) and not path.exists():
        found = [Path(name) for name in glob.glob(str(path))]
        if not found:
            raise TableError(f"No file is named like {path}. Check the pattern and the folder.")
    elif not path.exists():
        raise TableError(f"There is no file {path}. Check the name and the folder.")
    else:
        found = [path]
    return sorted((file.absolute() for file in found), key=_natural)


def _natural(path: Path) -> list[tuple[int, str]]:
    """Return what sorts names with their numbers as numbers."""
    parts = re.split(r"(\d+)", str(path))
    return [(int(part), "") if place % 2 else (0, part) for place, part in enumerate(parts)]


@contextmanager
def _seen(path: Path) -> Iterator[None]:
    """Say who does not see a file that was seen where the table was cut."""
    try:
        yield
    except OSError as error:
        raise TableError(
            f"{path} cannot be read on {socket.gethostname()} ({error.strerror or error}). All workers must see the "
            "table under the same path: put it in a folder that they share."
        ) from None


def _parquet_pieces(files: list[Path]) -> tuple[tuple[ParquetPiece, ...], tuple[str, ...]]:
    import pyarrow.parquet as pq

    pieces: list[ParquetPiece] = []
    notes: list[str] = []
    first: Any = None
    names: tuple[str, ...] = ()
    for file in files:
        try:
            with pq.ParquetFile(file) as parquet:
                metadata, schema = parquet.metadata, parquet.schema_arrow.remove_metadata()
        except OSError as error:
            raise TableError(f"{file} cannot be read ({error.strerror or error}).") from None
        except Exception as error:
            raise damaged(file, "a Parquet file", error) from None
        if first is None:
            first, names = schema, tuple(named_columns(file, schema.names, notes))
        if not schema.equals(first):
            raise TableError(
                f"{file.name} has other columns or types than {files[0].name}: {_first_difference(schema, first)}. "
                "Files of one table have the same."
            )
        pieces += [ParquetPiece(file, groups, names) for groups in _joined_groups(metadata)]
    if not pieces:
        raise TableError(f"{files[0].name} has no rows.")
    return tuple(pieces), tuple(notes)


def _joined_groups(metadata: Any) -> list[tuple[int, ...]]:
    """Return the row groups of a file, small ones joined with their neighbors."""
    joined: list[list[int]] = []
    size, n_rows = 0, 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        size, n_rows = size + group.total_byte_size, n_rows + group.num_rows
        if not joined or size > LARGEST_PARQUET_PIECE or n_rows > MOST_PARQUET_ROWS:
            joined.append([])
            size, n_rows = group.total_byte_size, group.num_rows
        joined[-1].append(number)
    return [tuple(groups) for groups in joined]


def _first_difference(one: Any, other: Any) -> str:
    if one.names != other.names:
        return f"{listed(one.names)}, not {listed(other.names)}"
    different = next(field for field, known in zip(one, other, strict=True) if field.type != known.type)
    return f"{different.name!r} is {different.type}, not {other.field(different.name).type}"


def _text_pieces(
    files: list[Path], kind: str, delimiter: str | None, encoding: str | None, raw_cells: bool
) -> tuple[tuple[TextPiece, ...], tuple[str, ...]]:
    pieces: list[TextPiece] = []
    notes: list[str] = []
    names: tuple[str, ...] = ()
    for file in files:
        header, beginning = _header(file)
        text, coded = decoded(file, beginning, encoding)
        if b"\n".decode(coded, "ignore") != "\n":
            raise TableError(f"{file.name} is {coded.upper()}, which cannot be cut into lines. Save it as UTF-8.")
        delimiter = chosen_delimiter(file, text, delimiter, USUAL_DELIMITER[kind], notes)
        cells = next(csv.reader([decoded(file, header, coded)[0].strip("\r\n")], delimiter=delimiter))
        cells = cells if raw_cells else without_apostrophes(cells)
        found = tuple(named_columns(file, cells, notes if not names else []))
        names = names or found
        if found != names:
            raise TableError(
                f"{file.name} has the columns {listed(found)}, and {files[0].name} has {listed(names)}. Files of one "
                "table have the same, in the same order."
            )
        size = file.stat().st_size
        cuts = [*range(len(header), size, LARGEST_TEXT_PIECE), size]
        for start, stop in pairwise(cuts):
            pieces.append(TextPiece(file, start, stop, len(cuts) <= 2, header, names, delimiter, coded, raw_cells))
    if not pieces:
        raise TableError(f"{files[0].name} has column names and no rows below them: {listed(names)}.")
    return tuple(pieces), tuple(notes)


def _header(file: Path) -> tuple[bytes, bytes]:
    """Return a file up to the end of the line with its column names, and up to some line further down."""
    try:
        with open(file, "rb") as stream:
            beginning = stream.read(SEEN_FOR_DELIMITER)
            beginning += stream.readline()
    except OSError as error:
        raise TableError(f"{file} cannot be read ({error.strerror or error}).") from None
    if not beginning.strip():
        raise TableError(f"{file.name} is empty: it needs a line with column names, and rows below it.")
    blank = len(beginning) - len(beginning.lstrip(b"\r\n"))
    end = beginning.find(b"\n", blank) + 1 or len(beginning)
    if beginning[:end].count(b'"') % 2:
        raise TableError(f"{file.name}: a column name has a line break in it. Rename the column.")
    return beginning[:end], beginning


def _line_from(file: BinaryIO, place: int) -> int:
    """Return where the first line begins that begins at a place or after it."""
    file.seek(place - 1)
    file.readline()
    return file.tell()
