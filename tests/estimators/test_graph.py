"""Classifiers on neighbor graphs: sparse from end to end, exact on old rows, honest about rows out of reach."""

import pickle
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.model_selection import GridSearchCV

from graph_oracle import neighbor_graph
from oracles import SAME_TO_ROUNDING, relative_error, semi_kpca_from_the_paper
from semikpca import ConvexKernelPCA, LSSVMClassifier, LSSVMRegressor, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.exceptions import DegenerateSpectrumWarning, UnreachableRowsWarning
from semikpca.kernels import NeighborGraph, Normalized
from semikpca.labeling import audit_labels, error_weight_path, leave_one_label_out, suggest_labels

# Single precision, a system with a condition number of up to 700.
SINGLE = 5e-3
# A path of weights on a graph solves its systems to seven digits; its decisions lose some more at the largest.
PATH_ON_A_GRAPH = 3e-7

generator = np.random.default_rng(5)


def grid():
    """Whole numbers: full of ties and duplicates, in two halves."""
    X = generator.integers(0, 5, size=(120, 2)).astype(float)
    truth = (X[:, 0] > 2).astype(int)
    return X, truth


def duplicates():
    X, truth = make_blobs(30, centers=2, random_state=1)
    counts = generator.integers(1, 9, size=30)
    return np.repeat(X, counts, axis=0), np.repeat(truth, counts)


SETS = {
    "moons": make_moons(320, noise=0.05, random_state=0),
    "blobs apart": make_blobs(120, centers=[[0, 0], [60, 0], [0, 60]], random_state=0),
    "grid": grid(),
    "duplicates": duplicates(),
}
# Equal rows in great numbers are pieces of their own, and not all of them get a label.
pytestmark = pytest.mark.filterwarnings("ignore::semikpca.exceptions.UnreachableRowsWarning")

every_set = pytest.mark.parametrize("name", SETS)


@cache
def by_definition(name):
    X, _ = SETS[name]
    return neighbor_graph(X, X, X, 8)


def with_labels(truth, per_class=3, seed=0):
    y = np.full(len(truth), -1)
    for c in np.unique(truth):
        rows = np.random.default_rng(seed + c).choice(np.flatnonzero(truth == c), per_class, replace=False)
        y[rows] = c
    return y


def signs(y):
    """Targets, written out: one column for two classes, one for each of more."""
    classes = np.unique(y[y >= 0])
    if len(classes) == 2:
        return np.where(y < 0, 0.0, np.where(y == classes[1], 1.0, -1.0))[:, np.newaxis]
    return np.where(y[:, np.newaxis] < 0, 0.0, np.where(y[:, np.newaxis] == classes, 1.0, -1.0))


# -- the answer --------------------------------------------------------------------------------------------------------


@every_set
@pytest.mark.parametrize("k", [0, 1, 2, 3])
@pytest.mark.filterwarnings("ignore::semikpca.exceptions.DegenerateSpectrumWarning")
def test_decisions_are_those_of_algorithm_1(name, k):
    X, truth = SETS[name]
    y = with_labels(truth)
    model = SemiKPCAClassifier(NeighborGraph(8), n_components_removed=k, error_weight=0.9).fit(X, y)
    assert model.backend_ == "sparse"
    K = by_definition(name)
    removed = model.certificate_.n_components_removed
    expected = semi_kpca_from_the_paper(K, signs(y), removed, model.error_weight_)
    expected[model.unreachable_rows_] = 0
    assert relative_error(model.decision_.reshape(expected.shape), expected) < SAME_TO_ROUNDING
    assert model.error_weight_ < 1 / np.linalg.eigvalsh(K)[-1 - removed]


@every_set
@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiLSSVMClassifier])
def test_old_rows_and_their_copies_get_the_transduction(name, make):
    X, truth = SETS[name]
    model = make("graph").fit(X, with_labels(truth))
    scale = np.abs(model.decision_).max()
    np.testing.assert_allclose(model.decision_function(X), model.decision_, atol=SAME_TO_ROUNDING * scale)
    copies = np.vstack([X[10:30], X[10:30]])
    np.testing.assert_allclose(
        model.decision_function(copies)[20:], model.decision_[10:30], atol=SAME_TO_ROUNDING * scale
    )
    np.testing.assert_array_equal(model.predict(X), model.transduction_)


