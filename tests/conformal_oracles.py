"""Conformal prediction by refits and naive counting; shares no code with the package."""

import warnings

import numpy as np
from sklearn.base import clone

from semikpca.exceptions import SingleClassWarning, UnreachableRowsWarning


def refitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SingleClassWarning)
        warnings.simplefilter("ignore", UnreachableRowsWarning)
        return clone(model).fit(X, y)


def changed(y, row, label):
    y = y.copy()
    y[row] = label
    return y


def margin(model, decision, label):
    """How far the best other class is ahead of a class at one row; infinite where the model does not know it."""
    classes = model.classes_.tolist()
    if label not in classes:
        return np.inf
    scores = [-float(decision), float(decision)] if np.ndim(decision) == 0 else [float(score) for score in decision]
    if len(classes) == 1:
        return 0.0
    return (
        max(score for other, score in zip(classes, scores, strict=True) if other != label)
        - scores[classes.index(label)]
    )


def is_silent(decision):
    """Whether no label reaches a row."""
    return not np.any(decision)


def full_conformal(model, X, y, labels, *, class_conditional=False):
    """P-values of the unlabeled rows for each class: a refit for each row, class and label."""
    asked = np.flatnonzero(y == -1)
    classes = np.unique(y[y != -1])
    before = refitted(model, X, y)
    p_values = np.ones((len(asked), len(classes)))
    for place, row in enumerate(asked):
        if is_silent(before.decision_[row]):
            continue
        for code, label in enumerate(classes):
            mine = margin(before, before.decision_[row], label)
            with_row = changed(y, row, label)
            ranked = [other for other in labels if not class_conditional or y[other] == label]
            worse = 0
            for other in ranked:
                without = refitted(model, X, changed(with_row, other, -1))
                decision = without.decision_[other]
                worse += is_silent(decision) or margin(without, decision, y[other]) >= mine
            p_values[place, code] = (1 + worse) / (1 + len(ranked))
    return p_values


def jackknife_plus(model, X, y, new, *, score=None, class_conditional=False):
    """P-values of new rows, or of the unlabeled ones, for each class: a refit without each label.

    ``score(model, row, label, place)`` is how unusual a label is for a training row (an int) or a new one; places
    number the labeled rows and those that are asked about.
    """
    classes = np.unique(y[y != -1])
    labeled = np.flatnonzero(y != -1)
    counts = np.zeros((len(new), len(classes)))
    for number, row in enumerate(labeled):
        without = refitted(model, X, changed(y, row, -1))
        theirs = score(without, int(row), y[row], ("label", number))
        for place, one in enumerate(new):
            for code, label in enumerate(classes):
                if not class_conditional or label == y[row]:
                    counts[place, code] += theirs >= score(without, one, label, ("asked", place))
    against = [np.sum(y == label) if class_conditional else len(labeled) for label in classes]
    return (1 + counts) / (1 + np.array(against))
