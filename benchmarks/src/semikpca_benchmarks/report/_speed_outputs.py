"""Everything that ``semikpca bench speed`` leaves in its folder, from records alone: tables, figure, page."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from semikpca.plots import figure_svg
from semikpca.report import csv_text, write_whole
from semikpca_benchmarks.plots import GrowthCurve, GrowthDisplay
from semikpca_benchmarks.report._html import render_speed_report
from semikpca_benchmarks.speed import (
    BAR_COLUMNS,
    RESULT_COLUMNS,
    WORKS,
    SpeedRecord,
    SpeedSpec,
    bar_rows,
    result_rows,
)

# Methods of the figure, the first one in front; what is missing is left out.
_CURVES = (
    ("fit", "auto"),
    ("fit", "blocked"),
    ("fit", "blocked float32"),
    ("fit", "dense"),
    ("nystroem", "nystroem"),
    ("fit", "label spreading"),
    ("fit", "kernel pca"),
)
_GPU_COLUMNS = (
    "what",
    "kernel",
    "mode",
    "rows",
    "features",
    "columns",
    "seconds",
    "times_chunked",
    "peak_gb",
    "device",
)


def write_speed_outputs(
    folder: Path,
    spec: SpeedSpec,
    versions: Mapping[str, str],
    records: Sequence[SpeedRecord],
    gpu: Path | None = None,
) -> None:
    """Write ``results.csv``, ``bars.csv``, ``growth.svg`` and ``report.html``, each whole or not at all.

    ``gpu`` is the CSV file of ``benchmarks/bench_gpu.py``, whose figures come from another computer.
    """
    gpu_rows = [] if gpu is None else _read_gpu(gpu)
    stamp = {"command": spec.command(), **{name.replace("-", "_"): version for name, version in versions.items()}}
    results = [{**row, **stamp} for row in result_rows(records)]
    write_whole(folder / "results.csv", csv_text(results, (*RESULT_COLUMNS, *stamp)))
    write_whole(folder / "bars.csv", csv_text(bar_rows(records), BAR_COLUMNS))
    figures = {}
    curves = growth_curves(records)
    if curves:
        figures["growth"] = figure_svg(GrowthDisplay(curves).plot().figure_)
        write_whole(folder / "growth.svg", figures["growth"] + "\n")
    view = speed_view(spec, versions, records, gpu_rows)
    write_whole(folder / "report.html", render_speed_report(view, figures))


def growth_curves(records: Iterable[SpeedRecord]) -> list[GrowthCurve]:
    """Return time and memory of the fits over the number of rows, method by method."""
    records = list(records)
    curves = []
    for work, method in _CURVES:
        found = [
            (record.cell.n, record.measurements[method])
            for record in records
            if record.cell.work == work and method in record.measurements and record.measurements[method].seconds
        ]
        if found:
            found.sort(key=lambda entry: entry[0])
            seconds = [one.median_seconds for _, one in found]
            memory = [one.peak_mb for _, one in found]
            curves.append(GrowthCurve(method, tuple(n for n, _ in found), _numbers(seconds), _numbers(memory)))
    return curves


def speed_view(
    spec: SpeedSpec,
    versions: Mapping[str, str],
    records: Sequence[SpeedRecord],
    gpu: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Return what the page shows: strings, numbers, lists and dicts only."""
    results, bars = result_rows(records), bar_rows(records)
    cores = sorted({record.cores for record in records})
    return {
        "title": "Time and memory, over the number of rows",
        "command": spec.command(),
        "quick": spec.quick,
        "cores": " to ".join(map(str, dict.fromkeys((cores[0], cores[-1])))) if cores else "0",
        "bars": [{**row, "value": _bar_text(row, "value"), "bar": _bar_text(row, "bar")} for row in bars],
        "n_met": sum(row["met"] == "yes" for row in bars),
        "works": [
            {"name": name, "title": WORKS[name].title, "rows": rows}
            for name in spec.works
            if (rows := [_result_view(row) for row in results if row["work"] == name])
        ],
        "failures": [row for row in results if row["failure"]],
        "gpu": {"columns": list(_GPU_COLUMNS), "rows": [[row[name] for name in _GPU_COLUMNS] for row in gpu]},
        "versions": [{"name": name, "version": version} for name, version in sorted(versions.items())],
    }


def speed_headlines(records: Sequence[SpeedRecord]) -> list[str]:
    """Return what a run comes to, a line for each bar, for the terminal."""
    lines = []
    for row in bar_rows(records):
        verdict = {"yes": "met", "no": "MISSED", "": "too small to say"}[row["met"]]
        limit = f"{row['sense']} {_bar_text(row, 'bar')}"
        lines.append(f"n = {row['n']:,}: {row['what']}: {_bar_text(row, 'value')} ({limit}: {verdict})")
    failed = [f"{row['work']}, {row['method']}, n = {row['n']:,}: {row['failure']}" for row in result_rows(records)
              if row["failure"]]  # fmt: skip
    return lines + failed


def _result_view(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "n": f"{row['n']:,}",
        "place": row["place"],
        "method": row["method"],
        "backend": row["backend"],
        "dtype": row["dtype"],
        "seconds": _seconds_text(row["seconds"]),
        "ratio": "" if row["ratio"] is None else f"{row['ratio']:.3g}",
        "reference": row["reference"] or "",
        "memory": "" if row["peak_mb"] is None else f"{row['peak_mb']:,.0f}",
        "seconds_growth": "" if row["seconds_growth"] is None else f"{row['seconds_growth']:.2f}",
        "memory_growth": "" if row["memory_growth"] is None else f"{row['memory_growth']:.2f}",
        "setup_seconds": _seconds_text(row["setup_seconds"]),
        "products": "" if row["products"] is None else str(row["products"]),
        "error": "" if row["error"] is None else f"{row['error']:.0e}",
        "against": row["against"],
        "labels_equal": "" if row["labels_equal"] is None else f"{row['labels_equal']:.2%}",
        "failure": row["failure"],
    }


def _seconds_text(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.1f} s" if value >= 10 else f"{value:.2f} s" if value >= 1 else f"{1000 * value:.3g} ms"


def _bar_text(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    return f"{value:,.0f} {row['unit']}".strip() if value >= 100 else f"{value:.3g} {row['unit']}".strip()


def _numbers(values: Sequence[float | None]) -> Any:
    return np.array([np.nan if value is None else value for value in values])


def _read_gpu(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file that have a time."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lacking = [name for name in _GPU_COLUMNS if rows and name not in rows[0]]
    if not rows or lacking:
        raise ValueError(
            f"{path} holds no figures of benchmarks/bench_gpu.py: "
            + (f"it has no column {lacking[0]!r}." if lacking else "it has no rows.")
        )
    return [row for row in rows if row["seconds"]]
