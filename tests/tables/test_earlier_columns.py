"""A table that was labeled before: its columns of labels are known again, and those of others are left alone."""

import numpy as np
import pandas as pd
import pytest

from semikpca.tables import ColumnRoles, Table, feature_columns, features_of, replaced_columns, settled_roles

ADDED = ["predicted_label", "confidence", "label_was_given", "looks_wrong"]
ROLES = ColumnRoles("kind")


def labeled(**more):
    """Return a table of six rows as ``semikpca label`` writes it; ``more`` changes columns, and None deletes one."""
    columns = {
        "size": ["1", "7", "3", "9", "4", "4"],
        "kind": ["fern", "moss", "", "", "", ""],
        "predicted_label": ["fern", "moss", "fern", "moss", "fern", "fern"],
        "confidence": ["0.91", "0.8", "0.66", "1", "0.5", "0.7"],
        "label_was_given": ["true", "true", "false", "false", "false", "false"],
        "looks_wrong": ["false"] * 6,
        **more,
    }
    frame = pd.DataFrame({name: cells for name, cells in columns.items() if cells is not None}, dtype=object)
    return Table(frame, features_of(frame), None, "csv")


def learned_from(table, roles=ROLES):
    return feature_columns(table, settled_roles(table, roles)[0])


def test_nothing_is_learned_from_the_labels_of_an_earlier_run_and_a_note_says_how_to_go_on():
    table = labeled()
    assert learned_from(table) == ["size"]
    _, (note,) = settled_roles(table, ROLES)
    assert "'predicted_label', 'confidence', 'label_was_given', 'looks_wrong' come from an earlier run" in note
    assert "copy them from 'predicted_label' into 'kind'" in note
    assert "--keep" in note
    assert replaced_columns(table, ROLES) == ADDED


def test_columns_of_two_earlier_runs_are_known_by_their_underscores():
    table = labeled()
    twice = labeled(**{f"{name}_": table.frame[name].tolist() for name in ADDED})
    assert learned_from(twice) == ["size"]
    assert replaced_columns(twice, ROLES) == [*ADDED, *(f"{name}_" for name in ADDED)]


@pytest.mark.parametrize("gone", ADDED)
def test_the_others_are_known_when_one_was_deleted(gone):
    table = labeled(**{gone: None})
    assert learned_from(table) == ["size"]


def test_types_of_other_formats_are_known_as_well():
    types = {"confidence": np.array([0.91, 0.8, np.nan, 1, 0.5, 0.7]), "looks_wrong": np.zeros(6, dtype=bool)}
    assert learned_from(labeled(**types)) == ["size"]
    assert learned_from(labeled(predicted_label=[None] * 6, confidence=[None] * 6)) == ["size"]  # before any label
    assert learned_from(labeled(confidence=["0,91", "0,8", "0,66", "1", "0,5", "0,7"])) == ["size"]


def test_what_suggest_and_audit_add_is_known():
    suggested = labeled(row=["3", "4", "6", "9", "2", "1"], label_was_given=None, looks_wrong=None)
    assert learned_from(suggested) == ["size"]
    assert replaced_columns(suggested, ROLES) == ["predicted_label", "confidence"]
    audited = {"suggested": ["fern"] * 6, "suspicion": ["0.1"] * 6, "suggested_probability": ["0.9"] * 6}
    joined = labeled(
        **dict.fromkeys(ADDED[:3]), given=["fern", "moss", "", "", "", ""], nearest=["P1; P2"] * 6, **audited
    )
    assert learned_from(joined) == ["size"]


def test_columns_of_these_names_with_other_cells_are_learned_from():
    alone = labeled(**{**dict.fromkeys(ADDED), "confidence": ["0.2", "0.5", "0.3", "0.1", "0.9", "0.4"]})
    assert learned_from(alone) == ["size", "confidence"]
    others = labeled(
        predicted_label=["rain", "sun"] * 3,
        confidence=["high", "low"] * 3,
        label_was_given=["by Ann", "by Bob"] * 3,
        looks_wrong=["a bit", "no"] * 3,
    )
    assert learned_from(others) == ["size", *ADDED]


def test_a_column_that_had_the_name_before_stays():
    given = labeled(confidence=["0.2", "0.5", "0.3", "0.1", "0.9", "0.4"])
    table = labeled(confidence=given.frame["confidence"].tolist(), confidence_=["0.91"] * 6)
    assert learned_from(table) == ["size", "confidence"]
    assert replaced_columns(table, ROLES) == ["predicted_label", "label_was_given", "looks_wrong", "confidence_"]


def test_a_column_that_is_kept_or_has_the_labels_is_neither_left_out_nor_replaced():
    kept = ColumnRoles("kind", keep=("confidence",))
    assert learned_from(labeled(), kept) == ["size", "confidence"]
    assert "confidence" not in replaced_columns(labeled(), kept)
    accepted = labeled(predicted_label=["fern", "moss", "fern", "", "", ""])
    assert "predicted_label" not in replaced_columns(accepted, ColumnRoles("predicted_label", exclude=("kind",)))


# -- numbers ---------------------------------------------------------------------------------------------------

NUMBERS = {
    "kind": ["1.5", "3.25", "", "", "", ""],
    "predicted_label": None,
    "confidence": None,
    "predicted_value": ["1.6", "3.1", "2.2", "2.9", "1.1", "-0.4"],
    "low": ["1.1", "2.6", "1.7", "", "0.6", "-0.9"],
    "high": ["2.1", "3.6", "2.7", "", "1.6", "0.1"],
}


def test_numbers_of_an_earlier_run_are_replaced_and_can_be_gone_on_from():
    table = labeled(**NUMBERS)
    assert learned_from(table) == ["size"]
    _, (note,) = settled_roles(table, ROLES)
    assert "copy them from 'predicted_value' into 'kind'" in note
    assert set(replaced_columns(table, ROLES)) == {"predicted_value", "low", "high", "label_was_given", "looks_wrong"}


def test_low_and_high_of_others_are_learned_from():
    table = labeled(**{**NUMBERS, "predicted_value": None, "label_was_given": None, "looks_wrong": None})
    assert learned_from(table) == ["size", "low", "high"]


def test_beside_low_and_high_of_others_ours_are_known_by_their_underscore():
    table = labeled(**NUMBERS, low_=NUMBERS["low"], high_=NUMBERS["high"])
    assert learned_from(table) == ["size", "low", "high"]


def test_a_column_of_words_that_is_called_predicted_value_is_not_ours():
    words = ["cheap", "dear", "dear", "cheap", "dear", "cheap"]
    table = labeled(**{**NUMBERS, "predicted_value": words, "label_was_given": None, "looks_wrong": None})
    assert learned_from(table) == ["size", "predicted_value", "low", "high"]
