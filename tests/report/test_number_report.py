"""The report on a table of numbers: what it tells, one file that stands alone, no cell becomes markup."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from html_page import Page

pytest.importorskip("jinja2", reason="the report comes with the extra `label`")
pytest.importorskip("pandas", reason="the report comes with the extra `label`")
pytest.importorskip("plotly", reason="the report comes with the extra `label`")
pytest.importorskip("skrub", reason="the report comes with the extra `label`")

from labeled_tables import CELL, COMMAND, CREATED, SCRIPTS, VERSIONS
from semikpca import _palette
from semikpca.report import _number_figures, number_view, render_number_report, write_number_report
from semikpca.tables import ColumnRoles, read_table
from semikpca.workflow import ValueEstimate, number_table, row_map
from small_tables import make_rents

A_WHILE = 120_000  # milliseconds for a page of 5 MB on a busy machine
HALF_A_DIGIT = 5.1e-5  # coordinates are shares of the square in percent, with four decimals


def of_table(frame, path, roles=ColumnRoles("rent", id="flat")):  # noqa: B008  (frozen)
    frame.to_csv(path, index=False)
    return number_table(read_table(path), roles)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """Apartments with a rent that is wrong."""
    frame, _ = make_rents()
    row = int(np.flatnonzero(frame["rent"])[0])
    frame.loc[row, "rent"] = str(1500 + float(frame.loc[row, "rent"]))
    return of_table(frame, tmp_path_factory.mktemp("rents") / "rents.csv")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Every text that a user can choose is markup: file, columns, cells."""
    frame, _ = make_rents(80, 30)
    row = int(np.flatnonzero(frame["rent"])[0])
    frame.loc[row, "rent"] = "9000"
    frame["flat"] += CELL
    frame["note"] = [f"{CELL} {number} in many words" for number in range(len(frame))]
    frame = frame.rename(columns={name: f"{name}{CELL}" for name in ("rent", "flat", "note")})
    roles = ColumnRoles(f"rent{CELL}", id=f"flat{CELL}", text=(f"note{CELL}",))
    return replace(of_table(frame, tmp_path_factory.mktemp("rents") / "rents<b>.csv", roles), warnings=(CELL,))


def view_of(numbered, **options):
    return number_view(numbered, row_map(numbered.X), numbered.suggestions(5), versions=VERSIONS, **options)


@pytest.fixture(scope="module")
def view(numbered):
    return view_of(numbered, command=COMMAND, created=CREATED)


