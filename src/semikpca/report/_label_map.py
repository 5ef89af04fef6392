"""The map of the rows as plain data, and the classes that have an entry of their own in its legend."""

from typing import Any

import numpy as np

from semikpca._palette import ON_LIGHT, class_shape
from semikpca._typing import IntArray
from semikpca.workflow import LabeledTable, RowMap, row_names, row_texts, shortened

_LONGEST_TEXT = 140
_DIGITS = 4  # of coordinates between -1 and 1: a tenth of a pixel


def class_order(labeled: LabeledTable) -> IntArray:
    """Return the codes of the classes, the commonest prediction first."""
    predicted = np.bincount(labeled.predicted_codes, minlength=len(labeled.model.classes_))
    return np.argsort(-predicted, kind="stable")


def _groups(labeled: LabeledTable, order: IntArray) -> tuple[list[str], list[int | None], dict[int, int]]:
    """Return the entries of the legend: each class, or the commonest ones and the rest as one.

    They are the names of the groups, the place of the class that each consists of (None for the rest), and the group of
    each code.
    """
    most = len(ON_LIGHT)  # entries, so that a legend is no longer than there are colors that everybody can tell apart
    n_own = most - 1 if len(order) > most else len(order)
    names = [str(name) for name in labeled.model.classes_[order[:n_own]].tolist()]
    places: list[int | None] = order[:n_own].tolist()  # classes are sorted: a code is a place
    if n_own < len(order):
        names.append(f"{len(order) - n_own:,} other classes")
        places.append(None)
    return names, places, {int(code): min(number, n_own) for number, code in enumerate(order)}


def map_view(labeled: LabeledTable, row_map: RowMap, order: IntArray) -> dict[str, Any]:
    """Return the points of the map, with everything that is told of them, and its legend with classes in order."""
    names, places, group_of_class = _groups(labeled, order)
    rows, model, audit = row_map.rows, labeled.model, labeled.audit
    codes = labeled.predicted_codes[rows]
    used = np.unique(codes)
    group = np.array([group_of_class[int(code)] for code in codes])
    is_given, looks_wrong = labeled.is_given[rows], labeled.looks_wrong[rows]
    suggested = {row: label for row, label in zip(audit.rows, audit.suggested, strict=True) if labeled.looks_wrong[row]}
    confidence = labeled.confidence[rows]
    reach = float(np.abs(row_map.coordinates).max()) or 1.0
    counts = np.bincount(group, minlength=len(names))
    return {
        "n_rows": len(labeled.X),
        "n_shown": len(rows),
        "n_given": int(is_given.sum()),
        "n_given_hidden": int(labeled.is_given.sum() - is_given.sum()),
        "n_wrong": int(looks_wrong.sum()),
        "least_confidence": float(np.floor(20 * confidence.min()) / 20),
        "legend": [
            {"name": shortened(name), "count": int(count), "place": place}
            for name, count, place in zip(names, counts, places, strict=True)
        ],
        "points": {
            "row": rows.tolist(),
            "x": np.round(row_map.coordinates[:, 0] / reach, _DIGITS).tolist(),
            "y": np.round(row_map.coordinates[:, 1] / reach, _DIGITS).tolist(),
            "group": group.tolist(),
            "confidence": np.round(confidence, 3).tolist(),
            "names": [shortened(name) for name in model.classes_[used].tolist()],
            "places": used.tolist(),
            "shapes": [class_shape(place) for place in used.tolist()],
            "predicted": np.searchsorted(used, codes).tolist(),
            "given": [None if label is None else shortened(label) for label in labeled.given[rows]],
            "others_say": [shortened(suggested[row]) if row in suggested else None for row in rows],
            "name": [shortened(name) for name in row_names(labeled, rows)],
            "text": row_texts(labeled, rows, _LONGEST_TEXT),
        },
    }
