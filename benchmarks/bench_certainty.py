"""Whether what is promised about predicted labels holds: prediction sets, accepted labels, intervals, audits.

Parts, each a file of its own below --out:

- coverage: labels drawn at random from the rows; how often the class of an unlabeled row is in its prediction set, and
  how large the sets are, for the automatic classifier, for the one of a neighbor graph and for MAPIE's split conformal
  prediction with the same labels. In the same draws the interval of ``estimate_accuracy`` (intervals.csv) and the
  labels that ``accept_labels`` accepts (acceptance.csv).
- suggestions: the same where labels were suggested, taken for drawn ones, and with rows to check mixed in.
- audit: labels of which some were flipped; those that ``audit_labels`` and cleanlab call wrong.
- cost: time of prediction sets and accepted labels beside that of a fit.

    python benchmarks/bench_certainty.py --data my-sets --records records --out benchmarks/results/certainty

Sets are cut to a sample of --rows rows, always the same. Draws are recorded in a folder, one file for each set and
number of labels, so that a run can be stopped and resumed, and a second process can work beside it (--reverse).
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from certainty_audit import AUDITED, audit_rows, audited_draws
from certainty_cost import cost_rows
from certainty_draws import Fits, Problem, measured_draw, problems_of, suggested_draw
from certainty_tables import acceptance_rows, coverage_rows, interval_rows, suggestion_rows
from results_csv import circumstances, command_line, write_csv
from semikpca_benchmarks.datasets import FOLDER_GROUP

PARTS = ("coverage", "suggestions", "audit", "cost")
SETS = ("paper", "digits", "tuning", "aside")
SUGGESTED_SETS = ("diabetes", "vehicle", "phoneme")
LABELED_SHARE = 3  # no more than a third of the rows is labeled
FIRST, LAST, AT_ONCE, CHECKED, CANDIDATES = 20, 60, 10, 3, 64  # of labels that are suggested
WAYS = {"suggested, taken as drawn": 0, "suggested, with check rows": CHECKED}


def main(arguments: list[str] | None = None) -> None:
    """Measure what is not recorded yet, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--datasets", nargs="+", help=f"names or groups; by default {', '.join(SETS)}")
    parser.add_argument("--data", type=Path, help="a folder with files NAME.npz, whose sets are taken as well")
    parser.add_argument("--labels", nargs="+", type=int, default=[30, 60, 120])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1_000, help="of a set at most, a sample")
    parser.add_argument("--cost-rows", type=int, default=10_000, help="of the part cost")
    parser.add_argument("--reverse", action="store_true", help="begin with the last set: a second process")
    parser.add_argument(
        "--minutes", type=float, default=np.inf, help="begin nothing new after so many; 0: tables of what is recorded"
    )
    parser.add_argument("--records", type=Path, required=True, help="folder of the draws; a run that it has is resumed")
    parser.add_argument("--out", type=Path, required=True, help="folder of the tables")
    given = sys.argv[1:] if arguments is None else arguments
    asked = parser.parse_args(given)
    asked.until = time.monotonic() + 60 * asked.minutes
    asked.records.mkdir(parents=True, exist_ok=True)
    asked.out.mkdir(parents=True, exist_ok=True)
    common = circumstances(command_line(__file__, given))
    for part in asked.parts:
        for name, rows in TABLES[part](asked).items():
            write_csv([{**row, **common} for row in rows], asked.out / f"{name}.csv")


Table = list[dict[str, object]]


def coverage(asked: argparse.Namespace) -> dict[str, Table]:
    """Return the tables of labels that are drawn at random."""
    names = asked.datasets or [*SETS, *([FOLDER_GROUP] if asked.data else [])]
    records = []
    for n_labels in asked.labels:
        for problem in sets_in_turn(asked, names):
            if LABELED_SHARE * n_labels <= len(problem.y):
                records += recorded(asked, "drawn", problem, n_labels, random_draws)
    return {
        "coverage": coverage_rows(records),
        "intervals": interval_rows(records),
        "acceptance": acceptance_rows(records),
    }


def random_draws(problem: Problem, n_labels: int, n_draws: int) -> Iterator[dict[str, Any]]:
    """Give what is measured in each draw of random labels; answers of the first one are checked."""
    fits = Fits(problem, problem.drawn(n_labels, 0))
    fits.check(problem.drawn(n_labels, n_draws))
    for draw in range(n_draws):
        yield measured_draw(problem, fits, problem.drawn(n_labels, draw), draw, checked=draw == 0)


def suggestions(asked: argparse.Namespace) -> dict[str, Table]:
    """Return the table of labels that are suggested."""
    records = []
    for problem in sets_in_turn(asked, asked.datasets or SUGGESTED_SETS):
        last = min(LAST, len(problem.y) // LABELED_SHARE)
        for way, check_rows in WAYS.items():

            def draws(problem: Problem, last: int, n_draws: int, check_rows: int = check_rows) -> Iterator[dict]:
                fits = Fits(problem, problem.drawn(FIRST, 0))
                for draw in range(n_draws):
                    yield suggested_draw(problem, fits, draw, FIRST, last, AT_ONCE, check_rows, CANDIDATES)

            found = recorded(asked, f"suggested-{check_rows}", problem, last, draws)
            records += [{**record, "way": way} for record in found]
    return {"suggestions": suggestion_rows(records)}


def audit(asked: argparse.Namespace) -> dict[str, Table]:
    """Return the table of labels some of which are wrong; sets are whole."""
    records = []
    for problem in problems_of(asked.datasets or AUDITED, None):
        records += recorded(asked, "audit", problem, 0, audited_draws)
    return {"audit": audit_rows(records)}


def cost(asked: argparse.Namespace) -> dict[str, Table]:
    """Return the table of times."""
    return {"cost": cost_rows(asked.cost_rows)}


TABLES: dict[str, Callable[[argparse.Namespace], dict[str, Table]]] = {
    "coverage": coverage,
    "suggestions": suggestions,
    "audit": audit,
    "cost": cost,
}


def sets_in_turn(asked: argparse.Namespace, names: Sequence[str]) -> list[Problem]:
    problems = list(problems_of(names, asked.data, asked.rows))
    return problems[::-1] if asked.reverse else problems


def recorded(
    asked: argparse.Namespace,
    kind: str,
    problem: Problem,
    n_labels: int,
    draws_of: Callable[[Problem, int, int], Iterator[dict[str, Any]]],
) -> list[dict[str, Any]]:
    """Return the record of a set, measured now unless it is there; none where time is over."""
    path = asked.records / f"{kind}-{problem.name}-{n_labels}-of-{len(problem.y)}-{asked.draws}.json"
    if not path.exists():
        if time.monotonic() > asked.until:
            print(f"not reached: {kind} {problem.name} {n_labels}", flush=True)
            return []
        began = time.perf_counter()
        record = {
            "set": problem.name,
            "group": problem.group,
            "rows": len(problem.y),
            "classes": problem.n_classes,
            "labels": n_labels,
            "draws": list(draws_of(problem, n_labels, asked.draws)),
        }
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(json.dumps(record), encoding="utf-8")
        unfinished.replace(path)
        print(f"{kind} {problem.name} {n_labels}: {time.perf_counter() - began:.0f} s", flush=True)
    return [json.loads(path.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    main()
