"""Semi-KPCA with a loss, written naively: formulas of the losses, the fixed point, and the primal in explicit features.

Nothing here uses the package. Losses are written by their definitions (a logarithm of a cosine, a root minus one), the
kernel matrix is deflated by an eigendecomposition of NumPy, and the primal is minimized over w itself by SciPy.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize

# Steps of the fixed-point iteration: 0.9 to this power is far below rounding, 0.99 to it 2e-9 of nothing.
MOST_STEPS = 20_000


@dataclass(frozen=True)
class NaiveLoss:
    """A loss by its definition."""

    value: Callable
    slope: Callable


def squared():
    return NaiveLoss(lambda e: e**2 / 2, lambda e: e)


def pseudo_huber(delta):
    return NaiveLoss(
        lambda e: delta**2 * (np.sqrt(1 + (e / delta) ** 2) - 1), lambda e: e / np.sqrt(1 + (e / delta) ** 2)
    )


def log_cosh(scale):
    return NaiveLoss(lambda e: scale**2 * np.log(np.cosh(e / scale)), lambda e: scale * np.tanh(e / scale))


def deflated(K, k):
    """K without its first k components."""
    values, vectors = np.linalg.eigh(K)
    for value, vector in list(zip(values[::-1], vectors.T[::-1], strict=True))[:k]:
        K = K - value * np.outer(vector, vector)
    return K


def fixed_point(K, y, k, gamma, loss, start=None):
    """Return f = γ K′ ρ′(y + f) by putting the right side in for the left until nothing changes."""
    K = deflated(K, k)
    f = np.zeros_like(y) if start is None else start
    for _ in range(MOST_STEPS):
        before, f = f, gamma * K @ loss.slope(y + f)
        if np.abs(f - before).max() <= 1e-16 * np.abs(f).max():
            break
    return f


@dataclass(frozen=True)
class Primal:
    """½⟨w, w⟩ − γ Σ ρ(y + ⟨w, φ⟩) over w orthogonal to the first k components, with features in the rows of Φ."""

    features: np.ndarray  # of the rows, without their first k components
    y: np.ndarray
    gamma: float
    loss: NaiveLoss

    @classmethod
    def of(cls, K, y, k, gamma, loss):
        """Return the primal with features from the eigendecomposition of a kernel matrix."""
        values, vectors = np.linalg.eigh(K)
        keep = slice(None, len(K) - k)
        return cls(vectors[:, keep] * np.sqrt(np.maximum(values[keep], 0)), y, gamma, loss)

    def __call__(self, w):
        return w @ w / 2 - self.gamma * self.loss.value(self.y + self.features @ w).sum()

    def gradient(self, w):
        return w - self.gamma * self.features.T @ self.loss.slope(self.y + self.features @ w)

    def minimized(self, start):
        """Return the w that a quasi-Newton method finds from a start."""
        options = {"gtol": 1e-13, "maxiter": 10_000}
        return optimize.minimize(self, start, jac=self.gradient, method="BFGS", options=options).x
