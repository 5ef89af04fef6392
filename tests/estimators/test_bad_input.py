"""Careless and hostile input: a clear error or the right answer, never NaN, never a traceback from LAPACK."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from semikpca import (
    ConvexKernelPCA,
    LSSVMClassifier,
    LSSVMRegressor,
    SemiKPCAClassifier,
    SemiKPCAClassifierCV,
    SemiLSSVMClassifier,
)
from semikpca.exceptions import KernelRankError, SingleClassWarning, UnboundedProblemError, UnlabeledMarkWarning
from semikpca.kernels import RBF, Cosine, Laplacian, Normalized, Polynomial

SEMI_SUPERVISED = [SemiKPCAClassifier, SemiLSSVMClassifier]
LS_SVM = [SemiLSSVMClassifier, LSSVMClassifier, LSSVMRegressor]
CLASSIFIERS = [*SEMI_SUPERVISED, LSSVMClassifier]
ALL = [*CLASSIFIERS, LSSVMRegressor, ConvexKernelPCA]
# The classifier that chooses by itself has a list of kernels in place of one, and stands where none is named.
TRANSDUCTIVE = [*SEMI_SUPERVISED, SemiKPCAClassifierCV]
CLASSIFIERS_WITH_DEFAULTS = [*CLASSIFIERS, SemiKPCAClassifierCV]
ALL_WITH_DEFAULTS = [*ALL, SemiKPCAClassifierCV]

# The same numbers in another container, or the same kernel after another way of rounding the rows, then one solve.
SAME_SOLVE = 1e-9

generator = np.random.default_rng(42)
X = np.vstack([generator.normal(size=(20, 3)) - 2, generator.normal(size=(20, 3)) + 2])
TRUTH = np.repeat([0, 1], 20)
Y = np.full(40, -1)
Y[[0, 1, 2, 20, 21, 22]] = TRUTH[[0, 1, 2, 20, 21, 22]]
NEW = X[::8] + 0.1

NAN, INFINITY = float("nan"), float("inf")


def labels_for(make):
    return Y if make in TRANSDUCTIVE else TRUTH


def fit(make, rows=X, y=None, **parameters):
    return make(**parameters).fit(rows, labels_for(make) if y is None else y)


def answers(model, rows):
    """What a fitted model says of the rows, as numbers."""
    if hasattr(model, "transform"):
        return model.transform(rows)
    return model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows)


def refusal(action, error=ValueError):
    """The message that the action ends with; an error of LAPACK is a ValueError too, but not a clear one."""
    with pytest.raises(error) as caught:
        action()
    assert not isinstance(caught.value, np.linalg.LinAlgError)
    return str(caught.value)


def outcome(action):
    """What the action returns and None, or None and the error that refused it."""
    try:
        return action(), None
    except ValueError as error:
        return None, error


def answers_or_advice(make, rows, advice, y=None, **parameters):
    """Fit and answer for the same rows; None where that was refused with a message that holds the advice."""
    found, refused = outcome(lambda: answers(fit(make, rows, y, **parameters), rows))
    assert not isinstance(refused, np.linalg.LinAlgError)
    if refused is not None:
        assert re.search(advice, str(refused)), str(refused)
    return found


# -- labels ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", TRANSDUCTIVE)
@pytest.mark.parametrize("y", [np.full(40, -1), [None] * 40, np.full(40, NAN)], ids=["-1", "None", "NaN"])
def test_no_label_at_all_is_refused(make, y):
    message = refusal(lambda: fit(make, y=y))
    assert "all 40 rows" in message
    assert "Label at least one" in message


@pytest.mark.parametrize("make", CLASSIFIERS_WITH_DEFAULTS)
@pytest.mark.parametrize("given", ["cat", 3, True], ids=repr)
def test_one_class_is_predicted_everywhere_with_a_warning(make, given):
    y = [given] * 40 if make is LSSVMClassifier else [given] * 3 + [None] * 37
    with pytest.warns(SingleClassWarning, match="Label a row of another class") as caught:
        model = fit(make, y=y)
    assert str(given) in str(caught[0].message)
    assert model.classes_.tolist() == [given]
    assert model.predict(NEW).tolist() == [given] * len(NEW)
    np.testing.assert_array_equal(model.predict_proba(NEW), np.ones((len(NEW), 1)))
    assert np.isfinite(model.decision_).all()
    if make in TRANSDUCTIVE:
        assert model.transduction_.tolist() == [given] * 40
        np.testing.assert_array_equal(model.label_distributions_, np.ones((40, 1)))


@pytest.mark.parametrize("make", TRANSDUCTIVE)
@pytest.mark.parametrize("mark", ["", " ", "-1", "nan", "None", "<NA>"], ids=repr)
def test_text_that_looks_like_a_mark_of_unlabeled_rows_is_a_class_with_a_warning(make, mark):
    y = np.where(Y == -1, mark, np.where(Y == 0, "left", "right"))
    with pytest.warns(UnlabeledMarkWarning, match="mark such rows with None or NaN") as caught:
        model = fit(make, y=y)
    assert f"The label {mark!r} (34 rows) is text and a class" in str(caught[0].message)
    assert mark in model.classes_
    assert caught[0].filename == __file__


def test_several_such_texts_are_named_in_one_warning():
    with pytest.warns(UnlabeledMarkWarning, match=r"The labels '' and '-1' \(2 rows\) are text and classes"):
        fit(SemiKPCAClassifier, y=["", "-1", "left", "right"] + [None] * 36)


@pytest.mark.parametrize("make", TRANSDUCTIVE)
def test_a_class_named_none_or_unknown_needs_no_warning(make):
    fit(make, y=np.where(Y == -1, None, np.where(Y == 0, "none", "unknown")))


@pytest.mark.parametrize("prior", ["labeled", [1.0]], ids=repr)
def test_one_class_may_have_a_prior(prior):
    with pytest.warns(SingleClassWarning):
        model = fit(SemiKPCAClassifier, y=np.where(Y == 0, 0, -1), class_prior=prior)
    assert set(model.transduction_) == {0}


@pytest.mark.parametrize("make", [*CLASSIFIERS_WITH_DEFAULTS, LSSVMRegressor])
@pytest.mark.parametrize("n_labels", [39, 41])
def test_labels_of_the_wrong_length_are_refused_with_both_lengths(make, n_labels):
    message = refusal(lambda: fit(make, y=np.resize(labels_for(make), n_labels)))
    assert "40 rows" in message
    assert str(n_labels) in message
    assert "one label for each row" in message


@pytest.mark.parametrize("make", [*CLASSIFIERS_WITH_DEFAULTS, LSSVMRegressor])
def test_no_labels_argument_is_refused_with_what_is_missing(make):
    message = refusal(lambda: make().fit(X, None))
    assert "requires y" in message
    assert make.__name__ in message


@pytest.mark.parametrize("make", CLASSIFIERS_WITH_DEFAULTS)
def test_a_table_of_labels_is_refused_with_its_shape(make):
    assert "(40, 2)" in refusal(lambda: fit(make, y=np.column_stack([TRUTH, TRUTH])))


@pytest.mark.parametrize("make", CLASSIFIERS_WITH_DEFAULTS)
def test_a_column_of_labels_is_read_with_a_warning(make):
    with pytest.warns(DataConversionWarning):
        model = fit(make, y=labels_for(make)[:, np.newaxis])
    np.testing.assert_array_equal(model.decision_, fit(make).decision_)


@pytest.mark.parametrize("make", CLASSIFIERS_WITH_DEFAULTS)
@pytest.mark.parametrize(("strange", "kind"), [("dog", "str"), (True, "bool")], ids=repr)
def test_mixed_labels_are_refused_with_both_types(make, strange, kind):
    y = labels_for(make).tolist()
    y[0] = strange
    if kind == "bool":
        y = [None if label == -1 else label for label in y]
    message = refusal(lambda: fit(make, y=np.array(y, dtype=object)))
    assert kind in message
    assert "a number" in message
    assert "Convert" in message


@pytest.mark.parametrize("make", CLASSIFIERS_WITH_DEFAULTS)
def test_real_numbers_are_no_labels(make):
    assert "continuous" in refusal(lambda: fit(make, y=X[:, 0]))


@pytest.mark.parametrize("make", CLASSIFIERS_WITH_DEFAULTS)
def test_infinite_labels_are_refused(make):
    y = labels_for(make).astype(float)
    y[0] = INFINITY
    assert "infinity" in refusal(lambda: fit(make, y=y))


@pytest.mark.parametrize("y", [[None, *TRUTH[1:].tolist()], np.where(np.arange(40), TRUTH, NAN)], ids=["None", "NaN"])
def test_a_supervised_model_refuses_missing_labels_with_their_number_and_a_way_out(y):
    message = refusal(lambda: fit(LSSVMClassifier, y=y))
    assert "1 of 40 rows" in message
    assert "SemiKPCAClassifier" in message


@pytest.mark.parametrize("value", [NAN, INFINITY])
def test_a_regression_refuses_targets_that_are_not_finite(value):
    y = X[:, 0].copy()
    y[3] = value
    assert re.search("Input y contains (NaN|infinity)", refusal(lambda: fit(LSSVMRegressor, y=y)))


def test_unlabeled_rows_may_stand_anywhere():
    model = fit(SemiKPCAClassifier)
    order = np.argsort(Y != -1, kind="stable")  # unlabeled rows first
    moved = SemiKPCAClassifier().fit(X[order], Y[order])
    np.testing.assert_allclose(moved.decision_, model.decision_[order], atol=SAME_SOLVE)


# -- rows --------------------------------------------------------------------------------------------------------------


def gram(A, B):
    return A @ B.T


KERNELS = ["rbf", "laplacian", "poly", "linear", "cosine", Normalized("rbf"), gram]


def name_of(item):
    """A name for a test that is the same in every process: functions print their address."""
    return getattr(item, "__name__", str(item))


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
@pytest.mark.parametrize("value", [NAN, INFINITY, -INFINITY])
def test_rows_that_are_not_finite_are_refused(make, kernel, value):
    wrong = X.copy()
    wrong[3, 1] = value
    said = "Input X contains (NaN|infinity)"
    assert re.search(said, refusal(lambda: fit(make, wrong, kernel=kernel)))
    model = fit(make, kernel=kernel)
    assert re.search(said, refusal(lambda: answers(model, wrong)))


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
@pytest.mark.parametrize("value", [NAN, INFINITY])
def test_sparse_rows_that_are_not_finite_are_refused(make, value):
    wrong = sparse.csr_array(X)
    wrong.data[5] = value
    assert re.search("Input X contains (NaN|infinity)", refusal(lambda: fit(make, wrong)))


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (X[:, 0], "Expected 2D array, got 1D array"),
        (X[:, :, np.newaxis], "dim 3"),
        (X[:0], "0 sample"),
        (X[:, :0], "0 feature"),
        (X[:1], "1 sample.*minimum of 2"),
        (X.astype(complex), "Complex data not supported"),
    ],
    ids=["one dimension", "three dimensions", "no rows", "no features", "one row", "complex"],
)
def test_rows_of_the_wrong_shape_are_refused_with_the_shape(make, rows, said):
    y = labels_for(make)[: len(rows)]
    assert re.search(said, refusal(lambda: make().fit(rows, y)))


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
@pytest.mark.parametrize(
    ("rows", "said"),
    [(X[:, :2], "2 features.*expecting 3"), (X[0], "got 1D array"), (X[:0], "0 sample")],
    ids=["too few features", "one dimension", "no rows"],
)
def test_new_rows_of_the_wrong_shape_are_refused_with_the_shape(make, rows, said):
    model = fit(make)
    assert re.search(said, refusal(lambda: answers(model, rows)))


@pytest.mark.parametrize("make", CLASSIFIERS_WITH_DEFAULTS)
def test_two_rows_are_enough(make):
    model = make().fit([[0.0], [1.0]], [0, 1])
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]
    assert np.isfinite(model.predict_proba([[0.5]])).all()


def test_two_rows_have_two_components():
    assert ConvexKernelPCA(2).fit_transform([[0.0], [1.0]]).shape == (2, 2)


@pytest.mark.parametrize("make", ALL)
def test_equal_rows_have_no_median_distance(make):
    message = refusal(lambda: fit(make, np.ones((40, 3))))
    assert "gamma='median'" in message
    assert "Give gamma a number" in message


def test_equal_rows_leave_nothing_to_learn_with():
    message = refusal(lambda: fit(SemiKPCAClassifier, np.ones((40, 3)), kernel=RBF(gamma=1.0)), KernelRankError)
    assert "rank 1" in message
    assert "are all rows of X equal" in message


@pytest.mark.parametrize("make", [SemiLSSVMClassifier, LSSVMClassifier])
def test_equal_rows_get_equal_answers_from_an_ls_svm(make):
    model = fit(make, np.ones((40, 3)), kernel=RBF(gamma=1.0))
    np.testing.assert_allclose(model.decision_, model.decision_[0], atol=SAME_SOLVE)


@pytest.mark.parametrize("make", ALL)
def test_more_than_half_of_the_pairs_equal_leave_no_median_distance(make):
    rows = X.copy()
    rows[:30] = 0
    message = refusal(lambda: fit(make, rows))
    assert "gamma='median'" in message
    assert "drop duplicate rows" in message


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
def test_duplicate_rows_get_equal_answers(make):
    rows, y = np.vstack([X, X]), np.concatenate([labels_for(make), labels_for(make)])
    found = answers(make().fit(rows, y), rows)
    np.testing.assert_allclose(found[:40], found[40:], atol=SAME_SOLVE)


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_rows_that_contradict_each_other_cancel(make):
    model = make(RBF(gamma=0.1)).fit(np.vstack([X, X]), np.concatenate([TRUTH, 1 - TRUTH]))
    # Every row has both labels, so nothing is left but rounding, which solves at the middle weight do not blow up.
    np.testing.assert_allclose(model.decision_, 0, atol=SAME_SOLVE)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
@pytest.mark.parametrize("constant", [0.0, 7.0, 1e6])
def test_constant_columns_change_nothing(make, constant):
    rows, new = np.insert(X, 1, constant, axis=1), np.insert(NEW, 1, constant, axis=1)
    np.testing.assert_allclose(answers(fit(make, rows), new), answers(fit(make), NEW), atol=SAME_SOLVE)


@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiLSSVMClassifier, LSSVMClassifier])
def test_zero_rows_have_no_direction_and_no_say(make):
    rows = X.copy()
    rows[5] = 0
    parameters = {} if make is SemiKPCAClassifier else {"fit_intercept": False}
    model = fit(make, rows, kernel="cosine", **parameters)
    assert model.decision_[5] == 0
    np.testing.assert_allclose(model.decision_function([[0.0, 0.0, 0.0]]), 0)
    np.testing.assert_allclose(model.predict_proba([[0.0, 0.0, 0.0]]), [[0.5, 0.5]])


def test_zero_rows_alone_leave_nothing():
    assert "rank 0" in refusal(lambda: fit(SemiKPCAClassifier, np.zeros((40, 3)), kernel="cosine"), KernelRankError)


# -- containers and layouts --------------------------------------------------------------------------------------------


WHOLE = np.round(10 * X)


def read_only(rows):
    rows = rows.copy()
    rows.flags.writeable = False
    return rows


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
@pytest.mark.parametrize(
    "container",
    [
        lambda rows: rows.tolist(),
        lambda rows: tuple(map(tuple, rows)),
        np.asfortranarray,
        read_only,
        lambda rows: np.repeat(np.repeat(rows, 2, axis=0), 2, axis=1)[::2, ::2],
        lambda rows: rows[::-1, ::-1].copy()[::-1, ::-1],
        lambda rows: rows.astype(object),
        lambda rows: rows.astype(int),
        lambda rows: rows.astype(np.int16),
        lambda rows: rows.astype(np.longdouble),
        lambda rows: rows.astype(">f8"),
        lambda rows: rows.astype(np.float16),
    ],
    ids=[
        "lists",
        "tuples",
        "Fortran order",
        "read-only",
        "every other row",
        "reversed",
        "objects",
        "int",
        "int16",
        "longdouble",
        "big-endian",
        "float16",
    ],
)
def test_the_container_of_the_rows_does_not_matter(make, container):
    expected = answers(fit(make, WHOLE), WHOLE)
    rows = container(WHOLE)
    np.testing.assert_allclose(answers(fit(make, rows), rows), expected, atol=SAME_SOLVE)


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
def test_booleans_are_zeros_and_ones(make):
    bits = np.array([[row >> shift & 1 for shift in range(6)] for row in range(40)], dtype=bool)
    np.testing.assert_allclose(
        answers(fit(make, bits), bits), answers(fit(make, bits.astype(float)), bits.astype(float)), atol=SAME_SOLVE
    )


@pytest.mark.parametrize("make", CLASSIFIERS_WITH_DEFAULTS)
@pytest.mark.parametrize("container", [list, tuple, pd.Series, read_only], ids=name_of)
def test_the_container_of_the_labels_does_not_matter(make, container):
    np.testing.assert_array_equal(fit(make, y=container(labels_for(make))).decision_, fit(make).decision_)


@pytest.mark.parametrize("make", ALL)
def test_float32_rows_give_float32_answers_close_to_those_of_float64(make):
    found = answers(fit(make, X.astype(np.float32)), NEW.astype(np.float32))
    assert found.dtype == np.float32
    # Six digits of the kernel; the solves of these models lose no more than a few.
    np.testing.assert_allclose(found, answers(fit(make), NEW), atol=1e-4)


# -- far and near, large and small -------------------------------------------------------------------------------------


ADVICE = r"[Ss]cale|[Ss]tandardi[sz]e"
SCALE_FREE = ["rbf", "laplacian", "poly", "cosine", Normalized("rbf")]


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", Normalized("rbf")], ids=str)
@pytest.mark.parametrize("offset", [1e6, -1e8])
def test_distances_do_not_see_where_the_origin_is(make, kernel, offset):
    found = answers(fit(make, X + offset, kernel=kernel), NEW + offset)
    # A coordinate near 1e8 keeps eight digits behind the point.
    np.testing.assert_allclose(found, answers(fit(make, kernel=kernel), NEW), atol=1e-6)


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("kernel", ["poly", "linear", "cosine"])
@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
def test_products_far_from_the_origin_give_an_answer_or_advice(make, kernel, offset):
    found = answers_or_advice(make, X + offset, f"{ADVICE}|rank|error_weight", kernel=kernel)
    assert found is None or np.isfinite(found).all()


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("kernel", SCALE_FREE, ids=str)
@pytest.mark.parametrize("factor", [1e-150, 1e-20, 1e20, 1e150])
def test_units_do_not_matter_to_kernels_that_choose_their_own(make, kernel, factor):
    found = answers(fit(make, X * factor, kernel=kernel), NEW * factor)
    np.testing.assert_allclose(found, answers(fit(make, kernel=kernel), NEW), atol=1e-8)


@pytest.mark.parametrize("make", [SemiKPCAClassifier, LSSVMClassifier, ConvexKernelPCA])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "cosine"])
@pytest.mark.parametrize(
    ("dtype", "factor"),
    [(np.float64, 1e200), (np.float32, 1e20), (np.float32, 1e-25)],
    ids=name_of,
)
def test_units_beyond_the_range_of_squares_give_the_answer_or_advice(make, kernel, dtype, factor):
    rows = (X * factor).astype(dtype)
    found = answers_or_advice(make, rows, ADVICE, kernel=kernel)
    if found is not None:
        expected = answers(fit(make, X.astype(dtype), kernel=kernel), X.astype(dtype))
        np.testing.assert_allclose(found, expected, atol={np.float64: 1e-8, np.float32: 1e-3}[dtype])


def test_a_weight_relative_to_the_bound_makes_linear_decisions_free_of_units():
    for factor in (1e-150, 1e-3, 1e3, 1e150):
        np.testing.assert_allclose(
            fit(SemiKPCAClassifier, X * factor, kernel="linear").decision_,
            fit(SemiKPCAClassifier, kernel="linear").decision_,
            atol=1e-8,
        )


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize(
    ("dtype", "factor"),
    [(np.float64, 1e150), (np.float64, 1e200), (np.float32, 1e18)],
    ids=name_of,
)
def test_large_units_give_linear_kernels_an_answer_or_advice(make, dtype, factor):
    found = answers_or_advice(make, (X * factor).astype(dtype), f"{ADVICE}|error_weight", kernel="linear")
    if found is not None:
        assert np.isfinite(found).all()
        assert found.size


@pytest.mark.parametrize("make", ALL)
def test_new_rows_whose_kernel_values_overflow_are_refused(make):
    model = fit(make, kernel="poly")
    assert re.search(ADVICE, refusal(lambda: answers(model, NEW * 1e160)))


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_new_rows_that_are_unlike_all_others_get_finite_answers(make, kernel):
    model = fit(make, kernel=kernel)
    assert np.isfinite(answers(model, NEW * 1e120)).all()


@pytest.mark.parametrize("make", LS_SVM)
@pytest.mark.parametrize(
    ("kernel", "dtype", "error_weight"),
    [("linear", np.float64, 1e18), ("rbf", np.float32, 1e9)],
)
def test_a_system_that_rounding_makes_singular_gives_an_answer_or_advice(make, kernel, dtype, error_weight):
    rows = np.vstack([X, X]).astype(dtype)
    y = np.concatenate([labels_for(make), labels_for(make)])
    found = answers_or_advice(make, rows, "error_weight", y, kernel=kernel, error_weight=error_weight)
    assert found is None or np.isfinite(found).all()


@pytest.mark.parametrize("make", LS_SVM)
def test_a_weight_without_an_inverse_is_refused_by_value(make):
    message = refusal(lambda: fit(make, error_weight=1e-310))
    assert "error_weight" in message
    assert "1e-310" in message


@pytest.mark.parametrize("unit", ["relative", "absolute"])
def test_a_weight_without_an_inverse_is_refused_in_either_unit(unit):
    message = refusal(lambda: fit(SemiKPCAClassifier, error_weight=5e-324, error_weight_unit=unit))
    assert "error_weight" in message


# -- parameters --------------------------------------------------------------------------------------------------------


ITERATIVE = [*ALL[:4], SemiKPCAClassifierCV]
WRONG_PARAMETERS = [
    (
        [SemiKPCAClassifier],
        "n_components_removed",
        [-1, 1.5, True, "1", None, np.float64(1)],
        "whole number, 0 or more",
    ),
    ([SemiKPCAClassifier], "error_weight", [0, -1, NAN, INFINITY, True, None, "center", "0.5", [0.5]], "positive"),
    ([SemiKPCAClassifier], "error_weight_unit", ["rel", None, 1], "'relative' or 'absolute'"),
    (LS_SVM, "error_weight", [0, -1, NAN, INFINITY, True, None, "middle", [1.0]], "positive"),
    (LS_SVM, "fit_intercept", ["no"], "True or False"),
    ([ConvexKernelPCA], "n_components", [0, -1, 1.5, True, "2"], "whole number, 1 or more"),
    ([ConvexKernelPCA], "center", ["no"], "True or False"),
    (ITERATIVE, "tol", [0, -1, NAN, INFINITY, "1e-6", None, True], "positive"),
    (ITERATIVE, "max_iter", [0, -1, 1.5, "many", True], "whole number, 1 or more"),
    (ALL_WITH_DEFAULTS, "backend", ["gpu", "", None, 1, ["dense"]], "'dense'"),
    (ALL, "kernel", ["rfb", "RBF", "", None, 3, RBF, Cosine], "such as RBF()"),
    ([SemiKPCAClassifierCV], "combine", ["blend", "", None, 1, True], "'ensemble' or 'best'"),
    ([SemiKPCAClassifierCV], "kernels", ["rbf", [], (), 3, RBF(), RBF, {}], "list of kernels"),
    (
        [SemiKPCAClassifier, SemiKPCAClassifierCV],
        "class_prior",
        [
            "labelled",
            0.5,
            [0.5],
            [0.2, 0.3, 0.5],
            [0.0, 1.0],
            [-1.0, 2.0],
            [NAN, 1.0],
            [INFINITY, 1.0],
            {0: 0.5, 1: 0.5},
            ["a", "b"],
        ],
        "share",
    ),
]


@pytest.mark.parametrize(
    ("make", "name", "value", "allowed"),
    [
        pytest.param(make, name, value, allowed, id=f"{make.__name__}-{name}-{value!r}")
        for makes, name, values, allowed in WRONG_PARAMETERS
        for make in makes
        for value in values
    ],
)
def test_a_wrong_parameter_is_refused_by_name_and_value_with_what_is_allowed(make, name, value, allowed):
    message = refusal(lambda: fit(make, **{name: value}))
    assert name in message
    assert repr(value) in message
    assert allowed in message


@pytest.mark.parametrize("value", [0, -1.0, NAN, "strong"], ids=repr)
def test_a_wrong_weight_of_the_pre_images_is_refused_by_its_own_name(value):
    message = refusal(lambda: fit(ConvexKernelPCA, inverse_error_weight=value).inverse_transform(np.zeros((1, 2))))
    assert "inverse_error_weight" in message
    assert repr(value) in message


WRONG_KERNELS = [
    (RBF(gamma=0), "gamma", "0"),
    (RBF(gamma=-1), "gamma", "-1"),
    (RBF(gamma="medan"), "gamma", "'medan'"),
    (RBF(gamma=NAN), "gamma", "nan"),
    (Laplacian(gamma=0), "gamma", "0"),
    (Polynomial(gamma=-1), "gamma", "-1"),
    (Polynomial(degree=0), "degree", "0"),
    (Polynomial(degree=1.5), "degree", "1.5"),
    (Polynomial(coef0=NAN), "coef0", "nan"),
    (Normalized(RBF(gamma=0)), "gamma", "0"),
    (Normalized("rfb"), "kernel", "'rfb'"),
    (Normalized(RBF), "kernel", "RBF"),
]


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize(("kernel", "name", "value"), WRONG_KERNELS, ids=str)
def test_a_wrong_parameter_of_a_kernel_is_refused_by_name_and_value(make, kernel, name, value):
    message = refusal(lambda: fit(make, kernel=kernel))
    assert f"{name} must be" in message
    assert value in message


@pytest.mark.parametrize("make", ALL)
def test_a_coefficient_far_too_large_leaves_no_warning_and_no_nan(make):
    # The rows have nothing in common any more: K = I, whose only eigenvalue is repeated.
    found = answers_or_advice(make, X, r"repeated eigenvalue.*rank 40", kernel=RBF(gamma=1e300))
    assert found is None or np.isfinite(found).all()


def test_a_coefficient_far_too_small_is_named_as_a_cause():
    message = refusal(lambda: fit(SemiKPCAClassifier, kernel=RBF(gamma=1e-17)), KernelRankError)
    assert "rank 1" in message
    assert "coefficient far too small" in message


# -- error weights -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1, 1.0, np.float32(1), 1.75])
def test_a_relative_weight_at_or_above_one_is_refused(weight):
    assert "Lower error_weight" in refusal(lambda: fit(SemiKPCAClassifier, error_weight=weight), UnboundedProblemError)


def test_a_relative_weight_is_refused_with_the_value_that_was_given():
    assert "1.75" in refusal(lambda: fit(SemiKPCAClassifier, error_weight=1.75), UnboundedProblemError)


def test_an_absolute_weight_above_the_bound_is_refused_with_weight_and_bound():
    bound = fit(SemiKPCAClassifier).certificate_.error_weight_max
    message = refusal(
        lambda: fit(SemiKPCAClassifier, error_weight=3 * bound, error_weight_unit="absolute"), UnboundedProblemError
    )
    assert f"{3 * bound:.6g}" in message
    assert f"{bound:.6g}" in message
    assert "relative" in message


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("distance", [1e-4, 1e-9, 1e-15])
def test_a_weight_just_below_the_bound_gives_finite_answers(dtype, distance):
    model = fit(SemiKPCAClassifier, X.astype(dtype), error_weight=1 - distance)
    assert np.isfinite(model.decision_).all()
    assert model.certificate_.relative_weight < 1


# -- components --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [40, 41, 1000, 10**30])
def test_removing_all_components_is_refused_with_the_number_and_the_most_there_may_be(k):
    message = refusal(lambda: fit(SemiKPCAClassifier, n_components_removed=k), KernelRankError)
    assert f"n_components_removed={k} " in message
    assert "at most 39" in message
    assert "Lower n_components_removed" in message


def test_as_many_components_as_the_rank_cannot_be_removed():
    message = refusal(lambda: fit(SemiKPCAClassifier, kernel="linear", n_components_removed=3), KernelRankError)
    assert "rank 3" in message
    assert "at most 2" in message


@pytest.mark.parametrize("k", [0, 2, 20, 38, 39])
def test_many_components_can_be_removed_while_one_is_left(k):
    model = fit(SemiKPCAClassifier, n_components_removed=k)
    assert model.certificate_.n_components_removed == k
    assert model.eigenvectors_.shape == (40, k)
    assert np.isfinite(model.decision_).all()
    # Where the eigenvalue that is left is tiny, coefficients are huge and cancel: each sum of 40 rounds at their size.
    rounding = 40 * np.finfo(float).eps * np.abs(model.dual_coef_).max()
    np.testing.assert_allclose(model.decision_function(X), model.decision_, atol=max(SAME_SOLVE, rounding))


def test_more_projections_than_rows_are_refused_by_the_name_of_the_parameter():
    message = refusal(lambda: fit(ConvexKernelPCA, n_components=41))
    assert "n_components=41" in message
    assert "40" in message


@pytest.mark.parametrize("center", [False, True])
def test_projections_of_rows_without_any_component_are_refused(center):
    rows = np.ones((40, 3)) if center else np.zeros((40, 3))
    assert "rank 0" in refusal(lambda: fit(ConvexKernelPCA, rows, kernel="linear", center=center))


@pytest.mark.parametrize("k", [-1, 1.5, True, "0", None], ids=repr)
def test_a_certificate_needs_a_whole_number(k):
    message = refusal(lambda: fit(ConvexKernelPCA).certificate(k))
    assert "k must be a whole number" in message
    assert repr(k) in message


@pytest.mark.parametrize(
    ("kernel", "k", "rank"), [("rbf", 40, 40), ("rbf", 100, 40), ("linear", 3, 3), ("linear", 50, 3)]
)
def test_a_certificate_beyond_the_rank_is_refused_with_the_rank(kernel, k, rank):
    message = refusal(lambda: fit(ConvexKernelPCA, kernel=kernel).certificate(k), KernelRankError)
    assert str(k) in message
    assert f"rank {rank}" in message


@pytest.mark.parametrize("weight", [0, -1.0, NAN, INFINITY, "strong"], ids=repr)
def test_a_regime_needs_a_positive_weight(weight):
    message = refusal(lambda: fit(ConvexKernelPCA).regime(weight, 0))
    assert "positive" in message
    assert repr(weight) in message


@pytest.mark.parametrize("weight", [NAN, INFINITY, "strong"], ids=repr)
def test_an_objective_needs_a_finite_weight(weight):
    message = refusal(lambda: fit(ConvexKernelPCA).objective(np.ones(40), weight, 0))
    assert "error_weight" in message
    assert repr(weight) in message


@pytest.mark.parametrize("value", [NAN, INFINITY])
def test_an_objective_needs_finite_coefficients(value):
    coefficients = np.ones(40)
    coefficients[3] = value
    assert re.search("NaN|nan|infinity|finite", refusal(lambda: fit(ConvexKernelPCA).objective(coefficients, 0.1, 0)))


def test_an_objective_needs_a_coefficient_for_each_row():
    message = refusal(lambda: fit(ConvexKernelPCA).objective([1.0, 2.0], 0.1, 0))
    assert "40" in message
    assert "(2,)" in message


@pytest.mark.parametrize(
    ("projections", "said"),
    [(np.zeros((1, 3)), "2 columns.*got 3"), (np.full((1, 2), NAN), "NaN"), (np.zeros(2), "got 1D array")],
    ids=["too wide", "NaN", "one dimension"],
)
def test_wrong_projections_have_no_pre_images(projections, said):
    assert re.search(said, refusal(lambda: fit(ConvexKernelPCA).inverse_transform(projections)))


# -- labels that change ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", TRANSDUCTIVE)
@pytest.mark.parametrize(
    ("rows", "labels", "said"),
    [
        ([5], [7], "label 7 was never seen.*0, 1.*Fit again"),
        ([5], ["dog"], "label 'dog' was never seen.*0, 1.*Fit again"),
        ([40], [0], "Row 40 does not exist.*0 to 39"),
        ([-1], [0], "Row -1 does not exist.*0 to 39"),
        ([5, 5], [0, 1], "given twice.*each row one label"),
        ([5, 6], [0], "2 rows and 1 labels.*each row needs one label"),
        ([5.0], [0], r"whole numbers.*5\."),
        ([True], [0], "whole numbers.*True"),
        (["5"], [0], "whole numbers.*5"),
        ([[5]], [0], "whole numbers.*5"),
        ([0, 1, 2], [-1, -1, -1], "leave class .*0.* without a label.*Keep one"),
    ],
    ids=str,
)
def test_wrong_changes_of_labels_are_refused_and_leave_the_model_as_it_was(make, rows, labels, said):
    model = fit(make)
    before, codes = model.decision_.copy(), model.label_coding_.codes.copy()
    assert re.search(said, refusal(lambda: model.add_labels(rows, labels)))
    np.testing.assert_array_equal(model.decision_, before)
    np.testing.assert_array_equal(model.label_coding_.codes, codes)


@pytest.mark.parametrize("make", TRANSDUCTIVE)
def test_no_change_of_labels_changes_nothing(make):
    model = fit(make)
    before = model.decision_.copy()
    model.add_labels([], [])
    np.testing.assert_array_equal(model.decision_, before)


@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiKPCAClassifierCV])
@pytest.mark.parametrize("rows", [[40], [-1], [0.5]], ids=str)
@pytest.mark.parametrize("ask", ["label_response", "left_out_decisions"])
def test_rows_that_do_not_exist_have_no_response(make, rows, ask):
    model = fit(make)
    assert re.search("does not exist|whole numbers", refusal(lambda: getattr(model, ask)(rows)))


# -- nothing is modified -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear", "cosine", Normalized("rbf")], ids=str)
@pytest.mark.parametrize("container", [np.array, sparse.csr_array], ids=["dense", "csr"])
def test_rows_and_labels_are_never_modified(make, kernel, container):
    rows, new, y = container(X), container(NEW), labels_for(make).copy()
    model = make(kernel=kernel).fit(rows, y)
    answers(model, new)
    if make in CLASSIFIERS:
        model.predict_proba(new)
        model.score(rows, y)
    if make in SEMI_SUPERVISED:
        model.add_labels([5], [1])
    if make is ConvexKernelPCA:
        model.fit_transform(rows)
        model.certificate(1)
        model.inverse_transform(np.zeros((1, len(model.eigenvalues_))))
    for found, expected in ((rows, X), (new, NEW)):
        np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, expected)
    np.testing.assert_array_equal(y, labels_for(make))


def test_lists_and_priors_are_never_modified():
    y = [None if code == -1 else int(code) for code in Y]
    before, prior, rows, labels = list(y), np.array([2.0, 6.0]), [5], [1]
    model = SemiKPCAClassifier(class_prior=prior).fit(X, y)
    model.add_labels(rows, labels)
    assert y == before
    assert prior.tolist() == [2.0, 6.0]
    assert (rows, labels) == ([5], [1])


@pytest.mark.parametrize("make", ALL_WITH_DEFAULTS)
@pytest.mark.parametrize("container", [np.array, sparse.csr_array], ids=["dense", "csr"])
def test_a_fitted_model_does_not_change_when_its_rows_do(make, container):
    rows, y = container(X), labels_for(make).copy()
    model = make().fit(rows, y)
    before = answers(model, NEW).copy()
    entries = rows.data if sparse.issparse(rows) else rows
    entries[:] = 0
    y[:] = 0
    np.testing.assert_array_equal(answers(model, NEW), before)


@pytest.mark.parametrize("make", CLASSIFIERS_WITH_DEFAULTS)
def test_what_predict_returns_may_be_overwritten(make):
    model = fit(make)
    before = answers(model, X).copy()
    answers(model, X)[:] = NAN
    model.predict(X)[:] = 0
    model.predict_proba(X)[:] = NAN
    np.testing.assert_array_equal(answers(model, X), before)


def test_a_fit_that_is_refused_leaves_the_earlier_one_as_it_was():
    rows = np.random.default_rng(0).normal(size=(30, 3))
    labels = np.full(30, -1)
    labels[:4] = [0, 1, 0, 1]
    model = SemiKPCAClassifier().fit(rows, labels)
    before = model.predict(rows)
    with pytest.raises(ValueError, match="unbounded"):
        model.set_params(error_weight=1.5).fit(rows + 100.0, labels)
    assert np.array_equal(model.predict(rows), before)
