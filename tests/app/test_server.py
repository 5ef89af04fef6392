"""The server: who may see the page, what it refuses, and what comes back from it."""

import csv
import io
import re

import numpy as np
import pytest

from semikpca.app import Workspace, make_app, open_table, serve
from semikpca.app._addresses import is_loopback
from semikpca.app._opening import read_upload
from semikpca.app._security import COOKIE
from semikpca.app._workspace import Workspace as Desk
from semikpca.tables import ColumnRoles

TOKEN = "a token of the test"


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))


def table_text(n_rows=40):
    generator = np.random.default_rng(5)
    side = np.arange(n_rows) % 2
    lines = ["x,y,kind"]
    for row in range(n_rows):
        x, y = generator.standard_normal(2) + 4 * side[row]
        lines.append(f"{x:.3f},{y:.3f},{'ab'[side[row]] if row < 6 else ''}")
    return "\n".join(lines)


@pytest.fixture
def workspace():
    pending = read_upload("rows.csv", table_text().encode())
    workspace = Workspace()
    workspace.show(open_table(pending.table, ColumnRoles("kind"), name="rows.csv", place="state folder"))
    return workspace


def client_of(workspace, **options):
    return make_app(workspace, **options).server.test_client()


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("example.org", False)],
)
def test_loopback_is_told_from_the_rest(host, expected):
    assert is_loopback(host) is expected


@pytest.mark.parametrize("host", ["127.0.0.1:8050", "localhost:1", "[::1]:8050"])
def test_the_own_address_is_answered(workspace, host):
    assert client_of(workspace).get("/state", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8050", "127.0.0.1.evil.example", "192.168.0.7"])
def test_a_foreign_name_for_this_computer_is_refused(workspace, host):
    for path in ("/", "/state", "/download", "/_dash-layout"):
        assert client_of(workspace).get(path, headers={"Host": host}).status_code == 403


def test_requests_of_other_pages_are_refused(workspace):
    client = client_of(workspace)
    for origin, status in (("http://evil.example", 403), ("null", 403), ("http://localhost", 400)):
        answer = client.post("/upload?name=a.csv", data=b"", headers={"Origin": origin})
        assert answer.status_code == status, origin


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_every_host_asks_for_the_token(workspace, host):
    client = client_of(workspace, host=host, token=TOKEN)
    for path in (
        "/",
        "/state",
        "/download",
        "/_dash-layout",
        "/_dash-dependencies",
        "/assets/page.js",
        "/?token=wrong",
    ):
        answer = client.get(path)
        assert answer.status_code == 403, path
        assert TOKEN not in answer.get_data(as_text=True)
    assert client.post("/upload?name=a.csv&token=wrong", data=b"a").status_code == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(workspace):
    client = client_of(workspace, host="0.0.0.0", token=TOKEN)
    welcome = client.get("/", query_string={"token": TOKEN})
    assert welcome.status_code == 302
    assert "token" not in welcome.headers["Location"]
    cookie = welcome.headers["Set-Cookie"]
    assert all(part in cookie for part in (COOKIE, "HttpOnly", "SameSite=Strict"))
    assert client.get("/state").status_code == 200


def test_a_port_that_is_taken_is_named(workspace):
    first = serve(workspace, port=0)
    try:
        with pytest.raises(ValueError, match=rf"Port {first.server.port} of 127.0.0.1 .*--port 0"):
            serve(workspace, port=first.server.port)
    finally:
        first.server.server_close()


def test_the_page_may_load_nothing_from_elsewhere(workspace):
    answer = client_of(workspace).get("/")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    assert not re.search(r"(src|href)=.?(https?:)?//", answer.get_data(as_text=True))


def test_an_upload_over_the_limit_is_refused_by_the_server_itself(workspace):
    client = client_of(workspace, limit_mb=1)
    before = workspace.state()
    answer = client.post("/upload?name=a.csv", data=b"a,b\n" + b"1,2\n" * 300_000)
    assert answer.status_code == 413
    assert "limit of 1 MB" in answer.get_json()["error"]
    assert workspace.state() == before


def test_a_bad_upload_says_what_is_wrong_and_changes_nothing(workspace):
    before = workspace.state()
    answer = client_of(workspace).post("/upload?name=a.csv", data=b"")
    assert answer.status_code == 400
    assert "empty" in answer.get_json()["error"]
    assert workspace.state() == before


def test_the_download_has_the_labels_of_the_page(workspace):
    workspace.handle("tab", [event(1, "row", 10), event(2, "label", 1)])
    answer = client_of(workspace).get("/download")
    assert "rows-labeled.csv" in answer.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.get_data(as_text=True))))
    assert [row["kind"] for row in rows[:6]] == ["a", "b"] * 3
    assert rows[10]["kind"] == "b"
    assert [row["label_was_given"] for row in rows].count("true") == 7


