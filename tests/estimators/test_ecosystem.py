"""Estimators among the tools that people use them with: scikit-learn, pickle, skops, pandas, polars."""

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from semikpca import (
    ConvexKernelPCA,
    LSSVMClassifier,
    LSSVMRegressor,
    SemiKPCAClassifier,
    SemiKPCAClassifierCV,
    SemiLSSVMClassifier,
)
from semikpca.kernels import RBF, Cosine, Laplacian, Linear, Normalized, Polynomial

SEMI_SUPERVISED = [SemiKPCAClassifier, SemiLSSVMClassifier]
CLASSIFIERS = [*SEMI_SUPERVISED, LSSVMClassifier]
ALL = [*CLASSIFIERS, LSSVMRegressor, ConvexKernelPCA]
# The classifier that chooses by itself has a list of kernels in place of one, and stands where none is named.
TRANSDUCTIVE = [*SEMI_SUPERVISED, SemiKPCAClassifierCV]
ALL_WITH_DEFAULTS = [*ALL, SemiKPCAClassifierCV]

# The same matrix, the same solve, another order of the sums.
SAME_SOLVE = 1e-10

generator = np.random.default_rng(0)
ORDER = generator.permutation(40)
X = np.vstack([generator.normal(size=(20, 3)) - 2, generator.normal(size=(20, 3)) + 2])[ORDER]
TRUTH = np.repeat([0, 1], 20)[ORDER]
Y = np.where(np.arange(40) % 3 == 0, -1, TRUTH)  # a third is unlabeled, so that every fold has labels
NEW = X[:6] + 0.1


def labels_for(make):
    return Y if make in TRANSDUCTIVE else TRUTH


def answers(model, rows):
    """What a fitted model says of the rows, as numbers."""
    if hasattr(model, "transform"):
        return model.transform(rows)
    return model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows)


# -- parameters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", ALL)
def test_a_clone_has_the_parameters_and_is_not_fitted(make):
    model = make(kernel=RBF(gamma=0.3)).fit(X, labels_for(make))
    twin = clone(model)
    assert twin.kernel is not model.kernel
    assert twin.get_params()["kernel__gamma"] == 0.3
    assert not [name for name in vars(twin) if name.endswith("_") and not name.startswith("_")]
    np.testing.assert_array_equal(answers(twin.fit(X, labels_for(make)), NEW), answers(model, NEW))


@pytest.mark.parametrize("make", ALL)
def test_nested_parameters_can_be_read_and_set(make):
    model = make(kernel=Normalized(RBF()))
    assert model.get_params()["kernel__kernel__gamma"] == "median"
    assert model.set_params(kernel__kernel__gamma=0.3) is model
    assert model.kernel.kernel.gamma == 0.3


@pytest.mark.parametrize("make", ALL)
def test_an_unknown_parameter_is_refused_with_those_there_are(make):
    with pytest.raises(ValueError, match=r"Invalid parameter 'gamma'.*error_weight|Invalid parameter 'gamma'.*kernel"):
        make().set_params(gamma=0.3)


@pytest.mark.parametrize("make", ALL)
def test_a_model_prints_what_was_changed(make):
    assert repr(make()) == f"{make.__name__}()"
    assert repr(make(kernel=RBF(gamma=0.5))) == f"{make.__name__}(kernel=RBF(gamma=0.5))"


@pytest.mark.parametrize("make", ALL)
def test_fitting_leaves_the_parameters_alone(make):
    kernel = RBF()
    model = make(kernel=kernel).fit(X, labels_for(make))
    assert model.kernel is kernel
    assert not hasattr(kernel, "gamma_")
    assert model.kernel_.gamma_ > 0


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
def test_a_second_fit_forgets_the_first(make):
    expected = answers(make().fit(X, labels_for(make)), NEW)
    model = make().fit(10 * X[:30, :2], labels_for(make)[:30]).fit(X, labels_for(make))
    np.testing.assert_array_equal(answers(model, NEW), expected)
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
def test_two_fits_give_the_same_bits(make):
    first, second = make().fit(X, labels_for(make)), make().fit(X, labels_for(make))
    np.testing.assert_array_equal(answers(first, NEW), answers(second, NEW))


@pytest.mark.parametrize("make", ALL)
def test_tags_say_what_the_kernel_takes(make):
    assert get_tags(make()).input_tags.sparse
    assert not get_tags(make()).input_tags.pairwise
    assert get_tags(make(kernel="precomputed")).input_tags.pairwise
    assert not get_tags(make(kernel="precomputed")).input_tags.sparse
    assert get_tags(make(kernel=Normalized("precomputed"))).input_tags.pairwise


