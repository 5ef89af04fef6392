"""The labels that a table came with."""

from collections import Counter
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from semikpca.exceptions import TableError
from semikpca.labels import UNLABELED
from semikpca.tables._features import MISSING_WORDS, as_text, is_missing
from semikpca.tables._table import ColumnRoles, Table, listed, refuse_roles

ARRAYS = ("npy", "npz")  # their whole numbers know no empty cell, so that UNLABELED marks one
# A column with more different labels was taken by mistake: a text, a number, an identifier. Scores of all rows for as
# many classes would not fit the memory either.
MOST_CLASSES = 1_000


def given_labels(
    table: Table, roles: ColumnRoles, *, allow_fewer: bool = False, allow_all: bool = False
) -> npt.NDArray[Any]:
    """Return the label of each row, or None where its cell is empty.

    Blanks around a label do not count, and a cell of blanks is empty. In text files every label is text: "1" and "1.0"
    are two classes. In Parquet, Excel and JSON lines numbers are numbers, and 1 and 1.0 are the same. In .npy and .npz
    files -1 marks a row without a label, as in scikit-learn.

    Parameters
    ----------
    table : Table
    roles : ColumnRoles
    allow_fewer : bool, default=False
        Allow no label at all, and labels of one class, as when someone begins to label.
    allow_all : bool, default=False
        Allow that every row is labeled, as when labels are to be checked.

    Returns
    -------
    ndarray of object, shape (n_rows,)

    Raises
    ------
    TableError
        If there is nothing to learn from, or nothing to find out, or if labels are text here and numbers there.
    """
    refuse_roles(table, ColumnRoles(roles.label))
    where = f"the column {roles.label!r} of {table.name}"
    labels = _one_type([_label(cell, table.format) for cell in table.frame[roles.label].tolist()], table, where)
    n_given = sum(label is not None for label in labels)
    classes = {label for label in labels if label is not None}
    if not classes and not allow_fewer:
        raise TableError(f"There is no label in {where}. Fill in a few rows of each class, and leave the others empty.")
    if len(classes) == 1 and not allow_fewer:
        raise TableError(f"All labels in {where} are {listed(classes)}. Fill in at least one row of another class.")
    if len(classes) > MOST_CLASSES:
        raise TableError(
            f"There are {len(classes):,} different labels in {where}, and {n_given:,} rows have one; at most "
            f"{MOST_CLASSES:,} classes are learned. Is it another column that has the classes?"
        )
    if n_given == len(labels) and not (allow_all or allow_fewer):
        hint = f" Here {UNLABELED} is a class: empty these cells if it marks rows without a label."
        unlabeled = hint if UNLABELED in classes or str(UNLABELED) in classes else ""
        raise TableError(
            f"Every row has a label in {where}, so that none is left to find. Empty the cells of the rows to be "
            f"labeled.{unlabeled}"
        )
    return np.array(labels, dtype=object)


def label_warnings(table: Table, roles: ColumnRoles) -> list[str]:
    """Return what may be wrong with the labels, in words."""
    labels = [label for label in given_labels(table, roles, allow_fewer=True) if label is not None]
    counts = Counter(labels)
    warnings = []
    for label, count in counts.items():
        is_word = isinstance(label, str) and label.casefold() in MISSING_WORDS
        if is_word or as_text(label) in (str(UNLABELED), f"{UNLABELED}.0"):
            warnings.append(
                f"{label!r} is taken as a class of {roles.label!r} ({count:,} rows). Empty these cells if they "
                "mean that there is no label."
            )
    alike: dict[str, Any] = {}
    for label in counts:
        other = alike.setdefault(_plain(label), label)
        if other != label:
            warnings.append(f"{other!r} and {label!r} in {roles.label!r} are taken as two classes.")
    if len(counts) > 10 and len(counts) == len(labels):
        warnings.append(f"No label in {roles.label!r} occurs twice ({len(counts):,} labels). Is it the right column?")
    return warnings


def _label(cell: Any, format_: str) -> Any:
    if is_missing(cell) or (format_ in ARRAYS and isinstance(cell, Real) and cell == UNLABELED):
        return None
    if isinstance(cell, str):
        return cell.strip()
    return cell if isinstance(cell, Real) else as_text(cell)


def _one_type(labels: list[Any], table: Table, where: str) -> list[Any]:
    """Return labels of one type: text, truth values, whole numbers, or numbers."""
    first: dict[str, int] = {}
    for row, label in enumerate(labels):
        if label is not None:
            kind = "text" if isinstance(label, str) else "truth values" if isinstance(label, bool) else "numbers"
            first.setdefault(kind, row)
    if len(first) > 1:
        kinds = " and ".join(f"{kind} ({labels[row]!r} in {table.line_of(row)})" for kind, row in first.items())
        raise TableError(f"The labels in {where} are of mixed types: {kinds}. Make all of them text, or all numbers.")
    if "numbers" not in first:
        return labels
    whole = all(label is None or float(label).is_integer() for label in labels)
    return [None if label is None else int(label) if whole else float(label) for label in labels]


def _plain(label: Any) -> Any:
    """Return what two spellings of the same label have in common."""
    if not isinstance(label, str):
        return label
    try:
        return float(label)
    except ValueError:
        return " ".join(label.casefold().split())
