"""Workers that die in the pass over the rows, and Ctrl-C in it: the same answer, or nothing left behind."""

import os
import signal
import threading
import time

import dask.array as da
import numpy as np
import pytest

from breaking_clusters import once, tasks_left
from oracles import relative_error
from semikpca import SemiKPCAClassifier
from semikpca.exceptions import ClusterError
from semikpca.kernels import RBF, Nystroem

pytestmark = pytest.mark.slow  # each test starts a cluster of its own and breaks it

SAME_ANSWER = 1e-9  # sums in another order
CLIENT = os.getpid()


def data():
    generator = np.random.default_rng(5)
    truth = np.arange(600) % 2
    X = generator.normal(size=(600, 4)) * [1.0, 0.8, 0.6, 0.5] + 2.0 * np.eye(2, 4)[truth]
    return X, np.where(np.arange(600) < 12, truth, -1)


def kernel_that(act):
    """Return a kernel with landmarks that calls ``act()`` on a worker whenever features are made."""

    class Trapped(RBF):  # a local class travels to the workers as a whole
        def pairwise(self, A, B):
            if os.getpid() != CLIENT:
                act()
            return RBF.pairwise(self, A, B)

    return Nystroem(Trapped(0.2), 20, random_state=0)


@pytest.mark.parametrize("n_workers", [2, 1])
def test_a_worker_that_is_killed_in_the_pass_changes_nothing(own_cluster, tmp_path, n_workers):
    X, y = data()
    wanted = SemiKPCAClassifier(Nystroem(RBF(0.2), 20, random_state=0)).fit(X, y)
    client = own_cluster(n_workers)
    kernel = kernel_that(once(tmp_path / "alive", lambda: os.kill(os.getpid(), signal.SIGKILL)))
    model = SemiKPCAClassifier(kernel).fit(da.from_array(X, chunks=(60, 4)), y)
    assert not (tmp_path / "alive").exists()
    assert relative_error(model.decision_.compute(), wanted.decision_) < SAME_ANSWER
    assert tasks_left(client) == []  # lazy answers hold nothing on the cluster


def test_workers_that_always_die_in_the_pass_end_in_one_clear_error(own_cluster):
    X, y = data()
    client = own_cluster(1, {"distributed.scheduler.allowed-failures": 0})
    with pytest.raises(ClusterError, match=r"gave up: .* want of memory"):
        SemiKPCAClassifier(kernel_that(lambda: os.kill(os.getpid(), signal.SIGKILL))).fit(
            da.from_array(X, chunks=(60, 4)), y
        )
    assert tasks_left(client) == []


def test_an_interrupted_pass_leaves_nothing_behind_and_an_earlier_fit_as_it_was(own_cluster, tmp_path):
    X, y = data()
    client = own_cluster(1)
    rows = da.from_array(X, chunks=(60, 4))
    model = SemiKPCAClassifier(Nystroem(RBF(0.2), 20, random_state=0)).fit(rows, y)
    before = model.decision_

    def wait_there():
        (tmp_path / "running").touch()
        time.sleep(0.2)

    def interrupt_when_running():
        while not (tmp_path / "running").exists():
            time.sleep(0.02)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    interrupting = threading.Thread(target=interrupt_when_running)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        model.set_params(kernel=kernel_that(wait_there)).fit(rows, y)
    interrupting.join()
    assert model.decision_ is before
    assert tasks_left(client) == []


def test_a_kernel_that_the_workers_cannot_load_is_named(client, tmp_path, monkeypatch):
    (tmp_path / "only_on_the_client.py").write_text(
        "from semikpca.kernels import RBF\n\n\nclass Special(RBF):\n    pass\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from only_on_the_client import Special

    X, y = data()
    with pytest.raises(ImportError, match=r"No module named 'only_on_the_client'\. Install that module"):
        SemiKPCAClassifier(Nystroem(Special(0.2), 20, random_state=0)).fit(da.from_array(X, chunks=(200, 4)), y)
