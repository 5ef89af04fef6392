"""The rows that a query finds, held against a loop over all rows that shares no code with it."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semikpca.app import Workspace, open_table
from semikpca.app._opening import read_upload
from semikpca.app._server import make_app
from semikpca.tables import ColumnRoles

N_ROWS, N_LABELS = 120, 24
KINDS = "ab"
EVERYTHING = {
    "search": "",
    "given": "",
    "predicted": "",
    "low": 0,
    "high": 100,
    "wrong": False,
    "flagged": False,
    "sort": [],
}
WORDS = ("red", "Green", "BLUE", "straße", "naïve")
FLAGGED = (3, 50, 77)
COLUMNS = ("row", "given", "predicted", "confidence", "c0", "c1", "c2")
# A query takes a moment on a computer that is busy.
QUERIES = settings(deadline=None, max_examples=80, suppress_health_check=list(HealthCheck))


def lines():
    rng = np.random.default_rng(5)
    for row in range(N_ROWS):
        words = " ".join(rng.choice(WORDS, 2))
        number = "" if row % 11 == 0 else f"{rng.normal():.2f}"
        label = KINDS[(row + (row == 6)) % 2] if row < N_LABELS else ""
        yield [f"{9 * (row % 2) + np.sin(row):.3f}", number, words, label]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path_factory.mktemp("state")))
        text = "\n".join(",".join(line) for line in [["x", "y", "words", "kind"], *lines()])
        workspace = Workspace()
        roles = ColumnRoles("kind", exclude=("words",))
        workspace.show(open_table(read_upload("r.csv", text.encode()).table, roles, name="r.csv", place="state folder"))
        workspace.table.session.advice()
        workspace.tab("tab").select(list(FLAGGED))
        workspace.handle("tab", [{"number": 1, "act": "flag"}])
        yield workspace


@pytest.fixture(scope="module")
def client(workspace):
    return make_app(workspace).server.test_client()


@pytest.fixture(scope="module")
def ask(client):
    def send(start=0, end=1000, name="tab", **query):
        asked = {"client": name, "start": start, "end": end, "query": {**EVERYTHING, **query}}
        return client.post("/rows", json=asked)

    return send


def naive(workspace, query):
    """What a person would find who looks at every row."""
    session = workspace.table.session
    snapshot = session.snapshot()
    wrong = {doubt.row for doubt in session.advice().doubts}
    cells = list(lines())
    found = []
    for row in range(N_ROWS):
        text = " \n ".join([workspace.table.names[row], *cells[row][:3]]).lower()
        label = session.given[row]
        guess, sure = snapshot.classes[snapshot.predicted[row]], round(100 * float(snapshot.confidence[row]))
        keep = all(word in text for word in query["search"].lower().split())
        if query["given"] in ("with", "without"):
            keep &= (label is not None) == (query["given"] == "with")
        elif query["given"]:
            keep &= f"class:{label}" == query["given"]
        keep &= query["predicted"] in ("", f"class:{guess}")
        keep &= query["low"] <= sure <= query["high"]
        keep &= not query["wrong"] or row in wrong
        keep &= not query["flagged"] or row in FLAGGED
        if keep:
            found.append(row)

    def value(row, name):
        snapshot_value = {
            "row": row,
            "given": session.given[row],
            "predicted": snapshot.classes[snapshot.predicted[row]],
            "confidence": float(snapshot.confidence[row]),
        }
        if name in snapshot_value:
            return snapshot_value[name]
        cell = cells[row][int(name[1:])]
        return None if cell == "" else cell.casefold() if name == "c2" else float(cell)

    for name, direction in reversed(query["sort"]):
        empty = [row for row in found if value(row, name) is None]
        full = [row for row in found if value(row, name) is not None]
        # Stable in both directions: equal rows keep the order that they had.
        full.sort(key=lambda row, name=name: value(row, name))
        if direction == "desc":
            full = stable_descending(full, lambda row, name=name: value(row, name))
        found = full + empty
    return found


def stable_descending(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return [row for value in sorted(groups, reverse=True) for row in groups[value]]


@QUERIES
@given(
    query=st.fixed_dictionaries(
        {
            "search": st.sampled_from(["", "red", "RED green", "straSSE", "ï", "line 1", "0.1", "nothing like it"]),
            "given": st.sampled_from(["", "with", "without", "class:a", "class:b", "class:gone"]),
            "predicted": st.sampled_from(["", "class:a", "class:b", "class:gone"]),
            "low": st.sampled_from([0, 60, 99]),
            "high": st.sampled_from([100, 98, 70]),
            "wrong": st.booleans(),
            "flagged": st.booleans(),
            "sort": st.lists(
                st.tuples(st.sampled_from(COLUMNS), st.sampled_from(["asc", "desc"])).map(list), max_size=2
            ),
        }
    )
)
def test_a_query_finds_what_one_finds_who_looks_at_every_row(workspace, ask, query):
    answer = ask(**query).get_json()
    expected = naive(workspace, query)
    assert [int(line["id"]) for line in answer["rows"]] == expected
    assert (answer["found"], answer["of"]) == (len(expected), N_ROWS)


def test_blocks_put_together_are_the_whole(ask):
    whole = ask(sort=[["c2", "desc"]]).get_json()["rows"]
    blocks = [ask(start, start + 50, sort=[["c2", "desc"]]).get_json()["rows"] for start in (0, 50, 100)]
    assert [line for block in blocks for line in block] == whole
    assert ask(500, 600).get_json()["rows"] == []


def test_a_line_has_what_is_known_of_the_row_and_its_cells(workspace, ask):
    snapshot = workspace.table.session.snapshot()
    line = ask().get_json()["rows"][6]
    cells = list(lines())[6]
    assert line == {
        "id": "6",
        "row": 7,
        "given": "b",
        "predicted": str(snapshot.classes[snapshot.predicted[6]]),
        "confidence": f"{snapshot.confidence[6]:.0%}",
        "marks": "looks wrong",
        **{f"c{i}": cell for i, cell in enumerate(cells[:3])},
    }
    assert ask(flagged=True).get_json()["rows"][0]["marks"] == "flagged"


def test_all_that_is_found_can_be_selected_and_labeled_at_once_and_the_table_follows(workspace, ask):
    query = {**EVERYTHING, "search": "red", "given": "without"}
    rows = naive(workspace, query)
    events = [{"number": 1, "act": "found", "query": query}, {"number": 2, "act": "label", "value": 1}]
    tab = workspace.handle("another tab", events).tab
    assert tab.selected == rows
    session = workspace.table.session
    assert session.given[rows].tolist() == ["b"] * len(rows)
    assert ask(search="red", given="without").get_json()["found"] == 0
    assert {line["given"] for line in ask(search="red").get_json()["rows"]} <= {"a", "b"}
    workspace.handle("another tab", [{"number": 3, "act": "undo"}])
    assert ask(search="red", given="without").get_json()["found"] == len(rows)
    session.advice()  # as the other tests find it


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
)


@QUERIES
@given(name=st.sampled_from(sorted(EVERYTHING)), value=anything)
def test_no_value_in_a_query_makes_the_table_fail(client, ask, name, value):
    answer = ask(**{name: value})
    assert answer.status_code in (200, 400)
    event = {"number": 1, "act": "found", "query": {**EVERYTHING, name: value}}
    asked = {"client": "x", "events": [event], "shown": None, "marks": None, "dark": False}
    assert client.post("/events", json=asked).status_code == answer.status_code


@QUERIES
@given(body=anything)
def test_no_other_body_makes_the_table_fail(client, body):
    answer = client.post("/rows", data=json.dumps(body), content_type="application/json")
    assert answer.status_code == 400


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 1), (0, 1001), (0.5, 2), ("0", "9"), (None, 3), (True, 3)])
def test_more_rows_than_the_grid_shows_are_refused(ask, start, end):
    answer = ask(start, end)
    assert answer.status_code == 400
    assert "1,000 apart" in answer.text


def test_without_a_table_there_is_nothing_to_find():
    client = make_app(Workspace()).server.test_client()
    asked = {"client": "tab", "start": 0, "end": 9, "query": EVERYTHING}
    assert json.loads(client.post("/rows", json=asked).data) == {"rows": [], "found": 0, "of": 0}
