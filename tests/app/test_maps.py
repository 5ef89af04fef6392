"""The neighborhood layout: what it keeps together, that it comes out the same, where it is kept, who waits for it."""

import os
import threading

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

pytest.importorskip("dash", reason="the page comes with the extra `app`")

from semikpca.app import Workspace, make_app, open_table
from semikpca.app import _neighborhoods as layouts
from semikpca.app._opening import read_upload
from semikpca.tables import ColumnRoles, read_table
from semikpca.workflow import row_map

PATIENCE = 120  # seconds until a thread that should end is given up on
N_GROUPS = 6


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))
    return tmp_path / "state"


def groups(rng, n_rows=120):
    """Groups in more dimensions than a plane has, and which row is in which."""
    group = np.arange(n_rows) % N_GROUPS
    return rng.standard_normal((n_rows, 8)) + 7.0 * np.eye(8)[group], group


def steadily(done, total):
    return True


def laid_out(X, report=steadily):
    return layouts.neighborhoods(X, row_map(X).coordinates, report)


# -- the layout --------------------------------------------------------------------------------------------------


@pytest.fixture
def package():
    pytest.importorskip("openTSNE", reason="the layout comes with the extra `layout`")


def test_neighbors_stay_neighbors_better_than_among_two_components(package, rng):
    X, group = groups(rng)
    components, places = row_map(X).coordinates, laid_out(X)
    assert places.shape == (len(X), 2)
    assert trustworthiness(X, places, n_neighbors=10) > trustworthiness(X, components, n_neighbors=10) + 0.05
    distances = np.linalg.norm(places[:, np.newaxis] - places, axis=2) + np.diag(np.full(len(X), np.inf))
    assert np.mean(group[distances.argmin(axis=1)] == group) > 0.95


def test_the_same_rows_have_the_same_layout(package, rng):
    X, _ = groups(rng)
    assert np.array_equal(laid_out(X), laid_out(X))


@pytest.mark.parametrize("n_rows", [1, 4, 5, 7])
def test_a_few_rows_have_a_layout_too(package, rng, n_rows):
    places = laid_out(groups(rng, n_rows)[0])
    assert places.shape == (n_rows, 2)
    assert np.isfinite(places).all()


def test_rows_that_are_all_alike_have_one_too(package):
    assert np.isfinite(laid_out(np.ones((20, 3)))).all()


def test_its_progress_is_told_to_the_end_and_it_can_be_stopped(package, rng):
    X, _ = groups(rng, 40)
    told = []
    laid_out(X, lambda *step: told.append(step) or True)
    assert told[-1] == (750, 750)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    with pytest.raises(layouts.StoppedError):
        laid_out(X, lambda done, total: done < 100)


# -- kept between starts -----------------------------------------------------------------------------------------


def test_a_layout_is_kept_by_what_it_was_computed_from(tmp_path, rng):
    X, _ = groups(rng)
    kept, places = layouts.KeptLayouts(tmp_path / "maps"), rng.standard_normal((len(X), 2))
    key = layouts.key_of(X)
    assert kept.load(key, len(X)) is None
    kept.save(key, places)
    assert np.array_equal(kept.load(key, len(X)), places.astype(np.float32))
    other = X.copy()
    other[3, 2] += 0.5
    assert layouts.key_of(other) != key
    assert layouts.key_of(X.reshape(-1, 4)) != key
    assert [file.suffix for file in (tmp_path / "maps").iterdir()] == [".npy"]


def with_objects(file):
    np.save(file, np.array([{}, {}], dtype=object), allow_pickle=True)


def cut_short(file):
    file.write_bytes(file.read_bytes()[:-8])


def of_other_rows(file):
    np.save(file, np.zeros((3, 2), dtype=np.float32))


def not_a_number(file):
    np.save(file, np.full((120, 2), np.nan, dtype=np.float32))


@pytest.mark.parametrize("spoil", [with_objects, cut_short, of_other_rows, not_a_number])
def test_a_damaged_file_is_as_good_as_none(tmp_path, rng, spoil):
    kept = layouts.KeptLayouts(tmp_path)
    kept.save("key", rng.standard_normal((120, 2)))
    spoil(tmp_path / "key.npy")
    assert kept.load("key", 120) is None


def test_old_layouts_go(tmp_path, rng):
    kept = layouts.KeptLayouts(tmp_path)
    for number in range(13):
        kept.save(f"{number}", rng.standard_normal((5, 2)))
        os.utime(tmp_path / f"{number}.npy", (number, number))
    assert sorted(int(file.stem) for file in tmp_path.iterdir()) == list(range(3, 13))


def test_a_folder_that_cannot_be_written_to_is_no_fault(tmp_path, rng):
    (tmp_path / "file").write_text("no folder", encoding="ascii")
    layouts.KeptLayouts(tmp_path / "file").save("key", rng.standard_normal((5, 2)))


# -- the switch on the page --------------------------------------------------------------------------------------


def table_text(rng):
    X, group = groups(rng)
    lines = [
        ",".join([*(f"{v:.3f}" for v in row), "ab"[g % 2] if i < 8 else ""])
        for i, (row, g) in enumerate(zip(X, group, strict=True))
    ]
    return "\n".join([",".join([*"stuvwxyz", "kind"]), *lines])


@pytest.fixture
def file(tmp_path, rng):
    file = tmp_path / "rows.csv"
    file.write_text(table_text(rng), encoding="utf-8")
    return file


