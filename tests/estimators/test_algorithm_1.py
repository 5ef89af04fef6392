"""The estimators against the paper's own lines: Algorithm 1 and Problem 1 on dense matrices."""

from collections import Counter
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from oracles import (
    SAME_TO_ROUNDING,
    algorithm_1,
    as_fitted,
    eigenpairs,
    entrywise,
    large_rbf,
    lssvm_decision,
    lssvm_from_the_paper,
    naive_cosine,
    naive_laplacian,
    naive_linear,
    naive_median_gamma,
    naive_normalized,
    naive_polynomial,
    naive_predictions,
    naive_rbf,
    naive_shared_pairs,
    naive_signed_targets,
    paper_error_weight,
    relative_error,
    semi_kpca_from_the_paper,
    semi_kpca_on_new_rows,
)
from semikpca import LSSVMClassifier, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.exceptions import UnboundedProblemError
from semikpca.kernels import RBF, Cosine, Laplacian, Linear, Normalized, Polynomial

# Near the bound the system is 1e3 times as sensitive to the eigenvalue at the cut as in the middle. The absolute
# weight must be the same on both sides to compare decisions; the weight itself is held to this.
WEIGHT_NEAR_THE_BOUND = 1e-9


def squared_inner_products(A, B):
    return (A @ B.T + 1.0) ** 2


def shared_pairs(a, b):
    """A kernel of two strings: inner product of the counts of their neighboring letters."""
    first, second = _pair_counts(a), _pair_counts(b)
    return sum(count * second[pair] for pair, count in first.items())


@cache
def _pair_counts(text):
    return Counter(pairwise(text))


def _vectors(kernel, function):
    """A case on vectors: what the estimator gets, and the naive kernel matrices."""

    def case(X, new):
        return kernel, X, new, entrywise(function, X, X), entrywise(function, new, X)

    return case


def _normalized(kernel, function):
    def case(X, new):
        K, cross = naive_normalized(function, X, X, X), naive_normalized(function, new, X, X)
        return Normalized(kernel), X, new, K, cross

    return case


def _precomputed(X, new):
    K, cross = entrywise(naive_rbf(0.1), X, X), entrywise(naive_rbf(0.1), new, X)
    return "precomputed", K, cross, K, cross


def _median_rbf(X, new):
    function = naive_rbf(naive_median_gamma(X))
    return "rbf", X, new, entrywise(function, X, X), entrywise(function, new, X)


def _strings(X, new):
    # Strings whose letters depend on the row, so that they differ as the rows do.
    alphabet = np.array(list("abcd"))

    def spell(rows):
        codes = np.floor(4 / (1 + np.exp(-2 * np.hstack([rows, rows[:, ::-1] + rows])))).astype(int) % 4
        return ["".join(alphabet[row]) for row in codes]

    old_words, new_words = spell(X), spell(new)
    K = entrywise(naive_shared_pairs, old_words, old_words)
    return shared_pairs, old_words, new_words, K, entrywise(naive_shared_pairs, new_words, old_words)


CASES = {
    "rbf": _vectors(RBF(gamma=0.07), naive_rbf(0.07)),
    "rbf with the median rule": _median_rbf,
    "laplacian": _vectors(Laplacian(gamma=0.12), naive_laplacian(0.12)),
    "polynomial": _vectors(Polynomial(degree=2, gamma=0.2, coef0=1.5), naive_polynomial(2, 0.2, 1.5)),
    "linear": _vectors(Linear(), naive_linear),
    "cosine": _vectors(Cosine(), naive_cosine),
    "precomputed": _precomputed,
    "function of two collections": _vectors(squared_inner_products, naive_polynomial(2, 1.0, 1.0)),
    "function of two strings": _strings,
    "normalized rbf": _normalized(RBF(gamma=0.07), naive_rbf(0.07)),
    "normalized laplacian": _normalized(Laplacian(gamma=0.12), naive_laplacian(0.12)),
}


@pytest.fixture(scope="module")
def made():
    """Cases that were made already: naive kernel matrices take longer than the fits they are compared with."""
    return {}


@pytest.fixture
def make_case(data, made, rng):
    X, y = data

    def make(name):
        if (name, len(y)) not in made:
            new = X[rng.choice(len(X), 15)] + 0.4 * rng.standard_normal((15, X.shape[1]))
            kernel, rows, new, K, cross = CASES[name](X, new)
            made[name, len(y)] = kernel, rows, new, K, cross, eigenpairs(K)
        return made[name, len(y)]

    return make


