"""Reports: records become a plain view, a view becomes a page.

Each report is imported when it is asked for: that on a labeled table needs no Matplotlib, the others need no pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semikpca.report._accuracy_outputs import write_accuracy_outputs
    from semikpca.report._accuracy_view import accuracy_headlines, accuracy_view
    from semikpca.report._html import (
        render_accuracy_report,
        render_label_report,
        render_paper_report,
        render_speed_report,
    )
    from semikpca.report._label_outputs import write_label_report
    from semikpca.report._label_view import label_view
    from semikpca.report._palette import ON_DARK, ON_LIGHT
    from semikpca.report._paper_outputs import write_paper_outputs
    from semikpca.report._paper_view import paper_view
    from semikpca.report._speed_outputs import speed_headlines, speed_view, write_speed_outputs

__all__ = [
    "ON_DARK",
    "ON_LIGHT",
    "accuracy_headlines",
    "accuracy_view",
    "label_view",
    "paper_view",
    "render_accuracy_report",
    "render_label_report",
    "render_paper_report",
    "render_speed_report",
    "speed_headlines",
    "speed_view",
    "write_accuracy_outputs",
    "write_label_report",
    "write_paper_outputs",
    "write_speed_outputs",
]

_MODULES = {
    "_accuracy_outputs": ("write_accuracy_outputs",),
    "_accuracy_view": ("accuracy_headlines", "accuracy_view"),
    "_html": ("render_accuracy_report", "render_label_report", "render_paper_report", "render_speed_report"),
    "_label_outputs": ("write_label_report",),
    "_label_view": ("label_view",),
    "_palette": ("ON_DARK", "ON_LIGHT"),
    "_paper_outputs": ("write_paper_outputs",),
    "_paper_view": ("paper_view",),
    "_speed_outputs": ("speed_headlines", "speed_view", "write_speed_outputs"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
