"""Rows on a cluster: every way to hand them over, the few that may be fetched, and what is refused."""

import copy
import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from scipy import sparse

from oracles import naive_median_gamma
from semikpca.exceptions import ClusterError
from semikpca.kernels import RBF, Laplacian, Linear, Nystroem, Polynomial
from semikpca.operators.cluster import ClusterRows, checked_rows, lazy_rows
from semikpca.operators.cluster import _rows as _cluster_rows
from semikpca.operators.cluster._graphs import chunks_for

pytestmark = pytest.mark.slow  # a cluster of worker processes is started

N, D = 130, 4
# Sums of a few hundred numbers of order one, in two orders.
ROUNDING = 1e-12


@pytest.fixture(scope="module", name="X")
def given_rows():
    rows = np.random.default_rng(0).normal(size=(N, D))
    rows.setflags(write=False)
    return rows


def frame(X):
    return dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c", "d"]), npartitions=3)


def of_unknown_lengths(X):
    """Rows of which Dask only knows the chunks, not how long they are: some are left out by a filter."""
    rows = da.from_array(np.vstack([X, np.full((7, D), 1e9)]), chunks=(20, D))
    return rows[rows[:, 0] < 1e8]


WAYS = {
    "chunks of 30 rows": lambda X: da.from_array(X, chunks=(30, D)),
    "one chunk": lambda X: da.from_array(X, chunks=(N, D)),
    "chunks of one row": lambda X: da.from_array(X, chunks=((1,) * 20 + (N - 20,), D)),
    "chunks in both directions": lambda X: da.from_array(X, chunks=(50, 3)),
    "uneven and empty chunks": lambda X: da.from_array(X, chunks=((1, 0, 99, 30, 0), (4,))),
    "unknown lengths": of_unknown_lengths,
    "data frame": frame,
    "array on the client": lambda X: X,
}


@pytest.mark.parametrize("way", WAYS)
def test_any_rows_can_be_fetched_by_number(client, X, way):
    rows = ClusterRows.of(WAYS[way](X))
    assert rows.shape == (N, D)
    assert len(rows) == N
    assert rows.dtype == np.float64
    assert rows.bounds[0] == 0
    assert rows.bounds[-1] == N
    assert (np.diff(rows.bounds) > 0).all()
    numbers = np.array([129, 0, 64, 64, -1, 30])
    np.testing.assert_array_equal(rows[numbers], X[numbers])
    np.testing.assert_array_equal(rows[10:100:7], X[10:100:7])
    np.testing.assert_array_equal(rows[:], X)
    assert rows[np.empty(0, dtype=int)].shape == (0, D)
    np.testing.assert_allclose(rows.mean(axis=0), X.mean(axis=0), atol=ROUNDING)
    np.testing.assert_allclose(rows.var(), X.var(), rtol=ROUNDING)


@pytest.mark.parametrize("n_chunks", [1, 4, 7])
def test_held_rows_are_the_same_in_even_chunks(client, X, n_chunks):
    held = ClusterRows.of(da.from_array(X, chunks=(50, 3))).persisted(n_chunks)
    assert len(held.bounds) == n_chunks + 1
    assert np.ptp(np.diff(held.bounds)) <= 1
    np.testing.assert_array_equal(held[:], X)
    assert held.persisted() is held
    assert held.nbytes == 0


def test_the_graph_of_held_rows_is_not_read_again(client, tmp_path):
    """What made the rows is called once for each chunk and pass: for a look at the numbers, and for holding them."""

    def counted(block):
        (tmp_path / np.base_repr(np.random.default_rng().integers(2**62), 36)).touch()
        return block

    meta = np.empty((0, 0))
    rows = ClusterRows.of(da.ones((60, 2), chunks=(20, 2)).map_blocks(counted, dtype=float, meta=meta)).persisted(2)
    assert len(list(tmp_path.iterdir())) == 6
    rows[:], rows.mean(axis=0)
    assert len(list(tmp_path.iterdir())) == 6


@pytest.mark.parametrize(
    ("given", "kept"), [("float32", "float32"), ("float64", "float64"), ("float16", "float64"), ("int8", "float64")]
)
def test_floats_keep_their_type_and_other_numbers_become_floats(client, given, kept):
    values = np.arange(12).reshape(6, 2).astype(given)
    rows = ClusterRows.of(da.from_array(values, chunks=(4, 1)))
    assert rows.dtype == kept
    assert rows[:].dtype == kept
    np.testing.assert_array_equal(rows[:], values)


