"""The page on clusters: its blocks are one program, and print what the page shows."""

import contextlib
import io
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # a cluster of worker processes is started

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scaling.md"
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n\n^```text\n(?P<shown>.*?)^```$)?", re.MULTILINE | re.DOTALL)


STARTED = "Client(n_workers=2, threads_per_worker=1)"


def test_the_blocks_of_the_page_print_what_it_shows(cluster):
    pytest.importorskip("zarr", reason="zarr is not installed: pip install zarr")
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(STARTED) == 1
    # The page starts a cluster of two workers; here there is one already.
    names, shown, printed = {"cluster": cluster}, [], []
    try:
        for block in BLOCK.finditer(page.replace(STARTED, "Client(cluster)")):
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(block["code"], "docs/scaling.md", "exec"), names)
            shown.append(block["shown"] or "")
            printed.append(output.getvalue())
    finally:
        names["client"].close()
    assert len(shown) >= 5
    assert printed == shown
