"""The time of ``semikpca paper`` with its defaults, in a process of its own, after its answer was checked.

The run must cover all 216 printed cells with grids of at least 60 error weights, and agree with the paper as well as an
exact rerun would be expected to. With ``--repetitions 100`` the agreement itself is the result.

    python benchmarks/bench_paper.py --out benchmarks/results/paper.csv
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results_csv import write_csv
from semikpca.experiments import CellRecord, PaperSpec, RecordStore, result_rows, summarize, versions

# Of the cells within three standard errors; chance alone leaves 3% outside with ten draws.
LEAST_SHARE_WITHIN_3 = 0.9


def measure(repetitions: int, seed: int, datasets: str | None) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", "from semikpca.cli import main; main()", "paper", "--out", folder]
        command += ["--repetitions", str(repetitions), "--seed", str(seed)]
        command += ["--datasets", datasets] if datasets else []
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        store = RecordStore(Path(folder), PaperSpec, CellRecord)
        spec = store.spec()
        agreement = summarize(result_rows(store.read_all(spec)))
    if spec.n_weights < 60 or (datasets is None and agreement.n_cells != 216):
        raise SystemExit(f"not the whole job: {agreement.n_cells} cells, {spec.n_weights} weights")
    if agreement.within_3 < LEAST_SHARE_WITHIN_3 * agreement.n_cells:
        raise SystemExit(f"the answer is wrong: {agreement.within_3} of {agreement.n_cells} cells within 3")
    return {
        "repetitions": repetitions,
        "seed": seed,
        "datasets": len(spec.datasets),
        "weights_per_model": spec.n_weights,
        "cells": agreement.n_cells,
        "within_2": agreement.within_2,
        "within_3": agreement.within_3,
        "ahead_at_fewest": agreement.ahead_at_fewest,
        "seconds": round(seconds, 1),
        "cores": os.cpu_count(),
        **versions(),
        "system": platform.system(),
        "command": f"semikpca paper --repetitions {repetitions} --seed {seed}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--datasets", help="comma-separated; the default is all nine")
    parser.add_argument("--out", type=Path, help="CSV file to write")
    options = parser.parse_args()
    rows = [measure(repetitions, options.seed, options.datasets) for repetitions in options.repetitions]
    for row in rows:
        print(
            f"{row['command']}: {row['seconds']} s on {row['cores']} cores, {row['within_2']} of {row['cells']} cells "
            f"within 2 standard errors, {row['within_3']} within 3"
        )
    if options.out:
        write_csv(rows, options.out)


if __name__ == "__main__":
    main()
