"""Who is near whom: neighbors with all ties, and whose neighborhood a new row falls into."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from semikpca._typing import BoolArray, FloatArray, IntArray, Rows
from semikpca.arrays import slices
from semikpca.kernels._vectors import beside, squared_norms

# Two distances that differ by less than this, relatively, are equal: rounding must not decide who is a neighbor.
TIE = 1e-9
_ROWS_AT_ONCE = 8_192
_PAIRS_AT_ONCE = 2_000_000
_DIFFERENCES_AT_ONCE = 4_000_000  # 32 MB of float64
_EPS = float(np.finfo(np.float64).eps)


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
        """Return radii and links as a search for fewer neighbors would have found them."""
        starts = np.flatnonzero(np.diff(self.rows, prepend=-1))
        in_order = np.lexsort((self.squared_distances, self.rows))
        nearest = self.squared_distances[in_order][starts + n_neighbors]
        return np.sqrt(nearest), self.where(self.squared_distances <= (nearest * (1 + TIE) ** 2)[self.rows])


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


class ExactSearch(NeighborSearch):
    """All neighbors, by scikit-learn's index; distances are taken again by differences, the same way for every row."""

    def __init__(self, points: Rows, n_neighbors: int) -> None:
        super().__init__(points, n_neighbors)
        self._shift = _far_mean(points)
        self._indexed = self._shifted(points)
        self._index = NearestNeighbors().fit(self._indexed)
        self._size = _largest_norm(self._indexed)
        self._lifted: tuple[Any, float] | None = None

    def neighbors(self, queries: Rows, most_links: float = np.inf) -> tuple[FloatArray, Links]:
        """Return radii and links; rows whose last candidates are tied are asked for more of them."""
        radii = np.empty(queries.shape[0])
        found: list[Links] = []
        pending = np.arange(queries.shape[0])
        shifted = self._shifted(queries)
        rounding = self._rounding(shifted, self._size)
        count, n_links = self.n_neighbors + 3, 0
        while pending.size:
            count = min(count, self.n)
            tied, n_tied = [], 0
            for block in _blocks(pending, count):
                candidates = self._index.kneighbors(shifted[block], count, return_distance=False)
                squared = _squared_to(queries, block, self.points, candidates)
                nearest = np.partition(squared, self.n_neighbors, axis=1)[:, self.n_neighbors]
                end = nearest * (1 + TIE) ** 2
                # What was not found is at least as far as what was, up to the rounding of the index.
                complete = squared.max(axis=1) - rounding > end if count < self.n else np.ones(len(block), bool)
                within = squared <= end[:, np.newaxis]
                radii[block] = np.sqrt(nearest)
                n_links += int(within[complete].sum())
                n_tied += int(within[~complete].sum())
                _refuse_more_links(n_links + n_tied, most_links, self)
                within &= complete[:, np.newaxis]
                found.append(Links.among(block, candidates, squared, within))
                tied.append(block[~complete])
            pending = np.concatenate(tied)
            count *= 2
        return radii, in_order(found)

    def reached_by(self, queries: Rows, radii: FloatArray) -> Links:
        """Return the links with training rows that have the row within their own radius.

        With R the largest radius, d(x, y) ≤ r(y) says that (x, 0) and (y, sqrt(R² − r(y)²)) are no farther apart than
        R: a search with one radius for all, in one more dimension.
        """
        shifted = self._shifted(queries)
        largest = float(radii.max(initial=0.0))
        if self._lifted is None:
            lifted = beside(self._indexed, np.sqrt(np.maximum(largest**2 - radii**2, 0)))
            self._lifted = NearestNeighbors().fit(lifted), _largest_norm(lifted)
        index, size = self._lifted
        # The heights are rounded as the rows are stored.
        rounding = self._rounding(shifted, size) + 4 * float(np.finfo(self._indexed.dtype).eps) * largest**2
        reach = float(np.sqrt((largest * (1 + TIE)) ** 2 + rounding))
        found = []
        for block in _blocks(np.arange(queries.shape[0]), 1):
            lifted = beside(shifted[block], np.zeros(len(block)))
            lists = index.radius_neighbors(lifted, reach, return_distance=False)
            rows = np.repeat(block, [len(near) for near in lists])
            columns = np.concatenate(lists).astype(np.intp)
            squared = squared_distances(queries, rows, self.points, columns)
            within = squared <= (radii[columns] * (1 + TIE)) ** 2
            found.append(Links(rows, columns, squared).where(within))
        return in_order(found)

    def with_neighbors(self, n_neighbors: int) -> "ExactSearch":
        """Return a search for another number of neighbors on the same index."""
        other = copy(self)
        other.n_neighbors, other._lifted = min(n_neighbors, self.n - 1), None
        return other

    def _shifted(self, rows: Rows) -> Rows:
        return rows if self._shift is None else rows - self._shift

    @staticmethod
    def _rounding(queries: Rows, size: float) -> float:
        """Return how far squared distances may be off that come from products with rows no longer than ``size``."""
        return float(8 * _EPS * (queries.shape[1] + 4) * (size + _largest_norm(queries)) ** 2)


