"""The report as one HTML page that needs nothing but itself."""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

_MINUS = "−"


def render_paper_report(view: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    """Return the page for a view; the same view and figures give the same page.

    Parameters
    ----------
    view : mapping
        As :func:`semikpca.report.paper_view` returns it.
    figures : mapping of str to str
        ``<svg>`` elements that carry their own ``xmlns``, under the names "surfaces", "schemes" and
        "curves/<data set>-<label count>"; those that are missing are left out.
    """
    return _rendered("paper.html.jinja", view, figures)


def render_accuracy_report(view: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    """Return the page for a view; the same view and figures give the same page.

    Parameters
    ----------
    view : mapping
        As :func:`semikpca.report.accuracy_view` returns it.
    figures : mapping of str to str
        ``<svg>`` elements that carry their own ``xmlns``, under the names "ranks" and "curves/<data set>"; those that
        are missing are left out.
    """
    return _rendered("accuracy.html.jinja", view, figures)


def render_speed_report(view: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    """Return the page for a view; the same view and figures give the same page.

    Parameters
    ----------
    view : mapping
        As :func:`semikpca.report.speed_view` returns it.
    figures : mapping of str to str
        ``<svg>`` elements that carry their own ``xmlns``: "growth", which is left out where it is missing.
    """
    return _rendered("speed.html.jinja", view, figures)


def _rendered(template: str, view: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    images = {name: _as_address(svg) for name, svg in figures.items()}
    return _environment().get_template(template).render(view=view, images=images)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("semikpca.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(fixed=_fixed, signed=_signed)
    return environment


def _as_address(svg: str) -> str:
    # An image of its own, not markup of the page: ids of different figures cannot meet, no style of the page reaches
    # in, and nothing inside can run.
    return "data:image/svg+xml," + quote(svg, safe=" ~!*()',/:;=?@$&+")


def _fixed(value: float, digits: int = 1) -> str:
    text = f"{value:.{digits}f}"
    return (text if float(text) else text.lstrip("-")).replace("-", _MINUS)


def _signed(value: float, digits: int = 1) -> str:
    text = _fixed(value, digits)
    return f"+{text}" if float(f"{value:.{digits}f}") > 0 else text
