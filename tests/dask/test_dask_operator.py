"""The operator whose rows are on a cluster keeps the contract of all operators, however the rows are cut."""

import threading

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from oracles import (
    entrywise,
    large_rbf,
    naive_cosine,
    naive_laplacian,
    naive_linear,
    naive_normalized,
    naive_polynomial,
    naive_rbf,
)
from semikpca.kernels import RBF, Cosine, Laplacian, Linear, Normalized, Polynomial, _tiles, values_of_products
from semikpca.operators import (
    BlockedOperator,
    CenteredOperator,
    DeflatedOperator,
    Progress,
    ShiftedOperator,
    fitted,
    make_operator,
)
from semikpca.operators.cluster import _rows as _cluster_rows
from semikpca.operators.cluster import _tasks as _cluster_tasks
from semikpca.operators.cluster._graphs import chunks_for, symmetric_array
from semikpca.operators.cluster._operator import DaskOperator
from semikpca.operators.cluster._rows import ClusterRows
from semikpca.operators.cluster._tasks import Sent, cross_product, pair_product
from semikpca.spectrum import leading_spectrum

pytestmark = pytest.mark.slow  # a cluster of worker processes is started

N, D = 61, 3
# Relative to the norm of a product of absolute values. float64: sums of a few dozen numbers, each off by a few eps.
TOLERANCE = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 4e-6}

KERNELS = {
    "rbf": (RBF(0.3), naive_rbf(0.3)),
    "laplacian": (Laplacian(0.2), naive_laplacian(0.2)),
    "polynomial": (Polynomial(degree=3, gamma=0.2), naive_polynomial(3, 0.2, 1.0)),
    "linear": (Linear(), naive_linear),
    "cosine": (Cosine(), naive_cosine),
}
CUTS = {
    "one chunk": (N,),
    "even": (31, 30),
    "uneven": (1, 40, 3, 17),
    "every row for itself": (1,) * 9 + (N - 9,),
    "more than the width of the tree": (3,) * 17 + (10,),
}


def rows_for(name):
    rows = np.random.default_rng(3).normal(size=(N, D))
    return np.abs(rows) + 0.1 if name == "normalized" else rows


def operator_of(kernel, X, cut=(20, 20, 21), dtype=None):
    rows = ClusterRows.of(da.from_array(X, chunks=(cut, (2, 1))))
    rows = ClusterRows(rows.array.persist(), rows.client)  # held in the very chunks that the test asks for
    return make_operator(fitted(kernel, rows), rows, "dask", dtype)


@pytest.fixture(autouse=True)
def rows_stay_in_their_chunks(monkeypatch):
    """Keep ``persisted`` from cutting the rows of these tests in its own way."""
    monkeypatch.setattr(ClusterRows, "persisted", lambda self, n_chunks=None: self)


def assert_product(found, K, block):
    assert found.shape == block.shape
    assert found.dtype == block.dtype
    scale = np.linalg.norm(np.abs(K) @ np.abs(block))
    assert np.linalg.norm(found - K @ block) <= TOLERANCE[block.dtype] * scale


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", KERNELS)
def test_the_product_is_that_of_the_formula(client, name, dtype):
    kernel, formula = KERNELS[name]
    X = rows_for(name).astype(dtype)
    operator = operator_of(kernel, X, CUTS["uneven"])
    K = entrywise(formula, X.astype(float), X.astype(float))
    assert_product(operator.matmat(_block(3, dtype)), K, _block(3, dtype))
    assert operator.dtype == dtype
    np.testing.assert_allclose(operator.diag(), np.diag(K), rtol=TOLERANCE[np.dtype(dtype)] * 100)
    at = np.array([5, 5, 0, 60])
    np.testing.assert_allclose(operator.columns(at), K[:, at], atol=1e2 * TOLERANCE[np.dtype(dtype)] * np.abs(K).max())


def _block(n_columns, dtype=np.float64):
    return np.random.default_rng(4).normal(size=(N, n_columns)).astype(dtype)


@pytest.mark.parametrize("cut", CUTS)
def test_the_product_does_not_depend_on_the_chunks(client, cut):
    X = rows_for("rbf")
    assert_product(operator_of(RBF(0.3), X, CUTS[cut]).matmat(_block(2)), large_rbf(X, X, 0.3), _block(2))


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_a_normalized_kernel_gets_its_degrees_on_the_cluster(client, name):
    X = rows_for("normalized")
    operator = operator_of(Normalized(KERNELS[name][0]), X)
    K = naive_normalized(KERNELS[name][1], X, X, X)
    assert_product(operator.matmat(_block(2)), K, _block(2))


@pytest.mark.parametrize("n_columns", [0, 1, 70])
def test_any_number_of_columns_can_be_asked_for(client, n_columns):
    X = rows_for("rbf")
    assert_product(operator_of(RBF(0.3), X).matmat(_block(n_columns)), large_rbf(X, X, 0.3), _block(n_columns))


