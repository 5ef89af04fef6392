"""How long a click on the labeling page takes, from the session alone to the changed page in a browser.

Rows in clusters, three classes, some labels to start with. Each click gives one more row its label. Times are taken of
the session (labels in, snapshot out), of the HTTP round trip to the server process, and in headless Chromium from the
press of the mouse button until the numbers have changed ("page") and until the rows are drawn anew ("map"), which takes
longer without a graphics card. Before any time is written, the labels that were clicked are given to a fresh fit, which
must predict the same.

    python benchmarks/bench_click.py --out benchmarks/results/click.csv
"""

import argparse
import csv
import http.client
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from sklearn.datasets import make_blobs

from results_csv import circumstances, command_line, write_csv
from semikpca import SemiKPCAClassifierCV
from semikpca.app import OpenTable, open_table
from semikpca.tables import ColumnRoles, read_table

N_FEATURES, CLASSES, N_START = 20, ("red", "green", "blue"), 40
BAR_MS = 200
PARTS = ("session", "http", "page", "map")
# Iterative solves stop at a relative residual of 1e-6, and files have confidences with four digits.
CONFIDENCE_TOLERANCE = 1e-3


def write_rows(path: Path, n_rows: int) -> np.ndarray:
    """Write the table, and return the classes of all rows."""
    X, cluster = make_blobs(n_rows, N_FEATURES, centers=3 * len(CLASSES), cluster_std=3.0, random_state=0)
    truth = np.array(CLASSES)[cluster % len(CLASSES)]
    labels = np.full(n_rows, "", dtype=object)
    start = np.random.default_rng(0).choice(n_rows, min(N_START, n_rows // 3), replace=False)
    labels[start] = truth[start]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{number}" for number in range(N_FEATURES)), "color"])
        writer.writerows([*(f"{value:.5f}" for value in row), label] for row, label in zip(X, labels, strict=True))
    return truth


def opened_table(path: Path) -> OpenTable:
    return open_table(read_table(path), ColumnRoles("color"), name=path.name, place="beside the file")


def check(X: np.ndarray, labels: list[Any], predicted: list[Any], confidence: Any, what: str, **settings: Any) -> None:
    """Refuse to time what a fresh fit of the same labels does not confirm."""
    model = SemiKPCAClassifierCV(**settings).fit(X, np.array(labels, dtype=object))
    chances = model.label_distributions_
    off = float(np.abs(np.asarray(confidence, dtype=float) - chances.max(axis=1)).max())
    # Where two classes are as likely as each other but for rounding, either may be named.
    top_two = np.sort(chances, axis=1)[:, -2:]
    clear = top_two[:, 1] - top_two[:, 0] > CONFIDENCE_TOLERANCE
    wrong = int(np.sum((np.array(predicted) != model.transduction_)[clear]))
    if wrong or off > CONFIDENCE_TOLERANCE:
        raise SystemExit(f"{what}: {wrong} predictions differ from a fresh fit, confidence is off by {off:.1e}.")


def session_times(path: Path, truth: np.ndarray, rows: np.ndarray) -> list[float]:
    session = opened_table(path).session
    times = []
    for row in rows:
        began = time.perf_counter()
        snapshot = session.label([int(row)], str(truth[row]))
        times.append(1000 * (time.perf_counter() - began))
    predicted = [snapshot.classes[code] for code in snapshot.predicted]
    check(session.X, session.given.tolist(), predicted, snapshot.confidence, "session")
    return times


@contextmanager
def server(path: Path, state: Path) -> Iterator[str]:
    """Run the real command on a free port."""
    command = [sys.executable, "-c", "from semikpca.cli import main; main()", "app", str(path)]
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
                url = line.removeprefix("Labeling page: ").strip()
                wait_until_open(url)
                yield url
                break
        else:
            raise SystemExit("The server did not start.")
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


class Tab:
    """What a browser sends, without a browser."""

    def __init__(self, url: str, client: str = "benchmark") -> None:
        self.client = client
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc)
        self.number, self.marks = 0, None
        # The token of the address becomes a cookie, as in a browser.
        self.connection.request("GET", f"/?{urlsplit(url).query}")
        answer = self.connection.getresponse()
        answer.read()
        self.cookie = (answer.headers["Set-Cookie"] or "").partition(";")[0]
        self.shown = json.loads(self.request("GET", "/state"))["state"]

    def request(self, method: str, path: str, body: Any = None) -> bytes:
        """Return what the server answers."""
        content = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json"} if content else {}
        self.connection.request(method, path, content, {**headers, "Cookie": self.cookie} if self.cookie else headers)
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: {answer.status} {data[:300]!r}")
        return data

    def send(self, act: str, **more: Any) -> dict[str, Any]:
        """Send one event, and return the parts of the page that change."""
        self.number += 1
        asked = {
            "client": self.client,
            "events": [{"act": act, "number": self.number, **more}],
            "shown": self.shown,
            "marks": self.marks,
            "dark": False,
        }
        answer = json.loads(self.request("POST", "/events", asked))
        self.marks, self.shown = answer["marks"], answer["state"] or self.shown
        parts: dict[str, Any] = answer["parts"]
        return parts


def wait_until_open(url: str) -> None:
    """Wait for a table that the page has not opened yet; it shows the steps meanwhile."""
    while Tab(url, "waiting").shown[1] < 0:
        time.sleep(0.05)


def http_times(path: Path, truth: np.ndarray, rows: np.ndarray, folder: Path) -> list[float]:
    X = opened_table(path).session.X
    times = []
    with server(path, folder) as url:
        tab = Tab(url)
        classes = sorted(CLASSES)  # in the order of their keys
        for row in rows:
            tab.send("brush", value=classes.index(str(truth[row])))
            began = time.perf_counter()
            answer = tab.send("pick", points=[int(row)])
            times.append(1000 * (time.perf_counter() - began))
            if "metrics" not in answer:
                raise SystemExit("The answer has no numbers.")
        check_download(X, tab.request("GET", "/download"), len(rows), "http")
    return times


def check_download(X: np.ndarray, content: bytes, n_clicks: int, what: str) -> None:
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    labels = [row["color"] or None for row in rows]
    n_start = min(N_START, len(rows) // 3)
    if sum(label is not None for label in labels) != n_start + n_clicks:
        raise SystemExit(f"{what}: {n_clicks} clicks, and not as many new labels.")
    check(X, labels, [row["predicted_label"] for row in rows], [row["confidence"] for row in rows], what)


# Looked at in every frame: the numbers have changed when a frame finds them so, and then the map.
WATCH = """() => {
    const graph = document.querySelector('#map .js-plotly-plot');
    const state = () => [document.querySelector('#labels-value').textContent, graph._fullData[1].x.length];
    let before = state();
    function look() {
        const now = state();
        if (!window.changed && now[0] !== before[0]) window.changed = performance.now();
        if (!window.drawn && now[1] !== before[1]) window.drawn = performance.now();
        window.requestAnimationFrame(look);
    }
    graph.addEventListener('mousedown', () => {
        before = state();
        window.changed = window.drawn = null;
        window.pressed = performance.now();
    }, true);
    look();
}"""
PLACES = """() => {
    const graph = document.querySelector('#map .js-plotly-plot'), {xaxis, yaxis} = graph._fullLayout;
    const box = graph.getBoundingClientRect(), {x, y} = graph.data[0];
    const left = box.left + xaxis._offset, top = box.top + yaxis._offset;
    return x.map((value, i) => [left + xaxis.l2p(value), top + yaxis.l2p(y[i])]);
}"""


def page_times(path: Path, n_clicks: int, folder: Path, mark: str) -> tuple[list[float], str]:
    from playwright.sync_api import sync_playwright

    X = opened_table(path).session.X
    times = []
    with server(path, folder) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(url)
        page.set_default_timeout(120_000)
        page.wait_for_selector("#suggestions .line")
        places = np.array(page.evaluate(PLACES))
        labels = [row["color"] for row in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))]
        page.click(f"#toolbar .button:has-text({sorted(CLASSES)[0]!r})")
        page.evaluate(WATCH)
        for row in lonely(places, [not label for label in labels])[:n_clicks]:
            before = int(page.inner_text("#labels-value").replace(",", ""))
            lists = page.inner_html("#suggestions")
            page.mouse.move(*places[row])
            page.mouse.click(*places[row])
            page.wait_for_function("() => window.changed && window.drawn")
            if int(page.inner_text("#labels-value").replace(",", "")) != before + 1:
                raise SystemExit("A click did not give one label.")
            times.append(page.evaluate(f"() => window.{mark} - window.pressed"))
            # The next click comes when the lists have followed, as that of a person who reads would.
            page.wait_for_function("lists => document.querySelector('#suggestions').innerHTML !== lists", arg=lists)
        with page.expect_download() as download:
            page.click("#download")
        check_download(X, Path(download.value.path()).read_bytes(), n_clicks, "page")
        found = f"chromium {browser.version}"
        browser.close()
    return times, found


