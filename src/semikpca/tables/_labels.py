"""The labels that a table came with."""

import re
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from semikpca._words import counted
from semikpca.exceptions import TableError
from semikpca.tables._features import as_text
from semikpca.tables._label_kind import MANY_CLASSES, has_fractions, label_cells, label_kind
from semikpca.tables._spellings import AS_TYPED, as_meant, is_doubtful
from semikpca.tables._table import CLASSES, ColumnRoles, Table, listed, refuse_roles

# A column with more different labels was taken by mistake: a text, a number, an identifier. Scores of all rows for as
# many classes would not fit the memory either.
MOST_CLASSES = 1_000
DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d\d))([T ].*)?")


def given_labels(
    table: Table, roles: ColumnRoles, *, allow_fewer: bool = False, allow_all: bool = False
) -> npt.NDArray[Any]:
    """Return the label of each row, or None where it has none.

    Blanks around a label do not count, and a cell of blanks is empty. Labels that differ in case or blanks only are one
    class, whose name is the commonest spelling, and words such as "n/a" and "?" are no label, unless
    ``roles.labels_as_typed``. In text files every label is text: "1" and "1.0" are two classes. In Parquet, Excel and
    JSON lines numbers are numbers, and 1 and 1.0 are the same. In .npy and .npz files -1 marks a row without a label,
    as in scikit-learn.

    Parameters
    ----------
    table : Table
    roles : ColumnRoles
    allow_fewer : bool, default=False
        Allow no label at all, labels of one class, and many classes with a label each, as when someone begins to label.
    allow_all : bool, default=False
        Allow that every row is labeled, as when labels are to be checked.

    Returns
    -------
    ndarray of object, shape (n_rows,)

    Raises
    ------
    TableError
        If there is nothing to learn from, or nothing to find out, if labels are text here and numbers there, or if they
        are no classes: many different dates or numbers with fractions, or a label of its own in most rows.
    """
    labels, _ = _checked_labels(table, roles, allow_fewer=allow_fewer, allow_all=allow_all)
    return np.array(labels, dtype=object)


def class_notes(table: Table, roles: ColumnRoles) -> list[str]:
    """Return what was assumed of labels that are classes, and what may be wrong with them, in words."""
    labels, warnings = _checked_labels(table, roles, allow_fewer=True)
    counts = Counter(label for label in labels if label is not None)
    if not roles.labels_as_typed:
        warnings += [
            f"{label!r} is taken as a class of {roles.label!r} ({counted(count, 'row')}). Empty these cells if they "
            "mean that there is no label."
            for label, count in counts.items()
            if is_doubtful(label)
        ]
        alike: dict[Any, Any] = {}
        for label in counts:
            other = alike.setdefault(_as_number(label), label)
            if other != label:
                warnings.append(f"{other!r} and {label!r} in {roles.label!r} are taken as two classes.")
        if label_kind(table, roles).is_number:  # where nobody could be asked, as on the page
            warnings.append(
                f"The {len(counts):,} different numbers in {roles.label!r} are taken as as many classes, without their "
                "order. semikpca label predicts numbers by their size."
            )
    if len(counts) > 10 and len(counts) == counts.total():
        warnings.append(f"No label in {roles.label!r} occurs twice ({len(counts):,} labels). Is it the right column?")
    return warnings


def _checked_labels(
    table: Table, roles: ColumnRoles, *, allow_fewer: bool, allow_all: bool = False
) -> tuple[list[Any], list[str]]:
    """Return the labels of one type, None where there is none, and what was changed in them, in words."""
    refuse_roles(table, ColumnRoles(roles.label))
    where = f"the column {roles.label!r} of {table.file_of(roles.label)}"
    labels = label_cells(table, roles)
    labels, changes = (labels, []) if roles.labels_as_typed else as_meant(labels, roles.label)
    labels = _one_type(labels, table, where)
    counts = Counter(label for label in labels if label is not None)
    n_given = counts.total()
    changed = "".join(f" {change}" for change in changes)
    if not counts and not allow_fewer:
        raise TableError(
            f"There is no label in {where}. Fill in a few rows of each class, and leave the others empty.{changed}"
        )
    if len(counts) == 1 and not allow_fewer:
        raise TableError(
            f"All labels in {where} are {listed(counts)}. Fill in at least one row of another class.{changed}"
        )
    if not roles.labels_as_typed and roles.labels_as != CLASSES:
        _refuse_values(counts, where, allow_lone=allow_fewer)
    if len(counts) > MOST_CLASSES:
        raise TableError(
            f"There are {len(counts):,} different labels in {where}, and {n_given:,} rows have one; at most "
            f"{MOST_CLASSES:,} classes are learned. Is it another column that has the classes?"
        )
    if n_given == len(labels) and not (allow_all or allow_fewer):
        doubtful = " and ".join(as_text(label) for label in counts if is_doubtful(label))
        hint = f" Here {doubtful} is a class: empty these cells if it marks rows without a label." if doubtful else ""
        raise TableError(
            f"Every row has a label in {where}, so that none is left to find. Empty the cells of the rows to be "
            f"labeled.{hint}"
        )
    return labels, changes


def _refuse_values(counts: Counter[Any], where: str, *, allow_lone: bool) -> None:
    """Refuse dates, amounts and names of rows: with a class for nearly each of them there is nothing to learn."""
    if len(counts) <= MANY_CLASSES:
        return
    n_lone, n_given = sum(count == 1 for count in counts.values()), counts.total()
    remedy = ""
    if all(DATE.fullmatch(as_text(label)) for label in counts):
        why = f"they are dates, and only up to {MANY_CLASSES} dates are taken as classes"
    elif has_fractions(counts):
        why = f"they are numbers with fractions, and only up to {MANY_CLASSES} of these are taken as classes"
        remedy = " Numbers themselves are predicted by semikpca.SemiKPCARegressorCV, and by semikpca label."
    elif 2 * n_lone > n_given and not allow_lone:
        why = (
            f"{n_lone:,} of {n_given:,} labels are the only one of their class, and with more than {MANY_CLASSES} "
            "classes at most half of them may be"
        )
    else:
        return
    raise TableError(
        f"There are {len(counts):,} different labels in {where}: {why}. Put them into a few groups, or name another "
        f"column with --label-column. If each of them is a class, add {AS_TYPED}.{remedy}"
    )


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


def _as_number(label: Any) -> Any:
    """Return the number that a label says, in text too, or the label where it says none."""
    try:
        return label if isinstance(label, bool) else float(label)
    except ValueError:
        return label
