"""The page of a labeled table: one file that stands alone, in which no cell becomes markup."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from html_page import Page

pytest.importorskip("jinja2", reason="the report comes with the extra `label`")
pytest.importorskip("pandas", reason="the report comes with the extra `label`")
pytest.importorskip("plotly", reason="the report comes with the extra `label`")
pytest.importorskip("skrub", reason="the report comes with the extra `label`")

from labeled_tables import CELL, COMMAND, CREATED, SCRIPTS, view_of
from semikpca import _palette
from semikpca.report import render_label_report, write_label_report

pytestmark = pytest.mark.slow  # pages are opened in a browser

A_WHILE = 120_000  # milliseconds for a page of 5 MB on a busy machine


class TestPage:
    def test_nothing_is_fetched_and_only_the_two_programs_run(self, view):
        page = Page(render_label_report(view, SCRIPTS))
        data, *programs = page.all("script")
        assert data["type"] == "application/json"
        assert [program["text"] for program in programs] == ["var Plotly = {};\n", "void 0;\n"]
        (policy,) = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
        hashes = [base64.b64encode(hashlib.sha256(entry["text"].encode()).digest()).decode() for entry in programs]
        assert policy.startswith("default-src 'none'; ")
        assert policy.endswith("script-src 'unsafe-eval'" + "".join(f" 'sha256-{value}'" for value in hashes))
        assert not any("src" in element for element in page.elements)
        assert all(element["href"].startswith("#") for element in page.all("a"))
        assert not [name for element in page.elements for name in element if name.startswith("on")]
        assert not re.search(r"@import|url\(", page.all("style")[0]["text"])

    def test_markup_stays_text_wherever_it_stands(self, hostile):
        view = view_of(hostile, command=f"semikpca {CELL}", created=CREATED)
        html = render_label_report(view, SCRIPTS)
        page = Page(html)
        assert len(page.all("script")) == 3
        assert not page.all("img") + page.all("b b")
        assert "<!--" not in html
        assert json.loads(page.all("script")[0]["text"]) == view["map"]["points"]
        assert not re.search("[<>&\u2028]", page.all("script")[0]["text"])
        for section in ("source", "map", "classes", "suspicious", "next", "settings"):
            assert "<script>window.hit=1</script>" in page.section(section)
        assert page.all("title")[0]["text"] == "plants<b>.csv: labels by semikpca"

    def test_a_program_that_would_end_its_element_is_refused(self, view):
        with pytest.raises(ValueError, match="</script"):
            render_label_report(view, {**SCRIPTS, "map": "'</SCRIPT>'"})

    def test_links_lead_to_sections_that_are_there(self, view):
        page = Page(render_label_report(view, SCRIPTS))
        ids = [element["id"] for element in page.elements if "id" in element]
        assert len(ids) == len(set(ids))
        assert {element["href"][1:] for element in page.all("a")} <= set(ids)

    def test_tables_have_captions_and_can_be_scrolled_with_keys(self, view):
        page = Page(render_label_report(view, SCRIPTS))
        assert len(page.all("caption")) == len(page.all("table"))
        boxes = [element for element in page.all("div") if element.get("class") == "scroll"]
        assert len(boxes) == len(page.all("table"))
        assert all(box["tabindex"] == "0" and box["aria-label"] for box in boxes)

    def test_pictures_are_told_in_words(self, view):
        page = Page(render_label_report(view, SCRIPTS))
        told = [element["aria-label"] for element in page.elements if element.get("role") == "img"]
        assert len(told) == 4  # two intervals, the number line, the map
        assert view["certificate"]["bound"] in told[2]

    def test_a_table_without_anything_suspicious_says_so(self, view):
        calm = {**view, "suspicious": {"rows": [], "n_all": 0}, "suggestions": []}
        page = Page(render_label_report(calm, SCRIPTS))
        assert "None: no given label" in page.section("suspicious")
        assert "None: every row has a label." in page.section("next")


class TestFile:
    def test_the_same_table_gives_the_same_bytes(self, labeled, tmp_path):
        steps = []
        for name in ("first", "second"):
            write_label_report(
                tmp_path / name, labeled, command=COMMAND, created=CREATED, progress=lambda *step: steps.append(step)
            )
        content = (tmp_path / "first").read_bytes()
        assert content == (tmp_path / "second").read_bytes()
        assert b"2026-11-15 18:30+00:00" in content
        assert COMMAND.encode() in content
        assert steps[-1] == ("Page", 4, 4)
        assert [done for _, done, _ in steps[:5]] == [0, 1, 2, 3, 4]

    def test_half_of_a_pair_of_surrogates_does_not_stop_it(self, hostile, tmp_path):
        write_label_report(tmp_path / "report.html", replace(hostile, warnings=("a\ud800b",)))
        assert "<li>a?b</li>" in (tmp_path / "report.html").read_text(encoding="utf-8")

    def test_a_failure_leaves_the_old_file(self, labeled, tmp_path, monkeypatch):
        (tmp_path / "report.html").write_text("old")
        monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            write_label_report(tmp_path / "report.html", labeled)
        assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
        assert (tmp_path / "report.html").read_text() == "old"

    def test_a_report_brings_no_other_report_with_it(self):
        code = (
            "import sys; import semikpca.report; assert not {'skrub', 'plotly'} & set(sys.modules); "
            "semikpca.report.write_label_report; "
            "assert not {'semikpca.plots', 'semikpca.experiments'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture(scope="module")
def addresses(labeled, hostile, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, table in (("plain", labeled), ("hostile", hostile)):
        write_label_report(folder / f"{name}.html", table, command=f"semikpca {CELL}", created=CREATED)
    return {name: (folder / f"{name}.html").as_uri() for name in ("plain", "hostile")}


@pytest.fixture
def open_tab(browser, addresses):
    """Open a page; at the end no script has failed, nothing was asked of a network, nobody saw a dialog."""
    opened, problems = [], []

    def open_tab(name="plain", **options):
        context = browser.new_context(**options)
        tab = context.new_page()
        opened.append(context)
        tab.set_default_timeout(A_WHILE)
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        tab.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        tab.on("request", lambda request: problems.append(request.url) if "http" in request.url else None)
        tab.goto(addresses[name])
        if options.get("java_script_enabled", True):
            tab.wait_for_selector("#map-stage[data-ready=yes]")
        return tab

    yield open_tab
    for context in opened:
        context.close()
    assert problems == []


def point_of(tab, row):
    """Return where a row is on the screen."""
    tab.locator("#map-stage").scroll_into_view_if_needed()
    return tab.evaluate(
        """row => {
            const stage = document.getElementById("map-stage"), box = stage.getBoundingClientRect();
            const points = JSON.parse(document.getElementById("map-data").textContent);
            const {xaxis, yaxis} = stage._fullLayout, at = points.row.indexOf(row);
            return [box.left + xaxis._offset + xaxis.l2p(points.x[at]),
                    box.top + yaxis._offset + yaxis.l2p(points.y[at])];
        }""",
        row,
    )


class TestBrowser:
    """The page as a person sees it, in Chromium."""

    def test_hovering_tells_of_a_row_and_buttons_change_the_map(self, open_tab, labeled):
        tab = open_tab(viewport={"width": 1280, "height": 900})
        row, other = int(labeled.audit.rows[0]), labeled.audit.suggested[0]
        x, y = point_of(tab, row)
        tab.mouse.move(x - 40, y - 40)
        tab.mouse.move(x, y, steps=4)
        tab.wait_for_selector("#map-card:not([hidden])")
        text = tab.inner_text("#map-card")
        assert labeled.table.frame["plant"][row] in text
        assert f"Looks wrong: the other labels say {other}." in text

        drawn = "() => document.getElementById('map-stage').data.map(trace => trace.x.length)"
        first = tab.evaluate(drawn)
        assert sum(first[:3]) == 120
        assert first[3:] == [36, int(labeled.looks_wrong.sum()), 0]
        tab.click("[data-group='1']")
        assert tab.get_attribute("[data-group='1']", "aria-pressed") == "false"
        assert [bool(count) for count in tab.evaluate(drawn)[:3]] == [True, False, True]
        tab.click("[data-mode=confidence]")
        assert tab.evaluate("() => document.getElementById('map-stage').data[0].marker.color[0]") <= 1
        assert tab.is_visible(".ramp")

    def test_a_row_of_a_table_is_found_on_the_map_with_the_keyboard(self, open_tab):
        tab = open_tab(viewport={"width": 1280, "height": 900})
        button = tab.locator("#next .locate").first
        name = tab.locator("#next tbody th").first.inner_text().split("\n")[0]
        button.focus()
        tab.keyboard.press("Enter")
        tab.wait_for_selector("#map-card:not([hidden])")
        assert tab.inner_text("#map-card .card-name") == name
        width = """() => {
            const [low, high] = document.getElementById('map-stage')._fullLayout.xaxis.range;
            return high - low;
        }"""
        before = tab.evaluate(width)
        tab.keyboard.press("-")
        tab.wait_for_function(f"before => ({width})() > 1.5 * before", arg=before)

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [390, 1280])
    def test_it_fits_the_screen_in_both_schemes(self, open_tab, labeled, width, scheme):
        tab = open_tab(viewport={"width": width, "height": 800}, color_scheme=scheme)
        assert tab.evaluate("() => document.documentElement.scrollWidth") == width
        colors = _palette.ON_DARK if scheme == "dark" else _palette.ON_LIGHT
        commonest = np.bincount(labeled.predicted_codes).argmax()
        assert tab.evaluate("() => document.getElementById('map-stage').data[0].marker.color") == colors[commonest]

    def test_cells_do_nothing_but_stand_there(self, open_tab, hostile):
        tab = open_tab("hostile", viewport={"width": 1280, "height": 900})
        for section in ("suspicious", "next"):
            tab.locator(f"#{section} .locate").first.click()
            tab.wait_for_selector("#map-card:not([hidden])")
            assert "<script>window.hit=1</script><img src=x" in tab.inner_text("#map-card")
        assert tab.evaluate("() => window.hit") is None
        assert tab.evaluate("() => document.querySelectorAll('main img, main script, #map-card :not(p)').length") == 0

    def test_without_javascript_only_the_map_is_missing(self, open_tab):
        tab = open_tab(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
        assert tab.is_visible("#map noscript p")
        assert "The map needs JavaScript" in tab.inner_text("#map")
        assert not tab.is_visible("#map-stage")
        assert tab.is_visible(".interval.main")
        assert tab.is_visible(".number-line.close-up")
        assert tab.is_visible("#suspicious table")
        assert not tab.is_visible(".locate")
