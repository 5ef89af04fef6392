"""The least-squares machines against the bordered system, solved by NumPy, and against scikit-learn's kernel ridge."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV

from semikpca import LSSVMClassifier, LSSVMRegressor, SemiLSSVMClassifier
from semikpca.kernels import RBF, Linear

# Two direct solves of a system with a condition number of at most a few thousand.
TOLERANCE = 1e-9
# Leaving a label out divides by 1 − H_ii, which is about 1/γ for a large γ; the refits it is held to lose as much.
LEFT_OUT_TOLERANCE = 1e-5
# What the limits of γ leave of an error: α/γ, or γα, with α of order ten.
LIMIT_TOLERANCE = 1e-5
# Probabilities at γ = 1e8 are those of the limit to about 1e-8, and a search ends there to about 1e-5.
LIMIT_PROBABILITY_TOLERANCE = 1e-3
# The same model in single precision.
SINGLE_PRECISION_TOLERANCE = 1e-3

GAMMA = 0.4
CLASSIFIERS = [LSSVMClassifier, SemiLSSVMClassifier]
ALL = [LSSVMRegressor, LSSVMClassifier, SemiLSSVMClassifier]


def rbf_matrix(A, B):
    return np.exp(-GAMMA * ((A[:, np.newaxis] - B) ** 2).sum(axis=2))


def bordered_system(K, targets, error_weight):
    """[[0, 1ᵀ], [1, K + I/γ]] [b; α] = [0; y]: the conditions of Problem 1 with a bias, as Suykens writes them."""
    n = len(K)
    system = np.zeros((n + 1, n + 1))
    system[0, 1:] = system[1:, 0] = 1
    system[1:, 1:] = K + np.eye(n) / error_weight
    solution = np.linalg.solve(system, np.vstack([np.zeros((1, targets.shape[1])), targets]))
    return solution[1:], solution[0]


def plain_system(K, targets, error_weight):
    return np.linalg.solve(K + np.eye(len(K)) / error_weight, targets), np.zeros(targets.shape[1])


def one_against_rest(y):
    """Targets ±1: one column for two classes, positive for the last one, else one column a class."""
    classes = np.unique(y)
    positives = classes[1:] if len(classes) == 2 else classes
    return np.column_stack([np.where(y == c, 1.0, -1.0) for c in positives])


@pytest.fixture(name="X")
def training_rows():
    return np.random.default_rng(0).normal(size=(30, 3))


@pytest.fixture(name="X_new")
def new_rows():
    return np.random.default_rng(1).normal(size=(12, 3))


def as_columns(values):
    return values.reshape(len(values), -1)


# -- regression --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error_weight", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("fit_intercept", "solve"), [(True, bordered_system), (False, plain_system)])
def test_regression_solves_the_system_of_problem_1(X, X_new, error_weight, fit_intercept, solve):
    y = np.sin(X[:, 0]) + 5.0
    model = LSSVMRegressor(RBF(gamma=GAMMA), error_weight=error_weight, fit_intercept=fit_intercept).fit(X, y)
    alpha, b = solve(rbf_matrix(X, X), y[:, np.newaxis], error_weight)
    np.testing.assert_allclose(model.dual_coef_, alpha[:, 0], atol=TOLERANCE * np.abs(alpha).max())
    assert model.intercept_ == pytest.approx(b[0], rel=TOLERANCE, abs=TOLERANCE)
    expected = rbf_matrix(X_new, X) @ alpha[:, 0] + b[0]
    np.testing.assert_allclose(model.predict(X_new), expected, atol=TOLERANCE * np.abs(expected).max())


@pytest.mark.parametrize("error_weight", [0.05, 1.0, 20.0])
def test_regression_without_a_bias_is_kernel_ridge(X, X_new, error_weight):
    y = np.random.default_rng(2).normal(size=len(X))
    ours = LSSVMRegressor(RBF(gamma=GAMMA), error_weight=error_weight, fit_intercept=False).fit(X, y)
    theirs = KernelRidge(alpha=1 / error_weight, kernel="rbf", gamma=GAMMA).fit(X, y)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=TOLERANCE * np.abs(theirs.dual_coef_).max())
    np.testing.assert_allclose(ours.predict(X_new), theirs.predict(X_new), atol=TOLERANCE)


def test_the_coefficients_of_a_model_with_a_bias_sum_to_zero(X):
    model = LSSVMRegressor(RBF(gamma=GAMMA)).fit(X, X[:, 0] + 3)
    assert model.dual_coef_.sum() == pytest.approx(0, abs=TOLERANCE)


def test_a_bias_takes_up_a_shift_of_the_targets(X, X_new):
    y = np.sin(X[:, 0])
    plain = LSSVMRegressor(RBF(gamma=GAMMA)).fit(X, y)
    shifted = LSSVMRegressor(RBF(gamma=GAMMA)).fit(X, y + 100.0)
    np.testing.assert_allclose(shifted.predict(X_new), plain.predict(X_new) + 100.0, rtol=TOLERANCE)


def test_a_large_error_weight_follows_the_targets(X):
    y = np.random.default_rng(3).normal(size=len(X))
    model = LSSVMRegressor(RBF(gamma=2.0), error_weight=1e8).fit(X, y)
    # What is left of an error is α/γ.
    np.testing.assert_allclose(model.predict(X), y, atol=LIMIT_TOLERANCE)


def test_a_small_error_weight_leaves_the_mean(X):
    y = np.random.default_rng(4).normal(size=len(X)) + 7.0
    model = LSSVMRegressor(RBF(gamma=GAMMA), error_weight=1e-9).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean(), atol=LIMIT_TOLERANCE)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_several_outputs_are_several_models(X, X_new, fit_intercept):
    Y = np.random.default_rng(5).normal(size=(len(X), 3)) + np.array([0.0, 5.0, -20.0])
    together = LSSVMRegressor(RBF(gamma=GAMMA), fit_intercept=fit_intercept).fit(X, Y)
    assert together.dual_coef_.shape == (30, 3)
    assert together.intercept_.shape == (3,)
    predictions = together.predict(X_new)
    assert predictions.shape == (12, 3)
    for column in range(3):
        alone = LSSVMRegressor(RBF(gamma=GAMMA), fit_intercept=fit_intercept).fit(X, Y[:, column])
        np.testing.assert_allclose(predictions[:, column], alone.predict(X_new), atol=TOLERANCE)


def test_one_output_in_a_column_stays_in_a_column(X):
    y = X[:, :1]
    model = LSSVMRegressor().fit(X, y)
    assert model.predict(X).shape == (30, 1)
    np.testing.assert_allclose(model.predict(X)[:, 0], LSSVMRegressor().fit(X, y[:, 0]).predict(X), atol=TOLERANCE)


def test_the_score_of_a_regression_is_r2(X):
    y = np.sin(X[:, 0])
    model = LSSVMRegressor(error_weight=10.0).fit(X, y)
    assert model.score(X, y) == pytest.approx(r2_score(y, model.predict(X)))
    assert model.score(X, y) > 0.5


def test_a_regression_that_did_not_converge_says_so():
    # Many rows and a small weight: here conjugate gradients are the cheaper way, and one step is not enough.
    X = np.random.default_rng(6).normal(size=(700, 3))
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        LSSVMRegressor(error_weight=1e-3, max_iter=1).fit(X, X[:, 0])


@pytest.mark.parametrize("targets", [[1.0, np.nan, 2.0], [1.0, np.inf, 2.0]])
def test_targets_must_be_finite(targets):
    with pytest.raises(ValueError, match="contains"):
        LSSVMRegressor("linear").fit([[0.0], [1.0], [2.0]], targets)


def test_rows_and_targets_must_be_as_many(X):
    with pytest.raises(ValueError, match="30 rows and y has 29"):
        LSSVMRegressor().fit(X, np.zeros(29))


# -- classification ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize(("fit_intercept", "solve"), [(True, bordered_system), (False, plain_system)])
def test_classification_solves_one_system_for_every_class(X, X_new, n_classes, fit_intercept, solve):
    y = np.arange(len(X)) % n_classes
    model = LSSVMClassifier(RBF(gamma=GAMMA), error_weight=2.0, fit_intercept=fit_intercept).fit(X, y)
    K = rbf_matrix(X, X)
    alpha, b = solve(K, one_against_rest(y), 2.0)
    np.testing.assert_allclose(as_columns(model.dual_coef_), alpha, atol=TOLERANCE)
    np.testing.assert_allclose(as_columns(model.alpha_), alpha, atol=TOLERANCE)
    np.testing.assert_allclose(model.intercept_, b, atol=TOLERANCE)
    np.testing.assert_allclose(as_columns(model.decision_), K @ alpha + b, atol=TOLERANCE)
    decision = rbf_matrix(X_new, X) @ alpha + b
    np.testing.assert_allclose(as_columns(model.decision_function(X_new)), decision, atol=TOLERANCE)
    expected = (decision[:, 0] > 0).astype(int) if n_classes == 2 else decision.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X_new), expected)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("fit_intercept", "solve"), [(True, bordered_system), (False, plain_system)])
def test_unlabeled_rows_enter_the_system_with_target_zero(X, n_classes, fit_intercept, solve):
    y = np.where(np.arange(len(X)) < 4 * n_classes, np.arange(len(X)) % n_classes, -1)
    model = SemiLSSVMClassifier(RBF(gamma=GAMMA), error_weight=2.0, fit_intercept=fit_intercept).fit(X, y)
    targets = np.where(y[:, np.newaxis] == -1, 0.0, one_against_rest(np.where(y == -1, 0, y)))
    K = rbf_matrix(X, X)
    alpha, b = solve(K, targets, 2.0)
    np.testing.assert_allclose(as_columns(model.decision_), K @ alpha + b, atol=TOLERANCE)
    np.testing.assert_allclose(model.intercept_, b, atol=TOLERANCE)
    np.testing.assert_array_equal(model.transduction_, model.predict(X))


def test_the_papers_run_on_labeled_rows_alone_is_the_classifier_on_those_rows(X):
    y = np.where(np.arange(len(X)) < 10, np.arange(len(X)) % 2, -1)
    labeled = y >= 0
    model = LSSVMClassifier(RBF(gamma=GAMMA), fit_intercept=False).fit(X[labeled], y[labeled])
    alpha, _ = plain_system(rbf_matrix(X[labeled], X[labeled]), one_against_rest(y[labeled]), 1.0)
    np.testing.assert_allclose(
        model.decision_function(X[~labeled]), rbf_matrix(X[~labeled], X[labeled]) @ alpha[:, 0], atol=TOLERANCE
    )


def test_minus_one_is_a_class_where_every_row_has_a_label(X):
    y = np.where(X[:, 0] > 0, 1, -1)
    model = LSSVMClassifier(RBF(gamma=GAMMA), error_weight=100.0).fit(X, y)
    assert model.classes_.tolist() == [-1, 1]
    assert model.score(X, y) > 0.9
    assert set(model.predict(X)) == {-1, 1}
    # The same labels under other names give the same decisions.
    renamed = LSSVMClassifier(RBF(gamma=GAMMA), error_weight=100.0).fit(X, np.where(y > 0, "yes", "no"))
    np.testing.assert_array_equal(model.decision_, renamed.decision_)


def test_minus_one_is_unlabeled_where_rows_may_be(X):
    y = np.where(X[:, 0] > 1, 1, np.where(X[:, 0] < -1, 0, -1))
    assert SemiLSSVMClassifier().fit(X, y).classes_.tolist() == [0, 1]


@pytest.mark.parametrize("missing", [None, np.nan])
def test_the_supervised_classifier_refuses_missing_labels_and_names_the_alternative(X, missing):
    y = np.array(["a", "b", "a"] * 10, dtype=object)
    y[4] = missing
    with pytest.raises(ValueError, match="SemiLSSVMClassifier"):
        LSSVMClassifier().fit(X, y)


def test_all_labels_given_makes_both_classifiers_equal(X, X_new):
    y = np.arange(30) % 3
    supervised, semi = (model(RBF(gamma=GAMMA)).fit(X, y) for model in CLASSIFIERS)
    np.testing.assert_array_equal(supervised.decision_function(X_new), semi.decision_function(X_new))


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_the_score_of_a_classifier_is_its_accuracy(X, X_new, model):
    y, y_new = (X[:, 0] > 0).astype(int), (X_new[:, 0] > 0).astype(int)
    fitted = model(RBF(gamma=GAMMA), error_weight=10.0).fit(X, y)
    assert fitted.score(X_new, y_new) == accuracy_score(y_new, fitted.predict(X_new))
    weights = np.arange(1.0, 13.0)
    assert fitted.score(X_new, y_new, weights) == pytest.approx(
        accuracy_score(y_new, fitted.predict(X_new), sample_weight=weights)
    )


def test_the_score_of_the_semi_supervised_one_looks_at_labeled_rows_only(X, X_new):
    fitted = SemiLSSVMClassifier(RBF(gamma=GAMMA)).fit(X, (X[:, 0] > 0).astype(int))
    truth = (X_new[:, 0] > 0).astype(int)
    partly = np.where(np.arange(12) < 5, truth, -1)
    assert fitted.score(X_new, partly) == accuracy_score(truth[:5], fitted.predict(X_new)[:5])


def test_a_classifier_that_did_not_converge_says_so():
    X = np.random.default_rng(7).normal(size=(700, 3))
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        LSSVMClassifier(error_weight=1e-3, max_iter=1).fit(X, (X[:, 0] > 0).astype(int))


def test_many_rows_and_a_small_weight_are_solved_by_iteration_to_the_same_answer():
    X = np.random.default_rng(8).normal(size=(700, 3))
    y = (X[:, 0] > 0).astype(int)
    model = LSSVMClassifier(RBF(gamma=GAMMA), error_weight=1e-3).fit(X, y)
    assert model.n_iter_ > 1
    alpha, b = bordered_system(rbf_matrix(X, X), one_against_rest(y), 1e-3)
    np.testing.assert_allclose(model.decision_, rbf_matrix(X, X) @ alpha[:, 0] + b[0], atol=TOLERANCE)


# -- all three ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("error_weight", [0, -1.0, np.nan, np.inf, "middle", None, True])
def test_the_error_weight_must_be_a_positive_number(X, model, error_weight):
    with pytest.raises(ValueError, match="error_weight must be a positive, finite number"):
        model(error_weight=error_weight).fit(X, np.arange(30) % 2)


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("error_weight", [1e12, 1e16, 1e20, 1e300])
def test_any_positive_error_weight_is_allowed(model, error_weight):
    # The kernel has rank 1, so that the system is singular to rounding where 1/γ is below it. The answer must be
    # right, or the error one that says which parameter to change.
    X = np.linspace(-1.0, 1.0, 20)[:, np.newaxis]
    y = (X[:, 0] > 0).astype(int)
    complaint = None
    try:
        prediction = model(Linear(), error_weight=error_weight).fit(X, y).predict(X)
    except ValueError as error:
        complaint = str(error)
    if complaint is None:
        assert np.corrcoef(prediction, X[:, 0])[0, 1] > 0.8
    else:
        assert "error_weight" in complaint


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("error_weight", [1.0, 1e6, 1e12])
def test_leaving_a_row_out_equals_fitting_without_it(X, error_weight, fit_intercept):
    y = np.arange(30) % 2
    parameters = {"kernel": RBF(gamma=2.0), "error_weight": error_weight, "fit_intercept": fit_intercept}
    left_out = LSSVMClassifier(**parameters).fit(X, y).left_out_decisions(np.arange(30))[:, 0]
    refitted = [
        LSSVMClassifier(**parameters).fit(np.delete(X, i, 0), np.delete(y, i)).decision_function(X[[i]])[0]
        for i in range(30)
    ]
    np.testing.assert_allclose(left_out, refitted, atol=LEFT_OUT_TOLERANCE)


@pytest.mark.parametrize("error_weight", [1e14, 1e16, 1e18])
def test_an_enormous_error_weight_leaves_probabilities_as_they_are_in_the_limit(X, error_weight):
    # Warnings are errors here: no division by zero may happen on the way.
    y = np.arange(30) % 2
    limit = LSSVMClassifier(RBF(gamma=2.0), error_weight=1e8).fit(X, y)
    model = LSSVMClassifier(RBF(gamma=2.0), error_weight=error_weight).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), limit.predict_proba(X), atol=LIMIT_PROBABILITY_TOLERANCE)


@pytest.mark.parametrize("model", ALL)
def test_a_given_matrix_equals_its_kernel(X, X_new, model):
    y = np.arange(30) % 2
    by_kernel = model(RBF(gamma=GAMMA)).fit(X, y)
    by_matrix = model("precomputed").fit(rbf_matrix(X, X), y)
    np.testing.assert_allclose(by_matrix.dual_coef_, by_kernel.dual_coef_, atol=TOLERANCE)
    np.testing.assert_allclose(by_matrix.predict(rbf_matrix(X_new, X)), by_kernel.predict(X_new), atol=TOLERANCE)


@pytest.mark.parametrize("model", ALL)
def test_single_precision_stays_single_precision(X, X_new, model):
    y = np.arange(30) % 2
    single = model(RBF(gamma=GAMMA)).fit(X.astype(np.float32), y)
    double = model(RBF(gamma=GAMMA)).fit(X, y)
    assert single.dual_coef_.dtype == np.float32
    np.testing.assert_allclose(single.dual_coef_, double.dual_coef_, atol=SINGLE_PRECISION_TOLERANCE)


@pytest.mark.parametrize("model", ALL)
def test_a_model_survives_pickling(X, X_new, model):
    fitted = model(RBF(gamma=GAMMA)).fit(X, np.arange(30) % 2)
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(loaded.predict(X_new), fitted.predict(X_new))


@pytest.mark.parametrize("model", ALL)
def test_nothing_is_predicted_before_fit(X, model):
    with pytest.raises(NotFittedError):
        model().predict(X)


@pytest.mark.parametrize("model", ALL)
def test_labels_are_required(X, model):
    with pytest.raises(ValueError, match="requires y"):
        model().fit(X, None)


@pytest.mark.parametrize("model", ALL)
def test_parameters_of_the_kernel_can_be_searched(X, model):
    y = (X[:, 0] > 0).astype(int)
    search = GridSearchCV(model(RBF()), {"kernel__gamma": [0.01, 0.4], "error_weight": [0.1, 10.0]}, cv=3).fit(X, y)
    assert set(search.best_params_) == {"kernel__gamma", "error_weight"}
    assert clone(search.best_estimator_).kernel.gamma == search.best_params_["kernel__gamma"]


@pytest.mark.parametrize("model", ALL)
def test_fitting_does_not_change_the_parameters(X, model):
    kernel = RBF(gamma="median")
    fitted = model(kernel, error_weight=3.0).fit(X, np.arange(30) % 2)
    assert fitted.kernel is kernel
    assert not hasattr(kernel, "gamma_")
    assert fitted.error_weight_ == 3.0
