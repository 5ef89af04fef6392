"""Leading components of rows, against NumPy's singular value decomposition and covariances."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from semikpca.kernels import LeadingComponents, kernel_components
from semikpca.kernels._components import leading_eigenpairs

generator = np.random.default_rng(5)

# Components come from products of the rows, in which a variance is known to 1e-16 of the largest; the smallest that
# counts is 1e-6 of it.
ROUNDING = 1e-9
# Coordinates, which are below 10, are rounded to float32 at the end.
SINGLE = 1e-6


def spread_out(n_rows, n_features, least=0.05):
    """Rows whose components all have a standard deviation of their own, turned at random, off the origin."""
    turn = np.linalg.qr(generator.normal(size=(n_features, n_features)))[0]
    return generator.normal(size=(n_rows, n_features)) * np.geomspace(1, least, n_features) @ turn + 3


ROWS = {
    "few columns": spread_out(60, 4),
    "as many columns as components": spread_out(80, 20),
    "more columns than components": spread_out(120, 33),
    "more columns than rows": spread_out(40, 90),
    "fewer rows than components": spread_out(12, 30),
    "so many columns that few eigenvectors are looked for": spread_out(900, 820, least=1e-3),
    "so many rows and columns that few eigenvectors are looked for": spread_out(820, 900, least=1e-3),
}
every_table = pytest.mark.parametrize("name", ROWS)


def svd_coordinates(rows, most=20):
    """Coordinates along the leading right singular vectors of the centered rows, over their standard deviations."""
    U, sizes, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    variances = sizes**2 / (len(rows) - 1)
    kept = (variances > 1e-6 * variances[0]) & (np.arange(len(sizes)) < most)
    return (U * np.sqrt(len(rows) - 1))[:, kept]


def same_signs(found, wanted):
    """Turn each column so that its largest entry has the sign that it is wanted to have: a component has none."""
    largest = np.abs(wanted).argmax(axis=0)
    columns = np.arange(wanted.shape[1])
    return found * np.sign(found[largest, columns] * wanted[largest, columns])


@every_table
def test_coordinates_are_those_of_the_singular_value_decomposition(name):
    rows = ROWS[name]
    wanted = svd_coordinates(rows)
    found = LeadingComponents.of(rows).at(rows)
    assert found.shape == wanted.shape == (len(rows), min(20, rows.shape[1], len(rows) - 1))
    np.testing.assert_allclose(same_signs(found, wanted), wanted, atol=ROUNDING)


@every_table
def test_coordinates_have_mean_zero_unit_variance_and_no_correlations(name):
    found = LeadingComponents.of(ROWS[name]).at(ROWS[name])
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=ROUNDING)
    np.testing.assert_allclose(np.cov(found.T), np.eye(found.shape[1]), atol=ROUNDING)


@pytest.mark.parametrize("name", ["few columns", "as many columns as components"])
def test_distances_are_mahalanobis_distances_where_all_components_are_kept(name):
    rows = ROWS[name]
    new = spread_out(7, rows.shape[1])
    components = LeadingComponents.of(rows)
    inverse = np.linalg.inv(np.cov(rows.T))
    for a, at_a in zip(new, components.at(new), strict=True):
        for b, at_b in zip(rows[:9], components.at(rows[:9]), strict=True):
            assert np.sum((at_a - at_b) ** 2) == pytest.approx((a - b) @ inverse @ (a - b), rel=ROUNDING)


@pytest.mark.parametrize("n_features", [10, 70])
def test_directions_in_which_rows_do_not_differ_have_no_component(n_features):
    rank = 3
    rows = generator.normal(size=(50, rank)) @ generator.normal(size=(rank, n_features)) + 1
    found = LeadingComponents.of(rows).at(rows)
    assert found.shape == (50, rank)
    np.testing.assert_allclose(same_signs(found, svd_coordinates(rows)), svd_coordinates(rows), atol=ROUNDING)


@pytest.mark.parametrize("n_features", [4, 70])
def test_what_varies_by_a_thousandth_of_the_largest_still_counts_and_by_less_does_not(n_features):
    rows = np.zeros((200, n_features))
    rows[:, :3] = np.linalg.qr(generator.normal(size=(200, 3)) - 0.5)[0]
    rows[:, :3] -= rows[:, :3].mean(axis=0)
    rows[:, :3] *= [1, 2e-3, 5e-4]
    assert LeadingComponents.of(rows).directions.shape == (2, n_features)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1 / 3, 1e300, -1e-300])
@pytest.mark.parametrize("shape", [(50, 3), (30, 60), (1, 5), (900, 1000)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_rows_have_no_component(value, shape, dtype):
    rows = np.full(shape, np.clip(value, -np.finfo(dtype).max, np.finfo(dtype).max), dtype)
    components = LeadingComponents.of(rows)
    assert components.directions.shape == (0, shape[1])
    assert components.at(rows).shape == (len(rows), 0)


def test_rows_that_differ_in_the_last_digit_have_a_component():
    rows = np.full((30, 4), 0.75)
    rows[7, 2] = np.nextafter(0.75, 1)
    found = LeadingComponents.of(rows).at(rows)
    assert found.shape == (30, 1)
    assert len(np.unique(found)) == 2


@every_table
def test_constant_columns_change_nothing(name):
    rows = ROWS[name]
    more = np.hstack([np.full((len(rows), 2), 0.1), rows, np.full((len(rows), 1), -7.0)])
    expected, found = (LeadingComponents.of(some).at(some) for some in (rows, more))
    np.testing.assert_allclose(same_signs(found, expected), expected, atol=ROUNDING)


@every_table
def test_single_precision_gives_what_double_precision_gives(name):
    rows = ROWS[name].astype(np.float32)
    expected = LeadingComponents.of(rows.astype(np.float64)).at(rows.astype(np.float64))
    found = LeadingComponents.of(rows).at(rows)
    assert found.dtype == np.float32
    np.testing.assert_allclose(same_signs(found, expected), expected, atol=SINGLE)


@pytest.mark.parametrize("n_features", [30, 2500])
def test_sparse_rows_give_what_dense_rows_give(n_features):
    # Above 2,000 columns sparse rows stay sparse.
    rows = generator.normal(size=(60, n_features)) * (generator.random(size=(60, n_features)) < 0.1)
    rows[:, 0] += np.linspace(0, 9, 60)
    new = rows[:7] + rows[7:14]
    expected = LeadingComponents.of(rows)
    found = LeadingComponents.of(sparse.csr_array(rows))
    both = np.vstack([rows, new])
    wanted = expected.at(both)
    for components, some in ((found, sparse.csr_array(both)), (found, both), (expected, sparse.csr_matrix(both))):
        np.testing.assert_allclose(same_signs(components.at(some), wanted), wanted, atol=ROUNDING)


@every_table
@pytest.mark.parametrize("factor", [1e-300, 1e-5, 1e5, 1e300])
def test_the_unit_of_rows_does_not_matter(name, factor):
    rows = ROWS[name]
    expected, found = (LeadingComponents.of(some).at(some) for some in (rows, factor * rows))
    np.testing.assert_allclose(same_signs(found, expected), expected, atol=ROUNDING)


@pytest.mark.parametrize("name", ["few columns", "more columns than rows"])
def test_the_origin_of_rows_does_not_matter(name):
    rows = ROWS[name]
    expected = LeadingComponents.of(rows).at(rows)
    found = LeadingComponents.of(rows + 1e6).at(rows + 1e6)
    # Entries near 1e6 keep ten digits behind the point, and the weakest component is 20 times weaker than the first.
    np.testing.assert_allclose(same_signs(found, expected), expected, atol=1e-7)


@every_table
def test_rows_in_another_order_get_their_coordinates_in_that_order(name):
    rows = ROWS[name]
    order = generator.permutation(len(rows))
    expected, found = (LeadingComponents.of(some).at(some) for some in (rows[order], rows))
    np.testing.assert_allclose(same_signs(found[order], expected), expected, atol=ROUNDING)


@every_table
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_coordinates_of_a_row_are_the_same_to_the_last_digit_whatever_is_beside_it(name, dtype):
    rows = ROWS[name].astype(dtype)
    components = LeadingComponents.of(rows)
    all_of_them = components.at(rows)
    for some in ([0], [5, 3], [1, 1, 1, 8], np.arange(len(rows))[::-1], np.arange(11)):
        np.testing.assert_array_equal(components.at(rows[some]), all_of_them[some])
    np.testing.assert_array_equal(components.at(np.asfortranarray(rows)), all_of_them)
    csr = sparse.csr_array(rows)
    np.testing.assert_array_equal(components.at(csr[[4]]), components.at(csr)[[4]])


def test_of_many_rows_a_sample_says_what_the_components_are():
    rows = spread_out(6_000, 5)
    found = LeadingComponents.of(rows).at(rows)
    np.testing.assert_array_equal(found, LeadingComponents.of(rows.copy()).at(rows))  # always the same sample
    # A standard deviation learned from 2,000 rows is off by 1.6%, and so is a correlation.
    np.testing.assert_allclose(np.cov(found.T), np.eye(5), atol=0.1)
    assert np.abs(found.mean(axis=0)).max() < 0.1
    assert not np.allclose(np.cov(found.T), np.eye(5), atol=1e-4), "all rows were looked at"


def test_what_was_learned_can_be_kept():
    rows = ROWS["few columns"]
    components = LeadingComponents.of(rows)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(components)).at(rows), components.at(rows))


def test_rows_are_not_changed():
    rows = ROWS["few columns"].copy()
    rows.setflags(write=False)
    LeadingComponents.of(rows).at(rows)


# -- eigenvectors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 850])
def test_eigenpairs_are_the_largest_of_all(n):
    A = generator.normal(size=(n, n))
    matrix = A + A.T
    values, vectors = np.linalg.eigh(matrix)
    found, directions = leading_eigenpairs(matrix, 4)
    np.testing.assert_allclose(found, values[::-1][:4], rtol=ROUNDING)
    wanted = vectors[:, ::-1][:, :4]
    np.testing.assert_allclose(same_signs(directions, wanted), wanted, atol=1e-7)  # values lie 1e-2 apart, of 60


@pytest.mark.parametrize("n", [6, 850])
def test_a_matrix_of_zeros_has_eigenvalues_of_zero(n):
    np.testing.assert_array_equal(leading_eigenpairs(np.zeros((n, n)), 4)[0], 0)


def test_components_of_inner_products_are_those_of_the_rows():
    rows = ROWS["few columns"]
    values, vectors = kernel_components(rows @ rows.T, 4)
    wanted = svd_coordinates(rows) / np.sqrt(len(rows) - 1)
    np.testing.assert_allclose(same_signs(vectors, wanted), wanted, atol=ROUNDING)
    variances = np.linalg.eigvalsh(np.cov(rows.T))[::-1]
    np.testing.assert_allclose(values / (len(rows) - 1), variances, rtol=ROUNDING)
