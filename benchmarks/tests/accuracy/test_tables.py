"""Tables from records made by hand, so that every number can be checked on paper."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from made_records import folder_info, made_cell, made_record
from semikpca_benchmarks.accuracy import (
    BEHIND_COLUMNS,
    BEST_KERNEL,
    NOISE_COLUMNS,
    RESULT_COLUMNS,
    SUMMARY_COLUMNS,
    TEST_COLUMNS,
    AccuracyCell,
    AccuracyRecord,
    MethodRecord,
    behind_rows,
    failure_rows,
    noise_rows,
    paired_test_rows,
    result_rows,
    summary_rows,
)
from semikpca_benchmarks.accuracy._summary import holm

CV, RBF, BEST, SVC, KNN = "semikpca cv", "semikpca rbf", "semikpca rbf best weight", "svc", "nearest neighbor"
FOUR_DIGITS = 5e-5  # tables are rounded to four digits after the point


def row_of(rows, **wanted):
    (found,) = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    return found


IRIS = made_cell("iris", 2)


def test_results_hold_mean_spread_and_rank_of_each_method():
    record = made_record(IRIS, {CV: [80.0, 90.0], RBF: [70.0, 70.0], SVC: [90.0, 90.0], KNN: [60.0, 80.0]})
    rows = result_rows([record])
    assert tuple(rows[0]) == RESULT_COLUMNS
    assert [row["method"] for row in rows] == [CV, RBF, KNN, SVC]  # ours first, as the methods are listed
    ours = row_of(rows, method=CV)
    assert (ours["accuracy_mean"], ours["rank"], ours["n_draws"], ours["n_failed"]) == (85.0, 2.0, 2, 0)
    assert ours["accuracy_std"] == pytest.approx(50**0.5, abs=FOUR_DIGITS)
    assert (ours["labels"], ours["n_labeled"], ours["labels_per_class"]) == (2, 2, 1.0)
    assert [row_of(rows, method=name)["rank"] for name in (SVC, RBF, KNN)] == [1.0, 3.5, 3.5]  # equal means


def test_the_oracle_has_a_mean_but_no_rank_and_takes_none_away():
    rows = result_rows([made_record(IRIS, {CV: [80.0], BEST: [99.0], SVC: [70.0]})])
    assert row_of(rows, method=BEST)["accuracy_mean"] == 99.0
    assert row_of(rows, method=BEST)["rank"] is None
    assert row_of(rows, method=CV)["rank"] == 1.0


def test_a_failed_draw_is_left_out_of_the_mean_and_counted():
    record = made_record(IRIS, {CV: [80.0, 90.0, 100.0], SVC: [70.0, None, 90.0], KNN: [None, None, None]})
    rows = result_rows([record])
    svc, knn = row_of(rows, method=SVC), row_of(rows, method=KNN)
    assert (svc["accuracy_mean"], svc["n_failed"], svc["rank"]) == (80.0, 1, 2.0)
    assert (knn["accuracy_mean"], knn["accuracy_std"], knn["n_failed"], knn["rank"]) == (None, None, 3, 3.0)
    assert failure_rows([record]) == [
        {"cell": "iris-2", "method": KNN, "message": "ValueError: no", "n_draws": 3},
        {"cell": "iris-2", "method": SVC, "message": "ValueError: no", "n_draws": 1},
    ]


def test_a_group_has_mean_accuracy_mean_rank_wins_and_close_cells():
    records = [
        made_record(made_cell("heart", 3), {CV: [80.0], SVC: [83.0], KNN: [70.0], BEST: [99.0]}),
        made_record(made_cell("heart", 6), {CV: [80.0], SVC: [80.0], KNN: [70.0], BEST: [99.0]}),
        made_record(made_cell("heart", 14), {CV: [60.0], SVC: [63.1], KNN: [70.0], BEST: [99.0]}),
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
    records = [made_record(IRIS, {CV: [80.0], BEST: [99.0], SVC: [79.0]})]
    oracle, ours = (row_of(summary_rows(records), group="all", method=name) for name in (BEST, CV))
    assert (oracle["accuracy_mean"], oracle["rank_mean"], oracle["wins"]) == (99.0, None, None)
    assert (ours["wins"], ours["cells_within_3"]) == (1, 1)


def test_our_other_classifier_is_no_peer_either():
    record = made_record(made_cell("iris", 15), {CV: [80.0], RBF: [95.0], SVC: [81.0]})
    assert behind_rows([record]) == []
    assert row_of(summary_rows([record]), group="all", method=CV)["cells_within_3"] == 1


def test_a_method_without_a_result_in_a_cell_has_no_mean_over_the_group():
    records = [
        made_record(made_cell("iris", 2), {CV: [80.0], BEST: [90.0], KNN: [None]}),
        made_record(made_cell("wine", 1), {CV: [80.0], KNN: [70.0]}),
    ]
    rows = summary_rows(records)
    assert row_of(rows, group="all", method=BEST)["accuracy_mean"] is None
    assert row_of(rows, group="paper", method=BEST)["accuracy_mean"] == 90.0
    knn = row_of(rows, group="all", method=KNN)
    assert (knn["accuracy_mean"], knn["rank_mean"], knn["n_failed"]) == (None, 2.0, 1)


def test_cells_far_behind_the_best_peer_are_listed_worst_first_from_five_labels_per_class_on():
    records = [
        made_record(made_cell("iris", 8), {CV: [50.0], SVC: [99.0]}),  # four labels per class: too few
        made_record(made_cell("iris", 15), {CV: [80.0], SVC: [83.0], BEST: [99.0]}),  # three points: close
        made_record(made_cell("heart", 14), {CV: [80.0], SVC: [83.1], KNN: [84.0]}),
        made_record(made_cell("wine", 5), {CV: [60.0], SVC: [70.0], KNN: [65.0]}),
        made_record(made_cell("digits", 10, flipped=40), {CV: [10.0], SVC: [70.0]}),
    ]
    rows = behind_rows(records)
    assert tuple(rows[0]) == BEHIND_COLUMNS
    assert [(row["dataset"], row["labels"], row["best_peer"], row["difference"]) for row in rows] == [
        ("wine", 5, SVC, -10.0),
        ("heart", 14, KNN, -4.0),
    ]
    assert rows[1]["labels_per_class"] == 7.0


def test_a_cell_in_which_the_reference_always_failed_is_listed_as_the_worst_loss():
    rows = behind_rows([made_record(made_cell("iris", 15), {CV: [None], SVC: [80.0]})])
    assert [(row["reference_mean"], row["difference"]) for row in rows] == [(0.0, -80.0)]


def test_paired_tests_are_over_cells_and_over_data_sets():
    generator = np.random.default_rng(3)
    cells = [made_cell(name, n) for name in ("heart", "iris", "sonar") for n in {"heart": (3, 6), "iris": (2, 3),
             "sonar": (2, 4)}[name]]  # fmt: skip
    ours, theirs = generator.uniform(60, 90, 6).round(1), generator.uniform(60, 90, 6).round(1)
    records = [made_record(cell, {CV: [a], SVC: [b]}) for cell, a, b in zip(cells, ours, theirs, strict=True)]
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
    records = [made_record(made_cell("heart", n), {CV: [80.0], SVC: [80.0]}) for n in (3, 6)]
    row = row_of(paired_test_rows(records), group="all", unit="cells", peer=SVC)
    assert (row["ties"], row["p_value"], row["p_value_holm"]) == (2, 1.0, 1.0)


def test_only_peers_are_tested_against_and_nobody_without_the_reference():
    everyone = {CV: [80.0], RBF: [70.0], BEST: [90.0], SVC: [60.0]}
    records = [made_record(made_cell("heart", n), everyone) for n in (3, 6)]
    assert {row["peer"] for row in paired_test_rows(records)} == {SVC}
    without = [record.without([CV]) for record in records]
    assert paired_test_rows(without) == behind_rows(without) == []


def test_p_values_are_corrected_by_holms_rule():
    # By hand: 4 · 0.01, then max(0.04, 3 · 0.02), max(0.06, 2 · 0.04), max(0.08, 0.03 · 1 out of order) and so on.
    assert holm([0.04, 0.01, 0.5, 0.02]) == pytest.approx([0.08, 0.04, 0.5, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_noise_has_accuracies_ranks_and_the_area_of_the_audit():
    cell = made_cell("digits", 10, flipped=40)
    record = made_record(cell, {CV: [90.0, 92.0], SVC: [70.0, 72.0]}, {CV: [0.9, np.nan]})
    rows = noise_rows([record, made_record(made_cell("digits", 10), {CV: [99.0]})])
    assert tuple(rows[0]) == NOISE_COLUMNS
    assert len(rows) == 2
    ours, svc = (row_of(rows, method=name) for name in (CV, SVC))
    assert (ours["flipped_percent"], ours["accuracy_mean"], ours["rank"]) == (40, 91.0, 1.0)
    assert (ours["audit_auc_mean"], ours["audit_auc_std"]) == (0.9, 0.0)
    assert svc["audit_auc_mean"] is None
    assert result_rows([record]) == []  # wrong labels are no part of the other tables


def one_draw(info, labels, labeled, hits, predicted, **methods):
    """A record of one draw of one method from its counts for each class."""
    method = MethodRecord(np.array([hits], dtype=float), np.array([predicted], dtype=float), np.array([0.1]), **methods)
    return AccuracyRecord(AccuracyCell(info, labels), 4, np.array([labeled]), {SVC: method})


def test_results_hold_balanced_accuracy_and_f1_of_the_rare_class():
    # Of 90 and 10 rows one each is labeled. 80 of 89 and 6 of 9 are found, and 6 + 9 rows are called rare.
    record = one_draw(folder_info(class_sizes=(90, 10)), 1, [1, 1], hits=[80, 6], predicted=[83, 15])
    (row,) = result_rows([record])
    assert row["accuracy_mean"] == pytest.approx(100 * 86 / 98, abs=FOUR_DIGITS)
    assert row["balanced_accuracy_mean"] == pytest.approx(100 * (80 / 89 + 6 / 9) / 2, abs=FOUR_DIGITS)
    assert row["rare_f1_mean"] == pytest.approx(100 * 2 * 6 / (15 + 9), abs=FOUR_DIGITS)
    assert (row["n_rare_classes"], row["rarest_percent"], row["majority_percent"]) == (1, 10.0, 90.0)
    assert row["calibration_error_mean"] is None


def test_f1_is_empty_where_no_class_is_rare():
    record = one_draw(folder_info(class_sizes=(60, 40)), 1, [1, 1], hits=[50, 30], predicted=[59, 39])
    (row,) = result_rows([record])
    assert row["rare_f1_mean"] is None
    assert row["balanced_accuracy_mean"] is not None


def test_results_hold_the_mean_scores_of_probabilities_over_the_draws_that_did_not_fail():
    scores = {
        "calibration_error": np.array([0.1, 0.2, np.nan]),
        "brier": np.array([0.4, 0.6, np.nan]),
        "overconfidence": np.array([-0.1, -0.3, np.nan]),
    }
    record = made_record(IRIS, {CV: [80.0, 90.0, None], SVC: [70.0, 70.0, 70.0]}, scores={CV: scores})
    ours, svc = (row_of(result_rows([record]), method=name) for name in (CV, SVC))
    assert [ours[f"{name}_mean"] for name in scores] == [0.15, 0.5, -0.2]
    assert ours["calibration_error_std"] == pytest.approx(0.005**0.5, abs=FOUR_DIGITS)
    assert [svc[f"{name}_mean"] for name in scores] == [None] * 3


def test_a_summary_has_the_means_of_all_measures():
    rare, even = folder_info("rare", (90, 10)), folder_info("even", (50, 50))
    records = [
        one_draw(rare, 1, [1, 1], hits=[80, 6], predicted=[83, 15], scores={"calibration_error": np.array([0.1])}),
        one_draw(even, 1, [1, 1], hits=[49, 0], predicted=[98, 0], scores={"calibration_error": np.array([0.3])}),
    ]
    row = row_of(summary_rows(records), group="folder", method=SVC)
    assert (row["n_cells"], row["n_rare_cells"]) == (2, 1)
    assert row["balanced_accuracy_mean"] == pytest.approx((100 * (80 / 89 + 6 / 9) / 2 + 50) / 2, abs=FOUR_DIGITS)
    assert row["rare_f1_mean"] == pytest.approx(50.0, abs=FOUR_DIGITS)  # over the one cell that has a rare class
    assert row["calibration_error_mean"] == 0.2
    assert row["brier_mean"] is None


def test_a_summary_row_names_its_collection_and_labels_so_that_all_cells_with_few_labels_can_be_taken():
    cells = [
        made_cell("iris", 2),  # one a class, by the count of the paper
        made_cell("iris", 15),
        made_cell("digits", 1),
        made_cell("wine", 2),
        made_cell("glass6", 5),
        made_cell("mails", 2, info=folder_info()),
    ]
    records = [made_record(cell, {CV: [10.0 * number]}) for number, cell in enumerate(cells, 1)]
    rows = {(row["collection"], row["labels"]): row for row in summary_rows(records)}
    assert rows["all", "1"]["accuracy_mean"] == pytest.approx((10 + 30) / 2)
    assert rows["all", "2"]["accuracy_mean"] == pytest.approx((40 + 60) / 2)
    assert rows["all", "1 and 2"]["accuracy_mean"] == pytest.approx((10 + 30 + 40 + 60) / 4)
    assert rows["all", "1 and 2"]["group"] == "all 1 and 2"
    assert rows["rare-aside", "5"]["accuracy_mean"] == 50.0
    assert rows["folder", ""]["accuracy_mean"] == 60.0
    assert rows["all", ""]["n_cells"] == 6


def test_the_best_single_kernel_is_chosen_anew_in_each_cell_and_competes_with_nobody():
    graph = "semikpca graph"
    records = [
        made_record(made_cell("heart", 3), {CV: [80.0], RBF: [70.0], graph: [90.0], SVC: [60.0]}),
        made_record(made_cell("heart", 6), {CV: [80.0], RBF: [85.0], graph: [50.0], SVC: [60.0]}),
    ]
    rows = summary_rows(records)
    best = row_of(rows, group="paper", method=BEST_KERNEL)
    assert tuple(best) == SUMMARY_COLUMNS
    assert (best["accuracy_mean"], best["kind"], best["rank_mean"]) == (87.5, "oracle", None)
    assert row_of(rows, group="paper", method=CV)["rank_mean"] == 2.0
    alone = summary_rows([record.without([graph]) for record in records])
    assert BEST_KERNEL not in {row["method"] for row in alone}  # nothing to choose from


def test_every_group_of_data_sets_is_tested_by_itself():
    folder = [made_cell("mails", count, info=folder_info(groups=("folder", "text"))) for count in (1, 2)]
    cells = [*folder, made_cell("glass6", 1), made_cell("glass6", 2)]
    rows = paired_test_rows([made_record(cell, {CV: [80.0], SVC: [70.0]}) for cell in cells])
    assert {(row["group"], row["n_pairs"]) for row in rows if row["unit"] == "cells"} == {
        ("rare", 2), ("rare-aside", 2), ("folder", 2), ("text", 2), ("all", 4),
    }  # fmt: skip
