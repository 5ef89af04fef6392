"""What the figures share: colours, names, and files that come out the same every time."""

import io
import os
import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.style import context as style_context
from matplotlib.transforms import ScaledTranslation, Transform

# Near the paper's blue, red, green and yellow. They differ in lightness as well as in hue, so that they stay apart for
# colour-blind readers and in grey print, and none is the red or the blue of the stars.
MODEL_COLORS: MappingProxyType[str, str] = MappingProxyType(
    {"semi_kpca_0": "#5aa5dc", "semi_kpca_1": "#5e1040", "semi_lssvm": "#1b7a5a", "subs_lssvm": "#cc8a00"}
)

TRIVIAL_COLOR = "#e6b422"
SOLUTION_COLOR = "#1f63b0"
UNBOUNDED_COLOR = "#c1272d"

BEST_COLOR = "#e31a1c"
HEURISTIC_COLOR = "#1f3fd6"

INK = "#1a1a1a"
MUTED = "#5c5c5c"
FAINT = "#8a8a8a"

_STYLE: dict[str, Any] = {
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
# Neither the day nor the version of matplotlib is part of the picture.
_METADATA: dict[str, dict[str, str | None]] = {"svg": {"Date": None, "Creator": "semikpca"}, "png": {"Software": None}}
_HASH_SALT = "semikpca"  # without a salt the ids in an SVG file are drawn at random
_METADATA_ELEMENT = re.compile(r"\s*<metadata>.*?</metadata>", flags=re.DOTALL)
_STYLE_ELEMENT = re.compile(r"\s*<defs>\s*<style[^>]*>\s*\*\s*\{([^}]*)\}\s*</style>\s*</defs>")
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def eigenvalue_name(number: int) -> str:
    """Return λ with its number below the line, as plain text that any font can show."""
    return f"λ{str(number).translate(_SUBSCRIPTS)}"


def own_style(given: object | None) -> AbstractContextManager[Any]:
    """Return the context to draw in: the style of this package, or the caller's where the axes are the caller's."""
    return style_context(["default", _STYLE]) if given is None else nullcontext()


def new_figure(width: float, height: float, **options: Any) -> Figure:
    """Return a white figure, in inches, that no pyplot state knows of."""
    return Figure(figsize=(width, height), facecolor="white", **options)


def lifted(axes: Axes, points: float) -> Transform:
    """Return the coordinates of the axes, moved up by some points whatever the size of the axes."""
    return axes.transAxes + ScaledTranslation(0, points / 72, axes.figure.dpi_scale_trans)


def legend_below(axes: Axes, handles: list[Line2D], n_columns: int) -> None:
    """Put a legend under the label of the horizontal axis, where it covers no data."""
    place = {"bbox_to_anchor": (0.5, 0.0), "bbox_transform": lifted(axes, -36), "borderaxespad": 0.0}
    axes.legend(handles=handles, loc="upper center", ncols=n_columns, frameon=False, **place)


class FigureDisplay:
    """A display whose ``plot`` has made ``figure_``; a notebook shows it as the value of a cell."""

    figure_: Any
    _owns_figure: bool = False

    def _repr_png_(self) -> bytes | None:
        # A figure that the caller made is shown by whatever made it.
        if not self._owns_figure:
            return None
        file = io.BytesIO()
        save_figure(self.figure_, file, file_format="png", dpi=100)
        return file.getvalue()


def save_figure(
    figure: Figure,
    target: str | os.PathLike[str] | BinaryIO,
    *,
    file_format: Literal["svg", "png"] | None = None,
    dpi: int = 200,
) -> None:
    """Write a figure on white; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    target : path or binary file
    file_format : {"svg", "png"} or None
        None takes it from the ending of the path; an open file needs it.
    dpi : int
        Dots per inch of a PNG file, and of whatever is an image in an SVG file.

    Notes
    -----
    Whether text in SVG is text or outlines is matplotlib's setting ``svg.fonttype`` at the time of the call.
    """
    ending: str | None = file_format
    if ending is None:
        if not isinstance(target, str | os.PathLike):
            raise ValueError("file_format must be 'svg' or 'png' when the target is an open file, got None.")
        ending = Path(target).suffix[1:].lower()
    if ending not in _METADATA:
        raise ValueError(f"A figure is written as 'svg' or 'png', got {ending!r}.")
    look: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "transparent": False, "bbox_inches": None}
    with matplotlib.rc_context({"svg.hashsalt": _HASH_SALT}):
        figure.savefig(target, format=ending, dpi=dpi, metadata=dict(_METADATA[ending]), **look)


def figure_svg(figure: Figure) -> str:
    """Return the ``<svg>`` element of a figure, to be shown as an image: figures number their parts alike."""
    file = io.BytesIO()
    save_figure(figure, file, file_format="svg")
    text = file.getvalue().decode("utf-8")
    element = _METADATA_ELEMENT.sub("", text[text.index("<svg") :].rstrip())
    # matplotlib styles "*", which in a page would be everything; on the root it is inherited by this figure alone.
    shared = _STYLE_ELEMENT.search(element)
    if shared:
        element = _STYLE_ELEMENT.sub("", element).replace("<svg", f'<svg style="{shared[1]}"', 1)
    return element