@pytest.mark.parametrize("k", range(5))
@pytest.mark.parametrize("name", CASES)
def test_decisions_are_those_of_algorithm_1(data, make_case, name, k):
    _, y = data
    kernel, rows, new, K, cross, pairs = make_case(name)
    targets = naive_signed_targets(y)
    bound = paper_error_weight(K, k, 1.0, pairs=pairs)
    weights = [("middle", "relative"), (0.4, "relative"), (0.93, "relative"), (0.6 * bound, "absolute")]
    for error_weight, unit in weights:
        model = SemiKPCAClassifier(
            kernel, n_components_removed=k, error_weight=error_weight, error_weight_unit=unit
        ).fit(rows, y)

        gamma = paper_error_weight(K, k, error_weight, unit, pairs)
        wanted = as_fitted(semi_kpca_from_the_paper(K, targets, k, gamma, pairs))
        assert model.error_weight_ == pytest.approx(gamma, rel=SAME_TO_ROUNDING)
        assert relative_error(model.decision_, wanted) < SAME_TO_ROUNDING, (error_weight, unit)
        np.testing.assert_array_equal(model.transduction_, naive_predictions(wanted, model.classes_))
        # On the training rows the two ways to predict are one.
        assert relative_error(model.decision_function(rows), model.decision_) < SAME_TO_ROUNDING
        np.testing.assert_array_equal(model.predict(rows), model.transduction_)
        # On new rows the answer is the naive cross kernel times (I − VVᵀ)α.
        wanted_new = as_fitted(semi_kpca_on_new_rows(K, cross, targets, k, gamma, pairs))
        assert relative_error(model.decision_function(new), wanted_new) < SAME_TO_ROUNDING
        np.testing.assert_array_equal(model.predict(new), naive_predictions(wanted_new, model.classes_))


@pytest.mark.parametrize("k", [0, 1, 3])
def test_multipliers_and_coefficients_are_those_of_theorem_2(data, k):
    X, y = data
    K = entrywise(naive_rbf(0.07), X, X)
    model = SemiKPCAClassifier(RBF(gamma=0.07), n_components_removed=k).fit(X, y)

    alpha, _, V = algorithm_1(K, naive_signed_targets(y), k, paper_error_weight(K, k, "middle"))

    assert relative_error(model.alpha_, as_fitted(alpha)) < SAME_TO_ROUNDING
    assert relative_error(model.dual_coef_, as_fitted(alpha - V @ (V.T @ alpha))) < SAME_TO_ROUNDING
    assert model.eigenvectors_.shape == (len(X), k)
    # Eigenvectors are known up to sign: compare the projections onto them.
    assert np.abs(model.eigenvectors_ @ model.eigenvectors_.T - V @ V.T).max() < SAME_TO_ROUNDING
    assert relative_error(model.eigenvalues_, np.linalg.eigvalsh(K)[::-1][: k + 1]) < SAME_TO_ROUNDING


@pytest.mark.parametrize("k", range(5))
@pytest.mark.parametrize("name", ["rbf", "laplacian", "normalized rbf"])
def test_decisions_near_the_bound_are_those_of_algorithm_1(data, make_case, name, k):
    _, y = data
    kernel, rows, _, K, _, _ = make_case(name)

    model = SemiKPCAClassifier(kernel, n_components_removed=k, error_weight=0.999).fit(rows, y)

    assert model.error_weight_ == pytest.approx(0.999 / np.linalg.eigvalsh(K)[-1 - k], rel=WEIGHT_NEAR_THE_BOUND)
    wanted = as_fitted(semi_kpca_from_the_paper(K, naive_signed_targets(y), k, model.error_weight_))
    assert relative_error(model.decision_, wanted) < SAME_TO_ROUNDING
    assert relative_error(model.decision_function(rows), wanted) < SAME_TO_ROUNDING


@pytest.mark.parametrize("k", [0, 1, 2])
def test_weight_at_the_bound_is_unbounded_here_as_in_algorithm_1(two_classes, k):
    X, y = two_classes
    K = entrywise(naive_rbf(0.07), X, X)
    bound = paper_error_weight(K, k, 1.0)
    model = SemiKPCAClassifier(RBF(gamma=0.07), n_components_removed=k, error_weight_unit="absolute")
    for weight in (1.0001 * bound, 2 * bound):
        with pytest.raises(ValueError, match="Unbounded"):
            algorithm_1(K, naive_signed_targets(y), k, weight)
        with pytest.raises(UnboundedProblemError):
            model.set_params(error_weight=weight).fit(X, y)
    model.set_params(error_weight=0.9999 * bound).fit(X, y)


# -- above the size at which LAPACK gives way to block Krylov and conjugate gradients --------------------------------