def test_a_download_without_predictions_has_the_same_columns(workspace):
    full = client_of(workspace).get("/download").get_data(as_text=True).splitlines()[0]
    workspace.handle("tab", [event(1, "pick", points=list(range(6))), event(2, "remove")])
    lines = client_of(workspace).get("/download").get_data(as_text=True).splitlines()
    assert lines[0] == full
    assert all(line.endswith(",,,false,false") for line in lines[1:])


# -- events ------------------------------------------------------------------------------------------------------


def event(number, act, value="", **more):
    return {"number": number, "act": act, "value": value, **more}


def n_labels(workspace):
    return int(np.sum(workspace.table.session.snapshot().given >= 0))


def test_an_event_that_comes_twice_counts_once(workspace):
    events = [event(1, "row", 10), event(2, "label", 0)]
    workspace.handle("tab", events)
    workspace.table.session.undo()
    workspace.handle("tab", events)
    assert n_labels(workspace) == 6


def test_events_of_a_tab_are_done_in_their_order(workspace):
    workspace.handle("tab", [event(2, "label", 0), event(1, "row", 10)])
    assert workspace.table.session.given[10] == "a"


def test_tabs_have_their_own_selection_and_share_the_labels(workspace):
    workspace.handle("one", [event(1, "row", 10)])
    workspace.handle("two", [event(1, "row", 11)])
    workspace.handle("one", [event(2, "label", 0)])
    update = workspace.handle("two", [event(2, "label", 1)], shown=list(workspace.state()))
    assert workspace.table.session.given[[10, 11]].tolist() == ["a", "b"]
    assert update.has_new_labels
    assert not update.is_new_table


def test_a_label_without_a_selection_is_explained(workspace):
    update = workspace.handle("tab", [event(1, "label", 0)])
    assert "No row is selected" in update.tab.message.text
    assert n_labels(workspace) == 6


def test_with_a_brush_every_click_labels(workspace):
    workspace.handle("tab", [event(1, "brush", "1"), event(2, "pick", points=[20]), event(3, "pick", points=[21, 22])])
    assert workspace.table.session.given[20:23].tolist() == ["b"] * 3
    workspace.handle("tab", [event(4, "clear"), event(5, "pick", points=[23])])
    assert workspace.table.session.given[23] is None


def test_the_bound_is_refused_with_a_message(workspace):
    before = workspace.table.session.snapshot()
    update = workspace.handle("tab", [event(1, "weight", 4.5)])
    assert update.tab.message.kind == "bound"
    assert workspace.table.session.snapshot() is before


