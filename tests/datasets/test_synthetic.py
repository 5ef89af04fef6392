"""The paper's four clusters."""

import numpy as np
import pytest

from semikpca import SemiKPCAClassifier
from semikpca.datasets import make_four_clusters

CENTERS = np.array([[-2.0, -2.5], [-2.0, 2.5], [2.0, -2.5], [2.0, 2.5]])
# Means and standard deviations of 5,000 unit normal numbers: five standard errors.
SAMPLING = 5 / np.sqrt(5000)
# A share of 2.3 % among 20,000: five standard errors.
SAMPLED_SHARE = 5 * np.sqrt(0.023 * 0.977 / 20_000)


def cluster_numbers(n_samples):
    """The rows come cluster by cluster, in the order of CENTERS."""
    return np.arange(n_samples) * 4 // n_samples


def test_the_default_is_the_size_of_the_paper():
    X, y = make_four_clusters(random_state=0)
    assert X.shape == (400, 2)
    assert y.shape == (400,)
    assert np.bincount(y).tolist() == [200, 200]
    assert X.dtype == np.float64
    assert y.dtype.kind == "i"


def test_every_cluster_has_unit_noise_around_its_center():
    X, _ = make_four_clusters(20_000, random_state=1)
    for cluster, center in enumerate(CENTERS):
        rows = X[cluster_numbers(20_000) == cluster]
        assert len(rows) == 5000
        np.testing.assert_allclose(rows.mean(axis=0), center, atol=SAMPLING)
        np.testing.assert_allclose(rows.std(axis=0), 1.0, atol=SAMPLING)
        assert abs(np.corrcoef(rows.T)[0, 1]) < SAMPLING


def test_the_class_is_the_side_of_the_center():
    for n_samples in (4, 10, 400):
        _, y = make_four_clusters(n_samples, random_state=2)
        np.testing.assert_array_equal(y, CENTERS[cluster_numbers(n_samples), 0] > 0)


def test_the_class_is_on_the_side_of_the_first_coordinate_for_most_rows():
    # A unit normal number exceeds 2 in 2.3 % of cases.
    X, y = make_four_clusters(20_000, random_state=3)
    assert np.mean((X[:, 0] > 0) == y) == pytest.approx(0.977, abs=SAMPLED_SHARE)


def test_the_same_seed_gives_the_same_rows():
    for first, second in zip(make_four_clusters(random_state=4), make_four_clusters(random_state=4), strict=True):
        np.testing.assert_array_equal(first, second)
    assert not np.array_equal(make_four_clusters(random_state=4)[0], make_four_clusters(random_state=5)[0])


def test_a_generator_moves_on():
    generator = np.random.RandomState(6)
    first, second = make_four_clusters(random_state=generator)[0], make_four_clusters(random_state=generator)[0]
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, make_four_clusters(random_state=6)[0])


@pytest.mark.parametrize("n_samples", [4, 5, 6, 7, 10, 401, 403])
def test_rows_that_do_not_divide_by_four_are_spread_evenly(n_samples):
    X, y = make_four_clusters(n_samples, random_state=7)
    assert X.shape == (n_samples, 2)
    assert y.shape == (n_samples,)
    sizes = np.bincount(cluster_numbers(n_samples), minlength=4)
    assert sizes.max() - sizes.min() <= 1
    assert abs(np.count_nonzero(y == 0) - np.count_nonzero(y == 1)) <= 1
    # Every cluster is there: some row is nearest to its center at this size, whatever the noise.
    assert (sizes >= 1).all()


@pytest.mark.parametrize("n_samples", [3, 1, 0, -4])
def test_fewer_rows_than_clusters_are_refused(n_samples):
    with pytest.raises(ValueError, match="n_samples must be a whole number, 4 or more") as caught:
        make_four_clusters(n_samples)
    assert repr(n_samples) in str(caught.value)


@pytest.mark.parametrize("n_samples", [10.5, 400.0, "many", None, True])
def test_a_number_of_rows_that_is_none_is_refused(n_samples):
    with pytest.raises(ValueError, match="n_samples"):
        make_four_clusters(n_samples)


def test_the_classes_can_be_found_from_a_few_labels():
    # Table 2 has 92.7 % for 4 labels in 400 at the fixed weight; one label in each cluster is the fortunate case.
    X, truth = make_four_clusters(random_state=8)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.full(400, -1)
    y[[0, 100, 200, 300]] = truth[[0, 100, 200, 300]]
    assert np.mean(SemiKPCAClassifier().fit(X, y).transduction_ == truth) > 0.85
