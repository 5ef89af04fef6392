"""Rows of KEEL's raw files: numbers stay as they are, everything else is one-hot encoded."""

import numpy as np

from semikpca.datasets import Dataset, PackagedFile
from semikpca_benchmarks._typing import FloatArray

MOST_ROWS = 1_000
"""Rows that a set is cut to, so that all methods get through the suite."""

_SAMPLE_SEED = 0
_MISSING = frozenset({"", "?", "<null>"})  # how KEEL's files mark a value that is not known


def from_keel(name: str, file: PackagedFile) -> Dataset:
    """Return a set without rows that lack a value, cut to 1,000 rows by a uniform sample, always the same."""
    rows = [row for row in file.read_rows() if not _MISSING.intersection(row)]
    source = f"KEEL, {file.requirement}"
    if len(rows) > MOST_ROWS:
        source = f"{source}, {MOST_ROWS:,} of {len(rows):,} rows"
        chosen = np.random.default_rng(_SAMPLE_SEED).choice(len(rows), MOST_ROWS, replace=False)
        rows = [rows[i] for i in np.sort(chosen)]
    *columns, labels = zip(*rows, strict=True)
    class_names = _ordered(labels)
    numbers = {label: number for number, label in enumerate(class_names)}
    X = np.hstack([_encoded(column) for column in columns])
    y = np.array([numbers[label] for label in labels], dtype=np.intp)
    return Dataset(name, X, y, class_names, source)


def _encoded(column: tuple[str, ...]) -> FloatArray:
    """Return a column of numbers as it is, and any other one-hot encoded, shape (n_rows, n_columns)."""
    try:
        return np.array(column, dtype=np.float64)[:, np.newaxis]
    except ValueError:
        return np.asarray(np.array(column)[:, np.newaxis] == np.array(_ordered(column)), dtype=np.float64)


def _ordered(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the different values in order: as numbers where all are, so that 10 comes after 9."""
    try:
        return tuple(sorted(set(values), key=float))
    except ValueError:
        return tuple(sorted(set(values)))