def lonely(places: np.ndarray, allowed: list[bool]) -> list[int]:
    """Return rows with much room around them on the screen, most room first."""
    from sklearn.neighbors import NearestNeighbors

    room = NearestNeighbors(n_neighbors=2).fit(places).kneighbors(places)[0][:, 1]
    return [int(row) for row in np.argsort(-room) if allowed[row]]


def chromium() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--clicks", type=int, default=15)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--out", type=Path, help="CSV file to write")
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    records = []
    for part in options.parts:
        if part in ("page", "map") and chromium() is None:
            print(f"{part}: no Chromium is installed, so this part was left out.")
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "clusters.csv"
            truth = write_rows(path, options.rows)
            labels = [row["color"] for row in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))]
            free = np.flatnonzero([not label for label in labels])
            rows = np.random.default_rng(1).permutation(free)[: options.clicks]
            found = ""
            if part == "session":
                times = session_times(path, truth, rows)
            elif part == "http":
                times = http_times(path, truth, rows, Path(folder) / "state")
            else:
                mark = "changed" if part == "page" else "drawn"
                times, found = page_times(path, options.clicks, Path(folder) / "state", mark)
        record = {
            "what": part,
            "rows": options.rows,
            "features": N_FEATURES,
            "classes": len(CLASSES),
            "clicks": len(times),
            "median_ms": round(statistics.median(times), 1),
            "slowest_ms": round(max(times), 1),
            "bar_ms": BAR_MS,
            "dash": version("dash"),
            "plotly": version("plotly"),
            "browser": found,
            **circumstances(command),
        }
        records.append(record)
        print(f"{part:8} median {record['median_ms']:8.1f} ms, slowest {record['slowest_ms']:8.1f} ms", flush=True)
    if options.out:
        write_csv(records, options.out)


if __name__ == "__main__":
    main()
