"""Single precision, threads, and arguments that must come back as they went in."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from oracles import relative_error
from semikpca import ConvexKernelPCA, LSSVMClassifier, LSSVMRegressor, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.kernels import RBF, Cosine, Laplacian, Linear, Normalized, Polynomial
from semikpca.labeling import (
    audit_labels,
    error_weight_path,
    expected_change,
    leave_one_label_out,
    suggest_labels,
)

# At the same absolute weight: kernel entries are off by 6e-8 times an exponent of a few units, and the gap at the cut
# and the condition number (at most 20 at the weights used here) magnify that. Seen: 1e-7 to 6e-6.
SINGLE_PRECISION = 1e-4

# The temperature is searched to five digits of its logarithm.
ONE_TEMPERATURE = 1e-3

# The order in which sums are added up is all that threads may change.
ROUNDING_OF_SUMS = 1e-9

KERNELS = {
    "rbf": RBF(),
    "laplacian": Laplacian(),
    "polynomial": Polynomial(degree=2),
    "linear": Linear(),
    "cosine": Cosine(),
    "normalized": Normalized(RBF()),
}


@pytest.fixture
def clear_data(clear_clusters):
    """Four clear clusters, labels at every fifth row; two classes come from y // 2."""
    X, cluster = clear_clusters
    return X, np.where(np.arange(len(X)) % 5 == 0, cluster, -1)


@pytest.fixture(scope="module")
def large_data():
    """700 rows: above the size at which block Krylov and conjugate gradients take over."""
    generator = np.random.default_rng(17)
    truth = generator.integers(3, size=700)
    X = 2.0 * np.eye(3, 5)[truth] + np.linspace(1.0, 0.4, 5) * generator.standard_normal((700, 5))
    return X, np.where(np.arange(700) < 30, truth, -1)


# -- float32 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("model", [SemiKPCAClassifier(), SemiLSSVMClassifier()], ids=["semi-kpca", "semi-lssvm"])
def test_single_precision_rows_give_single_precision_answers(data, model, name):
    X, y = data
    X = X.astype(np.float32)

    model = clone(model).set_params(kernel=KERNELS[name]).fit(X, y)

    for attribute in ("decision_", "dual_coef_", "alpha_", "intercept_", "label_distributions_"):
        assert getattr(model, attribute).dtype == np.float32, attribute
    assert model.decision_function(X).dtype == np.float32
    assert model.predict_proba(X).dtype == np.float32
    assert model.transduction_.dtype == y.dtype


