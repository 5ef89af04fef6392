"""From decision values to class numbers and probabilities; a decision of exactly 0 says nothing of its row."""

import numpy as np

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.decisions._probability import probabilities
from semikpca.labels import predicted_codes


def decided_codes(class_shares: FloatArray, decision: FloatArray) -> IntArray:
    """Return the class number of each row; a row of which nothing is known gets the class of the largest share."""
    codes = predicted_codes(decision, len(class_shares))
    codes[says_nothing(decision)] = np.argmax(class_shares)
    return codes


def decided_probabilities(class_shares: FloatArray, sharpness: float, decision: FloatArray) -> FloatArray:
    """Return the probability of each class; those of a row of which nothing is known are the shares of the classes."""
    chances = probabilities(decision, len(class_shares), sharpness)
    chances[says_nothing(decision)] = class_shares
    return chances


def says_nothing(decision: FloatArray) -> BoolArray:
    """Return where all decision values of a row are exactly 0."""
    return np.asarray(~decision.reshape(len(decision), -1).any(axis=1))
