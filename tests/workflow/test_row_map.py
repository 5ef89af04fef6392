"""The map of the rows, against scikit-learn's kernel PCA."""

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA

from semikpca.workflow import row_map

ITERATIVE = 1e-6  # eigenvectors are found to about this


def test_coordinates_are_kernel_principal_components(five_classes):
    X = np.asarray(five_classes[0])
    distances = np.sqrt(((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    gamma = 1 / (2 * np.median(distances[np.triu_indices(len(X), 1)]) ** 2)
    wanted = KernelPCA(2, kernel="rbf", gamma=gamma).fit_transform(X)
    found = row_map(X)
    assert found.rows.tolist() == list(range(len(X)))
    for axis in range(2):
        sign = np.sign(found.coordinates[:, axis] @ wanted[:, axis])
        assert sign * found.coordinates[:, axis] == pytest.approx(wanted[:, axis], abs=ITERATIVE)


def test_a_sample_stands_for_many_rows_and_holds_those_that_must_be_there(rng):
    X = rng.normal(size=(400, 3))
    always = [399, 7, 7, 120]
    found = row_map(X, max_rows=50, always=always)
    assert len(found.rows) == len(set(found.rows.tolist())) == 50
    assert found.rows.tolist() == sorted(found.rows.tolist())
    assert {7, 120, 399} <= set(found.rows.tolist())
    assert found.coordinates.shape == (50, 2)
    again = row_map(X, max_rows=50, always=always)
    assert np.array_equal(found.rows, again.rows)
    assert not np.array_equal(found.rows, row_map(X, max_rows=50, always=always, random_state=1).rows)


def test_more_rows_that_must_be_there_than_places_are_sampled(rng):
    always = np.arange(100, 200)
    rows = row_map(rng.normal(size=(400, 3)), max_rows=20, always=always).rows
    assert len(rows) == 20
    assert set(rows.tolist()) <= set(always.tolist())


@pytest.mark.parametrize("n_distinct", [1, 2])
def test_equal_rows_have_equal_places(n_distinct):
    X = np.repeat(np.arange(n_distinct, dtype=float), [17, 3][:n_distinct])[:, np.newaxis]
    coordinates = row_map(X).coordinates
    assert coordinates.shape == (len(X), 2)
    assert np.isfinite(coordinates).all()
    assert (np.ptp(coordinates[:17], axis=0) < ITERATIVE).all()
    if n_distinct == 2:
        assert abs(coordinates[0, 0] - coordinates[-1, 0]) > 0.1
