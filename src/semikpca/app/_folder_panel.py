"""The tables of a folder on the page, each of which can be opened."""

from typing import Any

from dash import html

from semikpca._words import counted
from semikpca.app._folder import Folder, FolderTable
from semikpca.app._pieces import box, press, soft


def folder_list(folder: Folder | None) -> list[Any]:
    """Return the tables of the folder with their state; nothing without a folder."""
    if folder is None:
        return []
    head = html.H2(["Tables in ", folder.path.name])
    if not folder.tables:
        return [head, soft("There is no table in it: CSV, TSV, Excel, Parquet, JSON lines, .npy or .npz.")]
    more = [soft(f"and {folder.n_left_out:,} more, which are not listed")] if folder.n_left_out else []
    return [head, box("choices", *(_choice(table) for table in folder.tables), id="folder"), *more]


def _choice(table: FolderTable) -> html.Button:
    size = _size(table.n_bytes) if table.n_rows is None else counted(table.n_rows, "row")
    state = "no visit yet"
    if table.last_visit is not None and table.n_labels is not None:
        when = table.last_visit.strftime("%d %B %Y, %H:%M").lstrip("0")
        state = f"{counted(table.n_labels, 'label')}, last visit {when}"
    text = [
        html.Strong(table.name),
        html.Span(size, className="soft"),
        html.Span(table.problem or state, className="soft"),
    ]
    return press(text, "open-file", table.name, className="choice")


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 100_000 else f"{n_bytes / 1e3:,.1f} kB"
