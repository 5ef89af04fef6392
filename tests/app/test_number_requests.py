"""What no page of numbers sends: it is refused or said to the user, and no number is given that nobody has typed."""

import logging
import math

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semikpca.app._opening import open_table, read_upload
from semikpca.app._server import make_app
from semikpca.app._workspace import Workspace
from semikpca.tables import NUMBERS, ColumnRoles

pytestmark = pytest.mark.slow  # hundreds of requests to a served page

N_ROWS = 30
ASKED = {"client": "tab", "events": [], "shown": None, "marks": None, "dark": False}
ACTS = (
    "number label row check rows pick step draw review queue skip back remove undo redo flag accept withdraw find "
    "add-class give-class find-class rename-class merge-class delete-class brush weight middle share found columns"
).split()

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    frame = pd.DataFrame({"x": range(N_ROWS), "y": [row * row % 11 for row in range(N_ROWS)]})
    frame["price"] = [f"{3.5 * row}" if row < 8 else "" for row in range(N_ROWS)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path_factory.mktemp("state")))
        workspace = Workspace()
        table = read_upload("rows.csv", frame.to_csv(index=False).encode()).table
        roles = ColumnRoles("price", labels_as=NUMBERS)
        workspace.show(open_table(table, roles, name="rows.csv", place="state folder"))
        yield workspace


@pytest.fixture
def ask(workspace, caplog):
    client = make_app(workspace).server.test_client()

    def send(path="/events", **body):
        caplog.clear()
        answer = client.post(path, json=body)
        assert answer.status_code < 500
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
        labels = [label for label in workspace.table.session.given.tolist() if label is not None]
        assert all(isinstance(label, float) and math.isfinite(label) for label in labels)
        assert workspace.table.session.snapshot().classes == ()
        return answer

    return send


@pytest.mark.parametrize("value", [None, 5, 5.5, ["5"], {"a": 1}, True, "5" * 20_000, "\ud800"])
def test_a_number_comes_as_a_text(ask, workspace, value):
    before = workspace.state()
    asked = ask(**{**ASKED, "events": [{"number": 1, "act": "number", "value": value}]})
    assert asked.status_code == 400
    assert "number needs" in asked.text
    assert ask(**{**ASKED, "events": [{"number": 1, "act": "number"}]}).status_code == 400
    assert workspace.state() == before


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))  # a fit takes a while
@given(
    events=st.lists(
        st.fixed_dictionaries(
            {"number": st.integers(1, 9), "act": st.sampled_from(ACTS)},
            optional={
                "value": st.sampled_from(["12", "1,5", "x", "", "1e999"]) | st.integers(-3, 40) | anything,
                "points": st.lists(st.integers(-3, 40), max_size=3) | anything,
                "name": st.sampled_from(["a", "numbers"]) | anything,
                "queue": st.sampled_from(["suggested", "review", "nonsense"]) | anything,
            },
        ),
        max_size=4,
    ),
    client=st.text("abc", min_size=1, max_size=3),
)
def test_no_event_fails_whatever_it_asks_for(ask, events, client):
    ask(**{**ASKED, "client": client, "events": events})
