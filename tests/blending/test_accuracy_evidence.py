"""How many labels will be right: what the expectation follows, its limits, and left-out labels by a loop."""

import math
from dataclasses import replace

import numpy as np
import pytest

from semikpca import SemiKPCAClassifierCV
from semikpca.blending import AccuracyEvidence
from semikpca.blending._accuracy_evidence import accuracy_by_left_out
from semikpca.labeling import leave_one_label_out

ROUNDING = 1e-12

MIDDLING = AccuracyEvidence(
    consensus=0.8, agreement=0.6, n_classes=3, labels_a_class=4.0, left_out_accuracy=0.75, n_left_out=12.0
)
NONE_LEFT_OUT = {"left_out_accuracy": 0.0, "n_left_out": 0.0, "labels_a_class": 1.0}


def expected(found):
    """The formula of decision 0028, in steps."""
    odds = math.exp(
        -4 + math.log(1 / (1 - min(found.consensus, 0.995))) + 2.3 * found.agreement + 0.4 * math.log(found.n_classes)
    )
    by_structure = (1 + (found.n_classes - 1) * odds / (1 + odds)) / found.n_classes
    mended = 0.7 / max(1, found.labels_a_class)
    by_labels = 1 - (1 - found.left_out_accuracy) * (1 - mended)
    return (30 * by_structure + found.n_left_out * by_labels) / (30 + found.n_left_out)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 100])
@pytest.mark.parametrize("consensus", [0.0, 0.5, 0.9, 0.994, 0.999, 1.0])
def test_the_expectation_is_that_of_the_formula(n_classes, consensus):
    for agreement in (0.0, 0.4, 1.0):
        for labels in (NONE_LEFT_OUT, {}, {"left_out_accuracy": 1.0, "n_left_out": 300.0, "labels_a_class": 0.5}):
            found = replace(MIDDLING, n_classes=n_classes, consensus=consensus, agreement=agreement, **labels)
            assert found.expected_accuracy == pytest.approx(expected(found), abs=ROUNDING)


@pytest.mark.parametrize("name", ["consensus", "agreement", "left_out_accuracy"])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_more_agreement_of_any_kind_makes_more_labels_right(name, n_classes):
    grid = np.linspace(0, 0.99, 25)
    found = [replace(MIDDLING, n_classes=n_classes, **{name: value}).expected_accuracy for value in grid]
    assert (np.diff(found) > 0).all()


def test_the_expectation_lies_between_what_rows_and_what_left_out_labels_say():
    by_structure = replace(MIDDLING, **NONE_LEFT_OUT).expected_accuracy
    for left_out_accuracy in (0.3, 0.75, 1.0):
        few, many = (
            replace(MIDDLING, left_out_accuracy=left_out_accuracy, n_left_out=n).expected_accuracy for n in (2.0, 1e9)
        )
        by_labels = 1 - (1 - left_out_accuracy) * (1 - 0.7 / 4)
        assert many == pytest.approx(by_labels, abs=1e-6)
        assert min(by_structure, by_labels) <= few <= max(by_structure, by_labels)
        assert abs(few - by_structure) < abs(few - by_labels) or by_structure == by_labels


@pytest.mark.parametrize("n_classes", [2, 3, 50])
def test_without_left_out_labels_the_expectation_is_better_than_guessing_and_never_certain(n_classes):
    worst = replace(MIDDLING, n_classes=n_classes, consensus=0.0, agreement=0.0, **NONE_LEFT_OUT)
    best = replace(MIDDLING, n_classes=n_classes, consensus=1.0, agreement=1.0, **NONE_LEFT_OUT)
    assert 1 / n_classes < worst.expected_accuracy < 1 / n_classes + 0.15
    assert 0.98 < best.expected_accuracy < 1


def test_the_more_labels_a_class_there_are_the_less_the_left_out_one_would_have_mended():
    grid = (1.0, 2.0, 5.0, 100.0)
    found = [replace(MIDDLING, labels_a_class=labels).expected_accuracy for labels in grid]
    assert found == sorted(found, reverse=True)
    # Fewer than one on the mean, where classes have gone: as one.
    assert replace(MIDDLING, labels_a_class=0.5).expected_accuracy == found[0]


# -- left-out labels by the rows that they stand for -------------------------------------------------------------