def test_a_column_of_whole_numbers_in_a_data_frame_becomes_one_of_floats(client, X):
    rows = ClusterRows.of(frame(X).assign(d=3))
    np.testing.assert_array_equal(rows[:][:, 3], np.full(N, 3.0))


# -- the client never has all of them --------------------------------------------------------------------------------


def test_more_rows_than_allowed_are_not_fetched(client, X, monkeypatch):
    monkeypatch.setattr(_cluster_rows, "MOST_FETCHED_ROWS", 20)
    rows = ClusterRows.of(da.from_array(X, chunks=50))
    assert rows[np.arange(20)].shape == (20, D)
    for key in (np.arange(21), slice(None)):
        with pytest.raises(ValueError, match=r"needs (21|130) of 130 rows on the client, and up to 20 may be fetched"):
            rows[key]


def test_wide_rows_are_limited_by_their_bytes(client, monkeypatch):
    monkeypatch.setattr(_cluster_rows, "_MOST_FETCHED_BYTES", 3 * 8 * D)
    rows = ClusterRows.of(da.zeros((9, D), chunks=4))
    with pytest.raises(ValueError, match="needs 4 of 9 rows on the client, and up to 3"):
        rows[np.arange(4)]


def test_rows_do_not_turn_into_an_array_by_themselves(client, X):
    rows = ClusterRows.of(da.from_array(X, chunks=50))
    with pytest.raises(TypeError, match=r"130 rows on a cluster are not gathered.* X\.compute\(\)"):
        np.asarray(rows)
    assert repr(rows) == "ClusterRows(shape=(130, 4), dtype=float64, in 3 chunks)"


@pytest.mark.parametrize("key", [np.array([130]), np.array([-131]), np.array([[1]])])
def test_rows_that_do_not_exist_are_refused(client, X, key):
    with pytest.raises(IndexError, match="Rows 0 to 129 exist"):
        ClusterRows.of(da.from_array(X, chunks=50))[key]


# -- what is refused -------------------------------------------------------------------------------------------------


def sparse_blocks(X):
    return da.from_array(X, chunks=(50, D)).map_blocks(sparse.csr_array, dtype=float, meta=sparse.csr_array((0, 0)))


def sparse_blocks_in_disguise(X):
    return da.from_array(X, chunks=(50, D)).map_blocks(sparse.csr_array, dtype=float, meta=np.empty((0, 0)))


