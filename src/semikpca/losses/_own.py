"""The losses of the package."""

import math
from dataclasses import dataclass

import numpy as np

from semikpca._typing import Array, FloatArray
from semikpca.arrays import namespace
from semikpca.losses._base import Loss


@dataclass(frozen=True)
class Squared(Loss):
    """The paper's loss, ρ(e) = e²/2.

    Examples
    --------
    >>> Squared().value(3.0), Squared().derivative(3.0)
    (4.5, 3.0)
    """

    def value(self, errors: Array) -> Array:
        """Return e²/2."""
        return 0.5 * errors * errors

    def derivative(self, errors: Array) -> Array:
        """Return e."""
        return errors

    def second_derivative(self, errors: Array) -> Array:
        """Return ones."""
        return 0 * errors + 1

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        """Return β²/2."""
        return 0.5 * slopes * slopes

    @property
    def lipschitz_constant(self) -> float:
        """1."""
        return 1.0

    @property
    def has_bounded_derivative(self) -> bool:
        """False: beyond the bound the objective falls without end."""
        return False

    @property
    def is_linear(self) -> bool:
        """True."""
        return True


SQUARED = Squared()  # the default everywhere


@dataclass(frozen=True)
class PseudoHuber(Loss):
    """The square near 0 and a line far away, smoothly: ρ(e) = δ² (√(1 + (e/δ)²) − 1).

    Parameters
    ----------
    delta : float, default=1.0
        δ: errors far below it count by their square, errors far above it by their size. |ρ′| stays below it.

    Examples
    --------
    >>> loss = PseudoHuber(delta=3.0)
    >>> round(float(loss.value(4.0)), 9), round(float(loss.derivative(4.0)), 9)
    (6.0, 2.4)
    """

    delta: float = 1.0

    def value(self, errors: Array) -> Array:
        """Return δ² (√(1 + (e/δ)²) − 1)."""
        # The same without a difference of equal numbers: e² / (1 + √…).
        return errors * (errors / (1 + self._root(errors)))

    def derivative(self, errors: Array) -> Array:
        """Return e / √(1 + (e/δ)²)."""
        return errors / self._root(errors)

    def second_derivative(self, errors: Array) -> Array:
        """Return (1 + (e/δ)²)^(−3/2)."""
        return self._root(errors) ** -3.0

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        """Return δ² (1 − √(1 − (β/δ)²)) for |β| ≤ δ."""
        shares = slopes / self.delta
        roots = np.sqrt(np.maximum((1 - shares) * (1 + shares), 0))
        return np.where(np.abs(shares) <= 1, slopes * slopes / (1 + roots), np.inf)

    def _root(self, errors: Array) -> Array:
        shares = errors / self.delta
        return namespace(shares).hypot(shares, 0 * shares + 1)  # whose squares do not overflow

    @property
    def lipschitz_constant(self) -> float:
        """1, at e = 0."""
        return 1.0

    @property
    def has_bounded_derivative(self) -> bool:
        """True: by δ."""
        return True


@dataclass(frozen=True)
class LogCosh(Loss):
    """The square near 0 and a line far away, by the logarithm of the hyperbolic cosine: ρ(e) = s² log cosh(e/s).

    Parameters
    ----------
    scale : float, default=1.0
        s: errors far below it count by their square, errors far above it by their size. |ρ′| stays below it.

    Examples
    --------
    >>> loss = LogCosh(scale=2.0)
    >>> round(float(loss.value(1000.0)), 6), float(loss.derivative(1000.0))  # 2 · 1000 − 4 log 2
    (1997.227411, 2.0)
    """

    scale: float = 1.0

    def value(self, errors: Array) -> Array:
        """Return s² log cosh(e/s)."""
        shares = abs(errors / self.scale)
        xp = namespace(shares)
        # cosh overflows, and log cosh(x) = x − log 2 + log(1 + exp(−2x)) loses the digits of a small x; there
        # cosh(x) = 1 + 2 sinh²(x/2) has them.
        near = xp.log1p(2 * xp.sinh((shares * (shares < 1)) / 2) ** 2)
        far = shares - math.log(2.0) + xp.log1p(xp.exp(-2 * shares))
        return self.scale**2 * xp.where(shares < 1, near, far)

    def derivative(self, errors: Array) -> Array:
        """Return s tanh(e/s)."""
        shares = errors / self.scale
        return self.scale * namespace(shares).tanh(shares)

    def second_derivative(self, errors: Array) -> Array:
        """Return 1 / cosh²(e/s)."""
        decay = namespace(errors / self.scale).exp(-2 * abs(errors / self.scale))
        return 4 * decay / (1 + decay) ** 2

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        """Return s² (t artanh t + ½ log(1 − t²)) with t = β/s, for |t| < 1; s² log 2 at its ends."""
        shares = np.clip(slopes / self.scale, -1, 1)
        inside = np.where(np.abs(shares) < 1, shares, 0)
        values = np.where(np.abs(shares) < 1, inside * np.arctanh(inside) + 0.5 * np.log1p(-inside * inside), np.log(2))
        return np.where(np.abs(slopes) <= self.scale, self.scale**2 * values, np.inf)

    @property
    def lipschitz_constant(self) -> float:
        """1, at e = 0."""
        return 1.0

    @property
    def has_bounded_derivative(self) -> bool:
        """True: by s."""
        return True
