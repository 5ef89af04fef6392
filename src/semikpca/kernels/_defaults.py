"""What is tried where nobody names a kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from semikpca._typing import Rows
from semikpca.arrays import length
from semikpca.kernels._bandwidth import median_distance
from semikpca.kernels._base import InputKind, Kernel
from semikpca.kernels._graph import fit_graphs
from semikpca.kernels._normalized import Normalized
from semikpca.kernels._on_columns import OnColumns
from semikpca.kernels._pairwise import RBF, Laplacian, Linear
from semikpca.kernels._row_sums import row_sums

# Normalized kernels need the whole matrix, which above this many rows is no longer worth its cost beside the graphs.
MOST_ROWS_FOR_WHOLE_MATRICES = 5_000
_NEIGHBORS = (5, 7, 10)


@dataclass(frozen=True)
class DefaultKernels:
    """Straight boundaries, local and global smooth ones, and neighbor graphs at three scales.

    No single one of them serves all data. An entry of ``SemiKPCAClassifierCV(kernels=...)`` that stands for several
    kernels; alone and on all columns it is what is tried by default.

    Parameters
    ----------
    columns : sequence of int or None, default=None
        The columns that the kernels see; all of them unless given.

    Examples
    --------
    >>> from semikpca import SemiKPCAClassifierCV
    >>> from semikpca.kernels import DefaultKernels
    >>> views = [DefaultKernels(), DefaultKernels(columns=range(10))]
    >>> model = SemiKPCAClassifierCV(kernels=views)
    """

    columns: Sequence[int] | None = None

    # What the rows are, as a kernel says it.
    input_kind: ClassVar[InputKind] = "vectors"
    accepts_sparse: ClassVar[bool] = True

    def fit(self, rows: Rows) -> tuple[list[Kernel], list[Kernel]]:
        """Return kernels that are fitted to the rows: those to be used as they are, and those for Semi-KPCA.

        Distances between more than half of the rows may be 0; what takes its scale from them is then left out.
        """
        view = None if self.columns is None else OnColumns("linear", self.columns)
        part = rows if view is None else view.fit(rows).part_

        def seen(kernel: Kernel) -> Kernel:
            return kernel if self.columns is None else OnColumns(kernel, self.columns).learn(kernel, rows, part)

        plain: list[Kernel] = [Linear(center=not sparse.issparse(rows))]
        shaped: list[Kernel] = [seen(graph) for graph in fit_graphs(_NEIGHBORS, part)]
        with np.errstate(over="ignore", divide="ignore"):
            wide = 1 / (2 * np.square(median_distance(part)))
            wide_l1 = 1 / np.float64(median_distance(part, "manhattan"))
        largest = np.finfo(rows.dtype).max / 4
        if 0 < wide < largest and 0 < wide_l1 < largest:
            plain += [Laplacian(gamma=float(wide_l1)), RBF(gamma=float(4 * wide))]
            if length(rows) <= MOST_ROWS_FOR_WHOLE_MATRICES:
                for factor in (1, 4):
                    inside = seen(RBF(gamma=float(factor * wide)))
                    shaped.append(Normalized(inside).learn_degrees(inside, row_sums(inside, rows, rows), rows))
        return [seen(kernel.fit(part)) for kernel in plain], shaped
