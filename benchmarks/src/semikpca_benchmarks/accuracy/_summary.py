"""What groups of cells come to: means, ranks and wins, and paired tests of the reference against its peers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from semikpca_benchmarks._typing import FloatArray
from semikpca_benchmarks.accuracy._cells import AccuracyCell
from semikpca_benchmarks.accuracy._groups import accuracy_groups
from semikpca_benchmarks.accuracy._methods import BEST_KERNEL, REFERENCE, SINGLE_KERNELS, find_method
from semikpca_benchmarks.accuracy._records import SCORES, AccuracyRecord
from semikpca_benchmarks.accuracy._results import (
    MEASURES,
    Means,
    is_close,
    means_of,
    methods_of,
    ranks_of,
    rounded,
)

SUMMARY_COLUMNS = (
    "group", "collection", "labels", "n_cells", "n_rare_cells", "method", "kind", "accuracy_mean", "rank_mean", "wins",
    "cells_within_3", *(f"{measure}_mean" for measure in MEASURES[1:]), "n_failed",
)  # fmt: skip
TEST_COLUMNS = (
    "group", "unit", "peer", "n_pairs", "difference_mean", "wins", "ties", "losses", "p_value", "p_value_holm",
)  # fmt: skip


def summary_rows(records: Sequence[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return one row for each group of cells and each method.

    Means and wins are over the cells of the group, those of F1 over its cells with a rare class. A method that has no
    result in one of them, as the oracle on more than two classes, has no mean there; ranks take a method that failed
    for the last one. Wins count highest means among all ranked methods, shared ones for each. ``cells_within_3`` counts
    cells in which the mean is at most three points below that of the best peer. The last row of a group is that of
    ``BEST_KERNEL``, where at least two methods with one kernel were run.
    """
    by_cell = {record.cell: record for record in records}
    means = {measure: {cell: means_of(record, measure) for cell, record in by_cell.items()} for measure in MEASURES}
    right = means["accuracy"]
    ranks = {cell: ranks_of(right[cell], record.methods) for cell, record in by_cell.items()}
    rows: list[dict[str, Any]] = []
    for group in accuracy_groups(by_cell):
        cells = group.cells
        with_rare = [cell for cell in cells if cell.info.rare_classes]
        same = {
            "group": group.name,
            "collection": group.collection,
            "labels": group.labels,
            "n_cells": len(cells),
            "n_rare_cells": len(with_rare),
        }
        for method in methods_of(records):
            present = [cell for cell in cells if method in by_cell[cell].methods]
            whole = all(method in right[cell] for cell in cells)
            ranked = find_method(method).kind != "oracle"
            row = {
                **same,
                "method": method,
                "kind": find_method(method).kind,
                "accuracy_mean": _mean(right, cells, method),
                "rank_mean": rounded(np.mean([ranks[cell][method] for cell in cells])) if ranked else None,
                "wins": sum(_wins(right[cell], method) for cell in cells) if ranked else None,
                "cells_within_3": sum(is_close(right[cell], method) for cell in cells) if whole else None,
                "balanced_accuracy_mean": _mean(means["balanced_accuracy"], cells, method),
                "rare_f1_mean": _mean(means["rare_f1"], with_rare, method),
                **{f"{score}_mean": _mean(means[score], cells, method) for score in SCORES},
                "n_failed": sum(len(by_cell[cell].methods[method].failures) for cell in present),
            }
            rows.append({column: row[column] for column in SUMMARY_COLUMNS})
        best = _best_kernel(means, cells)
        if best:
            rows.append({**dict.fromkeys(SUMMARY_COLUMNS), **same, **best})
    return rows


def paired_test_rows(records: Sequence[AccuracyRecord]) -> list[dict[str, Any]]:
    """Return paired tests of the reference against every peer, over cells and over data sets.

    Wilcoxon's signed-rank test of the mean accuracies, two-sided. The cells of a data set go together, so the test over
    cells takes itself for surer than it is; the one over data sets pairs the means over the cells of each set. Holm's
    correction is for all peers of a group. Empty without the reference.
    """
    means = {record.cell: means_of(record) for record in records}
    rows: list[dict[str, Any]] = []
    for group in accuracy_groups(means):
        if group.labels:
            continue
        for unit, pairs in (("cells", _by_cell), ("data sets", _by_dataset)):
            tested: list[dict[str, Any]] = []
            for peer in methods_of(records):
                if find_method(peer).kind != "peer":
                    continue
                differences = pairs(means, group.cells, peer)
                if len(differences) < 2:
                    continue
                tested.append(
                    {
                        "group": group.name,
                        "unit": unit,
                        "peer": peer,
                        "n_pairs": len(differences),
                        "difference_mean": rounded(differences.mean()),
                        "wins": int((differences > 0).sum()),
                        "ties": int((differences == 0).sum()),
                        "losses": int((differences < 0).sum()),
                        "p_value": _signed_rank_p(differences),
                    }
                )
            corrected = holm([row["p_value"] for row in tested])
            rows.extend({**row, "p_value_holm": p} for row, p in zip(tested, corrected, strict=True))
    return [{**row, **{name: float(f"{row[name]:.4g}") for name in ("p_value", "p_value_holm")}} for row in rows]


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


def _mean(means: Mapping[AccuracyCell, Means], cells: Sequence[AccuracyCell], method: str) -> float | None:
    """Return the mean over cells; None where the method has no value in one of them, or there is none."""
    if not cells or any(method not in means[cell] for cell in cells):
        return None
    return rounded(np.mean([means[cell][method] for cell in cells]))


def _best_kernel(
    means: Mapping[str, Mapping[AccuracyCell, Means]], cells: Sequence[AccuracyCell]
) -> dict[str, Any] | None:
    """Return what the best of our methods with one kernel, chosen by its accuracy in each cell, comes to."""
    right = means["accuracy"]
    choices = {cell: [name for name in SINGLE_KERNELS if name in right[cell]] for cell in cells}
    if min(map(len, choices.values())) < 2:
        return None
    chosen = {cell: max(names, key=right[cell].__getitem__) for cell, names in choices.items()}
    measured: dict[str, float | None] = {}
    for measure in ("accuracy", "balanced_accuracy", "rare_f1"):
        values = [means[measure][cell][name] for cell, name in chosen.items() if name in means[measure][cell]]
        measured[f"{measure}_mean"] = rounded(np.mean(values)) if values else None
    return {"method": BEST_KERNEL, "kind": "oracle", **measured, "n_failed": 0}


def _wins(means: Means, method: str) -> bool:
    ranked = [mean for other, mean in means.items() if find_method(other).kind != "oracle"]
    return method in means and means[method] >= max(ranked)


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
