"""Tables in which every row has a label, audited in parts."""

import numpy as np
import pandas as pd
import pytest

from semikpca.tables import ColumnRoles, Table, features_of
from semikpca.workflow import audit_table
from semikpca.workflow._audit import parts_of


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr("semikpca.workflow._audit.MOST_ROWS_ALL_LABELED", 100)
    monkeypatch.setattr("semikpca.workflow._audit.ROWS_OF_A_PART", 60)


def clusters(counts, rng):
    """A cluster of rows for each label."""
    labels = np.repeat(list("abcdefgh")[: len(counts)], counts)
    centers = 6.0 * np.eye(len(counts), 8)
    X = np.repeat(centers, counts, axis=0) + rng.normal(size=(len(labels), 8))
    order = rng.permutation(len(labels))
    return X[order], labels[order].astype(object)


def as_table(X, labels):
    frame = pd.DataFrame(X).add_prefix("x").assign(label=labels)
    return Table(frame, features_of(frame), None, "parquet", {})


def test_every_label_is_judged_once_and_wrong_ones_are_found_in_their_rows(small_parts, rng):
    X, labels = clusters([240, 180, 60], rng)
    own = np.flatnonzero(labels == "a")
    # Neither next to each other, where they would speak for each other, nor at the edge of their class.
    wrong = own[np.argsort(np.linalg.norm(X[own] - X[own].mean(axis=0), axis=1))[30:120:30]]
    labels[wrong] = "b"
    audited = audit_table(as_table(X, labels), ColumnRoles("label"))
    found = audited.found
    assert sorted(found["row"]) == list(range(480))
    assert found["given"].tolist() == labels[found["row"]].tolist()
    assert set(found["row"][:3]) == set(wrong)
    assert found["looks_wrong"][:3].all()
    assert found["looks_wrong"].sum() <= 6
    assert found["suspicion"].is_monotonic_decreasing
    for near, suggested in zip(found["nearest"], found["suggested"], strict=True):
        assert set(labels[list(near)]) <= {suggested}
    assert audited.estimate.counted == 480
    assert any("8 parts of up to 60 rows" in note for note in audited.warnings)


def test_a_class_too_rare_for_every_part_is_judged_as_well(small_parts, rng):
    X, labels = clusters([170, 5], rng)
    found = audit_table(as_table(X, labels), ColumnRoles("label")).found
    assert found["suspicion"].notna().all()
    assert sorted(found["row"]) == list(range(175))


def test_few_rows_are_held_against_each_other_at_once(rng):
    X, labels = clusters([40, 40], rng)
    audited = audit_table(as_table(X, labels), ColumnRoles("label"))
    assert not any("parts" in note for note in audited.warnings)


@pytest.mark.parametrize("counts", [[200], [150, 50], [100, 97, 3], [3] * 80, [2, 1] * 60 + [100]])
def test_each_row_is_judged_in_one_part_and_parts_are_of_a_size(small_parts, counts):
    labels = np.repeat(np.arange(len(counts)), counts).astype(object)
    parts = list(parts_of(labels, 0))
    judged = np.concatenate([rows[is_judged] for rows, is_judged in parts])
    assert sorted(judged) == list(range(len(labels)))
    assert max(len(rows) for rows, _ in parts) <= 2 * 60


def test_parts_have_the_same_shares_of_labels(small_parts):
    labels = np.array(["a"] * 150 + ["b"] * 90, dtype=object)
    for rows, _ in parts_of(labels, 0):
        assert abs(np.mean(labels[rows] == "a") - 150 / 240) < 0.02