def test_blocks_may_be_column_major_and_are_left_alone(client):
    X, block = rows_for("rbf"), np.asfortranarray(_block(4))
    before = block.copy()
    operator = operator_of(RBF(0.3), X)
    product = operator.matmat(block)
    assert_product(product, large_rbf(X, X, 0.3), _block(4))
    product[...] = np.nan
    np.testing.assert_array_equal(block, before)
    assert np.isfinite(operator.matmat(block)).all()
    operator.diag()[...] = np.nan
    assert np.isfinite(operator.diag()).all()


def test_what_is_made_of_it_is_made_of_the_matrix(client):
    X = rows_for("rbf")
    K = large_rbf(X, X, 0.3)
    operator = operator_of(RBF(0.3), X)
    values, vectors = np.linalg.eigh(K)
    deflated = DeflatedOperator(operator, values[-2:], vectors[:, -2:])
    wanted = K - (vectors[:, -2:] * values[-2:]) @ vectors[:, -2:].T
    np.testing.assert_allclose(ShiftedOperator(deflated, 9.0, -1).matmat(_block(2)), 9 * _block(2) - wanted @ _block(2))
    np.testing.assert_allclose(CenteredOperator(operator).row_means(), K.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(operator.to_dense(), K, atol=1e-14)
    np.testing.assert_allclose(leading_spectrum(operator, 3).eigenvalues, values[::-1][:3], rtol=1e-12)


def test_the_operator_says_what_it_keeps_and_what_it_costs(client):
    lines = []
    operator = operator_of(RBF(0.3), rows_for("rbf"))
    operator.log.progress = Progress(lines.append)
    assert operator.shape == (N, N)
    assert operator.nbytes == 8 * N  # the diagonal; no row, no kernel value
    assert not operator.facts.is_stored
    assert operator.facts.product_cost > N**2
    operator.columns(np.arange(3))
    assert operator.log.n_products == 0
    operator.matmat(_block(1))
    operator.matmat(_block(2))
    assert operator.log.n_products == 2
    operator.log.report("solve", 0.1, 0.01)
    assert "2 products" in lines[0]


def test_values_in_single_precision_are_sharpened_where_there_are_more_digits(client):
    X = rows_for("rbf")
    wanted = large_rbf(X, X, 0.3) @ _block(2)
    rough = operator_of(RBF(0.3), X, dtype=np.float32)
    rough.log.n_products = 5
    error = np.linalg.norm(rough.matmat(_block(2)) - wanted) / np.linalg.norm(wanted)
    assert 1e-10 < error <= 10 * rough.facts.product_error
    sharp = rough.sharper()
    assert sharp.log.n_products == 6
    assert_product(sharp.matmat(_block(2)), large_rbf(X, X, 0.3), _block(2))
    assert sharp.sharper() is sharp
    assert sharp.facts.product_error < rough.facts.product_error
    assert sharp.facts.precision < rough.facts.precision


def test_the_whole_matrix_is_fetched_for_few_rows_only(client, monkeypatch):
    import semikpca.operators.cluster._operator as module

    monkeypatch.setattr(module, "_MOST_DENSE_ROWS", N - 1)
    operator = operator_of(RBF(0.3), rows_for("rbf"))
    assert not operator.facts.can_be_dense
    with pytest.raises(ValueError, match=r"kernel matrix of 61 rows, .* up to 60 rows\. .* Nystroem"):
        operator.to_dense()


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.2), Normalized(RBF(0.3))])
def test_rough_eigenvectors_come_from_the_sample_that_one_computer_takes(client, kernel, cut):
    X = rows_for("normalized")
    local = make_operator(clone(kernel).fit(X), X, "blocked")
    remote = operator_of(clone(kernel), X, CUTS[cut])
    np.testing.assert_allclose(remote.rough_eigenvectors(5), local.rough_eigenvectors(5), rtol=1e-10, atol=1e-12)
    assert remote.log.n_products == 0


def test_values_out_of_range_are_refused_before_a_product(client):
    with pytest.raises(ValueError, match="leave the range of float32"):
        operator_of(Polynomial(degree=9, gamma=1.0), np.full((N, D), 1e5, dtype=np.float32))


def test_products_fetch_no_rows(client, monkeypatch):
    operator = operator_of(RBF(0.3), rows_for("rbf"))
    monkeypatch.setattr(_cluster_rows, "MOST_FETCHED_ROWS", 0)
    assert np.isfinite(operator.matmat(_block(2))).all()
    with pytest.raises(ValueError, match="up to 0 may be fetched"):
        operator.columns(np.array([0]))


def test_nothing_is_left_on_the_cluster_but_the_rows(client):
    operator = operator_of(RBF(0.3), rows_for("rbf"))
    held = set(map(str, client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))))
    operator.matmat(_block(2))
    operator.columns(np.array([3]))
    for _ in range(100):
        left = set(map(str, client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))))
        if left <= held:
            break
        client.sync(client.scheduler.identity)  # a round trip, so that releases have arrived
    assert left <= held


