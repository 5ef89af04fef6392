"""One contract for all operators, against dense algebra. A new operator adds one line to ``OPERATORS``."""

import ast
import dataclasses
from pathlib import Path

import numpy as np
import pytest

import semikpca
from graph_oracle import neighbor_graph
from semikpca.kernels import RBF, Linear, NeighborGraph
from semikpca.operators import (
    BACKENDS,
    BlockedOperator,
    CenteredOperator,
    DeflatedOperator,
    DenseOperator,
    KernelOperator,
    OperatorFacts,
    ScaledOperator,
    ShiftedOperator,
    SparseOperator,
    Storage,
    choose_backend,
    make_operator,
)

# Sums of n products differ between two orders of summation by a few eps of the largest entry.
TOLERANCE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 2e-5}
# Double precision, for sums of a few dozen numbers of order ten.
ROUNDING = 1e-11

N = 23


def _gram(dtype):
    rows = np.random.default_rng(0).normal(size=(N, 7))
    return (rows @ rows.T).astype(dtype)


def _removed(dtype, k):
    """The first k eigenpairs of the matrix above."""
    values, vectors = np.linalg.eigh(_gram(np.float64))
    return values[::-1][:k].astype(dtype), vectors[:, ::-1][:, :k].astype(dtype)


def _dense(dtype):
    return DenseOperator(_gram(dtype))


def _deflated(base, k):
    return DeflatedOperator(base, *_removed(base.dtype, k))


def _without(K, k):
    values, vectors = _removed(np.float64, k)
    return K - (vectors * values) @ vectors.T


def _shifted(K, shift, sign):
    return shift * np.eye(len(K)) + sign * K


