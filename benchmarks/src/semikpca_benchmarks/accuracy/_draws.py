"""Who is labeled, and which labels are wrong."""

import zlib

import numpy as np

from semikpca_benchmarks._typing import IntArray
from semikpca_benchmarks.accuracy._cells import AccuracyCell, labels_of_class


def draw_labeled_rows(cell: AccuracyCell, y: IntArray, draw: int, seed: int) -> IntArray:
    """Return the labeled rows of one draw; every class has at least one.

    Where labels are counted in all (the paper's sets), uniform without replacement, drawn again until all classes are
    there. Where they are counted for each class (digits, rare classes, sets of a folder), the same number of each
    class, and of small classes what ``labels_of_class`` says. Where they are counted on average (the further sets), one
    row of each class and the rest uniformly from all other rows, so that the classes are labeled about as often as they
    occur. A draw depends on the seed, the cell and its own number alone, not on what runs beside it, and is the same
    for labels that are wrong and for labels that are right.
    """
    generator = np.random.default_rng([seed, _number(cell.dataset), cell.labels, draw])
    members = [np.flatnonzero(y == label) for label in range(int(y.max()) + 1)]
    if cell.info.counting == "each class":
        return np.concatenate(
            [generator.choice(rows, labels_of_class(cell.labels, len(rows)), replace=False) for rows in members]
        )
    if cell.info.counting == "on average":
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
