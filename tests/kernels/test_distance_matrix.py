"""One matrix of distances for graphs, the median rule and kernels: each reads off it what it would compute itself."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from semikpca.kernels import (
    RBF,
    DefaultKernels,
    ExponentialDecay,
    Formula,
    Laplacian,
    Normalized,
    OnColumns,
    Power,
    median_distance,
)
from semikpca.kernels import _defaults as defaults
from semikpca.kernels._components import LeadingComponents, coordinates_by, tells_components
from semikpca.kernels._distance_matrix import DistanceMatrix
from semikpca.kernels._graph import fit_graphs

generator = np.random.default_rng(3)
# What rounding may be, 1/20 of what counts as a tie; twice, since two distances are compared.
FAR_BELOW_A_TIE = 1e-10
ROUNDING = 1e-12
# In float32 the error of a distance is 1e-5 of the squared norms, more where a row is near the mean.
ROUGHEST = {np.float64: 1e-11, np.float32: 1e-2}
# Exponents of up to a few dozen, of distances that far below a tie; in float32 they are rounded.
WEIGHTS = {np.float64: 1e-9, np.float32: 1e-6}

ROWS = {
    "a cloud": generator.normal(size=(50, 80)),
    "few features": generator.normal(size=(50, 4)),
    "off the origin": generator.normal(size=(50, 20)) + 1e3,
    "full of ties": generator.integers(0, 2, size=(50, 20)).astype(float),
    "equal rows": np.repeat(generator.normal(size=(10, 20)), 5, axis=0) + 7,
    "two clusters far apart": np.vstack([generator.normal(size=(25, 20)), generator.normal(size=(25, 20)) + 1e5]),
}
every_set = pytest.mark.parametrize("name", ROWS)
every_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@every_set
@every_type
def test_distances_of_pairs_are_those_of_differences(name, dtype):
    rows = ROWS[name].astype(dtype)
    matrix = DistanceMatrix.of(rows)
    pairs = np.arange(50).repeat(50), np.tile(np.arange(50), 50)
    exact = squareform(pdist(rows.astype(np.float64), "sqeuclidean"))[pairs]
    found = matrix.distances(*pairs)
    np.testing.assert_allclose(found, exact, rtol=FAR_BELOW_A_TIE)
    assert (found[exact == 0] == 0).all()


@every_set
@every_type
def test_graphs_are_the_same_with_and_without_it(name, dtype):
    rows = ROWS[name].astype(dtype)
    for own, shared in zip(fit_graphs((3, 6), rows), fit_graphs((3, 6), rows, DistanceMatrix.of(rows)), strict=True):
        np.testing.assert_array_equal(own.matrix_.toarray() > 0, shared.matrix_.toarray() > 0)
        np.testing.assert_allclose(own.matrix_.toarray(), shared.matrix_.toarray(), rtol=WEIGHTS[dtype])
        np.testing.assert_allclose(own.radii_, shared.radii_, rtol=FAR_BELOW_A_TIE)


def directions(rows):
    """Unit vectors from the mean row, by numbers with more digits than any rows have."""
    centered = rows.astype(np.longdouble) - rows.astype(np.longdouble).mean(axis=0)
    return centered / np.sqrt((centered**2).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("name", ["a cloud", "few features", "off the origin", "full of ties", "equal rows"])
@every_type
def test_distances_between_directions_follow_from_those_between_rows(name, dtype):
    rows = ROWS[name].astype(dtype)
    exact = directions(rows).astype(np.float64)
    points, exact = exact.astype(dtype), squareform(pdist(exact, "sqeuclidean"))
    matrix = DistanceMatrix.of(rows).of_directions(points)
    promised = 2 * matrix.bound.error  # of unit vectors
    assert promised < ROUGHEST[dtype]
    np.testing.assert_allclose(matrix.squared, exact, rtol=0, atol=promised)
    np.testing.assert_array_equal(matrix.squared, matrix.squared.T)
    pairs = np.arange(50).repeat(50), np.tile(np.arange(50), 50)
    np.testing.assert_allclose(
        matrix.distances(*pairs),
        squareform(pdist(points.astype(np.float64), "sqeuclidean"))[pairs],
        rtol=FAR_BELOW_A_TIE,
    )


def test_directions_are_not_told_by_distances_where_a_row_is_at_the_mean():
    rows = ROWS["a cloud"].copy()
    rows[0] = rows[1:].mean(axis=0)
    assert DistanceMatrix.of(rows).of_directions(rows) is None


@pytest.mark.parametrize("metric", ["centered cosine", "mahalanobis"])
@every_set
@every_type
def test_graphs_by_metrics_that_are_learned_are_the_same_with_and_without_it(name, metric, dtype):
    rows = ROWS[name].astype(dtype)
    (own,), (shared,) = fit_graphs((4,), rows, metric=metric), fit_graphs((4,), rows, DistanceMatrix.of(rows), metric)
    np.testing.assert_array_equal(own.matrix_.toarray() > 0, shared.matrix_.toarray() > 0)
    np.testing.assert_allclose(own.matrix_.toarray(), shared.matrix_.toarray(), rtol=WEIGHTS[dtype])


def test_coordinates_by_distances_are_those_of_the_rows():
    rows = ROWS["a cloud"]
    assert tells_components(DistanceMatrix.of(rows).squared, rows.shape[1])
    found, wanted = coordinates_by(DistanceMatrix.of(rows).squared), LeadingComponents.of(rows).at(rows)
    wanted = wanted / np.linalg.norm(wanted, axis=0)
    np.testing.assert_allclose(np.abs(found.T @ wanted), np.eye(20), atol=1e-9)


def test_components_that_stand_out_are_found_by_a_few_products_among_many_rows(rng):
    strong = rng.normal(size=(900, 5)) * [30, 25, 20, 15, 12]
    rows = np.hstack([strong, rng.normal(size=(900, 1_000))])
    found, wanted = coordinates_by(DistanceMatrix.of(rows).squared)[:, :5], LeadingComponents.of(rows).at(rows)[:, :5]
    wanted = wanted / np.linalg.norm(wanted, axis=0)
    # Noise has a spread of 2 at most beside 12 and more: its share falls by (2/12)² with each of nine products.
    np.testing.assert_allclose(np.abs(found.T @ wanted), np.eye(5), atol=1e-9)


def test_distances_of_other_rows_are_not_taken_for_theirs():
    rows = ROWS["a cloud"]
    own, other = fit_graphs((3,), rows), fit_graphs((3,), rows, DistanceMatrix.of(rows[::-1].copy()))
    np.testing.assert_array_equal(own[0].matrix_.toarray(), other[0].matrix_.toarray())


@every_set
@every_type
def test_the_median_is_the_same_with_and_without_it(name, dtype):
    rows = ROWS[name].astype(dtype)
    assert median_distance(rows, known=DistanceMatrix.of(rows)) == pytest.approx(np.median(pdist(rows)), rel=1e-14)


def test_pairs_of_some_rows_are_in_the_order_of_scipy():
    rows, some = ROWS["few features"], np.array([1, 4, 5, 30])
    np.testing.assert_allclose(DistanceMatrix.of(rows).pairs(some), pdist(rows[some], "sqeuclidean"), rtol=ROUNDING)


@pytest.mark.parametrize("name", ["a cloud", "few features", "full of ties", "off the origin"])
@pytest.mark.parametrize("factor", [1, 4])
def test_values_are_those_of_the_kernel(name, factor):
    rows = ROWS[name]
    gamma = factor / (2 * np.median(pdist(rows)) ** 2)
    values = DistanceMatrix.of(rows).values(RBF(gamma=gamma).formula)
    np.testing.assert_allclose(values, np.exp(-gamma * squareform(pdist(rows, "sqeuclidean"))), atol=ROUNDING)


@pytest.mark.parametrize(
    "formula",
    [
        Formula("squared distance", ExponentialDecay(), 1e3),
        Formula("squared distance", ExponentialDecay((1.0,), root=True)),
        Formula("city-block distance", ExponentialDecay()),
        Formula("inner product", Power()),
    ],
    ids=["digits are lost", "a root", "city-block", "inner product"],
)
def test_formulas_that_products_do_not_serve_have_no_values(formula):
    assert DistanceMatrix.of(ROWS["a cloud"]).values(formula) is None


@pytest.mark.parametrize("rows", [sparse.csr_array(ROWS["a cloud"]), 1e200 * ROWS["a cloud"]], ids=["csr", "huge"])
def test_rows_that_products_do_not_serve_have_no_matrix(rows):
    assert DistanceMatrix.of(rows) is None


# -- the default kernels -----------------------------------------------------------------------------------------------


@every_set
@pytest.mark.parametrize("columns", [None, [0, 1, 3]], ids=["all columns", "some columns"])
def test_default_kernels_are_the_same_whether_matrices_are_stored_or_not(name, columns):
    rows = ROWS[name]
    kernels = [DefaultKernels(columns).fit(rows, stores_matrices=stored) for stored in (False, True)]
    for one, other in zip(*(found.plain + found.shaped + [found.neighborhoods] for found in kernels), strict=True):
        assert type(one) is type(other)
        if one is kernels[0].neighborhoods:  # a graph of what is seen, whatever the columns are
            np.testing.assert_allclose(one.matrix_.toarray(), other.matrix_.toarray(), rtol=1e-9, atol=ROUNDING)
            continue
        np.testing.assert_allclose(one.pairwise(rows, rows), other.pairwise(rows, rows), rtol=1e-9, atol=ROUNDING)


def test_normalized_kernels_bring_their_matrices_where_they_are_stored():
    rows = ROWS["few features"]
    normalized = [
        kernel
        for kernel in DefaultKernels().fit(rows, stores_matrices=True).shaped
        if kernel.known_matrix(rows) is not None
    ]
    assert [type(kernel) for kernel in normalized] == [Normalized, Normalized]
    for kernel in normalized:
        np.testing.assert_allclose(kernel.known_matrix(rows), kernel.pairwise(rows.copy(), rows), atol=ROUNDING)
    assert all(kernel.known_matrix(rows) is None for kernel in DefaultKernels().fit(rows).shaped)


def test_many_rows_have_no_matrix_of_distances(monkeypatch):
    monkeypatch.setattr(defaults, "MOST_ROWS_FOR_WHOLE_MATRICES", 49)
    monkeypatch.setattr(defaults.DistanceMatrix, "of", lambda rows: pytest.fail("it is not needed"))
    kernels = DefaultKernels().fit(ROWS["a cloud"], stores_matrices=True).shaped
    assert not any(isinstance(kernel, Normalized) for kernel in kernels)


@pytest.mark.parametrize("columns", [None, range(6)], ids=["all columns", "some columns"])
def test_city_block_distances_are_left_out_for_wide_rows(monkeypatch, columns):
    def has_laplacian(rows):
        plain = DefaultKernels(columns).fit(rows).plain
        inside = [kernel.kernel_ if isinstance(kernel, OnColumns) else kernel for kernel in plain]
        return any(isinstance(kernel, Laplacian) for kernel in inside)

    rows = ROWS["full of ties"][:, :6].copy()
    monkeypatch.setattr(defaults, "MOST_FEATURES_FOR_CITY_BLOCK", 6)
    assert has_laplacian(rows)
    monkeypatch.setattr(defaults, "MOST_FEATURES_FOR_CITY_BLOCK", 5)
    assert not has_laplacian(rows)
    if columns is None:
        assert has_laplacian(sparse.csr_array(rows))  # what counts there are entries that are not 0
