"""A labeling page that is served for real, clicked at, and looked at from inside: what do clicks leave behind?

A module of its own, since a process of its own must be able to import it.
"""

import gc
import os
import threading
import time
import tracemalloc
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from bench_click import opened_table
from semikpca.app import Workspace, serve
from soak_app import Visitor, check_end, start_labels

N_ROWS, ROUNDS, CLICKS_A_ROUND = 100, 5, 6
# The first rounds fill caches (of templates, types, compiled patterns) that later ones find.
WARM_ROUNDS = 2
# A leak of a single array of as many floats as there are rows, once a click, would be ten times this.
MOST_GROWTH_BYTES = N_ROWS * 8 * CLICKS_A_ROUND * 2 * (ROUNDS - WARM_ROUNDS) // 10
PATIENCE = 60  # seconds until a thread that should end is given up on


@contextmanager
def served(path):
    """A visitor of a page that is served from a thread of this process, and its workspace."""
    workspace = Workspace()
    workspace.show(opened_table(path))
    server = serve(workspace, port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield Visitor(server.url, N_ROWS, start_labels(path)), workspace
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
    for of_a_tab in ("_workspace.Tab", "_loop.Loop"):
        del ours[f"semikpca.app.{of_a_tab}"]  # one for each tab, up to the limit that is tested below
    # Python keeps freed tuples and numbers for later and counts them as used; arrays are counted apart.
    arrays = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)])
    files = Path("/proc/self/fd")
    return (
        sum(trace.size for trace in arrays.traces),
        ours,
        threading.active_count(),
        len(os.listdir(files)) if files.exists() else 0,
    )


def before_and_after(path):
    """What few clicks leave behind, and what many leave."""
    with served(path) as (visitor, _):
        start = dict(visitor.labels.now)
        tracemalloc.start()
        for _ in range(WARM_ROUNDS):
            one_round(visitor)
        few = left_behind()
        for _ in range(ROUNDS - WARM_ROUNDS):
            one_round(visitor)
        many = left_behind()
        assert visitor.labels.now == start  # the same labels, so that the same is to be expected
        check_end(path, visitor)
    return few, many
