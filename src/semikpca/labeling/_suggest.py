"""Rows that are worth labeling next."""

import numpy as np
from sklearn.utils import check_random_state

from semikpca._numbers import is_whole_number
from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import slices, to_numpy
from semikpca.decisions import Reach, typical_margin
from semikpca.estimators import DecisionClassifier, TransductiveRegressor
from semikpca.labeling._change_by_fits import change_by_fits, suggested_by_fits
from semikpca.labeling._kinds import predicts_numbers, require_classes
from semikpca.labeling._suggest_values import suggested_for_numbers
from semikpca.labels import UNLABELED, signed_targets

# A class that a row is less likely to have than this adds little to an expectation, and is not worth its cost when rows
# are only ranked.
_UNLIKELY = 0.01
# A row with a typical margin counts as if labels had confirmed it this many times over; decisions/0009 has the trials.
_CONFIDENCE = 2.0
_ENTRIES_AT_ONCE = 2_000_000  # probabilities in memory at a time, 16 MB
# A search looks at so many probabilities for each label that might be given, on a sample of the rows where there are
# more (but never fewer rows than this), and at so many classes of each candidate at most.
_ENTRIES_A_LABEL = 20_000
_FEWEST_ROWS = 500
_MOST_CLASSES = 5
# Candidates, and how many numbers their columns of the label response may have together.
_POOL_ENTRIES = 2_560_000
_FEWEST_CANDIDATES, _MOST_CANDIDATES = 32, 256
# Rows that the model is surer of than this are asked about only where hardly any others are left; decisions/0036.
_NEARLY_SURE = 0.9


def suggest_labels(
    model: DecisionClassifier | TransductiveRegressor,
    n: int = 10,
    *,
    check_rows: int = 0,
    max_candidates: int | None = None,
    random_state=0,
) -> IntArray:
    """Return unlabeled rows worth labeling next, best first.

    The first row is the one whose label is expected to change the predictions of all rows the most. Each further row is
    chosen as if those before it had been given their most likely label, so that rows tell different things. With few
    labels the expectation is taken with more confident probabilities than ``predict_proba`` gives: cautious ones expect
    a contradiction everywhere, and lead to rows that would upset the model most instead of those it is unsure of.

    For numbers it is the row that lowers the variance of all rows the most, each candidate of the blend taken for a
    Gaussian process; that does not depend on the number that it will have.

    Parameters
    ----------
    model : fitted SemiKPCAClassifier, SemiKPCAClassifierCV, SemiLSSVMClassifier, SemiKPCARegressor or \
SemiKPCARegressorCV
    n : int, default=10
        How many rows; fewer come back where fewer are unlabeled.
    check_rows : int, default=0
        How many of them, the last ones, are drawn at random from all unlabeled rows instead. Their labels keep
        estimates and promises honest (:func:`estimate_accuracy`, :func:`accept_labels`), which labels of suggested
        rows are no ground for; the model remembers which rows it suggested.
    max_candidates : int or None, default=None
        Rows that are weighed against each other: the most uncertain ones and as many drawn at random (for numbers all
        of them drawn at random), among those that the model is not nearly sure of. All of these where there are no
        more. None is 256, and fewer above 10,000 rows:
        each takes a column of the label response. For losses but the squared one None is 32: each takes a fit for each
        likely class, and again for each row of the answer.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    ndarray of int
    """
    search = suggested_for_numbers if predicts_numbers(model) else _suggested
    unlabeled = model.unlabeled_rows_
    if max_candidates is None:
        n_rows = len(unlabeled) + len(model.labeled_rows_)
        by_columns = predicts_numbers(model) or model.has_label_response
        max_candidates = _default_candidates(n_rows) if by_columns else _FEWEST_CANDIDATES
    for name, value in (("n", n), ("max_candidates", max_candidates)):
        if not is_whole_number(value, 1):
            raise ValueError(f"{name} must be a whole number, 1 or more, got {value!r}.")
    if not is_whole_number(check_rows, 0) or check_rows > n:
        raise ValueError(f"check_rows must be a whole number between 0 and n={n}, got {check_rows!r}.")
    random_state = check_random_state(random_state)
    drawn = random_state.permutation(unlabeled)[:check_rows] if check_rows else unlabeled[:0]
    suggested = search(model, np.setdiff1d(unlabeled, drawn), n - check_rows, max_candidates, random_state)
    model.remember_suggestions(suggested, drawn)
    return np.concatenate([suggested, drawn])


