"""The figure of the speed benchmark shows what it is given, and nothing else."""

import numpy as np
import pytest

from semikpca.plots import figure_svg
from semikpca_benchmarks.plots import GrowthCurve, GrowthDisplay

CURVES = [
    GrowthCurve("auto", (1_000, 10_000, 100_000), np.array([0.1, 2.0, 80.0]), np.array([150.0, 200.0, 900.0])),
    GrowthCurve("label spreading", (1_000, 10_000), np.array([0.2, np.nan]), np.array([200.0, 2_500.0])),
    GrowthCurve("something new", (1_000,), np.array([0.3]), np.array([np.nan])),
]


@pytest.fixture
def display():
    return GrowthDisplay(CURVES).plot()


def test_points_are_those_of_the_curves_without_what_was_not_measured(display):
    for ax, name in zip(display.axes_, ("seconds", "megabytes"), strict=True):
        drawn = {tuple(map(tuple, line.get_xydata())) for line in ax.lines}
        wanted = {
            tuple((float(n), float(value)) for n, value in zip(curve.rows, getattr(curve, name), strict=True)
                  if np.isfinite(value))
            for curve in CURVES
        }  # fmt: skip
        assert drawn == wanted


def test_both_axes_are_logarithmic_and_have_numbers(display):
    display.figure_.draw_without_rendering()
    for ax in display.axes_:
        assert ax.get_xscale() == ax.get_yscale() == "log"
        for axis in (ax.xaxis, ax.yaxis):
            low, high = axis.get_view_interval()
            shown = [tick.label1.get_text() for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            assert sum(bool(text) for text in shown) >= 2


def test_a_short_axis_has_numbers_too():
    curve = GrowthCurve("auto", (400, 800), np.array([0.02, 0.03]), np.array([151.0, 260.0]))
    display = GrowthDisplay([curve]).plot()
    display.figure_.draw_without_rendering()
    low, high = display.axes_[1].get_ylim()
    assert any(low <= tick.get_loc() <= high for tick in display.axes_[1].yaxis.get_major_ticks())


def test_units_are_those_that_people_read(display):
    display.figure_.draw_without_rendering()
    texts = [tick.label1.get_text() for ax in display.axes_ for tick in ax.yaxis.get_major_ticks()]
    assert {"100 ms", "10 s", "1 GB"} <= set(texts)
    assert "10,000" in [tick.label1.get_text() for tick in display.axes_[0].xaxis.get_major_ticks()]


def test_the_legend_names_every_method(display):
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == [curve.method for curve in CURVES]


def test_the_same_curves_give_the_same_picture():
    assert figure_svg(GrowthDisplay(CURVES).plot().figure_) == figure_svg(GrowthDisplay(CURVES).plot().figure_)


def test_no_curves_are_refused():
    with pytest.raises(ValueError, match="at least one curve"):
        GrowthDisplay([])
