"""What a cell comes to: means over its draws, ranks, failures."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.stats import rankdata

from semikpca_benchmarks._typing import FloatArray
from semikpca_benchmarks.accuracy._methods import METHODS, REFERENCE, find_method
from semikpca_benchmarks.accuracy._records import SCORES, AccuracyRecord

CLOSE = 3.0
"""Points of accuracy within which a method counts as close to the best peer."""

ENOUGH_LABELS = 5.0
"""Labels per class from which on the reference is to be close to the best peer."""

MEASURES = ("accuracy", "balanced_accuracy", "rare_f1", *SCORES)
"""What is measured in each draw: the first three in percent, scores of probabilities as they are."""

RESULT_COLUMNS = (
    "dataset", "group", "labels", "n_labeled", "labels_per_class", "n_samples", "n_features", "n_classes",
    "majority_percent", "rarest_percent", "n_rare_classes", "method", "kind", "accuracy_mean", "accuracy_std", "rank",
    *(f"{measure}_{number}" for measure in MEASURES[1:] for number in ("mean", "std")), "n_draws", "n_failed",
)  # fmt: skip
BEHIND_COLUMNS = (
    "dataset", "group", "labels", "labels_per_class", "reference_mean", "best_peer", "best_peer_mean", "difference",
)  # fmt: skip
NOISE_COLUMNS = (
    "dataset", "labels", "n_labeled", "flipped_percent", "method", "kind", "accuracy_mean", "accuracy_std", "rank",
    "audit_auc_mean", "audit_auc_std", "n_draws", "n_failed",
)  # fmt: skip

Means = Mapping[str, float]
"""A mean by method in one cell; methods without any result are not in it."""


def values_of(record: AccuracyRecord, method: str, measure: str) -> FloatArray:
    """Return one of ``MEASURES`` in the draws in which it has a value, shape (at most repetitions,)."""
    if measure in SCORES:
        values = record.methods[method].scores.get(measure, np.array([]))
    else:
        of_draws = {
            "accuracy": record.accuracies,
            "balanced_accuracy": record.balanced_accuracies,
            "rare_f1": record.rare_f1,
        }
        values = of_draws[measure](method)
    return values[~np.isnan(values)]


def means_of(record: AccuracyRecord, measure: str = "accuracy") -> dict[str, float]:
    """Return the mean of a measure over the draws by method; a method that has no value is left out."""
    found = {method: values_of(record, method, measure) for method in methods_of([record])}
    return {method: float(values.mean()) for method, values in found.items() if len(values)}


def methods_of(records: Iterable[AccuracyRecord]) -> list[str]:
    """Return the methods of records, in the order in which methods are listed."""
    present = {method for record in records for method in record.methods}
    return [method.name for method in METHODS if method.name in present]


def result_rows(records: Iterable[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return one row for each cell with right labels and each method."""
    rows = []
    for record in records:
        if record.cell.flipped:
            continue
        cell, info = record.cell, record.cell.info
        ranks = ranks_of(means_of(record), record.methods)
        for method in methods_of([record]):
            row = {
                "dataset": info.name,
                "group": info.groups[0],
                "labels": cell.labels,
                "n_labeled": cell.n_labeled,
                "labels_per_class": cell.labels_per_class,
                "n_samples": info.n_samples,
                "n_features": record.n_features,
                "n_classes": info.n_classes,
                "majority_percent": round(100 * max(info.class_sizes) / info.n_samples, 1),
                "rarest_percent": round(100 * min(info.class_sizes) / info.n_samples, 1),
                "n_rare_classes": len(info.rare_classes),
                **_result(record, method, ranks),
            }
            rows.append({column: row[column] for column in RESULT_COLUMNS})
    return rows


