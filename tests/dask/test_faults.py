"""Workers that die, stop or run out of memory in the middle of a fit, a lost scheduler, and Ctrl-C.

The fit then ends with the same answer, or with one clear error, and leaves nothing on the cluster. Each test has a
cluster of its own, since it breaks it.
"""

import importlib
import os
import signal
import threading
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Status, get_worker

from breaking_clusters import once, settled_tasks, tasks_left
from oracles import algorithm_1, large_rbf, naive_signed_targets, paper_error_weight, relative_error
from semikpca import SemiKPCAClassifier
from semikpca.exceptions import ClusterError
from semikpca.kernels import RBF, Kernel
from semikpca.operators.cluster import _client

pytestmark = pytest.mark.slow  # each test starts a cluster of its own and breaks it

GAMMA = 0.1
N = 1700
# Eigenpairs and solves stop at tol = 1e-6; the gap at the cut is a fifth of the largest eigenvalue or more.
ALLOWED = 1e-5


@pytest.fixture(scope="module")
def data():
    """Rows in three clusters, labels of a few, and the decisions of Algorithm 1 on the dense matrix."""
    generator = np.random.default_rng(7)
    truth = np.arange(N) % 3
    X = generator.normal(size=(N, 4)) * [1.0, 0.8, 0.6, 0.4] + 2.0 * np.eye(3, 4)[truth]
    y = np.full(N, -1)
    y[:15] = truth[:15]
    K = large_rbf(X, X, GAMMA)
    pairs = np.linalg.eigh(K)
    pairs = pairs[0][::-1], pairs[1][:, ::-1]
    weight = paper_error_weight(K, 1, "middle", pairs=pairs)
    alpha, projected, _ = algorithm_1(K, naive_signed_targets(y), 1, weight, pairs)
    return X, y, projected @ alpha


def kernel_that(first, *, with_sample=False):
    """Return a Gaussian kernel that calls ``first()`` on the workers before a product, or before the sample is used."""
    client = os.getpid()

    class Trapped(Kernel):  # a local class travels to the workers as a whole
        def pairwise(self, A, B):
            if os.getpid() != client and with_sample == (len(B) == 200):
                first()
            return RBF(GAMMA).pairwise(A, B)

        def diag(self, A):
            return np.ones(len(A))

    return Trapped()


@pytest.mark.parametrize("with_sample", [False, True])
def test_a_worker_that_is_killed_in_the_middle_of_a_fit_changes_nothing(own_cluster, data, tmp_path, with_sample):
    X, y, wanted = data
    client = own_cluster()
    kill = once(tmp_path / "alive", lambda: os.kill(os.getpid(), signal.SIGKILL))
    kernel = kernel_that(kill, with_sample=with_sample)
    model = SemiKPCAClassifier(kernel, backend="dask").fit(da.from_array(X, chunks=(500, 2)), y)
    assert not (tmp_path / "alive").exists()
    assert relative_error(model.decision_, wanted) <= ALLOWED
    del model, kernel
    assert tasks_left(client) == []


def test_rows_that_the_client_sent_are_sent_again_to_the_only_worker(own_cluster, data, tmp_path):
    X, y, wanted = data
    own_cluster(n_workers=1)
    kernel = kernel_that(once(tmp_path / "alive", lambda: os.kill(os.getpid(), signal.SIGKILL)))
    model = SemiKPCAClassifier(kernel, backend="dask").fit(X, y)
    assert not (tmp_path / "alive").exists()
    assert relative_error(model.decision_, wanted) <= ALLOWED


def test_a_worker_that_is_paused_for_a_while_changes_nothing(own_cluster, data, tmp_path):
    X, y, wanted = data
    own_cluster()

    def pause():
        worker = get_worker()
        # The watch over the memory of the worker sets it going again after a while.
        worker.loop.add_callback(setattr, worker, "status", Status.paused)

    kernel = kernel_that(once(tmp_path / "going", pause))
    model = SemiKPCAClassifier(kernel, backend="dask").fit(da.from_array(X, chunks=(500, 4)), y)
    assert not (tmp_path / "going").exists()
    assert relative_error(model.decision_, wanted) <= ALLOWED