# -- the graph -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 64, 1_000])
def test_a_product_at_a_million_rows_is_a_small_graph(threads):
    n_chunks = chunks_for(1_000_000, threads)
    rows = da.zeros((1_000_000, 10), chunks=(-(-1_000_000 // n_chunks), 10))
    graph = symmetric_array(rows, None, 12, np.float64)
    assert n_chunks**2 / 2 < len(dict(graph.dask)) <= 20_000
    assert graph.shape == (1_000_000, 12)


def test_a_pair_of_chunks_is_multiplied_once():
    rows = da.zeros((40, 2), chunks=(10, 2))
    keys = [key for key in dict(symmetric_array(rows, None, 1, float).dask) if "-pair" in str(key)]
    assert sorted((key[1], key[2]) for key in keys) == [(i, j) for i in range(4) for j in range(i, 4)]


# -- threads ---------------------------------------------------------------------------------------------------------


def test_a_task_starts_no_threads_of_its_own(monkeypatch):
    """Where BLAS may have two, a product on the client takes two; a task of a worker takes the one that it runs in."""
    X, seen = np.random.default_rng(0).normal(size=(600, 2)), set()

    def watched(formula, products):
        seen.add(threading.get_ident())
        return values_of_products(formula, products)

    monkeypatch.setattr(_tiles, "values_of_products", watched)
    monkeypatch.setattr(_cluster_tasks, "loaded", lambda content: RBF(0.1))
    sent = Sent(b"", X, np.array([0, 300, 600]), np.dtype(float))
    with threadpool_limits(2, user_api="blas"):
        for i, j in ((0, 0), (0, 1)):
            pair_product(X[sent.bounds[i] : sent.bounds[i + 1]], X[sent.bounds[j] : sent.bounds[j + 1]], sent, i, j)
        cross_product(X, X[:300], sent, 0)
        assert seen == {threading.get_ident()}
        BlockedOperator(RBF(0.1), X).matmat(X)
        assert len(seen) > 1


def test_the_workers_hold_blas_to_one_thread(client):
    def blas_threads():
        import scipy.linalg  # noqa: F401  (its BLAS is looked at too)

        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    assert list(client.run(blas_threads).values()) == [{1}, {1}]


def test_the_operator_is_what_the_factory_makes(client):
    assert isinstance(operator_of(RBF(0.3), rows_for("rbf")), DaskOperator)
    assert isinstance(make_operator(RBF(0.3), rows_for("rbf"), "dask"), DaskOperator)


# -- a GPU on a worker: what the tasks do there, on the CPU of this computer -------------------------------------------


@pytest.fixture
def gpu(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(_cluster_tasks, "sees_gpu", lambda: True)
    monkeypatch.setattr(_cluster_tasks, "_DEVICE", "cpu")


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("values", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", KERNELS)
def test_a_worker_with_a_gpu_multiplies_by_torch(name, values):
    kernel, formula = KERNELS[name]
    X, V = rows_for(name), _block(3)
    sent = Sent.of(kernel, V, np.array([0, 40, N]), np.dtype(values))
    K = entrywise(formula, X, X)
    # Kernel values in the type that was asked for; sums over pairs in that of the block.
    allowed = TOLERANCE[np.dtype(values)] * np.linalg.norm(np.abs(K) @ np.abs(V))
    first, second = pair_product(X[:40], X[40:], sent, 0, 1)
    assert first.dtype == second.dtype == np.float64
    assert np.linalg.norm(first - K[:40, 40:] @ V[40:]) <= allowed
    assert np.linalg.norm(second - K[40:, :40] @ V[:40]) <= allowed
    own, nothing = pair_product(X[:40], X[:40], sent, 0, 0)
    assert nothing is None
    assert np.linalg.norm(own - K[:40, :40] @ V[:40]) <= allowed
    np.testing.assert_allclose(cross_product(X, X[40:], sent, 1), K[:, 40:] @ V[40:], rtol=0, atol=1e-12 * K.max() * N)


@pytest.mark.usefixtures("gpu")
def test_a_worker_with_a_gpu_measures_its_error():
    X = rows_for("rbf").astype(np.float32)
    sent = Sent.of(RBF(0.3), np.empty((0, 0)), np.array([0, N]), np.dtype(np.float32))
    found = _cluster_tasks.diagonal(X, sent)
    np.testing.assert_array_equal(found[:, 0], np.ones(N))
    assert np.finfo(np.float32).eps <= found[0, 1] <= 1e-5


def test_no_gpu_is_seen_where_there_is_no_driver(monkeypatch):
    monkeypatch.setattr(_cluster_tasks.os.path, "exists", lambda path: False)
    monkeypatch.setattr(_cluster_tasks.shutil, "which", lambda name: None)
    assert _cluster_tasks.sees_gpu.__wrapped__() is False


def test_a_normalized_kernel_alone_does_not_fit_rows_on_a_cluster(client):
    rows = ClusterRows.of(da.from_array(rows_for("normalized"), chunks=(20, 2)))
    with pytest.raises(ValueError, match=r"on a cluster.*Give them to an estimator"):
        Normalized(RBF(0.3)).fit(rows)
