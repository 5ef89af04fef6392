"""Words that the page of the accuracy benchmark uses in several places."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from semikpca_benchmarks.accuracy import ALL

Table: TypeAlias = Mapping[tuple[str, str], dict[str, Any]]
"""The rows of ``summary.csv`` by group and method."""

_COLLECTIONS = {
    ALL: "All sets",
    "paper": "Paper’s sets",
    "digits": "Digits",
    "tuning": "Tuning half",
    "aside": "Aside half",
    "rare": "Rare classes",
    "rare-tuning": "Rare classes, tuning half",
    "rare-aside": "Rare classes, aside half",
    "folder": "Folder",
}
KINDS = {"ours": "ours", "peer": "peer", "oracle": "uses the test labels"}
SCALINGS = {"standardize": "standardized", "none": "as they are", "pixels": "divided by 16"}
LARGER_IS_BETTER = ("accuracy_mean", "balanced_accuracy_mean", "rare_f1_mean")


def label_of(collection: str) -> str:
    """Return what a collection of data sets is called on the page; groups of the user's have their own names."""
    return _COLLECTIONS.get(collection, collection)


def shown_collections(summary: Sequence[dict[str, Any]]) -> list[str]:
    """Return the collections of ``summary.csv``, all sets first; one that is the same as all sets is left out."""
    sizes = {row["collection"]: row["n_cells"] for row in summary if not row["labels"]}
    return [ALL, *(name for name, size in sizes.items() if name != ALL and size < sizes[ALL])] if sizes else []


def stepped_collections(summary: Sequence[dict[str, Any]]) -> list[str]:
    """Return the collections that are shown by the number of labels, if there are several numbers.

    All sets have none where a run has nothing but the paper's sets, which then take their place.
    """
    sizes = {row["collection"]: row["n_cells"] for row in summary if not row["labels"]}
    same = [name for name, size in sizes.items() if name != ALL and size == sizes[ALL]]
    candidates = [name for name in (ALL, *same) if len(steps_of(summary, name)) > 1][:1]
    others = [name for name in shown_collections(summary) if name != ALL and len(steps_of(summary, name)) > 1]
    return candidates + others


def steps_of(summary: Sequence[dict[str, Any]], collection: str) -> dict[str, str]:
    """Return the numbers of labels that a collection is summarized by, and the group of each."""
    return {row["labels"]: row["group"] for row in summary if row["collection"] == collection and row["labels"]}


def counts_of(collection: str) -> str:
    """Return what the numbers of labels of a collection are."""
    return "by share of labels" if collection == "paper" else "by labels per class"


def is_best(table: Table, row: Mapping[str, Any], column: str) -> bool:
    """Return whether a method has the best value of its group; an oracle does not compete."""
    if row[column] is None or row["kind"] == "oracle":
        return False
    values = [
        other[column]
        for (group, _), other in table.items()
        if group == row["group"] and other["kind"] != "oracle" and other[column] is not None
    ]
    return bool(row[column] == (max(values) if column in LARGER_IS_BETTER else min(values)))


def best_peer(table: Table, group: str, column: str) -> dict[str, Any] | None:
    """Return the peer that is best over a group by a column of ``summary.csv``."""
    peers = [row for (name, _), row in table.items() if name == group and row["kind"] == "peer"]
    peers = [row for row in peers if row[column] is not None]
    sign = -1 if column in LARGER_IS_BETTER else 1
    return min(peers, key=lambda row: sign * float(row[column]), default=None)


def counted(count: int, noun: str) -> str:
    """Return "1 cell", "2 cells"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
