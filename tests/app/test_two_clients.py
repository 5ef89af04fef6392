"""Two people edit classes and give labels at the same time, over HTTP and without waiting for each other."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from bench_click import Tab, write_rows
from soak_app import AppProcess, autosave_of

pytestmark = pytest.mark.slow  # a server is started

N_ROWS, N_ROUNDS = 60, 6


def work(url, name, rows):
    """Add classes, give them, rename them, delete some; all of it beside someone else who does the same."""
    tab, expected = Tab(url, name), {}
    for turn in range(N_ROUNDS):
        tab.send("add-class", value=f"{name} {turn}")
        for row in rows[3 * turn : 3 * turn + 3]:
            tab.send("row", value=row)
            # By the name, beside a place that is right only by chance: the other adds and deletes classes meanwhile.
            tab.send("label", value=0, name=f"{name} {turn}")
            expected[row] = f"{name} {turn}"
        if turn % 3 == 0:
            tab.send("rename-class", value=f"{name} {turn} again", name=f"{name} {turn}")
            tab.send("row", value=rows[3 * turn])
            tab.send("remove")
            tab.send("label", value=0, name=f"{name} {turn}")  # as a tab would that does not know the new name yet
            expected = {
                row: f"{name} {turn} again" if label == f"{name} {turn}" else label for row, label in expected.items()
            }
        if turn % 3 == 1:
            tab.send("rename-class", value=f"{name} {turn} again", name=f"{name} {turn}")
            tab.send("delete-class", name=f"{name} {turn}")
            expected = {row: label for row, label in expected.items() if label != f"{name} {turn}"}
        if turn % 3 == 2:
            target = f"{name} {turn - 2} again"
            tab.send("merge-class", value=target, name=f"{name} {turn}")
            expected = {row: target if label == f"{name} {turn}" else label for row, label in expected.items()}
    return tab, expected


def test_nothing_is_lost_and_both_see_it(tmp_path):
    path = tmp_path / "clusters.csv"
    write_rows(path, N_ROWS)
    with AppProcess(path, tmp_path / "state") as app:
        with ThreadPoolExecutor(2) as pool:
            parts = [list(range(half, N_ROWS, 2)) for half in range(2)]
            done = list(pool.map(work, [app.url] * 2, ["one", "two"], parts))
        saved = autosave_of(path)
        labels = dict(map(tuple, saved["labels"]))
        for rows, (_, expected) in zip(parts, done, strict=True):
            assert {row: labels[row] for row in rows[: 3 * N_ROUNDS] if row in labels} == expected
        seen = [json.dumps(Tab(app.url, f"new {number}").send("refresh")["classes"]) for number in range(2)]
        assert seen[0] == seen[1]
        for label in saved["classes"]:
            assert json.dumps(label) in seen[0]
        for name in ("one", "two"):
            kept = [label for label in saved["classes"] if label.startswith(name)]
            assert kept == [f"{name} {turn} again" for turn in range(0, N_ROUNDS, 3)]
