"""Who is labeled, and which labels are wrong."""

import zlib

import numpy as np

from semikpca_benchmarks._typing import IntArray
from semikpca_benchmarks.accuracy._spec import AccuracyCell, group_of


def draw_labeled_rows(cell: AccuracyCell, y: IntArray, draw: int, seed: int) -> IntArray:
    """Return the labeled rows of one draw; every class has at least one.

    On the paper's sets uniform without replacement, drawn again until all classes are there; on digits the same number
    of each class; on the further sets one row of each class and the rest uniformly from all other rows, so that the
    classes are labeled about as often as they occur. A draw depends on the seed, the cell and its own number alone, not
    on what runs beside it, and is the same for labels that are wrong and for labels that are right.
    """
    generator = np.random.default_rng([seed, _number(cell.dataset), cell.labels, draw])
    members = [np.flatnonzero(y == label) for label in range(int(y.max()) + 1)]
    group = group_of(cell.dataset)
    if group == "digits":
        return np.concatenate([generator.choice(rows, cell.labels, replace=False) for rows in members])
    if group != "paper":
        first = np.array([generator.choice(rows) for rows in members])
        others = np.setdiff1d(np.arange(len(y)), first)
        return np.append(first, generator.choice(others, cell.n_labeled - len(first), replace=False))
    while True:
        rows = generator.choice(len(y), cell.n_labeled, replace=False)
        if len(np.unique(y[rows])) == len(members):
            return rows


def flip_labels(cell: AccuracyCell, labels: IntArray, n_classes: int, draw: int, seed: int) -> IntArray:
    """Return the given labels with the cell's share of them, drawn uniformly, turned into another class."""
    generator = np.random.default_rng([seed, _number(cell.dataset), cell.labels, draw, cell.flipped])
    wrong = generator.choice(len(labels), round(len(labels) * cell.flipped / 100), replace=False)
    flipped = labels.copy()
    flipped[wrong] = (labels[wrong] + generator.integers(1, n_classes, len(wrong))) % n_classes
    return flipped


def method_generator(cell: AccuracyCell, method: str, draw: int, seed: int) -> np.random.Generator:
    """Return the random numbers of one method in one draw; no other method or cell moves them."""
    key = [seed, _number(cell.dataset), cell.labels, draw, cell.flipped, _number(method)]
    return np.random.default_rng(key)


def _number(name: str) -> int:
    return zlib.crc32(name.encode())
