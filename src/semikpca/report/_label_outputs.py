"""The report on a labeled table, as one file."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from semikpca._files import versions, write_whole
from semikpca._typing import IntArray
from semikpca.labeling import AcceptedLabels
from semikpca.report._html import render_label_report, render_number_report
from semikpca.report._label_view import label_view
from semikpca.report._number_view import number_view
from semikpca.workflow import FilledTable, LabeledTable, NumberedTable, RowMap, row_map

Filled = TypeVar("Filled", bound=FilledTable)

MOST_POINTS = 5_000
N_SUGGESTIONS = 10
SHARE_RIGHT = 0.95  # of accepted labels, where nobody said
_VERSIONED = ("skrub", "pandas", "plotly")
_STEPS = ("Rows to label next", "Labels that look wrong", "Map of the rows", "Page")


def write_label_report(
    path: str | Path,
    labeled: LabeledTable,
    *,
    command: str | None = None,
    created: datetime | None = None,
    accepted: AcceptedLabels | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> None:
    """Write the report on a labeled table: one HTML file that fetches nothing, there whole or not at all.

    It holds the names and the first words of up to 5,000 rows. ``command`` is the command line that the page says it
    was made with; without ``created`` the page is the same, byte by byte, whenever it is made. ``accepted`` is what was
    accepted of the labels; without it the page says what could be at 5%. ``progress`` is called with the name of the
    step, the steps done and their number.
    """
    view = partial(_label_view, accepted=accepted, command=command, created=created)
    _write_report(path, labeled, view, render_label_report, progress)


def write_number_report(
    path: str | Path,
    numbered: NumberedTable,
    *,
    command: str | None = None,
    created: datetime | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> None:
    """Write the report on a table of numbers; the arguments are those of :func:`write_label_report`."""
    view = partial(number_view, versions=versions(_VERSIONED), command=command, created=created)
    _write_report(path, numbered, view, render_number_report, progress)


def _label_view(
    labeled: LabeledTable, plane: RowMap, suggestions: IntArray, accepted: AcceptedLabels | None, **made: Any
) -> dict[str, Any]:
    accepted = labeled.accepted(SHARE_RIGHT) if accepted is None else accepted
    return label_view(labeled, plane, suggestions, accepted, versions=versions(_VERSIONED), **made)


def _write_report(
    path: str | Path,
    labeled: Filled,
    view_of: Callable[[Filled, RowMap, IntArray], dict[str, Any]],
    render: Callable[[Mapping[str, Any], Mapping[str, str]], str],
    progress: Callable[[str, int, int], None] | None,
) -> None:
    """Find what both reports show, make a view of it, and write its page."""

    def say(step: int) -> None:
        if progress is not None:
            progress(_STEPS[min(step, len(_STEPS) - 1)], step, len(_STEPS))

    try:  # a missing package is found before the work
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError("The map of the report needs plotly: pip install 'semikpca[label]'") from error
    say(0)
    suggestions = labeled.suggestions(N_SUGGESTIONS)
    say(1)
    wanted = np.concatenate([np.flatnonzero(labeled.is_given), np.flatnonzero(labeled.looks_wrong), suggestions])
    say(2)
    plane = row_map(labeled.X, max_rows=MOST_POINTS, random_state=labeled.options.random_state, always=wanted)
    say(3)
    view = view_of(labeled, plane, suggestions)
    draw = files("semikpca.report").joinpath("templates", "label.js").read_text(encoding="utf-8")
    page = render(view, {"plotly": str(get_plotlyjs()), "map": draw})
    # A cell may hold half of a surrogate pair, which no encoding has.
    write_whole(Path(path), page.encode("utf-8", "replace"))
    say(4)
