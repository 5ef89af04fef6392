"""The report on a table of numbers as plain data: everything that the page shows, before any of it is drawn.

Functions stand in the order of the page; what it shares with the report on classes is in ``_label_view``.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from semikpca._typing import IntArray
from semikpca._words import counted
from semikpca.report._label_blend import blend_view, certificate_view
from semikpca.report._label_view import MOST_SUSPICIOUS, file_name, made_view, source_view
from semikpca.report._number_figures import left_out_view, number_map_view
from semikpca.workflow import (
    NumberedTable,
    RowMap,
    ValueEstimate,
    percent,
    row_names,
    row_texts,
    value_audit_frame,
    value_ranges,
)

_LONGEST_TEXT = 160
_FEW = 20  # numbers that were left out say little below
_OF_UNREACHABLE = "They have the mean of the given numbers; give one of them a number."


def number_view(
    numbered: NumberedTable,
    row_map: RowMap,
    suggestions: Sequence[int] | IntArray = (),
    *,
    versions: Mapping[str, str],
    command: str | None = None,
    created: datetime | None = None,
) -> dict[str, Any]:
    """Return what the report on a table of numbers shows: strings, numbers, lists and dicts only.

    The arguments are those of :func:`label_view`.
    """
    n_given = int(numbered.is_given.sum())
    suspicious = _suspicious(numbered)
    return {
        "file": file_name(numbered),
        "title": f"Numbers for {counted(len(numbered.X) - n_given, 'row')}, learned from {n_given:,}",
        "lead": _lead(numbered),
        "cards": _cards(numbered, len(suspicious)),
        "source": source_view(numbered, _OF_UNREACHABLE),
        "errors": _errors(numbered),
        "left_out": left_out_view(numbered),
        "certificate": certificate_view(numbered),
        "map": number_map_view(numbered, row_map),
        "ranges": _ranges(numbered),
        "suspicious": {"rows": suspicious[:MOST_SUSPICIOUS], "n_all": len(suspicious)},
        "suggestions": _suggestions(numbered, suggestions),
        "blend": blend_view(numbered),
        **made_view(numbered, versions, command, created),
    }


def _lead(numbered: NumberedTable) -> str:
    estimate = numbered.estimate
    if not estimate.is_known:
        return "How far they are off cannot be told yet: it takes two given numbers, drawn at random, at least."
    lead = (
        f"Each of {counted(estimate.counted, 'given number')} was predicted once without it: half of the predictions "
        f"are off by less than {numbered.amount(estimate.median_absolute)}."
    )
    if not np.isfinite(numbered.reach):
        return lead
    return (
        f"{lead} If the rows with a number are like the others, {percent(numbered.coverage)} of the predicted numbers "
        f"are off by less than about {numbered.amount(numbered.reach)}."
    )


def _cards(numbered: NumberedTable, n_suspicious: int) -> list[dict[str, Any]]:
    n_rows, n_given = len(numbered.X), int(numbered.is_given.sum())
    n_new = n_rows - n_given

    def card(figure: str, of: str, what: str, share: float | None, aside: str) -> dict[str, Any]:
        return {"figure": figure, "of": of, "what": what, "share": share, "aside": aside}

    def off(known: ValueEstimate, what: str) -> dict[str, Any]:
        if not known.is_known:
            return card("–", "", what, None, "cannot be told")
        explained = known.share_of_variance
        aside = f"root mean square of {known.counted} errors"
        if np.isnan(explained):
            return card(numbered.amount(known.root_mean_square), "", what, None, aside)
        bar = 100 * max(0.0, explained)
        return card(numbered.amount(known.root_mean_square), "", what, bar, f"{aside}; {explained:.0%} of the variance")

    wrong = "given number looks wrong" if n_suspicious == 1 else "given numbers look wrong"
    return [
        card(f"{n_new:,}", f"of {n_rows:,}", "rows got a number", 100 * n_new / n_rows, f"{n_given:,} had one"),
        off(numbered.estimate, "off, where numbers are left out"),
        off(numbered.baseline, "off by LS-SVM on the labels alone"),
        card(f"{n_suspicious:,}", f"of {n_given:,}", wrong, None, "to the eyes of the other numbers"),
    ]


def _errors(numbered: NumberedTable) -> dict[str, Any]:
    both = {"With the unlabeled rows": numbered.estimate, "LS-SVM on the labels alone": numbered.baseline}
    rows = [
        {
            "name": name,
            "root_mean_square": numbered.amount(known.root_mean_square),
            "median": numbered.amount(known.median_absolute),
            "explained": None if np.isnan(known.share_of_variance) else 100 * known.share_of_variance,
        }
        for name, known in both.items()
        if known.is_known
    ]
    return {"rows": rows, "sentences": _sentences(numbered, numbered.estimate, numbered.baseline)}


def _sentences(numbered: NumberedTable, estimate: ValueEstimate, baseline: ValueEstimate) -> list[str]:
    if not estimate.is_known:
        return ["This cannot be told. Give at least two rows a number."]
    sentences = []
    if np.isfinite(numbered.reach):
        sentences.append(
            f"{numbered.n_inside} of {estimate.counted} left-out numbers are in the interval that the errors of the "
            f"others make, which aims at {percent(numbered.coverage)}."
        )
    else:
        sentences.append(
            f"There are too few numbers for intervals with {percent(numbered.coverage)} of them: low and high are "
            "empty."
        )
    if estimate.counted < _FEW:
        sentences.append(
            f"{counted(estimate.counted, 'number is', 'numbers are')} few: take the figures as a hint, and give more "
            "rows a number."
        )
    if baseline.is_known:
        sentences.append(_comparison(estimate, baseline))
    return sentences


def _comparison(estimate: ValueEstimate, baseline: ValueEstimate) -> str:
    change = 1 - estimate.root_mean_square / baseline.root_mean_square if baseline.root_mean_square > 0 else 0.0
    if round(abs(change), 2) == 0:
        return "With and without the unlabeled rows the errors are the same."
    if change > 0:
        return f"The unlabeled rows and the blend of kernels lower the error by {change:.0%}, at these numbers."
    return (
        f"LS-SVM on the labels alone has an error that is lower by {1 - 1 / (1 - change):.0%}, at these numbers: the "
        "unlabeled rows do not help here."
    )


def _ranges(numbered: NumberedTable) -> list[dict[str, Any]]:
    lines = value_ranges(numbered.given[numbered.is_given], numbered.predicted)
    n_given = int(numbered.is_given.sum())
    return [
        {
            "low": line.low,
            "high": line.high,
            "given": line.n_given,
            "given_share": 100 * line.n_given / n_given,
            "predicted": line.n_predicted,
            "predicted_share": 100 * line.n_predicted / len(numbered.predicted),
        }
        for line in lines
    ]


def _suspicious(numbered: NumberedTable) -> list[dict[str, Any]]:
    frame = value_audit_frame(numbered)
    frame = frame[frame["looks_wrong"]]
    rows = frame["row"].tolist()
    names, texts = row_names(numbered, rows), row_texts(numbered, rows, _LONGEST_TEXT)
    found = []
    for name, text, entry in zip(names, texts, frame.itertuples(index=False), strict=True):
        missed = numbered.amount(abs(entry.given - entry.suggested))
        found.append(
            {
                "row": int(entry.row),
                "name": name,
                "text": text,
                "given": f"{entry.given:,.12g}",
                "suggested": numbered.amount(entry.suggested),
                "suspicion": 100 * float(entry.suspicion),
                "why": f"Off by {missed}, {entry.distance:.1f} times as far as is usual.",
            }
        )
    return found


def _suggestions(numbered: NumberedTable, rows: Sequence[int] | IntArray) -> list[dict[str, Any]]:
    at = np.asarray(rows, dtype=np.intp)
    names, texts = row_names(numbered, at), row_texts(numbered, at, _LONGEST_TEXT)
    likely, between = numbered.in_brief(at).values()
    return [
        {"row": int(row), "name": name, "text": text, "likely": value, "between": ends}
        for row, name, text, value, ends in zip(at, names, texts, likely, between, strict=True)
    ]
