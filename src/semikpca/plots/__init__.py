"""Figures of computed results, one Display class each; needs matplotlib, which nothing below this package does."""

from semikpca.plots._benchmark import LabelCurve, LabelCurvesDisplay, MeanRanksDisplay
from semikpca.plots._curves import AccuracyCurve, AccuracyCurvesDisplay
from semikpca.plots._schemes import ConvexitySchemesDisplay
from semikpca.plots._speed import GrowthCurve, GrowthDisplay
from semikpca.plots._style import MODEL_COLORS, MODEL_NAMES, figure_svg, save_figure
from semikpca.plots._surfaces import ObjectiveSurfacesDisplay

__all__ = [
    "MODEL_COLORS",
    "MODEL_NAMES",
    "AccuracyCurve",
    "AccuracyCurvesDisplay",
    "ConvexitySchemesDisplay",
    "GrowthCurve",
    "GrowthDisplay",
    "LabelCurve",
    "LabelCurvesDisplay",
    "MeanRanksDisplay",
    "ObjectiveSurfacesDisplay",
    "figure_svg",
    "save_figure",
]
