"""Cells of the row in view: links, pictures and long texts, and nothing that a table could smuggle in."""

import json

import pytest
from plotly.io.json import to_json_plotly

from semikpca.app import open_table
from semikpca.app._cells import cells
from semikpca.app._opening import read_upload
from semikpca.tables import ColumnRoles

PIXEL = "data:image/png;base64,iVBORw0KGgo="
STORY = "A long story of many words that nobody would want to read in a narrow column of a table."


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """Return the cells of a one-column text beside numbers, as the page gets them."""
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))

    def show(cell, row=0):
        lines = [{"x": i, "note": cell if i == row else f"note {i}", "kind": "ab"[i % 2]} for i in range(12)]
        content = "\n".join(map(json.dumps, lines)).encode()
        opened = open_table(
            read_upload("rows.jsonl", content).table, ColumnRoles("kind"), name="rows.jsonl", place="state folder"
        )
        return json.loads(to_json_plotly(cells(opened, row)))

    return show


def found(part, kind):
    """Return all elements of a kind."""
    if isinstance(part, list):
        return [element for child in part for element in found(child, kind)]
    if not isinstance(part, dict):
        return []
    return [part["props"]] * (part["type"] == kind) + found(part["props"].get("children"), kind)


def test_addresses_are_links_that_tell_the_other_page_nothing(shown):
    part = shown("see https://example.org/a?b=1, and (http://example.org/c).")
    links = found(part, "A")
    assert [link["href"] for link in links] == ["https://example.org/a?b=1", "http://example.org/c"]
    assert {link["rel"] for link in links} == {"noopener noreferrer"}
    assert [link["children"] for link in links] == [link["href"] for link in links]


@pytest.mark.parametrize(
    "cell",
    ["javascript:alert(1)", "data:text/html,<b>x</b>", "data:image/svg+xml;base64,PHN2Zz4=", "file:///etc/passwd"],
)
def test_nothing_else_becomes_a_link_or_a_picture(shown, cell):
    part = shown(cell)
    assert not found(part, "A")
    assert not found(part, "Img")
    assert cell in json.dumps(part)


def test_a_picture_in_the_table_is_shown_and_one_elsewhere_is_a_link(shown):
    (picture,) = found(shown(PIXEL), "Img")
    assert picture["src"] == PIXEL
    assert picture["alt"] == "Picture in note"
    part = shown("https://example.org/cat.png")
    assert not found(part, "Img")
    assert len(found(part, "A")) == 1


def test_long_cells_have_the_whole_width_and_each_row_begins_at_its_top(shown):
    part = shown(STORY, row=3)
    assert part["props"]["id"] == "cells-3"
    kinds = [entry["className"] for entry in found(part, "Div") if "cell" in entry["className"].split()]
    assert sorted(kinds) == ["cell", "cell long"]
    assert "cell long" in [entry["className"] for entry in found(shown("two\nlines"), "Div")]


def test_a_cell_without_end_is_cut_and_says_so(shown):
    assert "1,000 more letters" in json.dumps(shown("x" * 201_000))
