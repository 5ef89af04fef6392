"""What a further label would change, against refits; and rows that are worth a label."""

import numpy as np
import pytest
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from oracles import SAME_TO_ROUNDING, relative_error
from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV, SemiLSSVMClassifier
from semikpca.kernels import RBF, NeighborGraph
from semikpca.labeling import _suggest as suggest
from semikpca.labeling import expected_change, suggest_labels
from semikpca.labeling._suggest import _default_candidates, searching_sharpness

MODELS = {
    "semi-kpca": SemiKPCAClassifier(RBF(gamma=0.1)),
    "semi-kpca, k=0": SemiKPCAClassifier(RBF(gamma=0.1), n_components_removed=0, error_weight=0.9),
    "semi-lssvm": SemiLSSVMClassifier(RBF(gamma=0.1)),
    "semi-lssvm without intercept": SemiLSSVMClassifier(RBF(gamma=0.1), fit_intercept=False),
}


@pytest.fixture
def two_of_four_labeled(clear_clusters):
    """Four clear clusters, of which two have labels: X, cluster, y."""
    X, cluster = clear_clusters
    y = np.full(len(X), -1)
    y[[0, 7]] = 0
    y[[20, 27]] = 1
    return X, cluster, y


def probabilities_of(decision, sharpness):
    scores = decision if decision.ndim == 2 else np.column_stack([-decision, decision])
    exponentials = np.exp(sharpness * (scores - scores.max(axis=1, keepdims=True)))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def change_by_refits(model, X, y, row):
    """The expected change when a row gets a label: one refit for each class it may turn out to have."""
    before = probabilities_of(model.decision_, model.sharpness_)
    total = 0.0
    for code, label in enumerate(model.classes_):
        changed = y.copy()
        changed[row] = label
        after = probabilities_of(clone(model).fit(X, changed).decision_, model.sharpness_)
        total += before[row, code] * 0.5 * np.abs(after - before).sum()
    return total


@pytest.mark.parametrize("name", MODELS)
def test_expected_change_equals_refits(data, name):
    X, y = data
    model = clone(MODELS[name]).fit(X, y)
    rows = np.flatnonzero(y == -1)[:12]

    change = expected_change(model, rows)

    assert relative_error(change, [change_by_refits(model, X, y, row) for row in rows]) < SAME_TO_ROUNDING


def change_where_nothing_was_known(model, X, y, row):
    """The same where decisions of exactly 0 stand for the shares of the labels, which count before and after."""
    shares = np.bincount(y[y != -1]) / np.sum(y != -1)

    def chances(decision):
        silent = ~decision.reshape(len(decision), -1).any(axis=1)
        return np.where(silent[:, np.newaxis], shares, probabilities_of(decision, model.sharpness_))

    before, total = chances(model.decision_), 0.0
    for code, label in enumerate(model.classes_):
        changed = y.copy()
        changed[row] = label
        after = chances(clone(model).fit(X, changed).decision_)
        total += before[row, code] * 0.5 * np.abs(after - before).sum()
    return total


