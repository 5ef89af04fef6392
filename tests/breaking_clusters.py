"""What tests that break a Dask cluster share."""

import gc
import os
import time


def once(path, action):
    """Return a function that does something the first time that it is called, in whichever process that is."""

    def act():
        try:
            os.remove(path)
        except FileNotFoundError:
            return
        action()

    path.touch()
    return act


def tasks_left(client):
    """What the scheduler still knows, once everything that was let go has gone."""
    for _ in range(100):
        left = _tasks(client)
        if not left:
            return left
        time.sleep(0.05)
    return left


def settled_tasks(client):
    """What the scheduler knows, once it has stopped clearing away: the same at ten looks in a row."""
    seen, n_same = _tasks(client), 0
    for _ in range(200):
        time.sleep(0.05)
        before, seen = seen, _tasks(client)
        n_same = n_same + 1 if seen == before else 0
        if n_same == 10:
            return seen
    raise AssertionError(f"the scheduler does not come to rest: {seen}")


def _tasks(client):
    gc.collect()
    return client.run_on_scheduler(lambda dask_scheduler: sorted(map(str, dask_scheduler.tasks)))
