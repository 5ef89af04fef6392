"""One contract for every kernel; a new kernel adds one line to CASES."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import (
    cosine_similarity,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)

from graph_oracle import neighbor_graph
from kernel_contract import NEW, ROUNDING, TRAINING, Case, KernelContract, assert_close, every_dtype, fitted
from semikpca.kernels import (
    RBF,
    CallableKernel,
    Cosine,
    Kernel,
    Laplacian,
    Linear,
    NeighborGraph,
    Normalized,
    Nystroem,
    OnColumns,
    Polynomial,
    Precomputed,
    ProductKernel,
    as_kernel,
)


def normalized_rbf(A, B, training=None, gamma=0.3):
    """D^-½ K D^-½ with degrees against the training rows, from scikit-learn's kernel."""
    training = B if training is None else training
    degrees_a = rbf_kernel(A, training, gamma=gamma).sum(axis=1)
    degrees_b = rbf_kernel(B, training, gamma=gamma).sum(axis=1)
    return rbf_kernel(A, B, gamma=gamma) / np.sqrt(np.outer(degrees_a, degrees_b))


def nystroem_rbf(A, B, gamma=0.3):
    """k(A, Z) k(Z, Z)⁻¹ k(Z, B) over ten training rows, from scikit-learn's kernel."""
    Z = TRAINING[np.random.RandomState(0).choice(30, 10, replace=False)]
    inside = np.linalg.solve(rbf_kernel(Z, gamma=gamma), rbf_kernel(Z, B, gamma=gamma))
    return rbf_kernel(A, Z, gamma=gamma) @ inside


def rbf_of_two_columns(A, B):
    """Return scikit-learn's kernel of the second and the first column."""
    return rbf_kernel(np.asarray(A)[:, [1, 0]], np.asarray(B)[:, [1, 0]], gamma=0.3)


def graph_of_two_columns(A, B):
    """Return the neighbor graph of the second and the first column."""
    A, B = np.asarray(A)[:, [1, 0]], np.asarray(B)[:, [1, 0]]
    return neighbor_graph(A, B, training=TRAINING[:, [1, 0]], n_neighbors=5)


def mahalanobis_graph(A, B):
    """Return the neighbor graph of rows whose covariance is that of the training rows, inverted by NumPy."""
    whiten = np.linalg.cholesky(np.linalg.inv(np.cov(TRAINING.T)))
    A, B, training = (np.asarray(rows) @ whiten for rows in (A, B, TRAINING))
    return neighbor_graph(A, B, training=training, n_neighbors=5)


CASES = {
    "RBF": Case(RBF(gamma=0.3), partial(rbf_kernel, gamma=0.3)),
    "Laplacian": Case(Laplacian(gamma=0.3), partial(laplacian_kernel, gamma=0.3)),
    "Linear": Case(Linear(), linear_kernel),
    "Polynomial": Case(Polynomial(gamma=0.3), partial(polynomial_kernel, degree=3, gamma=0.3, coef0=1)),
    "Polynomial, even": Case(
        Polynomial(degree=2, gamma=0.3, coef0=0.5), partial(polynomial_kernel, degree=2, gamma=0.3, coef0=0.5)
    ),
    "Polynomial, homogeneous": Case(
        Polynomial(degree=2, gamma=0.3, coef0=0), partial(polynomial_kernel, degree=2, gamma=0.3, coef0=0)
    ),
    "Cosine": Case(Cosine(), cosine_similarity),
    "Normalized": Case(Normalized(RBF(gamma=0.3)), normalized_rbf),
    "NeighborGraph": Case(NeighborGraph(5), partial(neighbor_graph, training=TRAINING, n_neighbors=5)),
    "NeighborGraph, Mahalanobis": Case(NeighborGraph(5, metric="mahalanobis"), mahalanobis_graph),
    "Nystroem": Case(Nystroem(RBF(gamma=0.3), 10, random_state=0), nystroem_rbf),
    "OnColumns": Case(OnColumns(RBF(gamma=0.3), [1, 0]), rbf_of_two_columns),
    "OnColumns, a graph": Case(OnColumns(NeighborGraph(5), [1, 0]), graph_of_two_columns),
    "CallableKernel": Case(CallableKernel(linear_kernel), linear_kernel),
}

