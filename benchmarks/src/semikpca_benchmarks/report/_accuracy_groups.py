"""Groups of cells on the page: accuracies and ranks, rare classes, probabilities, paired tests."""

from collections.abc import Mapping, Sequence
from typing import Any

from semikpca_benchmarks.accuracy import ALL, BEST_KERNEL, REFERENCE
from semikpca_benchmarks.report._accuracy_words import (
    Table,
    counts_of,
    is_best,
    label_of,
    shown_collections,
    stepped_collections,
    steps_of,
)

_CURVES = 4  # methods beside the reference in the figure of calibration errors


def by_rank(table: Table, methods: Sequence[str]) -> list[str]:
    """Return the methods by their mean rank over all cells, those without a rank last, then the best single kernel."""
    ranks = {method: table[ALL, method]["rank_mean"] for method in methods if (ALL, method) in table}
    ordered = sorted(ranks, key=lambda method: (ranks[method] is None, ranks[method] or 0.0))
    return [*ordered, BEST_KERNEL] if (ALL, BEST_KERNEL) in table else ordered


def groups_of(summary: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the collections that the page shows, with the number of their cells."""
    sizes = {row["group"]: row["n_cells"] for row in summary}
    return [{"name": name, "label": label_of(name), "n_cells": sizes[name]} for name in shown_collections(summary)]


def headline_row(table: Table, groups: Sequence[dict[str, Any]], method: str) -> dict[str, Any]:
    """Return mean accuracy and mean rank of a method in every collection."""
    whole = table[ALL, method]
    return {
        "method": method,
        "kind": whole["kind"],
        "groups": [
            {
                "mean": row["accuracy_mean"],
                "rank": row["rank_mean"],
                "best_mean": is_best(table, row, "accuracy_mean"),
                "best_rank": is_best(table, row, "rank_mean"),
            }
            if row
            else {"mean": None, "rank": None, "best_mean": False, "best_rank": False}
            for row in (table.get((group["name"], method)) for group in groups)
        ],
        "wins": whole["wins"],
        "close": whole["cells_within_3"],
    }


def steps(table: Table, summary: Sequence[dict[str, Any]], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return mean accuracies by the number of labels, collection by collection."""
    found = []
    for collection in stepped_collections(summary):
        columns = steps_of(summary, collection)
        rows = [_step_row(table, columns, method, ["accuracy_mean"]) for method in methods]
        found.append(
            {
                "label": f"{label_of(collection)}, {counts_of(collection)}",
                "columns": _columns(summary, columns),
                "rows": [row for row in rows if any(entry["accuracy_mean"] is not None for entry in row["entries"])],
            }
        )
    return found


def rare_tables(table: Table, summary: Sequence[dict[str, Any]], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return accuracy, balanced accuracy and F1 of rare classes: on the rare sets, and on those of the user's."""
    measures = ["balanced_accuracy_mean", "rare_f1_mean"]
    n_rare = {row["group"]: (row["n_rare_cells"], row["n_cells"]) for row in summary}
    collections = dict.fromkeys(row["collection"] for row in summary)
    own = [name for name in collections if label_of(name) == name or name == "folder"]
    tables = []
    for collection in ["rare", *own]:
        n_with, n_cells = n_rare.get(collection, (0, 0))
        if not n_with:
            continue
        columns = {labels: group for labels, group in steps_of(summary, collection).items() if n_rare[group][0]}
        rows = [
            {
                **_step_row(table, columns, method, measures),
                "whole": _entry(table, table[collection, method], ["accuracy_mean", *measures]),
            }
            for method in methods
            if (collection, method) in table
        ]
        tables.append(
            {
                "label": label_of(collection),
                "n_cells": n_cells,
                "n_rare_cells": n_with,
                "columns": _columns(summary, columns),
                "rows": [row for row in rows if row["whole"]["balanced_accuracy_mean"] is not None],
            }
        )
    return tables


def probability_tables(table: Table, summary: Sequence[dict[str, Any]], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return the scores of probabilities, collection by collection, for the methods that have any."""
    tables = []
    for collection in shown_collections(summary):
        columns = steps_of(summary, collection)
        rows = [
            {
                **_step_row(table, columns, method, ["calibration_error_mean"]),
                "whole": {
                    **_entry(table, table[collection, method], ["calibration_error_mean", "brier_mean"]),
                    "overconfidence_mean": table[collection, method]["overconfidence_mean"],
                },
            }
            for method in methods
            if (collection, method) in table
        ]
        rows = [row for row in rows if row["whole"]["calibration_error_mean"] is not None]
        if rows:
            tables.append({"label": label_of(collection), "columns": _columns(summary, columns), "rows": rows})
    return tables


def calibration_curves(
    table: Table, summary: Sequence[dict[str, Any]], methods: Sequence[str]
) -> dict[str, Any] | None:
    """Return calibration errors against labels per class over all sets: the reference, and the best of the others."""
    counts = {int(labels): group for labels, group in steps_of(summary, ALL).items() if labels.isdecimal()}
    errors = {
        method: [table[group, method]["calibration_error_mean"] for group in counts.values()]
        for method in methods
        if all((group, method) in table for group in counts.values())
    }
    errors = {method: values for method, values in errors.items() if None not in values}
    others = sorted((method for method in errors if method != REFERENCE), key=lambda method: sum(errors[method]))
    shown = [*(method for method in errors if method == REFERENCE), *others[:_CURVES]]
    if len(counts) < 2 or not shown:
        return None
    return {"labels": list(counts), "errors": {method: errors[method] for method in shown}}


def ranks(table: Table, groups: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mean ranks of the figure: all sets first, then their groups where there are several."""
    shown = [group for group in groups if group["name"] == ALL or len(groups) > 2]
    return [
        {
            "label": group["label"].lower() if label_of(group["name"]) != group["name"] else group["label"],
            "ranks": {
                method: row["rank_mean"]
                for (name, method), row in table.items()
                if name == group["name"] and row["rank_mean"] is not None
            },
        }
        for group in shown
    ]


def tests(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tests over all sets, one row a peer, hardest peer first."""
    by_unit = {(row["unit"], row["peer"]): row for row in rows if row["group"] == ALL}
    found = [
        {
            "peer": peer,
            "difference": row["difference_mean"],
            "wins": row["wins"],
            "ties": row["ties"],
            "losses": row["losses"],
            "p_cells": row["p_value_holm"],
            "p_datasets": by_unit[("data sets", peer)]["p_value_holm"] if ("data sets", peer) in by_unit else None,
        }
        for (unit, peer), row in by_unit.items()
        if unit == "cells"
    ]
    return sorted(found, key=lambda row: float(row["difference"]))


def _columns(summary: Sequence[dict[str, Any]], groups: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the numbers of labels and how many cells have each; small sets have no cells with many labels."""
    sizes = {row["group"]: row["n_cells"] for row in summary}
    return [{"labels": labels, "n_cells": sizes[group]} for labels, group in groups.items()]


def _step_row(table: Table, columns: Mapping[str, str], method: str, measures: Sequence[str]) -> dict[str, Any]:
    return {
        "method": method,
        "kind": table[ALL, method]["kind"],
        "entries": [_entry(table, table.get((group, method)), measures) for group in columns.values()],
    }


def _entry(table: Table, row: Mapping[str, Any] | None, measures: Sequence[str]) -> dict[str, Any]:
    """Return some columns of a row of ``summary.csv``, and which of them are the best of the group."""
    if row is None:
        return {**dict.fromkeys(measures), "best": []}
    return {
        **{measure: row[measure] for measure in measures},
        "best": [measure for measure in measures if is_best(table, row, measure)],
    }