def test_a_worker_that_stays_paused_ends_in_one_clear_error(own_cluster, data, tmp_path, monkeypatch):
    X, y, _ = data
    monkeypatch.setattr(_client, "_PATIENCE_SECONDS", 2)
    client = own_cluster(memory_limit=0)  # nobody sets the worker going again

    def pause():
        worker = get_worker()
        worker.loop.add_callback(setattr, worker, "status", Status.paused)
        time.sleep(0.5)

    kernel = kernel_that(once(tmp_path / "going", pause))
    with pytest.raises(ClusterError, match=r"Worker tcp://.* has been paused for more than 2 s: its memory is full"):
        SemiKPCAClassifier(kernel, backend="dask").fit(da.from_array(X, chunks=(500, 4)), y)
    del kernel
    assert tasks_left(client) == []


def test_a_kernel_that_the_workers_cannot_load_is_named(own_cluster, data, tmp_path, monkeypatch):
    X, y, _ = data
    own_cluster()
    (tmp_path / "only_here.py").write_text("from semikpca.kernels import RBF\nclass Mine(RBF):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    mine = importlib.import_module("only_here").Mine(GAMMA)
    with pytest.raises(ImportError, match=r"cannot load .* 'only_here'.*client\.upload_file"):
        SemiKPCAClassifier(mine, backend="dask").fit(X, y)


def test_workers_that_always_die_end_in_one_clear_error(own_cluster, data):
    X, y, _ = data
    client = own_cluster(config={"distributed.scheduler.allowed-failures": 0})
    kernel = kernel_that(lambda: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(ClusterError, match=r"gave up: .* want of memory"):
        SemiKPCAClassifier(kernel, backend="dask").fit(da.from_array(X, chunks=(500, 4)), y)
    del kernel
    assert tasks_left(client) == []


def test_a_scheduler_that_goes_away_ends_in_one_clear_error(own_cluster, data, tmp_path):
    X, y, _ = data
    client = own_cluster()
    path = tmp_path / "running"

    def wait_there():
        path.touch()
        time.sleep(0.2)

    def close_when_running():
        while not path.exists():
            time.sleep(0.02)
        client.cluster.close()

    closing = threading.Thread(target=close_when_running)
    closing.start()
    with pytest.raises(ClusterError, match="scheduler"):
        SemiKPCAClassifier(kernel_that(wait_there), backend="dask").fit(da.from_array(X, chunks=(500, 4)), y)
    closing.join()


def test_an_interrupted_fit_leaves_nothing_on_the_cluster_and_an_earlier_fit_as_it_was(own_cluster, data, tmp_path):
    X, y, wanted = data
    client = own_cluster()
    rows = da.from_array(X, chunks=(500, 4))
    path = tmp_path / "running"

    def wait_there():
        path.touch()
        time.sleep(0.2)

    def interrupt_when_running():
        while not path.exists():
            time.sleep(0.02)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    model = SemiKPCAClassifier(RBF(GAMMA), backend="dask").fit(rows, y)
    before = settled_tasks(client)  # the rows that the fitted model holds
    interrupting = threading.Thread(target=interrupt_when_running)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        model.set_params(kernel=kernel_that(wait_there)).fit(rows, y)
    interrupting.join()
    assert relative_error(model.decision_, wanted) <= ALLOWED
    assert relative_error(model.decision_function(X), wanted) <= ALLOWED
    vars(model._fitted).pop("expansion")  # the coefficients that the prediction has sent
    assert settled_tasks(client) == before
    del model
    assert tasks_left(client) == []


def test_a_worker_out_of_memory_ends_in_one_clear_error(own_cluster, data):
    X, y, _ = data
    client = own_cluster(memory_limit="500MB", config={"distributed.scheduler.allowed-failures": 0})

    def take_too_much():
        hoard = [np.ones(2**22) for _ in range(30)]  # 1 GB
        time.sleep(60)
        del hoard

    with pytest.raises(ClusterError, match="memory"):
        SemiKPCAClassifier(kernel_that(take_too_much), backend="dask").fit(da.from_array(X, chunks=(500, 4)), y)
    assert tasks_left(client) == []