class TestView:
    def test_it_is_plain_data_that_survives_json(self, view):
        assert json.loads(json.dumps(view, allow_nan=False)) == view

    def test_the_headline_counts_rows_and_says_how_far_numbers_are_off(self, view, numbered):
        assert view["title"] == "Numbers for 80 rows, learned from 40"
        half, reach = numbered.amount(numbered.estimate.median_absolute), numbered.amount(numbered.reach)
        assert f"half of the predictions are off by less than {half}." in view["lead"]
        assert f"90% of the predicted numbers are off by less than about {reach}." in view["lead"]
        first, ours, alone, wrong = view["cards"]
        assert (first["figure"], first["of"]) == ("80", "of 120")
        assert ours["figure"] == numbered.amount(numbered.estimate.root_mean_square)
        assert alone["figure"] == numbered.amount(numbered.baseline.root_mean_square)
        assert wrong["figure"] == str(int(numbered.looks_wrong.sum()))

    def test_left_out_numbers_are_drawn_where_both_axes_put_them(self, view, numbered):
        drawn, left = view["left_out"], numbered.left_out
        first, last = (float(drawn["ticks"][end]["text"].replace(",", "")) for end in (0, -1))
        for point, (_, entry) in zip(drawn["points"], left.iterrows(), strict=True):
            for name, value in (("x", entry.given), ("y", entry.predicted), ("low", entry.low), ("high", entry.high)):
                place = 100 * min(1.0, max(0.0, (value - first) / (last - first)))
                assert point[name] == pytest.approx(place, abs=HALF_A_DIGIT)
            assert point["inside"] == (entry.low <= entry.given <= entry.high)
        assert sum(point["inside"] for point in drawn["points"]) == numbered.n_inside
        assert [point["looks_wrong"] for point in drawn["points"]] == numbered.looks_wrong[left["row"]].tolist()

    def test_of_many_left_out_numbers_a_sample_is_drawn(self, numbered, monkeypatch):
        monkeypatch.setattr(_number_figures, "MOST_DRAWN", 10)
        drawn = view_of(numbered)["left_out"]
        assert (len(drawn["points"]), drawn["n_all"]) == (10, 40)

    def test_the_map_has_the_predicted_numbers(self, view, numbered):
        points = view["map"]["points"]
        np.testing.assert_array_equal(points["value"], numbered.predicted)
        assert points["range"] == [float(end) for end in np.quantile(numbered.predicted, (0.02, 0.98))]
        assert sum(given is not None for given in points["given"]) == 40
        assert sum(said is not None for said in points["others_say"]) == numbered.looks_wrong.sum()

    def test_ranges_count_all_rows(self, view):
        assert sum(row["given"] for row in view["ranges"]) == 40
        assert sum(row["predicted"] for row in view["ranges"]) == 120

    @pytest.mark.parametrize(
        ("ours", "alone", "expected"),
        [
            (30.0, 40.0, "lower the error by 25%"),
            (40.0, 30.0, "LS-SVM on the labels alone has an error that is lower by 25%"),
            (40.0, 40.0, "the errors are the same"),
        ],
    )
    def test_the_comparison_says_what_the_errors_are(self, numbered, ours, alone, expected):
        changed = replace(numbered)
        known = {"estimate": ValueEstimate(40, ours, 20.0, 0.9), "baseline": ValueEstimate(40, alone, 20.0, 0.8)}
        vars(changed).update(known)
        assert expected in " ".join(view_of(changed)["errors"]["sentences"])

    def test_few_numbers_are_called_few_and_have_no_intervals(self, tmp_path):
        found = of_table(make_rents(60, 6)[0], tmp_path / "few.csv")
        shown = view_of(found)
        assert "6 numbers are few" in " ".join(shown["errors"]["sentences"])
        assert not shown["left_out"]["has_intervals"]
        assert "too few numbers for intervals" in " ".join(shown["errors"]["sentences"])
        render_number_report(shown, SCRIPTS)

    def test_numbers_that_are_all_predicted_alike_can_be_drawn(self, numbered):
        changed = replace(numbered)
        vars(changed)["predicted"] = np.full(120, 700.0)
        low, high = view_of(changed)["map"]["points"]["range"]
        assert low < high


class TestPage:
    def test_markup_stays_text_wherever_it_stands(self, hostile):
        shown = view_of(hostile, command=f"semikpca {CELL}", created=CREATED)
        html = render_number_report(shown, SCRIPTS)
        page = Page(html)
        assert len(page.all("script")) == 3
        assert not page.all("img") + page.all("b b")
        assert "<!--" not in html
        assert json.loads(page.all("script")[0]["text"]) == shown["map"]["points"]
        for section in ("source", "suspicious", "next", "settings"):
            assert "<script>window.hit=1</script>" in page.section(section)
        assert page.all("title")[0]["text"] == "rents<b>.csv: numbers by semikpca"

    def test_nothing_is_fetched(self, view):
        page = Page(render_number_report(view, SCRIPTS))
        assert not any("src" in element for element in page.elements)
        assert all(element["href"].startswith("#") for element in page.all("a"))
        assert not re.search(r"@import|url\(", page.all("style")[0]["text"])

    def test_links_lead_to_sections_and_tables_can_be_scrolled_with_keys(self, view):
        page = Page(render_number_report(view, SCRIPTS))
        ids = [element["id"] for element in page.elements if "id" in element]
        assert len(ids) == len(set(ids))
        assert {element["href"][1:] for element in page.all("a")} <= set(ids)
        boxes = [element for element in page.all("div") if element.get("class") == "scroll"]
        assert len(boxes) == len(page.all("table")) == len(page.all("caption"))
        assert all(box["tabindex"] == "0" and box["aria-label"] for box in boxes)

    def test_pictures_are_told_in_words(self, view):
        page = Page(render_number_report(view, SCRIPTS))
        told = [element["aria-label"] for element in page.elements if element.get("role") == "img"]
        assert len(told) == 3  # the left-out numbers, the number line, the map
        assert "40 left-out numbers against the given ones" in told[0]
        assert f"from {view['map']['low']} to {view['map']['high']}" in told[2]

    def test_the_same_table_gives_the_same_page(self, numbered, tmp_path):
        steps = []
        for name in ("first", "second"):
            write_number_report(
                tmp_path / name, numbered, command=COMMAND, created=CREATED, progress=lambda *step: steps.append(step)
            )
        assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
        assert steps[-1] == ("Page", 4, 4)


