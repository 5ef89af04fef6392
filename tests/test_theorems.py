"""Theorem 1's three regimes and Theorem 2's two, around every bound of several spectra, repeated eigenvalues included.

Matrices are built from a spectrum, K = Q diag(λ) Qᵀ; the bounds 1/λ(k+1) come from NumPy's eigenvalues of K, not
from the package.
"""

import warnings

import numpy as np
import pytest
from scipy.linalg import block_diag

from semikpca import ConvexKernelPCA, SemiKPCAClassifier
from semikpca.convexity import Regime
from semikpca.exceptions import DegenerateSpectrumWarning, KernelRankError, UnboundedProblemError
from semikpca.kernels import RBF

# How far from a bound a weight still has to be told from it, relative. Eigenvalues of these matrices are known to
# about 1e-13 of the smallest, so both are resolved with room.
DISTANCES = [1e-6, 1e-9]
# What rounding leaves of a zero objective, in units of ‖w‖² = 1, and of an eigenvalue of these matrices.
ROUNDING = 1e-12
# Distances of 1e-9 and less are small differences of numbers of order one: a few digits of them are known.
FEW_DIGITS = 1e-2
# Two ways to the same decision agree to this, relative to the largest decision; condition numbers here are small.
DECISION_TOLERANCE = 1e-9
# At a distance of 1e-9 from the bound, nine digits are lost to the condition number.
DECISION_TOLERANCE_AT_THE_EDGE = 1e-4

SPECTRA = {
    "full rank": 5.0 * 0.7 ** np.arange(12),
    "rank-deficient": np.concatenate([[7.0, 4.0, 2.5, 1.0, 0.6, 0.1], np.zeros(7)]),
    "degenerate": np.array([6.0, 3.0, 3.0, 2.0, 1.0, 1.0, 1.0, 0.5, 0.2]),
    "degenerate and rank-deficient": np.array([4.0, 4.0, 2.0, 1.0, 1.0, 0.3, 0.0, 0.0, 0.0, 0.0]),
}
SIMPLE_SPECTRA = ["full rank", "rank-deficient"]


def matrix_with(spectrum, seed=0, rotation=None):
    """Q diag(spectrum) Qᵀ for a random orthogonal Q; ``rotation`` turns the eigenvectors among each other."""
    n = len(spectrum)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    if rotation is not None:
        Q = Q @ rotation
    K = (Q * spectrum) @ Q.T
    return (K + K.T) / 2


def numpy_spectrum(K):
    values, vectors = np.linalg.eigh(K)
    return values[::-1], vectors[:, ::-1]


def components(names):
    """Every (spectrum, k) with k from 0 to rank − 1."""
    return [
        pytest.param(name, k, id=f"{name}, k={k}") for name in names for k in range(np.count_nonzero(SPECTRA[name]))
    ]


def two_labels(n):
    y = np.full(n, -1)
    y[1], y[4] = 0, 1
    return y


def signed(y):
    return np.select([y == 1, y == 0], [1.0, -1.0], 0.0)


def filtered_targets(K, k, error_weight, targets):
    """Σ γλ/(1 − γλ) v vᵀ y over the components after the first k: the solution of Problem 4 from the spectrum."""
    values, vectors = numpy_spectrum(K)
    gains = error_weight * values[k:] / (1 - error_weight * values[k:])
    return vectors[:, k:] @ (gains * (vectors[:, k:].T @ targets))


def assert_same_decision(actual, expected, tolerance=DECISION_TOLERANCE):
    np.testing.assert_allclose(actual, expected, atol=tolerance * np.abs(expected).max(), rtol=0)


def semi_kpca(k, error_weight="middle", unit="relative"):
    return SemiKPCAClassifier("precomputed", n_components_removed=k, error_weight=error_weight, error_weight_unit=unit)


# -- Theorem 1 ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kernel_pca_of():
    """Fitted models by the name of the spectrum, with two components kept whatever k is asked for later."""
    matrices = {name: matrix_with(spectrum) for name, spectrum in SPECTRA.items()}
    return {
        name: (ConvexKernelPCA(n_components=2, kernel="precomputed").fit(K), K, *numpy_spectrum(K))
        for name, K in matrices.items()
    }


