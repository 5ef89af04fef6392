"""What each given number would be predicted as, were it not given, and which of them look wrong."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import cauchy, t

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.labeling._wrong import listed_as_wrong, share_wrong

# Right numbers miss what the others say by errors with heavy tails: Student's distribution with so many degrees.
_DEGREES = 4
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

    A number is right, and misses what the others say by an error with the spread that most of them have and heavy
    tails; or it is wrong, and then any number of the size that is given. The share of wrong ones is the one under which
    this happens as often as it is expected to, as for classes.
    """
    left_out = leave_one_value_out(model)
    given, said = model.targets_.given, left_out.predictions.reshape(len(left_out.rows), -1)
    known = ~left_out.is_out_of_reach & ~np.isnan(said).any(axis=1)
    suspicion, distance = np.full((2, len(known)), np.nan)
    share = 0.0
    if known.sum() > 1:
        odds, distance[known] = _odds_of_right(given[known], said[known])
        share = share_wrong(lambda wrong: _wrong(odds, wrong), int(known.sum()))
        suspicion[known] = _wrong(odds, share)
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


def _wrong(log_odds_of_right: FloatArray, share: float) -> FloatArray:
    return np.asarray(expit(np.log(share) - np.log1p(-share) - log_odds_of_right))


def _odds_of_right(given: FloatArray, said: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the log-odds of each number to be right, before the share of wrong ones, and distances.

    Independent errors of the targets of a row: their odds multiply.
    """
    # Below their last digits numbers do not differ.
    digits = np.finfo(float).eps * np.abs(given).max(axis=0) + np.finfo(float).tiny
    middle = np.median(given, axis=0)
    errors = np.maximum(_spread(given - said), digits)
    sizes = np.maximum(_spread(given - middle), errors)  # what the others say is no worse than the middle
    distances = np.abs(given - said) / errors
    right = t.logpdf(distances, _DEGREES) - np.log(errors)
    wrong = cauchy.logpdf((given - middle) / sizes) - np.log(sizes)
    return np.asarray((right - wrong).sum(axis=1)), np.asarray(distances.max(axis=1))


def _spread(values: FloatArray) -> FloatArray:
    """Return the spread of most of some values around 0, which a few wrong ones do not move."""
    return np.asarray(_NORMAL_SPREAD * np.median(np.abs(values), axis=0))