# A function sees the rows as they are; the kernels of the package see floats.
FORMULAS = {name: case for name, case in CASES.items() if name != "CallableKernel"}
every_formula = pytest.mark.parametrize("case", FORMULAS.values(), ids=FORMULAS.keys())


def name_of(item):
    """A name for a test that is the same in every process: functions print their address."""
    return str(item).partition(" at 0x")[0]


# -- the contract ------------------------------------------------------------------------------------------------------


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request):
    return request.param


class TestEveryKernel(KernelContract):
    """Tests are in ``tests/kernel_contract.py``."""

    @pytest.fixture(params=FORMULAS.values(), ids=FORMULAS.keys())
    def formula_case(self, request):
        return request.param


def test_every_public_kernel_keeps_the_contract():
    import semikpca.kernels

    public = {getattr(semikpca.kernels, name) for name in semikpca.kernels.__all__}
    kernels = {item for item in public if isinstance(item, type) and issubclass(item, Kernel)}
    covered = {type(case.kernel) for case in CASES.values()}
    # Precomputed takes a matrix instead of rows; it has a file of its own.
    assert kernels - {Kernel, ProductKernel, Precomputed} == covered


# -- what needs fit ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(),
        RBF(gamma="scale"),
        Laplacian(),
        Laplacian(gamma="scale"),
        Polynomial(),
        Polynomial(gamma="median"),
        CallableKernel(linear_kernel),
        NeighborGraph(),
        Normalized(RBF(gamma=0.3)),
        Normalized(),
    ],
    ids=name_of,
)
def test_a_kernel_that_learns_from_the_rows_says_so_when_it_was_not_fitted(kernel):
    with pytest.raises(NotFittedError, match=r"fit\("):
        kernel.pairwise(TRAINING, TRAINING)


@pytest.mark.parametrize("kernel", [Normalized(RBF(gamma=0.3)), CallableKernel(linear_kernel)], ids=name_of)
def test_the_diagonal_of_an_unfitted_kernel_is_refused_too(kernel):
    with pytest.raises(NotFittedError, match=r"fit\("):
        kernel.diag(TRAINING)


@pytest.mark.parametrize("kernel", [RBF(), Laplacian(), Polynomial(), RBF(gamma="scale")], ids=repr)
def test_kernels_that_learn_a_coefficient_take_nested_lists(kernel):
    expected = clone(kernel).fit(TRAINING)(TRAINING)
    rows = TRAINING.tolist()
    assert_close(clone(kernel).fit(rows)(rows), expected)


def test_nested_parameters_reach_the_kernel_inside():
    kernel = Normalized(Normalized(RBF(gamma=0.3)))
    kernel.set_params(kernel__kernel__gamma=0.7)
    assert kernel.get_params()["kernel__kernel__gamma"] == 0.7
    assert kernel.kernel.kernel.gamma == 0.7


def test_kernels_print_what_was_changed():
    assert repr(RBF()) == "RBF()"
    assert repr(Normalized(RBF(gamma=0.5))) == "Normalized(kernel=RBF(gamma=0.5))"


# -- accuracy ----------------------------------------------------------------------------------------------------------


def exact_rbf(A, B, gamma):
    """Differences first, then squares, in extended precision: nothing cancels."""
    differences = A.astype(np.longdouble)[:, np.newaxis] - B.astype(np.longdouble)
    return np.exp(-gamma * (differences**2).sum(axis=2)).astype(np.float64)


def exact_laplacian(A, B, gamma):
    differences = A.astype(np.longdouble)[:, np.newaxis] - B.astype(np.longdouble)
    return np.exp(-gamma * np.abs(differences).sum(axis=2)).astype(np.float64)


EXACT = {"RBF": (RBF(gamma=0.3), exact_rbf), "Laplacian": (Laplacian(gamma=0.3), exact_laplacian)}
every_distance_kernel = pytest.mark.parametrize(("kernel", "exact"), EXACT.values(), ids=EXACT.keys())


@every_distance_kernel
@pytest.mark.parametrize("offset", [1e6, -1e8])
def test_values_stay_exact_far_from_the_origin(kernel, exact, offset):
    training, new = TRAINING + offset, NEW + offset
    assert_close(kernel.pairwise(training, training), exact(training, training, 0.3))
    assert_close(kernel.pairwise(new, training), exact(new, training, 0.3))


