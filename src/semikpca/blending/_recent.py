"""Columns that were solved for lately: rows that are suggested, looked at, or labeled again after an undo."""

from collections import OrderedDict
from threading import Lock

from semikpca._typing import FloatArray, IntArray
from semikpca.problem import DualSolution

_MOST_NUMBERS = 2**22  # of all columns that are kept, 16 MB in single precision
_MOST_COLUMNS = 256


class RecentColumns:
    """A few columns by row, those that were asked for last; threads may ask at the same time.

    Each comes with the solve behind it, without its arrays. What is kept changes no answer: a column is what it was.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[FloatArray, DualSolution]] = OrderedDict()
        self._lock = Lock()

    def known(self, at: IntArray) -> dict[int, tuple[FloatArray, DualSolution]]:
        """Return those of the columns at these rows that are here."""
        with self._lock:
            found = {row: self._kept[row] for row in at.tolist() if row in self._kept}
            for row in found:
                self._kept.move_to_end(row)
            return found

    def keep(self, at: IntArray, columns: FloatArray, solution: DualSolution) -> None:
        """Keep columns, in place of those that nobody has asked for the longest; not where they are too many."""
        most = min(_MOST_COLUMNS, _MOST_NUMBERS // max(1, len(columns)))
        if len(at) > most:
            return
        # Copies: a view of one column would keep all of them in memory.
        copies = [column.copy() for column in columns.T]
        with self._lock:
            for row, column in zip(at.tolist(), copies, strict=True):
                self._kept[row] = column, solution
                self._kept.move_to_end(row)
            while len(self._kept) > most:
                self._kept.popitem(last=False)