@pytest.mark.parametrize(("name", "k"), components(SPECTRA))
@pytest.mark.parametrize("distance", DISTANCES)
def test_just_below_the_bound_only_zero_solves_kernel_pca(kernel_pca_of, name, k, distance):
    model, _, values, vectors = kernel_pca_of[name]
    weight = (1 - distance) / values[k]
    assert model.regime(weight, k) is Regime.TRIVIAL
    assert model.certificate(k).at(weight).regime is Regime.TRIVIAL
    # The objective at ψ(k+1) is ½ (1 − γ λ(k+1)): half of the distance, and above zero.
    objective = model.objective(vectors[:, k] / np.sqrt(values[k]), weight, k)
    assert objective == pytest.approx(distance / 2, abs=ROUNDING)
    assert objective > 0


@pytest.mark.parametrize(("name", "k"), components(SPECTRA))
def test_at_the_bound_the_next_component_solves_kernel_pca(kernel_pca_of, name, k):
    model, _, values, vectors = kernel_pca_of[name]
    weight = 1 / values[k]
    assert model.regime(weight, k) is Regime.SUBSPACE
    assert model.certificate(k).at(weight).regime is Regime.SUBSPACE
    component = vectors[:, k] / np.sqrt(values[k])
    for amount in (1.0, -1.0, 3.0):
        assert model.objective(amount * component, weight, k) == pytest.approx(0, abs=ROUNDING * amount**2)


@pytest.mark.parametrize(("name", "k"), components(SPECTRA))
@pytest.mark.parametrize("distance", DISTANCES)
def test_just_above_the_bound_kernel_pca_falls_without_end(kernel_pca_of, name, k, distance):
    model, _, values, vectors = kernel_pca_of[name]
    weight = (1 + distance) / values[k]
    assert model.regime(weight, k) is Regime.UNBOUNDED
    assert model.certificate(k).at(weight).regime is Regime.UNBOUNDED
    component = vectors[:, k] / np.sqrt(values[k])
    objective = model.objective(component, weight, k)
    assert objective == pytest.approx(-distance / 2, abs=ROUNDING)
    assert objective < 0
    assert model.objective(1e3 * component, weight, k) == pytest.approx(1e6 * objective, rel=FEW_DIGITS)


@pytest.mark.parametrize(("name", "k"), components(SPECTRA))
def test_the_certificate_states_the_bound_of_every_component(kernel_pca_of, name, k):
    model, _, values, _ = kernel_pca_of[name]
    certificate = model.certificate(k)
    assert certificate.n_components_removed == k
    assert certificate.error_weight_max == pytest.approx(1 / values[k], rel=ROUNDING)
    # It promises no more than the true bound.
    assert certificate.error_weight_max < 1 / values[k]
    np.testing.assert_allclose(certificate.eigenvalues, values[: k + 1], rtol=ROUNDING)


@pytest.mark.parametrize(("name", "k"), components(SPECTRA))
def test_no_direction_is_below_zero_up_to_the_bound(kernel_pca_of, name, k):
    model, K, values, _ = kernel_pca_of[name]
    directions = np.random.default_rng(5).normal(size=(20, len(K)))
    for coefficients in directions:
        size = coefficients @ K @ coefficients
        assert model.objective(coefficients, (1 - 1e-6) / values[k], k) > 0
        assert model.objective(coefficients, 1 / values[k], k) > -ROUNDING * size


@pytest.mark.parametrize("name", SPECTRA)
def test_what_lies_along_removed_components_does_not_count(kernel_pca_of, name):
    model, _, values, vectors = kernel_pca_of[name]
    k = 3 if name.startswith("degenerate") else 2
    weight = 0.5 / values[k]
    kept = vectors[:, k:] @ np.random.default_rng(6).normal(size=len(values) - k)
    removed = 5.0 * vectors[:, :k].sum(axis=1)
    alone = model.objective(kept, weight, k)
    assert model.objective(kept + removed, weight, k) == pytest.approx(alone, rel=DECISION_TOLERANCE)


