"""Very many rows in the place of which a few do: the unlabeled ones count only by the sum of their squared features.

With features Φ (K = Φ Φᵀ) everything that a fit computes, eigenvalues, certificate, weights w = Φᵀα, decisions with and
without own labels, depends on the rows by ΦᵀΦ and by the features of the labeled rows. So rows R with RᵀR = Σ φ φᵀ over
the unlabeled ones take their place (docs/decisions/0017-dask.md). The functions here know nothing of a cluster: a
summary of each chunk, summaries joined, and the small problem of what was joined.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.kernels import Kernel, Linear
from semikpca.operators import memory_budget


@dataclass(frozen=True)
class Summary:
    """What a fit needs of a chunk of rows, or of several."""

    gram: FloatArray  # ΦᵀΦ of all rows, in float64
    kept: FloatArray  # rows that are needed one by one, as they are


def summary(chunk: FloatArray, kernel: Kernel, kept: IntArray) -> Summary:
    """Return the summary of a chunk; ``kept`` are places in it. Features are made a block of rows at a time."""
    return Summary(kernel.low_rank_factor().gram(chunk)[0], chunk[kept])


def joined(summaries: Sequence[Summary]) -> Summary:
    """Return the summary of several chunks in this order."""
    gram = summaries[0].gram.copy()
    for other in summaries[1:]:
        gram += other.gram
    return Summary(gram, np.concatenate([part.kept for part in summaries]))


class OnFeatures(Linear):
    """The linear kernel on rows that are features already: whatever their number, they are the way to the matrix.

    ``approximate`` says whether the features are those of a kernel that stands for another one.
    """

    def __init__(self, approximate: bool = False) -> None:
        super().__init__()
        self.approximate = approximate

    @property
    def is_approximate(self) -> bool:
        return self.approximate

    def is_low_rank_on(self, rows: Rows) -> bool:
        return True


@dataclass(frozen=True)
class CompressedRows:
    """All rows as a fit sees them: some one by one, the others as no more rows than there are features."""

    kernel: Kernel  # fitted, with a ``low_rank_factor``
    gram: FloatArray  # ΦᵀΦ of all rows
    numbers: IntArray  # which rows are there one by one, ascending
    features: FloatArray  # theirs

    @classmethod
    def of(cls, kernel: Kernel, gram: FloatArray, numbers: IntArray, rows: FloatArray) -> "CompressedRows":
        """Return them from the rows that are needed one by one, as they are."""
        if not np.isfinite(gram).all():
            raise ValueError(
                f"Values of {kernel!r} leave the range of {rows.dtype}. Scale the features, for example with "
                "StandardScaler."
            )
        needed = 8 * len(numbers) * len(gram)
        if needed > memory_budget():
            raise ValueError(
                f"{len(numbers):,} labeled rows with {len(gram):,} features each take {needed / 2**30:.1f} GiB, and "
                f"{memory_budget() / 2**30:.1f} GiB are allowed. Label fewer rows, use fewer landmarks, or allow more "
                "with sklearn.set_config(working_memory=...), in MiB."
            )
        return cls(kernel, gram, numbers, kernel.features(rows).astype(np.float64))

    def with_rows(self, numbers: IntArray, rows: FloatArray) -> "CompressedRows":
        """Return the same with further rows one by one."""
        all_numbers, places = np.unique(np.concatenate([self.numbers, numbers]), return_index=True)
        all_features = np.vstack([self.features, self.kernel.features(rows).astype(np.float64)])
        return CompressedRows(self.kernel, self.gram, all_numbers, all_features[places])

    @property
    def small_rows(self) -> FloatArray:
        """The rows of the small problem: the features of those that are kept, and R for all others."""
        # R = Λ^½ Eᵀ; where no other row is left, what is below zero is rounding.
        rest = self.gram - self.features.T @ self.features
        with threadpool_limits(limits=1, user_api="blas"):
            values, vectors = np.linalg.eigh(rest)
        positive = values > 0
        return np.vstack([self.features, (vectors[:, positive] * np.sqrt(values[positive])).T])

    def places(self, numbers: IntArray) -> IntArray:
        """Return where rows of these numbers, all of them kept, are among the small rows."""
        return np.searchsorted(self.numbers, numbers)
