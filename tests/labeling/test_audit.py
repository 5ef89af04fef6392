"""Wrong labels that were planted on purpose must come first."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from oracles import SAME_TO_ROUNDING, relative_error
from semikpca import LSSVMClassifier, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.labeling import LabelAudit, audit_labels, leave_one_label_out

MODELS = [SemiKPCAClassifier, SemiLSSVMClassifier]


@pytest.fixture
def half_labeled(clear_clusters):
    """Every other row of four clear clusters with its label."""
    X, cluster = clear_clusters
    return X, np.where(np.arange(len(X)) % 2 == 0, cluster, -1)


@pytest.mark.parametrize("model_class", MODELS)
def test_most_suspicious_come_first_and_suspicion_is_a_probability(data, model_class):
    X, y = data

    audit = audit_labels(model_class().fit(X, y))

    assert (np.diff(audit.suspicion) <= 0).all()
    assert audit.suspicion.min() >= 0
    assert audit.suspicion.max() <= 1
    assert sorted(audit.rows.tolist()) == np.flatnonzero(y != -1).tolist()
    np.testing.assert_array_equal(audit.given, y[audit.rows])


@pytest.mark.parametrize("model_class", MODELS)
def test_suspicion_is_what_the_other_labels_leave_to_the_given_class(data, model_class):
    X, y = data
    model = model_class().fit(X, y)
    left_out = leave_one_label_out(model)
    scores = left_out.decision
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    exponentials = np.exp(model.sharpness_ * scores)
    shares = exponentials / exponentials.sum(axis=1, keepdims=True)
    wanted = dict(zip(left_out.rows.tolist(), 1 - shares[np.arange(len(shares)), left_out.given], strict=True))

    audit = audit_labels(model)

    assert relative_error(audit.suspicion, [wanted[row] for row in audit.rows.tolist()]) < SAME_TO_ROUNDING


@pytest.mark.parametrize("data_name", ["two classes", "five classes"])
def test_suggested_labels_are_the_left_out_predictions(request, data_name):
    X, y = request.getfixturevalue(data_name.replace(" ", "_"))
    model = SemiKPCAClassifier().fit(X, y)
    left_out = leave_one_label_out(model)

    audit = audit_labels(model)

    order = [left_out.rows.tolist().index(row) for row in audit.rows.tolist()]
    np.testing.assert_array_equal(audit.suggested, left_out.predictions[order])


@pytest.mark.parametrize("model_class", MODELS)
def test_planted_flips_come_first_with_their_true_label_suggested(half_labeled, model_class):
    X, y = half_labeled
    planted = np.array([4, 26, 44, 78])
    flipped = y.copy()
    flipped[planted] = (y[planted] + 1) % 4

    audit = audit_labels(model_class().fit(X, flipped))

    assert set(audit.rows[:4].tolist()) == set(planted.tolist())
    np.testing.assert_array_equal(audit.suggested[:4], y[audit.rows[:4]])
    assert (audit.suspicion[:4] > 0.5).all()
    assert (audit.suspicion[4:] < 0.5).all()


def test_planted_flips_come_first_between_two_classes(half_labeled):
    X, y = half_labeled
    y = np.where(y == -1, -1, y // 2)
    planted = np.array([10, 60])
    flipped = y.copy()
    flipped[planted] = 1 - y[planted]

    audit = audit_labels(SemiKPCAClassifier().fit(X, flipped))

    assert set(audit.rows[:2].tolist()) == {10, 60}
    np.testing.assert_array_equal(audit.suggested[:2], y[audit.rows[:2]])


def test_planted_flips_come_first_in_a_supervised_model(clear_clusters):
    X, y = clear_clusters
    flipped = y.copy()
    flipped[[7, 31]] = [2, 3]

    audit = audit_labels(LSSVMClassifier().fit(X, flipped))

    assert set(audit.rows[:2].tolist()) == {7, 31}
    assert len(audit.rows) == len(X)


def test_clean_labels_of_clear_clusters_are_not_suspected(half_labeled):
    X, y = half_labeled

    audit = audit_labels(SemiKPCAClassifier().fit(X, y))

    assert (audit.suspicion < 0.5).all()
    np.testing.assert_array_equal(audit.given, audit.suggested)


def test_only_label_of_a_class_has_no_suspicion_and_comes_last(five_classes):
    X, y = five_classes
    y = y.copy()
    alone = [np.flatnonzero(y == label)[0] for label in (0, 3)]
    y[(y == 0) | (y == 3)] = -1
    y[alone] = [0, 3]

    audit = audit_labels(SemiKPCAClassifier().fit(X, y))

    assert np.isnan(audit.suspicion[-2:]).all()
    assert not np.isnan(audit.suspicion[:-2]).any()
    assert set(audit.rows[-2:].tolist()) == set(alone)


def test_one_label_of_each_class_leaves_nothing_to_suspect(two_classes):
    X, given = two_classes
    y = np.full(len(given), -1)
    for label in (0, 1):
        y[np.flatnonzero(given == label)[0]] = label

    audit = audit_labels(SemiKPCAClassifier().fit(X, y))

    assert np.isnan(audit.suspicion).all()
    assert len(audit.rows) == 2


def test_frame_holds_the_audit_in_order(five_classes):
    X, y = five_classes
    audit = audit_labels(SemiKPCAClassifier().fit(X, y))

    frame = audit.to_frame()

    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == ["row", "given", "suggested", "suspicion"]
    np.testing.assert_array_equal(frame["row"], audit.rows)
    np.testing.assert_array_equal(frame["given"], audit.given)
    np.testing.assert_array_equal(frame["suggested"], audit.suggested)
    np.testing.assert_array_equal(frame["suspicion"], audit.suspicion)


def test_labels_stay_strings_in_the_frame(two_classes):
    X, y = two_classes
    words = np.where(y == -1, None, np.array(["cat", "dog"], dtype=object)[y])

    frame = audit_labels(SemiKPCAClassifier().fit(X, words)).to_frame()

    assert set(frame["given"]) == {"cat", "dog"}
    assert set(frame["suggested"]) <= {"cat", "dog"}


def test_model_that_was_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        audit_labels(SemiKPCAClassifier())


def test_a_label_looks_wrong_where_another_is_suggested_that_is_twice_as_likely():
    nothing_known = float("nan")
    audit = LabelAudit(
        rows=np.arange(5),
        suspicion=np.array([0.9, 0.9, 0.7, 0.5, nothing_known]),
        given=np.array(["a", "a", "a", "a", "a"]),
        suggested=np.array(["b", "a", "b", "b", "b"]),
        suggested_probability=np.array([0.2, 0.9, 0.55, 0.5, nothing_known]),
    )
    assert audit.looks_wrong.tolist() == [True, False, False, False, False]
