"""What each label would be predicted as, were it not given."""

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.estimators import DecisionClassifier, TransductiveRegressor
from semikpca.labeling._kinds import predicts_numbers
from semikpca.labeling._left_out_values import LeaveOneValueOut, leave_one_value_out
from semikpca.labels import only_of_class


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


@overload
def leave_one_label_out(model: DecisionClassifier) -> LeaveOneLabelOut: ...


@overload
def leave_one_label_out(model: TransductiveRegressor) -> LeaveOneValueOut: ...


def leave_one_label_out(model: DecisionClassifier | TransductiveRegressor) -> LeaveOneLabelOut | LeaveOneValueOut:
    """Return what each labeled row would be predicted as without its own label: exact, and no fit to the rows again.

    Parameters
    ----------
    model : fitted SemiKPCAClassifier, SemiLSSVMClassifier or LSSVMClassifier, or a regressor

    Returns
    -------
    LeaveOneLabelOut, or LeaveOneValueOut for SemiKPCARegressor and SemiKPCARegressorCV

    Notes
    -----
    Decisions are H y, so row i without its label has the decision f_i − H_ii y_i (the row stays, unlabeled); for
    ``LSSVMClassifier``, whose unlabeled rows take no part, it is (f_i − H_ii y_i) / (1 − H_ii). A ``class_prior`` keeps
    the offsets of the whole fit. With another loss than the square there is no H: each label is left out by Newton
    steps that begin with the answer to all labels, to the tolerance of the fit. For regressors every candidate of the
    blend is exact, and the weights are those of the whole fit.
    """
    if predicts_numbers(model):
        return leave_one_value_out(model)
    return leave_one_class_out(model)


def leave_one_class_out(model: DecisionClassifier) -> LeaveOneLabelOut:
    """Return the same of a classifier."""
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
