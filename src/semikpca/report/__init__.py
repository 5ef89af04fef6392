"""Reports: records become a plain view, a view becomes a page."""

from semikpca.report._accuracy_outputs import write_accuracy_outputs
from semikpca.report._accuracy_view import accuracy_headlines, accuracy_view
from semikpca.report._html import render_accuracy_report, render_paper_report
from semikpca.report._paper_outputs import write_paper_outputs
from semikpca.report._paper_view import paper_view

__all__ = [
    "accuracy_headlines",
    "accuracy_view",
    "paper_view",
    "render_accuracy_report",
    "render_paper_report",
    "write_accuracy_outputs",
    "write_paper_outputs",
]
