"""Labels as people type them, and rows without anything, on the command line: told before the work, and once."""

import re

import numpy as np
import pandas as pd
import pytest

from small_tables import make_plants

OF_PLANTS = ("plants.csv", "--label-column", "kind", "--id-column", "plant")
ONE_CLASS, NO_LABEL = "are one class: 'FERN' (2 rows) as 'fern'", "'n/a' (4 rows) in 'kind' is taken as no label"
EMPTY = "3 rows have nothing in the columns that are learned from"


@pytest.fixture
def typed(tmp_path):
    """``plants.csv`` with two labels in capitals, four cells "n/a", and three rows without anything."""
    frame, _ = make_plants()
    ferns, unlabeled = np.flatnonzero(frame["kind"] == "fern"), np.flatnonzero(frame["kind"] == "")
    frame.loc[ferns[:2], "kind"] = "FERN"
    frame.loc[unlabeled[:4], "kind"] = "n/a"
    frame.loc[unlabeled[-3:], ["height", "leaves", "place"]] = ["", "n/a", ""]
    frame.to_csv(tmp_path / "plants.csv", index=False)
    return frame


def labeled(folder):
    return pd.read_csv(folder / "plants.labeled.csv", dtype=str, keep_default_na=False)


@pytest.mark.parametrize("command", ["label", "suggest", "audit"])
def test_what_was_made_of_the_labels_is_told_once(command, semikpca, typed):
    result = semikpca(command, *OF_PLANTS)
    assert result.exit_code == 0, result.output
    for note in (ONE_CLASS, NO_LABEL, EMPTY):
        assert result.output.count(note) == 1


def test_what_was_made_of_the_labels_is_told_before_the_work(semikpca, typed, monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("semikpca.cli._table_options.label_table", stop)
    assert ONE_CLASS in semikpca("label", *OF_PLANTS).output


def test_the_label_column_is_written_as_it_was(semikpca, typed, tmp_path):
    assert semikpca("label", *OF_PLANTS).exit_code == 0
    after = labeled(tmp_path)
    assert after["kind"].tolist() == typed["kind"].tolist()
    assert set(after["predicted_label"]) == {"fern", "moss", "palm"}
    assert (after["label_was_given"] == "true").tolist() == (~typed["kind"].isin(["", "n/a"])).tolist()


@pytest.mark.parametrize("command", ["label", "suggest", "audit"])
def test_labels_are_kept_as_typed_on_demand(command, semikpca, typed, tmp_path):
    result = semikpca(command, *OF_PLANTS, "--keep-labels-as-typed")
    assert result.exit_code == 0, result.output
    assert ONE_CLASS not in result.output
    assert NO_LABEL not in result.output
    if command == "label":
        assert re.search(r"^FERN +2 ", result.output, re.MULTILINE)  # classes of their own, with so many labels
        assert re.search(r"^n/a +4 ", result.output, re.MULTILINE)
        commands = re.findall("semikpca (?:suggest|audit) .*", result.output)  # to go on with
        assert commands
        assert all("--id-column plant --keep-labels-as-typed" in command for command in commands)


def test_rows_without_anything_have_the_commonest_label_and_its_share(semikpca, typed, tmp_path):
    assert semikpca("label", *OF_PLANTS, "--save", "model").exit_code == 0
    result = semikpca("predict", "model", "plants.csv")
    assert EMPTY in result.output
    predicted = pd.read_csv(tmp_path / "plants.predicted.csv", dtype=str, keep_default_na=False)
    for answers in (labeled(tmp_path), predicted):
        empty = answers[answers["leaves"] == "n/a"]
        assert len(empty) == 3
        assert empty["confidence"].astype(float).between(0.3, 0.4).all()  # three classes with five labels each
        assert empty["predicted_label"].nunique() == 1


@pytest.mark.parametrize("command", ["label", "suggest", "audit"])
def test_a_date_is_no_class(command, semikpca, tmp_path):
    frame, _ = make_plants()
    frame["sown"] = [f"2024-{1 + row // 28:02d}-{1 + row % 28:02d}" if row < 60 else "" for row in range(len(frame))]
    frame.to_csv(tmp_path / "plants.csv", index=False)
    result = semikpca(command, "plants.csv", "--label-column", "sown")
    assert result.exit_code == 1
    assert "60 different labels in the column 'sown' of plants.csv" in result.output
    assert "add --keep-labels-as-typed" in result.output
    assert not (tmp_path / "plants.labeled.csv").exists()