@pytest.fixture(scope="module", params=[2, 5])
def large_data(request):
    n_classes = request.param
    generator = np.random.default_rng(7)
    centers = 1.5 * generator.standard_normal((n_classes, 6))
    truth = generator.integers(n_classes, size=700)
    X = centers[truth] + np.linspace(1.0, 0.4, 6) * generator.standard_normal((700, 6))
    y = np.where(generator.random(700) < 0.05, truth, -1)
    y[:n_classes] = np.arange(n_classes)
    K = large_rbf(X, X, 0.08)
    return X, y, K, eigenpairs(K)


@pytest.mark.parametrize("k", range(5))
def test_large_fits_by_iteration_are_those_of_algorithm_1(large_data, k):
    X, y, K, pairs = large_data
    # A small share of the bound keeps the condition number so low that conjugate gradients win.
    for error_weight in (0.5, "middle", 0.999):
        model = SemiKPCAClassifier(RBF(gamma=0.08), n_components_removed=k, error_weight=error_weight).fit(X, y)

        assert model.error_weight_ == pytest.approx(
            paper_error_weight(K, k, error_weight, pairs=pairs), rel=WEIGHT_NEAR_THE_BOUND
        )
        targets = naive_signed_targets(y)
        wanted = as_fitted(semi_kpca_from_the_paper(K, targets, k, model.error_weight_, pairs))
        assert relative_error(model.decision_, wanted) < SAME_TO_ROUNDING
        assert relative_error(model.decision_function(X), model.decision_) < SAME_TO_ROUNDING
        np.testing.assert_array_equal(model.transduction_, naive_predictions(wanted, model.classes_))
        np.testing.assert_array_equal(model.predict(X), model.transduction_)
        if error_weight == 0.5:
            assert model.n_iter_ > 1, "this test is about conjugate gradients, and a direct solve takes one step"


def test_large_fits_predict_new_rows_exactly(large_data, rng):
    X, y, K, pairs = large_data
    new = X[:40] + 0.3 * rng.standard_normal((40, 6))
    model = SemiKPCAClassifier(RBF(gamma=0.08), n_components_removed=2, error_weight=0.5).fit(X, y)

    wanted = semi_kpca_on_new_rows(
        K, large_rbf(new, X, 0.08), naive_signed_targets(y), 2, paper_error_weight(K, 2, 0.5, pairs=pairs), pairs
    )

    assert relative_error(model.decision_function(new), as_fitted(wanted)) < SAME_TO_ROUNDING


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("error_weight", [1e-3, 0.01, 100.0])
def test_large_lssvm_fits_are_those_of_problem_1(large_data, error_weight, fit_intercept):
    X, y, K, _ = large_data
    model = SemiLSSVMClassifier(RBF(gamma=0.08), error_weight=error_weight, fit_intercept=fit_intercept).fit(X, y)

    wanted = lssvm_decision(K, naive_signed_targets(y), error_weight, fit_intercept)

    assert relative_error(model.decision_, as_fitted(wanted)) < SAME_TO_ROUNDING
    assert (model.n_iter_ > 1) == (error_weight == 1e-3), "the smallest weight is meant to be solved by iteration"


# -- Problem 1 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("error_weight", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("name", ["rbf", "polynomial", "linear", "function of two strings", "normalized rbf"])
def test_semi_lssvm_is_problem_1_with_target_0_for_unlabeled_rows(data, make_case, name, error_weight, fit_intercept):
    _, y = data
    kernel, rows, new, K, cross, _ = make_case(name)

    model = SemiLSSVMClassifier(kernel, error_weight=error_weight, fit_intercept=fit_intercept).fit(rows, y)

    alpha, b = lssvm_from_the_paper(K, naive_signed_targets(y), error_weight, fit_intercept)
    assert relative_error(model.alpha_, as_fitted(alpha)) < SAME_TO_ROUNDING
    assert np.abs(model.intercept_ - b).max() < SAME_TO_ROUNDING
    assert relative_error(model.decision_, as_fitted(K @ alpha + b)) < SAME_TO_ROUNDING
    assert relative_error(model.decision_function(rows), model.decision_) < SAME_TO_ROUNDING
    assert relative_error(model.decision_function(new), as_fitted(cross @ alpha + b)) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(model.predict(rows), model.transduction_)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lssvm_on_the_labeled_rows_is_problem_1(data, fit_intercept):
    X, y = data
    X, new, y = X[y != -1], X[y == -1], y[y != -1]
    function = naive_rbf(0.07)
    model = LSSVMClassifier(RBF(gamma=0.07), error_weight=5.0, fit_intercept=fit_intercept).fit(X, y)

    alpha, b = lssvm_from_the_paper(entrywise(function, X, X), naive_signed_targets(y), 5.0, fit_intercept)

    wanted = entrywise(function, new, X) @ alpha + b
    assert relative_error(model.decision_function(new), as_fitted(wanted)) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(model.predict(new), naive_predictions(wanted, model.classes_))
