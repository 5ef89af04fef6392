"""Figures of computed results, one Display class each; needs matplotlib, which nothing below this package does."""

from semikpca.experiments import MODEL_NAMES
from semikpca.plots._curves import AccuracyCurve, AccuracyCurvesDisplay
from semikpca.plots._schemes import ConvexitySchemesDisplay
from semikpca.plots._style import (
    FAINT,
    INK,
    MODEL_COLORS,
    MUTED,
    FigureDisplay,
    figure_svg,
    legend_below,
    new_figure,
    own_style,
    save_figure,
)
from semikpca.plots._surfaces import ObjectiveSurfacesDisplay

__all__ = [
    "FAINT",
    "INK",
    "MODEL_COLORS",
    "MODEL_NAMES",
    "MUTED",
    "AccuracyCurve",
    "AccuracyCurvesDisplay",
    "ConvexitySchemesDisplay",
    "FigureDisplay",
    "ObjectiveSurfacesDisplay",
    "figure_svg",
    "legend_below",
    "new_figure",
    "own_style",
    "save_figure",
]
