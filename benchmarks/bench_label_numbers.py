"""Time of ``semikpca label`` on a column of numbers, beside that on classes of the same table.

The table has made-up apartments, of which a few have a rent. As numbers the rents are given themselves, as classes the
fifth of all rents that each is in. The command runs in a process of its own, and its answers are checked before
anything is reported: all rows in their order, errors well below the spread of the rents, most intervals right.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_label_numbers.py --out benchmarks/results/label_numbers.csv
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from results_csv import circumstances, command_line, write_csv
from semikpca.datasets import make_apartments

COMMAND = [sys.executable, "-c", "from semikpca.cli import main; main()"]
MOST_ERROR = 0.6  # of the standard deviation: the columns tell most of the rent
LEAST_COVERAGE = 0.75  # of intervals that aim at 0.9
LEAST_ACCURACY = 0.4  # of five classes


def run_label(folder: Path) -> tuple[float, float, pd.DataFrame]:
    """Run the command on ``table.csv``; return seconds, seconds of computing, and the table that it wrote."""
    arguments = ["label", "table.csv", "--label-column", "rent", "--id-column", "apartment_id", "--force"]
    start, computed = time.perf_counter(), _computed()
    subprocess.run([*COMMAND, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start, _computed() - computed, pd.read_csv(folder / "table.labeled.csv")


def _computed() -> float:
    used = os.times()
    return used.children_user + used.children_system


def compared(n_rows: int, n_given: int) -> dict[str, object]:
    """Return the times of both, and how good the numbers are."""
    frame, truth = make_apartments(n_rows, n_given, return_truth=True)
    hidden = (frame["rent"] == "").to_numpy()
    fifth = np.searchsorted(np.quantile(truth, (0.2, 0.4, 0.6, 0.8)), truth)
    classes = frame.assign(rent=np.where(hidden, "", np.array(list("abcde"))[fifth]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame.to_csv(folder / "table.csv", index=False)
        seconds, computed, found = run_label(folder)
        classes.to_csv(folder / "table.csv", index=False)
        seconds_of_classes, computed_of_classes, labeled = run_label(folder)
    error = float(np.sqrt(np.mean((found["predicted_value"] - truth)[hidden] ** 2)) / truth.std())
    inside = float(((found["low"] <= truth) & (truth <= found["high"]))[hidden].mean())
    accuracy = float((labeled["predicted_label"] == np.array(list("abcde"))[fifth])[hidden].mean())
    if error > MOST_ERROR or inside < LEAST_COVERAGE or accuracy < LEAST_ACCURACY:
        raise SystemExit(f"No figures: error {error:.2f}, {inside:.1%} inside, {accuracy:.1%} of the classes right.")
    return {
        "rows": n_rows,
        "given": n_given,
        "seconds": f"{seconds:.1f}",
        "seconds_of_classes": f"{seconds_of_classes:.1f}",
        "cpu_seconds": f"{computed:.1f}",
        "cpu_seconds_of_classes": f"{computed_of_classes:.1f}",
        "cpu_ratio": f"{computed / computed_of_classes:.2f}",
        "error": f"{error:.3f}",
        "inside": f"{inside:.4f}",
        "accuracy_of_classes": f"{accuracy:.4f}",
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--given", type=int, default=200)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    record = compared(options.rows, options.given)
    print(", ".join(f"{name} {value}" for name, value in record.items()), flush=True)
    if options.out is not None:
        write_csv([{**record, "load": f"{os.getloadavg()[0]:.1f}", **circumstances(command)}], options.out)


if __name__ == "__main__":
    main()