def _centered(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


GRAPH_ROWS = np.random.default_rng(1).normal(size=(N, 2))


def _sparse(dtype):
    return SparseOperator(NeighborGraph(4).fit(GRAPH_ROWS.astype(dtype)).sparse_factor())


def _graph(K):
    return neighbor_graph(GRAPH_ROWS, GRAPH_ROWS, GRAPH_ROWS, 4)


# Name, how to build the operator in a precision, and which dense matrix it is.
OPERATORS = [
    ("dense", _dense, lambda K: K),
    ("dense, column-major", lambda t: DenseOperator(np.asfortranarray(_gram(t))), lambda K: K),
    ("deflated by nothing", lambda t: _deflated(_dense(t), 0), lambda K: K),
    ("deflated by one", lambda t: _deflated(_dense(t), 1), lambda K: _without(K, 1)),
    ("deflated by three", lambda t: _deflated(_dense(t), 3), lambda K: _without(K, 3)),
    ("shifted up", lambda t: ShiftedOperator(_dense(t), 2.5, sign=1), lambda K: _shifted(K, 2.5, 1)),
    ("shifted down", lambda t: ShiftedOperator(_dense(t), 2.5, sign=-1), lambda K: _shifted(K, 2.5, -1)),
    ("sparse", _sparse, _graph),
    ("sparse, centered", lambda t: CenteredOperator(_sparse(t)), lambda K: _centered(_graph(K))),
    ("sparse, shifted", lambda t: ShiftedOperator(_sparse(t), 1.5, sign=-1), lambda K: _shifted(_graph(K), 1.5, -1)),
    ("centered", lambda t: CenteredOperator(_dense(t)), _centered),
    (
        "the system of Semi-KPCA",
        lambda t: ShiftedOperator(_deflated(_dense(t), 2), 40.0, sign=-1),
        lambda K: _shifted(_without(K, 2), 40.0, -1),
    ),
    (
        "shifted and centered",
        lambda t: ShiftedOperator(CenteredOperator(_dense(t)), 0.5, sign=1),
        lambda K: _shifted(_centered(K), 0.5, 1),
    ),
    (
        "centered after deflation",
        lambda t: CenteredOperator(_deflated(_dense(t), 2)),
        lambda K: _centered(_without(K, 2)),
    ),
    (
        "deflated after centering",
        lambda t: _deflated(CenteredOperator(_dense(t)), 2),
        lambda K: _without(_centered(K), 2),
    ),
    (
        "shifted twice",
        lambda t: ShiftedOperator(ShiftedOperator(_dense(t), 1.0, sign=-1), 3.0, sign=-1),
        lambda K: _shifted(_shifted(K, 1.0, -1), 3.0, -1),
    ),
    ("made by the factory", lambda t: make_operator(Linear(), _rows(t), "dense"), lambda K: K),
    ("low rank", lambda t: make_operator(Linear(), _rows(t), "low-rank"), lambda K: K),
    ("low rank, centered", lambda t: CenteredOperator(make_operator(Linear(), _rows(t), "low-rank")), _centered),
    ("blocked", lambda t: BlockedOperator(Linear(), _rows(t)), lambda K: K),
    ("scaled", lambda t: ScaledOperator(_dense(t), SCALES.astype(t)), lambda K: SCALES[:, None] * K * SCALES),
]

SCALES = np.linspace(0.5, 2.0, N)
SYSTEM_CHANGES = {"product_cost", "rounding_scale", "product_error"}

# Name, how to build the operator on top of another one, and the facts that it changes.
WRAPPERS = [
    ("deflated", lambda base: _deflated(base, 2), {"product_cost", "rounding_scale"}),
    ("deflated by nothing", lambda base: _deflated(base, 0), set()),
    ("shifted", lambda base: ShiftedOperator(base, 2.5, sign=-1), set()),
    # What was removed is larger than the shift, and rounding counts for more in the residual.
    ("deflated and shifted", lambda base: ShiftedOperator(_deflated(base, 2), 2.5, sign=-1), SYSTEM_CHANGES),
    ("centered", CenteredOperator, {"rounding_scale"}),
    ("scaled", lambda base: ScaledOperator(base, SCALES), set()),
]


def _rows(dtype):
    return np.random.default_rng(0).normal(size=(N, 7)).astype(dtype)


@pytest.fixture(params=OPERATORS, ids=lambda case: case[0])
def case(request):
    return request.param


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def dtype(request):
    return request.param


@pytest.fixture
def operator(case, dtype) -> KernelOperator:
    return case[1](dtype)


@pytest.fixture
def dense(case):
    """The matrix that the operator is, in double precision."""
    return case[2](_gram(np.float64))


def assert_close(actual, expected, dtype):
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(actual, expected, atol=TOLERANCE[np.dtype(dtype)] * scale, rtol=0)


# -- the contract ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_columns", [1, 4, N + 2])
def test_the_product_is_that_of_the_matrix(operator, dense, dtype, n_columns):
    block = np.random.default_rng(1).normal(size=(N, n_columns)).astype(dtype)
    product = operator.matmat(block)
    assert product.shape == (N, n_columns)
    assert product.dtype == dtype
    assert_close(product, dense @ block, dtype)


def test_the_product_with_no_columns_has_none(operator, dtype):
    assert operator.matmat(np.empty((N, 0), dtype=dtype)).shape == (N, 0)


def test_the_product_takes_any_memory_layout(operator, dense, dtype):
    block = np.random.default_rng(2).normal(size=(3, 2 * N)).astype(dtype).T[::2]
    assert_close(operator.matmat(block), dense @ block, dtype)


def test_the_product_is_a_new_array_and_the_block_stays_as_it_was(operator, dtype):
    block = np.random.default_rng(3).normal(size=(N, 2)).astype(dtype)
    before = block.copy()
    first = operator.matmat(block)
    kept = first.copy()
    first[...] = np.nan
    np.testing.assert_array_equal(block, before)
    np.testing.assert_array_equal(operator.matmat(block), kept)


def test_the_diagonal_is_that_of_the_matrix(operator, dense, dtype):
    diagonal = operator.diag()
    assert diagonal.shape == (N,)
    assert diagonal.dtype == dtype
    assert_close(diagonal, np.diagonal(dense), dtype)


def test_the_dense_form_is_the_matrix(operator, dense, dtype):
    matrix = operator.to_dense()
    assert matrix.dtype == dtype
    assert_close(matrix, dense, dtype)


def test_the_dense_form_and_the_diagonal_may_be_overwritten(operator, dense, dtype):
    operator.to_dense()[...] = np.nan
    operator.diag()[...] = np.nan
    assert_close(operator.to_dense(), dense, dtype)
    assert_close(operator.diag(), np.diagonal(dense), dtype)


def test_the_shape_and_the_size_agree(operator):
    assert operator.shape == (N, N)
    assert operator.n == N


def test_the_precision_is_that_of_the_matrix(operator, dtype):
    assert operator.dtype == dtype


def test_the_bytes_in_memory_cover_the_stored_matrix_and_little_more(case, operator, dtype):
    assert isinstance(operator.nbytes, int)
    if case[0].startswith(("sparse", "low rank", "blocked")):
        return  # made for more rows than these: test_sparse.py, test_low_rank.py and test_blocked.py have them
    stored = N * N * np.dtype(dtype).itemsize
    # Nothing is stored twice: beside the matrix there are at most a few vectors.
    assert stored <= operator.nbytes <= stored + 5 * N * np.dtype(dtype).itemsize


def test_the_operator_is_symmetric(operator, dtype):
    left, right = np.random.default_rng(4).normal(size=(2, N, 1)).astype(dtype)
    scale = float(np.abs(operator.to_dense()).max()) * N
    difference = float((left.T @ operator.matmat(right) - right.T @ operator.matmat(left))[0, 0])
    assert abs(difference) <= TOLERANCE[np.dtype(dtype)] * scale


# -- the record --------------------------------------------------------------------------------------------------


def test_the_record_holds_for_the_matrix(operator, dense, dtype):
    """What is stated in numbers is true of the products, and what is stated as possible can be done."""
    facts = operator.facts
    block = np.random.default_rng(6).normal(size=(N, 3)).astype(dtype)
    error = np.linalg.norm(operator.matmat(block) - dense @ block, 2)
    scale = max(np.abs(np.linalg.eigvalsh(dense)).max(), facts.rounding_scale)
    # The matrix itself was rounded when it was made: one eps of entries that are squares of rows.
    made = N * np.finfo(dtype).eps * np.abs(_gram(np.float64)).max()
    assert error <= (facts.precision * scale + made) * np.linalg.norm(block, 2)
    assert 0 < facts.product_error < 1
    assert facts.product_cost > 0
    assert facts.block_columns >= 1
    assert facts.can_be_dense
    assert facts.is_stored is (facts.storage is not Storage.NOTHING)
    assert facts.accepted_error == 0
    assert not facts.is_estimate


def test_the_record_can_not_be_changed_in_place(operator):
    with pytest.raises(dataclasses.FrozenInstanceError):
        operator.facts.product_cost = 0.0


def test_the_record_is_the_same_however_often_it_is_asked_for(operator, dtype):
    before = operator.facts
    operator.matmat(np.ones((N, 2), dtype=dtype))
    assert operator.facts == before


class Unusual(DenseOperator):
    """A stored matrix with a record in which no number is a default."""

    def __init__(self, matrix):
        super().__init__(matrix)
        self.facts = UNUSUAL


UNUSUAL = OperatorFacts(
    product_cost=77.0,
    precision=1e-3,
    product_error=1e-5,
    storage=Storage.NOTHING,
    accepted_error=0.25,
    rounding_scale=0.125,
    can_be_dense=False,
    uses_one_core=True,
    block_columns=3,
    is_estimate=True,
)


def test_no_fact_of_the_unusual_record_is_a_default():
    plain = _dense(np.float64).facts
    same = [
        field.name for field in dataclasses.fields(plain) if getattr(plain, field.name) == getattr(UNUSUAL, field.name)
    ]
    assert not same


@pytest.mark.parametrize(("build", "changes"), [pytest.param(*case[1:], id=case[0]) for case in WRAPPERS])
def test_what_is_made_of_an_operator_takes_over_its_record_whole(build, changes):
    facts = build(Unusual(_gram(np.float64))).facts
    changed = {
        field.name for field in dataclasses.fields(facts) if getattr(facts, field.name) != getattr(UNUSUAL, field.name)
    }
    assert changed == changes


@pytest.mark.parametrize(("build", "changes"), [pytest.param(*case[1:], id=case[0]) for case in WRAPPERS])
def test_what_is_made_of_an_operator_shares_its_log(build, changes):
    base = _dense(np.float64)
    made_of = build(base)
    before = base.log.n_products
    made_of.matmat(np.ones((N, 1)))
    assert made_of.log is base.log
    assert base.log.n_products == before + 1


def test_deflation_costs_two_products_with_the_eigenvectors_more():
    assert _deflated(Unusual(_gram(np.float64)), 3).facts.product_cost == 77.0 + 2 * 3 * N


def test_rounding_of_a_deflated_matrix_is_relative_to_what_was_removed():
    largest = np.linalg.eigvalsh(_gram(np.float64))[-1]
    assert _deflated(_dense(np.float64), 3).facts.rounding_scale == pytest.approx(largest)


@pytest.mark.parametrize("shift", [0.01, 1.0, 1e6])
def test_a_residual_is_off_by_what_was_removed_in_units_of_the_shift(shift):
    largest = np.linalg.eigvalsh(_gram(np.float64))[-1]
    base = _deflated(_dense(np.float64), 3)
    system = ShiftedOperator(base, shift, sign=-1)
    assert system.facts.product_error == pytest.approx(base.facts.product_error * max(1, largest / shift))


def test_rounding_of_a_centered_matrix_is_relative_to_the_trace_before():
    assert CenteredOperator(_dense(np.float64)).facts.rounding_scale == pytest.approx(np.trace(_gram(np.float64)))


@pytest.mark.parametrize(
    ("build", "storage"),
    [
        (_dense, Storage.ENTRIES),
        (_sparse, Storage.SPARSE_FACTOR),
        (lambda t: make_operator(Linear(), _rows(t), "low-rank"), Storage.FEATURES),
        (lambda t: make_operator(Linear(), _rows(t), "blocked"), Storage.NOTHING),
    ],
    ids=["dense", "sparse", "low rank", "blocked"],
)
def test_the_record_says_what_is_stored(build, storage):
    assert build(np.float64).facts.storage is storage


def asks_for_an_operator(node):
    """Whether a piece of a program is isinstance(…, SomeOperator)."""
    is_question = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
    return is_question and "Operator" in ast.unparse(node.args[1])


def test_no_layer_above_asks_for_the_class_of_an_operator():
    package = Path(semikpca.__file__).parent
    above = [path for path in package.rglob("*.py") if "operators" not in path.relative_to(package).parts]
    assert len(above) > 100
    asking = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in above
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if asks_for_an_operator(node)
    ]
    assert not asking
    assert any(map(asks_for_an_operator, ast.walk(ast.parse("isinstance(K, (DenseOperator, int))"))))


