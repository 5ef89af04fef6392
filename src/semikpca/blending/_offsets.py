"""Class offsets where nobody said what the shares of the classes are."""

import numpy as np

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.blending._agreement import NeighborAgreement
from semikpca.decisions import expected_shares, prior_offsets

# For shares that nobody gave rows on the edge count in part, and offsets are taken as far as neighbors agree as well as
# before, but for this much.
_CAUTIOUS_SOFTNESS = 1 / 3
_STRENGTHS = (1.0, 0.75, 0.5, 0.25)
_AGREEMENT_TOLERANCE = 0.01


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
