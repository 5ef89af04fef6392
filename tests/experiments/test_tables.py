"""Tables from records made by hand, so that every number can be checked on paper."""

import math

import numpy as np
import pytest

from semikpca.experiments import (
    MODELS,
    Cell,
    CellRecord,
    ModelRecord,
    curve_rows,
    dataset_rows,
    paper_values,
    result_rows,
    summarize,
)


def record_with(hits, fixed_hits, cell=Cell("iris", 2), n_samples=150):  # noqa: B008  (a frozen value)
    model = ModelRecord(
        error_weights=np.array([0.1, 0.2, 0.3])[: len(hits)],
        hits=np.array(hits),
        fixed_error_weight=0.15,
        fixed_hits=np.array(fixed_hits),
    )
    return CellRecord(cell, n_samples, 4, 2 / 3, (90.0, 30.0), dict.fromkeys(MODELS, model))


def test_best_is_the_weight_with_the_highest_mean():
    record = record_with([[74, 100], [111, 148], [148, 111]], [37, 37])
    assert record.best_index("semi_kpca_1") == 1  # the first of two equals
    assert record.chosen_accuracies("semi_kpca_1", "best").tolist() == [75.0, 100.0]
    assert record.chosen_accuracies("semi_kpca_1", "fixed").tolist() == [25.0, 25.0]


def test_z_is_the_difference_in_standard_errors_of_ten_draws():
    rows = result_rows([record_with([[111, 148]], [148, 148])])
    best = next(row for row in rows if row["gamma_choice"] == "best" and row["model"] == "semi_kpca_1")
    paper = paper_values()["iris", 2, "best", "semi_kpca_1"]
    ours_std = math.sqrt(2) * 12.5
    assert best["accuracy_mean"] == 87.5
    assert best["accuracy_std"] == pytest.approx(ours_std, abs=1e-4)  # printed with four digits
    assert (best["paper_mean"], best["paper_std"]) == (paper.mean, paper.std)
    expected = (87.5 - paper.mean) / (max(ours_std, paper.std) / math.sqrt(10))
    assert best["z"] == pytest.approx(expected, abs=1e-3)  # printed with three digits


def test_the_standard_error_is_at_least_three_tenths_of_a_point():
    rows = result_rows([record_with([[600, 600]], [600, 600], Cell("breastcancer", 14), n_samples=683)])
    best = next(row for row in rows if row["gamma_choice"] == "best" and row["model"] == "semi_kpca_1")
    assert best["paper_std"] == 0.1
    assert best["z"] == pytest.approx((100 * 600 / 669 - 95.4) / 0.3, abs=1e-3)


def test_the_model_that_the_paper_leaves_out_has_no_paper_value():
    rows = [row for row in result_rows([record_with([[111]], [111])]) if row["model"] == "semi_kpca_0"]
    assert len(rows) == 2
    assert all(row["paper_mean"] is None and row["z"] is None for row in rows)
    assert all(row["accuracy_std"] == 0 for row in rows)  # one draw has no spread


def test_table_1_has_one_row_for_each_data_set_in_order():
    records = [record_with([[1]], [1], Cell(name, n)) for name in ("synth", "iris") for n in (2, 3)]
    assert [row["dataset"] for row in dataset_rows(records)] == ["synth", "iris"]
    assert dataset_rows(records)[0] == {
        "dataset": "synth",
        "n_samples": 150,
        "n_features": 4,
        "majority_percent": 66.7,
    }


def test_curves_have_a_row_for_each_model_and_weight():
    rows = curve_rows([record_with([[74, 74], [148, 148]], [1, 1])])
    assert len(rows) == 2 * len(MODELS)
    assert [row["accuracy_mean"] for row in rows[:2]] == [50.0, 100.0]
    assert [row["error_weight"] for row in rows[:2]] == [0.1, 0.2]


def test_agreement_counts_cells_and_leads():
    rows = [
        {"dataset": "a", "n_labeled": 2, "gamma_choice": "best", "model": "semi_kpca_1", "accuracy_mean": 90.0,
         "paper_mean": 80.0, "z": 2.0},
        {"dataset": "a", "n_labeled": 2, "gamma_choice": "best", "model": "semi_lssvm", "accuracy_mean": 89.0,
         "paper_mean": 81.0, "z": -2.5},
        {"dataset": "a", "n_labeled": 2, "gamma_choice": "best", "model": "semi_kpca_0", "accuracy_mean": 99.0,
         "paper_mean": None, "z": None},
        {"dataset": "a", "n_labeled": 9, "gamma_choice": "best", "model": "semi_lssvm", "accuracy_mean": 99.0,
         "paper_mean": 99.0, "z": 3.5},
    ]  # fmt: skip
    agreement = summarize(rows)
    assert (agreement.n_cells, agreement.within_2, agreement.within_3) == (3, 1, 2)
    assert (agreement.n_datasets, agreement.ahead_at_fewest, agreement.paper_ahead_at_fewest) == (1, 1, 0)
