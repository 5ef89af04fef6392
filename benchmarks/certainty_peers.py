"""What else one would use: split conformal prediction by MAPIE, and confident learning by cleanlab.

Part of ``bench_certainty.py``, which says what it is for.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

SCORES = ("lac", "aps")
BASES = ("logistic", "automatic")
SPLIT_METHODS = tuple(f"MAPIE {score}, {base}" for base in BASES for score in SCORES)
AT_A_THRESHOLD = 1e-6  # MAPIE allows for rounding where a class is exactly at the threshold
FOLDS = 5


class Known(ClassifierMixin, BaseEstimator):
    """A classifier that is fitted: it knows the probabilities of all rows, which are named by their numbers."""

    def __init__(self, probabilities: np.ndarray, classes: np.ndarray):
        self.probabilities = probabilities
        self.classes = classes
        self.classes_ = classes
        self.n_features_in_ = 1

    def fit(self, X, y):
        """Learn nothing: there is nothing to learn."""
        return self

    def predict_proba(self, X):
        """Return the probabilities of some rows."""
        return self.probabilities[np.asarray(X)[:, 0].astype(int)]

    def predict(self, X):
        """Return the likeliest class of some rows."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def split_conformal_sets(
    X: np.ndarray,
    labels: np.ndarray,
    automatic: Callable[[np.ndarray], Any],
    rates: Sequence[float],
    draw: int,
    checked: bool,
) -> dict[str, dict[float, np.ndarray]]:
    """Return the sets of all unlabeled rows by MAPIE, for each method and error rate.

    Half of the labels train a classifier, logistic regression or the automatic one (which has the unlabeled rows as
    well), the others conform. Rates that so few labels cannot promise are refused by MAPIE: then all classes are in.
    APS is refused where the labels that conform are of two classes, and has no sets then.
    """
    given = np.random.default_rng([draw, 1]).permutation(np.flatnonzero(labels != -1))
    classes = np.unique(labels[given])
    training, conforming = np.sort(given[: len(given) // 2]), np.sort(given[len(given) // 2 :])
    asked = np.flatnonzero(labels == -1)
    half = np.full(len(labels), -1)
    half[training] = labels[training]
    found = {}
    for base in BASES:
        chances = _logistic(X, half) if base == "logistic" else _of_model(automatic, half)
        everywhere = np.zeros((len(labels), len(classes)))
        everywhere[:, np.searchsorted(classes, chances[0])] = chances[1]
        for score in SCORES:
            if score == "aps" and len(np.unique(labels[conforming])) < 3:
                continue  # which MAPIE refuses
            sets = _mapie_sets(Known(everywhere, classes), labels, conforming, asked, rates, score, draw)
            if checked and score == "lac":
                check_split(everywhere, np.searchsorted(classes, labels[conforming]), conforming, asked, sets)
            found[f"MAPIE {score}, {base}"] = sets
    return found


def _mapie_sets(
    known: Known,
    labels: np.ndarray,
    conforming: np.ndarray,
    asked: np.ndarray,
    rates: Sequence[float],
    score: str,
    draw: int,
) -> dict[float, np.ndarray]:
    from mapie.classification import SplitConformalClassifier

    possible = [rate for rate in rates if can_be_had(rate, len(conforming))]
    sets = {rate: np.ones((len(asked), len(known.classes)), dtype=bool) for rate in rates}
    if possible:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes that do not conform, and MAPIE's own plans
            split = SplitConformalClassifier(
                known, [1 - rate for rate in possible], score, prefit=True, random_state=draw
            )
            split.conformalize(conforming[:, np.newaxis], labels[conforming])
            found = split.predict_set(asked[:, np.newaxis])[1]
        sets |= {rate: found[:, :, place] for place, rate in enumerate(possible)}
    return sets


def can_be_had(rate: float, n_conforming: int) -> bool:
    """Whether so many labels can promise an error rate: the rank that it asks for must be one of theirs."""
    return n_conforming >= 1 / rate and np.ceil((1 - rate) * (n_conforming + 1)) <= n_conforming


def check_split(
    chances: np.ndarray, codes: np.ndarray, conforming: np.ndarray, asked: np.ndarray, sets: dict[float, np.ndarray]
) -> None:
    """Refuse sets that are not those of split conformal prediction written in three lines."""
    scores = np.sort(1 - chances[conforming, codes])
    for rate, given in sets.items():
        if can_be_had(rate, len(scores)):
            threshold = scores[int(np.ceil((1 - rate) * (len(scores) + 1) - 1e-9)) - 1]
            own = 1 - chances[asked]
            differs = (own <= threshold) != given
            assert np.all(np.abs(own - threshold)[differs] <= AT_A_THRESHOLD), (
                "MAPIE's sets are not what they should be."
            )


def _logistic(X: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes that logistic regression knows from the training half, and their probabilities everywhere."""
    training = half != -1
    classes = np.unique(half[training])
    if len(classes) == 1:
        return classes, np.ones((len(X), 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(max_iter=200).fit(X[training], half[training])
    return model.classes_, model.predict_proba(X)


def _of_model(automatic: Callable[[np.ndarray], Any], half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    model = automatic(half)
    return model.classes_, np.asarray(model.label_distributions_)


def cleanlab_finds(codes: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return which labels cleanlab takes for wrong, by probabilities that were made without them."""
    from cleanlab.filter import find_label_issues

    return np.asarray(find_label_issues(codes, probabilities, n_jobs=1))


def cross_validated(X: np.ndarray, codes: np.ndarray, seed: int) -> np.ndarray:
    """Return the probabilities of labeled rows by logistic regressions without them, as cleanlab's guide does."""
    folds = StratifiedKFold(min(FOLDS, int(np.bincount(codes).min())), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cross_val_predict(LogisticRegression(max_iter=200), X, codes, cv=folds, method="predict_proba")
