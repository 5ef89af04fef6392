"""The report on the accuracy benchmark as plain data: everything that the page shows, before any of it is drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

from semikpca_benchmarks.accuracy import (
    CLOSE,
    DIGITS_COUNTS,
    ENOUGH_LABELS,
    FURTHER_COUNTS,
    METHODS,
    NOISE_COUNT,
    NOISE_DATASETS,
    NOISE_PERCENTS,
    PAPER_SHARES,
    REFERENCE,
    AccuracyRecord,
    AccuracySpec,
    behind_rows,
    failure_rows,
    find_method,
    group_of,
    n_cells_with_enough_labels,
    noise_rows,
    paired_test_rows,
    result_rows,
    seconds_by_method,
    summary_rows,
)
from semikpca_benchmarks.report._accuracy_summary import Table, counted, summary_cards, summary_sentences

_MAIN_GROUPS = {
    "all": "Whole suite",
    "paper": "Paper’s sets",
    "digits": "Digits",
    "tuning": "Tuning half",
    "aside": "Aside half",
}
_STEPS = (
    ("Paper’s sets, by share of labels", {f"paper {share}%": f"{share}%" for share in PAPER_SHARES}),
    ("Digits, by labels per class", {f"digits {count}": str(count) for count in DIGITS_COUNTS}),
)
_KINDS = {"ours": "ours", "peer": "peer", "oracle": "uses the test labels"}
_CURVE_PEERS = 4


def accuracy_view(spec: AccuracySpec, versions: Mapping[str, str], records: Sequence[AccuracyRecord]) -> dict[str, Any]:
    """Return what the report on a run shows: strings, numbers, lists and dicts only.

    Parameters
    ----------
    spec : AccuracySpec
        What was run.
    versions : mapping of str to str
        What it was run with.
    records : sequence of AccuracyRecord
        In the order of the spec; cells that are missing are left out of every count.
    """
    results, summary = result_rows(records), summary_rows(records)
    table = {(row["group"], row["method"]): row for row in summary}
    groups = [
        {"name": name, "label": label, "n_cells": sizes[name]}
        for sizes in [{row["group"]: row["n_cells"] for row in summary}]
        for name, label in _MAIN_GROUPS.items()
        if name in sizes
    ]
    methods = _by_rank(table, spec.methods)
    behind, failures = behind_rows(records), failure_rows(records)
    return {
        "title": "Few labels, many rows: semikpca against what else one can install",
        "reference": REFERENCE if REFERENCE in spec.methods else None,
        "close": CLOSE,
        "enough_labels": ENOUGH_LABELS,
        "repetitions": spec.repetitions,
        "summary": {
            "cards": summary_cards(table, behind, records),
            "sentences": summary_sentences(table, behind, records),
        },
        "groups": groups,
        "headline": [_headline_row(table, groups, method) for method in methods],
        "steps": _steps(table, methods),
        "ranks": _ranks(table, groups),
        "tests": _tests(paired_test_rows(records)),
        "behind": behind,
        "n_enough_labels": n_cells_with_enough_labels(records),
        "failures": failures,
        "curves": _curves(results),
        "results": _results(results, methods),
        "noise": _noise(records, results, methods),
        "datasets": _datasets(results),
        "methods": _methods(spec, records),
        "absent": _absent(spec, versions),
        "settings": _settings(spec),
        "versions": [{"name": name, "version": version} for name, version in sorted(versions.items())],
        "command": spec.command(),
    }


def accuracy_headlines(spec: AccuracySpec, versions: Mapping[str, str], records: Sequence[AccuracyRecord]) -> list[str]:
    """Return what a run comes to in a few sentences, for the terminal."""
    table = {(row["group"], row["method"]): row for row in summary_rows(records)}
    return [*summary_sentences(table, behind_rows(records), records), *_absent(spec, versions)]


def _by_rank(table: Table, methods: Sequence[str]) -> list[str]:
    """Return the methods by their mean rank over all cells, those without a rank last."""
    ranks = {method: table["all", method]["rank_mean"] for method in methods if ("all", method) in table}
    return sorted(ranks, key=lambda method: (ranks[method] is None, ranks[method] or 0.0))


def _headline_row(table: Table, groups: Sequence[dict[str, Any]], method: str) -> dict[str, Any]:
    whole = table["all", method]
    return {
        "method": method,
        "kind": whole["kind"],
        "groups": [
            {
                "mean": row["accuracy_mean"],
                "rank": row["rank_mean"],
                "best_mean": _is_best(table, row, "accuracy_mean"),
                "best_rank": _is_best(table, row, "rank_mean"),
            }
            for row in (table[group["name"], method] for group in groups)
        ],
        "wins": whole["wins"],
        "close": whole["cells_within_3"],
    }


def _is_best(table: Table, row: dict[str, Any], column: str) -> bool:
    """Return whether a method has the best value of its group; the oracle does not compete."""
    if row[column] is None or row["kind"] == "oracle":
        return False
    values = [
        other[column]
        for (group, _), other in table.items()
        if group == row["group"] and other["kind"] != "oracle" and other[column] is not None
    ]
    return bool(row[column] == (max(values) if column == "accuracy_mean" else min(values)))


def _steps(table: Table, methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return mean accuracies by the number of labels, on the paper's sets and on digits."""
    steps = []
    for label, columns in _STEPS:
        present = {name: text for name, text in columns.items() if any(group == name for group, _ in table)}
        if present:
            steps.append(
                {
                    "label": label,
                    "columns": list(present.values()),
                    "rows": [
                        {
                            "method": method,
                            "kind": find_method(method).kind,
                            "entries": [
                                {"mean": row["accuracy_mean"], "best": _is_best(table, row, "accuracy_mean")}
                                for row in (table[name, method] for name in present)
                            ],
                        }
                        for method in methods
                        if any(table[name, method]["accuracy_mean"] is not None for name in present)
                    ],
                }
            )
    return steps


