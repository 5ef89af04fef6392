"""The report as one HTML page that needs nothing but itself."""

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from semikpca import _palette
from semikpca._words import counted


def render_paper_report(view: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    """Return the page for a view that ``paper_view`` made; the same view and figures give the same page.

    Figures have the names "surfaces", "schemes" and "curves/<data set>-<label count>"; missing ones are left out.
    """
    return render_page("paper.html.jinja", view, figures)


def render_label_report(view: Mapping[str, Any], scripts: Mapping[str, str]) -> str:
    """Return the page for a view that ``label_view`` made; the same view and scripts give the same page.

    The scripts "plotly" and "map" run in this order. Nothing else may run on the page.
    """
    return _render_with_map("label.html.jinja", view, scripts)


def render_number_report(view: Mapping[str, Any], scripts: Mapping[str, str]) -> str:
    """Return the page for a view that ``number_view`` made, with the same scripts."""
    return _render_with_map("numbers.html.jinja", view, scripts)


def _render_with_map(name: str, view: Mapping[str, Any], scripts: Mapping[str, str]) -> str:
    inline = {name: Markup(_inline(text)) for name, text in scripts.items()}
    hashes = ["sha256-" + b64encode(sha256(text.encode()).digest()).decode() for text in inline.values()]
    points = Markup(_json_text(view["map"]["points"]))
    template = _environment().get_template(name)
    return template.render(view=view, palette=_palette, points=points, scripts=inline, hashes=hashes)


def _inline(script: str) -> str:
    """Return a program as it may stand in a page, or refuse one that would end its element or open a comment."""
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("A script with </script or <!-- in it cannot stand in a page.")
    # Browsers read line ends as \n before they take the hash.
    return script.replace("\r\n", "\n").replace("\r", "\n")


def _json_text(data: Any) -> str:
    """Return JSON that no cell can leave: without the signs that HTML or JavaScript give a meaning of their own."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def render_page(
    template: str, view: Mapping[str, Any], figures: Mapping[str, str], templates: BaseLoader | None = None
) -> str:
    """Return the page that a template makes of a view and figures.

    The template extends "page.html.jinja", the layout that all pages share; ``templates`` loads it where it is not one
    of this package. Figures are ``<svg>`` elements that carry their own ``xmlns``; the template finds them as addresses
    under ``images``.
    """
    images = {name: _as_address(svg) for name, svg in figures.items()}
    return _environment(templates).get_template(template).render(view=view, images=images)


@cache
def _environment(templates: BaseLoader | None = None) -> Environment:
    shared = PackageLoader("semikpca.report", "templates")
    environment = Environment(
        loader=shared if templates is None else ChoiceLoader([templates, shared]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(fixed=_fixed, signed=_signed, counted=counted)
    return environment


def _as_address(svg: str) -> str:
    # An image of its own, not markup of the page: ids of different figures cannot meet, no style of the page reaches
    # in, and nothing inside can run.
    return "data:image/svg+xml," + quote(svg, safe=" ~!*()',/:;=?@$&+")


def _fixed(value: float, digits: int = 1) -> str:
    text = f"{value:.{digits}f}"
    return (text if float(text) else text.lstrip("-")).replace("-", "−")


def _signed(value: float, digits: int = 1) -> str:
    text = _fixed(value, digits)
    return f"+{text}" if float(f"{value:.{digits}f}") > 0 else text
