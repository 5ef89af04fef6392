"""The figure of the speed benchmark: time and memory over the number of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from semikpca.plots import FAINT, INK, MUTED, FigureDisplay, new_figure, own_style
from semikpca_benchmarks._typing import FloatArray
from semikpca_benchmarks.plots._accuracy import OURS_COLOR

# One look for each method: ours share a hue, peers have others; dashes and markers differ as well.
_LOOKS: MappingProxyType[str, tuple[str, str, str]] = MappingProxyType(
    {
        "auto": (OURS_COLOR, "-", "o"),
        "blocked": ("#b0588b", "--", "s"),
        "blocked float32": ("#b0588b", ":", "v"),
        "dense": ("#d79cc0", "-", "D"),
        "nystroem": ("#cc8a00", "-", "^"),
        "label spreading": ("#1b7a5a", "-", "P"),
        "kernel pca": ("#1f63b0", "-", "X"),
    }
)
_UNKNOWN_LOOK = (MUTED, "-", ".")
_LONG_AXIS = 100  # from end to end


@dataclass(frozen=True)
class GrowthCurve:
    """Time and memory of one method over the number of rows.

    Attributes
    ----------
    method : str
    rows : tuple of int
        Ascending.
    seconds, megabytes : ndarray of shape (n_sizes,)
        NaN where nothing was measured.
    """

    method: str
    rows: tuple[int, ...]
    seconds: FloatArray
    megabytes: FloatArray


class GrowthDisplay(FigureDisplay):
    """Time and memory over the number of rows, side by side, on logarithmic scales.

    Parameters
    ----------
    curves : sequence of GrowthCurve
        The first one is drawn in front and in bold.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of two matplotlib axes
        Time, and memory.
    """

    def __init__(self, curves: Sequence[GrowthCurve]) -> None:
        if not curves:
            raise ValueError("curves must hold at least one curve, got none.")
        self.curves = curves

    def plot(self) -> "GrowthDisplay":
        """Draw both panels in a new figure.

        Returns
        -------
        self
        """
        with own_style(None):
            self._owns_figure = True
            self.figure_ = new_figure(9.6, 4.6, layout="constrained")
            self.axes_ = self.figure_.subplots(1, 2)
            for ax, name in zip(self.axes_, ("seconds", "megabytes"), strict=True):
                for number, curve in reversed(list(enumerate(self.curves))):
                    self._draw_curve(ax, curve, getattr(curve, name), leading=number == 0)
            self._draw_frame(self.axes_[0], "Time of a fit", _as_seconds)
            self._draw_frame(self.axes_[1], "Largest memory", _as_memory)
            self.figure_.legend(
                handles=[_handle(curve, leading=not number) for number, curve in enumerate(self.curves)],
                loc="outside lower center", ncols=min(4, len(self.curves)), frameon=False,
            )  # fmt: skip
        return self

    def _draw_curve(self, ax: Axes, curve: GrowthCurve, values: FloatArray, *, leading: bool) -> None:
        known = np.isfinite(values)
        color, line, marker = _LOOKS.get(curve.method, _UNKNOWN_LOOK)
        ax.plot(
            np.array(curve.rows)[known], values[known], line, color=color, marker=marker,
            markersize=6.0 if leading else 4.5, linewidth=2.4 if leading else 1.4, zorder=4 if leading else 3,
        )  # fmt: skip

    def _draw_frame(self, ax: Axes, title: str, as_text: FuncFormatter) -> None:
        ax.set(xscale="log", yscale="log")
        for axis in (ax.xaxis, ax.yaxis):
            low, high = axis.get_view_interval()
            # Powers of ten alone would leave a short axis without a number.
            subs = (1.0,) if high / low > _LONG_AXIS else (1.0, 2.0, 5.0)
            axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=20))
            axis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_major_formatter(_AS_COUNT)
        ax.yaxis.set_major_formatter(as_text)
        ax.grid(color=FAINT, alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.set_xlabel("rows", color=INK)
        ax.set_title(title, loc="left", fontweight="bold")


def _handle(curve: GrowthCurve, *, leading: bool) -> Line2D:
    color, line, marker = _LOOKS.get(curve.method, _UNKNOWN_LOOK)
    size, width = (6.0, 2.4) if leading else (4.5, 1.4)
    return Line2D([], [], color=color, linestyle=line, marker=marker, markersize=size, linewidth=width,
                  label=curve.method)  # fmt: skip


_AS_COUNT = FuncFormatter(lambda value, _: f"{value:,.0f}")
_as_seconds = FuncFormatter(lambda value, _: f"{value:,.0f} s" if value >= 1 else f"{1000 * value:g} ms")
_as_memory = FuncFormatter(lambda value, _: f"{value / 1000:,.0f} GB" if value >= 1000 else f"{value:,.0f} MB")
