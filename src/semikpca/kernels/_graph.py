"""A neighbor graph as a kernel, sparse from end to end."""

from collections.abc import Iterable
from numbers import Real
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import NotFittedError

from semikpca._numbers import is_whole_number
from semikpca._typing import BoolArray, FloatArray, IntArray, Rows
from semikpca.arrays import allowed_threads, in_threads, slices
from semikpca.kernels._approximate_search import ApproximateSearch
from semikpca.kernels._base import Kernel, SparseFactor
from semikpca.kernels._components import LeadingComponents
from semikpca.kernels._distance_matrix import DistanceMatrix
from semikpca.kernels._exact_search import ExactSearch
from semikpca.kernels._neighbors import Links, NeighborSearch, in_order
from semikpca.kernels._vectors import as_float, dense, largest_entries, unit_of, unit_rows

_SEARCHES: dict[str, type[NeighborSearch]] = {"exact": ExactSearch, "approximate": ApproximateSearch}
Metric: TypeAlias = Literal["euclidean", "cosine", "centered cosine", "mahalanobis"]
_METRICS = get_args(Metric)

# Links that ties may bring: this many for each neighbor asked for, or as many as a few thousand equal rows have.
_LINKS_A_NEIGHBOR = 50
_LINKS_ALWAYS_ALLOWED = 4_000_000

# A new row may be so far from everything that its weights leave the range of numbers. They are then scaled up to this
# (squared): small enough to say nothing with confidence, large enough to say something.
_FAINTEST = 1e-15

# A link carries labels if a walker takes it at least this often for each restart; decisions/0010 says why.
_REACH = 1e-3

_NUMBERS_AT_ONCE = 2**16  # of rows that are turned into directions: they stay in the cache