def by_a_loop(left_out, given, shares):
    """The mean over the classes that have two labels or more, each by its share of the rows."""
    found, weights = [], []
    for scores, code in zip(left_out, given, strict=True):
        n_own = list(given).count(code)
        if n_own > 1:
            found.append(int(np.argmax(scores)) == code)
            weights.append(shares[code] / n_own)
    total = sum(weights)
    if not total:
        return 0.0, 0.0
    accuracy = sum(weight for weight, is_right in zip(weights, found, strict=True) if is_right) / total
    return accuracy, total**2 / sum(weight**2 for weight in weights)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_classes_count_by_the_rows_that_are_predicted_to_be_of_them(rng, n_classes):
    for n_labels in (n_classes, 2 * n_classes, 40):
        given = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_labels - n_classes)])
        left_out = rng.normal(size=(n_labels, n_classes)) + np.eye(n_classes)[given]
        shares = rng.dirichlet(np.ones(n_classes))
        found = accuracy_by_left_out(left_out, given, shares)
        assert found == pytest.approx(by_a_loop(left_out, given, shares), abs=ROUNDING)


def test_labels_that_stand_for_as_many_rows_each_count_as_they_are(rng):
    given = np.repeat([0, 1], [30, 10])
    left_out = rng.normal(size=(40, 2))
    accuracy, worth = accuracy_by_left_out(left_out, given, np.array([0.75, 0.25]))
    assert accuracy == pytest.approx(np.mean(left_out.argmax(axis=1) == given), abs=ROUNDING)
    assert worth == pytest.approx(40)


def test_as_many_labels_of_a_rare_class_do_not_take_it_for_common():
    given = np.repeat([0, 1], 10)
    left_out = np.tile([1.0, 0.0], (20, 1))  # the common class is always said
    accuracy, worth = accuracy_by_left_out(left_out, given, np.array([0.95, 0.05]))
    assert accuracy == pytest.approx(0.95)
    assert worth == pytest.approx(1 / (10 * 0.095**2 + 10 * 0.005**2))
    assert worth < 12


@pytest.mark.parametrize("given", [[0, 1], [0, 1, 2], [2, 0, 1]], ids=str)
def test_where_no_label_can_be_left_out_nothing_is_known(given):
    assert accuracy_by_left_out(np.eye(3)[given], np.array(given), np.full(3, 1 / 3)) == (0.0, 0.0)


def test_labels_of_classes_that_are_never_predicted_stand_for_no_row():
    given = np.array([0, 0, 1, 1])
    left_out = np.array([[1.0, 0.0]] * 4)
    assert accuracy_by_left_out(left_out, given, np.array([1.0, 0.0])) == pytest.approx((1.0, 2.0))
    assert accuracy_by_left_out(left_out[:, ::-1], given[2:].repeat(2), np.array([1.0, 0.0])) == (0.0, 0.0)


# -- of a model --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("combine", ["ensemble", "best"])
def test_the_evidence_of_a_model_is_what_its_labels_and_candidates_say(data, combine):
    X, y = data
    model = SemiKPCAClassifierCV(combine=combine).fit(X, y)
    found, n_classes = model.blend_.accuracy, len(model.classes_)
    left_out = leave_one_label_out(model)
    shares = np.bincount(model.transduction_, minlength=n_classes) / len(X)
    right = left_out.predictions == left_out.given
    # Labels are as many of each class here, so that a class counts by its share.
    by_class = [np.mean(right[left_out.given == code]) for code in range(n_classes)]
    assert found.left_out_accuracy == pytest.approx(shares @ by_class, abs=ROUNDING)
    assert (found.n_classes, found.labels_a_class) == (n_classes, np.sum(y != -1) / n_classes)
    assert found.agreement == pytest.approx(
        model.blend_.structures[0].neighbors.relative_information(model.transduction_, n_classes), abs=ROUNDING
    )
    assert 1 / n_classes < found.expected_accuracy < 1


def test_consensus_is_the_share_of_rows_that_candidates_label_as_the_blend_does(data):
    X, y = data
    model = SemiKPCAClassifierCV(class_prior=None).fit(X, y)
    alone = SemiKPCAClassifierCV(class_prior=None, combine="best").fit(X, y)
    assert alone.blend_.accuracy.consensus == 1  # with itself
    assert 0.5 < model.blend_.accuracy.consensus < 1


def test_one_class_has_no_expectation(two_classes):
    X, y = two_classes
    with pytest.warns(UserWarning, match="every row gets that class"):
        model = SemiKPCAClassifierCV().fit(X, np.where(y == 1, 1, -1))
    assert model.blend_.accuracy is None
