"""Labels that models were not given, against refits without them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from conformal_oracles import changed, refitted
from oracles import SAME_TO_ROUNDING, relative_error
from semikpca import LSSVMClassifier, SemiKPCAClassifier, SemiKPCAClassifierCV, SemiLSSVMClassifier
from semikpca.kernels import RBF, Linear
from semikpca.labeling import HeldOut, held_out, suggest_labels

KERNEL = RBF(gamma=0.1)  # fixed: a refit has the same
WITHIN_THE_TOLERANCE_OF_SOLVES = 1e-5  # tol is 1e-6, and sharpness and exponentials enlarge it a little
LINEAR_MODELS = [SemiKPCAClassifier(KERNEL), SemiLSSVMClassifier(KERNEL, error_weight=3.0)]
AUTOMATIC = SemiKPCAClassifierCV([KERNEL, Linear()])


def only_one_of_class_0(y):
    y = y.copy()
    y[np.flatnonzero(y == 0)[1:]] = -1
    return y


def softmax_at(model, row, sharpness):
    decision = model.decision_[row]
    if len(model.classes_) == 1:
        return np.ones(1)
    scores = np.array([-decision, decision]) if np.ndim(decision) == 0 else decision
    exponentials = np.exp(sharpness * (scores - scores.max()))
    return exponentials / exponentials.sum()


@pytest.mark.parametrize("one_is_alone", [False, True])
@pytest.mark.parametrize("model", LINEAR_MODELS)
def test_probabilities_of_linear_models_are_those_of_refits_at_the_same_sharpness(data, model, one_is_alone):
    X, y = data
    y = only_one_of_class_0(y) if one_is_alone else y
    model = clone(model).fit(X, y)

    found = held_out(model)

    np.testing.assert_array_equal(found.rows, np.flatnonzero(y != -1))
    np.testing.assert_array_equal(found.codes, y[y != -1])
    wanted = np.zeros_like(found.probabilities)
    for place, row in enumerate(found.rows):
        without = refitted(model, X, changed(y, row, -1))
        wanted[place, without.classes_] = softmax_at(without, row, model.sharpness_)
    assert relative_error(found.probabilities, wanted) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(found.is_right, wanted.argmax(axis=1) == found.codes)
    np.testing.assert_allclose(found.confidence, wanted.max(axis=1), rtol=1e-7)


@pytest.mark.parametrize("one_is_alone", [False, True])
def test_probabilities_of_the_automatic_classifier_are_those_of_refits_without_each_label(data, one_is_alone):
    X, y = data
    y = only_one_of_class_0(y) if one_is_alone else y
    model = clone(AUTOMATIC).fit(X, y)

    found = held_out(model)

    for place, row in enumerate(found.rows):
        without = refitted(model, X, changed(y, row, -1))
        wanted = np.zeros(len(model.classes_))
        wanted[without.classes_] = without.label_distributions_[row]
        np.testing.assert_allclose(found.probabilities[place], wanted, rtol=1e-6, atol=1e-12)
    if one_is_alone:
        assert not found.is_right[found.codes == 0].any()


def test_shares_that_were_given_are_those_of_the_classes_that_are_left(data):
    X, y = data
    y = only_one_of_class_0(y)
    shares = np.arange(1.0, len(np.unique(y[y != -1])) + 1)
    model = clone(AUTOMATIC).set_params(class_prior=shares).fit(X, y)

    found = held_out(model)

    place = int(np.flatnonzero(found.codes == 0)[0])
    without = refitted(
        clone(AUTOMATIC).set_params(class_prior=shares[1:]), X, changed(y, found.rows[place], -1)
    )  # class 0 went with its label
    np.testing.assert_allclose(
        found.probabilities[place, 1:], without.label_distributions_[found.rows[place]], rtol=1e-6, atol=1e-12
    )


def test_more_than_twenty_labels_are_held_out_in_twenty_folds(clear_clusters):
    X, cluster = clear_clusters
    y = np.where(np.arange(len(X)) % 2 == 0, cluster, -1)
    model = clone(AUTOMATIC).fit(X, y)
    held = []

    class Watched:
        def __getattr__(self, name):
            return getattr(model, name)

        def without_labels(self, rows):
            held.append(rows.tolist())
            return model.without_labels(rows)

        def __sklearn_is_fitted__(self):
            return True

        fit = None

    found = held_out(Watched())

    assert len(held) == 20
    assert sorted(row for fold in held for row in fold) == found.rows.tolist() == np.flatnonzero(y != -1).tolist()
    for fold in held[:3]:
        without = refitted(model, X, changed(y, fold, -1))
        np.testing.assert_allclose(
            found.probabilities[np.isin(found.rows, fold)], without.label_distributions_[fold], rtol=1e-6, atol=1e-12
        )
    assert found.is_right.all()


@pytest.mark.parametrize("model", [*LINEAR_MODELS, AUTOMATIC])
def test_suggested_rows_do_not_count_unless_they_are_named(two_classes, model):
    X, y = two_classes
    model = clone(model).fit(X, y)
    rows = suggest_labels(model, 2)
    model.add_labels(rows, [0, 1])

    np.testing.assert_array_equal(held_out(model).rows, np.flatnonzero(y != -1))
    np.testing.assert_array_equal(held_out(model, rows).rows, np.sort(rows))


@pytest.mark.parametrize("model", [*LINEAR_MODELS, AUTOMATIC])
def test_no_row_that_was_drawn_leaves_nothing_to_hold_out(two_classes, model):
    found = held_out(clone(model).fit(*two_classes), [])

    assert found.probabilities.shape == (0, 2)
    assert found.confidence.shape == found.is_right.shape == (0,)


def test_rows_without_a_label_were_not_drawn(two_classes):
    X, y = two_classes
    unlabeled = np.flatnonzero(y == -1)[0]
    with pytest.raises(ValueError, match=f"row {unlabeled}, which has no label"):
        held_out(SemiKPCAClassifier().fit(X, y), [np.flatnonzero(y != -1)[0], unlabeled])


@pytest.mark.parametrize("rows", [[-1], [10_000]])
def test_rows_that_do_not_exist_were_not_drawn(two_classes, rows):
    with pytest.raises(ValueError, match=f"row {rows[0]}, which has no label"):
        held_out(SemiKPCAClassifier().fit(*two_classes), rows)


@pytest.mark.parametrize("rows", [[0.5], [True, False], ["a"]])
def test_only_whole_numbers_name_rows(two_classes, rows):
    with pytest.raises(ValueError, match="must be whole numbers"):
        held_out(SemiKPCAClassifier().fit(*two_classes), rows)


@pytest.mark.filterwarnings("ignore::semikpca.exceptions.SingleClassWarning")
@pytest.mark.parametrize("model", [*LINEAR_MODELS, AUTOMATIC])
def test_a_single_label_cannot_be_found_again(two_classes, model):
    X, _ = two_classes
    y = np.full(len(X), -1)
    y[3] = 5

    found = held_out(clone(model).fit(X, y))

    assert found.probabilities.tolist() == [[0.0]]
    assert found.is_right.tolist() == [False]


@pytest.mark.filterwarnings("ignore::semikpca.exceptions.SingleClassWarning")
@pytest.mark.parametrize("model", [*LINEAR_MODELS, AUTOMATIC])
def test_labels_of_one_class_are_found_again(two_classes, model):
    X, _ = two_classes
    y = np.full(len(X), -1)
    y[3:7] = 5

    found = held_out(clone(model).fit(X, y))

    assert found.probabilities.tolist() == [[1.0]] * 4
    assert found.is_right.all()


def test_all_rows_of_a_supervised_model_are_held_out(two_classes):
    X, y = two_classes
    X, y = X[y != -1], y[y != -1]
    model = LSSVMClassifier(KERNEL).fit(X, y)

    found = held_out(model)

    for row in range(len(y)):
        without = clone(model).fit(np.delete(X, row, axis=0), np.delete(y, row))
        assert found.is_right[row] == (without.predict(X[[row]])[0] == y[row])


def test_models_on_tensors_hold_out_what_models_on_arrays_do(two_classes):
    torch = pytest.importorskip("torch")
    X, y = two_classes

    found = held_out(SemiKPCAClassifier(KERNEL).fit(torch.tensor(X), y))

    wanted = held_out(SemiKPCAClassifier(KERNEL).fit(X, y))
    assert isinstance(found, HeldOut)
    assert relative_error(found.probabilities, wanted.probabilities) < WITHIN_THE_TOLERANCE_OF_SOLVES


def test_model_that_was_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        held_out(SemiKPCAClassifier())
