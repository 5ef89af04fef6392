"""When is the problem convex? Theorems 1 and 2, as a certificate that goes with every fit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal, TypeAlias

from semikpca._numbers import is_positive_number
from semikpca.exceptions import SeveralMinimaError, UnboundedProblemError
from semikpca.losses import SQUARED, Loss
from semikpca.spectrum import Spectrum

ErrorWeightUnit: TypeAlias = Literal["relative", "absolute"]


class Regime(Enum):
    """Where an error weight stands against the bound 1/λ(k+1).

    Theorem 1 (kernel PCA, no labels) tells three cases apart, Theorem 2 (Semi-KPCA) two: with labels there is one
    solution in the first case and none in the next two. Losses with a bounded derivative have the first case and the
    last (docs/losses.md).
    """

    TRIVIAL = "trivial"
    """Below the bound: strongly convex. Without labels only w = 0 solves it; with labels, exactly one w."""

    SUBSPACE = "subspace"
    """At the bound: convex but flat along component k+1. Without labels its multiples are all solutions."""

    UNBOUNDED = "unbounded"
    """Above the bound: not convex, the objective falls without end."""

    BOUNDED = "bounded"
    """At or above the bound, with a loss whose derivative is bounded: the objective has a smallest value, but need not
    be convex, and several minima are possible. Without labels, w and −w are minima together."""

    @property
    def has_unique_solution(self) -> bool:
        """Whether Problem 4 is strongly convex (Theorem 2, case i)."""
        return self is Regime.TRIVIAL


@dataclass(frozen=True)
class ConvexityCertificate:
    """What is known of the convex interval, and how far inside it a fit is.

    Attributes
    ----------
    n_components_removed : int
        k, the components that were removed (more than were asked for where an eigenspace would have been cut).
    next_eigenvalue : float
        λ(k+1), the largest eigenvalue that is left.
    eigenvalues : tuple of float
        λ1 … λ(k+1).
    uncertainty : float
        How far λ(k+1) may be off; the bound below takes it off, so that it promises no more than is known.
    is_estimate : bool
        Whether the eigenvalues are those of an approximation to the kernel matrix.
    error_weight : float or None
        The absolute weight that was chosen, if one was.
    loss : Loss
        Of the error term. The interval is the same for all; what is beyond it is not.

    Examples
    --------
    >>> certificate = ConvexityCertificate(n_components_removed=1, next_eigenvalue=4.0)
    >>> certificate.error_weight_max, certificate.resolve(0.5)
    (0.25, 0.125)
    """

    n_components_removed: int
    next_eigenvalue: float
    eigenvalues: tuple[float, ...] = ()
    uncertainty: float = 0.0
    is_estimate: bool = False
    error_weight: float | None = None
    loss: Loss = SQUARED

    @classmethod
    def from_spectrum(cls, spectrum: Spectrum, k: int, loss: Loss | None = None) -> "ConvexityCertificate":
        """Return the certificate for the cut after component k, from at least k + 1 eigenpairs."""
        return cls(
            n_components_removed=k,
            next_eigenvalue=float(spectrum.eigenvalues[k]),
            eigenvalues=tuple(float(value) for value in spectrum.eigenvalues[: k + 1]),
            uncertainty=float(spectrum.uncertainty[k]),
            is_estimate=spectrum.is_estimate,
            loss=SQUARED if loss is None else loss,
        )

    @property
    def error_weight_max(self) -> float:
        """The end of the convex interval, 1/λ(k+1); a weight must stay below it."""
        # A computed eigenvalue may be too small, and 1 / value alone would then promise too wide an interval.
        return 1.0 / (self.next_eigenvalue + self.uncertainty)

    @property
    def relative_weight(self) -> float:
        """The error weight as a share of the bound."""
        return self._chosen() / self.error_weight_max

    @property
    def gap(self) -> float:
        """λk − λ(k+1): how clearly the removed components stand apart; infinite when none is removed."""
        if self.n_components_removed == 0 or not self.eigenvalues:
            return math.inf
        return self.eigenvalues[self.n_components_removed - 1] - self.next_eigenvalue

    @property
    def condition_number(self) -> float:
        """Condition number of the linear system (an upper bound for k = 0); infinite where it has no solution."""
        return 1.0 / (1.0 - self.relative_weight) if self.relative_weight < 1 else math.inf

    @property
    def contraction_factor(self) -> float:
        """γλ(k+1), by which every fixed-point step f ← γ K′ ρ′(y + f) comes closer to the solution; a bound on it."""
        return self.relative_weight * self.loss.lipschitz_constant

    @property
    def regime(self) -> Regime:
        """The regime of the chosen weight; a fit is always ``Regime.TRIVIAL``."""
        return self.regime_of(self._chosen())

    def regime_of(self, error_weight: float) -> Regime:
        """Return the regime of an absolute error weight; within the uncertainty it counts as at the bound."""
        weight = _positive_number(error_weight)
        if weight < self.error_weight_max:
            return Regime.TRIVIAL
        if self.loss.has_bounded_derivative:
            return Regime.BOUNDED
        if weight * (self.next_eigenvalue - self.uncertainty) > 1:
            return Regime.UNBOUNDED
        return Regime.SUBSPACE

    def resolve(self, error_weight: float | str, unit: ErrorWeightUnit = "relative") -> float:
        """Return the absolute error weight, or refuse one outside the convex interval.

        Parameters
        ----------
        error_weight : float or "middle"
            "middle" is the paper's rule: the middle of (1/λk, 1/λ(k+1)) on a logarithmic scale. The interval has no
            lower end for k = 0; there it is half of the bound.
        unit : {"relative", "absolute"}, default="relative"
            Whether a number counts in multiples of the bound or as it stands.

        Raises
        ------
        UnboundedProblemError
            At or above the bound (Theorem 2, case ii); :class:`SeveralMinimaError`, which is one, where the loss has a
            bounded derivative.
        """
        if unit not in ("relative", "absolute"):
            raise ValueError(f"error_weight_unit must be 'relative' or 'absolute', got {unit!r}.")
        if isinstance(error_weight, str) and error_weight != "middle":
            raise ValueError(f"error_weight must be 'middle' or a positive number, got {error_weight!r}.")
        share = self._middle_share() if isinstance(error_weight, str) else _positive_number(error_weight)
        if unit == "absolute" and not isinstance(error_weight, str):
            weight = share
        else:
            # A share of 1/λ(k+1). The bound is lower where λ(k+1) is known less well; close to it, its share counts.
            weight = share / self.next_eigenvalue
            if share < 1 and weight >= self.error_weight_max:
                weight = share * self.error_weight_max
        if not is_positive_number(weight):
            raise ValueError(f"error_weight={error_weight!r} is too small: its inverse leaves the range of numbers.")
        if weight >= self.error_weight_max:
            raise self.beyond(weight)
        return weight

    def beyond(self, error_weight: float) -> UnboundedProblemError:
        """Return the error that refuses an absolute error weight at or above the bound."""
        numbers = error_weight, self.error_weight_max, self.n_components_removed
        if self.loss.has_bounded_derivative:
            return SeveralMinimaError(*numbers, repr(self.loss))
        return UnboundedProblemError(*numbers)

    def at(self, error_weight: float) -> "ConvexityCertificate":
        """Return the certificate of a fit with this absolute error weight."""
        return replace(self, error_weight=error_weight)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the paper's loss, as files did that knew of no other; it is the default of the class."""
        return without_squared_loss(self.__dict__)

    def _middle_share(self) -> float:
        k = self.n_components_removed
        if not k:
            return 0.5
        if len(self.eigenvalues) < k:
            raise ValueError(
                f"error_weight='middle' needs the {k} removed eigenvalues, and this certificate has "
                f"{len(self.eigenvalues)}. Give error_weight a number."
            )
        return math.sqrt(self.next_eigenvalue / self.eigenvalues[k - 1])

    def _chosen(self) -> float:
        if self.error_weight is None:
            raise ValueError("This certificate speaks of the interval only: no error weight was chosen yet.")
        return self.error_weight

    def __str__(self) -> str:
        lines = [
            f"Convexity certificate ({'estimate' if self.is_estimate else 'exact'})",
            f"  components removed     {self.n_components_removed}",
            f"  eigenvalues            {_listed(self.eigenvalues or (self.next_eigenvalue,))}",
            f"  gap at the cut         {self.gap:.4g}",
            f"  error weight below     {self.error_weight_max:.6g}",
        ]
        if self.error_weight is not None:
            lines += [
                f"  error weight           {self.error_weight:.6g} ({self.relative_weight:.1%} of the bound)",
                f"  condition number       {self.condition_number:.4g}",
                f"  regime                 {_MEANING[self.regime]}",
            ]
        if self.loss != SQUARED:
            lines.append(f"  loss                   {self.loss!r}")
            if self.error_weight is not None:
                lines.append(f"  contraction factor     {self.contraction_factor:.4g}")
        return "\n".join(lines)


_MEANING = {
    Regime.TRIVIAL: "strongly convex, one solution",
    Regime.SUBSPACE: "at the bound, no unique solution",
    Regime.UNBOUNDED: "unbounded, no solution",
    Regime.BOUNDED: "beyond the bound: bounded, perhaps several minima",
}


def without_squared_loss(state: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an object for a file: the squared loss is left out, which every class has by default."""
    return {name: value for name, value in state.items() if not (name == "loss" and value == SQUARED)}


def _positive_number(error_weight: object) -> float:
    if is_positive_number(error_weight):
        return float(error_weight)
    raise ValueError(f"error_weight must be a positive, finite number or 'middle', got {error_weight!r}.")


def _listed(values: Sequence[float], most: int = 6) -> str:
    shown = ", ".join(f"{value:.6g}" for value in values[:most])
    return shown if len(values) <= most else f"{shown}, … {values[-1]:.6g}"
