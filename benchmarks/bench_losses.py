"""Losses beside the square: what wrong labels and far rows do to each, what a fit costs, and what readings cost.

Accuracy: 20 right labels of each class, at random; then 20% or 40% of them flipped to another class, or 1% of the rows
moved far away. Accuracy on the rows that are neither labeled nor moved, mean over the draws, for three settings of
SemiKPCAClassifier; every loss sees the same draws. All sets are digits and those for tuning.
Cost: a fit with each loss at n rows with backend="blocked", in fits with the squared loss that were made in between;
the answer is checked at a sample of rows first. Readings: seconds with the squared loss, in closed form, and with
another, by Newton steps.

    python benchmarks/bench_losses.py --out benchmarks/results
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from results_csv import circumstances, command_line, write_csv
from semikpca import SemiKPCAClassifier
from semikpca.exceptions import UnreachableRowsWarning
from semikpca.kernels import RBF, NeighborGraph
from semikpca.labeling import (
    error_weight_path,
    estimate_accuracy,
    leave_one_label_out,
    prediction_sets,
    suggest_labels,
)
from semikpca.losses import LogCosh, Loss, PseudoHuber, Squared
from semikpca_benchmarks.datasets import benchmark_info, load_benchmark_dataset, scaled

SETS = ("digits", "segment", "wine", "twonorm", "german", "phoneme")
LOSSES: tuple[Loss, ...] = (Squared(), PseudoHuber(1.0), PseudoHuber(0.3), LogCosh(1.0), LogCosh(0.3))
SETTINGS: dict[str, dict[str, Any]] = {
    "rbf, middle": {"kernel": "rbf"},
    "rbf, 0.95": {"kernel": "rbf", "error_weight": 0.95},
    "graph, 0.99": {"kernel": NeighborGraph(10), "error_weight": 0.99},
}
CONDITIONS = ("right labels", "20% flipped", "40% flipped", "1% of rows far away")
LABELS_A_CLASS = 20
FAR = 30.0  # standard deviations of all numbers of the table
# Of the optimality condition at the rows that are looked at, relative to the decisions: the solves stop at 1e-6, and
# kernel values in float32 have seven digits.
CHECKED = 1e-5
CHECKED_ROWS = 200


# -- accuracy ------------------------------------------------------------------------------------------------------


def rows_and_classes(name: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scaled rows of a set and their classes; a fixed sample where there are more."""
    data = load_benchmark_dataset(name)
    rows = np.random.default_rng(0).permutation(len(data.y))[:most]
    return scaled(data.X[rows], benchmark_info(name).scaling), data.y[rows]


