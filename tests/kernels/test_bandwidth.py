"""Rules that choose a kernel coefficient from the rows."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from semikpca.kernels import RBF, Laplacian, Normalized, Polynomial, _bandwidth
from semikpca.kernels._distances import squared_distances
from semikpca.kernels._product_distances import ProductDistances

# A CSR matrix has its distances computed by another route, with other roundings.
ANOTHER_ROUTE = 1e-12


def rows_of(n, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


# 2, 3, 6 and 7 rows have an odd number of pairs, 4 and 5 an even one, where the median lies between two distances.
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 40, 41])
def test_median_of_the_gaussian_kernel_is_the_rule_of_the_paper(n):
    X = rows_of(n)
    assert RBF().fit(X).gamma_ == 1 / (2 * np.median(pdist(X)) ** 2)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 40, 41])
def test_median_of_the_laplacian_kernel_counts_along_the_axes(n):
    X = rows_of(n)
    assert Laplacian().fit(X).gamma_ == 1 / np.median(pdist(X, "cityblock"))


def test_median_of_the_polynomial_kernel_is_that_of_the_gaussian():
    X = rows_of(20)
    assert Polynomial(gamma="median").fit(X).gamma_ == RBF().fit(X).gamma_


@pytest.mark.parametrize("kernel", [RBF, Laplacian, Polynomial])
def test_scale_is_that_of_scikit_learn(kernel):
    X, y = rows_of(20), np.arange(20) % 2
    assert kernel(gamma="scale").fit(X).gamma_ == pytest.approx(SVC(gamma="scale").fit(X, y)._gamma, rel=1e-14)


@pytest.mark.parametrize("kernel", [RBF, Laplacian, Polynomial])
@pytest.mark.parametrize("gamma", ["median", "scale"])
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_rows_give_the_coefficient_of_dense_rows(kernel, gamma, container):
    X = rows_of(25)
    X[X < 0] = 0
    dense = kernel(gamma=gamma).fit(X).gamma_
    assert kernel(gamma=gamma).fit(container(X)).gamma_ == pytest.approx(dense, rel=ANOTHER_ROUTE)


@pytest.mark.parametrize("kernel", [RBF, Laplacian, Polynomial])
def test_sparse_rows_far_from_zero_give_the_coefficient_of_dense_rows(kernel):
    X = rows_of(25) + 1e6
    dense = kernel(gamma="scale").fit(X).gamma_
    # Squares of 1e6 in sixteen digits leave four for a variance of one.
    assert kernel(gamma="scale").fit(sparse.csr_array(X)).gamma_ == pytest.approx(dense, rel=1e-3)


@pytest.mark.parametrize(("kernel", "power"), [(RBF, 2), (Laplacian, 1)])
@pytest.mark.parametrize("factor", [1e-150, 1e-3, 7.0, 1e150])
def test_the_median_rule_does_not_depend_on_the_units(kernel, power, factor):
    X = rows_of(15)
    scaled = kernel().fit(X * factor).gamma_
    assert scaled * factor**power == pytest.approx(kernel().fit(X).gamma_, rel=1e-12)


def test_the_median_rule_does_not_depend_on_the_origin():
    X = rows_of(15)
    assert RBF().fit(X + 1e6).gamma_ == pytest.approx(RBF().fit(X).gamma_, rel=1e-8)


def test_float32_rows_give_a_plain_float():
    gamma = RBF().fit(rows_of(15).astype(np.float32)).gamma_
    assert type(gamma) is float
    assert gamma == pytest.approx(RBF().fit(rows_of(15)).gamma_, rel=1e-6)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool])
@pytest.mark.parametrize("gamma", ["median", "scale"])
def test_whole_numbers_are_read_as_floats(dtype, gamma):
    X = np.abs(10 * rows_of(9)).astype(dtype)
    X[::3] = 0
    assert RBF(gamma=gamma).fit(X).gamma_ == RBF(gamma=gamma).fit(X.astype(float)).gamma_


def test_a_number_stays_as_it_is():
    assert RBF(gamma=0.3).fit(rows_of(5)).gamma_ == 0.3


def test_fit_leaves_the_rows_and_the_parameter_alone():
    X = rows_of(9)
    before = X.copy()
    kernel = RBF().fit(X)
    assert kernel.gamma == "median"
    np.testing.assert_array_equal(X, before)


def test_fitting_again_learns_from_the_new_rows():
    kernel = RBF().fit(rows_of(9))
    assert kernel.fit(2 * rows_of(9)).gamma_ == pytest.approx(RBF().fit(rows_of(9)).gamma_ / 4)


# -- many rows -------------------------------------------------------------------------------------------------------


@pytest.fixture
def few_rows_are_many(monkeypatch):
    monkeypatch.setattr(_bandwidth, "EXACT_MEDIAN_ROWS", 200)
    monkeypatch.setattr(_bandwidth, "SAMPLED_PAIRS", 10_000)


# With 141 sampled rows the median of normal data is good to about its spread over sqrt(141), some percent.
SAMPLING = 0.1


@pytest.mark.usefixtures("few_rows_are_many")
@pytest.mark.parametrize("kernel", [RBF, Laplacian])
def test_many_rows_are_sampled_and_the_median_stays_close(kernel):
    X = rows_of(600)
    exact = {RBF: 1 / (2 * np.median(pdist(X)) ** 2), Laplacian: 1 / np.median(pdist(X, "cityblock"))}[kernel]
    sampled = kernel().fit(X).gamma_
    assert sampled != exact
    assert sampled == pytest.approx(exact, rel=SAMPLING)


@pytest.mark.usefixtures("few_rows_are_many")
def test_the_sample_is_the_same_every_time_whatever_the_global_seed():
    X = rows_of(600)
    first = RBF().fit(X).gamma_
    np.random.seed(7)  # noqa: NPY002  the global state must not matter
    assert RBF().fit(X).gamma_ == first


@pytest.mark.usefixtures("few_rows_are_many")
def test_sampling_leaves_the_global_random_state_alone():
    np.random.seed(7)  # noqa: NPY002  it is the global state that is looked at
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(7)  # noqa: NPY002
    RBF().fit(rows_of(600))
    assert np.random.random() == expected  # noqa: NPY002


@pytest.mark.usefixtures("few_rows_are_many")
def test_sparse_rows_are_sampled_as_dense_rows_are():
    X = rows_of(600)
    assert RBF().fit(sparse.csr_array(X)).gamma_ == pytest.approx(RBF().fit(X).gamma_, rel=ANOTHER_ROUTE)


@pytest.mark.usefixtures("few_rows_are_many")
def test_rows_up_to_the_limit_are_exact():
    X = rows_of(200)
    assert RBF().fit(X).gamma_ == 1 / (2 * np.median(pdist(X)) ** 2)


def test_the_sample_fits_into_the_smallest_set_of_rows_that_is_sampled():
    assert np.sqrt(2 * _bandwidth.SAMPLED_PAIRS) <= _bandwidth.EXACT_MEDIAN_ROWS


# -- wide rows ---------------------------------------------------------------------------------------------------------

# Differences, summed in another order.
LAST_DIGITS = 1e-14


def wide_sets():
    rng = np.random.default_rng(2)
    cloud = rng.normal(size=(101, 80))
    outlier = cloud.copy()
    outlier[3] *= 1e7
    return {
        "a cloud, an even number of pairs": cloud,
        "an odd number of pairs": cloud[:99],
        "three rows": cloud[:3],
        "two rows": cloud[:2],
        "off the origin": cloud + 1e5,
        "two clusters far apart": np.vstack([cloud[:50], cloud[50:] + 1e4]),
        "two clusters at the ends of the digits": np.vstack([cloud[:50], cloud[50:] + 1e9]),
        "one outlier": outlier,
        "whole numbers, full of ties": rng.integers(0, 2, size=(101, 80)).astype(float),
        "two distances only": np.eye(100)[np.arange(100) % 40],
        "huge": 1e150 * cloud,
        "tiny": 1e-150 * cloud,
    }


OUT_OF_SINGLE = ("huge", "tiny")


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, np.float64) for name in wide_sets()]
    + [(name, np.float32) for name in wide_sets() if name not in OUT_OF_SINGLE],
)
def test_the_median_of_wide_rows_is_that_of_differences(name, dtype):
    X = wide_sets()[name].astype(dtype)
    assert _bandwidth.median_distance(X) == pytest.approx(np.median(pdist(X)), rel=LAST_DIGITS)


def test_differences_are_taken_of_pairs_near_the_median_only(monkeypatch):
    taken = []

    def counted(A, rows, B, columns):
        taken.append(len(rows))
        return squared_distances(A, rows, B, columns)

    monkeypatch.setattr(_bandwidth, "squared_distances", counted)
    X = rows_of(600, 300)
    assert _bandwidth.median_distance(X) == pytest.approx(np.median(pdist(X)), rel=LAST_DIGITS)
    assert 0 < sum(taken) < 600 * 599 / 2 / 100


def test_single_precision_gives_way_to_double_where_it_has_too_few_digits(monkeypatch):
    tried = []

    class Products(ProductDistances):
        def __init__(self, points, dtype):
            tried.append(np.dtype(dtype))
            super().__init__(points, dtype)

    monkeypatch.setattr(_bandwidth, "ProductDistances", Products)
    X = np.vstack([rows_of(150, 80), rows_of(90, 80, seed=1) + 1e4])  # more than half of the pairs are inside
    assert _bandwidth.median_distance(X) == pytest.approx(np.median(pdist(X)), rel=LAST_DIGITS)
    assert tried == [np.float32, np.float64]


def test_equal_wide_rows_have_no_median():
    X = np.vstack([np.repeat(rows_of(1, 80), 60, axis=0), rows_of(10, 80)]) + 3
    with pytest.raises(
        ValueError, match=r"gamma='median' has no value.*the median distance between the rows of X is 0"
    ):
        RBF().fit(X)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("n", [40, 41, 130])
def test_threads_take_the_same_differences(monkeypatch, metric, n):
    X = rows_of(n)
    alone = _bandwidth.median_distance(X, metric)
    monkeypatch.setattr(_bandwidth, "_FEW_ROWS", 10)
    monkeypatch.setattr(_bandwidth, "allowed_threads", lambda: 2)
    assert _bandwidth.median_distance(X, metric) == alone


@pytest.fixture
def few_differences_are_many(monkeypatch):
    monkeypatch.setattr(_bandwidth, "CITY_BLOCK_DIFFERENCES", 100_000)
    monkeypatch.setattr(_bandwidth, "CITY_BLOCK_SAMPLED", 60_000)


# A median of 2,000 distances whose spread is a tenth of them is good to about 0.1 / sqrt(2,000).
SAMPLED_PAIRS_ERROR = 0.01


@pytest.mark.usefixtures("few_differences_are_many")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_city_block_median_of_wide_rows_comes_from_a_sample_of_pairs(dtype):
    X = rows_of(300, 30).astype(dtype)
    exact, sampled = np.median(pdist(X, "cityblock")), _bandwidth.median_distance(X, "manhattan")
    assert sampled != exact
    assert sampled == pytest.approx(exact, rel=SAMPLED_PAIRS_ERROR)
    assert _bandwidth.median_distance(X, "manhattan") == sampled


@pytest.mark.usefixtures("few_differences_are_many")
def test_every_row_counts_as_often_in_the_sample_of_pairs():
    # Sorted by class, one class in twenty far away: neighbors in the order of the rows would never meet the other.
    X = np.repeat([[0.0], [1.0]], [380, 20], axis=0) * np.ones((400, 30)) + 1e-3 * rows_of(400, 30)
    distances = _bandwidth._sampled_city_block(X)
    share = 2 * 380 * 20 / (400 * 399)  # of pairs of different classes
    assert np.mean(distances > 15) == pytest.approx(share, rel=0.2)  # 190 of 2,000, give or take 13


@pytest.mark.usefixtures("few_differences_are_many")
def test_fewer_city_block_differences_are_all_taken():
    X = rows_of(60, 30)
    assert _bandwidth.median_distance(X, "manhattan") == np.median(pdist(X, "cityblock"))


# -- where a rule has no value -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [RBF, Laplacian])
def test_the_median_rule_needs_less_than_half_of_the_pairs_to_be_equal(kernel):
    X = np.vstack([np.zeros((30, 2)), rows_of(8, 2)])
    with pytest.raises(ValueError, match=r"gamma='median' has no value.*Give gamma a number, or drop duplicate rows"):
        kernel().fit(X)


def test_the_median_rule_has_a_value_where_fewer_pairs_are_equal():
    X = np.vstack([np.zeros((5, 2)), rows_of(20, 2)])
    assert RBF().fit(X).gamma_ == 1 / (2 * np.median(pdist(X)) ** 2)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_the_scale_rule_needs_entries_that_differ(container):
    with pytest.raises(ValueError, match=r"gamma='scale' has no value.*Give gamma a number"):
        RBF(gamma="scale").fit(container(np.full((5, 2), 3.0)))


@pytest.mark.parametrize("kernel", [RBF, Laplacian])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_one_row_has_no_pairs_and_so_no_median(kernel, container):
    with pytest.raises(ValueError, match="gamma='median' has no value"):
        kernel().fit(container(np.ones((1, 2))))


def test_the_rule_inside_a_wrapper_is_the_same():
    X = rows_of(12)
    assert Normalized(RBF()).fit(X).kernel_.gamma_ == RBF().fit(X).gamma_