@pytest.mark.filterwarnings("ignore::semikpca.exceptions.UnreachableRowsWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_expected_change_equals_refits_where_labels_do_not_reach(clear_clusters, n_classes):
    X, _ = clear_clusters
    y = np.full(len(X), -1)
    y[[0, 7, 20, 27]] = [0, 1, n_classes - 1, 0]
    model = SemiKPCAClassifier(NeighborGraph(5)).fit(X, y)
    assert len(model.unreachable_rows_) == 40
    rows = np.array([3, 22, 41, 45, 66])  # two in reach, three in pieces without a label

    change = expected_change(model, rows)

    assert (change > 0).all()
    wanted = [change_where_nothing_was_known(model, X, y, row) for row in rows]
    assert relative_error(change, wanted) < SAME_TO_ROUNDING


def test_expected_change_equals_refits_for_a_row_that_is_like_no_other(five_classes):
    X, y = five_classes
    X = np.vstack([X, X[:1] + 1e3, X[1:2] + 1e3])  # exp(−1e6) is 0: their decisions are exactly 0
    y = np.append(y, [-1, -1])
    model = SemiKPCAClassifier(RBF(gamma=0.1)).fit(X, y)
    assert not model.decision_[-2:].any()
    rows = np.append(np.flatnonzero(y == -1)[:3], len(y) - 1)

    change = expected_change(model, rows)

    wanted = [change_where_nothing_was_known(model, X, y, row) for row in rows]
    assert relative_error(change, wanted) < SAME_TO_ROUNDING


@pytest.mark.parametrize("at_once", [1, 1_000])
def test_candidates_may_be_weighed_a_few_at_a_time(monkeypatch, five_classes, at_once):
    X, y = five_classes
    model = SemiKPCAClassifier().fit(X, y)
    rows = np.flatnonzero(y == -1)
    together = expected_change(model, rows)
    monkeypatch.setattr(suggest, "_ENTRIES_AT_ONCE", at_once)
    np.testing.assert_allclose(expected_change(model, rows), together, rtol=1e-12)


def test_expected_change_of_a_labeled_row_is_refused(two_classes):
    X, y = two_classes
    labeled, unlabeled = np.flatnonzero(y != -1)[0], np.flatnonzero(y == -1)[0]
    model = SemiKPCAClassifier().fit(X, y)

    # Its target is in the decisions already: adding another one answers no question that could be asked.
    with pytest.raises(ValueError, match="label"):
        expected_change(model, [unlabeled, labeled])


def test_first_suggestion_has_the_largest_expected_change(data):
    X, y = data
    model = SemiKPCAClassifier().fit(X, y)
    unlabeled = np.flatnonzero(y == -1)

    first = suggest_labels(model, 1)

    change = expected_change(model, unlabeled, sharpness=searching_sharpness(model))
    np.testing.assert_array_equal(first, unlabeled[[np.argmax(change)]])


def test_the_search_is_at_least_as_confident_as_the_model(data):
    X, y = data
    model = SemiKPCAClassifier().fit(X, y)
    assert searching_sharpness(model) >= model.sharpness_
    unlabeled = np.flatnonzero(y == -1)[:5]
    doubled = expected_change(model, unlabeled, sharpness=2 * model.sharpness_)
    assert not np.allclose(doubled, expected_change(model, unlabeled))


@pytest.mark.parametrize("name", MODELS)
def test_suggestions_are_distinct_unlabeled_rows(data, name):
    X, y = data

    rows = suggest_labels(clone(MODELS[name]).fit(X, y), 20)

    assert rows.dtype.kind == "i"
    assert rows.shape == (20,)
    assert len(set(rows.tolist())) == 20
    assert (y[rows] == -1).all()


def test_asking_for_more_suggestions_does_not_change_the_first_ones(data):
    X, y = data
    model = SemiKPCAClassifier().fit(X, y)

    np.testing.assert_array_equal(suggest_labels(model, 12)[:4], suggest_labels(model, 4))


@pytest.mark.parametrize("name", ["semi-kpca, k=0", "semi-lssvm"])
def test_asking_for_more_suggestions_does_not_change_the_first_ones_among_clusters(two_of_four_labeled, name):
    X, _, y = two_of_four_labeled
    model = clone(MODELS[name]).fit(X, y)

    np.testing.assert_array_equal(suggest_labels(model, 12)[:2], suggest_labels(model, 2))


def test_second_suggestion_is_the_best_once_the_first_has_its_likely_label(data):
    X, y = data
    model = SemiKPCAClassifier(RBF(gamma=0.1)).fit(X, y)
    first, second = suggest_labels(model, 2)
    likely = y.copy()
    likely[first] = model.transduction_[first]
    refit = clone(model).fit(X, likely)
    # The temperature of the first model is kept throughout, so that changes stay comparable.
    refit._sharpness[:] = [searching_sharpness(model)]
    rest = np.flatnonzero(likely == -1)

    changes = [change_by_refits(refit, X, likely, row) for row in rest]

    assert second == rest[int(np.argmax(changes))]


@pytest.mark.parametrize("name", ["semi-kpca, k=0", "semi-lssvm"])
def test_first_suggestions_visit_the_clusters_without_a_label(two_of_four_labeled, name):
    X, cluster, y = two_of_four_labeled

    rows = suggest_labels(clone(MODELS[name]).fit(X, y), 2)

    assert set(cluster[rows].tolist()) == {2, 3}


@pytest.mark.parametrize("name", ["semi-kpca, k=0", "semi-lssvm"])
def test_near_duplicates_of_one_row_are_not_suggested_together(two_of_four_labeled, rng, name):
    X, cluster, y = two_of_four_labeled
    best = suggest_labels(clone(MODELS[name]).fit(X, y), 1)[0]
    X = np.vstack([X, X[best] + 1e-6 * rng.standard_normal((10, 2))])
    y = np.append(y, np.full(10, -1))
    cluster = np.append(cluster, np.full(10, cluster[best]))

    rows = suggest_labels(clone(MODELS[name]).fit(X, y), 2)

    assert set(cluster[rows].tolist()) == {2, 3}


def test_default_model_spreads_its_first_suggestions_over_clusters(two_of_four_labeled):
    X, cluster, y = two_of_four_labeled

    rows = suggest_labels(SemiKPCAClassifier().fit(X, y), 3)

    assert len(set(cluster[rows].tolist())) == 3


def test_fewer_rows_come_back_where_fewer_are_unlabeled(two_classes):
    X, y = two_classes
    y = np.where(y == -1, np.arange(len(y)) % 2, y)
    y[[5, 40, 41]] = -1

    rows = suggest_labels(SemiKPCAClassifier().fit(X, y), 10)

    assert sorted(rows.tolist()) == [5, 40, 41]


def test_nothing_comes_back_where_every_row_has_a_label(two_classes):
    X, _ = two_classes

    rows = suggest_labels(SemiKPCAClassifier().fit(X, np.arange(len(X)) % 2), 3)

    assert rows.shape == (0,)
    assert rows.dtype.kind == "i"


@pytest.mark.parametrize("n", [0, -1, 2.5, np.nan, True, "3", None])
def test_bad_number_of_suggestions_is_refused(two_classes, n):
    X, y = two_classes
    model = SemiKPCAClassifier().fit(X, y)

    with pytest.raises(ValueError, match="n must be"):
        suggest_labels(model, n)


@pytest.mark.parametrize("max_candidates", [1, 5, 30])
def test_fewer_candidates_still_give_as_many_rows(two_classes, max_candidates):
    X, y = two_classes

    rows = suggest_labels(SemiKPCAClassifier().fit(X, y), 8, max_candidates=max_candidates)

    assert len(set(rows.tolist())) == 8
    assert (y[rows] == -1).all()


def test_drawn_candidates_are_the_same_for_the_same_random_state(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier().fit(X, y)

    first = suggest_labels(model, 5, max_candidates=12, random_state=3)

    np.testing.assert_array_equal(suggest_labels(model, 5, max_candidates=12, random_state=3), first)


def test_model_is_left_as_it_was(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier().fit(X, y)
    decision, codes, sharpness = model.decision_.copy(), model.label_coding_.codes.copy(), model.sharpness_

    suggest_labels(model, 5)
    expected_change(model, np.flatnonzero(y == -1)[:3])

    np.testing.assert_array_equal(model.decision_, decision)
    np.testing.assert_array_equal(model.label_coding_.codes, codes)
    assert model.sharpness_ == sharpness


def test_model_that_was_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        suggest_labels(SemiKPCAClassifier())
    with pytest.raises(NotFittedError):
        expected_change(SemiKPCAClassifier(), [0])


def test_a_search_through_many_classes_looks_at_a_few_of_them_and_at_a_sample_of_the_rows(monkeypatch):
    generator = np.random.default_rng(3)
    truth = np.repeat(np.arange(40), 20)
    X = generator.normal(size=(40, 6))[truth] * 4 + generator.normal(size=(800, 6))
    y = np.where(np.arange(800) % 20 < 2, truth, -1)
    model = SemiKPCAClassifier("graph").fit(X, y)
    asked = []
    probabilities = type(model).decision_probabilities

    def counted(self, decision, sharpness=None):
        asked.append(len(decision))
        return probabilities(self, decision, sharpness)

    monkeypatch.setattr(type(model), "decision_probabilities", counted)
    rows = suggest_labels(model, n=2, max_candidates=30)
    assert len(set(rows)) == 2
    assert (y[rows] == -1).all()
    # Two rounds of at most 30 candidates, with 5 classes each and 500 rows for each of them, and what comes before.
    assert sum(asked) <= 2 * (30 * 5 * 500 + 30 + 500 + 1) + 2 * 800


@pytest.mark.parametrize(("n_rows", "candidates"), [(300, 256), (10_000, 256), (40_000, 64), (1_000_000, 32)])
def test_fewer_candidates_are_weighed_where_each_costs_more(n_rows, candidates):
    assert _default_candidates(n_rows) == candidates


# -- rows that are drawn at random --------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiKPCAClassifierCV])
def test_rows_to_check_come_last_and_are_not_remembered_as_suggested(five_classes, make):
    X, y = five_classes
    model = make().fit(X, y)

    rows = suggest_labels(model, 7, check_rows=3)

    assert len(set(rows.tolist())) == 7
    assert (y[rows] == -1).all()
    np.testing.assert_array_equal(model.suggested_rows_, np.sort(rows[:4]))


def test_rows_to_check_are_drawn_evenly_from_all_unlabeled_rows(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier().fit(X, y)

    drawn = [suggest_labels(model, 1, check_rows=1, random_state=seed)[0] for seed in range(480)]

    counts = np.bincount(drawn, minlength=60)
    assert not counts[y != -1].any()
    assert chisquare(counts[y == -1]).pvalue > 1e-3


def test_rows_to_check_alone_are_no_suggestions(two_classes):
    model = SemiKPCAClassifier().fit(*two_classes)
    assert len(suggest_labels(model, 4, check_rows=4)) == 4
    assert not model.suggested_rows_.size


def test_without_rows_to_check_all_are_remembered(two_classes):
    model = SemiKPCAClassifier().fit(*two_classes)
    first, second = suggest_labels(model, 2), suggest_labels(model, 5)
    np.testing.assert_array_equal(model.suggested_rows_, np.union1d(first, second))


def test_a_row_that_is_drawn_after_it_was_suggested_counts_as_drawn(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier().fit(X, y)
    suggest_labels(model, 48)  # all that are unlabeled

    drawn = suggest_labels(model, 3, check_rows=3)

    np.testing.assert_array_equal(model.suggested_rows_, np.setdiff1d(np.flatnonzero(y == -1), drawn))


def test_more_rows_to_check_than_are_unlabeled_are_all_of_them(two_classes):
    X, y = two_classes
    rows = suggest_labels(SemiKPCAClassifier().fit(X, y), 100, check_rows=90)
    assert sorted(rows.tolist()) == np.flatnonzero(y == -1).tolist()


@pytest.mark.parametrize("check_rows", [-1, 6, 1.5, True, None])
def test_a_bad_number_of_rows_to_check_is_refused(two_classes, check_rows):
    with pytest.raises(ValueError, match="check_rows must be a whole number between 0 and n=5"):
        suggest_labels(SemiKPCAClassifier().fit(*two_classes), 5, check_rows=check_rows)
