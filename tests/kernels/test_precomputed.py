"""A kernel matrix that the user brings."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from semikpca import ConvexKernelPCA, LSSVMClassifier, LSSVMRegressor, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.exceptions import IndefiniteKernelError
from semikpca.kernels import RBF, Precomputed

# The same matrix, computed in another order of operations, then one solve.
SAME_MATRIX = 1e-10

generator = np.random.default_rng(3)
X = np.vstack([generator.normal(size=(15, 3)) - 2, generator.normal(size=(15, 3)) + 2])
K = rbf_kernel(X, gamma=0.1)
K_NEW = rbf_kernel(X[:4] + 0.1, X, gamma=0.1)
TRUTH = np.repeat([0, 1], 15)
Y = np.full(30, -1)
Y[[0, 1, 15, 16]] = TRUTH[[0, 1, 15, 16]]

CLASSIFIERS = [SemiKPCAClassifier, SemiLSSVMClassifier, LSSVMClassifier]


def labels_for(estimator):
    return Y if hasattr(estimator, "fit_predict") else TRUTH


# -- the kernel --------------------------------------------------------------------------------------------------------


def test_pairwise_gives_back_the_rows():
    np.testing.assert_array_equal(Precomputed().fit(K).pairwise(K_NEW, K), K_NEW)


def test_diag_is_the_diagonal_of_the_matrix():
    np.testing.assert_array_equal(Precomputed().fit(K).diag(K), np.diagonal(K))


def test_what_comes_back_may_be_overwritten():
    given = K.copy()
    kernel = Precomputed().fit(given)
    kernel.pairwise(given, given)[:] = 0
    kernel.diag(given)[:] = 0
    np.testing.assert_array_equal(given, K)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floats_keep_their_type(dtype):
    assert Precomputed().fit(K.astype(dtype)).pairwise(K_NEW.astype(dtype), K).dtype == dtype


def test_whole_numbers_become_floats():
    whole = np.diag([3, 2, 1])
    values = Precomputed().fit(whole).pairwise(whole, whole)
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, whole)


def test_nested_lists_are_read():
    np.testing.assert_array_equal(Precomputed().fit(K.tolist()).pairwise(K_NEW.tolist(), K.tolist()), K_NEW)


def test_it_clones_and_prints():
    assert repr(clone(Precomputed())) == "Precomputed()"


@pytest.mark.parametrize("shape", [(30, 29), (29, 30), (30,)])
def test_a_matrix_that_is_not_square_is_refused_with_its_shape(shape):
    with pytest.raises(ValueError, match=r"must be square.*Pass k\(x_i, x_j\)") as caught:
        Precomputed().fit(np.zeros(shape))
    assert str(shape) in str(caught.value)


def test_a_matrix_that_is_not_symmetric_is_refused_with_the_worst_pair():
    wrong = K.copy()
    wrong[2, 5] += 0.25
    with pytest.raises(ValueError, match=r"must be symmetric.*Pass \(K \+ K\.T\) / 2") as caught:
        Precomputed().fit(wrong)
    assert f"K[2, 5] = {wrong[2, 5]:.6g}" in str(caught.value)
    assert f"K[5, 2] = {wrong[5, 2]:.6g}" in str(caught.value)


def test_rounding_does_not_make_a_matrix_asymmetric():
    noise = np.random.default_rng(0).normal(size=K.shape)
    Precomputed().fit(K * (1 + 1e-12 * noise))
    Precomputed().fit((K * (1 + 1e-7 * noise)).astype(np.float32))


def test_symmetry_counts_relative_to_the_size_of_the_entries():
    wrong = K.copy()
    wrong[2, 5] += 0.25
    with pytest.raises(ValueError, match="must be symmetric"):
        Precomputed().fit(1e-12 * wrong)


def test_whole_numbers_can_be_asymmetric_too():
    with pytest.raises(ValueError, match="must be symmetric"):
        Precomputed().fit(np.array([[2, 1], [0, 2]]))


def test_new_rows_need_a_value_for_each_training_row():
    with pytest.raises(ValueError, match=r"each of the 30 training rows.*\(4, 29\)"):
        Precomputed().fit(K).pairwise(K_NEW[:, :29], K)


# -- in a model --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_a_given_matrix_gives_what_its_kernel_gives(make):
    given = make("precomputed").fit(K, labels_for(make()))
    by_name = make(RBF(gamma=0.1)).fit(X, labels_for(make()))
    np.testing.assert_allclose(given.decision_, by_name.decision_, atol=SAME_MATRIX)
    np.testing.assert_allclose(given.decision_function(K_NEW), by_name.decision_function(X[:4] + 0.1), atol=SAME_MATRIX)


def test_projections_of_a_given_matrix_are_those_of_its_kernel():
    given = ConvexKernelPCA(kernel="precomputed", center=True).fit(K)
    by_name = ConvexKernelPCA(kernel=RBF(gamma=0.1), center=True).fit(X)
    np.testing.assert_allclose(given.transform(K_NEW), by_name.transform(X[:4] + 0.1), atol=SAME_MATRIX)


def test_a_regression_on_a_given_matrix_is_that_of_its_kernel():
    given = LSSVMRegressor("precomputed").fit(K, X[:, 0])
    by_name = LSSVMRegressor(RBF(gamma=0.1)).fit(X, X[:, 0])
    np.testing.assert_allclose(given.predict(K_NEW), by_name.predict(X[:4] + 0.1), atol=SAME_MATRIX)


@pytest.mark.parametrize("make", [*CLASSIFIERS, LSSVMRegressor, ConvexKernelPCA])
def test_the_given_matrix_is_never_modified(make):
    given, new = K.copy(), K_NEW.copy()
    given.flags.writeable = new.flags.writeable = False
    model = make(kernel="precomputed").fit(given, labels_for(make()))
    model.transform(new) if hasattr(model, "transform") else model.predict(new)
    np.testing.assert_array_equal(given, K)


@pytest.mark.parametrize("make", [*CLASSIFIERS, LSSVMRegressor, ConvexKernelPCA])
def test_an_indefinite_matrix_is_refused_with_how_negative_it_is(make):
    smallest, largest = np.linalg.eigvalsh(K - 2 * np.eye(30))[[0, -1]]
    with pytest.raises(IndefiniteKernelError, match="Use a positive semi-definite kernel, or shift") as caught:
        make(kernel="precomputed").fit(K - 2 * np.eye(30), labels_for(make()))
    assert f"{smallest:.6g}" in str(caught.value)
    assert caught.value.smallest_eigenvalue == pytest.approx(smallest)
    assert caught.value.largest_eigenvalue == pytest.approx(largest)


def test_the_shift_that_the_message_names_makes_the_matrix_definite():
    indefinite = K - 2 * np.eye(30)
    with pytest.raises(IndefiniteKernelError) as caught:
        SemiKPCAClassifier("precomputed").fit(indefinite, Y)
    shifted = indefinite - caught.value.smallest_eigenvalue * np.eye(30)
    SemiKPCAClassifier("precomputed").fit(shifted, Y)


def test_distances_in_place_of_similarities_are_refused():
    distances = np.sqrt(((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    with pytest.raises(IndefiniteKernelError):
        SemiKPCAClassifier("precomputed").fit(distances, Y)


def test_a_matrix_with_a_negative_diagonal_is_refused():
    wrong = K.copy()
    wrong[3, 3] = -1
    with pytest.raises(IndefiniteKernelError):
        SemiKPCAClassifier("precomputed").fit(wrong, Y)


def test_a_singular_matrix_is_not_taken_for_an_indefinite_one():
    features = np.round(X)
    SemiLSSVMClassifier("precomputed").fit(features @ features.T, Y)


@pytest.mark.parametrize("make", [SemiLSSVMClassifier, LSSVMClassifier])
def test_the_zero_matrix_is_not_taken_for_an_indefinite_one(make):
    model = make("precomputed", fit_intercept=False).fit(np.zeros((30, 30)), labels_for(make()))
    np.testing.assert_array_equal(model.decision_, np.zeros(30))


@pytest.mark.parametrize("make", [*CLASSIFIERS, LSSVMRegressor, ConvexKernelPCA])
def test_a_sparse_matrix_is_refused_with_a_way_out(make):
    with pytest.raises(TypeError, match=r"[Ss]parse data.*toarray"):
        make(kernel="precomputed").fit(sparse.csr_array(K), labels_for(make()))


@pytest.mark.parametrize("make", CLASSIFIERS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(make, value):
    wrong = K.copy()
    wrong[3, 4] = wrong[4, 3] = value
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        make("precomputed").fit(wrong, labels_for(make()))
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        make("precomputed").fit(K, labels_for(make())).predict(wrong)


@pytest.mark.parametrize("make", CLASSIFIERS)
@pytest.mark.parametrize("rows", [K_NEW[:, :29], K_NEW[:, :29].tolist()], ids=["array", "lists"])
def test_new_rows_of_the_wrong_width_are_refused_with_both_widths(make, rows):
    with pytest.raises(ValueError, match=r"29 features.*30.*one kernel value for each training row"):
        make("precomputed").fit(K, labels_for(make())).predict(rows)


def test_a_given_matrix_has_no_pre_images():
    model = ConvexKernelPCA(kernel="precomputed").fit(K)
    with pytest.raises(ValueError, match="needs rows that are vectors"):
        model.inverse_transform(np.zeros((1, 2)))
