"""Groups of cells that are summarized: collections of data sets, whole and by the number of labels."""

from collections.abc import Iterable
from dataclasses import dataclass

from semikpca.experiments import paper_label_counts
from semikpca_benchmarks.accuracy._cells import AccuracyCell
from semikpca_benchmarks.datasets import BENCHMARK_GROUPS

ALL = "all"
"""The collection of all data sets of a run."""

PAPER_SHARES = (1, 2, 5, 10)
"""Percent of the rows, as the paper calls its four label counts."""

FEW_LABELS = (1, 2)
"""Labels per class that count as few: there is a group of all cells with as many."""


@dataclass(frozen=True)
class CellGroup:
    """Some cells that are summarized together.

    Attributes
    ----------
    collection : str
        The group of data sets, or "all".
    labels : str
        Labels per class, on the paper's sets the share of the rows; "" for all counts together.
    cells : tuple of AccuracyCell
    """

    collection: str
    labels: str
    cells: tuple[AccuracyCell, ...]

    @property
    def name(self) -> str:
        """Such as "digits 5", or "digits"."""
        return f"{self.collection} {self.labels}".strip()


def accuracy_groups(cells: Iterable[AccuracyCell]) -> list[CellGroup]:
    """Return the groups of cells, collection by collection: by the number of labels, then whole; none is empty.

    Collections are the groups of the data sets and all of them together. The latter goes by labels per class too: it
    takes the cells of the paper's sets that have just as many, and has a group of the cells with one or two. Cells with
    wrong labels belong to none.
    """
    clean = [cell for cell in cells if not cell.flipped]
    found = []
    for collection in collections_of(clean):
        members = [cell for cell in clean if collection == ALL or collection in cell.info.groups]
        found += [*_paper_steps(members)] if collection == "paper" else [*_steps(collection, members)]
        found.append(CellGroup(collection, "", tuple(members)))
    return found


def collections_of(cells: Iterable[AccuracyCell]) -> list[str]:
    """Return the collections that the cells are of: groups of the benchmark, those of the user's, then all."""
    present = dict.fromkeys(group for cell in cells for group in cell.info.groups)
    in_order = [group for group in BENCHMARK_GROUPS if group in present]
    others = [group for group in present if group not in BENCHMARK_GROUPS]
    return [*in_order, *others, ALL] if present else []


def _paper_steps(cells: list[AccuracyCell]) -> Iterable[CellGroup]:
    for level, share in enumerate(PAPER_SHARES):
        members = tuple(cell for cell in cells if paper_label_counts(cell.dataset).index(cell.labels) == level)
        if members:
            yield CellGroup("paper", f"{share}%", members)


def _steps(collection: str, cells: list[AccuracyCell]) -> Iterable[CellGroup]:
    # Counts of the paper's sets are shares of their rows, and would make steps of their own such as 3.5.
    counts = sorted({cell.labels_per_class for cell in cells if cell.info.counting != "in all"})
    for count in counts:
        yield CellGroup(collection, f"{count:g}", tuple(cell for cell in cells if cell.labels_per_class == count))
    if collection == ALL and set(FEW_LABELS) <= set(counts):
        few = tuple(cell for cell in cells if cell.labels_per_class in FEW_LABELS)
        yield CellGroup(collection, " and ".join(map(str, FEW_LABELS)), few)
