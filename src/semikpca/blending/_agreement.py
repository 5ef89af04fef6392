"""How well a labeling of all rows agrees with their neighborhoods; no label is needed to say so."""

from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray


class NeighborAgreement:
    """The links of a neighbor graph, on which labelings are judged.

    Parameters
    ----------
    matrix : sparse array of shape (n, n)
        Its nonzero entries beside the diagonal are the links.
    """

    def __init__(self, matrix: Any) -> None:
        links = (matrix > 0).tocoo()
        self._both_ways = (links != links.T).nnz == 0  # then one direction says it all
        kept = links.row < links.col if self._both_ways else links.row != links.col
        self.rows: IntArray = links.row[kept].astype(np.intp)
        self.columns: IntArray = links.col[kept].astype(np.intp)

    def relative_information(self, codes: IntArray, n_classes: int) -> float:
        """Return the share of what there is to know of the class at one end of a link that the other end tells.

        The mutual information of the two ends over the entropy of one: 1 where no link leads out of a class, 0 where
        classes are strewn at random, and 0 for one class everywhere, of which there is nothing to know. Unlike the
        share of links that stay inside, it is not high merely because one class is large.
        """
        shares = self._joint_shares(codes, n_classes)
        most = _entropy(shares.sum(axis=1))
        if most == 0:
            return 0.0
        return (most + _entropy(shares.sum(axis=0)) - _entropy(shares.reshape(-1))) / most

    def _joint_shares(self, codes: IntArray, n_classes: int) -> FloatArray:
        # The smallest type that holds a pair: what is looked up then stays in the cache.
        small = codes.astype(np.min_scalar_type(n_classes**2))
        pairs = small.take(self.rows) * small.dtype.type(n_classes) + small.take(self.columns)
        counts = np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)
        counts = counts + counts.T if self._both_ways else counts
        return np.asarray(counts / max(1, counts.sum()))


def _entropy(shares: FloatArray) -> float:
    positive = shares[shares > 0]
    return float(-np.sum(positive * np.log(positive)))
