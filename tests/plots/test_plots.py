"""The figures: what is drawn is what was computed, nothing overlaps, and files come out the same every time."""

import hashlib
import io
import itertools
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text
from mpl_toolkits.mplot3d import proj3d

from semikpca.experiments import Cell, CellRecord, ModelRecord
from semikpca.experiments._surfaces import objective_surfaces
from semikpca.plots import (
    MODEL_COLORS,
    MODEL_NAMES,
    AccuracyCurvesDisplay,
    ConvexitySchemesDisplay,
    ObjectiveSurfacesDisplay,
    figure_svg,
    save_figure,
)
from semikpca.plots._style import BEST_COLOR, HEURISTIC_COLOR, SOLUTION_COLOR, TRIVIAL_COLOR, UNBOUNDED_COLOR

pytestmark = pytest.mark.slow  # every test draws figures, some of them in processes of their own

ROUNDING = 1e-12  # one or two divisions apart
PIXELS_OF_GRACE = 1.0  # boxes of text are measured in whole pixels

EIGENVALUES = (250.0, 60.0, 20.0)
HITS = {  # of 40 unlabeled rows: three error weights, two draws
    "semi_kpca_0": [[20, 22], [19, 21], [18, 18]],
    "semi_kpca_1": [[30, 32], [36, 38], [33, 35]],
    "semi_lssvm": [[20, 22], [31, 31], [25, 27]],
    "subs_lssvm": [[20, 22], [24, 30], [28, 34]],
}
WEIGHTS = {
    "semi_kpca_0": [1e-5, 1e-4, 3.9e-3],
    "semi_kpca_1": [4e-5, 4e-4, 1.6e-2],
    "semi_lssvm": [1e-4, 1e-1, 1e2],
    "subs_lssvm": [1e-4, 1e-1, 1e2],
}


def cell_record(models=tuple(HITS), n_draws=2, **changes):
    values = {
        "cell": Cell("synth", 4),
        "n_samples": 44,
        "n_features": 2,
        "majority_share": 0.55,
        "eigenvalues": EIGENVALUES,
        "models": {
            name: ModelRecord(
                error_weights=np.array(WEIGHTS[name]),
                hits=np.array(HITS[name])[:, :n_draws],
                fixed_error_weight=2 * WEIGHTS[name][1],
                fixed_hits=np.array([28, 30])[:n_draws],
            )
            for name in models
        },
    }
    return CellRecord(**(values | changes))


def all_displays():
    return (
        ObjectiveSurfacesDisplay(objective_surfaces(error_weights=(0.125, 1.0), n_steps=2)).plot(),
        ConvexitySchemesDisplay(EIGENVALUES).plot(),
        AccuracyCurvesDisplay.from_record(cell_record()).plot(),
    )


@pytest.fixture(scope="module")
def surfaces_display():
    return ObjectiveSurfacesDisplay(objective_surfaces(n_steps=3)).plot()


@pytest.fixture(scope="module")
def schemes_display():
    return ConvexitySchemesDisplay(EIGENVALUES).plot()


@pytest.fixture(scope="module")
def curves_display():
    return AccuracyCurvesDisplay.from_record(cell_record()).plot()


