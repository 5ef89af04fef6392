"""Kernel PCA without labels (Problem 3)."""

import numpy as np

from semikpca._typing import FloatArray
from semikpca.losses import SQUARED, Loss
from semikpca.operators import DeflatedOperator, KernelOperator
from semikpca.spectrum import Spectrum


def kernel_pca_objective(
    operator: KernelOperator,
    spectrum: Spectrum,
    coefficients: FloatArray,
    error_weight: float,
    k: int,
    loss: Loss = SQUARED,
) -> float:
    """Return the objective of Problem 3, ½⟨w, w⟩ − γ Σ ρ(e), at w = Σ c_i φ(x_i) without its first k components.

    The spectrum has at least these. What w has along them is taken off, as the constraints ask.
    """
    removed = spectrum.head(k)
    deflated = DeflatedOperator(operator, removed.eigenvalues, removed.eigenvectors)
    errors = deflated.matmat(coefficients[:, np.newaxis])[:, 0]
    return float(0.5 * coefficients @ errors - error_weight * loss.value(errors).sum())
