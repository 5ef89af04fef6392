"""Tables that are opened in the background: what is shown meanwhile, what is answered, and what a failure leaves."""

import time
from threading import Event

import pytest
from plotly.io.json import to_json_plotly

from semikpca.app import Workspace, open_table
from semikpca.app._background import STAGES, Opening, OpeningStopped
from semikpca.app._callbacks import answer
from semikpca.app._opening import read_upload
from semikpca.exceptions import TableError
from semikpca.tables import ColumnRoles

PATIENCE = 60  # seconds until a test gives up
ROWS = "x,y,kind\n" + "\n".join(f"{i % 7}.{i},{4 * (i % 2)}.{i},{'ab'[i % 2] if i < 6 else ''}" for i in range(30))


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))


def opened(name="rows.csv"):
    return open_table(read_upload(name, ROWS.encode()).table, ColumnRoles("kind"), name=name, place="state folder")


class Tab:
    """A page: what it asks, and what it is told."""

    def __init__(self, workspace, name):
        self.workspace, self.name, self.number, self.shown, self.marks = workspace, name, 0, None, None
        self.parts, self.figure = {}, None

    def __call__(self, act="refresh", value="", **more):
        self.number += 1
        event = {"act": act, "value": value, "number": self.number, **more}
        asked = {"client": self.name, "events": [event], "shown": self.shown, "marks": self.marks, "dark": False}
        told = answer(self.workspace, asked, 50)
        self.parts |= told["parts"]
        self.shown, self.marks, self.figure = told["state"] or self.shown, told["marks"], told["figure"] or self.figure
        return told

    def says(self, part):
        return to_json_plotly(self.parts[part])


@pytest.fixture
def workspace():
    workspace = Workspace(in_background=True)
    workspace.show(opened())
    return workspace


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def begin_slowly(workspace, tab=None, made=None):
    """Begin an opening that goes on when it is let, and return what lets it."""
    may_go_on, has_begun = Event(), Event()

    def work(say):
        say("Columns to numbers")
        has_begun.set()
        assert may_go_on.wait(PATIENCE)
        say("Finding neighbors and kernels")
        if isinstance(made, Exception):
            raise made
        return made if made is not None else opened("next.csv")

    def tell(message):
        workspace.tell(message, tab)

    workspace.begin("next.csv", work, workspace.show, tell, "start")
    assert has_begun.wait(PATIENCE)
    return may_go_on


def test_the_old_rows_are_gone_at_once_and_the_steps_are_shown(workspace):
    tab = Tab(workspace, "one")
    tab()
    assert tab.figure["data"]
    go_on = begin_slowly(workspace)
    told = tab()
    assert (told["page"], told["waits"], told["figure"]["data"]) == ("asking", True, [])
    assert tab.parts["metrics"] == tab.parts["suggestions"] == tab.parts["classes"] == []
    assert "rows.csv" not in tab.says("header")
    assert "next.csv" in tab.says("start")
    assert "Columns to numbers" in tab.says("start")
    go_on.set()
    wait_for(lambda: workspace.opening is None)
    told = tab()
    assert (told["page"], told["waits"]) == ("working", False)
    assert "next.csv" in tab.says("header")
    assert told["figure"]["data"]


def test_other_requests_are_answered_meanwhile_and_labels_of_the_old_table_are_kept(workspace):
    before = workspace.opened
    other = Tab(workspace, "other")
    other("row", 20)
    go_on = begin_slowly(workspace)
    other("label", 0)  # by a tab that does not know yet
    assert before.session.given[20] == "a"
    assert before.session.autosave.load(30).labels[20] == "a"
    go_on.set()
    wait_for(lambda: workspace.opening is None)
    assert workspace.opened.name == "next.csv"


def test_two_tabs_show_the_same_before_and_after(workspace):
    tabs = Tab(workspace, "one"), Tab(workspace, "two")
    go_on = begin_slowly(workspace)
    assert [tab()["page"] for tab in tabs] == ["asking", "asking"]
    assert tabs[0].says("start") == tabs[1].says("start")
    go_on.set()
    wait_for(lambda: workspace.opening is None)
    assert [tab()["page"] for tab in tabs] == ["working", "working"]
    assert tabs[0].shown == tabs[1].shown


def test_a_failure_leaves_the_old_table_as_it_was_and_is_told_to_who_asked(workspace):
    before, one, two = workspace.opened, Tab(workspace, "one"), Tab(workspace, "two")
    one(), two()
    problem = TableError("rows.csv, line 3: 5 in the column 'x' is odd; leave the column out with --exclude 'x'.")
    go_on = begin_slowly(workspace, workspace.tab("one"), problem)
    one("refresh")
    go_on.set()
    wait_for(lambda: workspace.opening is None)
    assert (one()["page"], two()["page"]) == ("working", "working")
    assert workspace.opened is before
    assert one.figure["data"]
    assert "leave the column out." in one.says("banners")
    assert "--exclude" not in one.says("banners")
    assert "leave the column out." not in two.says("banners")