def shown_texts(figure):
    figure.draw_without_rendering()
    # matplotlib keeps ticks outside the limits and does not draw them.
    beyond = {
        id(label)
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
        for label in (tick.label1, tick.label2)
    }
    texts = figure.findobj(lambda artist: isinstance(artist, Text) and id(artist) not in beyond)
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def assert_text_is_apart_and_inside(figure):
    """No two texts of the figure overlap, and none is cut off."""
    texts = shown_texts(figure)
    assert texts
    # The box of an annotation would hold its arrow as well.
    boxes = [(text.get_text(), Text.get_window_extent(text)) for text in texts]
    for (name, one), (other_name, other) in itertools.combinations(boxes, 2):
        apart = (
            one.x1 <= other.x0 + PIXELS_OF_GRACE
            or other.x1 <= one.x0 + PIXELS_OF_GRACE
            or one.y1 <= other.y0 + PIXELS_OF_GRACE
            or other.y1 <= one.y0 + PIXELS_OF_GRACE
        )
        assert apart, f"{name!r} overlaps {other_name!r}"
    for name, box in boxes:
        whole = figure.bbox
        inside = box.x0 >= whole.x0 - PIXELS_OF_GRACE and box.x1 <= whole.x1 + PIXELS_OF_GRACE
        assert inside, f"{name!r} is cut off"
        assert box.y0 >= whole.y0 - PIXELS_OF_GRACE, f"{name!r} is cut off"
        assert box.y1 <= whole.y1 + PIXELS_OF_GRACE, f"{name!r} is cut off"


def lines_of_color(axes, color, marker=None):
    return [
        line
        for line in axes.get_lines()
        if to_hex(line.get_color()) == color and (marker is None or line.get_marker() == marker)
    ]


# -- all figures ---------------------------------------------------------------------------------------------------


def in_a_fresh_interpreter(code):
    run = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()


def test_nothing_below_the_figures_needs_matplotlib():
    code = "import sys, semikpca.experiments, semikpca.experiments._surfaces; print('matplotlib' in sys.modules)"
    assert in_a_fresh_interpreter(code) == "False"


def test_figures_leave_pyplot_alone_and_are_the_same_bytes_in_another_process():
    code = """
import hashlib, io, sys
from semikpca.experiments._surfaces import objective_surfaces
from semikpca.plots import ConvexitySchemesDisplay, ObjectiveSurfacesDisplay, save_figure
digest = hashlib.sha256()
surfaces = objective_surfaces(error_weights=[0.5], n_steps=2)
for display in (ObjectiveSurfacesDisplay(surfaces), ConvexitySchemesDisplay((4.0, 1.0))):
    file = io.BytesIO()
    save_figure(display.plot().figure_, file, file_format="svg", dpi=60)
    digest.update(file.getvalue())
print("matplotlib.pyplot" in sys.modules, digest.hexdigest())
"""
    surfaces = objective_surfaces(error_weights=[0.5], n_steps=2)
    displays = ObjectiveSurfacesDisplay(surfaces), ConvexitySchemesDisplay((4.0, 1.0))
    content = b"".join(save_to_bytes(display.plot().figure_, "svg") for display in displays)
    assert in_a_fresh_interpreter(code) == f"False {hashlib.sha256(content).hexdigest()}"


def test_settings_of_matplotlib_are_left_as_they_were():
    before = dict(matplotlib.rcParams)
    for display in all_displays():
        figure_svg(display.figure_)
    assert dict(matplotlib.rcParams) == before


def test_a_new_figure_does_not_depend_on_the_settings_around_it():
    def pictures():
        return [save_to_bytes(display.figure_, "png") for display in all_displays()]

    plain = pictures()
    with matplotlib.rc_context({"axes.facecolor": "black", "text.color": "white", "lines.linewidth": 9.0}):
        assert pictures() == plain


def test_text_neither_overlaps_nor_is_cut_off(surfaces_display, schemes_display, curves_display):
    for display in (surfaces_display, schemes_display, curves_display):
        assert_text_is_apart_and_inside(display.figure_)


def save_to_bytes(figure, file_format):
    file = io.BytesIO()
    save_figure(figure, file, file_format=file_format, dpi=60)
    return file.getvalue()


@pytest.mark.parametrize("file_format", ["svg", "png"])
def test_the_same_data_give_the_same_bytes(file_format):
    first, second = ([save_to_bytes(d.figure_, file_format) for d in all_displays()] for _ in range(2))
    assert first == second
    assert len({hashlib.sha256(content).hexdigest() for content in first}) == 3


