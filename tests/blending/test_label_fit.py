"""LS-SVM on the labels, and every left-out answer against a refit."""

import numpy as np
import pytest

from blending_oracles import label_fit, label_response, noise_variance, refits_without_each_label
from oracles import large_rbf, relative_error
from semikpca.blending import LabelSystem

NOISES = [0.1, 1.0, 10.0]

# The condition number of the systems is at most n_labeled / 0.1 times the ratio of diagonal entries, below 1e4; both
# ways solve them in double precision.
SAME_TO_ROUNDING = 1e-10


def random_kernel(generator):
    factor = generator.standard_normal((30, 40))
    return factor @ factor.T


def rank_two_kernel(generator):
    factor = generator.standard_normal((30, 2))
    return factor @ factor.T


def kernel_of_duplicate_rows(generator):
    rows = generator.standard_normal((10, 3))
    rows = np.vstack([rows, rows, rows])
    return large_rbf(rows, rows, 0.3)


def response_of_semi_kpca(generator):
    rows = generator.standard_normal((30, 3))
    K = large_rbf(rows, rows, 0.3)
    return label_response(K, 1, 0.9 / np.linalg.eigvalsh(K)[-2])


def kernel_of_unequal_rows(generator):
    scales = np.geomspace(0.1, 10.0, 30)
    return random_kernel(generator) * np.outer(scales, scales) / 100


KERNELS = [
    random_kernel,
    rank_two_kernel,
    kernel_of_duplicate_rows,
    response_of_semi_kpca,
    kernel_of_unequal_rows,
]
every_kernel = pytest.mark.parametrize("make_kernel", KERNELS, ids=lambda make: make.__name__)
every_noise = pytest.mark.parametrize("noise", NOISES)

LABELED = np.array([0, 3, 4, 10, 13, 17, 20, 22, 29])  # 0, 10 and 20, and 3 and 13, are duplicates where rows are
CODES = np.array([0, 1, 2, 0, 2, 1, 2, 0, 0])
TARGETS = np.eye(3)[CODES]


def system_of(K, labeled=LABELED):
    return LabelSystem(K[np.ix_(labeled, labeled)], K[:, labeled].mean(axis=0))


@every_kernel
@every_noise
def test_coefficients_and_intercept_solve_the_bordered_system(rng, make_kernel, noise):
    K = make_kernel(rng)

    fit = system_of(K).fit(TARGETS, noise)

    alpha, b = label_fit(K, LABELED, TARGETS, noise)
    assert relative_error(fit.coefficients, alpha) < SAME_TO_ROUNDING
    assert relative_error(fit.intercept, b) < SAME_TO_ROUNDING
    np.testing.assert_allclose(fit.coefficients.sum(axis=0), 0, atol=SAME_TO_ROUNDING * np.abs(alpha).max())


@every_kernel
@every_noise
def test_the_center_is_the_mean_over_all_rows(rng, make_kernel, noise):
    K = make_kernel(rng)

    fit = system_of(K).fit(TARGETS, noise)

    alpha, _ = label_fit(K, LABELED, TARGETS, noise)
    centered = K[:, LABELED] @ alpha
    np.testing.assert_allclose(fit.center, centered.mean(axis=0), atol=SAME_TO_ROUNDING * np.abs(centered).max())


@every_kernel
@every_noise
def test_left_out_answers_equal_a_refit_without_each_row(rng, make_kernel, noise):
    K = make_kernel(rng)

    fit = system_of(K).fit(TARGETS, noise)

    with_intercept, centered = refits_without_each_label(K, LABELED, TARGETS, noise)
    assert relative_error(fit.left_out, with_intercept) < SAME_TO_ROUNDING
    assert relative_error(fit.left_out_centered, centered) < SAME_TO_ROUNDING