# -- Theorem 2 ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "k"), components(SIMPLE_SPECTRA))
@pytest.mark.parametrize("distance", DISTANCES)
def test_just_below_the_bound_semi_kpca_has_its_one_solution(name, k, distance):
    K = matrix_with(SPECTRA[name])
    values, _ = numpy_spectrum(K)
    weight = (1 - distance) / values[k]
    y = two_labels(len(K))
    model = semi_kpca(k, weight, "absolute").fit(K, y)
    assert model.certificate_.regime is Regime.TRIVIAL
    assert model.certificate_.regime.has_unique_solution
    expected = filtered_targets(K, k, weight, signed(y))
    assert_same_decision(model.decision_, expected, DECISION_TOLERANCE_AT_THE_EDGE)


@pytest.mark.parametrize(("name", "k"), components(SIMPLE_SPECTRA))
@pytest.mark.parametrize("distance", [0.0, *DISTANCES, 0.5])
def test_at_and_above_the_bound_semi_kpca_is_refused(name, k, distance):
    K = matrix_with(SPECTRA[name])
    values, _ = numpy_spectrum(K)
    weight = (1 + distance) / values[k]
    with pytest.raises(UnboundedProblemError) as caught:
        semi_kpca(k, weight, "absolute").fit(K, two_labels(len(K)))
    assert caught.value.error_weight == weight
    assert caught.value.error_weight_max == pytest.approx(1 / values[k], rel=ROUNDING)
    assert caught.value.n_components_removed == k


@pytest.mark.parametrize(("name", "k"), components(SIMPLE_SPECTRA))
def test_a_relative_weight_of_one_is_the_bound(name, k):
    K = matrix_with(SPECTRA[name])
    y = two_labels(len(K))
    assert semi_kpca(k, 1 - 1e-9).fit(K, y).certificate_.relative_weight == pytest.approx(1 - 1e-9, rel=ROUNDING)
    with pytest.raises(UnboundedProblemError):
        semi_kpca(k, 1.0).fit(K, y)


@pytest.mark.parametrize("name", SPECTRA)
def test_the_largest_relative_weight_below_one_can_still_be_solved(name):
    # The bound keeps a distance of rounding from 1/λ(k+1), so that the system is definite even here.
    K = matrix_with(SPECTRA[name])
    k = 2 if name == "degenerate and rank-deficient" else 1
    model = semi_kpca(k, np.nextafter(1, 0)).fit(K, two_labels(len(K)))
    assert np.isfinite(model.decision_).all()


@pytest.mark.parametrize("name", SIMPLE_SPECTRA)
def test_as_many_components_as_the_rank_cannot_be_removed(name):
    K = matrix_with(SPECTRA[name])
    rank = np.linalg.matrix_rank(K)
    with pytest.raises(KernelRankError, match=f"rank {rank}, so at most {rank - 1} components") as caught:
        semi_kpca(rank).fit(K, two_labels(len(K)))
    assert (caught.value.requested, caught.value.rank, caught.value.n_samples) == (rank, rank, len(K))


@pytest.mark.parametrize("k", [9, 12, 13, 100])
def test_more_components_than_the_rank_cannot_be_removed(k):
    K = matrix_with(SPECTRA["rank-deficient"])
    with pytest.raises(KernelRankError, match="rank 6, so at most 5 components"):
        semi_kpca(k).fit(K, two_labels(len(K)))


# -- repeated eigenvalues across the cut -------------------------------------------------------------------------

SPLITS = [
    pytest.param("degenerate", 2, 3, 3.0, id="pair"),
    pytest.param("degenerate", 5, 7, 1.0, id="first of three"),
    pytest.param("degenerate", 6, 7, 1.0, id="second of three"),
    pytest.param("degenerate and rank-deficient", 1, 2, 4.0, id="leading pair"),
    pytest.param("degenerate and rank-deficient", 4, 5, 1.0, id="pair before the last"),
]


def fit_degenerate(model, K, y):
    with pytest.warns(DegenerateSpectrumWarning) as caught:
        model.fit(K, y)
    assert len(caught) == 1
    return model, caught[0].message


