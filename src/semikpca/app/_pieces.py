"""Small parts that the panels are made of."""

from typing import Any

from dash import html

from semikpca._palette import class_color, class_shape
from semikpca.app._opening import OpenTable


def act(text: Any, action: str, value: Any = "", *, kind: str = "", **more: Any) -> html.Button:
    """Return a button; ``assets/page.js`` sends its action to the server."""
    return press(text, action, value, className=f"button {kind}".strip(), **more)


def press(text: Any, action: str, value: Any = "", **more: Any) -> html.Button:
    """Return anything else that can be pressed as a button can."""
    return html.Button(text, type="button", **{"data-act": action, "data-value": str(value)}, **more)


def box(kind: str, *children: Any, **more: Any) -> html.Div:
    """Return parts together, as a kind that the style sheet knows."""
    return html.Div(list(children), className=kind, **more)


def soft(*text: Any) -> html.P:
    """Return a line that stands back."""
    return html.P(list(text), className="soft")


def line(opened: OpenTable, row: int, *about: Any, queue: str, is_check: bool = False) -> html.Li:
    """Return a row in a list, which can be clicked and goes on with its queue; one drawn at random says so."""
    tag = [html.Span("random check", className="tag")] if is_check else []
    name = html.Span(opened.names[row], className="soft")
    text = [
        html.Span([html.Span(opened.titles[row], className="title"), *tag], className="head"),
        html.Span([name, html.Span(list(about), className="guess") if about else ""], className="about"),
    ]
    return html.Li(press(text, "check" if is_check else "row", row, className="line", **{"data-queue": queue}))


def tile(id: str, name: str, figure: str, about: str, extra: Any = "") -> html.Div:
    """Return one of the numbers above the map."""
    value = html.Strong(figure, id=f"{id}-value")
    return box("tile", html.Span(name, className="soft"), value, extra, html.Span(about, className="about"), id=id)


def interval(low: float, share: float, high: float) -> html.Div:
    """Return an interval between 0 and 1 as a small drawing."""
    text = f"95% interval: {low:.0%} to {high:.0%}"
    whole = html.I(style={"left": f"{low:.2%}", "width": f"{high - low:.2%}"})
    here = html.B(style={"left": f"{share:.2%}"})
    return box("interval", whole, here, title=text, role="img", **{"aria-label": text})


def chance(place: int, label: Any, chance: float) -> html.Div:
    """Return a class, which has the color of its place, with its probability as a bar."""
    name = html.Span([dot(place), str(label)], className="name")
    return box("chance", name, bar(place, chance), html.Span(f"{chance:.0%}", className="number"))


def bar(place: int, share: float) -> html.Span:
    """Return a share as a bar in the color of a class."""
    return html.Span(html.I(style={"width": f"{share:.1%}", "background": style_color(place)}), className="bar")


def picture(pixels: list[float]) -> html.Div:
    """Return a square picture made of its pixels."""
    columns = {"gridTemplateColumns": f"repeat({int(len(pixels) ** 0.5)}, 1fr)"}
    dots = (html.I(style={"opacity": f"{pixel:.2f}"}) for pixel in pixels)
    return box("picture", *dots, style=columns, role="img", **{"aria-label": "Picture of the row"})


def dot(place: int) -> html.Span:
    """Return the color and the shape of a class by its place in sorted order."""
    return html.Span(className=f"dot {class_shape(place)}", style={"background": style_color(place)})


def style_color(place: int) -> str:
    """Return the color of a class for a style sheet, which knows whether the page is dark."""
    return f"light-dark({class_color(place, False)}, {class_color(place, True)})"


def low(number: int) -> str:
    """Return a number as an index below the line."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
