"""The shares of the classes: what labels say about them, a prior, and offsets that move predictions towards it."""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln, softmax

from semikpca._typing import FloatArray, IntArray
from semikpca.labels import UNLABELED

# How many labels of each class equal shares are worth beforehand: from a fraction of one to thirty. Labels decide.
_PSEUDO_COUNTS = np.array([0.3, 1.0, 3.0, 10.0, 30.0])
_FEW_CLASSES = 50
_FOR_MANY_CLASSES = {"method": "L-BFGS-B", "options": {"maxcor": 20, "gtol": 1e-6, "ftol": 0.0, "maxfun": 15_000}}
_SOFTNESS = 0.01  # of the spread of the scores: how far a row counts for two classes while shares are matched


def expected_shares(counts: IntArray) -> FloatArray:
    """Return the expected shares of the classes, given how many labels each has.

    A few labels say little about shares, so they are drawn towards equal ones, the more the better equal shares explain
    the counts: the mean under a Dirichlet prior whose strength is itself weighed by the likelihood of the counts.

    Examples
    --------
    >>> expected_shares(np.array([1, 1])).round(2).tolist()
    [0.5, 0.5]
    >>> expected_shares(np.array([90, 10])).round(2).tolist()
    [0.89, 0.11]
    """
    n_classes, total = len(counts), counts.sum()
    a = _PSEUDO_COUNTS[:, np.newaxis]
    log_likelihood = (
        gammaln(a[:, 0] * n_classes)
        - gammaln(total + a[:, 0] * n_classes)
        + np.sum(gammaln(counts + a) - gammaln(a), axis=1)
    )
    return np.asarray(softmax(log_likelihood) @ ((counts + a) / (total + a * n_classes)))


def resolve_prior(class_prior: Any, codes: IntArray, n_classes: int) -> FloatArray | None:
    """Return the prior shares of the classes, or None."""
    if class_prior is None:
        return None
    if isinstance(class_prior, str):
        if class_prior != "labeled":
            raise ValueError(f"class_prior must be None, 'labeled' or an array of shares, got {class_prior!r}.")
        shares = np.bincount(codes[codes != UNLABELED], minlength=n_classes).astype(float)
    else:
        try:
            shares = np.asarray(class_prior, dtype=float)
        except (TypeError, ValueError):
            shares = np.array(np.nan)
    if shares.shape != (n_classes,) or not np.isfinite(shares).all() or (shares <= 0).any():
        raise ValueError(
            f"class_prior must hold a positive share for each of the {n_classes} classes, got {class_prior!r}."
        )
    return np.asarray(shares / shares.sum())


def prior_offsets(scores: FloatArray, prior: FloatArray, softness: float = _SOFTNESS) -> FloatArray:
    """Return one offset a class, so that the largest of ``scores + offsets`` is class c for a share prior[c] of rows.

    ``softness``, in multiples of the spread of the scores, is how far from the edge a row counts for both classes.
    The offsets minimize the convex function mean(max_c(score_c + b_c)) − prior·b, whose slope is the difference
    between the shares and the prior. The maximum is smoothed a little so that it has a gradient.
    """
    spread = float(scores.std(dtype=np.float64))
    if spread == 0 or len(prior) == 1:
        return np.zeros(len(prior), dtype=scores.dtype)
    scaled = np.ascontiguousarray(scores.T, dtype=np.float64) / (softness * spread)  # a row a class: long rows are fast

    def slope(offsets: FloatArray) -> tuple[float, FloatArray]:
        parts = scaled + offsets[:, np.newaxis]
        largest = parts.max(axis=0)
        parts -= largest
        np.exp(parts, out=parts)
        totals = parts.sum(axis=0)
        value = float(np.mean(largest + np.log(totals)) - prior @ offsets)
        return value, parts @ (1 / totals) / len(totals) - prior

    # For many classes a method that keeps a few directions, and not a matrix with a row and a column for each class.
    method: dict[str, Any] = {"method": "BFGS"} if len(prior) <= _FEW_CLASSES else _FOR_MANY_CLASSES
    found = minimize(slope, np.zeros(len(prior)), jac=True, **method)
    offsets = softness * spread * (found.x - found.x.mean())
    return np.asarray(offsets.astype(scores.dtype))
