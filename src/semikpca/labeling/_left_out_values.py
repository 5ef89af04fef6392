"""What each given number would be predicted as, were it not given, and which of them look wrong."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from scipy.stats import cauchy, t

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.labeling._wrong import likelihood_of_share, listed_as_wrong, share_wrong

# Right numbers miss what the others say by errors with tails that are heavy or not: Student's distribution with so
# many degrees of freedom.
_DEGREES = (3.0, 6.0, 12.0, 30.0)
_NORMAL_SPREAD = 1.4826  # of a normal distribution, in units of the median of the absolute values


@dataclass(frozen=True)
class LeaveOneValueOut:
    """Every labeled row as the model sees it without its own number.

    Attributes
    ----------
    rows : ndarray of int, shape (n_labeled,)
        The labeled rows, ascending.
    predictions : ndarray of shape (n_labeled,) or (n_labeled, n_targets)
        NaN where it is the only label.
    given : ndarray of the same shape
    is_out_of_reach : ndarray of bool, shape (n_labeled,)
        True where the row's own label is the only one in its piece of a neighbor graph; its prediction is the mean of
        the other labels.
    """

    rows: IntArray
    predictions: FloatArray
    given: FloatArray
    is_out_of_reach: BoolArray

    @property
    def residuals(self) -> FloatArray:
        """Given less predicted, of the shape of both."""
        return np.asarray(self.given - self.predictions)

    @property
    def root_mean_squared_error(self) -> Any:
        """Over the labeled rows; a number for each target."""
        found = np.sqrt(np.mean(np.square(self.residuals), axis=0))
        return float(found) if found.ndim == 0 else found


def leave_one_value_out(model: Any) -> LeaveOneValueOut:
    """Return what each labeled row would be predicted as without its own number; see ``leave_one_label_out``."""
    targets, rows = model.targets_, model.labeled_rows_
    return LeaveOneValueOut(
        rows=rows,
        predictions=targets.shaped(model.left_out_values(rows)),
        given=targets.shaped(targets.given),
        is_out_of_reach=model.reach_.alone(rows, targets.marks),
    )


@dataclass(frozen=True)
class ValueAudit:
    """The given numbers, most suspicious first.

    Attributes
    ----------
    rows : ndarray of int, shape (n_labeled,)
    suspicion : ndarray of shape (n_labeled,)
        Probability that the number is wrong, in the eyes of all other labels; NaN, and last, where these know nothing
        of the row.
    distance : ndarray of shape (n_labeled,)
        How far the number is from what the others say, in units of the spread of such distances; of several targets
        the largest.
    given : ndarray of shape (n_labeled,) or (n_labeled, n_targets)
    suggested : ndarray of the same shape
        What the other labels say.
    false_discovery_rate : float
        The share of right numbers among those that look wrong, as far as is expected.
    share_wrong : float
        The share of all numbers that seems to be wrong.
    """

    rows: IntArray
    suspicion: FloatArray
    distance: FloatArray
    given: FloatArray
    suggested: FloatArray
    false_discovery_rate: float = 0.1
    share_wrong: float = 0.0

    @property
    def looks_wrong(self) -> BoolArray:
        """Whether each number looks wrong, shape (n_labeled,): :func:`listed_as_wrong`."""
        return listed_as_wrong(self.suspicion, ~np.isnan(self.suspicion), self.false_discovery_rate)

    def to_frame(self):
        """Return the audit as a pandas DataFrame; several targets have a column each."""
        import pandas as pd

        columns: dict[str, Any] = {"row": self.rows}
        for name, values in (("given", self.given), ("suggested", self.suggested)):
            if values.ndim == 1:
                columns[name] = values
            else:
                columns |= {f"{name} {number}": values[:, number] for number in range(values.shape[1])}
        return pd.DataFrame({**columns, "distance": self.distance, "suspicion": self.suspicion})


def audit_values(model: Any, *, false_discovery_rate: float = 0.1) -> ValueAudit:
    """Return how strongly the other labels speak against each given number; see ``audit_labels``.

    The probability that each is wrong is that of :func:`wrong_values`.
    """
    left_out = leave_one_value_out(model)
    given, said = model.targets_.given, left_out.predictions.reshape(len(left_out.rows), -1)
    known = ~left_out.is_out_of_reach & ~np.isnan(said).any(axis=1)
    suspicion, distance = np.full((2, len(known)), np.nan)
    share = 0.0
    if known.sum() > 1:
        suspicion[known], share, distance[known] = wrong_values(given[known], said[known])
    order = np.argsort(-suspicion, kind="stable")
    return ValueAudit(
        left_out.rows[order],
        suspicion[order],
        distance[order],
        left_out.given[order],
        left_out.predictions[order],
        false_discovery_rate,
        share,
    )


def wrong_values(given: FloatArray, said: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """Return the probability that each number is wrong, the share of wrong ones, and distances.

    ``said`` is what the other labels say, both of shape (n_labels, n_targets). A few wrong numbers look like errors
    with heavy tails, or like wrong ones beside errors with light tails: the answer is the mean over both, each as
    likely as it makes the numbers. The errors of the targets of a row are independent: their densities multiply.
    """
    # Below their last digits numbers do not differ.
    digits = np.finfo(float).eps * np.abs(given).max(axis=0) + np.finfo(float).tiny
    middle = np.median(given, axis=0)
    errors = np.maximum(_spread(given - said), digits)
    sizes = np.maximum(_spread(given - middle), errors)  # what the others say is no worse than the middle
    distances = np.abs(given - said) / errors
    wrong = (cauchy.logpdf((given - middle) / sizes) - np.log(sizes)).sum(axis=1)
    likelihoods, found = [], []
    for degrees in _DEGREES:
        right = (t.logpdf(distances, degrees) - np.log(errors)).sum(axis=1)
        chances = partial(_chances_of_wrong, wrong - right)
        share = share_wrong(chances, len(given))
        both = np.logaddexp(np.log1p(-share) + right, np.log(share) + wrong)
        likelihoods.append(both.sum() + likelihood_of_share(share))
        found.append((chances(share), share))
    weights = softmax(likelihoods)
    suspicion = np.tensordot(weights, np.array([chances for chances, _ in found]), axes=1)
    return np.asarray(suspicion), float(weights @ [share for _, share in found]), np.asarray(distances.max(axis=1))


def _chances_of_wrong(log_odds: FloatArray, share: float) -> FloatArray:
    """Return the probabilities of wrong numbers whose density is so much higher, before their share."""
    return np.asarray(expit(log_odds + np.log(share) - np.log1p(-share)))


def _spread(values: FloatArray) -> FloatArray:
    """Return the spread of most of some values around 0, which a few wrong ones do not move."""
    return np.asarray(_NORMAL_SPREAD * np.median(np.abs(values), axis=0))
