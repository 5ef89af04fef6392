"""A class has one color and one shape: in the panels, on the map, and in a report on the same table."""

import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("dash", reason="the page comes with the extra `app`")
pytest.importorskip("jinja2", reason="the report comes with the extra `label`")

from dash._utils import to_json

from labeled_tables import SCRIPTS, fitted, make_blobs, view_of
from semikpca._palette import class_color, class_shape
from semikpca.app import _panels as panels
from semikpca.app import open_example, open_table
from semikpca.app._figure import _color_scale, map_figure
from semikpca.app._opening import read_upload
from semikpca.app._session import LabelingSession
from semikpca.app._workspace import Tab
from semikpca.report import render_label_report
from semikpca.tables import ColumnRoles


def lines_of_classes(snapshot):
    """Return the lines of the table of classes."""
    (table,) = (part for part in panels.classes(snapshot, Tab()) if getattr(part, "className", "") == "classes")
    return table.children[1].children


def colors_of_the_page(snapshot):
    """Return the color in light and dark of each class in the table of classes."""
    found = {}
    for name, line in zip(snapshot.classes, lines_of_classes(snapshot), strict=True):
        (style,) = set(re.findall(r"light-dark\((#\w{6}), (#\w{6})\)", to_json(line)))
        found[name] = style
    return found


def colors_of_the_report(view):
    """Return the same for the table of classes of a report, as its style sheet resolves them."""
    page = render_label_report(view, SCRIPTS)
    colors = [re.findall(rf"--class-{row['place']}: (#\w{{6}});", page) for row in view["classes"]]  # light, dark
    return {row["name"]: tuple(pair) for row, pair in zip(view["classes"], colors, strict=True)}


@pytest.fixture(scope="module", params=[3, 12])
def labeled(request):
    frame, labels = make_blobs(request.param)
    return fitted(frame, labels, ColumnRoles("label"))


def test_page_and_report_agree_on_the_color_of_every_class(labeled):
    session = LabelingSession(labeled.X, labeled.given)
    view = view_of(labeled, suggestions=())
    on_page = colors_of_the_page(session.snapshot())
    assert len(set(on_page.values())) == len(labeled.model.classes_)
    assert colors_of_the_report(view) == {str(name): color for name, color in on_page.items()}


def test_they_agree_too_where_classes_were_added_in_another_order(labeled):
    session = LabelingSession(labeled.X, np.full(len(labeled.X), None, dtype=object))
    for name in reversed(labeled.model.classes_.tolist()):
        session.add_class(name)
    assert colors_of_the_page(session.snapshot()) == colors_of_the_report(view_of(labeled, suggestions=()))


@pytest.mark.parametrize("dark", [False, True])
def test_the_map_has_the_colors_of_the_panels(dark):
    session = LabelingSession(np.eye(4), ["pear", "apple", None, None], classes=["quince"])
    snapshot = session.snapshot()
    assert snapshot.classes == ("quince", "apple", "pear")
    scale = [color for _, color in _color_scale(snapshot, dark)]
    expected = [class_color(place, dark) for place in (2, 0, 1)]
    assert [as_hex(color) for color in scale[2::2]] == expected
    assert [pair[dark] for pair in colors_of_the_page(snapshot).values()] == expected


def test_without_a_class_the_map_has_a_scale_all_the_same():
    snapshot = replace(LabelingSession(np.eye(4), [None] * 4).snapshot(), classes=())
    assert [place for place, _ in _color_scale(snapshot, dark=False)] == [0, 0.5, 0.5, 1]


def as_hex(color):
    return "#" + "".join(f"{int(part):02x}" for part in re.match(r"rgba\((\d+),(\d+),(\d+),", color).groups())


# -- shapes ------------------------------------------------------------------------------------------------------


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """A table of six classes on the page, the last of which was added there and has no label."""
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path))
    frame, labels = make_blobs(6)
    frame = frame.assign(label=[label if label != "class 5" else None for label in labels])
    table = read_upload("rows.csv", frame.to_csv(index=False).encode()).table
    opened = open_table(table, ColumnRoles("label"), name="rows.csv", place="state folder")
    opened.session.add_class("a class that comes first in the alphabet")
    return opened


def test_a_row_on_the_map_has_the_shape_of_its_class_as_in_the_report(opened):
    snapshot = opened.session.snapshot()
    rows, labels, _, _ = map_figure(opened, snapshot, Tab())["data"]
    model = opened.session.model()
    expected = [class_shape(model.classes_.tolist().index(label)) for label in model.transduction_.tolist()]
    assert rows["marker"]["symbol"] == expected
    assert len(set(expected)) > 3
    given = [label for label in opened.session.given.tolist() if label is not None]
    assert labels["marker"]["symbol"] == [class_shape(model.classes_.tolist().index(label)) for label in given]


def test_a_class_that_no_row_has_moves_no_color_until_one_has_it(opened):
    before = opened.session.snapshot()
    report = {name: class_color(place, False) for place, name in enumerate(opened.session.model().classes_.tolist())}
    colors = {name: pair[0] for name, pair in colors_of_the_page(before).items()}
    assert {name: colors[name] for name in report} == report
    opened.session.label([int(np.flatnonzero(before.given < 0)[0])], before.classes[-1])
    after = opened.session.snapshot()
    assert after.places[-1] == 0
    assert sorted(after.places) == sorted(before.places)


def test_the_panels_have_the_shapes_of_the_map(opened):
    snapshot = opened.session.snapshot()
    for place, line in zip(snapshot.places, lines_of_classes(snapshot), strict=True):
        assert re.findall(r'"className":"dot ([a-z-]+)"', to_json(line)) == [class_shape(place)]


def test_without_predictions_all_rows_have_one_shape(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path))
    opened = open_example("clusters")
    assert map_figure(opened, opened.session.snapshot(), Tab())["data"][0]["marker"]["symbol"] == "circle"