# -- what only some have -----------------------------------------------------------------------------------------


def test_only_what_has_features_knows_its_whole_spectrum_and_inverses():
    for build in (_dense, _sparse):
        operator = build(np.float64)
        assert operator.whole_spectrum() is None
        assert operator.shifted_inverse(2.0, -1) is None
        assert ShiftedOperator(operator, 2.0, sign=-1).inverse() is None
    low_rank = make_operator(Linear(), _rows(np.float64), "low-rank")
    assert len(low_rank.whole_spectrum()) == 7
    assert low_rank.inverse() is None  # a matrix of low rank has none; a shifted one does
    assert CenteredOperator(low_rank).whole_spectrum() is None
    assert ShiftedOperator(CenteredOperator(low_rank), 2.0, sign=1).inverse() is None


def test_a_product_beside_the_known_eigenvector_is_that_of_the_matrix():
    operator = _sparse(np.float64)
    v = operator.known_spectrum(1).eigenvectors
    block = np.random.default_rng(7).normal(size=(N, 3))
    block -= v @ (v.T @ block)
    np.testing.assert_allclose(operator.product_beside_known(block), _graph(None) @ block, atol=ROUNDING)
    np.testing.assert_allclose(_dense(np.float64).product_beside_known(block), _gram(np.float64) @ block, atol=ROUNDING)


