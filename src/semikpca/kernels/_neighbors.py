"""Who is near whom: what a search for neighbors is asked, and what it answers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from semikpca._typing import BoolArray, FloatArray, IntArray, Rows
from semikpca.arrays import slices
from semikpca.kernels._distances import TIE, squared_distances

_ROWS_AT_ONCE = 8_192
_PAIRS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Links:
    """Pairs of a row and a training row, by their numbers, that are near each other; in order of the rows."""

    rows: IntArray
    columns: IntArray
    squared_distances: FloatArray

    @classmethod
    def among(cls, block: IntArray, candidates: IntArray, squared: FloatArray, kept: BoolArray) -> "Links":
        """Return those links of a block of rows with its candidates, a line of them for each row, that are kept."""
        of_block, place = np.nonzero(kept)
        return cls(block[of_block], candidates[of_block, place], squared[kept])

    def where(self, kept: BoolArray | IntArray) -> "Links":
        """Return some of the links, or all of them in another order."""
        return Links(self.rows[kept], self.columns[kept], self.squared_distances[kept])

    def nearest(self, n_neighbors: int) -> tuple[FloatArray, "Links"]:
        """Return the radius of each row that has links, in their order, and the links inside of it.

        They are what a search for so many neighbors finds, where these links come from one for as many or more.
        """
        is_first = np.diff(self.rows, prepend=-1) > 0
        in_order = np.lexsort((self.squared_distances, self.rows))
        nearest = self.squared_distances[in_order][np.flatnonzero(is_first) + n_neighbors]
        own = nearest[np.cumsum(is_first) - 1]
        return np.sqrt(nearest), self.where(self.squared_distances <= own * (1 + TIE) ** 2)


class NeighborSearch(ABC):
    """An index of the training rows; it looks for fewer neighbors where there are fewer other rows."""

    def __init__(self, points: Rows, n_neighbors: int) -> None:
        self.points = points
        self.n = int(points.shape[0])
        self.n_neighbors = min(n_neighbors, self.n - 1)

    @abstractmethod
    def neighbors(self, queries: Rows, most_links: float = np.inf) -> tuple[FloatArray, Links]:
        """Return the radius of each row, and its links with all training rows that are no farther.

        The radius is the distance to the (n_neighbors + 1)-th nearest training row, the row itself counted if it is
        one. More than ``most_links`` links are refused before they take memory.
        """

    @abstractmethod
    def reached_by(self, queries: Rows, radii: FloatArray) -> Links:
        """Return the links with the training rows that have each row within their own radius (``radii``)."""

    def equal_rows(self, queries: Rows) -> IntArray:
        """Return a training row that each row equals, where the search must be told; −1 elsewhere."""
        return np.full(queries.shape[0], -1)


def in_order(found: list[Links]) -> Links:
    """Return all links, sorted by row."""
    links = Links(*(np.concatenate([getattr(part, name) for part in found]) for name in Links.__dataclass_fields__))
    if len(found) == 1 or (np.diff(links.rows) >= 0).all():
        return links
    return links.where(np.argsort(links.rows, kind="stable"))


def refuse_more_links(n_links: int, most: float, search: NeighborSearch) -> None:
    """Refuse links that ties have made too many."""
    if n_links > most:
        raise ValueError(
            f"The neighbor graph would have {n_links:,} links or more between {search.n:,} rows, and {int(most):,} are "
            f"allowed with {search.n_neighbors} neighbors: too many rows are equal, or equally far from each other, "
            "and ties all count. Drop duplicate rows, add features that tell the rows apart, or use another kernel."
        )


def squared_to(A: Rows, block: IntArray, B: Rows, candidates: IntArray) -> FloatArray:
    """Return the squared distances of a block of rows of A to candidates in B, a line of them for each row."""
    rows = np.repeat(block, candidates.shape[1])
    return squared_distances(A, rows, B, candidates.reshape(-1)).reshape(candidates.shape)


def blocks_of(rows: IntArray, n_pairs_a_row: int) -> list[IntArray]:
    """Return rows in blocks that have not too many pairs."""
    step = max(1, min(_ROWS_AT_ONCE, _PAIRS_AT_ONCE // n_pairs_a_row))
    return [rows[part] for part in slices(0, len(rows), step)]
