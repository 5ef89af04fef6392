"""Labels that are accepted unseen: columns, rows to review, and the words for them."""

import numpy as np
import pandas as pd
import pytest

from semikpca.exceptions import TableError
from semikpca.labeling import AcceptedLabels, accept_labels
from semikpca.tables import ColumnRoles, Table, read_table, write_table
from semikpca.workflow import accepted_in_words, drawn_rows, label_table


@pytest.fixture(scope="module")
def clouds():
    """Two clouds that touch, and sixty labels; the last row is empty."""
    generator = np.random.default_rng(4)
    cluster = generator.integers(2, size=300)
    X = np.column_stack([4.0 * cluster, np.zeros(300)]) + generator.normal(size=(300, 2))
    frame = pd.DataFrame({"name": [f"r{i}" for i in range(300)], "a": X[:, 0], "b": X[:, 1]})
    frame["kind"] = np.where(cluster == 1, "right", "left").astype(object)
    frame.loc[60:, "kind"] = None
    frame.loc[299, ["a", "b"]] = np.nan
    return label_table(Table(frame, frame, None, "csv"), ColumnRoles("kind", id="name"))


def found_by(**changes):
    facts = {"error_rate": 0.05, "confidence": 0.9, "threshold": 0.8, "n_labels": 60, "n_labels_needed": None}
    facts |= {"rows": np.arange(1204), "labels": np.zeros(1204), "n_unlabeled": 1960} | changes
    return AcceptedLabels(**facts)


def test_accepted_rows_are_those_of_the_model_without_empty_ones(clouds):
    accepted = clouds.accepted(0.9)
    wanted = accept_labels(clouds.model, 0.1)
    assert 0 < len(wanted.rows) < 240
    assert set(np.flatnonzero(clouds.is_accepted(accepted))) == set(wanted.rows) - {299}


def test_every_row_without_a_label_is_accepted_or_to_be_reviewed_most_doubtful_first(clouds):
    accepted = clouds.accepted(0.9)
    review = clouds.to_review(accepted)
    both = np.concatenate([review, np.flatnonzero(clouds.is_accepted(accepted))])
    assert sorted(both) == list(range(60, 300))
    assert (np.diff(clouds.confidence[review]) >= 0).all()


def test_a_column_says_what_is_accepted_and_is_known_again(clouds, tmp_path):
    frame = clouds.to_frame(accepted=clouds.accepted(0.9))
    assert frame.columns[-1] == "accepted"
    assert not frame["accepted"][:60].any()  # labels that were given are nobody's to accept
    write_table(frame, tmp_path / "again.csv")
    again = label_table(read_table(tmp_path / "again.csv"), ColumnRoles("kind", id="name")).to_frame()
    assert "accepted" not in again.columns
    assert clouds.to_frame().columns.tolist() == again.columns.tolist()


def test_rows_for_a_person_have_their_numbers_and_what_is_predicted(clouds):
    rows = np.array([250, 70])
    frame = clouds.rows_frame(rows)
    assert frame["row"].tolist() == [251, 71]
    assert frame["name"].tolist() == ["r250", "r70"]
    assert frame["predicted_label"].tolist() == clouds.predicted[rows].tolist()
    assert frame.columns.tolist() == ["row", "name", "a", "b", "kind", "predicted_label", "confidence"]


def test_labels_that_were_not_drawn_do_not_count(clouds):
    fewer = clouds.with_drawn(np.arange(10, 100))
    assert fewer.acceptance.found.rows.tolist() == list(range(10, 60))
    assert fewer.estimate.counted == 50


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        (["yes", "no", "", None], [0]),
        ([1, 0, 1, 0], [0, 2]),
        ([True, False, None, True], [0, 3]),
        (["X", " y ", "", "0"], [0, 1]),
    ],
)
def test_a_column_says_which_labels_were_drawn(cells, rows):
    frame = pd.DataFrame({"drawn": pd.Series(cells, dtype=object)})
    assert drawn_rows(Table(frame, frame, None, "csv"), "drawn").tolist() == rows


def test_another_word_in_that_column_is_refused_with_its_place():
    frame = pd.DataFrame({"drawn": ["yes", "perhaps"]})
    with pytest.raises(TableError, match=r"Row 2 has 'perhaps' in the column 'drawn'.*Write yes or no"):
        drawn_rows(Table(frame, frame, None, "csv"), "drawn")


def test_words_say_how_many_and_what_is_promised():
    said = accepted_in_words(found_by())
    assert said == "1,204 of 1,960 rows can be accepted; at most 5% of them are wrong (with 90% confidence)"


def test_words_say_that_labels_are_too_few_and_what_they_allow():
    said = accepted_in_words(found_by(rows=np.arange(0), labels=np.zeros(0), n_labels=40, n_labels_needed=37))
    assert "takes 45 labels drawn at random at least, all of them found again, and there are 40" in said
    assert "no rate below 5.59%" in said  # 0.9441 ** 40 = 0.1: the rate at which 40 right ones are that unlikely
    assert said.endswith("About 37 more, drawn at random, would be needed")


def test_words_say_that_too_many_labels_were_not_found():
    said = accepted_in_words(found_by(rows=np.arange(0), labels=np.zeros(0), n_labels=80, n_labels_needed=100))
    assert "too many of the 80 labels were not found again. About 100 more" in said
