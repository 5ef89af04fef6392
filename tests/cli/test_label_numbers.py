"""``semikpca label`` and the other commands on a column of numbers."""

import re

import numpy as np
import pandas as pd
import pytest

from commands import rows_of
from semikpca.tables import is_missing, read_table
from small_tables import make_plants, make_rents

LABEL = ("label", "rents.csv", "-l", "rent", "--id-column", "flat")


@pytest.fixture
def rents(tmp_path):
    """``rents.csv`` in the folder of the command, and the rent of each row."""
    frame, rent = make_rents()
    frame.to_csv(tmp_path / "rents.csv", index=False)
    return rent


def words(text):
    return " ".join(text.split())


def test_a_column_of_numbers_is_filled_in_with_numbers_and_intervals(semikpca, rents, tmp_path):
    result = semikpca(*LABEL)
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "rents.labeled.csv", dtype=str, keep_default_na=False)
    before = pd.read_csv(tmp_path / "rents.csv", dtype=str, keep_default_na=False)
    added = ["predicted_value", "low", "high", "label_was_given", "looks_wrong"]
    assert found.columns.tolist() == [*before.columns, *added]
    pd.testing.assert_frame_equal(found[before.columns], before)
    assert (found["label_was_given"] == np.where(before["rent"] == "", "false", "true")).all()
    values = found[added[:3]].astype(float)
    hidden = (before["rent"] == "").to_numpy()
    error = np.sqrt(np.mean((values["predicted_value"] - rents)[hidden] ** 2))
    assert error < 0.4 * rents.std()
    inside = ((values["low"] <= rents) & (rents <= values["high"]))[hidden]
    assert inside.mean() > 0.75
    assert not found["predicted_value"].str.contains(r"\.\d{3}").any()  # no more digits than the error leaves


def test_the_terminal_says_what_the_column_is_taken_for_and_how_far_numbers_are_off(semikpca, rents):
    result = semikpca(*LABEL)
    assert "'rent' is taken as numbers: 40 different ones, with fractions. --classes" in words(result.stderr)
    said = words(result.stdout)
    assert "rents.csv: 120 rows, 40 with a number, 80 without" in said
    assert "How far numbers are off when they are left out root mean square median variance explained" in said
    assert "LS-SVM on the labels alone" in said
    assert re.search(r"90% of the numbers are expected between low and high, about \d+\.\d to either side", said)
    assert "Convexity certificate" in said
    assert "Rows to label next: semikpca suggest rents.csv --label-column rent" in said
    assert re.search(r"From to Given Predicted Share", said)


def test_figures_on_the_terminal_follow_from_the_left_out_predictions(semikpca, rents, tmp_path):
    """Recomputed from models that are fitted anew without each fold, with no code of the workflow."""
    from semikpca import SemiKPCARegressorCV
    from semikpca.blending import label_folds
    from semikpca.tables import ColumnRoles
    from semikpca.workflow import number_table

    result = semikpca(*LABEL)
    numbered = number_table(read_table(tmp_path / "rents.csv"), ColumnRoles("rent", id="flat"))
    X, y = numbered.X, pd.to_numeric(pd.read_csv(tmp_path / "rents.csv")["rent"]).to_numpy()
    labeled = np.flatnonzero(~np.isnan(y))
    errors = np.empty(len(labeled))
    for fold in label_folds(len(labeled)):
        kept = y.copy()
        kept[labeled[fold]] = np.nan
        refit = SemiKPCARegressorCV([view.kernels for view in numbered.views], random_state=0).fit(X, kept)
        errors[fold] = y[labeled[fold]] - refit.transduction_[labeled[fold]]
    square, middle = np.sqrt(np.mean(errors**2)), np.median(np.abs(errors))
    explained = 1 - np.mean(errors**2) / np.var(y[labeled])
    (line,) = [line for line in result.stdout.splitlines() if "with the unlabeled rows" in line]
    *_, said_square, said_middle, said_explained = line.split()
    assert float(said_square) == pytest.approx(square, abs=0.06)  # it is written with one decimal
    assert float(said_middle) == pytest.approx(middle, abs=0.06)
    assert said_explained == f"{explained:.0%}"
    reach = np.sort(np.abs(errors))[int(np.ceil(0.9 * 41)) - 1]
    said_reach = re.search(r"about ([\d.]+) to either", words(result.stdout))[1]
    assert float(said_reach) == pytest.approx(reach, abs=0.06)


def test_another_coverage_makes_other_intervals(semikpca, rents, tmp_path):
    widths = []
    for coverage in ("0.5", "0.9"):
        assert semikpca(*LABEL, "--coverage", coverage, "--force").exit_code == 0
        found = pd.read_csv(tmp_path / "rents.labeled.csv")
        widths.append((found["high"] - found["low"]).mean())
    assert widths[0] < 0.7 * widths[1]


