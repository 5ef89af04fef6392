"""Single cells and data sets on the page: curves, all results, wrong labels, and what the data are."""

from collections.abc import Sequence
from typing import Any

from semikpca_benchmarks.accuracy import REFERENCE, AccuracyRecord, find_method, noise_rows
from semikpca_benchmarks.report._accuracy_words import SCALINGS, label_of

_CURVE_PEERS = 4
_BALANCED_GROUPS = ("rare",)  # where the accuracy says little, because one class is nearly all rows


def curves(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the figures of a measure against labels by group, and what each of them shows."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for dataset in dict.fromkeys(row["dataset"] for row in results):
        rows = [row for row in results if row["dataset"] == dataset]
        group = rows[0]["group"]
        measure = "balanced_accuracy" if group in _BALANCED_GROUPS else "accuracy"
        if len({row["labels"] for row in rows}) > 1:
            groups.setdefault(group, []).append(
                {
                    "figure": f"curves/{dataset}",
                    "dataset": dataset,
                    "measure": measure,
                    "methods": curve_methods(rows, measure),
                }
            )
    return [{"label": label_of(name), "figures": figures} for name, figures in groups.items()]


def curve_methods(rows: Sequence[dict[str, Any]], measure: str = "accuracy") -> list[str]:
    """Return the methods that the figure of a data set shows: the reference and the peers with the highest means."""
    means: dict[str, list[float]] = {}
    for row in rows:
        if row[f"{measure}_mean"] is not None:
            means.setdefault(row["method"], []).append(row[f"{measure}_mean"])
    peers = [method for method in means if find_method(method).kind == "peer"]
    best = sorted(peers, key=lambda method: -sum(means[method]) / len(means[method]))[:_CURVE_PEERS]
    ours = [method for method in (REFERENCE,) if method in means]
    return [*ours, *best] or list(means)[:1]


def all_results(results: Sequence[dict[str, Any]], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return every cell and method, group by group; a method that was not run on a cell is None there."""
    methods = sorted(methods, key=lambda method: method != REFERENCE)
    groups: dict[str, dict[tuple[str, int], dict[str, Any]]] = {}
    for row in results:
        cell = groups.setdefault(row["group"], {}).setdefault(
            (row["dataset"], row["labels"]),
            {"dataset": row["dataset"], "labels": row["labels"], "n_labeled": row["n_labeled"], "entries": {}},
        )
        cell["entries"][row["method"]] = {
            "mean": row["accuracy_mean"],
            "std": row["accuracy_std"] if row["n_draws"] > 1 else None,
            "rank": row["rank"],
            "failed": row["n_failed"],
        }
    return [
        {
            "label": label_of(name),
            "per_class": name != "paper",
            "methods": shown,
            "rows": [{**cell, "entries": [cell["entries"].get(method) for method in shown]} for cell in cells.values()],
        }
        for name, cells in groups.items()
        for shown in [[m for m in methods if any(m in cell["entries"] for cell in cells.values())]]
    ]


def noise(
    records: Sequence[AccuracyRecord], results: Sequence[dict[str, Any]], methods: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the cells with wrong labels by data set, beside the same labels without any wrong."""
    rows = noise_rows(records)
    clean = {(row["dataset"], row["labels"], row["method"]): row for row in results}
    found = {(row["dataset"], row["flipped_percent"], row["method"]): row for row in rows}
    tables = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        first = next(row for row in rows if row["dataset"] == dataset)
        percents = list(dict.fromkeys(row["flipped_percent"] for row in rows if row["dataset"] == dataset))
        entries = [
            {
                "method": method,
                "kind": find_method(method).kind,
                "accuracies": [
                    {"mean": row["accuracy_mean"], "std": row["accuracy_std"], "rank": row["rank"]} if row else None
                    for row in (
                        clean.get((dataset, first["labels"], method)),
                        *(found.get((dataset, percent, method)) for percent in percents),
                    )
                ],
                "areas": [
                    found[dataset, percent, method]["audit_auc_mean"] if (dataset, percent, method) in found else None
                    for percent in percents
                ],
            }
            for method in methods
            if any((dataset, percent, method) in found for percent in percents)
        ]
        tables.append(
            {
                "dataset": dataset,
                "labels": first["labels"],
                "n_labeled": first["n_labeled"],
                "percents": percents,
                "rows": sorted(entries, key=_most_robust),
            }
        )
    return tables


def _most_robust(row: dict[str, Any]) -> float:
    """Return what sorts methods by their accuracy at the largest share of wrong labels, best first."""
    last = row["accuracies"][-1]
    return 0.0 if last is None or last["mean"] is None else -float(last["mean"])


def data_sets(records: Sequence[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return what the data are: rows, features, classes, their sizes, and how the features were scaled."""
    first: dict[str, AccuracyRecord] = {}
    for record in records:
        first.setdefault(record.cell.dataset, record)
    return [
        {
            "dataset": name,
            "group": ", ".join(label_of(group) for group in info.groups),
            "n_samples": info.n_samples,
            "n_features": record.n_features,
            "n_classes": info.n_classes,
            "majority_percent": round(100 * max(info.class_sizes) / info.n_samples, 1),
            "rarest_percent": round(100 * min(info.class_sizes) / info.n_samples, 1),
            "scaling": SCALINGS[info.scaling],
        }
        for name, record in first.items()
        for info in [record.cell.info]
    ]
