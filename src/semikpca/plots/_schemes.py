"""Figure 2: which error weights keep the problem convex."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator
from sklearn.isotonic import isotonic_regression

from semikpca._numbers import is_positive_number, is_whole_number
from semikpca._typing import FloatArray
from semikpca.convexity import ConvexityCertificate
from semikpca.plots import _style as style

_BAR = 5.0  # points
_LETTER_ROOM = 0.0085  # of the width of the axes, for each letter of the name of a bound
_NUMBERS_UP_TO = 1e3  # ratio of the ends of the axis: a wider one shows powers of ten only
_SAME_BOUND = 1e-6  # relative difference
_MARK: dict[str, Any] = {"markersize": 9, "markeredgewidth": 2.0}
_SOLUTION_MARK = {**_MARK, "color": style.SOLUTION_COLOR, "markeredgecolor": "white"}
_NO_SOLUTION_MARK = {**_MARK, "color": "white", "markeredgecolor": style.UNBOUNDED_COLOR}


class ConvexitySchemesDisplay(style.FigureDisplay):
    """What each error weight leads to, for both problems and each number of removed components (Figure 2).

    Parameters
    ----------
    eigenvalues : sequence of float
        λ1 ≥ λ2 ≥ … > 0.
    k_max : int, default=None
        The last number of removed components to show; None shows as many as there are eigenvalues for.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of axes, shape (2,)
        Kernel PCA, Semi-KPCA.

    Examples
    --------
    >>> display = ConvexitySchemesDisplay([4.0, 1.0, 0.5]).plot()
    >>> [axes.get_title(loc="left") for axes in display.axes_]
    ['KPCA', 'Semi-KPCA']
    """

    def __init__(self, eigenvalues: Sequence[float], k_max: int | None = None) -> None:
        values = [float(value) for value in eigenvalues if is_positive_number(value)]
        if not values or len(values) != len(eigenvalues) or values != sorted(values, reverse=True):
            raise ValueError(f"eigenvalues must be positive and descend, got {list(eigenvalues)}.")
        last = len(values) - 1
        if k_max is not None and not (is_whole_number(k_max, 0) and k_max <= last):
            raise ValueError(f"k_max must be None or a whole number from 0 to {last}, got {k_max!r}.")
        self.eigenvalues = tuple(values[: (last if k_max is None else k_max) + 1])

    @property
    def bounds(self) -> FloatArray:
        """1/λ(k+1) for k = 0 … K, ascending."""
        return np.array([ConvexityCertificate(k, value).error_weight_max for k, value in enumerate(self.eigenvalues)])

    def plot(self, axes: Sequence[Axes] | None = None) -> "ConvexitySchemesDisplay":
        """Draw both schemes.

        Parameters
        ----------
        axes : sequence of two matplotlib axes, default=None
            For kernel PCA and for Semi-KPCA; None makes a new figure. The legend stands below the second, where a
            constrained layout leaves room for it.

        Returns
        -------
        self
        """
        n_bars = len(self.eigenvalues)
        with style.own_style(axes):
            self._owns_figure = axes is None
            if axes is None:
                figure = style.new_figure(9.0, 2.0 + 0.46 * n_bars, layout=ConstrainedLayoutEngine(hspace=0.06))
                axes = figure.subplots(2, 1, sharex=True)
            self.axes_ = np.asarray(axes, dtype=object)
            if self.axes_.shape != (2,):
                raise ValueError(f"axes must be two axes, one for each problem, got shape {self.axes_.shape}.")
            self.figure_ = self.axes_[0].figure
            self._draw(self.axes_[0], "KPCA", below=style.TRIVIAL_COLOR, solution_at_bound=True)
            self._draw(self.axes_[1], "Semi-KPCA", below=style.SOLUTION_COLOR, solution_at_bound=False)
            self.axes_[1].set_xlabel("error weight γ")
            style.legend_below(self.axes_[1], _legend_handles(), n_columns=4)
        return self

    def _draw(self, axes: Axes, name: str, *, below: str, solution_at_bound: bool) -> None:
        bounds = self.bounds
        first, last = np.log(bounds[[0, -1]])
        margin = max(0.2 * (last - first), 0.7)
        begin, end = np.exp(first - margin), np.exp(last + margin)
        for k, bound in enumerate(bounds):
            axes.plot([begin, bound], [k, k], color=below, linewidth=_BAR, solid_capstyle="butt")
            axes.plot([bound, end], [k, k], color=style.UNBOUNDED_COLOR, linewidth=_BAR, solid_capstyle="butt")
            axes.plot(bound, k, "o", **(_SOLUTION_MARK if solution_at_bound else _NO_SOLUTION_MARK), zorder=3)
        axes.set_xscale("log")
        axes.set(xlim=(begin, end), ylim=(len(bounds) - 0.5, -0.6), yticks=range(len(bounds)))
        axes.set_yticklabels([f"k = {k}" for k in range(len(bounds))])
        axes.tick_params(axis="y", length=0)
        axes.spines[["left", "top", "right"]].set_visible(False)
        axes.set_title(name, loc="left", fontweight="bold", pad=26)
        if end < _NUMBERS_UP_TO * begin:
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_locator(NullLocator())
        self._name_bounds(axes, bounds)

    def _name_bounds(self, axes: Axes, bounds: FloatArray) -> None:
        """Write 1/λ above the axes, moved apart where bounds lie close, and lead down from each to its bars."""
        # Equal eigenvalues come out of a computation with different last digits; nobody could see them apart here.
        groups = np.split(np.arange(len(bounds)), np.flatnonzero(np.diff(np.log(bounds)) > _SAME_BOUND) + 1)
        names = [" = ".join(f"1/{style.eigenvalue_name(int(i) + 1)}" for i in group) for group in groups]
        marks = np.array([bounds[group[0]] for group in groups])
        shares = (axes.transScale + axes.transLimits).transform(np.column_stack([marks, np.zeros(len(marks))]))[:, 0]
        places = _spread(shares, np.array([_LETTER_ROOM * (len(name) + 2) for name in names]))
        above = style.lifted(axes, 9)
        for name, mark, share, place in zip(names, marks, shares, places, strict=True):
            axes.axvline(mark, color=style.FAINT, linewidth=0.7, zorder=0)
            axes.annotate(
                name, (share, 1.0), (place, 1.0), xycoords=axes.transAxes, textcoords=above, ha="center", va="bottom",
                arrowprops={"arrowstyle": "-", "color": style.FAINT, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0,
                            "relpos": (0.5, 0.0)},
            )  # fmt: skip


def _spread(places: FloatArray, widths: FloatArray) -> FloatArray:
    """Return ascending places in [0, 1] moved apart, as little as needed (in the sense of least squares).

    Each then has half of its width to either side.
    """
    # Less the room that those before it take, the places must not descend.
    steps = np.concatenate([[0.0], np.cumsum((widths[:-1] + widths[1:]) / 2)])
    return np.asarray(np.clip(isotonic_regression(places - steps), 0.0, max(0.0, 1.0 - steps[-1])) + steps)


def _legend_handles() -> list[Line2D]:
    bars = {
        "trivial solution (w = 0)": style.TRIVIAL_COLOR,
        "non-trivial solution": style.SOLUTION_COLOR,
        "no bounded solution": style.UNBOUNDED_COLOR,
    }
    mark = Line2D([], [], linewidth=0, marker="o", label="no solution at the bound", **_NO_SOLUTION_MARK)
    return [*(Line2D([], [], color=color, linewidth=_BAR, label=label) for label, color in bars.items()), mark]
