"""Labeling by keyboard and by touch on wide and narrow screens, the table beside the map, and axe-core on all of it."""

import csv
import json

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # a browser drives a served page

axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright")

N_ROWS, N_LABELS = 300, 20
KINDS = ("left", "right")
LONG = "A first line.\n\n" + "Many words of a long story. " * 100
WIDTHS = {1280: 900, 820: 1180, 390: 844}
LEAST_TARGET = 44  # pixels that a finger hits


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("loop") / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["title", "story", "link", "x", "y", "side"])
        for row in range(N_ROWS):
            numbers = [f"{9 * (row % 2) + np.sin(row):.3f}", f"{np.cos(2 * row):.3f}"]
            link = f"https://example.org/{row}"
            label = KINDS[row % 2] if row < N_LABELS else ""
            writer.writerow([f"<b>n{row}</b>", f"{LONG} end of {row}", link, *numbers, label])
    return path


@pytest.fixture(scope="module")
def url(table, serve_for_module):
    """One server for all tests here; each gives labels and takes them back."""
    unused = [part for name in ("title", "story", "link") for part in ("--exclude", name)]
    with serve_for_module(table, "--label-column", "side", *unused) as address:
        yield address


@pytest.fixture
def page_at(open_page, url):
    """Open the page at a width, by touch where it is narrow; errors in the console fail the test."""
    opened = []

    def at(width, scheme="light"):
        size = {"width": width, "height": WIDTHS[width]}
        page = open_page(url, viewport=size, color_scheme=scheme, has_touch=width < 1000)
        page.tab.on("console", lambda message: message.type == "error" and page.problems.append(message.text))
        page.tab.wait_for_selector("#suggestions .line")
        opened.append(page)
        return page

    yield at
    for page in opened[:1]:  # as the next test finds it
        while page.tab.is_enabled("#undo"):
            page.tab.evaluate("() => document.querySelector('#undo').click()")
            settle(page)


def settle(page):
    page.tab.wait_for_function("() => !document.body.hasAttribute('aria-busy')")


def press(page, *keys):
    for key in keys:
        page.tab.keyboard.press(key)
        settle(page)


def row_in_view(page):
    return int(page.tab.get_attribute("#detail .scroll", "id").removeprefix("cells-"))


def labels(page):
    return int(page.text("#labels-value"))


def is_on_screen(page, selector):
    box, size = page.tab.locator(selector).first.bounding_box(), page.tab.viewport_size
    return (
        box["y"] >= 0
        and box["y"] + box["height"] <= size["height"] + 1
        and box["x"] + box["width"] <= size["width"] + 1
    )


def serious_faults(page):
    found = axe_playwright.Axe().run(page.tab, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        (fault["id"], [node["html"][:150] for node in fault["nodes"][:4]])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


# -- the loop ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_are_labeled_one_after_the_other_with_keys_alone(page_at, width):
    page = page_at(width)
    before = labels(page)
    press(page, "q", "q")  # to review, which comes after the most doubtful
    assert page.tab.input_value("#queue") == "review"
    seen = []
    for _ in range(3):
        row = row_in_view(page)
        seen.append(row)
        press(page, str(1 + row % 2))
        page.wait_for_text("#labels-value", str(before + len(seen)))
    assert len(set(seen)) == 3
    assert row_in_view(page) not in seen
    press(page, "b")
    assert row_in_view(page) == seen[-1]
    assert KINDS[seen[-1] % 2] in page.text("#detail .given")
    press(page, "n", "s", "f")
    flagged = row_in_view(page)
    assert page.tab.get_attribute("#detail [data-act=flag]", "aria-pressed") == "true"
    press(page, "Q")  # one queue back
    assert page.tab.input_value("#queue") == "doubtful"
    page.tab.select_option("#queue", "flagged")
    settle(page)
    assert row_in_view(page) == flagged
    # Keys go on while the list of queues has the focus: none of them chooses another queue.
    press(page, "f", "g")
    assert page.tab.get_attribute("#goes-on", "aria-pressed") == "false"
    assert page.tab.input_value("#queue") == "flagged"
    press(page, "g")


def test_a_long_text_is_read_whole_beside_the_buttons(page_at):
    page = page_at(1280)
    press(page, "n")
    first = row_in_view(page)
    text = page.text("#detail .cells")
    assert f"end of {first}" in text
    assert "A first line.\n" in text
    assert f"<b>n{first}</b>" in text
    link = page.tab.locator("#detail .cells a")
    assert link.get_attribute("href") == f"https://example.org/{first}"
    assert "noopener" in link.get_attribute("rel")
    assert is_on_screen(page, "#detail .give")
    page.tab.evaluate("() => { document.querySelector('#detail .scroll').scrollTop = 500; }")
    press(page, str(1 + first % 2))
    assert page.tab.evaluate("() => document.querySelector('#detail .scroll').scrollTop") == 0


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (820, "light"), (1280, "light")])
def test_a_row_that_is_tapped_in_a_list_opens_in_view_with_its_buttons(page_at, width, scheme):
    page = page_at(width, scheme)
    tap = page.tab.tap if width < 1000 else page.tab.click
    before = labels(page)
    line = page.tab.locator("#review .line").last
    line.scroll_into_view_if_needed()
    row = int(line.get_attribute("data-value"))
    tap("#review li:last-child .line")
    page.tab.wait_for_selector("#detail h3")
    settle(page)
    assert row_in_view(page) == row
    for part in ("#detail h3", "#detail .give", "#detail [data-act=skip]", "#queue"):
        assert is_on_screen(page, part), part
    assert page.tab.evaluate("() => document.documentElement.scrollWidth") <= width
    if width < 1000:
        targets = page.tab.locator("#detail button:visible, #detail select:visible").all()
        assert min(target.bounding_box()["height"] for target in targets) >= LEAST_TARGET
    if width == 390:
        # The thumb is in the lower half.
        assert page.tab.locator("#detail .give").first.bounding_box()["y"] > WIDTHS[390] / 2
    tap(f'#detail [data-act="label"][data-value="{row % 2}"]')
    page.wait_for_text("#labels-value", str(before + 1))
    assert row_in_view(page) != row
    if width < 1000:
        tap("#detail .close")
        page.tab.wait_for_selector("#detail h3", state="detached")
        assert page.tab.locator("#detail-card").bounding_box()["height"] < 100
    assert page.text("#review .soft").startswith(f"{N_ROWS - before - 1} rows")


