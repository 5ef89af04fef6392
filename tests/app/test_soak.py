"""Many clicks on a page that is served for real: what they leave behind is what a few clicks leave behind."""

import csv
import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from bench_click import write_rows
from clicked_page import MOST_GROWTH_BYTES, N_ROWS, before_and_after, served
from soak_app import KINDS, Labels, problems

pytestmark = pytest.mark.slow  # a page is served and clicked hundreds of times

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "soak_app.py"
STORED = SCRIPT.parent / "results" / "soak.csv"


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))
    path = tmp_path / "clusters.csv"
    write_rows(path, N_ROWS)
    return path


def test_many_clicks_leave_behind_what_few_leave(table):
    # A process of its own: threads and open files of other tests would be counted with those of the page.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        (arrays, *few), (arrays_later, *many) = pool.submit(before_and_after, table).result()
    assert many == few
    assert few[0]["semikpca.app._snapshot.Snapshot"] == 1
    assert arrays_later - arrays < MOST_GROWTH_BYTES


def test_tabs_that_were_closed_are_forgotten(table):
    with served(table) as (visitor, workspace):
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
