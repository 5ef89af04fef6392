"""What rows are like before any label is seen: their neighborhoods, and the components along which they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.blending._agreement import NeighborAgreement
from semikpca.blending._sources import Source
from semikpca.kernels import NEIGHBORHOOD, LeadingComponents, NeighborGraph, kernel_components
from semikpca.operators import make_operator

# A class counts as if it had so many rows more, spread like all rows: three rows in one place are no narrow class.
_ROWS_BEFOREHAND = 5.0
# A class is never narrower than half of the spread of all rows along a component. So a column with two values, which
# splits into classes of no width at all, saves no more than log 2: what it costs to tell which half a row is in.
_LEAST_VARIANCE = 0.25
_RANGE_OF_SEPARATION = (-2.0, 3.0)  # nats; beyond it more says nothing more


@dataclass(frozen=True)
class RowStructure:
    """Neighborhoods and components of rows, against which labelings of all rows are held."""

    neighbors: NeighborAgreement
    components: FloatArray  # shape (n_samples, n_components), each with mean 0 and variance 1

    @classmethod
    def around(cls, neighbors: NeighborAgreement, components: FloatArray) -> "RowStructure":
        """Return the structure of rows with these neighborhoods, along components of any scale."""
        components = components.astype(np.float64)
        spread = components.std(axis=0)
        varies = spread > 0
        scaled = (components[:, varies] - components[:, varies].mean(axis=0)) / spread[varies]
        return cls(neighbors, np.asarray(scaled))

    @cached_property
    def _moments(self) -> FloatArray:
        """The components beside their squares, a row after the other: sums over classes then take one pass."""
        return np.ascontiguousarray(np.hstack([self.components, np.square(self.components)]))

    def __getstate__(self) -> dict[str, Any]:
        """Leave the squares behind, which come back when they are asked for."""
        return {name: value for name, value in self.__dict__.items() if name != "_moments"}

    def agreement(self, codes: IntArray, n_classes: int) -> float:
        """Return how well a labeling agrees with the neighborhoods: see ``NeighborAgreement``."""
        return self.neighbors.relative_information(codes, n_classes)

    def separation(self, codes: IntArray, n_classes: int) -> float:
        """Return the nats by which rows are described the shorter, a row on the mean, if their classes are told.

        Rows are described along their components by normal distributions, one for all rows or one for each class:
        −½ log(variance) is saved along each component, and the entropy of the classes is what it costs to tell them.
        The higher, the better a labeling follows clusters; negative where it cuts through a cloud. Between −2 and 3.
        """
        n, n_components = self.components.shape
        counts = np.bincount(codes, minlength=n_classes)
        shares = counts[counts > 0] / n
        told = -float(np.sum(shares * np.log(shares)))
        if not n_components:
            return -told
        members = sparse.csr_array((np.ones(n), (codes, np.arange(n))), shape=(n_classes, n))
        sizes = np.maximum(counts, 1)[:, np.newaxis]
        means, squares = np.hsplit((members @ self._moments) / sizes, 2)
        variances = np.maximum(squares - np.square(means), 0)
        shrunk = (sizes * variances + _ROWS_BEFOREHAND) / (sizes + _ROWS_BEFOREHAND)
        saved = -0.5 * np.log(np.maximum(shrunk, _LEAST_VARIANCE)).sum(axis=1)
        return float(np.clip(counts @ saved / n - told, *_RANGE_OF_SEPARATION))


def structures_of(sources: Sequence[Source]) -> tuple[RowStructure, ...]:
    """Return for each source the structure that its candidates are held against: of what its kernel sees."""
    seen = [source.kernel.seen(source.rows) for source in sources]
    alike: dict[int, list[Source]] = {}
    for part, source in zip(seen, sources, strict=True):
        alike.setdefault(id(part), []).append(source)
    found = {place: _structure(some) for place, some in alike.items()}
    return tuple(found[id(part)] for part in seen)


def _structure(sources: Sequence[Source]) -> RowStructure:
    kernel, rows = sources[0].kernel, sources[0].rows
    if kernel.input_kind == "vectors":
        return _structure_of_vectors(sources, kernel.seen(rows))
    K = make_operator(kernel, rows, "dense").to_dense()
    return RowStructure.around(NeighborAgreement(_nearest_links(K)), _components_of(K))


def _structure_of_vectors(sources: Sequence[Source], part: Rows) -> RowStructure:
    """Return the structure of rows; what the kernels of these sources have found out of it is not looked for again."""
    suggested = [source.neighborhoods for source in sources if source.neighborhoods is not None]
    inside = [getattr(source.kernel, "kernel_", source.kernel) for source in sources]
    graphs = [graph for graph in inside if isinstance(graph, NeighborGraph)]
    near = suggested + [graph for graph in graphs if (graph.n_neighbors, graph.metric) == (NEIGHBORHOOD, "euclidean")]
    along = [graph.leading_components_ for graph in graphs if graph.metric == "mahalanobis"]
    known = [source.coordinates for source in sources if source.coordinates is not None]
    neighborhoods = near[0] if near else NeighborGraph(NEIGHBORHOOD).fit(part)
    coordinates = known[0] if known else (along[0] if along else LeadingComponents.of(part)).at(part)
    return RowStructure.around(NeighborAgreement(neighborhoods.matrix_), coordinates)


def _nearest_links(K: FloatArray) -> Any:
    """Return links of each row with its nearest neighbors in the feature space of a kernel matrix."""
    own = np.diagonal(K).copy()
    squared_distances = own[:, np.newaxis] + own - 2 * K
    np.fill_diagonal(squared_distances, np.inf)
    count = min(NEIGHBORHOOD, len(K) - 1)
    nearest = np.argpartition(squared_distances, count - 1, axis=1)[:, :count]
    pairs = np.repeat(np.arange(len(K)), count), nearest.reshape(-1)
    links = sparse.csr_array((np.ones(len(pairs[0])), pairs), shape=K.shape)
    return links + links.T


def _components_of(K: FloatArray) -> FloatArray:
    """Return the leading kernel principal components of the rows of a kernel matrix, those above rounding."""
    count = min(LeadingComponents.most, len(K) - 1)
    if count < 1:
        return np.zeros((len(K), 0))
    values, vectors = kernel_components(K, count)
    rounding = float(np.finfo(K.dtype).eps)
    # Entries are rounded a few times when the matrix is centered, which moves its eigenvalues by as many roundings for
    # each of its rows.
    least = max(np.sqrt(rounding) * float(values[0]), 8 * len(K) * rounding * float(np.abs(K).max()))
    return np.asarray(vectors[:, values > least])
