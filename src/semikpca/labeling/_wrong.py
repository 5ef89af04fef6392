"""How many labels are wrong, and which are listed as such: the same for classes and for numbers."""

from collections.abc import Callable

import numpy as np

from semikpca._typing import BoolArray, FloatArray

# What is taken for the share of wrong labels before any of them is looked at, and the labels that this is worth.
_WRONG_BEFOREHAND = 0.05
_WORTH = 10.0
_STEPS = 100
_SETTLED = 1e-6


def share_wrong(chances: Callable[[float], FloatArray], n_labels: int) -> float:
    """Return the share of wrong labels under which as many seem to be wrong as it says, by expectation-maximization.

    ``chances`` has for a share the probability of each label to be wrong.
    """
    share = _WRONG_BEFOREHAND
    for _ in range(_STEPS):
        before = share
        share = float((_WORTH * _WRONG_BEFOREHAND + chances(share).sum()) / (_WORTH + n_labels))
        if abs(share - before) < _SETTLED:
            break
    return share


def likelihood_of_share(share: float) -> float:
    """Return the logarithm of how likely a share of wrong labels is before any of them is looked at."""
    return float(_WORTH * (_WRONG_BEFOREHAND * np.log(share) + (1 - _WRONG_BEFOREHAND) * np.log1p(-share)))


def listed_as_wrong(suspicion: FloatArray, is_contradicted: BoolArray, false_discovery_rate: float = 0.1) -> BoolArray:
    """Return which labels look wrong: the longest list in which few are expected to be right.

    Parameters
    ----------
    suspicion : ndarray of shape (n_labels,)
        The probability that each label is wrong, falling; NaN, at the end, where nothing is known.
    is_contradicted : ndarray of bool, shape (n_labels,)
        Whether the other labels would call the row something else; no other label is listed.
    false_discovery_rate : float, default=0.1
        The share of the list that may be expected to be right.
    """
    known = np.flatnonzero(~np.isnan(suspicion) & is_contradicted)
    right = np.cumsum(1 - suspicion[known]) / np.arange(1, len(known) + 1)
    flags = np.zeros(len(suspicion), dtype=bool)
    flags[known[: int(np.sum(right <= false_discovery_rate))]] = True
    return flags
