"""What the page says of the error weight and of the rows to label next, against the model and the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from plotly.io.json import to_json_plotly

from semikpca.app import Workspace, open_table
from semikpca.app import _panels as panels
from semikpca.app._opening import read_upload
from semikpca.datasets import make_support_tickets
from semikpca.tables import ColumnRoles
from semikpca.workflow import label_table


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))


def table_of(frame):
    return read_upload("rows.csv", frame.to_csv(index=False).encode()).table


def shown(workspace, name):
    tab = workspace.tab("tab")
    return to_json_plotly(panels.parts(workspace, tab)[name])


@pytest.fixture(scope="module")
def two_lines():
    """Rows on which a straight line decides, and no cluster does."""
    rng = np.random.default_rng(3)
    points = rng.uniform(-1, 1, size=(240, 10))
    side = np.where(points @ rng.normal(size=10) > 0, "up", "down")
    labels = np.where(np.arange(240) < 160, side, "")
    return pd.DataFrame(points.round(4), columns=list("abcdefghij")).assign(side=labels)


def test_where_plain_kernels_decide_the_panel_says_so_and_what_would_change_that(two_lines):
    workspace = Workspace()
    workspace.show(open_table(table_of(two_lines), ColumnRoles("side"), name="rows.csv", place="state folder"))
    session = workspace.table.session
    assert session.semi_kpca().share < 0.05, "the table must be one for plain kernels"
    text = shown(workspace, "weight")
    assert "Plain kernels decided: Semi-KPCA has" in text
    assert "Further labels change it" in text
    assert "which these labels do not rest on" in text
    before = session.snapshot().predicted
    np.testing.assert_array_equal(session.set_error_weight(0.5).predicted, before)


def test_where_semi_kpca_decides_the_panel_has_its_share():
    workspace = Workspace()
    frame = make_support_tickets(200, 40)
    workspace.show(open_table(table_of(frame), ColumnRoles("category"), name="rows.csv", place="state folder"))
    found = workspace.table.session.semi_kpca()
    assert found.decides
    assert json.dumps(found.in_words, ensure_ascii=False)[1:-1] in shown(workspace, "weight")


@pytest.mark.parametrize("n_labels", [20, 60])
def test_the_page_suggests_the_rows_that_the_command_suggests(n_labels):
    table, roles = table_of(make_support_tickets(300, n_labels)), ColumnRoles("category")
    opened = open_table(table, roles, name="rows.csv", place="state folder")
    advice = opened.session.advice()
    suggested = [row for row in advice.rows if row not in advice.checks]
    wanted = [row for row in label_table(table, roles).suggestions(10).tolist() if row not in advice.checks]
    assert len(suggested) >= 5
    assert suggested == wanted[: len(suggested)]


def test_each_suggestion_says_why(two_lines):
    workspace = Workspace()
    opened = open_table(table_of(two_lines), ColumnRoles("side"), name="rows.csv", place="state folder")
    workspace.show(opened)
    advice, snapshot = opened.session.advice(), opened.session.snapshot()
    lines = panels.suggestions(opened, snapshot, advice)[0].children
    for row, entry in zip(advice.rows, lines, strict=True):
        text = to_json_plotly(entry)
        if row in advice.checks:
            assert "random check" in text
            assert "stands for many" not in text
        elif snapshot.confidence[row] < 0.6:
            assert ", doubtful" in text
        else:
            assert ", stands for many" in text