def test_a_full_disk_is_told_and_the_label_not_given(workspace, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device", "labels.json")

    monkeypatch.setattr("semikpca.app._autosave.write_whole", full)
    update = workspace.handle("tab", [event(1, "row", 10), event(2, "label", 0)])
    assert "Nothing was changed" in update.tab.message.text
    assert "No space left" in update.tab.message.text
    assert n_labels(workspace) == 6


@pytest.mark.parametrize("act", ["unknown", "", None])
def test_unknown_events_do_nothing(workspace, act):
    before = workspace.state()
    assert workspace.handle("tab", [{"number": 1, "act": act}]).tab.message is None
    assert workspace.state() == before


def test_nothing_but_opening_is_done_without_a_table():
    desk = Desk()
    update = desk.handle("tab", [event(1, "label", 0), event(2, "undo"), event(3, "weight", 1.0)])
    assert update.tab.message is None
    assert desk.state() == (0, -1)


def test_a_new_label_column_can_be_begun():
    desk = Desk()
    desk.receive("rows.csv", b"x,y\n" + "\n".join(f"{row % 7},{row * row % 11}" for row in range(30)).encode())
    desk.handle("tab", [event(1, "column", "", new="1"), event(2, "add-class", "good"), event(3, "row", 3)])
    desk.handle("tab", [event(4, "label", 0)])
    assert desk.table.roles.label == "label"
    assert desk.table.session.given[3] == "good"


# -- what an answer brings ---------------------------------------------------------------------------------------------


def ask(client, *events, **more):
    """Post events as the page does."""
    asked = {"client": "tab", "events": events, "shown": None, "marks": None, "dark": False}
    return client.post("/events", json={**asked, **more})


def test_only_what_a_tab_does_not_show_yet_is_sent(workspace):
    client = client_of(workspace)
    first = ask(client).get_json()
    beside = {"selected", "flags"}  # what the table follows
    assert set(first["parts"]) == set(first["marks"]) - beside >= {"header", "metrics", "classes", "detail", "start"}
    assert first["selected"] == []
    assert first["figure"] is not None
    again = ask(client, shown=first["state"], marks=first["marks"]).get_json()
    assert (again["parts"], again["figure"], again["state"], again["selected"]) == ({}, None, None, None)
    brushed = ask(client, event(1, "brush", 0), shown=first["state"], marks=again["marks"]).get_json()
    assert set(brushed["parts"]) == {"toolbar"}
    picked = ask(client, event(2, "pick", points=[20]), shown=first["state"], marks=brushed["marks"]).get_json()
    assert {"header", "metrics", "classes", "detail"} <= set(picked["parts"])
    assert not {"toolbar", "start"} & set(picked["parts"])
    assert picked["state"] != first["state"]


def test_an_answer_that_was_lost_comes_again_with_all_its_parts(workspace):
    client = client_of(workspace)
    before = ask(client).get_json()
    sent = [event(1, "brush", 0), event(2, "pick", points=[20])]
    lost = ask(client, *sent, shown=before["state"], marks=before["marks"]).get_json()
    again = ask(client, *sent, shown=before["state"], marks=before["marks"]).get_json()
    assert again == lost
    assert workspace.table.session.snapshot().given[20] == 0


@pytest.mark.parametrize(
    "wrong",
    [{"marks": "none"}, {"events": 3}, {"events": [{"act": "undo"}]}, {"shown": 7}, {"events": [None]}],
)
def test_what_no_page_of_ours_sends_is_refused(workspace, wrong):
    client = client_of(workspace)
    answer = ask(client, **wrong)
    assert answer.status_code == 400
    assert "No events of this page" in answer.text
    assert client.post("/events", data="[", headers={"Content-Type": "application/json"}).status_code == 400
    assert client.post("/events", json=[1, 2]).status_code == 400


# -- which labels can be accepted unseen ---------------------------------------------------------------------------


def test_what_can_be_accepted_is_found_on_request(workspace):
    client = client_of(workspace)
    assert workspace.table.session.accepted(0.2) is None
    assert client.post("/acceptance").get_json() == {"ready": True, "error": None}
    assert workspace.table.session.accepted(0.2) is not None


def test_without_a_table_nothing_can_be_accepted():
    assert client_of(Workspace()).post("/acceptance").get_json() == {"ready": False, "error": None}


def test_a_fault_while_it_is_found_is_told_and_logged(workspace, monkeypatch, caplog):
    monkeypatch.setattr(type(workspace.table.session), "find_acceptance", lambda session: 1 // 0)
    answer = client_of(workspace).post("/acceptance").get_json()
    assert answer["ready"] is False
    assert "A fault of the program: ZeroDivisionError" in answer["error"]
    assert "What can be accepted was not found out" in caplog.text
