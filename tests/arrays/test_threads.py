"""Work in threads: errors come out, Ctrl-C comes through, and no thread is left behind."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from oracles import relative_error
from semikpca import ConvexKernelPCA, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.arrays import OwnMemory, allowed_threads, in_threads, one_blas_thread, slices
from semikpca.kernels import RBF, FactorTiles, tiles_of
from semikpca.operators.products import symmetric_product

TWO_THREADS = pytest.mark.parametrize("threads", [1, 2])


# How long a thread may take to end after its last part: the system needs a moment to start and to end it.
MOMENT = 2.0
# Far more than can be begun between an error and the moment when it is noticed.
N_PARTS = 10_000


@pytest.fixture(autouse=True)
def no_thread_is_left_behind():
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + MOMENT
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.001)
    assert not set(threading.enumerate()) - before  # those of other tests may end meanwhile


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(700, 3))


@pytest.fixture
def labels():
    y = np.full(700, -1)
    y[:6] = [0, 0, 0, 1, 1, 1]
    return y


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


class Trap:
    """Counts blocks of a matrix, and does something at the n-th of them."""

    def __init__(self, at, action):
        self.at, self.action = at, action
        self.n_made, self.lock = 0, threading.Lock()

    def step(self):
        with self.lock:
            self.n_made += 1
            is_now = self.n_made == self.at
        if is_now:
            self.action()

    def on(self, make):
        """Return a function that makes blocks as ``make`` does, once the trap has been passed."""

        def instead(*place):
            self.step()
            return make(*place)

        return instead


def place(share, work):
    """The number of the block at some share of all that a piece of work makes, whatever the size of blocks."""
    counter = Trap(None, None)
    work(counter)
    return max(1, int(share * counter.n_made))


def product_with(trap, rows):
    """Multiply by way of blocks that a trap counts."""
    return symmetric_product(trap.on(tiles_of(RBF(0.5), rows, rows, np.float64)), len(rows), rows, np.float64)


def refuse():
    raise ArithmeticError("the tile failed")


def interrupt():
    """Do what Ctrl-C does: the signal reaches the main thread, whichever thread it is sent from."""
    os.kill(os.getpid(), signal.SIGINT)


# -- every part, once --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2, 3, 7])
@pytest.mark.parametrize("n_parts", [1, 2, 5, 20])
def test_every_part_is_done_once_by_a_thread_that_depends_on_its_place(n_threads, n_parts):
    done = []
    in_threads(lambda part, thread: done.append((part, thread)), list(range(n_parts)), n_threads)
    assert sorted(done) == [(part, part % n_threads) for part in range(n_parts)]


@pytest.mark.parametrize(("start", "stop", "step"), [(0, 0, 5), (0, 4, 5), (0, 5, 5), (3, 14, 5), (7, 7, 1)])
def test_slices_cover_a_range_without_overlap(start, stop, step):
    parts = slices(start, stop, step)
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(start, stop))
    assert all(0 < part.stop - part.start <= step for part in parts)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_as_many_threads_are_used_as_blas_may_have(threads):
    with threadpool_limits(threads, user_api="blas"):
        assert allowed_threads() == threads


def of_all_threads():
    """The limits that hold for all threads; those of OpenMP are each thread's own."""
    found = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return [library["num_threads"] for library in found if library.get("threading_layer") != "openmp"]


@TWO_THREADS
def test_blas_has_one_thread_inside_and_as_many_as_before_afterwards(rows, threads):
    seen = []
    tiles = tiles_of(RBF(0.5), rows, rows, np.float64)
    with threadpool_limits(threads, user_api="blas"):
        before = blas_threads()
        symmetric_product(Trap(3, lambda: seen.extend(of_all_threads())).on(tiles), 700, rows, np.float64)
        assert set(seen) == {1}
        assert blas_threads() == before


