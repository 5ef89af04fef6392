"""Everything that ``semikpca bench accuracy`` leaves in its folder, from records alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from semikpca.plots import figure_svg
from semikpca.report import csv_text, drawings, write_whole
from semikpca_benchmarks.accuracy import (
    BEHIND_COLUMNS,
    METHODS,
    NOISE_COLUMNS,
    RESULT_COLUMNS,
    SUMMARY_COLUMNS,
    TEST_COLUMNS,
    AccuracyRecord,
    AccuracySpec,
    behind_rows,
    noise_rows,
    paired_test_rows,
    result_rows,
    summary_rows,
    values_of,
)
from semikpca_benchmarks.plots import LabelCurve, LabelCurvesDisplay, MeanRanksDisplay
from semikpca_benchmarks.report._accuracy_view import accuracy_view
from semikpca_benchmarks.report._html import render_accuracy_report


def write_accuracy_outputs(
    folder: Path,
    spec: AccuracySpec,
    versions: Mapping[str, str],
    records: Sequence[AccuracyRecord],
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write ``results.csv``, ``summary.csv``, ``tests.csv``, ``behind.csv``, ``noise.csv`` and ``report.html``.

    Each file is written whole or not at all. Figures are drawn by ``jobs`` processes side by side; ``progress`` is
    called with the figures done and their number.
    """
    for name, rows, columns in (
        ("results", result_rows(records), RESULT_COLUMNS),
        ("summary", summary_rows(records), SUMMARY_COLUMNS),
        ("tests", paired_test_rows(records), TEST_COLUMNS),
        ("behind", behind_rows(records), BEHIND_COLUMNS),
        ("noise", noise_rows(records), NOISE_COLUMNS),
    ):
        write_whole(folder / f"{name}.csv", csv_text(rows, columns))
    view = accuracy_view(spec, versions, records)
    images = dict(drawings(_displays(view, records), _draw, jobs, progress))
    write_whole(folder / "report.html", render_accuracy_report(view, images))


def _displays(view: Mapping[str, Any], records: Iterable[AccuracyRecord]) -> dict[str, Any]:
    """Return the figures of the report by name: mean ranks, calibration errors, and a figure for each data set."""
    ours = [method.name for method in METHODS if method.kind == "ours"]
    ranks = {group["label"]: group["ranks"] for group in view["ranks"] if group["ranks"]}
    displays: dict[str, Any] = {"ranks": MeanRanksDisplay(ranks, ours=ours)} if ranks else {}
    if view["calibration"]:
        displays["calibration"] = _calibration(view["calibration"])
    by_dataset: dict[str, list[AccuracyRecord]] = {}
    for record in records:
        if not record.cell.flipped:
            by_dataset.setdefault(record.cell.dataset, []).append(record)
    for group in view["curves"]:
        for entry in group["figures"]:
            displays[entry["figure"]] = label_curves(by_dataset[entry["dataset"]], entry["methods"], entry["measure"])
    return displays


def label_curves(
    records: Sequence[AccuracyRecord], methods: Sequence[str], measure: str = "accuracy"
) -> LabelCurvesDisplay:
    """Return the display of some methods on one data set: their accuracy, or their balanced accuracy."""
    info = records[0].cell.info
    balanced = measure == "balanced_accuracy"
    return LabelCurvesDisplay(
        [_curve(records, method, measure) for method in methods],
        baseline=100 / info.n_classes if balanced else 100 * max(info.class_sizes) / info.n_samples,
        baseline_name="guessing" if balanced else "largest class",
        title=f"{info.name}: {info.n_samples:,} rows, {info.n_classes} classes",
        unit="labels" if info.counting == "in all" else "labels per class",
        measure=f"mean {measure.replace('_', ' ')} ± standard error (%)",
    )


def _curve(records: Sequence[AccuracyRecord], method: str, measure: str) -> LabelCurve:
    done = [values_of(record, method, measure) for record in records]
    return LabelCurve(
        method=method,
        labels=tuple(record.cell.labels for record in records),
        means=np.array([values.mean() if len(values) else np.nan for values in done]),
        standard_errors=np.array(
            [values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0 for values in done]
        ),
    )


def _calibration(curves: Mapping[str, Any]) -> LabelCurvesDisplay:
    """Return the display of calibration errors over all sets; cells differ far more than draws, so it has no bands."""
    return LabelCurvesDisplay(
        [
            LabelCurve(method, tuple(curves["labels"]), 100 * np.array(errors), np.zeros(len(errors)))
            for method, errors in curves["errors"].items()
        ],
        title="Calibration error, all sets",
        measure="mean calibration error (points)",
    )


def _draw(display: Any) -> str:
    return figure_svg(display.plot().figure_)