@every_distance_kernel
def test_float32_values_stay_exact_far_from_the_origin(kernel, exact):
    rows = (TRAINING + 1e4).astype(np.float32)
    assert_close(kernel(rows), exact(rows, rows, 0.3), np.float32)


@every_distance_kernel
@pytest.mark.parametrize(("dtype", "distance"), [(np.float64, 1e9), (np.float32, 1e4)], ids=["float64", "float32"])
def test_one_row_far_away_does_not_spoil_the_others(kernel, exact, dtype, distance):
    rows = np.vstack([TRAINING, np.full((1, 4), distance)]).astype(dtype)
    assert_close(kernel(rows), exact(rows, rows, 0.3), dtype)


@every_distance_kernel
@pytest.mark.parametrize(("dtype", "distance"), [(np.float64, 1e6), (np.float32, 1e3)], ids=["float64", "float32"])
def test_two_groups_far_apart_keep_exact_values_inside_each(kernel, exact, dtype, distance):
    rows = np.vstack([TRAINING, TRAINING + distance]).astype(dtype)
    # scikit-learn's own kernels stay within this here: squared distances are added up in float64 there.
    np.testing.assert_allclose(kernel(rows), exact(rows, rows, 0.3), atol=1e-3)


@every_distance_kernel
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@every_dtype
def test_a_row_has_the_value_one_with_itself_however_large_the_coefficient(kernel, exact, container, dtype):
    rows = container(TRAINING.astype(dtype))
    K = clone(kernel).set_params(gamma=1e12)(rows)
    np.testing.assert_array_equal(np.diagonal(K), np.ones(30))


@every_dtype
def test_equal_rows_have_the_value_one_and_never_more(dtype):
    rows = np.repeat(np.random.default_rng(0).normal(size=(10, 5)), 3, axis=0).astype(dtype)
    K = RBF(gamma=0.3)(rows)
    assert K.max() <= 1
    np.testing.assert_allclose(K[0, :3], 1, atol=ROUNDING[dtype])


@pytest.mark.parametrize("offset", [0, 1e6])
def test_inner_products_are_those_of_the_rows_as_they_are(offset):
    rows = TRAINING + offset
    np.testing.assert_array_equal(Linear()(rows), rows @ rows.T)


@every_dtype
@pytest.mark.parametrize("scale", [1e-10, 1e10, "smallest", "largest"])
def test_cosines_do_not_depend_on_the_length_of_the_rows(dtype, scale):
    factors = {"smallest": 1e3 * np.finfo(dtype).tiny, "largest": 1e-3 * np.finfo(dtype).max}
    rows = TRAINING[(TRAINING != 0).any(axis=1)].astype(dtype)
    scaled = (rows * dtype(factors.get(scale, scale))).astype(dtype)
    assert_close(Cosine()(scaled), Cosine()(rows), dtype)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_a_zero_row_has_the_cosine_zero_with_every_row(container):
    rows = TRAINING.copy()
    rows[3] = 0
    K = Cosine()(container(rows))
    np.testing.assert_array_equal(K[3], np.zeros(30))
    np.testing.assert_array_equal(K[:, 3], np.zeros(30))


@every_formula
def test_csr_rows_may_have_long_indices(case):
    rows = sparse.csr_array(TRAINING)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    assert_close(fitted(case, rows)(rows), fitted(case)(TRAINING))


def stored_in_two_parts():
    """Rows (3, 0) and (1, 4), the 3 stored as 1 + 2: legal in CSR, where the sum counts."""
    columns, starts = np.array([0, 0, 0, 1], dtype=np.int32), np.array([0, 2, 4], dtype=np.int32)
    return sparse.csr_array(([1.0, 2.0, 1.0, 4.0], columns, starts), shape=(2, 2))


@every_formula
def test_entries_stored_in_two_parts_count_with_their_sum(case):
    dense = np.array([[3.0, 0.0], [1.0, 4.0]])
    rows = stored_in_two_parts()
    assert_close(fitted(case, rows)(rows), fitted(case, dense)(dense))


