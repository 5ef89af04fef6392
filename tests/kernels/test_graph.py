"""The neighbor graph against its definition, written out pair by pair."""

import builtins
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs

from graph_oracle import neighbor_graph, transitions, weights
from semikpca.kernels import NeighborGraph, as_kernel
from semikpca.kernels._graph import fit_graphs
from semikpca.operators import cross_product

# Sums of a few dozen products of numbers up to one; the exponents carry a few roundings.
ROUNDING = 1e-12
# Rows in single precision: an exponent of up to −4 · (a few) is off by as many single roundings.
SINGLE = 2e-5

generator = np.random.default_rng(7)


def in_the_middle_of_duplicates():
    centers = generator.normal(size=(12, 2))
    return np.repeat(centers, [1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 1], axis=0)


ROWS = {
    "a cloud": generator.normal(size=(40, 3)),
    "a grid, full of ties": generator.integers(0, 3, size=(40, 3)).astype(float),
    "duplicates, more than neighbors": in_the_middle_of_duplicates(),
    "two blobs far apart": np.vstack([generator.normal(size=(20, 2)), generator.normal(size=(15, 2)) + 100]),
    "far from the origin": generator.normal(size=(30, 2)) + 1e6,
    "all equal": np.ones((8, 2)),
    "fewer than neighbors": generator.normal(size=(4, 2)),
    "dense and thin": np.vstack([0.01 * generator.normal(size=(20, 2)), 10 * generator.normal(size=(15, 2))]),
    # With more than 15 features products of matrices say who may be near.
    "a wide cloud": generator.normal(size=(60, 20)),
    "wide whole numbers, full of ties": generator.integers(0, 2, size=(60, 20)).astype(float),
    "wide duplicates, more than neighbors": np.tile(in_the_middle_of_duplicates(), 9),
    "two wide blobs far apart": np.vstack([generator.normal(size=(50, 20)), generator.normal(size=(50, 20)) + 100]),
    "wide and all equal": np.ones((60, 20)),
    "wide, fewer than neighbors": generator.normal(size=(4, 20)),
    "wide, with an outlier": np.vstack([generator.normal(size=(50, 20)), 1e5 + generator.normal(size=(1, 20))]),
}
NEW = {
    name: np.vstack([rows[:3], (rows[:4] + rows[-4:]) / 2, rows[:5] + 0.1 * generator.normal(size=rows[:5].shape)[:5]])
    if len(rows) > 4
    else rows + 0.3
    for name, rows in ROWS.items()
}

every_set = pytest.mark.parametrize("name", ROWS)


# -- the definition ----------------------------------------------------------------------------------------------------


@every_set
def test_the_training_matrix_is_that_of_the_definition(name):
    rows = ROWS[name]
    K = NeighborGraph(5).fit(rows)(rows)
    np.testing.assert_allclose(K, neighbor_graph(rows, rows, rows, 5), atol=ROUNDING)


@every_set
def test_graphs_that_share_a_search_are_those_of_the_definition(name):
    rows, new = ROWS[name], NEW[name]
    for count, kernel in zip((2, 5, 4), fit_graphs((2, 5, 4), rows), strict=True):
        assert kernel.n_neighbors == count
        np.testing.assert_allclose(kernel(rows), neighbor_graph(rows, rows, rows, count), atol=ROUNDING)
        np.testing.assert_allclose(kernel.pairwise(new, rows), neighbor_graph(new, rows, rows, count), atol=ROUNDING)


def test_graphs_that_share_a_search_may_ask_for_more_neighbors_than_there_are():
    rows = ROWS["cloud"][:4] if "cloud" in ROWS else next(iter(ROWS.values()))[:4]
    for count, kernel in zip((2, 9), fit_graphs((2, 9), rows), strict=True):
        np.testing.assert_allclose(kernel(rows), NeighborGraph(count).fit(rows)(rows), atol=ROUNDING)


