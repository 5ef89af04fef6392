"""Colors of numbers on the map: one scale for predicted and given ones, and its legend."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import html

from semikpca._palette import LOW_TO_HIGH_ON_DARK, LOW_TO_HIGH_ON_LIGHT
from semikpca._typing import IntArray
from semikpca.app._number_snapshot import NumberSnapshot
from semikpca.app._pieces import box

_STOPS = {False: LOW_TO_HIGH_ON_LIGHT, True: LOW_TO_HIGH_ON_DARK}
_NO_NUMBER = "#8b9691"
_CUT = 0.02  # of the numbers at either end share the last color, so that a few far out do not take all others


def color_range(snapshot: NumberSnapshot) -> tuple[float, float]:
    """Return the numbers at the ends of the scale, as in a report: those that 96% of the predictions lie between."""
    if snapshot.values is None:
        return 0.0, 1.0
    low, high = (float(end) for end in np.quantile(snapshot.values, (_CUT, 1 - _CUT)))
    return (low, high) if low < high else (low, low + 1e-9 * (1 + abs(low)))


def number_row_looks(snapshot: NumberSnapshot, rows: IntArray, dark: bool) -> dict[str, Any]:
    """Return shape, number and scale of all rows: the predicted number of each."""
    if snapshot.values is None:
        return {"symbol": "circle", "color": np.zeros(len(rows)), **_scale(snapshot, dark)}
    return {"symbol": "circle", "color": snapshot.values[rows], **_scale(snapshot, dark)}


def number_label_looks(snapshot: NumberSnapshot, rows: Sequence[int], dark: bool) -> dict[str, Any]:
    """Return the same for rows whose number is given, which have the color of that number."""
    return {"symbol": "circle", "color": snapshot.numbers[list(rows)].tolist(), **_scale(snapshot, dark)}


def _scale(snapshot: NumberSnapshot, dark: bool) -> dict[str, Any]:
    low, high = color_range(snapshot)
    stops = _STOPS[dark] if snapshot.values is not None else (_NO_NUMBER, _NO_NUMBER)
    colors = [[place / (len(stops) - 1), color] for place, color in enumerate(stops)]
    return {"cmin": low, "cmax": high, "colorscale": colors}


def scale_legend(snapshot: NumberSnapshot, column: str) -> list[Any]:
    """Return which color is which number."""
    if snapshot.values is None:
        return [html.Span("The map gets its colors with two different numbers.", className="soft scale")]
    low, high = color_range(snapshot)
    both = zip(LOW_TO_HIGH_ON_LIGHT, LOW_TO_HIGH_ON_DARK, strict=True)
    stops = ", ".join(f"light-dark({light}, {dark})" for light, dark in both)
    ends = f"{snapshot.amount(low)} or less", f"{snapshot.amount(high)} or more"
    bar = html.I(style={"background": f"linear-gradient(90deg, {stops})"}, className="ramp")
    about = {"role": "img", "aria-label": f"Colors of {column}: from {ends[0]} to {ends[1]}"}
    return [box("scale", html.Span(column, className="name"), html.Span(ends[0]), bar, html.Span(ends[1]), **about)]