REFUSED = {
    "NaN": (lambda X: da.from_array(np.where(X > 2, np.nan, X), chunks=50), r"NaN or infinity: \d+ of its 130 rows"),
    "infinity": (lambda X: np.where(X > 2, np.inf, X), r"NaN or infinity: \d+ of its 130 rows"),
    "one row": (lambda X: da.from_array(X[:1]), "with 1 sample.* a minimum of 2"),
    "no rows": (lambda X: da.from_array(X[:0], chunks=(1, D)), "with 0 sample.* a minimum of 2"),
    "no features": (lambda X: da.zeros((5, 0)), "0 feature"),
    "one dimension": (lambda X: da.from_array(X[0]), "Expected 2D array, got 1D"),
    "a column": (lambda X: frame(X)["a"], "Expected 2D array, got 1D"),
    "text": (lambda X: da.from_array(X.astype(str)), "must hold numbers, got dtype <U"),
    "a column of text": (lambda X: frame(X).assign(c="x"), "Column 'c' of X is not of numbers"),
    "sparse blocks": (sparse_blocks, r"NumPy arrays, got csr_array. Use .*toarray"),
    "sparse blocks in disguise": (sparse_blocks_in_disguise, r"one is a csr_array. Use .*toarray"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_anything_but_a_table_of_finite_numbers_is_refused(client, X, case):
    made, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        ClusterRows.of(made(X))


def test_other_things_are_refused(client):
    with pytest.raises(TypeError, match="must be a Dask array, a Dask data frame or a NumPy array, got list"):
        ClusterRows.of([[1.0], [2.0]])


def test_without_a_client_it_is_said_how_to_start_one(X):
    with pytest.raises(ClusterError, match=r"from dask\.distributed import Client; client = Client\(\)"):
        ClusterRows.of(da.from_array(X))


def test_a_closed_client_is_no_client(cluster, X):
    with Client(cluster) as client:
        rows = ClusterRows.of(X, client)
    with pytest.raises(ClusterError, match="The Dask client is closed"):
        rows[:]


def test_new_rows_stay_lazy_and_are_looked_through_when_they_are_computed(client, X):
    fine = checked_rows(da.from_array(X.astype(np.float32), chunks=(50, 3)))
    assert fine.chunks == ((50, 50, 30), (D,))
    assert fine.dtype == np.float32
    np.testing.assert_array_equal(fine.compute(), X.astype(np.float32))
    strange = checked_rows(da.from_array(np.where(X > 2, np.inf, X), chunks=50))
    with pytest.raises(ValueError, match="Input X contains NaN or infinity"):
        strange.compute()
    assert np.isnan(lazy_rows(of_unknown_lengths(X)).shape[0])


# -- kernels learn from a few of them --------------------------------------------------------------------------------


def test_the_median_rule_is_that_of_all_rows(client, X):
    rows = ClusterRows.of(da.from_array(X, chunks=(30, 3)))
    np.testing.assert_allclose(RBF().fit(rows).gamma_, naive_median_gamma(X), rtol=ROUNDING)


@pytest.mark.parametrize("kernel", [RBF(), Laplacian(), Polynomial(), Polynomial(gamma="median")])
def test_of_many_rows_the_same_sample_is_taken_as_on_the_client(client, kernel):
    X = np.random.default_rng(1).normal(size=(4_500, 2))
    far = ClusterRows.of(da.from_array(X, chunks=(700, 2)))
    assert kernel.fit(far).gamma_ == pytest.approx(kernel.fit(X).gamma_, rel=ROUNDING)


def test_a_centered_kernel_takes_off_the_mean_of_all_rows(client, X):
    mean = Linear(center=True).fit(ClusterRows.of(da.from_array(X, chunks=30))).mean_
    np.testing.assert_allclose(mean, X.mean(axis=0), atol=ROUNDING)


@pytest.mark.parametrize("rule", ["uniform", "k-means++"])
def test_the_same_landmarks_are_drawn_as_on_the_client(client, X, rule):
    kernel = Nystroem(RBF(0.5), n_landmarks=6, landmarks=rule, random_state=3)
    far = kernel.fit(ClusterRows.of(da.from_array(X, chunks=(30, 3)))).landmarks_.copy()
    np.testing.assert_array_equal(far, kernel.fit(X).landmarks_)


# -- how they are cut ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 16, 64, 1_000])
@pytest.mark.parametrize("n_rows", [2, 511, 512, 10_000, 200_000, 1_000_000, 50_000_000])
def test_chunks_are_neither_too_many_nor_too_large(n_rows, threads):
    n_chunks = chunks_for(n_rows, threads)
    assert 1 <= n_chunks <= 128
    if n_chunks > 1:
        assert n_rows / n_chunks >= 512
    if n_rows <= 128 * 32_768:
        assert n_rows / n_chunks <= 32_768
    if n_chunks < min(128, n_rows // 512):
        assert n_chunks * (n_chunks + 1) / 2 >= 16 * threads


# -- stored and copied -----------------------------------------------------------------------------------------------


def test_pickled_rows_stay_on_the_cluster_until_they_are_given_back(client, X):
    source = da.from_array(X, chunks=50)
    stored = pickle.dumps(ClusterRows.of(source).persisted())
    assert len(stored) < 3_000  # 16 of 130 rows, to know them again
    loaded = pickle.loads(stored)
    assert loaded.shape == (N, D)
    assert "left behind" in repr(loaded)
    with pytest.raises(ClusterError, match=r"130 training rows .* model\.X_fit_\.attach\(X\)"):
        loaded[:]
    assert pickle.loads(pickle.dumps(loaded)).attach(source).shape == (N, D)
    np.testing.assert_array_equal(loaded.attach(source)[:], X)


def test_other_rows_than_the_stored_ones_are_not_given_back(client, X):
    stored = pickle.dumps(ClusterRows.of(X))
    with pytest.raises(ValueError, match="other rows than the model was fitted on"):
        pickle.loads(stored).attach(X[::-1])
    with pytest.raises(ValueError, match=r"130 rows with 4 features \(float64\), got 129 with 4"):
        pickle.loads(stored).attach(X[1:])


def test_a_copy_is_the_same_rows(client, X):
    rows = ClusterRows.of(X)
    assert copy.copy(rows) is rows
    assert copy.deepcopy([rows])[0] is rows
