"""From a table to labels: what comes out, in which order, and what is said on the way."""

import numpy as np
import pandas as pd
import pytest

from semikpca.exceptions import TableError
from semikpca.tables import ColumnRoles, Table, read_table, write_table
from semikpca.workflow import LabelingOptions, audit_frame, fit_labels, label_table, prepare_table

ADDED = ["predicted_label", "confidence", "label_was_given", "looks_wrong"]


def test_most_rows_of_clear_kinds_are_labeled_right(labeled_plants, plants):
    assert np.mean(labeled_plants.predicted == plants[1]) > 0.9  # kinds overlap in one row of some twenty


def test_the_table_comes_back_as_it_was_with_four_columns_more(labeled_plants, plants):
    before = pd.read_csv(plants[0], dtype=str, keep_default_na=False)
    after = labeled_plants.to_frame()
    pd.testing.assert_frame_equal(after[before.columns], before, check_dtype=False)
    assert list(after.columns) == [*before.columns, *ADDED]
    assert after["label_was_given"].tolist() == (before["kind"] != "").tolist()
    assert after["confidence"].between(1 / 3, 1).all()
    assert after["predicted_label"].isin(["fern", "moss", "palm"]).all()


def test_names_that_are_taken_get_an_underscore(two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
    frame = frame.rename(columns={"x0": "confidence", "x1": "confidence_"})
    frame["label"] = pd.Series([None if label == -1 else str(label) for label in y], dtype=object)
    after = label_table(Table(frame, frame, None, "parquet"), ColumnRoles("label")).to_frame()
    assert list(after.columns[-4:]) == ["predicted_label", "confidence__", "label_was_given", "looks_wrong"]
    assert after["confidence"].tolist() == frame["confidence"].tolist()


def test_a_table_that_was_labeled_before_gets_the_same_labels_in_the_same_columns(labeled_plants, tmp_path):
    path = tmp_path / "plants.labeled.csv"
    before = labeled_plants.to_frame()
    write_table(before, path)
    again = label_table(read_table(path), ColumnRoles("kind", id="plant")).to_frame()
    pd.testing.assert_frame_equal(again, before, check_dtype=False)


def test_given_labels_stay_numbers_where_they_are_numbers(label_numbers, two_classes):
    X, y = two_classes
    labels = [None if label == -1 else 10 * int(label) + 1 for label in y]
    labeled = label_numbers(X, labels)
    assert set(labeled.predicted) == {1, 11}
    assert all(isinstance(label, int) for label in labeled.predicted)
    assert labeled.given.tolist() == labels


def test_the_order_of_rows_does_not_matter(labeled_plants, plants):
    table = read_table(plants[0])
    order = np.random.default_rng(0).permutation(len(table.frame))
    mixed = Table(
        table.frame.iloc[order].reset_index(drop=True), table.features.iloc[order].reset_index(drop=True), None, "csv"
    )
    labeled = label_table(mixed, ColumnRoles("kind", id="plant"))
    assert labeled.predicted.tolist() == labeled_plants.predicted[order].tolist()


def test_the_confidence_is_the_probability_of_the_predicted_label(labeled_plants):
    chances = labeled_plants.model.label_distributions_
    assert labeled_plants.confidence == pytest.approx(chances.max(axis=1))
    assert labeled_plants.model.classes_[chances.argmax(axis=1)].tolist() == labeled_plants.predicted.tolist()


def test_steps_are_reported_in_their_order(plants):
    said = []
    label_table(read_table(plants[0]), ColumnRoles("kind", id="plant"), progress=lambda *report: said.append(report))
    names = list(dict.fromkeys(step for step, _, _ in said))
    assert names == ["Columns to numbers", "Neighbors and kernels", "Labels"]
    for name in names:
        reports = [(done, total) for step, done, total in said if step == name]
        assert reports[0][0] == 0
        assert reports[-1][0] == reports[-1][1] > 0


# -- wrong labels, and why ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_a_wrong_label(label_numbers):
    generator = np.random.default_rng(8)
    cluster = np.arange(80) % 2
    X = np.column_stack([8.0 * cluster, np.zeros(80)]) + generator.normal(size=(80, 2))
    labels = [None] * 80
    for row in range(20):
        labels[row] = "left" if cluster[row] == 0 else "right"
    labels[6] = "right"  # stands among the left ones
    return X, cluster, label_numbers(X, labels)


def test_a_wrong_label_is_flagged_and_nothing_else(with_a_wrong_label):
    _, _, labeled = with_a_wrong_label
    assert np.flatnonzero(labeled.looks_wrong).tolist() == [6]
    assert labeled.to_frame()["looks_wrong"].sum() == 1


def test_the_audit_says_what_speaks_against_a_label(with_a_wrong_label):
    _, cluster, labeled = with_a_wrong_label
    first = audit_frame(labeled).iloc[0]
    assert (first["row"], first["given"], first["suggested"], first["looks_wrong"]) == (6, "right", "left", True)
    assert first["suspicion"] > 0.9
    left = [row for row in range(20) if cluster[row] == 0 and row != 6]
    wanted = sorted(left, key=lambda row: float(np.sum((labeled.X[row] - labeled.X[6]) ** 2)))[:3]
    assert list(first["nearest"]) == wanted


def test_a_label_that_the_others_agree_with_is_likelier_right_than_wrong(label_numbers, five_classes):
    """With five classes and few labels a probability below one half is usual, and no reason to doubt a label."""
    X, y = five_classes
    labeled = label_numbers(X, [None if label == -1 else f"c{label}" for label in y])
    found = audit_frame(labeled)
    agreed = found["given"] == found["suggested"]
    assert (agreed & (found["suggested_probability"] < 0.5)).any()  # else this test says nothing
    assert (found["suspicion"][agreed] < 0.5).all()
    assert not found["looks_wrong"][agreed].any()


def test_the_only_label_of_a_class_is_not_judged(label_numbers, two_classes):
    X, y = two_classes
    labels = [None if label == -1 else str(label) for label in y]
    for row in np.flatnonzero(y == 1)[1:]:
        labels[row] = None
    found = audit_frame(label_numbers(X, labels))
    assert np.isnan(found["suspicion"].iloc[-1])
    assert found["given"].iloc[-1] == "1"
    assert not found["looks_wrong"].iloc[-1]


# -- what else is read off -------------------------------------------------------------------------------------


def test_suggestions_are_rows_without_a_label_each_once(labeled_plants):
    rows = labeled_plants.suggestions(12)
    assert len(set(rows.tolist())) == 12
    assert not labeled_plants.is_given[rows].any()


def test_kernel_shares_add_up_to_all_in_plain_words(labeled_plants):
    shares = labeled_plants.kernel_shares
    assert sum(shares.values()) == pytest.approx(1)
    assert set(shares) <= {"linear", "Laplacian", "RBF", "normalized RBF", "neighbor graph"}
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


def test_rows_that_no_label_reaches_are_known_by_number(label_numbers):
    generator = np.random.default_rng(4)
    X = generator.normal(size=(60, 2))
    X[40:] += 500  # a piece of its own, without a label
    labels = [None] * 60
    labels[0], labels[1], labels[2], labels[3] = "a", "b", "a", "b"
    labeled = label_numbers(X, labels, kernel="graph")
    assert labeled.unreachable.tolist() == list(range(40, 60))
    assert (labeled.confidence[40:] == 0.5).all()


# -- options of experts ----------------------------------------------------------------------------------------


def test_a_named_kernel_weight_and_number_of_components_are_used(label_numbers, two_classes):
    X, y = two_classes
    labels = [None if label == -1 else str(label) for label in y]
    labeled = label_numbers(X, labels, kernel="rbf", n_components_removed=2, error_weight=0.7)
    assert labeled.certificate.n_components_removed == 2
    assert labeled.certificate.relative_weight == pytest.approx(0.7, rel=1e-3)  # eigenvalues of float32
    assert set(labeled.kernel_shares) == {"RBF"}


def test_several_kernels_are_blended(label_numbers, two_classes):
    X, y = two_classes
    labels = [None if label == -1 else str(label) for label in y]
    assert set(label_numbers(X, labels, kernel="rbf, graph").kernel_shares) == {"RBF", "neighbor graph"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "graaph"}, "Did you mean graph?"),
        ({"kernel": ","}, "names no kernel"),
        ({"kernel": "precomputed"}, "no kernel 'precomputed'"),
        ({"error_weight": 1.0}, "between 0 and 1, got 1.0"),
        ({"error_weight": 0.0}, "between 0 and 1"),
        ({"error_weight": float("nan")}, "between 0 and 1"),
        ({"n_components_removed": -1}, "0 or more, got -1"),
    ],
)
def test_options_that_no_fit_could_use_are_refused(options, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        LabelingOptions(**options)


def test_columns_that_tell_no_rows_apart_are_refused(label_numbers):
    with pytest.raises(TableError, match="nothing to learn from"):
        label_numbers(np.ones((20, 3)), ["a", "b"] * 4 + [None] * 12)


def test_rows_that_are_nearly_equal_are_a_matter_of_the_table():
    labels = np.array(["a", "b"] * 4 + [None] * 12, dtype=object)
    with pytest.raises(TableError, match="the same in all rows, or nearly so") as refused:
        fit_labels(LabelingOptions().classifier(), np.ones((20, 3)), labels)
    assert refused.value.__cause__.n_samples == 20


def numbers_with(X, labels):
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
    frame["label"] = pd.Series(labels, dtype=object)
    return Table(frame, frame, None, "parquet")


def test_a_table_is_prepared_with_as_many_labels_as_are_allowed(two_classes):
    X, _ = two_classes
    none, every = [None] * len(X), ["a", "b"] * (len(X) // 2)
    roles = ColumnRoles("label")
    with pytest.raises(TableError, match="no label"):
        prepare_table(numbers_with(X, none), roles)
    with pytest.raises(TableError, match="Every row has a label"):
        prepare_table(numbers_with(X, every), roles)
    assert prepare_table(numbers_with(X, none), roles, allow_fewer=True).labels.tolist() == none
    prepared = prepare_table(numbers_with(X, every), roles, allow_all=True)
    assert prepared.labels.tolist() == every
    assert prepared.X.shape == X.shape
    assert prepared.X.dtype == np.float32


def test_rows_without_anything_get_the_class_shares(label_numbers, two_classes):
    X, y = two_classes
    X = np.vstack([X, np.full((3, X.shape[1]), np.nan)])
    labels = [*(None if label == -1 else "ab"[label] for label in y), None, None, "a"]
    labeled = label_numbers(X, labels)
    shares = labeled.model.class_shares_
    assert labeled.confidence[-3:] == pytest.approx(shares.max())
    assert set(labeled.predicted[-3:]) == {labeled.model.classes_[shares.argmax()]}
    assert any("3 rows have nothing" in warning for warning in labeled.warnings)
    np.testing.assert_array_equal(labeled.predicted[:-3], labeled.model.transduction_[:-3])


def test_labels_of_minus_one_in_words_are_told_in_a_note_and_no_warning(label_numbers, two_classes):
    X, y = two_classes
    labels = [{0: "-1", 1: "1"}.get(int(label)) for label in y]
    labeled = label_numbers(X, labels)  # warnings are errors in the tests
    assert any("'-1' is taken as a class" in warning for warning in labeled.warnings)