def test_too_few_numbers_for_intervals_leave_them_empty(semikpca, tmp_path):
    frame, _ = make_rents(60, 6)
    frame.to_csv(tmp_path / "rents.csv", index=False)
    result = semikpca(*LABEL)
    assert result.exit_code == 0, result.output
    assert "6 numbers are too few for intervals with 90% of the numbers: that takes 9." in words(result.stdout)
    assert {(row["low"], row["high"]) for row in rows_of(tmp_path / "rents.labeled.csv")} == {("", "")}


def test_numbers_are_written_with_the_decimal_sign_of_the_file(semikpca, tmp_path):
    frame, _ = make_rents()
    for name in ("size", "rent"):
        frame[name] = frame[name].str.replace(".", ",")
    frame.to_csv(tmp_path / "rents.csv", index=False, sep=";")
    result = semikpca(*LABEL)
    assert result.exit_code == 0, result.output
    assert "is read as" in result.stderr
    found = pd.read_csv(tmp_path / "rents.labeled.csv", sep=";", dtype=str)
    assert found["low"].str.fullmatch(r"\d+(,\d)?").all()


def test_columns_of_an_earlier_run_are_replaced_and_not_learned_from(semikpca, rents, tmp_path):
    assert semikpca(*LABEL).exit_code == 0
    again = semikpca("label", "rents.labeled.csv", "-l", "rent", "--id-column", "flat", "-o", "again.csv")
    assert again.exit_code == 0, again.output
    assert "predicted_value" in again.stderr
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "rents.labeled.csv").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--accept", "0.95"), "--accept is about classes, and the labels are numbers"),
        (("--numbers", "--classes"), "--numbers and --classes contradict each other"),
        (("--coverage", "90"), "--coverage must lie between 0 and 1, got 90. For 90% write 0.9."),
        (("--numbers", "--keep-labels-as-typed"), "contradict each other"),
        (("--numbers", "--scheduler", "nowhere:8786"), "--numbers does not go with --scheduler"),
    ],
)
def test_options_that_do_not_go_with_numbers_are_refused(options, said, semikpca, rents, tmp_path):
    result = semikpca(*LABEL, *options)
    assert result.exit_code == 1
    assert said in words(result.output)
    assert not (tmp_path / "rents.labeled.csv").exists()


def test_text_is_no_number_and_the_cell_is_named(semikpca, rents):
    result = semikpca("label", "rents.csv", "-l", "city", "--numbers")
    assert result.exit_code == 1
    assert re.search(r"'\w+' in line 2 of the column 'city' of rents.csv is no number", words(result.output))


def test_coverage_is_not_for_classes(semikpca, tmp_path):
    make_plants()[0].to_csv(tmp_path / "plants.csv", index=False)
    result = semikpca("label", "plants.csv", "-l", "kind", "--coverage", "0.9")
    assert result.exit_code == 1
    assert "--coverage is about numbers" in result.output


def test_whole_numbers_are_classes_or_numbers_as_asked(semikpca, tmp_path):
    frame, _ = make_rents()
    frame["rooms"] = [str(1 + row % 4) if row < 40 else "" for row in range(len(frame))]
    frame.to_csv(tmp_path / "rents.csv", index=False)
    asked = ("label", "rents.csv", "-l", "rooms", "--exclude", "rent", "--force")
    as_classes = semikpca(*asked)
    assert "'rooms' is taken as classes: 4 different whole numbers. --numbers" in words(as_classes.stderr)
    assert "confidence" in rows_of(tmp_path / "rents.labeled.csv")[0]
    as_numbers = semikpca(*asked, "--numbers")
    assert as_numbers.exit_code == 0, as_numbers.output
    assert "predicted_value" in rows_of(tmp_path / "rents.labeled.csv")[0]


