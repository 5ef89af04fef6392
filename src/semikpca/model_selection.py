"""Cross-validation for data with few labels, for any semi-supervised estimator in scikit-learn's ways.

scikit-learn's splitters count unlabeled rows as a class of its own and hold them out; its scorers compare predictions
with the mark of an unlabeled row. Here every unlabeled row stays in training, and only held-out labels are scored.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from semikpca._numbers import is_whole_number
from semikpca._typing import IntArray
from semikpca.labels import encode, labeled_values

Scorer = Callable[..., float]


class LabeledKFold(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn has no types
    """Folds over the labeled rows; all unlabeled rows are in every training set.

    A held-out row leaves training altogether and is predicted as a new row, so any estimator with ``predict`` can be
    judged. Classes are dealt evenly over the folds. The only label of a class is never held out: without it nothing
    could vote for the class.

    Parameters
    ----------
    n_splits : int, default=5
        Folds; as many as there are labels is leave-one-label-out.
    shuffle : bool, default=False
        Whether labels are dealt in random order instead of that of the rows.
    random_state : int, RandomState or None, default=None
        Of the shuffling.

    Notes
    -----
    Labels in words, with None or NaN where there is none, need it (or another splitter that is named): for ``cv=None``
    and ``cv=5`` scikit-learn sorts all of y, and raises "'<' not supported between instances of 'NoneType' and 'str'".

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, -1, 1, 0, -1, 1])
    >>> for train, test in LabeledKFold(n_splits=2).split(np.zeros((6, 1)), y):
    ...     print(train.tolist(), test.tolist())
    [1, 3, 4, 5] [0, 2]
    [0, 1, 2, 4] [3, 5]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return int(self.n_splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the row numbers of each training set and of the labels held out from it.

        Parameters
        ----------
        X : ignored but for its length
        y : array-like of shape (n_samples,)
            Labels; -1 (integers), None or NaN where there is none.
        groups : ignored
        """
        yield from super().split(X, y, groups)

    def _iter_test_indices(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[IntArray]:
        if not is_whole_number(self.n_splits, 2):
            raise ValueError(f"n_splits must be a whole number, 2 or more, got {self.n_splits!r}.")
        if y is None:
            raise ValueError("LabeledKFold deals out labels: give y, with -1, None or NaN where there is no label.")
        codes = encode(y).codes
        dealt = self._dealt(codes)
        if len(dealt) < self.n_splits:
            raise ValueError(
                f"{self.n_splits} folds need as many labels that can be held out, and there are {len(dealt)} (the only "
                "label of a class cannot be). Use fewer folds, or give more labels."
            )
        for fold in range(self.n_splits):
            yield np.sort(dealt[fold :: self.n_splits])

    def _dealt(self, codes: IntArray) -> IntArray:
        """Return the labeled rows in the order of dealing: class by class, so that each spreads over the folds."""
        random_state = check_random_state(self.random_state) if self.shuffle else None
        classes = [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]
        if random_state is not None:
            classes = [random_state.permutation(rows) for rows in classes]
        return np.concatenate([rows for rows in classes if len(rows) > 1] or [np.empty(0, dtype=np.intp)])


def labeled_scorer(scoring: Any = "accuracy") -> Scorer:
    """Return a scorer that passes over unlabeled rows, for splitters that leave some in the test sets.

    Parameters
    ----------
    scoring : str or callable, default="accuracy"
        What scikit-learn's ``scoring`` takes: a name such as "balanced_accuracy", or a scorer.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, for ``cross_val_score``, ``GridSearchCV`` and the like.

    Examples
    --------
    >>> from sklearn.semi_supervised import LabelSpreading
    >>> model = LabelSpreading(gamma=1).fit([[0.0], [0.1], [5.0]], [0, -1, 1])
    >>> labeled_scorer()(model, [[0.0], [4.9], [2.0]], [0, 1, -1])
    1.0
    """

    def score(estimator: Any, X: Any, y: Any, **parameters: Any) -> float:
        truth, labeled = labeled_values(y, np.asarray(getattr(estimator, "classes_", [])))
        rows = X.iloc[labeled] if hasattr(X, "iloc") else _taken(X, labeled)
        return float(check_scoring(estimator, scoring)(estimator, rows, truth[labeled], **parameters))

    return score


def _taken(X: Any, rows: IntArray) -> Any:
    """Return some rows of an array, a sparse matrix or a list."""
    return X[rows] if hasattr(X, "shape") else [X[int(row)] for row in rows]


__all__ = ["LabeledKFold", "labeled_scorer"]
