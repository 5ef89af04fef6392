"""Labels that are classes and labels that are numbers: what a table on the page does with either.

Which of the two a column has is decided once, when the table is opened (``_opening.open_table``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from semikpca.app._answers import answer_columns
from semikpca.app._autosave import Autosave
from semikpca.app._number_session import NumberAutosave, NumberSession
from semikpca.app._session import LabelingSession
from semikpca.app._state import objects
from semikpca.tables import (
    CLASSES,
    NUMBERS,
    ColumnRoles,
    Table,
    given_labels,
    given_numbers,
    label_columns,
    label_kind,
    number_cells,
    number_columns,
)
from semikpca.workflow import FilledTable, LabeledTable, LabelingOptions, NumberedTable

if TYPE_CHECKING:
    from semikpca.app._opening import OpenTable

# Decisions to four digits are what a page can show, and a label then takes a third less time.
_TOL = 1e-4


class LabelsOnPage(Protocol):
    """What differs between classes and numbers in an open table."""

    name: str
    autosave: type[Autosave]

    def labels(self, table: Table, roles: ColumnRoles) -> npt.NDArray[Any]:
        """Return the labels that stand in a table, None where there is none."""

    def session(self, X: Any, given: Any, options: LabelingOptions, views: Sequence[Any], **more: Any) -> Any:
        """Return a session that begins with these labels."""

    def cells(self, table: Table, roles: ColumnRoles, labels: Iterable[Any]) -> list[Any]:
        """Return labels as cells of their column."""

    def learned(self, opened: "OpenTable", table: Table) -> FilledTable | None:
        """Return a table with what the model of a session says, or None as long as there is none."""

    def answers(self, opened: "OpenTable", table: Table, error_rate: float) -> dict[str, Any]:
        """Return the columns that a download has more than the table."""


class ClassesOnPage:
    """Labels that are classes."""

    name = CLASSES
    autosave: type[Autosave] = Autosave

    def labels(self, table: Table, roles: ColumnRoles) -> npt.NDArray[Any]:
        """Return the classes that stand in a table, None where there is none."""
        return given_labels(table, roles, allow_fewer=True)

    def session(self, X: Any, given: Any, options: LabelingOptions, views: Sequence[Any], **more: Any) -> Any:
        """Return a session of classes."""
        return LabelingSession(X, given, model=options.classifier(views).set_params(tol=_TOL), **more)

    def cells(self, table: Table, roles: ColumnRoles, labels: Iterable[Any]) -> list[Any]:
        """Return classes as they are."""
        return list(labels)

    def learned(self, opened: "OpenTable", table: Table) -> LabeledTable | None:
        """Return the table with classes for all rows."""
        model, session = opened.session.model(), opened.session
        if model is None:
            return None
        return LabeledTable(table, opened.roles, opened.options, opened.vectorizer, session.X, model)

    def answers(self, opened: "OpenTable", table: Table, error_rate: float) -> dict[str, Any]:
        """Return predictions, confidence and what was accepted; the last alone as long as there is no model."""
        session, labeled = opened.session, self.learned(opened, table)
        if labeled is not None:
            return answer_columns(labeled, session.accepted_labels, session.accepted(error_rate))
        nothing, no = np.full(len(table), None, dtype=object), np.zeros(len(table), dtype=bool)
        is_given, accepted = [label is not None for label in session.given], session.accepted_labels
        nothing[list(accepted)] = list(accepted.values())
        return label_columns(nothing, np.full(len(table), np.nan), is_given, no)


class NumbersOnPage:
    """Labels that are numbers."""

    name = NUMBERS
    autosave: type[Autosave] = NumberAutosave

    def labels(self, table: Table, roles: ColumnRoles) -> npt.NDArray[Any]:
        """Return the numbers that stand in a table, None where there is none."""
        values = given_numbers(table, roles, allow_fewer=True).tolist()
        return objects(None if value != value else value for value in values)

    def session(self, X: Any, given: Any, options: LabelingOptions, views: Sequence[Any], **more: Any) -> Any:
        """Return a session of numbers, which offers no classes."""
        more = {name: value for name, value in more.items() if name != "classes"}
        return NumberSession(X, given.tolist(), model=options.regressor(views).set_params(tol=_TOL), **more)

    def cells(self, table: Table, roles: ColumnRoles, labels: Iterable[Any]) -> list[Any]:
        """Return numbers as the table writes them."""
        return number_cells(table, roles, labels)

    def learned(self, opened: "OpenTable", table: Table) -> NumberedTable | None:
        """Return the table with numbers for all rows, by the errors that the page shows where they are found out."""
        session: Any = opened.session
        model, errors = session.model(), session.snapshot().errors
        if model is None:
            return None
        numbered = NumberedTable(table, opened.roles, opened.options, opened.vectorizer, session.X, model)
        if errors is None or errors.held_out is None:
            return numbered
        numbered = replace(numbered, drawn=errors.held_out.rows)
        vars(numbered)["held_out"] = errors.held_out  # as it would be found again, by as many fits
        return numbered

    def answers(self, opened: "OpenTable", table: Table, error_rate: float) -> dict[str, Any]:
        """Return predictions with their intervals, as ``semikpca label`` does."""
        opened.session.find_out()  # where nobody has waited for it
        numbered = self.learned(opened, table)
        if numbered is not None:
            return numbered.added_columns
        nothing, no = np.full(len(table), np.nan), np.zeros(len(table), dtype=bool)
        return number_columns(nothing, nothing, nothing, [label is not None for label in opened.session.given], no)


KINDS: dict[str, LabelsOnPage] = {CLASSES: ClassesOnPage(), NUMBERS: NumbersOnPage()}


def kind_of(table: Table, roles: ColumnRoles) -> tuple[LabelsOnPage, ColumnRoles, list[str]]:
    """Return what the labels of a table are, roles that say so of numbers, and why in words, if nobody has said it.

    Numbers stay numbers whatever is given later; classes stay what the table makes of them.
    """
    found = label_kind(table, roles)
    if not found.is_number:
        return KINDS[CLASSES], roles, []
    return KINDS[NUMBERS], replace(roles, labels_as=NUMBERS), [found.reason] if found.reason else []
