"""What is tried where nobody names a kernel, by what the rows are."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.preprocessing import OneHotEncoder, StandardScaler, normalize

from graph_oracle import neighbor_graph
from semikpca.kernels import (
    RBF,
    Cosine,
    DefaultKernels,
    Laplacian,
    Linear,
    NeighborGraph,
    Normalized,
    OnColumns,
)

generator = np.random.default_rng(3)
ROUNDING = 1e-9  # of a median over all pairs, and of what is computed with it

TABLE = StandardScaler().fit_transform(generator.exponential(size=(60, 6)))
EMBEDDINGS = normalize(0.3 + generator.normal(size=(60, 40)))
COUNTS = generator.poisson(0.03, size=(60, 150)).astype(float)
COUNTS[np.arange(60), generator.integers(150, size=60)] += 1  # no text is empty

GRAPHS = {
    "a table": [(5, "euclidean"), (7, "euclidean"), (20, "mahalanobis")],
    "embeddings": [(10, "euclidean"), (20, "euclidean"), (20, "centered cosine")],
    "sparse embeddings": [(10, "euclidean"), (20, "euclidean")],
    "counts": [(10, "cosine"), (20, "cosine")],
}
ROWS = {
    "a table": TABLE,
    "a sparse table": sparse.csr_array(TABLE * (np.abs(TABLE) > 0.5)),
    "ink": load_digits().data[:60],
    "categories": OneHotEncoder(sparse_output=False).fit_transform(generator.integers(4, size=(60, 8))),
    "embeddings": EMBEDDINGS,
    "sparse embeddings": sparse.csr_array(EMBEDDINGS),
    "counts": COUNTS,
    "sparse counts": sparse.csr_array(COUNTS),
}


def median_distance(rows, order=2):
    rows = rows.toarray() if sparse.issparse(rows) else rows
    pairs = [(i, j) for i in range(len(rows)) for j in range(i)]
    return float(np.median([np.linalg.norm(rows[i] - rows[j], ord=order) for i, j in pairs]))


def graphs_of(kernels):
    return [(graph.n_neighbors, graph.metric) for graph in kernels if isinstance(graph, NeighborGraph)]


@pytest.mark.parametrize("name", ["a table", "a sparse table", "ink", "categories"])
def test_a_table_has_linear_local_and_global_kernels_and_graphs_by_two_metrics(name):
    rows = ROWS[name]
    found = DefaultKernels().fit(rows)
    linear, laplacian, narrow = found.plain
    assert isinstance(linear, Linear)
    assert linear.center is (not sparse.issparse(rows))
    wide = 1 / (2 * median_distance(rows) ** 2)
    assert isinstance(laplacian, Laplacian)
    assert laplacian.gamma == pytest.approx(1 / median_distance(rows, order=1), rel=ROUNDING)
    assert isinstance(narrow, RBF)
    assert narrow.gamma == pytest.approx(4 * wide, rel=ROUNDING)
    assert graphs_of(found.shaped[:3]) == GRAPHS["a table"]
    assert [type(kernel) for kernel in found.shaped[3:]] == [Normalized, Normalized]
    gammas = [kernel.kernel_.gamma for kernel in found.shaped[3:]]
    assert gammas == pytest.approx([wide, 4 * wide], rel=ROUNDING)


@pytest.mark.parametrize("name", ["embeddings", "sparse embeddings"])
def test_embeddings_have_a_narrow_kernel_and_wider_graphs(name):
    rows = ROWS[name]
    found = DefaultKernels().fit(rows)
    (narrow,) = found.plain
    assert isinstance(narrow, RBF)
    assert narrow.gamma == pytest.approx(4 / (2 * median_distance(rows) ** 2), rel=ROUNDING)
    assert graphs_of(found.shaped) == GRAPHS[name]
    assert len(found.shaped) == len(GRAPHS[name])


@pytest.mark.parametrize("name", ["counts", "sparse counts"])
def test_counts_of_words_are_compared_by_the_cosine(name):
    found = DefaultKernels().fit(ROWS[name])
    assert [type(kernel) for kernel in found.plain] == [Cosine]
    assert graphs_of(found.shaped) == GRAPHS["counts"]
    assert len(found.shaped) == 2


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", ["embeddings", "counts"])
def test_an_empty_text_which_has_no_direction_is_taken_as_the_others(name, container):
    rows = ROWS[name].copy()
    rows[[3, 40]] = 0
    found = DefaultKernels().fit(container(rows))
    assert "cosine" not in [metric for _, metric in graphs_of(found.shaped)]
    for kernel in found.plain + found.shaped:
        assert np.isfinite(kernel(container(rows))).all()


@pytest.mark.parametrize("name", ROWS)
def test_neighborhoods_are_those_of_ten_neighbors_by_the_metric_of_the_rows(name):
    rows = ROWS[name].toarray() if sparse.issparse(ROWS[name]) else ROWS[name]
    found = DefaultKernels().fit(ROWS[name]).neighborhoods
    assert found.n_neighbors == 10
    points = normalize(rows) if "counts" in name else rows
    np.testing.assert_allclose(found(ROWS[name]), neighbor_graph(points, points, points, 10), atol=ROUNDING)


@pytest.mark.parametrize("name", ROWS)
def test_every_kernel_is_fitted_as_it_would_be_by_itself(name):
    rows = ROWS[name]
    found = DefaultKernels().fit(rows)
    for kernel in found.plain + found.shaped:
        again = type(kernel)(**kernel.get_params(deep=False)).fit(rows)
        np.testing.assert_allclose(kernel(rows), again(rows), atol=ROUNDING)


# -- views -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stores_matrices", [False, True])
@pytest.mark.parametrize("columns", [range(40), [2, 0, 5]], ids=["side by side", "in any order"])
def test_a_view_has_the_kernels_of_its_columns(columns, stores_matrices):
    rows = np.hstack([EMBEDDINGS, TABLE])
    columns = [*columns] if len(columns) > 3 else [40 + column for column in columns]
    part = rows[:, columns]
    view = DefaultKernels(columns).fit(rows, stores_matrices=stores_matrices)
    alone = DefaultKernels().fit(part, stores_matrices=stores_matrices)
    assert graphs_of(alone.shaped) == GRAPHS["embeddings" if len(columns) > 3 else "a table"]
    for kernel, wanted in zip(view.plain + view.shaped, alone.plain + alone.shaped, strict=True):
        seen = kernel.kernel_ if isinstance(kernel, Normalized) else kernel
        assert isinstance(seen, OnColumns)
        assert seen.seen(rows) is view.plain[0].seen(rows)  # by which it is known again
        np.testing.assert_allclose(kernel(rows), wanted(part), atol=ROUNDING)
        new = rows[:5] + 0.01
        np.testing.assert_allclose(kernel(new, rows), wanted(new[:, columns], part), atol=ROUNDING)
    np.testing.assert_allclose(view.neighborhoods(part), alone.neighborhoods(part), atol=ROUNDING)


# -- limits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a table", "embeddings"])
@pytest.mark.parametrize("stores_matrices", [False, True])
def test_many_rows_have_no_kernels_that_take_the_whole_matrix_or_a_second_search_of_wide_rows(
    name, stores_matrices, monkeypatch
):
    monkeypatch.setattr("semikpca.kernels._defaults.MOST_ROWS_FOR_WHOLE_MATRICES", 59)
    found = DefaultKernels().fit(ROWS[name], stores_matrices=stores_matrices)
    wanted = [graph for graph in GRAPHS[name] if graph[1] != "centered cosine"]
    assert graphs_of(found.shaped) == wanted
    assert len(found.shaped) == len(wanted)
    monkeypatch.setattr("semikpca.kernels._defaults.MOST_ROWS_FOR_WHOLE_MATRICES", 60)
    found = DefaultKernels().fit(ROWS[name], stores_matrices=stores_matrices)
    assert len(found.shaped) == {"a table": 5, "embeddings": 3}[name]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_where_most_rows_are_equal_what_takes_its_scale_from_distances_is_left_out(container):
    rows = np.vstack([np.zeros((50, 6)), TABLE[:10]])
    found = DefaultKernels().fit(container(rows))
    assert [type(kernel) for kernel in found.plain] == [Linear]
    assert graphs_of(found.shaped) == [(5, "euclidean"), (7, "euclidean")]
    assert len(found.shaped) == 2


def test_where_most_embeddings_are_equal_inner_products_take_the_place_of_the_narrow_kernel():
    rows = np.vstack([np.repeat(EMBEDDINGS[:1], 50, axis=0), EMBEDDINGS[:10]])
    found = DefaultKernels().fit(rows)
    assert [type(kernel) for kernel in found.plain] == [Linear]
    assert graphs_of(found.shaped) == GRAPHS["embeddings"]
    for kernel in found.shaped:
        assert np.isfinite(kernel(rows)).all()


@pytest.mark.parametrize("name", ["a table", "embeddings"])
def test_equal_rows_are_left_to_whoever_uses_the_kernels(name):
    # The automatic classifier refuses them by name.
    rows = np.repeat(ROWS[name][:1], 30, axis=0)
    found = DefaultKernels().fit(rows)
    assert [type(kernel) for kernel in found.plain] == [Linear]
    for kernel in found.shaped:
        np.testing.assert_allclose(kernel(rows), 1 / 30, atol=ROUNDING)


def test_rows_are_not_changed():
    for name, rows in ROWS.items():
        if isinstance(rows, np.ndarray):
            frozen = rows.copy()
            frozen.setflags(write=False)
            DefaultKernels().fit(frozen, stores_matrices=True)
            np.testing.assert_array_equal(frozen, ROWS[name])
