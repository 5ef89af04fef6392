"""How features are scaled before any method gets them."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from semikpca_benchmarks._typing import FloatArray
from semikpca_benchmarks.datasets._info import Scaling

_PIXEL_MAX = 16.0  # of digits
_LARGEST = 1.001  # 1, and a little for rows of unit length that were stored as 16-bit numbers


def scaled(X: FloatArray, scaling: Scaling) -> FloatArray:
    """Return the features as the methods get them; constant columns stay constant."""
    if scaling == "standardize":
        return np.asarray(StandardScaler().fit_transform(X))
    return X / _PIXEL_MAX if scaling == "pixels" else X


def scaling_of(X: FloatArray) -> Scaling:
    """Return how features are scaled that nobody has said anything about; the rows alone decide, without a label.

    Values within −1 to 1, among them all rows of unit length, are taken to be scaled already: embeddings, TF-IDF,
    shares, pixels. Everything else is a table of measurements in units of its own.

    Examples
    --------
    >>> scaling_of(np.array([[0.6, 0.8], [1.0, 0.0]])), scaling_of(np.array([[36.6, 0.8]]))
    ('none', 'standardize')
    """
    return "none" if np.abs(X).max() <= _LARGEST else "standardize"
