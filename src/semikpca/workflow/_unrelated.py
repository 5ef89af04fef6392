"""Columns that have nothing to do with any other column of their table."""

from collections.abc import Collection, Mapping

import numpy as np
from scipy.stats import chi2

from semikpca._typing import FloatArray

_MOST_ROWS = 1_000  # taken from the whole table at equal steps: what cannot be seen in so many is of no use either
_MOST_COMPONENTS = 10  # of a column that became many numbers, such as a text
_LEVEL = 0.01  # probability that columns without any relation are said to have one, over all pairs of them
_NOTHING = 1e-6  # beside the widest component of a column, of float32 numbers


def unrelated_columns(X: FloatArray, places: Mapping[str, Collection[int]]) -> frozenset[str]:
    """Return the columns that are independent of every other one, as far as their correlations tell.

    A column a and a column b become p and q uncorrelated numbers a row. The sum of the squared correlations between
    these, times the number of rows, has a chi-squared distribution with p · q degrees of freedom where the columns are
    independent (Pillai's trace; Pearson's test of a table of counts if both are categories).

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_numbers)
    places : mapping of str to collections of int
        Which of the numbers of a row each column became.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> X[:, 2] += X[:, 0]
    >>> unrelated_columns(X, {"width": [0], "noise": [1], "length": [2]})
    frozenset({'noise'})
    """
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), _MOST_ROWS)).astype(int))
    bases = {
        name: _uncorrelated(X[rows][:, np.asarray(list(numbers), dtype=np.intp)])
        for name, numbers in places.items()
        if len(numbers)
    }
    sizes = np.array([basis.shape[1] for basis in bases.values()])
    names = np.array(list(bases), dtype=object)[sizes > 0]
    if len(names) < 2:
        return frozenset(names)
    together = np.hstack(list(bases.values()))
    starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])[:-1]])
    squares = np.square(together.T @ together)
    between = len(rows) * np.add.reduceat(np.add.reduceat(squares, starts, axis=0), starts, axis=1)
    chances = chi2.sf(between, np.outer(sizes[sizes > 0], sizes[sizes > 0]))
    np.fill_diagonal(chances, 1.0)
    n_pairs = len(names) * (len(names) - 1) / 2
    return frozenset(names[chances.min(axis=0) >= _LEVEL / n_pairs])


def _uncorrelated(values: FloatArray) -> FloatArray:
    """Return orthonormal combinations of centered columns, those along which they vary most."""
    centered = values.astype(np.float64) - values.mean(axis=0, dtype=np.float64)
    left, widths, _ = np.linalg.svd(centered, full_matrices=False)
    return np.asarray(left[:, widths > _NOTHING * max(widths[0], np.finfo(np.float64).tiny)][:, :_MOST_COMPONENTS])
