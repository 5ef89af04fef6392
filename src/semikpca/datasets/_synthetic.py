"""The synthetic data of the paper."""

import numpy as np
from sklearn.utils import check_random_state

from semikpca._numbers import is_whole_number
from semikpca._typing import FloatArray, IntArray


def make_four_clusters(
    n_samples: int = 400, *, random_state: int | np.random.RandomState | None = None
) -> tuple[FloatArray, IntArray]:
    """Return the paper's four Gaussian clusters, two of each class.

    Unit normal noise around (±2, ±2.5); the class is the side of the first coordinate: 0 on the left, 1 on the right.

    Parameters
    ----------
    n_samples : int, default=400
        Rows in all, spread evenly over the clusters.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> X, y = make_four_clusters(random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((400, 2), [200, 200])
    """
    if not is_whole_number(n_samples, 4):
        raise ValueError(f"n_samples must be a whole number, 4 or more, one for each cluster, got {n_samples!r}.")
    generator: np.random.RandomState = check_random_state(random_state)
    centers = np.array([[-2.0, -2.5], [-2.0, 2.5], [2.0, -2.5], [2.0, 2.5]])
    clusters = np.arange(n_samples) * 4 // n_samples
    X = centers[clusters] + generator.standard_normal((n_samples, 2))
    return X, (clusters >= 2).astype(np.intp)
