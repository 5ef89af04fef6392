"""How long 100 labels by keyboard take on the labeling page, each from the key until the answer is on the screen.

Rows in clusters, three classes, some labels to start with, as in ``bench_click.py``. In headless Chromium the queue is
gone through with the keys of the classes alone. An answer is on the screen in the first frame that has the new number
of labels and the next row of the queue. Before any time is written, each label must be on the row that was in view when
its key was pressed, and a fresh fit of all labels must predict what the page predicts.

Two times of the start are taken, less what another program takes to begin and to read the table: until the page is on
the screen with the steps of the opening ("up"), and until it shows the table and can be labeled on ("open").

    python benchmarks/bench_keyboard.py --rows 10000 100000 --out benchmarks/results/keyboard.csv
"""

import argparse
import csv
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bench_click import CLASSES, N_FEATURES, N_START, check_download, chromium, write_rows
from results_csv import circumstances, command_line, write_csv
from semikpca.tables import ColumnRoles, read_table
from semikpca.workflow import prepare_table

# Milliseconds: median and slowest of 100 labels, by the number of rows up to which they hold.
BARS = {10_000: (200, 400), 100_000: (1_000, 1_000)}
BAR_UP_S = 5
QUEUES = ("suggested", "doubtful", "file")


@dataclass(frozen=True)
class Run:
    """What one run took."""

    times: list[float]  # milliseconds, one a label
    up_s: float  # until the page is on the screen, without reading the table
    open_s: float  # until the table is on the page
    browser: str


@contextmanager
def started(path: Path, state: Path) -> Iterator[tuple[str, float]]:
    """Run the real command on a free port; hand out its address, and how long it took to answer once it was started."""
    command = [sys.executable, "-c", "from semikpca.cli import main; main()", "app", str(path)]
    began = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--label-column", "color", "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "SEMIKPCA_STATE_FOLDER": str(state), "COLUMNS": "200"},
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("Labeling page: "):
                yield line.removeprefix("Labeling page: ").strip(), time.perf_counter() - began
                break
        else:
            raise SystemExit("The server did not start.")
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


# What a reader has waited for when the table is read: the program has begun, and read it.
READING = "import sys, semikpca.cli._app_command as command; command.read_table(sys.argv[1])"
# Looked at in every frame: the answer is there when the number of labels and the row in view have both changed.
WATCH = """() => {
    const text = (selector) => document.querySelector(selector)?.textContent;
    const state = () => [text('#labels-value'), text('#detail h3')];
    let before = state();
    function look() {
        const now = state();
        if (!window.answered && now[0] !== before[0] && now[1] !== before[1]) window.answered = performance.now();
        window.requestAnimationFrame(look);
    }
    document.addEventListener('keydown', (event) => {
        if (!/^[0-9]$/.test(event.key)) return;
        before = state();
        window.answered = null;
        window.pressed = performance.now();
    }, true);
    look();
}"""


def run(path: Path, truth: np.ndarray, n_labels: int, queue: str, pause: float, state: Path) -> Run:
    """Label rows by keyboard, check them, and return the times."""
    from playwright.sync_api import sync_playwright

    X = prepare_table(read_table(path), ColumnRoles("color")).X
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", READING, str(path)], check=True)
    reading = time.perf_counter() - began
    classes = sorted(CLASSES)  # in the order of their keys
    times, given = [], {}
    with started(path, state) as (url, start), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(600_000)
        began = time.perf_counter()
        page.goto(url)
        page.wait_for_selector("#stages, #labels-value")
        up = start + time.perf_counter() - began - reading
        page.wait_for_selector("#labels-value")
        opened = start + time.perf_counter() - began - reading
        page.wait_for_selector("#suggestions .line")
        page.select_option("#queue", queue)
        page.wait_for_selector("#detail h3")
        page.evaluate("() => document.activeElement.blur()")
        page.evaluate(WATCH)
        for _ in range(n_labels):
            row = int(page.inner_text("#detail h3").split()[-1].replace(",", "")) - 2  # the first line has the names
            given[row] = str(truth[row])
            page.keyboard.press(str(1 + classes.index(given[row])))
            page.wait_for_function("() => window.answered")
            times.append(page.evaluate("() => window.answered - window.pressed"))
            page.wait_for_timeout(1000 * pause)  # someone reads the next row meanwhile
        with page.expect_download() as download:
            page.click("#download")
        content = Path(download.value.path()).read_bytes()
        found = f"chromium {browser.version}"
        browser.close()
    check_labels(content, given)
    check_download(X, content, n_labels, "keyboard")
    return Run(times, up, opened, found)


def check_labels(content: bytes, given: dict[int, str]) -> None:
    """Refuse to time labels that are not on the rows that were in view."""
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    if wrong := [row for row, label in given.items() if rows[row]["color"] != label]:
        raise SystemExit(f"{len(wrong)} labels are not on the rows that were in view.")


def record(outcome: Run, n_rows: int, queue: str, pause: float, command: str) -> dict[str, Any]:
    bar_median, bar_slowest = next(bars for most, bars in sorted(BARS.items()) if n_rows <= most)
    return {
        "rows": n_rows,
        "features": N_FEATURES,
        "classes": len(CLASSES),
        "labels_before": N_START,
        "labels": len(outcome.times),
        "queue": queue,
        "pause_s": pause,
        "median_ms": round(statistics.median(outcome.times), 1),
        "slowest_ms": round(max(outcome.times), 1),
        "bar_median_ms": bar_median,
        "bar_slowest_ms": bar_slowest,
        "up_s": round(outcome.up_s, 2),
        "bar_up_s": BAR_UP_S,
        "open_s": round(outcome.open_s, 2),
        "load": round(os.getloadavg()[0], 1),
        "dash": version("dash"),
        "browser": outcome.browser,
        **circumstances(command),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--queue", choices=QUEUES, default="suggested")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between an answer and the next key")
    parser.add_argument("--out", type=Path, help="CSV file to write")
    options = parser.parse_args(arguments)
    if chromium() is None:
        raise SystemExit("No Chromium is installed.")
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    records = []
    for n_rows in options.rows:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "clusters.csv"
            truth = write_rows(path, n_rows)
            outcome = run(path, truth, options.labels, options.queue, options.pause, Path(folder) / "state")
        records.append(record(outcome, n_rows, options.queue, options.pause, command))
        row = records[-1]
        print(
            f"{n_rows:,} rows: median {row['median_ms']} ms, slowest {row['slowest_ms']} ms; "
            f"up in {row['up_s']} s, open in {row['open_s']} s; load {row['load']}",
            flush=True,
        )
    if options.out:
        write_csv(records, options.out)


if __name__ == "__main__":
    main()
