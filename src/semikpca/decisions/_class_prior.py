"""Offsets that move the predicted class shares towards a prior."""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from semikpca._typing import FloatArray, IntArray
from semikpca.labels import UNLABELED

_SOFTNESS = 0.01  # of the spread of the scores: how far a row counts for two classes while shares are matched


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

    Notes
    -----
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

    found = minimize(slope, np.zeros(len(prior)), jac=True, method="BFGS")
    offsets = softness * spread * (found.x - found.x.mean())
    return np.asarray(offsets.astype(scores.dtype))
