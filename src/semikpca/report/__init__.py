"""Reports: records become a plain view, a view becomes a page."""

from semikpca.report._html import render_paper_report
from semikpca.report._paper_outputs import write_paper_outputs
from semikpca.report._paper_view import paper_view

__all__ = ["paper_view", "render_paper_report", "write_paper_outputs"]