# -- the table ---------------------------------------------------------------------------------------------------


def open_table(page):
    page.tab.keyboard.press("t")
    page.tab.wait_for_selector("#grid .ag-row [col-id=row]")


def found(page, text):
    page.wait_for_text("#found", f"{text} of {N_ROWS} rows")


def test_the_table_is_searched_filtered_and_sorted_and_what_is_found_is_labeled_at_once(page_at):
    page = page_at(1280)
    before = labels(page)
    open_table(page)
    found(page, N_ROWS)
    assert page.text("#grid .ag-row[row-id='0'] [col-id=c0]") == "<b>n0</b>"  # text, and no HTML
    page.tab.keyboard.press("/")
    page.tab.keyboard.type("n29")
    found(page, 11)  # 29 and 290 … 299
    page.tab.select_option("#filter-given", "without")
    page.tab.select_option("#filter-predicted", "class:right")
    found(page, 6)
    page.tab.fill("#filter-high", "0")
    page.tab.wait_for_selector("text=No row is found.")
    found(page, 0)
    page.tab.fill("#filter-high", "100")
    found(page, 6)
    page.tab.click("#grid .ag-header-cell[col-id=row] .ag-header-cell-label")
    page.tab.click("#grid .ag-header-cell[col-id=row] .ag-header-cell-label")
    page.tab.wait_for_selector("#grid .ag-row[row-index='0'][row-id='299']")
    page.tab.click("#select-found")
    page.wait_for_text("#detail h3", "6 rows")
    page.tab.wait_for_selector("#grid .ag-row-selected[row-id='299']")
    press(page, "2")
    page.wait_for_text("#labels-value", str(before + 6))
    found(page, 0)  # the table follows: none of them is without a label
    page.tab.select_option("#filter-given", "class:right")
    found(page, 6)
    # It stays the table when the page is loaded again.
    page.tab.reload()
    page.tab.wait_for_selector("#grid .ag-row [col-id=row]")
    press(page, "t")
    assert page.tab.is_visible("#canvas")


def test_rows_of_the_table_are_chosen_with_keys_and_boxes_and_follow_the_page(page_at):
    page = page_at(1280)
    open_table(page)
    page.tab.fill("#search", "n2")
    found(page, 111)  # 2, 20 … 29, and 200 … 299
    page.tab.click("#grid .ag-row[row-id='20'] [col-id=predicted]")
    page.tab.wait_for_selector("#cells-20")
    page.tab.wait_for_selector("#grid .ag-row-selected[row-id='20']")
    for _ in range(2):
        page.tab.keyboard.press("ArrowDown")
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_selector("#cells-22")
    page.tab.wait_for_selector("#grid .ag-row-selected[row-id='20']", state="detached")
    page.tab.keyboard.press("ArrowDown")
    press(page, "Space")
    page.wait_for_text("#detail h3", "2 rows")
    before = labels(page)
    press(page, "1")
    page.wait_for_text("#labels-value", str(before + 2))
    page.tab.wait_for_function(
        "() => document.querySelector(\"#grid .ag-row[row-id='23'] [col-id=given]\").textContent === 'left'"
    )
    press(page, "Escape")
    page.tab.wait_for_selector("#grid .ag-row-selected", state="detached")


def test_the_table_scrolls_to_its_last_row(page_at):
    page = page_at(390)
    open_table(page)
    page.tab.evaluate("() => { document.querySelector('#grid .ag-body-viewport').scrollTop = 1e9; }")
    page.tab.wait_for_selector(f"#grid .ag-row[row-id='{N_ROWS - 1}'] [col-id=row]")
    page.tab.locator("#grid-frame").scroll_into_view_if_needed()
    assert page.tab.evaluate("() => document.documentElement.scrollWidth") <= 390


# -- for everyone ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_no_serious_fault(page_at, width, scheme):
    page = page_at(width, scheme)
    states = {"map": (), "row": ("n",), "table": ("t",), "help": ("?",)}
    faults = {}
    for state, keys in states.items():
        press(page, *keys)
        if state == "table":
            page.tab.wait_for_selector("#grid .ag-row [col-id=row]")
        faults[state] = serious_faults(page)
    press(page, "Escape")
    assert not page.tab.is_visible("#help")
    page.tab.evaluate("() => document.querySelector('[data-act=open]').click()")
    faults["start"] = serious_faults(page)
    press(page, "Escape", "t")
    assert not any(faults.values()), json.dumps(faults, indent=1)
