"""Prediction sets against refits, against MAPIE, and their promise in a simulation."""

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import LeaveOneOut

from conformal_oracles import full_conformal, jackknife_plus, margin, refitted
from semikpca import LSSVMClassifier, SemiKPCAClassifier, SemiKPCAClassifierCV, SemiLSSVMClassifier
from semikpca.kernels import RBF, Linear, NeighborGraph
from semikpca.labeling import prediction_sets, suggest_labels
from semikpca.labeling._prediction_sets import _unusual

# Fixed coefficients: a refit then has the same kernel.
KERNEL = RBF(gamma=0.1)
LINEAR_MODELS = {
    "semi-kpca": SemiKPCAClassifier(KERNEL),
    "semi-kpca, k=0": SemiKPCAClassifier(KERNEL, n_components_removed=0, error_weight=0.9),
    "semi-lssvm": SemiLSSVMClassifier(KERNEL, error_weight=3.0),
    "semi-lssvm without intercept": SemiLSSVMClassifier(KERNEL, error_weight=3.0, fit_intercept=False),
}
AUTOMATIC = SemiKPCAClassifierCV([RBF(gamma=0.1), Linear()])
SAME_FRACTION = 1e-12  # whole numbers over whole numbers


def overlapping(n_rows, n_labels, n_classes, seed=5):
    """Rows of overlapping clusters in the plane, labels drawn at random, at least two of each class: X, truth, y."""
    generator = np.random.default_rng(seed)
    truth = np.arange(n_rows) % n_classes
    angles = 2 * np.pi * truth / n_classes
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * 2 + generator.standard_normal((n_rows, 2))
    y = np.full(n_rows, -1)
    rows = generator.permutation(n_rows)[:n_labels]
    y[rows] = truth[rows]
    assert (np.bincount(y[rows], minlength=n_classes) >= 2).all(), "choose another seed"
    return X, truth, y


def one_label_of_class_0(y):
    y = y.copy()
    y[np.flatnonzero(y == 0)[1:]] = -1
    return y


def probability_score(kind, uniform=None):
    """How unusual a label is by probabilities: 1 − its own, or those of all likelier ones and a part of its own."""

    def score(model, row, label, place):
        if label not in model.classes_.tolist():
            return np.inf
        found = model.label_distributions_[row] if isinstance(row, int) else model.predict_proba([row])[0]
        own = found[model.classes_.tolist().index(label)]
        if own == 0:
            return np.inf
        if kind == "smallest":
            return 1 - own
        return found[found > own].sum() + uniform[place] * own

    return score


def uniforms(n_labels, n_asked, seed):
    drawn = np.random.RandomState(seed).random_sample(n_labels + n_asked)
    keys = [("label", place) for place in range(n_labels)] + [("asked", place) for place in range(n_asked)]
    return dict(zip(keys, drawn, strict=True))


# -- models that are linear in the labels ------------------------------------------------------------------------