@every_set
def test_new_rows_are_those_of_the_definition(name):
    rows, new = ROWS[name], NEW[name]
    kernel = NeighborGraph(5).fit(rows)
    np.testing.assert_allclose(kernel.pairwise(new, rows), neighbor_graph(new, rows, rows, 5), atol=ROUNDING)
    np.testing.assert_allclose(kernel.pairwise(new, new), neighbor_graph(new, new, rows, 5), atol=ROUNDING)
    np.testing.assert_allclose(kernel.diag(new), np.diag(neighbor_graph(new, new, rows, 5)), atol=ROUNDING)


@every_set
def test_a_product_needs_no_matrix(name):
    rows, new = ROWS[name], NEW[name]
    kernel = NeighborGraph(5).fit(rows)
    for coefficients in (generator.normal(size=(len(rows), 3)), generator.normal(size=len(rows))):
        expected = neighbor_graph(new, rows, rows, 5) @ coefficients
        np.testing.assert_allclose(cross_product(kernel, new, rows, coefficients), expected, atol=len(rows) * ROUNDING)


@every_set
def test_a_copy_of_a_training_row_is_treated_as_the_row(name):
    rows = ROWS[name]
    kernel = NeighborGraph(5).fit(rows)
    np.testing.assert_allclose(kernel.pairwise(rows.copy(), rows), kernel.pairwise(rows, rows), atol=ROUNDING)


@every_set
def test_csr_rows_give_what_dense_rows_give(name):
    rows, new = ROWS[name], NEW[name]
    found = NeighborGraph(5).fit(sparse.csr_array(rows)).pairwise(sparse.csr_array(new), rows)
    np.testing.assert_allclose(found, neighbor_graph(new, rows, rows, 5), atol=ROUNDING)


# Where rows are far from the origin, or from each other, rounding to float32 moves them by more than SINGLE allows.
FAR = ("far from the origin", "two wide blobs far apart", "wide, with an outlier")


@pytest.mark.parametrize("name", [name for name in ROWS if name not in FAR])
def test_single_precision_comes_in_and_goes_out(name):
    rows = ROWS[name].astype(np.float32)
    new = NEW[name].astype(np.float32)
    kernel = NeighborGraph(5).fit(rows)
    found = kernel.pairwise(new, rows)
    assert found.dtype == kernel.matrix_.dtype == np.float32
    np.testing.assert_allclose(found, neighbor_graph(new, rows, rows, 5), atol=SINGLE)


def test_the_cosine_metric_looks_at_directions_only():
    rows = generator.normal(size=(25, 4))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    kernel = NeighborGraph(4, metric="cosine").fit(rows * generator.uniform(0.1, 10, size=(25, 1)))
    np.testing.assert_allclose(kernel.pairwise(3 * rows[:5], rows), neighbor_graph(unit[:5], unit, unit, 4), atol=1e-9)


# -- metrics that are learned ------------------------------------------------------------------------------------------


def centered_cosine(rows):
    """Return what takes off the mean of the training rows and scales to unit length, row by row."""
    mean = rows.mean(axis=0)

    def transformed(new):
        return np.array([(row - mean) / np.linalg.norm(row - mean) for row in new])

    return transformed


def mahalanobis(rows):
    """Return what turns rows so that the training rows are uncorrelated, with unit variance, by at most 20 numbers."""
    mean = rows.mean(axis=0)
    _, sizes, V = np.linalg.svd(rows - mean, full_matrices=False)
    kept = np.flatnonzero(sizes > 1e-3 * sizes[0])[:20]
    directions = V[kept].T * np.sqrt(len(rows) - 1) / sizes[kept]
    return lambda new: (new - mean) @ directions


LEARNED = {"centered cosine": centered_cosine, "mahalanobis": mahalanobis}
every_learned = pytest.mark.parametrize("metric", LEARNED)
CLOUDS = {
    "a cloud": ROWS["a cloud"] * [1.0, 0.1, 3.0] + 2,
    "a wide cloud": ROWS["a wide cloud"] + np.linspace(0, 5, 20),
    "more columns than components": generator.normal(size=(60, 33)) * np.linspace(1, 0.2, 33) + 0.5,
    "more columns than rows": generator.normal(size=(18, 40)) * np.linspace(1, 0.2, 40) - 1,
    "two blobs": np.vstack([generator.normal(size=(25, 6)), generator.normal(size=(25, 6)) + 6]),
}
every_cloud = pytest.mark.parametrize("cloud", CLOUDS)
# What is learned of the rows is rounded, and a coordinate is a sum of a few dozen products.
LEARNED_ROUNDING = 1e-9


