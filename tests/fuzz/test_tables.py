"""Bytes of every kind as a table: read, or refused with a TableError; the commands never show a traceback."""

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from fuzz.judging import no_warnings
from fuzz.profiles import drawn
from fuzz.tables_target import SUFFIXES, judged
from semikpca.cli._app import app

pytestmark = pytest.mark.slow  # many inputs are drawn, and a file is written for each

CORPUS = Path(__file__).parent / "corpus" / "tables"
CELLS = [
    *("", "1", "2.5", "-1", "a", "b", "red", "inf", "nan", "1e400", "1,5", "1,000", "true", "-0", "0x10", "1_000", "١"),
    *("2020-01-01", "2020-13-45", "99999-01-01", "2020-01-01T00:00:00Z", "12:30", "NaT", "None", "1e308", "1e-400"),
    *("=1+1", "<b>", "é", "\u2028", "\0", "a\0", " ", "\t", "\r", '"', "'", "\x1c", "\ufeff", "x" * 300, "9" * 400),
]
NAMES = [
    "a",
    "b",
    "size",
    "kind",
    "",
    " ",
    "é",
    "=1",
    "\0",
    "__index_level_0__",
    "<b>",
    "1",
    "[bold]x",
    "predicted_label",
]
VALUES = [
    None,
    True,
    False,
    1,
    -1,
    1.5,
    1e308,
    "a",
    "",
    "a\0",
    "\ud800",
    [1, 2],
    [],
    {},
    {"a": 1},
    10**30,
    10**400,
    2**63,
]

small = st.integers(0, 12)


@st.composite
def delimited(draw, delimiter=","):
    """A text file of odd cells, which mostly hangs together."""
    width = draw(st.integers(1, 4))
    pools = [draw(st.lists(st.sampled_from(CELLS), min_size=1, max_size=4)) for _ in range(width)]
    header = [draw(st.sampled_from(NAMES)) for _ in range(width)]
    rows = [[draw(st.sampled_from(pool)) for pool in pools] for _ in range(draw(small))]
    text = "".join(delimiter.join(_quoted(cell, delimiter) for cell in row) + "\n" for row in [header, *rows])
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-16", "utf-8-sig", "utf-32", "cp1252"])), "replace")


def _quoted(cell, delimiter):
    return '"' + cell.replace('"', '""') + '"' if set(cell) & {delimiter, '"', "\r", "\n"} else cell


@st.composite
def records(draw):
    """JSON lines of odd values."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    pools = {name: draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=3)) for name in names}
    rows = [{name: draw(st.sampled_from(pool)) for name, pool in pools.items()} for _ in range(draw(small))]
    return "\n".join(map(json.dumps, rows)).encode()


@st.composite
def embeddings(draw):
    """An .npy file of some type and shape."""
    kind = draw(st.sampled_from(["f8", "f4", "f2", "f16", "i4", "u1", "b1", "c8", "U3", "M8[s]"]))
    shape = draw(st.tuples(st.integers(0, 6), st.integers(0, 3)))
    content = io.BytesIO()
    values = np.array(draw(st.lists(st.sampled_from([0, 1, 2]), min_size=shape[0] * shape[1], max_size=18)))
    np.save(content, np.resize(values, shape).astype(kind) if values.size else np.empty(shape, kind))
    return content.getvalue()


@st.composite
def damaged(draw, suffix):
    """A file of the corpus with a few bytes changed, left out or put in."""
    content = bytearray((CORPUS / f"seed{suffix}").read_bytes())
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content)))
        content[place : place + draw(st.integers(0, 4))] = draw(st.binary(max_size=4))
    return bytes(content[: draw(st.sampled_from([None, None, None, len(content) // 2]))])


@drawn(80)
@given(content=delimited())
def test_delimited_text_is_read_or_refused(content):
    judged(content, ".csv")


@drawn(80)
@given(content=records())
def test_json_lines_are_read_or_refused(content):
    judged(content, ".jsonl")


@drawn(60)
@given(content=embeddings())
def test_arrays_are_read_or_refused(content):
    judged(content, ".npy")


@pytest.mark.parametrize("suffix", SUFFIXES.values())
@drawn(50)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(suffix, data):
    judged(data.draw(damaged(suffix)), suffix)


@pytest.mark.parametrize("suffix", SUFFIXES.values())
@drawn(15)
@given(content=st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(suffix, content):
    judged(content, suffix)


# -- the commands ----------------------------------------------------------------------------------------------

COLORS = ["red", "blue", "", "1", "é"]


@st.composite
def nearly_good(draw):
    """A table that a user may have: numbers, words, a few labels, and something odd here and there."""
    n = draw(st.integers(4, 14))
    columns = {
        "size": [str(draw(st.integers(-3, 3))) for _ in range(n)],
        "color": [draw(st.sampled_from(COLORS)) for _ in range(n)],
        "kind": [draw(st.sampled_from(["a", "b", ""])) for _ in range(n)],
    }
    frame = pd.DataFrame(columns)
    for _ in range(draw(st.integers(0, 3))):
        frame.iloc[draw(st.integers(0, n - 1)), draw(st.integers(0, 2))] = draw(st.sampled_from(CELLS))
    return frame.to_csv(index=False).encode("utf-8", "replace")


@pytest.mark.parametrize("command", ["label", "audit", "suggest"])
@drawn(20)
@given(
    content=st.one_of(nearly_good(), nearly_good(), delimited()), column=st.sampled_from(["kind", "kind", "a", "[/b]"])
)
def test_a_command_answers_or_fails_clearly_and_writes_nothing(command, content, column):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(content)
        out = Path(folder) / "out.csv"
        with no_warnings():
            result = CliRunner().invoke(app, [command, str(path), "--label-column", column, "-o", str(out)])
        assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
        assert "Traceback" not in result.output
        written = {file.name for file in Path(folder).iterdir()} - {"table.csv"}
        if result.exit_code == 0:
            assert written == {"out.csv"}
        else:
            assert result.exit_code == 1
            assert "Error:" in result.stderr
            assert written == set()
