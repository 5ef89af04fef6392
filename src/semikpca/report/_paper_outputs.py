"""Everything that ``semikpca paper`` leaves in its folder, from records alone."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from semikpca import plots
from semikpca._files import write_whole
from semikpca.experiments import CellRecord, PaperSpec, curve_rows, dataset_rows, objective_surfaces, result_rows
from semikpca.report._csv import csv_text
from semikpca.report._drawing import drawings
from semikpca.report._html import render_paper_report
from semikpca.report._paper_view import paper_view


def write_paper_outputs(
    folder: Path,
    spec: PaperSpec,
    versions: dict[str, str],
    records: Sequence[CellRecord],
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write ``table1.csv``, ``table2.csv``, ``curves.csv``, ``figures/*.svg``, ``figures/*.png`` and ``report.html``.

    Each file is written whole or not at all. Figures are drawn by ``jobs`` processes side by side; ``progress`` is
    called with the figures done and their number.
    """
    write_whole(folder / "table1.csv", csv_text(dataset_rows(records)))
    write_whole(folder / "table2.csv", csv_text(result_rows(records)))
    write_whole(folder / "curves.csv", csv_text(curve_rows(records)))
    (folder / "figures").mkdir(exist_ok=True)
    images: dict[str, str] = {}
    for name, (svg, png) in drawings(_displays(records), _draw, jobs, progress):
        stem = folder / "figures" / name.replace("/", "-")
        write_whole(stem.with_name(f"{stem.name}.svg"), svg)
        write_whole(stem.with_name(f"{stem.name}.png"), png)
        images[name] = svg
    write_whole(folder / "report.html", render_paper_report(paper_view(spec, versions, records), images))


def _displays(records: Sequence[CellRecord]) -> dict[str, Any]:
    """Return the figures of the report by name: Figures 1 and 2, and Figure 3 for every cell."""
    return {
        "surfaces": plots.ObjectiveSurfacesDisplay(objective_surfaces()),
        "schemes": plots.ConvexitySchemesDisplay(records[0].eigenvalues[:4]),
        **{f"curves/{record.cell}": plots.AccuracyCurvesDisplay.from_record(record) for record in records},
    }


def _draw(display: Any) -> tuple[str, bytes]:
    """Return a display as SVG and as PNG."""
    figure = display.plot().figure_
    png = io.BytesIO()
    plots.save_figure(figure, png, file_format="png")
    return plots.figure_svg(figure), png.getvalue()
