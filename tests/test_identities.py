"""One family that contains its competitors: Label Spreading and Poisson learning as readings of Semi-KPCA."""

import numpy as np
import pytest
from sklearn.semi_supervised import LabelSpreading

from oracles import naive_one_hot, naive_predictions, relative_error
from semikpca import SemiKPCAClassifier
from semikpca.convexity import ConvexityCertificate
from semikpca.kernels import RBF, Normalized
from semikpca.operators import DenseOperator
from semikpca.problem import SemiKPCAResponse
from semikpca.spectrum import removable_spectrum

# scikit-learn iterates until a step changes all entries together by less than this; what is then left of the
# distance to the fixed point is at most clamping / (1 − clamping) times as much.
ITERATED_TO = 1e-13
LIKE_THE_FIXED_POINT = 1e-11

# Two direct ways to one solution; the condition number of the Poisson system is about 1e2 here.
TO_ROUNDING = 1e-11

CLAMPING = [0.2, 0.5, 0.9]


@pytest.fixture(params=[2, 4])
def labeled_graph(request):
    """A connected graph with positive weights and a few labels: W (zero diagonal) and y."""
    n_classes = request.param
    generator = np.random.default_rng(5)
    truth = np.arange(48) % n_classes
    X = 1.5 * generator.standard_normal((n_classes, 3))[truth] + generator.standard_normal((48, 3))
    distances = np.linalg.norm(X[:, np.newaxis] - X, axis=2)
    W = np.exp(-0.3 * distances**2) * (1 + np.outer(np.arange(48), np.arange(48)) / 5000)
    np.fill_diagonal(W, 0)
    # Unequal numbers of labels, so that no sum over classes cancels by chance.
    y = np.full(48, -1)
    y[: 2 * n_classes + 1] = truth[: 2 * n_classes + 1]
    return W, y


def label_spreading(W, y, clamping):
    """The label distributions of scikit-learn's own iteration on the affinity matrix W."""

    def affinity(first, second):
        return W[np.ix_(first[:, 0].astype(int), second[:, 0].astype(int))]

    model = LabelSpreading(kernel=affinity, alpha=clamping, max_iter=100_000, tol=ITERATED_TO)
    model.fit(np.arange(len(W), dtype=float)[:, np.newaxis], y)
    return model.label_distributions_, model.transduction_


def symmetric_normalized(W):
    """S = D^-½ W D^-½, the matrix that Label Spreading iterates with."""
    degrees = W.sum(axis=1)
    return W / np.sqrt(np.outer(degrees, degrees))


def row_shares(values):
    return values / values.sum(axis=1, keepdims=True)


def response(K, k, error_weight):
    """Problem 4 on a given matrix with k components removed, through the functions below the estimators."""
    operator = DenseOperator(K.copy())
    spectrum, cut = removable_spectrum(operator, k)
    assert cut == k
    certificate = ConvexityCertificate.from_spectrum(spectrum, k).at(error_weight)
    assert certificate.regime.has_unique_solution
    return SemiKPCAResponse(operator, spectrum.eigenvalues[:k], spectrum.eigenvectors[:, :k], certificate, rtol=1e-14)


# -- Label Spreading -----------------------------------------------------------------------------------------------
#
# Label Spreading converges to F = (1 − a)(I − aS)⁻¹Y with one-hot Y. S has a zero diagonal and is indefinite. With
# K = S + I (positive semi-definite) and k = 0 the multipliers solve (I/g − I − S) α = y, which is the same system up to
# a factor for a = g / (1 − g), that is g = a / (1 + a): the convex interval g < 1/λ1 = ½ is exactly a < 1.


def weight_for(clamping):
    return clamping / (1 + clamping)


@pytest.mark.parametrize("clamping", CLAMPING)
def test_multipliers_on_the_shifted_graph_are_label_spreading(labeled_graph, clamping):
    W, y = labeled_graph
    wanted, _ = label_spreading(W, y, clamping)

    solution = response(symmetric_normalized(W) + np.eye(len(W)), 0, weight_for(clamping)).solve(naive_one_hot(y))

    assert relative_error(row_shares(solution.alpha), wanted) < LIKE_THE_FIXED_POINT


