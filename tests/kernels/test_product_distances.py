"""Distances by products of matrices: never farther off than they say, and no neighbor is missed."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from semikpca.kernels import _distances
from semikpca.kernels._distances import TIE, pair_starts, squared_distances
from semikpca.kernels._product_distances import ProductDistances, _folded

generator = np.random.default_rng(5)

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
N_FEATURES = 300  # more than one sum in float32


def one_outlier():
    rows = generator.normal(size=(60, N_FEATURES))
    rows[7] *= 1e4
    return rows


ROWS = {
    "a cloud": generator.normal(size=(60, N_FEATURES)),
    "a cloud off the origin": generator.normal(size=(60, N_FEATURES)) + 50,
    "two clusters far apart": np.vstack([generator.normal(size=(30, N_FEATURES)) + 1e3 * side for side in (-1, 1)]),
    "one outlier": one_outlier(),
    "whole numbers, full of ties": generator.integers(0, 2, size=(60, N_FEATURES)).astype(float),
    "equal rows": np.repeat(generator.normal(size=(6, N_FEATURES)), 10, axis=0),
    "small numbers": 1e-12 * generator.normal(size=(60, N_FEATURES)),
    "all zero": np.zeros((20, N_FEATURES)),
    "few features": generator.normal(size=(60, 3)),
}
every_set = pytest.mark.parametrize("name", ROWS)


def exact_squares(A, B):
    """Squared distances in float64 from differences, which for these rows are right to 13 digits."""
    return ((A[:, np.newaxis].astype(np.float64) - B) ** 2).sum(axis=2)


def allowed_error(products, A, B):
    """What the docstring promises, with norms from whichever origin gives the larger ones: the mean, or 0."""
    origins = (np.zeros(A.shape[1]), B.mean(axis=0, dtype=np.float64))
    norms = [[((rows - origin) ** 2).sum(axis=1, dtype=np.float64) for origin in origins] for rows in (A, B)]
    return max(np.abs(a[:, np.newaxis] + b).max() for a, b in zip(*norms, strict=True)) * products.bound.error + len(
        A.T
    ) * float(np.finfo(products.dtype).tiny)


# -- differences -------------------------------------------------------------------------------------------------------


def test_differences_are_right_to_the_last_digit_but_a_few():
    A, rows, columns = ROWS["a cloud off the origin"], np.array([0, 3, 3, 9]), np.array([1, 3, 4, 0])
    for row, column, found in zip(rows, columns, squared_distances(A, rows, A, columns), strict=True):
        exact = sum((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(A[row], A[column], strict=True))
        assert found == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("n_features", [3, _distances._MANY_FEATURES])
def test_pairs_that_come_twice_or_of_a_row_with_itself_are_as_any_other(container, n_features):
    A = generator.normal(size=(20, n_features))
    rows, columns = np.array([0, 5, 5, 7, 2]), np.array([5, 0, 5, 7, 9])
    exact = exact_squares(A, A)[rows, columns]
    rows_of = container(A)
    found = squared_distances(rows_of, rows, rows_of, columns)
    np.testing.assert_allclose(found, exact, rtol=1e-13)
    assert found[0] == found[1]
    assert (found[2:4] == 0).all()


def test_a_pair_has_the_same_distance_wherever_it_stands():
    A = generator.normal(size=(50, 700))
    rows, columns = np.arange(50).repeat(50), np.tile(np.arange(50), 50)
    one_by_one = [squared_distances(A, rows[[i]], A.copy(), columns[[i]])[0] for i in range(0, 2500, 37)]
    assert squared_distances(A, rows, A, columns)[::37].tolist() == one_by_one


def test_pairs_are_in_the_order_of_scipy():
    distances = squareform(pdist(ROWS["few features"]))
    starts = pair_starts(60)
    flat = pdist(ROWS["few features"])
    for row in (0, 1, 30, 58):
        np.testing.assert_array_equal(flat[starts[row] : starts[row + 1]], distances[row, row + 1 :])
    assert starts[-1] == len(flat)


# -- all pairs ---------------------------------------------------------------------------------------------------------


@every_set
@DTYPES
@pytest.mark.parametrize("given", [np.float32, np.float64])
def test_no_distance_is_farther_off_than_promised(name, dtype, given):
    rows = ROWS[name].astype(given)
    products, exact = ProductDistances(rows, dtype), exact_squares(rows, rows)
    matrix = products.matrix()
    assert matrix.dtype == dtype
    bound = allowed_error(products, rows, rows)
    assert products.largest_error <= 1.01 * bound
    assert np.abs(matrix - exact).max() <= products.largest_error
    assert (np.diag(matrix) == 0).all()
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.abs(products.pairs() - exact[np.triu_indices(len(rows), k=1)]).max() <= products.largest_error
    between, _ = products.between(rows[::-1].copy())
    assert np.abs(between - exact[::-1]).max() <= bound


def test_the_promise_is_worth_something():
    cloud = ProductDistances(ROWS["a cloud"], np.float32)
    assert cloud.largest_error < 1e-4 * exact_squares(ROWS["a cloud"], ROWS["a cloud"]).max()


def test_blocks_are_turned_one_by_one():
    products = ProductDistances(ROWS["a cloud"], np.float64)
    np.testing.assert_array_equal(products.matrix(lambda block: block + 1), products.matrix() + 1)


@pytest.mark.parametrize(("factor", "dtype"), [(1e17, np.float32), (1e160, np.float64)])
def test_rows_whose_products_leave_the_range_are_told(factor, dtype):
    rows = ROWS["a cloud"]
    assert ProductDistances(rows, dtype).is_in_range
    with np.errstate(over="ignore", invalid="ignore"):
        assert not ProductDistances(factor * rows, dtype).is_in_range


# -- neighbors ---------------------------------------------------------------------------------------------------------


def pairs_of(found):
    return set(zip(found.rows.tolist(), found.columns.tolist(), strict=True))


@every_set
@DTYPES
@pytest.mark.parametrize("count", [1, 4, 11])
@pytest.mark.parametrize("are_new", [False, True], ids=["training rows", "other rows"])
def test_no_neighbor_is_missed_and_no_tie(name, dtype, count, are_new):
    rows = ROWS[name]
    queries = np.vstack([rows[:5], (rows[:9] + rows[-9:]) / 2]) if are_new else rows
    found = ProductDistances(rows, dtype).near(queries, count)
    exact = exact_squares(queries, rows)
    radii = np.sort(exact, axis=1)[:, count - 1] * (1 + TIE) ** 2
    listed = np.setdiff1d(np.arange(len(queries)), found.too_many)
    wanted = {(i, j) for i in listed.tolist() for j in np.flatnonzero(exact[i] <= radii[i]).tolist()}
    assert wanted <= pairs_of(found)
    assert not np.intersect1d(found.rows, found.too_many).size
    assert (np.diff(found.rows) >= 0).all()


@every_set
def test_no_row_is_missed_that_has_the_other_within_its_radius(name):
    rows = ROWS[name]
    exact = exact_squares(rows, rows)
    radii = np.sqrt(np.sort(exact, axis=1)[:, 4])
    queries = np.vstack([rows[:5], (rows[:9] + rows[-9:]) / 2])
    found = ProductDistances(rows, np.float32).within(queries, radii, 5)
    inside = exact_squares(queries, rows) <= (radii * (1 + TIE)) ** 2
    inside[found.too_many] = False
    assert set(zip(*map(np.ndarray.tolist, np.nonzero(inside)), strict=True)) <= pairs_of(found)


def test_few_rows_are_listed_beside_the_neighbors():
    rows = generator.normal(size=(2_000, 40))
    found = ProductDistances(rows, np.float32).near(rows, 11)
    assert not found.too_many.size
    assert 11 <= len(found.rows) / len(rows) < 12


def test_rows_that_single_precision_cannot_tell_apart_are_not_listed():
    # 1e-7 of a squared distance of 2e8 is more than the squared distances of some hundred inside of each cluster.
    rows = np.vstack([generator.normal(size=(150, 100)) + 1e3 * side for side in (-1, 1)])
    assert ProductDistances(rows, np.float32).near(rows, 3).too_many.size == len(rows)
    assert ProductDistances(rows, np.float64).near(rows, 3).too_many.size == 0


def test_a_row_out_of_range_is_not_listed():
    rows = ROWS["a cloud"]
    queries = np.vstack([rows[:2], 1e30 * rows[2:3], rows[3:4]])
    products = ProductDistances(rows, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        assert products.near(queries, 3).too_many.tolist() == [2]
        assert products.within(queries, np.ones(60), 3).too_many.tolist() == [2]


@pytest.mark.parametrize("count", [1, 3, 10])
def test_folding_keeps_enough_small_numbers(count):
    values = generator.normal(size=(7, 1_003))
    folded = _folded(values, count)
    assert folded.shape[1] < values.shape[1] / 2
    nearest = np.sort(folded, axis=1)[:, count - 1, np.newaxis]
    assert ((values <= nearest).sum(axis=1) >= count).all()
    in_whole_folds = values[:, : values.shape[1] // folded.shape[1] * folded.shape[1]]  # a rest is left out
    np.testing.assert_array_equal(folded.min(axis=1), in_whole_folds.min(axis=1))