@pytest.mark.parametrize(("name", "requested", "removed", "eigenvalue"), SPLITS)
def test_a_cut_through_an_eigenspace_removes_all_of_it_and_says_so(name, requested, removed, eigenvalue):
    K = matrix_with(SPECTRA[name])
    model, warning = fit_degenerate(semi_kpca(requested), K, two_labels(len(K)))
    assert (warning.requested, warning.removed) == (requested, removed)
    assert warning.eigenvalue == pytest.approx(eigenvalue, rel=ROUNDING)
    assert f"n_components_removed={requested} " in str(warning)
    assert f"n_components_removed={removed} " in str(warning)
    assert f"eigenvalue {eigenvalue:g}" in str(warning)
    assert model.certificate_.n_components_removed == removed
    assert model.eigenvectors_.shape == (len(K), removed)
    assert model.eigenvalues_.shape == (removed + 1,)


@pytest.mark.parametrize(("name", "requested", "removed", "eigenvalue"), SPLITS)
@pytest.mark.parametrize("error_weight", ["middle", 0.9])
def test_a_cut_through_an_eigenspace_equals_asking_for_all_of_it(name, requested, removed, eigenvalue, error_weight):
    K = matrix_with(SPECTRA[name])
    y = two_labels(len(K))
    widened, _ = fit_degenerate(semi_kpca(requested, error_weight), K, y)
    asked = semi_kpca(removed, error_weight).fit(K, y)
    np.testing.assert_array_equal(widened.decision_, asked.decision_)
    assert widened.certificate_ == asked.certificate_


@pytest.mark.parametrize(("name", "requested", "removed", "eigenvalue"), SPLITS)
def test_the_bound_after_a_widened_cut_is_that_of_the_next_eigenvalue(name, requested, removed, eigenvalue):
    K = matrix_with(SPECTRA[name])
    y = two_labels(len(K))
    bound = 1 / SPECTRA[name][removed]
    model, _ = fit_degenerate(semi_kpca(requested, (1 - 1e-6) * bound, "absolute"), K, y)
    expected = filtered_targets(K, removed, (1 - 1e-6) * bound, signed(y))
    assert_same_decision(model.decision_, expected, DECISION_TOLERANCE_AT_THE_EDGE)
    with pytest.warns(DegenerateSpectrumWarning), pytest.raises(UnboundedProblemError) as caught:
        semi_kpca(requested, bound, "absolute").fit(K, y)
    assert caught.value.n_components_removed == removed


@pytest.mark.parametrize(("name", "requested", "removed", "eigenvalue"), SPLITS)
def test_the_decision_does_not_depend_on_which_eigenvectors_span_the_eigenspace(name, requested, removed, eigenvalue):
    # The same matrix up to rounding, made from an eigenbasis that is turned inside each eigenspace.
    spectrum = SPECTRA[name]
    generator = np.random.default_rng(7)
    sizes = np.unique(spectrum, return_counts=True)[1][::-1]
    rotation = block_diag(*[np.linalg.qr(generator.normal(size=(size, size)))[0] for size in sizes])
    y = two_labels(len(spectrum))
    plain, _ = fit_degenerate(semi_kpca(requested), matrix_with(spectrum), y)
    turned, _ = fit_degenerate(semi_kpca(requested), matrix_with(spectrum, rotation=rotation), y)
    assert_same_decision(turned.decision_, plain.decision_)


@pytest.mark.parametrize(("name", "requested", "removed", "eigenvalue"), SPLITS)
def test_the_decision_follows_a_permutation_of_the_rows(name, requested, removed, eigenvalue):
    K = matrix_with(SPECTRA[name])
    y = two_labels(len(K))
    order = np.random.default_rng(8).permutation(len(K))
    plain, _ = fit_degenerate(semi_kpca(requested), K, y)
    permuted, _ = fit_degenerate(semi_kpca(requested), K[np.ix_(order, order)], y[order])
    assert_same_decision(permuted.decision_, plain.decision_[order])