@pytest.mark.parametrize("class_conditional", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", LINEAR_MODELS)
def test_sets_of_unlabeled_rows_equal_full_conformal_by_refits(name, n_classes, class_conditional):
    X, _, y = overlapping(18, 9, n_classes)
    model = clone(LINEAR_MODELS[name]).fit(X, y)

    found = prediction_sets(model, 0.25, class_conditional=class_conditional)

    wanted = full_conformal(model, X, y, np.flatnonzero(y != -1), class_conditional=class_conditional)
    np.testing.assert_allclose(found.p_values, wanted, rtol=SAME_FRACTION)
    wanted_sets = wanted > 0.25
    wanted_sets[np.arange(len(wanted)), model.transduction_[y == -1]] = True
    np.testing.assert_array_equal(found.sets, wanted_sets)
    np.testing.assert_array_equal(found.rows, np.flatnonzero(y == -1))
    assert found.promised_coverage == 0.75


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_only_label_of_a_class_ranks_as_in_refits(n_classes):
    X, _, y = overlapping(18, 9, n_classes)
    y = one_label_of_class_0(y)
    model = SemiKPCAClassifier(KERNEL).fit(X, y)

    found = prediction_sets(model)

    labeled = np.flatnonzero(y != -1)
    np.testing.assert_allclose(found.p_values, full_conformal(model, X, y, labeled), rtol=SAME_FRACTION)
    assert found.new_class_p_value == 2 / (len(labeled) + 1)


def test_only_labels_that_were_drawn_are_ranked_against():
    X, _, y = overlapping(18, 10, 2)
    drawn = np.flatnonzero(y != -1)[::2]
    model = SemiKPCAClassifier(KERNEL).fit(X, y)

    found = prediction_sets(model, drawn_rows=drawn)

    np.testing.assert_allclose(found.p_values, full_conformal(model, X, y, drawn), rtol=SAME_FRACTION)
    assert found.n_labels == 5


def test_suggested_rows_are_not_ranked_against_once_they_have_labels():
    X, truth, y = overlapping(18, 10, 2)
    drawn = np.flatnonzero(y != -1)
    model = SemiKPCAClassifier(KERNEL).fit(X, y)
    rows = suggest_labels(model, 3)
    model.add_labels(rows, truth[rows])

    found = prediction_sets(model)

    assert found.n_labels == 10
    np.testing.assert_array_equal(found.p_values, prediction_sets(model, drawn_rows=drawn).p_values)


def in_pieces():
    """Rows on a line in four pieces: several labels in two of them, one in the third, none in the last: X, y."""
    X = np.concatenate([start + np.linspace(0, 1, 6) ** 1.1 for start in (0, 10, 20, 30)])[:, np.newaxis]
    y = np.full(24, -1)
    y[[0, 3, 6, 7, 10, 14]] = [0, 0, 1, 1, 0, 1]
    return X, y


@pytest.mark.filterwarnings("ignore::semikpca.exceptions.UnreachableRowsWarning")
def test_pieces_of_a_graph_without_other_labels_rank_as_in_refits():
    X, y = in_pieces()
    model = SemiKPCAClassifier(NeighborGraph(n_neighbors=3)).fit(X, y)
    assert set(model.unreachable_rows_) == set(range(18, 24))

    found = prediction_sets(model, 0.4)

    np.testing.assert_allclose(found.p_values, full_conformal(model, X, y, np.flatnonzero(y != -1)), rtol=SAME_FRACTION)


@pytest.mark.filterwarnings("ignore::semikpca.exceptions.UnreachableRowsWarning")
@pytest.mark.parametrize("classifier", [SemiKPCAClassifier, SemiKPCAClassifierCV])
@pytest.mark.parametrize("asks_for_new_rows", [False, True])
def test_nothing_is_excluded_where_no_label_reaches(classifier, asks_for_new_rows):
    X, y = in_pieces()
    kernel = NeighborGraph(n_neighbors=3)
    model = (classifier([kernel]) if classifier is SemiKPCAClassifierCV else classifier(kernel)).fit(X, y)

    found = prediction_sets(model, 0.9, X[18:] + 0.01 if asks_for_new_rows else None)

    assert found.sets[-6:].all()
    assert asks_for_new_rows or not found.sets.all()


@pytest.mark.parametrize("class_prior", ["labeled", [0.2, 0.8]])
def test_class_prior_moves_predictions_but_no_p_value(class_prior):
    X, _, y = overlapping(40, 10, 2)
    free = SemiKPCAClassifier(KERNEL).fit(X, y)
    model = SemiKPCAClassifier(KERNEL, class_prior=class_prior).fit(X, y)
    assert model.class_offsets_.any()

    for new in (None, X[:5] + 0.1):
        np.testing.assert_allclose(
            prediction_sets(model, X=new).p_values, prediction_sets(free, X=new).p_values, rtol=SAME_FRACTION
        )
    found = prediction_sets(model, 0.9)
    assert found.sets[np.arange(30), model.transduction_[y == -1]].all()


@pytest.mark.parametrize("class_conditional", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", LINEAR_MODELS)
def test_sets_of_new_rows_equal_jackknife_plus_by_refits(name, n_classes, class_conditional):
    X, _, y = overlapping(18, 9, n_classes)
    new = overlapping(12, 9, n_classes, seed=8)[0]
    model = clone(LINEAR_MODELS[name]).fit(X, y)

    def score(without, row, label, place):
        decision = without.decision_[row] if isinstance(row, int) else without.decision_function([row])[0]
        return margin(without, decision, label)

    found = prediction_sets(model, 0.25, new, class_conditional=class_conditional)

    wanted = jackknife_plus(model, X, y, new, score=score, class_conditional=class_conditional)
    np.testing.assert_allclose(found.p_values, wanted, rtol=SAME_FRACTION)
    wanted_sets = wanted > 0.25
    wanted_sets[np.arange(12), model.predict(new)] = True
    np.testing.assert_array_equal(found.sets, wanted_sets)
    assert math.isnan(found.promised_coverage)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sets_of_a_supervised_model_equal_jackknife_plus_by_refits_without_each_row(n_classes):
    X, truth, _ = overlapping(14, 14, n_classes)
    new = overlapping(12, 9, n_classes, seed=8)[0]
    model = LSSVMClassifier(KERNEL, error_weight=3.0).fit(X, truth)

    found = prediction_sets(model, 0.2, new)

    counts = np.zeros((12, n_classes))
    for row in range(14):
        others = np.arange(14) != row
        without = clone(model).fit(X[others], truth[others])
        theirs = margin(without, without.decision_function(X[[row]])[0], truth[row])
        for place, decision in enumerate(without.decision_function(new)):
            for code in range(n_classes):
                counts[place, code] += theirs >= margin(without, decision, code)
    np.testing.assert_allclose(found.p_values, (1 + counts) / 15, rtol=SAME_FRACTION)
    assert found.promised_coverage == pytest.approx(0.6)
    assert prediction_sets(model).sets.shape == (0, n_classes)  # no row is without a label


# -- the automatic classifier ------------------------------------------------------------------------------------


@pytest.mark.parametrize("class_conditional", [False, True])
@pytest.mark.parametrize("kind", ["smallest", "adaptive"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sets_of_the_automatic_classifier_equal_jackknife_plus_by_refits(n_classes, kind, class_conditional):
    X, _, y = overlapping(40, 14, n_classes)
    asked = [int(row) for row in np.flatnonzero(y == -1)]
    model = clone(AUTOMATIC).fit(X, y)

    found = prediction_sets(model, 0.2, score=kind, class_conditional=class_conditional, random_state=3)

    score = probability_score(kind, uniforms(14, len(asked), 3))
    wanted = jackknife_plus(model, X, y, asked, score=score, class_conditional=class_conditional)
    np.testing.assert_allclose(found.p_values, wanted, rtol=SAME_FRACTION)
    wanted_sets = wanted > 0.2
    wanted_sets[np.arange(len(asked)), model.transduction_[asked]] = True
    np.testing.assert_array_equal(found.sets, wanted_sets)
    assert found.promised_coverage == pytest.approx(0.6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_that_is_lost_with_its_only_label_ranks_as_in_refits(n_classes):
    X, _, y = overlapping(40, 14, n_classes)
    y = one_label_of_class_0(y)
    asked = [int(row) for row in np.flatnonzero(y == -1)]
    model = clone(AUTOMATIC).fit(X, y)

    found = prediction_sets(model, score="smallest")

    wanted = jackknife_plus(model, X, y, asked, score=probability_score("smallest"))
    np.testing.assert_allclose(found.p_values, wanted, rtol=SAME_FRACTION)
    n_labels = int(np.sum(y != -1))
    assert found.new_class_p_value == 2 / (n_labels + 1)
    assert found.may_be_new_class == (2 / (n_labels + 1) > 0.1)


def test_sets_of_new_rows_of_the_automatic_classifier_equal_jackknife_plus_by_refits():
    X, _, y = overlapping(40, 14, 3)
    new = overlapping(12, 9, 3, seed=8)[0]
    model = clone(AUTOMATIC).fit(X, y)

    found = prediction_sets(model, 0.2, new, score="smallest")

    wanted = jackknife_plus(model, X, y, list(new), score=probability_score("smallest"))
    np.testing.assert_allclose(found.p_values, wanted, rtol=SAME_FRACTION)


def test_many_labels_are_ranked_by_twenty_folds_and_the_promise_says_so():
    X, _, y = overlapping(120, 60, 3)
    model = clone(AUTOMATIC).fit(X, y)
    labeled = np.flatnonzero(y != -1)

    found = prediction_sets(model, 0.1, score="smallest")

    order = np.random.RandomState(0).permutation(60)
    counts = np.zeros((60, 3))
    for start in range(0, 60, 3):
        fold = labeled[order[start : start + 3]]
        y_without = y.copy()
        y_without[fold] = -1
        chances = refitted(model, X, y_without).label_distributions_
        for row in fold:
            counts += 1 - chances[row, y[row]] >= 1 - chances[y == -1]
    np.testing.assert_allclose(found.p_values, (1 + counts) / 61, rtol=SAME_FRACTION)
    # Theorem 4 of Barber, Candès, Ramdas and Tibshirani with n = 60 and K = 20.
    assert found.promised_coverage == pytest.approx(1 - 0.2 - min(2 * 0.95 / 4, (1 - 1 / 3) / 21))


# -- MAPIE -------------------------------------------------------------------------------------------------------


class OfRowNumbers(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are numbers of the rows that a semi-supervised model is fitted on."""

    def __init__(self, model=None, rows=None):
        self.model = model
        self.rows = rows

    def fit(self, X, y):
        labels = np.full(len(self.rows), -1)
        labels[np.ravel(X).astype(int)] = y
        self.fitted_ = clone(self.model).fit(self.rows, labels)
        self.classes_ = self.fitted_.classes_
        return self

    def predict_proba(self, X):
        return self.fitted_.label_distributions_[np.ravel(X).astype(int)]

    def predict(self, X):
        return self.fitted_.transduction_[np.ravel(X).astype(int)]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_smallest_sets_equal_those_of_mapie_with_every_label_left_out(n_classes):
    mapie = pytest.importorskip("mapie.classification")
    # MAPIE takes scores for equal that differ by less than 1e-8; in these draws none do.
    X, _, y = overlapping(60, 20, n_classes, seed=6)
    labeled, asked = np.flatnonzero(y != -1), np.flatnonzero(y == -1)
    model = clone(AUTOMATIC).fit(X, y)
    # MAPIE wants α (n − 1) labels that are as unusual or more, where theory wants more than α (n + 1) − 1. Both are
    # the same whole number where α n is one, as here.
    levels = [0.05, 0.1, 0.2, 0.3]
    theirs = mapie.CrossConformalClassifier(
        OfRowNumbers(AUTOMATIC, X),
        confidence_level=[1 - level for level in levels],
        conformity_score="lac",
        cv=LeaveOneOut(),
    )
    theirs.fit_conformalize(labeled[:, np.newaxis], y[labeled])

    _, sets = theirs.predict_set(asked[:, np.newaxis], agg_scores="crossval")

    found = prediction_sets(model, score="smallest")
    for place, level in enumerate(levels):
        np.testing.assert_array_equal(found.p_values > level, sets[:, :, place])
    assert 0 < sets.mean() < 1


def test_adaptive_scores_are_those_of_mapie_with_the_same_random_numbers():
    scores = pytest.importorskip("mapie.conformity_scores")
    generator = np.random.default_rng(4)
    chances = generator.dirichlet(np.ones(5), size=30)
    codes = generator.integers(5, size=30)
    theirs = scores.APSConformityScore()
    theirs.classes, theirs.random_state = np.arange(5), 8

    wanted = theirs.get_conformity_scores(codes, chances, y_enc=codes)

    taken_off = np.random.RandomState(8).uniform(size=30)  # MAPIE takes a part of the own probability off
    found = _unusual(chances, 1 - taken_off, "adaptive")[np.arange(30), codes]
    np.testing.assert_allclose(found, np.ravel(wanted), rtol=1e-12)


# -- what holds whatever the model -------------------------------------------------------------------------------

MODELS = {"linear": SemiKPCAClassifier(KERNEL), "automatic": AUTOMATIC}


@pytest.mark.parametrize("name", MODELS)
def test_sets_for_other_rates_can_be_read_off_the_p_values(name):
    X, _, y = overlapping(40, 14, 3)
    model = clone(MODELS[name]).fit(X, y)
    small, large = prediction_sets(model, 0.3), prediction_sets(model, 0.1)

    np.testing.assert_array_equal(small.p_values, large.p_values)
    assert (small.sets <= large.sets).all()
    assert small.sets.sum() < large.sets.sum()


@pytest.mark.parametrize("name", MODELS)
def test_with_too_few_labels_no_class_is_excluded(name):
    X, _, y = overlapping(40, 8, 2)

    found = prediction_sets(clone(MODELS[name]).fit(X, y), 0.1)

    assert found.sets.all()
    assert not found.is_informative
    assert prediction_sets(clone(MODELS[name]).fit(X, y), 1 / 9).is_informative


@pytest.mark.parametrize("name", MODELS)
def test_strings_and_numbers_as_labels_give_the_same_sets(name):
    X, _, y = overlapping(40, 14, 3)
    words = np.where(y == -1, None, np.array(["a", "b", "c"], dtype=object)[y])

    found = prediction_sets(clone(MODELS[name]).fit(X, words))

    np.testing.assert_array_equal(found.sets, prediction_sets(clone(MODELS[name]).fit(X, y)).sets)


@pytest.mark.parametrize("name", MODELS)
def test_sparse_rows_give_the_same_sets(name):
    X, _, y = overlapping(40, 14, 3)
    dense, found = clone(MODELS[name]).fit(X, y), clone(MODELS[name]).fit(sparse.csr_array(X), y)

    np.testing.assert_array_equal(prediction_sets(found).sets, prediction_sets(dense).sets)
    new = X[:4] + 0.2
    np.testing.assert_array_equal(
        prediction_sets(found, 0.3, sparse.csr_array(new)).sets, prediction_sets(dense, 0.3, new).sets
    )


@pytest.mark.parametrize("name", MODELS)
def test_where_all_rows_are_labeled_only_new_rows_have_sets(name):
    X, truth, _ = overlapping(20, 20, 2)
    model = clone(MODELS[name]).fit(X, truth)

    assert prediction_sets(model).sets.shape == (0, 2)
    assert prediction_sets(model, 0.2, X[:3] + 0.1).sets.shape == (3, 2)


@pytest.mark.filterwarnings("ignore::semikpca.exceptions.SingleClassWarning")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_labels", [1, 4])
def test_a_single_class_is_in_every_set(name, n_labels):
    X, _, _ = overlapping(20, 10, 2)
    y = np.full(20, -1)
    y[:n_labels] = 7

    for new in (None, X[:3] + 0.1):
        found = prediction_sets(clone(MODELS[name]).fit(X, y), 0.3, new)
        assert found.sets.all()
        assert found.may_be_new_class == (n_labels == 1)


@pytest.mark.parametrize("name", MODELS)
def test_one_label_of_each_class_excludes_nothing(name):
    X, truth, _ = overlapping(20, 10, 2)
    y = np.full(20, -1)
    y[:2] = truth[:2]

    found = prediction_sets(clone(MODELS[name]).fit(X, y), 0.3)

    assert found.sets.all()
    assert found.new_class_p_value == 1


def test_classes_of_their_own_promise_what_is_proved_for_the_rarest():
    X, _, y = overlapping(120, 60, 3)
    model = clone(AUTOMATIC).fit(X, y)
    rarest = np.bincount(y[y != -1]).min()

    found = prediction_sets(model, 0.1, class_conditional=True)

    assert found.promised_coverage == max(0, 1 - 0.2 - 2 * 0.95 / (rarest / 20 + 1))
    assert found.may_be_new_class


@pytest.mark.parametrize(("name", "n_draws"), [("linear", 40), ("automatic", 8)])
def test_labels_drawn_at_random_keep_the_promise(name, n_draws):
    missing, size = [], []
    for seed in range(n_draws):
        X, truth, y = overlapping(60, 15, 2, seed=100 + seed)
        found = prediction_sets(clone(MODELS[name]).fit(X, y), 0.2)
        missing.append(1 - found.sets[np.arange(45), truth[found.rows]].mean())
        size.append(found.sets.sum(axis=1).mean())
    spread = np.std(missing) / np.sqrt(n_draws)
    assert np.mean(missing) <= 0.2 + 2 * spread
    assert np.mean(size) < 1.7


@pytest.mark.parametrize("rate", [0, 1, -0.1, 1.5, float("nan"), "0.1", None])
def test_error_rates_outside_0_and_1_are_refused(rate):
    X, _, y = overlapping(20, 8, 2)
    with pytest.raises(ValueError, match="error_rate must lie between 0 and 1"):
        prediction_sets(SemiKPCAClassifier(KERNEL).fit(X, y), rate)


def test_unknown_scores_are_refused():
    X, _, y = overlapping(20, 8, 2)
    with pytest.raises(ValueError, match="'adaptive' or 'smallest'"):
        prediction_sets(SemiKPCAClassifier(KERNEL).fit(X, y), score="best")


def test_without_a_label_that_was_drawn_nothing_is_promised():
    X, _, y = overlapping(20, 8, 2)
    with pytest.raises(ValueError, match="check_rows"):
        prediction_sets(SemiKPCAClassifier(KERNEL).fit(X, y), drawn_rows=[])