@pytest.mark.parametrize("make", ALL)
def test_a_wrong_kernel_does_not_break_the_tags(make):
    get_tags(make(kernel="rfb"))


# -- searches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_kernel_coefficients_and_error_weights_can_be_searched(make):
    grid = {"kernel__gamma": [0.01, 0.1, "median"], "error_weight": [0.3, 0.6]}
    search = GridSearchCV(make(RBF()), grid, cv=3, error_score="raise").fit(X, labels_for(make))
    assert len(search.cv_results_["params"]) == 6
    best = make(RBF(gamma=search.best_params_["kernel__gamma"]), error_weight=search.best_params_["error_weight"])
    np.testing.assert_array_equal(search.predict(NEW), best.fit(X, labels_for(make)).predict(NEW))
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_kernels_can_be_searched(make):
    kernels = [RBF(gamma=0.1), Laplacian(), "linear", Normalized(RBF()), Cosine(), Polynomial(degree=2), Linear()]
    search = GridSearchCV(make(), {"kernel": kernels}, cv=3, error_score="raise").fit(X, labels_for(make))
    assert len(search.cv_results_["params"]) == 7
    assert search.best_score_ > 0.9
    assert not hasattr(kernels[1], "gamma_")


def test_kernels_of_a_regression_can_be_searched():
    grid = {"kernel": ["linear", RBF()], "error_weight": [0.1, 10.0]}
    search = GridSearchCV(LSSVMRegressor(), grid, cv=3, error_score="raise").fit(X, X @ [1.0, 2.0, 3.0])
    assert search.best_params_["kernel"] == "linear"
    assert search.best_score_ > 0.99


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_a_search_splits_a_given_matrix_on_both_sides(make):
    grid = {"error_weight": [0.2, 0.8]}
    y = labels_for(make)
    by_name = GridSearchCV(make(RBF(gamma=0.1)), grid, cv=3, error_score="raise").fit(X, y)
    given = GridSearchCV(make("precomputed"), grid, cv=3, error_score="raise").fit(rbf_kernel(X, gamma=0.1), y)
    for split in range(3):
        scores = f"split{split}_test_score"
        np.testing.assert_array_equal(given.cv_results_[scores], by_name.cv_results_[scores])


@pytest.mark.parametrize("make", SEMI_SUPERVISED)
@pytest.mark.parametrize(
    "container",
    [list, lambda y: np.array(y, dtype=object), pd.Series, pl.Series],
    ids=["list", "objects", "pandas", "polars"],
)
def test_labels_with_gaps_can_be_searched_with_plain_folds(make, container):
    # Stratified folds, the default, are scikit-learn's own and do not take None.
    y = container([None if code == -1 else "ab"[code] for code in Y])
    search = GridSearchCV(make(), {"error_weight": [0.3, 0.6]}, cv=KFold(3), error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9
    assert set(search.predict(NEW)) <= {"a", "b"}


def test_words_can_be_searched():
    def shared_letters(a, b):
        return float(len(set(a) & set(b)))

    words = ["abc", "abf", "bcf", "acf", "xyz", "xyw", "yzw", "xzw"] * 3
    y = [0, 0, 0, 0, 1, 1, 1, 1] * 3
    assert cross_val_score(LSSVMClassifier(shared_letters), words, y, cv=3, error_score="raise").mean() == 1


def test_a_pipeline_gives_what_its_steps_give():
    pipeline = make_pipeline(StandardScaler(), SemiKPCAClassifier()).fit(1000 * X + 5, Y)
    scaled = StandardScaler().fit(1000 * X + 5)
    model = SemiKPCAClassifier().fit(scaled.transform(1000 * X + 5), Y)
    np.testing.assert_array_equal(pipeline.predict(1000 * NEW + 5), model.predict(scaled.transform(1000 * NEW + 5)))
    assert pipeline.score(1000 * X + 5, TRUTH) > 0.9


def test_nested_parameters_reach_through_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), SemiKPCAClassifier(RBF()))
    grid = {"semikpcaclassifier__kernel__gamma": [0.1, 0.5]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, Y)
    assert search.best_estimator_[-1].kernel.gamma == search.best_params_["semikpcaclassifier__kernel__gamma"]


def test_projections_feed_a_classifier():
    pipeline = make_pipeline(ConvexKernelPCA(3), LSSVMClassifier("linear")).fit(X, TRUTH)
    assert pipeline.score(X, TRUTH) > 0.9


