"""Many clicks on a page that is served for real: what they leave behind is what a few clicks leave behind."""

import csv
import gc
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bench_click import opened_table, write_rows
from semikpca.app import Workspace, serve
from soak_app import KINDS, Labels, Visitor, check_end, problems, start_labels

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "soak_app.py"
STORED = SCRIPT.parent / "results" / "soak.csv"
N_ROWS, ROUNDS, CLICKS_A_ROUND = 100, 6, 12
# The first rounds fill caches (of templates, types, compiled patterns) that later ones find.
WARM_ROUNDS = 2
# A leak of a single array of as many floats as there are rows, once a click, would be ten times this.
MOST_GROWTH_BYTES = N_ROWS * 8 * CLICKS_A_ROUND * 2 * (ROUNDS - WARM_ROUNDS) // 10
PATIENCE = 60  # seconds until a thread that should end is given up on


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A visitor of a page that is served from a thread of this process, the path of its table, and its workspace."""
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))
    path = tmp_path / "clusters.csv"
    write_rows(path, N_ROWS)
    workspace = Workspace()
    workspace.show(opened_table(path))
    server = serve(workspace, port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield Visitor(server.url, N_ROWS, start_labels(path)), path, workspace
    finally:
        server.server.shutdown()
        thread.join()
        server.server.server_close()


def one_round(visitor):
    """Give labels, look at what the page shows then, take all of them back and open a new tab."""
    for row in range(CLICKS_A_ROUND):
        visitor.label(row, "red" if row % 2 else "green")
        visitor.look(lists=row % 6 == 0)
    for _ in range(len(visitor.labels.past)):
        visitor.step("undo")
    visitor.new_tab()
    visitor.tab.connection.close()


def left_behind():
    """Return the bytes of all arrays, the live objects of the package by type, threads and open files."""
    end = time.monotonic() + PATIENCE
    while threading.active_count() > 2 and time.monotonic() < end:
        time.sleep(0.01)  # the thread of a request ends a moment after its answer
    gc.collect()
    types = (type(one) for one in gc.get_objects())
    ours = Counter(f"{one.__module__}.{one.__name__}" for one in types if str(one.__module__).startswith("semikpca"))
    del ours["semikpca.app._workspace.Tab"]  # one for each tab, up to the limit that is tested below
    # Python keeps freed tuples and numbers for later and counts them as used; arrays are counted apart.
    arrays = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)])
    files = Path("/proc/self/fd")
    return (
        sum(trace.size for trace in arrays.traces),
        ours,
        threading.active_count(),
        len(os.listdir(files)) if files.exists() else 0,
    )


def test_many_clicks_leave_behind_what_few_leave(page):
    visitor, path, _ = page
    start = dict(visitor.labels.now)
    tracemalloc.start()
    try:
        for _ in range(WARM_ROUNDS):
            one_round(visitor)
        arrays, *few = left_behind()
        for _ in range(ROUNDS - WARM_ROUNDS):
            one_round(visitor)
        arrays_later, *many = left_behind()
    finally:
        tracemalloc.stop()
    assert visitor.labels.now == start  # the same labels, so that the same is to be expected
    assert many == few
    assert few[0]["semikpca.app._snapshot.Snapshot"] == 1
    assert arrays_later - arrays < MOST_GROWTH_BYTES
    check_end(path, visitor)


def test_tabs_that_were_closed_are_forgotten(page):
    visitor, _, workspace = page
    for number in range(120):
        workspace.handle(f"another tab {number}", [{"number": 1, "act": "refresh"}])
    visitor.tab.send("refresh")
    assert len(workspace._tabs) <= 50


# -- the long run ------------------------------------------------------------------------------------------------


def test_the_soak_runs_at_its_smallest_size_and_writes_what_it_promises(tmp_path):
    out = tmp_path / "soak.csv"
    options = ["--rows", "90", "--clicks", "25", "--out", str(out)]
    subprocess.run([sys.executable, str(SCRIPT), *options], check=True, timeout=300, stdout=subprocess.DEVNULL)
    (row,) = rows_of(out)
    assert (row["clicks"], row["rows"]) == ("25", "90")
    assert sum(int(row[kind]) for kind in KINDS) == 25
    assert "soak_app.py --rows 90" in row["command"]


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_stored_results_are_those_of_a_thousand_clicks():
    rows = rows_of(STORED)
    assert rows[-1]["clicks"] == "1000"
    assert sum(int(rows[-1][kind]) for kind in KINDS) == 1000
    assert len({row["threads"] for row in rows[2:]}) == 1


@pytest.mark.parametrize(("place", "word"), [(0, "memory"), (1, "threads"), (2, "open files")])
def test_the_soak_sees_what_grows(place, word):
    flat = [(300.0, 2, 9)] * 100
    assert problems(flat) == []
    growing = [
        tuple(value + (number / 10 if i == place else 0) for i, value in enumerate(load))
        for number, load in enumerate(flat)
    ]
    (found,) = problems(growing)
    assert word in found


def test_the_labels_beside_the_page_know_undo_and_redo():
    labels = Labels({1: "a"})
    labels.change(2, "b")
    labels.change(2, "b")
    labels.change(1, None)
    assert labels.now == {2: "b"}
    labels.undo()
    labels.undo()
    labels.undo()
    assert labels.now == {1: "a"}
    labels.redo()
    assert labels.now == {1: "a", 2: "b"}
    labels.change(3, "c")
    labels.redo()
    assert labels.now == {1: "a", 2: "b", 3: "c"}
