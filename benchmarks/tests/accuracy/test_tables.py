"""Tables from records made by hand, so that every number can be checked on paper."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from semikpca_benchmarks.accuracy import (
    AccuracyCell,
    AccuracyRecord,
    MethodRecord,
    accuracy_groups,
    behind_rows,
    failure_rows,
    noise_rows,
    paired_test_rows,
    result_rows,
    summary_rows,
)
from semikpca_benchmarks.accuracy._tables import (
    BEHIND_COLUMNS,
    NOISE_COLUMNS,
    RESULT_COLUMNS,
    SUMMARY_COLUMNS,
    TEST_COLUMNS,
    holm,
)

CV, RBF, BEST, SVC, KNN = "semikpca cv", "semikpca rbf", "semikpca rbf best weight", "svc", "nearest neighbor"
FOUR_DIGITS = 5e-5  # tables are rounded to four digits after the point


def make_record(cell, accuracies, audit=None, n_classes=2):
    """Return a record of 1,000 unlabeled rows from accuracies in percent, None where a draw failed."""
    return AccuracyRecord(
        cell=cell,
        n_samples=1000 + cell.n_labeled,
        n_features=4,
        n_classes=n_classes,
        majority_share=0.6,
        methods={
            name: MethodRecord(
                hits=np.array([np.nan if value is None else 10.0 * value for value in values]),
                seconds=np.full(len(values), 0.5),
                failures={i: "ValueError: no" for i, value in enumerate(values) if value is None},
                audit_auc=None if audit is None or name not in audit else np.array(audit[name], dtype=float),
            )
            for name, values in accuracies.items()
        },
    )


def row_of(rows, **wanted):
    (found,) = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    return found


IRIS = AccuracyCell("iris", 2)


def test_results_hold_mean_spread_and_rank_of_each_method():
    record = make_record(IRIS, {CV: [80.0, 90.0], RBF: [70.0, 70.0], SVC: [90.0, 90.0], KNN: [60.0, 80.0]})
    rows = result_rows([record])
    assert tuple(rows[0]) == RESULT_COLUMNS
    assert [row["method"] for row in rows] == [CV, RBF, KNN, SVC]  # ours first, as the methods are listed
    ours = row_of(rows, method=CV)
    assert (ours["accuracy_mean"], ours["rank"], ours["n_draws"], ours["n_failed"]) == (85.0, 2.0, 2, 0)
    assert ours["accuracy_std"] == pytest.approx(50**0.5, abs=FOUR_DIGITS)
    assert (ours["labels"], ours["n_labeled"], ours["labels_per_class"]) == (2, 2, 1.0)
    assert [row_of(rows, method=name)["rank"] for name in (SVC, RBF, KNN)] == [1.0, 3.5, 3.5]  # equal means


def test_the_oracle_has_a_mean_but_no_rank_and_takes_none_away():
    rows = result_rows([make_record(IRIS, {CV: [80.0], BEST: [99.0], SVC: [70.0]})])
    assert row_of(rows, method=BEST)["accuracy_mean"] == 99.0
    assert row_of(rows, method=BEST)["rank"] is None
    assert row_of(rows, method=CV)["rank"] == 1.0


def test_a_failed_draw_is_left_out_of_the_mean_and_counted():
    record = make_record(IRIS, {CV: [80.0, 90.0, 100.0], SVC: [70.0, None, 90.0], KNN: [None, None, None]})
    rows = result_rows([record])
    svc, knn = row_of(rows, method=SVC), row_of(rows, method=KNN)
    assert (svc["accuracy_mean"], svc["n_failed"], svc["rank"]) == (80.0, 1, 2.0)
    assert (knn["accuracy_mean"], knn["accuracy_std"], knn["n_failed"], knn["rank"]) == (None, None, 3, 3.0)
    assert failure_rows([record]) == [
        {"cell": "iris-2", "method": KNN, "message": "ValueError: no", "n_draws": 3},
        {"cell": "iris-2", "method": SVC, "message": "ValueError: no", "n_draws": 1},
    ]


def test_groups_are_the_papers_shares_the_counts_of_digits_the_halves_and_all():
    cells = [
        AccuracyCell("heart", 3),
        AccuracyCell("heart", 27),
        AccuracyCell("sonar", 2),
        AccuracyCell("digits", 2),
        AccuracyCell("wine", 5),
        AccuracyCell("banana", 5),
        AccuracyCell("digits", 10, flipped=20),
    ]
    groups = accuracy_groups(cells)
    assert {name: [str(cell) for cell in members] for name, members in groups.items()} == {
        "paper 1%": ["heart-3", "sonar-2"],
        "paper 10%": ["heart-27"],
        "paper": ["heart-3", "heart-27", "sonar-2"],
        "digits 2": ["digits-2"],
        "digits": ["digits-2"],
        "tuning": ["wine-5"],
        "aside": ["banana-5"],
        "all": ["heart-3", "heart-27", "sonar-2", "digits-2", "wine-5", "banana-5"],
    }


def test_a_group_has_mean_accuracy_mean_rank_wins_and_close_cells():
    records = [
        make_record(AccuracyCell("heart", 3), {CV: [80.0], SVC: [83.0], KNN: [70.0], BEST: [99.0]}),
        make_record(AccuracyCell("heart", 6), {CV: [80.0], SVC: [80.0], KNN: [70.0], BEST: [99.0]}),
        make_record(AccuracyCell("heart", 14), {CV: [60.0], SVC: [63.1], KNN: [70.0], BEST: [99.0]}),
    ]
    rows = summary_rows(records)
    assert tuple(rows[0]) == SUMMARY_COLUMNS
    ours, svc, knn = (row_of(rows, group="paper", method=name) for name in (CV, SVC, KNN))
    assert ours["n_cells"] == 3
    assert ours["accuracy_mean"] == pytest.approx(220 / 3, abs=FOUR_DIGITS)
    assert ours["rank_mean"] == pytest.approx((2 + 1.5 + 3) / 3, abs=FOUR_DIGITS)
    # Close: exactly three points behind, equal, then ten behind. A shared win counts for both.
    assert (ours["wins"], ours["cells_within_3"]) == (1, 2)
    assert (svc["wins"], svc["cells_within_3"]) == (2, 2)
    assert (knn["wins"], knn["cells_within_3"]) == (1, 1)
    assert row_of(rows, group="paper 1%", method=CV)["n_cells"] == 1


def test_the_oracle_has_means_but_neither_ranks_nor_wins_and_is_no_peer():
    records = [make_record(IRIS, {CV: [80.0], BEST: [99.0], SVC: [79.0]})]
    oracle, ours = (row_of(summary_rows(records), group="all", method=name) for name in (BEST, CV))
    assert (oracle["accuracy_mean"], oracle["rank_mean"], oracle["wins"]) == (99.0, None, None)
    assert (ours["wins"], ours["cells_within_3"]) == (1, 1)


def test_our_other_classifier_is_no_peer_either():
    record = make_record(AccuracyCell("iris", 15), {CV: [80.0], RBF: [95.0], SVC: [81.0]})
    assert behind_rows([record]) == []
    assert row_of(summary_rows([record]), group="all", method=CV)["cells_within_3"] == 1


def test_a_method_without_a_result_in_a_cell_has_no_mean_over_the_group():
    records = [
        make_record(AccuracyCell("iris", 2), {CV: [80.0], BEST: [90.0], KNN: [None]}),
        make_record(AccuracyCell("wine", 1), {CV: [80.0], KNN: [70.0]}, n_classes=3),
    ]
    rows = summary_rows(records)
    assert row_of(rows, group="all", method=BEST)["accuracy_mean"] is None
    assert row_of(rows, group="paper", method=BEST)["accuracy_mean"] == 90.0
    knn = row_of(rows, group="all", method=KNN)
    assert (knn["accuracy_mean"], knn["rank_mean"], knn["n_failed"]) == (None, 2.0, 1)


def test_cells_far_behind_the_best_peer_are_listed_worst_first_from_five_labels_per_class_on():
    records = [
        make_record(AccuracyCell("iris", 8), {CV: [50.0], SVC: [99.0]}),  # four labels per class: too few
        make_record(AccuracyCell("iris", 15), {CV: [80.0], SVC: [83.0], BEST: [99.0]}),  # three points: close
        make_record(AccuracyCell("heart", 14), {CV: [80.0], SVC: [83.1], KNN: [84.0]}),
        make_record(AccuracyCell("wine", 5), {CV: [60.0], SVC: [70.0], KNN: [65.0]}, n_classes=3),
        make_record(AccuracyCell("digits", 10, flipped=40), {CV: [10.0], SVC: [70.0]}, n_classes=10),
    ]
    rows = behind_rows(records)
    assert tuple(rows[0]) == BEHIND_COLUMNS
    assert [(row["dataset"], row["labels"], row["best_peer"], row["difference"]) for row in rows] == [
        ("wine", 5, SVC, -10.0),
        ("heart", 14, KNN, -4.0),
    ]
    assert rows[1]["labels_per_class"] == 7.0


def test_a_cell_in_which_the_reference_always_failed_is_listed_as_the_worst_loss():
    rows = behind_rows([make_record(AccuracyCell("iris", 15), {CV: [None], SVC: [80.0]})])
    assert [(row["reference_mean"], row["difference"]) for row in rows] == [(0.0, -80.0)]


def test_paired_tests_are_over_cells_and_over_data_sets():
    generator = np.random.default_rng(3)
    cells = [AccuracyCell(name, n) for name in ("heart", "iris", "sonar") for n in {"heart": (3, 6), "iris": (2, 3),
             "sonar": (2, 4)}[name]]  # fmt: skip
    ours, theirs = generator.uniform(60, 90, 6).round(1), generator.uniform(60, 90, 6).round(1)
    records = [make_record(cell, {CV: [a], SVC: [b]}) for cell, a, b in zip(cells, ours, theirs, strict=True)]
    rows = paired_test_rows(records)
    assert tuple(rows[0]) == TEST_COLUMNS
    by_cell = row_of(rows, group="all", unit="cells", peer=SVC)
    assert by_cell["n_pairs"] == 6
    assert by_cell["difference_mean"] == pytest.approx((ours - theirs).mean(), abs=FOUR_DIGITS)
    assert by_cell["p_value"] == pytest.approx(wilcoxon(ours, theirs).pvalue, rel=1e-3)  # four digits
    assert (by_cell["wins"], by_cell["losses"]) == ((ours > theirs).sum(), (ours < theirs).sum())
    by_set = row_of(rows, group="all", unit="data sets", peer=SVC)
    pairs = (ours - theirs).reshape(3, 2).mean(axis=1)
    assert by_set["n_pairs"] == 3
    assert by_set["p_value"] == pytest.approx(wilcoxon(pairs).pvalue, rel=1e-3)


def test_equal_results_are_no_evidence():
    records = [make_record(AccuracyCell("heart", n), {CV: [80.0], SVC: [80.0]}) for n in (3, 6)]
    row = row_of(paired_test_rows(records), group="all", unit="cells", peer=SVC)
    assert (row["ties"], row["p_value"], row["p_value_holm"]) == (2, 1.0, 1.0)


def test_only_peers_are_tested_against_and_nobody_without_the_reference():
    everyone = {CV: [80.0], RBF: [70.0], BEST: [90.0], SVC: [60.0]}
    records = [make_record(AccuracyCell("heart", n), everyone) for n in (3, 6)]
    assert {row["peer"] for row in paired_test_rows(records)} == {SVC}
    without = [record.without([CV]) for record in records]
    assert paired_test_rows(without) == behind_rows(without) == []


def test_p_values_are_corrected_by_holms_rule():
    # By hand: 4 · 0.01, then max(0.04, 3 · 0.02), max(0.06, 2 · 0.04), max(0.08, 0.03 · 1 out of order) and so on.
    assert holm([0.04, 0.01, 0.5, 0.02]) == pytest.approx([0.08, 0.04, 0.5, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_noise_has_accuracies_ranks_and_the_area_of_the_audit():
    cell = AccuracyCell("digits", 10, flipped=40)
    record = make_record(cell, {CV: [90.0, 92.0], SVC: [70.0, 72.0]}, {CV: [0.9, np.nan]}, n_classes=10)
    rows = noise_rows([record, make_record(AccuracyCell("digits", 10), {CV: [99.0]}, n_classes=10)])
    assert tuple(rows[0]) == NOISE_COLUMNS
    assert len(rows) == 2
    ours, svc = (row_of(rows, method=name) for name in (CV, SVC))
    assert (ours["flipped_percent"], ours["accuracy_mean"], ours["rank"]) == (40, 91.0, 1.0)
    assert (ours["audit_auc_mean"], ours["audit_auc_std"]) == (0.9, 0.0)
    assert svc["audit_auc_mean"] is None
    assert result_rows([record]) == []  # wrong labels are no part of the other tables
