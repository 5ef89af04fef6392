"""ConvexKernelPCA: projections, the way back, and the convexity statement of every component."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import NotFittedError

from semikpca import ConvexKernelPCA
from semikpca.convexity import Regime
from semikpca.exceptions import KernelRankError
from semikpca.kernels import RBF, Cosine, Linear, Normalized, Polynomial

# Two eigensolvers on the same matrix; projections of size one agree to this where eigenvalues stand apart.
PROJECTION_TOLERANCE = 1e-8
# Two formulas for the same projections of the same model.
ROUNDING = 1e-10
# A regression with a large error weight follows its targets to this, relative to the data.
RECONSTRUCTION_TOLERANCE = 1e-3
# Single precision has seven digits, less what eigenvectors lose to the gap between eigenvalues.
SINGLE_PRECISION_TOLERANCE = 1e-3
# The smallest eigenvalues of an RBF matrix of twelve rows are a ten-thousandth of the largest, known to fewer digits.
BOUND_TOLERANCE = 1e-8
# "Comparable": the two pre-image regressions differ by a bias term only.
COMPARABLE = 1.05

GAMMA = 0.2

# Our kernel and scikit-learn's parameters for the same one.
KERNELS = {
    "rbf": (RBF(gamma=GAMMA), {"kernel": "rbf", "gamma": GAMMA}),
    "linear": (Linear(), {"kernel": "linear"}),
    "poly": (
        Polynomial(degree=3, gamma=GAMMA, coef0=1.0),
        {"kernel": "poly", "degree": 3, "gamma": GAMMA, "coef0": 1.0},
    ),
    "cosine": (Cosine(), {"kernel": "cosine"}),
}

with_every_kernel = pytest.mark.parametrize("name", KERNELS)


def rows(n=40, n_features=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n_features)) * np.linspace(2.0, 0.5, n_features) + 0.3


@pytest.fixture(name="X")
def training_rows():
    return rows()


@pytest.fixture(name="X_new")
def new_rows():
    return rows(n=15, seed=1)


def rbf_matrix(A, B):
    return np.exp(-GAMMA * ((A[:, np.newaxis] - B) ** 2).sum(axis=2))


def with_signs_of(values, reference):
    return values * np.sign((values * reference).sum(axis=0))


# -- the same as scikit-learn ------------------------------------------------------------------------------------


@with_every_kernel
def test_centered_projections_are_those_of_scikit_learn(X, X_new, name):
    kernel, parameters = KERNELS[name]
    ours = ConvexKernelPCA(n_components=3, kernel=kernel, center=True)
    theirs = KernelPCA(n_components=3, eigen_solver="dense", **parameters)
    projections, expected = ours.fit_transform(X), theirs.fit_transform(X)
    np.testing.assert_allclose(with_signs_of(projections, expected), expected, atol=PROJECTION_TOLERANCE)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=ROUNDING)
    signs = np.sign((projections * expected).sum(axis=0))
    np.testing.assert_allclose(ours.transform(X_new) * signs, theirs.transform(X_new), atol=PROJECTION_TOLERANCE)


def test_centered_projections_of_a_given_matrix_are_those_of_scikit_learn(X, X_new):
    K, K_new = rbf_matrix(X, X), rbf_matrix(X_new, X)
    ours = ConvexKernelPCA(n_components=3, kernel="precomputed", center=True).fit(K)
    theirs = KernelPCA(n_components=3, kernel="precomputed", eigen_solver="dense").fit(K)
    expected, expected_new = theirs.transform(K), theirs.transform(K_new)
    signs = np.sign((ours.transform(K) * expected).sum(axis=0))
    np.testing.assert_allclose(ours.transform(K) * signs, expected, atol=PROJECTION_TOLERANCE)
    np.testing.assert_allclose(ours.transform(K_new) * signs, expected_new, atol=PROJECTION_TOLERANCE)


def test_large_data_give_the_projections_of_scikit_learn():
    X = rows(n=450, n_features=3, seed=2)
    ours = ConvexKernelPCA(n_components=3, kernel=RBF(gamma=GAMMA), center=True).fit(X)
    theirs = KernelPCA(n_components=3, kernel="rbf", gamma=GAMMA, eigen_solver="dense")
    expected = theirs.fit_transform(X)
    np.testing.assert_allclose(with_signs_of(ours.transform(X), expected), expected, atol=PROJECTION_TOLERANCE)


def test_the_centered_linear_kernel_gives_plain_pca(X, X_new):
    ours = ConvexKernelPCA(n_components=2, kernel="linear", center=True).fit(X)
    theirs = PCA(n_components=2).fit(X)
    expected = theirs.transform(X_new)
    np.testing.assert_allclose(with_signs_of(ours.transform(X_new), expected), expected, atol=PROJECTION_TOLERANCE)


def test_a_given_matrix_gives_the_projections_of_its_kernel(X, X_new):
    for center in (False, True):
        by_kernel = ConvexKernelPCA(n_components=3, kernel=RBF(gamma=GAMMA), center=center).fit(X)
        by_matrix = ConvexKernelPCA(n_components=3, kernel="precomputed", center=center).fit(rbf_matrix(X, X))
        np.testing.assert_allclose(
            by_matrix.transform(rbf_matrix(X_new, X)), by_kernel.transform(X_new), atol=PROJECTION_TOLERANCE
        )


def test_a_function_gives_the_projections_of_its_kernel(X, X_new):
    by_function = ConvexKernelPCA(n_components=2, kernel=rbf_matrix, center=True).fit(X)
    by_kernel = ConvexKernelPCA(n_components=2, kernel=RBF(gamma=GAMMA), center=True).fit(X)
    np.testing.assert_allclose(by_function.transform(X_new), by_kernel.transform(X_new), atol=PROJECTION_TOLERANCE)


# -- projections -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [False, True])
@with_every_kernel
def test_fitting_and_projecting_at_once_is_the_same(X, name, center):
    kernel, _ = KERNELS[name]
    model = ConvexKernelPCA(n_components=3, kernel=kernel, center=center)
    at_once = model.fit_transform(X)
    assert at_once.shape == (len(X), 3)
    np.testing.assert_allclose(clone(model).fit(X).transform(X), at_once, atol=ROUNDING * np.abs(at_once).max())


@pytest.mark.parametrize("center", [False, True])
def test_eigenpairs_are_those_of_the_kernel_matrix(X, center):
    K = rbf_matrix(X, X)
    if center:
        H = np.eye(len(X)) - 1 / len(X)
        K = H @ K @ H
    model = ConvexKernelPCA(n_components=4, kernel=RBF(gamma=GAMMA), center=center).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(K)[:-5:-1], rtol=ROUNDING)
    np.testing.assert_allclose(K @ model.eigenvectors_, model.eigenvectors_ * model.eigenvalues_, atol=ROUNDING)
    np.testing.assert_allclose(model.eigenvectors_.T @ model.eigenvectors_, np.eye(4), atol=ROUNDING)


def test_the_paper_does_not_center():
    assert ConvexKernelPCA().center is False


def test_the_projections_do_not_depend_on_the_number_kept(X, X_new):
    few = ConvexKernelPCA(n_components=2).fit(X).transform(X_new)
    many = ConvexKernelPCA(n_components=6).fit(X).transform(X_new)
    np.testing.assert_allclose(many[:, :2], few, atol=ROUNDING)


def test_the_largest_entry_of_every_eigenvector_is_positive(X):
    V = ConvexKernelPCA(n_components=6).fit(X).eigenvectors_
    largest = V[np.abs(V).argmax(axis=0), np.arange(6)]
    assert (largest > 0).all()


@pytest.mark.parametrize("n", [40, 400])
def test_signs_are_the_same_every_time_and_in_every_order_of_the_rows(n):
    X = rows(n=n, seed=3)
    first = ConvexKernelPCA(n_components=3).fit_transform(X)
    np.testing.assert_array_equal(ConvexKernelPCA(n_components=3).fit_transform(X.copy()), first)
    order = np.random.default_rng(4).permutation(n)
    permuted = ConvexKernelPCA(n_components=3).fit_transform(X[order])
    np.testing.assert_allclose(permuted, first[order], atol=PROJECTION_TOLERANCE)


def test_pandas_comes_out_where_pandas_is_asked_for(X):
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(100, 140))
    model = ConvexKernelPCA(n_components=2).set_output(transform="pandas")
    for projections in (model.fit_transform(frame), model.transform(frame)):
        assert isinstance(projections, pd.DataFrame)
        assert projections.columns.tolist() == ["convexkernelpca0", "convexkernelpca1"]
        assert projections.index.equals(frame.index)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.inverse_transform(model.transform(frame)).shape == (40, 4)


def test_single_precision_stays_single_precision(X):
    model = ConvexKernelPCA(n_components=2).fit(X.astype(np.float32))
    projections = model.transform(X.astype(np.float32))
    assert projections.dtype == np.float32
    in_double = ConvexKernelPCA(n_components=2).fit_transform(X)
    np.testing.assert_allclose(projections, in_double, atol=SINGLE_PRECISION_TOLERANCE)


@pytest.mark.parametrize("name", ["rbf", "linear", "cosine"])
def test_sparse_rows_give_the_same_projections(X, name):
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    kernel, _ = KERNELS[name]
    dense = ConvexKernelPCA(n_components=2, kernel=kernel, center=True).fit(X).transform(X)
    by_sparse = ConvexKernelPCA(n_components=2, kernel=kernel, center=True).fit(sparse.csr_array(X))
    np.testing.assert_allclose(by_sparse.transform(sparse.csr_array(X)), dense, atol=PROJECTION_TOLERANCE)


def test_the_given_rows_stay_as_they_were(X):
    before = X.copy()
    model = ConvexKernelPCA(kernel="precomputed", center=True)
    K = rbf_matrix(X, X)
    kept = K.copy()
    model.fit(K).transform(K)
    np.testing.assert_array_equal(K, kept)
    ConvexKernelPCA(center=True).fit(X).transform(X)
    np.testing.assert_array_equal(X, before)


def test_nothing_is_projected_before_fit(X):
    for method in ("transform", "inverse_transform"):
        with pytest.raises(NotFittedError):
            getattr(ConvexKernelPCA(), method)(X)
    for method in (lambda m: m.certificate(0), lambda m: m.regime(0.1, 0), lambda m: m.objective(X[:, 0], 0.1, 0)):
        with pytest.raises(NotFittedError):
            method(ConvexKernelPCA())


def test_fitting_again_forgets_the_first_rows(X):
    model = ConvexKernelPCA(n_components=2).fit(X)
    model.inverse_transform(model.transform(X))
    other = rows(n=25, seed=5)
    model.fit(other)
    fresh = ConvexKernelPCA(n_components=2).fit(other)
    np.testing.assert_array_equal(model.transform(X), fresh.transform(X))
    np.testing.assert_array_equal(model.inverse_transform([[0.1, 0.2]]), fresh.inverse_transform([[0.1, 0.2]]))
    assert model.certificate(4) == fresh.certificate(4)


# -- how many components -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [False, True])
def test_without_a_number_the_rank_is_kept(X, center):
    model = ConvexKernelPCA(n_components=None, kernel="linear", center=center).fit(X)
    assert model.eigenvalues_.shape == (4,)
    assert model.transform(X).shape == (len(X), 4)
    assert model.get_feature_names_out().tolist() == [f"convexkernelpca{i}" for i in range(4)]


def test_without_a_number_all_products_between_rows_are_kept(X):
    projections = ConvexKernelPCA(n_components=None, kernel=RBF(gamma=1.0)).fit_transform(X)
    np.testing.assert_allclose(projections @ projections.T, RBF(gamma=1.0)(X), atol=ROUNDING)


def test_more_components_than_rows_are_refused_in_words_that_fit(X):
    with pytest.raises(ValueError, match="n_components=41") as caught:
        ConvexKernelPCA(n_components=41).fit(X)
    # What is wrong is the number of components to keep; nothing was to be removed.
    assert "n_components_removed" not in str(caught.value)
    assert "40" in str(caught.value)


def test_components_beyond_the_rank_are_not_invented(X):
    model = ConvexKernelPCA(n_components=10, kernel="linear").fit(X)
    assert model.transform(X).shape == (len(X), 4)
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("n_components", [0, -1, 1.5, "two", True])
def test_a_number_of_components_that_is_none_is_refused(X, n_components):
    with pytest.raises(ValueError, match="n_components must be a whole number"):
        ConvexKernelPCA(n_components=n_components).fit(X)


def test_numpy_integers_count_components(X):
    assert ConvexKernelPCA(n_components=np.int64(3)).fit_transform(X).shape == (40, 3)


# -- the way back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [False, True])
def test_rows_in_a_plane_come_back_from_two_linear_components(center):
    generator = np.random.default_rng(6)
    directions = np.linalg.qr(generator.normal(size=(5, 2)))[0]
    coordinates = generator.normal(size=(50, 2)) * [2.0, 1.0]
    X = coordinates @ directions.T
    model = ConvexKernelPCA(n_components=2, kernel="linear", center=center, inverse_error_weight=1e6).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=RECONSTRUCTION_TOLERANCE)
    fresh = generator.normal(size=(5, 2)) @ directions.T
    np.testing.assert_allclose(model.inverse_transform(model.transform(fresh)), fresh, atol=RECONSTRUCTION_TOLERANCE)


def noisy_circle(n=120, seed=7):
    generator = np.random.default_rng(seed)
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    clean = np.column_stack([np.cos(angles), np.sin(angles)])
    return clean, clean + 0.15 * generator.normal(size=(n, 2))


@pytest.mark.parametrize("error_weight", [1.0, 10.0, 1000.0])
def test_the_way_back_is_as_good_as_that_of_scikit_learn(error_weight):
    clean, noisy = noisy_circle()
    gamma = 1.0
    ours = ConvexKernelPCA(4, RBF(gamma=gamma), center=True, inverse_error_weight=error_weight).fit(noisy)
    theirs = KernelPCA(4, kernel="rbf", gamma=gamma, fit_inverse_transform=True, alpha=1 / error_weight).fit(noisy)
    _, unseen = noisy_circle(seed=8)
    for rows_given, truth in ((noisy, clean), (unseen, clean)):
        back = ours.inverse_transform(ours.transform(rows_given))
        back_by_theirs = theirs.inverse_transform(theirs.transform(rows_given))
        error, error_of_theirs = (np.sqrt(np.mean((b - truth) ** 2)) for b in (back, back_by_theirs))
        assert error <= COMPARABLE * error_of_theirs


def test_the_way_back_takes_noise_away():
    _, noisy = noisy_circle()
    model = ConvexKernelPCA(4, RBF(gamma=1.0), center=True, inverse_error_weight=10.0).fit(noisy)
    back = model.inverse_transform(model.transform(noisy))
    distances, distances_before = (np.abs(np.linalg.norm(rows_, axis=1) - 1) for rows_ in (back, noisy))
    assert distances.mean() < 0.75 * distances_before.mean()


@pytest.mark.parametrize("name", KERNELS)
def test_the_way_back_from_every_kernel_has_the_shape_of_the_rows(X, name):
    model = ConvexKernelPCA(n_components=3, kernel=KERNELS[name][0]).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert back.shape == X.shape
    assert np.isfinite(back).all()


def test_the_way_back_from_sparse_rows_is_dense(X):
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    by_sparse = ConvexKernelPCA(n_components=3).fit(sparse.csr_array(X))
    by_dense = ConvexKernelPCA(n_components=3).fit(X)
    Z = by_dense.transform(X)
    np.testing.assert_allclose(by_sparse.inverse_transform(Z), by_dense.inverse_transform(Z), atol=PROJECTION_TOLERANCE)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_a_wrong_number_of_columns_cannot_go_back(X, n_columns):
    model = ConvexKernelPCA(n_components=2).fit(X)
    with pytest.raises(ValueError, match=f"must have 2 columns, one a component, got {n_columns}"):
        model.inverse_transform(np.zeros((4, n_columns)))


def test_there_is_no_way_back_from_a_given_matrix(X):
    model = ConvexKernelPCA(kernel="precomputed").fit(rbf_matrix(X, X))
    with pytest.raises(ValueError, match="vectors"):
        model.inverse_transform(np.zeros((1, 2)))


def test_there_is_no_way_back_from_objects():
    words = ["abc", "abf", "xyz", "xya", "bcd"]
    model = ConvexKernelPCA(1, kernel=lambda a, b: float(len(set(a) & set(b)))).fit(words)
    assert model.transform(words).shape == (5, 1)
    with pytest.raises(ValueError, match="objects"):
        model.inverse_transform(np.zeros((1, 1)))


@pytest.mark.parametrize("error_weight", [0, -1.0, np.nan, "large", None])
def test_a_bad_weight_of_the_way_back_is_named(X, error_weight):
    model = ConvexKernelPCA(inverse_error_weight=error_weight)
    with pytest.raises(ValueError, match="inverse_error_weight"):
        model.fit(X).inverse_transform(np.zeros((1, 2)))


# -- the convexity of every component ----------------------------------------------------------------------------


@pytest.mark.parametrize("center", [False, True])
def test_every_component_has_a_certificate_however_few_are_kept(X, center):
    X = X[:12]
    K = rbf_matrix(X, X)
    if center:
        H = np.eye(12) - 1 / 12
        K = H @ K @ H
    values = np.linalg.eigvalsh(K)[::-1]
    rank = 11 if center else 12
    model = ConvexKernelPCA(n_components=2, kernel=RBF(gamma=GAMMA), center=center).fit(X)
    for k in range(rank):
        certificate = model.certificate(k)
        assert certificate.n_components_removed == k
        assert certificate.error_weight_max == pytest.approx(1 / values[k], rel=BOUND_TOLERANCE)
        assert model.regime(0.9 / values[k], k) is Regime.TRIVIAL
        assert model.regime(1.1 / values[k], k) is Regime.UNBOUNDED
    assert model.eigenvalues_.shape == (2,)
    with pytest.raises(KernelRankError):
        model.certificate(rank)


@pytest.mark.parametrize("n", [40, 400])
@pytest.mark.parametrize("k", [4, 5, 39, 40, 399, 400, 1000])
def test_a_component_beyond_the_rank_has_no_certificate(n, k):
    model = ConvexKernelPCA(n_components=2, kernel="linear").fit(rows(n=n, seed=9))
    for method in (
        lambda: model.certificate(k),
        lambda: model.regime(0.1, k),
        lambda: model.objective(np.zeros(n), 0.1, k),
    ):
        with pytest.raises(KernelRankError) as caught:
            method()
        # The rank in the message is that of the matrix, not the number of components kept.
        assert caught.value.rank == 4
        assert (caught.value.requested, caught.value.n_samples) == (k, n)


@pytest.mark.parametrize("k", [-1, 0.5, "one", None, True])
def test_a_component_number_that_is_none_is_refused(X, k):
    with pytest.raises(ValueError, match="k must be a whole number"):
        ConvexKernelPCA().fit(X).certificate(k)


@pytest.mark.parametrize("center", [False, True])
def test_the_objective_is_that_of_problem_3(X, center):
    K = rbf_matrix(X, X)
    if center:
        H = np.eye(len(X)) - 1 / len(X)
        K = H @ K @ H
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1], vectors[:, ::-1]
    model = ConvexKernelPCA(n_components=2, kernel=RBF(gamma=GAMMA), center=center).fit(X)
    coefficients = np.random.default_rng(10).normal(size=len(X))
    for k in (0, 1, 4):
        # w = Σ c φ without ψ1 … ψk: its square norm and its products with the rows, by the spectrum.
        coordinates = vectors[:, k:].T @ coefficients
        square_norm = (values[k:] * coordinates**2).sum()
        errors = vectors[:, k:] @ (values[k:] * coordinates)
        expected = 0.5 * square_norm - 0.5 * 0.3 * (errors**2).sum()
        assert model.objective(coefficients, 0.3, k) == pytest.approx(expected, rel=ROUNDING)


def test_coefficients_need_one_entry_for_each_row(X):
    model = ConvexKernelPCA().fit(X)
    for shape in [(39,), (40, 1), ()]:
        with pytest.raises(ValueError, match="one entry for each of the 40 training rows"):
            model.objective(np.zeros(shape), 0.1, 0)


@pytest.mark.parametrize("weight", [0, -1.0, np.nan, np.inf, "middle", None, True])
def test_the_regime_needs_a_positive_error_weight(X, weight):
    with pytest.raises(ValueError, match="error_weight"):
        ConvexKernelPCA().fit(X).regime(weight, 0)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, "middle", None, True])
def test_the_objective_needs_an_error_weight_that_is_one(X, weight):
    with pytest.raises(ValueError, match="error_weight"):
        ConvexKernelPCA().fit(X).objective(np.ones(40), weight, 0)


# -- saved and loaded --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kernel", [RBF(), Normalized(RBF()), Polynomial()], ids=lambda kernel: type(kernel).__name__)
def test_everything_works_after_pickling(X, X_new, kernel, center):
    model = ConvexKernelPCA(n_components=2, kernel=kernel, center=center).fit(X)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.transform(X_new), model.transform(X_new))
    Z = model.transform(X_new)
    np.testing.assert_allclose(loaded.inverse_transform(Z), model.inverse_transform(Z), atol=ROUNDING)
    for k in (0, 1, 5):
        assert loaded.certificate(k) == model.certificate(k)
        assert loaded.regime(0.1, k) is model.regime(0.1, k)
        assert loaded.objective(X[:, 0], 0.1, k) == pytest.approx(model.objective(X[:, 0], 0.1, k), rel=ROUNDING)
    assert loaded.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()


def test_the_kernel_matrix_is_not_saved():
    X = rows(n=300, n_features=2, seed=11)
    assert len(pickle.dumps(ConvexKernelPCA(n_components=1).fit(X))) < 300 * 300


def test_a_fitted_model_clones_to_an_unfitted_one(X):
    model = ConvexKernelPCA(3, RBF(gamma=0.7), center=True, inverse_error_weight=5.0).fit(X)
    copied = clone(model)
    assert copied.get_params()["kernel__gamma"] == 0.7
    assert copied.get_params()["inverse_error_weight"] == 5.0
    assert not hasattr(copied, "eigenvalues_")
