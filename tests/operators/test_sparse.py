"""A kernel matrix known by a sparse factor: what it costs, and what is known of its spectrum."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from semikpca.kernels import RBF, NeighborGraph
from semikpca.operators import (
    CenteredOperator,
    DeflatedOperator,
    DenseOperator,
    ShiftedOperator,
    SparseOperator,
    choose_backend,
    make_operator,
)

# A few sums of n products of numbers up to one.
ROUNDING = 1e-12

BLOBS, _ = make_blobs(150, centers=[[0, 0], [40, 0], [0, 40], [40, 40]], random_state=0)


def operator_on(rows, n_neighbors=6, **parameters):
    return SparseOperator(NeighborGraph(n_neighbors, **parameters).fit(rows).sparse_factor())


@pytest.mark.parametrize("m", [1, 2, 3, 4, 7])
def test_what_is_known_of_the_spectrum_is_true(m):
    operator = operator_on(BLOBS)
    known = operator.known_spectrum(m)
    K = operator.to_dense()
    values = np.linalg.eigvalsh(K)[::-1]
    assert len(known) == min(m, 4)
    V = known.eigenvectors
    np.testing.assert_allclose(V.T @ V, np.eye(len(known)), atol=ROUNDING)
    np.testing.assert_allclose(K @ V, V * known.eigenvalues, atol=ROUNDING)
    np.testing.assert_allclose(values[: len(known)], known.eigenvalues, atol=ROUNDING)
    assert (values[len(known) :] <= known.bound + ROUNDING).all()


def test_one_piece_has_one_known_eigenvector():
    operator = operator_on(np.random.default_rng(0).normal(size=(80, 2)))
    assert len(operator.known_spectrum(5)) == 1


def test_a_stored_matrix_knows_nothing():
    known = DenseOperator(np.eye(5)).known_spectrum(3)
    assert len(known) == 0
    assert known.eigenvectors.shape == (5, 0)
    assert known.bound == np.inf


def test_products_cost_what_is_stored_and_not_the_square():
    operator = operator_on(np.random.default_rng(0).normal(size=(3_000, 2)))
    dense = DenseOperator(np.zeros((3_000, 3_000), dtype=np.float32))
    assert dense.facts.product_cost == 3_000**2
    assert operator.facts.product_cost < 0.1 * dense.facts.product_cost
    assert operator.nbytes < 1_000 * 3_000
    system = ShiftedOperator(DeflatedOperator(operator, np.ones(1), np.ones((3_000, 1))), 1.0, sign=-1)
    assert operator.facts.product_cost < system.facts.product_cost < 1.1 * operator.facts.product_cost
    assert CenteredOperator(operator).facts.product_cost == operator.facts.product_cost


def test_a_large_graph_is_never_made_dense():
    operator = operator_on(np.random.default_rng(0).normal(size=(10_500, 1)), n_neighbors=2)
    for made_of in (operator, CenteredOperator(operator), ShiftedOperator(operator, 1.0, sign=1)):
        assert not made_of.facts.can_be_dense
        with pytest.raises(ValueError, match="backend='dense'"):
            made_of.to_dense()


def test_auto_is_sparse_where_the_kernel_is():
    assert choose_backend("auto", 100, is_sparse=True) == "sparse"
    assert choose_backend("dense", 100, is_sparse=True) == "dense"
    assert choose_backend("sparse", 100, is_sparse=True) == "sparse"
    with pytest.raises(ValueError, match="needs a kernel whose matrix is sparse"):
        choose_backend("sparse", 100)
    with pytest.raises(NotImplementedError, match="RBF"):
        RBF().sparse_factor()


def test_both_back_ends_are_the_same_matrix():
    kernel = NeighborGraph(6).fit(BLOBS)
    sparse, dense = (make_operator(kernel, BLOBS, backend) for backend in ("sparse", "dense"))
    assert isinstance(sparse, SparseOperator)
    assert isinstance(dense, DenseOperator)
    np.testing.assert_allclose(sparse.to_dense(), dense.to_dense(), atol=ROUNDING)
