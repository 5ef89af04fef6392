"""Tables made of records: ranks, groups of cells, paired tests, and where the reference is behind."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon

from semikpca.experiments import paper_label_counts
from semikpca_benchmarks._typing import FloatArray
from semikpca_benchmarks.accuracy._methods import METHODS, REFERENCE, find_method
from semikpca_benchmarks.accuracy._records import AccuracyRecord
from semikpca_benchmarks.accuracy._spec import DIGITS_COUNTS, AccuracyCell, group_of

CLOSE = 3.0
"""Points of accuracy within which a method counts as close to the best peer."""

ENOUGH_LABELS = 5.0
"""Labels per class from which on the reference is to be close to the best peer."""

PAPER_SHARES = (1, 2, 5, 10)
"""Percent of the rows, as the paper calls its four label counts."""

RESULT_COLUMNS = (
    "dataset", "group", "labels", "n_labeled", "labels_per_class", "n_samples", "n_features", "n_classes",
    "majority_percent", "method", "kind", "accuracy_mean", "accuracy_std", "rank", "n_draws", "n_failed",
)  # fmt: skip
SUMMARY_COLUMNS = (
    "group", "n_cells", "method", "kind", "accuracy_mean", "rank_mean", "wins", "cells_within_3", "n_failed",
)  # fmt: skip
TEST_COLUMNS = (
    "group", "unit", "peer", "n_pairs", "difference_mean", "wins", "ties", "losses", "p_value", "p_value_holm",
)  # fmt: skip
BEHIND_COLUMNS = (
    "dataset", "group", "labels", "labels_per_class", "reference_mean", "best_peer", "best_peer_mean", "difference",
)  # fmt: skip
NOISE_COLUMNS = (
    "dataset", "labels", "n_labeled", "flipped_percent", "method", "kind", "accuracy_mean", "accuracy_std", "rank",
    "audit_auc_mean", "audit_auc_std", "n_draws", "n_failed",
)  # fmt: skip

Means = Mapping[str, float]
"""Mean accuracy by method in one cell; methods without any result are not in it."""


def accuracy_groups(cells: Iterable[AccuracyCell]) -> dict[str, list[AccuracyCell]]:
    """Return the groups of cells that are summarized, by name; those without a cell are left out.

    Cells with wrong labels belong to none of them.
    """
    clean = [cell for cell in cells if not cell.flipped]

    def in_group(name: str) -> list[AccuracyCell]:
        return [cell for cell in clean if group_of(cell.dataset) == name]

    paper, digits = in_group("paper"), in_group("digits")
    groups = {
        **{
            f"paper {share}%": [cell for cell in paper if paper_label_counts(cell.dataset).index(cell.labels) == level]
            for level, share in enumerate(PAPER_SHARES)
        },
        "paper": paper,
        **{f"digits {count}": [cell for cell in digits if cell.labels == count] for count in DIGITS_COUNTS},
        "digits": digits,
        "tuning": in_group("tuning"),
        "aside": in_group("aside"),
        "all": clean,
    }
    return {name: members for name, members in groups.items() if members}


def result_rows(records: Iterable[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return one row for each cell with right labels and each method."""
    rows = []
    for record in records:
        if record.cell.flipped:
            continue
        ranks = ranks_of(_means(record), record.methods)
        for method in _methods_of([record]):
            rows.append(
                {
                    "dataset": record.cell.dataset,
                    "group": group_of(record.cell.dataset),
                    "labels": record.cell.labels,
                    "n_labeled": record.cell.n_labeled,
                    "labels_per_class": record.cell.labels_per_class,
                    "n_samples": record.n_samples,
                    "n_features": record.n_features,
                    "n_classes": record.n_classes,
                    "majority_percent": round(100 * record.majority_share, 1),
                    **_result(record, method, ranks),
                }
            )
    return rows


