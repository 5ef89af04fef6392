"""A last step of conjugate gradients without its product, checked at a sample of rows."""

import numpy as np

from semikpca._typing import FloatArray
from semikpca.operators import KernelOperator

_SEED = 0
# Rows to look at: those with the largest residuals, and as many others at random. A product at so few costs little.
_LARGEST_ROWS = 64
_OTHER_ROWS = 64
_FEWEST_ROWS = 8 * (_LARGEST_ROWS + _OTHER_ROWS)
# A norm that a sample shows may be off by some ten percent; half of what is allowed leaves room for more.
_SHARE_OF_THE_GOAL = 0.5


def sampled_step(
    system: KernelOperator, residual: FloatArray, direction: FloatArray, step: FloatArray, goals: FloatArray
) -> FloatArray | None:
    """Return the squared residual norms after a step, from a sample of rows; None where they are too large.

    Also None where a product at a few rows costs as much as the whole product. Residual and direction are those before
    the step, (n, n_columns); ``step`` says how far along the direction of each column, and ``goals`` are the squared
    norms that are small enough.
    """
    if system.n < _FEWEST_ROWS or system.xp is not np:
        return None
    # The rows of the largest residuals, and after them a random sample of all others.
    ordered = np.argpartition((residual**2 / goals).max(axis=1), system.n - _LARGEST_ROWS)
    others = np.random.default_rng(_SEED).choice(ordered[:-_LARGEST_ROWS], _OTHER_ROWS, replace=False)
    rows = np.concatenate([ordered[-_LARGEST_ROWS:], others])
    image = system.product_at(rows, direction)
    if image is None:
        return None
    squares = (residual[rows] - step * image) ** 2
    rows_for_each_other = (system.n - _LARGEST_ROWS) / _OTHER_ROWS
    seen = squares[:_LARGEST_ROWS].sum(axis=0) + rows_for_each_other * squares[_LARGEST_ROWS:].sum(axis=0)
    return np.asarray(seen) if (seen <= _SHARE_OF_THE_GOAL**2 * goals).all() else None
