"""Columns, openings, errors at their place, the error weight and suggestions, in headless Chromium."""

import csv
import json

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # a server and a browser are started for each test

N_ROWS = 80
WIDE_LIGHT = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"}
# The server stops at the end of a test before the page does, and the browser says so.
AFTER_THE_END = ("net::ERR_", "the server did not respond")
NARROW_DARK = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}


def write_table(path, n_labeled=8):
    """A table of numbers, a code that is a number by its looks, and a category."""
    rng = np.random.default_rng(2)
    side = np.arange(N_ROWS) % 2
    x = rng.normal(size=(N_ROWS, 2)) + 2.5 * side[:, np.newaxis]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "y", "code", "place", "side"])
        for row in range(N_ROWS):
            label = ("left", "right")[side[row]] if row < n_labeled else ""
            writer.writerow([f"{x[row, 0]:.3f}", f"{x[row, 1]:.3f}", row % 3, ("bog", "shore")[side[row]], label])
    return path


def write_straight_table(path):
    """A table that a straight line divides, and no cluster: plain kernels decide."""
    rng = np.random.default_rng(3)
    points = rng.uniform(-1, 1, size=(240, 10))
    side = (points @ rng.normal(size=10) > 0).astype(int)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*"abcdefghij", "side"])
        for row in range(240):
            writer.writerow(
                [*(f"{value:.4f}" for value in points[row]), ("down", "up")[side[row]] if row < 160 else ""]
            )
    return path


@pytest.fixture
def open_sized(browser):
    """Open tabs of some size and color; console errors fail the test."""
    contexts, problems = [], []

    def heard(message):
        if message.type == "error" and not any(words in message.text for words in AFTER_THE_END):
            problems.append(message.text)

    def open_tab(url, **options):
        context = browser.new_context(**options)
        tab = context.new_page()
        tab.set_default_timeout(120_000)
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("console", heard)
        contexts.append(context)
        tab.goto(url)
        return tab

    yield open_tab
    for context in contexts:
        context.close()
    assert not problems


def open_columns(tab):
    tab.click("#open-columns")
    tab.wait_for_selector("#columns-apply")


def wait_for_labels(tab, number):
    tab.wait_for_function("n => document.querySelector('#labels-value')?.textContent === n", arg=str(number))


@pytest.mark.parametrize("size", [WIDE_LIGHT, NARROW_DARK], ids=["wide and light", "narrow and dark"])
def test_a_column_is_changed_and_labels_stay_also_at_the_next_start(serve_page, open_sized, tmp_path, size):
    file = write_table(tmp_path / "rows.csv")
    arguments = [file, "--label-column", "side"]
    with serve_page(*arguments) as url:
        tab = open_sized(url, **size)
        wait_for_labels(tab, 8)
        tab.keyboard.press("n")
        tab.wait_for_selector("#detail .give")
        tab.keyboard.press("1")
        wait_for_labels(tab, 9)
        open_columns(tab)
        code = tab.locator("#columns select[data-column=code]")
        assert code.evaluate("select => select.selectedOptions[0].textContent") == "number, as found"
        assert "numbers: x, y, code" in tab.inner_text("#columns")
        box = tab.locator("#columns").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size["viewport"]["width"]
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        code.select_option("category")
        tab.click("#columns-apply")
        tab.wait_for_function("() => document.querySelector('#banners')?.textContent.includes('all labels are kept')")
        wait_for_labels(tab, 9)
        assert not tab.is_visible("#columns")
        open_columns(tab)
        assert "categories: place, code" in tab.inner_text("#columns") or "code, place" in tab.inner_text("#columns")
        assert tab.locator("#columns select[data-column=code]").input_value() == "category"
        tab.keyboard.press("Escape")
        assert not tab.is_visible("#columns")
    kept = json.loads(file.with_name(".rows.csv.semikpca-columns.json").read_text(encoding="utf-8"))
    assert kept["columns"] == {"code": "category"}
    with serve_page(*arguments) as url:
        tab = open_sized(url, **size)
        wait_for_labels(tab, 8)
        tab.click("#take-up")
        wait_for_labels(tab, 9)
        open_columns(tab)
        assert tab.locator("#columns select[data-column=code]").input_value() == "category"