@every_set
def test_back_ends_change_the_cost_alone(name):
    X, truth = SETS[name]
    y = with_labels(truth)
    found = SemiKPCAClassifier("graph").fit(X, y)
    dense = SemiKPCAClassifier("graph", backend="dense").fit(X, y)
    assert (found.backend_, dense.backend_) == ("sparse", "dense")
    # λ2 is known to 1e-10, and the decisions answer 700 times as strongly.
    assert relative_error(found.decision_, dense.decision_) < 1e-7
    np.testing.assert_array_equal(found.unreachable_rows_, dense.unreachable_rows_)


@pytest.mark.slow  # a graph that is too large for a factor
def test_conjugate_gradients_answer_as_a_factor_would():
    X, truth = make_moons(2_000, noise=0.08, random_state=0)
    y = with_labels(truth)
    iterative = SemiKPCAClassifier(NeighborGraph(8), error_weight=0.9).fit(X, y)
    assert iterative.n_iter_ > 1
    direct = SemiKPCAClassifier(NeighborGraph(8), error_weight=0.9, backend="dense").fit(X, y)
    assert relative_error(iterative.decision_, direct.decision_) < 1e-7


def test_few_labels_are_enough_for_moons():
    X, truth = SETS["moons"]
    model = SemiKPCAClassifier("graph").fit(X, with_labels(truth))
    assert np.mean(model.transduction_ == truth) > 0.99
    new, new_truth = make_moons(200, noise=0.05, random_state=1)
    assert np.mean(model.predict(new) == new_truth) > 0.97


def test_csr_rows_give_what_dense_rows_give():
    X, truth = SETS["grid"]
    y = with_labels(truth)
    dense, csr = (SemiKPCAClassifier("graph").fit(rows, y) for rows in (X, sparse.csr_array(X)))
    assert relative_error(csr.decision_, dense.decision_) < SAME_TO_ROUNDING
    assert relative_error(csr.decision_function(sparse.csr_array(X)), dense.decision_) < SAME_TO_ROUNDING


def test_single_precision_works():
    X, truth = SETS["moons"]
    y = with_labels(truth)
    double, single = (
        SemiKPCAClassifier("graph", error_weight=0.9).fit(X.astype(t), y) for t in (np.float64, np.float32)
    )
    assert single.decision_.dtype == single.decision_function(X.astype(np.float32)).dtype == np.float32
    assert relative_error(single.decision_, double.decision_) < SINGLE


def test_the_rest_of_the_family_takes_graphs():
    X, truth = SETS["moons"]
    classifier = LSSVMClassifier("graph").fit(X, truth)
    assert classifier.score(X, truth) > 0.98
    regressor = LSSVMRegressor("graph", error_weight=100.0).fit(X, X[:, 0])
    assert regressor.score(X, X[:, 0]) > 0.9
    assert Normalized("graph").fit(X)(X).shape == (320, 320)
    for center in (False, True):
        pca = ConvexKernelPCA(3, "graph", center=center)
        projections = pca.fit_transform(X)
        np.testing.assert_allclose(pca.transform(X), projections, atol=1e-7)


# -- labels that change ------------------------------------------------------------------------------------------------


@every_set
def test_labels_added_are_labels_fitted(name):
    X, truth = SETS[name]
    y = with_labels(truth)
    model = SemiKPCAClassifier("graph").fit(X, y)
    rows = np.flatnonzero(y == -1)[[3, 20, 40]]
    changed = y.copy()
    changed[rows] = truth[rows]
    again = SemiKPCAClassifier("graph").fit(X, changed)
    model.add_labels(rows, truth[rows])
    assert relative_error(model.decision_, again.decision_) < SAME_TO_ROUNDING