def _suggested(model, unlabeled: IntArray, n: int, max_candidates: int, random_state) -> IntArray:
    """Return n of the unlabeled rows, best first."""
    if not unlabeled.size or not n:
        return np.empty(0, dtype=np.intp)
    unsure = _unsure(model, unlabeled, max(n, min(max_candidates, _FEWEST_CANDIDATES)))
    pool = _pool(model, unsure, max(max_candidates, n), random_state)
    among = _sample(model, random_state)
    if not model.has_label_response:
        return suggested_by_fits(model, pool, n, searching_sharpness(model), among, _UNLIKELY, _MOST_CLASSES)
    columns, steps = model.label_steps(pool)
    decision, reach = model.linear_decision(), model.reach_
    sharpness = searching_sharpness(model)
    chosen: list[int] = []
    remaining = np.arange(len(pool))
    while len(chosen) < min(n, len(pool)):
        rows = pool[remaining]
        change = _expected_change(
            model,
            decision,
            reach,
            rows,
            (columns[:, remaining], steps[remaining]),
            sharpness,
            among,
            _UNLIKELY,
            _MOST_CLASSES,
        )
        best = int(remaining[np.argmax(change)])
        chosen.append(best)
        remaining = remaining[remaining != best]
        row = int(pool[best])
        likely = int(np.argmax(model.decision_probabilities(reach.hide(decision)[row][np.newaxis])[0]))
        decision = decision + np.outer(columns[:, best] * steps[best, likely], _target(model, likely))
        reach = reach.with_label_at(row)
    return pool[chosen]


def searching_sharpness(model: DecisionClassifier) -> float:
    """Return the sharpness that ``suggest_labels`` searches with: the model's own, or a more confident one."""
    coding = model.label_coding_
    if coding.n_classes == 1:
        return float(model.sharpness_)
    margin = typical_margin(to_numpy(model.decision_)[~model.reach_.out], coding.n_classes)
    confident = _CONFIDENCE * np.log(len(coding.labeled_rows) + 1) / margin if margin else 0.0
    return max(float(model.sharpness_), float(confident))


def expected_change(model: DecisionClassifier, rows, *, sharpness: float | None = None) -> FloatArray:
    """Return how much the predictions of all rows are expected to change when each of ``rows`` gets a label.

    The change is the total variation between the class probabilities before and after, summed over all rows: the
    number of predictions that would come out differently. The expectation is over the row's own class probabilities.
    Exact, from the columns of H; no refit. With another loss than the square it takes Newton steps from the present
    answer for each row and each class that it may have.

    Parameters
    ----------
    model : fitted SemiKPCAClassifier or SemiLSSVMClassifier
    rows : array-like of int
        Training rows that have no label yet.
    sharpness : float or None, default=None
        How confident the probabilities are; None takes ``model.sharpness_``, that of ``predict_proba``.

    Returns
    -------
    ndarray of shape (len(rows),)
    """
    require_classes(model, "expected_change", "suggest_labels")
    answer = model.label_steps(np.atleast_1d(rows)) if model.has_label_response else None
    rows = np.atleast_1d(np.asarray(rows, dtype=np.intp))
    labeled = rows[model.label_coding_.codes[rows] != UNLABELED]
    if labeled.size:
        raise ValueError(f"Row {labeled[0]} has a label already; ask for rows without one.")
    sharpness = model.sharpness_ if sharpness is None else sharpness
    decision, reach = model.linear_decision(), model.reach_
    everywhere = np.arange(len(decision))
    n_classes = model.label_coding_.n_classes
    if answer is None:
        return change_by_fits(model, rows, sharpness, everywhere, 0.0, n_classes)
    return _expected_change(model, decision, reach, rows, answer, sharpness, everywhere, 0.0, n_classes)


