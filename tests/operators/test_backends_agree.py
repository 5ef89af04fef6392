"""All back ends give the same answers, and the answers are right: the shared contract of `backend`.

A new back end on vectors adds one line to ``BACKENDS`` and is held to everything here. The oracle is the paper's
formula on a dense matrix, in double precision, by numpy.linalg alone.
"""

import pickle
from functools import cache

import numpy as np
import pytest
from scipy import sparse

import semikpca.operators._factory as factory
import semikpca.solvers._sampled_step as sampled_step
from oracles import (
    algorithm_1,
    eigenpairs,
    large_rbf,
    lssvm_decision,
    naive_predictions,
    naive_signed_targets,
    paper_error_weight,
    relative_error,
)
from semikpca import ConvexKernelPCA, LSSVMClassifier, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.kernels import RBF, Laplacian, Normalized
from semikpca.labeling import audit_labels, error_weight_path, leave_one_label_out, suggest_labels

TOL = 1e-6  # of the estimators, by default: residuals of what is solved without a stored matrix
# Removed eigenvectors are found to TOL · λ1, which moves decisions by that over the gap, a fifth of λ1 or more in these
# data; residuals of TOL add about as much. Close to the bound both are found the more accurately the closer it is.
SLACK = 10
ALLOWED = SLACK * TOL

GAMMA = 0.12
N, N_NEW = 480, 70

# How to ask for the back end, and the parameters for it.
BACKENDS = {name: {"backend": name} for name in ("dense", "blocked", "auto", "torch")}
# The same with blocks that compiled programs make.
BACKENDS |= {f"{name}, compiled": {"backend": name} for name in ("blocked", "auto")}


@pytest.fixture(params=BACKENDS)
def backend(request, monkeypatch):
    """The parameters of each back end; "auto" takes the blocked one with kernel values in float32, as for many rows."""
    monkeypatch.setattr(sampled_step, "_FEWEST_ROWS", 200)  # as for many rows
    if request.param.startswith("auto"):
        monkeypatch.setattr(factory, "_FEW_ROWS", 100)
    if request.param.endswith("compiled"):
        request.getfixturevalue("with_programs")
    if request.param == "torch":
        pytest.importorskip("torch")
    return BACKENDS[request.param]


@cache
def data(n_classes):
    """Overlapping clusters with few labels: rows, labels, new rows."""
    generator = np.random.default_rng(n_classes)
    centers = 1.6 * generator.normal(size=(n_classes, 6))
    truth = np.arange(N + N_NEW) % n_classes
    X = centers[truth] + np.linspace(1.3, 0.5, 6) * generator.normal(size=(N + N_NEW, 6))
    y = np.full(N, -1)
    for label in range(n_classes):
        y[generator.choice(np.flatnonzero(truth[:N] == label), 4, replace=False)] = label
    for array in (X, y):
        array.setflags(write=False)
    return X[:N], y, X[N:]


@cache
def spectrum(n_classes):
    """The kernel matrix and its eigenpairs, by scikit-learn and numpy."""
    X, _, _ = data(n_classes)
    K = large_rbf(X, X, GAMMA)
    return K, eigenpairs(K)


@cache
def response(n_classes, k, error_weight):
    """H = K′ (I/γ − K′)⁻¹ as a matrix, and γ."""
    K, pairs = spectrum(n_classes)
    gamma = paper_error_weight(K, k, error_weight, pairs=pairs)
    alpha, projected, _ = algorithm_1(K, np.eye(N), k, gamma, pairs)
    return projected @ alpha, gamma


def wanted_decision(n_classes, k, error_weight, y=None):
    H, _ = response(n_classes, k, error_weight)
    decision = H @ naive_signed_targets(data(n_classes)[1] if y is None else y)
    return decision[:, 0] if decision.shape[1] == 1 else decision


def is_exact(backend):
    return backend["backend"] == "dense"


CASES = [(n_classes, k, weight) for n_classes in (2, 4) for k in (0, 1, 3) for weight in ("middle", 0.3, 0.9, 0.99)]
CASE = pytest.mark.parametrize(("n_classes", "k", "weight"), CASES)
FEW = pytest.mark.parametrize(("n_classes", "k", "weight"), [(2, 1, "middle"), (4, 1, 0.9), (4, 3, "middle")])


def fitted(n_classes, k, weight, backend):
    X, y, _ = data(n_classes)
    return SemiKPCAClassifier(RBF(GAMMA), n_components_removed=k, error_weight=weight, **backend).fit(X, y)


