"""Numbers by keyboard on the real page, wide and narrow, and axe-core on all of it."""

import csv

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # a browser drives a served page

axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright")

N_ROWS, N_GIVEN = 120, 20
SIZES = {1280: 900, 390: 844}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rents.csv"
    numbers = np.random.default_rng(5).standard_normal((N_ROWS, 2)).round(3)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "y", "rent"])
        for row, (x, y) in enumerate(numbers):
            writer.writerow([x, y, f"{700 + 90 * x - 40 * y:.2f}" if row < N_GIVEN else ""])
    return path


def is_fault(message):
    # A program that is stopped cannot be reached, which the page says itself.
    return message.type == "error" and "ERR_CONNECTION_REFUSED" not in message.text


def listen(page):
    """Have errors in the console fail the test: what the security policy refuses is told there."""
    page.tab.on("console", lambda message: is_fault(message) and page.problems.append(message.text))
    return page


def row_in_view(page):
    return int(page.tab.get_attribute("#detail .scroll", "id").removeprefix("cells-"))


def wait_for_errors(page):
    page.tab.wait_for_function("() => !['–', undefined].includes(document.querySelector('#error-value')?.textContent)")
    page.wait_for_quiet()


def type_number(page, text):
    """Type a number as it comes to one's hands: the first key finds the field."""
    before = page.tab.get_attribute("#detail .scroll", "id")
    page.tab.keyboard.type(text)
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_function("before => document.querySelector('#detail .scroll')?.id !== before", arg=before)
    page.tab.wait_for_function(
        "() => !document.body.hasAttribute('aria-busy')",
    )


@pytest.mark.parametrize("width", SIZES)
def test_numbers_are_given_and_undone_by_keys_alone_and_kept(table, serve_page, open_page, width):
    with serve_page(table, "--label-column", "rent") as url:
        page = listen(open_page(url, viewport={"width": width, "height": SIZES[width]}, has_touch=width < 1000))
        wait_for_errors(page)
        page.tab.keyboard.press("n")
        page.tab.wait_for_selector("#detail input[data-number]")
        first = row_in_view(page)
        type_number(page, "812,5")
        second = row_in_view(page)
        page.wait_for_text("#labels-value", str(N_GIVEN + 1))
        assert page.tab.evaluate("() => document.activeElement.matches('[data-number]')")
        assert page.tab.evaluate("() => document.activeElement.value") == ""
        type_number(page, "640")
        page.wait_for_text("#labels-value", str(N_GIVEN + 2))
        page.tab.keyboard.press("Escape")  # out of the field
        page.tab.keyboard.press("u")
        page.wait_for_text("#labels-value", str(N_GIVEN + 1))
        assert first != second
        page.tab.reload()
        page.wait_for_text("#labels-value", str(N_GIVEN + 1))
        wait_for_errors(page)
    with serve_page(table, "--label-column", "rent") as url:  # the program was stopped and started again
        page = listen(open_page(url))
        page.tab.click("#take-up")
        page.wait_for_text("#labels-value", str(N_GIVEN + 1))


def test_what_is_no_number_stays_in_the_field_to_be_corrected(table, serve_page, open_page):
    with serve_page(table, "--label-column", "rent") as url:
        page = listen(open_page(url))
        wait_for_errors(page)
        page.tab.keyboard.press("n")
        page.tab.wait_for_selector("#detail input[data-number]")
        row = row_in_view(page)
        page.tab.keyboard.press("e")
        page.tab.keyboard.type("12x")
        page.tab.keyboard.press("Enter")
        page.tab.wait_for_selector("#detail .banner.error")
        assert "is no number" in page.text("#detail")
        assert page.text("#labels-value") == str(N_GIVEN)
        assert row_in_view(page) == row
        type_number(page, "123")  # what was wrong is selected, and replaced
        page.wait_for_text("#labels-value", str(N_GIVEN + 1))


def test_what_is_typed_before_the_answer_goes_on_with_the_next_row(table, serve_page, open_page):
    with serve_page(table, "--label-column", "rent") as url:
        page = listen(open_page(url))
        wait_for_errors(page)
        page.tab.keyboard.press("n")
        page.tab.wait_for_selector("#detail input[data-number]")
        row = row_in_view(page)
        asked = []

        def hold_the_first(route):
            asked.append(route)
            if len(asked) > 1:
                route.continue_()

        page.tab.route("**/events", hold_the_first)
        page.tab.keyboard.type("812")
        page.tab.keyboard.press("Enter")
        page.tab.keyboard.type("64")
        page.tab.keyboard.press("Enter")  # the next row is not in view: it gets nothing
        page.tab.keyboard.type("0")
        page.tab.wait_for_timeout(200)  # for what should not happen
        assert len(asked) == 1
        asked[0].continue_()
        page.tab.wait_for_function("row => document.querySelector('#detail .scroll').id !== 'cells-' + row", arg=row)
        page.wait_for_quiet()
        assert page.text("#labels-value") == str(N_GIVEN + 1)
        assert page.tab.evaluate("() => document.activeElement.value") == "640"


def test_the_column_is_asked_for_and_its_kind_can_be_changed(table, serve_page, open_page):
    with serve_page(table) as url:
        page = listen(open_page(url))
        assert "Taken as numbers" in page.text("#start")
        page.tab.click("[data-act=column][data-value=rent][data-name=classes]")
        page.tab.wait_for_selector("#accuracy-value")
        assert page.tab.is_visible("#classes-card")


def test_the_table_is_filtered_by_a_range_of_numbers(table, serve_page, open_page):
    with serve_page(table, "--label-column", "rent") as url:
        page = listen(open_page(url))
        wait_for_errors(page)
        page.tab.keyboard.press("t")
        page.wait_for_text("#found", f"{N_ROWS} of {N_ROWS} rows")
        assert not page.tab.is_visible("#filter-low")
        page.tab.fill("#filter-from", "700")
        page.tab.wait_for_function(f"() => !document.querySelector('#found').textContent.startsWith('{N_ROWS} ')")
        shown = page.tab.locator(".ag-center-cols-container [col-id=predicted]").all_inner_texts()
        assert shown
        assert all(float(text) >= 700 for text in shown if text)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
def test_axe_finds_no_serious_fault(table, serve_page, open_page, width, scheme):
    with serve_page(table, "--label-column", "rent") as url:
        page = listen(open_page(url, viewport={"width": width, "height": SIZES[width]}, color_scheme=scheme))
        wait_for_errors(page)
        assert not page.tab.is_visible("#classes-card")
        assert not page.tab.is_visible("#accept-card")
        assert not page.tab.is_visible("#weight-card")
        for keys in ((), ("n",), ("e", "x", "Enter")):
            for key in keys:
                page.tab.keyboard.press(key)
            page.wait_for_quiet()
            found = axe_playwright.Axe().run(page.tab, options={"resultTypes": ["violations"]}).response["violations"]
            assert [fault for fault in found if fault["impact"] in ("serious", "critical")] == []
        assert page.tab.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