def test_a_fault_of_the_program_does_not_leave_the_page_waiting(workspace, caplog):
    tab = Tab(workspace, "one")
    tab()
    begin_slowly(workspace, workspace.tab("one"), RuntimeError("a fault")).set()
    wait_for(lambda: workspace.opening is None)
    assert tab()["page"] == "working"
    assert "A fault of the program: RuntimeError: a fault" in tab.says("banners")
    assert "opening failed" in caplog.text


def test_a_later_opening_takes_the_place_of_an_earlier_one(workspace):
    first = begin_slowly(workspace)
    earlier = workspace.opening
    second = begin_slowly(workspace, made=opened("last.csv"))
    second.set()
    wait_for(lambda: workspace.opening is None)
    first.set()
    assert earlier.is_stopped
    with pytest.raises(OpeningStopped):
        earlier.say("Drawing the map")
    assert workspace.opened.name == "last.csv"


def test_an_opening_can_be_stopped(workspace):
    tab, before = Tab(workspace, "one"), workspace.opened
    go_on = begin_slowly(workspace)
    assert tab("stop")["page"] == "working"
    go_on.set()
    assert workspace.opened is before
    assert workspace.opening is None


def test_an_upload_is_read_in_the_background_and_a_bad_one_is_told(workspace):
    tab = Tab(workspace, "one")
    tab()
    workspace.receive("next.csv", ROWS.encode())
    wait_for(lambda: workspace.opening is None)
    assert tab()["page"] == "asking"
    assert "Which column has the labels?" in tab.says("start")
    tab("cancel")
    workspace.receive("bad.csv", b"a,b\n1\n")
    wait_for(lambda: workspace.opening is None)
    assert tab()["page"] == "working"
    assert "1 cell where the header has 2" in tab.says("banners")


def test_a_column_that_cannot_be_opened_is_told_in_the_question_and_can_be_left_out(workspace):
    tab = Tab(workspace, "one")
    tab()
    rows = ROWS.replace("x,y,kind", "x,y,kind").replace("\n0.0,", "\ninf,")
    workspace.receive("next.csv", rows.encode())
    wait_for(lambda: workspace.opening is None)
    tab("column", "kind")
    wait_for(lambda: workspace.opening is None)
    assert tab()["page"] == "asking"
    assert "is infinite or too large" in tab.says("start")
    assert tab.parts["banners"] == []
    tab("leave-out", "x")
    tab("column", "kind")
    wait_for(lambda: workspace.opening is None)
    assert tab()["page"] == "working"
    assert "x" in workspace.table.roles.exclude


def test_what_happened_before_there_was_a_tab_is_told_to_the_first(workspace):
    begin_slowly(workspace, made=TableError("It cannot be.")).set()
    wait_for(lambda: workspace.opening is None)
    tab = Tab(workspace, "one")
    tab()
    assert "It cannot be." in tab.says("banners")
    other = Tab(workspace, "two")
    other()
    assert "It cannot be." not in other.says("banners")


def test_columns_that_the_command_line_named_are_not_missed_in_another_table():
    workspace = Workspace(roles=lambda label: ColumnRoles(label, id="name", text=("words",), exclude=("y", "z")))
    workspace.receive("rows.csv", ROWS.encode())
    workspace.handle("tab", [{"number": 1, "act": "column", "value": "kind"}])
    assert (workspace.table.roles.id, workspace.table.roles.text) == (None, ())
    assert workspace.table.roles.exclude == ("y",)


@pytest.mark.parametrize(
    ("step", "stage", "detail"),
    [
        ("Reading the table", 0, ""),
        ("Columns to numbers", 1, ""),
        ("Reading texts: 20 of 300", 1, "Reading texts: 20 of 300"),
        ("Finding neighbors and kernels", 2, ""),
        ("Drawing the map", 3, ""),
    ],
)
def test_what_is_told_of_the_work_belongs_to_a_stage(step, stage, detail):
    opening = Opening("rows.csv")
    opening.say(step)
    assert (opening.stage, opening.detail) == (stage, detail)
    assert len(STAGES) == 4


def test_every_step_that_is_told_is_one_of_a_stage():
    told = []
    open_table(
        read_upload("rows.csv", ROWS.encode()).table,
        ColumnRoles("kind"),
        name="rows.csv",
        place="state folder",
        say=told.append,
    )
    stages = []
    for step in told:
        opening = Opening("rows.csv", stage=-1)
        opening.say(step)
        stages.append(opening.stage)
    assert stages == sorted(stages)
    assert set(stages) == {1, 2, 3}