def _expected_change(
    model, decision, reach: Reach, rows, answer, sharpness: float, among, negligible: float, most_classes: int
) -> FloatArray:
    """Return the expected change of the rows ``among`` for each of ``rows``, whose ``label_steps`` are ``answer``.

    Passed over are classes less likely than ``negligible``, and all but the ``most_classes`` likeliest of each row.
    Rows that stay out of reach do not change.
    """
    columns, steps = answer
    reached = reach.hide(decision)
    own = model.decision_probabilities(reached[rows], sharpness)
    if most_classes < own.shape[1]:
        own[own < np.partition(own, -most_classes, axis=1)[:, -most_classes, np.newaxis]] = 0
    candidates, codes = np.nonzero(own > negligible)
    before = model.decision_probabilities(reached[among], sharpness)
    is_silent = ~reached[among].any(axis=1)
    # A line for each class and for each candidate: long lines are fast.
    chances = np.ascontiguousarray(before[~is_silent].T)
    responses = np.ascontiguousarray(columns[among[~is_silent]].T)
    distances = np.zeros(len(candidates))
    for pairs in slices(0, len(candidates), max(1, _ENTRIES_AT_ONCE // max(1, chances.shape[1]))):
        sizes = steps[candidates[pairs], codes[pairs], np.newaxis]
        gains = 2 * sharpness * sizes * responses[candidates[pairs]]
        distances[pairs] = _moved_chances(chances[codes[pairs]], gains).sum(axis=1)
    silent, before = among[is_silent], before[is_silent]
    for pairs in slices(0, len(candidates) if silent.size else 0, max(1, _ENTRIES_AT_ONCE // max(1, before.size))):
        # Axis 0 counts candidates, axis 1 rows, axis 2 right-hand sides.
        sizes = steps[candidates[pairs], codes[pairs], np.newaxis, np.newaxis]
        targets = sizes * signed_targets(codes[pairs], own.shape[1])[:, np.newaxis, :]
        moved = decision[silent] + columns[np.ix_(silent, candidates[pairs])].T[:, :, np.newaxis] * targets
        for place, row in enumerate(rows[candidates[pairs]]):
            moved[place, reach.with_label_at(row).out[silent]] = 0
        after = model.decision_probabilities(moved.reshape(-1, decision.shape[1]), sharpness)
        distances[pairs] += np.abs(after.reshape(len(moved), *before.shape) - before).sum(axis=(1, 2)) / 2
    expected = own[candidates, codes] * distances
    return np.asarray(np.bincount(candidates, expected, minlength=len(rows)), dtype=np.float64)


def _moved_chances(chances: FloatArray, gains: FloatArray) -> FloatArray:
    """Return by how much the probability of a class changes when its log-odds grow by ``gains``.

    That is the total variation between all probabilities: a label of one class moves its score one way and those of all
    others the other way by the same, so that what the class gains, the others lose in proportion.
    """
    others = 1 - chances
    shrunk = np.exp(-np.abs(gains))  # never larger than 1, whichever way the odds move
    left = np.where(gains > 0, chances + others * shrunk, others + chances * shrunk)
    return np.asarray(chances * others * (1 - shrunk) / left)


def _default_candidates(n_rows: int) -> int:
    return int(np.clip(_POOL_ENTRIES // n_rows, _FEWEST_CANDIDATES, _MOST_CANDIDATES))


def _sample(model, random_state) -> IntArray:
    """Return the rows on which a search looks at changes: all of them, or a sample of many."""
    n_rows, n_classes = len(model.label_coding_.codes), model.label_coding_.n_classes
    size = max(_FEWEST_ROWS, _ENTRIES_A_LABEL // n_classes)
    return np.arange(n_rows) if n_rows <= size else np.sort(random_state.choice(n_rows, size, replace=False))


def _target(model, code: int) -> FloatArray:
    """Return the row of targets that a label of this class sets."""
    return np.asarray(signed_targets(np.array([code]), model.label_coding_.n_classes)[0])


def _unsure(model, unlabeled: IntArray, at_least: int) -> IntArray:
    """Return the rows that the model is not nearly sure of; where these are few, the least sure ones."""
    confidence = to_numpy(model.label_distributions_)[unlabeled].max(axis=1)
    n_unsure = int((confidence < _NEARLY_SURE).sum())
    least_sure: IntArray = unlabeled[np.argsort(confidence, kind="stable")[: max(n_unsure, at_least)]]
    return np.sort(least_sure)


def _pool(model, unlabeled: IntArray, size: int, random_state) -> IntArray:
    if len(unlabeled) <= size:
        return unlabeled
    confidence = model.label_distributions_[unlabeled].max(axis=1)
    order = np.argsort(confidence, kind="stable")
    uncertain, rest = unlabeled[order[: size // 2]], unlabeled[order[size // 2 :]]
    return np.concatenate([uncertain, random_state.choice(rest, size - len(uncertain), replace=False)])
