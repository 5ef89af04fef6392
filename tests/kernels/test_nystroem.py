"""A kernel seen through landmarks, against its definition and against scikit-learn's transformer."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem as NystroemFeatures
from sklearn.metrics.pairwise import cosine_similarity, laplacian_kernel, linear_kernel, polynomial_kernel, rbf_kernel

from oracles import relative_error
from semikpca.exceptions import IndefiniteKernelError
from semikpca.kernels import (
    RBF,
    CallableKernel,
    Cosine,
    Laplacian,
    Linear,
    NeighborGraph,
    Normalized,
    Nystroem,
    Polynomial,
    Precomputed,
)
from semikpca.kernels._low_rank import LowRankFactor
from semikpca.kernels._nystroem import leverage_scores
from semikpca.operators import cross_product, expansion

# k(Z, Z) is well conditioned wherever these are used: some hundreds of roundings.
ROUNDING = {np.float64: 1e-10, np.float32: 1e-4}
# A matrix that is singular to working precision: half of the digits, as the docstring says.
HALF_OF_THE_DIGITS = 1e-7

generator = np.random.default_rng(31)
TRAINING = generator.normal(size=(80, 3))
NEW = generator.normal(size=(9, 3))

KERNELS = {
    "rbf": (RBF(gamma=0.4), lambda A, B: rbf_kernel(A, B, gamma=0.4)),
    "laplacian": (Laplacian(gamma=0.4), lambda A, B: laplacian_kernel(A, B, gamma=0.4)),
    "polynomial": (Polynomial(2, gamma=0.4), lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.4, coef0=1)),
    "linear": (Linear(), linear_kernel),
    "cosine": (Cosine(), cosine_similarity),
}
every_kernel = pytest.mark.parametrize(("kernel", "function"), KERNELS.values(), ids=KERNELS.keys())
every_rule = pytest.mark.parametrize("rule", ["uniform", "k-means++", "leverage"])
every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def by_definition(function, A, B, Z):
    """k(A, Z) k(Z, Z)⁺ k(Z, B); the matrices of the tests have no eigenvalues between 1e-12 and 1e-6 of the largest."""
    return function(A, Z) @ np.linalg.pinv(function(Z, Z), rcond=1e-9, hermitian=True) @ function(Z, B)


# -- values ------------------------------------------------------------------------------------------------------------


@every_kernel
@every_dtype
def test_values_are_those_of_the_definition(kernel, function, dtype):
    fitted = Nystroem(kernel, 12, random_state=0).fit(TRAINING.astype(dtype))
    Z = TRAINING[fitted.landmark_numbers_]

    for A, B in [(TRAINING, TRAINING), (NEW, TRAINING), (TRAINING, NEW), (NEW, NEW[:4])]:
        A_, B_ = A.astype(dtype), B.astype(dtype)
        found = fitted.pairwise(A_, A_ if A is B else B_)
        assert found.dtype == dtype
        assert relative_error(found, by_definition(function, A, B, Z)) < ROUNDING[dtype]


@every_kernel
def test_the_diagonal_is_that_of_the_matrix(kernel, function):
    fitted = Nystroem(kernel, 12, random_state=0).fit(TRAINING)
    np.testing.assert_allclose(fitted.diag(NEW), np.diagonal(fitted(NEW)), rtol=ROUNDING[np.float64])


@every_kernel
def test_products_are_those_of_the_matrix(kernel, function):
    fitted = Nystroem(kernel, 12, random_state=0).fit(TRAINING)
    coefficients = generator.normal(size=(80, 2))
    wanted = fitted.pairwise(NEW, TRAINING) @ coefficients
    assert relative_error(cross_product(fitted, NEW, TRAINING, coefficients), wanted) < ROUNDING[np.float64]
    values_at = expansion(fitted, TRAINING, coefficients[:, 0])
    assert relative_error(values_at(NEW), wanted[:, 0]) < ROUNDING[np.float64]


def test_features_multiply_to_those_of_scikit_learn():
    theirs = NystroemFeatures(kernel="rbf", gamma=0.4, n_components=20, random_state=3).fit(TRAINING)
    ours = Nystroem(RBF(gamma=0.4), landmarks=theirs.components_).fit(TRAINING)
    for A, B in [(TRAINING, TRAINING), (NEW, TRAINING)]:
        wanted = theirs.transform(A) @ theirs.transform(B).T
        assert relative_error(ours.features(A) @ ours.features(B).T, wanted) < ROUNDING[np.float64]


@every_kernel
def test_values_are_exact_where_one_of_the_rows_is_a_landmark(kernel, function):
    fitted = Nystroem(kernel, 12, random_state=0).fit(TRAINING)
    Z = fitted.landmarks_
    assert relative_error(fitted.pairwise(NEW, Z), function(NEW, Z)) < ROUNDING[np.float64]


@every_kernel
@pytest.mark.parametrize("n_landmarks", [80, 1000])
def test_with_all_rows_as_landmarks_it_is_the_kernel_itself(kernel, function, n_landmarks):
    fitted = Nystroem(kernel, n_landmarks).fit(TRAINING)
    np.testing.assert_array_equal(fitted.landmark_numbers_, np.arange(80))
    assert relative_error(fitted(TRAINING), function(TRAINING, TRAINING)) < HALF_OF_THE_DIGITS
    assert not fitted.is_approximate


@every_rule
def test_eigenvalues_never_exceed_those_of_the_kernel_inside(rule):
    exact = np.linalg.eigvalsh(rbf_kernel(TRAINING, gamma=0.4))
    fitted = Nystroem(RBF(gamma=0.4), 15, landmarks=rule, random_state=1).fit(TRAINING)
    found = np.linalg.eigvalsh(fitted(TRAINING))
    assert (found <= exact + ROUNDING[np.float64] * exact.max()).all()
    assert found.sum() < 0.999 * exact.sum()
    assert fitted.is_approximate


def test_a_singular_matrix_of_landmarks_keeps_its_rank():
    fitted = Nystroem("linear", 10, random_state=0).fit(TRAINING)
    assert fitted.rank_ == 3
    assert fitted.features(NEW).shape == (9, 3)
    assert fitted.mixing_.shape == (10, 3)


def test_landmarks_that_are_equal_count_once():
    landmarks = np.vstack([TRAINING[:6], TRAINING[:6]])
    twice = Nystroem(RBF(gamma=0.4), landmarks=landmarks).fit(TRAINING)
    once = Nystroem(RBF(gamma=0.4), landmarks=TRAINING[:6]).fit(TRAINING)
    assert twice.rank_ == once.rank_ == 6
    assert relative_error(twice(NEW), once(NEW)) < ROUNDING[np.float64]


def test_eigenvalues_that_are_rounding_in_the_type_of_the_rows_are_dropped():
    kernel = Nystroem(RBF(gamma=0.01), 60, random_state=0)
    values = np.linalg.eigvalsh(rbf_kernel(clone(kernel).fit(TRAINING).landmarks_, gamma=0.01))
    for dtype in (np.float64, np.float32):
        share = {np.float64: 60 * 2.2e-16, np.float32: 1.2e-7}[dtype]
        wanted = np.count_nonzero(values > share * values.max())
        # Eigenvalues at the cut itself are known to rounding only.
        assert abs(clone(kernel).fit(TRAINING.astype(dtype)).rank_ - wanted) <= 2
    assert clone(kernel).fit(TRAINING.astype(np.float32)).rank_ < clone(kernel).fit(TRAINING).rank_ < 60


def test_sparse_rows_have_the_values_of_dense_ones():
    rows, new = TRAINING * (abs(TRAINING) > 0.5), NEW * (abs(NEW) > 0.5)
    for rule in ("uniform", "k-means++", "leverage", rows[:10]):
        dense = Nystroem(RBF(gamma=0.4), 10, landmarks=rule, random_state=0).fit(rows)
        csr = Nystroem(RBF(gamma=0.4), 10, landmarks=rule, random_state=0).fit(sparse.csr_array(rows))
        assert sparse.issparse(csr.landmarks_)
        found = csr.pairwise(sparse.csr_array(new), sparse.csr_array(rows))
        assert relative_error(found, dense.pairwise(new, rows)) < ROUNDING[np.float64]


def test_sparse_landmarks_go_with_dense_rows():
    landmarks = TRAINING[:10] * (abs(TRAINING[:10]) > 0.5)
    given = Nystroem(RBF(gamma=0.4), landmarks=sparse.csr_array(landmarks)).fit(TRAINING)
    np.testing.assert_array_equal(given.landmarks_, landmarks)


def test_functions_on_objects_have_landmarks_too():
    words = ["kernel", "colonel", "kettle", "nettle", "metal", "medal", "pedal", "petal"]

    def shared(a, b):
        return float(sum(a.count(letter) * b.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"))

    K = np.array([[shared(a, b) for b in words] for a in words])
    for rule in ("uniform", "leverage"):
        fitted = Nystroem(shared, 4, landmarks=rule, random_state=0).fit(words)
        at = fitted.landmark_numbers_
        wanted = K[:, at] @ np.linalg.pinv(K[np.ix_(at, at)], hermitian=True) @ K[at]
        assert relative_error(fitted(words), wanted) < ROUNDING[np.float64]
    given = Nystroem(shared, landmarks=words[:4]).fit(words)
    assert relative_error(given.pairwise(words, words[:4]), K[:, :4]) < ROUNDING[np.float64]
    with pytest.raises(ValueError, match="'uniform' or 'leverage'"):
        Nystroem(shared, 4, landmarks="k-means++").fit(words)


# -- blocks ------------------------------------------------------------------------------------------------------------


@every_dtype
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_blocks_and_threads_change_nothing(dtype, n_threads, monkeypatch):
    from semikpca.kernels import _low_rank

    rows = generator.normal(size=(700, 3)).astype(dtype)
    mixing = generator.normal(size=(5, 4))
    block = generator.normal(size=(700, 2)).astype(dtype)
    block[::3] = 0
    factor = LowRankFactor(lambda some: rbf_kernel(some, rows[:5]).astype(dtype), mixing)
    monkeypatch.setattr(_low_rank, "_BLOCK_NUMBERS", 16 * 5)
    monkeypatch.setattr(_low_rank, "_GRAM_ROWS", 50)
    monkeypatch.setattr(_low_rank, "allowed_threads", lambda: n_threads)

    features = rbf_kernel(rows.astype(float), rows[:5].astype(float)) @ mixing
    tolerance = {np.float64: 1e-12, np.float32: 1e-5}[dtype]
    gram, squares = factor.gram(rows)
    assert gram.dtype == np.float64
    assert relative_error(factor.features(rows), features) < tolerance
    assert relative_error(gram, features.T @ features) < tolerance
    assert relative_error(squares, (features**2).sum(axis=1)) < tolerance
    assert relative_error(factor.squares(rows), (features**2).sum(axis=1)) < tolerance
    assert relative_error(factor.project(rows, block), features.T @ block) < tolerance
    assert relative_error(factor.combine(rows, mixing.T), features @ mixing.T) < tolerance
    assert relative_error(factor.combine(rows, mixing[0]), features @ mixing[0]) < tolerance


def test_rows_without_a_target_are_never_looked_at():
    seen = []

    def columns(rows):
        seen.append(rows)
        return rows

    block = np.zeros((80, 1))
    block[[3, 70]] = [[2.0], [-1.0]]
    found = LowRankFactor(columns).project(TRAINING, block)
    np.testing.assert_allclose(found[:, 0], 2 * TRAINING[3] - TRAINING[70], rtol=ROUNDING[np.float64])
    assert sum(len(rows) for rows in seen) <= 3
    np.testing.assert_array_equal(LowRankFactor(columns).project(TRAINING, np.zeros((80, 2))), np.zeros((3, 2)))


def test_an_error_in_one_block_is_raised_and_ends_the_others(monkeypatch):
    from semikpca.kernels import _low_rank

    monkeypatch.setattr(_low_rank, "_BLOCK_NUMBERS", 16 * 3)
    monkeypatch.setattr(_low_rank, "allowed_threads", lambda: 2)

    def columns(rows):
        if (rows == TRAINING[20]).all(axis=1).any():
            raise RuntimeError("row 20")
        return rows

    with pytest.raises(RuntimeError, match="row 20"):
        LowRankFactor(columns).features(TRAINING)


# -- landmarks ---------------------------------------------------------------------------------------------------------


@every_rule
def test_landmarks_are_training_rows_each_of_them_once(rule):
    fitted = Nystroem(RBF(gamma=0.4), 20, landmarks=rule, random_state=0).fit(TRAINING)
    numbers = fitted.landmark_numbers_
    assert len(np.unique(numbers)) == 20
    assert (np.diff(numbers) > 0).all()
    np.testing.assert_array_equal(fitted.landmarks_, TRAINING[numbers])


@every_rule
def test_the_same_number_draws_the_same_landmarks(rule):
    def drawn(random_state):
        kernel = Nystroem(RBF(gamma=0.4), 20, landmarks=rule, random_state=random_state)
        return kernel.fit(TRAINING).landmark_numbers_.tolist()

    assert drawn(5) == drawn(5)
    assert drawn(5) != drawn(6)


@every_rule
def test_rows_that_are_equal_can_all_be_landmarks(rule):
    rows = np.repeat(TRAINING[:4], 10, axis=0)
    fitted = Nystroem(RBF(gamma=0.4), 12, landmarks=rule, random_state=0).fit(rows)
    assert len(np.unique(fitted.landmark_numbers_)) == 12
    assert fitted.rank_ <= 4


def test_k_means_plus_plus_finds_clusters_that_a_uniform_draw_misses():
    rows = np.vstack([generator.normal(size=(2_000, 2)), 50 + generator.normal(size=(20, 2))])
    near = [
        (Nystroem(RBF(gamma=0.4), 10, landmarks=rule, random_state=0).fit(rows).landmarks_[:, 0] > 25).any()
        for rule in ("uniform", "k-means++")
    ]
    assert near == [False, True]


def test_leverage_draws_rows_that_others_do_not_stand_in_for():
    rows = np.vstack([0.1 * generator.normal(size=(500, 2)), 5 * generator.normal(size=(20, 2))])
    scores = leverage_scores(RBF(gamma=0.4), rows, 30, np.random.RandomState(0))
    assert scores.shape == (520,)
    assert scores.max() == 1
    assert np.median(scores[500:]) > 10 * np.median(scores[:500])


def test_leverage_scores_are_close_to_their_definition_with_a_large_pilot():
    K = rbf_kernel(TRAINING, gamma=0.4)
    values = np.linalg.eigvalsh(K)
    # With all rows as the pilot the formula is exact; the ridge makes the scores sum to a quarter of their number.
    low, high = 1e-9, 1e3
    for _ in range(200):
        ridge = np.sqrt(low * high)
        low, high = (ridge, high) if (values / (values + ridge)).sum() > 20 else (low, ridge)
    wanted = np.diagonal(K @ np.linalg.inv(K + ridge * np.eye(80)))
    found = leverage_scores(RBF(gamma=0.4), TRAINING, 80, np.random.RandomState(0))
    np.testing.assert_allclose(found, wanted / wanted.max(), rtol=1e-6)


def test_given_landmarks_are_kept_as_they_are():
    fitted = Nystroem(RBF(gamma=0.4), landmarks=NEW.tolist()).fit(TRAINING.astype(np.float32))
    assert fitted.landmark_numbers_ is None
    assert fitted.landmarks_.dtype == np.float32
    np.testing.assert_allclose(fitted.landmarks_, NEW, rtol=1e-6)


# -- parameters --------------------------------------------------------------------------------------------------------


def test_parameters_inside_have_names_and_clones_are_unfitted():
    kernel = Nystroem(RBF(gamma=2.0), 7, landmarks=NEW, random_state=3)
    assert kernel.get_params()["kernel__gamma"] == 2.0
    copy = clone(kernel.fit(TRAINING)).set_params(kernel__gamma=0.5, n_landmarks=9)
    assert copy.kernel.gamma == 0.5
    assert copy.n_landmarks == 9
    assert not hasattr(copy, "mixing_")
    assert kernel.kernel.gamma == 2.0
    with pytest.raises(NotFittedError, match="no landmarks yet"):
        copy.features(TRAINING)


def test_arguments_are_left_as_they_were():
    inside, rows, landmarks = RBF(), TRAINING.copy(), NEW.copy()
    fitted = Nystroem(inside, landmarks=landmarks).fit(rows)
    fitted.landmarks_[:] = 0
    assert not hasattr(inside, "gamma_")
    np.testing.assert_array_equal(rows, TRAINING)
    np.testing.assert_array_equal(landmarks, NEW)


def test_a_loaded_kernel_has_the_same_values():
    fitted = Nystroem(RBF(), 10, random_state=0).fit(TRAINING)
    values_at = expansion(fitted, TRAINING, np.ones((80, 1)))
    loaded, loaded_expansion = pickle.loads(pickle.dumps((fitted, values_at)))
    np.testing.assert_array_equal(loaded(NEW), fitted(NEW))
    np.testing.assert_array_equal(loaded_expansion(NEW), values_at(NEW))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_landmarks": 0}, "n_landmarks must be a whole number, 1 or more, got 0"),
        ({"n_landmarks": 2.5}, "got 2.5"),
        ({"n_landmarks": True}, "got True"),
        ({"landmarks": "kmeans"}, "landmarks must be one of .*'leverage'.* got 'kmeans'"),
        ({"landmarks": NEW[:, :2]}, r"3 features each.*got shape \(9, 2\)"),
        ({"landmarks": NEW[0]}, r"got shape \(3,\)"),
        ({"landmarks": NEW[:0]}, r"got shape \(0, 3\)"),
        ({"landmarks": NEW * np.nan}, "landmarks must be finite"),
        ({"kernel": Normalized("rbf")}, r"degrees of all rows.*Normalized\(Nystroem"),
        ({"kernel": NeighborGraph()}, "compares a row with a few landmarks"),
        ({"kernel": Precomputed()}, "compares a row with a few landmarks"),
        ({"kernel": Nystroem()}, "compares a row with a few landmarks"),
        ({"kernel": RBF(gamma=1e6), "landmarks": NEW + 100, "n_landmarks": 3}, None),
        ({"kernel": Linear(), "landmarks": np.zeros((2, 3))}, "matrix of the 2 landmarks is zero"),
        ({"kernel": Polynomial(3), "landmarks": 1e120 * NEW}, "leave the range of float64"),
    ],
)
def test_bad_parameters_are_refused_with_a_remedy(parameters, message):
    kernel = Nystroem(**parameters)
    if message is None:
        kernel.fit(TRAINING)
        return
    with pytest.raises(ValueError, match=message):
        kernel.fit(TRAINING)


@every_rule
def test_rows_may_be_lists(rule):
    kernel = Nystroem(RBF(gamma=0.4), 20, landmarks=rule, random_state=0)
    found, wanted = clone(kernel).fit(TRAINING.tolist()), clone(kernel).fit(TRAINING)
    np.testing.assert_array_equal(found.landmark_numbers_, wanted.landmark_numbers_)
    np.testing.assert_array_equal(found.pairwise(NEW.tolist(), TRAINING.tolist()), wanted.pairwise(NEW, TRAINING))


def test_tensors_are_refused_with_a_remedy():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"rows.cpu\(\).numpy\(\)"):
        Nystroem().fit(torch.zeros((5, 2)))


def test_a_function_that_is_no_kernel_is_refused_at_its_landmarks():
    with pytest.raises(IndefiniteKernelError):
        Nystroem(CallableKernel(lambda A, B: -rbf_kernel(A, B)), 10, random_state=0).fit(TRAINING)
    with pytest.raises(IndefiniteKernelError):
        Nystroem(Polynomial(2, gamma=1.0, coef0=-1.0), 20, random_state=0).fit(TRAINING)


# -- normalized --------------------------------------------------------------------------------------------------------


def test_normalized_has_the_degrees_of_the_approximation():
    kernel = Normalized(Nystroem(RBF(gamma=0.4), 20, random_state=0)).fit(TRAINING)
    inside = kernel.kernel_
    degrees, new_degrees = inside(TRAINING).sum(axis=1), inside.pairwise(NEW, TRAINING).sum(axis=1)
    wanted = inside.pairwise(NEW, TRAINING) / np.sqrt(np.outer(new_degrees, degrees))
    assert relative_error(kernel.pairwise(NEW, TRAINING), wanted) < ROUNDING[np.float64]
    assert relative_error(kernel.features(NEW) @ kernel.features(TRAINING).T, wanted) < ROUNDING[np.float64]
    coefficients = generator.normal(size=(80, 2))
    assert relative_error(expansion(kernel, TRAINING, coefficients)(NEW), wanted @ coefficients) < ROUNDING[np.float64]
    assert kernel.is_approximate
    assert np.linalg.eigvalsh(kernel(TRAINING))[-1] == pytest.approx(1, rel=ROUNDING[np.float64])
