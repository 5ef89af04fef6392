"""Which given labels look wrong, in the eyes of all others."""

from dataclasses import dataclass
from functools import partial
from typing import Any, overload

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from semikpca._numbers import require_share
from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.estimators import DecisionClassifier, TransductiveRegressor
from semikpca.labeling._kinds import predicts_numbers
from semikpca.labeling._leave_one_out import leave_one_class_out
from semikpca.labeling._left_out_values import ValueAudit, audit_values
from semikpca.labeling._wrong import likelihood_of_share, listed_as_wrong, share_wrong

_LEAST_CHANCE = 1e-6  # no class is impossible
# The probabilities of a model are as cautious as its labels are wrong, those that were given wrongly included. Of rows
# that were labeled rightly it can be surer: its probabilities are raised to a power. Of the automatic classifier, which
# foresees its accuracy, the power is about 1.8 before any label is looked at; of others nothing is known
# (docs/decisions/0029-how-sure-with-a-guarantee.md).
_POWERS = np.geomspace(1.0, 3.24, 25)
_BEFOREHAND = -0.5 * np.square(np.log(_POWERS / 1.8) / 0.2)
_ANY_POWERS = np.geomspace(0.1, 100, 40)


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
    false_discovery_rate : float
        The share of right labels among those that look wrong, as far as is expected.
    share_wrong : float
        The share of all labels that seems to be wrong.
    """

    rows: IntArray
    suspicion: FloatArray
    given: npt.NDArray[Any]
    suggested: npt.NDArray[Any]
    suggested_probability: FloatArray
    false_discovery_rate: float = 0.1
    share_wrong: float = 0.0

    @property
    def looks_wrong(self) -> BoolArray:
        """Whether each label looks wrong, shape (n_labeled,): :func:`listed_as_wrong`."""
        return listed_as_wrong(self.suspicion, self.suggested != self.given, self.false_discovery_rate)

    def to_frame(self):
        """Return the audit as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(
            {"row": self.rows, "given": self.given, "suggested": self.suggested, "suspicion": self.suspicion}
        )


@overload
def audit_labels(model: DecisionClassifier, *, false_discovery_rate: float = ...) -> LabelAudit: ...


@overload
def audit_labels(model: TransductiveRegressor, *, false_discovery_rate: float = ...) -> ValueAudit: ...


def audit_labels(
    model: DecisionClassifier | TransductiveRegressor, *, false_discovery_rate: float = 0.1
) -> LabelAudit | ValueAudit:
    """Return how strongly the other labels speak against each given one.

    Parameters
    ----------
    model : fitted classifier, SemiKPCARegressor or SemiKPCARegressorCV
    false_discovery_rate : float, default=0.1
        The share of right labels that the list of labels that look wrong may have.

    Returns
    -------
    LabelAudit, or ValueAudit for numbers

    Notes
    -----
    A given label is either right, or wrong and then any other class. With p the probability of the given class by the
    other labels, ε the share of wrong labels and c classes, it is wrong with the odds ε (1 − p) / (c − 1) to (1 − ε) p.
    ε is the one under which this happens as often as it is expected to, beginning with 5%, worth ten labels; how sure
    the others are is not taken for known, and the answer is a mean over what the labels make likely.

    A given number is right, and misses what the others say by an error with the spread that most of them have
    (Student's distribution, with tails as heavy as the numbers make likely); or it is wrong, and then any number of the
    size that is given (Cauchy's distribution around their median). The share of wrong ones is found in the same way.
    """
    require_share("false_discovery_rate", false_discovery_rate)
    if predicts_numbers(model):
        return audit_values(model, false_discovery_rate=false_discovery_rate)
    left_out = leave_one_class_out(model)
    coding = model.label_coding_
    known = ~(left_out.is_only_label | left_out.is_out_of_reach)
    suspicion, likeliest = np.full((2, len(known)), np.nan)
    share_wrong = 0.0
    if coding.n_classes > 1 and known.any():
        beside = np.asarray(model.decision_probabilities(left_out.decision[known]))
        codes = coding.codes[left_out.rows[known]]
        tried = (_POWERS, _BEFOREHAND) if model.foresees_accuracy else (_ANY_POWERS, np.zeros(len(_ANY_POWERS)))
        chances, suspicion[known], share_wrong = wrong_chances(beside, codes, *tried)
        likeliest[known] = chances.max(axis=1)
    # Stable, and NaN sorts last: labels that nothing speaks of do not come before those that something speaks for.
    order = np.argsort(-suspicion, kind="stable")
    given, suggested = left_out.given[order], left_out.predictions[order]
    return LabelAudit(
        left_out.rows[order],
        suspicion[order],
        given,
        suggested,
        likeliest[order],
        false_discovery_rate,
        share_wrong,
    )


def wrong_chances(
    probabilities: FloatArray, codes: IntArray, powers: FloatArray, beforehand: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return surer class probabilities of labeled rows, the probability that each label is wrong, and their share.

    ``probabilities`` are those by the other labels, ``codes`` the given labels. A few wrong labels among right ones
    look like cautious probabilities, or like a share of wrong ones beside sure probabilities: the answer is the mean
    over powers of the probabilities, each as likely as it makes the labels, and as it was ``beforehand`` (logarithms).
    """
    n_classes = probabilities.shape[1]
    of_given = np.arange(len(codes)), codes
    logarithms = np.log(np.clip(probabilities, np.finfo(float).tiny, 1))
    likelihoods, found = [], []
    for power, before in zip(powers, beforehand, strict=True):
        surer = softmax(power * logarithms, axis=1)
        right = np.clip(surer[of_given], _LEAST_CHANCE, 1 - _LEAST_CHANCE)
        share = share_wrong(partial(_posterior, right, n_classes), len(right))
        likelihood = np.log((1 - share) * right + share * (1 - right) / (n_classes - 1)).sum()
        likelihood += likelihood_of_share(share)
        likelihoods.append(likelihood + before)
        found.append((surer, _posterior(right, n_classes, share), share))
    weights = softmax(likelihoods)
    chances, wrong, shares = (np.tensordot(weights, np.array(values), axes=1) for values in zip(*found, strict=True))
    return np.asarray(chances), np.asarray(wrong), float(shares)


def _posterior(right: FloatArray, n_classes: int, share: float) -> FloatArray:
    """Return the probability that labels are wrong whose classes have these probabilities."""
    wrong = share * (1 - right) / (n_classes - 1)
    return np.asarray(wrong / (wrong + (1 - share) * right))
