"""Figure 1: the objective as a surface, with its solution or the way it falls."""

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from mpl_toolkits.mplot3d import proj3d

from semikpca._typing import FloatArray
from semikpca.convexity import Regime
from semikpca.experiments import ObjectiveSurface, Outcome
from semikpca.plots import _style as style

_ROW_NAMES = {"kernel_pca": "KPCA", "semi_kpca": "Semi-KPCA"}
_ELEVATION, _AZIMUTH = 30, -36  # seen from where ⟨v1, w⟩ is positive: that half of a surface is the near one
_FAR_HALF, _BEHIND, _NEAR_HALF, _IN_FRONT, _ON_TOP = range(1, 6)  # the order of drawing
_HEIGHT_COLORS = LinearSegmentedColormap.from_list("heights", ["#86a3c1", "#d3deea", "#faf8f2", "#f3dfb5", "#e5c37d"])


class ObjectiveSurfacesDisplay(style.FigureDisplay):
    """The objective of both problems over a plane of weights w, a column for each error weight (Figure 1).

    Parameters
    ----------
    surfaces : sequence of ObjectiveSurface
        From :func:`semikpca.experiments.objective_surfaces`.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of axes, shape (n_problems, n_weights)

    Examples
    --------
    >>> from semikpca.experiments import objective_surfaces
    >>> display = ObjectiveSurfacesDisplay(objective_surfaces()).plot()
    >>> display.axes_.shape
    (2, 5)
    """

    def __init__(self, surfaces: Sequence[ObjectiveSurface]) -> None:
        if not surfaces:
            raise ValueError("surfaces must hold at least one surface, got none.")
        self.surfaces = surfaces

    def plot(self, figure: Figure | SubFigure | None = None) -> "ObjectiveSurfacesDisplay":
        """Draw the surfaces, kernel PCA above Semi-KPCA.

        Parameters
        ----------
        figure : matplotlib figure or subfigure, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self
        """
        by_problem = [[s for s in self.surfaces if s.problem == problem] for problem in _ROW_NAMES]
        rows = [row for row in by_problem if row]
        n_columns = max(len(row) for row in rows)
        with style.own_style(figure):
            self._owns_figure = figure is None
            self.figure_ = style.new_figure(1.8 * n_columns, 0.4 + 2.5 * len(rows)) if figure is None else figure
            self.axes_ = np.full((len(rows), n_columns), None, dtype=object)
            letters = iter(ascii_lowercase)
            statement = {"fontsize": "small", "color": style.MUTED, "linespacing": 1.3}
            # Panels share the figure; text takes what it needs in inches, and a caption is three lines high.
            width, height = (float(length) / self.figure_.dpi for length in self.figure_.bbox.size)
            left, bottom, line = 0.27 / width, 0.42 / height, 0.19 / height
            row_height, column = (1.0 - bottom) / len(rows), (0.99 - left) / n_columns
            captions = 3.5 * line
            for i, row in enumerate(rows):
                base, high = bottom + (len(rows) - 1 - i) * row_height + captions, row_height - captions
                name = _ROW_NAMES[row[0].problem]
                middle = left / 2, base + high / 2
                self.figure_.text(*middle, name, rotation=90, ha="center", va="center", fontweight="bold")
                for j, surface in enumerate(row):
                    panel = left + j * column, base, column, high
                    axes = self.figure_.add_axes(panel, projection="3d", computed_zorder=False)
                    _draw_surface(axes, surface, self._limits(surface.error_weight))
                    self.axes_[i, j] = axes
                    x, y = left + (j + 0.5) * column, base - 0.25 * line
                    self.figure_.text(x, y, f"({next(letters)}) {_weight_position(surface)}", ha="center", va="top")
                    self.figure_.text(x, y - line, _statement(surface), ha="center", va="top", **statement)
            self.figure_.legend(handles=_legend_handles(), loc="lower center", ncols=4, frameon=False)
        return self

    def _limits(self, error_weight: float) -> tuple[float, float]:
        """Return the vertical limits: at one error weight one scale for both problems, so that they compare."""
        values = [surface.values for surface in self.surfaces if surface.error_weight == error_weight]
        return float(np.min(values)), float(np.max(values))


class _Arrow(FancyArrowPatch):
    """An arrow between two points in space that turns with the view."""

    def __init__(self, begin: FloatArray, end: FloatArray, **options: Any) -> None:
        super().__init__((0, 0), (0, 0), shrinkA=0, shrinkB=0, **options)
        self._ends = np.column_stack([begin, end])

    def do_3d_projection(self, renderer: Any = None) -> float:
        """Place the arrow on the page; mplot3d calls this at every drawing."""
        axes: Any = self.axes
        xs, ys, zs = proj3d.proj_transform(*self._ends, axes.M)
        self.set_positions((xs[0], ys[0]), (xs[1], ys[1]))
        return float(np.min(zs))


