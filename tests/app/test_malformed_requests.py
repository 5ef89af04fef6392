"""What no page sends: every route refuses it in a line, logs no traceback, and changes nothing."""

import json
import logging
from copy import deepcopy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semikpca.app._opening import open_table, read_upload
from semikpca.app._requests import MOST_JSON_BYTES
from semikpca.app._server import make_app
from semikpca.app._workspace import Workspace
from semikpca.tables import ColumnRoles

pytestmark = pytest.mark.slow  # hundreds of requests to a served page

ROWS = "x,y,kind\n" + "\n".join(f"{row % 7},{row * row % 11},{'ab'[row % 2] if row < 6 else ''}" for row in range(30))
ACTS = (
    "pick row check step draw review share find clear brush label remove undo redo add-class weight middle take-up "
    "start-over column cancel refused refresh dismiss find-class give-class edit-class rename-class merge-class "
    "delete-class flag accept withdraw dialog open-visit merge-visit open-file list told queue skip back "
    "goes-on rows found number"
).split()
# A fit takes a while on a computer that is busy.
FUZZ = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
ASKED = {"client": "tab", "events": [], "shown": None, "marks": None, "dark": False}

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner))
content_types = st.sampled_from(["application/json", "text/plain", "multipart/form-data; boundary=x", "", "\x7f"])


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path_factory.mktemp("state")))
        workspace = Workspace()
        table = read_upload("rows.csv", ROWS.encode()).table
        workspace.show(open_table(table, ColumnRoles("kind"), name="rows.csv", place="state folder"))
        yield workspace


@pytest.fixture(scope="module")
def app(workspace):
    return make_app(workspace)


@pytest.fixture
def ask(app, workspace, caplog):
    """Send a request and hold the answer against what must hold for every one of them."""
    client = app.server.test_client()

    def send(method, path, **options):
        caplog.clear()
        before = workspace.state()
        answer = client.open(path, method=method, **options)
        assert answer.status_code < 500
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
        if answer.status_code >= 400:
            assert workspace.state() == before
            assert len(answer.get_data()) < 5_000
            assert b"<html" not in answer.get_data()
        answer.close()
        return answer

    return send


def paths(app):
    rules = {str(rule) for rule in app.server.url_map.iter_rules()}
    filled = [rule.replace("<path:filename>", "page.js").replace("<string:package_name>", "dash") for rule in rules]
    return sorted(
        rule.replace("<path:fingerprinted_path>", "a.js").replace("<path:path>", "nowhere") for rule in filled
    )


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_no_route_fails_for_any_method(app, ask, method):
    for path in [*paths(app), "/_dash-component-suites/nothing/a.js"]:
        ask(method, path)


@FUZZ
@given(body=st.binary(max_size=200) | anything.map(lambda value: json.dumps(value).encode()), kind=content_types)
def test_no_route_fails_for_any_body(app, ask, body, kind):
    ask("POST", "/upload", data=body, content_type=kind)
    for path in ("/events", "/rows", "/_dash-update-component", "/state"):
        assert ask("POST", path, data=body, content_type=kind).status_code >= 400


@FUZZ
@given(name=st.sampled_from(sorted(ASKED)), value=anything)
def test_no_field_of_a_request_fails_for_any_value(ask, name, value):
    ask("POST", "/events", json={**ASKED, name: value})
    assert ask("POST", "/events", json={other: ASKED[other] for other in ASKED if other != name}).status_code == 400


@FUZZ
@given(
    events=st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "number": st.integers(1, 9) | anything,
                "act": st.sampled_from(ACTS) | anything,
                "value": st.integers(-3, 40) | st.integers(-3, 40).map(str) | anything,
                "points": st.lists(st.integers(-3, 40), max_size=3) | anything,
                "new": anything,
                "name": st.sampled_from(["a", "b", "c"]) | anything,
                "queue": st.sampled_from(["suggested", "flagged", "nonsense"]) | anything,
            },
        ),
        max_size=3,
    ),
    client=st.text("abc", min_size=1, max_size=3),
)
def test_no_event_fails_whatever_it_asks_for(ask, events, client):
    ask("POST", "/events", json={**ASKED, "client": client, "events": events})


def test_of_several_events_none_is_done_when_one_is_malformed(ask):
    good, bad = {"number": 1, "act": "add-class", "value": "new"}, {"number": 2, "act": "row", "value": [1]}
    answer = ask("POST", "/events", json={**ASKED, "client": "several", "events": [good, bad]})
    assert answer.status_code == 400
    assert "row needs a whole number" in answer.text


def callbacks(app):
    """Return a well-formed request for each callback, as the page sends it."""
    for output, known in app.callback_map.items():
        outputs = [
            dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in output.strip(".").split("...")
        ]
        inputs, state = ([{**part, "value": None} for part in known[kind]] for kind in ("inputs", "state"))
        yield {"output": output, "outputs": outputs, "inputs": inputs, "changedPropIds": [], "state": state}


@FUZZ
@given(data=st.data())
def test_no_callback_of_dash_fails_for_any_value(app, ask, data):
    request = deepcopy(data.draw(st.sampled_from(list(callbacks(app)))))
    if data.draw(st.booleans()):
        request["inputs"][0]["value"] = data.draw(anything)
    else:
        request[data.draw(st.sampled_from(sorted(request)))] = data.draw(anything)
    ask("POST", "/_dash-update-component", json=request)


def test_a_callback_gets_what_it_asks_for(app, ask):
    (repaint,) = [request for request in callbacks(app) if request["inputs"][0]["id"] == "repaint"]
    repaint["inputs"][0]["value"] = {"client": "tab", "event": 0}
    repaint["changedPropIds"] = ["repaint.data"]
    assert ask("POST", "/_dash-update-component?endId=abc~1", json=repaint).status_code == 200
    assert ask("POST", "/_dash-update-component?cancelJob=1", json=repaint).status_code == 400


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b"7" * 100_000])
def test_json_that_python_cannot_hold_is_refused(ask, body):
    for path in ("/events", "/rows", "/_dash-update-component"):
        assert ask("POST", path, data=body, content_type="application/json").status_code == 400


def test_bodies_that_are_too_large_are_refused_before_they_are_read(ask):
    for path in ("/events", "/rows", "/_dash-update-component"):
        answer = ask("POST", path, data=b" " * (MOST_JSON_BYTES + 1), content_type="application/json")
        assert answer.status_code == 413
        assert f"{MOST_JSON_BYTES:,}" in answer.text


@FUZZ
@given(name=st.text(max_size=10) | st.sampled_from(["..", ".", "a" * 300 + ".csv"]), body=st.binary(max_size=50))
def test_no_upload_fails_for_any_name_and_content(ask, name, body):
    answer = ask("POST", "/upload", query_string={"name": name.encode("utf-8", "replace")}, data=body)
    assert "/tmp" not in answer.text


@FUZZ
@given(
    header=st.sampled_from(["Host", "Origin", "Cookie", "Content-Length"]), value=st.text("ab[]:/.%é0-", max_size=12)
)
def test_no_header_makes_a_route_fail(ask, header, value):
    ask("GET", "/state", headers={header: value})
