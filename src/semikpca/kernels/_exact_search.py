"""All neighbors with all ties, and whose neighborhood a new row falls into."""

from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from semikpca._typing import FloatArray, Rows
from semikpca.kernels._distance_matrix import DistanceMatrix
from semikpca.kernels._distances import TIE, squared_distances
from semikpca.kernels._neighbors import Links, NeighborSearch, blocks_of, in_order, refuse_more_links, squared_to
from semikpca.kernels._product_distances import ProductDistances
from semikpca.kernels._vectors import beside

# Up to so many features scikit-learn builds a tree, which does not look at every pair.
_MOST_FEATURES_OF_A_TREE = 15
_EPS = float(np.finfo(np.float64).eps)


class ExactSearch(NeighborSearch):
    """All neighbors, with distances by differences, the same way for every row.

    Products of matrices in float32 say which pairs deserve differences. In few dimensions, for sparse rows, and for
    rows that have too many such pairs, scikit-learn's index says it.
    """

    def __init__(self, points: Rows, n_neighbors: int) -> None:
        super().__init__(points, n_neighbors)
        self._shared = _Learned(points)
        self._own_index: IndexSearch | None = None

    def neighbors(
        self, queries: Rows, most_links: float = np.inf, known: DistanceMatrix | None = None
    ) -> tuple[FloatArray, Links]:
        """Return radii and links; ``known`` are the distances between the training rows, if they are asked about."""
        rough = self._shared.products if known is None else known
        if rough is None:
            return self._index.neighbors(queries, most_links)
        radii = np.empty(queries.shape[0])
        pairs = rough.near(queries, self.n_neighbors + 1)
        squared = (
            squared_distances(queries, pairs.rows, self.points, pairs.columns)
            if known is None
            else known.distances(pairs.rows, pairs.columns)
        )
        few = np.setdiff1d(np.arange(len(radii)), pairs.too_many)
        radii[few], links = Links(pairs.rows, pairs.columns, squared).nearest(self.n_neighbors)
        if not pairs.too_many.size:
            return radii, links
        many = pairs.too_many
        radii[many], more = self._index.neighbors(queries[many], most_links, len(links.rows))
        return radii, in_order([links, replace(more, rows=many[more.rows])])

    def reached_by(self, queries: Rows, radii: FloatArray) -> Links:
        """Return the links with training rows that have the row within their own radius."""
        products = self._shared.products
        if products is None:
            return self._index.reached_by(queries, radii)
        pairs = products.within(queries, radii, self.n_neighbors + 1)
        squared = squared_distances(queries, pairs.rows, self.points, pairs.columns)
        links = Links(pairs.rows, pairs.columns, squared).where(squared <= (radii[pairs.columns] * (1 + TIE)) ** 2)
        if not pairs.too_many.size:
            return links
        more = self._index.reached_by(queries[pairs.too_many], radii)
        return in_order([links, replace(more, rows=pairs.too_many[more.rows])])

    def with_neighbors(self, n_neighbors: int) -> "ExactSearch":
        """Return a search for another number of neighbors that shares what this one has learned of the rows."""
        other = copy(self)
        other.n_neighbors, other._own_index = min(n_neighbors, self.n - 1), None
        return other

    @property
    def _index(self) -> "IndexSearch":
        if self._own_index is None:
            self._own_index = self._shared.index.with_neighbors(self.n_neighbors)
        return self._own_index


class _Learned:
    """What searches for any number of neighbors learn of the training rows, each thing when it is first needed."""

    def __init__(self, points: Rows) -> None:
        self.points = points

    @cached_property
    def products(self) -> ProductDistances | None:
        """Rough distances, where rows are neither sparse nor short, and numbers neither huge nor tiny."""
        if not isinstance(self.points, np.ndarray) or self.points.shape[1] <= _MOST_FEATURES_OF_A_TREE:
            return None
        products = ProductDistances(self.points, np.float32)
        return products if products.is_in_range else None

    @cached_property
    def index(self) -> "IndexSearch":
        return IndexSearch(self.points, 1)


class IndexSearch(NeighborSearch):
    """All neighbors, by scikit-learn's index; distances are taken again by differences, the same way for every row."""

    def __init__(self, points: Rows, n_neighbors: int) -> None:
        super().__init__(points, n_neighbors)
        self._shift = _far_mean(points)
        self._indexed = self._shifted(points)
        self._index = NearestNeighbors().fit(self._indexed)
        self._size = _largest_norm(self._indexed)
        self._lifted: tuple[Any, float] | None = None

    def neighbors(self, queries: Rows, most_links: float = np.inf, n_links: int = 0) -> tuple[FloatArray, Links]:
        """Return radii and links; rows whose last candidates are tied are asked for more of them.

        ``n_links`` are those of other rows, which count as well.
        """
        radii = np.empty(queries.shape[0])
        found: list[Links] = []
        pending = np.arange(queries.shape[0])
        shifted = self._shifted(queries)
        rounding = self._rounding(shifted, self._size)
        count = self.n_neighbors + 3
        while pending.size:
            count = min(count, self.n)
            tied, n_tied = [], 0
            for block in blocks_of(pending, count):
                candidates = self._index.kneighbors(shifted[block], count, return_distance=False)
                squared = squared_to(queries, block, self.points, candidates)
                nearest = np.partition(squared, self.n_neighbors, axis=1)[:, self.n_neighbors]
                end = nearest * (1 + TIE) ** 2
                # What was not found is at least as far as what was, up to the rounding of the index.
                complete = squared.max(axis=1) - rounding > end if count < self.n else np.ones(len(block), bool)
                within = squared <= end[:, np.newaxis]
                radii[block] = np.sqrt(nearest)
                n_links += int(within[complete].sum())
                n_tied += int(within[~complete].sum())
                refuse_more_links(n_links + n_tied, most_links, self)
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
        for block in blocks_of(np.arange(queries.shape[0]), 1):
            lifted = beside(shifted[block], np.zeros(len(block)))
            lists = index.radius_neighbors(lifted, reach, return_distance=False)
            rows = np.repeat(block, [len(near) for near in lists])
            columns = np.concatenate(lists).astype(np.intp)
            squared = squared_distances(queries, rows, self.points, columns)
            within = squared <= (radii[columns] * (1 + TIE)) ** 2
            found.append(Links(rows, columns, squared).where(within))
        return in_order(found)

    def with_neighbors(self, n_neighbors: int) -> "IndexSearch":
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