def test_suggested_rows_have_what_they_look_like_and_their_intervals(semikpca, rents, tmp_path):
    result = semikpca("suggest", "rents.csv", "-l", "rent", "--id-column", "flat", "-n", "4", "-o", "next.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "next.csv")
    assert len(found) == 4
    assert {"predicted_value", "low", "high"} < set(found.columns)
    assert found["rent"].isna().all()
    assert "Between" in result.stdout
    assert "Write their numbers into the column rent of rents.csv" in words(result.stdout)


def test_a_slip_of_the_pen_is_found(semikpca, rents, tmp_path):
    frame = pd.read_csv(tmp_path / "rents.csv", dtype=str, keep_default_na=False)
    row = int(np.flatnonzero(frame["rent"])[3])
    frame.loc[row, "rent"] = str(1500 + float(frame.loc[row, "rent"]))
    frame.to_csv(tmp_path / "rents.csv", index=False)
    result = semikpca("audit", "rents.csv", "-l", "rent", "--id-column", "flat", "-o", "audit.csv")
    assert result.exit_code == 0, result.output
    assert "1 number looks wrong of 40 that could be judged." in result.stdout
    assert "times as far as is usual" in words(result.stdout.replace("│", " "))
    first, *others = rows_of(tmp_path / "audit.csv")
    assert (first["name"], first["row"], first["looks_wrong"]) == (frame.loc[row, "flat"], str(row + 1), "true")
    assert len(others) == 39
    assert "1 given number looks wrong." in semikpca(*LABEL).stdout


def test_a_saved_model_predicts_the_numbers_of_another_table(semikpca, rents, tmp_path):
    assert semikpca(*LABEL, "--save", "rents.model").exit_code == 0
    result = semikpca("predict", "rents.model", "rents.csv", "--coverage", "0.8")
    assert result.exit_code == 0, result.output
    assert re.search(r"120 rows got a number, from [\d.,]+ to [\d.,]+, half of them below", words(result.stdout))
    found = pd.read_csv(tmp_path / "rents.predicted.csv")
    before = pd.read_csv(tmp_path / "rents.labeled.csv")
    assert found.columns[-3:].tolist() == ["predicted_value", "low", "high"]
    # New rows are answered in single precision, and both are written with one decimal.
    np.testing.assert_allclose(found["predicted_value"], before["predicted_value"], atol=0.11)
    assert (found["high"] - found["low"]).round(1).nunique() <= 3


def test_coverage_does_not_go_with_a_model_of_classes(semikpca, tmp_path):
    make_plants()[0].to_csv(tmp_path / "plants.csv", index=False)
    assert semikpca("label", "plants.csv", "-l", "kind", "--save", "plants.model").exit_code == 0
    result = semikpca("predict", "plants.model", "plants.csv", "--coverage", "0.8")
    assert result.exit_code == 1
    assert "--coverage is about numbers, and the model predicts classes" in words(result.output)


@pytest.mark.parametrize("labels", [[1.5, 2.5, 3.25], [30, 45, 61, 22, 38, 70]])
def test_numbers_in_arrays_are_filled_in(labels, semikpca, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.full(40, -1) if isinstance(labels[0], int) else np.full(40, np.nan)
    y[: len(labels)] = labels
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    result = semikpca("label", "rows.npz", "-l", "y", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "out.csv")
    assert found["label_was_given"].sum() == len(labels)
    assert found["predicted_value"].between(0, 100).all()


def test_the_report_is_written(semikpca, rents, tmp_path):
    pytest.importorskip("plotly")
    assert semikpca(*LABEL, "--report", "rents.html").exit_code == 0
    assert "Numbers for 80 rows, learned from 40" in (tmp_path / "rents.html").read_text(encoding="utf-8")


def test_the_example_of_numbers_is_written_and_filled_in(semikpca, tmp_path):
    result = semikpca("example", "--numbers")
    assert result.exit_code == 0, result.output
    assert "semikpca label apartments.csv --label-column rent --id-column apartment_id" in words(result.stdout)
    assert (tmp_path / "apartments.csv").exists()
    assert semikpca("example", "--numbers").exit_code == 1  # it is there already
    assert semikpca("example", "flats.xlsx", "--numbers").exit_code == 0
    assert semikpca("label", "flats.xlsx", "-l", "rent", "--id-column", "apartment_id").exit_code == 0
    found = pd.read_excel(tmp_path / "flats.labeled.xlsx")
    assert found["predicted_value"].between(0, 3000).all()


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx", "parquet", "jsonl"])
def test_empty_intervals_can_be_written_in_every_format(suffix, semikpca, tmp_path):
    make_rents(40, 4)[0].to_csv(tmp_path / "rents.csv", index=False)
    result = semikpca(*LABEL, "-o", f"out.{suffix}")
    assert result.exit_code == 0, result.output
    found = read_table(tmp_path / f"out.{suffix}").frame
    assert all(map(is_missing, found["low"]))
    assert not any(map(is_missing, found["predicted_value"]))


@pytest.mark.parametrize("n_given", [2, 3])
def test_two_or_three_numbers_are_enough_to_begin_with(n_given, semikpca, tmp_path):
    make_rents(40, n_given)[0].to_csv(tmp_path / "rents.csv", index=False)
    result = semikpca(*LABEL, "--numbers")
    assert result.exit_code == 0, result.output
    assert f"{n_given} numbers are few" in words(result.stdout)
    assert semikpca("audit", "rents.csv", "-l", "rent", "--numbers").exit_code == 0
    assert semikpca("suggest", "rents.csv", "-l", "rent", "--numbers").exit_code == 0