def noise_rows(records: Iterable[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return one row for each cell with wrong labels and each method that was run on it."""
    rows = []
    for record in records:
        if not record.cell.flipped:
            continue
        ranks = ranks_of(means_of(record), record.methods)
        for method in methods_of([record]):
            found = record.methods[method]
            areas = np.array([]) if found.audit_auc is None else found.audit_auc[~np.isnan(found.audit_auc)]
            row = {
                "dataset": record.cell.dataset,
                "labels": record.cell.labels,
                "n_labeled": record.cell.n_labeled,
                "flipped_percent": record.cell.flipped,
                **_result(record, method, ranks),
                **_mean_and_std("audit_auc", areas),
            }
            rows.append({column: row[column] for column in NOISE_COLUMNS})
    return rows


def behind_rows(records: Iterable[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return the cells with enough labels in which the reference is not close to the best peer, worst first."""
    rows = []
    for record in records:
        means = means_of(record)
        peer = best_peer(means)
        if record.cell.flipped or record.cell.labels_per_class < ENOUGH_LABELS or peer is None:
            continue
        if REFERENCE in record.methods and not is_close(means, REFERENCE):
            ours = means.get(REFERENCE, 0.0)  # no result at all is no accuracy
            rows.append(
                {
                    "dataset": record.cell.dataset,
                    "group": record.cell.info.groups[0],
                    "labels": record.cell.labels,
                    "labels_per_class": record.cell.labels_per_class,
                    "reference_mean": rounded(ours),
                    "best_peer": peer,
                    "best_peer_mean": rounded(means[peer]),
                    "difference": rounded(ours - means[peer]),
                }
            )
    return sorted(rows, key=lambda row: float(row["difference"]))


def n_cells_with_enough_labels(records: Iterable[AccuracyRecord]) -> int:
    """Return how many cells ``behind_rows`` looks at."""
    cells = (record.cell for record in records if REFERENCE in record.methods)
    return sum(not cell.flipped and cell.labels_per_class >= ENOUGH_LABELS for cell in cells)


def failure_rows(records: Iterable[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return what failed: one row for each cell, method and message, with the number of draws."""
    return [
        {"cell": str(record.cell), "method": method, "message": message, "n_draws": count}
        for record in records
        for method in methods_of([record])
        for message, count in Counter(record.methods[method].failures.values()).items()
    ]


def seconds_by_method(records: Iterable[AccuracyRecord]) -> dict[str, float]:
    """Return the seconds that each method took in all, in draws with right and with wrong labels."""
    total: dict[str, float] = {}
    for record in records:
        for method, found in record.methods.items():
            total[method] = total.get(method, 0.0) + float(found.seconds.sum())
    return total


def best_peer(means: Means) -> str | None:
    """Return the peer with the highest mean, the first of equals."""
    peers = [method for method in means if find_method(method).kind == "peer"]
    return max(peers, key=lambda method: means[method], default=None)


def is_close(means: Means, method: str) -> bool:
    """Return whether a method is at most three points below the best peer."""
    peer = best_peer(means)
    return method in means and (peer is None or means[method] >= means[peer] - CLOSE)


def ranks_of(means: Means, methods: Iterable[str]) -> dict[str, float]:
    """Return the places of all methods but the oracle; equal means share theirs, no result is the last place."""
    ranked = [method for method in methods if find_method(method).kind != "oracle"]
    places = rankdata([-means.get(method, -np.inf) for method in ranked])
    return dict(zip(ranked, places.tolist(), strict=True))


def rounded(value: Any) -> float:
    """Return a number as tables have it, with four digits after the point."""
    return round(float(value), 4)


def _result(record: AccuracyRecord, method: str, ranks: Mapping[str, float]) -> dict[str, Any]:
    n_draws, n_done = len(record.labeled), len(values_of(record, method, "accuracy"))
    measured: dict[str, float | None] = {}
    for measure in MEASURES:
        measured.update(_mean_and_std(measure, values_of(record, method, measure)))
    return {
        "method": method,
        "kind": find_method(method).kind,
        **measured,
        "rank": ranks.get(method),
        "n_draws": n_draws,
        "n_failed": n_draws - n_done,
    }


def _mean_and_std(name: str, values: FloatArray) -> dict[str, float | None]:
    if not len(values):
        return {f"{name}_mean": None, f"{name}_std": None}
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return {f"{name}_mean": rounded(values.mean()), f"{name}_std": rounded(spread)}