def new_rows_for(rows):
    return np.vstack([rows[:4], (rows[:4] + rows[-4:]) / 2, rows[:3] + 0.1])


@every_learned
@every_cloud
def test_a_metric_that_is_learned_is_the_euclidean_one_of_other_rows(metric, cloud):
    rows = CLOUDS[cloud]
    new = new_rows_for(rows)
    transformed = LEARNED[metric](rows)
    kernel = NeighborGraph(5, metric=metric).fit(rows)
    plain = NeighborGraph(5).fit(transformed(rows))
    np.testing.assert_allclose(kernel.radii_, plain.radii_, rtol=LEARNED_ROUNDING)
    np.testing.assert_allclose(kernel(rows), plain(transformed(rows)), atol=LEARNED_ROUNDING)
    expected = neighbor_graph(transformed(new), transformed(rows), transformed(rows), 5)
    np.testing.assert_allclose(kernel.pairwise(new, rows), expected, atol=LEARNED_ROUNDING)
    np.testing.assert_allclose(kernel.diag(new), plain.diag(transformed(new)), atol=LEARNED_ROUNDING)
    half = np.arange(len(rows)) % 2 == 0
    np.testing.assert_array_equal(kernel.touches(new, half), plain.touches(transformed(new), half))


@every_learned
@every_cloud
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_training_row_seen_again_has_its_own_links_whatever_is_beside_it(metric, cloud, dtype):
    rows = CLOUDS[cloud].astype(dtype)
    kernel = NeighborGraph(5, metric=metric).fit(rows)
    K = kernel.pairwise(rows, rows)
    exact = ROUNDING if dtype is np.float64 else 1e-6  # of sums of entries that are the same
    for some in (np.arange(len(rows)), np.array([3]), np.array([7, 7, 0])):
        for again in (rows[some], rows[some].astype(np.float64), rows[some].tolist()):
            np.testing.assert_allclose(kernel.pairwise(again, rows), K[some], atol=exact)


@every_learned
def test_more_equal_rows_than_neighbors_are_at_one_point(metric):
    rows = np.vstack([CLOUDS["a wide cloud"], np.repeat(CLOUDS["a wide cloud"][:1], 9, axis=0)])
    kernel = NeighborGraph(5, metric=metric).fit(rows)
    equal = np.append(0, np.arange(60, 69))
    assert (kernel.radii_[equal] == 0).all()
    assert (kernel.radii_[1:60] > 0).all()
    np.testing.assert_allclose(kernel.pairwise(rows[:1].copy(), rows), kernel(rows)[:1], atol=ROUNDING)


def test_the_centered_cosine_looks_at_directions_from_the_mean_only():
    rows = CLOUDS["a wide cloud"]
    mean = rows.mean(axis=0)
    kernel = NeighborGraph(5, metric="centered cosine").fit(rows)
    stretched = mean + generator.uniform(0.1, 10, size=(60, 1)) * (rows - mean)
    np.testing.assert_allclose(kernel.pairwise(stretched, rows), kernel(rows), atol=LEARNED_ROUNDING)


def test_a_row_at_the_mean_is_equally_far_from_all_others():
    rows = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 2, 0], [0, -2, 0], [0, 0, 3], [0, 0, -3], [0, 0, 0]])
    kernel = NeighborGraph(1, metric="centered cosine").fit(rows)
    assert kernel.radii_[-1] == 1
    assert (kernel.matrix_.toarray()[-1] > 0).all()


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1e6, 1e150])
def test_the_mahalanobis_metric_knows_no_units_and_counts_columns_that_say_the_same_once(factor):
    rows = CLOUDS["a cloud"]
    kernel = NeighborGraph(5, metric="mahalanobis").fit(rows)
    repeated = factor * np.hstack([rows, rows[:, :1], 2 * rows[:, :1], rows[:, :1] - 5])
    again = NeighborGraph(5, metric="mahalanobis").fit(repeated)
    np.testing.assert_allclose(
        again(repeated), kernel(rows), atol=1e-7
    )  # two directions more, of rounding, are left out


