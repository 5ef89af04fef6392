"""Given labels that look wrong."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.estimators import DecisionClassifier
from semikpca.labeling._leave_one_out import leave_one_label_out

_LOOKS_WRONG = 0.5  # from here on the other labels make it likelier that a label is wrong than that it is right


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
    """

    rows: IntArray
    suspicion: FloatArray
    given: npt.NDArray[Any]
    suggested: npt.NDArray[Any]

    @property
    def looks_wrong(self) -> BoolArray:
        """Whether each label looks wrong, shape (n_labeled,).

        Both must hold: it is likelier wrong than right, and the other labels call the row something else. With many
        classes and few labels, cautious probabilities alone would flag nearly every label.
        """
        return np.asarray((self.suspicion > _LOOKS_WRONG) & (self.suggested != self.given))

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
    return LabelAudit(left_out.rows[order], suspicion[order], left_out.given[order], left_out.predictions[order])