def _draw_surface(axes: Any, surface: ObjectiveSurface, limits: tuple[float, float]) -> None:
    c = surface.coordinates
    low, high = limits
    axes.view_init(elev=_ELEVATION, azim=_AZIMUTH)
    axes.set_proj_type("ortho")
    axes.set(xlim=(c[0], c[-1]), ylim=(c[0], c[-1]), zlim=limits, facecolor="none")
    axes.set_box_aspect((1, 1, 1), zoom=1.14)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_ticks([])
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.line.set_color(style.FAINT)
        axis.line.set_linewidth(0.6)
    axes.zaxis.line.set_visible(False)
    axes.set_xlabel("v₁", labelpad=-15)
    axes.set_ylabel("v₂", labelpad=-15)

    # The surface is drawn in two halves with the curve between them, so that each hides what is behind it.
    middle = len(c) // 2
    norm = TwoSlopeNorm(0.0, min(low, -1e-9), max(high, 1e-9))
    for half, order in ((slice(0, middle + 1), _FAR_HALF), (slice(middle, None), _NEAR_HALF)):
        first, second = np.meshgrid(c[half], c, indexing="ij")
        axes.plot_surface(
            first, second, surface.values[half], cmap=_HEIGHT_COLORS, norm=norm, rcount=len(c), ccount=len(c),
            edgecolor="#00000030", linewidth=0.25, alpha=0.85, zorder=order,
        )  # fmt: skip
    axes.plot(np.zeros_like(c), c, surface.values_without_first, color=style.INK, linewidth=1.6, zorder=_BEHIND)
    _draw_outcome(axes, surface.outcome, None)
    if surface.outcome.kind == "fall":
        _draw_outcome(axes, surface.outcome_without_first, style.INK)


def _draw_outcome(axes: Any, outcome: Outcome, color: str | None) -> None:
    color = color or (style.UNBOUNDED_COLOR if outcome.kind == "fall" else style.SOLUTION_COLOR)
    if outcome.kind == "point":
        (path,) = outcome.paths
        axes.plot(*path.T, "o", color=color, markersize=6, markeredgecolor="white", markeredgewidth=0.8, zorder=_ON_TOP)
        return
    if outcome.kind == "line":
        (path,) = outcome.paths
        axes.plot(*path.T, color=color, linewidth=2.2, zorder=_IN_FRONT, solid_capstyle="butt")
        return
    for path in outcome.paths:
        # The near half of the surface hides what falls on the far side.
        first = path[:, 0]
        for part, order in ((path[first <= 0], _BEHIND), (path[first >= 0], _IN_FRONT)):
            if order == _IN_FRONT or (first < 0).any():
                axes.plot(*part.T, color=color, linewidth=2.0, zorder=order, solid_capstyle="butt")
        head = _Arrow(path[-4], path[-1], arrowstyle="-|>", mutation_scale=12.5, color=color, linewidth=0)
        head.set_zorder(_BEHIND if first[-1] < 0 else _IN_FRONT)
        axes.add_artist(head)


def _weight_position(surface: ObjectiveSurface) -> str:
    first, second = (f"1/{style.eigenvalue_name(number)}" for number in (1, 2))
    at_first, at_second = surface.regimes
    signs = {Regime.TRIVIAL: "<", Regime.SUBSPACE: "=", Regime.UNBOUNDED: ">"}
    if at_first is not Regime.UNBOUNDED:
        return f"γ {signs[at_first]} {first}"
    return f"{first} < γ < {second}" if at_second is Regime.TRIVIAL else f"γ {signs[at_second]} {second}"


def _statement(surface: ObjectiveSurface) -> str:
    whole, left = surface.outcome.kind, surface.outcome_without_first.kind
    if whole != "fall":
        return {"point": "one solution", "line": "solutions along v₁"}[whole]
    without = {"point": "one solution", "line": "solutions along v₂", "fall": "unbounded"}[left]
    return f"unbounded\n(without v₁: {without})"


def _legend_handles() -> list[Line2D]:
    return [
        Line2D(
            [], [], color=style.SOLUTION_COLOR, marker="o", markeredgecolor="white", linewidth=0, label="one solution"
        ),
        Line2D([], [], color=style.SOLUTION_COLOR, linewidth=2, label="line of solutions"),
        Line2D([], [], color=style.UNBOUNDED_COLOR, linewidth=2, marker=">", label="objective falls without end"),
        Line2D([], [], color=style.INK, linewidth=1.6, label="first component removed"),
    ]
