"""Given labels held against each other: all at once, or in parts where every row has one and there are many."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from semikpca._typing import BoolArray, IntArray
from semikpca.labeling import AccuracyEstimate, listed_as_wrong
from semikpca.tables import ColumnRoles, Table
from semikpca.workflow._label import (
    PreparedTable,
    Progress,
    fit_labels,
    fit_table,
    prepare_table,
    told,
    views_in_blend,
)
from semikpca.workflow._labeled import LabeledTable, audit_frame
from semikpca.workflow._options import LabelingOptions
from semikpca.workflow._views import judged_views

# To hold n labels against each other takes n³ steps where every row has one.
MOST_ROWS_ALL_LABELED = 3_000
ROWS_OF_A_PART = 1_000
STEP = "Labels, part by part"


@dataclass(frozen=True)
class AuditedTable:
    """A table, and what its labels say of each other.

    Attributes
    ----------
    table : Table
    roles : ColumnRoles
    found : DataFrame
        As :func:`audit_frame` returns it.
    estimate : AccuracyEstimate
        How often labels are found again when they are left out.
    warnings : tuple of str
        What a user should know before changing a label.
    """

    table: Table
    roles: ColumnRoles
    found: pd.DataFrame
    estimate: AccuracyEstimate
    warnings: tuple[str, ...]


def audit_table(
    table: Table, roles: ColumnRoles, options: LabelingOptions | None = None, *, progress: Progress | None = None
) -> AuditedTable:
    """Return the given labels of a table, most suspicious first.

    Each label is held against all others. Where every row has one and there are more than 3,000, they are held against
    each other in parts of about 1,000 rows, in which the labels have the same shares; a note says so. Labels too rare
    to be in every part are in each of them, as long as they are few in all.
    """
    options = LabelingOptions() if options is None else options
    prepared = prepare_table(table, roles, allow_all=True, progress=progress)
    if len(prepared.X) <= MOST_ROWS_ALL_LABELED or any(label is None for label in prepared.labels):
        labeled = fit_table(table, options, prepared, progress)
        return AuditedTable(table, prepared.roles, audit_frame(labeled), labeled.estimate, labeled.warnings)
    return _audited_in_parts(table, prepared.roles, options, prepared, progress)


def _audited_in_parts(
    table: Table, roles: ColumnRoles, options: LabelingOptions, prepared: PreparedTable, progress: Progress | None
) -> AuditedTable:
    parts = list(parts_of(prepared.labels, options.random_state))
    size = max(len(rows) for rows, _ in parts)
    notes = [
        *prepared.notes,
        f"All {len(prepared.X):,} rows have a label. They were held against each other in {len(parts)} parts of up to "
        f"{size:,} rows drawn at random, with the same shares of labels, because the time for all at once grows with "
        f"their cube; up to {MOST_ROWS_ALL_LABELED:,} are taken at once.",
    ]
    found = []
    with told(notes):
        views = judged_views(prepared.vectorizer, prepared.X)
        for done, (rows, is_judged) in enumerate(parts):
            if progress is not None:
                progress(STEP, done, len(parts))
            model = options.classifier(views)
            fit_labels(model, prepared.X[rows], prepared.labels[rows])
            if not done and not options.kernel_names:
                views = views_in_blend(views, model)  # the first part tells which matter
            labeled = LabeledTable(table, roles, options, prepared.vectorizer, prepared.X[rows], model)
            frame = audit_frame(labeled)
            frame = frame[is_judged[frame["row"]]]
            near = [tuple(int(rows[row]) for row in nearest) for nearest in frame["nearest"]]
            found.append(frame.assign(row=rows[frame["row"]], nearest=near))
    # As in an audit at once: the most suspicious first, and last those of which nothing is known.
    together = pd.concat(found).sort_values(["suspicion", "row"], ascending=[False, True], ignore_index=True)
    # One list for all parts: alone in its part, a wrong label may not be sure enough to begin one.
    contradicted = (together["suggested"] != together["given"]).to_numpy()
    together["looks_wrong"] = listed_as_wrong(together["suspicion"].to_numpy(), contradicted)
    judged = together[together["suspicion"].notna()]
    estimate = AccuracyEstimate.of(int((judged["suggested"] == judged["given"]).sum()), len(judged))
    return AuditedTable(table, roles, together, estimate, tuple(dict.fromkeys(notes)))


def parts_of(labels: npt.NDArray[Any], random_state: int) -> Iterator[tuple[IntArray, BoolArray]]:
    """Give the rows of each part, ascending, and which of its labels are judged there: every label in one part.

    Examples
    --------
    >>> labels = np.array(["a", "b"] * 2_500)
    >>> [len(rows) for rows, _ in parts_of(labels, 0)]
    [1000, 1000, 1000, 1000, 1000]
    """
    codes, counts = np.unique(labels.astype(str), return_inverse=True, return_counts=True)[1:]
    n_parts = int(np.ceil(len(labels) / ROWS_OF_A_PART))
    # With two labels of a class in a part, one can speak for the other.
    is_rare = counts < 2 * n_parts
    shares_rare = counts[is_rare].sum() <= ROWS_OF_A_PART // 4
    order = np.random.RandomState(random_state).permutation(len(labels))
    order = order[np.argsort(codes[order], kind="stable")]
    part = np.empty(len(labels), dtype=int)
    part[order] = np.arange(len(labels)) % n_parts
    shared = np.zeros(len(labels), dtype=bool)
    if shares_rare:
        shared = is_rare[codes]
    else:  # too many to be in every part: each of these classes is in one
        part[is_rare[codes]] = codes[is_rare[codes]] % n_parts
    for place in range(n_parts):
        rows = np.flatnonzero((part == place) | shared)
        yield rows, part[rows] == place
