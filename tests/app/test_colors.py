"""A class has one color: in the panels, on the map, and in a report on the same table."""

import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("dash", reason="the page comes with the extra `app`")
pytest.importorskip("jinja2", reason="the report comes with the extra `label`")

from dash._utils import to_json

from labeled_tables import SCRIPTS, fitted, make_blobs, view_of
from semikpca._palette import class_color
from semikpca.app import _panels as panels
from semikpca.app._figure import _color_scale
from semikpca.app._session import LabelingSession
from semikpca.report import render_label_report
from semikpca.tables import ColumnRoles


def colors_of_the_page(snapshot):
    """Return the color in light and dark of each class in the table of classes."""
    found = {}
    for name, line in zip(snapshot.classes, panels.classes(snapshot)[0].children[1].children, strict=True):
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