def test_a_second_thread_neither_takes_the_limit_of_the_first_for_the_users_nor_leaves_it_behind():
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    seen = []

    def second():
        first_is_in.wait(MOMENT)
        with one_blas_thread():
            seen.append((of_all_threads(), allowed_threads()))
            second_is_in.set()
            first_is_out.wait(MOMENT)
            seen.append((of_all_threads(), allowed_threads()))

    with threadpool_limits(3, user_api="blas"):
        before = of_all_threads()
        thread = threading.Thread(target=second)
        thread.start()
        with one_blas_thread():
            first_is_in.set()
            second_is_in.wait(MOMENT)
        first_is_out.set()
        thread.join()
        assert seen == [([1] * len(before), 3), (before, 3)]
        assert of_all_threads() == before
        with one_blas_thread():
            assert set(of_all_threads()) == {1}


def test_what_runs_in_threads_starts_no_more_of_them():
    seen = []
    with threadpool_limits(3, user_api="blas"):
        in_threads(lambda part, thread: seen.append(allowed_threads()), [0, 1, 2, 3], 2)
        assert seen == [1] * 4
        assert allowed_threads() == 3


# -- errors ------------------------------------------------------------------------------------------------------


@TWO_THREADS
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_an_error_in_a_worker_is_raised_and_the_others_stop(rows, threads, share):
    at = place(share, lambda trap: product_with(trap, rows))
    with threadpool_limits(threads, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ArithmeticError, match="the tile failed"):
            product_with(Trap(at, refuse), rows)
        assert blas_threads() == before


@pytest.mark.parametrize(("action", "error"), [(refuse, ArithmeticError), (interrupt, KeyboardInterrupt)])
@pytest.mark.parametrize("at", [0, 1, 50])
def test_when_an_error_comes_out_no_thread_goes_on(action, error, at):
    begun = []

    def work(part, thread):
        begun.append(part)
        if part == at:
            action()
        time.sleep(0.0005)

    with pytest.raises(error):
        in_threads(work, list(range(N_PARTS)), 3)
    n_begun = len(begun)
    time.sleep(0.05)
    assert len(begun) == n_begun
    assert n_begun < N_PARTS / 10


@TWO_THREADS
def test_an_error_in_a_product_leaves_a_fitted_model_as_it_was(rows, labels, threads, monkeypatch):
    model = SemiKPCAClassifier(RBF(0.5), backend="blocked").fit(rows, labels)
    before = {name: np.copy(value) for name, value in vars(model).items() if name.endswith("_") and np.ndim(value)}
    fail_at(monkeypatch, 0.3, refuse, lambda: clone(model).fit(rows[::-1], labels))
    with threadpool_limits(threads, user_api="blas"), pytest.raises(ArithmeticError):
        model.fit(rows[::-1], labels)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(model, name), value)


# -- Ctrl-C ------------------------------------------------------------------------------------------------------


def fail_at(monkeypatch, share, action, work):
    """Let a block that ``work`` will make, at some share of all of them, do something else first."""
    make = FactorTiles.__call__

    def counted(trap):
        monkeypatch.setattr(FactorTiles, "__call__", trap.on(make))
        work()

    trap = Trap(place(share, counted), action)
    monkeypatch.setattr(FactorTiles, "__call__", trap.on(make))
    return trap


@TWO_THREADS
@pytest.mark.parametrize("share", [0.0, 0.8])
def test_ctrl_c_comes_through_a_product(rows, threads, share):
    at = place(share, lambda trap: product_with(trap, rows))
    with threadpool_limits(threads, user_api="blas"):
        before = blas_threads()
        with pytest.raises(KeyboardInterrupt):
            product_with(Trap(at, interrupt), rows)
        assert blas_threads() == before


