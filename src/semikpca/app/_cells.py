"""Cells of a row as people read them: line breaks as they are, addresses as links, pictures as pictures."""

import re
from typing import Any

from dash import html

from semikpca.app._opening import OpenTable
from semikpca.app._pieces import box

LONG = 60  # letters: a cell beyond it has the whole width, below its name
_MOST_LETTERS = 200_000  # of one cell; more would make the browser wait, and nobody reads it
_ADDRESS = re.compile(r"https?://[^\s<>\"']+[^\s<>\"'.,;:!?)\]]")
# Pictures that are in the table itself. One at an address stays a link: the page loads nothing from elsewhere.
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")


def cells(opened: OpenTable, row: int) -> Any:
    """Return all cells of a row under their names: texts first, which are read; long cells at full width."""
    entries = [
        html.Div(
            [html.Dt(name), html.Dd(_cell(name, text))],
            className="cell long" if len(text) > LONG or "\n" in text else "cell",
        )
        for name, text in sorted(opened.cells(row), key=lambda cell: cell[0] not in opened.texts)
    ]
    # Its own id for each row: the next one begins at its top, wherever this one was scrolled to.
    return box("scroll", html.Dl(entries, className="cells"), id=f"cells-{row}", tabIndex="0") if entries else ""


def _cell(name: str, text: str) -> list[Any]:
    if not text:
        return [html.Span("empty", className="soft")]
    if _PICTURE.fullmatch(text):
        return [html.Img(src=text, alt=f"Picture in {name}")]
    if len(text) > _MOST_LETTERS:
        return [text[:_MOST_LETTERS], html.Span(f" … and {len(text) - _MOST_LETTERS:,} more letters", className="soft")]
    parts: list[Any] = []
    end = 0
    for found in _ADDRESS.finditer(text):
        parts += [text[end : found.start()], _link(found.group())]
        end = found.end()
    return [*parts, text[end:]]


def _link(address: str) -> html.A:
    # The page that opens learns nothing of this one, and cannot reach it.
    return html.A(address, href=address, target="_blank", rel="noopener noreferrer")