def test_meta_estimators_take_the_classifiers():
    assert cross_val_predict(LSSVMClassifier(), X, TRUTH, cv=3, method="predict_proba").shape == (40, 2)
    assert CalibratedClassifierCV(LSSVMClassifier(), cv=3).fit(X, TRUTH).score(X, TRUTH) > 0.9
    voting = VotingClassifier([("rbf", LSSVMClassifier()), ("linear", LSSVMClassifier("linear"))], voting="soft")
    assert voting.fit(X, TRUTH).score(X, TRUTH) > 0.9


# -- pickling ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("kernel", ["rbf", Normalized(RBF()), "linear"], ids=repr)
def test_a_loaded_model_answers_as_before(make, kernel):
    model = make(kernel=kernel).fit(X, labels_for(make))
    for loaded in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(answers(loaded, NEW), answers(model, NEW))


@pytest.mark.parametrize("make", ALL)
def test_joblib_keeps_a_model(make):
    model = make(kernel=Normalized(RBF())).fit(X, labels_for(make))
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    # The degrees of the rows are computed again where the rows came back as a copy.
    np.testing.assert_allclose(answers(joblib.load(buffer), NEW), answers(model, NEW), atol=SAME_SOLVE)


def through_skops(model):
    content = skops.io.dumps(model)
    return skops.io.loads(content, trusted=skops.io.get_untrusted_types(data=content))


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("kernel", ["rbf", "graph", Normalized(RBF())], ids=repr)
def test_skops_keeps_a_model_once_its_types_are_trusted(make, kernel):
    model = make(kernel=kernel).fit(X, labels_for(make))
    np.testing.assert_allclose(answers(through_skops(model), NEW), answers(model, NEW), atol=SAME_SOLVE)


@pytest.mark.parametrize("make", TRANSDUCTIVE)
def test_skops_keeps_a_pipeline_and_its_labels_in_words(make):
    names = np.where(Y == -1, None, np.where(Y == 0, "left", "right"))
    pipeline = make_pipeline(StandardScaler(), make()).fit(X, names)
    loaded = through_skops(pipeline)
    assert loaded.predict(NEW).tolist() == pipeline.predict(NEW).tolist()
    np.testing.assert_allclose(loaded.predict_proba(NEW), pipeline.predict_proba(NEW), atol=SAME_SOLVE)
    assert loaded[-1].transduction_.tolist() == pipeline[-1].transduction_.tolist()


def many_rows():
    return np.random.default_rng(1).normal(size=(500, 5))


def size_of(model):
    return len(pickle.dumps(model))


KERNEL_MATRIX_OF_500_ROWS = 500 * 500 * 8


@pytest.mark.parametrize("make", ALL)
def test_a_pickle_is_far_smaller_than_the_kernel_matrix(make):
    rows = many_rows()
    model = make().fit(rows, (rows[:, 0] > 0).astype(int))
    assert size_of(model) < KERNEL_MATRIX_OF_500_ROWS / 10


def test_a_pickle_stays_small_after_the_response_was_asked_for():
    rows = many_rows()
    model = SemiKPCAClassifier().fit(rows, np.where(np.arange(500) < 50, rows[:, 0] > 0, -1))
    model.label_response([0, 1])
    model.full_spectrum()
    model.add_labels([100], [1])
    assert size_of(model) < KERNEL_MATRIX_OF_500_ROWS / 10


def test_a_pickle_stays_small_after_a_certificate_was_asked_for():
    model = ConvexKernelPCA(2).fit(many_rows())
    model.certificate(5)
    assert size_of(model) < KERNEL_MATRIX_OF_500_ROWS / 10