class ApproximateSearch(NeighborSearch):
    """Most neighbors, by a navigable small-world graph (the extra ``neighbors``); distances are exact again.

    The index is built by one thread, so that the same rows give the same graph.
    """

    LINKS_A_ROW = 32
    BREADTH = 64  # candidates that the index keeps while it searches; more find more

    def __init__(self, points: Rows, n_neighbors: int) -> None:
        super().__init__(points, n_neighbors)
        try:
            import faiss
        except ImportError as error:
            raise ImportError(
                "search='approximate' needs faiss: install it with pip install 'semikpca[neighbors]', or use "
                "search='exact'."
            ) from error
        if sparse.issparse(points):
            raise ValueError(
                "search='approximate' takes dense rows only. Use search='exact', or make the rows dense and short, for "
                "example with TruncatedSVD."
            )
        self.center = np.asarray(points.mean(axis=0))
        index = faiss.IndexHNSWFlat(points.shape[1], self.LINKS_A_ROW)
        index.hnsw.efConstruction = index.hnsw.efSearch = max(self.BREADTH, 2 * self._count)
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            index.add(self._single(points))
        finally:
            faiss.omp_set_num_threads(threads)
        self._index = index
        # Backwards, so that of equal rows the first one stays.
        self._numbers = {self._identity(points[number]): number for number in reversed(range(self.n))}

    def equal_rows(self, queries: Rows) -> IntArray:
        """Return the first training row that each row equals, −1 where there is none.

        What the index finds for a row need not be what finds the row, so that links cannot be found again.
        """
        return np.array([self._numbers.get(self._identity(row), -1) for row in queries])

    @staticmethod
    def _identity(row: FloatArray) -> bytes:
        return blake2b((row + 0.0).tobytes(), digest_size=16).digest()  # + 0.0 makes −0.0 equal to 0.0

    @property
    def _count(self) -> int:
        # Beyond the neighbors themselves, for ties and for rows that have the row among their own neighbors.
        return min(self.n, 3 * (self.n_neighbors + 1))

    def neighbors(self, queries: Rows, most_links: float = np.inf) -> tuple[FloatArray, Links]:
        """Return radii and links among the candidates that the index finds; a training row always finds itself."""
        radii = np.empty(queries.shape[0])
        found = []
        for block, candidates, squared in self._searched(queries):
            nearest = np.partition(squared, self.n_neighbors, axis=1)[:, self.n_neighbors]
            radii[block] = np.sqrt(nearest)
            within = squared <= (nearest * (1 + TIE) ** 2)[:, np.newaxis]
            found.append(Links.among(block, candidates, squared, within))
        links = in_order(found)
        _refuse_more_links(len(links.rows), most_links, self)
        return radii, links

    def reached_by(self, queries: Rows, radii: FloatArray) -> Links:
        """Return the links with those of the candidates that have the row within their own radius."""
        found = []
        for block, candidates, squared in self._searched(queries):
            within = squared <= (radii[candidates] * (1 + TIE)) ** 2
            found.append(Links.among(block, candidates, squared, within))
        return in_order(found)

    def _searched(self, queries: Rows) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Yield blocks of row numbers, their candidates and squared distances, shape (len(block), n_candidates)."""
        for block in _blocks(np.arange(queries.shape[0]), self._count):
            candidates = self._index.search(self._single(queries[block]), self._count)[1]
            if (candidates < 0).any():
                raise ValueError(
                    f"The approximate index found fewer than {self._count} candidates for a row. Use search='exact'."
                )
            if queries is self.points:
                missing = ~(candidates == block[:, np.newaxis]).any(axis=1)
                candidates[missing, -1] = block[missing]
            yield block, candidates, _squared_to(queries, block, self.points, candidates)

    def _single(self, rows: Rows) -> npt.NDArray[np.float32]:
        return np.ascontiguousarray(rows - self.center, dtype=np.float32)


def squared_distances(A: Rows, rows: IntArray, B: Rows, columns: IntArray) -> FloatArray:
    """Return ‖a − b‖² for pairs of a row of A and a row of B, by differences in float64."""
    squared = np.empty(len(rows))
    step = max(1, _DIFFERENCES_AT_ONCE // max(1, A.shape[1]))
    for pairs in slices(0, len(rows), step):
        squared[pairs] = squared_norms(A[rows[pairs]].astype(np.float64) - B[columns[pairs]])
    return squared


def _squared_to(A: Rows, block: IntArray, B: Rows, candidates: IntArray) -> FloatArray:
    rows = np.repeat(block, candidates.shape[1])
    return squared_distances(A, rows, B, candidates.reshape(-1)).reshape(candidates.shape)


def _blocks(rows: IntArray, n_pairs_a_row: int) -> list[IntArray]:
    step = max(1, min(_ROWS_AT_ONCE, _PAIRS_AT_ONCE // n_pairs_a_row))
    return [rows[part] for part in slices(0, len(rows), step)]


def in_order(found: list[Links]) -> Links:
    """Return all links, sorted by row."""
    links = Links(*(np.concatenate([getattr(part, name) for part in found]) for name in Links.__dataclass_fields__))
    if len(found) == 1 or (np.diff(links.rows) >= 0).all():
        return links
    return links.where(np.argsort(links.rows, kind="stable"))


def _refuse_more_links(n_links: int, most: float, search: NeighborSearch) -> None:
    if n_links > most:
        raise ValueError(
            f"The neighbor graph would have {n_links:,} links or more between {search.n:,} rows, and {int(most):,} are "
            f"allowed with {search.n_neighbors} neighbors: too many rows are equal, or equally far from each other, "
            "and ties all count. Drop duplicate rows, add features that tell the rows apart, or use another kernel."
        )


def _far_mean(points: Rows) -> FloatArray | None:
    """Return the mean of the rows where it is far away: distances from products would lose their digits there."""
    if sparse.issparse(points):
        return None
    mean = points.mean(axis=0, dtype=np.float64)
    spread = float(points.var(axis=0, dtype=np.float64).sum())
    return mean if float(mean @ mean) > 100 * spread else None


def _largest_norm(rows: Rows) -> float:
    if sparse.issparse(rows):
        return float(np.sqrt(rows.multiply(rows).sum(axis=1).max(initial=0.0)))
    return float(np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64).max(initial=0.0)))
