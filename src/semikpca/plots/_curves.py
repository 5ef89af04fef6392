"""Figure 3: how the accuracy depends on the error weight."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from semikpca._typing import FloatArray
from semikpca.experiments import MODEL_NAMES, MODELS, CellRecord
from semikpca.plots import _style as style

# The blue star is the smaller one and on top: where both choices agree, both are seen.
_EDGE = {"markeredgecolor": "white", "markeredgewidth": 0.6}
_BEST_STAR: dict[str, Any] = {"color": style.BEST_COLOR, "markersize": 16.0, **_EDGE}
_HEURISTIC_STAR: dict[str, Any] = {"color": style.HEURISTIC_COLOR, "markersize": 8.5, "markeredgecolor": "none"}
_LEAST_HEIGHT = 30.0  # points of accuracy: a narrower axis would make chance look like structure


@dataclass(frozen=True)
class AccuracyCurve:
    """The accuracy of one model against the error weight, in percent."""

    model: str  # one of semikpca.experiments.MODELS
    error_weights: FloatArray  # the grid, absolute and ascending, shape (n_weights,)
    means: FloatArray  # over the draws, shape (n_weights,)
    standard_errors: FloatArray  # of these means
    best: tuple[float, float]  # weight and mean accuracy of the best weight on the grid
    heuristic: tuple[float, float]  # and of the paper's rule of thumb

    @classmethod
    def from_record(cls, record: CellRecord, model: str) -> "AccuracyCurve":
        """Return the curve of one model of a record."""
        found = record.models[model]
        accuracies = record.accuracies(model)
        n_draws = accuracies.shape[1]
        spread = accuracies.std(axis=1, ddof=1) if n_draws > 1 else np.zeros(len(accuracies))
        best = record.best_index(model)
        return cls(
            model=model,
            error_weights=found.error_weights,
            means=accuracies.mean(axis=1),
            standard_errors=spread / np.sqrt(n_draws),
            best=(float(found.error_weights[best]), float(accuracies[best].mean())),
            heuristic=(found.fixed_error_weight, float(record.chosen_accuracies(model, "fixed").mean())),
        )


class AccuracyCurvesDisplay(style.FigureDisplay):
    """Mean accuracy against the error weight, for all models of a cell (Figure 3).

    Parameters
    ----------
    curves : sequence of AccuracyCurve
    bounds : (float, float)
        1/λ1 and 1/λ2, the ends of the convex interval for k = 1.
    baseline : float
        Percent of the majority class.
    title : str

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    ax_ : matplotlib axes
    """

    def __init__(
        self, curves: Sequence[AccuracyCurve], *, bounds: tuple[float, float], baseline: float, title: str
    ) -> None:
        self.curves, self.bounds, self.baseline, self.title = curves, bounds, baseline, title

    @classmethod
    def from_record(cls, record: CellRecord) -> "AccuracyCurvesDisplay":
        """Return the display of a record, as a run of the paper's experiments leaves it."""
        first, second = record.eigenvalues[:2]
        return cls(
            [AccuracyCurve.from_record(record, model) for model in MODELS if model in record.models],
            bounds=(1.0 / first, 1.0 / second),
            baseline=100.0 * record.majority_share,
            title=f"{record.cell.dataset}: {record.cell.n_labeled} of {record.n_samples} rows labeled",
        )

    def plot(self, ax: Axes | None = None) -> "AccuracyCurvesDisplay":
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure. The legend stands below the axes, where a constrained layout
            leaves room for it.

        Returns
        -------
        self
        """
        with style.own_style(ax):
            self._owns_figure = ax is None
            self.ax_ = style.new_figure(9.0, 4.6, layout="constrained").subplots() if ax is None else ax
            self.figure_ = self.ax_.figure
            for curve in self.curves:
                self._draw_curve(curve)
            self._draw_frame()
            style.legend_below(self.ax_, self._legend_handles(), n_columns=4)
        return self

    def _draw_curve(self, curve: AccuracyCurve) -> None:
        color = style.MODEL_COLORS[curve.model]
        low, high = curve.means - curve.standard_errors, curve.means + curve.standard_errors
        self.ax_.fill_between(curve.error_weights, low, high, color=color, alpha=0.13, linewidth=0)
        self.ax_.plot(curve.error_weights, curve.means, color=color, linewidth=1.8)
        for point, star in ((curve.best, _BEST_STAR), (curve.heuristic, _HEURISTIC_STAR)):
            self.ax_.plot(*point, "*", **star, zorder=4, clip_on=False)

    def _draw_frame(self) -> None:
        ax = self.ax_
        ax.set_xscale("log")
        ax.axhline(self.baseline, color=style.MUTED, linestyle=":", linewidth=1.2, zorder=1)
        for number, bound, side in zip((1, 2), self.bounds, ("right", "left"), strict=True):
            ax.axvline(bound, color=style.INK, linestyle=(0, (5, 3)), linewidth=1.0, zorder=1)
            ax.annotate(
                f"1/{style.eigenvalue_name(number)}", (bound, 1.0), (0, 3), xycoords=("data", "axes fraction"),
                textcoords="offset points", ha=side, va="bottom",
            )  # fmt: skip
        bands = [curve.means + sign * curve.standard_errors for curve in self.curves for sign in (-1, 1)]
        levels = np.append(np.concatenate(bands), self.baseline)
        low, high = float(levels.min()), float(levels.max())
        air = max((_LEAST_HEIGHT - (high - low)) / 2, 0.04 * (high - low))
        ax.set_ylim(max(low - air, 0.0), min(high + air, 101.5))
        ax.grid(axis="y", color=style.FAINT, alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.set_xlabel("error weight γ")
        ax.set_ylabel("mean accuracy ± standard error (%)")
        ax.set_title(self.title, loc="left", fontweight="bold", pad=19)

    def _legend_handles(self) -> list[Line2D]:
        models = [
            Line2D([], [], color=style.MODEL_COLORS[curve.model], linewidth=1.8, label=MODEL_NAMES[curve.model])
            for curve in self.curves
        ]
        marks = [
            Line2D([], [], marker="*", linewidth=0, label="best γ", **_BEST_STAR),
            Line2D([], [], marker="*", linewidth=0, label="heuristic γ", **_HEURISTIC_STAR),
            Line2D([], [], color=style.INK, linestyle=(0, (5, 3)), linewidth=1.0, label="ends of the convex interval"),
            Line2D([], [], color=style.MUTED, linestyle=":", linewidth=1.2, label="baseline"),
        ]
        # A legend is filled column by column: the models make its first row.
        return [handle for pair in zip_longest(models, marks) for handle in pair if handle is not None]