def noise_rows(records: Iterable[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return one row for each cell with wrong labels and each method that was run on it."""
    rows = []
    for record in records:
        if not record.cell.flipped:
            continue
        ranks = ranks_of(_means(record), record.methods)
        for method in _methods_of([record]):
            found = record.methods[method]
            areas = np.array([]) if found.audit_auc is None else found.audit_auc[~np.isnan(found.audit_auc)]
            rows.append(
                {
                    "dataset": record.cell.dataset,
                    "labels": record.cell.labels,
                    "n_labeled": record.cell.n_labeled,
                    "flipped_percent": record.cell.flipped,
                    **_result(record, method, ranks),
                    "audit_auc_mean": _rounded(areas.mean()) if len(areas) else None,
                    "audit_auc_std": _rounded(_spread(areas)) if len(areas) else None,
                }
            )
    return [{column: row[column] for column in NOISE_COLUMNS} for row in rows]


def summary_rows(records: Sequence[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return one row for each group of cells and each method.

    Means and wins are over the cells of the group. A method that has no result in one of them, as the oracle on more
    than two classes, has no mean there; ranks take a method that failed for the last one. Wins count highest means
    among all ranked methods, shared ones for each. ``cells_within_3`` counts cells in which the mean is at most three
    points below that of the best peer.
    """
    by_cell = {record.cell: record for record in records}
    means = {cell: _means(record) for cell, record in by_cell.items()}
    ranks = {cell: ranks_of(means[cell], record.methods) for cell, record in by_cell.items()}
    rows = []
    for group, cells in accuracy_groups(by_cell).items():
        for method in _methods_of(records):
            present = [cell for cell in cells if method in by_cell[cell].methods]
            whole = all(method in means[cell] for cell in cells)
            ranked = find_method(method).kind != "oracle"
            rows.append(
                {
                    "group": group,
                    "n_cells": len(cells),
                    "method": method,
                    "kind": find_method(method).kind,
                    "accuracy_mean": _rounded(np.mean([means[cell][method] for cell in cells])) if whole else None,
                    "rank_mean": _rounded(np.mean([ranks[cell][method] for cell in cells])) if ranked else None,
                    "wins": sum(_wins(means[cell], method) for cell in cells) if ranked else None,
                    "cells_within_3": sum(_is_close(means[cell], method) for cell in cells) if whole else None,
                    "n_failed": sum(len(by_cell[cell].methods[method].failures) for cell in present),
                }
            )
    return rows


def paired_test_rows(records: Sequence[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return paired tests of the reference against every peer, over cells and over data sets.

    Wilcoxon's signed-rank test of the mean accuracies, two-sided. The cells of a data set go together, so the test over
    cells takes itself for surer than it is; the one over data sets pairs the means over the cells of each set. Holm's
    correction is for all peers of a group. Empty without the reference.
    """
    means = {record.cell: _means(record) for record in records}
    rows: list[dict[str, Any]] = []
    groups = accuracy_groups(means)
    for group in ("paper", "digits", "tuning", "aside", "all"):
        for unit, pairs in (("cells", _by_cell), ("data sets", _by_dataset)):
            tested: list[dict[str, Any]] = []
            for peer in _methods_of(records):
                if find_method(peer).kind != "peer":
                    continue
                differences = pairs(means, groups.get(group, []), peer)
                if len(differences) < 2:
                    continue
                tested.append(
                    {
                        "group": group,
                        "unit": unit,
                        "peer": peer,
                        "n_pairs": len(differences),
                        "difference_mean": _rounded(differences.mean()),
                        "wins": int((differences > 0).sum()),
                        "ties": int((differences == 0).sum()),
                        "losses": int((differences < 0).sum()),
                        "p_value": _signed_rank_p(differences),
                    }
                )
            corrected = holm([row["p_value"] for row in tested])
            rows.extend({**row, "p_value_holm": p} for row, p in zip(tested, corrected, strict=True))
    return [{**row, **{name: float(f"{row[name]:.4g}") for name in ("p_value", "p_value_holm")}} for row in rows]


def behind_rows(records: Iterable[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return the cells with enough labels in which the reference is not close to the best peer, worst first."""
    rows = []
    for record in records:
        means = _means(record)
        peer = best_peer(means)
        if record.cell.flipped or record.cell.labels_per_class < ENOUGH_LABELS or peer is None:
            continue
        if REFERENCE in record.methods and not _is_close(means, REFERENCE):
            ours = means.get(REFERENCE, 0.0)  # no result at all is no accuracy
            rows.append(
                {
                    "dataset": record.cell.dataset,
                    "group": group_of(record.cell.dataset),
                    "labels": record.cell.labels,
                    "labels_per_class": record.cell.labels_per_class,
                    "reference_mean": _rounded(ours),
                    "best_peer": peer,
                    "best_peer_mean": _rounded(means[peer]),
                    "difference": _rounded(ours - means[peer]),
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
        for method in _methods_of([record])
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


def ranks_of(means: Means, methods: Iterable[str]) -> dict[str, float]:
    """Return the places of all methods but the oracle; equal means share theirs, no result is the last place."""
    ranked = [method for method in methods if find_method(method).kind != "oracle"]
    places = rankdata([-means.get(method, -np.inf) for method in ranked])
    return dict(zip(ranked, places.tolist(), strict=True))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's step-down rule.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for position, index in enumerate(np.argsort(p_values, kind="stable")):
        largest = max(largest, min(1.0, (len(p_values) - position) * p_values[index]))
        corrected[index] = largest
    return corrected


def _means(record: AccuracyRecord) -> dict[str, float]:
    found = {method: record.accuracies(method) for method in _methods_of([record])}
    return {
        method: float(np.nanmean(accuracies)) for method, accuracies in found.items() if not np.isnan(accuracies).all()
    }


def _result(record: AccuracyRecord, method: str, ranks: Mapping[str, float]) -> dict[str, Any]:
    accuracies = record.accuracies(method)
    done = accuracies[~np.isnan(accuracies)]
    return {
        "method": method,
        "kind": find_method(method).kind,
        "accuracy_mean": _rounded(done.mean()) if len(done) else None,
        "accuracy_std": _rounded(_spread(done)) if len(done) else None,
        "rank": ranks.get(method),
        "n_draws": len(accuracies),
        "n_failed": len(accuracies) - len(done),
    }


def _methods_of(records: Iterable[AccuracyRecord]) -> list[str]:
    present = {method for record in records for method in record.methods}
    return [method.name for method in METHODS if method.name in present]


def _wins(means: Means, method: str) -> bool:
    ranked = [mean for other, mean in means.items() if find_method(other).kind != "oracle"]
    return method in means and means[method] >= max(ranked)


def _is_close(means: Means, method: str) -> bool:
    peer = best_peer(means)
    return method in means and (peer is None or means[method] >= means[peer] - CLOSE)


def _by_cell(means: Mapping[AccuracyCell, Means], cells: Iterable[AccuracyCell], peer: str) -> FloatArray:
    both = [means[cell] for cell in cells if REFERENCE in means[cell] and peer in means[cell]]
    return np.array([found[REFERENCE] - found[peer] for found in both])


def _by_dataset(means: Mapping[AccuracyCell, Means], cells: Iterable[AccuracyCell], peer: str) -> FloatArray:
    cells = list(cells)
    names = dict.fromkeys(cell.dataset for cell in cells)
    found = [_by_cell(means, [cell for cell in cells if cell.dataset == name], peer) for name in names]
    return np.array([differences.mean() for differences in found if len(differences)])


def _signed_rank_p(differences: FloatArray) -> float:
    if not differences.any():
        return 1.0
    return float(wilcoxon(differences).pvalue)


def _spread(values: FloatArray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def _rounded(value: Any) -> float:
    return round(float(value), 4)