class NeighborGraph(Kernel):
    """The graph of nearest neighbors: rows are alike if a walk of two steps leads from one to the other.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbors of a row besides itself; all other rows where there are fewer.
    metric : {"euclidean", "cosine", "centered cosine", "mahalanobis"}, default="euclidean"
        "cosine" scales rows to unit length first; "centered cosine" takes off the mean of the training rows before
        that, which dense rows must have. "mahalanobis" compares rows along their 20 leading principal components, each
        in units of the standard deviation along it: columns that say the same thing then count once.
    teleport : float, default=1.5e-3
        ε in [0, 1): how often the walker restarts anywhere. It keeps one eigenvalue at the top, however many pieces the
        graph falls into; with 0 that eigenvalue is repeated for each piece.
    search : {"exact", "approximate"}, default="exact"
        "approximate" needs the extra ``neighbors`` and dense rows, and finds most neighbors. It is meant for more
        than some 50,000 rows in many dimensions, where the time of the exact search grows with the square; below it is
        the slower one. Distances, and with them weights, are exact for the neighbors that are found. Neighbors may be
        missed, and ties; a row that misses some reaches farther for others, which may join pieces of the graph that are
        apart; and a new row is linked with rows that have it among *their* neighbors only if the index finds them as
        well. A training row seen again gets its own links (of equal training rows, those of the first).

    Attributes
    ----------
    matrix_ : CSR array of shape (n_samples, n_samples)
        S = D^-½ W D^-½.
    radii_ : ndarray of shape (n_samples,)
        r, the distance to the (n_neighbors + 1)-th nearest training row, the row itself counted.
    degrees_ : ndarray of shape (n_samples,)
    origin_ : ndarray of shape (n_features,)
        The mean of the training rows, for the metric "centered cosine".
    leading_components_ : LeadingComponents
        Of the training rows, for the metric "mahalanobis".

    Notes
    -----
    Everything is a function of location, so that a new row that equals a training row is treated as it was:

    - r(x) is the distance from x to its (n_neighbors + 1)-th nearest training row; a training row, and a new row that
      equals one, has itself as the nearest.
    - w(x, y) = exp(−4 d(x, y)² / (r(x) r(y))) · ½ [1(d ≤ r(x)) + 1(d ≤ r(y))], hence w(x, x) = 1. All rows as far as
      the last neighbor are neighbors; distances that agree to nine digits are equal.
    - Where more than ``n_neighbors`` rows are equal, r = 0: from that side only rows at distance 0 are neighbors, and
      in the exponent the smallest positive radius of the training rows (1 if there is none) takes its place.
    - d(x) = Σ w(x, y) over the training rows y, and s(x, y) = w(x, y) / sqrt(d(x) d(y)). On the training rows this is
      S, and v = sqrt(d) / ‖sqrt(d)‖ is its eigenvector for the eigenvalue 1.
    - S′ = (1 − ε) S + ε v vᵀ and K = S′² = (1 − ε)² S² + (1 − (1 − ε)²) v vᵀ: positive semi-definite by construction,
      and k(x, y) = Σ s′(x, z) s′(z, y) over the training rows z, so that a new row needs its own links only. The
      largest eigenvalue is 1, all others are at most (1 − ε)².
    - A new row has neighbors however far it is. Its weights are scaled up where they would leave the range of numbers.

    Examples
    --------
    >>> from semikpca.kernels import NeighborGraph
    >>> graph = NeighborGraph(n_neighbors=1).fit([[0.0], [1.0], [5.0], [6.0]])
    >>> graph.components().tolist()
    [0, 0, 1, 1]
    """

    shorthand = "graph"
    is_sparse = True

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        metric: Metric = "euclidean",
        teleport: float = 1.5e-3,
        search: Literal["exact", "approximate"] = "exact",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.teleport = teleport
        self.search = search

    def fit(self, rows: Rows) -> Self:
        """Find the neighbors of the training rows and build S."""
        self._check_parameters()
        with np.errstate(over="ignore", invalid="ignore"):
            self._learn_metric(rows)
            points = self._points(rows)
            searcher = _SEARCHES[self.search](points, int(self.n_neighbors))
            radii, links = searcher.neighbors(points, self._most_links(searcher.n))
        return self._learn(rows, searcher, radii, links)

    def _learn(self, rows: Rows, searcher: NeighborSearch, radii: FloatArray, links: Links) -> Self:
        """Build S from the neighbors that were found."""
        n = searcher.n
        if not np.isfinite(radii).all():
            raise ValueError(
                "Distances between the rows leave the range of numbers. Scale the features, for example with "
                "StandardScaler."
            )
        positive = radii[radii > 0]
        self._smallest_radius = float(positive.min()) if positive.size else 1.0
        self.rows_fit_: Any = rows
        self._searcher = searcher
        self.radii_: FloatArray = radii
        half = _matrix(links, np.exp(self._log_weights(links, radii)) / 2, (n, n))
        weights = sparse.csr_array(half + half.T)
        self.degrees_: FloatArray = np.asarray(weights.sum(axis=1)).reshape(-1)
        inverse_roots = 1 / np.sqrt(self.degrees_)
        weights.data *= inverse_roots[_row_numbers(weights)] * inverse_roots[weights.indices]
        self.matrix_: Any = weights.astype(searcher.points.dtype)
        self.vector_: FloatArray = self._stationary(self.degrees_)
        return self

    def pairwise(self, A: Rows, B: Rows) -> FloatArray:
        """Return the matrix of k(a, b), shape (len(A), len(B))."""
        left, degrees_a = self._transitions(A)
        right, degrees_b = (left, degrees_a) if B is A else self._transitions(B)
        values = (left @ right.T).toarray()
        values *= self._damping
        values += (1 - self._damping) * np.outer(self._stationary(degrees_a), self._stationary(degrees_b))
        return np.asarray(values.astype(self.matrix_.dtype, copy=False))

    def diag(self, A: Rows) -> FloatArray:
        """Return k(a, a) for each row a of A."""
        left, degrees = self._transitions(A)
        squares = np.asarray(left.multiply(left).sum(axis=1)).reshape(-1)
        values = self._damping * squares + (1 - self._damping) * self._stationary(degrees) ** 2
        return np.asarray(values.astype(self.matrix_.dtype, copy=False))

    def sparse_factor(self, rows: Rows | None = None) -> SparseFactor:
        """Return S and v of the training rows, or of others against them, and (1 − ε)²."""
        self._require_fit()
        if rows is None:
            return SparseFactor(self.matrix_, self.vector_, self._damping)
        matrix, degrees = self._transitions(rows)
        return SparseFactor(matrix, self._stationary(degrees), self._damping)

    def components(self) -> IntArray:
        """Return the piece of the graph that each training row is in, numbered from 0.

        Links that a walker takes less than once in a thousand restarts do not join pieces: labels are lost on them.
        """
        self._require_fit()
        carrying = self.matrix_.copy()
        carrying.data = self._carries(carrying, self.degrees_).astype(np.int8)
        carrying.eliminate_zeros()
        return np.asarray(connected_components(carrying, directed=False)[1])

    def touches(self, A: Rows, marked: BoolArray) -> BoolArray:
        """Return whether each row of A has a link that carries labels with a marked training row."""
        left, degrees = self._transitions(A)
        left = left.copy()
        left.data = self._carries(left, degrees).astype(np.float64)
        return np.asarray(left @ marked.astype(np.float64) > 0)

    # -- rows against the training rows ------------------------------------------------------------------------

    def _transitions(self, A: Rows) -> tuple[Any, FloatArray]:
        """Return s(a, z) against the training rows z as a CSR array, and the degrees of the rows of A."""
        self._require_fit()
        if A is self.rows_fit_:
            return self.matrix_, self.degrees_
        searcher = self._search_again()
        # In the form of the training rows first: a row that equals one of them then is at the same point to the last
        # digit, which in float32 decides who its neighbors are.
        with np.errstate(over="ignore", invalid="ignore"):
            points = self._points(_like(as_float(A), self.rows_fit_, self.matrix_.dtype))
        known = searcher.equal_rows(points)
        if (known < 0).all():
            return self._links_of(points, searcher)
        new = np.flatnonzero(known < 0)
        matrix, degrees = self.matrix_[np.maximum(known, 0)], self.degrees_[np.maximum(known, 0)]
        if new.size:
            links, degrees[new] = self._links_of(points[new], searcher)
            place = np.where(known < 0, np.cumsum(known < 0) - 1, np.arange(len(known)) + len(new))
            matrix = sparse.vstack([links, matrix], format="csr")[place]
        return matrix, degrees

    def _links_of(self, points: Rows, searcher: NeighborSearch) -> tuple[Any, FloatArray]:
        """Return s(a, z) and degrees for rows that are not known."""
        with np.errstate(over="ignore", invalid="ignore"):
            radii, near = searcher.neighbors(points)
        if not np.isfinite(radii).all():
            raise ValueError("Distances to the training rows leave the range of numbers. Scale the features.")
        links = in_order([near, searcher.reached_by(points, self.radii_)])
        exponents = self._log_weights(links, radii)
        # A training row has the weight 1 with itself; only rows far from all others need the shift.
        largest = np.full(len(radii), -np.inf)
        np.maximum.at(largest, links.rows, exponents)
        weights = _matrix(links, np.exp(exponents - largest[links.rows]) / 2, (len(radii), searcher.n))
        weights.sum_duplicates()  # links of both sides have two halves
        scales = np.maximum(np.exp(largest / 2), _FAINTEST) ** 2
        sums = np.asarray(weights.sum(axis=1)).reshape(-1)
        weights.data *= (np.sqrt(scales / sums))[_row_numbers(weights)] / np.sqrt(self.degrees_[weights.indices])
        return weights.astype(self.matrix_.dtype), scales * sums

    def _log_weights(self, links: Links, radii: FloatArray) -> FloatArray:
        """Return −4 d² / (r(x) r(y)) for links from rows with these radii to training rows."""
        left = np.where(radii > 0, radii, self._smallest_radius)
        right = np.where(self.radii_ > 0, self.radii_, self._smallest_radius)
        return np.asarray(-4 * links.squared_distances / (left[links.rows] * right[links.columns]))

    def _carries(self, transitions: Any, degrees: FloatArray) -> BoolArray:
        """Return for each stored link whether labels come through: w / (the smaller degree) against the restarts."""
        here, there = degrees[_row_numbers(transitions)], self.degrees_[transitions.indices]
        chance = transitions.data * np.sqrt(np.maximum(here, there) / np.minimum(here, there))
        return np.asarray(chance > max(_REACH * self.teleport, float(np.finfo(np.float64).eps)))

    def _stationary(self, degrees: FloatArray) -> FloatArray:
        """Return v at rows of these degrees."""
        vector: FloatArray = np.sqrt(degrees / self.degrees_.sum())
        return vector.astype(self.matrix_.dtype)

    def _most_links(self, n_rows: int) -> int:
        return max(_LINKS_ALWAYS_ALLOWED, _LINKS_A_NEIGHBOR * int(self.n_neighbors) * n_rows)

    @property
    def _damping(self) -> float:
        return float((1 - self.teleport) ** 2)

    # -- parameters, rows, pickling ----------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if not is_whole_number(self.n_neighbors, 1):
            raise ValueError(f"n_neighbors must be a whole number, 1 or more, got {self.n_neighbors!r}.")
        if not isinstance(self.teleport, Real) or isinstance(self.teleport, bool) or not 0 <= self.teleport < 1:
            raise ValueError(f"teleport must be a number in [0, 1), got {self.teleport!r}.")
        for name, allowed in (("metric", _METRICS), ("search", tuple(_SEARCHES))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {list(allowed)}, got {getattr(self, name)!r}.")

    def _learn_metric(self, rows: Rows, known: DistanceMatrix | None = None) -> None:
        """Learn what the metric takes from the training rows; ``known`` are the distances between them."""
        if self.metric == "centered cosine":
            if sparse.issparse(rows):
                raise ValueError("metric='centered cosine' takes dense rows. Use metric='cosine' for sparse ones.")
            rows = as_float(rows)
            unit = unit_of(rows)  # in which no sum leaves the range of numbers
            self.origin_: FloatArray = unit * (rows / unit).mean(axis=0, dtype=np.float64).astype(rows.dtype)
        elif self.metric == "mahalanobis":
            self.leading_components_ = LeadingComponents.of(rows, None if known is None else known.squared)

    def _points(self, rows: Rows) -> Rows:
        """Return the rows as points whose Euclidean distances count."""
        rows = as_float(rows)
        if sparse.issparse(rows):
            rows = sparse.csr_array(rows)
        if self.metric == "euclidean":
            return rows
        if self.metric == "mahalanobis":
            # Rows that are all equal have no components; they are all at one point, and so is every other row.
            coordinates = self.leading_components_.at(rows)
            if not np.isfinite(coordinates).all():
                raise ValueError("The rows leave the range of numbers beside the training rows. Scale the features.")
            return coordinates if coordinates.shape[1] else np.zeros((rows.shape[0], 1), coordinates.dtype)
        if self.metric == "centered cosine":
            return self._directions(rows)
        zero = np.flatnonzero(largest_entries(rows) == 0)
        if zero.size:
            raise ValueError(
                f"metric='cosine' has no value for row {zero[0]}, which is all zeros ({zero.size} rows are). Drop such "
                "rows, or use metric='euclidean'."
            )
        return unit_rows(rows)

    def _directions(self, rows: FloatArray) -> FloatArray:
        """Return the directions of rows from the mean row, some rows at a time: new memory costs more than they do.

        A row at the mean stays there, equally far from all others. Half of a difference is always in range.
        """
        directions: FloatArray = np.empty_like(rows)

        def turn(some: slice, thread: int) -> None:
            directions[some] = unit_rows(rows[some] / 2 - self.origin_ / 2)

        parts = slices(0, len(rows), max(1, _NUMBERS_AT_ONCE // max(1, rows.shape[1])))
        in_threads(turn, parts, min(allowed_threads(), len(parts)))
        return directions

    def _search_again(self) -> NeighborSearch:
        """Return the index of the training rows, built again where the kernel was loaded without it."""
        if not hasattr(self, "_searcher"):
            self._searcher = _SEARCHES[self.search](self._points(self.rows_fit_), int(self.n_neighbors))
        return self._searcher

    def _require_fit(self) -> None:
        if not hasattr(self, "matrix_"):
            raise NotFittedError(f"{self!r} needs the training rows: call fit(rows) first.")

    def __getstate__(self) -> dict[str, Any]:
        """Leave the index behind; it comes back from the rows when needed."""
        state: dict[str, Any] = super().__getstate__().copy()
        state.pop("_searcher", None)
        return state


def fit_graphs(
    counts: Iterable[int], rows: Rows, known: DistanceMatrix | None = None, metric: Metric = "euclidean"
) -> list[NeighborGraph]:
    """Return graphs with these ``counts`` of neighbors, fitted to ``rows`` by one search.

    ``known`` are the distances between the rows, where somebody has them. ``metric`` is that of all graphs.
    """
    graphs = [NeighborGraph(count, metric=metric) for count in counts]
    widest = max(graphs, key=lambda graph: graph.n_neighbors)
    known = known if known is not None and known.points is rows else None
    with np.errstate(over="ignore", invalid="ignore"):
        for graph in graphs:
            graph._learn_metric(rows, known)
        points = widest._points(rows)
        distances = known if points is rows else None
        if known is not None and metric == "centered cosine":
            distances = known.of_directions(points)
        searcher = ExactSearch(points, widest.n_neighbors)
        links = searcher.neighbors(points, widest._most_links(searcher.n), distances)[1]
        for graph in graphs:
            own = searcher.with_neighbors(graph.n_neighbors)
            graph._learn(rows, own, *links.nearest(own.n_neighbors))
    return graphs


def _like(rows: Rows, model: Rows, dtype: Any) -> Rows:
    """Return rows in the form of others, in this precision."""
    if sparse.issparse(model):
        return sparse.csr_array(rows, dtype=dtype)
    return dense(rows).astype(dtype, copy=False)


def _matrix(links: Links, values: FloatArray, shape: tuple[int, int]) -> Any:
    """Return links, which are in order of their rows, as a CSR array."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(links.rows, minlength=shape[0]))])
    dtype = np.int32 if max(len(values), *shape) < np.iinfo(np.int32).max else np.int64
    matrix = sparse.csr_array((values, links.columns.astype(dtype), starts.astype(dtype)), shape=shape)
    matrix.sort_indices()
    return matrix


def _row_numbers(matrix: Any) -> IntArray:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
