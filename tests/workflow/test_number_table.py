"""A table of numbers: what is predicted, how far it is off, which columns matter, and models in files."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from semikpca import SemiKPCARegressorCV
from semikpca.blending import label_folds
from semikpca.exceptions import ModelFileError, TableError
from semikpca.kernels import RBF
from semikpca.labeling import prediction_intervals
from semikpca.tables import ColumnRoles, read_table
from semikpca.workflow import (
    LabelingOptions,
    NumberModel,
    ValueEstimate,
    audit_numbers,
    load_model,
    number_table,
    save_model,
    value_audit_frame,
    value_ranges,
)
from semikpca.workflow._label_model import LabelModel
from semikpca.workflow._value_estimate import amount, decimals_for, labels_alone_values
from small_tables import make_rents

ROLES = ColumnRoles("rent", id="flat")
ROUNDING = 1e-9  # sums of a few dozen squares in double precision
# A loaded model answers at rows as new ones, whose kernels are evaluated in single precision.
AS_NEW_ROWS = 1e-3


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("rents") / "rents.csv"
    make_rents()[0].to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def numbered(path):
    return number_table(read_table(path), ROLES)


@pytest.fixture(scope="module")
def saved(numbered, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "rents.semikpca"
    save_model(path, numbered)
    return path


class TestPredictions:
    def test_they_are_those_of_the_regressor_on_the_views_of_the_table(self, numbered, path):
        y = pd.read_csv(path)["rent"].to_numpy()
        model = SemiKPCARegressorCV([view.kernels for view in numbered.views], random_state=0).fit(numbered.X, y)
        np.testing.assert_allclose(numbered.predicted, model.transduction_, rtol=ROUNDING)
        unlabeled = np.isnan(y)
        asked = prediction_intervals(model, 0.1)
        np.testing.assert_allclose(numbered.interval[0][unlabeled], asked.low, rtol=ROUNDING)
        np.testing.assert_allclose(numbered.interval[1][unlabeled], asked.high, rtol=ROUNDING)

    def test_what_matters_is_said_in_words(self, numbered):
        assert "numbers and dates" in numbered.what_matters or "all columns together" in numbered.what_matters.lower()
        assert numbered.what_matters.endswith(".")
        assert sum(numbered.view_shares.values()) == pytest.approx(1)

    def test_a_row_with_nothing_to_go_by_has_the_mean_and_no_interval(self, tmp_path):
        frame, _ = make_rents()
        row = int(np.flatnonzero(frame["rent"] == "")[0])
        frame.loc[row, ["size", "age", "city"]] = ""
        frame.to_csv(tmp_path / "rents.csv", index=False)
        found = number_table(read_table(tmp_path / "rents.csv"), ROLES)
        assert found.predicted[row] == pytest.approx(pd.to_numeric(frame["rent"]).mean())
        assert found.to_frame().loc[row, ["low", "high"]].isna().all()
        (note,) = [note for note in found.warnings if "nothing in the columns" in note]
        assert note.endswith("It has the mean of the given numbers, and no interval.")

    def test_texts_decide_where_only_they_tell(self, tmp_path, rng):
        words = ["bright", "dark", "noisy", "quiet"]
        place = rng.integers(0, 4, 160)
        rents = 400 + 150 * place + rng.standard_normal(160)
        frame = pd.DataFrame(
            {
                "note": [f"a {words[kind]} flat near the {words[kind]} park" for kind in place],
                "noise": rng.standard_normal(160).round(3),
                "rent": [f"{rent:.2f}" if row < 50 else "" for row, rent in enumerate(rents)],
            }
        )
        frame.to_csv(tmp_path / "flats.csv", index=False)
        found = number_table(read_table(tmp_path / "flats.csv"), ColumnRoles("rent", text=("note",)))
        assert found.view_shares["the text"] > 0.5
        assert np.abs(found.predicted - (400 + 150 * place)).max() < 50

    def test_experts_may_name_kernels(self, path):
        found = number_table(read_table(path), ROLES, LabelingOptions(kernel="linear"))
        assert set(found.kernel_shares) == {"linear"}

    def test_a_column_of_text_is_refused(self, path):
        with pytest.raises(TableError, match="is no number"):
            number_table(read_table(path), ColumnRoles("city"))


class TestEstimates:
    def test_errors_are_those_of_the_left_out_predictions(self, numbered):
        left = numbered.left_out
        missed = left["given"] - left["predicted"]
        estimate = numbered.estimate
        assert estimate.counted == 40
        assert estimate.root_mean_square == pytest.approx(float(np.sqrt(np.mean(missed**2))), rel=ROUNDING)
        assert estimate.median_absolute == pytest.approx(float(np.median(np.abs(missed))), rel=ROUNDING)
        variance = float(np.mean((left["given"] - left["given"].mean()) ** 2))
        assert estimate.share_of_variance == pytest.approx(1 - np.mean(missed**2) / variance, rel=ROUNDING)

    def test_they_are_about_the_errors_at_hidden_numbers(self, numbered):
        _, rent = make_rents()
        hidden = ~numbered.is_given
        true = float(np.sqrt(np.mean((numbered.predicted - rent)[hidden] ** 2)))
        # 40 normal errors tell their size to a factor of 1.25 with 95% confidence; the model differs a little too.
        assert true / 1.5 < numbered.estimate.root_mean_square < 1.5 * true

    def test_the_baseline_is_ls_svm_on_the_labels_with_the_noise_of_least_left_out_error(self, numbered):
        """By the linear system of Problem 1 and a refit without each label."""
        X, y = numbered.X, numbered.given
        rows = np.flatnonzero(~np.isnan(y))
        gamma = RBF(gamma="median").fit(X).gamma_
        squares = ((X[rows, None].astype(float) - X[None, rows]) ** 2).sum(axis=2)
        K, values = np.exp(-gamma * squares), y[rows]

        def predicted(train, asked, noise):
            n = len(train)
            system = np.block([[K[np.ix_(train, train)] + noise * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), 0.0]])
            *alpha, bias = np.linalg.solve(system, [*values[train], 0.0])
            return K[np.ix_(asked, train)] @ np.array(alpha) + bias

        expected = np.empty(len(rows))
        for fold in label_folds(len(rows)):
            train = np.setdiff1d(np.arange(len(rows)), fold)

            def left_out_error(noise, train=train):
                found = [predicted(np.delete(train, place), [row], noise)[0] for place, row in enumerate(train)]
                return np.mean((found - values[train]) ** 2)

            best = min((0.001, 0.01, 0.1, 1.0, 10.0), key=left_out_error)
            expected[fold] = predicted(train, fold, best)
        # The kernel of the package is evaluated in single precision.
        np.testing.assert_allclose(labels_alone_values(X, y, rows), expected, rtol=1e-3)

    def test_only_drawn_rows_count_where_they_are_named(self, numbered):
        some = np.flatnonzero(numbered.is_given)[::2]
        found = numbered.with_drawn(some)
        assert found.estimate.counted == found.baseline.counted == 20
        assert found.held_out.rows.tolist() == some.tolist()

    def test_nothing_drawn_promises_nothing(self, numbered):
        found = numbered.with_drawn(np.array([], dtype=int))
        assert not found.estimate.is_known
        assert np.isinf(found.interval).all()
        assert found.to_frame()["low"].isna().all()

    @pytest.mark.parametrize(("error", "decimals"), [(340.0, 0), (35.0, 1), (1.0, 2), (0.02, 4), (2e-9, 11), (1e6, 0)])
    def test_three_digits_of_the_error_are_written(self, error, decimals):
        assert decimals_for(ValueEstimate(9, error, error, 0.5), np.array([1.0, 2.0])) == decimals

    @pytest.mark.parametrize(
        ("value", "decimals", "text"),
        [(1234.56, 1, "1,234.6"), (700.0, 1, "700"), (-0.01, 1, "0"), (np.inf, 1, "–"), (1e20, 0, "1e+20")],
    )
    def test_amounts_are_written_as_people_do(self, value, decimals, text):
        assert amount(value, decimals) == text


class TestRanges:
    @pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
    def test_every_number_is_in_one_of_them(self, rng, scale):
        given, predicted = scale * rng.standard_normal(40), scale * rng.standard_normal(300)
        lines = value_ranges(given, predicted)
        assert sum(line.n_given for line in lines) == 40
        assert sum(line.n_predicted for line in lines) == 300
        assert 4 <= len(lines) <= 12
        assert [line.high for line in lines[:-1]] == [line.low for line in lines[1:]]

    def test_they_end_at_round_numbers(self):
        lines = value_ranges(np.array([312.0, 1480.0]), np.array([800.0]))
        assert (lines[0].low, lines[0].high, lines[-1].high) == ("200", "400", "1,600")


class TestAudit:
    def test_a_slip_comes_first(self, path):
        table = read_table(path)
        row = int(np.flatnonzero(table.frame["rent"] != "")[5])
        table.frame.loc[row, "rent"] = "5000"
        audited = audit_numbers(table, ROLES)
        assert audited.found["row"][0] == row
        assert audited.found["looks_wrong"][0]
        assert audited.estimate.counted == 40

    def test_every_row_may_have_a_number(self, tmp_path):
        frame, rent = make_rents()
        frame.assign(rent=rent.round(2)).to_csv(tmp_path / "all.csv", index=False)
        assert len(audit_numbers(read_table(tmp_path / "all.csv"), ROLES).found) == 120

    def test_many_rows_are_held_against_each_other_in_parts(self, tmp_path, monkeypatch):
        monkeypatch.setattr("semikpca.workflow._number_audit.MOST_ROWS_ALL_LABELED", 100)
        monkeypatch.setattr("semikpca.workflow._audit.ROWS_OF_A_PART", 60)
        frame, rent = make_rents()
        rent[17] += 3000
        frame.assign(rent=rent.round(2)).to_csv(tmp_path / "all.csv", index=False)
        audited = audit_numbers(read_table(tmp_path / "all.csv"), ROLES)
        assert sorted(audited.found["row"]) == list(range(120))
        assert audited.found["row"][0] == 17
        assert any("in 2 parts of up to 60 rows" in note for note in audited.warnings)

    def test_the_frame_has_what_the_others_say(self, numbered):
        frame = value_audit_frame(numbered)
        assert frame.columns.tolist() == ["row", "given", "suggested", "distance", "suspicion", "looks_wrong"]
        assert (numbered.given[frame["row"]] == frame["given"]).all()


class TestModelFile:
    def test_a_loaded_model_predicts_the_same_numbers_and_intervals(self, numbered, saved, path):
        table = read_table(path)
        loaded = load_model(saved)
        assert isinstance(loaded, NumberModel)
        alive = NumberModel(
            numbered.vectorizer,
            numbered.model,
            numbered.roles,
            loaded.feature_names,
            errors=tuple(numbered.held_out.errors[:, 0].tolist()),
            decimals=numbered.decimals,
        )
        pd.testing.assert_frame_equal(loaded.predict_table(table), alive.predict_table(table))
        found = loaded.predict_table(table)
        np.testing.assert_allclose(
            found["predicted_value"], numbered.predicted, rtol=AS_NEW_ROWS, atol=0.6 * 10.0**-numbered.decimals
        )
        half = (found["high"] - found["low"]) / 2
        np.testing.assert_allclose(half, numbered.reach, atol=10.0**-numbered.decimals)

    def test_standard_deviations_survive(self, numbered, saved):
        values = load_model(saved).model.predict(numbered.X[:5], return_std=True)
        np.testing.assert_allclose(values, numbered.model.predict(numbered.X[:5], return_std=True))

    def test_another_coverage_needs_no_fit(self, saved, path):
        loaded = load_model(saved)
        table = read_table(path)
        narrow = replace(loaded, coverage=0.5).predict_table(table)
        wide = loaded.predict_table(table)
        assert ((wide["high"] - wide["low"]) > (narrow["high"] - narrow["low"])).all()

    def test_rows_with_nothing_to_go_by_have_the_mean(self, saved, path, numbered):
        table = read_table(path)
        for name in ("size", "age", "city"):
            table.frame.loc[3, name] = ""
            table.features.loc[3, name] = None
        found = load_model(saved).predict_table(table).loc[3]
        assert found["predicted_value"] == pytest.approx(np.nanmean(numbered.given), abs=10.0**-numbered.decimals)
        assert np.isnan(found["low"])

    def test_a_model_of_numbers_without_errors_is_refused(self, saved, tmp_path):
        from hashlib import sha256

        first, _, rest = saved.read_bytes().split(b"\n", 2)
        body = rest.replace(b'"numbers": {', b'"letters": {', 1)
        other = tmp_path / "other.semikpca"
        other.write_bytes(first + f"\nsha256 {sha256(body).hexdigest()} {len(body)}\n".encode() + body)
        with pytest.raises(ModelFileError, match="cannot be loaded"):
            load_model(other)

    def test_models_of_classes_are_no_models_of_numbers(self, labeled_plants, tmp_path):
        save_model(tmp_path / "plants.semikpca", labeled_plants)
        loaded = load_model(tmp_path / "plants.semikpca")
        assert type(loaded) is LabelModel
