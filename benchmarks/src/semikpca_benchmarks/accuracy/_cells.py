"""One data set with one number of labels: the unit of work, and of what is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from semikpca.experiments import paper_label_counts
from semikpca_benchmarks.datasets import SetInfo

DIGITS_COUNTS = (1, 2, 3, 5, 10)
"""Labels of each class on digits."""

FURTHER_COUNTS = (1, 2, 5, 10, 20)
"""Labels per class on average on the further sets; counts beyond a third of the rows are skipped."""

RARE_COUNTS = (1, 2, 3, 5)
"""Labels of each class on the sets with a rare class."""

FOLDER_COUNTS = (1, 2, 5, 10)
"""Labels of each class on the sets of a folder, unless others are asked for."""

_COUNTS = {"digits": DIGITS_COUNTS, "tuning": FURTHER_COUNTS, "aside": FURTHER_COUNTS, "rare": RARE_COUNTS}


@dataclass(frozen=True)
class AccuracyCell:
    """One data set with one number of labels.

    Attributes
    ----------
    info : SetInfo
        The data set.
    labels : int
        In all on the paper's sets, per class (on average on the further sets) on the others.
    flipped : int
        Percent of the given labels that are wrong.
    """

    info: SetInfo
    labels: int
    flipped: int = 0

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self.info.name

    @property
    def n_labeled(self) -> int:
        """Labels in all."""
        if self.info.counting == "in all":
            return self.labels
        if self.info.counting == "on average":
            return self.labels * self.info.n_classes
        return sum(labels_of_class(self.labels, size) for size in self.info.class_sizes)

    @property
    def labels_per_class(self) -> float:
        """Labels per class, on average; where each class was to have the same number, that number."""
        return self.labels / self.info.n_classes if self.info.counting == "in all" else float(self.labels)

    def __str__(self) -> str:
        noise = f"-flipped{self.flipped}" if self.flipped else ""
        return f"{self.dataset}-{self.labels}{noise}"


def labels_of_class(labels: int, n_rows: int) -> int:
    """Return how many labels a class of so many rows gives where each class is to give the same number.

    At least a third of its rows stay unlabeled, so that a small class is still there to be predicted; but it gives one.

    Examples
    --------
    >>> [labels_of_class(10, n_rows) for n_rows in (2, 10, 15, 600)]
    [1, 6, 10, 10]
    """
    return min(labels, max(1, 2 * n_rows // 3))


def label_counts(info: SetInfo, folder_counts: Sequence[int] = FOLDER_COUNTS) -> tuple[int, ...]:
    """Return the label counts of a data set, ascending, as ``AccuracyCell.labels`` counts them.

    Counts beyond a third of the rows are skipped; the paper's sets have the counts of the paper.
    """
    if info.counting == "in all":
        return paper_label_counts(info.name)
    counts = _COUNTS.get(info.groups[0], folder_counts)
    return tuple(count for count in sorted(counts) if 3 * AccuracyCell(info, count).n_labeled <= info.n_samples)
