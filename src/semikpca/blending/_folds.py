"""Labels in turns: which of them are held out together, where leaving each out by itself would take too long."""

import numpy as np
from sklearn.utils import check_random_state

from semikpca._typing import IntArray

MOST_FOLDS = 20
_SEED = 0


def label_folds(n_labels: int) -> list[IntArray]:
    """Return the places of the labels of each fold, ascending: 20 folds drawn at random, always the same.

    One for each label where there are no more.
    """
    if not n_labels:
        return []
    order = check_random_state(_SEED).permutation(n_labels)
    return [np.sort(fold) for fold in np.array_split(order, min(MOST_FOLDS, n_labels))]
