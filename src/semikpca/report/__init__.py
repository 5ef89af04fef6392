"""Reports: records become a plain view, a view becomes a page.

Each report is imported when it is asked for: that on a labeled table needs no Matplotlib, the other needs no pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from semikpca._files import write_whole

if TYPE_CHECKING:
    from semikpca.report._html import render_label_report, render_number_report, render_page, render_paper_report
    from semikpca.report._label_outputs import write_label_report, write_number_report
    from semikpca.report._label_view import label_view
    from semikpca.report._number_view import number_view
    from semikpca.report._paper_outputs import csv_text, drawings, write_paper_outputs
    from semikpca.report._paper_view import paper_view

__all__ = [
    "csv_text",
    "drawings",
    "label_view",
    "number_view",
    "paper_view",
    "render_label_report",
    "render_number_report",
    "render_page",
    "render_paper_report",
    "write_label_report",
    "write_number_report",
    "write_paper_outputs",
    "write_whole",
]

_MODULES = {
    "_html": ("render_label_report", "render_number_report", "render_page", "render_paper_report"),
    "_label_outputs": ("write_label_report", "write_number_report"),
    "_label_view": ("label_view",),
    "_number_view": ("number_view",),
    "_paper_outputs": ("csv_text", "drawings", "write_paper_outputs"),
    "_paper_view": ("paper_view",),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
