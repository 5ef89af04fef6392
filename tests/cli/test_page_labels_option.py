"""``--with-page-labels``: labels of the page are told of, and taken where that is asked for."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

from semikpca.app._autosave import Autosave
from semikpca.app._number_session import NumberAutosave
from semikpca.datasets import make_apartments
from semikpca.tables import read_table
from semikpca.workflow import table_fingerprint
from small_tables import make_plants

LABEL = ("label", "plants.csv", "-l", "kind", "--id-column", "plant")


def given(frame):
    return {row: kind for row, kind in enumerate(frame["kind"]) if kind}


@pytest.fixture
def page(plants, tmp_path):
    """What the page keeps: the labels of the file, one of them corrected, one taken away, and two more."""
    frame, _ = make_plants()
    labels = given(frame)
    corrected, removed = list(labels)[:2]
    classes = sorted(set(labels.values()))
    labels[corrected] = next(kind for kind in classes if kind != labels[corrected])
    del labels[removed]
    new = [row for row in range(len(frame)) if not frame["kind"][row]][:3]
    labels |= {new[0]: classes[0], new[1]: classes[1]}
    file = tmp_path / "plants.csv"
    place = Autosave.beside(file, table_fingerprint(read_table(file), "kind"))
    place.save(classes, labels, "middle", (), {new[2]: classes[0]})
    return place, labels, (corrected, removed, *new)


def words(text):
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("command", ["label", "suggest", "audit"])
def test_labels_of_the_page_are_told_of(semikpca, page, tmp_path, command):
    result = semikpca(command, *LABEL[1:])
    assert result.exit_code == 0, result.output
    said = words(result.stderr)
    assert f"{len(page[1])} labels of the labeling page, saved on " in said
    assert "3 of them not in it. Add --with-page-labels to take them." in said


def test_labels_of_the_page_are_taken_and_go_before_those_of_the_file(semikpca, page, tmp_path):
    _, labels, (_, removed, first, second, accepted) = page
    result = semikpca(*LABEL, "--with-page-labels")
    assert result.exit_code == 0, result.output
    said = words(result.stderr)
    assert f"{len(labels)} labels of the labeling page, saved on " in said
    assert "1 row has another label in plants.csv; that of the page is taken." in said
    assert "1 row has a label in plants.csv and none on the page" in said
    assert "1 label was accepted unseen on the page; nothing is learned" in said
    frame, _ = make_plants()
    found = pd.read_csv(tmp_path / "plants.labeled.csv", dtype=str, keep_default_na=False)
    assert given(found) == {**given(frame), **labels}
    assert found["kind"][removed] == frame["kind"][removed]
    assert found["label_was_given"][first] == found["label_was_given"][second] == "true"
    assert found["label_was_given"][accepted] == "false"
    assert (tmp_path / "plants.csv").read_bytes() == frame.to_csv(index=False).encode()


def test_a_column_that_was_begun_on_the_page_need_not_be_in_the_file(semikpca, tmp_path):
    frame, names = make_plants()
    frame.drop(columns="kind").to_csv(tmp_path / "plants.csv", index=False)
    file = tmp_path / "plants.csv"
    kept = {row: names[row] for row in range(0, 40)}
    place = Autosave.beside(file, table_fingerprint(read_table(file), "kind"))
    place.save(sorted(set(kept.values())), kept, "middle")
    assert semikpca(*LABEL).exit_code == 1
    result = semikpca(*LABEL, "--with-page-labels")
    assert result.exit_code == 0, result.output
    assert given(pd.read_csv(tmp_path / "plants.labeled.csv", dtype=str, keep_default_na=False)) == kept


def test_the_same_labels_are_no_news(semikpca, plants, tmp_path):
    frame, _ = make_plants()
    file = tmp_path / "plants.csv"
    place = Autosave.beside(file, table_fingerprint(read_table(file), "kind"))
    place.save(sorted(set(given(frame).values())), given(frame), "middle")
    result = semikpca(*LABEL)
    assert result.exit_code == 0, result.output
    assert "labeling page" not in result.stderr


def test_labels_that_are_not_there_or_damaged_are_refused_where_they_are_asked_for(semikpca, plants, page, tmp_path):
    page[0].path.write_text("{")
    result = semikpca(*LABEL)
    assert result.exit_code == 0, result.output
    assert "damaged" in words(result.stderr)
    result = semikpca(*LABEL, "--with-page-labels", "--force")
    assert result.exit_code == 1
    assert "Without --with-page-labels the table is taken as it is" in words(result.stderr)
    page[0].path.unlink()
    result = semikpca(*LABEL, "--with-page-labels", "--force")
    assert result.exit_code == 1
    assert "There are no labels of the labeling page for plants.csv" in words(result.stderr)


def test_labels_of_other_rows_are_not_put_on_these(semikpca, plants, page, tmp_path):
    frame, _ = make_plants()
    frame.iloc[::-1].to_csv(tmp_path / "plants.csv", index=False)
    result = semikpca(*LABEL, "--with-page-labels")
    assert result.exit_code == 1
    assert "belong to other rows" in words(result.stderr)


# -- numbers -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def rents(tmp_path):
    """A table of rents, and what the page keeps of it: one corrected, and one more."""
    frame = make_apartments(60, 30)
    file = tmp_path / "rents.csv"
    frame.to_csv(file, index=False)
    labels = {row: float(rent) for row, rent in enumerate(frame["rent"]) if rent}
    new = next(row for row in range(60) if row not in labels)
    labels |= {next(iter(labels)): 512.25, new: 640.0}
    NumberAutosave.beside(file, table_fingerprint(read_table(file), "rent")).save((), labels, "middle")
    return file, labels, new


def test_numbers_of_the_page_are_told_of_and_taken(semikpca, rents):
    file, labels, new = rents
    command = "label", file.name, "-l", "rent", "--id-column", "apartment_id", "-o", "out.csv", "--force"
    told = semikpca(*command)
    assert told.exit_code == 0, told.output
    assert "2 of them not in it" in words(told.stderr)
    taken = semikpca(*command, "--with-page-labels")
    assert taken.exit_code == 0, taken.output
    written = pd.read_csv(file.parent / "out.csv")
    assert written["rent"][new] == 640.0
    assert written["rent"][next(iter(labels))] == 512.25
    assert written["label_was_given"].sum() == len(labels)


def test_classes_of_the_page_are_no_numbers(semikpca, rents):
    file, _, new = rents
    place = Autosave.beside(file, table_fingerprint(read_table(file), "rent"))
    place.save(["cheap"], {new: "cheap"}, "middle")
    command = "label", file.name, "-l", "rent", "-o", "out.csv", "--force"
    told = semikpca(*command)
    assert told.exit_code == 0, told.output
    assert "They are not used" in words(told.stderr)
    refused = semikpca(*command, "--with-page-labels")
    assert refused.exit_code == 1
    assert "are classes, and those of the table are numbers" in words(refused.stderr)


@pytest.mark.parametrize(("option", "kind"), [("", "numbers"), ("--numbers", "numbers"), ("--classes", "classes")])
def test_the_page_takes_numbers_as_it_is_told(semikpca, rents, monkeypatch, option, kind):
    served = []
    page = SimpleNamespace(url="http://localhost/", run=lambda: None)
    monkeypatch.setattr("semikpca.cli._app_command.serve", lambda workspace, **how: served.append(workspace) or page)
    result = semikpca("app", rents[0].name, "--label-column", "rent", "--no-browser", *option.split())
    assert result.exit_code == 0, result.output
    served[0].wait(60)
    assert served[0].table.kind.name == kind


def test_the_page_cannot_take_them_as_both(semikpca, rents):
    result = semikpca("app", rents[0].name, "--numbers", "--classes", "--no-browser")
    assert result.exit_code == 1
    assert "contradict each other" in words(result.stderr)