def drawn(X: np.ndarray, truth: np.ndarray, condition: str, draw: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, labels and which rows are judged."""
    rng = np.random.default_rng(draw)
    y = np.full(len(truth), -1)
    classes = np.unique(truth)
    for label in classes:
        of_class = np.flatnonzero(truth == label)
        y[rng.choice(of_class, min(LABELS_A_CLASS, len(of_class) // 2), replace=False)] = label
    judged = y == -1
    given = np.flatnonzero(~judged)
    if "flipped" in condition:
        share = float(condition.partition("%")[0]) / 100
        for row in rng.choice(given, round(share * len(given)), replace=False):
            y[row] = rng.choice(classes[classes != truth[row]])
    if "far away" in condition:
        moved = rng.choice(len(truth), max(1, len(truth) // 100), replace=False)
        directions = rng.standard_normal((len(moved), X.shape[1]))
        X = X.copy()
        X[moved] += FAR * X.std() * np.sqrt(X.shape[1]) * directions / np.linalg.norm(directions, axis=1)[:, np.newaxis]
        judged[moved] = False
    return X, y, judged


def accuracies(names: list[str], draws: int, most_rows: int) -> Iterator[dict[str, object]]:
    """Yield a row for each set, condition and setting, with the mean accuracy of each loss."""
    for name in names:
        X, truth = rows_and_classes(name, most_rows)
        for condition in CONDITIONS:
            for setting, options in SETTINGS.items():
                found = np.zeros((draws, len(LOSSES)))
                for draw in range(draws):
                    rows, y, judged = drawn(X, truth, condition, draw)
                    for place, loss in enumerate(LOSSES):
                        model = SemiKPCAClassifier(loss=loss, **options).fit(rows, y)
                        found[draw, place] = np.mean((model.transduction_ == truth)[judged])
                line = {"part": "accuracy", "set": name, "condition": condition, "setting": setting, "draws": draws}
                beside = found - found[:, :1]
                for place, loss in enumerate(LOSSES):
                    line[repr(loss)] = round(100 * float(found[:, place].mean()), 2)
                    if place:
                        error = 100 * float(beside[:, place].std(ddof=1)) / np.sqrt(draws) if draws > 1 else np.nan
                        line[f"standard error of {loss!r} − Squared()"] = round(float(error), 2)
                yield line


# -- cost ----------------------------------------------------------------------------------------------------------


def made_up(n: int, n_classes: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    truth = np.arange(n) % n_classes
    X = 1.2 * rng.standard_normal((n_classes, 20))[truth] + rng.standard_normal((n, 20))
    y = np.full(n, -1)
    labeled = rng.choice(n, n_labels, replace=False)
    y[labeled] = truth[labeled]
    return X, y


def check(model: SemiKPCAClassifier, X: np.ndarray, y: np.ndarray) -> None:
    """Check the optimality condition f = γ K′ ρ′(y + f) at a sample of rows, in float64."""
    decision = model.decision_.reshape(len(y), -1)
    n_classes = len(model.classes_)
    positive = np.arange(n_classes) if n_classes > 2 else 1
    targets = np.where(y[:, np.newaxis] == positive, 1.0, -1.0)
    targets[y == -1] = 0
    slopes = model.certificate_.loss.derivative(targets + decision)
    V = model.eigenvectors_
    slopes = slopes - V @ (V.T @ slopes)
    some = np.random.default_rng(0).choice(len(y), min(CHECKED_ROWS, len(y)), replace=False)
    squared = ((X[some, np.newaxis] - X) ** 2).sum(axis=2) if len(y) <= 2000 else None
    if squared is None:
        squared = (X[some] ** 2).sum(axis=1)[:, np.newaxis] + (X**2).sum(axis=1) - 2 * X[some] @ X.T
    wanted = model.error_weight_ * np.exp(-model.kernel_.gamma_ * np.maximum(squared, 0)) @ slopes
    off = np.linalg.norm(wanted - decision[some]) / np.linalg.norm(wanted)
    if not off < CHECKED:
        raise AssertionError(f"{model}: the optimality condition is off by {off:.1e} of the decisions.")


def costs(n: int, repeats: int) -> Iterator[dict[str, object]]:
    """Yield a row for each loss: seconds of a fit, and how many squared fits that is."""
    for n_classes in (2, 10):
        X, y = made_up(n, n_classes, 200)
        for setting in ({}, {"error_weight": 0.9}):
            seconds = np.zeros((repeats, len(LOSSES)))
            models: list[SemiKPCAClassifier] = []
            for repeat in range(repeats):
                for place, loss in enumerate(LOSSES):
                    model = SemiKPCAClassifier(RBF(), loss=loss, backend="blocked", **setting)
                    start = time.perf_counter()
                    model.fit(X, y)
                    seconds[repeat, place] = time.perf_counter() - start
                    if not repeat:
                        check(model, X, y)
                        models.append(model)
            ratios = np.median(seconds / seconds[:, :1], axis=0)
            for place, (loss, model) in enumerate(zip(LOSSES, models, strict=True)):
                yield {
                    "part": "cost",
                    "set": f"{n_classes} classes, {n:,} rows, 200 labels",
                    "setting": f"blocked, {setting.get('error_weight', 'middle')}",
                    "loss": repr(loss),
                    "seconds": round(float(np.median(seconds[:, place])), 2),
                    "in squared fits": round(float(ratios[place]), 2),
                    "products": model.n_products_,
                    "steps": model.n_iter_,
                }


def readings(n: int) -> Iterator[dict[str, object]]:
    """Yield a row for each reading: seconds with the square and with another loss."""
    for n_classes in (2, 10):
        X, y = made_up(n, n_classes, 100)
        row = int(np.flatnonzero(y == -1)[0])
        asked: dict[str, Callable[[SemiKPCAClassifier], Any]] = {
            "leave_one_label_out": leave_one_label_out,
            "add_labels, one": lambda model, row=row: model.add_labels(row, 0),
            "suggest_labels, 10": lambda model: suggest_labels(model, 10),
            "error_weight_path, 10 weights": lambda model: error_weight_path(model, 10),
            "estimate_accuracy": estimate_accuracy,
            "prediction_sets": prediction_sets,
        }
        models = [SemiKPCAClassifier(loss=loss).fit(X, y) for loss in (Squared(), PseudoHuber(0.3))]
        for model in models:
            check(model, X, y)
        for name, ask in asked.items():
            line: dict[str, object] = {"part": "readings", "set": f"{n_classes} classes, {n:,} rows, 100 labels"}
            line["reading"] = name
            for model in models:
                start = time.perf_counter()
                ask(model)
                line[f"seconds with {model.certificate_.loss!r}"] = round(time.perf_counter() - start, 3)
            yield line


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="*", default=["accuracy", "cost", "readings"])
    parser.add_argument("--datasets", nargs="*", default=list(SETS))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, default=500, help="at most, of each data set")
    parser.add_argument("--cost-rows", type=int, default=20_000)
    parser.add_argument("--reading-rows", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--out", type=Path, help="folder for losses.csv (accuracy) and losses_cost.csv (the other parts)"
    )
    options = parser.parse_args(arguments)
    made_with = circumstances(command_line(__file__, sys.argv[1:] if arguments is None else arguments))
    parts = {
        "accuracy": lambda: accuracies(options.datasets, options.draws, options.rows),
        "cost": lambda: costs(options.cost_rows, options.repeats),
        "readings": lambda: readings(options.reading_rows),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachableRowsWarning)
        for part in options.parts:
            lines = []
            for line in parts[part]():
                print(line, flush=True)
                lines.append({**line, **made_with})
            if options.out:
                name = "losses.csv" if part == "accuracy" else f"losses_{part}.csv"
                write_csv(lines, options.out / name)


if __name__ == "__main__":
    main()
