"""Colors of marks on the page, and colors of classes as a style sheet takes them; keyed by whether the page is dark."""

from semikpca._palette import class_color

NO_CLASS = "#8b9691"
SELECTED = {False: "#d6248a", True: "#ff7cc4"}
SUGGESTED = {False: "#8a6100", True: "#e8c15a"}
LABEL_EDGE = {False: "#17201c", True: "#ffffff"}


def style_color(place: int) -> str:
    """Return the color of a class for a style sheet, which knows whether the page is dark."""
    return f"light-dark({class_color(place, False)}, {class_color(place, True)})"


def with_alpha(color: str, alpha: float) -> str:
    """Return a color that lets the page shine through."""
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"