@TWO_THREADS
@pytest.mark.parametrize("model", [SemiKPCAClassifier, SemiLSSVMClassifier])
def test_ctrl_c_leaves_a_first_fit_unfitted(rows, labels, threads, model, monkeypatch):
    model = model(RBF(0.5), backend="blocked")
    fail_at(monkeypatch, 0.6, interrupt, lambda: clone(model).fit(rows, labels))
    with threadpool_limits(threads, user_api="blas"), pytest.raises(KeyboardInterrupt):
        model.fit(rows, labels)
    assert not model.__sklearn_is_fitted__()
    monkeypatch.undo()
    assert model.fit(rows, labels).decision_.shape == (700,)


def test_ctrl_c_leaves_a_first_kernel_pca_unfitted(rows, monkeypatch):
    model = ConvexKernelPCA(2, RBF(0.5), backend="blocked")
    fail_at(monkeypatch, 0.6, interrupt, lambda: clone(model).fit(rows))
    with threadpool_limits(2, user_api="blas"), pytest.raises(KeyboardInterrupt):
        model.fit(rows)
    assert not hasattr(model, "eigenvalues_")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.95])
def test_ctrl_c_leaves_a_fitted_model_as_it_was(rows, labels, share, monkeypatch):
    model = SemiKPCAClassifier(RBF(0.5), backend="blocked").fit(rows, labels)
    decision, weight, certificate = model.decision_.copy(), model.error_weight_, model.certificate_
    left_out = model.left_out_decisions(np.arange(6))
    fail_at(monkeypatch, share, interrupt, lambda: clone(model).fit(rows[::-1] * 0.8, labels))
    with threadpool_limits(2, user_api="blas"), pytest.raises(KeyboardInterrupt):
        model.fit(rows[::-1] * 0.8, labels)
    monkeypatch.undo()
    np.testing.assert_array_equal(model.decision_, decision)
    assert model.error_weight_ == weight
    assert model.certificate_ == certificate
    # What is computed on demand belongs to the fit that stands, not to the one that was stopped.
    np.testing.assert_array_equal(model.left_out_decisions(np.arange(6)), left_out)
    # Where no matrix is stored decisions are solved for to tol, 1e-6; those of new rows come from the coefficients.
    assert relative_error(model.decision_function(rows), decision) <= 1e-5


@pytest.mark.parametrize("action", ["add_labels", "leave one out"])
def test_ctrl_c_in_a_later_solve_leaves_the_model_as_it_was(rows, labels, action, monkeypatch):
    model = SemiKPCAClassifier(RBF(0.5), error_weight=0.99, backend="blocked").fit(rows, labels)
    decision, transduction = model.decision_.copy(), model.transduction_.copy()

    def act(model):
        if action == "add_labels":
            model.add_labels([100, 200], [0, 1])
        else:
            model.left_out_decisions(np.arange(6))

    another = clone(model).fit(rows, labels)
    fail_at(monkeypatch, 0.5, interrupt, lambda: act(another))
    with threadpool_limits(2, user_api="blas"), pytest.raises(KeyboardInterrupt):
        act(model)
    monkeypatch.undo()
    np.testing.assert_array_equal(model.decision_, decision)
    np.testing.assert_array_equal(model.transduction_, transduction)
    assert np.flatnonzero(model.label_coding_.codes >= 0).tolist() == [0, 1, 2, 3, 4, 5]


# -- memory of each thread ---------------------------------------------------------------------------------------------


def test_memory_is_used_again_by_the_same_thread_and_name_only():
    memory = OwnMemory()
    first = memory.block("one", (3, 4), np.float64)
    assert first.shape == (3, 4)
    assert np.shares_memory(memory.block("one", (2, 5), np.float64), first)
    assert not np.shares_memory(memory.block("two", (3, 4), np.float64), first)
    assert not np.shares_memory(memory.block("one", (5, 5), np.float64), first)
    assert memory.block("one", (2, 2), np.float32).dtype == np.float32
    here, there = memory.block("one", (2, 2), np.float32), []
    in_threads(lambda part, thread: there.append(memory.block("one", (2, 2), np.float32)), range(2), 2)
    assert not any(np.shares_memory(here, block) for block in there)
