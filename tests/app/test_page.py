"""The labeling page in headless Chromium, driven by mouse and keys against a real server process."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from semikpca import SemiKPCAClassifierCV

pytestmark = pytest.mark.slow  # a server and a browser are started for each test

N_ROWS = 60
APART = 14  # pixels: a click on a row with no other one this close can only mean that row
HOSTILE = '<img src=x onerror="window.hacked=1"><b>bold</b> & <script>window.hacked=1</script>'
# Features are standardized in float32 on the page and in float64 here; confidence is written with four digits.
CONFIDENCE_TOLERANCE = 2e-3


@pytest.fixture(scope="module")
def points():
    """Rows on a plane, far enough apart to be clicked one by one, in two halves."""
    side = np.arange(N_ROWS) % 2
    place = np.arange(N_ROWS) // 2
    x = (place % 6) + 9.0 * side + 0.3 * np.sin(7.0 * place)
    y = (place // 6) * 1.3 + 0.3 * np.cos(5.0 * place) + 0.4 * side
    return np.column_stack([x, y]), side


def write_table(path, points, labeled=()):
    X, side = points
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "x", "y", "side"])
        for row in range(N_ROWS):
            label = ("left", "right")[side[row]] if row in labeled else ""
            writer.writerow(
                [HOSTILE if row == 7 else f"row number {row}", f"{X[row, 0]:.3f}", f"{X[row, 1]:.3f}", label]
            )
    return path


def labels_on_disk(file):
    place = file.with_name(f".{file.name}.semikpca-labels.json")
    return {int(row): label for row, label in json.loads(place.read_text(encoding="utf-8"))["labels"]}


def isolated(page, rows):
    """Return those of the rows whose place on the screen is theirs alone."""
    places = np.array(page.places())
    distances = np.linalg.norm(places[:, np.newaxis] - places, axis=2) + 1e9 * np.eye(len(places))
    return [row for row in rows if distances[row].min() > APART]


def brush(page, name):
    page.tab.click(f"#toolbar .button:has-text({name!r})")
    page.tab.wait_for_selector(f"#toolbar .button.on:has-text({name!r})")


def test_ten_labels_by_clicking_undo_the_bound_download_and_back_again(serve_page, open_page, points, tmp_path):
    start = (0, 1, 2, 3)
    file = write_table(tmp_path / "points.csv", points, start)
    arguments = [file, "--label-column", "side", "--exclude", "name"]
    with serve_page(*arguments) as url:
        page = open_page(url)
        page.wait_for_text("#labels-value", "4")
        about_before = page.text("#accuracy .about")
        assert about_before.startswith("4 of 4") or " of 4 labels" in about_before

        # Ten rows, by their place on the map.
        chosen = isolated(page, range(4, N_ROWS))[:10]
        assert len(chosen) == 10
        expected = {row: ("left", "right")[points[1][row]] for row in (*start, *chosen)}
        for number, row in enumerate(chosen):
            brush(page, expected[row])
            page.click_row(row)
            page.wait_for_text("#labels-value", str(5 + number))
        assert labels_on_disk(file) == expected
        assert " of 14 labels" in page.text("#accuracy .about")

        # Undo and redo.
        page.tab.click("#undo")
        page.wait_for_text("#labels-value", "13")
        assert " of 13 labels" in page.text("#accuracy .about")
        assert chosen[-1] not in labels_on_disk(file)
        page.tab.click("#redo")
        page.wait_for_text("#labels-value", "14")

        # The slider goes to its end, and is sent back with the reason.
        thumb = page.tab.locator("#slider [role=slider]")
        before = page.text("#relative-weight")
        thumb.focus()
        thumb.press("End")
        page.tab.wait_for_selector("#bound-message")
        message = page.text("#bound-message")
        assert "no longer convex" in message
        assert "λ₂ = " in message
        assert page.text("#relative-weight") == before
        page.tab.wait_for_function("() => document.querySelector('#slider [role=slider]').ariaValueNow < 4.5")

        # The download has the labels and what a fresh fit of them predicts.
        with page.tab.expect_download() as download:
            page.tab.click("#download")
        assert download.value.suggested_filename == "points-labeled.csv"
        rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8"))))
        assert list(rows[0]) == [
            "name",
            "x",
            "y",
            "side",
            "predicted_label",
            "confidence",
            "label_was_given",
            "looks_wrong",
        ]
        assert {number: row["side"] for number, row in enumerate(rows) if row["side"]} == expected
        X = np.array([[float(row["x"]), float(row["y"])] for row in rows])
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        model = SemiKPCAClassifierCV().fit(X, np.array([row["side"] or None for row in rows], dtype=object))
        assert [row["predicted_label"] for row in rows] == model.transduction_.tolist()
        confidence = [float(row["confidence"]) for row in rows]
        np.testing.assert_allclose(confidence, model.label_distributions_.max(axis=1), atol=CONFIDENCE_TOLERANCE)

        # Loaded again, the page is where it was.
        page.tab.reload()
        page.wait_for_text("#labels-value", "14")
        assert page.tab.is_enabled("#undo")

    # A new start finds the labels beside the file, and offers them.
    with serve_page(*arguments) as url:
        page = open_page(url)
        page.wait_for_text("#labels-value", "4")
        page.tab.click("#take-up")
        page.wait_for_text("#labels-value", "14")
        assert labels_on_disk(file) == expected


def test_keys_label_rows_and_a_second_tab_follows(serve_page, open_page, points, tmp_path):
    file = write_table(tmp_path / "points.csv", points)
    with serve_page(file) as url:
        page = open_page(url)
        # No label column was named: the page asks, and a new one can be begun.
        page.tab.click('.choice[data-value="side"]')
        page.wait_for_text("#labels-value", "0")
        assert page.text("#accuracy-value") == "–"
        for name in ("left", "right"):
            page.tab.fill("#new-class", name)
            page.tab.press("#new-class", "Enter")
            page.tab.wait_for_selector(f"#classes .name:has-text({name!r})")
        other = open_page(url)
        page.tab.locator("body").click(position={"x": 5, "y": 5})
        page.tab.keyboard.press("n")
        page.tab.wait_for_selector("#detail h3")
        first = page.text("#detail h3")
        page.tab.keyboard.press("1")
        page.wait_for_text("#labels-value", "1")
        page.tab.keyboard.press("n")
        page.tab.wait_for_function("first => document.querySelector('#detail h3').innerText !== first", arg=first)
        page.tab.keyboard.press("2")
        page.wait_for_text("#labels-value", "2")
        page.tab.wait_for_function("() => document.querySelector('#confidence-value').textContent.endsWith('%')")
        assert sorted(labels_on_disk(file).values()) == ["left", "right"]
        # The other tab shows them without being touched, and what it does counts as well.
        other.wait_for_text("#labels-value", "2")
        other.tab.keyboard.press("u")
        other.wait_for_text("#labels-value", "1")
        page.wait_for_text("#labels-value", "1")
        page.tab.keyboard.press("r")
        page.wait_for_text("#labels-value", "2")
        # The next row came by itself; the one that got the label is a step back.
        page.tab.keyboard.press("b")
        page.tab.keyboard.press("x")
        page.wait_for_text("#labels-value", "1")
        page.tab.keyboard.press("?")
        assert page.tab.is_visible("#help")
        page.tab.keyboard.press("Escape")
        assert not page.tab.is_visible("#help")
        # A button that was pressed with the keyboard keeps the focus.
        page.tab.focus('#detail [data-act="label"][data-value="1"]')
        page.tab.keyboard.press("Enter")
        page.wait_for_text("#labels-value", "2")
        assert page.tab.evaluate("() => document.activeElement.dataset.value") == "1"
        page.tab.keyboard.press("b")
        page.tab.keyboard.press("x")
        page.wait_for_text("#labels-value", "1")
        # Keys that are typed quickly all count, in their order.
        for key in ("n", "1", "n", "2", "n", "1"):
            page.tab.keyboard.press(key)
        page.tab.wait_for_function("() => Number(document.querySelector('#labels-value').textContent) >= 2")
        page.wait_for_quiet()
        assert str(len(labels_on_disk(file))) == page.text("#labels-value")


def test_a_lasso_labels_many_rows_at_once_and_cells_are_text(serve_page, open_page, points, tmp_path):
    file = write_table(tmp_path / "points.csv", points, (0, 1, 2, 3))
    with serve_page(file, "--label-column", "side", "--exclude", "name") as url:
        page = open_page(url)
        page.wait_for_text("#labels-value", "4")
        page.tab.click('#map .modebar-btn[data-val="select"]')
        places = np.array(page.places())
        low, high = places.min(axis=0) - 10, places.max(axis=0) + 10
        page.tab.mouse.move(*low)
        page.tab.mouse.down()
        page.tab.mouse.move(*((low + high) / 2), steps=4)
        page.tab.mouse.move(*high, steps=4)
        page.tab.mouse.up()
        page.wait_for_text("#detail h3", f"{N_ROWS} rows")
        page.tab.keyboard.press("Escape")
        page.tab.wait_for_selector("#detail h3", state="detached")
        # One row in detail: tags stand there as they were written.
        page.tab.click('#map .modebar-btn[data-val="pan"]')
        page.click_row(7)
        page.tab.wait_for_selector("#detail .cells")
        assert HOSTILE in page.text("#detail .cells")
        page.tab.wait_for_selector("#map .hoverlayer .hovertext")
        assert "<img src=x" in page.tab.text_content("#map .hoverlayer .hovertext")
        assert page.tab.evaluate("() => window.hacked === undefined")
        assert page.tab.locator("#detail img, #map img, #suggestions img").count() == 0


def test_files_over_the_limit_are_refused_and_others_are_taken(serve_page, open_page, points, tmp_path):
    with serve_page("--upload-limit", "1") as url:
        page = open_page(url)
        large = tmp_path / "large.csv"
        large.write_bytes(b"a,label\n" + b"0123456789,\n" * 100_000)
        with page.tab.expect_file_chooser() as chooser:
            page.tab.click("#browse")
        chooser.value.set_files(large)
        page.tab.wait_for_selector(".banner.error")
        assert "large.csv has 1.2 MB and is over the limit of 1 MB" in page.text(".banner.error")
        assert page.tab.is_visible("#browse")

        broken = tmp_path / "broken.csv"
        broken.write_text("a,a\n1,2\n", encoding="utf-8")
        with page.tab.expect_file_chooser() as chooser:
            page.tab.click("#browse")
        chooser.value.set_files(broken)
        page.tab.wait_for_selector(".banner.error:has-text('two columns')")

        small = write_table(tmp_path / "small.csv", points, (0, 1, 2, 3))
        with page.tab.expect_file_chooser() as chooser:
            page.tab.click("#browse")
        chooser.value.set_files(small)
        page.tab.click('.choice[data-value="side"]')
        page.wait_for_text("#labels-value", "4")
        assert page.text("#header .file") == "small.csv"
        page.tab.keyboard.press("n")
        page.tab.wait_for_selector("#detail h3")
        page.tab.keyboard.press("1")
        page.wait_for_text("#labels-value", "5")
        (kept,) = (tmp_path / "state").glob("small-*.json")
        assert len(json.loads(kept.read_text(encoding="utf-8"))["labels"]) == 5


def write_halves(path, n_rows=240, n_labels=30):
    """Write rows in two halves far apart, of which the first few have a label."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "x", "y", "side"])
        for row in range(n_rows):
            name = HOSTILE if row >= n_labels else f"row number {row}"
            label = ("left", "right")[row % 2] if row < n_labels else ""
            writer.writerow([name, f"{9 * (row % 2) + np.sin(row):.3f}", f"{np.cos(2 * row):.3f}", label])
    return path


