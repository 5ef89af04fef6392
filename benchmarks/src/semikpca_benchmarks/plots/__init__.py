"""Figures of the benchmarks, one Display class each."""

from semikpca_benchmarks.plots._accuracy import METHOD_LOOKS, LabelCurve, LabelCurvesDisplay, MeanRanksDisplay
from semikpca_benchmarks.plots._speed import GrowthCurve, GrowthDisplay

__all__ = ["METHOD_LOOKS", "GrowthCurve", "GrowthDisplay", "LabelCurve", "LabelCurvesDisplay", "MeanRanksDisplay"]
