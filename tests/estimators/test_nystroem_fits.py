"""Classifiers, regression and kernel PCA on Nystroem kernels: the approximate matrix, solved exactly."""

import pickle
import warnings
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from oracles import (
    SAME_TO_ROUNDING,
    as_fitted,
    lssvm_decision,
    naive_predictions,
    naive_signed_targets,
    paper_error_weight,
    relative_error,
    semi_kpca_from_the_paper,
    semi_kpca_on_new_rows,
)
from semikpca import (
    ConvexKernelPCA,
    LSSVMClassifier,
    LSSVMRegressor,
    SemiKPCAClassifier,
    SemiKPCAClassifierCV,
    SemiLSSVMClassifier,
)
from semikpca.exceptions import KernelRankError, UnboundedProblemError
from semikpca.kernels import RBF, Linear, Normalized, Nystroem
from semikpca.labeling import audit_labels, error_weight_path, leave_one_label_out, suggest_labels
from semikpca.operators import _low_rank as low_rank

# Single precision: the bound itself takes a few times 1e-4 of rounding into account.
SINGLE = 2e-3

GAMMA = 0.25
N_LANDMARKS = 25


@cache
def data(n_classes=2, n=320, seed=0):
    generator = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    centers = 2.2 * generator.normal(size=(n_classes, 4))
    X = centers[truth] + generator.normal(size=(n, 4)) * [1.0, 0.8, 0.6, 0.5]
    y = np.full(n, -1)
    for c in range(n_classes):
        rows = generator.choice(np.flatnonzero(truth == c), 4, replace=False)
        y[rows] = c
    return X, y, truth


def kernel(**parameters):
    return Nystroem(RBF(gamma=GAMMA), N_LANDMARKS, **{"random_state": 0, **parameters})


def naive_matrix(fitted, A, B):
    """k(A, Z) k(Z, Z)⁻¹ k(Z, B) by scikit-learn and NumPy; of the package it takes the landmarks alone."""
    Z = fitted.landmarks_
    inside = np.linalg.solve(rbf_kernel(Z, gamma=GAMMA), rbf_kernel(Z, B, gamma=GAMMA))
    return rbf_kernel(A, Z, gamma=GAMMA) @ inside


