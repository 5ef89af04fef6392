"""Numbers for the rest of the rows from 10 to 100: the regressors beside those that one would use otherwise.

The error is the root of the mean squared error on the unlabeled rows, in units of the standard deviation of the target
over all rows, so that 1 is about what the mean of the labels is worth. Labels are drawn at random from the rows, the
same for all methods. Sets are those of ``regression_data.py``, and with ``--data`` the files NAME.npz (arrays X and y)
of a folder. In the first draws prediction intervals of 90% are held against the truth as well. Every answer is written
down as it comes, and a run that is started again goes on from there.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_regression.py --data DIR --out benchmarks/results/regression

With ``--speed`` it measures what an automatic fit costs in plain fits instead, at 2,000 rows.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from zlib import crc32

import numpy as np

from regression_data import data_sets
from regression_peers import PEERS
from regression_tables import write_tables
from results_csv import circumstances, command_line, write_csv
from semikpca import SemiKPCARegressor, SemiKPCARegressorCV
from semikpca.labeling import prediction_intervals

COUNTS = (10, 20, 50, 100)
FIELDS = ("data", "labels", "draw", "method", "error", "coverage", "width")
ERROR_RATE = 0.1
OURS = {"SemiKPCARegressorCV": SemiKPCARegressorCV, "SemiKPCARegressor": SemiKPCARegressor}
METHODS = (*OURS, *PEERS)


def answer_of(method: str, name: str, X: np.ndarray, y: np.ndarray, n_labels: int, draw: int, *, sure: bool) -> dict:
    """Return the error of a method on the rows that were not drawn, and where asked what intervals are worth."""
    rng = np.random.default_rng([crc32(name.encode()), n_labels, draw])
    rows = np.sort(rng.choice(len(y), n_labels, replace=False))
    others = np.setdiff1d(np.arange(len(y)), rows)
    found = {}
    if method in PEERS:
        values = PEERS[method](X, rows, y[rows], draw)
    else:
        known = np.full(len(X), np.nan)
        known[rows] = y[rows]
        model = OURS[method]().fit(X, known)
        values = model.transduction_
        if sure:
            intervals = prediction_intervals(model, ERROR_RATE)
            inside = (intervals.low <= y[others]) & (y[others] <= intervals.high)
            width = np.mean(intervals.high - intervals.low) / y.std()
            found = {"coverage": f"{np.mean(inside):.4f}", "width": f"{width:.4f}"}
    error = np.sqrt(np.mean(np.square(values[others] - y[others]))) / y.std()
    return {"error": f"{error:.6f}", **found}


def fit_times(n_rows: int = 2_000, n_features: int = 10, n_labels: int = 100, repeats: int = 5) -> dict[str, object]:
    """Return the least time of some fits of each regressor to the same rows, and how well it did."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    truth = np.sin(X[:, 0]) + X[:, 1]
    y = np.where(np.arange(n_rows) < n_labels, truth, np.nan)
    found: dict[str, object] = {"rows": n_rows, "features": n_features, "labels": n_labels}
    for name, make in OURS.items():
        times = []
        for _ in range(repeats):
            start = perf_counter()
            model = make().fit(X, y)
            times.append(perf_counter() - start)
        missed = np.sqrt(np.mean(np.square(model.transduction_ - truth))) / truth.std()
        assert missed < 1, f"{name} is no better than the mean: {missed}"
        found[f"{name} seconds"], found[f"{name} error"] = round(min(times), 4), round(float(missed), 4)
    found["ratio"] = round(found["SemiKPCARegressorCV seconds"] / found["SemiKPCARegressor seconds"], 2)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what has not been run, and write the tables."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with files NAME.npz")
    parser.add_argument("--sets", nargs="*", default=[], help="names of sets; all by default")
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS)
    parser.add_argument("--labels", nargs="*", type=int, default=list(COUNTS))
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--interval-draws", type=int, default=10, help="draws in which intervals are measured")
    parser.add_argument("--records", type=Path, default=Path("build/regression.csv"), help="file of single answers")
    parser.add_argument("--out", type=Path, help="folder for the tables")
    parser.add_argument("--speed", action="store_true", help="measure times instead")
    options = parser.parse_args(arguments)
    if options.speed:
        found = fit_times()
        print(found)
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            write_csv([{**found, **circumstances(command_line(__file__, arguments))}], options.out / "speed.csv")
        return
    sets = data_sets(options.data, options.sets)
    known = {tuple(row[name] for name in FIELDS[:4]) for row in _read(options.records)}
    options.records.parent.mkdir(parents=True, exist_ok=True)
    with options.records.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if not known:
            writer.writeheader()
        for draw in range(options.draws):
            for name, (X, y) in sets.items():
                for n_labels in options.labels:
                    for method in options.methods:
                        key = (name, str(n_labels), str(draw), method)
                        if key not in known and n_labels < len(y):
                            sure = draw < options.interval_draws
                            found = answer_of(method, name, X, y, n_labels, draw, sure=sure)
                            writer.writerow({**dict(zip(FIELDS, key, strict=False)), **found})
                            file.flush()
    asked = [
        row
        for row in _read(options.records)
        if row["data"] in sets and row["method"] in options.methods and int(row["draw"]) < options.draws
    ]
    write_tables(asked, options.methods, options.out, command_line(__file__, arguments))


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
