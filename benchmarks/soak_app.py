"""A thousand clicks on the labeling page: whether its server stays as it was.

A server process, and what a browser sends to it: labels, removed labels, undone and redone steps, now and then another
error weight, the map and the lists that follow, a download and a new tab at every hundredth click. After each click the
resident memory, the threads and the open files of the server are read from /proc, so this runs on Linux only.

It ends with an error unless all of this holds:

- memory is flat: the median over the last fifth of the clicks is at most ``MOST_GROWTH_MB`` above that over the second;
- the last fifth of the clicks saw no more threads, and no more open files, than the second;
- the autosave has the labels that the clicks amount to, and so has the download;
- the last predictions are those of a fresh fit with these labels.

    python benchmarks/soak_app.py --out benchmarks/results/soak.csv
"""

import argparse
import csv
import io
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_click import CLASSES, Tab, check, opened_table, wait_until_open, write_rows
from results_csv import circumstances, command_line, write_csv

MOST_GROWTH_MB = 4.0  # the allocator gives back memory in steps of this order; a leak of 20 kB a click is above it
ENOUGH_CLICKS = 500
ADVISE_EVERY, TAB_EVERY = 5, 100  # clicks; a person who reads the lists clicks no faster
KINDS = ("label", "undo", "redo", "remove", "weight")
SHARES = (50, 35, 8, 5, 2)
MOST_LABELS = 60  # each label has a column in each kernel, so that memory depends on their number: it is held steady
SLIDER = (0.31, 0.71, 1.11)  # between its steps: where it stands by itself, the page would take it for no move


