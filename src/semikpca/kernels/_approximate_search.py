"""Most neighbors, by an approximate index."""

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
from scipy import sparse

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.kernels._distances import TIE
from semikpca.kernels._neighbors import Links, NeighborSearch, blocks_of, in_order, refuse_more_links, squared_to


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
        refuse_more_links(len(links.rows), most_links, self)
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
        for block in blocks_of(np.arange(queries.shape[0]), self._count):
            candidates = self._index.search(self._single(queries[block]), self._count)[1]
            if (candidates < 0).any():
                raise ValueError(
                    f"The approximate index found fewer than {self._count} candidates for a row. Use search='exact'."
                )
            if queries is self.points:
                missing = ~(candidates == block[:, np.newaxis]).any(axis=1)
                candidates[missing, -1] = block[missing]
            yield block, candidates, squared_to(queries, block, self.points, candidates)

    def _single(self, rows: Rows) -> npt.NDArray[np.float32]:
        return np.ascontiguousarray(rows - self.center, dtype=np.float32)