def test_a_figure_can_be_saved_twice_with_the_same_bytes(curves_display):
    assert save_to_bytes(curves_display.figure_, "svg") == save_to_bytes(curves_display.figure_, "svg")


def test_the_ending_of_a_path_says_which_file_is_written(tmp_path, schemes_display):
    save_figure(schemes_display.figure_, tmp_path / "figure.svg")
    save_figure(schemes_display.figure_, str(tmp_path / "figure.PNG"))
    assert ET.parse(tmp_path / "figure.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert (tmp_path / "figure.PNG").read_bytes().startswith(b"\x89PNG")


def test_a_file_holds_no_date_and_no_version(schemes_display):
    svg, png = (save_to_bytes(schemes_display.figure_, file_format) for file_format in ("svg", "png"))
    assert b"<dc:date>" not in svg
    assert b"Matplotlib" not in svg
    assert b"matplotlib" not in png.lower()


def test_a_picture_is_white_and_opaque_whatever_is_asked_of_matplotlib(schemes_display):
    with matplotlib.rc_context({"savefig.transparent": True, "savefig.facecolor": "black"}):
        picture = imread(io.BytesIO(save_to_bytes(schemes_display.figure_, "png")))
    np.testing.assert_array_equal(picture[0, 0], np.ones(picture.shape[-1]))
    if picture.shape[-1] == 4:
        assert (picture[..., 3] == 1).all()


@pytest.mark.parametrize(
    ("target", "file_format"), [("figure.pdf", None), ("figure", None), (io.BytesIO(), None), ("figure.svg", "jpeg")]
)
def test_files_of_other_kinds_are_refused(tmp_path, schemes_display, target, file_format):
    target = tmp_path / target if isinstance(target, str) else target
    with pytest.raises(ValueError, match="'svg' or 'png'"):
        save_figure(schemes_display.figure_, target, file_format=file_format)
    assert not list(tmp_path.iterdir())


def identifiers(element):
    root = ET.fromstring(element)
    found = [node.get("id") for node in root.iter() if node.get("id")]
    wanted = re.findall(r'(?:href="#|url\(#)([^")]+)', element)
    return found, set(wanted)


def test_an_inlined_figure_is_one_element_whose_references_lead_somewhere(curves_display):
    element = figure_svg(curves_display.figure_)
    assert element.startswith("<svg")
    assert element.endswith("</svg>")
    found, wanted = identifiers(element)
    assert len(found) == len(set(found))
    assert wanted
    assert wanted <= set(found)


def test_inlined_figures_have_no_style_that_would_hold_for_the_whole_page(surfaces_display, schemes_display):
    for display in (surfaces_display, schemes_display):
        element = figure_svg(display.figure_)
        assert "<style" not in element
        assert "<metadata" not in element


def test_text_is_text_where_the_caller_asks_for_it(curves_display):
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        element = figure_svg(curves_display.figure_)
    for name in (*MODEL_NAMES.values(), "1/λ₁", "best γ"):
        assert f">{name}</text>" in element


def test_a_notebook_shows_figures_that_no_one_else_shows(curves_display):
    assert curves_display._repr_png_().startswith(b"\x89PNG")
    assert AccuracyCurvesDisplay.from_record(cell_record()).plot(Figure().subplots())._repr_png_() is None


def test_models_have_colors_that_differ_in_lightness():
    def lightness(color):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
        return 116 * np.cbrt(np.dot([0.2126, 0.7152, 0.0722], linear)) - 16

    assert set(MODEL_COLORS) == set(MODEL_NAMES) == set(HITS)
    kpca_0, kpca_1, semi, subs = (lightness(MODEL_COLORS[name]) for name in HITS)
    # CIE lightness, 0 to 100: the model of the paper stands apart in grey print, and none is lost on white.
    assert kpca_1 + 15 < semi < min(kpca_0, subs) - 15
    assert max(kpca_0, subs) < 70


# -- Figure 1 ------------------------------------------------------------------------------------------------------


def test_ten_surfaces_stand_in_two_rows_with_the_captions_of_the_paper(surfaces_display):
    assert surfaces_display.axes_.shape == (2, 5)
    texts = [text.get_text() for text in surfaces_display.figure_.texts]
    positions = ["γ < 1/λ₁", "γ = 1/λ₁", "1/λ₁ < γ < 1/λ₂", "γ = 1/λ₂", "γ > 1/λ₂"]
    captions = [f"({letter}) {position}" for letter, position in zip("abcdefghij", positions * 2, strict=True)]
    assert [text for text in texts if text.startswith("(")] == captions
    assert {"KPCA", "Semi-KPCA"} <= set(texts)


def test_the_figure_says_what_each_problem_comes_to(surfaces_display):
    texts = [text.get_text() for text in surfaces_display.figure_.texts]
    statements = [text for text in texts if text.startswith(("one", "solutions", "unbounded"))]
    assert statements == [
        "one solution",
        "solutions along v₁",
        "unbounded\n(without v₁: one solution)",
        "unbounded\n(without v₁: solutions along v₂)",
        "unbounded\n(without v₁: unbounded)",
        "one solution",
        "unbounded\n(without v₁: one solution)",
        "unbounded\n(without v₁: one solution)",
        "unbounded\n(without v₁: unbounded)",
        "unbounded\n(without v₁: unbounded)",
    ]


def test_solutions_are_blue_and_falls_are_red(surfaces_display):
    kinds = [surface.outcome.kind for surface in surfaces_display.surfaces]
    for axes, kind in zip(surfaces_display.axes_.flat, kinds, strict=True):
        blue, red = lines_of_color(axes, SOLUTION_COLOR), lines_of_color(axes, UNBOUNDED_COLOR)
        assert bool(blue) == (kind != "fall")
        assert bool(red) == (kind == "fall")
        if kind == "point":
            assert [line.get_marker() for line in blue] == ["o"]


def test_an_arrow_leads_each_way_down(surfaces_display):
    for axes, surface in zip(surfaces_display.axes_.flat, surfaces_display.surfaces, strict=True):
        heads = [artist for artist in axes.get_children() if type(artist).__name__ == "_Arrow"]
        outcomes = (surface.outcome, surface.outcome_without_first) if surface.outcome.kind == "fall" else ()
        assert len(heads) == sum(len(outcome.paths) for outcome in outcomes if outcome.kind == "fall")


def test_the_black_curve_is_the_objective_without_the_first_component(surfaces_display):
    for axes, surface in zip(surfaces_display.axes_.flat, surfaces_display.surfaces, strict=True):
        first, second, height = axes.get_lines()[0].get_data_3d()
        np.testing.assert_array_equal(first, np.zeros_like(surface.coordinates))
        np.testing.assert_array_equal(second, surface.coordinates)
        np.testing.assert_array_equal(height, surface.values_without_first)


def test_panels_of_one_error_weight_have_one_scale_and_all_have_one_base(surfaces_display):
    axes = surfaces_display.axes_
    assert len({panel.get_xlim() for panel in axes.flat} | {panel.get_ylim() for panel in axes.flat}) == 1
    for above, below in axes.T:
        assert above.get_zlim() == below.get_zlim()
    sizes = [panel.get_position().size for panel in axes.flat]
    np.testing.assert_allclose(sizes, np.broadcast_to(sizes[0], (10, 2)), atol=ROUNDING)


def test_no_surface_leaves_its_panel(surfaces_display):
    surfaces_display.figure_.draw_without_rendering()
    for axes, surface in zip(surfaces_display.axes_.flat, surfaces_display.surfaces, strict=True):
        first, second = np.meshgrid(surface.coordinates, surface.coordinates, indexing="ij")
        x, y, _ = proj3d.proj_transform(first.ravel(), second.ravel(), surface.values.ravel(), axes.get_proj())
        pixels = axes.transData.transform(np.column_stack([x, y]))
        panel = axes.bbox
        assert (pixels >= panel.min - PIXELS_OF_GRACE).all()
        assert (pixels <= panel.max + PIXELS_OF_GRACE).all()


def test_surfaces_can_be_drawn_into_a_part_of_a_figure():
    figure = Figure(figsize=(9, 11))
    upper, _ = figure.subfigures(2, 1)
    display = ObjectiveSurfacesDisplay(objective_surfaces(n_steps=2)).plot(upper)
    assert display.figure_ is upper
    assert len(upper.axes) == 10
    assert_text_is_apart_and_inside(figure)


def test_one_problem_and_two_weights_make_one_row_of_two():
    surfaces = objective_surfaces(error_weights=(0.1, 0.3), n_steps=2)[:2]
    display = ObjectiveSurfacesDisplay(surfaces).plot()
    assert display.axes_.shape == (1, 2)


def test_no_surfaces_are_refused():
    with pytest.raises(ValueError, match="at least one surface"):
        ObjectiveSurfacesDisplay([])


# -- Figure 2 ------------------------------------------------------------------------------------------------------


def bars(axes):
    """(k, color, begin, end) of every bar."""
    lines = [line for line in axes.get_lines() if line.get_linewidth() > 4 and len(line.get_xdata()) == 2]
    return sorted((line.get_ydata()[0], to_hex(line.get_color()), *line.get_xdata()) for line in lines)


@pytest.mark.parametrize(("panel", "below"), [(0, TRIVIAL_COLOR), (1, SOLUTION_COLOR)])
def test_every_bar_turns_red_at_its_bound(schemes_display, panel, below):
    axes = schemes_display.axes_[panel]
    begin, end = axes.get_xlim()
    expected = sorted(
        bar
        for k, value in enumerate(EIGENVALUES)
        for bar in ((k, below, begin, 1 / value), (k, UNBOUNDED_COLOR, 1 / value, end))
    )
    found = bars(axes)
    assert [bar[:2] for bar in found] == [bar[:2] for bar in expected]
    np.testing.assert_allclose([bar[2:] for bar in found], [bar[2:] for bar in expected], rtol=ROUNDING)


def test_at_the_bound_kernel_pca_has_a_solution_and_semi_kpca_has_none(schemes_display):
    kernel_pca, semi_kpca = (
        [line for line in axes.get_lines() if line.get_marker() == "o"] for axes in schemes_display.axes_
    )
    for dots in (kernel_pca, semi_kpca):
        found = sorted((dot.get_xdata()[0], dot.get_ydata()[0]) for dot in dots)
        np.testing.assert_allclose(found, [(1 / value, k) for k, value in enumerate(EIGENVALUES)], rtol=ROUNDING)
    assert {to_hex(dot.get_markerfacecolor()) for dot in kernel_pca} == {SOLUTION_COLOR}
    assert {to_hex(dot.get_markerfacecolor()) for dot in semi_kpca} == {"#ffffff"}
    assert {to_hex(dot.get_markeredgecolor()) for dot in semi_kpca} == {UNBOUNDED_COLOR}


def test_the_error_weight_is_on_a_logarithmic_axis_and_k_on_the_other(schemes_display):
    for axes in schemes_display.axes_:
        assert axes.get_xscale() == "log"
        assert [label.get_text() for label in axes.get_yticklabels()] == ["k = 0", "k = 1", "k = 2"]
        top, bottom = axes.transData.transform([(1.0, 0), (1.0, 2)])[:, 1]
        assert top > bottom


def bound_names(axes):
    return [text.get_text() for text in axes.texts]


def test_bounds_are_named(schemes_display):
    for axes in schemes_display.axes_:
        assert bound_names(axes) == ["1/λ₁", "1/λ₂", "1/λ₃"]


def test_equal_eigenvalues_share_a_name():
    display = ConvexitySchemesDisplay([267.2, 22.59, 22.59 * (1 - 1e-12), 21.65]).plot()
    assert bound_names(display.axes_[0]) == ["1/λ₁", "1/λ₂ = 1/λ₃", "1/λ₄"]


@pytest.mark.parametrize(
    "eigenvalues",
    [
        [419.5, 38.7, 23.2, 19.7, 18.1, 17.6],
        [250.5, 62.3, 59.1, 14.5, 5.4, 4.4],
        [100.0, 99.0, 98.0, 97.0, 96.0, 95.0],
        [267.2, 22.59, 22.59, 21.65, 21.65, 21.65],
        [1e5, 1.0],
        [3.0],
        list(np.geomspace(100, 90, 12)),
    ],
)
def test_names_of_close_bounds_are_moved_apart(eigenvalues):
    assert_text_is_apart_and_inside(ConvexitySchemesDisplay(eigenvalues).plot().figure_)


def test_k_max_ends_the_bars():
    display = ConvexitySchemesDisplay(EIGENVALUES, k_max=1).plot()
    assert bound_names(display.axes_[1]) == ["1/λ₁", "1/λ₂"]
    assert display.eigenvalues == EIGENVALUES[:2]


def test_schemes_can_be_drawn_into_given_axes():
    axes = Figure().subplots(1, 2)
    display = ConvexitySchemesDisplay(EIGENVALUES).plot(axes)
    assert list(display.axes_) == list(axes)
    assert display.figure_ is axes[0].figure


def test_schemes_need_two_axes():
    with pytest.raises(ValueError, match="axes must be two axes"):
        ConvexitySchemesDisplay(EIGENVALUES).plot(Figure().subplots(3, 1))


@pytest.mark.parametrize("eigenvalues", [[], [1.0, 2.0], [1.0, 0.0], [1.0, -1.0], [np.nan]])
def test_eigenvalues_that_are_not_a_spectrum_are_refused(eigenvalues):
    with pytest.raises(ValueError, match="eigenvalues must be positive and descend"):
        ConvexitySchemesDisplay(eigenvalues)


@pytest.mark.parametrize("k_max", [-1, 3, 1.5, True])
def test_k_max_beyond_the_eigenvalues_is_refused(k_max):
    with pytest.raises(ValueError, match="k_max must be None or a whole number from 0 to 2"):
        ConvexitySchemesDisplay(EIGENVALUES, k_max=k_max)


# -- Figure 3 ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", list(HITS))
def test_a_curve_is_the_mean_share_of_hits_in_percent(curves_display, model):
    (line,) = lines_of_color(curves_display.ax_, MODEL_COLORS[model])
    np.testing.assert_array_equal(line.get_xdata(), WEIGHTS[model])
    np.testing.assert_allclose(line.get_ydata(), [100 * sum(pair) / 80 for pair in HITS[model]], rtol=ROUNDING)


@pytest.mark.parametrize("model", list(HITS))
def test_a_band_is_one_standard_error_to_either_side(curves_display, model):
    (band,) = [b for b in curves_display.ax_.collections if to_hex(b.get_facecolor()[0]) == MODEL_COLORS[model]]
    corners = band.get_paths()[0].vertices
    for weight, (one, other) in zip(WEIGHTS[model], HITS[model], strict=True):
        mean, error = 100 * (one + other) / 80, 100 * abs(one - other) / 80
        heights = corners[corners[:, 0] == weight, 1]
        np.testing.assert_allclose([heights.min(), heights.max()], [mean - error, mean + error], rtol=ROUNDING)


def test_red_stars_are_at_the_best_weights_and_blue_stars_at_the_heuristic_ones(curves_display):
    def stars(color):
        lines = lines_of_color(curves_display.ax_, color, marker="*")
        return sorted((line.get_xdata()[0], line.get_ydata()[0]) for line in lines)

    best = {"semi_kpca_0": 0, "semi_kpca_1": 1, "semi_lssvm": 1, "subs_lssvm": 2}
    wanted = sorted((WEIGHTS[model][i], 100 * sum(HITS[model][i]) / 80) for model, i in best.items())
    np.testing.assert_allclose(stars(BEST_COLOR), wanted, rtol=ROUNDING)
    np.testing.assert_allclose(
        stars(HEURISTIC_COLOR), sorted((2 * WEIGHTS[model][1], 72.5) for model in HITS), rtol=ROUNDING
    )


def test_dashed_lines_are_the_ends_of_the_interval_and_the_dotted_one_is_the_baseline(curves_display):
    upright = [line for line in curves_display.ax_.get_lines() if len(set(line.get_xdata())) == 1]
    dashed = [line for line in upright if line.get_linestyle() == "--"]
    np.testing.assert_allclose([line.get_xdata()[0] for line in dashed], [1 / 250, 1 / 60], rtol=ROUNDING)
    (dotted,) = [line for line in curves_display.ax_.get_lines() if line.get_linestyle() == ":"]
    np.testing.assert_allclose(dotted.get_ydata(), 55.0, rtol=ROUNDING)


def test_title_axes_and_legend_say_what_is_shown(curves_display):
    ax = curves_display.ax_
    assert ax.get_xscale() == "log"
    assert "synth" in ax.get_title(loc="left")
    assert "4 of 44" in ax.get_title(loc="left")
    assert "accuracy" in ax.get_ylabel()
    assert "%" in ax.get_ylabel()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[::2] == ["Semi-KPCA, k = 0", "Semi-KPCA, k = 1", "Semi-LSSVM", "Subs-LSSVM"]
    assert names[1::2] == ["best γ", "heuristic γ", "ends of the convex interval", "baseline"]


def test_one_draw_has_a_curve_and_no_band():
    display = AccuracyCurvesDisplay.from_record(cell_record(n_draws=1)).plot()
    for curve in display.curves:
        np.testing.assert_array_equal(curve.standard_errors, 0.0)
    save_figure(display.figure_, io.BytesIO(), file_format="png", dpi=50)


def test_a_record_with_some_of_the_models_keeps_their_colors_and_all_marks():
    display = AccuracyCurvesDisplay.from_record(cell_record(models=("semi_lssvm", "semi_kpca_1"))).plot()
    assert [curve.model for curve in display.curves] == ["semi_kpca_1", "semi_lssvm"]
    for model in ("semi_kpca_1", "semi_lssvm"):
        assert lines_of_color(display.ax_, MODEL_COLORS[model])
    assert len(display.ax_.get_legend().get_texts()) == 6


def same_everywhere(n_hits):
    record = cell_record()
    for name in HITS:
        grid = np.array(WEIGHTS[name])
        record.models[name] = ModelRecord(grid, np.full((3, 2), n_hits), WEIGHTS[name][1], np.full(2, n_hits))
    return record


def test_curves_that_hardly_differ_are_not_blown_up():
    low, high = AccuracyCurvesDisplay.from_record(same_everywhere(22)).plot().ax_.get_ylim()
    assert low < 55 < high
    assert high - low >= 20


def test_perfect_curves_end_just_above_a_hundred():
    _, high = AccuracyCurvesDisplay.from_record(same_everywhere(40)).plot().ax_.get_ylim()
    assert 100 < high < 102


def test_curves_can_be_drawn_into_given_axes():
    figure = Figure(figsize=(9, 9), layout="constrained")
    for ax, model in zip(figure.subplots(2, 1), ("semi_kpca_0", "semi_kpca_1"), strict=True):
        display = AccuracyCurvesDisplay.from_record(cell_record(models=(model,))).plot(ax)
        assert display.ax_ is ax
        assert display.figure_ is figure
    assert_text_is_apart_and_inside(figure)
