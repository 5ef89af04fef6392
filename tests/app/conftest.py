"""The real page in a real browser: a server process, and what a person would do with mouse and keys."""

import os
import select
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

# Seconds until a test gives up; nothing waits that long on a computer that has time.
PATIENCE = 120


@contextmanager
def served(*arguments, state):
    """Run ``semikpca app`` on a free port and hand out its address."""
    command = [sys.executable, "-c", "from semikpca.cli import main; main()", "app", "--no-browser", "--port", "0"]
    environment = {**os.environ, "SEMIKPCA_STATE_FOLDER": str(state), "COLUMNS": "200"}
    process = subprocess.Popen(
        [*command, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    try:
        yield _address(process)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)
        process.stdout.close()


def _address(process):
    end, seen = time.monotonic() + PATIENCE, ""
    while time.monotonic() < end:
        if select.select([process.stdout], [], [], 1)[0]:
            line = process.stdout.readline()
            seen += line
            if line.startswith("Labeling page: "):
                return line.removeprefix("Labeling page: ").strip()
            if not line:
                break
    raise AssertionError(f"The server did not start:\n{seen}")


class Page:
    """A tab, and what one does on it."""

    def __init__(self, tab):
        self.tab = tab
        self.problems = []
        tab.set_default_timeout(PATIENCE * 1000)
        tab.on("pageerror", lambda error: self.problems.append(str(error)))

    def text(self, selector):
        return self.tab.inner_text(selector)

    def wait_for_text(self, selector, text):
        self.tab.wait_for_function(
            "([selector, text]) => document.querySelector(selector)?.textContent === text", arg=[selector, text]
        )

    def wait_for_quiet(self):
        """Wait until every event was answered, and the lists are there."""
        self.tab.wait_for_function(
            "() => !document.body.hasAttribute('aria-busy') && document.querySelector('#suggestions').hasChildNodes()"
        )

    def places(self):
        """Return where each row of the map is on the screen, in pixels."""
        self.tab.wait_for_function(
            "() => document.querySelector('#map .js-plotly-plot')?._fullLayout?.xaxis?._length > 50"
        )
        return self.tab.evaluate(
            """() => {
                const graph = document.querySelector('#map .js-plotly-plot');
                const {xaxis, yaxis} = graph._fullLayout;
                const box = graph.getBoundingClientRect();
                const {x, y} = graph.data[0];
                return x.map((value, i) => [box.left + xaxis._offset + xaxis.l2p(value),
                                            box.top + yaxis._offset + yaxis.l2p(y[i])]);
            }"""
        )

    def click_row(self, row):
        x, y = self.places()[row]
        self.tab.mouse.move(x, y)
        self.tab.mouse.click(x, y)


@pytest.fixture
def serve_page(tmp_path):
    """Start servers that keep their state in a folder of the test."""
    return lambda *arguments: served(*arguments, state=tmp_path / "state")


@pytest.fixture(scope="module")
def serve_for_module(tmp_path_factory):
    """Start a server that several tests share."""
    return lambda *arguments: served(*arguments, state=tmp_path_factory.mktemp("state"))


@pytest.fixture
def open_page(browser):
    """Open tabs that fail the test if a script in them fails."""
    opened = []

    def open_tab(url, **options):
        usual = {"viewport": {"width": 1280, "height": 900}, "accept_downloads": True}
        context = browser.new_context(**{**usual, **options})
        page = Page(context.new_page())
        opened.append((context, page))
        page.tab.goto(url)
        page.tab.wait_for_selector("#page")
        return page

    yield open_tab
    problems = [problem for _, page in opened for problem in page.problems]
    for context, _ in opened:
        context.close()
    assert not problems
