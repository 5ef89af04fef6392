"""The objective over a plane of weights w: the computation behind Figure 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from semikpca._numbers import is_positive_number, is_whole_number
from semikpca._typing import FloatArray
from semikpca.convexity import ConvexityCertificate, Regime

SurfaceProblem: TypeAlias = Literal["kernel_pca", "semi_kpca"]

_PATH_POINTS = 33


@dataclass(frozen=True)
class Outcome:
    """Where an objective has its minimum, or which way it falls without end."""

    kind: Literal["point", "line", "fall"]  # a fall has no solution: the objective has no lower bound
    direction: FloatArray | None  # along the line, or down the fall; None for a point
    # Where that lies on the surface, as rows (⟨v1, w⟩, ⟨v2, w⟩, objective): the point alone, the line from edge to
    # edge, or each way of the fall, from where the objective is level (or from 0 on a slope) to the edge of the grid.
    paths: tuple[FloatArray, ...]


@dataclass(frozen=True)
class ObjectiveSurface:
    """The objective of one problem at one error weight, for data that span a plane."""

    problem: SurfaceProblem  # Problem 3 or Problem 4 of the paper
    error_weight: float  # absolute
    coordinates: FloatArray  # the grid along both eigenvectors, ascending, 0 in the middle
    values: FloatArray  # [i, j] is the objective at w = coordinates[i] v1 + coordinates[j] v2
    values_without_first: FloatArray  # along v2, all that is left when the first component is removed
    regimes: tuple[Regime, Regime]  # where the weight stands against the bound for k = 0 and k = 1
    outcome: Outcome  # what minimizing comes to for k = 0
    outcome_without_first: Outcome  # and for k = 1


def objective_surfaces(
    eigenvalues: Sequence[float] = (4.0, 1.0),
    error_weights: Sequence[float] = (0.125, 0.25, 0.5, 1.0, 4.0),
    *,
    label_pull: Sequence[float] = (2.0, 1.0),
    extent: float = 2.0,
    n_steps: int = 8,
) -> tuple[ObjectiveSurface, ...]:
    """Return the surfaces of Figure 1: kernel PCA at every error weight, then Semi-KPCA at every error weight.

    Parameters
    ----------
    eigenvalues : (float, float)
        λ1 > λ2 > 0.
    error_weights : sequence of float
        γ, absolute. The default has one weight in each of the five cases that two eigenvalues make.
    label_pull : (float, float)
        Σ y_i ⟨v_l, φ(x_i)⟩ for l = 1, 2: what the labels add to the objective of Semi-KPCA. The default, with the
        default eigenvalues, is that of the four points (±1, ±½) with +1 at (1, ½) and −1 at (−1, −½).
    extent : float
        The grid reaches from −extent to extent along both eigenvectors.
    n_steps : int
        Steps of the grid from its middle to its edge.

    Notes
    -----
    With the constraints on e_i put in, and without the constant −γ/2 Σ y_i², the objective is
    ½ Σ_l (1 − γλ_l) ⟨v_l, w⟩² − γ Σ_l ⟨v_l, w⟩ Σ_i y_i ⟨v_l, φ(x_i)⟩. Kernel PCA is the case without labels.

    Examples
    --------
    >>> surfaces = objective_surfaces()
    >>> [surface.outcome.kind for surface in surfaces]
    ['point', 'line', 'fall', 'fall', 'fall', 'point', 'fall', 'fall', 'fall', 'fall']
    """
    if len(eigenvalues) != 2 or not all(is_positive_number(value) for value in eigenvalues):
        raise ValueError(f"eigenvalues must be two positive, finite numbers, got {eigenvalues!r}.")
    first, second = (float(value) for value in eigenvalues)
    if first <= second:
        why = "equal ones leave the first component undefined"
        raise ValueError(f"eigenvalues must descend, λ1 > λ2 ({why}), got {eigenvalues!r}.")
    pull = np.asarray(label_pull, dtype=np.float64)
    if pull.shape != (2,) or not np.isfinite(pull).all():
        raise ValueError(f"label_pull must be two finite numbers, got {label_pull!r}.")
    if not is_positive_number(extent):
        raise ValueError(f"extent must be a positive, finite number, got {extent!r}.")
    if not is_whole_number(n_steps, 1):
        raise ValueError(f"n_steps must be a whole number, 1 or more, got {n_steps!r}.")
    # Counted from the middle, so that 0 is on the grid exactly.
    coordinates = np.arange(-n_steps, n_steps + 1) * (extent / n_steps)
    problems: tuple[tuple[SurfaceProblem, FloatArray], ...] = (("kernel_pca", np.zeros(2)), ("semi_kpca", pull))
    return tuple(
        _Quadratic((first, second), float(weight), linear).surface(problem, coordinates)
        for problem, linear in problems
        for weight in error_weights
    )


@dataclass(frozen=True)
class _Quadratic:
    """The objective at one error weight, in the coordinates of the eigenvectors."""

    eigenvalues: tuple[float, float]
    error_weight: float
    pull: FloatArray

    @property
    def regimes(self) -> tuple[Regime, Regime]:
        first, second = (ConvexityCertificate(k, value) for k, value in enumerate(self.eigenvalues))
        return first.regime_of(self.error_weight), second.regime_of(self.error_weight)

    @property
    def curvatures(self) -> FloatArray:
        """1 − γλ along each eigenvector; at its bound it is zero, whatever rounding makes of the product."""
        exact = 1.0 - self.error_weight * np.asarray(self.eigenvalues)
        return np.where([regime is Regime.SUBSPACE for regime in self.regimes], 0.0, exact)

    def __call__(self, w: FloatArray) -> FloatArray:
        """Return the objective at w, shape (..., 2)."""
        return np.asarray(0.5 * w**2 @ self.curvatures - self.error_weight * w @ self.pull)

    def surface(self, problem: SurfaceProblem, coordinates: FloatArray) -> ObjectiveSurface:
        extent = float(coordinates[-1])
        return ObjectiveSurface(
            problem=problem,
            error_weight=self.error_weight,
            coordinates=coordinates,
            values=self(np.stack(np.meshgrid(coordinates, coordinates, indexing="ij"), axis=-1)),
            values_without_first=self(np.stack([np.zeros_like(coordinates), coordinates], axis=-1)),
            regimes=self.regimes,
            outcome=self.outcome(0, extent),
            outcome_without_first=self.outcome(1, extent),
        )

    def outcome(self, k: int, extent: float) -> Outcome:
        """Return what Theorems 1 and 2 say, with the first k components removed."""
        # Where the objective is level; 0 along what is removed and along a component that is at its bound.
        curved = np.array([i >= k and regime is not Regime.SUBSPACE for i, regime in enumerate(self.regimes)])
        still = np.divide(self.error_weight * self.pull, self.curvatures, out=np.zeros(2), where=curved)
        if self.regimes[k] is Regime.TRIVIAL:
            return Outcome("point", None, (self._lifted(still[np.newaxis]),))
        direction = np.zeros(2)
        direction[k] = -1.0 if self.pull[k] < 0 else 1.0
        if self.regimes[k] is Regime.SUBSPACE and self.pull[k] == 0:
            return Outcome("line", direction, (self._path(still, k, -extent, extent),))
        top = float(np.clip(still[k], -extent, extent))
        edges = [edge for edge in (direction[k] * extent, -direction[k] * extent) if edge != top]
        # At the bound the objective is a slope: it falls one way only, the way of the labels.
        ways = edges[:1] if self.regimes[k] is Regime.SUBSPACE else edges
        return Outcome("fall", direction, tuple(self._path(still, k, top, edge) for edge in ways))

    def _path(self, through: FloatArray, component: int, begin: float, end: float) -> FloatArray:
        w = np.tile(through, (_PATH_POINTS, 1))
        w[:, component] = np.linspace(begin, end, _PATH_POINTS)
        return self._lifted(w)

    def _lifted(self, w: FloatArray) -> FloatArray:
        return np.column_stack([w, self(w)])