@pytest.fixture(scope="module")
def addresses(numbered, hostile, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, table in (("plain", numbered), ("hostile", hostile)):
        write_number_report(folder / f"{name}.html", table, command=f"semikpca {CELL}", created=CREATED)
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


@pytest.mark.slow
class TestBrowser:
    """The page as a person sees it, in Chromium."""

    def test_the_map_is_colored_by_value_and_tells_of_a_row(self, open_tab, numbered):
        tab = open_tab(viewport={"width": 1280, "height": 900})
        trace = tab.evaluate(
            "() => { const [t] = document.getElementById('map-stage').data; return [...t.marker.color]; }"
        )
        np.testing.assert_allclose(trace, numbered.predicted)
        drawn = "() => document.getElementById('map-stage').data.map(trace => trace.x.length)"
        assert tab.evaluate(drawn) == [120, 40, int(numbered.looks_wrong.sum()), 0]
        assert tab.is_visible(".ramp")
        tab.locator("#suspicious .locate").first.click()
        tab.wait_for_selector("#map-card:not([hidden])")
        text = tab.inner_text("#map-card")
        row = int(numbered.audit.rows[0])
        assert f"Predicted: {numbered.amount(numbered.predicted[row])} (" in text
        assert f"Given: {numbered.given[row]:,.12g}" in text
        assert f"Looks wrong: the other numbers say {numbered.amount(numbered.audit.suggested[0])}." in text
        tab.click("[data-marks=given]")
        assert tab.evaluate(drawn)[1] == 0

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [390, 1280])
    def test_it_fits_the_screen_in_both_schemes(self, open_tab, width, scheme):
        tab = open_tab(viewport={"width": width, "height": 800}, color_scheme=scheme)
        assert tab.evaluate("() => document.documentElement.scrollWidth") == width
        colors = _palette.LOW_TO_HIGH_ON_DARK if scheme == "dark" else _palette.LOW_TO_HIGH_ON_LIGHT
        scale = tab.evaluate("() => document.getElementById('map-stage').layout.coloraxis.colorscale")
        assert scale == [[place / 4, color] for place, color in enumerate(colors)]
        assert tab.is_visible(".left-out svg")

    def test_cells_do_nothing_but_stand_there(self, open_tab):
        tab = open_tab("hostile", viewport={"width": 1280, "height": 900})
        tab.locator("#next .locate").first.click()
        tab.wait_for_selector("#map-card:not([hidden])")
        assert "<script>window.hit=1</script><img src=x" in tab.inner_text("#map-card")
        assert tab.evaluate("() => window.hit") is None
        assert tab.evaluate("() => document.querySelectorAll('main img, main script, #map-card :not(p)').length") == 0

    def test_without_javascript_only_the_map_is_missing(self, open_tab):
        tab = open_tab(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
        assert tab.is_visible("#map noscript p")
        assert not tab.is_visible("#map-stage")
        assert tab.is_visible(".left-out svg")
        assert tab.is_visible("#suspicious table")

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_it_can_be_read_by_everyone(self, open_tab, scheme):
        axe = pytest.importorskip("axe_playwright_python.sync_playwright")
        tab = open_tab(viewport={"width": 1280, "height": 900}, color_scheme=scheme, bypass_csp=True)
        assert axe.Axe().run(tab).response["violations"] == []
