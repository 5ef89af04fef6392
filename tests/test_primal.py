"""The fitted models against the primal problems of the paper, solved by CVXPY in an explicit feature space.

A model knows w only through its dual coefficients; with the feature vectors as the rows of Φ, w = Φᵀ c. CVXPY
minimizes over w itself. Nothing here uses the package but the estimators under test: eigenvalues and
directions ψ come from a singular value decomposition of Φ by NumPy.

A difference of quadratics is not a convex expression to CVXPY, even where it is a convex function, so the objectives of
Problems 3 and 4 are written with the explicit matrix ½ uᵀ M u, M = Bᵀ (I − γ ΦᵀΦ) B and w = B u, where B spans what
the constraints leave. Above the bound M is indefinite and no solver for convex problems takes it; there the problem is
lifted to matrices, uuᵀ ↦ W ⪰ 0, which is linear and has the same infimum.
"""

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import null_space

from semikpca import ConvexKernelPCA, LSSVMClassifier, LSSVMRegressor, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.convexity import Regime
from semikpca.exceptions import UnboundedProblemError
from semikpca.kernels import Polynomial

# What Clarabel is asked for, and what is left of it in w: its tolerance is on the objective, which is flat at the
# optimum, so half of the digits remain.
CLARABEL_TOLERANCE = 1e-11
PRIMAL_TOLERANCE = 1e-5
# Semidefinite programs end less sharply than quadratic ones: Clarabel's own default, and what it gives.
CLARABEL_LIFTED_TOLERANCE = 1e-8
LIFTED_TOLERANCE = 1e-5
# Eigenvalues of a matrix of this size that are zero come out below this.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Features:
    """Rows X, a kernel, and the feature vectors Φ whose products are its values."""

    name: str
    kernel: Any
    X: np.ndarray
    phi: np.ndarray

    @property
    def eigenvalues(self):
        return np.linalg.svd(self.phi, compute_uv=False) ** 2

    def directions(self, k):
        """ψ1 … ψk as columns, unit length."""
        return np.linalg.svd(self.phi)[2][:k].T

    def labels(self, n_classes):
        """Two labels of each class; the other rows are unlabeled."""
        y = np.full(len(self.X), -1)
        rows = np.random.default_rng(1).permutation(len(self.X))[: 2 * n_classes]
        y[rows] = np.arange(2 * n_classes) % n_classes
        return y


def _linear(name, n_rows, n_features, seed):
    X = np.random.default_rng(seed).normal(size=(n_rows, n_features)) * np.linspace(2.0, 0.5, n_features)
    return Features(name, "linear", X, X)


def _quadratic():
    X = np.random.default_rng(2).normal(size=(14, 2)) * [1.3, 0.6]
    g, c = 0.4, 1.5
    a, b = X.T
    # (g x·z + c)² multiplied out, term by term.
    phi = np.column_stack(
        [g * a**2, g * b**2, np.sqrt(2) * g * a * b, np.sqrt(2 * g * c) * a, np.sqrt(2 * g * c) * b, np.full(14, c)]
    )
    return Features("quadratic", Polynomial(degree=2, gamma=g, coef0=c), X, phi)


FEATURES = [_linear("more rows than features", 18, 4, 0), _linear("more features than rows", 8, 11, 1), _quadratic()]

with_every_feature_map = pytest.mark.parametrize("features", FEATURES, ids=lambda features: features.name)


def solve(problem, tolerance=CLARABEL_TOLERANCE):
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance)
    return problem


def one_against_rest(y, n_classes):
    """Targets ±1, and 0 for unlabeled rows: one column for two classes, one a class for more."""
    positives = [1] if n_classes == 2 else range(n_classes)
    return np.column_stack([np.select([y == c, y >= 0], [1.0, -1.0], 0.0) for c in positives])


def as_columns(values):
    return values.reshape(len(values), -1)