@pytest.fixture(params=[True, False], ids=["features stored", "features made again"])
def stored(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(low_rank, "_MOST_STORED_BYTES", 0)
    return request.param


classes = pytest.mark.parametrize("n_classes", [2, 4])


# -- the answer --------------------------------------------------------------------------------------------------------


@classes
@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("weight", ["middle", 0.99])
def test_decisions_are_those_of_algorithm_1_on_the_approximate_matrix(n_classes, k, weight, stored):
    X, y, _ = data(n_classes)
    model = SemiKPCAClassifier(kernel(), n_components_removed=k, error_weight=weight).fit(X, y)
    K = naive_matrix(model.kernel_, X, X)
    targets = naive_signed_targets(y)
    gamma = paper_error_weight(K, k, weight)
    wanted = semi_kpca_from_the_paper(K, targets, k, gamma)

    assert model.backend_ == "low-rank"
    assert model.error_weight_ == pytest.approx(gamma, rel=SAME_TO_ROUNDING)
    assert relative_error(model.decision_, as_fitted(wanted)) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(model.transduction_, naive_predictions(wanted, model.classes_))
    new = X[:20] + 0.1
    wanted = semi_kpca_on_new_rows(K, naive_matrix(model.kernel_, new, X), targets, k, gamma)
    assert relative_error(model.decision_function(new), as_fitted(wanted)) < SAME_TO_ROUNDING


@pytest.mark.parametrize("rule", ["uniform", "k-means++", "leverage"])
def test_old_rows_get_the_transduction(rule, stored):
    X, y, _ = data(4)
    model = SemiKPCAClassifier(kernel(landmarks=rule)).fit(X, y)
    assert relative_error(model.decision_function(X.copy()), model.decision_) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(model.predict(X), model.transduction_)


@classes
@pytest.mark.parametrize("n_landmarks", [320, 5_000])
def test_with_all_rows_as_landmarks_the_fit_is_the_exact_one(n_classes, n_landmarks):
    X, y, _ = data(n_classes)
    model = SemiKPCAClassifier(kernel().set_params(n_landmarks=n_landmarks)).fit(X, y)
    exact = SemiKPCAClassifier(RBF(gamma=GAMMA)).fit(X, y)
    # Features keep half of the digits where the matrix of the landmarks is close to singular.
    assert relative_error(model.decision_, exact.decision_) < 1e-6
    assert relative_error(model.eigenvalues_, exact.eigenvalues_) < 1e-9
    assert not model.certificate_.is_estimate


def test_most_labels_are_those_of_the_exact_kernel():
    X, y, _ = data(2, n=1_500)
    exact = SemiKPCAClassifier(RBF(gamma=GAMMA)).fit(X, y)
    model = SemiKPCAClassifier(kernel().set_params(n_landmarks=150)).fit(X, y)
    assert np.mean(model.transduction_ == exact.transduction_) > 0.99


def test_back_ends_change_the_cost_alone():
    X, y, _ = data()
    found = SemiKPCAClassifier(kernel()).fit(X, y)
    dense = SemiKPCAClassifier(kernel(), backend="dense").fit(X, y)
    assert (found.backend_, dense.backend_) == ("low-rank", "dense")
    for name in ("decision_", "alpha_", "dual_coef_", "eigenvalues_"):
        assert relative_error(getattr(found, name), getattr(dense, name)) < SAME_TO_ROUNDING, name
    assert relative_error(found.label_distributions_, dense.label_distributions_) < SAME_TO_ROUNDING


def test_single_precision_comes_close_to_double(stored):
    X, y, _ = data()
    single = SemiKPCAClassifier(kernel()).fit(X.astype(np.float32), y)
    double = SemiKPCAClassifier(kernel()).fit(X, y)
    assert single.decision_.dtype == np.float32
    assert relative_error(single.decision_, double.decision_) < SINGLE
    assert relative_error(single.decision_function(X.astype(np.float32)), single.decision_) < SINGLE
    found, wanted = leave_one_label_out(single).decision, leave_one_label_out(double).decision
    assert relative_error(found, wanted) < SINGLE


def test_sparse_rows_give_the_answer_of_dense_ones():
    X, y, _ = data()
    X = X * (abs(X) > 0.3)
    dense, csr = (SemiKPCAClassifier(kernel()).fit(rows, y) for rows in (X, sparse.csr_array(X)))
    assert relative_error(csr.decision_, dense.decision_) < SAME_TO_ROUNDING
    assert relative_error(csr.decision_function(sparse.csr_array(X[:9])), dense.decision_[:9]) < SAME_TO_ROUNDING


def test_normalized_nystroem_is_solved_as_its_dense_matrix_is():
    X, y, _ = data()
    found = SemiKPCAClassifier(Normalized(kernel())).fit(X, y)
    dense = SemiKPCAClassifier(Normalized(kernel()), backend="dense").fit(X, y)
    assert found.backend_ == "low-rank"
    assert found.certificate_.is_estimate
    assert found.eigenvalues_[0] == pytest.approx(1, rel=SAME_TO_ROUNDING)
    assert relative_error(found.decision_, dense.decision_) < SAME_TO_ROUNDING
    assert relative_error(found.decision_function(X.copy()), dense.decision_) < SAME_TO_ROUNDING


def test_objects_are_labeled_through_landmarks():
    words = [letter * n for letter in "ab" for n in range(1, 15)] + ["ab", "ba"]
    y = np.full(len(words), -1)
    y[[2, 20]] = [0, 1]

    def shared(a, b):
        return float(sum(a.count(letter) * b.count(letter) for letter in "ab")) / (len(a) * len(b))

    model = SemiKPCAClassifier(Nystroem(shared, 8, random_state=0)).fit(words, y)
    np.testing.assert_array_equal(model.transduction_[:28], np.repeat([0, 1], 14))
    assert relative_error(model.decision_function(words), model.decision_) < SAME_TO_ROUNDING


# -- the certificate ---------------------------------------------------------------------------------------------------


def test_the_certificate_is_an_estimate_whose_bound_is_too_generous():
    X, y, _ = data()
    certificate = SemiKPCAClassifier(kernel()).fit(X, y).certificate_
    exact = SemiKPCAClassifier(RBF(gamma=GAMMA)).fit(X, y).certificate_
    assert certificate.is_estimate
    assert not exact.is_estimate
    assert certificate.error_weight_max > exact.error_weight_max
    assert "estimate" in str(certificate)


def test_weights_at_the_bound_are_refused():
    X, y, _ = data()
    bound = SemiKPCAClassifier(kernel()).fit(X, y).certificate_.error_weight_max
    with pytest.raises(UnboundedProblemError):
        SemiKPCAClassifier(kernel(), error_weight=bound, error_weight_unit="absolute").fit(X, y)


def test_removing_more_than_the_rank_is_refused():
    X, y, _ = data()
    SemiKPCAClassifier(Nystroem("linear", 20, random_state=0), n_components_removed=3).fit(X, y)
    with pytest.raises(KernelRankError):
        SemiKPCAClassifier(Nystroem("linear", 20, random_state=0), n_components_removed=4).fit(X, y)


# -- readings of the label response ------------------------------------------------------------------------------------


@classes
def test_a_label_left_out_is_a_fit_without_it(n_classes, stored):
    X, y, _ = data(n_classes)
    model = SemiKPCAClassifier(kernel(), error_weight=0.8).fit(X, y)
    left_out = leave_one_label_out(model)
    for number, row in enumerate(left_out.rows):
        without = y.copy()
        without[row] = -1
        wanted = clone(model).fit(X, without).decision_[row]
        assert relative_error(left_out.decision[number], wanted) < SAME_TO_ROUNDING


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_row_left_out_of_lssvm_is_a_fit_without_it(fit_intercept):
    X, _, truth = data()
    landmarks = X[::15]
    model = LSSVMClassifier(kernel(landmarks=landmarks), fit_intercept=fit_intercept).fit(X, truth)
    left_out = leave_one_label_out(model).decision
    for row in (0, 7, 200):
        kept = np.arange(len(X)) != row
        wanted = clone(model).fit(X[kept], truth[kept]).decision_function(X[[row]])
        assert relative_error(left_out[[row]], wanted) < SAME_TO_ROUNDING


@classes
def test_labels_added_are_a_fit_with_them(n_classes, stored):
    X, y, truth = data(n_classes)
    model = SemiKPCAClassifier(kernel()).fit(X, y)
    model.predict(X[:3])  # what was prepared for prediction must not be kept
    rows = np.flatnonzero(y == -1)[:5]
    after = y.copy()
    after[rows] = truth[rows]
    wanted = clone(model).fit(X, after)
    model.add_labels(rows, truth[rows])
    assert relative_error(model.decision_, wanted.decision_) < SAME_TO_ROUNDING
    assert relative_error(model.decision_function(X), wanted.decision_) < SAME_TO_ROUNDING


@classes
@pytest.mark.parametrize("k", [0, 2])
def test_every_weight_of_the_path_is_a_fit_of_its_own(n_classes, k, stored):
    X, y, _ = data(n_classes)
    model = SemiKPCAClassifier(kernel(), n_components_removed=k).fit(X, y)
    weights = [0.01, 0.5, 0.98]
    path = error_weight_path(model, weights)
    for number, weight in enumerate(weights):
        alone = clone(model).set_params(error_weight=weight).fit(X, y)
        assert relative_error(path.decision[number], alone.decision_) < SAME_TO_ROUNDING
        wanted = leave_one_label_out(alone)
        assert relative_error(path.left_out_decision[number], wanted.decision) < SAME_TO_ROUNDING
        assert path.left_out_accuracy[number] == wanted.accuracy


def test_the_path_in_single_precision_has_all_directions():
    X, y, _ = data()
    single, double = (SemiKPCAClassifier(kernel()).fit(X.astype(t), y) for t in (np.float32, np.float64))
    found, wanted = error_weight_path(single, [0.1, 0.9]).decision, error_weight_path(double, [0.1, 0.9]).decision
    assert relative_error(found, wanted) < SINGLE


def test_audit_and_suggestions_are_those_of_the_dense_fit():
    X, y, _ = data(4)
    found = SemiKPCAClassifier(kernel()).fit(X, y)
    dense = SemiKPCAClassifier(kernel(), backend="dense").fit(X, y)
    np.testing.assert_array_equal(audit_labels(found).rows, audit_labels(dense).rows)
    np.testing.assert_array_equal(suggest_labels(found, 3), suggest_labels(dense, 3))


def test_a_loaded_model_answers_and_learns_as_before():
    X, y, truth = data()
    model = SemiKPCAClassifier(kernel()).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    row = np.flatnonzero(y == -1)[:1]
    found, wanted = (one.add_labels(row, truth[row]).decision_ for one in (loaded, model))
    assert relative_error(found, wanted) < SAME_TO_ROUNDING
    reloaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(reloaded.predict(X), model.predict(X))


def test_prediction_looks_at_the_training_rows_once(monkeypatch):
    X, y, _ = data()
    model = SemiKPCAClassifier(kernel()).fit(X, y)
    model.predict(X[:2])
    counted = []
    pairwise = RBF.pairwise

    def counting(self, A, B):
        counted.append(A.shape[0] * B.shape[0])
        return pairwise(self, A, B)

    monkeypatch.setattr(RBF, "pairwise", counting)
    model.predict(X[:7])
    # One row more is looked at to learn its type.
    assert sum(counted) <= (7 + 1) * N_LANDMARKS


# -- the other estimators ----------------------------------------------------------------------------------------------


@classes
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_lssvm_solves_problem_1_on_the_approximate_matrix(n_classes, fit_intercept, stored):
    X, y, truth = data(n_classes)
    for model, labels in [(SemiLSSVMClassifier(kernel()), y), (LSSVMClassifier(kernel()), truth)]:
        model = model.set_params(fit_intercept=fit_intercept, error_weight=3.0).fit(X, labels)
        K = naive_matrix(model.kernel_, X, X)
        wanted = lssvm_decision(K, naive_signed_targets(labels), 3.0, fit_intercept)
        assert model.backend_ == "low-rank"
        assert relative_error(model.decision_, as_fitted(wanted)) < SAME_TO_ROUNDING
        assert relative_error(model.decision_function(X.copy()), as_fitted(wanted)) < SAME_TO_ROUNDING


def test_regression_has_one_column_or_more():
    X, _, _ = data()
    two = LSSVMRegressor(kernel(), error_weight=5.0).fit(X, X[:, :2])
    one = LSSVMRegressor(kernel(), error_weight=5.0).fit(X, X[:, 1])
    K = naive_matrix(two.kernel_, X, X)
    wanted = lssvm_decision(K, X[:, :2], 5.0, fit_intercept=True)
    assert relative_error(two.predict(X), wanted) < SAME_TO_ROUNDING
    assert relative_error(one.predict(X), wanted[:, 1]) < SAME_TO_ROUNDING


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("n_components", [3, None])
def test_kernel_pca_is_that_of_the_approximate_matrix(center, n_components, stored):
    X, _, _ = data()
    model = ConvexKernelPCA(n_components, kernel(), center=center).fit(X)
    K = naive_matrix(model.kernel_, X, X)
    if center:
        H = np.eye(len(X)) - 1 / len(X)
        K = H @ K @ H
    values = np.linalg.eigvalsh(K)[::-1]
    rank = len(model.eigenvalues_)
    assert rank == (N_LANDMARKS if n_components is None else 3)
    np.testing.assert_allclose(model.eigenvalues_, values[:rank], atol=1e-10 * values[0])
    V = model.eigenvectors_
    assert isinstance(V, np.ndarray)
    np.testing.assert_allclose(K @ V, V * model.eigenvalues_, atol=1e-9 * values[0])
    projections = model.fit_transform(X)
    assert relative_error(model.transform(X), projections) < SAME_TO_ROUNDING
    assert model.certificate(1).is_estimate
    loaded = pickle.loads(pickle.dumps(model))
    assert relative_error(loaded.transform(X), projections) < SAME_TO_ROUNDING


def test_kernel_pca_evaluates_its_objective():
    X, _, _ = data()
    coefficients = np.random.default_rng(1).normal(size=len(X))
    found = ConvexKernelPCA(2, kernel()).fit(X)
    dense = ConvexKernelPCA(2, kernel(), backend="dense").fit(X)
    for k in (1, 4):
        wanted = dense.objective(coefficients, 0.01, k)
        assert found.objective(coefficients, 0.01, k) == pytest.approx(wanted, rel=1e-6)


def test_the_automatic_classifier_takes_it_as_any_other_kernel():
    X, y, truth = data(4)
    model = SemiKPCAClassifierCV(kernels=[kernel(), "rbf"]).fit(X, y)
    assert np.mean(model.transduction_ == truth) > 0.9
    scale = np.abs(model.decision_).max()
    np.testing.assert_allclose(model.decision_function(X), model.decision_, atol=SAME_TO_ROUNDING * scale)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(loaded.decision_function(X), model.decision_, atol=SAME_TO_ROUNDING * scale)


def test_grid_search_reaches_the_kernel_inside():
    X, _, truth = data()
    grid = {"kernel__kernel__gamma": [1e-3, 0.25], "kernel__n_landmarks": [5, 40]}
    search = GridSearchCV(LSSVMClassifier(kernel()), grid, cv=3).fit(X, truth)
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ > 0.9


# -- a linear kernel on many rows --------------------------------------------------------------------------------------


@cache
def many_rows():
    generator = np.random.default_rng(3)
    truth = np.arange(5_200) % 2
    X = generator.normal(size=(5_200, 4)) * [1.0, 0.8, 0.6, 0.5]
    X[:, 0] += 3 * truth
    y = np.full(5_200, -1)
    y[:10] = truth[:10]
    return X, y


@pytest.mark.parametrize("center", [False, True])
def test_a_linear_kernel_on_many_rows_needs_no_matrix(center):
    X, y = many_rows()
    model = SemiKPCAClassifier(Linear(center), n_components_removed=1).fit(X, y)
    assert model.backend_ == "low-rank"
    assert not model.certificate_.is_estimate
    # The nonzero eigenvalues of X Xᵀ are those of XᵀX, so that the answer can be said in four dimensions.
    rows = X - center * X.mean(axis=0)
    values, vectors = np.linalg.eigh(rows.T @ rows)
    error_weight = 1 / np.sqrt(values[-1] * values[-2])
    left = vectors[:, :-1] * np.sqrt(error_weight / (1 - error_weight * values[:-1]))
    targets = naive_signed_targets(y)[:, 0]
    wanted = (rows @ left) @ ((rows @ left).T @ targets)
    assert relative_error(model.decision_, wanted) < SAME_TO_ROUNDING
    assert relative_error(model.decision_function(X[:50].copy()), wanted[:50]) < SAME_TO_ROUNDING


def test_a_fit_is_direct_and_warns_of_nothing():
    X, y = many_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SemiKPCAClassifier(Nystroem(n_landmarks=50, random_state=0)).fit(X, y)
    assert model.n_iter_ == 1
