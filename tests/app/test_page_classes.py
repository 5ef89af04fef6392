"""Classes, earlier visits, exchange and folders in headless Chromium, with mouse and keys against a real server."""

import csv
import json

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # a server and a browser are started for each test

HOSTILE = "<img src=x onerror=window.hacked=1>"
CLASSES = ("left", "right")


def write_halves(path, n_rows=60, n_labels=12, classes=CLASSES):
    """Write rows in two halves far apart, of which the first few have a label."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "x", "y", "side"])
        for row in range(n_rows):
            label = classes[row % len(classes)] if row < n_labels else ""
            writer.writerow([f"row {row}", f"{9 * (row % 2) + np.sin(row):.3f}", f"{np.cos(2 * row):.3f}", label])
    return path


def options(file):
    return (file, "--label-column", "side", "--exclude", "name")


def saved(file):
    return json.loads(file.with_name(f".{file.name}.semikpca-labels.json").read_text(encoding="utf-8"))


def labels_on_disk(file):
    return dict(map(tuple, saved(file)["labels"]))


def counts(file):
    labels = list(labels_on_disk(file).values())
    return {label: labels.count(label) for label in set(labels)}


def shown(page):
    return page.tab.locator("#classes .name").all_inner_texts()


def wait_for_classes(page, *names):
    page.tab.wait_for_function(
        "names => JSON.stringify([...document.querySelectorAll('#classes .name')].map((one) => one.textContent))"
        " === JSON.stringify(names)",
        arg=list(names),
    )


def edit(page, name):
    page.tab.click(f'[data-act="edit-class"][data-name="{name}"]')
    page.tab.wait_for_selector("#edit-class")


def test_classes_are_renamed_merged_and_deleted_and_each_is_undone(serve_page, open_page, tmp_path):
    file = write_halves(tmp_path / "halves.csv")
    with serve_page(*options(file)) as url:
        page = open_page(url)
        wait_for_classes(page, "left", "right")
        # Renamed with the keyboard alone.
        page.tab.focus('[data-act="edit-class"][data-name="left"]')
        page.tab.keyboard.press("Enter")
        page.tab.wait_for_selector("#edit-class")
        page.tab.fill("#edit-class input", HOSTILE)
        page.tab.keyboard.press("Enter")
        wait_for_classes(page, HOSTILE, "right")
        assert counts(file) == {HOSTILE: 6, "right": 6}
        page.tab.click("#undo")
        wait_for_classes(page, "left", "right")
        assert counts(file) == {"left": 6, "right": 6}
        page.tab.keyboard.press("r")
        wait_for_classes(page, HOSTILE, "right")
        page.tab.keyboard.press("u")
        wait_for_classes(page, "left", "right")

        # The name of another class asks first.
        edit(page, "left")
        page.tab.fill("#edit-class input", "right")
        page.tab.click("#rename-class")
        page.tab.wait_for_selector("#edit-class [role=alert]")
        assert "There is a class right already, with 6 labels" in page.text("#edit-class")
        assert counts(file) == {"left": 6, "right": 6}
        page.tab.click("#merge-class")
        wait_for_classes(page, "right")
        assert counts(file) == {"right": 12}
        page.tab.keyboard.press("u")
        wait_for_classes(page, "left", "right")
        assert counts(file) == {"left": 6, "right": 6}

        edit(page, "right")
        page.tab.click("#delete-class")
        wait_for_classes(page, "left")
        page.wait_for_text("#labels-value", "6")
        assert counts(file) == {"left": 6}
        page.tab.keyboard.press("u")
        page.wait_for_text("#labels-value", "12")
        wait_for_classes(page, "left", "right")

        # A mistyped class is taken back.
        page.tab.fill("#new-class", "rihgt")
        page.tab.press("#new-class", "Enter")
        wait_for_classes(page, "left", "right", "rihgt")
        page.tab.click("#undo")
        wait_for_classes(page, "left", "right")
        assert page.tab.evaluate("() => window.hacked === undefined")


def test_one_of_hundreds_of_classes_is_typed_and_given(serve_page, open_page, tmp_path):
    many = tuple(f"class {number:03d}" for number in range(120))
    file = write_halves(tmp_path / "many.csv", 150, 120, many)
    with serve_page(*options(file)) as url:
        page = open_page(url)
        page.wait_for_text("#labels-value", "120")
        assert page.tab.locator("#toolbar button").count() == 11
        assert page.tab.locator("#classes tbody tr").count() == 20
        page.tab.keyboard.press("d")
        page.tab.wait_for_selector("#detail h3")
        assert page.tab.locator("#detail [data-act=label]").count() <= 13
        page.tab.keyboard.press("c")
        assert page.tab.evaluate("() => document.activeElement.id") == "find-class"
        page.tab.keyboard.type("S 077")
        page.tab.wait_for_selector("#class-hint:has-text('gives class 077')")
        wait_for_classes(page, "class 077")
        page.tab.keyboard.press("Enter")
        page.wait_for_text("#labels-value", "121")
        assert counts(file)["class 077"] == 2
        assert page.tab.evaluate("() => document.activeElement.id") != "find-class"
        # What is not there is added only where that is asked for.
        page.tab.keyboard.press("c")
        page.tab.keyboard.type("brand new")
        page.tab.wait_for_selector("#class-hint:has-text('No class is called brand new')")
        page.tab.keyboard.press("Enter")
        page.tab.wait_for_selector(".banner.error:has-text('No class is called brand new')")
        page.tab.keyboard.press("c")
        page.tab.keyboard.type("brand new")
        page.tab.keyboard.press("Shift+Enter")
        page.wait_for_text("#labels-value", "122")  # and the next row of the queue comes
        assert counts(file)["brand new"] == 1
        page.tab.keyboard.press("u")
        page.tab.keyboard.press("u")
        page.wait_for_text("#labels-value", "121")
        page.tab.wait_for_function("() => !document.body.hasAttribute('aria-busy')")
        assert "brand new" not in saved(file)["classes"]


def test_two_tabs_edit_classes_and_both_see_it(serve_page, open_page, tmp_path):
    file = write_halves(tmp_path / "halves.csv", 60, 12, ("a", "b", "c"))
    with serve_page(*options(file)) as url:
        one, two = open_page(url), open_page(url)
        for page in (one, two):
            wait_for_classes(page, "a", "b", "c")
        two.tab.keyboard.press("d")
        two.tab.wait_for_selector("#detail h3")
        row = int(two.text("#detail h3").split()[-1]) - 2  # the header is line 1
        # The first tab deletes a class while the second one, which is told nothing meanwhile, still shows it.
        two.tab.route("**/state", lambda route: route.abort())
        edit(one, "a")
        one.tab.click("#delete-class")
        wait_for_classes(one, "b", "c")
        assert shown(two) == ["a", "b", "c"]
        two.tab.keyboard.press("2")  # b, where the first tab has c
        two.wait_for_text("#labels-value", "9")
        assert labels_on_disk(file)[row] == "b"
        wait_for_classes(two, "b", "c")
        two.tab.unroute("**/state")
        # Each renames a class; both see both names.
        edit(one, "b")
        one.tab.fill("#edit-class input", "first")
        edit(two, "c")
        two.tab.fill("#edit-class input", "second")
        one.tab.keyboard.press("Enter")
        two.tab.keyboard.press("Enter")
        for page in (one, two):
            wait_for_classes(page, "first", "second")
        assert counts(file) == {"first": 5, "second": 4}


def test_the_offer_stays_and_earlier_visits_can_be_opened_and_merged(serve_page, open_page, tmp_path):
    file = write_halves(tmp_path / "halves.csv")
    with serve_page(*options(file)) as url:
        page = open_page(url)
        page.wait_for_text("#labels-value", "12")
        for key in ("d", "1", "d", "1"):
            page.tab.keyboard.press(key)
        page.wait_for_text("#labels-value", "14")
    first = labels_on_disk(file)
    with serve_page(*options(file)) as url:
        page = open_page(url)
        page.tab.wait_for_selector("#take-up")
        page.tab.keyboard.press("d")
        page.tab.wait_for_selector("#detail h3")
        page.tab.keyboard.press("2")
        page.wait_for_text("#labels-value", "13")
        assert page.tab.is_visible("#take-up")  # one key does not answer it
        page.tab.reload()
        page.tab.click("#take-up")
        page.wait_for_text("#labels-value", "14")
        page.tab.wait_for_selector("#take-up", state="detached")
        (changed,) = {row for row in first if labels_on_disk(file)[row] != first[row]}
        assert labels_on_disk(file)[changed] == "right"

        # The list of visits, with the keyboard.
        page.tab.focus("#labels-dialog")
        page.tab.keyboard.press("Enter")
        page.tab.wait_for_selector("#dialog .visits")
        assert page.tab.evaluate("() => document.activeElement.closest('#dialog') !== null")
        assert "Present labels" in page.text("#dialog")
        assert page.tab.locator("#dialog [data-act=open-visit]").count() == 1
        page.tab.keyboard.press("Escape")
        page.tab.wait_for_selector("#dialog .card", state="detached")
        assert page.tab.evaluate("() => document.activeElement.id") == "labels-dialog"
        page.tab.keyboard.press("Enter")
        page.tab.click("#dialog [data-act=open-visit]")
        page.tab.wait_for_selector(".banner.note:has-text('These are the labels of')")
        assert labels_on_disk(file) == first
        page.tab.click("#undo")
        page.tab.wait_for_selector(".banner.note", state="detached")
        assert labels_on_disk(file)[changed] == "right"
        page.tab.click("#labels-dialog")
        page.tab.click("#dialog [data-act=merge-visit]")
        page.tab.wait_for_selector(".banner.note:has-text('1 row has another label now and kept it')")


def test_rows_are_accepted_in_one_step_and_taken_back(serve_page, open_page, tmp_path):
    file = write_halves(tmp_path / "halves.csv", 120, 30)
    with serve_page(*options(file)) as url:
        page = open_page(url)
        thumb = page.tab.locator("#share [role=slider]")
        thumb.focus()
        thumb.press("Home")
        page.tab.click("#accept:has-text('Accept these 90 rows')")
        page.tab.wait_for_selector("#labels .about:has-text('90 more accepted')")
        assert page.text("#labels-value") == "30"
        assert page.tab.get_attribute("#undo", "title") == "Undo: acceptance of 90 rows (u)"
        assert len(saved(file)["accepted"]) == 90
        assert len(saved(file)["labels"]) == 30
        page.tab.click("#undo")
        page.tab.wait_for_selector("#accept")
        assert saved(file)["accepted"] == []


def test_labels_are_exported_and_imported(serve_page, open_page, tmp_path):
    file = write_halves(tmp_path / "halves.csv")
    with serve_page(*options(file)) as url:
        page = open_page(url)
        page.wait_for_text("#labels-value", "12")
        for link, name in (("#export-csv", "halves-labels.csv"), ("#export-json", "halves-labels.json")):
            page.tab.click("#labels-dialog")
            with page.tab.expect_download() as download:
                page.tab.click(link)
            assert download.value.suggested_filename == name
            download.value.save_as(tmp_path / name)
            page.tab.click("#close-dialog")
            page.tab.wait_for_selector("#dialog .card", state="detached")
        tasks = json.loads((tmp_path / "halves-labels.json").read_text(encoding="utf-8"))
        tasks[20]["annotations"] = json.loads(json.dumps(tasks[0]["annotations"]).replace("left", "new"))
        (tmp_path / "from-elsewhere.json").write_text(json.dumps(tasks), encoding="utf-8")
        (tmp_path / "bad.csv").write_text("row,side\n1,left\n99,left\n", encoding="utf-8")
        for name in ("from-elsewhere.json", "bad.csv"):
            page.tab.click("#labels-dialog")
            page.tab.wait_for_selector("#import-labels")
            with page.tab.expect_file_chooser() as chooser:
                page.tab.click("#import-labels")
            chooser.value.set_files(tmp_path / name)
            if name.endswith(".json"):
                page.tab.wait_for_selector(".banner.note:has-text('13 labels came from the file.')")
            else:
                page.tab.wait_for_selector("#banners .banner.error:has-text('Line 3 of the file: no row of the table')")
            assert labels_on_disk(file)[20] == "new"
        page.tab.click("#undo")
        page.wait_for_text("#labels-value", "12")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (820, "dark"), (390, "dark")])
def test_a_folder_lists_its_tables_and_opens_one(serve_page, open_page, tmp_path, width, scheme):
    folder = tmp_path / "tables"
    folder.mkdir()
    file = write_halves(folder / "halves.csv")
    write_halves(folder / f"{HOSTILE}.csv".replace("/", ""))
    with serve_page(folder) as url:
        page = open_page(url, color_scheme=scheme)
        page.tab.set_viewport_size({"width": width, "height": 900})
        page.tab.wait_for_selector("#folder")
        assert "60 rows" in page.text('#folder [data-value="halves.csv"]')
        assert "no visit yet" in page.text('#folder [data-value="halves.csv"]')
        assert HOSTILE in page.text("#folder")
        assert page.tab.evaluate("() => document.documentElement.scrollWidth") <= width
        page.tab.click('#folder [data-value="halves.csv"]')
        page.tab.click('.choice[data-value="side"]')
        page.wait_for_text("#labels-value", "12")
        page.tab.keyboard.press("d")
        page.tab.wait_for_selector("#detail h3")
        page.tab.keyboard.press("1")
        page.wait_for_text("#labels-value", "13")
        assert len(labels_on_disk(file)) == 13
        page.tab.click('[data-act="open"]')
        page.tab.wait_for_selector("#folder :text('13 labels, last visit')")
        page.tab.click("[data-act=close]")
        # Editing a class and the dialog fit the screen as well.
        edit(page, "left")
        page.tab.click("#labels-dialog")
        page.tab.wait_for_selector("#dialog .visits")
        assert page.tab.evaluate("() => document.documentElement.scrollWidth") <= width
        box = page.tab.locator("#dialog .card").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert page.tab.evaluate("() => window.hacked === undefined")
