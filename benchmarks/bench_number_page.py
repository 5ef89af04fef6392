"""Time of a number on the labeling page, in the process that serves it: no browser.

Each number is typed for the row in view as the page sends it. Before its time counts, the predictions are checked
against a fresh fit of the same numbers. Suggestions, and errors with their intervals, come after the answer and are
timed apart.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_number_page.py --out benchmarks/results/number_page.csv
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from results_csv import circumstances, command_line, write_csv
from semikpca.app import Workspace, open_table
from semikpca.app._callbacks import answer
from semikpca.app._opening import read_upload
from semikpca.datasets import make_apartments
from semikpca.tables import ColumnRoles
from semikpca.workflow import STATE_FOLDER_VARIABLE

MOST_DIFFERENCE = 1e-3  # of the spread of the numbers: the page solves to four digits


class Page:
    """One tab of a page without a browser."""

    def __init__(self, n_rows: int, n_given: int) -> None:
        frame, self.truth = make_apartments(n_rows, n_given, return_truth=True)
        table = read_upload("apartments.csv", frame.to_csv(index=False).encode()).table
        roles = ColumnRoles("rent", id="apartment_id")
        self.workspace = Workspace()
        self.workspace.show(open_table(table, roles, name="apartments.csv", place="state folder"))
        self.session: Any = self.workspace.table.session
        self.number, self.marks = 0, None

    def send(self, act: str, value: object) -> float:
        """Return the seconds that an answer takes."""
        self.number += 1
        events = [{"number": self.number, "act": act, "value": value}]
        asked = {"client": "tab", "events": events, "shown": list(self.workspace.state()), "marks": self.marks}
        start = time.perf_counter()
        self.marks = answer(self.workspace, {**asked, "dark": False}, 50)["marks"]
        return time.perf_counter() - start

    def check(self) -> None:
        """Refuse to report times of wrong answers."""
        labels = np.array([np.nan if label is None else label for label in self.session.given], dtype=float)
        model: Any = type(self.session.model())
        fresh = model(**self.session.model().get_params()).fit(self.session.X, labels).transduction_
        difference = float(np.abs(self.session.snapshot().values - fresh).max() / self.truth.std())
        if difference > MOST_DIFFERENCE:
            raise SystemExit(f"No figures: predictions differ from a fresh fit by {difference:.1e} of their spread.")


def timed(function: Any) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measured(n_rows: int, n_given: int, n_numbers: int) -> dict[str, object]:
    """Return medians, and the slowest answer."""
    page = Page(n_rows, n_given)
    page.send("step", 1)
    answers, advice, errors = [], [], []
    for _ in range(n_numbers):
        row = page.workspace.tab("tab").selected[0]
        answers.append(page.send("number", f"{page.truth[row]:.5f}"))
        advice.append(timed(page.session.advice))
        errors.append(timed(page.session.find_out))
    page.check()
    return {
        "rows": n_rows,
        "given": n_given,
        "answer": f"{np.median(answers):.3f}",
        "slowest_answer": f"{max(answers):.3f}",
        "suggestions": f"{np.median(advice):.3f}",
        "errors": f"{np.median(errors):.3f}",
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=["2000x60", "2000x200", "10000x200"], help="rows x given numbers")
    parser.add_argument("--typed", type=int, default=15, help="how many numbers are typed")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    records = []
    for size in options.sizes:
        n_rows, n_given = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {STATE_FOLDER_VARIABLE: folder}):
            record = measured(n_rows, n_given, options.typed)
        print(", ".join(f"{name} {value}" for name, value in record.items()), flush=True)
        records.append({**record, "load": f"{os.getloadavg()[0]:.1f}", **circumstances(command)})
    if options.out is not None:
        write_csv(records, options.out)


if __name__ == "__main__":
    main()
