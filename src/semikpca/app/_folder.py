"""A folder of tables: what is in it, and how far each has come. Nothing outside of it can be opened from the page."""

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from semikpca.workflow import PageLabelsError, kept_beside, read_kept

SUFFIXES = (".csv", ".tsv", ".xlsx", ".parquet", ".jsonl", ".npy", ".npz")
MOST_TABLES = 200
_DEEPEST = 3  # folders below the folder
_MOST_COUNTED_BYTES = 2_000_000  # of a text file whose rows are counted for the list


@dataclass(frozen=True)
class FolderTable:
    """A table in the folder; None where something is not known without reading all of it."""

    name: str  # the path below the folder
    n_bytes: int
    n_rows: int | None
    n_labels: int | None  # None: no visit yet
    last_visit: datetime | None
    problem: str = ""  # why the labels of the last visit cannot be read


class Folder:
    """The tables below a folder; what is listed is what was found when it was last looked at."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.tables: tuple[FolderTable, ...] = ()
        self.n_left_out = 0
        self.look()

    def look(self) -> None:
        """Find the tables, and how far each has come."""
        found = sorted(self._files(), key=lambda path: str(path.relative_to(self.path)).casefold())
        self.n_left_out = max(0, len(found) - MOST_TABLES)
        self.tables = tuple(self._described(path) for path in found[:MOST_TABLES])

    def file(self, name: str) -> Path:
        """Return a listed table; anything else, above all a path that leads out of the folder, is refused."""
        path = self.path / name
        if name not in {table.name for table in self.tables} or not self._is_inside(path):
            raise ValueError(f"There is no table {name} in {self.path.name}.")
        return path

    def _files(self) -> Iterator[Path]:
        for folder, folders, names in os.walk(self.path):
            depth = len(Path(folder).relative_to(self.path).parts)
            folders[:] = [] if depth >= _DEEPEST else [one for one in folders if not one.startswith(".")]
            for name in names:
                path = Path(folder) / name
                if not name.startswith(".") and path.suffix.lower() in SUFFIXES and self._is_inside(path):
                    yield path

    def _is_inside(self, path: Path) -> bool:
        # A link may lead elsewhere.
        return path.is_file() and Path(os.path.realpath(path)).is_relative_to(self.path)

    def _described(self, path: Path) -> FolderTable:
        name, n_bytes = path.relative_to(self.path).as_posix(), path.stat().st_size
        n_labels = last_visit = None
        problem = ""
        try:
            kept = read_kept(kept_beside(path))
            if kept is not None:
                n_labels, last_visit = len(kept["labels"]), datetime.fromisoformat(kept["saved_at"])
        except (PageLabelsError, KeyError, TypeError, ValueError):
            problem = "labels of the last visit cannot be read"
        return FolderTable(name, n_bytes, counted_rows(path, n_bytes), n_labels, last_visit, problem)


def counted_rows(path: Path, n_bytes: int) -> int | None:
    """Return how many rows a file has, where that is known without reading a large one; None otherwise."""
    try:
        kind = path.suffix.lower()
        if kind == ".npy":
            return int(np.load(path, mmap_mode="r", allow_pickle=False).shape[0])
        if kind == ".parquet":
            from pyarrow.parquet import ParquetFile

            return int(ParquetFile(path).metadata.num_rows)
        if n_bytes > _MOST_COUNTED_BYTES:
            return None
        if kind == ".jsonl":
            return sum(bool(line.strip()) for line in path.read_bytes().splitlines())
        if kind in (".csv", ".tsv"):
            with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
                # Where a cell ends does not matter here, only where a quoted one does.
                return max(0, sum(any(cells) for cells in csv.reader(file)) - 1)
    except (OSError, ValueError, IndexError, csv.Error, ImportError):
        return None  # it is said when it is opened
    return None