# -- parameters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [RBF, Laplacian, Polynomial], ids=lambda make: make.__name__)
@pytest.mark.parametrize("gamma", [0, -1, "medan", float("nan"), float("inf"), None, True, [1.0], "1.0"], ids=repr)
def test_a_coefficient_out_of_range_is_refused_by_value(make, gamma):
    for use in (lambda kernel: kernel.fit(TRAINING), lambda kernel: kernel.pairwise(TRAINING, TRAINING)):
        with pytest.raises(ValueError, match="gamma must be 'median', 'scale' or a positive number") as caught:
            use(make(gamma=gamma))
        assert repr(gamma) in str(caught.value)


@pytest.mark.parametrize("degree", [0, -2, 1.5, "3", None, True], ids=repr)
def test_a_degree_out_of_range_is_refused_by_value(degree):
    with pytest.raises(ValueError, match="degree must be a whole number, 1 or more") as caught:
        Polynomial(degree=degree, gamma=0.3)(TRAINING)
    assert repr(degree) in str(caught.value)


@pytest.mark.parametrize("coef0", [float("nan"), float("inf"), "1", None], ids=repr)
def test_a_constant_out_of_range_is_refused_by_value(coef0):
    with pytest.raises(ValueError, match="coef0 must be a finite number") as caught:
        Polynomial(gamma=0.3, coef0=coef0)(TRAINING)
    assert repr(coef0) in str(caught.value)


@pytest.mark.parametrize("gamma", [1, np.float32(1), np.int64(1)], ids=repr)
def test_a_coefficient_may_be_any_kind_of_number(gamma):
    np.testing.assert_array_equal(RBF(gamma=gamma)(TRAINING), RBF(gamma=1.0)(TRAINING))


def test_a_polynomial_with_a_negative_constant_is_not_taken_for_definite():
    assert Polynomial(coef0=0).is_definite
    assert not Polynomial(coef0=-0.1).is_definite


@pytest.mark.parametrize(
    ("kernel", "kind", "is_definite", "accepts_sparse"),
    [
        (RBF(), "vectors", True, True),
        (Laplacian(), "vectors", True, True),
        (Linear(), "vectors", True, True),
        (Polynomial(), "vectors", True, True),
        (Cosine(), "vectors", True, True),
        (Precomputed(), "matrix", False, False),
        (CallableKernel(linear_kernel), "objects", False, True),
        (Normalized(), "vectors", True, True),
        (Normalized("precomputed"), "matrix", False, False),
        (Normalized(linear_kernel), "objects", False, True),
        (Normalized(Polynomial(coef0=-1.0)), "vectors", False, True),
    ],
    ids=name_of,
)
def test_a_kernel_says_what_it_takes_and_what_is_known_of_it(kernel, kind, is_definite, accepts_sparse):
    assert kernel.input_kind == kind
    assert kernel.is_definite == is_definite
    assert kernel.accepts_sparse == accepts_sparse


# -- shorthands --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rbf", RBF),
        ("laplacian", Laplacian),
        ("poly", Polynomial),
        ("linear", Linear),
        ("cosine", Cosine),
        ("precomputed", Precomputed),
    ],
)
def test_a_name_stands_for_a_kernel_with_its_defaults(name, expected):
    kernel = as_kernel(name)
    assert type(kernel) is expected
    assert kernel.get_params() == expected().get_params()


def test_a_kernel_object_stands_for_itself():
    kernel = RBF(gamma=0.3)
    assert as_kernel(kernel) is kernel


def test_a_function_becomes_a_kernel():
    kernel = as_kernel(linear_kernel)
    assert isinstance(kernel, CallableKernel)
    assert kernel.function is linear_kernel


@pytest.mark.parametrize("wrong", ["rfb", "RBF", "", None, 3, 0.5, ["rbf"]], ids=repr)
def test_anything_else_is_no_kernel_and_the_message_names_those_there_are(wrong):
    with pytest.raises(ValueError, match="kernel must be") as caught:
        as_kernel(wrong)
    assert repr(wrong) in str(caught.value)
    assert "'rbf'" in str(caught.value)


def test_a_class_instead_of_an_object_gets_a_hint():
    with pytest.raises(ValueError, match=r"Did you mean RBF\(\)\?"):
        as_kernel(RBF)