@pytest.mark.parametrize("k", [1, 3, 4, 7, 8])
def test_a_cut_between_eigenspaces_is_taken_as_it_is(k):
    # Warnings are errors here: none may come.
    K = matrix_with(SPECTRA["degenerate"])
    assert semi_kpca(k).fit(K, two_labels(len(K))).certificate_.n_components_removed == k


def test_eigenvalues_that_are_close_but_not_equal_are_told_apart():
    spectrum = np.array([5.0, 2.0, 2.0 * (1 - 1e-10), 1.0, 0.5])
    K = matrix_with(spectrum)
    model = semi_kpca(2).fit(K, two_labels(len(K)))
    assert model.certificate_.n_components_removed == 2
    assert model.certificate_.gap == pytest.approx(2e-10, rel=FEW_DIGITS)


def test_points_on_a_regular_polygon_have_paired_eigenvalues():
    # A natural case: rotations of the polygon leave the kernel as it is, so all but one or two eigenvalues are pairs.
    angles = 2 * np.pi * np.arange(9) / 9
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    y = np.array([0, -1, -1, -1, 1, -1, -1, -1, -1])
    model, warning = fit_degenerate(SemiKPCAClassifier(RBF(gamma=0.5), n_components_removed=2), X, y)
    assert (warning.requested, warning.removed) == (2, 3)
    # The mirror image of the polygon that swaps the two labels swaps the classes.
    mirrored = (4 - np.arange(9)) % 9
    assert_same_decision(model.decision_[mirrored], -model.decision_)


@pytest.mark.parametrize(
    ("spectrum", "k", "removed"),
    [
        pytest.param(np.ones(10), 1, 10, id="identity"),
        pytest.param(np.full(10, 0.25), 5, 10, id="multiple of the identity"),
        pytest.param(np.array([5.0, 1, 1, 1, 1]), 2, 5, id="one component and then the identity"),
        pytest.param(np.array([5.0, 1, 1, 0, 0, 0]), 2, 3, id="repeated up to the rank"),
        pytest.param(np.array([1.0, 1, 0, 0, 0, 0]), 1, 2, id="two equal components"),
    ],
)
def test_an_eigenvalue_repeated_to_the_end_leaves_nothing_behind_the_cut(spectrum, k, removed):
    K = matrix_with(spectrum)
    with pytest.raises(KernelRankError, match="repeated eigenvalue") as caught:
        semi_kpca(k).fit(K, two_labels(len(K)))
    error = caught.value
    assert (error.requested, error.removed, error.rank) == (k, removed, np.count_nonzero(spectrum))
    # It does not say that k is too large for the rank: it is not.
    assert "at most" not in str(error)
    assert f"n_components_removed={k} " in str(error)
    assert f"rank {error.rank}" in str(error)


def test_the_exact_identity_needs_no_rounding_to_be_refused():
    with pytest.raises(KernelRankError, match="repeated eigenvalue"):
        semi_kpca(1).fit(np.eye(6), two_labels(6))


def test_the_identity_without_removal_leaves_unlabeled_rows_undecided():
    # k = 0 cuts through nothing. H = γ/(1 − γ) I: labels stay where they are.
    y = two_labels(6)
    model = semi_kpca(0, 0.5).fit(np.eye(6), y)
    np.testing.assert_allclose(model.decision_, signed(y), atol=DECISION_TOLERANCE)


def test_two_equal_clusters_that_see_nothing_of_each_other_are_refused_with_the_reason():
    # λ1 = λ2 and the rest is zero: which mixture of the clusters to remove is undefined, and nothing else is there.
    K = block_diag(np.ones((5, 5)), np.ones((5, 5)))
    with pytest.raises(KernelRankError, match="repeated eigenvalue") as caught:
        semi_kpca(1).fit(K, two_labels(10))
    assert (caught.value.rank, caught.value.removed) == (2, 2)


def test_rows_that_are_all_equal_are_refused_with_a_hint():
    with pytest.raises(KernelRankError, match="cannot tell the rows apart"):
        semi_kpca(1).fit(np.ones((7, 7)), two_labels(7))