def least_squares_svm(phi, targets, error_weight, with_bias):
    """Problem 1 as it stands."""
    w, b = cp.Variable(phi.shape[1]), cp.Variable()
    errors = targets - phi @ w - (b if with_bias else 0)
    solve(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 0.5 * error_weight * cp.sum_squares(errors))))
    return w.value, float(b.value) if with_bias else 0.0


def constrained_quadratic(features, k, error_weight):
    """B, whose columns span the w with ⟨w, ψl⟩ = 0 for l ≤ k, and the matrix M of the objective there."""
    h = features.phi.shape[1]
    basis = null_space(features.directions(k).T) if k else np.eye(h)
    M = basis.T @ (np.eye(h) - error_weight * features.phi.T @ features.phi) @ basis
    return basis, (M + M.T) / 2


def square_root(M):
    """R with RᵀR = M, for M that is semi-definite within rounding."""
    values, vectors = np.linalg.eigh(M)
    assert values[0] > -ROUNDING, "the square root is for convex problems"
    return np.sqrt(np.clip(values, 0, None))[:, np.newaxis] * vectors.T


def semi_kpca(features, targets, k, error_weight):
    """Problem 4 with e substituted, below or at the bound."""
    basis, M = constrained_quadratic(features, k, error_weight)
    u = cp.Variable(basis.shape[1])
    slope = error_weight * basis.T @ features.phi.T @ targets
    constant = 0.5 * error_weight * targets @ targets
    problem = solve(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(square_root(M) @ u) - slope @ u - constant)))
    return problem, None if u.value is None else basis @ u.value


def lifted_semi_kpca(features, targets, k, error_weight, radius=None):
    """Problem 4 over W ⪰ uuᵀ instead of u: linear, so convex or not the infimum is found."""
    basis, M = constrained_quadratic(features, k, error_weight)
    size = basis.shape[1]
    lifted = cp.Variable((size + 1, size + 1), PSD=True)
    W, u = lifted[:size, :size], lifted[:size, size]
    slope = error_weight * basis.T @ features.phi.T @ targets
    constant = 0.5 * error_weight * targets @ targets
    constraints = [lifted[size, size] == 1]
    if radius is not None:
        constraints.append(cp.trace(W) <= radius**2)
    objective = cp.Minimize(0.5 * cp.trace(M @ W) - slope @ u - constant)
    return solve(cp.Problem(objective, constraints), CLARABEL_LIFTED_TOLERANCE)


def semi_kpca_objective(features, w, targets, error_weight):
    errors = targets + features.phi @ w
    return 0.5 * w @ w - 0.5 * error_weight * errors @ errors


# -- the explicit feature maps are those of the kernels ----------------------------------------------------------


def test_the_written_out_features_belong_to_the_polynomial_kernel():
    features = FEATURES[2]
    np.testing.assert_allclose(features.phi @ features.phi.T, features.kernel(features.X), rtol=ROUNDING)


# -- Problem 1 ---------------------------------------------------------------------------------------------------


@with_every_feature_map
@pytest.mark.parametrize("error_weight", [0.05, 3.0])
@pytest.mark.parametrize("with_bias", [True, False])
def test_lssvm_regression_solves_problem_1(features, error_weight, with_bias):
    targets = np.random.default_rng(3).normal(size=len(features.X)) + 2.0
    model = LSSVMRegressor(features.kernel, error_weight=error_weight, fit_intercept=with_bias).fit(features.X, targets)
    w, b = least_squares_svm(features.phi, targets, error_weight, with_bias)
    np.testing.assert_allclose(features.phi.T @ model.dual_coef_, w, atol=PRIMAL_TOLERANCE)
    np.testing.assert_allclose(model.intercept_, b, atol=PRIMAL_TOLERANCE)