@every_learned
def test_equal_rows_are_all_alike(metric):
    rows = np.full((8, 3), 0.1)
    kernel = NeighborGraph(5, metric=metric).fit(rows)
    np.testing.assert_allclose(kernel(rows), 1 / 8, atol=ROUNDING)
    assert np.isfinite(kernel.pairwise(rows[:2] + 1, rows)).all()


def test_the_centered_cosine_refuses_sparse_rows_and_names_what_takes_them():
    with pytest.raises(ValueError, match=r"'centered cosine' takes dense rows.*metric='cosine'"):
        NeighborGraph(metric="centered cosine").fit(sparse.csr_array(ROWS["a cloud"]))


def test_new_rows_of_a_centered_cosine_may_be_sparse():
    rows = CLOUDS["a cloud"]
    kernel = NeighborGraph(5, metric="centered cosine").fit(rows)
    np.testing.assert_allclose(kernel.pairwise(sparse.csr_array(rows[:3]), rows), kernel(rows)[:3], atol=ROUNDING)


@every_cloud
def test_the_mahalanobis_metric_takes_sparse_rows(cloud):
    rows = CLOUDS[cloud]
    expected = NeighborGraph(5, metric="mahalanobis").fit(rows)
    kernel = NeighborGraph(5, metric="mahalanobis").fit(sparse.csr_array(rows))
    new = new_rows_for(rows)
    for some in (new, sparse.csr_array(new)):
        np.testing.assert_allclose(kernel.pairwise(some, rows), expected.pairwise(new, rows), atol=LEARNED_ROUNDING)


@every_learned
def test_a_pickle_and_a_clone_keep_the_metric(metric):
    rows = CLOUDS["a wide cloud"]
    new = new_rows_for(rows)
    kernel = NeighborGraph(4, metric=metric).fit(rows)
    expected = kernel.pairwise(new, rows)
    loaded = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(loaded.pairwise(new, loaded.rows_fit_), expected)
    twin = clone(kernel)
    assert repr(twin) == repr(kernel) == f"NeighborGraph(metric='{metric}', n_neighbors=4)"
    np.testing.assert_array_equal(twin.fit(rows).pairwise(new, rows), expected)


@every_learned
def test_rows_in_extreme_units_have_neighbors_as_all_others(metric):
    rows = np.where(generator.normal(size=(40, 3)) > 0, 1.0, -1.0) * generator.uniform(0.5, 1, size=(40, 3))
    expected = NeighborGraph(5, metric=metric).fit(rows)(rows)
    for unit in (1.7e308, 1e-300):
        found = NeighborGraph(5, metric=metric).fit(unit * rows)(unit * rows)
        np.testing.assert_allclose(found, expected, atol=LEARNED_ROUNDING)


def test_new_rows_out_of_range_are_refused():
    rows = 1e-3 * CLOUDS["a cloud"]
    kernel = NeighborGraph(5, metric="mahalanobis").fit(rows)
    for far in (1e200, 1e308):
        with pytest.raises(ValueError, match="Scale the features"):
            kernel.pairwise(np.full((1, 3), far), rows)


@every_learned
def test_an_approximate_search_takes_a_metric_that_is_learned(metric):
    pytest.importorskip("faiss")
    rows = np.random.default_rng(8).normal(size=(500, 12)) * np.linspace(1, 0.2, 12) + 1
    exact, approximate = (
        NeighborGraph(10, metric=metric, search=search).fit(rows) for search in ("exact", "approximate")
    )
    shared = (approximate.matrix_ > 0).multiply(exact.matrix_ > 0).sum()
    assert shared >= 0.97 * exact.matrix_.nnz
    np.testing.assert_array_equal(approximate.pairwise(rows[:9].copy(), rows), approximate.pairwise(rows, rows)[:9])


# -- what a graph is made of -------------------------------------------------------------------------------------------