# -- larger matrices, whose spectrum comes from the block Krylov method ------------------------------------------

N_LARGE = 500
# Eigenvalues of matrices of this size, whose iteration ends at residuals of 1e-13.
LARGE_ROUNDING = 1e-11


def _large(*leading):
    """A spectrum whose leading part stands clear of the rest, so that the iteration is short."""
    return np.concatenate([leading, np.geomspace(0.3, 0.001, N_LARGE - len(leading))])


LARGE_SPECTRA = {
    "pair": _large(10.0, 4.0, 4.0, 2.0),
    "leading triple": _large(10.0, 10.0, 10.0, 5.0),
    "twenty, more than a block has columns": _large(10.0, *[3.0] * 20, 1.5),
}
LARGE_SPLITS = [
    pytest.param("pair", 2, 3, id="pair"),
    pytest.param("leading triple", 1, 3, id="first of a leading triple"),
    pytest.param("leading triple", 2, 3, id="second of a leading triple"),
    pytest.param("twenty, more than a block has columns", 2, 21, id="first of twenty"),
]


@pytest.fixture(scope="module")
def large_matrices():
    return {name: matrix_with(spectrum) for name, spectrum in LARGE_SPECTRA.items()}


@pytest.mark.parametrize(("name", "requested", "removed"), LARGE_SPLITS)
def test_eigenspaces_of_large_matrices_are_removed_whole(large_matrices, name, requested, removed):
    K = large_matrices[name]
    y = two_labels(N_LARGE)
    model, warning = fit_degenerate(semi_kpca(requested), K, y)
    assert (warning.requested, warning.removed) == (requested, removed)
    assert warning.eigenvalue == pytest.approx(LARGE_SPECTRA[name][requested - 1], rel=LARGE_ROUNDING)
    assert model.certificate_.n_components_removed == removed
    weight = 1 / np.sqrt(LARGE_SPECTRA[name][removed - 1] * LARGE_SPECTRA[name][removed])
    assert model.error_weight_ == pytest.approx(weight, rel=LARGE_ROUNDING)
    assert_same_decision(model.decision_, filtered_targets(K, removed, weight, signed(y)))


@pytest.mark.parametrize(("name", "k"), [("pair", 0), ("pair", 1), ("pair", 3), ("leading triple", 3)])
@pytest.mark.parametrize("distance", DISTANCES)
def test_the_bounds_of_large_matrices_are_as_sharp(large_matrices, name, k, distance):
    K = large_matrices[name]
    bound = 1 / np.linalg.eigvalsh(K)[::-1][k]
    y = two_labels(N_LARGE)
    model = semi_kpca(k, (1 - distance) * bound, "absolute").fit(K, y)
    assert model.certificate_.regime is Regime.TRIVIAL
    for above in (bound, (1 + distance) * bound):
        with pytest.raises(UnboundedProblemError):
            semi_kpca(k, above, "absolute").fit(K, y)


@pytest.mark.parametrize("k", [1, 30])
def test_a_large_identity_is_refused_as_a_small_one_is(k):
    with pytest.raises(KernelRankError, match="repeated eigenvalue") as caught:
        semi_kpca(k).fit(np.eye(N_LARGE), two_labels(N_LARGE))
    assert (caught.value.removed, caught.value.rank) == (N_LARGE, N_LARGE)


def test_a_large_matrix_of_low_rank_is_refused_beyond_its_rank():
    spectrum = np.concatenate([[4.0, 3.0, 2.0], np.zeros(N_LARGE - 3)])
    K = matrix_with(spectrum)
    assert semi_kpca(2).fit(K, two_labels(N_LARGE)).certificate_.n_components_removed == 2
    for k in (3, 8):
        with pytest.raises(KernelRankError, match="rank 3, so at most 2 components"):
            semi_kpca(k).fit(K, two_labels(N_LARGE))


def test_no_warning_where_nothing_is_repeated():
    K = matrix_with(_large(10.0, 6.0, 3.0, 1.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        semi_kpca(3).fit(K, two_labels(N_LARGE))
    assert caught == []