@every_set
def test_a_label_left_out_is_a_label_not_given(name):
    X, truth = SETS[name]
    y = with_labels(truth)
    left_out = leave_one_label_out(SemiKPCAClassifier("graph").fit(X, y))
    for row, decision, prediction in zip(left_out.rows, left_out.decision, left_out.predictions, strict=True):
        without = y.copy()
        without[row] = -1
        again = SemiKPCAClassifier("graph").fit(X, without)
        np.testing.assert_allclose(
            decision, again.decision_[row], atol=SAME_TO_ROUNDING * np.abs(again.decision_).max()
        )
        assert prediction == again.transduction_[row]


# -- rows out of reach -------------------------------------------------------------------------------------------------

# Four blobs, far apart; two labels of class 0 and one of class 1 in the first two, none in the others.
FAR, BLOB = make_blobs([40, 30, 20, 10], centers=[[0, 0], [60, 0], [0, 60], [60, 60]], random_state=3)
FEW = np.full(100, -1)
FEW[np.flatnonzero(BLOB == 0)[:2]] = 0
FEW[np.flatnonzero(BLOB == 1)[:1]] = 1
OUT = np.flatnonzero(BLOB >= 2)


def fit_far(y=FEW, make=SemiKPCAClassifier, **parameters):
    with pytest.warns(UnreachableRowsWarning):
        return make(NeighborGraph(5), **parameters).fit(FAR, y)


@pytest.mark.parametrize("backend", ["sparse", "dense"])
def test_rows_out_of_reach_say_so(backend):
    with pytest.warns(UnreachableRowsWarning, match=r"30 rows, in 2 pieces.*Label one row of each piece") as caught:
        model = SemiKPCAClassifier(NeighborGraph(5), backend=backend).fit(FAR, FEW)
    warning = caught[0].message
    assert (warning.n_rows, warning.n_components) == (30, 2)
    assert sorted(BLOB[list(warning.rows)]) == [2, 3]
    np.testing.assert_array_equal(model.unreachable_rows_, OUT)


@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiLSSVMClassifier])
@pytest.mark.parametrize("k", [0, 1])
def test_rows_out_of_reach_get_the_shares_of_the_labels(make, k):
    model = fit_far(make=make, **({"n_components_removed": k} if make is SemiKPCAClassifier else {}))
    assert (model.decision_[OUT] == 0).all()
    np.testing.assert_allclose(model.label_distributions_[OUT], [[2 / 3, 1 / 3]] * 30)
    assert (model.transduction_[OUT] == 0).all()
    assert (model.decision_[BLOB < 2] != 0).all()


def test_new_rows_near_pieces_out_of_reach_get_them_too():
    model = fit_far()
    new = np.array([[60.0, 61.0], [0.5, 58.0], [0.5, 0.5], [61.0, 0.0], [200.0, 200.0]])
    np.testing.assert_allclose(model.predict_proba(new)[[0, 1, 4]], [[2 / 3, 1 / 3]] * 3)
    assert model.predict(new).tolist() == [0, 0, 0, 1, 0]
    np.testing.assert_array_equal(model.decision_function(FAR)[OUT], np.zeros(30))


def test_a_given_prior_takes_the_place_of_the_shares():
    model = fit_far(class_prior=[0.3, 0.7])
    np.testing.assert_allclose(model.label_distributions_[OUT], [[0.3, 0.7]] * 30)
    assert (model.transduction_[OUT] == 1).all()


def test_more_than_two_classes_get_shares_as_well():
    y = FEW.copy()
    y[np.flatnonzero(BLOB == 1)[1:3]] = 2
    model = fit_far(y)
    np.testing.assert_allclose(model.label_distributions_[OUT], [[0.4, 0.2, 0.4]] * 30)
    assert (model.transduction_[OUT] == 0).all()


def test_a_label_brings_its_piece_into_reach():
    model = fit_far()
    row = int(np.flatnonzero(BLOB == 2)[0])
    model.add_labels(row, 1)
    y = FEW.copy()
    y[row] = 1
    again = fit_far(y)
    np.testing.assert_array_equal(model.unreachable_rows_, np.flatnonzero(BLOB == 3))
    assert (model.transduction_[BLOB == 2] == 1).all()
    assert relative_error(model.decision_, again.decision_) < SAME_TO_ROUNDING
    model.add_labels(row, -1)
    np.testing.assert_array_equal(model.unreachable_rows_, OUT)


