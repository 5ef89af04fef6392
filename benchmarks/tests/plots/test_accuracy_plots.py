"""Figures of the accuracy benchmark: what is drawn where, and what is refused."""

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="figures need it, which comes with the extra `paper`")

from matplotlib.figure import Figure

from semikpca.plots import figure_svg
from semikpca_benchmarks.accuracy import METHODS
from semikpca_benchmarks.plots import METHOD_LOOKS, LabelCurve, LabelCurvesDisplay, MeanRanksDisplay

RANKS = {
    "whole suite": {"svc": 2.5, "semikpca cv": 1.4, "lssvm": 3.25},
    "aside half": {"svc": 1.5, "semikpca cv": 2.0, "lssvm": 3.0},
}


def make_curve(method, means, labels=(1, 2, 5)):
    return LabelCurve(method, labels, np.array(means), np.full(len(means), 0.5))


def drawn(axes, x, y):
    """Whether a marker stands at a point."""
    points = [np.column_stack(line.get_data()) for line in axes.lines]
    return any((np.abs(found - [x, y]) < 1e-9).all(axis=1).any() for found in points)


class TestMeanRanks:
    def test_methods_stand_in_the_order_of_the_first_group_best_on_top(self):
        axes = MeanRanksDisplay(RANKS, ours=["semikpca cv"]).plot().ax_
        labels = axes.get_yticklabels()
        assert [label.get_text() for label in labels] == ["semikpca cv", "svc", "lssvm"]
        assert [label.get_fontweight() for label in labels] == ["bold", "normal", "normal"]
        top, bottom = axes.get_ylim()[1], axes.get_ylim()[0]
        assert top < 0 < bottom

    def test_every_rank_of_every_group_is_drawn(self):
        axes = MeanRanksDisplay(RANKS).plot().ax_
        for group in RANKS.values():
            for row, method in enumerate(("semikpca cv", "svc", "lssvm")):
                assert drawn(axes, group[method], row)
        assert [text.get_text() for text in axes.get_legend().get_texts()] == list(RANKS)

    def test_the_numbers_are_those_of_the_first_group(self):
        axes = MeanRanksDisplay(RANKS).plot().ax_
        assert [text.get_text() for text in axes.texts] == ["1.4", "2.5", "3.2"]

    def test_every_group_has_a_mark_of_its_own_and_the_legend_stays_inside_the_figure(self):
        ranks = {f"a group with a long name {number}": RANKS["aside half"] for number in range(9)}
        display = MeanRanksDisplay(ranks).plot()
        legend = display.ax_.get_legend()
        assert len({handle.get_marker() for handle in legend.legend_handles}) == 9
        display.figure_.draw_without_rendering()
        box, figure = legend.get_window_extent(), display.figure_.bbox
        assert figure.x0 <= box.x0
        assert box.x1 <= figure.x1

    def test_one_group_needs_no_legend(self):
        assert MeanRanksDisplay({"all": RANKS["whole suite"]}).plot().ax_.get_legend() is None

    def test_it_draws_into_given_axes(self):
        axes = Figure().subplots()
        assert MeanRanksDisplay(RANKS).plot(axes).ax_ is axes

    def test_no_group_is_refused(self):
        with pytest.raises(ValueError, match="at least one group"):
            MeanRanksDisplay({})


class TestLabelCurves:
    CURVES = (make_curve("semikpca cv", [70.0, 80.0, 90.0]), make_curve("svc", [60.0, np.nan, 85.0]))

    def plot(self, curves=CURVES, baseline=60.0):
        return LabelCurvesDisplay(curves, baseline=baseline, title="wine").plot()

    def test_every_mean_is_drawn_and_the_counts_are_on_the_axis(self):
        axes = self.plot().ax_
        for x, y in ((1, 70.0), (2, 80.0), (5, 90.0), (1, 60.0), (5, 85.0)):
            assert drawn(axes, x, y)
        assert [tick for tick in axes.get_xticks()] == [1, 2, 5]
        assert axes.get_xscale() == "log"

    def test_the_first_curve_is_in_front_and_bold(self):
        lines = {line.get_color(): line for line in self.plot().ax_.lines}
        ours, svc = (lines[METHOD_LOOKS[name][0]] for name in ("semikpca cv", "svc"))
        assert ours.get_zorder() > svc.get_zorder()
        assert ours.get_linewidth() > svc.get_linewidth()

    def test_the_legend_names_the_largest_class_only_where_it_is_seen(self):
        def names(display):
            return [text.get_text() for text in display.ax_.get_legend().get_texts()]

        assert names(self.plot(baseline=60.0)) == ["semikpca cv", "svc", "largest class"]
        assert names(self.plot(baseline=10.0)) == ["semikpca cv", "svc"]

    def test_another_measure_is_named_and_needs_no_level_to_be_compared_with(self):
        curves = [make_curve("semikpca cv", [12.0, 8.0, 5.0])]
        axes = LabelCurvesDisplay(curves, title="all", measure="calibration error (points)").plot().ax_
        assert axes.get_ylabel() == "calibration error (points)"
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["semikpca cv"]
        assert len(axes.lines) == 1

    def test_the_level_to_be_compared_with_has_the_name_that_it_is_given(self):
        display = LabelCurvesDisplay(self.CURVES, title="wine", baseline=60.0, baseline_name="guessing").plot()
        assert display.ax_.get_legend().get_texts()[-1].get_text() == "guessing"

    def test_a_method_without_a_look_of_its_own_is_drawn_all_the_same(self):
        assert drawn(self.plot([make_curve("new method", [70.0, 80.0, 90.0])]).ax_, 2, 80.0)

    def test_small_differences_are_not_blown_up(self):
        low, high = self.plot([make_curve("svc", [90.0, 90.1, 90.2])], baseline=10.0).ax_.get_ylim()
        assert high - low >= 10

    def test_the_same_curves_give_the_same_bytes(self):
        assert figure_svg(self.plot().figure_) == figure_svg(self.plot().figure_)

    def test_no_curve_is_refused(self):
        with pytest.raises(ValueError, match="at least one curve"):
            self.plot([])


def test_every_method_has_a_look_and_no_two_the_same():
    assert set(METHOD_LOOKS) == {method.name for method in METHODS}
    assert len(set(METHOD_LOOKS.values())) == len(METHOD_LOOKS)