@with_every_feature_map
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("with_bias", [True, False])
def test_lssvm_classification_solves_problem_1_for_every_class(features, n_classes, with_bias):
    y = np.random.default_rng(4).permutation(len(features.X)) % n_classes
    model = LSSVMClassifier(features.kernel, error_weight=0.7, fit_intercept=with_bias).fit(features.X, y)
    dual_coef = as_columns(model.dual_coef_)
    for column, targets in enumerate(one_against_rest(y, n_classes).T):
        w, b = least_squares_svm(features.phi, targets, 0.7, with_bias)
        np.testing.assert_allclose(features.phi.T @ dual_coef[:, column], w, atol=PRIMAL_TOLERANCE)
        np.testing.assert_allclose(model.intercept_[column], b, atol=PRIMAL_TOLERANCE)


@with_every_feature_map
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("with_bias", [True, False])
def test_semi_lssvm_solves_problem_1_with_target_zero_for_unlabeled_rows(features, n_classes, with_bias):
    y = features.labels(n_classes)
    model = SemiLSSVMClassifier(features.kernel, error_weight=0.7, fit_intercept=with_bias).fit(features.X, y)
    dual_coef, decision = as_columns(model.dual_coef_), as_columns(model.decision_)
    for column, targets in enumerate(one_against_rest(y, n_classes).T):
        w, b = least_squares_svm(features.phi, targets, 0.7, with_bias)
        np.testing.assert_allclose(features.phi.T @ dual_coef[:, column], w, atol=PRIMAL_TOLERANCE)
        np.testing.assert_allclose(decision[:, column], features.phi @ w + b, atol=PRIMAL_TOLERANCE)


# -- Problem 3 ---------------------------------------------------------------------------------------------------


def lifted_kernel_pca(features, k, error_weight, radius=None):
    """Problem 3 over W = uuᵀ ⪰ 0; its constraint ‖w‖ ≤ radius is on the trace."""
    basis, M = constrained_quadratic(features, k, error_weight)
    W = cp.Variable((basis.shape[1], basis.shape[1]), PSD=True)
    constraints = [] if radius is None else [cp.trace(W) <= radius**2]
    problem = solve(cp.Problem(cp.Minimize(0.5 * cp.trace(M @ W)), constraints), CLARABEL_LIFTED_TOLERANCE)
    return problem, None if W.value is None else basis @ W.value @ basis.T


@with_every_feature_map
@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("relative_weight", [0.3, 0.9])
def test_below_the_bound_kernel_pca_has_only_the_trivial_solution(features, k, relative_weight):
    error_weight = relative_weight / features.eigenvalues[k]
    basis, M = constrained_quadratic(features, k, error_weight)
    u = cp.Variable(basis.shape[1])
    objective = cp.Minimize(0.5 * cp.sum_squares(square_root(M) @ u))
    assert solve(cp.Problem(objective)).value == pytest.approx(0, abs=PRIMAL_TOLERANCE)
    np.testing.assert_allclose(basis @ u.value, 0, atol=PRIMAL_TOLERANCE)
    # Whoever asks for some of ψ(k+1) pays for it, and the library says how much.
    psi = features.directions(k + 1)[:, k]
    cost = solve(cp.Problem(objective, [psi @ basis @ u == 1])).value

    model = ConvexKernelPCA(n_components=k + 1, kernel=features.kernel).fit(features.X)
    coefficients = model.eigenvectors_[:, k] / np.sqrt(model.eigenvalues_[k])
    assert model.regime(error_weight, k) is Regime.TRIVIAL
    assert model.objective(0 * coefficients, error_weight, k) == 0
    assert model.objective(coefficients, error_weight, k) == pytest.approx(cost, abs=PRIMAL_TOLERANCE)
    assert cost == pytest.approx(0.5 * (1 - relative_weight), abs=PRIMAL_TOLERANCE)