def test_the_slider_changes_the_promise_and_rows_to_review_are_labeled(serve_page, open_page, tmp_path):
    file = write_halves(tmp_path / "halves.csv")
    with serve_page(file, "--label-column", "side", "--exclude", "name") as url:
        page = open_page(url)
        page.tab.wait_for_selector("#promise-text:has-text('Not found out for these labels yet.')")
        page.tab.click("#find")
        page.tab.wait_for_selector("#promise-text:has-text('Nothing can be promised yet: about')")
        group = page.tab.get_by_role("group", name="Share of accepted labels that must be right, in percent")
        thumb = group.get_by_role("slider")
        thumb.focus()
        thumb.press("Home")
        page.wait_for_text(
            "#promise-text", "210 of 210 rows can be accepted; at most 20% of them are wrong (with 90% confidence)."
        )
        page.wait_for_text("#review", "No row is left to review.")
        thumb.press("ArrowRight")
        page.tab.wait_for_selector("#promise-text:has-text('at most 19.5% of them are wrong')")
        thumb.press("End")
        page.tab.wait_for_selector("#promise-text:has-text('Ask for a lower share.')")
        assert page.text("#review .soft").startswith("210 rows without a label that are not accepted")

        # The first row to review gets a label: it leaves the list, and what was promised is no more.
        assert HOSTILE in page.text("#review .line .title")
        row = int(page.tab.get_attribute("#review .line", "data-value"))
        page.tab.click("#review .line")
        page.tab.wait_for_selector("#detail h3")
        page.tab.keyboard.press(str(row % 2 + 1))
        page.wait_for_text("#labels-value", "31")
        assert labels_on_disk(file)[row] == ("left", "right")[row % 2]
        assert page.tab.locator(f'#review .line[data-value="{row}"]').count() == 0
        page.tab.wait_for_selector("#promise-text:has-text('Not found out for these labels yet.')")
        page.tab.keyboard.press("a")
        page.tab.wait_for_selector("#promise-text:has-text('Ask for a lower share.')")
        assert "A promise rests on 30 labels" in page.text("#promise")
        assert "1 other does not count" in page.text("#promise")

        # With keys alone: a drawn row, whose label counts, and the next row to review, whose label does not.
        for key, n_labels, rests in (("d", "32", "31 labels"), ("v", "33", "31 labels")):
            page.tab.keyboard.press(key)
            page.tab.wait_for_function("() => !document.body.hasAttribute('aria-busy')")
            row = int(page.text("#detail h3").split()[-1]) - 1
            page.tab.keyboard.press(str(row % 2 + 1))
            page.wait_for_text("#labels-value", n_labels)
            assert f"A promise rests on {rests}" in page.text("#promise")
        assert page.tab.evaluate("() => window.hacked === undefined")


def test_the_promise_fits_a_narrow_screen(serve_page, open_page, tmp_path):
    file = write_halves(tmp_path / "halves.csv")
    with serve_page(file, "--label-column", "side", "--exclude", "name") as url:
        page = open_page(url)
        page.tab.set_viewport_size({"width": 390, "height": 800})
        page.tab.click("#find")
        page.tab.wait_for_selector("#promise-text:not(.unknown)")
        page.wait_for_quiet()
        assert page.tab.evaluate("() => document.documentElement.scrollWidth") <= 390
        boxes = [
            page.tab.locator(card).bounding_box() for card in ("#accept-card", "#review-card", "#suggestions-card")
        ]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
