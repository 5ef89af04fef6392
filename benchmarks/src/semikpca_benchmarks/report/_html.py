"""The pages of the benchmarks, in the layout that all pages of semikpca share."""

from collections.abc import Mapping
from typing import Any

from jinja2 import PackageLoader

from semikpca.report import render_page

_TEMPLATES = PackageLoader("semikpca_benchmarks.report", "templates")


def render_accuracy_report(view: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    """Return the page for a view; the same view and figures give the same page.

    Parameters
    ----------
    view : mapping
        As :func:`semikpca_benchmarks.report.accuracy_view` returns it.
    figures : mapping of str to str
        ``<svg>`` elements that carry their own ``xmlns``, under the names "ranks", "calibration" and
        "curves/<data set>"; those that are missing are left out.
    """
    return render_page("accuracy.html.jinja", view, figures, _TEMPLATES)


def render_speed_report(view: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    """Return the page for a view; the same view and figures give the same page.

    Parameters
    ----------
    view : mapping
        As :func:`semikpca_benchmarks.report.speed_view` returns it.
    figures : mapping of str to str
        ``<svg>`` elements that carry their own ``xmlns``: "growth", which is left out where it is missing.
    """
    return render_page("speed.html.jinja", view, figures, _TEMPLATES)