@with_every_feature_map
@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("amount", [-3.0, 0.5, 40.0])
def test_at_the_bound_every_multiple_of_the_next_component_solves_kernel_pca(features, k, amount):
    error_weight = 1 / features.eigenvalues[k]
    psi = features.directions(k + 1)[:, k]
    basis, M = constrained_quadratic(features, k, error_weight)
    u = cp.Variable(basis.shape[1])
    # Among all feasible w with this much of ψ(k+1), the best is the multiple itself, and it costs nothing.
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(square_root(M) @ u)), [psi @ basis @ u == amount])
    assert solve(problem).value == pytest.approx(0, abs=PRIMAL_TOLERANCE)

    model = ConvexKernelPCA(n_components=k + 1, kernel=features.kernel).fit(features.X)
    coefficients = model.eigenvectors_[:, k] / np.sqrt(model.eigenvalues_[k])
    component = features.phi.T @ coefficients
    component *= np.sign(component @ psi)
    np.testing.assert_allclose(amount * component, basis @ u.value, atol=PRIMAL_TOLERANCE * abs(amount))
    assert model.regime(error_weight, k) is Regime.SUBSPACE
    assert model.objective(amount * coefficients, error_weight, k) == pytest.approx(0, abs=ROUNDING * amount**2)


@with_every_feature_map
@pytest.mark.parametrize("k", [0, 1, 2])
def test_at_the_bound_nothing_is_below_zero_in_kernel_pca(features, k):
    problem, _ = lifted_kernel_pca(features, k, 1 / features.eigenvalues[k], radius=10.0)
    assert problem.value == pytest.approx(0, abs=LIFTED_TOLERANCE)


@with_every_feature_map
@pytest.mark.parametrize("k", [0, 1, 2])
def test_above_the_bound_kernel_pca_is_unbounded(features, k):
    error_weight = 1.1 / features.eigenvalues[k]
    _, M = constrained_quadratic(features, k, error_weight)
    u = cp.Variable(len(M))
    assert not cp.Problem(cp.Minimize(cp.quad_form(u, M))).is_dcp()
    problem, _ = lifted_kernel_pca(features, k, error_weight)
    assert problem.status == cp.UNBOUNDED
    model = ConvexKernelPCA(n_components=1, kernel=features.kernel).fit(features.X)
    assert model.regime(error_weight, k) is Regime.UNBOUNDED


@with_every_feature_map
@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("radius", [1.0, 10.0, 1000.0])
def test_above_the_bound_the_kernel_pca_objective_falls_with_the_square_of_the_radius(features, k, radius):
    eigenvalues = features.eigenvalues
    error_weight = 1.1 / eigenvalues[k]
    problem, W = lifted_kernel_pca(features, k, error_weight, radius)
    model = ConvexKernelPCA(n_components=k + 1, kernel=features.kernel).fit(features.X)
    coefficients = radius * model.eigenvectors_[:, k] / np.sqrt(model.eigenvalues_[k])
    assert model.objective(coefficients, error_weight, k) == pytest.approx(problem.value, rel=LIFTED_TOLERANCE)
    w = features.phi.T @ coefficients
    np.testing.assert_allclose(np.outer(w, w), W, atol=LIFTED_TOLERANCE**0.5 * radius**2)


# -- Problem 4 ---------------------------------------------------------------------------------------------------


@with_every_feature_map
@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("relative_weight", [0.2, 0.95])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_semi_kpca_solves_problem_4(features, k, relative_weight, n_classes):
    y = features.labels(n_classes)
    error_weight = relative_weight / features.eigenvalues[k]
    model = SemiKPCAClassifier(
        features.kernel, n_components_removed=k, error_weight=error_weight, error_weight_unit="absolute"
    ).fit(features.X, y)
    dual_coef, alpha, decision = map(as_columns, (model.dual_coef_, model.alpha_, model.decision_))
    for column, targets in enumerate(one_against_rest(y, n_classes).T):
        problem, best = semi_kpca(features, targets, k, error_weight)
        assert problem.status == cp.OPTIMAL
        w = features.phi.T @ dual_coef[:, column]
        scale = max(1.0, float(np.abs(best).max()))
        np.testing.assert_allclose(w, best, atol=PRIMAL_TOLERANCE * scale)
        np.testing.assert_allclose(features.directions(k).T @ w, 0, atol=ROUNDING * scale)
        np.testing.assert_allclose(decision[:, column], features.phi @ best, atol=PRIMAL_TOLERANCE * scale)
        # Theorem 2: e = α / γ.
        errors = targets + features.phi @ best
        np.testing.assert_allclose(alpha[:, column] / error_weight, errors, atol=PRIMAL_TOLERANCE * scale)
        assert semi_kpca_objective(features, w, targets, error_weight) == pytest.approx(
            problem.value, rel=PRIMAL_TOLERANCE
        )


