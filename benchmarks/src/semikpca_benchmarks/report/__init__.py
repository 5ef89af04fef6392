"""Reports of the benchmarks: records become a plain view, a view becomes a page."""

from semikpca_benchmarks.report._accuracy_outputs import write_accuracy_outputs
from semikpca_benchmarks.report._accuracy_view import accuracy_headlines, accuracy_view
from semikpca_benchmarks.report._html import render_accuracy_report, render_speed_report
from semikpca_benchmarks.report._speed_outputs import speed_headlines, speed_view, write_speed_outputs

__all__ = [
    "accuracy_headlines",
    "accuracy_view",
    "render_accuracy_report",
    "render_speed_report",
    "speed_headlines",
    "speed_view",
    "write_accuracy_outputs",
    "write_speed_outputs",
]