def test_the_factor_is_the_matrix():
    rows = ROWS["a cloud"]
    kernel = NeighborGraph(5, teleport=0.2).fit(rows)
    factor = kernel.sparse_factor()
    S = factor.matrix.toarray()
    K = factor.damping * S @ S + (1 - factor.damping) * np.outer(factor.vector, factor.vector)
    np.testing.assert_allclose(K, neighbor_graph(rows, rows, rows, 5, teleport=0.2), atol=ROUNDING)
    np.testing.assert_allclose(S @ factor.vector, factor.vector, atol=ROUNDING)
    assert np.linalg.norm(factor.vector) == pytest.approx(1, abs=ROUNDING)


@pytest.mark.parametrize("teleport", [0, 1.5e-3, 0.3])
def test_the_spectrum_has_one_at_the_top_and_the_rest_below_the_damping(teleport):
    rows = ROWS["two blobs far apart"]
    values = np.linalg.eigvalsh(NeighborGraph(5, teleport=teleport).fit(rows)(rows))[::-1]
    assert values[0] == pytest.approx(1, abs=ROUNDING)
    # Two pieces: the second eigenvalue is exactly at the bound.
    assert values[1] == pytest.approx((1 - teleport) ** 2, abs=ROUNDING)
    assert values[2] < (1 - teleport) ** 2
    assert values[-1] > -ROUNDING


# -- ties, duplicates, distance ----------------------------------------------------------------------------------------


def test_all_rows_as_far_as_the_last_neighbor_are_neighbors():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [5.0, 5.0]])
    kernel = NeighborGraph(1).fit(square)
    assert np.flatnonzero(kernel.matrix_.toarray()[0]).tolist() == [0, 1, 2, 3, 4]


def test_rounding_does_not_break_a_tie():
    # 0.1 + 0.2 and 0.3 are equally far from 0 but for the last digit, in either order.
    rows = np.array([[0.0], [0.1 + 0.2], [-0.3], [7.0], [8.0]])
    linked = NeighborGraph(1).fit(rows).matrix_.toarray()[0] > 0
    assert linked.tolist() == [True, True, True, False, False]


def test_equal_rows_have_the_radius_zero_and_the_weight_one():
    rows = np.array([[0.0]] * 4 + [[1.0], [3.0]])
    kernel = NeighborGraph(2).fit(rows)
    assert (kernel.radii_[:4] == 0).all()
    W = weights(rows, rows, 2)
    assert (W[:4, :4] == 1).all()
    np.testing.assert_allclose(kernel.degrees_, W.sum(axis=1), atol=ROUNDING)


def test_a_row_far_from_all_others_still_gets_an_answer():
    rows = ROWS["a cloud"]
    kernel = NeighborGraph(5).fit(rows)
    far = np.array([[1e3, 0.0, 0.0], [1e8, 0.0, 0.0]])
    signs = np.where(rows[:, :1] > np.median(rows[:, 0]), 1.0, -1.0)
    found = cross_product(kernel, far, rows, signs)
    assert np.isfinite(found).all()
    assert (found > 0).all()
    single = NeighborGraph(5).fit(rows.astype(np.float32))
    assert (cross_product(single, far.astype(np.float32), rows.astype(np.float32), signs.astype(np.float32)) > 0).all()


def test_too_many_links_are_refused_before_they_are_made():
    with pytest.raises(ValueError, match=r"links or more between 3,000 rows.*Drop duplicate rows"):
        NeighborGraph(5).fit(np.zeros((3_000, 1)))


def test_equal_rows_are_allowed_while_they_are_few():
    rows = np.zeros((300, 1))
    np.testing.assert_allclose(NeighborGraph(5).fit(rows)(rows), 1 / 300, atol=ROUNDING)


def test_memory_does_not_grow_with_the_square():
    rows = np.random.default_rng(0).normal(size=(20_000, 3))
    kernel = NeighborGraph(10).fit(rows)
    state = kernel.__getstate__()
    S = state["matrix_"]
    stored = S.data.nbytes + S.indices.nbytes + S.indptr.nbytes
    stored += sum(value.nbytes for value in state.values() if isinstance(value, np.ndarray))
    # A dense matrix has 160,000 bytes a row.
    assert stored < 1_000 * len(rows)


