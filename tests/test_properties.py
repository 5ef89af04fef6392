"""Mathematics that must hold for any data: drawn by hypothesis, the same draws in every run."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import relative_error
from semikpca import SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.convexity import ConvexityCertificate
from semikpca.kernels import RBF, Laplacian, Normalized
from semikpca.labeling import leave_one_label_out
from semikpca.operators import DenseOperator
from semikpca.problem import LSSVMResponse, SemiKPCAResponse
from semikpca.spectrum import full_spectrum

steady = settings(deadline=None, derandomize=True, max_examples=40, database=None)

# Draws whose eigenvalues nearly meet at the cut are set aside (see `cut_is_clear`), so the removed space is known to
# about eps / gap ~ 1e-12, and the condition number is at most 1e2.
SAME_TO_ROUNDING = 1e-8

seeds = st.integers(0, 2**32 - 1)
weights = st.one_of(st.just("middle"), st.floats(0.05, 0.99))
components_removed = st.integers(0, 3)


@st.composite
def labeled_rows(draw, n_classes=None):
    """Rows with a few labels, at least two of each class."""
    generator = np.random.default_rng(draw(seeds))
    n_classes = draw(st.integers(2, 4)) if n_classes is None else n_classes
    n = draw(st.integers(4 * n_classes, 40))
    X = generator.standard_normal((n, draw(st.integers(2, 6))))
    y = np.full(n, -1)
    rows = generator.permutation(n)
    n_labeled = draw(st.integers(2 * n_classes, n))
    y[rows[:n_labeled]] = np.arange(n_labeled) % n_classes
    return X, y


def cut_is_clear(model):
    """Whether the removed space is well defined: a gap of a thousandth of the largest eigenvalue."""
    return model.certificate_.gap > 1e-3 * model.eigenvalues_[0]


@steady
@given(data=labeled_rows(), k=components_removed, weight=weights, seed=seeds)
@pytest.mark.parametrize("kernel", [RBF(), Laplacian(), Normalized(RBF())], ids=["rbf", "laplacian", "normalized"])
def test_rows_permuted_are_decisions_permuted(kernel, data, k, weight, seed):
    X, y = data
    order = np.random.default_rng(seed).permutation(len(X))
    model = SemiKPCAClassifier(kernel, n_components_removed=k, error_weight=weight).fit(X, y)
    assume(cut_is_clear(model))

    permuted = SemiKPCAClassifier(kernel, n_components_removed=k, error_weight=weight).fit(X[order], y[order])

    assert relative_error(permuted.decision_, model.decision_[order]) < SAME_TO_ROUNDING


@steady
@given(data=labeled_rows(), weight=st.floats(1e-3, 1e3), intercept=st.booleans(), seed=seeds)
def test_rows_permuted_are_lssvm_decisions_permuted(data, weight, intercept, seed):
    X, y = data
    order = np.random.default_rng(seed).permutation(len(X))
    model = SemiLSSVMClassifier(error_weight=weight, fit_intercept=intercept)

    wanted = model.fit(X, y).decision_[order]

    assert relative_error(model.fit(X[order], y[order]).decision_, wanted) < SAME_TO_ROUNDING


@st.composite
def responses(draw):
    """A label response of either kind on a random kernel matrix."""
    generator = np.random.default_rng(draw(seeds))
    n = draw(st.integers(8, 40))
    factor = generator.standard_normal((n, n))
    operator = DenseOperator(factor @ factor.T / n)
    if draw(st.booleans()):
        k, share = draw(components_removed), draw(st.floats(0.05, 0.99))
        spectrum = full_spectrum(operator)
        interval = ConvexityCertificate.from_spectrum(spectrum, k)
        certificate = interval.at(interval.resolve(share))
        removed = spectrum.head(k)
        return SemiKPCAResponse(operator, removed.eigenvalues, removed.eigenvectors, certificate, rtol=1e-12), generator
    return LSSVMResponse(
        operator, draw(st.floats(0.01, 100.0)), fit_intercept=draw(st.booleans()), rtol=1e-12, max_iter=None
    ), generator


@steady
@given(drawn=responses(), a=st.floats(-5, 5), b=st.floats(-5, 5))
def test_everything_is_linear_in_the_targets(drawn, a, b):
    assume(abs(a) + abs(b) > 0.1)
    problem, generator = drawn
    first, second = generator.standard_normal((2, problem.operator.n, 3))

    mixed = problem.solve(a * first + b * second)

    one, other = problem.solve(first), problem.solve(second)
    for name in ("alpha", "dual_coef", "decision"):
        wanted = a * getattr(one, name) + b * getattr(other, name)
        assert relative_error(getattr(mixed, name), wanted) < SAME_TO_ROUNDING, name
    scale = np.abs([one.intercept, other.intercept]).max() + np.linalg.norm(mixed.decision)
    assert np.abs(mixed.intercept - (a * one.intercept + b * other.intercept)).max() < SAME_TO_ROUNDING * scale


@steady
@given(drawn=responses())
def test_columns_of_the_response_build_every_decision(drawn):
    problem, generator = drawn
    n = problem.operator.n
    targets = generator.standard_normal((n, 2))

    H = problem.columns(np.arange(n)).decision

    assert relative_error(H @ targets, problem.solve(targets).decision) < SAME_TO_ROUNDING
    assert relative_error(H, H.T) < SAME_TO_ROUNDING


@steady
@given(drawn=responses())
def test_no_target_is_no_decision(drawn):
    problem, _ = drawn

    solution = problem.solve(np.zeros((problem.operator.n, 1)))

    assert not solution.alpha.any()
    assert not solution.decision.any()
    assert not solution.intercept.any()


@steady
@given(data=labeled_rows(), k=components_removed, weight=weights, exponent=st.floats(-9, 9))
def test_kernel_scaled_leaves_decisions_and_divides_multipliers(data, k, weight, exponent):
    X, y = data
    factor = 10.0**exponent
    distances = np.linalg.norm(X[:, np.newaxis] - X, axis=2)
    K = np.exp(-0.3 * distances**2)
    model = SemiKPCAClassifier("precomputed", n_components_removed=k, error_weight=weight).fit(K, y)
    assume(cut_is_clear(model))

    scaled = SemiKPCAClassifier("precomputed", n_components_removed=k, error_weight=weight).fit(factor * K, y)

    # (I/γ − K′)α = y with γ relative to 1/λ: γ and α are divided by the factor, f = K′α and the labels stay.
    np.testing.assert_array_equal(scaled.transduction_, model.transduction_)
    assert relative_error(scaled.decision_, model.decision_) < SAME_TO_ROUNDING
    assert relative_error(factor * scaled.alpha_, model.alpha_) < SAME_TO_ROUNDING
    assert relative_error(factor * scaled.dual_coef_, model.dual_coef_) < SAME_TO_ROUNDING
    assert scaled.error_weight_ * factor == pytest.approx(model.error_weight_, rel=SAME_TO_ROUNDING)
    assert scaled.certificate_.relative_weight == pytest.approx(
        model.certificate_.relative_weight, rel=SAME_TO_ROUNDING
    )
    assert relative_error(scaled.label_distributions_, model.label_distributions_) < SAME_TO_ROUNDING


@steady
@given(data=labeled_rows(), intercept=st.booleans(), exponent=st.floats(-6, 6))
def test_kernel_scaled_leaves_lssvm_decisions_where_the_weight_is_divided(data, intercept, exponent):
    X, y = data
    factor = 10.0**exponent
    distances = np.linalg.norm(X[:, np.newaxis] - X, axis=2)
    K = np.exp(-0.3 * distances**2)
    model = SemiLSSVMClassifier("precomputed", error_weight=2.0, fit_intercept=intercept).fit(K, y)

    scaled = SemiLSSVMClassifier("precomputed", error_weight=2.0 / factor, fit_intercept=intercept).fit(factor * K, y)

    assert relative_error(scaled.decision_, model.decision_) < SAME_TO_ROUNDING


@steady
@given(data=labeled_rows(n_classes=2), k=components_removed, weight=weights)
def test_two_classes_swapped_flip_the_sign(data, k, weight):
    X, y = data
    swapped = np.where(y == -1, -1, 1 - y)
    model = SemiKPCAClassifier(n_components_removed=k, error_weight=weight).fit(X, y)

    other = SemiKPCAClassifier(n_components_removed=k, error_weight=weight).fit(X, swapped)

    assert relative_error(other.decision_, -model.decision_) < SAME_TO_ROUNDING
    assert relative_error(other.dual_coef_, -model.dual_coef_) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(other.transduction_, 1 - model.transduction_)
    assert other.sharpness_ == pytest.approx(model.sharpness_, rel=SAME_TO_ROUNDING)
    assert relative_error(other.label_distributions_[:, ::-1], model.label_distributions_) < SAME_TO_ROUNDING


@steady
@given(data=labeled_rows(n_classes=4), order=st.permutations(range(4)))
def test_classes_renamed_permute_the_columns(data, order):
    X, y = data
    order = np.array(order)
    model = SemiKPCAClassifier(error_weight=0.8).fit(X, y)

    renamed = SemiKPCAClassifier(error_weight=0.8).fit(X, np.where(y == -1, -1, order[y]))

    assert relative_error(renamed.decision_[:, order], model.decision_) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(renamed.transduction_, order[model.transduction_])


@st.composite
def rows_on_a_grid(draw):
    """Labeled rows in multiples of 1/64, so that adding a whole number changes no digit of them."""
    X, y = draw(labeled_rows())
    return np.round(64 * X) / 64, y


@steady
@given(
    data=rows_on_a_grid(),
    k=components_removed,
    weight=weights,
    shift=st.lists(st.integers(-(10**9), 10**9), min_size=6, max_size=6),
)
def test_rows_shifted_change_nothing_for_rbf(data, k, weight, shift):
    X, y = data
    shift = np.array(shift[: X.shape[1]], dtype=float)
    assert ((X + shift) - shift == X).all(), "the shift itself must not round"
    new = X[::2] + 0.5
    model = SemiKPCAClassifier(RBF(gamma=0.3), n_components_removed=k, error_weight=weight).fit(X, y)
    assume(cut_is_clear(model))

    shifted = SemiKPCAClassifier(RBF(gamma=0.3), n_components_removed=k, error_weight=weight).fit(X + shift, y)

    assert relative_error(shifted.decision_, model.decision_) < SAME_TO_ROUNDING
    assert relative_error(shifted.decision_function(new + shift), model.decision_function(new)) < SAME_TO_ROUNDING


@steady
@given(data=rows_on_a_grid(), shift=st.integers(-(10**6), 10**6))
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_rows_shifted_change_nothing_under_the_median_rule(kernel, data, shift):
    X, y = data
    model = SemiKPCAClassifier(kernel).fit(X, y)
    assume(cut_is_clear(model))

    assert relative_error(SemiKPCAClassifier(kernel).fit(X + shift, y).decision_, model.decision_) < SAME_TO_ROUNDING


@steady
@given(data=labeled_rows(), factor=st.floats(0.01, 100.0))
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_units_of_the_features_do_not_matter_under_the_median_rule(kernel, data, factor):
    X, y = data
    model = SemiKPCAClassifier(kernel).fit(X, y)
    assume(cut_is_clear(model))

    assert relative_error(SemiKPCAClassifier(kernel).fit(factor * X, y).decision_, model.decision_) < SAME_TO_ROUNDING


@steady
@given(data=labeled_rows(), k=components_removed, weight=weights)
def test_label_left_out_and_its_share_add_up_to_the_decision(data, k, weight):
    X, y = data
    model = SemiKPCAClassifier(n_components_removed=k, error_weight=weight).fit(X, y)
    left_out = leave_one_label_out(model)
    decision = model.decision_ if model.decision_.ndim == 2 else model.decision_[:, np.newaxis]
    without = left_out.decision.reshape(len(left_out.rows), -1)

    own = np.diagonal(model.label_response(left_out.rows)[left_out.rows])

    # H is positive semi-definite: a label never speaks against itself.
    assert (own > -SAME_TO_ROUNDING).all()
    signs = np.sign((decision[left_out.rows] - without) / np.maximum(own, 1e-300)[:, np.newaxis])
    clear = own > 1e-6
    codes = model.label_coding_.codes[left_out.rows]
    if decision.shape[1] == 1:
        wanted = np.where(codes == 1, 1, -1)[:, np.newaxis]
    else:
        wanted = np.where(codes[:, np.newaxis] == np.arange(decision.shape[1]), 1, -1)
    np.testing.assert_array_equal(signs[clear], wanted[clear])