# -- Semi-KPCA -------------------------------------------------------------------------------------------------------


@CASE
def test_decisions_are_those_of_algorithm_1(n_classes, k, weight, backend):
    model = fitted(n_classes, k, weight, backend)
    assert model.backend_ == {"auto": "blocked"}.get(backend["backend"], backend["backend"])
    assert relative_error(model.decision_, wanted_decision(n_classes, k, weight)) <= ALLOWED


@CASE
def test_the_certificate_never_promises_more_than_is_true(n_classes, k, weight, backend):
    _, (values, _) = spectrum(n_classes)
    certificate = fitted(n_classes, k, weight, backend).certificate_
    # numpy's eigenvalues are themselves off by a few eps of the largest.
    rounding = 10 * np.finfo(float).eps * values[0]
    assert certificate.error_weight_max <= 1 / (values[k] - rounding)
    assert certificate.error_weight < 1 / values[k]
    # And not much less either: what it holds back is the tolerance.
    assert certificate.error_weight_max >= (1 - SLACK * TOL) / values[k]
    np.testing.assert_allclose(certificate.eigenvalues, values[: k + 1], rtol=SLACK * TOL)


@pytest.mark.parametrize("share", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_absolute_weights_close_to_the_bound_keep_their_digits(k, share, backend):
    """How close such a weight is comes out only when the eigenvalues are there; products must then be sharp enough."""
    X, y, _ = data(2)
    K, pairs = spectrum(2)
    gamma = share / pairs[0][k]
    model = SemiKPCAClassifier(
        RBF(GAMMA), n_components_removed=k, error_weight=gamma, error_weight_unit="absolute", **backend
    ).fit(X, y)
    alpha, projected, _ = algorithm_1(K, naive_signed_targets(y), k, gamma, pairs)
    assert relative_error(model.decision_, (projected @ alpha)[:, 0]) <= ALLOWED


@FEW
def test_products_are_counted_where_they_are_what_a_fit_costs(n_classes, k, weight, backend):
    n_products = fitted(n_classes, k, weight, backend).n_products_
    if not is_exact(backend):
        assert 2 <= n_products <= 25
        X, y, _ = data(n_classes)
        assert SemiKPCAClassifier(Normalized(RBF(GAMMA)), **backend).fit(X, y).n_products_ >= 2


@FEW
def test_new_rows_have_the_decisions_of_the_formula(n_classes, k, weight, backend):
    X, y, new = data(n_classes)
    K, pairs = spectrum(n_classes)
    _, gamma = response(n_classes, k, weight)
    alpha, _, V = algorithm_1(K, naive_signed_targets(y), k, gamma, pairs)
    wanted = large_rbf(new, X, GAMMA) @ (alpha - V @ (V.T @ alpha))
    model = fitted(n_classes, k, weight, backend)
    found = model.decision_function(new)
    assert relative_error(found.reshape(wanted.shape), wanted) <= ALLOWED
    np.testing.assert_array_equal(model.predict(new), naive_predictions(wanted, range(n_classes)))
    assert relative_error(model.decision_function(X), model.decision_) <= ALLOWED


@FEW
def test_labels_and_probabilities_agree_with_the_dense_back_end(n_classes, k, weight, backend):
    _, _, new = data(n_classes)
    model, dense = fitted(n_classes, k, weight, backend), fitted(n_classes, k, weight, {"backend": "dense"})
    np.testing.assert_array_equal(model.transduction_, dense.transduction_)
    # The temperature is learned from left-out decisions; probabilities move less than decisions do.
    atol = 10 * ALLOWED
    np.testing.assert_allclose(model.label_distributions_, dense.label_distributions_, rtol=0, atol=atol)
    np.testing.assert_allclose(model.predict_proba(new), dense.predict_proba(new), rtol=0, atol=atol)


@CASE
def test_leaving_a_label_out_equals_the_formula(n_classes, k, weight, backend):
    _, y, _ = data(n_classes)
    rows = np.flatnonzero(y >= 0)
    H, _ = response(n_classes, k, weight)
    targets = naive_signed_targets(y)
    wanted = (H @ targets)[rows] - np.diag(H)[rows, None] * targets[rows]
    found = leave_one_label_out(fitted(n_classes, k, weight, backend))
    np.testing.assert_array_equal(found.rows, rows)
    # A left-out decision is a difference of two numbers, and may be far smaller than either.
    scale = np.linalg.norm((H @ targets)[rows]) + np.linalg.norm(np.diag(H)[rows])
    error = np.linalg.norm(found.decision.reshape(wanted.shape) - wanted)
    assert error <= ALLOWED * scale


@FEW
def test_added_and_removed_labels_equal_a_fit_with_them(n_classes, k, weight, backend):
    _, y, _ = data(n_classes)
    changed = y.copy()
    added, removed = np.flatnonzero(y < 0)[[3, 50, 200]], np.flatnonzero(y == 1)[:1]
    changed[added], changed[removed] = [0, 1, 1], -1
    model = fitted(n_classes, k, weight, backend)
    model.add_labels(np.concatenate([added, removed]), [0, 1, 1, -1])
    wanted = wanted_decision(n_classes, k, weight, changed)
    assert relative_error(model.decision_, wanted) <= ALLOWED
    np.testing.assert_array_equal(model.label_coding_.labeled_rows, np.flatnonzero(changed >= 0))


@FEW
def test_suggestions_and_suspicions_agree_with_the_dense_back_end(n_classes, k, weight, backend):
    model, dense = fitted(n_classes, k, weight, backend), fitted(n_classes, k, weight, {"backend": "dense"})
    np.testing.assert_array_equal(suggest_labels(model, n=4), suggest_labels(dense, n=4))
    ours, theirs = audit_labels(model), audit_labels(dense)
    atol = 10 * ALLOWED
    order = np.argsort(ours.rows), np.argsort(theirs.rows)
    np.testing.assert_allclose(ours.suspicion[order[0]], theirs.suspicion[order[1]], rtol=0, atol=atol)


# -- the path of error weights ---------------------------------------------------------------------------------------

PATH_WEIGHTS = [1e-3, 0.1, 0.5, 0.9, 0.99, 0.999]


@pytest.mark.parametrize(("n_classes", "k"), [(2, 0), (2, 1), (4, 1), (4, 3)])
def test_the_path_equals_algorithm_1_at_every_weight(n_classes, k, backend):
    model = fitted(n_classes, k, "middle", backend)
    path = error_weight_path(model, PATH_WEIGHTS)
    _, (values, _) = spectrum(n_classes)
    # The model's bound holds back a little of 1/λ(k+1); the formula gets the weights that were used.
    np.testing.assert_allclose(path.error_weights, np.array(PATH_WEIGHTS) / values[k], rtol=SLACK * TOL)
    K, pairs = spectrum(n_classes)
    targets = naive_signed_targets(data(n_classes)[1])
    rows = path.rows
    for gamma, decision, left_out in zip(path.error_weights, path.decision, path.left_out_decision, strict=True):
        alpha, projected, _ = algorithm_1(K, np.eye(N)[:, rows], k, gamma, pairs)
        H = projected @ alpha  # the columns of H at the labeled rows
        wanted = H @ targets[rows]
        tolerance = SLACK * TOL / (1 - gamma * values[k])
        assert relative_error(decision.reshape(wanted.shape), wanted) <= tolerance
        wanted_left_out = wanted[rows] - np.diag(H[rows])[:, None] * targets[rows]
        scale = np.linalg.norm(wanted[rows]) + np.linalg.norm(np.diag(H[rows]))
        assert np.linalg.norm(left_out.reshape(wanted_left_out.shape) - wanted_left_out) <= tolerance * scale


@pytest.mark.parametrize("weight", [0.3, 0.99])
def test_the_path_equals_fits_of_its_own_and_refits_without_each_label(weight, backend):
    X, y, _ = data(2)
    path = error_weight_path(fitted(2, 1, "middle", backend), [weight])
    own = fitted(2, 1, weight, backend)
    # The path has the bound of a model in the middle, which is known to TOL; a weight close to it magnifies that.
    tolerance = 2 * SLACK * TOL / (1 - weight)
    assert relative_error(path.decision[0], own.decision_) <= tolerance
    scale = np.abs(path.left_out_decision[0]).max()
    for row, left_out in zip(path.rows, path.left_out_decision[0], strict=True):
        without = y.copy()
        without[row] = -1
        model = SemiKPCAClassifier(RBF(GAMMA), error_weight=weight, **backend).fit(X, without)
        assert abs(model.decision_[row] - left_out) <= tolerance * scale


def test_a_path_takes_few_products(backend):
    model = fitted(2, 1, "middle", backend)
    if is_exact(backend):
        return
    operator = model._fitted.response.operator
    before = operator.log.n_products
    error_weight_path(model, 100)
    assert operator.log.n_products - before <= 10


# -- other estimators ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_semi_lssvm_decisions_are_those_of_the_bordered_system(n_classes, fit_intercept, backend):
    X, y, new = data(n_classes)
    K, (values, _) = spectrum(n_classes)
    targets = naive_signed_targets(y)
    gamma = 1.0
    model = SemiLSSVMClassifier(RBF(GAMMA), error_weight=gamma, fit_intercept=fit_intercept, **backend).fit(X, y)
    wanted = lssvm_decision(K, targets, gamma, fit_intercept)
    # α is solved to TOL, and decisions are K α: off by TOL · λ1 ‖y‖ at most, far above the decisions of so few labels.
    scale = TOL * gamma * values[0] * np.linalg.norm(targets)
    assert np.linalg.norm(model.decision_.reshape(wanted.shape) - wanted) <= SLACK * scale
    assert relative_error(model.decision_.reshape(wanted.shape), wanted) <= 1e-3
    dense = SemiLSSVMClassifier(RBF(GAMMA), error_weight=gamma, fit_intercept=fit_intercept, backend="dense").fit(X, y)
    np.testing.assert_array_equal(model.predict(new), dense.predict(new))
    assert relative_error(leave_one_label_out(model).decision, leave_one_label_out(dense).decision) <= 1e-3


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lssvm_decisions_are_those_of_the_bordered_system(fit_intercept, backend):
    X, _, new = data(2)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    K, _ = spectrum(2)
    wanted = lssvm_decision(K, naive_signed_targets(y, unlabeled=None), 2.0, fit_intercept)[:, 0]
    model = LSSVMClassifier(RBF(GAMMA), error_weight=2.0, fit_intercept=fit_intercept, **backend).fit(X, y)
    dense = LSSVMClassifier(RBF(GAMMA), error_weight=2.0, fit_intercept=fit_intercept, backend="dense").fit(X, y)
    assert relative_error(model.decision_, wanted) <= 1e-4
    np.testing.assert_array_equal(model.predict(new), dense.predict(new))
    # Left-out decisions divide by 1 − H_ii, a tenth or so here.
    assert relative_error(leave_one_label_out(model).decision, leave_one_label_out(dense).decision) <= 1e-3


@pytest.mark.parametrize("center", [False, True])
def test_kernel_pca_has_the_eigenpairs_of_the_matrix(center, backend):
    X, _, new = data(4)
    K, (values, vectors) = spectrum(4)
    cross = large_rbf(new, X, GAMMA)
    if center:
        cross = cross - cross.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        values, vectors = eigenpairs(K)
    model = ConvexKernelPCA(3, RBF(GAMMA), center=center, **backend).fit(X)
    # No tolerance is given away where eigenpairs are the answer: rounding of products, in float64.
    np.testing.assert_allclose(model.eigenvalues_, values[:3], rtol=1e-9)
    signs = np.sign((model.eigenvectors_ * vectors[:, :3]).sum(axis=0))
    assert relative_error(model.eigenvectors_ * signs, vectors[:, :3]) <= 1e-8
    assert relative_error(model.transform(new) * signs, cross @ vectors[:, :3] / np.sqrt(values[:3])) <= 1e-8
    rounding = 10 * np.finfo(float).eps * values[0]
    for k in (0, 1, 2, 4):
        bound = model.certificate(k).error_weight_max
        assert (1 - 1e-8) / values[k] <= bound <= 1 / (values[k] - rounding)


# -- other rows and kernels ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [RBF(GAMMA), Laplacian(0.2), Normalized(RBF(GAMMA)), Normalized(Laplacian(0.2))])
@pytest.mark.parametrize("weight", ["middle", 0.9])
def test_other_kernels_have_the_decisions_of_the_dense_back_end(kernel, weight, backend):
    X, y, new = data(4)
    model, dense = (
        SemiKPCAClassifier(kernel, error_weight=weight, **options).fit(X, y) for options in (backend, BACKENDS["dense"])
    )
    tolerance = SLACK * TOL * dense.certificate_.condition_number
    assert relative_error(model.decision_, dense.decision_) <= tolerance
    assert relative_error(model.decision_function(new), dense.decision_function(new)) <= tolerance
    assert relative_error(leave_one_label_out(model).decision, leave_one_label_out(dense).decision) <= 10 * tolerance


def test_sparse_rows_have_the_decisions_of_the_dense_ones(backend):
    if backend["backend"] == "torch":
        pytest.skip("takes dense rows only, and says so")
    X, y, new = data(4)
    X, new = np.where(np.abs(X) < 1, 0, X), np.where(np.abs(new) < 1, 0, new)
    model = SemiKPCAClassifier(RBF(GAMMA), **backend).fit(sparse.csr_array(X), y)
    dense = SemiKPCAClassifier(RBF(GAMMA), backend="dense").fit(X, y)
    tolerance = SLACK * TOL * dense.certificate_.condition_number
    assert relative_error(model.decision_, dense.decision_) <= tolerance
    assert relative_error(model.decision_function(sparse.csr_array(new)), dense.decision_function(new)) <= tolerance


@FEW
def test_single_precision_rows_have_decisions_to_single_precision(n_classes, k, weight, backend):
    X, y, new = data(n_classes)
    model = SemiKPCAClassifier(RBF(GAMMA), n_components_removed=k, error_weight=weight, **backend)
    model.fit(X.astype(np.float32), y)
    assert model.decision_.dtype == np.float32
    assert model.decision_function(new.astype(np.float32)).dtype == np.float32
    # The bound holds back what float32 does not know of λ(k+1), so the formula gets the weight that was used. Rounded
    # rows move the kernel by 1e-7 or so; a hundred times that, and the condition number.
    K, pairs = spectrum(n_classes)
    alpha, projected, _ = algorithm_1(K, naive_signed_targets(y), k, model.error_weight_, pairs)
    wanted = projected @ alpha
    tolerance = 100 * np.finfo(np.float32).eps / (1 - model.error_weight_ * pairs[0][k])
    assert relative_error(model.decision_.reshape(wanted.shape), wanted) <= tolerance


def test_many_rows_are_taken_to_the_blocked_back_end_by_themselves():
    generator = np.random.default_rng(3)
    X = generator.normal(size=(3000, 3)) * [2.0, 1.0, 0.5]
    y = np.full(3000, -1)
    y[:8] = (X[:8, 0] > 0).astype(int)
    model = SemiKPCAClassifier(RBF(0.5)).fit(X, y)
    assert model.backend_ == "blocked"
    K = large_rbf(X, X, 0.5)
    # Power iterations of a random block would take long; the fit's own equation needs no eigenpairs but its own.
    V, values = model.eigenvectors_, model.eigenvalues_
    residual = K @ V - V * values[:1]
    assert np.linalg.norm(residual) <= SLACK * TOL * values[0]
    projected_alpha = model.alpha_ - V @ (V.T @ model.alpha_)
    assert relative_error(K @ projected_alpha, model.decision_) <= SLACK * TOL * model.certificate_.condition_number


# -- models that were stored -----------------------------------------------------------------------------------------


@FEW
def test_a_loaded_model_goes_on_as_the_fitted_one_would(n_classes, k, weight, backend):
    _, y, new = data(n_classes)
    model = fitted(n_classes, k, weight, backend)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.decision_function(new), model.decision_function(new))
    tolerance = ALLOWED
    ours, theirs = leave_one_label_out(loaded), leave_one_label_out(model)
    assert relative_error(ours.decision, theirs.decision) <= 10 * tolerance
    rows = np.flatnonzero(y < 0)[[1, 77]]
    loaded.add_labels(rows, [0, 1])
    model.add_labels(rows, [0, 1])
    assert relative_error(loaded.decision_, model.decision_) <= tolerance
    assert (
        relative_error(error_weight_path(loaded, [0.5]).decision, error_weight_path(model, [0.5]).decision) <= tolerance
    )


def test_a_stored_model_is_small(backend):
    model = fitted(2, 1, "middle", backend)
    # Rows, decisions, coefficients and a few vectors more; neither the matrix nor the space of the search.
    assert len(pickle.dumps(model)) <= 8 * N * (6 + 14)


# -- the same numbers ------------------------------------------------------------------------------------------------


def test_a_fit_repeated_has_the_same_numbers(backend):
    first, second = fitted(4, 1, 0.9, backend), fitted(4, 1, 0.9, backend)
    np.testing.assert_array_equal(first.decision_, second.decision_)
    assert first.certificate_ == second.certificate_


def test_rows_in_another_order_have_the_same_decisions(backend):
    X, y, _ = data(4)
    order = np.random.default_rng(8).permutation(N)
    model = SemiKPCAClassifier(RBF(GAMMA), **backend).fit(X[order], y[order])
    tolerance = ALLOWED
    assert relative_error(model.decision_, fitted(4, 1, "middle", backend).decision_[order]) <= 2 * tolerance
