"""Saved labels: found again for the same rows, refused for others, never half a file."""

import json

import pytest

from semikpca.app._autosave import STATE_FOLDER_VARIABLE, Autosave, AutosaveError, fingerprint_of, state_folder

N_ROWS = 10


@pytest.fixture
def place(tmp_path):
    return Autosave(tmp_path / "folder" / "labels.json", "a" * 64)


def test_what_is_saved_is_loaded(place):
    place.save(["ä", "b", "empty"], {9: "b", 0: "ä"}, 0.25, {9, 3})
    saved = place.load(N_ROWS)
    assert saved.classes == ("ä", "b", "empty")
    assert saved.labels == {0: "ä", 9: "b"}
    assert saved.error_weight == 0.25
    assert saved.drawn == {3, 9}
    assert saved.saved_at.tzinfo is not None


def test_numbers_stay_numbers(place):
    place.save([1, 2], {3: 2}, "middle")
    assert place.load(N_ROWS).labels == {3: 2}


def test_nothing_is_loaded_where_nothing_was_saved(place):
    assert place.load(N_ROWS) is None


def test_labels_of_other_rows_are_refused(place):
    place.save(["a"], {0: "a"}, "middle")
    with pytest.raises(AutosaveError, match="belong to other rows"):
        Autosave(place.path, "b" * 64).load(N_ROWS)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 3},
        {"format": "2"},
        {"accepted": [[10, "a"]]},
        {"accepted": [[1, "stranger"]]},
        {"accepted": [[0, "a"]]},
        {"accepted": None},
        {"flagged": [10]},
        {"flagged": [True]},
        {"labels": [[10, "a"]]},
        {"labels": [[-1, "a"]]},
        {"labels": [[True, "a"]]},
        {"labels": [[0, "stranger"]]},
        {"labels": [[0, None]]},
        {"labels": 3},
        {"classes": ["a", "a"]},
        {"classes": [["a"]]},
        {"drawn": [10]},
        {"drawn": ["a"]},
        {"drawn": 3},
        {"error_weight": 1.0},
        {"error_weight": "half"},
        {"saved_at": "yesterday"},
    ],
)
def test_a_damaged_file_is_refused(place, change):
    place.save(["a"], {0: "a"}, "middle")
    content = json.loads(place.path.read_text(encoding="utf-8"))
    place.path.write_text(json.dumps({**content, **change}), encoding="utf-8")
    with pytest.raises(AutosaveError, match="damaged"):
        place.load(N_ROWS)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"text"', b"\xff\xfe\x00"])
def test_what_is_no_such_file_is_refused(place, content):
    place.path.parent.mkdir()
    place.path.write_bytes(content)
    with pytest.raises(AutosaveError, match=r"damaged|cannot be read"):
        place.load(N_ROWS)


def test_labels_lie_beside_their_file(tmp_path):
    assert Autosave.beside(tmp_path / "my table.csv", "f").path == tmp_path / ".my table.csv.semikpca-labels.json"


def test_labels_of_a_file_in_a_read_only_folder_go_to_the_state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(STATE_FOLDER_VARIABLE, str(tmp_path / "state"))
    monkeypatch.setattr("semikpca.app._autosave.os.access", lambda folder, how: False)
    assert Autosave.beside(tmp_path / "table.csv", "f" * 64).path.parent == tmp_path / "state"


def test_the_name_of_an_upload_cannot_leave_the_state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(STATE_FOLDER_VARIABLE, str(tmp_path))
    for name in ("../../etc/passwd", "a/b\\c:d.csv", "", "...", "x" * 500):
        place = Autosave.in_state_folder(name, "f" * 64)
        assert place.path.parent == tmp_path
        place.save(["a"], {}, "middle")
        assert place.path.is_file()


@pytest.mark.parametrize(
    ("platform", "variable", "tail"),
    [
        ("linux", "XDG_STATE_HOME", ("semikpca",)),
        ("win32", "LOCALAPPDATA", ("semikpca",)),
        ("darwin", "HOME", ("Library", "Application Support", "semikpca")),
    ],
)
def test_the_state_folder_is_the_usual_one(tmp_path, monkeypatch, platform, variable, tail):
    monkeypatch.delenv(STATE_FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr("semikpca.workflow._page_labels.sys.platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert state_folder() == tmp_path.joinpath(*tail)


def test_fingerprints_tell_parts_apart():
    assert fingerprint_of(b"ab", b"c") != fingerprint_of(b"a", b"bc")
    assert fingerprint_of(b"ab") == fingerprint_of(b"ab")
