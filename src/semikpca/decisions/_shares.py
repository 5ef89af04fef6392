"""What the given labels say about the shares of the classes."""

import numpy as np
from scipy.special import gammaln, softmax

from semikpca._typing import FloatArray, IntArray

# How many labels of each class equal shares are worth beforehand: from a fraction of one to thirty. Labels decide.
_PSEUDO_COUNTS = np.array([0.3, 1.0, 3.0, 10.0, 30.0])


def expected_shares(counts: IntArray) -> FloatArray:
    """Return the expected shares of the classes, given how many labels each has.

    A few labels say little about shares, so they are drawn towards equal ones, the more the better equal shares explain
    the counts: the mean under a Dirichlet prior whose strength is itself weighed by the likelihood of the counts.

    Examples
    --------
    >>> expected_shares(np.array([1, 1])).round(2).tolist()
    [0.5, 0.5]
    >>> expected_shares(np.array([90, 10])).round(2).tolist()
    [0.89, 0.11]
    """
    n_classes, total = len(counts), counts.sum()
    a = _PSEUDO_COUNTS[:, np.newaxis]
    log_likelihood = (
        gammaln(a[:, 0] * n_classes)
        - gammaln(total + a[:, 0] * n_classes)
        + np.sum(gammaln(counts + a) - gammaln(a), axis=1)
    )
    return np.asarray(softmax(log_likelihood) @ ((counts + a) / (total + a * n_classes)))
