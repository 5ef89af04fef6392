"""Rows that are worth labeling next."""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from semikpca._typing import FloatArray, IntArray
from semikpca.estimators import ResponseClassifier
from semikpca.labels import UNLABELED, signed_targets

# A class that a row is less likely to have than this adds next to nothing to an expectation.
_NEGLIGIBLE = 1e-3


def suggest_labels(model: ResponseClassifier, n: int = 10, *, max_candidates: int = 256, random_state=0) -> IntArray:
    """Return unlabeled rows worth labeling next, best first.

    The first row is the one whose label is expected to change the predictions of all rows the most. Each further row is
    chosen as if those before it had been given their most likely label, so that rows tell different things.

    Parameters
    ----------
    model : fitted SemiKPCAClassifier or SemiLSSVMClassifier
    n : int, default=10
        How many rows; fewer come back where fewer are unlabeled.
    max_candidates : int, default=256
        Rows that are weighed against each other: the most uncertain ones and as many drawn at random. All of them where
        no more are unlabeled.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    ndarray of int
    """
    check_is_fitted(model)
    if n < 1:
        raise ValueError(f"n must be 1 or more, got {n!r}.")
    unlabeled = np.flatnonzero(model.label_coding_.codes == UNLABELED)
    if not unlabeled.size:
        return unlabeled
    pool = _pool(model, unlabeled, max(max_candidates, n), check_random_state(random_state))
    columns = model.label_response(pool)
    decision = _as_columns(model.decision_)
    chosen: list[int] = []
    remaining = np.arange(len(pool))
    while len(chosen) < min(n, len(pool)):
        change = _expected_change(model, decision, pool[remaining], columns[:, remaining])
        best = remaining[int(np.argmax(change))]
        chosen.append(best)
        # The ranking moves little from pick to pick: rows far behind need not be weighed again.
        in_front = np.argsort(-change, kind="stable")[: 5 * n + 1]
        remaining = np.setdiff1d(remaining[in_front], [best])
        likely = np.argmax(model.decision_probabilities(decision[pool[best]][np.newaxis])[0])
        decision = decision + np.outer(columns[:, best], _target(model, int(likely)))
    return pool[chosen]


def expected_change(model: ResponseClassifier, rows) -> FloatArray:
    """Return how much the predictions of all rows are expected to change when each of ``rows`` gets a label.

    The change is the total variation between the class probabilities before and after, summed over all rows: the
    number of predictions that would come out differently. The expectation is over the row's own class probabilities.
    Exact, from the columns of H; no refit.

    Returns
    -------
    ndarray of shape (len(rows),)
    """
    check_is_fitted(model)
    rows = np.asarray(rows, dtype=np.intp)
    return _expected_change(model, _as_columns(model.decision_), rows, model.label_response(rows))


def _expected_change(model, decision, rows, columns) -> FloatArray:
    before = model.decision_probabilities(decision)
    change = np.zeros(len(rows))
    for i, row in enumerate(rows):
        for code in np.flatnonzero(before[row] > _NEGLIGIBLE):
            after = model.decision_probabilities(decision + np.outer(columns[:, i], _target(model, int(code))))
            change[i] += before[row, code] * 0.5 * np.abs(after - before).sum()
    return change


def _target(model, code: int) -> FloatArray:
    """Return the row of targets that a label of this class sets."""
    return np.asarray(signed_targets(np.array([code]), model.label_coding_.n_classes)[0])


def _as_columns(decision) -> FloatArray:
    return np.asarray(decision[:, np.newaxis] if decision.ndim == 1 else decision)


def _pool(model, unlabeled: IntArray, size: int, random_state) -> IntArray:
    if len(unlabeled) <= size:
        return unlabeled
    confidence = model.label_distributions_[unlabeled].max(axis=1)
    order = np.argsort(confidence, kind="stable")
    uncertain, rest = unlabeled[order[: size // 2]], unlabeled[order[size // 2 :]]
    return np.concatenate([uncertain, random_state.choice(rest, size - len(uncertain), replace=False)])