@every_noise
def test_every_row_labeled_is_no_special_case(rng, noise):
    K = random_kernel(rng)
    everything = np.arange(len(K))
    targets = np.eye(2)[rng.integers(2, size=len(K))]

    fit = system_of(K, everything).fit(targets, noise)

    with_intercept, centered = refits_without_each_label(K, everything, targets, noise)
    assert relative_error(fit.left_out, with_intercept) < SAME_TO_ROUNDING
    assert relative_error(fit.left_out_centered, centered) < SAME_TO_ROUNDING


@every_kernel
@every_noise
def test_of_two_labels_the_one_that_is_left_speaks_for_all_rows(rng, make_kernel, noise):
    targets = np.eye(2)

    fit = system_of(make_kernel(rng), np.array([4, 17])).fit(targets, noise)

    np.testing.assert_allclose(fit.left_out, targets[::-1], atol=SAME_TO_ROUNDING)
    np.testing.assert_allclose(fit.left_out_centered, 0, atol=SAME_TO_ROUNDING)


@every_noise
def test_units_of_the_kernel_do_not_matter_to_left_out_answers(rng, noise):
    K = random_kernel(rng)
    fit = system_of(K).fit(TARGETS, noise)
    for factor in (1e-12, 1e12):
        scaled = system_of(factor * K).fit(TARGETS, noise)
        assert relative_error(scaled.left_out, fit.left_out) < SAME_TO_ROUNDING
        assert relative_error(scaled.left_out_centered, fit.left_out_centered) < SAME_TO_ROUNDING
        assert relative_error(scaled.intercept, fit.intercept) < SAME_TO_ROUNDING
        assert relative_error(factor * scaled.coefficients, fit.coefficients) < SAME_TO_ROUNDING


@every_noise
def test_a_constant_added_to_the_kernel_changes_nothing(rng, noise):
    # That is what a shift of all rows does to a linear kernel, on coefficients that sum to 0.
    K = random_kernel(rng)
    fit, shifted = (system_of(kernel).fit(TARGETS, noise) for kernel in (K, K + 1000.0))
    for name in ("coefficients", "left_out", "left_out_centered"):
        # 1000 is a hundred times the smallest noise: two digits more are lost.
        assert relative_error(getattr(shifted, name), getattr(fit, name)) < 100 * SAME_TO_ROUNDING, name


def test_much_noise_leaves_centered_targets(rng):
    K = random_kernel(rng)
    noise = 1e8

    fit = system_of(K).fit(TARGETS, noise)

    # What is left out is of the order of the kernel over the noise.
    np.testing.assert_allclose(
        fit.coefficients * noise_variance(K, LABELED, noise), TARGETS - TARGETS.mean(axis=0), atol=1e-6
    )
    np.testing.assert_allclose(fit.intercept, TARGETS.mean(axis=0), atol=1e-6)


def test_little_noise_repeats_the_labels(rng):
    K = random_kernel(rng)

    fit = system_of(K).fit(TARGETS, 1e-8)

    answers = K[np.ix_(LABELED, LABELED)] @ fit.coefficients + fit.intercept
    np.testing.assert_allclose(answers, TARGETS, atol=1e-6)  # the noise, times a condition number of about ten


def test_the_answer_is_linear_in_the_targets(rng):
    system = system_of(random_kernel(rng))
    first, second = rng.standard_normal((2, len(LABELED), 3))

    both, one, other = (system.fit(targets, 1.0) for targets in (2 * first - second, first, second))

    for name in ("coefficients", "intercept", "center", "left_out", "left_out_centered"):
        combined = 2 * getattr(one, name) - getattr(other, name)
        np.testing.assert_allclose(getattr(both, name), combined, atol=SAME_TO_ROUNDING)


@every_kernel
def test_a_system_serves_several_noise_levels_and_is_not_changed_by_them(rng, make_kernel):
    K = make_kernel(rng)
    system = system_of(K)
    alone = {noise: system_of(K).fit(TARGETS, noise) for noise in NOISES}

    for noise in [*NOISES, *NOISES]:
        np.testing.assert_array_equal(system.fit(TARGETS, noise).left_out, alone[noise].left_out)
    np.testing.assert_array_equal(system.kernel, K[np.ix_(LABELED, LABELED)])