@pytest.mark.parametrize("clamping", CLAMPING)
def test_fitted_multipliers_of_the_estimator_hold_label_spreading(labeled_graph, clamping):
    W, y = labeled_graph
    wanted, transduction = label_spreading(W, y, clamping)
    n_classes = wanted.shape[1]
    model = SemiKPCAClassifier(
        "precomputed", n_components_removed=0, error_weight=weight_for(clamping), error_weight_unit="absolute"
    ).fit(symmetric_normalized(W) + np.eye(len(W)), y)

    if n_classes == 2:
        # One column for two classes: α = F₁ − F₀, whose sign is Label Spreading's choice.
        np.testing.assert_array_equal(model.classes_[(model.alpha_ > 0).astype(int)], transduction)
        difference = wanted[:, 1] - wanted[:, 0]
        np.testing.assert_array_equal(np.sign(model.alpha_), np.sign(difference))
    else:
        # ±1 targets are 2·onehot − (1 at every label), so α_c = 2F_c − T with T = ΣF_c, and Σα_c = (2 − n_classes) T.
        total = model.alpha_.sum(axis=1, keepdims=True) / (2 - n_classes)
        assert relative_error(row_shares((model.alpha_ + total) / 2), wanted) < LIKE_THE_FIXED_POINT
        np.testing.assert_array_equal(naive_predictions(model.alpha_, model.classes_), transduction)


def test_two_class_estimator_and_the_labels_as_one_class_give_the_distributions(labeled_graph):
    W, y = labeled_graph
    y = np.where(y == -1, -1, y % 2)
    K = symmetric_normalized(W) + np.eye(len(W))
    wanted, _ = label_spreading(W, y, 0.5)
    model = SemiKPCAClassifier(
        "precomputed", n_components_removed=0, error_weight=weight_for(0.5), error_weight_unit="absolute"
    ).fit(K, y)

    # α = F₁ − F₀ from the estimator, F₀ + F₁ from the same system with 1 at every label.
    total = response(K, 0, weight_for(0.5)).solve((y != -1).astype(float)[:, np.newaxis]).alpha[:, 0]

    found = np.column_stack([total - model.alpha_, total + model.alpha_]) / 2
    assert relative_error(row_shares(found), wanted) < LIKE_THE_FIXED_POINT


@pytest.mark.parametrize("clamping", CLAMPING)
def test_targets_plus_decisions_on_the_graph_itself_are_label_spreading(labeled_graph, clamping):
    """K = S, although it is indefinite: y + f = (I − γS)⁻¹ y is Label Spreading with alpha = γ, up to 1 − γ."""
    W, y = labeled_graph
    wanted, _ = label_spreading(W, y, clamping)
    targets = naive_one_hot(y)
    # The largest eigenvalue of S is 1; no kernel is checked below the estimators.
    certificate = ConvexityCertificate(n_components_removed=0, next_eigenvalue=1.0).at(clamping)
    none = np.zeros((len(W), 0))
    problem = SemiKPCAResponse(DenseOperator(symmetric_normalized(W)), np.zeros(0), none, certificate, rtol=1e-14)

    solution = problem.solve(targets)

    S = symmetric_normalized(W)
    fixed_point = np.linalg.solve(np.eye(len(W)) - clamping * S, targets)
    assert relative_error(targets + solution.decision, fixed_point) < TO_ROUNDING
    assert relative_error(row_shares(targets + solution.decision), wanted) < LIKE_THE_FIXED_POINT


def test_weight_beyond_the_interval_is_label_spreading_that_does_not_converge(labeled_graph):
    W, _ = labeled_graph
    K = symmetric_normalized(W) + np.eye(len(W))

    bound = ConvexityCertificate.from_spectrum(removable_spectrum(DenseOperator(K), 0)[0], 0).error_weight_max

    # The largest eigenvalue of S is 1, so clamping 1 stands exactly at the end of the interval.
    assert bound == pytest.approx(weight_for(1.0), rel=TO_ROUNDING)


# -- Poisson learning (Calder et al. 2020) -------------------------------------------------------------------------
#
# On a connected graph with degrees D and Laplacian L = D − W, Poisson learning solves L u = Σ_j (y_j − ȳ) δ_j over the
# labeled rows j, with Σ d_i u_i = 0. With K = D^-½ W D^-½, k = 1 and γ = 1/λ1 = 1, Semi-KPCA at the targets
# b = D^-½ (y − ȳ) solves (I − K + v₁v₁ᵀ) α = b. Since b is orthogonal to v₁ ∝ D^½ 1, so is α, and D^-½ α = u on every
# row. The decision is f = K′α = α − b, so D^-½ f = u on unlabeled rows, while on a labeled row j it is
# u_j − (y_j − ȳ) / d_j: the source term itself is missing there.


