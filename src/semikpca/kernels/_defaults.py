"""What is tried where nobody names a kernel."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy import sparse

from semikpca._typing import FloatArray, Rows
from semikpca.arrays import length
from semikpca.kernels._bandwidth import median_distance
from semikpca.kernels._base import InputKind, Kernel
from semikpca.kernels._components import coordinates_by, tells_components
from semikpca.kernels._distance_matrix import DistanceMatrix
from semikpca.kernels._graph import NeighborGraph, fit_graphs
from semikpca.kernels._normalized import Normalized
from semikpca.kernels._on_columns import OnColumns
from semikpca.kernels._pairwise import RBF, Cosine, Laplacian, Linear
from semikpca.kernels._row_kind import RowKind, row_kind
from semikpca.kernels._row_sums import row_sums
from semikpca.kernels._vectors import largest_entries

# Normalized kernels need the whole matrix, which above this many rows is no longer worth its cost beside the graphs;
# nor is a second search for the neighbors of wide rows.
MOST_ROWS_FOR_WHOLE_MATRICES = 5_000
# City-block distances are no matrix product. Of rows with more features they would take most of the time of a fit, and
# on wide rows the Laplacian kernel adds nothing (docs/decisions/0026-wide-rows.md).
MOST_FEATURES_FOR_CITY_BLOCK = 2_000

# Neighbors of the graphs, by what rows are. The second metric sees other neighborhoods than distances do.
_NEIGHBORS_OF_MEASUREMENTS = (5, 7)
_NEIGHBORS_OF_DIRECTIONS = (10, 20)
_NEIGHBORS_BY_ANOTHER_METRIC = 20
NEIGHBORHOOD = 10
"""Neighbors of a row that labelings are held against."""


@dataclass(frozen=True)
class DefaultKernels:
    """Kernels that suit the rows, none of which serves all data.

    An entry of ``SemiKPCAClassifierCV(kernels=...)`` that stands for several kernels; alone and on all columns it is
    what is tried by default. What rows are is told from the rows: measurements (a table), or directions (embeddings,
    whose rows have one length; counts of words, whose lengths must not count).

    - Measurements: a linear, a Laplacian (up to 2,000 dense features) and a narrow RBF kernel as they are; Semi-KPCA
      with graphs of 5 and of 7 neighbors, one of 20 neighbors by the Mahalanobis distance, and two normalized RBF
      kernels (up to 5,000 rows: they need the whole matrix).
    - Directions: a narrow RBF kernel as it is (of counts, the cosine); Semi-KPCA with graphs of 10 and 20 neighbors,
      and one of 20 neighbors by the centered cosine (dense rows, 5,000 at most).

    Parameters
    ----------
    columns : sequence of int or None, default=None
        The columns that the kernels see; all of them unless given.
    origin : sequence of float or None, default=None
        Where 0 is in these columns, if rows were centered: embeddings are known by their lengths, which centering
        changes.
    needs_labels : bool, default=False
        Whether labels alone can tell that these columns matter: the groups that they fall into come from their form, or
        from chance. While labels are few, other columns then go first.

    Examples
    --------
    >>> from semikpca import SemiKPCAClassifierCV
    >>> from semikpca.kernels import DefaultKernels
    >>> views = [DefaultKernels(), DefaultKernels(columns=range(10))]
    >>> model = SemiKPCAClassifierCV(kernels=views)
    """

    columns: Sequence[int] | None = None
    origin: Sequence[float] | None = field(default=None, repr=False)
    needs_labels: bool = False

    # What the rows are, as a kernel says it.
    input_kind: ClassVar[InputKind] = "vectors"
    accepts_sparse: ClassVar[bool] = True

    def fit(self, rows: Rows, *, stores_matrices: bool = False) -> "FittedDefaults":
        """Return kernels that are fitted to the rows.

        Distances between more than half of the rows may be 0; what takes its scale from them is then left out. With
        ``stores_matrices``, where matrices will be stored, they are made here, all from the same distances.
        """
        view = None if self.columns is None else OnColumns("linear", self.columns)
        part = rows if view is None else view.fit(rows).part_

        def seen(kernel: Kernel) -> Kernel:
            return kernel if self.columns is None else OnColumns(kernel, self.columns).learn(kernel, rows, part)

        # One product of matrices for the graphs, the median rule and the normalized kernels.
        are_few = length(rows) <= MOST_ROWS_FOR_WHOLE_MATRICES
        distances = DistanceMatrix.of(part) if stores_matrices and are_few else None
        kind = row_kind(part, self.origin)
        if kind is RowKind.MEASUREMENTS:
            found = _for_measurements(part, distances)
        else:
            found = _for_directions(part, distances, has_lengths=kind is RowKind.COUNTS)
        shaped = [seen(graph) for graph in found.graphs]
        if are_few:
            shaped += [_normalized(seen(kernel), rows, distances) for kernel in found.to_normalize]
        plain = [seen(kernel.fit(part)) for kernel in found.plain]
        return FittedDefaults(plain, shaped, found.neighborhoods, found.coordinates)


@dataclass(frozen=True)
class FittedDefaults:
    """What :class:`DefaultKernels` stand for on some rows."""

    plain: list[Kernel]  # to be used as they are
    shaped: list[Kernel]  # for Semi-KPCA
    neighborhoods: NeighborGraph  # of ten neighbors; no kernel to be tried, but found by the same search
    coordinates: FloatArray | None  # of the rows along their leading components, where these were found on the way


@dataclass(frozen=True)
class _Suggestion:
    """What suits rows of one kind."""

    plain: list[Kernel]
    graphs: list[NeighborGraph]  # fitted
    neighborhoods: NeighborGraph
    to_normalize: Sequence[Kernel] = ()
    coordinates: FloatArray | None = None


def _for_measurements(rows: Rows, distances: DistanceMatrix | None) -> _Suggestion:
    plain: list[Kernel] = [Linear(center=not sparse.issparse(rows))]
    *graphs, neighborhoods = fit_graphs((*_NEIGHBORS_OF_MEASUREMENTS, NEIGHBORHOOD), rows, distances)
    is_short = sparse.issparse(rows) or rows.shape[1] <= MOST_FEATURES_FOR_CITY_BLOCK
    with np.errstate(over="ignore", divide="ignore"):
        wide = float(1 / (2 * np.square(median_distance(rows, known=distances))))
        along_axes = [float(1 / np.float64(median_distance(rows, "manhattan")))] if is_short else []
    if not all(_is_usable(scale, rows) for scale in (wide, *along_axes)):
        return _Suggestion(plain, graphs, neighborhoods)
    plain += [Laplacian(gamma=scale) for scale in along_axes]
    plain.append(RBF(gamma=4 * wide))
    graphs += fit_graphs((_NEIGHBORS_BY_ANOTHER_METRIC,), rows, distances, "mahalanobis")
    return _Suggestion(plain, graphs, neighborhoods, (RBF(gamma=wide), RBF(gamma=4 * wide)))


def _for_directions(rows: Rows, distances: DistanceMatrix | None, *, has_lengths: bool) -> _Suggestion:
    """Return what suits rows whose direction counts; those that differ in length are compared by the cosine."""
    if has_lengths and (largest_entries(rows) > 0).all():
        graphs = fit_graphs(_NEIGHBORS_OF_DIRECTIONS, rows, metric="cosine")
        return _Suggestion([Cosine()], graphs, graphs[0])
    graphs = fit_graphs(_NEIGHBORS_OF_DIRECTIONS, rows, distances)
    neighborhoods = graphs[0]
    if not sparse.issparse(rows) and length(rows) <= MOST_ROWS_FOR_WHOLE_MATRICES:
        graphs += fit_graphs((_NEIGHBORS_BY_ANOTHER_METRIC,), rows, distances, "centered cosine")
    with np.errstate(over="ignore", divide="ignore"):
        wide = float(1 / (2 * np.square(median_distance(rows, known=distances))))
    coordinates = None
    if distances is not None and tells_components(distances.squared, rows.shape[1]):
        coordinates = coordinates_by(distances.squared)
    plain: list[Kernel] = [RBF(gamma=4 * wide) if _is_usable(wide, rows) else Linear()]
    return _Suggestion(plain, graphs, neighborhoods, coordinates=coordinates)


def _is_usable(scale: float, rows: Rows) -> bool:
    return 0 < scale < float(np.finfo(rows.dtype).max) / 4


def _normalized(inside: Kernel, rows: Rows, distances: DistanceMatrix | None) -> Normalized:
    """Return the normalized form of a fitted kernel, from known distances where there are some."""
    values = None if distances is None or inside.formula is None else distances.values(inside.formula)
    if values is None:
        return Normalized(inside).learn_degrees(inside, row_sums(inside, rows, rows), rows)
    return Normalized(inside).learn_matrix(inside, values, rows)
