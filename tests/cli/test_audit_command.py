"""``semikpca audit``: labels that look wrong come first, with why."""

import numpy as np
import pandas as pd
import pytest

from small_tables import make_plants

AUDIT = ("audit", "plants.csv", "-l", "kind", "--id-column", "plant")


def words(text):
    return " ".join(text.replace("│", " ").split())


@pytest.fixture
def wrong(tmp_path):
    """The tall ones are palms; one of them was labeled as a fern. Returns its name."""
    frame, _ = make_plants(n_labels=24)
    row = int(np.flatnonzero((frame["kind"] == "palm") & (frame["height"] != ""))[0])
    frame.loc[row, ["kind", "height", "leaves", "place"]] = ["fern", "65.0", "23", "shore"]
    frame.to_csv(tmp_path / "plants.csv", index=False)
    return frame["plant"][row]


def test_the_wrong_label_comes_first_with_what_the_others_say(semikpca, wrong):
    result = semikpca(*AUDIT)
    assert result.exit_code == 0, result.output
    said = words(result.stdout)
    first = said[said.index("P0") :]
    assert first.startswith(f"{wrong} fern palm ")
    assert "near P" in first
    assert "which are palm" in first
    assert "of 24 that could be judged" in said


def test_the_file_has_every_label_most_suspicious_first(semikpca, wrong, tmp_path):
    assert semikpca(*AUDIT, "-o", "audit.csv").exit_code == 0
    found = pd.read_csv(tmp_path / "audit.csv")
    assert list(found.columns) == [
        "row", "name", "given", "suggested", "suspicion", "suggested_probability", "looks_wrong", "nearest",
    ]  # fmt: skip
    assert len(found) == 24
    assert found["name"][0] == wrong
    assert f"P{found['row'][0] - 1:03d}" == wrong  # rows count from 1
    assert found["suspicion"].is_monotonic_decreasing
    assert found["looks_wrong"][0]
    assert found["nearest"][0].count("; ") == 2


def test_all_labels_are_printed_on_demand(semikpca, wrong):
    assert semikpca(*AUDIT, "--all").stdout.count("│ P") == 24


def test_nothing_wrong_is_said(semikpca, tmp_path, rng):
    group = np.arange(40) % 2
    frame = pd.DataFrame({"x": 20.0 * group + rng.normal(size=40), "y": rng.normal(size=40), "kind": ""})
    frame.loc[:9, "kind"] = np.array(["a", "b"])[group[:10]]
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "No label looks wrong of 10 that could be judged." in words(semikpca("audit", "t.csv", "-l", "kind").stdout)


def test_one_label_of_each_class_cannot_be_judged(semikpca, tmp_path):
    make_plants(n_labels=3)[0].to_csv(tmp_path / "plants.csv", index=False)
    said = words(semikpca(*AUDIT).stdout)
    assert "3 labels could not be judged" in said
    assert "looks wrong" not in said


def test_a_table_in_which_every_row_has_a_label_is_audited_too(semikpca, tmp_path):
    frame, names = make_plants(60)
    frame["kind"] = names
    swapped = int(np.flatnonzero(names == "palm")[3])
    frame.loc[swapped, "kind"] = "fern"
    frame.to_csv(tmp_path / "plants.csv", index=False)
    result = semikpca(*AUDIT, "-o", "audit.csv")
    assert result.exit_code == 0, result.output
    assert pd.read_csv(tmp_path / "audit.csv")["row"][0] == swapped + 1


def test_many_labels_without_an_empty_cell_are_audited_in_parts_and_a_note_says_so(semikpca, tmp_path, monkeypatch):
    monkeypatch.setattr("semikpca.workflow._audit.MOST_ROWS_ALL_LABELED", 50)
    monkeypatch.setattr("semikpca.workflow._audit.ROWS_OF_A_PART", 30)
    frame, names = make_plants(60)
    frame["kind"] = names
    swapped = int(np.flatnonzero(names == "palm")[3])
    frame.loc[swapped, "kind"] = "fern"
    frame.to_csv(tmp_path / "plants.csv", index=False)
    result = semikpca(*AUDIT, "-o", "audit.csv")
    assert result.exit_code == 0, result.output
    assert "All 60 rows have a label. They were held against each other in 2 parts" in words(result.stderr)
    assert pd.read_csv(tmp_path / "audit.csv")["row"][0] == swapped + 1
