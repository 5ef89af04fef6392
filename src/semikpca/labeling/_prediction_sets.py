"""For each row the classes that cannot be excluded: conformal prediction from labels that were left out."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from semikpca._numbers import require_share
from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.arrays import length, to_numpy
from semikpca.decisions import says_nothing
from semikpca.estimators import DecisionClassifier
from semikpca.labeling._held_out import drawn, models_without, nothing_drawn, of_all_classes
from semikpca.labeling._kinds import require_classes
from semikpca.labeling._linear_ranks import ranks_of_new, ranks_of_unlabeled
from semikpca.labeling._promise import promise_of_folds, promise_without_each
from semikpca.labels import UNLABELED

Score = Literal["adaptive", "smallest"]


@dataclass(frozen=True)
class PredictionSets:
    """The classes that cannot be excluded, for each of some rows.

    Attributes
    ----------
    rows : ndarray of int, shape (n_rows,)
        The unlabeled training rows, or 0 … n_rows − 1 for new rows.
    sets : ndarray of bool, shape (n_rows, n_classes)
        A column for each class, in the order of ``classes_``. The predicted class is always in, and all classes are
        where no label reaches the row.
    p_values : ndarray of shape (n_rows, n_classes)
        A class is in the set where this is above the error rate, so that sets for other rates can be read off.
    error_rate : float
    n_labels : int
        Labels that were ranked against.
    promised_coverage : float
        The share of rows whose class is in their set, in expectation over labels drawn at random from the rows, as
        far as it is proved; NaN where nothing is: new rows of models that learn from unlabeled ones.
    new_class_p_value : float
        The same for a class that no row was labeled with: it grows with the labels that are the only ones of their
        class.
    """

    rows: IntArray
    sets: BoolArray
    p_values: FloatArray
    error_rate: float
    n_labels: int
    promised_coverage: float
    new_class_p_value: float

    @property
    def may_be_new_class(self) -> bool:
        """Whether classes without any label cannot be excluded either, for any row: label more rows to find them."""
        return self.new_class_p_value > self.error_rate

    @property
    def is_informative(self) -> bool:
        """Whether there are labels enough to exclude anything: an error rate below 1 / (n_labels + 1) cannot be had."""
        return self.error_rate >= 1 / (self.n_labels + 1)


def prediction_sets(
    model: DecisionClassifier,
    error_rate: float = 0.1,
    X: Any = None,
    *,
    score: Score = "smallest",
    class_conditional: bool = False,
    drawn_rows: Any = None,
    random_state: Any = 0,
) -> PredictionSets:
    """Return for each row the classes that cannot be excluded.

    Parameters
    ----------
    model : fitted SemiKPCAClassifierCV, SemiKPCAClassifier, SemiLSSVMClassifier or LSSVMClassifier
    error_rate : float, default=0.1
        The share of rows whose class may be missing from their set.
    X : array-like or None, default=None
        New rows; None asks for the unlabeled training rows.
    score : {"smallest", "adaptive"}, default="smallest"
        How unusual a class is for a row. "smallest" takes 1 − its probability, which makes the smallest sets on the
        mean; "adaptive" the probability of all likelier classes (a part of its own added at random), which makes sets
        larger where rows are hard and smaller where they are easy. Models that are linear in the labels take the
        margin of their decisions.
    class_conditional : bool, default=False
        Whether the promise is kept for the rows of each class by themselves, which matters where a class is rare. It
        takes 1 / error_rate labels of a class to exclude that class anywhere.
    drawn_rows : array-like of int or None, default=None
        The labeled rows that were drawn at random; None takes all but those that :func:`suggest_labels` named.
    random_state : int, RandomState or None, default=0
        For the random part of the adaptive score.

    Notes
    -----
    Labels must have been drawn at random from the rows. Then a labeled row and an unlabeled one could have changed
    places, and a class whose score ranks among the worst of all left-out labels can be excluded.

    - Models that are linear in the labels: full conformal prediction. For each row and class the model is given that
      label, by a column of H, and the row ranks among all labeled ones, each without its own label. The true class is
      missing for at most ``error_rate`` of the rows (Vovk, Gammerman and Shafer 2005, proposition 2.3). Rows are ranked
      without the offsets that ``class_prior`` asks for, so that this is so with them as well.
    - The automatic classifier, and Semi-KPCA with another loss than the square: cross-conformal
      prediction, jackknife+ where there are no more than 20 labels. Models without the labels of a fold rank the row
      among the labels of that fold. The promise that is proved is about twice the error rate (Barber, Candès, Ramdas
      and Tibshirani 2021, theorems 1 and 4; Romano, Sesia and Candès 2020); what is seen is ``error_rate`` itself
      (docs/accepting.md).
    - A class without any label can be in no set. Nothing would vote for it, as nothing votes for a label that is the
      only one of its class, so that these say whether it can be excluded: ``may_be_new_class``.
    - New rows (jackknife+ for all models) were not among the unlabeled ones, which the proofs want. What is seen is the
      same. ``LSSVMClassifier`` learns from no unlabeled rows, and the proof holds: twice the error rate.
    """
    require_share("error_rate", error_rate)
    require_classes(model, "prediction_sets", "prediction_intervals")
    if score not in ("adaptive", "smallest"):
        raise ValueError(f"score must be 'adaptive' or 'smallest', got {score!r}.")
    rows = drawn(model, drawn_rows)
    if not len(rows):
        raise ValueError(nothing_drawn())
    unlabeled = np.flatnonzero(model.label_coding_.codes == UNLABELED)
    asked = unlabeled if X is None else np.arange(length(X))
    decision = to_numpy(model.decision_)[asked] if X is None else to_numpy(model.decision_function(X))
    if not model.is_linear_in_labels:
        uniform = check_random_state(random_state).random_sample
        counts, n_worst = _ranks_by_folds(model, rows, asked, X, score, class_conditional, uniform)
    elif X is None:
        counts, n_worst = ranks_of_unlabeled(model, rows, asked, class_conditional)
    else:
        counts, n_worst = ranks_of_new(model, rows, X, decision, class_conditional)
    of_class = np.bincount(model.label_coding_.codes[rows], minlength=model.label_coding_.n_classes)
    p_values = (1 + counts) / (1 + (of_class if class_conditional else len(rows)))
    p_values[says_nothing(decision)] = 1  # no label reaches the row, so that nothing can be excluded
    sets = p_values > error_rate
    sets[np.arange(len(asked)), model.decision_codes(decision)] = True
    new_class = 1.0 if class_conditional else (1 + n_worst) / (1 + len(rows))
    promised = _promised(
        model, error_rate, len(rows), int(of_class.min()) if class_conditional else None, X is not None
    )
    return PredictionSets(asked, sets, p_values, error_rate, len(rows), promised, new_class)


def _promised(model: Any, error_rate: float, n_labels: int, n_of_rarest: int | None, of_new_rows: bool) -> float:
    """Return the coverage that is proved; of each class by itself where the labels of the rarest are counted."""
    if of_new_rows and model.learns_from_unlabeled:
        return float("nan")
    if model.is_linear_in_labels and not of_new_rows:
        return 1 - error_rate
    if model.is_linear_in_labels:
        return promise_without_each(error_rate)
    return promise_of_folds(error_rate, n_labels, n_of_rarest)


def _ranks_by_folds(
    model: Any, rows: IntArray, asked: IntArray, X: Any, score: Score, class_conditional: bool, uniform: Any
) -> tuple[FloatArray, int]:
    """Return how many labels are as unusual as each class would be for each row or more, by models without them.

    The second answer is how many labels are as unusual as can be: their class was lost with them.
    """
    codes, n_classes = model.label_coding_.codes[rows], model.label_coding_.n_classes
    counts = np.zeros((len(asked), n_classes))
    own, others = uniform(len(rows)), uniform(len(asked))
    given = np.full(len(rows), np.inf)
    for fold, without in models_without(model, rows):
        everywhere = without.label_distributions_
        known = of_all_classes(model, without, everywhere[rows[fold]])
        given[fold] = _unusual(known, own[fold], score)[np.arange(len(fold)), codes[fold]]
        new = everywhere[asked] if X is None else without.predict_proba(X)
        scores = _unusual(of_all_classes(model, without, new), others, score)
        for code in np.unique(codes[fold]) if class_conditional else [slice(None)]:
            ranked = np.sort(given[fold[codes[fold] == code]] if class_conditional else given[fold])
            counts[:, code] += len(ranked) - np.searchsorted(ranked, scores[:, code])
    if len(model.label_coding_.labeled_rows) == 1:
        counts += 1  # without the only label there is no model, and nothing can be excluded
    return counts, int(np.isinf(given).sum())


def _unusual(probabilities: FloatArray, uniform: FloatArray, score: Score) -> FloatArray:
    """Return how unusual each class would be for each row; a class that a model knows no label of, infinitely."""
    if score == "smallest":
        return np.where(probabilities == 0, np.inf, 1 - probabilities)
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sorted_chances = np.take_along_axis(probabilities, order, axis=1)
    before = np.cumsum(sorted_chances, axis=1) - sorted_chances
    found = np.empty_like(probabilities)
    np.put_along_axis(found, order, before + uniform[:, np.newaxis] * sorted_chances, axis=1)
    found[probabilities == 0] = np.inf
    return found