@with_every_feature_map
@pytest.mark.parametrize("k", [1, 2])
def test_semi_kpca_at_the_middle_weight_solves_problem_4(features, k):
    y = features.labels(2)
    eigenvalues = features.eigenvalues
    model = SemiKPCAClassifier(features.kernel, n_components_removed=k).fit(features.X, y)
    _, best = semi_kpca(features, one_against_rest(y, 2)[:, 0], k, 1 / np.sqrt(eigenvalues[k - 1] * eigenvalues[k]))
    np.testing.assert_allclose(features.phi.T @ model.dual_coef_, best, atol=PRIMAL_TOLERANCE)


@with_every_feature_map
@pytest.mark.parametrize("k", [0, 1, 2])
def test_lifting_does_not_change_problem_4_below_the_bound(features, k):
    # What is said of the lifted problem above the bound rests on this.
    targets = one_against_rest(features.labels(2), 2)[:, 0]
    error_weight = 0.6 / features.eigenvalues[k]
    problem, _ = semi_kpca(features, targets, k, error_weight)
    lifted = lifted_semi_kpca(features, targets, k, error_weight)
    assert lifted.value == pytest.approx(problem.value, rel=LIFTED_TOLERANCE)


@with_every_feature_map
@pytest.mark.parametrize("k", [0, 1, 2])
def test_at_the_bound_semi_kpca_has_no_solution(features, k):
    y = features.labels(2)
    targets = one_against_rest(y, 2)[:, 0]
    error_weight = 1 / features.eigenvalues[k]
    # Along ψ(k+1) the quadratic part is gone and a slope remains.
    psi = features.directions(k + 1)[:, k]
    t = cp.Variable()
    along = cp.Problem(cp.Minimize(-error_weight * (targets @ features.phi @ psi) * t))
    assert solve(along).status == cp.UNBOUNDED
    problem, _ = semi_kpca(features, targets, k, error_weight)
    assert problem.status == cp.UNBOUNDED
    model = SemiKPCAClassifier(
        features.kernel, n_components_removed=k, error_weight=error_weight, error_weight_unit="absolute"
    )
    with pytest.raises(UnboundedProblemError):
        model.fit(features.X, y)


@with_every_feature_map
@pytest.mark.parametrize("k", [0, 1, 2])
def test_above_the_bound_semi_kpca_has_no_solution(features, k):
    y = features.labels(2)
    targets = one_against_rest(y, 2)[:, 0]
    error_weight = 1.1 / features.eigenvalues[k]
    assert lifted_semi_kpca(features, targets, k, error_weight).status == cp.UNBOUNDED
    # Within ever larger balls the optimum falls for ever: −0.1/2 for each unit of ‖w‖² in the end.
    values = [lifted_semi_kpca(features, targets, k, error_weight, radius).value for radius in (10.0, 100.0, 1000.0)]
    assert values[0] > values[1] > values[2]
    assert values[2] < -0.5 * 0.1 * 1000.0**2
    model = SemiKPCAClassifier(
        features.kernel, n_components_removed=k, error_weight=error_weight, error_weight_unit="absolute"
    )
    with pytest.raises(UnboundedProblemError):
        model.fit(features.X, y)