def test_single_precision_reaches_the_spectrum(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier(n_components_removed=2).fit(X.astype(np.float32), y)

    assert model.eigenvalues_.dtype == np.float32
    assert model.eigenvectors_.dtype == np.float32


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_pca_transforms_in_the_precision_of_the_rows(two_classes, name, center):
    X, _ = two_classes
    model = ConvexKernelPCA(2, KERNELS[name], center=center)

    for dtype in (np.float32, np.float64):
        rows = X.astype(dtype)
        assert model.fit_transform(rows).dtype == dtype
        assert model.transform(rows).dtype == dtype
        assert model.eigenvalues_.dtype == dtype


def test_precomputed_matrix_keeps_its_precision(two_classes):
    X, y = two_classes
    K = RBF(gamma=0.1)(X).astype(np.float32)

    model = SemiKPCAClassifier("precomputed").fit(K, y)

    assert model.decision_.dtype == np.float32
    assert model.decision_function(K[:5]).dtype == np.float32


def test_regression_keeps_the_precision_of_the_rows(two_classes):
    X, _ = two_classes
    X = X.astype(np.float32)

    model = LSSVMRegressor().fit(X, X[:, 0].astype(float))

    assert model.dual_coef_.dtype == np.float32
    assert model.predict(X).dtype == np.float32


def test_supervised_model_keeps_the_precision_of_the_rows(two_classes):
    X, y = two_classes
    X, y = X[y != -1].astype(np.float32), y[y != -1]

    model = LSSVMClassifier().fit(X, y)

    assert model.decision_.dtype == np.float32
    assert model.decision_function(X).dtype == np.float32
    assert model.predict_proba(X).dtype == np.float32


def test_whole_number_rows_are_computed_in_double_precision(rng):
    X = rng.integers(-5, 5, size=(30, 4))

    model = SemiKPCAClassifier().fit(X, np.where(np.arange(30) < 8, np.arange(30) % 2, -1))

    assert model.decision_.dtype == np.float64


def assert_agrees_with_double_precision(single, X, y):
    """Compare a fit in single precision with one in double precision at the same absolute and relative weight."""
    double = clone(single).fit(X.astype(np.float64), y)
    weight = {"error_weight": single.error_weight_, "error_weight_unit": "absolute"}
    same_weight = clone(single).set_params(**weight).fit(X.astype(np.float64), y)
    certificate = single.certificate_
    # The bound is kept on the safe side by what λ(k+1) may be off, and a relative weight counts against that bound. A
    # decision answers to a relative change of the weight by at most the condition number times as much.
    withheld = certificate.uncertainty / certificate.next_eigenvalue
    assert single.decision_.dtype == np.float32
    assert double.decision_.dtype == np.float64
    assert relative_error(single.decision_, same_weight.decision_) < SINGLE_PRECISION
    assert relative_error(single.dual_coef_, same_weight.dual_coef_) < SINGLE_PRECISION
    assert abs(single.error_weight_ / double.error_weight_ - 1) < 2 * withheld
    assert relative_error(single.decision_, double.decision_) < 2 * withheld * certificate.condition_number
    assert relative_error(single.decision_function(X), single.decision_) < SINGLE_PRECISION


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("name", KERNELS)
def test_single_precision_decisions_agree_with_double_precision(data, name, k):
    X, y = data
    X = X.astype(np.float32)
    for error_weight in (0.5, 0.95):
        model = SemiKPCAClassifier(KERNELS[name], n_components_removed=k, error_weight=error_weight).fit(X, y)

        assert_agrees_with_double_precision(model, X, y)


@pytest.mark.parametrize("error_weight", [0.5, 0.95])
def test_large_single_precision_fits_agree_with_double_precision(large_data, error_weight):
    X, y = large_data
    X = X.astype(np.float32)

    assert_agrees_with_double_precision(SemiKPCAClassifier(error_weight=error_weight).fit(X, y), X, y)


@pytest.mark.parametrize("intercept", [True, False])
def test_single_precision_lssvm_decisions_agree_with_double_precision(data, intercept):
    X, y = data
    X = X.astype(np.float32)
    model = SemiLSSVMClassifier(error_weight=1.0, fit_intercept=intercept)

    single, double = clone(model).fit(X, y), clone(model).fit(X.astype(np.float64), y)

    assert relative_error(single.decision_, double.decision_) < SINGLE_PRECISION


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("model", [SemiKPCAClassifier(), SemiLSSVMClassifier()], ids=["semi-kpca", "semi-lssvm"])
def test_labels_agree_between_precisions_on_clear_data(clear_data, model, n_classes):
    X, y = clear_data
    y = np.where(y == -1, -1, y * n_classes // 4)
    new = X + 0.1

    single, double = clone(model).fit(X.astype(np.float32), y), clone(model).fit(X, y)

    np.testing.assert_array_equal(single.transduction_, double.transduction_)
    np.testing.assert_array_equal(single.predict(new.astype(np.float32)), double.predict(new))
    np.testing.assert_array_equal(single.predict(X.astype(np.float32)), single.transduction_)


def test_readings_of_the_labels_agree_between_precisions(data):
    X, y = data
    single = SemiKPCAClassifier(error_weight=0.5).fit(X.astype(np.float32), y)
    double = SemiKPCAClassifier(error_weight=single.error_weight_, error_weight_unit="absolute").fit(X, y)
    unlabeled = np.flatnonzero(y == -1)[:10]

    left_out = leave_one_label_out(single)

    assert left_out.decision.dtype == np.float32
    assert relative_error(left_out.decision, leave_one_label_out(double).decision) < SINGLE_PRECISION
    assert single.sharpness_ == pytest.approx(double.sharpness_, rel=ONE_TEMPERATURE)
    assert relative_error(expected_change(single, unlabeled), expected_change(double, unlabeled)) < ONE_TEMPERATURE
    np.testing.assert_array_equal(audit_labels(single).suggested, audit_labels(double).suggested)
    assert len(suggest_labels(single, 5)) == 5


def test_path_agrees_between_precisions(data):
    X, y = data
    single, double = SemiKPCAClassifier().fit(X.astype(np.float32), y), SemiKPCAClassifier().fit(X, y)
    certificate = single.certificate_
    withheld = certificate.uncertainty / certificate.next_eigenvalue

    path, wanted = error_weight_path(single, [0.2, 0.9]), error_weight_path(double, [0.2, 0.9])

    assert path.decision.dtype == np.float32
    # 1 / (1 − 0.9) is the condition number at the larger weight.
    assert relative_error(path.decision, wanted.decision) < 2 * withheld * 10


@pytest.mark.parametrize("name", KERNELS)
def test_new_rows_may_have_another_precision_than_the_training_rows(data, name):
    X, y = data
    single = SemiKPCAClassifier(KERNELS[name], error_weight=0.5).fit(X.astype(np.float32), y)
    double = SemiKPCAClassifier(KERNELS[name], error_weight=0.5).fit(X, y)

    assert relative_error(single.decision_function(X), single.decision_) < SINGLE_PRECISION
    assert relative_error(double.decision_function(X.astype(np.float32)), double.decision_) < SINGLE_PRECISION


def test_labels_added_in_single_precision_agree_with_a_refit(data):
    X, y = data
    X = X.astype(np.float32)
    rows = np.flatnonzero(y == -1)[:3]
    changed = y.copy()
    changed[rows] = [0, 1, 0]

    model = pickle.loads(pickle.dumps(SemiKPCAClassifier().fit(X, y))).add_labels(rows, [0, 1, 0])

    assert model.decision_.dtype == np.float32
    assert relative_error(model.decision_, SemiKPCAClassifier().fit(X, changed).decision_) < SINGLE_PRECISION


# -- threads -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        SemiKPCAClassifier(RBF(gamma=0.1), error_weight=0.5),
        SemiKPCAClassifier(RBF(gamma=0.1), n_components_removed=2, error_weight=0.95),
        SemiLSSVMClassifier(RBF(gamma=0.1), error_weight=10.0),
    ],
    ids=["conjugate gradients", "cholesky", "semi-lssvm"],
)
def test_number_of_threads_changes_rounding_only(large_data, model):
    X, y = large_data
    answers = []
    for n_threads in (1, 2):
        with threadpool_limits(limits=n_threads):
            fitted = clone(model).fit(X, y)
            answers.append((fitted, fitted.decision_function(X[:50] + 0.1), leave_one_label_out(fitted)))

    (one, one_new, one_left_out), (two, two_new, two_left_out) = answers
    assert relative_error(two.decision_, one.decision_) < ROUNDING_OF_SUMS
    assert relative_error(two.dual_coef_, one.dual_coef_) < ROUNDING_OF_SUMS
    assert relative_error(two_new, one_new) < ROUNDING_OF_SUMS
    assert relative_error(two_left_out.decision, one_left_out.decision) < ROUNDING_OF_SUMS
    assert two.error_weight_ == pytest.approx(one.error_weight_, rel=ROUNDING_OF_SUMS)
    np.testing.assert_array_equal(two.transduction_, one.transduction_)


