"""Colors and shapes of classes, the same on the labeling page and in reports; imports nothing of the package.

A class has the color and the shape of its place among all classes in sorted order, which is the code that a model gives
it: one and the same table has the same colors wherever it is shown, however often each class is predicted.
"""

import colorsys
from collections.abc import Collection, Sequence
from typing import Any

# Ten colors for a white page and the same hues for a dark one. They were searched for: any two on a page are at least
# 0.065 apart in OKLab, for readers with all cones and for those who lack one kind (after Machado et al. 2009), where
# Matplotlib's ten come to 0.007; and each has a contrast of 2 or more with its page.
ON_LIGHT = tuple("#3c6c9c #f09c00 #00a890 #a83054 #b460fc #603000 #f03c00 #a8a8e4 #3c3084 #7800d8".split())
ON_DARK = tuple("#5e93c4 #f2cb2e #8fe6d8 #f0466e #9a48f0 #ad5a1e #fa9a72 #c3b4fb #5468b8 #dd5cff".split())
# Of several classes that are shown as one.
REST_ON_LIGHT, REST_ON_DARK = "#8d9893", "#74817b"
# From an unsure prediction to a sure one; amber and blue stay apart for everybody.
UNSURE_TO_SURE_ON_LIGHT = ("#d98e00", "#a9aeab", "#1f4e8c")
UNSURE_TO_SURE_ON_DARK = ("#ffb020", "#7d8884", "#62b0ff")
# From the lowest number to the highest: ever darker on a white page, ever lighter on a dark one.
LOW_TO_HIGH_ON_LIGHT = ("#d99a00", "#e0562b", "#b0245f", "#6a1470", "#250a4e")
LOW_TO_HIGH_ON_DARK = ("#7b4fd0", "#c050b0", "#f0606a", "#ffa04d", "#ffe27a")
# Plotly's names. A shape besides the color, for those who see neither hue nor shade.
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down")
_GOLDEN_ANGLE = 0.381966  # of the color circle: steps of it come close to no earlier one for long


def class_places(classes: Sequence[Any], used: Collection[int] | None = None) -> list[int]:
    """Return the place of each class in sorted order: numbers first, as numbers, then texts.

    Where only some are ``used`` (by their number), those come first: a class that no row has is in no report.

    Examples
    --------
    >>> class_places(["moss", "fern", "palm"])
    [1, 0, 2]
    >>> class_places(["moss", "fern", "palm"], used={0, 2})
    [0, 2, 1]
    """

    def key(code: int) -> tuple[bool, bool, Any]:
        return used is not None and code not in used, isinstance(classes[code], str), classes[code]

    order = sorted(range(len(classes)), key=key)
    places = [0] * len(classes)
    for place, code in enumerate(order):
        places[code] = place
    return places


def class_color(place: int, dark: bool) -> str:
    """Return the color of a class; beyond the ten that were searched for, hues that differ from their neighbors'."""
    named = ON_DARK if dark else ON_LIGHT
    if place < len(named):
        return named[place]
    red, green, blue = colorsys.hls_to_rgb((place * _GOLDEN_ANGLE) % 1.0, 0.65 if dark else 0.45, 0.5)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def class_shape(place: int) -> str:
    """Return the shape of a class, where shapes are drawn."""
    return SHAPES[place % len(SHAPES)]
