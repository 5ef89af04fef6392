"""The label response as a filter of a whole spectrum: all error weights from one set of eigenpairs."""

from typing import Literal

import numpy as np

from semikpca._typing import FloatArray
from semikpca.spectrum import Spectrum


def path_decisions(
    spectrum: Spectrum, k: int, targets: FloatArray, error_weights: FloatArray, sign: Literal[-1, 1] = -1
) -> FloatArray:
    """Return the decisions for every error weight from one whole spectrum, shape (n_weights, n, n_columns).

    The first k components are removed. The sign is that of the system: −1 for Semi-KPCA, +1 for LS-SVM without bias.
    """
    V = spectrum.eigenvectors[:, k:]
    products = spectrum.eigenvalues[k:, np.newaxis] * error_weights
    gains = products / (1 + sign * products)  # the eigenvalues of H, shape (n − k, n_weights)
    coordinates = V.T @ targets
    filtered = gains[:, :, np.newaxis] * coordinates[:, np.newaxis, :]
    n_weights, n_columns = len(error_weights), targets.shape[1]
    decisions = V @ filtered.reshape(len(gains), n_weights * n_columns)
    return decisions.reshape(spectrum.n, n_weights, n_columns).transpose(1, 0, 2)


def lssvm_path(spectrum: Spectrum, targets: FloatArray, error_weights: FloatArray) -> FloatArray:
    """Return the dual coefficients of LS-SVM without bias for every error weight, shape (n_weights, n, n_columns).

    On new rows the decision is k(new, rows) @ coefficients, as in :class:`LSSVMResponse`.
    """
    V = spectrum.eigenvectors
    gains = error_weights / (1 + spectrum.eigenvalues[:, np.newaxis] * error_weights)
    coordinates = V.T @ targets
    return np.asarray(np.einsum("il,lw,lc->wic", V, gains, coordinates, optimize=True))