@pytest.mark.parametrize("make", SEMI_SUPERVISED)
@pytest.mark.parametrize("kernel", ["rbf", Normalized(RBF())], ids=repr)
def test_a_loaded_model_can_go_on_learning(make, kernel):
    model = make(kernel).fit(X, Y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(loaded.label_response([0, 3]), model.label_response([0, 3]), atol=SAME_SOLVE)
    np.testing.assert_allclose(
        loaded.add_labels([0, 3], [1, 0]).decision_, model.add_labels([0, 3], [1, 0]).decision_, atol=SAME_SOLVE
    )


def test_a_loaded_projection_still_has_its_certificates():
    model = ConvexKernelPCA(2).fit(X)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.certificate(4).error_weight_max == pytest.approx(model.certificate(4).error_weight_max)
    coefficients = np.ones(40)
    assert loaded.objective(coefficients, 0.1, 1) == pytest.approx(model.objective(coefficients, 0.1, 1))


def test_a_copy_that_goes_on_learning_leaves_the_original_alone():
    model = SemiKPCAClassifier().fit(X, Y)
    before = model.decision_.copy()
    copy.deepcopy(model).add_labels([0, 3], [1, 0])
    np.testing.assert_array_equal(model.decision_, before)


# -- tables ------------------------------------------------------------------------------------------------------------


def as_pandas(rows):
    return pd.DataFrame(rows, columns=["a", "b", "c"])


def as_polars(rows):
    return pl.DataFrame(rows, schema=["a", "b", "c"])


TABLES = {
    "pandas": as_pandas,
    "pandas nullable": lambda rows: as_pandas(rows).astype("Float64"),
    "pandas with an index": lambda rows: as_pandas(rows).set_index(np.arange(len(rows)) + 100),
    "polars": as_polars,
}
every_table = pytest.mark.parametrize("as_table", TABLES.values(), ids=TABLES.keys())


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
@every_table
def test_a_table_gives_what_its_array_gives(make, as_table):
    model = make().fit(as_table(X), labels_for(make))
    expected = make().fit(X, labels_for(make))
    # A table may come by columns, an array by rows: the sums run in another order.
    np.testing.assert_allclose(answers(model, as_table(NEW)), answers(expected, NEW), atol=SAME_SOLVE)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
@pytest.mark.parametrize("as_table", [as_pandas, as_polars])
def test_columns_in_another_order_are_refused(make, as_table):
    model = make().fit(as_table(X), labels_for(make))
    with pytest.raises(ValueError, match="feature names should match"):
        answers(model, as_table(NEW)[["c", "b", "a"]])


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
def test_a_table_after_an_array_gets_a_warning(make):
    model = make().fit(X, labels_for(make))
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        answers(model, as_pandas(NEW))


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
def test_an_array_has_no_feature_names(make):
    assert not hasattr(make().fit(X, labels_for(make)), "feature_names_in_")


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
def test_a_table_with_a_gap_is_refused(make):
    table = as_pandas(X).astype("Float64")
    table.loc[3, "b"] = pd.NA
    with pytest.raises(ValueError, match="Input X contains NaN"):
        make().fit(table, labels_for(make))


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
def test_a_column_of_words_is_refused_with_a_word(make):
    with pytest.raises(ValueError, match="could not convert string to float: 'red'"):
        make().fit(as_pandas(X).assign(color="red"), labels_for(make))


def test_projections_come_out_as_pandas():
    table = as_pandas(X).set_index(np.arange(40) + 100)
    model = ConvexKernelPCA(2).set_output(transform="pandas")
    projections = model.fit_transform(table)
    assert isinstance(projections, pd.DataFrame)
    assert projections.columns.tolist() == ["convexkernelpca0", "convexkernelpca1"]
    assert projections.index.tolist() == table.index.tolist()
    np.testing.assert_allclose(model.transform(table), projections, atol=SAME_SOLVE)


def test_projections_come_out_as_polars():
    model = ConvexKernelPCA(2).set_output(transform="polars")
    projections = model.fit_transform(as_polars(X))
    assert isinstance(projections, pl.DataFrame)
    assert projections.columns == ["convexkernelpca0", "convexkernelpca1"]
    assert isinstance(model.transform(as_polars(NEW)), pl.DataFrame)


def test_the_names_of_projections_count_those_that_are_kept():
    model = ConvexKernelPCA(None, "linear").fit(X)
    assert model.get_feature_names_out().tolist() == [f"convexkernelpca{i}" for i in range(3)]
    assert model.transform(NEW).shape == (6, 3)


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
@pytest.mark.parametrize(
    "container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.lil_array]
)
def test_sparse_rows_give_what_dense_rows_give(make, container):
    rows, new = np.where(X > 0, X, 0), np.where(NEW > 0, NEW, 0)
    model = make().fit(container(rows), labels_for(make))
    expected = make().fit(rows, labels_for(make))
    np.testing.assert_allclose(np.abs(answers(model, container(new))), np.abs(answers(expected, new)), atol=1e-9)


# -- labels ------------------------------------------------------------------------------------------------------------


NAMES = np.array(["cat", "dog"])
GIVEN = [None if code == -1 else str(NAMES[code]) for code in Y]
NUMBERS = [None if code == -1 else int(code) for code in Y]

LABELS = {
    "list": (GIVEN, NAMES),
    "tuple": (tuple(GIVEN), NAMES),
    "objects": (np.array(GIVEN, dtype=object), NAMES),
    "NumPy strings": ([None if name is None else np.str_(name) for name in GIVEN], NAMES),
    "pandas": (pd.Series(GIVEN), NAMES),
    "pandas string": (pd.Series(GIVEN, dtype="string"), NAMES),
    "pandas category": (pd.Series(GIVEN, dtype="category"), NAMES),
    "pandas category with one class too many": (
        pd.Series(pd.Categorical(GIVEN, categories=["dog", "cat", "cow"])),
        NAMES,
    ),
    "pandas with an index": (pd.Series(GIVEN, index=np.arange(40)[::-1]), NAMES),
    "polars": (pl.Series(GIVEN), NAMES),
    "polars category": (pl.Series(GIVEN, dtype=pl.Categorical), NAMES),
    "pandas Int64": (pd.Series(NUMBERS, dtype="Int64"), np.array([0, 1])),
    "pandas boolean": (pd.Series(NUMBERS, dtype="Int64").astype("boolean"), np.array([False, True])),
    "polars integers": (pl.Series(NUMBERS), np.array([0, 1])),
    "booleans": ([None if code is None else bool(code) for code in NUMBERS], np.array([False, True])),
    "integers": (Y, np.array([0, 1])),
    "other integers": (np.where(Y == -1, -1, np.array([2, 7])[Y]), np.array([2, 7])),
    "int8": (Y.astype(np.int8), np.array([0, 1])),
    "floats with NaN": (np.where(Y == -1, np.nan, Y), np.array([0.0, 1.0])),
    "floats with NaN and the class -1": (np.where(Y == -1, np.nan, np.array([-1.0, 1.0])[Y]), np.array([-1.0, 1.0])),
    "floats with -1": (Y.astype(float), np.array([0.0, 1.0])),
}


@pytest.mark.parametrize("make", TRANSDUCTIVE)
@pytest.mark.parametrize("name", LABELS)
def test_labels_of_every_type_come_back_as_they_were_given(make, name):
    y, classes = LABELS[name]
    model = make().fit(X, y)
    reference = make().fit(X, Y)
    assert model.classes_.tolist() == classes.tolist()
    np.testing.assert_array_equal(model.decision_, reference.decision_)
    assert model.transduction_.tolist() == classes[reference.transduction_].tolist()
    assert model.predict(NEW).tolist() == classes[reference.predict(NEW)].tolist()


@pytest.mark.parametrize(
    "classes",
    [["dog", "cat"], [7, 2], [1.0, -1.0], [True, False], [1, -1]],
    ids=str,
)
def test_a_supervised_model_takes_every_type_and_the_class_minus_one(classes):
    y = np.array(classes)[TRUTH]
    model = LSSVMClassifier().fit(X, y)
    assert model.classes_.tolist() == sorted(classes)
    assert (model.predict(X) == y).mean() > 0.9


@pytest.mark.parametrize("make", [*CLASSIFIERS, SemiKPCAClassifierCV])
def test_three_classes_with_gaps_between_their_numbers(make):
    third_cluster = np.random.default_rng(9).normal(loc=[8.0, -8.0, 0.0], size=(10, 3))
    rows = np.vstack([X, third_cluster])
    y = np.concatenate([np.array([0, 7])[TRUTH], np.full(10, 2)])
    if make in TRANSDUCTIVE:
        y = np.where(np.arange(50) % 4 == 0, y, -1)
    model = make().fit(rows, y)
    assert model.classes_.tolist() == [0, 2, 7]
    assert model.decision_function(rows).shape == (50, 3)
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(rows), model.classes_[model.predict_proba(rows).argmax(axis=1)])