def test_rows_that_products_cannot_tell_apart_are_searched_by_differences_all_the_same():
    # 150 equal rows are more than products list for a row, and 1e9 between blobs leaves float32 no digit for the rest.
    rows = np.vstack([np.repeat(generator.normal(size=(1, 20)), 150, axis=0), generator.normal(size=(60, 20)) + 1e9])
    kernel, oracle = NeighborGraph(3).fit(rows), weights(rows, rows, 3)
    np.testing.assert_allclose(kernel.degrees_, oracle.sum(axis=1), rtol=1e-9)
    np.testing.assert_array_equal(kernel.matrix_.toarray() > 0, oracle > 0)
    np.testing.assert_allclose(
        kernel.pairwise(rows[[0, -1]].copy(), rows), kernel.pairwise(rows, rows)[[0, -1]], atol=ROUNDING
    )


def test_too_many_links_between_wide_rows_are_refused_too():
    with pytest.raises(ValueError, match=r"links or more between 3,000 rows.*Drop duplicate rows"):
        NeighborGraph(5).fit(np.zeros((3_000, 20)))


def test_a_wide_row_far_from_all_others_still_gets_an_answer():
    rows = ROWS["a wide cloud"]
    kernel = NeighborGraph(5).fit(rows)
    far = np.zeros((3, 20))
    far[:, 0] = [1e3, 1e8, 1e30]
    signs = np.where(rows[:, :1] > np.median(rows[:, 0]), 1.0, -1.0)
    found = cross_product(kernel, far, rows, signs)
    assert np.isfinite(found).all()
    assert (found[:2] > 0).all()  # from the last one all rows are equally far


# -- pieces ------------------------------------------------------------------------------------------------------------


def test_components_are_the_pieces_of_the_graph():
    rows, blob = make_blobs(90, centers=[[0, 0], [50, 0], [0, 50]], random_state=0)
    components = NeighborGraph(5).fit(rows).components()
    assert [len(np.unique(components[blob == b])) for b in range(3)] == [1, 1, 1]
    assert len(np.unique(components)) == 3


def test_a_new_row_touches_the_piece_of_its_neighbors():
    rows, blob = make_blobs(60, centers=[[0, 0], [50, 0]], random_state=0)
    kernel = NeighborGraph(5).fit(rows)
    touched = kernel.touches(np.array([[0.0, 0.0], [50.0, 0.0], [80.0, 0.0]]), blob == 1)
    assert touched.tolist() == [False, True, True]
    np.testing.assert_array_equal(kernel.touches(rows, blob == 1), blob == 1)
    np.testing.assert_array_equal(kernel.touches(rows.copy(), blob == 1), blob == 1)


def test_an_outlier_whose_links_weigh_nothing_is_a_piece_of_its_own():
    rows = np.vstack([0.01 * generator.normal(size=(30, 2)), [[5.0, 5.0]]])
    kernel = NeighborGraph(5).fit(rows)
    assert np.bincount(kernel.components()).tolist() == [30, 1]
    assert kernel.touches(rows[-1:].copy(), np.arange(31) < 30).tolist() == [False]


# -- parameters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"n_neighbors": 2.5}, "n_neighbors must be"),
        ({"n_neighbors": True}, "n_neighbors must be"),
        ({"teleport": 1}, r"teleport must be a number in \[0, 1\)"),
        ({"teleport": -0.1}, "teleport must be"),
        ({"teleport": "no"}, "teleport must be"),
        ({"teleport": float("nan")}, "teleport must be"),
        ({"metric": "manhattan"}, "metric must be one of"),
        ({"search": "quick"}, "search must be one of"),
    ],
    ids=str,
)
def test_what_is_no_parameter_is_refused_with_what_is(parameters, named):
    with pytest.raises(ValueError, match=named):
        NeighborGraph(**parameters).fit(ROWS["a cloud"])


def test_a_zero_row_has_no_direction():
    rows = ROWS["a cloud"].copy()
    rows[3] = 0
    with pytest.raises(ValueError, match="row 3, which is all zeros"):
        NeighborGraph(metric="cosine").fit(rows)


def test_distances_out_of_range_are_refused():
    with pytest.raises(ValueError, match="Scale the features"):
        NeighborGraph(1).fit(np.array([[1e200], [-1e200], [3e200]]))
    kernel = NeighborGraph(1).fit(ROWS["a cloud"])
    with pytest.raises(ValueError, match="Scale the features"):
        kernel.pairwise(np.full((1, 3), 1e200), ROWS["a cloud"])