def _ranks(table: Table, groups: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mean ranks of the figure: the whole suite first, then its groups where it has several."""
    shown = [group for group in groups if group["name"] == "all" or len(groups) > 2]
    return [
        {
            "label": group["label"].lower(),
            "ranks": {
                method: row["rank_mean"]
                for (name, method), row in table.items()
                if name == group["name"] and row["rank_mean"] is not None
            },
        }
        for group in shown
    ]


def _tests(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tests over the whole suite, one row a peer, hardest peer first."""
    by_unit = {(row["unit"], row["peer"]): row for row in rows if row["group"] == "all"}
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


def _curves(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the figures of accuracy against labels by group, and what each of them shows."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for dataset in dict.fromkeys(row["dataset"] for row in results):
        rows = [row for row in results if row["dataset"] == dataset]
        if len({row["labels"] for row in rows}) > 1:
            groups.setdefault(group_of(dataset), []).append(
                {"figure": f"curves/{dataset}", "dataset": dataset, "methods": curve_methods(rows)}
            )
    return [{"label": label, "figures": groups[name]} for name, label in _MAIN_GROUPS.items() if name in groups]


def curve_methods(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the methods that the figure of a data set shows: the reference and the peers with the highest means."""
    means: dict[str, list[float]] = {}
    for row in rows:
        if row["accuracy_mean"] is not None:
            means.setdefault(row["method"], []).append(row["accuracy_mean"])
    peers = [method for method in means if find_method(method).kind == "peer"]
    best = sorted(peers, key=lambda method: -sum(means[method]) / len(means[method]))[:_CURVE_PEERS]
    ours = [method for method in (REFERENCE,) if method in means]
    return [*ours, *best] or list(means)[:1]


def _results(results: Sequence[dict[str, Any]], methods: Sequence[str]) -> list[dict[str, Any]]:
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
            "label": label,
            "per_class": name != "paper",
            "methods": shown,
            "rows": [
                {**cell, "entries": [cell["entries"].get(method) for method in shown]} for cell in groups[name].values()
            ],
        }
        for name, label in _MAIN_GROUPS.items()
        if name in groups
        for shown in [[m for m in methods if any(m in cell["entries"] for cell in groups[name].values())]]
    ]


def _noise(
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


def _datasets(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    first = {row["dataset"]: row for row in reversed(results)}
    return [
        {
            "dataset": name,
            "group": _MAIN_GROUPS[row["group"]],
            **{column: row[column] for column in ("n_samples", "n_features", "n_classes", "majority_percent")},
        }
        for name, row in reversed(first.items())
    ]


def _methods(spec: AccuracySpec, records: Sequence[AccuracyRecord]) -> list[dict[str, Any]]:
    seconds = seconds_by_method(records)
    n_fits = {
        method: sum(len(record.methods[method].seconds) for record in records if method in record.methods)
        for method in seconds
    }
    return [
        {
            "name": method.name,
            "kind": _KINDS[method.kind],
            "settings": method.settings,
            "seconds": seconds[method.name] / n_fits[method.name] if n_fits.get(method.name) else None,
        }
        for method in METHODS
        if method.name in spec.methods
    ]


def _absent(spec: AccuracySpec, versions: Mapping[str, str]) -> list[str]:
    """Say which methods were left out for want of a package."""
    absent: dict[str, list[str]] = {}
    for method in METHODS:
        if method.package is not None and method.package not in versions and method.name not in spec.methods:
            absent.setdefault(method.package, []).append(method.name)
    return [
        f"Not run, because the package {package} was not installed: {', '.join(names)}."
        for package, names in absent.items()
    ]


def _settings(spec: AccuracySpec) -> list[dict[str, str]]:
    counts, further = ("{} and {}".format(", ".join(map(str, c[:-1])), c[-1]) for c in (DIGITS_COUNTS, FURTHER_COUNTS))
    noise = " and ".join(f"{percent}%" for percent in NOISE_PERCENTS)
    settings = {
        "Repetitions": f"{counted(spec.repetitions, 'draw')} of the labeled rows for each cell, the same for all "
        "methods",
        "Seed": f"{spec.seed}, of the draws; the data are always the same",
        "Labels": "The paper’s sets: its four counts, drawn uniformly, again until both classes are there. Digits: "
        f"{counts} of each class. Further sets: {further} per class on average, one row of each class and the rest "
        "uniformly; counts beyond a third of the rows are skipped",
        "Features": "mean 0 and variance 1, constant columns left alone; digits divided by 16. Sets of more than 1,000 "
        "rows are cut to a random sample of 1,000, but for digits",
        "Accuracy": "on the unlabeled rows, in percent; a fit that failed is left out of its mean and counted",
        "Ranks": "by the mean over the draws in each cell, among all methods that do not use the test labels; equal "
        "means share their rank",
        "Halves": "the 24 further sets were split by a hash of their names before any result was seen. Defaults were "
        "tuned on the paper’s sets, on digits and on the tuning half alone",
        "Wrong labels": (
            f"{noise} of the given labels turned into another class, {NOISE_COUNT} labels per class, on "
            f"{', '.join(NOISE_DATASETS)}; the draws are those without wrong labels"
            if spec.noise
            else "not run"
        ),
    }
    return [{"name": name, "value": value} for name, value in settings.items()]
