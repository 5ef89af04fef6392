"""The map in headless Chromium: what a lasso leaves behind, the shapes of classes, and the neighborhood layout."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # a server and a browser are started for each test

N_ROWS = 60


@pytest.fixture
def table(tmp_path, rng):
    """Rows in three groups far apart; a few of each have a label."""
    group = np.arange(N_ROWS) % 3
    X = rng.standard_normal((N_ROWS, 4)) + 6.0 * np.eye(4)[group]
    lines = [
        ",".join([*(f"{value:.4f}" for value in X[row]), "abc"[group[row]] if row < 12 else ""])
        for row in range(N_ROWS)
    ]
    file = tmp_path / "groups.csv"
    file.write_text("w,x,y,z,kind\n" + "\n".join(lines), encoding="utf-8")
    return file


# What Plotly draws with, after defaults, selections and all: the opacity of every marker of every trace.
OPACITIES = """() => {
    const graph = document.querySelector('#map .js-plotly-plot');
    return graph.calcdata.flatMap((points) => {
        const trace = points[0].trace, some = trace.selectedpoints;
        return trace.marker ? Array.from(trace.x, (_, i) => {
            if (!some) return trace.marker.opacity * trace.opacity;
            return some.includes(i) ? trace.selected.marker.opacity : trace.unselected.marker.opacity;
        }) : [];
    });
}"""
# The map itself as the graphics card has it: a checksum, and how many numbers are not 0.
PIXELS = """() => {
    const canvas = document.querySelector('#map canvas.gl-canvas-context');
    const gl = canvas.getContext('webgl');
    const {drawingBufferWidth: width, drawingBufferHeight: height} = gl;
    const pixels = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    return [pixels.reduce((sum, value) => (Math.imul(sum, 31) + value) | 0, 7), pixels.filter((value) => value).length];
}"""


def drag_around(page, places):
    low, high = places.min(axis=0) - 12, places.max(axis=0) + 12
    page.tab.mouse.move(*low)
    page.tab.mouse.down()
    for corner in ((high[0], low[1]), high, (low[0], high[1]), low + 1):
        page.tab.mouse.move(*corner, steps=3)
    page.tab.mouse.up()


def test_a_lasso_leaves_no_faded_marks(serve_page, open_page, table):
    with serve_page(table, "--label-column", "kind") as url:
        page = open_page(url)
        page.wait_for_text("#labels-value", "12")
        page.wait_for_quiet()
        places = np.array(page.places())
        page.tab.wait_for_function("() => document.querySelector('#map .js-plotly-plot').data[2].x.length > 0")
        page.tab.wait_for_timeout(500)  # the browser draws when it has time
        before = page.tab.evaluate(OPACITIES), page.tab.evaluate(PIXELS)
        assert set(before[0]) == {1}
        assert len(before[0]) > N_ROWS + 12
        assert before[1][1] > 0
        page.tab.keyboard.press("l")
        drag_around(page, places[::3])
        page.tab.wait_for_function("() => /rows$/.test(document.querySelector('#detail h3')?.textContent)")
        page.wait_for_quiet()
        assert set(page.tab.evaluate(OPACITIES)) == {1}
        page.tab.keyboard.press("Escape")
        page.tab.wait_for_selector("#detail h3", state="detached")
        page.tab.wait_for_function("() => document.querySelector('#map .js-plotly-plot').data[3].x.length === 0")
        assert page.tab.locator("#map .selectionlayer path").count() == 0
        page.tab.mouse.move(5, 5)
        page.tab.wait_for_timeout(500)
        assert set(page.tab.evaluate(OPACITIES)) == {1}
        assert page.tab.evaluate(PIXELS) == before[1]


def test_classes_have_shapes_on_the_map_and_beside_it_also_a_new_one(serve_page, open_page, table):
    with serve_page(table, "--label-column", "kind") as url:
        page = open_page(url)
        page.wait_for_text("#labels-value", "12")
        page.wait_for_quiet()
        shapes = "() => [...new Set(document.querySelector('#map .js-plotly-plot')._fullData[0].marker.symbol)].sort()"
        assert page.tab.evaluate(shapes) == ["circle", "diamond", "square"]
        page.tab.fill("#new-class", "d")
        page.tab.press("#new-class", "Enter")
        page.tab.wait_for_selector("#classes .dot.triangle-up")
        dots = page.tab.eval_on_selector_all("#classes .dot", "all => all.map((one) => one.className)")
        assert dots == ["dot circle", "dot square", "dot diamond", "dot triangle-up"]
        page.tab.click("#classes")
        page.tab.keyboard.press("n")
        page.tab.wait_for_selector("#detail h3")
        page.tab.keyboard.press("4")
        page.wait_for_text("#labels-value", "13")
        page.tab.wait_for_function(
            "() => document.querySelector('#map .js-plotly-plot')._fullData[1].marker.symbol.includes('triangle-up')"
        )


def places_of(page):
    return np.array(page.places())


def switch_to(page, kind):
    page.tab.click(f"#map-{kind}")
    page.tab.wait_for_selector(f"#map-{kind}.on")


@pytest.mark.parametrize("width", [1280, 390])
def test_neighborhoods_are_found_beside_the_labeling_and_kept(serve_page, open_page, table, width):
    pytest.importorskip("openTSNE", reason="the layout comes with the extra `layout`")
    about = (table, "--label-column", "kind")
    with serve_page(*about) as url:
        page = open_page(url)
        page.tab.set_viewport_size({"width": width, "height": 900})
        page.wait_for_text("#labels-value", "12")
        page.wait_for_quiet()
        components = places_of(page)
        assert page.tab.get_attribute("#map-components", "aria-pressed") == "true"
        page.tab.click("#map-neighborhoods")
        # Meanwhile a label can be given.
        page.tab.click("#suggestions .line")
        page.tab.wait_for_selector("#detail .give")
        page.tab.keyboard.press("1")
        page.wait_for_text("#labels-value", "13")
        page.tab.wait_for_selector("#map-neighborhoods.on")
        assert page.tab.get_attribute("#map-neighborhoods", "aria-pressed") == "true"
        assert page.tab.locator("#map-progress").count() == 0
        page.wait_for_quiet()
        graph = "document.querySelector('#map .js-plotly-plot')"
        page.tab.wait_for_function(f"() => {graph}.layout.uirevision.endsWith('neighborhoods')")
        found = places_of(page)
        assert np.abs(found - components).max() > 20
        # All rows are inside the map, and a click names the row that is there.
        box = page.tab.locator("#map .nsewdrag").bounding_box()
        inside = (found >= [box["x"], box["y"]]) & (found <= [box["x"] + box["width"], box["y"] + box["height"]])
        assert inside.all()
        page.tab.keyboard.press("Escape")
        page.tab.wait_for_selector("#detail h3", state="detached")
        page.tab.locator("#map").scroll_into_view_if_needed()
        page.click_row(30)
        page.tab.wait_for_selector("#detail h3")
        page.tab.keyboard.press("Escape")  # on a narrow screen the row lies over the map
        page.tab.wait_for_selector("#detail h3", state="detached")
        switch_to(page, "components")
        page.wait_for_quiet()
        page.tab.wait_for_function(f"() => {graph}.layout.uirevision.endsWith('components')")
        page.wait_for_text("#labels-value", "13")
    with serve_page(*about) as url:
        page = open_page(url)
        page.wait_for_quiet()
        switch_to(page, "neighborhoods")
        assert len(list(table.with_name(f".{table.name}.semikpca-map").glob("*.npy"))) == 1