def workspace_of(file):
    workspace = Workspace()
    opened = open_table(read_table(file), ColumnRoles("kind"), name=file.name, place="beside the file")
    workspace.show(opened)
    return workspace


def event(number, act, value="", **more):
    return {"number": number, "act": act, "value": value, **more}


def wait(workspace):
    if workspace.maps.running is not None:
        workspace.maps.running.thread.join(PATIENCE)


@pytest.fixture
def held(monkeypatch):
    """A layout that ends when the test says so."""
    gate, told = threading.Event(), []

    def slow(X, start, report):
        while not gate.wait(0.01):
            if not report(375, 750):
                told.append("stopped")
                raise layouts.StoppedError
        return np.column_stack([start[:, 1], start[:, 0]])

    monkeypatch.setattr(layouts, "neighborhoods", slow)
    monkeypatch.setattr(layouts, "is_installed", lambda: True)
    gate.told = told
    return gate


def test_labels_are_given_while_it_is_computed_and_all_tabs_see_it_then(file, held):
    workspace = workspace_of(file)
    before, state = workspace.table.map, workspace.state()
    workspace.handle("tab", [event(1, "layout", "neighborhoods")])
    running = workspace.maps.running
    assert workspace.table.map is before
    update = workspace.handle("tab", [event(2, "row", 30), event(3, "label", 1)])
    assert update.tab.message is None
    assert workspace.table.session.given[30] == "b"
    held.set()
    running.thread.join(PATIENCE)
    assert workspace.table.map.kind == "neighborhoods"
    assert np.array_equal(workspace.table.map.coordinates, before.coordinates[:, ::-1])
    assert workspace.state()[0] > state[0]
    assert workspace.table.session.given[30] == "b"
    assert workspace.handle("other", [], shown=list(state)).is_new_table
    workspace.handle("tab", [event(4, "layout", "components")])
    assert workspace.table.map is before
    workspace.handle("tab", [event(5, "pick", points=[7])])
    assert workspace.tab("tab").selected == [7]


def test_the_next_start_has_it_at_once(file, held):
    held.set()
    first = workspace_of(file)
    first.handle("tab", [event(1, "layout", "neighborhoods")])
    wait(first)
    assert len(list(file.with_name(".rows.csv.semikpca-map").iterdir())) == 1
    held.clear()
    second = workspace_of(file)
    second.handle("tab", [event(1, "layout", "neighborhoods")])
    assert second.maps.running is None
    expected = first.table.map.coordinates.astype(np.float32)
    assert np.array_equal(second.table.map.coordinates, expected)


def test_another_table_ends_the_work(file, held, rng):
    workspace = workspace_of(file)
    workspace.handle("tab", [event(1, "layout", "neighborhoods")])
    running = workspace.maps.running
    pending = read_upload("other.csv", table_text(rng).encode())
    workspace.show(open_table(pending.table, ColumnRoles("kind"), name="other.csv", place="state folder"))
    assert workspace.maps.progress() is None
    running.thread.join(PATIENCE)
    assert held.told == ["stopped"]
    assert workspace.table.map.kind == "components"


def test_going_back_to_the_components_ends_the_work_too(file, held):
    workspace = workspace_of(file)
    workspace.handle("tab", [event(1, "layout", "neighborhoods"), event(2, "layout", "components")])
    assert workspace.maps.running is None
    assert workspace.table.map.kind == "components"


def test_uploads_keep_theirs_in_the_state_folder(held, rng, state_folder):
    held.set()
    workspace = Workspace()
    pending = read_upload("rows.csv", table_text(rng).encode())
    workspace.show(open_table(pending.table, ColumnRoles("kind"), name="rows.csv", place="state folder"))
    workspace.handle("tab", [event(1, "layout", "neighborhoods")])
    wait(workspace)
    assert len(list((state_folder / "maps").iterdir())) == 1


def test_progress_is_told(file, held):
    workspace = workspace_of(file)
    client = make_app(workspace).server.test_client()
    assert client.get("/layout").get_json() == {"done": 0, "total": 0}
    workspace.handle("tab", [event(1, "layout", "neighborhoods")])
    while client.get("/layout").get_json()["done"] == 0:
        pass
    assert client.get("/layout").get_json() == {"done": 375, "total": 750}
    held.set()
    wait(workspace)


def test_a_failure_is_told_where_the_switch_is(file, held, monkeypatch, caplog):
    monkeypatch.setattr(layouts, "neighborhoods", lambda *about: 1 // 0)
    workspace = workspace_of(file)
    state = workspace.state()
    workspace.handle("tab", [event(1, "layout", "neighborhoods")])
    wait(workspace)
    assert workspace.state() != state
    assert "ZeroDivisionError" in str(workspace.maps.switch())
    assert workspace.table.map.kind == "components"
    assert "The layout of the map failed" in caplog.text


def test_without_the_package_the_page_says_how_to_get_it(file, monkeypatch):
    monkeypatch.setattr(layouts, "is_installed", lambda: False)
    workspace = workspace_of(file)
    update = workspace.handle("tab", [event(1, "layout", "neighborhoods")])
    assert "pip install 'semikpca[layout]'" in update.tab.message.text
    assert workspace.table.map.kind == "components"


@pytest.mark.parametrize("value", ["nonsense", ""])
def test_a_map_that_there_is_not_is_not_shown(file, value):
    workspace = workspace_of(file)
    before = workspace.state()
    workspace.handle("tab", [event(1, "layout", value)])
    assert workspace.state() == before
