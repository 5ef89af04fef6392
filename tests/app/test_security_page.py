"""Tokens in a real browser: handed over in the address, kept over a restart, and explained where they are missing."""

import socket

import pytest

pytestmark = pytest.mark.slow  # a server and a browser are started for each test


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "points.csv"
    lines = [f"{row % 7},{row * row % 11},{'ab'[row % 2] if row < 6 else ''}" for row in range(40)]
    file.write_text("x,y,kind\n" + "\n".join(lines), encoding="utf-8")
    return file


@pytest.fixture
def port():
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_page_finds_its_program_again_after_a_restart(serve_page, open_page, table, port):
    about = (table, "--label-column", "kind", "--port", port)
    with serve_page(*about) as url:
        page = open_page(url)
        page.wait_for_text("#labels-value", "6")
        page.wait_for_quiet()
        assert "token" not in page.tab.url
    page.tab.wait_for_selector("body.lost")
    page.tab.evaluate("window.before = true")
    with serve_page(*about) as again:
        assert again == url
        page.tab.wait_for_function("() => !window.before && document.querySelector('#labels-value')")
        page.wait_for_text("#labels-value", "6")


def test_a_page_whose_token_is_no_longer_valid_says_what_to_do(serve_page, open_page, table, port):
    about = (table, "--label-column", "kind", "--host", "0.0.0.0", "--port", port)
    with serve_page(*about) as url:
        page = open_page(url)
        page.wait_for_text("#labels-value", "6")
        page.wait_for_quiet()
    page.tab.wait_for_selector("body.lost")
    with serve_page(*about) as again:
        page.wait_for_text("h1", "This page is not open to you")
        assert "Open the address that semikpca app printed" in page.text("main")
        assert "All labels are saved" in page.text("main")
        page.tab.goto(again)
        page.wait_for_text("#labels-value", "6")


def test_two_pages_on_two_ports_stay_open_beside_each_other(serve_page, open_page, table, tmp_path):
    with serve_page(table, "--label-column", "kind") as one, serve_page("--host", "0.0.0.0") as two:
        page = open_page(one)
        page.wait_for_text("#labels-value", "6")
        page.tab.goto(two)
        page.tab.wait_for_selector("#browse")
        page.tab.goto(one.partition("?")[0])
        page.wait_for_text("#labels-value", "6")
