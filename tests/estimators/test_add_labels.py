"""A model that gets labels later must be the model that had them from the start."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from oracles import SAME_TO_ROUNDING, relative_error
from semikpca import SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.kernels import RBF, Laplacian, Normalized
from semikpca.labeling import leave_one_label_out

MODELS = {
    "semi-kpca": SemiKPCAClassifier(),
    "semi-kpca, k=0": SemiKPCAClassifier(RBF(gamma=0.1), n_components_removed=0, error_weight=0.7),
    "semi-kpca, k=3, near the bound": SemiKPCAClassifier("laplacian", n_components_removed=3, error_weight=0.99),
    "semi-kpca, normalized kernel": SemiKPCAClassifier(Normalized(Laplacian())),
    "semi-kpca, class prior": SemiKPCAClassifier(class_prior="labeled"),
    "semi-lssvm": SemiLSSVMClassifier(error_weight=10.0),
    "semi-lssvm without intercept": SemiLSSVMClassifier(error_weight=10.0, fit_intercept=False),
}

# The offsets of a class prior come from an iterative minimization, which stops at a gradient of 1e-5.
MATCHED_SHARES = 1e-4


def assert_same_model(found, wanted, X):
    for name in ("decision_", "dual_coef_", "alpha_", "label_distributions_"):
        assert relative_error(getattr(found, name), getattr(wanted, name)) < SAME_TO_ROUNDING, name
    assert found.intercept_.shape == wanted.intercept_.shape
    assert np.abs(found.intercept_ - wanted.intercept_).max() < SAME_TO_ROUNDING
    assert found.sharpness_ == pytest.approx(wanted.sharpness_, rel=SAME_TO_ROUNDING)
    np.testing.assert_array_equal(found.transduction_, wanted.transduction_)
    np.testing.assert_array_equal(found.classes_, wanted.classes_)
    new = X[:10] + 0.25
    assert relative_error(found.decision_function(new), wanted.decision_function(new)) < SAME_TO_ROUNDING
    assert relative_error(found.predict_proba(new), wanted.predict_proba(new)) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(found.predict(new), wanted.predict(new))
    # What is read off the labels later sees the new ones too.
    left_out, wanted_left_out = leave_one_label_out(found), leave_one_label_out(wanted)
    np.testing.assert_array_equal(left_out.rows, wanted_left_out.rows)
    assert relative_error(left_out.decision, wanted_left_out.decision) < SAME_TO_ROUNDING


def changes(y):
    """Rows and labels of a change that adds three labels, turns one into another class and takes one away."""
    last = y.max()
    unlabeled, first_class, last_class = (np.flatnonzero(y == value) for value in (-1, 0, last))
    rows = [unlabeled[4], unlabeled[0], unlabeled[9], first_class[1], last_class[0]]
    return np.array(rows), np.array([0, last, 1, last, -1])


def changed(y, rows, labels):
    y = y.copy()
    y[rows] = labels
    return y


NO_PRIOR = [name for name in MODELS if "prior" not in name]


@pytest.mark.parametrize("name", NO_PRIOR)
def test_new_labels_equal_a_refit(data, name):
    X, y = data
    rows = np.flatnonzero(y == -1)[[3, 11, 20]]
    labels = np.array([1, 0, y.max()])

    model = clone(MODELS[name]).fit(X, y).add_labels(rows, labels)

    assert_same_model(model, clone(model).fit(X, changed(y, rows, labels)), X)


@pytest.mark.parametrize("name", NO_PRIOR)
def test_labels_added_changed_and_taken_away_equal_a_refit(data, name):
    X, y = data
    rows, labels = changes(y)

    model = clone(MODELS[name]).fit(X, y).add_labels(rows, labels)

    assert_same_model(model, clone(model).fit(X, changed(y, rows, labels)), X)


@pytest.mark.parametrize("name", NO_PRIOR)
def test_loaded_model_takes_labels_as_a_refit_does(data, name):
    X, y = data
    rows, labels = changes(y)
    model = pickle.loads(pickle.dumps(clone(MODELS[name]).fit(X, y)))

    model.add_labels(rows, labels)

    assert_same_model(model, clone(model).fit(X, changed(y, rows, labels)), X)


def test_many_small_changes_equal_one_refit(data):
    X, y = data
    model = SemiKPCAClassifier().fit(X, y)
    rows, labels = changes(y)

    for row, label in zip(rows, labels, strict=True):
        model.add_labels([row], [label])

    assert_same_model(model, SemiKPCAClassifier().fit(X, changed(y, rows, labels)), X)


def test_label_that_comes_and_goes_leaves_no_trace(data):
    X, y = data
    row = np.flatnonzero(y == -1)[7]

    model = SemiKPCAClassifier().fit(X, y).add_labels([row], [1]).add_labels([row], [-1])

    assert_same_model(model, SemiKPCAClassifier().fit(X, y), X)


def test_label_that_was_there_already_changes_nothing(data):
    X, y = data
    row = np.flatnonzero(y == 1)[0]

    model = SemiKPCAClassifier().fit(X, y).add_labels([row], [1])

    assert_same_model(model, SemiKPCAClassifier().fit(X, y), X)


def test_prior_of_the_labels_follows_the_labels(data):
    X, y = data
    rows, labels = changes(y)
    model = clone(MODELS["semi-kpca, class prior"]).fit(X, y)
    before = model.class_offsets_.copy()

    model.add_labels(rows, labels)

    refit = clone(model).fit(X, changed(y, rows, labels))
    assert np.abs(model.class_offsets_ - before).max() > 0, "other label counts are other shares"
    assert relative_error(model.decision_, refit.decision_) < MATCHED_SHARES
    assert relative_error(model.dual_coef_, refit.dual_coef_) < SAME_TO_ROUNDING


@pytest.fixture(scope="module")
def large_data():
    generator = np.random.default_rng(11)
    truth = generator.integers(3, size=700)
    truth[:6] = [0, 1, 2, 0, 1, 2]
    X = 1.5 * np.eye(3, 5)[truth] + np.linspace(1.0, 0.5, 5) * generator.standard_normal((700, 5))
    return X, truth


@pytest.mark.parametrize(
    "model",
    [
        SemiKPCAClassifier(RBF(gamma=0.1), error_weight=0.4),
        SemiKPCAClassifier(RBF(gamma=0.1), n_components_removed=2, error_weight=0.4),
        SemiLSSVMClassifier(RBF(gamma=0.1), error_weight=1e-3),
    ],
    ids=["semi-kpca", "semi-kpca, k=2", "semi-lssvm"],
)
@pytest.mark.parametrize(("n_given", "n_added"), [(30, 20), (6, 10), (6, 1)])
def test_large_models_take_labels_as_a_refit_does(large_data, model, n_given, n_added):
    X, truth = large_data
    y = np.where(np.arange(len(truth)) < n_given, truth, -1)
    model = clone(model).fit(X, y)
    assert model.n_iter_ > 1, "this test is about conjugate gradients, and a direct solve takes one step"
    rows = np.arange(40, 40 + n_added)

    model.add_labels(rows, truth[rows])

    assert_same_model(model, clone(model).fit(X, changed(y, rows, truth[rows])), X)


def test_string_labels_are_taken_and_none_takes_them_away(two_classes):
    X, y = two_classes
    words = np.where(y == -1, None, np.array(["cat", "dog"], dtype=object)[y])
    row, given = np.flatnonzero(y == -1)[0], np.flatnonzero(y == 0)[0]
    wanted = words.copy()
    wanted[[row, given]] = ["dog", None]

    model = SemiKPCAClassifier().fit(X, words).add_labels([row, given], ["dog", None])

    assert_same_model(model, SemiKPCAClassifier().fit(X, wanted), X)


def test_single_row_and_label_may_be_plain_values_in_lists(two_classes):
    X, y = two_classes
    row = int(np.flatnonzero(y == -1)[0])

    model = SemiKPCAClassifier().fit(X, y).add_labels([row], [1])

    assert_same_model(model, SemiKPCAClassifier().fit(X, changed(y, [row], [1])), X)


def test_no_rows_change_nothing(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier().fit(X, y)
    decision = model.decision_.copy()

    model.add_labels(np.array([], dtype=int), np.array([], dtype=int))

    np.testing.assert_allclose(model.decision_, decision, rtol=SAME_TO_ROUNDING)


# -- refusals; a refused change must leave the model as it was -------------------------------------------------------


REFUSED = {
    "unseen label": ([0], [7], "7"),
    "row beyond the last": ([60], [1], "60"),
    "negative row": ([-1], [1], "-1"),
    "row twice": ([3, 3], [0, 1], "twice"),
    "fewer labels than rows": ([3, 4], [0], "2 rows and 1 labels"),
    "more labels than rows": ([3], [0, 1], "1 rows and 2 labels"),
    "rows that are not whole numbers": ([1.5], [1], "whole numbers"),
    "mask instead of row numbers": ([True, False], [1, 0], "whole numbers"),
    "table of rows": ([[1, 2]], [1, 0], "rows"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_changes_are_refused_and_leave_the_model_alone(two_classes, name):
    X, y = two_classes
    model = SemiKPCAClassifier().fit(X, y)
    decision, codes = model.decision_.copy(), model.label_coding_.codes.copy()
    rows, labels, message = REFUSED[name]

    with pytest.raises(ValueError, match=message):
        model.add_labels(rows, labels)

    np.testing.assert_array_equal(model.decision_, decision)
    np.testing.assert_array_equal(model.label_coding_.codes, codes)


def test_last_label_of_a_class_cannot_be_taken_away(data):
    X, y = data
    rows = np.flatnonzero(y == 1)
    model = SemiKPCAClassifier().fit(X, y)
    decision = model.decision_.copy()

    with pytest.raises(ValueError, match="without a label"):
        model.add_labels(rows, np.full(len(rows), -1))

    np.testing.assert_array_equal(model.decision_, decision)


def test_last_label_of_a_class_cannot_be_turned_into_another(data):
    X, y = data
    rows = np.flatnonzero(y == 1)

    with pytest.raises(ValueError, match="without a label"):
        SemiKPCAClassifier().fit(X, y).add_labels(rows, np.zeros(len(rows), dtype=int))


def test_class_may_move_to_another_row(data):
    X, y = data
    old, new = np.flatnonzero(y == 1), np.flatnonzero(y == -1)[:1]
    rows = np.concatenate([old, new])
    labels = np.append(np.full(len(old), -1), 1)

    model = SemiKPCAClassifier(RBF(gamma=0.1)).fit(X, y).add_labels(rows, labels)

    assert_same_model(model, SemiKPCAClassifier(RBF(gamma=0.1)).fit(X, changed(y, rows, labels)), X)


def test_model_that_was_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        SemiKPCAClassifier().add_labels([0], [1])


def test_one_row_and_one_label_need_no_lists(two_classes):
    X, y = two_classes
    row = int(np.flatnonzero(y == -1)[0])
    alone, listed = (SemiKPCAClassifier().fit(X, y) for _ in range(2))
    alone.add_labels(row, 1)
    listed.add_labels([row], [1])
    assert np.array_equal(alone.decision_, listed.decision_)