def test_number_of_threads_does_not_flip_the_signs_of_components(large_data):
    X, _ = large_data
    projections = []
    for n_threads in (1, 2):
        with threadpool_limits(limits=n_threads):
            projections.append(ConvexKernelPCA(3, RBF(gamma=0.1)).fit_transform(X))

    assert relative_error(projections[1], projections[0]) < ROUNDING_OF_SUMS


# -- arguments -----------------------------------------------------------------------------------------------------


def frozen(array):
    array = array.copy()
    array.setflags(write=False)
    return array


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*KERNELS, "precomputed", "function"])
def test_rows_labels_and_prior_are_never_modified(five_classes, name, dtype, order):
    X, y = five_classes
    if name == "precomputed":
        X = RBF(gamma=0.1)(X)
    kernel = {"precomputed": "precomputed", "function": lambda A, B: A @ B.T}.get(name) or KERNELS[name]
    X, y, prior = np.array(X, dtype=dtype, order=order), y.copy(), np.array([1.0, 2.0, 3.0, 2.0, 1.0])
    rows, labels = np.flatnonzero(y == -1)[:3].copy(), np.array([0, 1, 2])
    weights = np.array([0.2, 0.9])
    given = [X, y, prior, rows, labels, weights]
    copies = [array.copy() for array in given]

    model = SemiKPCAClassifier(kernel, class_prior=prior).fit(X, y)
    model.decision_function(X)
    model.predict_proba(X)
    model.score(X, y)
    model.add_labels(rows, labels)
    expected_change(model, np.flatnonzero(model.label_coding_.codes == -1)[:2])
    error_weight_path(model, weights)
    audit_labels(model)
    suggest_labels(model, 2)
    SemiLSSVMClassifier(kernel).fit(X, y).predict(X)
    LSSVMClassifier(kernel).fit(X, y).predict(X)
    LSSVMRegressor(kernel).fit(X, y.astype(float)).predict(X)
    ConvexKernelPCA(2, kernel, center=True).fit(X).transform(X)

    for array, copy in zip(given, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("name", [*KERNELS, "precomputed"])
def test_read_only_arrays_are_taken(five_classes, name):
    X, y = five_classes
    if name == "precomputed":
        X = RBF(gamma=0.1)(X)
    X, y, prior = frozen(X), frozen(y), frozen(np.arange(1.0, 6.0))
    kernel = "precomputed" if name == "precomputed" else KERNELS[name]

    model = SemiKPCAClassifier(kernel, class_prior=prior).fit(X, y)
    model.add_labels(frozen(np.flatnonzero(y == -1)[:2]), frozen(np.array([0, 1])))
    model.predict_proba(X)
    error_weight_path(model, frozen(np.array([0.5])))
    leave_one_label_out(model)
    suggest_labels(model, 2)
    SemiLSSVMClassifier(kernel).fit(X, y).predict(X)
    ConvexKernelPCA(2, kernel, center=True).fit(X).transform(X)


@pytest.mark.parametrize("name", ["rbf", "linear", "cosine", "polynomial", "laplacian", "normalized"])
def test_sparse_rows_are_never_modified_and_may_be_read_only(five_classes, name):
    X, y = five_classes
    X = sparse.csr_array(np.where(np.abs(X) > 0.8, X, 0))
    copy = X.copy()
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)

    model = SemiKPCAClassifier(KERNELS[name]).fit(X, y)
    model.predict(X)

    assert (X != copy).nnz == 0
    dense = SemiKPCAClassifier(KERNELS[name]).fit(X.toarray(), y)
    assert relative_error(model.decision_, dense.decision_) < ROUNDING_OF_SUMS


