"""What comes of the single answers of ``bench_regression.py``: means, ranks, and where a peer was better."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from results_csv import circumstances, write_csv

OURS = "SemiKPCARegressorCV"
LIMIT_METHODS = ("KernelRidge", "LSSVMRegressor")  # which OURS must not be worse than by more than the limit
LIMIT = 0.03  # of the standard deviation of the target, on the mean of a set

Cell = tuple[str, int]


def cell_means(records: Iterable[Mapping[str, str]], methods: Sequence[str]) -> dict[Cell, dict[str, float]]:
    """Return the mean error of each method in each cell, a set and a number of labels, over draws that all have."""
    errors: dict[tuple[str, int, int], dict[str, float]] = {}
    for row in records:
        place = (row["data"], int(row["labels"]), int(row["draw"]))
        errors.setdefault(place, {})[row["method"]] = float(row["error"])
    complete: dict[Cell, list[dict[str, float]]] = {}
    for (name, n_labels, _), found in errors.items():
        if all(method in found for method in methods):
            complete.setdefault((name, n_labels), []).append(found)
    return {
        cell: {method: float(np.mean([draw[method] for draw in draws])) for method in methods} | {"draws": len(draws)}
        for cell, draws in complete.items()
    }


def mean_ranks(cells: Mapping[Cell, Mapping[str, float]], methods: Sequence[str]) -> dict[str, float]:
    """Return the mean over the cells of the rank of each method by its mean error; 1 is the best."""
    table = np.array([[cell[method] for method in methods] for cell in cells.values()])
    ranks = table.argsort(axis=1).argsort(axis=1) + 1
    return dict(zip(methods, ranks.mean(axis=0).tolist(), strict=True))


def set_means(cells: Mapping[Cell, Mapping[str, float]], methods: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the mean error of each method on each set, over the numbers of labels."""
    names = list(dict.fromkeys(name for name, _ in cells))
    return {
        name: {m: float(np.mean([cell[m] for (other, _), cell in cells.items() if other == name])) for m in methods}
        for name in names
    }


def interval_means(records: Iterable[Mapping[str, str]]) -> list[dict[str, object]]:
    """Return the share of numbers in their intervals and the mean width, for each method and number of labels."""
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for row in records:
        if row.get("coverage"):
            pair = (float(row["coverage"]), float(row["width"]))
            found.setdefault((row["method"], int(row["labels"])), []).append(pair)
    return [
        {
            "method": method,
            "labels": n_labels,
            "coverage": round(float(np.mean([pair[0] for pair in pairs])), 4),
            "median_width": round(float(np.median([pair[1] for pair in pairs])), 4),
            "draws": len(pairs),
        }
        for (method, n_labels), pairs in sorted(found.items())
    ]


def write_tables(records: Sequence[Mapping[str, str]], methods: Sequence[str], out: Path | None, command: str) -> None:
    """Print ranks and losses; write cells, sets, ranks and intervals as CSV files where a folder is given."""
    cells = cell_means(records, methods)
    ranks, sets = mean_ranks(cells, methods), set_means(cells, methods)
    overall = {m: float(np.mean([cell[m] for cell in cells.values()])) for m in methods}
    made_with = circumstances(command)
    for method in sorted(methods, key=lambda m: ranks[m]):
        print(f"{method:26} mean rank {ranks[method]:.2f}, mean error {overall[method]:.4f}")
    if OURS in methods and all(method in methods for method in LIMIT_METHODS):
        for name, means in sets.items():
            behind = means[OURS] - min(means[method] for method in LIMIT_METHODS)
            if behind > 0:
                print(f"behind on {name}: {behind:+.4f}{', above the limit' if behind > LIMIT else ''}")
    intervals = interval_means(records)
    for row in intervals:
        print(
            f"{row['method']}, {row['labels']} labels: {row['coverage']:.3f} of the numbers in their intervals of 90%"
        )
    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "data": name,
            "labels": n_labels,
            "draws": int(cell["draws"]),
            **_rounded(cell, methods),
            **_best(cell, methods),
        }
        for (name, n_labels), cell in sorted(cells.items())
    ]
    write_csv([{**row, **made_with} for row in rows], out / "cells.csv")
    write_csv(
        [{"data": name, **_rounded(means, methods), **made_with} for name, means in sets.items()], out / "sets.csv"
    )
    ranking = [{"method": m, "mean_rank": round(ranks[m], 3), "mean_error": round(overall[m], 4)} for m in methods]
    write_csv([{**row, "cells": len(cells), **made_with} for row in ranking], out / "ranks.csv")
    if intervals:
        write_csv([{**row, **made_with} for row in intervals], out / "intervals.csv")


def _rounded(means: Mapping[str, float], methods: Sequence[str]) -> dict[str, float]:
    return {method: round(means[method], 4) for method in methods}


def _best(means: Mapping[str, float], methods: Sequence[str]) -> dict[str, str]:
    return {"best": min(methods, key=lambda method: means[method])}
