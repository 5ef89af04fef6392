"""What each label would be predicted as, were it not given, and which labels look wrong by that."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.estimators import DecisionClassifier
from semikpca.labels import only_of_class

# A label looks wrong where the other labels make another class so many times as likely. With 5 of 50 labels wrong, on
# nine sets of eight draws, twice found 3.8 of the 5 beside 2.3 right ones; any likelier class found 4.5 beside 5.7.
_TIMES_AS_LIKELY = 2.0


@dataclass(frozen=True)
class LeaveOneLabelOut:
    """Every labeled row as the model sees it without its own label.

    Attributes
    ----------
    rows : ndarray of int, shape (n_labeled,)
        The labeled rows, ascending.
    decision : ndarray of shape (n_labeled,) or (n_labeled, n_classes)
        As ``decision_``, each without the row's own label.
    predictions : ndarray of shape (n_labeled,)
    given : ndarray of shape (n_labeled,)
    is_only_label : ndarray of bool, shape (n_labeled,)
        True where the row is the only label of its class: left out, its class vanishes, and nothing can vote for it.
    is_out_of_reach : ndarray of bool, shape (n_labeled,)
        True where the row's own label is the only one in its piece of a neighbor graph: left out, no label reaches the
        row. Its decision is 0, its prediction the class of the largest share among the other labels.
    """

    rows: IntArray
    decision: FloatArray
    predictions: npt.NDArray[Any]
    given: npt.NDArray[Any]
    is_only_label: BoolArray
    is_out_of_reach: BoolArray

    @property
    def accuracy(self) -> float:
        """Share of labels found again, over those that are not the only one of their class; NaN if all are."""
        scored = ~self.is_only_label
        if not scored.any():
            return float("nan")
        return float(np.mean(self.predictions[scored] == self.given[scored]))


def leave_one_label_out(model: DecisionClassifier) -> LeaveOneLabelOut:
    """Return what each labeled row would be predicted as without its own label: exact, and no refit.

    Parameters
    ----------
    model : fitted SemiKPCAClassifier, SemiLSSVMClassifier or LSSVMClassifier

    Notes
    -----
    Decisions are H y, so row i without its label has the decision f_i − H_ii y_i (the row stays, unlabeled); for
    ``LSSVMClassifier``, whose unlabeled rows take no part, it is (f_i − H_ii y_i) / (1 − H_ii). A ``class_prior`` keeps
    the offsets of the whole fit.
    """
    check_is_fitted(model)
    coding = model.label_coding_
    rows = coding.labeled_rows
    decision = model.left_out_decisions(rows)
    codes = coding.codes[rows]
    return LeaveOneLabelOut(
        rows=rows,
        decision=decision[:, 0] if decision.shape[1] == 1 else decision,
        predictions=coding.decode(model.left_out_codes(rows, decision)),
        given=coding.decode(codes),
        is_only_label=only_of_class(codes),
        is_out_of_reach=model.reach_.alone(rows, coding.codes),
    )


@dataclass(frozen=True)
class LabelAudit:
    """The given labels, most suspicious first.

    Attributes
    ----------
    rows : ndarray of int, shape (n_labeled,)
    suspicion : ndarray of shape (n_labeled,)
        Probability that the label is wrong, in the eyes of all other labels; NaN, and last, for a label that is the
        only one of its class, or the only one that reaches its row: the others know nothing of it.
    given : ndarray of shape (n_labeled,)
    suggested : ndarray of shape (n_labeled,)
        What the other labels would call the row.
    suggested_probability : ndarray of shape (n_labeled,)
        The probability of that; NaN where the suspicion is.
    """

    rows: IntArray
    suspicion: FloatArray
    given: npt.NDArray[Any]
    suggested: npt.NDArray[Any]
    suggested_probability: FloatArray

    @property
    def looks_wrong(self) -> BoolArray:
        """Whether each label looks wrong, shape (n_labeled,).

        The other labels must call the row something else, and that must be twice as likely as the given label: where
        several classes are about as likely, nothing speaks against the given one.
        """
        clearly = self.suggested_probability >= _TIMES_AS_LIKELY * (1 - self.suspicion)
        return np.asarray(clearly & (self.suggested != self.given))

    def to_frame(self):
        """Return the audit as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(
            {"row": self.rows, "given": self.given, "suggested": self.suggested, "suspicion": self.suspicion}
        )


def audit_labels(model: DecisionClassifier) -> LabelAudit:
    """Return how strongly the other labels speak against each given one.

    Parameters
    ----------
    model : fitted SemiKPCAClassifier, SemiLSSVMClassifier or LSSVMClassifier
    """
    left_out = leave_one_label_out(model)
    coding = model.label_coding_
    probabilities = model.decision_probabilities(left_out.decision)
    codes = coding.codes[left_out.rows]
    suspicion = 1 - probabilities[np.arange(len(codes)), codes]
    suspicion[left_out.is_only_label | left_out.is_out_of_reach] = np.nan
    # Stable, and NaN sorts last: labels that nothing speaks of do not come before those that something speaks for.
    order = np.argsort(-suspicion, kind="stable")
    likeliest = np.where(np.isnan(suspicion), np.nan, probabilities.max(axis=1))
    given, suggested = left_out.given[order], left_out.predictions[order]
    return LabelAudit(left_out.rows[order], suspicion[order], given, suggested, likeliest[order])
