"""Given numbers held against each other: all at once, or in parts where every row has one and there are many."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from semikpca.labeling import listed_as_wrong
from semikpca.tables import NUMBERS, ColumnRoles, Table
from semikpca.workflow._audit import MOST_ROWS_ALL_LABELED, STEP, parts_of
from semikpca.workflow._label import (
    PreparedTable,
    Progress,
    fit_labels,
    fit_numbers,
    prepare_table,
    told,
    views_in_blend,
)
from semikpca.workflow._numbered import NumberedTable, value_audit_frame
from semikpca.workflow._options import LabelingOptions
from semikpca.workflow._value_estimate import ValueEstimate, amount, decimals_for
from semikpca.workflow._views import views_of


@dataclass(frozen=True)
class AuditedNumbers:
    """A table, and what its numbers say of each other.

    Attributes
    ----------
    table : Table
    roles : ColumnRoles
    found : DataFrame
        As :func:`value_audit_frame` returns it.
    estimate : ValueEstimate
        How far numbers are off when they are left out.
    warnings : tuple of str
        What a user should know before changing a number.
    """

    table: Table
    roles: ColumnRoles
    found: pd.DataFrame
    estimate: ValueEstimate
    warnings: tuple[str, ...]

    @property
    def decimals(self) -> int:
        """How many decimals of predicted numbers are worth showing."""
        return decimals_for(self.estimate, self.found["given"].to_numpy())

    def amount(self, value: float) -> str:
        """Return a number in the unit of the column, with the digits that count."""
        return amount(float(value), self.decimals)


def audit_numbers(
    table: Table, roles: ColumnRoles, options: LabelingOptions | None = None, *, progress: Progress | None = None
) -> AuditedNumbers:
    """Return the given numbers of a table, most suspicious first.

    Each number is held against all others. Where every row has one and there are more than 3,000, they are held against
    each other in parts of about 1,000 rows drawn at random; a note says so.
    """
    options = LabelingOptions() if options is None else options
    prepared = prepare_table(table, replace(roles, labels_as=NUMBERS), allow_all=True, progress=progress)
    if len(prepared.X) <= MOST_ROWS_ALL_LABELED or not prepared.is_given.all():
        numbered = fit_numbers(table, options, prepared, progress)
        return _audited(table, prepared.roles, value_audit_frame(numbered), numbered.warnings)
    return _audited_in_parts(table, options, prepared, progress)


def _audited(table: Table, roles: ColumnRoles, found: pd.DataFrame, notes: tuple[str, ...]) -> AuditedNumbers:
    estimate = ValueEstimate.of(found["given"].to_numpy(), found["suggested"].to_numpy())
    return AuditedNumbers(table, roles, found, estimate, notes)


def _audited_in_parts(
    table: Table, options: LabelingOptions, prepared: PreparedTable, progress: Progress | None
) -> AuditedNumbers:
    parts = [rows for rows, _ in parts_of(np.zeros(len(prepared.X)), options.random_state)]
    size = max(map(len, parts))
    notes = [
        *prepared.notes,
        f"All {len(prepared.X):,} rows have a number. They were held against each other in {len(parts)} parts of up to "
        f"{size:,} rows drawn at random, because the time for all at once grows with their cube; up to "
        f"{MOST_ROWS_ALL_LABELED:,} are taken at once.",
    ]
    found = []
    with told(notes):
        views = views_of(prepared.vectorizer)
        for done, rows in enumerate(parts):
            if progress is not None:
                progress(STEP, done, len(parts))
            model = prepared.model(options, views)
            fit_labels(model, prepared.X[rows], prepared.labels[rows])
            if not done and not options.kernel_names:
                views = views_in_blend(views, model)  # the first part tells which matter
            part = NumberedTable(table, prepared.roles, options, prepared.vectorizer, prepared.X[rows], model)
            frame = value_audit_frame(part)
            found.append(frame.assign(row=rows[frame["row"]]))
    together = pd.concat(found).sort_values(["suspicion", "row"], ascending=[False, True], ignore_index=True)
    # One list for all parts: alone in its part, a wrong number may not be sure enough to begin one.
    suspicion = together["suspicion"].to_numpy()
    together["looks_wrong"] = listed_as_wrong(suspicion, ~np.isnan(suspicion))
    return _audited(table, prepared.roles, together, tuple(dict.fromkeys(notes)))