@pytest.mark.parametrize("make", TRANSDUCTIVE)
def test_fit_predict_labels_the_rows(make):
    np.testing.assert_array_equal(make().fit_predict(X, Y), make().fit(X, Y).transduction_)


@pytest.mark.parametrize("make", TRANSDUCTIVE)
def test_predicting_the_training_rows_gives_the_transduction(make):
    model = make().fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), model.transduction_)
    np.testing.assert_allclose(model.predict_proba(X), model.label_distributions_, atol=SAME_SOLVE)


# -- score -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", TRANSDUCTIVE)
def test_the_score_counts_labeled_rows_only(make):
    model = make().fit(X, Y)
    truth = model.transduction_.copy()
    truth[:5] = 1 - truth[:5]
    assert model.score(X, truth) == pytest.approx(35 / 40)
    truth[:3] = -1
    assert model.score(X, truth) == pytest.approx(35 / 37)
    assert model.score(X, [None if label == -1 else int(label) for label in truth]) == pytest.approx(35 / 37)
    assert model.score(X, np.where(truth == -1, np.nan, truth)) == pytest.approx(35 / 37)


@pytest.mark.parametrize("make", TRANSDUCTIVE)
def test_the_score_counts_the_class_minus_one_where_it_is_a_class(make):
    model = make().fit(X, np.where(Y == -1, np.nan, np.array([-1.0, 1.0])[Y]))
    truth = model.transduction_.copy()
    truth[np.flatnonzero(truth == -1)[:5]] = 1
    assert model.score(X, truth) == pytest.approx(35 / 40)