def test_the_only_label_of_a_piece_leaves_it_out_of_reach():
    y = FEW.copy()
    row = int(np.flatnonzero(BLOB == 2)[0])
    y[row] = 1
    model = fit_far(y)
    left_out = leave_one_label_out(model)
    place = np.flatnonzero(left_out.rows == row)[0]
    # Row and the one label of class 1 are alone in their pieces; the two labels of class 0 have each other.
    np.testing.assert_array_equal(left_out.is_out_of_reach, y[left_out.rows] == 1)
    assert left_out.decision[place] == 0
    assert left_out.predictions[place] == 0
    audit = audit_labels(model)
    assert np.isnan(audit.suspicion[audit.rows == row]).all()
    assert np.isfinite(audit.suspicion[y[audit.rows] == 0]).all()


def test_suggestions_go_to_pieces_out_of_reach():
    model = fit_far()
    suggested = suggest_labels(model, 2)
    assert sorted(BLOB[suggested]) == [2, 3]


def test_the_path_of_error_weights_knows_the_reach():
    model = fit_far(error_weight=0.7)
    path = error_weight_path(model, [0.3, 0.7])
    assert (path.decision[:, OUT] == 0).all()
    assert relative_error(path.decision[1], model.decision_) < PATH_ON_A_GRAPH


@pytest.mark.filterwarnings("error")
def test_everything_in_reach_is_no_news():
    y = with_labels(BLOB, per_class=1)
    model = SemiKPCAClassifier(NeighborGraph(5)).fit(FAR, y)
    assert model.unreachable_rows_.size == 0
    np.testing.assert_array_equal(model.transduction_, BLOB)
    assert SemiKPCAClassifier().fit(FAR, FEW).unreachable_rows_.size == 0


def test_without_teleport_the_eigenvalue_of_the_pieces_is_removed_whole():
    with pytest.warns(DegenerateSpectrumWarning, match="4 components in all"):
        SemiKPCAClassifier(NeighborGraph(5, teleport=0)).fit(FAR, with_labels(BLOB, per_class=1))


# -- scikit-learn ------------------------------------------------------------------------------------------------------


def test_neighbors_can_be_searched():
    X, truth = SETS["moons"]
    search = GridSearchCV(LSSVMClassifier("graph"), {"kernel": [NeighborGraph()]}, cv=2)
    search.set_params(estimator=LSSVMClassifier(NeighborGraph()), param_grid={"kernel__n_neighbors": [3, 12]})
    search.fit(X, truth)
    assert search.best_estimator_.kernel_.n_neighbors == search.best_params_["kernel__n_neighbors"]
    assert clone(search.best_estimator_).get_params()["kernel__teleport"] == 1.5e-3


def test_a_pickled_model_answers_as_before():
    X, truth = SETS["moons"]
    model = SemiKPCAClassifier("graph").fit(X, with_labels(truth))
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    rows = np.flatnonzero(model.label_coding_.codes < 0)[:2]
    loaded.add_labels(rows, truth[rows])
    model.add_labels(rows, truth[rows])
    assert relative_error(loaded.decision_, model.decision_) < SAME_TO_ROUNDING


def test_a_large_fit_stays_sparse():
    X, truth = make_blobs(20_000, centers=[[0, 0], [6, 0]], random_state=0)
    model = SemiKPCAClassifier(NeighborGraph(6)).fit(X, with_labels(truth, per_class=30))
    assert not model._fitted.response.operator.facts.can_be_dense
    assert model._fitted.response.operator.nbytes < 1_000 * 20_000
    assert np.mean(model.transduction_ == truth) > 0.98
    np.testing.assert_allclose(
        model.decision_function(X[:50]), model.decision_[:50], atol=SAME_TO_ROUNDING * np.abs(model.decision_).max()
    )
