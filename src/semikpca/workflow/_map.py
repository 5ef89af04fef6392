"""All rows on a plane."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.estimators import ConvexKernelPCA


@dataclass(frozen=True)
class RowMap:
    """Places of rows on a plane.

    Attributes
    ----------
    rows : ndarray of int, shape (m,)
        The rows that have a place, ascending.
    coordinates : ndarray of shape (m, 2)
    """

    rows: IntArray
    coordinates: FloatArray


def row_map(X: FloatArray, *, max_rows: int = 5_000, random_state: int = 0, always: Any = None) -> RowMap:
    """Return the first two kernel principal components of the rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    max_rows : int, default=5_000
        A random sample of this size stands for all rows where there are more.
    random_state : int, default=0
    always : array-like of int, optional
        Rows that are taken first, such as the labeled ones; where there are more than ``max_rows``, a sample of them.
    """
    n = len(X)
    if n <= max_rows:
        rows = np.arange(n)
    else:
        generator = np.random.default_rng(random_state)
        first = np.unique(np.asarray([] if always is None else always, dtype=np.intp))
        first = generator.permutation(first)[:max_rows]
        others = np.setdiff1d(np.arange(n), first)
        rows = np.sort(np.concatenate([first, generator.choice(others, max_rows - len(first), replace=False)]))
    return RowMap(rows, _plane(X[rows]))


def _plane(X: FloatArray) -> FloatArray:
    """Return two coordinates for each row; the second is 0 where one dimension says everything."""
    pca: Any = ConvexKernelPCA
    if (X == X[0]).all():
        return np.zeros((len(X), 2))
    try:
        found = np.asarray(pca(n_components=2, kernel="rbf", center=True).fit_transform(X))
    except ValueError:
        # More than half of the distances are 0: they give no bandwidth, and plain PCA needs none.
        found = np.asarray(pca(n_components=2, kernel="linear", center=True).fit_transform(X))
    return np.hstack([found, np.zeros((len(X), 2 - found.shape[1]))])
