"""Readings of models with other losses than the square: Newton steps from the fit, against fits from scratch."""

import numpy as np
import pytest

from semikpca import SemiKPCAClassifier
from semikpca.exceptions import NotLinearError, SeveralMinimaError
from semikpca.kernels import NeighborGraph
from semikpca.labeling import (
    accept_labels,
    audit_labels,
    error_weight_path,
    estimate_accuracy,
    expected_change,
    held_out,
    leave_one_label_out,
    prediction_sets,
    suggest_labels,
)
from semikpca.losses import LogCosh, PseudoHuber

# Two solves to 1e-12 of a stored matrix, over what is left of the interval, with room for rounding.
EXACT = 1e-9
# A temperature is fitted to left-out decisions of six digits.
FROM_A_TEMPERATURE = 1e-5


@pytest.fixture(params=[PseudoHuber(0.2), LogCosh(0.5)], ids=repr)
def loss(request):
    return request.param


def fitted(data, loss, **options):
    X, y = data
    return SemiKPCAClassifier(loss=loss, **{"error_weight": 0.8, **options}).fit(X, y)


def refitted(model, X, y):
    """The same parameters on other labels, from scratch."""
    return SemiKPCAClassifier(**model.get_params(deep=False)).fit(X, y)


def columns(values):
    return values.reshape(len(values), -1)


@pytest.mark.parametrize("kernel", ["rbf", NeighborGraph(6)], ids=["rbf", "graph"])
def test_labels_are_left_out_as_if_never_given(data, loss, kernel):
    X, y = data
    model = fitted(data, loss, kernel=kernel)
    left_out = leave_one_label_out(model)
    for place, row in enumerate(left_out.rows):
        without = y.copy()
        without[row] = -1
        wanted = refitted(model, X, without).decision_[row]
        np.testing.assert_allclose(left_out.decision[place], wanted, atol=EXACT)


def test_leaving_a_label_out_is_not_what_the_square_would_make_of_it(two_classes):
    robust, squared = (leave_one_label_out(fitted(two_classes, loss)).decision for loss in (PseudoHuber(0.2), None))
    assert np.abs(robust - squared).max() > 0.01


def test_labels_are_added_and_taken_away_as_if_fitted_with_them(data, loss):
    X, y = data
    model = fitted(data, loss)
    changed = y.copy()
    unlabeled, labeled = np.flatnonzero(y == -1)[:4], np.flatnonzero(y == 1)[:1]
    changed[unlabeled], changed[labeled] = [0, 1, 1, 0], -1
    model.add_labels(np.concatenate([unlabeled, labeled]), [0, 1, 1, 0, -1])
    wanted = refitted(model, X, changed)
    for name in ("decision_", "alpha_", "dual_coef_"):
        np.testing.assert_allclose(getattr(model, name), getattr(wanted, name), atol=EXACT)
    np.testing.assert_array_equal(model.transduction_, wanted.transduction_)


def test_a_model_without_labels_is_one_that_never_had_them(five_classes, loss):
    X, y = five_classes
    model = fitted(five_classes, loss)
    before = model.decision_.copy()
    for rows in (np.flatnonzero(y >= 0)[:4], np.flatnonzero(y == 3)):  # the second takes a class with it
        without = y.copy()
        without[rows] = -1
        found, wanted = model.without_labels(rows), refitted(model, X, without)
        np.testing.assert_array_equal(found.classes_, wanted.classes_)
        np.testing.assert_allclose(found.decision_, wanted.decision_, atol=EXACT)
        np.testing.assert_allclose(found.label_distributions_, wanted.label_distributions_, atol=FROM_A_TEMPERATURE)
    np.testing.assert_array_equal(model.decision_, before)


def test_a_prior_of_classes_goes_on_without_those_that_are_lost(five_classes):
    _, y = five_classes
    prior = np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    model = fitted(five_classes, PseudoHuber(), class_prior=prior)
    found = model.without_labels(np.flatnonzero(y == 0))
    np.testing.assert_allclose(found.class_shares_, prior[1:] / 0.9)
    np.testing.assert_array_equal(model.class_prior, prior)


def test_the_path_of_weights_has_the_fits_at_these_weights(data, loss):
    weights = np.array([0.9, 0.1, 0.5])
    model = fitted(data, loss)
    path = error_weight_path(model, weights)
    for number, weight in enumerate(weights):
        single = fitted(data, loss, error_weight=weight)
        np.testing.assert_allclose(path.decision[number], single.decision_, atol=EXACT)
        left_out = leave_one_label_out(single)
        np.testing.assert_allclose(path.left_out_decision[number], left_out.decision, atol=EXACT)
        assert path.left_out_accuracy[number] == pytest.approx(left_out.accuracy)


def test_a_path_beyond_the_bound_or_from_a_spectrum_is_refused(two_classes):
    model = fitted(two_classes, PseudoHuber())
    with pytest.raises(SeveralMinimaError):
        error_weight_path(model, [0.5, 1.0])
    with pytest.raises(NotLinearError, match="Leave spectrum out"):
        error_weight_path(model, [0.5], spectrum=model.full_spectrum())


