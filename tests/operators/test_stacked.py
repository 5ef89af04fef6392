"""A matrix on the columns of a block as one matrix on all of them below each other."""

import numpy as np
import pytest

from semikpca.operators import DenseOperator, ScaledOperator, ShiftedOperator, StackedOperator
from semikpca.solvers import AdaptiveSolver

# Sums of a dozen numbers of order ten, in double precision.
ROUNDING = 1e-12
N, COLUMNS = 12, 3


@pytest.fixture
def matrix(rng):
    rows = rng.standard_normal((N, 5))
    return rows @ rows.T


def test_a_stacked_matrix_multiplies_each_column_by_itself(matrix, rng):
    block = rng.standard_normal((N, COLUMNS))
    stacked = StackedOperator(DenseOperator(matrix), COLUMNS)
    product = stacked.matmat(block.reshape(-1, 1))
    np.testing.assert_allclose(product.reshape(N, COLUMNS), matrix @ block, atol=ROUNDING)


def test_a_stacked_matrix_as_a_matrix_has_the_same_products(matrix, rng):
    stacked = StackedOperator(DenseOperator(matrix), COLUMNS)
    vectors = rng.standard_normal((N * COLUMNS, 2))
    np.testing.assert_allclose(stacked.to_dense() @ vectors, stacked.matmat(vectors), atol=ROUNDING)
    np.testing.assert_allclose(np.diag(stacked.to_dense()), stacked.diag(), atol=ROUNDING)
    assert stacked.shape == (N * COLUMNS, N * COLUMNS)


def test_all_columns_share_one_product(matrix):
    base = DenseOperator(matrix)
    StackedOperator(base, COLUMNS).matmat(np.ones((N * COLUMNS, 1)))
    assert base.log.n_products == 1


def test_systems_that_differ_from_column_to_column_are_solved_together(matrix, rng):
    scales = rng.uniform(0, 1, (N, COLUMNS))
    right = rng.standard_normal((N, COLUMNS))
    shift = 1.5 * np.linalg.eigvalsh(matrix)[-1]
    scaled = ScaledOperator(StackedOperator(DenseOperator(matrix), COLUMNS), scales.reshape(-1))
    solver = AdaptiveSolver(ShiftedOperator(scaled, shift, sign=-1), condition_number=3.0, rtol=1e-14)
    found = solver.solve(right.reshape(-1, 1)).values.reshape(N, COLUMNS)
    for column in range(COLUMNS):
        D = np.diag(scales[:, column])
        wanted = np.linalg.solve(shift * np.eye(N) - D @ matrix @ D, right[:, column])
        np.testing.assert_allclose(found[:, column], wanted, atol=ROUNDING)