def poisson_learning(W, sources):
    """Solve the Poisson system by least squares, then meet the constraint Σ d_i u_i = 0."""
    degrees = W.sum(axis=1)
    laplacian = np.diag(degrees) - W
    u = np.linalg.lstsq(laplacian, sources, rcond=None)[0]
    return u - degrees @ u / degrees.sum()


@pytest.fixture
def poisson_graph(labeled_graph):
    """The graph with self-loops, which make it positive semi-definite and leave L as it is; degrees; centered y."""
    W, y = labeled_graph
    W = W + np.diag(W.sum(axis=1))
    one_hot = naive_one_hot(y)
    labeled = y != -1
    sources = np.zeros_like(one_hot)
    sources[labeled] = one_hot[labeled] - one_hot[labeled].mean(axis=0)
    return W, y, sources


def test_poisson_learning_is_semi_kpca_at_the_first_bound(poisson_graph):
    W, y, sources = poisson_graph
    wanted = poisson_learning(W, sources)
    scale = 1 / np.sqrt(W.sum(axis=1))[:, np.newaxis]

    solution = response(symmetric_normalized(W), 1, 1.0).solve(scale * sources)

    unlabeled = y == -1
    found = scale * solution.decision
    assert relative_error(found[unlabeled], wanted[unlabeled]) < TO_ROUNDING
    assert relative_error(found[~unlabeled], (wanted - scale**2 * sources)[~unlabeled]) < TO_ROUNDING
    assert relative_error(scale * solution.alpha, wanted) < TO_ROUNDING
    # The Poisson system itself, at every row.
    laplacian = np.diag(W.sum(axis=1)) - W
    assert relative_error(laplacian @ (scale * solution.alpha), sources) < TO_ROUNDING
    assert np.abs(W.sum(axis=1) @ (scale * solution.alpha)).max() < TO_ROUNDING


def test_fitted_estimator_answers_poisson_learning_through_its_label_response(poisson_graph):
    W, y, sources = poisson_graph
    wanted = poisson_learning(W, sources)
    scale = 1 / np.sqrt(W.sum(axis=1))[:, np.newaxis]
    model = SemiKPCAClassifier("precomputed", n_components_removed=1, error_weight=1.0, error_weight_unit="absolute")
    model.fit(symmetric_normalized(W), y)
    labeled = np.flatnonzero(y != -1)

    decision = model.label_response(labeled) @ (scale * sources)[labeled]

    unlabeled = y == -1
    assert relative_error((scale * decision)[unlabeled], wanted[unlabeled]) < TO_ROUNDING
    assert model.eigenvalues_[0] == pytest.approx(1.0, rel=TO_ROUNDING)


def test_normalized_kernel_is_the_graph_of_poisson_learning(five_classes):
    X, y = five_classes
    model = SemiKPCAClassifier(
        Normalized(RBF(gamma=0.2)), n_components_removed=1, error_weight=1.0, error_weight_unit="absolute"
    ).fit(X, y)
    distances = np.linalg.norm(X[:, np.newaxis] - X, axis=2)
    W = np.exp(-0.2 * distances**2)
    one_hot, labeled = naive_one_hot(y), np.flatnonzero(y != -1)
    sources = np.zeros_like(one_hot)
    sources[labeled] = one_hot[labeled] - one_hot[labeled].mean(axis=0)
    scale = 1 / np.sqrt(W.sum(axis=1))[:, np.newaxis]

    decision = model.label_response(labeled) @ (scale * sources)[labeled]

    wanted = poisson_learning(W, sources)
    assert relative_error((scale * decision)[y == -1], wanted[y == -1]) < TO_ROUNDING


def test_first_component_stays_out_of_the_answer_whatever_the_targets(poisson_graph, rng):
    W, _, _ = poisson_graph
    first_component = np.sqrt(W.sum(axis=1) / W.sum())
    targets = rng.standard_normal((len(W), 2)) + 5 * first_component[:, np.newaxis]

    solution = response(symmetric_normalized(W), 1, 1.0).solve(targets)

    assert np.abs(first_component @ targets).min() > 1, "the targets are meant to have a part along it"
    assert np.abs(first_component @ solution.decision).max() < TO_ROUNDING
    assert np.abs(first_component @ solution.dual_coef).max() < TO_ROUNDING