def test_float32_kernels_are_solved_in_double_precision(rng):
    K = random_kernel(rng).astype(np.float32)

    fit = system_of(K).fit(TARGETS, 0.1)

    with_intercept, _ = refits_without_each_label(K.astype(float), LABELED, TARGETS, 0.1)
    assert fit.left_out.dtype == np.float64
    assert relative_error(fit.left_out, with_intercept) < SAME_TO_ROUNDING


@pytest.mark.parametrize("value", [0.1, 1 / 3, 7.3, 1e6 / 3])
@pytest.mark.parametrize("n_labeled", [2, 3, 7, 10])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_labeled_rows_that_a_kernel_cannot_tell_apart_have_no_scale(rng, value, n_labeled, dtype):
    # Entries that differ by rounding only: a positive scale would make a system that is singular to working precision.
    kernel = (value * (1 + np.finfo(dtype).eps * rng.standard_normal((n_labeled, n_labeled)))).astype(dtype)

    system = LabelSystem((kernel + kernel.T) / 2, kernel.mean(axis=0))

    assert not system.scale > 0


# -- many labels and classes -------------------------------------------------------------------------------------------

MANY = 150  # more than are inverted in the plain way


def many_labels(generator, n_classes=40):
    factor = generator.standard_normal((200, 60))
    labeled = np.sort(generator.choice(200, MANY, replace=False))
    return factor @ factor.T, labeled, np.eye(n_classes)[generator.integers(n_classes, size=MANY)]


@every_noise
@pytest.mark.parametrize("n_classes", [3, 40])
def test_many_labels_and_classes_solve_the_same_system(rng, noise, n_classes):
    K, labeled, targets = many_labels(rng, n_classes)
    fit = system_of(K, labeled).fit(targets, noise)
    coefficients, intercept = label_fit(K, labeled, targets, noise)
    assert relative_error(fit.coefficients, coefficients) < SAME_TO_ROUNDING
    assert relative_error(fit.intercept, intercept) < SAME_TO_ROUNDING


def test_many_labels_are_left_out_as_by_refits(rng):
    K, labeled, targets = many_labels(rng, 3)
    fit = system_of(K, labeled).fit(targets, 1.0)
    with_intercept, centered = refits_without_each_label(K, labeled, targets, 1.0)
    assert relative_error(fit.left_out, with_intercept) < SAME_TO_ROUNDING
    assert relative_error(fit.left_out_centered, centered) < SAME_TO_ROUNDING


def test_a_kernel_that_is_not_quite_definite_is_solved_all_the_same(rng):
    K, labeled, targets = many_labels(rng, 3)
    values, vectors = np.linalg.eigh(K)
    values[:5] = -0.5 * np.trace(K) / len(K)  # they were 0; the noise makes up for a fifth of that
    K = (vectors * values) @ vectors.T
    system = K[np.ix_(labeled, labeled)] + noise_variance(K, labeled, 0.1) * np.eye(MANY)
    assert np.linalg.eigvalsh(system)[0] < 0
    fit = system_of(K, labeled).fit(targets, 0.1)
    coefficients, _ = label_fit(K, labeled, targets, 0.1)
    assert relative_error(fit.coefficients, coefficients) < SAME_TO_ROUNDING


def test_solves_that_leave_the_kernel_slightly_unsymmetric_count_from_both_sides(rng):
    K, labeled, targets = many_labels(rng, 3)
    skew = 1e-3 * rng.standard_normal(K.shape)
    skew -= skew.T
    unsymmetric = LabelSystem((K + skew)[np.ix_(labeled, labeled)], K[:, labeled].mean(axis=0)).fit(targets, 1.0)
    symmetric = system_of(K, labeled).fit(targets, 1.0)
    assert relative_error(unsymmetric.coefficients, symmetric.coefficients) < SAME_TO_ROUNDING