def brute_force_change(model, X, y, row):
    """The expected total variation over all rows when the row gets a label, by fits from scratch."""
    before = model.decision_probabilities(model.decision_, model.sharpness_)
    expected = 0.0
    for code, label in enumerate(model.classes_):
        labels = y.copy()
        labels[row] = label
        after = model.decision_probabilities(refitted(model, X, labels).decision_, model.sharpness_)
        expected += before[row, code] * np.abs(after - before).sum() / 2
    return expected


@pytest.mark.parametrize("kernel", ["rbf", NeighborGraph(3)], ids=["rbf", "graph in pieces"])
@pytest.mark.filterwarnings("ignore::semikpca.exceptions.UnreachableRowsWarning")
def test_the_expected_change_is_that_of_fits_with_each_label(data, loss, kernel):
    X, y = data
    model = fitted(data, loss, kernel=kernel)
    rows = np.flatnonzero(y == -1)[::11]
    wanted = [brute_force_change(model, X, y, row) for row in rows]
    np.testing.assert_allclose(expected_change(model, rows), wanted, rtol=1e-6)


def test_the_row_that_is_suggested_first_is_expected_to_change_the_most(data, loss):
    _, y = data
    model = fitted(data, loss)
    suggested = suggest_labels(model, n=3, max_candidates=100)
    assert (y[suggested] == -1).all()
    assert len(np.unique(suggested)) == 3
    from semikpca.labeling._suggest import searching_sharpness

    unlabeled = np.flatnonzero(y == -1)
    change = expected_change(model, unlabeled, sharpness=searching_sharpness(model))
    # A search passes over classes less likely than a hundredth, and over all but five of them.
    best = unlabeled[np.argsort(-change)[:2]]
    assert suggested[0] in best
    second = model.with_label(int(suggested[0]), int(model.decision_codes(model.decision_)[suggested[0]]))
    assert second.label_coding_.codes[suggested[0]] >= 0
    assert model.label_coding_.codes[suggested[0]] == -1


def test_labels_are_held_out_of_everything_they_decide(five_classes, loss):
    X, y = five_classes
    model = fitted(five_classes, loss)
    found = held_out(model)
    for place, row in enumerate(found.rows):  # 15 labels: each is a fold
        without = y.copy()
        without[row] = -1
        wanted = refitted(model, X, without).label_distributions_[row]
        np.testing.assert_allclose(found.probabilities[place], wanted, atol=FROM_A_TEMPERATURE)
    estimate = estimate_accuracy(model)
    assert (estimate.right, estimate.counted) == (int(found.is_right.sum()), len(found.rows))


def test_prediction_sets_rank_rows_by_models_without_each_label(two_classes, loss):
    X, y = two_classes
    model = fitted(two_classes, loss)
    sets = prediction_sets(model, error_rate=0.2)
    rows = np.flatnonzero(y >= 0)
    counts = np.zeros((len(sets.rows), 2))
    for row in rows:
        without = y.copy()
        without[row] = -1
        chances = refitted(model, X, without).label_distributions_
        given = 1 - chances[row, y[row]]
        counts += given >= 1 - chances[sets.rows]
    np.testing.assert_allclose(sets.p_values, (1 + counts) / (1 + len(rows)))
    assert sets.promised_coverage == pytest.approx(0.6)
    of_new = prediction_sets(model, 0.2, X[:5])
    assert of_new.sets.shape == (5, 2)


def test_wrong_labels_are_found_by_the_others(clear_clusters, loss):
    X, cluster = clear_clusters
    y = np.full(len(X), -1)
    given = np.flatnonzero(np.arange(len(X)) % 4 == 0)
    y[given] = cluster[given]
    y[given[0]] = 1 + y[given[0]]
    audit = audit_labels(SemiKPCAClassifier("graph", loss=loss, error_weight=0.9).fit(X, y))
    assert audit.rows[0] == given[0]
    assert audit.suggested[0] == cluster[given[0]]
    assert audit.suspicion[0] > 2 * audit.suspicion[1]


def test_labels_are_accepted_where_held_out_ones_are_found(clear_clusters):
    X, cluster = clear_clusters
    y = np.full(len(X), -1)
    y[::2] = cluster[::2]
    model = SemiKPCAClassifier("graph", loss=PseudoHuber(), error_weight=0.9).fit(X, y)
    accepted = accept_labels(model, error_rate=0.1)
    assert len(accepted.rows) > 0
    np.testing.assert_array_equal(accepted.labels, cluster[accepted.rows])


# -- the square, by the same methods -----------------------------------------------------------------------------------


def test_the_square_has_the_same_readings_by_columns_of_h(five_classes):
    X, y = five_classes
    model = fitted(five_classes, None)
    rows, codes = np.flatnonzero(y == -1)[:3], np.array([4, 0, 2])
    for some, decisions in model.decisions_with(rows, codes):
        for row, code, decision in zip(rows[some], codes[some], decisions, strict=True):
            labels = y.copy()
            labels[row] = code
            np.testing.assert_allclose(decision, refitted(model, X, labels).decision_, atol=EXACT)
    for lost in (np.flatnonzero(y == 3), np.flatnonzero(y >= 2)):
        without = y.copy()
        without[lost] = -1
        found, wanted = model.without_labels(lost), refitted(model, X, without)
        np.testing.assert_array_equal(found.transduction_, wanted.transduction_)
        np.testing.assert_allclose(found.decision_, wanted.decision_, atol=EXACT)
