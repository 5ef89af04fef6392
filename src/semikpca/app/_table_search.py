"""Which rows of the table a reader looks for, and in which order. The browser has only those that it shows."""

from collections import OrderedDict
from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np
import pandas as pd

from semikpca._typing import FloatArray, IntArray
from semikpca.app._opening import OpenTable
from semikpca.app._queues import queue_rows
from semikpca.app._snapshot import CLASS, Snapshot
from semikpca.labels import UNLABELED

_MOST_KEPT = 4  # answers: a grid asks for one block after the other of the same


class TableSearch:
    """The cells of an open table as texts, made when they are first asked for."""

    def __init__(self, opened: OpenTable) -> None:
        self.opened = opened
        self.names = opened.shown_columns
        self._columns: dict[int, list[str]] = {}
        self._ranks: dict[int, IntArray] = {}
        self._kept: OrderedDict[Any, IntArray] = OrderedDict()
        self._lock = RLock()  # its own: a label must not wait for a search

    def column(self, number: int) -> list[str]:
        """Return the cells of one column."""
        if number not in self._columns:
            cells = self.opened.table.frame[self.names[number]]
            missing = cells.isna().tolist()
            self._columns[number] = [
                "" if is_empty else str(cell) for cell, is_empty in zip(cells.tolist(), missing, strict=True)
            ]
        return self._columns[number]

    @cached_property
    def texts(self) -> list[str]:
        """All cells of each row in lower case, and how the row is found in the file."""
        columns = [self.opened.names, *(self.column(number) for number in range(len(self.names)))]
        return ["\n".join(cells).lower() for cells in zip(*columns, strict=True)]

    def rank(self, number: int) -> IntArray:
        """Return the place of each row in a sorted column: by number where all cells are numbers, or else by text."""
        if number not in self._ranks:
            cells = pd.Series(self.column(number), dtype=object)
            cells[cells == ""] = None
            values = pd.to_numeric(cells, errors="coerce")
            if values.notna().equals(cells.notna()):
                codes = np.unique(values.to_numpy(dtype=float), return_inverse=True)[1]
            else:
                lowered = [None if cell is None else cell.casefold() for cell in cells.tolist()]
                codes = pd.factorize(np.array(lowered, dtype=object), sort=True)[0]
            self._ranks[number] = np.where(cells.isna(), -1, codes).astype(np.intp)
        return self._ranks[number]

    def rows(self, query: dict[str, Any]) -> IntArray:
        """Return the rows that a query finds, in its order."""
        snapshot = self.opened.session.snapshot()
        key = (snapshot.revision, repr(sorted(query.items())))
        with self._lock:
            if key not in self._kept:
                found = np.flatnonzero(self._mask(query, snapshot))
                self._kept[key] = self._sorted(found, query["sort"], snapshot)
                while len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
            return self._kept[key]

    def _mask(self, query: dict[str, Any], snapshot: Snapshot) -> Any:
        mask = np.ones(len(snapshot.given), dtype=bool)
        for word in query["search"].lower().split():
            mask &= np.fromiter((word in text for text in self.texts), dtype=bool, count=len(mask))
        given, predicted = query["given"], query["predicted"]
        if given in ("with", "without"):
            mask &= (snapshot.given != UNLABELED) == (given == "with")
        elif given:
            mask &= snapshot.given == _code(snapshot, given)
        if predicted:
            mask &= snapshot.is_predicted(predicted)
        if (query["low"], query["high"]) != (0, 100):
            # As they are shown: whole percents.
            percents = np.round(100 * _confidence(snapshot))
            mask &= (percents >= query["low"]) & (percents <= query["high"])
        if query["wrong"]:
            mask &= np.isin(np.arange(len(mask)), queue_rows(self.opened.session, "wrong", 0.0))
        if query["flagged"]:
            mask &= np.isin(np.arange(len(mask)), list(snapshot.flagged))
        return mask

    def _sorted(self, rows: IntArray, sort: list[list[str]], snapshot: Snapshot) -> IntArray:
        for name, direction in reversed(sort):  # the first counts most, so it is sorted by last
            values = self._values(name, snapshot)[rows]
            # Empty cells come last in both directions.
            values = np.where(values < 0, np.inf, values if direction == "asc" else -values)
            rows = rows[np.argsort(values, kind="stable")]
        return rows

    def _values(self, name: str, snapshot: Snapshot) -> FloatArray:
        """Return what a column is sorted by: numbers from 0 on, -1 for nothing."""
        known = snapshot.order_by(name)
        if known is not None:
            return known
        number = name.removeprefix("c")
        if number.isascii() and number.isdecimal() and int(number) < len(self.names):
            return self.rank(int(number)).astype(float)
        return np.arange(len(snapshot.given), dtype=float)


def _confidence(snapshot: Snapshot) -> FloatArray:
    return np.full(len(snapshot.given), -1.0) if snapshot.confidence is None else snapshot.confidence


def _code(snapshot: Snapshot, asked: str) -> int:
    """Return the number of a class by its name; one that nobody has, for a class that is gone."""
    names = [f"{CLASS}{label}" for label in snapshot.classes]
    return names.index(asked) if asked in names else UNLABELED - 1
