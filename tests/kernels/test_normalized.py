"""The degree-normalized form of another kernel."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV

from semikpca import ConvexKernelPCA, LSSVMClassifier, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.kernels import RBF, Cosine, Laplacian, Linear, Normalized, Polynomial
from semikpca.operators import make_operator

# Sums over the rows and a division: a few roundings on values up to one.
ROUNDING = 1e-13

generator = np.random.default_rng(11)
X = np.vstack([generator.normal(size=(15, 3)) - 2, generator.normal(size=(15, 3)) + 2])
NEW = generator.normal(size=(5, 3))
TRUTH = np.repeat([0, 1], 15)
Y = np.full(30, -1)
Y[[0, 1, 15, 16]] = TRUTH[[0, 1, 15, 16]]


def degree_normalized(K):
    D = np.diag(K.sum(axis=1) ** -0.5)
    return D @ K @ D


def shared_bits(a, b):
    """A positive kernel of two whole numbers: the bits that both have, and one more."""
    return 1.0 + (a & b).bit_count()


def gaussian(A, B):
    return rbf_kernel(A, B, gamma=0.1)


# -- the formula -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inner", "K"),
    [
        (RBF(gamma=0.1), rbf_kernel(X, gamma=0.1)),
        (Laplacian(gamma=0.1), np.exp(-0.1 * np.abs(X[:, np.newaxis] - X).sum(axis=2))),
        (Polynomial(degree=2, gamma=0.1), (0.1 * X @ X.T + 1) ** 2),
        (gaussian, rbf_kernel(X, gamma=0.1)),
    ],
    ids=["RBF", "Laplacian", "Polynomial", "a function"],
)
def test_the_training_matrix_is_scaled_by_the_degrees_on_both_sides(inner, K):
    np.testing.assert_allclose(Normalized(inner).fit(X)(X), degree_normalized(K), atol=ROUNDING)


def test_a_name_stands_for_a_kernel_with_its_defaults():
    np.testing.assert_allclose(Normalized("rbf").fit(X)(X), degree_normalized(RBF().fit(X)(X)), atol=ROUNDING)
    assert Normalized().kernel == "rbf"


def test_the_largest_eigenvalue_is_one_with_the_roots_of_the_degrees_as_eigenvector():
    kernel = Normalized(RBF(gamma=0.1)).fit(X)
    eigenvalues, eigenvectors = np.linalg.eigh(kernel(X))
    assert eigenvalues[-1] == pytest.approx(1, abs=ROUNDING)
    roots = np.sqrt(rbf_kernel(X, gamma=0.1).sum(axis=1))
    assert abs(eigenvectors[:, -1] @ roots) == pytest.approx(np.linalg.norm(roots))


def test_new_rows_get_their_degree_against_the_training_rows():
    cross = rbf_kernel(NEW, X, gamma=0.1)
    expected = cross / np.sqrt(np.outer(cross.sum(axis=1), rbf_kernel(X, gamma=0.1).sum(axis=1)))
    np.testing.assert_allclose(Normalized(RBF(gamma=0.1)).fit(X).pairwise(NEW, X), expected, atol=ROUNDING)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_new_rows_equal_to_old_rows_get_identical_rows(container):
    rows, again = container(X), container(X.copy())
    kernel = Normalized(RBF(gamma=0.1)).fit(rows)
    np.testing.assert_allclose(kernel.pairwise(again, rows), kernel.pairwise(rows, rows), atol=ROUNDING)
    np.testing.assert_allclose(kernel.pairwise(again[3:5], rows), kernel.pairwise(rows, rows)[3:5], atol=ROUNDING)


def test_the_diagonal_is_the_value_over_the_degree():
    kernel = Normalized(RBF(gamma=0.1)).fit(X)
    np.testing.assert_allclose(kernel.diag(X), 1 / rbf_kernel(X, gamma=0.1).sum(axis=1), atol=ROUNDING)
    np.testing.assert_allclose(kernel.diag(NEW), 1 / rbf_kernel(NEW, X, gamma=0.1).sum(axis=1), atol=ROUNDING)


def test_more_rows_than_a_block_of_them_get_the_same_degrees():
    rows = np.random.default_rng(0).normal(size=(600, 2))
    expected = rbf_kernel(rows, gamma=0.1).sum(axis=1)
    np.testing.assert_allclose(Normalized(RBF(gamma=0.1)).fit(rows).degrees_, expected, rtol=1e-12)


def test_the_scale_of_the_kernel_inside_cancels():
    def tripled(A, B):
        return 3 * gaussian(A, B)

    np.testing.assert_allclose(
        Normalized(tripled).fit(X).pairwise(NEW, X), Normalized(gaussian).fit(X).pairwise(NEW, X), atol=ROUNDING
    )


def test_fitting_leaves_the_kernel_inside_as_it_was():
    inner = RBF()
    kernel = Normalized(inner).fit(X)
    assert kernel.kernel is inner
    assert not hasattr(inner, "gamma_")
    assert kernel.kernel_.gamma_ == RBF().fit(X).gamma_


def test_fitting_again_forgets_the_old_rows():
    kernel = Normalized(RBF(gamma=0.1)).fit(NEW).fit(X)
    np.testing.assert_array_equal(kernel(X), Normalized(RBF(gamma=0.1)).fit(X)(X))


# -- degrees -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inner", ["linear", "cosine", Linear(), Cosine(), linear_kernel], ids=lambda k: getattr(k, "__name__", str(k))
)
def test_degrees_must_be_positive_and_the_message_names_kernel_row_and_sum(inner):
    kernel = Normalized(inner)
    with pytest.raises(ValueError, match=r"needs positive degrees.*Use a kernel with positive values") as caught:
        kernel.fit(X)
    sums = kernel.kernel_.pairwise(X, X).sum(axis=1)
    assert f"row {np.argmin(sums)} sum to {sums.min():.6g}" in str(caught.value)
    assert repr(kernel.kernel_) in str(caught.value)


def test_a_zero_row_has_no_degree_under_the_cosine():
    rows = np.abs(X)
    rows[4] = 0
    with pytest.raises(ValueError, match="row 4 sum to 0"):
        Normalized("cosine").fit(rows)


def test_a_new_row_that_no_training_row_reaches_is_not_blamed_on_the_kernel():
    model = SemiKPCAClassifier(Normalized(RBF(gamma=1.0))).fit(X, Y)
    with pytest.raises(ValueError, match="row 1") as caught:
        model.predict([[0.0, 0.0, 0.0], [100.0, 100.0, 100.0]])
    # The kernel has positive values, and it is the one that the advice would name.
    assert "such as 'rbf'" not in str(caught.value)


@pytest.mark.parametrize("wrong", ["rfb", RBF, None, 3], ids=repr)
def test_something_else_than_a_kernel_inside_is_refused_by_value(wrong):
    with pytest.raises(ValueError, match="kernel must be") as caught:
        Normalized(wrong).fit(X)
    assert repr(wrong) in str(caught.value)


# -- over other kinds of rows ------------------------------------------------------------------------------------------


def test_it_works_over_functions_of_two_objects():
    numbers = [1, 3, 7, 15, 8, 24]
    K = np.array([[shared_bits(a, b) for b in numbers] for a in numbers])
    kernel = Normalized(shared_bits).fit(numbers)
    np.testing.assert_allclose(kernel(numbers), degree_normalized(K), atol=ROUNDING)
    np.testing.assert_allclose(kernel.pairwise([7], numbers), degree_normalized(K)[2:3], atol=ROUNDING)


def test_it_works_over_a_given_matrix():
    K, K_new = rbf_kernel(X, gamma=0.1), rbf_kernel(NEW, X, gamma=0.1)
    given = Normalized("precomputed").fit(K)
    by_name = Normalized(RBF(gamma=0.1)).fit(X)
    np.testing.assert_allclose(given.pairwise(K, K), by_name(X), atol=ROUNDING)
    np.testing.assert_allclose(given.pairwise(K_new, K), by_name.pairwise(NEW, X), atol=ROUNDING)
    np.testing.assert_allclose(given.diag(K), by_name.diag(X), atol=ROUNDING)


def test_a_given_matrix_is_checked_inside_too():
    with pytest.raises(ValueError, match="must be symmetric"):
        Normalized("precomputed").fit(np.triu(rbf_kernel(X, gamma=0.1)))


def test_it_works_over_csr_rows():
    rows, new = np.where(X > 0, X, 0), np.where(NEW > 0, NEW, 0)
    dense = Normalized(RBF(gamma=0.1)).fit(rows)
    csr = Normalized(RBF(gamma=0.1)).fit(sparse.csr_array(rows))
    np.testing.assert_allclose(
        csr.pairwise(sparse.csr_array(new), sparse.csr_array(rows)), dense.pairwise(new, rows), atol=ROUNDING
    )


# -- in a model --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiLSSVMClassifier])
@pytest.mark.parametrize("form", ["vectors", "csr", "matrix", "function"])
def test_a_model_gives_the_same_answer_over_every_kind_of_rows(make, form):
    forms = {
        "vectors": (Normalized(RBF(gamma=0.1)), X, NEW),
        "csr": (Normalized(RBF(gamma=0.1)), sparse.csr_array(X), sparse.csr_array(NEW)),
        "matrix": (Normalized("precomputed"), rbf_kernel(X, gamma=0.1), rbf_kernel(NEW, X, gamma=0.1)),
        "function": (Normalized(gaussian), X, NEW),
    }
    kernel, rows, new = forms[form]
    plain = make("precomputed").fit(degree_normalized(rbf_kernel(X, gamma=0.1)), Y)
    model = make(kernel).fit(rows, Y)
    # One solve with a matrix that carries a few roundings.
    np.testing.assert_allclose(model.decision_, plain.decision_, atol=1e-10)
    np.testing.assert_allclose(model.decision_function(rows), model.decision_, atol=1e-10)
    reference = make(Normalized(RBF(gamma=0.1))).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(new), reference.decision_function(NEW), atol=1e-10)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("kernel", [Normalized(RBF()), Normalized(RBF(gamma=0.5)), Normalized("laplacian")], ids=repr)
def test_copies_of_training_rows_get_the_transduction(kernel, container):
    model = SemiKPCAClassifier(kernel).fit(container(X), Y)
    order = np.random.default_rng(1).permutation(30)
    scale = np.abs(model.decision_).max()
    for place in (np.arange(30), order, [4]):
        found = model.decision_function(container(X[place]))
        np.testing.assert_allclose(found, model.decision_[place], atol=1e-10 * scale)
    beside_new_rows = model.decision_function(container(np.vstack([X, NEW])))
    np.testing.assert_allclose(beside_new_rows[:30], model.decision_, atol=1e-10 * scale)
    np.testing.assert_array_equal(model.predict(container(X.copy())), model.transduction_)


def test_the_matrix_is_not_modified_in_a_model():
    K = rbf_kernel(X, gamma=0.1)
    before = K.copy()
    ConvexKernelPCA(kernel=Normalized("precomputed")).fit(K).transform(K)
    np.testing.assert_array_equal(K, before)


def test_nested_parameters_can_be_searched():
    order = np.random.default_rng(0).permutation(30)
    search = GridSearchCV(
        LSSVMClassifier(Normalized(RBF())), {"kernel__kernel__gamma": [0.01, 0.1, "median"]}, cv=3, error_score="raise"
    )
    search.fit(X[order], TRUTH[order])
    assert search.best_estimator_.kernel.kernel.gamma == search.best_params_["kernel__kernel__gamma"]
    assert search.best_score_ == 1


def test_nested_parameters_survive_a_clone():
    model = SemiKPCAClassifier(Normalized(RBF())).set_params(kernel__kernel__gamma=0.7)
    assert clone(model).get_params()["kernel__kernel__gamma"] == 0.7


def test_a_pickled_model_keeps_the_degrees():
    model = SemiKPCAClassifier(Normalized(RBF())).fit(X, Y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.kernel_.degrees_, model.kernel_.degrees_)
    np.testing.assert_array_equal(loaded.decision_function(NEW), model.decision_function(NEW))


# -- a matrix that is known --------------------------------------------------------------------------------------------


def with_matrix(rows):
    inside = RBF(gamma=0.1)
    return Normalized(inside).learn_matrix(inside, rbf_kernel(rows, gamma=0.1), rows)


def test_a_kernel_that_was_fitted_with_its_matrix_is_as_any_other():
    kernel, plain = with_matrix(X), Normalized(RBF(gamma=0.1)).fit(X)
    np.testing.assert_allclose(kernel.degrees_, plain.degrees_, rtol=ROUNDING)
    np.testing.assert_allclose(kernel.known_matrix(X), plain(X), atol=ROUNDING)
    np.testing.assert_allclose(kernel.pairwise(NEW, X), plain.pairwise(NEW, X), atol=ROUNDING)
    assert plain.known_matrix(X) is None


def test_the_matrix_is_that_of_the_training_rows_alone():
    kernel = with_matrix(X)
    assert kernel.known_matrix(X.copy()) is None
    assert kernel.known_matrix(X) is kernel.known_matrix(X)
    before = kernel.known_matrix(X).copy()
    values = kernel.pairwise(X, X)
    values += 1  # a new array, as always
    np.testing.assert_array_equal(kernel.known_matrix(X), before)


def test_the_matrix_is_forgotten_by_a_new_fit_a_clone_and_a_pickle():
    kernel = with_matrix(X)
    assert clone(kernel).__dict__.keys() == {"kernel"}
    assert "_matrix" not in pickle.loads(pickle.dumps(kernel)).__dict__
    assert kernel.known_matrix(X) is not None
    assert kernel.learn_degrees(kernel.kernel_, rbf_kernel(X, gamma=0.1).sum(axis=1), X).known_matrix(X) is None


def test_a_stored_operator_takes_the_known_matrix():
    kernel = with_matrix(X)
    assert make_operator(kernel, X, "dense").matrix is kernel.known_matrix(X)
