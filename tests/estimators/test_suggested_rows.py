"""Models remember which rows were suggested; and models without some labels, and answers of new rows to labels."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from conformal_oracles import changed, refitted
from oracles import SAME_TO_ROUNDING, relative_error
from semikpca import LSSVMClassifier, SemiKPCAClassifier, SemiKPCAClassifierCV, SemiLSSVMClassifier
from semikpca.kernels import RBF, Linear

KERNEL = RBF(gamma=0.1)
SINGLE = [SemiKPCAClassifier(KERNEL), SemiLSSVMClassifier(KERNEL), SemiLSSVMClassifier(KERNEL, fit_intercept=False)]
AUTOMATIC = SemiKPCAClassifierCV([KERNEL, Linear()])


def remembering(model, X, y):
    model = clone(model).fit(X, y)
    model.remember_suggestions([3, 1])
    return model


@pytest.mark.parametrize("model", [*SINGLE, AUTOMATIC])
def test_a_fit_forgets_suggestions_and_a_clone_has_none(two_classes, model):
    model = remembering(model, *two_classes)
    assert model.suggested_rows_.tolist() == [1, 3]
    assert not hasattr(clone(model), "suggested_rows_")
    assert model.fit(*two_classes).suggested_rows_.tolist() == []


@pytest.mark.parametrize("model", SINGLE)
def test_a_fit_that_is_refused_forgets_nothing(two_classes, model):
    X, y = two_classes
    model = remembering(model, X, y)
    with pytest.raises(ValueError, match="No label is given"):
        model.fit(X, np.full(len(y), -1))
    assert model.suggested_rows_.tolist() == [1, 3]


def test_an_automatic_fit_that_is_refused_forgets_nothing(two_classes):
    test_a_fit_that_is_refused_forgets_nothing(two_classes, AUTOMATIC)


@pytest.mark.parametrize("model", [*SINGLE, AUTOMATIC])
def test_further_labels_and_a_pickle_keep_suggestions(two_classes, model):
    X, y = two_classes
    model = remembering(model, X, y)
    model.add_labels(np.flatnonzero(y == -1)[:2], [0, 1])
    assert pickle.loads(pickle.dumps(model)).suggested_rows_.tolist() == [1, 3]


def test_models_that_share_kernels_have_the_suggestions_of_the_first(two_classes):
    X, y = two_classes
    model = remembering(AUTOMATIC, X, y)
    others = [model.with_labels(y), model.at_error_weight(0.5), model.without_labels(np.flatnonzero(y != -1)[:2])]
    for other in others:
        assert other.suggested_rows_.tolist() == [1, 3]
        other.remember_suggestions([9])
    assert model.suggested_rows_.tolist() == [1, 3]


def test_rows_that_are_drawn_are_no_longer_suggested(two_classes):
    model = remembering(SINGLE[0], *two_classes)
    model.remember_suggestions([7], drawn=[3])
    assert model.suggested_rows_.tolist() == [1, 7]


def test_a_model_without_a_fit_remembers_nothing():
    with pytest.raises(NotFittedError):
        SemiKPCAClassifier().remember_suggestions([1])


# -- without labels ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("combine", ["ensemble", "best"])
def test_a_model_without_labels_is_a_refit_without_them(data, combine):
    X, y = data
    model = SemiKPCAClassifierCV([KERNEL, Linear()], combine=combine).fit(X, y)
    before = vars(model).copy()
    rows = np.flatnonzero(y != -1)[:3]

    without = model.without_labels(rows)

    wanted = refitted(model, X, changed(y, rows, -1))
    assert relative_error(without.decision_, wanted.decision_) < SAME_TO_ROUNDING
    assert relative_error(without.label_distributions_, wanted.label_distributions_) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(without.transduction_, wanted.transduction_)
    assert relative_error(without.predict_proba(X[:5] + 0.1), wanted.predict_proba(X[:5] + 0.1)) < SAME_TO_ROUNDING
    assert all(vars(model)[name] is value for name, value in before.items())


def test_classes_go_with_their_last_label(five_classes):
    X, y = five_classes
    model = clone(AUTOMATIC).fit(X, y)

    without = model.without_labels(np.flatnonzero(y == 2))

    assert without.classes_.tolist() == [0, 1, 3, 4]
    wanted = refitted(model, X, np.where(y == 2, -1, y))
    assert relative_error(without.decision_, wanted.decision_) < SAME_TO_ROUNDING


def test_the_last_labels_cannot_be_taken_away(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="All 12 labels would be taken away"):
        clone(AUTOMATIC).fit(X, y).without_labels(np.flatnonzero(y != -1))


@pytest.mark.parametrize("rows", [[-1], [60], [0.5], [2, 2]])
def test_rows_that_do_not_exist_have_no_labels_to_take_away(two_classes, rows):
    with pytest.raises(ValueError, match=r"does not exist|whole numbers|twice"):
        clone(AUTOMATIC).fit(*two_classes).without_labels(rows)


# -- how new rows answer to labels -------------------------------------------------------------------------------


@pytest.mark.parametrize("model", SINGLE)
def test_new_rows_answer_to_a_label_as_in_a_refit(data, model):
    X, y = data
    new, row = X[:6] + 0.3, np.flatnonzero(y == -1)[4]
    model = clone(model).fit(X, y)

    response = model.label_response_at(new, [row])

    label = int(y.max())
    moved = refitted(model, X, changed(y, row, label)).decision_function(new)
    change = moved - model.decision_function(new)
    change = change if change.ndim == 1 else change[:, label]
    assert response.shape == (6, 1)
    assert relative_error(response[:, 0], change) < SAME_TO_ROUNDING


@pytest.mark.parametrize("model", SINGLE)
def test_training_rows_answer_as_new_ones(data, model):
    X, y = data
    model = clone(model).fit(X, y)
    rows = np.flatnonzero(y != -1)[:4]

    assert relative_error(model.label_response_at(X, rows), model.label_response(rows)) < SAME_TO_ROUNDING
    dense = model.label_response_at(X[:5] + 0.2, rows)
    found = clone(model).fit(sparse.csr_array(X), y).label_response_at(sparse.csr_array(X[:5] + 0.2), rows)
    assert relative_error(found, dense) < SAME_TO_ROUNDING


def test_a_model_without_a_fit_answers_to_nothing(two_classes):
    with pytest.raises(NotFittedError):
        SemiKPCAClassifier().label_response_at(two_classes[0], [0])
    assert LSSVMClassifier.learns_from_unlabeled is False
