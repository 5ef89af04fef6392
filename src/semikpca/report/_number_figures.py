"""Two pictures of numbers as plain data: predictions against given numbers, and the map of the rows."""

from typing import Any

import numpy as np

from semikpca.workflow import NumberedTable, RowMap, round_edges, round_numbers, row_names, row_texts, shortened

MOST_DRAWN = 400  # left-out numbers; more would hide each other
_LONGEST_TEXT = 140
_DIGITS = 4  # of coordinates between -1 and 1: a tenth of a pixel
_CUT = 0.02  # of the numbers at either end share the last color, so that a few far out do not take all others


def left_out_view(numbered: NumberedTable) -> dict[str, Any] | None:
    """Return the left-out numbers with their predictions and intervals, as shares of a square; None without any.

    Both axes are the same, so that what is right is on the diagonal.
    """
    left = numbered.left_out.dropna(subset="predicted")
    if len(left) < 2:
        return None
    n_all = len(left)
    if n_all > MOST_DRAWN:
        left = left.sample(MOST_DRAWN, random_state=numbered.options.random_state).sort_values("row")
    given, predicted = left["given"].to_numpy(), left["predicted"].to_numpy()
    edges = round_edges(min(given.min(), predicted.min()), max(given.max(), predicted.max()))
    low, size = float(edges[0]), float(edges[-1] - edges[0])

    def share(values: Any) -> list[float]:
        return [round(float(value), _DIGITS) for value in 100 * np.clip((np.asarray(values) - low) / size, 0, 1)]

    has_ends = bool(np.isfinite(left["low"]).all())
    wrong = numbered.looks_wrong[left["row"]]
    inside = ((left["low"] <= left["given"]) & (left["given"] <= left["high"])).to_numpy()
    names = row_names(numbered, left["row"])
    ends = (share(left["low"]), share(left["high"])) if has_ends else (share(predicted), share(predicted))
    places = zip(share(given), share(predicted), *ends, wrong, inside, strict=True)
    told = zip(names, given, predicted, strict=True)
    return {
        "points": [
            {
                "x": x,
                "y": y,
                "low": bottom,
                "high": top,
                "looks_wrong": bool(is_wrong),
                "inside": bool(is_inside),
                "title": f"{shortened(name)}: given {value:,.12g}, predicted {numbered.amount(said)}",
            }
            for (x, y, bottom, top, is_wrong, is_inside), (name, value, said) in zip(places, told, strict=True)
        ],
        "ticks": [{"at": at, "text": text} for at, text in zip(share(edges), round_numbers(edges), strict=True)],
        "n_all": n_all,
        "has_intervals": has_ends,
    }


def number_map_view(numbered: NumberedTable, row_map: RowMap) -> dict[str, Any]:
    """Return the points of the map, with everything that is told of them, and the ends of its colors."""
    rows = row_map.rows
    is_given, looks_wrong = numbered.is_given[rows], numbered.looks_wrong[rows]
    audit = numbered.audit
    others = zip(audit.rows, audit.suggested, strict=True)
    suggested = {row: value for row, value in others if numbered.looks_wrong[row]}
    given = [f"{value:,.12g}" if known else None for value, known in zip(numbered.given[rows], is_given, strict=True)]
    values = numbered.predicted[rows]
    low, high = (float(end) for end in np.quantile(values, (_CUT, 1 - _CUT)))
    if not low < high:
        low, high = float(values.min()), float(max(values.max(), values.min() + 1e-9 * (1 + abs(values.min()))))
    reach = float(np.abs(row_map.coordinates).max()) or 1.0
    brief = numbered.in_brief(rows)
    said = [value if ends == "–" else f"{value} ({ends})" for value, ends in zip(*brief.values(), strict=True)]
    return {
        "n_rows": len(numbered.X),
        "n_shown": len(rows),
        "n_given": int(is_given.sum()),
        "n_given_hidden": int(numbered.is_given.sum() - is_given.sum()),
        "n_wrong": int(looks_wrong.sum()),
        "low": numbered.amount(low),
        "high": numbered.amount(high),
        "points": {
            "row": rows.tolist(),
            "x": np.round(row_map.coordinates[:, 0] / reach, _DIGITS).tolist(),
            "y": np.round(row_map.coordinates[:, 1] / reach, _DIGITS).tolist(),
            "group": [0] * len(rows),
            "predicted": [0] * len(rows),
            "places": [0],
            "shapes": ["circle"],
            "value": values.tolist(),
            "range": [low, high],
            "said": said,
            "given": given,
            "others_say": [numbered.amount(suggested[row]) if row in suggested else None for row in rows],
            "name": [shortened(name) for name in row_names(numbered, rows)],
            "text": row_texts(numbered, rows, _LONGEST_TEXT),
        },
    }
