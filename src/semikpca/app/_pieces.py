"""Small parts that the panels are made of."""

from typing import Any

from dash import html

from semikpca.app._colors import style_color
from semikpca.app._opening import OpenTable


def act(text: Any, action: str, value: Any = "", *, kind: str = "", title: str = "", **more: Any) -> html.Button:
    """Return a button; ``assets/page.js`` sends its action to the server."""
    attributes = {"data-act": action, "data-value": str(value)}
    return html.Button(
        text, type="button", className=f"button {kind}".strip(), title=title or None, **attributes, **more
    )


def line(opened: OpenTable, row: int, about: Any) -> html.Li:
    """Return a row in a list, which can be clicked."""
    text = [
        html.Span(opened.titles[row], className="title"),
        html.Span([html.Span(opened.names[row], className="soft"), about], className="about"),
    ]
    return html.Li(html.Button(text, type="button", className="line", **{"data-act": "row", "data-value": str(row)}))


def tile(name: str, figure: str, about: str, extra: Any = "", *, id: str) -> html.Div:
    """Return one of the numbers above the map."""
    return html.Div(
        [
            html.Span(name, className="soft"),
            html.Strong(figure, id=f"{id}-value"),
            extra,
            html.Span(about, className="about"),
        ],
        className="tile",
        id=id,
    )


def interval(low: float, share: float, high: float) -> html.Div:
    """Return an interval between 0 and 1 as a small drawing."""
    return html.Div(
        [html.I(style={"left": f"{low:.2%}", "width": f"{high - low:.2%}"}), html.B(style={"left": f"{share:.2%}"})],
        className="interval",
        title=f"95% interval: {low:.0%} to {high:.0%}",
        role="img",
        **{"aria-label": f"95% interval: {low:.0%} to {high:.0%}"},
    )


def chance(place: int, label: Any, chance: float) -> html.Div:
    """Return a class, which has the color of its place, with its probability as a bar."""
    return html.Div(
        [
            html.Span([dot(place), str(label)], className="name"),
            html.Span(html.I(style={"width": f"{chance:.1%}", "background": style_color(place)}), className="bar"),
            html.Span(f"{chance:.0%}", className="number"),
        ],
        className="chance",
    )


def picture(pixels: list[float]) -> html.Div:
    """Return a square picture made of its pixels."""
    side = int(len(pixels) ** 0.5)
    dots = [html.I(style={"opacity": f"{pixel:.2f}"}) for pixel in pixels]
    return html.Div(
        dots,
        className="picture",
        style={"gridTemplateColumns": f"repeat({side}, 1fr)"},
        role="img",
        **{"aria-label": "Picture of the row"},
    )


def dot(place: int) -> html.Span:
    """Return the color of a class by its place in sorted order."""
    return html.Span(className="dot", style={"background": style_color(place)})


def entry(name: str, value: str, id: str | None = None) -> list[Any]:
    """Return a line of a list of properties."""
    return [html.Dt(name), html.Dd(value, **({"id": id} if id else {}))]


def low(number: int) -> str:
    """Return a number as an index below the line."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
