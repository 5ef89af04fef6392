"""How well a labeling of all rows agrees with their neighborhoods, and class offsets that respect it.

No label is needed to say how well it does.
"""

from typing import Any

import numpy as np
from scipy import sparse

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.decisions import expected_shares, prior_offsets

# For shares that nobody gave rows on the edge count in part, and offsets are taken as far as neighbors agree as well as
# before, but for this much.
_CAUTIOUS_SOFTNESS = 1 / 3
_STRENGTHS = (1.0, 0.75, 0.5, 0.25)
_AGREEMENT_TOLERANCE = 0.01


class NeighborAgreement:
    """The links of a neighbor graph, on which labelings are judged: the nonzero entries beside the diagonal."""

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
        counts = self._joint_counts(codes, n_classes)
        total = max(1, int(counts.sum()))
        most = _entropy(counts.sum(axis=1) / total)
        if most == 0:
            return 0.0
        joint = counts.data if sparse.issparse(counts) else counts.reshape(-1)
        return (most + _entropy(counts.sum(axis=0) / total) - _entropy(joint / total)) / most

    def _joint_counts(self, codes: IntArray, n_classes: int) -> Any:
        """Return how many links have each pair of classes at their ends: a matrix, sparse where classes are many."""
        if n_classes**2 > len(self.rows):
            ends = codes.take(self.rows), codes.take(self.columns)
            one = np.ones(len(self.rows), dtype=np.int64)
            counts = sparse.coo_array((one, ends), shape=(n_classes, n_classes)).tocsr()
        else:
            # The smallest type that holds a pair: what is looked up then stays in the cache.
            small = codes.astype(np.min_scalar_type(n_classes**2))
            pairs = small.take(self.rows) * small.dtype.type(n_classes) + small.take(self.columns)
            counts = np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)
        return counts + counts.T if self._both_ways else counts


def _entropy(shares: FloatArray) -> float:
    positive = shares[shares > 0]
    return float(-np.sum(positive * np.log(positive)))


def cautious_offsets(
    scores: FloatArray, out_of_reach: BoolArray, class_counts: IntArray, agreement: NeighborAgreement
) -> FloatArray:
    """Return offsets towards the shares that the labels suggest, as far as neighboring rows still agree."""
    n_classes = len(class_counts)
    offsets = prior_offsets(scores[~out_of_reach], expected_shares(class_counts), _CAUTIOUS_SOFTNESS)
    before = agreement.relative_information(scores.argmax(axis=1), n_classes)
    for strength in _STRENGTHS:
        moved = (scores + strength * offsets).argmax(axis=1)
        if agreement.relative_information(moved, n_classes) >= before - _AGREEMENT_TOLERANCE:
            return np.asarray(strength * offsets)
    return np.zeros(n_classes)
