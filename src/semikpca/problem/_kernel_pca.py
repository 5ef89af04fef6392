"""Kernel PCA without labels (Problem 3)."""

import numpy as np

from semikpca._typing import FloatArray
from semikpca.losses import Loss, Squared
from semikpca.operators import DeflatedOperator, KernelOperator
from semikpca.spectrum import Spectrum

_SQUARED = Squared()


def kernel_pca_objective(
    operator: KernelOperator,
    spectrum: Spectrum,
    coefficients: FloatArray,
    error_weight: float,
    k: int,
    loss: Loss = _SQUARED,
) -> float:
    """Return the objective of Problem 3, ½⟨w, w⟩ − γ Σ ρ(e), at w = Σ c_i φ(x_i) without its first k components.

    Parameters
    ----------
    spectrum : Spectrum
        At least k eigenpairs of the operator.
    coefficients : ndarray of shape (n,)
        c; what w has along the first k components is taken off, as the constraints ask.
    """
    removed = spectrum.head(k)
    deflated = DeflatedOperator(operator, removed.eigenvalues, removed.eigenvectors)
    errors = deflated.matmat(coefficients[:, np.newaxis])[:, 0]
    return float(0.5 * coefficients @ errors - error_weight * loss.value(errors).sum())