@pytest.mark.parametrize("make", TRANSDUCTIVE)
def test_the_score_takes_weights_for_all_rows(make):
    model = make().fit(X, Y)
    truth = model.transduction_.copy()
    truth[0] = 1 - truth[0]
    truth[1] = -1
    weights = np.ones(40)
    weights[0] = 10
    assert model.score(X, truth, sample_weight=weights) == pytest.approx(38 / 48)
    assert model.score(X, truth, sample_weight=weights.tolist()) == pytest.approx(38 / 48)


@pytest.mark.parametrize("make", [*CLASSIFIERS, SemiKPCAClassifierCV])
@pytest.mark.parametrize("n_weights", [39, 41])
def test_the_score_refuses_weights_of_another_length(make, n_weights):
    model = make().fit(X, labels_for(make))
    with pytest.raises(ValueError, match=r"inconsistent|sample_weight"):
        model.score(X, TRUTH, sample_weight=np.ones(n_weights))


@pytest.mark.parametrize("make", TRANSDUCTIVE)
def test_the_score_needs_a_labeled_row(make):
    with pytest.raises(ValueError, match=r"all 40 rows of y are unlabeled"):
        make().fit(X, Y).score(X, np.full(40, -1))


@pytest.mark.parametrize("make", TRANSDUCTIVE)
def test_a_label_that_the_model_does_not_know_counts_as_an_error(make):
    model = make().fit(X, Y)
    truth = model.transduction_.copy()
    truth[:4] = 9
    assert model.score(X, truth) == pytest.approx(36 / 40)


# -- not fitted --------------------------------------------------------------------------------------------------------


QUESTIONS = {
    "predict": lambda model: model.predict(X),
    "decision_function": lambda model: model.decision_function(X),
    "predict_proba": lambda model: model.predict_proba(X),
    "score": lambda model: model.score(X, TRUTH),
    "label_response": lambda model: model.label_response([0]),
    "left_out_decisions": lambda model: model.left_out_decisions([0]),
    "decision_probabilities": lambda model: model.decision_probabilities(np.zeros(3)),
}
TRANSDUCTIVE_QUESTIONS = {
    "label_distributions_": lambda model: model.label_distributions_,
    "add_labels": lambda model: model.add_labels([0], [1]),
}
PROJECTION_QUESTIONS = {
    "transform": lambda model: model.transform(X),
    "inverse_transform": lambda model: model.inverse_transform(X[:, :2]),
    "certificate": lambda model: model.certificate(0),
    "regime": lambda model: model.regime(0.1, 0),
    "objective": lambda model: model.objective(np.ones(40), 0.1, 0),
    "get_feature_names_out": lambda model: model.get_feature_names_out(),
}
UNFITTED = [
    *[(make, name, ask) for make in [*CLASSIFIERS, SemiKPCAClassifierCV] for name, ask in QUESTIONS.items()],
    *[(make, name, ask) for make in TRANSDUCTIVE for name, ask in TRANSDUCTIVE_QUESTIONS.items()],
    (SemiKPCAClassifier, "full_spectrum", lambda model: model.full_spectrum()),
    (LSSVMRegressor, "predict", lambda model: model.predict(X)),
    *[(ConvexKernelPCA, name, ask) for name, ask in PROJECTION_QUESTIONS.items()],
]


@pytest.mark.parametrize(
    ("make", "ask"),
    [pytest.param(make, ask, id=f"{make.__name__}.{name}") for make, name, ask in UNFITTED],
)
def test_a_model_that_was_not_fitted_says_so(make, ask):
    with pytest.raises(NotFittedError, match=r"not fitted yet.*fit"):
        ask(make())
