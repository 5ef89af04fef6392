"""Reports: records become a plain view, a view becomes a page.

Each report is imported when it is asked for: that on a labeled table needs no Matplotlib, the other needs no pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from semikpca._files import write_whole
from semikpca.report._csv import csv_text

if TYPE_CHECKING:
    from semikpca.report._drawing import drawings
    from semikpca.report._html import render_label_report, render_page, render_paper_report
    from semikpca.report._label_outputs import write_label_report
    from semikpca.report._label_view import label_view
    from semikpca.report._paper_outputs import write_paper_outputs
    from semikpca.report._paper_view import paper_view

__all__ = [
    "csv_text",
    "drawings",
    "label_view",
    "paper_view",
    "render_label_report",
    "render_page",
    "render_paper_report",
    "write_label_report",
    "write_paper_outputs",
    "write_whole",
]

_MODULES = {
    "_drawing": ("drawings",),
    "_html": ("render_label_report", "render_page", "render_paper_report"),
    "_label_outputs": ("write_label_report",),
    "_label_view": ("label_view",),
    "_paper_outputs": ("write_paper_outputs",),
    "_paper_view": ("paper_view",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
