"""How much each candidate for numbers counts: by its errors on labels that were left out, first alone, then together.

The constants were chosen on the sets named in docs/decisions/0031; results are flat around all of them.
"""

import numpy as np
from scipy.optimize import nnls

from semikpca._typing import FloatArray
from semikpca.blending._weights import normalized_weights

# The likelihood of left-out labels, each of which counts for half: the answers of a candidate without one label are
# almost those without another, so that their errors come together.
_WORTH_OF_A_LABEL = 0.5
# What it costs to move weights away from those that each candidate earns alone, in squared errors of the best one.
_COST_OF_MOVING = 5.0
# Candidates that miss by less, in shares of the variance of the targets, are not told apart.
_LEAST_ERROR = 1e-9


def left_out_errors(left_out: FloatArray, targets: FloatArray) -> FloatArray:
    """Return the mean squared error of each candidate over the left-out labels.

    ``left_out`` has shape (n_candidates, n_labeled, n_targets); targets have mean 0 and variance 1.
    """
    return np.asarray(np.mean(np.square(left_out - targets), axis=(1, 2)))


def first_weights(errors: FloatArray, n_labeled: int) -> FloatArray:
    """Return the weights that candidates earn alone: the likelihood of normal errors of the size that was seen."""
    return normalized_weights(-_WORTH_OF_A_LABEL * n_labeled / 2 * np.log(np.maximum(errors, _LEAST_ERROR)))


def stacked_weights(left_out: FloatArray, targets: FloatArray) -> FloatArray:
    """Return weights, not negative and of sum 1, under which left-out labels are missed least by the sum.

    Stacking (Wolpert 1992, Breiman 1996) with a pull towards :func:`first_weights`: candidates that err in different
    directions count more together than each alone, and with few labels little of that can be known.

    Minimize ‖targets − Σ v_c left_out_c‖² + cost · ‖v − first‖² over the simplex. With A the matrix and b the
    right-hand side of both terms, that is to minimize g(v) = ‖(A − b1ᵀ) v‖², since 1ᵀv = 1. It is solved without the
    sum: minimize ‖(A − b1ᵀ) u‖² + (1ᵀu − 1)² over u ≥ 0, and divide u by its sum. For u = t v the best t leaves
    g(v) / (1 + g(v)), which is least where g is.
    """
    n_candidates, n_labeled = left_out.shape[:2]
    errors = left_out_errors(left_out, targets)
    first = first_weights(errors, n_labeled)
    size = n_labeled * max(float(errors.min()), _LEAST_ERROR)
    columns = (left_out - targets).reshape(n_candidates, -1).T / np.sqrt(size * targets.shape[1])
    pulls = np.sqrt(_COST_OF_MOVING) * (np.eye(n_candidates) - first[:, np.newaxis])
    system = np.vstack([columns, pulls, np.ones((1, n_candidates))])
    wanted = np.zeros(len(system))
    wanted[-1] = 1
    found = nnls(system, wanted)[0]
    return np.asarray(found / found.sum())
