"""Figures of the accuracy benchmark: mean ranks, and accuracy against the number of labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from semikpca.plots import FAINT, INK, MUTED, FigureDisplay, legend_below, new_figure, own_style
from semikpca_benchmarks._typing import FloatArray

OURS_COLOR = "#5e1040"
_PEER_COLOR = "#1f63b0"

# One look for each method on all pages: families share a hue and differ in lightness, dashes and marker.
METHOD_LOOKS: MappingProxyType[str, tuple[str, str, str]] = MappingProxyType(
    {
        "semikpca cv": (OURS_COLOR, "-", "o"),
        "semikpca rbf": ("#b0588b", "-", "o"),
        "semikpca normalized rbf": ("#b0588b", "--", "h"),
        "semikpca graph": ("#8f6bc2", "-", "o"),
        "semikpca cosine graph": ("#8f6bc2", "--", "h"),
        "semikpca rbf best weight": ("#b0588b", ":", "*"),
        "label spreading knn": ("#1b7a5a", "-", "s"),
        "label spreading rbf": ("#58b08f", "--", "s"),
        "label spreading defaults": ("#0c4a36", ":", "s"),
        "label propagation knn": ("#7a9a1b", "-", "D"),
        "self-training": ("#c1272d", "-", "P"),
        "nearest neighbor": ("#6b6b6b", "--", "X"),
        "svc": ("#cc8a00", "-", "^"),
        "logistic regression": ("#8a4b12", "--", "^"),
        "lssvm": ("#e0662f", "-", "v"),
        "lssvm paper rule": ("#e0662f", "--", "v"),
        "graphlearning laplace": ("#1f63b0", "-", ">"),
        "graphlearning poisson": ("#5aa5dc", "--", ">"),
    }
)
_UNKNOWN_LOOK = (MUTED, "-", ".")
_LEGEND_COLUMNS = 3  # as many as fit beside each other
_LEAST_HEIGHT = 10.0  # points: a narrower axis would make chance look like structure


class MeanRanksDisplay(FigureDisplay):
    """Mean ranks of all methods as dots, best on top, a mark for each group of cells.

    Parameters
    ----------
    ranks : mapping of str to mapping of str to float
        By group of cells, the mean rank of each method; the first group orders the methods.
    ours : sequence of str
        Methods that are drawn in bold.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    ax_ : matplotlib axes
    """

    _MARKS = ("o", "s", "D", "^", "v", "<", ">", "p", "h", "P", "X", "*")

    def __init__(self, ranks: Mapping[str, Mapping[str, float]], *, ours: Sequence[str] = ()) -> None:
        if not ranks:
            raise ValueError("ranks must hold at least one group, got none.")
        self.ranks = ranks
        self.ours = ours

    def plot(self, ax: Axes | None = None) -> "MeanRanksDisplay":
        """Draw the dots.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self
        """
        groups = list(self.ranks)
        first = self.ranks[groups[0]]
        methods = sorted(first, key=lambda method: first[method])
        with own_style(ax):
            self._owns_figure = ax is None
            height = 1.3 + 0.27 * len(methods)
            self.ax_ = new_figure(8.4, height, layout="constrained").subplots() if ax is None else ax
            self.figure_ = self.ax_.figure
            for row, method in enumerate(methods):
                self._draw_row(row, method, groups)
            self._draw_frame(methods)
            if len(groups) > 1:
                legend_below(self.ax_, self._legend_handles(groups), n_columns=min(len(groups), _LEGEND_COLUMNS))
        return self

    def _draw_row(self, row: int, method: str, groups: Sequence[str]) -> None:
        color = OURS_COLOR if method in self.ours else _PEER_COLOR
        found = [self.ranks[group][method] for group in groups if method in self.ranks[group]]
        self.ax_.plot([min(found), max(found)], [row, row], color=FAINT, linewidth=1.0, zorder=1)
        # The first group is what the order is by: its dot is the large one, and on top.
        for number, group in reversed(list(enumerate(groups))):
            if method not in self.ranks[group]:
                continue
            look: dict[str, Any] = _dot(number, color)
            self.ax_.plot(self.ranks[group][method], row, self._MARKS[number % len(self._MARKS)], **look)
        self.ax_.annotate(
            f"{self.ranks[groups[0]][method]:.1f}", (1.0, row), (6, 0),
            xycoords=("axes fraction", "data"), textcoords="offset points", va="center", color=INK,
            fontweight="bold" if method in self.ours else "normal",
        )  # fmt: skip

    def _draw_frame(self, methods: Sequence[str]) -> None:
        ax = self.ax_
        ax.set_yticks(range(len(methods)), methods)
        for label, method in zip(ax.get_yticklabels(), methods, strict=True):
            label.set_fontweight("bold" if method in self.ours else "normal")
        ax.set_ylim(len(methods) - 0.4, -0.6)
        ax.set_xlim(0.6, max(max(found.values()) for found in self.ranks.values()) + 0.4)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.grid(axis="both", color=FAINT, alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.set_xlabel("mean rank (1 is best)")

    def _legend_handles(self, groups: Sequence[str]) -> list[Line2D]:
        return [
            Line2D([], [], marker=self._MARKS[number % len(self._MARKS)], label=group, **_dot(number, INK))
            for number, group in enumerate(groups)
        ]


def _dot(number: int, color: str) -> dict[str, Any]:
    if number == 0:
        return {"color": color, "markersize": 8.5, "markeredgecolor": "white", "linewidth": 0, "zorder": 4}
    return {"color": color, "markersize": 5.0, "markerfacecolor": "white", "linewidth": 0, "zorder": 3}


@dataclass(frozen=True)
class LabelCurve:
    """The accuracy of one method, or another measure in percent or points, against the number of labels.

    Attributes
    ----------
    method : str
    labels : tuple of int
        Ascending.
    means, standard_errors : ndarray of shape (n_counts,)
        Over the draws; NaN where the method has no result.
    """

    method: str
    labels: tuple[int, ...]
    means: FloatArray
    standard_errors: FloatArray


class LabelCurvesDisplay(FigureDisplay):
    """Mean accuracy, or another measure, against the number of labels, for some methods.

    Parameters
    ----------
    curves : sequence of LabelCurve
        The first one is drawn in front and in bold.
    title : str
    baseline : float or None
        A level to be compared with; None draws none.
    baseline_name : str
        What it is.
    unit : str
        What the number of labels counts.
    measure : str
        What is drawn.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    ax_ : matplotlib axes
    """

    def __init__(
        self,
        curves: Sequence[LabelCurve],
        *,
        title: str,
        baseline: float | None = None,
        baseline_name: str = "largest class",
        unit: str = "labels per class",
        measure: str = "mean accuracy ± standard error (%)",
    ) -> None:
        if not curves:
            raise ValueError("curves must hold at least one curve, got none.")
        self.curves = curves
        self.title = title
        self.baseline = baseline
        self.baseline_name = baseline_name
        self.unit = unit
        self.measure = measure

    def plot(self, ax: Axes | None = None) -> "LabelCurvesDisplay":
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self
        """
        with own_style(ax):
            self._owns_figure = ax is None
            self.ax_ = new_figure(6.4, 4.2, layout="constrained").subplots() if ax is None else ax
            self.figure_ = self.ax_.figure
            for number, curve in reversed(list(enumerate(self.curves))):
                self._draw_curve(curve, leading=number == 0)
            self._draw_frame()
            legend_below(self.ax_, self._legend_handles(), n_columns=3)
        return self

    def _draw_curve(self, curve: LabelCurve, *, leading: bool) -> None:
        color, line, marker = METHOD_LOOKS.get(curve.method, _UNKNOWN_LOOK)
        order = 4 if leading else 3
        low, high = curve.means - curve.standard_errors, curve.means + curve.standard_errors
        self.ax_.fill_between(curve.labels, low, high, color=color, alpha=0.16 if leading else 0.1, linewidth=0)
        self.ax_.plot(
            curve.labels, curve.means, line, color=color, marker=marker, markersize=6.0 if leading else 4.5,
            linewidth=2.4 if leading else 1.3, zorder=order,
        )  # fmt: skip

    def _draw_frame(self) -> None:
        ax = self.ax_
        labels = sorted({count for curve in self.curves for count in curve.labels})
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator(labels))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter("{x:.0f}")
        if self.baseline is not None:
            ax.axhline(self.baseline, color=MUTED, linestyle=(0, (1, 2)), linewidth=1.2, zorder=1)
        bands = np.concatenate(
            [curve.means + sign * curve.standard_errors for curve in self.curves for sign in (-1, 1)]
        )
        ax.set_ylim(*_height(bands[~np.isnan(bands)], self.baseline))
        ax.grid(axis="y", color=FAINT, alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.set_xlabel(self.unit)
        ax.set_ylabel(self.measure)
        ax.set_title(self.title, loc="left", fontweight="bold")

    def _legend_handles(self) -> list[Line2D]:
        handles = []
        for number, curve in enumerate(self.curves):
            color, line, marker = METHOD_LOOKS.get(curve.method, _UNKNOWN_LOOK)
            width, size = (2.4, 6.0) if number == 0 else (1.3, 4.5)
            handles.append(
                Line2D([], [], color=color, linestyle=line, marker=marker, markersize=size, linewidth=width,
                       label=curve.method)
            )  # fmt: skip
        low, high = self.ax_.get_ylim()
        if self.baseline is not None and low <= self.baseline <= high:
            handles.append(Line2D([], [], color=MUTED, linestyle=(0, (1, 2)), linewidth=1.2, label=self.baseline_name))
        return handles


def _height(levels: FloatArray, baseline: float | None) -> tuple[float, float]:
    """Return the ends of the vertical axis: the curves, and the level to be compared with where it is near."""
    low, high = float(levels.min()), float(levels.max())
    if baseline is not None and low - 15 <= baseline <= high + 15:
        low, high = min(low, baseline), max(high, baseline)
    air = max((_LEAST_HEIGHT - (high - low)) / 2, 0.05 * (high - low))
    return max(low - air, 0.0), min(high + air, 101.5)