def test_kernel_object_is_never_fitted_in_place(two_classes):
    X, y = two_classes
    for kernel in (RBF(), Normalized(RBF())):
        before = set(vars(kernel))

        SemiKPCAClassifier(kernel).fit(X, y)
        ConvexKernelPCA(2, kernel).fit(X)

        assert set(vars(kernel)) == before
    assert not hasattr(kernel.kernel, "gamma_")


def test_lists_are_taken_and_left_alone(two_classes):
    X, y = two_classes
    X_list, y_list, rows = X.tolist(), y.tolist(), [int(np.flatnonzero(y == -1)[0])]

    model = SemiKPCAClassifier(class_prior=[1, 2]).fit(X_list, y_list).add_labels(rows, [1])

    assert X_list == X.tolist()
    assert y_list == y.tolist()
    assert rows == [int(np.flatnonzero(y == -1)[0])]
    assert model.class_prior == [1, 2]


def test_returned_decisions_do_not_share_memory_with_the_model(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier().fit(X, y)
    wanted = model.decision_.copy()

    model.decision_function(X)[:] = 0
    model.label_distributions_[:] = 0
    leave_one_label_out(model).decision[:] = 0
    model.predict(X)[:] = 0

    np.testing.assert_array_equal(model.decision_, wanted)
    assert relative_error(model.decision_function(X), wanted) < ROUNDING_OF_SUMS
