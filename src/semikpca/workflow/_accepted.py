"""Which labels can be accepted unseen, in words, and which labels the promise rests on."""

import numpy as np

from semikpca._typing import IntArray
from semikpca._words import counted
from semikpca.exceptions import TableError
from semikpca.labeling import AcceptedLabels, labels_needed
from semikpca.tables import Table, as_text, is_missing

_YES = frozenset({"1", "true", "yes", "y", "x", "random", "drawn"})
_NO = frozenset({"0", "false", "no", "n"})


def percent(share: float) -> str:
    """Return a share in percent, with no more digits than it has.

    Examples
    --------
    >>> percent(0.05), percent(0.025), percent(1.0)
    ('5%', '2.5%', '100%')
    """
    return f"{100 * share:.3g}%"


def accepted_in_words(accepted: AcceptedLabels, n_accepted: int | None = None) -> str:
    """Return how many labels can be accepted and what is promised, or what it would take; without a full stop.

    ``n_accepted`` is for tables in which some of them are not accepted for another reason.
    """
    n_accepted = len(accepted.rows) if n_accepted is None else n_accepted
    rate, sure = percent(accepted.error_rate), percent(accepted.confidence)
    if n_accepted:
        return (
            f"{n_accepted:,} of {counted(accepted.n_unlabeled, 'row')} can be accepted; at most {rate} of them are "
            f"wrong (with {sure} confidence)"
        )
    doubt = 1 - accepted.confidence
    least = labels_needed(accepted.error_rate, doubt)
    found = f"No row can be accepted yet, if at most {rate} are to be wrong (with {sure} confidence)"
    if accepted.n_labels < least:
        possible = ""
        if accepted.n_labels:
            possible = f", which allow no rate below {percent(1 - doubt ** (1 / accepted.n_labels))}"
        found += (
            f": that takes {counted(least, 'label')} drawn at random at least, all of them found again, and there "
            f"{'is' if accepted.n_labels == 1 else 'are'} {accepted.n_labels:,}{possible}"
        )
    else:
        found += f": too many of the {accepted.n_labels:,} labels were not found again"
    needed = accepted.n_labels_needed
    return found if needed is None else f"{found}. About {needed:,} more, drawn at random, would be needed"


def drawn_rows(table: Table, column: str) -> IntArray:
    """Return the rows that a column says were drawn at random: yes, true, 1 or x; no, false, 0 or nothing otherwise."""
    cells = ["" if is_missing(cell) else as_text(cell).strip().casefold() for cell in table.frame[column].tolist()]
    for place, cell in enumerate(cells, start=1):
        if cell and cell not in _YES | _NO:
            raise TableError(
                f"Row {place} has {cell!r} in the column {column!r}, which says whether its label was drawn at random. "
                "Write yes or no, or leave it empty for no."
            )
    return np.flatnonzero([cell in _YES for cell in cells])
