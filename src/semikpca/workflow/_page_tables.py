"""A table with the labels that its labeling page keeps."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from semikpca._words import counted
from semikpca.exceptions import TableError
from semikpca.tables import NUMBERS, ColumnRoles, Table, given_labels, given_numbers, label_kind, number_cells
from semikpca.workflow._page_labels import PageLabels, PageLabelsError, SavedLabels, table_fingerprint


def with_page_labels(table: Table, roles: ColumnRoles, *, take: bool) -> tuple[Table, list[str]]:
    """Return a table with the labels that the page keeps for it where that is asked for, and what to say of them.

    Labels of the page go before those of the table, which keeps its own where the page has none. Labels that were
    accepted unseen are no evidence and stay where they are. Without ``take`` the table stays as it is, and the notes
    say that there are such labels.
    """
    if table.path is None:
        return table, _nothing("a table that is no file", take)
    place: Any = PageLabels.beside(table.path, table_fingerprint(table, roles.label))
    try:
        saved: SavedLabels | None = place.load(len(table))
    except PageLabelsError as error:
        if take:
            raise TableError(f"{error} Without --with-page-labels the table is taken as it is.") from error
        return table, [f"{error} They are not used."]
    if saved is None:
        return table, _nothing(table.name, take)
    has_column = roles.label in table.features.columns
    before = np.full(len(table), None, dtype=object)
    if has_column:
        before = _labels_of(table, roles)
    is_number = label_kind(table, roles).is_number if has_column else roles.labels_as == NUMBERS
    try:
        said = _as_numbers(saved) if is_number else saved.labels
    except TableError as error:
        if take:
            raise
        return table, [f"{error} They are not used."]
    changed = {row: label for row, label in said.items() if before[row] != label}
    when = saved.saved_at.strftime("%d %B %Y, %H:%M").lstrip("0")
    kept = f"{counted(len(saved.labels), 'label')} of the labeling page, saved on {when}, {_are(len(saved.labels))}"
    if not take:
        if not changed:
            return table, []
        return table, [
            f"{kept} kept for {table.name}, {len(changed):,} of them not in it. Add --with-page-labels to take them."
        ]
    notes = [f"{kept} taken."]
    rows = (
        (sum(before[row] is not None for row in changed), "another label in {}; that of the page is taken"),
        (
            sum(label is not None and row not in saved.labels for row, label in enumerate(before.tolist())),
            "a label in {} and none on the page, and keep it",
        ),
    )
    notes += [
        f"{counted(number, 'row has', 'rows have')} {what.format(table.name)}." for number, what in rows if number
    ]
    if saved.accepted:
        unseen = counted(len(saved.accepted), "label was", "labels were")
        notes.append(f"{unseen} accepted unseen on the page; nothing is learned from what a model has said itself.")
    if is_number:
        changed = dict(zip(changed, number_cells(table, roles, changed.values()), strict=True))
    return _relabeled(table, roles.label, changed, has_column), notes


def _labels_of(table: Table, roles: ColumnRoles) -> npt.NDArray[Any]:
    """Return the labels of a table as they are compared with those of the page, None where there is none."""
    if not label_kind(table, roles).is_number:
        return given_labels(table, roles, allow_fewer=True, allow_all=True)
    values = given_numbers(table, roles, allow_fewer=True, allow_all=True)
    return np.array([None if np.isnan(value) else value for value in values.tolist()], dtype=object)


def _as_numbers(saved: SavedLabels) -> dict[int, Any]:
    try:
        return {row: float(label) for row, label in saved.labels.items()}
    except ValueError as error:
        raise TableError(
            f"The labels of the labeling page are classes, and those of the table are numbers ({error}). Take them as "
            "classes with --classes, or leave out --with-page-labels."
        ) from error


def _nothing(name: str, take: bool) -> list[str]:
    if take:
        raise TableError(f"There are no labels of the labeling page for {name}. Leave out --with-page-labels.")
    return []


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _relabeled(table: Table, column: str, labels: dict[int, Any], has_column: bool) -> Table:
    is_text = table.format in ("csv", "tsv")
    cells: list[Any] = table.frame[column].tolist() if has_column else ["" if is_text else None] * len(table)
    learned: list[Any] = table.features[column].tolist() if has_column else [None] * len(table)
    for row, label in labels.items():
        cells[row] = learned[row] = label
    return replace(
        table,
        frame=table.frame.assign(**{column: pd.Series(cells, index=table.frame.index, dtype=object)}),
        features=table.features.assign(**{column: pd.Series(learned, index=table.features.index, dtype=object)}),
    )
