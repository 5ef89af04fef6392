"""Losses of the error term: concave in the problem, convex as functions.

Problem 4 minimizes ½⟨w, w⟩ − γ Σ ρ(e_i) with the errors e_i = y_i + f_i. Where ρ is convex, even, and ρ″ ≤ 1, the
interval γ < 1/λ(k+1) of Theorem 2 is the same for every ρ, and the multipliers are α = γ ρ′(e). The paper's loss is
the square.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from semikpca._typing import Array


class Loss(ABC):
    """A convex, even function ρ of an error, with ρ(0) = 0; arrays of any shape and library go in and come out."""

    @abstractmethod
    def value(self, errors: Array) -> Array:
        """Return ρ(e)."""

    @abstractmethod
    def derivative(self, errors: Array) -> Array:
        """Return ρ′(e)."""

    @abstractmethod
    def second_derivative(self, errors: Array) -> Array:
        """Return ρ″(e), between 0 and ``lipschitz_constant``."""

    @property
    @abstractmethod
    def lipschitz_constant(self) -> float:
        """The largest value of ρ″."""

    @property
    @abstractmethod
    def has_bounded_derivative(self) -> bool:
        """Whether ρ′ is bounded: the objective then has a lower bound at every error weight."""

    @property
    def is_linear(self) -> bool:
        """Whether ρ′(e) = e, so that the answer is linear in the targets and everything has its closed form."""
        return False


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
