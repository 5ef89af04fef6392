"""The map is drawn without a policy under which texts may become programs; where that fails, with one."""

import re

import pytest

from write_shaders import SCRIPT, recorded, script_of

pytestmark = pytest.mark.slow  # a server and a browser are started for each test

REMEDY = "another release of Plotly? Run python tests/write_shaders.py"
# How many pixels of the map have a color.
DRAWN = """() => {
    const gl = document.querySelector('#map canvas.gl-canvas-context')?.getContext('webgl');
    if (!gl) return 0;
    const {drawingBufferWidth: width, drawingBufferHeight: height} = gl;
    const pixels = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    return pixels.filter((value) => value).length;
}"""
# Later, since what a test asks for at once is exempt from the policy.
EVAL = """() => new Promise((found) => window.setTimeout(() => {
    try { found(window.eval("1")); } catch { found("forbidden"); }
}, 0))"""


def rows_of(tmp_path, labels):
    lines = [f"{row % 7},{row * row % 11},{labels[row % 2] if row < 6 else ''}" for row in range(40)]
    file = tmp_path / "rows.csv"
    file.write_text("x,y,kind\n" + "\n".join(lines), encoding="utf-8")
    return file


def watched(context, url, shaders=None):
    """Open a tab, and write down what its policy forbids, how often it was loaded, and under which policy."""
    tab, seen = context.new_page(), {"forbidden": [], "policies": []}
    tab.expose_function("forbidden", lambda what: seen["forbidden"].append(what))
    tab.add_init_script(
        "document.addEventListener('securitypolicyviolation', (event) => window.forbidden(event.blockedURI))"
    )

    def answered(response):
        if response.request.is_navigation_request() and response.status == 200:
            seen["policies"].append(response.headers["content-security-policy"])

    tab.on("response", answered)
    if shaders is not None:
        tab.route("**/shaders.js*", lambda route: route.fulfill(body=shaders, content_type="text/javascript"))
    tab.goto(url)
    return tab, seen


@pytest.fixture
def context(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context
    context.close()


@pytest.mark.parametrize("labels", [("a", "b"), ("", "")], ids=["with predictions", "without labels"])
def test_the_map_is_drawn_under_a_policy_without_eval(serve_page, context, tmp_path, labels):
    with serve_page(rows_of(tmp_path, labels), "--label-column", "kind") as url:
        tab, seen = watched(context, url)
        tab.wait_for_selector("#suggestions .line")
        tab.wait_for_function(f"() => ({DRAWN})() > 0")
        tab.keyboard.press("n")
        tab.wait_for_selector("#detail h3")
        tab.wait_for_function("() => document.querySelector('#map .js-plotly-plot').data[3].x.length > 0")
        tab.wait_for_timeout(500)
        assert tab.evaluate(DRAWN) > 100
        assert seen["forbidden"] == [], REMEDY
        assert len(seen["policies"]) == 1, REMEDY
        assert "unsafe-eval" not in seen["policies"][0]
        # The policy does forbid what it should.
        assert tab.evaluate(EVAL) == "forbidden"


def test_where_the_programs_are_not_known_the_page_asks_for_the_weaker_policy(serve_page, context, tmp_path):
    nothing_known = re.sub(
        r"const programs = \[.*?\n  \];", "const programs = [];", SCRIPT.read_text(), flags=re.DOTALL
    )
    assert len(nothing_known) < 3_000
    with serve_page(rows_of(tmp_path, ("a", "b")), "--label-column", "kind") as url:
        tab, seen = watched(context, url, nothing_known)
        tab.wait_for_function(f"() => ({DRAWN})() > 0", timeout=60_000)
        tab.wait_for_selector("#suggestions .line")
        assert ["unsafe-eval" in policy for policy in seen["policies"]] == [False, True]
        assert set(seen["forbidden"]) == {"eval"}


def test_the_file_is_what_a_browser_compiles(serve_page, browser):
    without_release = [
        text.partition("\n")[2]
        for text in (SCRIPT.read_text(encoding="utf-8"), script_of(*recorded(browser, serve_page)))
    ]
    is_same = without_release[0] == without_release[1]
    assert is_same, REMEDY  # not the texts themselves, of which pytest would show the difference
