"""Records on disk: whole or not at all, and damage is seen."""

import json

import numpy as np
import pytest

from semikpca._files import write_whole
from semikpca.exceptions import RecordError
from semikpca.experiments import Cell, CellRecord, PaperSpec, RecordStore, run_cell

SPEC = PaperSpec(datasets=("iris",), repetitions=2, seed=1, n_weights=4)


@pytest.fixture(scope="module")
def record():
    return run_cell(SPEC, Cell("iris", 2))


@pytest.fixture
def store(tmp_path):
    store = RecordStore(tmp_path / "run", PaperSpec, CellRecord)
    store.begin(SPEC, resume=False)
    return store


def test_a_record_comes_back_as_it_was(store, record):
    store.write(record)
    again = store.read(record.cell)
    assert again.to_dict() == record.to_dict()
    assert again.models["semi_kpca_1"].hits.dtype == np.intp


def test_the_run_file_remembers_spec_and_versions(store):
    assert store.spec() == SPEC
    assert {"python", "numpy", "scipy", "scikit-learn", "semikpca"} <= set(store.versions())


def test_a_record_cut_anywhere_is_seen_as_damaged_and_computed_again(store, record):
    store.write(record)
    path = store.records / "iris-2.json"
    whole = path.read_bytes()
    for length in {0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 2}:
        path.write_bytes(whole[:length])
        with pytest.raises(RecordError, match=r"iris-2\.json is damaged.*--resume"):
            store.read(record.cell)
        cells, damaged = store.missing(SPEC)
        assert record.cell in cells
        assert len(damaged) == 1


def test_a_changed_number_is_seen(store, record):
    store.write(record)
    path = store.records / "iris-2.json"
    envelope = json.loads(path.read_text())
    envelope["content"]["models"]["semi_kpca_1"]["fixed_hits"][0] += 1
    path.write_text(json.dumps(envelope))
    with pytest.raises(RecordError, match="checksum"):
        store.read(record.cell)


def test_a_record_of_another_format_is_refused(store, record):
    store.write(record)
    path = store.records / "iris-2.json"
    envelope = json.loads(path.read_text())
    envelope["format"] = 99
    path.write_text(json.dumps(envelope))
    with pytest.raises(RecordError, match="format 99; this version reads 1"):
        store.read(record.cell)


def test_resuming_with_other_options_is_refused_with_the_difference(store):
    other = PaperSpec(datasets=("iris",), repetitions=3, seed=1, n_weights=4)
    with pytest.raises(RecordError, match="repetitions was 2, now 3"):
        store.begin(other, resume=True)


def test_starting_anew_leaves_no_record_of_the_old_run(store, record):
    store.write(record)
    store.begin(SPEC, resume=True)
    assert store.missing(SPEC)[0] == [cell for cell in SPEC.cells() if cell != record.cell]
    store.begin(SPEC, resume=False)
    assert store.missing(SPEC)[0] == list(SPEC.cells())


def test_a_missing_record_is_named(store):
    with pytest.raises(RecordError, match=r"no record .*iris-3\.json"):
        store.read(Cell("iris", 3))


def test_a_write_that_fails_keeps_the_old_file_and_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    write_whole(path, "old")

    def full_disk(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
