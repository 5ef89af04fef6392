"""Everything that ``semikpca paper`` leaves in its folder, from records alone; CSV and drawing serve others too."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from joblib import Parallel, delayed

from semikpca import experiments, plots
from semikpca._files import write_whole
from semikpca.report._html import render_paper_report
from semikpca.report._paper_view import paper_view

Drawing = TypeVar("Drawing")


def csv_text(rows: Sequence[dict[str, Any]], columns: Sequence[str] | None = None) -> str:
    """Return rows as CSV with a header; None becomes an empty cell. Without rows the columns must be named."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]) if columns is None else columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def drawings(
    displays: Mapping[str, Any], draw: Callable[[Any], Drawing], jobs: int, progress: Callable[[int, int], None]
) -> Iterator[tuple[str, Drawing]]:
    """Yield what ``draw`` makes of each display, by name and in order; report the number done once each is used."""
    parallel: Any = Parallel(n_jobs=jobs, return_as="generator")
    made = parallel(map(delayed(experiments.WithParent.here(draw)), displays.values()))
    for number, (name, drawing) in enumerate(zip(displays, made, strict=True), start=1):
        yield name, drawing
        progress(number, len(displays))


def write_paper_outputs(
    folder: Path,
    spec: experiments.PaperSpec,
    versions: dict[str, str],
    records: Sequence[experiments.CellRecord],
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write ``table1.csv``, ``table2.csv``, ``curves.csv``, ``figures/*.svg``, ``figures/*.png`` and ``report.html``.

    Each file is written whole or not at all. Figures are drawn by ``jobs`` processes side by side; ``progress`` is
    called with the figures done and their number.
    """
    write_whole(folder / "table1.csv", csv_text(experiments.dataset_rows(records)))
    write_whole(folder / "table2.csv", csv_text(experiments.result_rows(records)))
    write_whole(folder / "curves.csv", csv_text(experiments.curve_rows(records)))
    (folder / "figures").mkdir(exist_ok=True)
    images: dict[str, str] = {}
    for name, (svg, png) in drawings(_displays(records), _draw, jobs, progress):
        stem = folder / "figures" / name.replace("/", "-")
        write_whole(stem.with_name(f"{stem.name}.svg"), svg)
        write_whole(stem.with_name(f"{stem.name}.png"), png)
        images[name] = svg
    write_whole(folder / "report.html", render_paper_report(paper_view(spec, versions, records), images))


def _displays(records: Sequence[experiments.CellRecord]) -> dict[str, Any]:
    """Return the figures of the report by name: Figures 1 and 2, and Figure 3 for every cell."""
    return {
        "surfaces": plots.ObjectiveSurfacesDisplay(experiments.objective_surfaces()),
        "schemes": plots.ConvexitySchemesDisplay(records[0].eigenvalues[:4]),
        **{f"curves/{record.cell}": plots.AccuracyCurvesDisplay.from_record(record) for record in records},
    }


def _draw(display: Any) -> tuple[str, bytes]:
    """Return a display as SVG and as PNG."""
    figure = display.plot().figure_
    png = io.BytesIO()
    plots.save_figure(figure, png, file_format="png")
    return plots.figure_svg(figure), png.getvalue()
