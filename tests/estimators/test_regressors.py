"""Regressors: the whole answer against one that is written out, and what must hold of every answer."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oracles import SAME_TO_ROUNDING, relative_error
from regression_oracles import dense_response, regression
from semikpca import SemiKPCARegressor, SemiKPCARegressorCV
from semikpca.exceptions import UnboundedProblemError, UnreachableValuesWarning
from semikpca.kernels import RBF, CallableKernel, Linear, NeighborGraph, Precomputed

# The weights of the oracle are those of a solver that stops at 1e-12 of its objective, about 1e-6 of the weights.
BY_A_SOLVER = 1e-4
KERNEL = RBF(gamma=0.1)
REGRESSORS = [
    SemiKPCARegressor(KERNEL),
    SemiKPCARegressor(NeighborGraph(6)),
    SemiKPCARegressorCV(),
    SemiKPCARegressorCV([KERNEL, Linear()], combine="best"),
]


@pytest.fixture
def table(rng):
    """70 rows, 18 of them with a number: X, y with NaN, and all numbers."""
    X = rng.standard_normal((70, 4))
    truth = 10 + 3 * np.sin(X[:, 0]) + 2 * X[:, 1] + 0.2 * rng.standard_normal(70)
    y = np.full(70, np.nan)
    rows = rng.choice(70, 18, replace=False)
    y[rows] = truth[rows]
    return X, y, truth


def test_the_plain_regressor_is_problem_4_fitted_to_the_numbers(table):
    X, y, _ = table
    model = SemiKPCARegressor(KERNEL, tol=1e-12).fit(X, y)
    wanted = regression([dense_response(rbf_kernel(X, gamma=0.1), 1)], y)
    assert relative_error(model.transduction_, wanted) < BY_A_SOLVER


@pytest.mark.parametrize("k", [2, 3])
def test_removed_components_and_weight_are_those_asked_for(table, k):
    X, y, _ = table
    model = SemiKPCARegressor(KERNEL, n_components_removed=k, error_weight=0.7, tol=1e-12).fit(X, y)
    wanted = regression([dense_response(rbf_kernel(X, gamma=0.1), k, 0.7)], y)
    assert relative_error(model.transduction_, wanted) < BY_A_SOLVER
    assert model.certificate_.relative_weight == pytest.approx(0.7)
    assert model.certificate_.regime.has_unique_solution
    assert len(model.eigenvalues_) == k + 1


def test_the_automatic_regressor_blends_responses_and_plain_kernels(table):
    X, y, _ = table
    model = SemiKPCARegressorCV([KERNEL, Linear()], tol=1e-12).fit(X, y)
    plain = [rbf_kernel(X, gamma=0.1), linear_kernel(X)]
    matrices = [dense_response(plain[0], 1), plain[0], dense_response(plain[1], 1), plain[1]]
    assert relative_error(model.transduction_, regression(matrices, y)) < BY_A_SOLVER
    assert len(model.certificates_) == 2
    assert model.weights_.sum() == pytest.approx(1)
    assert len(pd.DataFrame(model.results_)) == 20
    assert model.best_params_["weight"] == model.weights_.max()


def test_dual_coefficients_and_intercept_are_the_answer(table):
    X, y, _ = table
    model = SemiKPCARegressor(KERNEL).fit(X, y)
    new = X[:5] + 0.1
    by_hand = rbf_kernel(new, X, gamma=0.1) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(new), by_hand, rtol=1e-9)
    # w is orthogonal to the component that was removed.
    first = np.linalg.eigh(rbf_kernel(X, gamma=0.1))[1][:, -1]
    assert abs(first @ model.dual_coef_) < 1e-8 * np.linalg.norm(model.dual_coef_)


@pytest.mark.parametrize("model", REGRESSORS)
def test_training_rows_are_predicted_as_they_were_filled_in(table, model):
    X, y, _ = table
    model = clone(model).fit(X, y)
    values, deviations = model.predict(X, return_std=True)
    assert relative_error(values, model.transduction_) < 1e-6  # the tolerance of the solves
    assert relative_error(deviations, model.transduction_std_) < 1e-4  # variances of differences of answers


@pytest.mark.parametrize("model", REGRESSORS)
def test_answers_follow_a_change_of_unit(table, model):
    X, y, _ = table
    before = clone(model).fit(X, y)
    after = clone(model).fit(X, -1000 * y + 7)
    assert relative_error(after.transduction_, -1000 * before.transduction_ + 7) < SAME_TO_ROUNDING
    assert relative_error(after.transduction_std_, 1000 * before.transduction_std_) < 1e-6


def test_a_factor_of_the_kernel_changes_nothing(table):
    X, y, _ = table
    K = rbf_kernel(X, gamma=0.1)
    one, other = (SemiKPCARegressor(Precomputed()).fit(factor * K, y) for factor in (1.0, 1000.0))
    assert relative_error(other.transduction_, one.transduction_) < SAME_TO_ROUNDING


def test_rows_in_another_order_have_the_same_numbers(rng, table):
    X, y, _ = table
    order = rng.permutation(len(X))
    one, other = SemiKPCARegressorCV().fit(X, y), SemiKPCARegressorCV().fit(X[order], y[order])
    assert relative_error(other.transduction_, one.transduction_[order]) < 1e-6  # the tolerance of the solves


def test_several_targets_are_filled_in_together(table):
    X, y, truth = table
    both = np.column_stack([y, -2 * y])
    model = SemiKPCARegressorCV().fit(X, both)
    alone = SemiKPCARegressorCV().fit(X, y)
    assert model.transduction_.shape == (70, 2)
    # They say the same, so that they are weighed as one of them is.
    assert relative_error(model.transduction_[:, 0], alone.transduction_) < 1e-6
    assert relative_error(model.transduction_[:, 1], -2 * alone.transduction_) < 1e-6
    assert model.predict(X[:3], return_std=True)[1].shape == (3, 2)
    assert model.score(X, np.column_stack([truth, -2 * truth])) > 0.5
    plain = SemiKPCARegressor(KERNEL).fit(X, both)
    assert plain.dual_coef_.shape == (70, 2)
    assert plain.intercept_.shape == (2,)


@pytest.mark.parametrize("model", REGRESSORS)
def test_added_labels_are_those_of_a_fit_with_them(table, model):
    X, y, truth = table
    unlabeled, labeled = np.flatnonzero(np.isnan(y))[:3], np.flatnonzero(~np.isnan(y))[:2]
    changed = y.copy()
    changed[unlabeled], changed[labeled] = truth[unlabeled], np.nan
    wanted = clone(model).fit(X, changed)
    updated = clone(model).fit(X, y)
    assert updated.add_labels(np.r_[unlabeled, labeled], np.r_[truth[unlabeled], np.nan, np.nan]) is updated
    for found in (updated, clone(model).fit(X, y).with_labels(changed)):
        assert relative_error(found.transduction_, wanted.transduction_) < 1e-5  # columns by other solves
        np.testing.assert_array_equal(found.labeled_rows_, wanted.labeled_rows_)
    one = clone(model).fit(X, y).add_labels(int(unlabeled[0]), truth[unlabeled[0]])
    assert unlabeled[0] in one.labeled_rows_


@pytest.mark.parametrize(
    ("rows", "values", "message"),
    [
        ([0, 1], [1.0], r"shape \(2, 1\)"),
        ([999], [1.0], "Row 999 does not exist"),
        ([0, 0], [1.0, 2.0], "given twice"),
        ([0], ["many"], "no number"),
    ],
)
def test_labels_that_cannot_be_added_leave_the_model_as_it_was(table, rows, values, message):
    X, y, _ = table
    model = SemiKPCARegressor(KERNEL).fit(X, y)
    before = model.transduction_.copy()
    with pytest.raises(ValueError, match=message):
        model.add_labels(rows, values)
    np.testing.assert_array_equal(model.transduction_, before)


def test_a_fit_that_is_refused_leaves_an_earlier_one_as_it_was(table):
    X, y, _ = table
    model = SemiKPCARegressor(KERNEL).fit(X, y)
    before = model.transduction_.copy()
    with pytest.raises(ValueError, match="all 70 rows of y are unlabeled"):
        model.fit(X[:, :2], np.full(70, np.nan))
    np.testing.assert_array_equal(model.transduction_, before)
    assert model.n_features_in_ == 4
    with pytest.raises(UnboundedProblemError):
        model.set_params(error_weight=1.0).fit(X, y)
    np.testing.assert_array_equal(model.transduction_, before)


def test_numbers_without_any_gap_are_fine_and_score_counts_labeled_rows(table):
    X, y, truth = table
    model = SemiKPCARegressorCV().fit(X, truth)
    assert model.unlabeled_rows_.size == 0
    assert model.score(X, truth) > 0.9
    known = ~np.isnan(y)
    assert model.score(X, y) == pytest.approx(r2_score(y[known], model.predict(X)[known]))
    weights = np.arange(70.0)
    wanted = r2_score(y[known], model.predict(X)[known], sample_weight=weights[known])
    assert model.score(X, y, sample_weight=weights) == pytest.approx(wanted)
    with pytest.raises(ValueError, match=r"one entry for each of the 70 rows, got shape \(3,\)"):
        model.score(X, y, sample_weight=[1, 2, 3])
    with pytest.raises(ValueError, match="No label is given"):
        model.score(X, np.full(70, np.nan))


def test_numbers_along_a_curve_are_found_from_ten_of_them(rng):
    position = rng.uniform(0, 3 * np.pi, 300)
    X = np.column_stack([position * np.cos(position), position * np.sin(position)])
    y = np.full(300, np.nan)
    rows = rng.choice(300, 10, replace=False)
    y[rows] = position[rows]
    model = SemiKPCARegressorCV().fit(X, y)
    missed = np.sqrt(np.mean((model.transduction_ - position) ** 2)) / position.std()
    assert missed < 0.35  # what the mean of the labels is worth is 1


def test_deviations_are_as_large_as_errors_on_the_mean(rng):
    """Over 40 draws the mean squared error is within a third of the mean variance: the factor has 1/√800 of doubt."""
    X = rng.uniform(-2, 2, (150, 2))
    mean = np.sin(2 * X[:, 0]) + X[:, 1]
    squares, variances = [], []
    for _ in range(40):
        noisy = mean + 0.3 * rng.standard_normal(150)
        y = np.full(150, np.nan)
        rows = rng.choice(150, 25, replace=False)
        y[rows] = noisy[rows]
        model = SemiKPCARegressor().fit(X, y)
        others = model.unlabeled_rows_
        squares.append(np.mean((noisy - model.transduction_)[others] ** 2))
        variances.append(np.mean(model.transduction_std_[others] ** 2))
    assert 2 / 3 < np.mean(squares) / np.mean(variances) < 4 / 3


def test_deviations_are_larger_where_kernels_disagree(table):
    X, y, _ = table
    far = np.vstack([X, np.full((1, 4), 6.0)])
    model = SemiKPCARegressorCV().fit(X, y)
    deviations = model.predict(far, return_std=True)[1]
    assert deviations[-1] > 1.5 * np.median(deviations)


def test_rows_that_no_label_reaches_get_the_mean_with_a_warning(rng):
    X = np.concatenate([rng.standard_normal((20, 2)), 100 + rng.standard_normal((20, 2))])
    y = np.full(40, np.nan)
    y[:5] = [1.0, 2.0, 3.0, 4.0, 5.0]
    with pytest.warns(UnreachableValuesWarning, match="the mean of the given numbers"):
        model = SemiKPCARegressor(NeighborGraph(4)).fit(X, y)
    assert model.unreachable_rows_.min() == 20
    np.testing.assert_allclose(model.transduction_[20:], 3.0)
    np.testing.assert_allclose(model.predict(X[20:]), 3.0)


def test_another_error_weight_shares_the_kernels(table):
    X, y, _ = table
    model = SemiKPCARegressorCV([KERNEL]).fit(X, y)
    moved = model.at_error_weight(0.9)
    wanted = SemiKPCARegressorCV([KERNEL], error_weights=[0.9]).fit(X, y)
    assert relative_error(moved.transduction_, wanted.transduction_) < 1e-6  # the tolerance of the solves
    assert moved.error_weights == [0.9]
    assert model.error_weights is None


@pytest.mark.parametrize("model", REGRESSORS)
def test_a_pickled_model_says_the_same_and_takes_labels(table, model):
    X, y, truth = table
    model = clone(model).fit(X, y)
    model.remember_suggestions([3])
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.transduction_, model.transduction_)
    assert (
        relative_error(loaded.predict(X + 0.1, return_std=True)[1], model.predict(X + 0.1, return_std=True)[1]) < 1e-9
    )
    row = int(model.unlabeled_rows_[0])
    for each in (loaded, model):
        each.add_labels([row], [truth[row]])
    assert relative_error(loaded.transduction_, model.transduction_) < 1e-5  # columns by other solves
    assert loaded.suggested_rows_.tolist() == [3]


@pytest.mark.parametrize("backend", ["blocked", "torch:float64"])
@pytest.mark.parametrize("automatic", [False, True])
def test_the_back_end_changes_only_the_cost(table, backend, automatic):
    if backend.startswith("torch"):
        pytest.importorskip("torch")
    X, y, _ = table
    parameters = {"kernels": [KERNEL]} if automatic else {"kernel": KERNEL}
    make = SemiKPCARegressorCV if automatic else SemiKPCARegressor
    wanted = make(**parameters, backend="dense").fit(X, y)
    found = make(**parameters, backend=backend).fit(X, y)
    assert relative_error(found.transduction_, wanted.transduction_) < 1e-5  # a tolerance of 1e-6, and its condition
    assert relative_error(found.predict(X + 0.1), wanted.predict(X + 0.1)) < 1e-5
    if not automatic:
        assert found.backend_ == backend


def test_objects_are_compared_by_a_function():
    words = ["abc", "abm", "xyz", "xyw", "abe", "xyv"]
    model = SemiKPCARegressor(CallableKernel(lambda a, b: float(len(set(a) & set(b)) + 1)))
    model.fit(words, [1.0, np.nan, 5.0, np.nan, 1.0, 5.0])
    assert model.transduction_[1] < 2.5 < 3.5 < model.transduction_[3]
    assert model.predict(["abq"])[0] < 3


def test_tensors_and_lazy_rows_are_refused_with_a_remedy(table):
    X, y, _ = table
    torch, dask = pytest.importorskip("torch"), pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"does not take torch tensors.*X\.cpu\(\)\.numpy\(\)"):
        SemiKPCARegressor().fit(torch.tensor(X), y)
    with pytest.raises(ValueError, match=r"does not take Dask collections.*X\.compute\(\)") as refused:
        SemiKPCARegressorCV().fit(dask.from_array(X), y)
    assert "LSSVMRegressor" in str(refused.value)
    assert "Classifier" not in str(refused.value)


def test_frames_and_pipelines_work(table):
    X, y, truth = table
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = SemiKPCARegressorCV().fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == list("abcd")
    pipeline = make_pipeline(StandardScaler(), SemiKPCARegressor()).fit(frame, y)
    assert pipeline.score(frame, truth) > 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernels": []}, "kernels must be a list"),
        ({"combine": "mean"}, "combine must be"),
        ({"error_weights": 0.5}, "error_weights must be a list"),
        ({"n_components_removed": (-1,)}, "n_components_removed must be a whole number"),
        ({"tol": 0}, "tol must be a positive"),
    ],
)
def test_parameters_of_the_automatic_regressor_are_checked(table, parameters, message):
    X, y, _ = table
    with pytest.raises(ValueError, match=message):
        SemiKPCARegressorCV(**parameters).fit(X, y)


def test_progress_is_told_and_verbose_models_say_what_they_do(table, caplog):
    X, y, _ = table
    steps = []
    with caplog.at_level("INFO", "semikpca"):
        SemiKPCARegressorCV(verbose=1).fit(X, y, progress=lambda *step: steps.append(step))
        SemiKPCARegressor(verbose=1).fit(X, y)
    assert {name for name, _, _ in steps} == {"kernels", "labels"}
    assert "candidates; the heaviest" in caplog.text
    assert "Convexity certificate" in caplog.text


def test_a_wrong_number_of_labels_is_refused(table):
    X, y, _ = table
    with pytest.raises(ValueError, match="X has 70 rows and y has 69 entries"):
        SemiKPCARegressor().fit(X, y[:-1])