def test_there_is_a_name_for_it():
    assert repr(as_kernel("graph")) == "NeighborGraph()"


def test_a_pickled_kernel_answers_as_before():
    rows, new = ROWS["a cloud"], NEW["a cloud"]
    kernel = NeighborGraph(5).fit(rows)
    expected = kernel.pairwise(new, rows)
    loaded = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(loaded.pairwise(new, loaded.rows_fit_), expected)


# -- approximate search ------------------------------------------------------------------------------------------------

APPROXIMATE_ROWS = np.random.default_rng(3).normal(size=(2_000, 8))


@pytest.fixture(scope="module")
def approximate():
    pytest.importorskip("faiss")
    return NeighborGraph(10, search="approximate").fit(APPROXIMATE_ROWS)


def test_the_approximate_index_finds_most_links(approximate):
    exact = NeighborGraph(10).fit(APPROXIMATE_ROWS)
    found = (approximate.matrix_ > 0).multiply(exact.matrix_ > 0).sum()
    assert found >= 0.97 * exact.matrix_.nnz
    rows = APPROXIMATE_ROWS[:200]
    error = np.abs(approximate(rows) - exact(rows)).max()
    assert error < 0.2
    assert np.median(np.abs(approximate.radii_ / exact.radii_ - 1)) == 0


def test_an_approximate_graph_knows_its_rows_again(approximate):
    seen = approximate.pairwise(APPROXIMATE_ROWS[:50].copy(), APPROXIMATE_ROWS)
    np.testing.assert_array_equal(seen, approximate.pairwise(APPROXIMATE_ROWS, APPROXIMATE_ROWS)[:50])
    mixed = np.vstack([APPROXIMATE_ROWS[5:7], APPROXIMATE_ROWS[:2] + 0.05, APPROXIMATE_ROWS[9:10]])
    one_by_one = np.vstack([approximate.pairwise(row[np.newaxis], APPROXIMATE_ROWS) for row in mixed])
    np.testing.assert_allclose(approximate.pairwise(mixed, APPROXIMATE_ROWS), one_by_one, atol=ROUNDING)


def test_new_rows_of_an_approximate_graph_are_close_to_exact(approximate):
    new = np.random.default_rng(4).normal(size=(100, 8))
    exact = NeighborGraph(10).fit(APPROXIMATE_ROWS).pairwise(new, APPROXIMATE_ROWS)
    found = approximate.pairwise(new, APPROXIMATE_ROWS)
    assert np.linalg.norm(found - exact) < 0.1 * np.linalg.norm(exact)


def test_an_approximate_graph_is_the_same_each_time(approximate):
    again = NeighborGraph(10, search="approximate").fit(APPROXIMATE_ROWS)
    assert (again.matrix_ != approximate.matrix_).nnz == 0
    loaded = pickle.loads(pickle.dumps(approximate))
    new = np.random.default_rng(4).normal(size=(20, 8))
    np.testing.assert_array_equal(loaded.pairwise(new, loaded.rows_fit_), approximate.pairwise(new, APPROXIMATE_ROWS))


def test_an_approximate_graph_takes_dense_rows_only():
    pytest.importorskip("faiss")
    with pytest.raises(ValueError, match="dense rows only"):
        NeighborGraph(search="approximate").fit(sparse.csr_array(ROWS["a cloud"]))


def test_a_missing_index_is_named_with_its_remedy(monkeypatch):
    original = builtins.__import__

    def without_faiss(name, *args, **kwargs):
        if name == "faiss":
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_faiss)
    with pytest.raises(ImportError, match=r"pip install 'semikpca\[neighbors\]'"):
        NeighborGraph(search="approximate").fit(ROWS["a cloud"])


def test_the_oracle_is_no_mirror():
    """Rows of s′ have the length that a walk of two steps gives the diagonal."""
    rows = ROWS["a cloud"]
    s = transitions(rows, rows, 5, 1.5e-3)
    np.testing.assert_allclose((s**2).sum(axis=1), np.diag(NeighborGraph(5).fit(rows)(rows)), atol=ROUNDING)