def test_a_key_in_the_dialog_labels_nothing(serve_page, open_sized, tmp_path):
    with serve_page(write_table(tmp_path / "rows.csv"), "--label-column", "side") as url:
        tab = open_sized(url, **WIDE_LIGHT)
        wait_for_labels(tab, 8)
        tab.keyboard.press("n")
        tab.wait_for_selector("#detail .give")
        open_columns(tab)
        tab.keyboard.press("1")
        tab.keyboard.press("Escape")
        tab.keyboard.press("x")
        tab.wait_for_function("() => !document.body.hasAttribute('aria-busy')")
        wait_for_labels(tab, 8)


def test_a_column_that_takes_everything_away_is_refused_in_the_dialog(serve_page, open_sized, tmp_path):
    with serve_page(write_table(tmp_path / "rows.csv"), "--label-column", "side") as url:
        tab = open_sized(url, **WIDE_LIGHT)
        wait_for_labels(tab, 8)
        open_columns(tab)
        for name in ("x", "y", "code", "place"):
            tab.locator(f"#columns select[data-column={name}]").select_option("left out")
        tab.click("#columns-apply")
        tab.wait_for_selector("#columns-problem")
        wait_for_labels(tab, 8)
        assert "no column to learn from" in tab.inner_text("#columns-problem")
        assert "--" not in tab.inner_text("#columns-problem")


def test_another_table_takes_the_rows_of_the_first_away_at_once_in_all_tabs(serve_page, open_sized, tmp_path):
    with serve_page(write_table(tmp_path / "rows.csv"), "--label-column", "side") as url:
        tab, other = open_sized(url, **WIDE_LIGHT), open_sized(url, **NARROW_DARK)
        wait_for_labels(tab, 8)
        wait_for_labels(other, 8)
        tab.click("[data-act=open]")
        tab.click("[data-value=tickets]")
        tab.wait_for_selector("#stages .now")
        assert not tab.is_visible("#map")
        assert not tab.is_visible("#suggestions")
        assert "Support tickets" in tab.inner_text("#start h1")
        for each in (tab, other):
            wait_for_labels(each, 40)
            assert "support-tickets.csv" in each.inner_text("#header")
            each.wait_for_function("() => document.querySelector('#map .js-plotly-plot').data[0].x.length === 600")


def test_a_bad_file_leaves_the_table_and_says_so(serve_page, open_sized, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1\n", encoding="utf-8")
    with serve_page(write_table(tmp_path / "rows.csv"), "--label-column", "side") as url:
        tab = open_sized(url, **WIDE_LIGHT)
        wait_for_labels(tab, 8)
        tab.click("[data-act=open]")
        with tab.expect_file_chooser() as chooser:
            tab.click("#browse")
        chooser.value.set_files(str(bad))
        tab.wait_for_function(
            "() => document.querySelector('#banners')?.textContent.includes('1 cell where the header')"
        )
        assert tab.is_visible("#map")
        assert "rows.csv" in tab.inner_text("#header")


def test_a_class_that_is_there_already_is_told_beside_its_name(serve_page, open_sized, tmp_path):
    with serve_page(write_table(tmp_path / "rows.csv"), "--label-column", "side") as url:
        tab = open_sized(url, **WIDE_LIGHT)
        wait_for_labels(tab, 8)
        tab.fill("#new-class", "left")
        tab.keyboard.press("Enter")
        tab.wait_for_selector("#classes-card .banner.error")
        assert "The class left is there already." in tab.inner_text("#classes-card")
        assert "there already" not in tab.inner_text("#banners")


def test_the_slider_says_that_plain_kernels_decide_and_the_lines_why_rows_are_suggested(
    serve_page, open_sized, tmp_path
):
    with serve_page(write_straight_table(tmp_path / "rows.csv"), "--label-column", "side") as url:
        tab = open_sized(url, **WIDE_LIGHT)
        wait_for_labels(tab, 160)
        said = tab.inner_text("#weight-share")
        assert "Plain kernels decided: Semi-KPCA has " in said
        assert "Further labels change it" in said
        tab.locator("#slider [role=slider]").focus()
        tab.keyboard.press("ArrowRight")
        tab.wait_for_function("() => document.querySelector('#changed-value').textContent === '0'")
        assert tab.is_visible("#weight-share")
        tab.wait_for_function("() => document.querySelector('#suggestions .line')")
        lines = tab.locator("#suggestions .line").all_inner_texts()
        assert all(("random check" in line) or ("doubtful" in line) or ("stands for many" in line) for line in lines)
