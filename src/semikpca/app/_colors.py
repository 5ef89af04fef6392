"""Colors of classes and marks, for a light page and for a dark one."""

import colorsys

from semikpca.report._palette import ON_DARK, ON_LIGHT

NO_CLASS = "#8b9691"
SELECTED = {False: "#d6248a", True: "#ff7cc4"}  # keyed by whether the page is dark
SUGGESTED = {False: "#8a6100", True: "#e8c15a"}
LABEL_EDGE = {False: "#17201c", True: "#ffffff"}
_GOLDEN_ANGLE = 0.381966


def class_color(number: int, dark: bool) -> str:
    """Return the color of a class, by its place in the order of classes."""
    named = ON_DARK if dark else ON_LIGHT
    if number < len(named):
        return named[number]
    red, green, blue = colorsys.hls_to_rgb((number * _GOLDEN_ANGLE) % 1.0, 0.65 if dark else 0.45, 0.5)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def style_color(number: int) -> str:
    """Return the color of a class for a style sheet, which knows whether the page is dark."""
    return f"light-dark({class_color(number, False)}, {class_color(number, True)})"


def with_alpha(color: str, alpha: float) -> str:
    """Return a color that lets the page shine through."""
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"