def test_deflation_counts_the_removed_eigenvectors_in_memory():
    base = _dense(np.float64)
    assert _deflated(base, 3).nbytes >= base.nbytes + 3 * N * 8


def test_deflation_by_eigenpairs_leaves_the_other_eigenvalues():
    values = np.linalg.eigvalsh(_gram(np.float64))[::-1]
    left = np.linalg.eigvalsh(_deflated(_dense(np.float64), 3).to_dense())[::-1]
    np.testing.assert_allclose(left[:4], values[3:7], rtol=ROUNDING)
    np.testing.assert_allclose(left[4:], 0, atol=ROUNDING)


def test_rows_and_columns_of_a_centered_matrix_sum_to_zero():
    centered = CenteredOperator(_dense(np.float64))
    np.testing.assert_allclose(centered.matmat(np.ones((N, 1))), 0, atol=ROUNDING)
    np.testing.assert_allclose(centered.to_dense().sum(axis=0), 0, atol=ROUNDING)


def test_the_row_means_are_those_of_the_base():
    np.testing.assert_allclose(
        CenteredOperator(_dense(np.float64)).row_means(), _gram(np.float64).mean(axis=1), atol=ROUNDING
    )


def test_a_stored_matrix_is_not_copied():
    K = _gram(np.float64)
    assert np.shares_memory(DenseOperator(K).matrix, K)


# -- the factory -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_samples", [2, 1000, 10**6])
def test_the_choice_of_a_back_end_depends_on_its_arguments_alone(n_samples):
    chosen = choose_backend("auto", n_samples)
    assert chosen in BACKENDS
    assert chosen != "auto"
    assert choose_backend("auto", n_samples) == chosen


def test_a_named_back_end_is_taken():
    assert choose_backend("dense", 10) == "dense"


@pytest.mark.parametrize("backend", ["gpu", "", None, "Dense"])
def test_an_unknown_back_end_is_refused_with_the_known_ones(backend):
    with pytest.raises(ValueError, match="backend must be one of") as caught:
        choose_backend(backend, 10)
    assert "'dense'" in str(caught.value)
    assert repr(backend) in str(caught.value)


def test_the_factory_evaluates_the_kernel_on_the_rows():
    X = np.random.default_rng(5).normal(size=(9, 2))
    kernel = RBF(gamma=0.3)
    squared = ((X[:, np.newaxis] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(make_operator(kernel, X, "dense").to_dense(), np.exp(-0.3 * squared), rtol=ROUNDING)
