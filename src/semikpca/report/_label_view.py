"""The report on a labeled table as plain data: everything that the page shows, before any of it is drawn.

Functions stand in the order of the page: headline, source, accuracy, rows to look at, settings.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from semikpca._typing import IntArray
from semikpca._words import counted
from semikpca.labeling import AcceptedLabels
from semikpca.report._label_acceptance import acceptance_view
from semikpca.report._label_blend import blend_view, certificate_view
from semikpca.report._label_map import class_order, map_view
from semikpca.tables import NUMBERS, feature_counts, feature_kinds
from semikpca.workflow import (
    AccuracyEstimate,
    FilledTable,
    LabeledTable,
    RowMap,
    audit_frame,
    row_names,
    row_texts,
    shortened,
)

MOST_CLASSES = 20  # in the table of classes; the rest is one line
MOST_SUSPICIOUS = 50
_LONGEST_TEXT = 160
_MOST_LISTED = 12  # names in one line of text
OF_UNREACHABLE = "They have the commonest label, and its share as confidence; label one of them."
_WIDE = 0.2  # an interval of more than 20 points says little


def label_view(
    labeled: LabeledTable,
    row_map: RowMap,
    suggestions: Sequence[int] | IntArray = (),
    accepted: AcceptedLabels | None = None,
    *,
    versions: Mapping[str, str],
    command: str | None = None,
    created: datetime | None = None,
) -> dict[str, Any]:
    """Return what the report on a labeled table shows: strings, numbers, lists and dicts only.

    ``row_map`` has the rows that are on the map, ``suggestions`` those to label next, best first, ``accepted`` the
    labels that can be accepted unseen, and ``versions`` what the labels were made with. The page names the ``command``
    that made it, and without ``created`` it is the same whenever it is made.
    """
    order = class_order(labeled)
    n_given = int(labeled.is_given.sum())
    suspicious = _suspicious(labeled)
    return {
        "file": file_name(labeled),
        "title": f"Labels for {counted(len(labeled.X) - n_given, 'row')}, learned from {n_given:,}",
        "lead": _lead(labeled),
        "cards": _cards(labeled, len(suspicious)),
        "source": source_view(labeled),
        "accuracy": _accuracy(labeled),
        "acceptance": None if accepted is None else acceptance_view(labeled, accepted),
        "certificate": certificate_view(labeled),
        "map": map_view(labeled, row_map, order),
        "classes": _classes(labeled, order),
        "n_classes": len(order),
        "suspicious": {"rows": suspicious[:MOST_SUSPICIOUS], "n_all": len(suspicious)},
        "suggestions": _suggestions(labeled, suggestions),
        "blend": blend_view(labeled),
        **made_view(labeled, versions, command, created),
    }


def file_name(labeled: FilledTable) -> str:
    """Return what the table is called on the page."""
    return "the table" if labeled.table.path is None else labeled.table.path.name


def made_view(
    labeled: FilledTable, versions: Mapping[str, str], command: str | None, created: datetime | None
) -> dict[str, Any]:
    """Return how the labels were made: settings, versions, the command, and when."""
    return {
        "settings": settings_view(labeled),
        "versions": [{"name": name, "version": version} for name, version in sorted(versions.items())],
        "command": command,
        "created": None if created is None else created.isoformat(sep=" ", timespec="minutes"),
    }


def _lead(labeled: LabeledTable) -> str:
    estimate = labeled.estimate
    if not estimate.is_known:
        return f"How good they are cannot be told yet. {_why_unknown(labeled)}"
    return (
        f"Each left out in turn, {estimate.right} of {counted(estimate.counted, 'given label')} "
        f"{'was' if estimate.right == 1 else 'were'} found again ({estimate.share:.0%}). If the labeled rows are like "
        f"the others, between {estimate.low:.0%} and {estimate.high:.0%} of the predicted labels are right (95% "
        "interval)."
    )


def _cards(labeled: LabeledTable, n_suspicious: int) -> list[dict[str, Any]]:
    n_rows, n_given = len(labeled.X), int(labeled.is_given.sum())
    n_new = n_rows - n_given

    def card(figure: str, of: str, what: str, share: float | None, aside: str) -> dict[str, Any]:
        return {"figure": figure, "of": of, "what": what, "share": share, "aside": aside}

    def estimated(known: AccuracyEstimate, what: str) -> dict[str, Any]:
        if not known.is_known:
            return card("–", "", what, None, "cannot be told")
        aside = f"{known.right} of {known.counted}; 95% interval {known.low:.0%} to {known.high:.0%}"
        return card(f"{known.share:.0%}", "", what, 100 * known.share, aside)

    wrong = "given label looks wrong" if n_suspicious == 1 else "given labels look wrong"
    return [
        card(f"{n_new:,}", f"of {n_rows:,}", "rows got a label", 100 * n_new / n_rows, f"{n_given:,} had one"),
        estimated(labeled.estimate, "of the left-out labels found again"),
        estimated(labeled.baseline, "found again by LS-SVM on the labels alone"),
        card(f"{n_suspicious:,}", f"of {n_given:,}", wrong, None, "to the eyes of the other labels"),
    ]


def source_view(labeled: FilledTable, of_unreachable: str = OF_UNREACHABLE) -> dict[str, Any]:
    """Return what was learned from: columns, what they became, and warnings."""
    roles = labeled.roles
    counts = feature_counts(labeled.vectorizer)
    as_one = {"text": list(labeled.vectorizer.joined_)}
    kinds = [
        {
            "kind": kind,
            "columns": shortened_list(names),
            "n_features": sum(counts[name] for name in [*names, *as_one.get(kind, ())]),
        }
        for kind, names in feature_kinds(labeled.vectorizer).items()
        if names
    ]
    unused = [
        {"what": what, "columns": shortened_list(names)}
        for what, names in (("labels", [roles.label]), ("identifier", [roles.id]), ("excluded", list(roles.exclude)))
        if names != [None] and names
    ]
    return {
        "n_rows": len(labeled.X),
        "n_given": int(labeled.is_given.sum()),
        "n_columns": labeled.vectorizer.n_features_in_,
        "n_features": int(labeled.X.shape[1]),
        "kinds": kinds,
        "what_matters": labeled.what_matters,
        "unused": unused,
        "warnings": [*labeled.warnings, *_unreachable(labeled, of_unreachable)],
    }


def _unreachable(labeled: FilledTable, of_unreachable: str) -> list[str]:
    rows = labeled.unreachable
    if not len(rows):
        return []
    names = shortened_list(row_names(labeled, rows[:_MOST_LISTED]), n_all=len(rows))
    return [f"No label reaches {counted(len(rows), 'row')}: {names}. {of_unreachable}"]


def shortened_list(names: Sequence[Any], n_all: int | None = None) -> str:
    """Return names with commas between them, the last ones as a number where there are many."""
    n_all = len(names) if n_all is None else n_all
    shown = [shortened(name) for name in names[:_MOST_LISTED]]
    return ", ".join(shown) + (f" and {n_all - len(shown):,} more" if n_all > len(shown) else "")


def _classes(labeled: LabeledTable, order: IntArray) -> list[dict[str, Any]]:
    names, coding = labeled.model.classes_.tolist(), labeled.model.label_coding_
    given = np.bincount(coding.codes[labeled.is_given], minlength=len(names))
    codes = labeled.predicted_codes
    predicted = np.bincount(codes, minlength=len(names))
    confidence = np.bincount(codes, weights=labeled.confidence, minlength=len(names))
    shown, rest = order[:MOST_CLASSES], order[MOST_CLASSES:]

    def line(name: str, place: int | None, codes_of: IntArray) -> dict[str, Any]:
        n_given, n_predicted = int(given[codes_of].sum()), int(predicted[codes_of].sum())
        return {
            "name": name,
            "place": place,
            "given": n_given,
            "given_share": 100 * float(n_given / given.sum()),
            "predicted": n_predicted,
            "predicted_share": 100 * (n_predicted / len(codes)),
            "confidence": 100 * float(confidence[codes_of].sum() / n_predicted) if n_predicted else None,
        }

    lines = [line(shortened(names[code]), int(code), np.array([code])) for code in shown]
    return [*lines, line(counted(len(rest), "more class", "more classes"), None, rest)] if len(rest) else lines


def _why_unknown(labeled: LabeledTable) -> str:
    if len(labeled.model.classes_) < 2:
        return "There is one class, and nothing to tell it from. Give a label of another class."
    return (
        "No label can be left out: each is the only one of its class, and without it nothing speaks for it. Give "
        "every class a second label."
    )


def _accuracy(labeled: LabeledTable) -> dict[str, Any]:
    both = {"With the unlabeled rows": labeled.estimate, "LS-SVM on the labels alone": labeled.baseline}
    rows = [
        {"name": name, "right": known.right, "counted": known.counted}
        | {end: 100 * getattr(known, end) for end in ("share", "low", "high")}
        for name, known in both.items()
        if known.is_known
    ]
    return {"rows": rows, "sentences": _accuracy_sentences(labeled, labeled.estimate, labeled.baseline)}


def _accuracy_sentences(labeled: LabeledTable, estimate: AccuracyEstimate, baseline: AccuracyEstimate) -> list[str]:
    if not estimate.is_known:
        return [f"This cannot be told. {_why_unknown(labeled)}"]
    sentences = []
    left_over = len(labeled.acceptance.found.rows) - estimate.counted
    if left_over:
        are = "is the only one of its class and was" if left_over == 1 else "are the only ones of their class and were"
        sentences.append(f"{counted(left_over, 'label')} {are} not asked for.")
    if estimate.high - estimate.low > _WIDE:
        sentences.append(
            f"The interval is wide, because {counted(estimate.counted, 'label is', 'labels are')} few: take the number "
            "as a hint, and label more rows to narrow it."
        )
    if baseline.is_known:
        sentences.append(_comparison(estimate, baseline))
    return sentences


def _comparison(estimate: AccuracyEstimate, baseline: AccuracyEstimate) -> str:
    difference = round(100 * (estimate.share - baseline.share))
    points = counted(abs(difference), "point")
    if min(estimate.high, baseline.high) > max(estimate.low, baseline.low):
        lead = (
            f"With the unlabeled rows it is {points} {'more' if difference > 0 else 'less'}"
            if difference
            else "With and without the unlabeled rows it is the same"
        )
        return f"{lead}; the two intervals overlap, so these labels do not settle which of the two is better."
    if difference > 0:
        return f"The unlabeled rows are worth {points}: the two intervals do not overlap."
    return (
        f"LS-SVM on the labels alone is better by {points}, and the two intervals do not overlap: the unlabeled rows "
        "mislead here. Check the columns, or exclude those that have nothing to do with the label."
    )


def _suspicious(labeled: LabeledTable) -> list[dict[str, Any]]:
    frame = audit_frame(labeled)
    frame = frame[frame["looks_wrong"]]
    rows = frame["row"].tolist()
    place_of = {label: code for code, label in enumerate(labeled.model.classes_.tolist())}
    near = [row for rows in frame["nearest"] for row in rows]
    name_of = dict(zip(near, row_names(labeled, near), strict=True))
    names, texts = row_names(labeled, rows), row_texts(labeled, rows, _LONGEST_TEXT)
    found = []
    for name, text, entry in zip(names, texts, frame.itertuples(index=False), strict=True):
        given, suggested = shortened(entry.given), shortened(entry.suggested)
        why = (
            f"The other labels make it {suggested} with {entry.suggested_probability:.0%} and leave "
            f"{1 - entry.suspicion:.0%} for {given}."
        )
        if entry.nearest:
            why += f" Nearest with that label: {', '.join(name_of[row] for row in entry.nearest)}."
        found.append(
            {
                "row": int(entry.row),
                "name": name,
                "text": text,
                "given": given,
                "given_place": place_of[entry.given],
                "suggested": suggested,
                "suggested_place": place_of[entry.suggested],
                "suspicion": 100 * float(entry.suspicion),
                "why": why,
            }
        )
    return found


def _suggestions(labeled: LabeledTable, rows: Sequence[int] | IntArray) -> list[dict[str, Any]]:
    rows = [int(row) for row in rows]
    if not rows:
        return []
    model = labeled.model
    chances = model.decision_probabilities(labeled.decision[rows])
    names, texts = row_names(labeled, rows), row_texts(labeled, rows, _LONGEST_TEXT)
    found = []
    for row, name, text, chance in zip(rows, names, texts, chances, strict=True):
        likely = [
            {"name": shortened(model.classes_.tolist()[code]), "place": int(code), "chance": 100 * float(chance[code])}
            for code in np.argsort(-chance, kind="stable")[:2]
        ]
        found.append({"row": row, "name": name, "text": text, "likely": likely})
    return found


def settings_view(labeled: FilledTable) -> list[dict[str, str]]:
    """Return what was set, by anybody or by default."""
    roles, options, table = labeled.roles, labeled.options, labeled.table
    read_with = (f"{name} {table.options[name]!r}" for name in ("delimiter", "encoding") if name in table.options)
    facts = {
        "Format": ", ".join([table.format, *read_with]),
        "Label column": roles.label,
        "Labels taken as": "numbers" if roles.labels_as == NUMBERS else "classes",
        "Identifier": roles.id or "none",
        "Text columns": ", ".join(roles.text) or "found by themselves",
        "Excluded columns": ", ".join(roles.exclude) or "none",
        "Kernels": options.kernel or "many, blended",
        "Components removed": "1" if options.n_components_removed is None else str(options.n_components_removed),
        "Error weight": "the middle" if options.error_weight is None else f"{options.error_weight:g} of the bound",
        "Random seed": str(options.random_state),
    }
    return [{"name": name, "value": value} for name, value in facts.items()]