class AppProcess:
    """``semikpca app`` on a free port, in a process of its own."""

    def __init__(self, path: Path, state: Path, column: str = "color") -> None:
        command = [sys.executable, "-c", "from semikpca.cli import main; main()", "app", str(path)]
        self.process = subprocess.Popen(
            [*command, "--label-column", column, "--no-browser", "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "SEMIKPCA_STATE_FOLDER": str(state), "COLUMNS": "200"},
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("Labeling page: "):
                self.url = line.removeprefix("Labeling page: ").strip()
                wait_until_open(self.url)
                return
        self.process.wait()
        raise SystemExit("The server did not start.")

    def __enter__(self) -> "AppProcess":
        return self

    def __exit__(self, *exception: object) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def load(self) -> tuple[float, int, int]:
        """Return the resident memory in MB, and the numbers of threads and of open files."""
        place = Path(f"/proc/{self.process.pid}")
        status = dict(line.split(":", 1) for line in (place / "status").read_text().splitlines())
        return int(status["VmRSS"].split()[0]) / 1024, int(status["Threads"]), len(os.listdir(place / "fd"))


@dataclass
class Labels:
    """What clicks amount to, kept beside the page and without any of its code."""

    now: dict[int, str]
    past: list[dict[int, str]] = field(default_factory=list)
    future: list[dict[int, str]] = field(default_factory=list)

    def change(self, row: int, label: str | None) -> None:
        """Give a row a label, or take it away."""
        if self.now.get(row) == label:
            return
        self.past.append(self.now)
        self.future.clear()
        self.now = {key: value for key, value in {**self.now, row: label}.items() if value is not None}

    def undo(self) -> None:
        """Take the last change back."""
        if self.past:
            self.future.append(self.now)
            self.now = self.past.pop()

    def redo(self) -> None:
        """Make it again."""
        if self.future:
            self.past.append(self.now)
            self.now = self.future.pop()


class Visitor:
    """Someone who clicks at random, from a fixed seed."""

    def __init__(self, url: str, n_rows: int, labels: dict[int, str], seed: int = 0) -> None:
        self.url, self.n_rows = url, n_rows
        self.labels, self.random = Labels(labels), random.Random(seed)
        self.weight: float | str = "middle"
        self.done: Counter[str] = Counter()
        self.n_tabs = 0
        self.tab = self._tab()

    def _tab(self) -> Tab:
        self.n_tabs += 1
        return Tab(self.url, f"tab {self.n_tabs}")  # the server knows tabs apart by their names

    def click(self) -> None:
        """Do one thing or another, and wait for the answer."""
        (kind,) = self.random.choices(KINDS, SHARES)
        if len(self.labels.now) >= MOST_LABELS:
            kind = self.random.choice(("undo", "remove"))
        if kind == "label":
            self.label(self.random.randrange(self.n_rows), self.random.choice(CLASSES))
        elif kind == "remove":
            self.remove(self.random.choice(sorted(self.labels.now)))
        elif kind == "weight":
            place = self.random.choice(SLIDER)
            self.weight = 1.0 - 10.0**-place
            self._send(kind, value=place)
        else:
            self.step(kind)

    def label(self, row: int, label: str) -> None:
        """Give a row a label with the brush."""
        self.labels.change(row, label)
        self.tab.send("brush", value=sorted(CLASSES).index(label))
        self._send("label", "pick", points=[row])

    def remove(self, row: int) -> None:
        """Take the label of a row away."""
        self.labels.change(row, None)
        self.tab.send("brush", value="")
        self.tab.send("row", value=row)
        self._send("remove")

    def step(self, kind: str) -> None:
        """Undo the last change, or redo it."""
        getattr(self.labels, kind)()
        self._send(kind)

    def _send(self, kind: str, act: str | None = None, **more: Any) -> None:
        self.done[kind] += 1
        said = json.dumps(self.tab.send(act or kind, **more).get("banners", {}))
        if "fault of the program" in said or "could not be saved" in said:
            raise SystemExit(f"{kind}: {said}")

    def look(self, *, lists: bool) -> None:
        """Ask for what a browser asks for after an answer: the map, and the lists."""
        known = json.loads(self.tab.request("GET", "/_dash-dependencies"))
        ask = {
            "repaint": ({"client": self.tab.client, "event": self.tab.number}, [{"id": "painted", "property": "data"}])
        }
        if lists:
            ask["state"] = (self.tab.shown, [])
        for name, (value, states) in ask.items():
            (callback,) = (
                one for one in known if [i["id"] for i in one["inputs"]] == [name] and "map.figure" in one["output"]
            )
            outputs = [one.rsplit(".", 1) for one in callback["output"].strip(".").split("...")]
            body = {
                "output": callback["output"],
                "outputs": [{"id": one, "property": prop} for one, prop in outputs],
                "inputs": [{"id": name, "property": "data", "value": value}],
                "state": states,
                "changedPropIds": [f"{name}.data"],
            }
            self.tab.request("POST", "/_dash-update-component", body)

    def new_tab(self) -> None:
        """Close the tab and open another, and take the download along."""
        self.tab.request("GET", "/download")
        self.tab.connection.close()
        self.tab = self._tab()
        self.tab.request("GET", "/")
        self.tab.request("GET", "/_dash-layout")


def start_labels(path: Path) -> dict[int, str]:
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return {row: label for row, line in enumerate(lines) if (label := line.rsplit(",", 1)[1])}


def autosave_of(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.with_name(f".{path.name}.semikpca-labels.json").read_text("utf-8"))
    return content


def check_end(path: Path, visitor: Visitor) -> None:
    """Refuse an end that the clicks do not amount to."""
    saved, expected = autosave_of(path), visitor.labels.now
    if dict(map(tuple, saved["labels"])) != expected or saved["error_weight"] != visitor.weight:
        raise SystemExit("The autosave is not what the clicks amount to.")
    visitor.tab.send("middle")  # what a fresh fit does by itself
    cells = list(csv.DictReader(io.StringIO(visitor.tab.request("GET", "/download").decode())))
    if {row: cell["color"] for row, cell in enumerate(cells) if cell["color"]} != expected:
        raise SystemExit("The download is not what the clicks amount to.")
    labels = [expected.get(row) for row in range(visitor.n_rows)]
    predicted, sure = [cell["predicted_label"] for cell in cells], [cell["confidence"] for cell in cells]
    check(opened_table(path).session.X, labels, predicted, sure, "soak", error_weights=["middle"])


def fifth(values: list[Any], number: int) -> list[Any]:
    size = len(values) // 5
    return values[(number - 1) * size : number * size]


def problems(loads: list[tuple[float, int, int]]) -> list[str]:
    """Return what grew; ``loads`` has memory, threads and open files after each click."""
    found = []
    memory, threads, files = zip(*loads, strict=True)
    growth = statistics.median(fifth(list(memory), 5)) - statistics.median(fifth(list(memory), 2))
    if growth > MOST_GROWTH_MB:
        found.append(f"memory grew by {growth:.1f} MB, and {MOST_GROWTH_MB} are allowed")
    for what, values in (("threads", threads), ("open files", files)):
        before, after = (max(fifth(list(values), number)) for number in (2, 5))
        if after > before:
            found.append(f"{what} grew from {before} to {after}")
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--clicks", type=int, default=1_000)
    parser.add_argument("--out", type=Path, help="CSV file to write")
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    loads: list[tuple[float, int, int]] = []
    records = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clusters.csv"
        write_rows(path, options.rows)
        with AppProcess(path, Path(folder) / "state") as app:
            visitor = Visitor(app.url, options.rows, start_labels(path))
            began = time.perf_counter()
            for number in range(1, options.clicks + 1):
                visitor.click()
                visitor.look(lists=number % ADVISE_EVERY == 0)
                loads.append(app.load())
                if number % TAB_EVERY == 0 or number == options.clicks:
                    visitor.new_tab()
                    recent = loads[-TAB_EVERY:]
                    records.append(
                        {
                            "clicks": number,
                            "rows": options.rows,
                            "labels": len(visitor.labels.now),
                            **{kind: visitor.done[kind] for kind in KINDS},
                            "resident_mb": round(statistics.median(load[0] for load in recent), 1),
                            "threads": max(load[1] for load in recent),
                            "open_files": max(load[2] for load in recent),
                            "seconds": round(time.perf_counter() - began),
                            **circumstances(command),
                        }
                    )
                    shown = ("clicks", "labels", "resident_mb", "threads", "open_files", "seconds")
                    print(", ".join(f"{name} {records[-1][name]}" for name in shown), flush=True)
            check_end(path, visitor)
    print("The autosave and the last answers are right.")
    if options.clicks < ENOUGH_CLICKS:
        print(f"Fewer than {ENOUGH_CLICKS} clicks still fill caches: what grew was not looked at.")
    elif found := problems(loads):
        raise SystemExit(f"Not as it was: {'; '.join(found)}.")
    else:
        print("Memory, threads and open files are flat.")
    if options.out:
        write_csv(records, options.out)


if __name__ == "__main__":
    main()
