"""The classifier that chooses by itself, against naive fits of all its candidates, and what is read off it."""

import copy
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import cohen_kappa_score, mutual_info_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.semi_supervised import LabelSpreading
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from blending_oracles import (
    best_of_views,
    candidate_log_weight,
    counted_within_views,
    label_fit,
    label_response,
    labelings_of_halves,
    left_out_loss,
    neighbor_pairs,
    new_label_response,
    noise_variance,
    refits_without_each_label,
    separation,
    whitened,
    whitened_by_kernel,
)
from oracles import large_rbf, lssvm_from_the_paper, naive_shared_pairs, relative_error
from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.blending import candidate_log_weights
from semikpca.exceptions import (
    DegenerateSpectrumWarning,
    SingleClassWarning,
    UnboundedProblemError,
    UnreachableRowsWarning,
)
from semikpca.kernels import RBF, DefaultKernels, Laplacian, Linear, NeighborGraph, Normalized, OnColumns
from semikpca.labeling import audit_labels, expected_change, leave_one_label_out, suggest_labels

# Candidates solve systems whose condition number is below 1e4, after eigenpairs good to 1e-12 of the largest: two ways
# to the same decisions agree to eight digits.
SAME_TO_ROUNDING = 1e-8
# A float32 row has seven digits, and a decision is a sum of as many terms as there are rows.
SAME_IN_FLOAT32 = 1e-4
# The offsets of a class prior come from an iterative minimization, which stops at a gradient of 1e-5.
MATCHED_SHARES = 1e-4

# A sharpness is matched to a thousandth; probabilities of a few classes move by less than that.
MATCHED_CONFIDENCE = 1e-3

NEIGHBORS = 10  # of the graph on which labelings are judged


@pytest.fixture(params=["two classes", "five classes"])
def data(request):
    return request.getfixturevalue(request.param.replace(" ", "_"))


def one_label_each(truth, seed=0):
    generator = np.random.default_rng(seed)
    y = np.full(len(truth), -1)
    for label in np.unique(truth):
        y[generator.choice(np.flatnonzero(truth == label))] = label
    return y


def fit_quietly(model, X, y):
    """Fit where a warning is not what the test is about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachableRowsWarning)
        return model.fit(X, y)


# -- every candidate, by naive fits ------------------------------------------------------------------------------


class Oracle:
    """All candidates of a model whose kernels are known as dense matrices, each fitted and refitted naively."""

    def __init__(self, model, matrices, crosses, y, squared_distances, components):
        self.codes = np.searchsorted(model.classes_, y[y != -1])
        self.labeled = np.flatnonzero(y != -1)
        n_classes = len(model.classes_)
        targets = np.eye(n_classes)[self.codes]
        pairs = neighbor_pairs(squared_distances, NEIGHBORS)
        self.scores, self.new_scores, self.left_out = [], [], []
        self.agreement, self.separation, self.halves = [], [], []
        for kernel, k, gamma, noise, intercept in zip(
            *(
                model.results_[name]
                for name in ("kernel", "n_components_removed", "error_weight", "noise", "intercept")
            ),
            strict=True,
        ):
            K, cross = matrices[repr(kernel)], crosses[repr(kernel)]
            if k is not None:
                K, cross = label_response(K, k, gamma), new_label_response(K, cross, k, gamma)
            alpha, b = label_fit(K, self.labeled, targets, noise)
            plain = K[:, self.labeled] @ alpha
            centered = plain - plain.mean(axis=0)
            spread = (centered - centered.mean(axis=1, keepdims=True)).std()
            shift = b if intercept else -plain.mean(axis=0)
            refits = refits_without_each_label(K, self.labeled, targets, noise)
            self.scores.append((plain + shift) / spread)
            self.new_scores.append((cross[:, self.labeled] @ alpha + shift) / spread)
            self.left_out.append((refits[0] if intercept else refits[1]) / spread)
            codes = np.argmax(plain + shift, axis=1)
            here, there = [codes[i] for i, _ in pairs], [codes[j] for _, j in pairs]
            most = mutual_info_score(here, here)
            self.agreement.append(mutual_info_score(here, there) / most if most > 0 else 0.0)
            self.separation.append(separation(components, codes, n_classes))
            one, other = labelings_of_halves(K, self.labeled, self.codes, n_classes, noise, intercept)
            self.halves.append(cohen_kappa_score(one, other))

    def blend(self, candidates, weights):
        scores = sum(weight * candidate for weight, candidate in zip(weights, candidates, strict=True))
        return (scores[:, 1] - scores[:, 0]) / 2 if scores.shape[1] == 2 else scores


GAMMA = 0.1
KERNELS = [RBF(gamma=GAMMA), Linear()]


@pytest.fixture
def settings(data):
    """A model with two kernels, two cuts and two error weights, new rows, and its oracle."""
    X, y = data
    new = X[:9] + 0.3

    def fitted(combine):
        model = SemiKPCAClassifierCV(
            KERNELS, ["middle", 0.6], n_components_removed=(0, 1), combine=combine, class_prior=None
        )
        return model.fit(X, y)

    matrices = {repr(KERNELS[0]): large_rbf(X, X, GAMMA), repr(KERNELS[1]): X @ X.T}
    crosses = {repr(KERNELS[0]): large_rbf(new, X, GAMMA), repr(KERNELS[1]): new @ X.T}
    squared_distances = euclidean_distances(X, squared=True)
    return fitted, new, lambda model: Oracle(model, matrices, crosses, y, squared_distances, whitened(X))


def test_candidates_are_all_settings_and_the_plain_kernels(settings):
    fitted, _, _ = settings
    results = pd.DataFrame(fitted("ensemble").results_)
    # Two kernels × (two cuts × two weights, and plain) × (two noise levels with and without intercept, one without).
    assert len(results) == 2 * 5 * 5
    assert {repr(kernel) for kernel in results["kernel"]} == {repr(kernel) for kernel in KERNELS}
    assert results["n_components_removed"].isna().sum() == 2 * 5
    assert results["error_weight"].isna().sum() == 2 * 5
    assert len(results.drop_duplicates(["kernel", "n_components_removed", "error_weight", "noise", "intercept"])) == 50


def test_left_out_labels_are_those_of_refits(settings):
    fitted, _, oracle = settings
    model = fitted("ensemble")
    naive = oracle(model)

    losses = [left_out_loss(scores, naive.codes) for scores in naive.left_out]
    accuracies = [np.mean(scores.argmax(axis=1) == naive.codes) for scores in naive.left_out]

    assert relative_error(model.results_["left_out_loss"], losses) < SAME_TO_ROUNDING
    np.testing.assert_allclose(model.results_["left_out_accuracy"], accuracies)


def test_agreement_is_the_share_that_neighbors_tell_of_each_other(settings):
    fitted, _, oracle = settings
    model = fitted("ensemble")
    np.testing.assert_allclose(model.results_["agreement"], oracle(model).agreement, atol=SAME_TO_ROUNDING)


@pytest.mark.parametrize("combine", ["ensemble", "best"])
def test_decisions_are_the_weighted_sum_of_naive_fits(settings, combine):
    fitted, new, oracle = settings
    model = fitted(combine)
    naive = oracle(model)

    assert relative_error(model.decision_, naive.blend(naive.scores, model.weights_)) < SAME_TO_ROUNDING
    assert (
        relative_error(model.decision_function(new), naive.blend(naive.new_scores, model.weights_)) < SAME_TO_ROUNDING
    )


@pytest.mark.parametrize("combine", ["ensemble", "best"])
def test_left_out_decisions_are_the_weighted_sum_of_naive_refits(settings, combine):
    fitted, _, oracle = settings
    model = fitted(combine)
    naive = oracle(model)

    left_out = leave_one_label_out(model)

    np.testing.assert_array_equal(left_out.rows, naive.labeled)
    assert relative_error(left_out.decision, naive.blend(naive.left_out, model.weights_)) < SAME_TO_ROUNDING


def test_separation_and_halves_are_those_of_naive_labelings(settings):
    fitted, _, oracle = settings
    model = fitted("ensemble")
    naive = oracle(model)
    np.testing.assert_allclose(model.results_["separation"], naive.separation, atol=SAME_TO_ROUNDING)
    np.testing.assert_allclose(model.results_["halves"], naive.halves, atol=SAME_TO_ROUNDING)
    assert np.ptp(naive.separation) > 0.05, "candidates must differ"
    assert np.ptp(naive.halves) > 0.05, "candidates must differ"


def test_weights_follow_from_all_that_is_known_of_naive_fits(settings):
    fitted, _, oracle = settings
    model = fitted("ensemble")
    naive = oracle(model)
    counts = np.bincount(naive.codes).tolist()
    one_view = [0] * len(naive.separation)
    separations, best = counted_within_views(naive.separation, one_view), best_of_views(naive.agreement, one_view)
    log_weights = [
        candidate_log_weight(
            counts,
            losses=left_out_loss(naive.left_out[number], naive.codes),
            agreement=naive.agreement[number],
            best=best[number],
            separation=separations[number],
            halves=naive.halves[number],
            shares=np.bincount(scores.argmax(axis=1), minlength=len(counts)) / len(scores),
            by_labels=model.results_["intercept"][number],
            needs_labels=False,
            from_labeled_alone=model.results_["n_components_removed"][number] is None,
        )
        for number, scores in enumerate(naive.scores)
    ]
    weights = np.exp(np.array(log_weights) - max(log_weights))
    weights[weights < 1e-4] = 0
    np.testing.assert_allclose(model.weights_, weights / weights.sum(), atol=SAME_TO_ROUNDING)


@pytest.mark.parametrize("combine", ["ensemble", "best"])
def test_consensus_is_how_often_naive_candidates_say_what_the_blend_says(settings, combine):
    fitted, _, oracle = settings
    model = fitted(combine)
    naive = oracle(model)
    same = [np.mean(scores.argmax(axis=1) == model.transduction_) for scores in naive.scores]
    assert model.blend_.accuracy.consensus == pytest.approx(model.weights_ @ same, abs=SAME_TO_ROUNDING)


def test_a_given_matrix_is_judged_by_the_neighbors_and_components_in_its_own_distances(data):
    X, y = data
    K, cross = large_rbf(X, X, GAMMA), large_rbf(X[:9] + 0.3, X, GAMMA)
    model = SemiKPCAClassifierCV(["precomputed"], class_prior=None).fit(K, y)
    components = whitened_by_kernel(K)
    naive = Oracle(model, {"Precomputed()": K}, {"Precomputed()": cross}, y, 2 - 2 * K, components)

    np.testing.assert_allclose(model.results_["agreement"], naive.agreement, atol=SAME_TO_ROUNDING)
    np.testing.assert_allclose(model.results_["separation"], naive.separation, atol=SAME_TO_ROUNDING)
    assert relative_error(model.decision_, naive.blend(naive.scores, model.weights_)) < SAME_TO_ROUNDING
    assert relative_error(model.decision_function(cross), naive.blend(naive.new_scores, model.weights_)) < (
        SAME_TO_ROUNDING
    )


def columns_seen_by(kernel):
    """The columns that a kernel of a view is about, None for all of them."""
    view = kernel.kernel_ if isinstance(kernel, Normalized) else kernel
    return tuple(view.columns) if isinstance(view, OnColumns) else None


def test_candidates_whose_kernels_see_the_same_columns_are_of_one_view(data, monkeypatch):
    X, y = data
    seen = []

    def watched(evidence, counts):
        seen.append(evidence)
        return candidate_log_weights(evidence, counts)

    monkeypatch.setattr("semikpca.blending._candidates.candidate_log_weights", watched)
    views = [DefaultKernels(), DefaultKernels([0, 1, 2]), DefaultKernels([5, 6, 7])]
    model = SemiKPCAClassifierCV(views).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    row = np.flatnonzero(y == -1)[0]
    for later in (model.add_labels([row], [0]), loaded.add_labels([row], [0]), model.at_error_weight(0.5)):
        columns = [columns_seen_by(kernel) for kernel in later.results_["kernel"]]
        pairs = set(zip(seen[-1].view.tolist(), columns, strict=True))
        assert len(pairs) == len(set(columns)) == len(set(seen[-1].view.tolist())) == 3
    assert len(seen) == 4


# -- results -----------------------------------------------------------------------------------------------------

COLUMNS = [
    "kernel",
    "n_components_removed",
    "error_weight",
    "noise",
    "intercept",
    "left_out_loss",
    "left_out_accuracy",
    "agreement",
    "separation",
    "halves",
    "weight",
]


@pytest.mark.parametrize("kernels", [None, ["rbf", "graph"]], ids=str)
@pytest.mark.parametrize("combine", ["ensemble", "best"])
def test_results_have_a_row_for_each_candidate_and_weights_sum_to_one(data, kernels, combine):
    X, y = data
    model = SemiKPCAClassifierCV(kernels, combine=combine).fit(X, y)

    table = pd.DataFrame(model.results_)

    assert sorted(table.columns) == sorted(COLUMNS)
    assert len(table) == len(model.weights_) > 10
    assert model.weights_.sum() == pytest.approx(1)
    assert (model.weights_ >= 0).all()
    np.testing.assert_array_equal(table["weight"], model.weights_)
    assert table["left_out_accuracy"].between(0, 1).all()
    assert (table["left_out_loss"] > 0).all()
    best = int(np.argmax(model.weights_))
    for name in COLUMNS:
        assert table[name][best] == model.best_params_[name] or pd.isna(model.best_params_[name])


def test_the_best_candidate_alone_is_the_heaviest_of_the_blend(data):
    X, y = data
    blend, best = (SemiKPCAClassifierCV(combine=combine).fit(X, y) for combine in ("ensemble", "best"))
    heaviest = int(np.argmax(blend.weights_))
    np.testing.assert_array_equal(best.weights_, np.eye(len(blend.weights_))[heaviest])
    assert blend.weights_.max() < 0.99, "one candidate decides, so that this test says nothing"
    for name in set(COLUMNS) - {"weight"}:
        found, wanted = (best.best_params_[name], blend.best_params_[name])
        assert found == wanted or pd.isna(wanted) or repr(found) == repr(wanted)


def test_certificates_belong_to_the_uses_of_semi_kpca(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifierCV(["rbf"], [0.3, 0.6], n_components_removed=(1, 2)).fit(X, y)
    assert [certificate.n_components_removed for certificate in model.certificates_] == [1, 1, 2, 2]
    assert [certificate.relative_weight for certificate in model.certificates_] == pytest.approx([0.3, 0.6, 0.3, 0.6])
    assert model.certificate_ in model.certificates_
    for removed in (1, 2):
        single = SemiKPCAClassifier("rbf", n_components_removed=removed, error_weight=0.3).fit(X, y).certificate_
        found = model.certificates_[2 * removed - 2]
        assert found.error_weight_max == pytest.approx(single.error_weight_max)


def test_the_defaults_are_those_that_are_documented(two_classes):
    X, y = two_classes
    results = pd.DataFrame(SemiKPCAClassifierCV().fit(X, y).results_)
    kernels = results.groupby("kernel", sort=False)["n_components_removed"].first()
    plain, shaped = kernels[kernels.isna()].index, kernels[~kernels.isna()].index
    assert sorted(type(kernel).__name__ for kernel in plain) == ["Laplacian", "Linear", "RBF"]
    assert sorted(type(kernel).__name__ for kernel in shaped) == ["NeighborGraph"] * 3 + ["Normalized"] * 2
    graphs = [(kernel.n_neighbors, kernel.metric) for kernel in shaped if isinstance(kernel, NeighborGraph)]
    assert graphs == [(5, "euclidean"), (7, "euclidean"), (20, "mahalanobis")]


def test_embeddings_have_defaults_of_their_own(rng):
    truth = np.arange(60) % 2
    X = 0.3 + rng.normal(size=(60, 40)) + 2 * rng.normal(size=(2, 40))[truth]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = SemiKPCAClassifierCV().fit(X, one_label_each(truth))
    kernels = list(dict.fromkeys(map(repr, model.results_["kernel"])))
    assert kernels[0].startswith("RBF(")
    assert kernels[1:] == [
        "NeighborGraph()",
        "NeighborGraph(n_neighbors=20)",
        "NeighborGraph(metric='centered cosine', n_neighbors=20)",
    ]
    np.testing.assert_array_equal(model.transduction_, truth)
    assert relative_error(model.decision_function(X.copy()), model.decision_) < SAME_TO_ROUNDING


def test_many_rows_have_no_whole_matrices_by_default(two_classes, monkeypatch):
    X, y = two_classes
    monkeypatch.setattr("semikpca.kernels._defaults.MOST_ROWS_FOR_WHOLE_MATRICES", len(X) - 1)
    kernels = set(SemiKPCAClassifierCV().fit(X, y).results_["kernel"])
    assert not [kernel for kernel in kernels if isinstance(kernel, Normalized)]
    assert len(kernels) == 6


def test_the_back_end_changes_only_the_cost(two_classes):
    X, y = two_classes
    graphs = [NeighborGraph(5), NeighborGraph(9)]
    expected = SemiKPCAClassifierCV(graphs).fit(X, y)
    for backend in ("dense", "sparse"):
        model = SemiKPCAClassifierCV(graphs, backend=backend).fit(X, y)
        assert relative_error(model.decision_, expected.decision_) < SAME_TO_ROUNDING
        np.testing.assert_allclose(model.weights_, expected.weights_, atol=SAME_TO_ROUNDING)
    with pytest.raises(ValueError, match=r"backend='sparse' needs.*Use backend='auto'"):
        SemiKPCAClassifierCV(["rbf"], backend="sparse").fit(X, y)


# -- new rows ----------------------------------------------------------------------------------------------------


def shared_pairs(a, b):
    """A kernel on strings, plus a bit for being the same string so that its rank is high."""
    return naive_shared_pairs(a, b) + float(a == b)


MODELS = {
    "defaults": SemiKPCAClassifierCV(),
    "best": SemiKPCAClassifierCV(combine="best"),
    "graphs only": SemiKPCAClassifierCV([NeighborGraph(4), NeighborGraph(8)]),
    "one graph": SemiKPCAClassifierCV(["graph"], combine="best"),
    "kernels": SemiKPCAClassifierCV(["rbf", Laplacian(), Normalized(RBF()), "cosine"], [0.2, 0.9]),
    "many removed": SemiKPCAClassifierCV(["rbf"], n_components_removed=[0, 2, 5]),
    "class prior": SemiKPCAClassifierCV(class_prior="labeled"),
}
every_model = pytest.mark.parametrize("name", MODELS)


def tolerance_of(name):
    return MATCHED_SHARES if name == "class prior" else SAME_TO_ROUNDING


@every_model
def test_training_rows_and_copies_of_them_get_their_decisions_again(data, name):
    X, y = data
    model = fit_quietly(clone(MODELS[name]), X, y)
    for rows in (X, X.copy(), X.tolist()):
        assert relative_error(model.decision_function(rows), model.decision_) < SAME_TO_ROUNDING
    some = np.array([40, 3, 3, 17])
    assert relative_error(model.decision_function(X[some]), model.decision_[some]) < SAME_TO_ROUNDING
    np.testing.assert_array_equal(model.predict(X), model.transduction_)
    np.testing.assert_allclose(model.predict_proba(X), model.label_distributions_, atol=SAME_TO_ROUNDING)


@pytest.mark.parametrize("name", ["defaults", "graphs only", "kernels"])
def test_sparse_rows_give_what_dense_rows_give(data, name):
    X, y = data
    rows = np.where(np.abs(X) > 0.3, X, 0)
    dense = fit_quietly(clone(MODELS[name]), rows, y)
    model = fit_quietly(clone(MODELS[name]), sparse.csr_array(rows), y)
    assert relative_error(model.decision_function(sparse.csr_array(rows)), model.decision_) < SAME_TO_ROUNDING
    assert relative_error(model.decision_function(rows), model.decision_) < SAME_TO_ROUNDING
    assert relative_error(model.decision_, dense.decision_) < MATCHED_SHARES


@pytest.mark.parametrize("name", ["defaults", "graphs only", "kernels"])
def test_float32_rows_get_their_decisions_again_and_those_of_float64(data, name):
    X, y = data
    narrow = X.astype(np.float32)
    model = fit_quietly(clone(MODELS[name]), narrow, y)
    assert relative_error(model.decision_function(narrow), model.decision_) < SAME_IN_FLOAT32
    wide = fit_quietly(clone(MODELS[name]), narrow.astype(float), y)
    # Left-out losses are differences of decisions, and weights their exponentials: two more digits are lost.
    assert relative_error(model.decision_, wide.decision_) < 100 * SAME_IN_FLOAT32
    np.testing.assert_allclose(model.weights_, wide.weights_, atol=0.01)


def test_a_given_matrix_predicts_from_its_rows(data):
    X, y = data
    K = large_rbf(X, X, GAMMA)
    model = SemiKPCAClassifierCV(["precomputed"]).fit(K, y)
    assert relative_error(model.decision_function(K), model.decision_) < SAME_TO_ROUNDING
    assert relative_error(model.decision_function(K[[5, 2]]), model.decision_[[5, 2]]) < SAME_TO_ROUNDING
    assert model.predict(large_rbf(X[:3] + 0.1, X, GAMMA)).shape == (3,)


def test_a_function_gives_what_its_matrix_gives(data):
    X, y = data

    def gaussian(A, B):
        return large_rbf(A, B, GAMMA)

    by_function = SemiKPCAClassifierCV([gaussian], class_prior=None).fit(X, y)
    by_matrix = SemiKPCAClassifierCV(["precomputed"], class_prior=None).fit(large_rbf(X, X, GAMMA), y)
    assert relative_error(by_function.decision_, by_matrix.decision_) < SAME_TO_ROUNDING
    assert relative_error(by_function.decision_function(X), by_function.decision_) < SAME_TO_ROUNDING
    new = X[:5] + 0.2
    assert relative_error(by_function.decision_function(new), by_matrix.decision_function(gaussian(new, X))) < (
        SAME_TO_ROUNDING
    )


# The two kinds of words are not mirror images of each other: that would make every eigenvalue a double one.
WORDS = ["abcab", "bcabc", "cabca", "abcc", "aabbcc", "cabab", "xyzxy", "yzxyz", "zxyzw", "xyzz", "xxyyzz", "zwxyx"]
WORD_LABELS = [0, -1, -1, 0, -1, -1, 1, -1, -1, -1, 1, -1]


def test_objects_of_any_type_can_be_labeled():
    model = SemiKPCAClassifierCV([shared_pairs]).fit(WORDS, WORD_LABELS)
    assert model.transduction_.tolist() == [0] * 6 + [1] * 6
    assert relative_error(model.decision_function(WORDS), model.decision_) < SAME_TO_ROUNDING
    assert model.predict(["abcabc", "zxyzxy"]).tolist() == [0, 1]
    model.add_labels([1, 7], [0, 1])
    assert relative_error(model.decision_function(list(WORDS)), model.decision_) < SAME_TO_ROUNDING


def test_a_repeated_eigenvalue_is_reported_for_named_kernels_and_not_for_the_defaults(clear_clusters):
    X, cluster = clear_clusters
    y = one_label_each(cluster)
    with pytest.warns(DegenerateSpectrumWarning, match=r"n_components_removed=1 cuts through.*4 components in all"):
        model = fit_quietly(SemiKPCAClassifierCV([NeighborGraph(5, teleport=0.0)]), X, y)
    assert set(model.results_["n_components_removed"]) == {4}
    far_apart = X + 1000.0 * np.eye(4, 2)[cluster]
    assert np.isfinite(SemiKPCAClassifierCV().fit(far_apart, y).decision_).all()


def test_cuts_that_end_up_at_the_same_place_are_one_candidate(clear_clusters):
    X, cluster = clear_clusters
    y = one_label_each(cluster)
    graph = NeighborGraph(5, teleport=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateSpectrumWarning)
        one, several = (
            SemiKPCAClassifierCV([graph], n_components_removed=cuts, class_prior=None).fit(X, y)
            for cuts in ((4,), (1, 2, 4))
        )
    assert len(several.weights_) == len(one.weights_)
    assert relative_error(several.decision_, one.decision_) < SAME_TO_ROUNDING


def test_rows_far_from_all_others_get_finite_answers(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifierCV().fit(X, y)
    assert np.isfinite(model.decision_function(X * 1e6)).all()
    assert np.isfinite(model.predict_proba(X * 1e6)).all()


# -- labels that change ------------------------------------------------------------------------------------------


def assert_same_model(found, wanted, X, tolerance=SAME_TO_ROUNDING):
    np.testing.assert_array_equal(found.label_coding_.codes, wanted.label_coding_.codes)
    np.testing.assert_allclose(found.weights_, wanted.weights_, atol=tolerance)
    assert list(map(repr, found.results_["kernel"])) == list(map(repr, wanted.results_["kernel"]))
    for name in ("noise", "intercept"):
        np.testing.assert_array_equal(found.results_[name], wanted.results_[name])
    for name in ("error_weight", "left_out_loss", "left_out_accuracy", "agreement", "separation", "halves"):
        np.testing.assert_allclose(found.results_[name], wanted.results_[name], rtol=tolerance, atol=tolerance)
    assert repr(found.best_params_["kernel"]) == repr(wanted.best_params_["kernel"])
    for name in ("noise", "intercept"):
        assert found.best_params_[name] == wanted.best_params_[name]
    assert relative_error(found.decision_, wanted.decision_) < tolerance
    assert relative_error(found.label_distributions_, wanted.label_distributions_) < tolerance
    np.testing.assert_array_equal(found.transduction_, wanted.transduction_)
    np.testing.assert_array_equal(found.unreachable_rows_, wanted.unreachable_rows_)
    new = X[:10] + 0.25
    assert relative_error(found.decision_function(new), wanted.decision_function(new)) < tolerance
    assert found.sharpness_ == pytest.approx(wanted.sharpness_, rel=100 * tolerance)  # a minimum, flat at its bottom
    left_out, wanted_left_out = leave_one_label_out(found), leave_one_label_out(wanted)
    np.testing.assert_array_equal(left_out.rows, wanted_left_out.rows)
    assert relative_error(left_out.decision, wanted_left_out.decision) < tolerance
    rows = np.flatnonzero(found.label_coding_.codes == -1)[:3]
    assert relative_error(found.label_response(rows), wanted.label_response(rows)) < tolerance


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


@every_model
def test_labels_added_changed_and_taken_away_equal_a_refit(data, name):
    X, y = data
    rows, labels = changes(y)
    model = fit_quietly(clone(MODELS[name]), X, y)

    assert model.add_labels(rows, labels) is model

    assert_same_model(model, fit_quietly(clone(model), X, changed(y, rows, labels)), X, tolerance_of(name))


def test_one_label_after_the_other_equals_a_refit(data):
    X, y = data
    rows, labels = changes(y)
    model = SemiKPCAClassifierCV().fit(X, y)
    for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
        model.add_labels(row, label)
    assert_same_model(model, SemiKPCAClassifierCV().fit(X, changed(y, rows, labels)), X)


def test_a_label_that_comes_and_goes_leaves_no_trace(data):
    X, y = data
    row = np.flatnonzero(y == -1)[7]
    model = SemiKPCAClassifierCV().fit(X, y).add_labels([row], [1]).add_labels([row], [-1])
    assert_same_model(model, SemiKPCAClassifierCV().fit(X, y), X)


def test_no_rows_change_nothing(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifierCV().fit(X, y)
    before = model.decision_.copy()
    model.add_labels([], [])
    np.testing.assert_array_equal(model.decision_, before)


@every_model
def test_other_labels_for_all_rows_equal_a_refit(data, name):
    X, y = data
    other = np.where(np.arange(len(y)) % 7 == 3, "new", None).astype(object)
    other[y >= 0] = [f"class {code}" for code in y[y >= 0]]
    model = fit_quietly(clone(MODELS[name]), X, y)
    before = vars(model).copy()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (SingleClassWarning, UnreachableRowsWarning))
        moved = model.with_labels(other)

    wanted = fit_quietly(clone(model), X, other)
    np.testing.assert_array_equal(moved.classes_, wanted.classes_)
    assert_same_model(moved, wanted, X, tolerance_of(name))
    assert all(vars(model)[name] is value for name, value in before.items())  # the first model is what it was


def test_labels_of_another_length_are_refused(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifierCV().fit(X, y)
    before = model.decision_.copy()
    with pytest.raises(ValueError, match=f"X has {len(y)} rows and y has {len(y) - 1} entries"):
        model.with_labels(y[:-1])
    np.testing.assert_array_equal(model.decision_, before)


@pytest.mark.parametrize("kernels", [None, ["graph"], [RBF(gamma=0.5), NeighborGraph(4)]], ids=str)
def test_another_error_weight_equals_a_refit(data, kernels):
    X, y = data
    model = SemiKPCAClassifierCV(kernels).fit(X, y)
    middle = model.results_["error_weight"].copy()

    moved = model.at_error_weight(0.9)

    assert (model.error_weights, moved.error_weights) == (None, [0.9])
    assert_same_model(moved, SemiKPCAClassifierCV(kernels, error_weights=[0.9]).fit(X, y), X)
    for same in (model, moved.at_error_weight("middle")):
        np.testing.assert_array_equal(same.results_["error_weight"], middle)


def test_sources_that_differ_by_their_weight_alone_become_one(data):
    X, y = data
    model = SemiKPCAClassifierCV(["rbf"], error_weights=[0.2, 0.5, 0.9], n_components_removed=(0, 1)).fit(X, y)
    model = model.at_error_weight(0.5)
    wanted = SemiKPCAClassifierCV(["rbf"], error_weights=[0.5], n_components_removed=(0, 1)).fit(X, y)
    assert_same_model(model, wanted, X)


def test_a_weight_at_the_bound_leaves_the_model_as_it_was(data):
    X, y = data
    model = SemiKPCAClassifierCV().fit(X, y)
    before, params = model.decision_.copy(), model.get_params()
    with pytest.raises(UnboundedProblemError, match="1 of the bound"):
        model.at_error_weight(1.0)
    np.testing.assert_array_equal(model.decision_, before)
    assert model.get_params() == params
    model.add_labels([], [])


@pytest.mark.parametrize("kernels", [None, ["rbf", "graph"]], ids=str)
def test_a_fit_says_how_far_it_is_to_whoever_asks(data, kernels):
    X, y = data
    said = []
    SemiKPCAClassifierCV(kernels).fit(X, y, progress=lambda *step: said.append(step))
    for step in ("kernels", "labels"):
        numbers = [(done, total) for name, done, total in said if name == step]
        assert numbers[-1][0] == numbers[-1][1] > 1
        assert [done for done, _ in numbers] == sorted(done for done, _ in numbers)
    assert [name for name, *_ in said] == sorted(name for name, *_ in said)  # kernels first, then labels


@pytest.fixture(scope="module")
def large_data():
    """Rows enough that systems are solved by conjugate gradients."""
    generator = np.random.default_rng(11)
    truth = generator.integers(3, size=700)
    truth[:6] = [0, 1, 2, 0, 1, 2]
    X = 1.5 * np.eye(3, 5)[truth] + np.linspace(1.0, 0.5, 5) * generator.standard_normal((700, 5))
    return X, truth


@pytest.mark.parametrize("kernels", [[RBF(gamma=0.1)], [NeighborGraph(7), "rbf"]], ids=str)
def test_large_models_take_labels_as_a_refit_does(large_data, kernels):
    X, truth = large_data
    y = np.where(np.arange(len(truth)) < 6, truth, -1)
    rows = np.arange(40, 45)
    model = SemiKPCAClassifierCV(kernels, class_prior=None).fit(X, y)
    assert relative_error(model.decision_function(X), model.decision_) < SAME_TO_ROUNDING

    model.add_labels(rows, truth[rows])

    assert_same_model(model, clone(model).fit(X, changed(y, rows, truth[rows])), X)


def test_a_solve_that_stops_early_is_reported(large_data):
    X, truth = large_data
    y = np.where(np.arange(len(truth)) < 6, truth, -1)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        SemiKPCAClassifierCV([RBF(gamma=0.1)], max_iter=1).fit(X, y)


# -- class priors ------------------------------------------------------------------------------------------------


def shares_of(model):
    return np.array([np.mean(model.transduction_ == label) for label in model.classes_])


def test_a_prior_of_shares_is_met(data):
    X, y = data
    n_classes = y.max() + 1
    prior = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    model = SemiKPCAClassifierCV(class_prior=prior).fit(X, y)
    # Shares are matched with rows near the edge counted in part, so a few rows may fall on the other side.
    np.testing.assert_allclose(shares_of(model), prior, atol=4 / len(y))
    np.testing.assert_allclose(model.class_shares_, prior)
    assert relative_error(model.decision_function(X), model.decision_) < SAME_TO_ROUNDING


def test_the_prior_of_the_labels_is_their_shares(data):
    X, y = data
    y = y.copy()
    y[np.flatnonzero(y == 1)[1:]] = -1
    counts = np.bincount(y[y != -1])
    by_name, by_numbers = (
        SemiKPCAClassifierCV(class_prior=prior).fit(X, y) for prior in ("labeled", counts / counts.sum())
    )
    assert relative_error(by_name.decision_, by_numbers.decision_) < MATCHED_SHARES


def test_a_prior_moves_decisions_by_one_number_a_class(data):
    X, y = data
    without = SemiKPCAClassifierCV(class_prior=None).fit(X, y)
    for prior in ("labeled", "auto", np.arange(1.0, y.max() + 2)):
        moved = SemiKPCAClassifierCV(class_prior=prior).fit(X, y)
        difference = (moved.decision_ - without.decision_).reshape(len(X), -1)
        np.testing.assert_allclose(difference, difference[:1].repeat(len(X), axis=0), atol=SAME_TO_ROUNDING)
        np.testing.assert_array_equal(moved.weights_, without.weights_)


def test_two_classes_have_no_prior_by_default(two_classes):
    X, y = two_classes
    auto, none = (SemiKPCAClassifierCV(class_prior=prior).fit(X, y) for prior in ("auto", None))
    np.testing.assert_array_equal(auto.decision_, none.decision_)


def test_the_default_prior_draws_shares_of_many_classes_together(five_classes):
    X, y = five_classes
    auto, none = (SemiKPCAClassifierCV(class_prior=prior).fit(X, one_label_each(y)) for prior in ("auto", None))
    assert np.abs(shares_of(auto) - 0.2).max() <= np.abs(shares_of(none) - 0.2).max()


def test_the_default_prior_does_not_cut_through_a_large_cluster(rng):
    # One label each says that classes are equally common; the rows say otherwise, and clearly.
    truth = np.repeat([0, 1, 2], [60, 15, 15])
    X = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]])[truth] + rng.standard_normal((90, 2))
    y = one_label_each(truth)
    np.testing.assert_array_equal(SemiKPCAClassifierCV().fit(X, y).transduction_, truth)
    matched = SemiKPCAClassifierCV(class_prior=[1, 1, 1]).fit(X, y).transduction_
    assert np.mean(matched != truth) > 0.2, "a prior that is given is met whatever it cuts"


@pytest.mark.parametrize("seed", range(4))
def test_the_default_prior_moves_offsets_as_far_as_neighbors_agree_as_well(five_classes, seed):
    X, y = five_classes
    truth = SemiKPCAClassifierCV().fit(X, y).transduction_
    y = one_label_each(truth, seed)
    none, auto = (SemiKPCAClassifierCV(class_prior=prior).fit(X, y) for prior in (None, "auto"))
    pairs = neighbor_pairs(euclidean_distances(X, squared=True), NEIGHBORS)

    def agreement(labels):
        """The information that neighbors have of each other's label, as a share of its largest value."""
        here, there = [labels[i] for i, _ in pairs], [labels[j] for _, j in pairs]
        return mutual_info_score(here, there) / mutual_info_score(here, here)

    assert agreement(auto.transduction_) >= agreement(none.transduction_) - 0.01 - SAME_TO_ROUNDING
    offsets = (auto.decision_ - none.decision_)[0]
    assert offsets.sum() == pytest.approx(0, abs=SAME_TO_ROUNDING)
    if not offsets.any():
        further = 0.25 * prior_offsets_by_bisection(none.decision_)
        assert agreement((none.decision_ + further).argmax(axis=1)) < agreement(none.transduction_) - 0.01


def prior_offsets_by_bisection(scores):
    """Offsets under which rows, each counted in part for classes within a third of the spread, are shared equally."""
    offsets = np.zeros(scores.shape[1])
    softness = scores.std() / 3
    for _ in range(2000):
        powers = np.exp((scores + offsets - (scores + offsets).max(axis=1, keepdims=True)) / softness)
        shares = (powers / powers.sum(axis=1, keepdims=True)).mean(axis=0)
        offsets -= softness * (np.log(shares) - np.log(1 / len(shares)))
    return offsets - offsets.mean()


def test_left_out_decisions_keep_the_offsets(five_classes):
    X, y = five_classes
    without, moved = (SemiKPCAClassifierCV(class_prior=prior).fit(X, y) for prior in (None, [1, 2, 3, 4, 5]))
    offsets = moved.decision_[0] - without.decision_[0]
    rows = np.flatnonzero(y != -1)
    np.testing.assert_allclose(
        moved.left_out_decisions(rows), without.left_out_decisions(rows) + offsets, atol=SAME_TO_ROUNDING
    )


# -- labels ------------------------------------------------------------------------------------------------------


def test_one_label_a_class_is_enough_for_two_clusters(clear_clusters):
    X, cluster = clear_clusters
    rows = cluster < 2
    model = SemiKPCAClassifierCV().fit(X[rows], one_label_each(cluster[rows]))
    np.testing.assert_array_equal(model.transduction_, cluster[rows])
    assert np.isnan(model.results_["left_out_accuracy"]).all()
    assert (model.results_["left_out_loss"] == 0).all()
    assert np.isnan(leave_one_label_out(model).accuracy)
    # All candidates agree with each other and with the neighborhoods: few labels will be wrong, but nobody knows.
    assert 0.9 < model.label_distributions_.max(axis=1).mean() < 0.99


def test_one_label_a_class_is_enough_for_ten_clusters(rng):
    truth = np.repeat(np.arange(10), 12)
    X = 20 * rng.standard_normal((10, 6))[truth] + rng.standard_normal((120, 6))
    model = SemiKPCAClassifierCV().fit(X, one_label_each(truth))
    np.testing.assert_array_equal(model.transduction_, truth)
    assert model.decision_.shape == (120, 10)


@pytest.mark.parametrize("sizes", [(30, 30, 30), (60, 30, 15), (120, 15, 15), (40, 40), (120, 24)], ids=str)
@pytest.mark.parametrize("combine", ["ensemble", "best"])
def test_clear_clusters_of_unequal_sizes_are_found_from_one_label_each(sizes, combine):
    truth = np.repeat(np.arange(len(sizes)), sizes)
    centers = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]])
    for seed in range(2):
        X = centers[truth] + np.random.default_rng(seed).standard_normal((len(truth), 2))
        y = one_label_each(truth, seed)
        nearest = euclidean_distances(X, X[y != -1]).argmin(axis=1)
        np.testing.assert_array_equal(y[y != -1][nearest], truth, "the nearest label is right for all rows")
        found = SemiKPCAClassifierCV(combine=combine).fit(X, y).transduction_
        # Candidates that cut the large cluster keep some weight, which can tip an outlier of the small one.
        assert np.mean(found == truth) > 0.99


@pytest.mark.parametrize("combine", ["ensemble", "best"])
def test_strings_with_none_are_labels(two_classes, combine):
    X, y = two_classes
    names = np.array(["cat", "dog"])
    words = [None if code == -1 else str(names[code]) for code in y]
    model, reference = (SemiKPCAClassifierCV(combine=combine).fit(X, labels) for labels in (words, y))
    assert model.classes_.tolist() == ["cat", "dog"]
    np.testing.assert_array_equal(model.decision_, reference.decision_)
    assert model.transduction_.tolist() == names[reference.transduction_].tolist()
    row, given = np.flatnonzero(y == -1)[0], np.flatnonzero(y == 0)[0]
    model.add_labels([row, given], ["dog", None])
    wanted = SemiKPCAClassifierCV(combine=combine).fit(X, changed(y, [row, given], [1, -1]))
    assert relative_error(model.decision_, wanted.decision_) < SAME_TO_ROUNDING


def test_one_class_is_predicted_everywhere_with_a_warning(two_classes):
    X, y = two_classes
    with pytest.warns(SingleClassWarning, match="Label a row of another class"):
        model = SemiKPCAClassifierCV().fit(X, np.where(y == 1, 1, -1))
    assert set(model.transduction_) == {1}
    np.testing.assert_array_equal(model.predict(X[:4] + 9), np.ones(4))
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))
    assert len(model.weights_) == 0
    assert len(pd.DataFrame(model.results_)) == 0
    assert model.best_params_ == {}
    assert len(suggest_labels(model, 3)) == 3
    leave_one_label_out(model)
    audit_labels(model)
    pickle.loads(pickle.dumps(model)).predict(X)
    model.add_labels([0], [1])


def test_all_rows_may_be_labeled(data):
    X, y = data
    truth = SemiKPCAClassifierCV().fit(X, y).transduction_
    model = SemiKPCAClassifierCV().fit(X, truth)
    assert np.mean(model.transduction_ == truth) > 0.9
    assert len(suggest_labels(model)) == 0
    left_out = leave_one_label_out(model)
    np.testing.assert_array_equal(left_out.rows, np.arange(len(X)))
    assert left_out.accuracy > 0.8


def test_every_row_may_have_a_class_of_its_own(rng):
    X = rng.standard_normal((6, 3))
    model = SemiKPCAClassifierCV().fit(X, np.arange(6))
    np.testing.assert_array_equal(model.transduction_, np.arange(6))
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("rows", [[[0.0], [1.0]], [[0.0, 5.0], [1e-3, 5.0]]], ids=str)
def test_two_rows_are_enough(rows):
    model = SemiKPCAClassifierCV().fit(rows, [0, 1])
    assert model.predict(rows).tolist() == [0, 1]
    assert np.isfinite(model.predict_proba(rows)).all()


# -- symmetries --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["defaults", "graphs only", "kernels"])
def test_rows_in_another_order_get_their_answers_in_that_order(data, name, rng):
    X, y = data
    order = rng.permutation(len(X))
    model, moved = (
        fit_quietly(clone(MODELS[name]).set_params(class_prior=None), X[rows], y[rows])
        for rows in (np.arange(len(X)), order)
    )
    assert relative_error(moved.decision_, model.decision_[order]) < SAME_TO_ROUNDING
    np.testing.assert_allclose(moved.weights_, model.weights_, atol=SAME_TO_ROUNDING)


def test_other_names_of_classes_permute_the_columns(five_classes):
    X, y = five_classes
    names = np.array([3, 0, 4, 1, 2])
    for prior, tolerance in ((None, SAME_TO_ROUNDING), ("auto", MATCHED_SHARES)):
        model, renamed = (
            SemiKPCAClassifierCV(class_prior=prior).fit(X, labels) for labels in (y, np.where(y == -1, -1, names[y]))
        )
        assert relative_error(renamed.decision_[:, names], model.decision_) < tolerance
        np.testing.assert_array_equal(renamed.transduction_, names[model.transduction_])


def test_two_classes_that_change_names_change_the_sign(two_classes):
    X, y = two_classes
    model, swapped = (SemiKPCAClassifierCV().fit(X, labels) for labels in (y, np.where(y == -1, -1, 1 - y)))
    assert relative_error(swapped.decision_, -model.decision_) < SAME_TO_ROUNDING


def test_units_and_origin_of_the_rows_do_not_matter_to_the_defaults(data):
    X, y = data
    expected = SemiKPCAClassifierCV(class_prior=None).fit(X, y).decision_
    for rows in (1e-6 * X, 1e6 * X, X + 100.0):
        found = SemiKPCAClassifierCV(class_prior=None).fit(rows, y).decision_
        # A coordinate near 100 keeps fourteen digits, and its square, in a linear kernel, twelve.
        assert relative_error(found, expected) < SAME_TO_ROUNDING


def test_the_number_of_blas_threads_does_not_matter(large_data):
    X, truth = large_data
    y = np.where(np.arange(len(truth)) < 20, truth, -1)[:120]
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(limits=n_threads, user_api="blas"):
            found.append(SemiKPCAClassifierCV(class_prior=None).fit(X[:120], y).decision_)
    assert relative_error(*found) < SAME_TO_ROUNDING


def test_two_fits_give_the_same_bits(data):
    X, y = data
    first, second = (SemiKPCAClassifierCV().fit(X, y).decision_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


# -- rows that no label reaches ----------------------------------------------------------------------------------


@pytest.fixture
def two_of_four(clear_clusters):
    """Labels in two of four clusters, two of one and one of the other."""
    X, cluster = clear_clusters
    y = np.full(len(X), -1)
    y[[0, 5, 25]] = [0, 0, 1]
    return X, y, cluster


def test_graphs_leave_pieces_without_a_label_at_the_shares(two_of_four):
    X, y, cluster = two_of_four
    with pytest.warns(UnreachableRowsWarning, match="40 rows, in 2 pieces"):
        model = SemiKPCAClassifierCV([NeighborGraph(4), NeighborGraph(6)]).fit(X, y)
    np.testing.assert_array_equal(model.unreachable_rows_, np.flatnonzero(cluster >= 2))
    np.testing.assert_array_equal(model.transduction_[cluster < 2], cluster[cluster < 2])
    np.testing.assert_allclose(model.label_distributions_[cluster >= 2], [[2 / 3, 1 / 3]] * 40)
    near_a_piece = X[cluster >= 2][:3] + 0.01
    np.testing.assert_allclose(model.predict_proba(near_a_piece), [[2 / 3, 1 / 3]] * 3)
    np.testing.assert_array_equal(model.decision_function(near_a_piece), 0)
    assert (model.decision_function(X[cluster < 2] + 0.01) != 0).all()


def test_a_label_of_a_piece_reaches_it(two_of_four):
    X, y, cluster = two_of_four
    model = fit_quietly(SemiKPCAClassifierCV([NeighborGraph(4)]), X, y)
    model.add_labels([50], [1])
    np.testing.assert_array_equal(model.unreachable_rows_, np.flatnonzero(cluster == 3))
    assert (model.transduction_[cluster == 2] == 1).all()
    assert_same_model(model, fit_quietly(clone(model), X, changed(y, [50], [1])), X)


def test_a_row_is_reached_if_one_graph_reaches_it(two_of_four):
    X, y, _ = two_of_four
    wide = np.vstack([X, np.random.default_rng(0).uniform(-3, 14, size=(120, 2))])
    labels = np.concatenate([y, np.full(120, -1)])
    narrow = fit_quietly(SemiKPCAClassifierCV([NeighborGraph(1)]), wide, labels)
    both = fit_quietly(SemiKPCAClassifierCV([NeighborGraph(1), NeighborGraph(12)]), wide, labels)
    reached = fit_quietly(SemiKPCAClassifierCV([NeighborGraph(12)]), wide, labels)
    assert narrow.unreachable_rows_.size > 50
    assert set(both.unreachable_rows_) <= set(reached.unreachable_rows_)
    assert both.unreachable_rows_.size == 0
    assert relative_error(both.decision_function(wide), both.decision_) < SAME_TO_ROUNDING


def test_a_new_row_is_reached_if_one_graph_links_it_with_a_labeled_piece():
    labeled, other = np.linspace(0, 7, 8), np.linspace(16, 23, 8)
    X = np.concatenate([labeled, other])[:, np.newaxis]
    y = np.full(16, -1)
    y[[1, 6]] = [0, 1]
    between = [[13.5]]  # the nearest four rows are of the piece without a label, the fifth is of the other
    narrow, wide = (fit_quietly(SemiKPCAClassifierCV([NeighborGraph(k)]), X, y) for k in (1, 4))
    both = fit_quietly(SemiKPCAClassifierCV([NeighborGraph(1), NeighborGraph(4)]), X, y)
    assert both.unreachable_rows_.tolist() == list(range(8, 16))
    assert narrow.decision_function(between)[0] == 0
    assert wide.decision_function(between)[0] > 0
    assert both.decision_function(between)[0] > 0


def test_a_prior_is_about_the_rows_that_labels_reach(two_of_four):
    X, y, cluster = two_of_four
    prior = np.array([0.25, 0.75])
    model = fit_quietly(SemiKPCAClassifierCV([NeighborGraph(4)], class_prior=prior), X, y)
    reached = model.transduction_[cluster < 2]
    # Rows near the edge are counted in part, so a few of forty may fall on the other side.
    np.testing.assert_allclose(np.bincount(reached) / 40, prior, atol=0.1)
    np.testing.assert_allclose(model.label_distributions_[cluster >= 2], [prior] * 40)


def test_a_kernel_that_links_all_rows_joins_the_pieces_of_a_graph():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [50.0, 0.0], [51.0, 0.0]])
    y = [0, 1, -1, -1]
    assert fit_quietly(SemiKPCAClassifierCV([NeighborGraph(1)]), X, y).unreachable_rows_.tolist() == [2, 3]
    assert SemiKPCAClassifierCV([NeighborGraph(1), "rbf"]).fit(X, y).unreachable_rows_.size == 0


def test_the_defaults_reach_all_rows(two_of_four):
    X, y, cluster = two_of_four
    model = SemiKPCAClassifierCV().fit(X, y)
    assert model.unreachable_rows_.size == 0
    assert (model.decision_ != 0).all()
    np.testing.assert_array_equal(model.transduction_[cluster < 2], cluster[cluster < 2])


def test_a_label_alone_in_its_piece_has_no_left_out_decision(two_of_four):
    X, y, _ = two_of_four
    model = fit_quietly(SemiKPCAClassifierCV([NeighborGraph(4)]), X, y)
    left_out = leave_one_label_out(model)
    assert left_out.is_out_of_reach.tolist() == [False, False, True]
    assert left_out.decision[2] == 0
    assert left_out.predictions.tolist() == [0, 0, 0]
    assert (left_out.decision[:2] < 0).all()


# -- what is read off the labels ---------------------------------------------------------------------------------


def test_an_audit_finds_a_label_that_was_turned(clear_clusters):
    X, cluster = clear_clusters
    y = np.full(len(X), -1)
    given = np.concatenate([np.arange(start, start + 5) for start in (0, 20, 40, 60)])
    y[given] = cluster[given]
    y[22] = 3
    for combine in ("ensemble", "best"):
        audit = audit_labels(SemiKPCAClassifierCV(combine=combine).fit(X, y))
        assert audit.rows[0] == 22
        assert (audit.given[0], audit.suggested[0]) == (3, 1)
        assert audit.suspicion[0] > 10 * audit.suspicion[1]
        assert sorted(audit.rows) == given.tolist()


def test_labels_of_clear_clusters_are_found_again(clear_clusters):
    X, cluster = clear_clusters
    y = np.where(np.arange(len(X)) % 7 == 0, cluster, -1)
    left_out = leave_one_label_out(SemiKPCAClassifierCV().fit(X, y))
    assert left_out.accuracy == 1
    np.testing.assert_array_equal(left_out.given, cluster[left_out.rows])


@pytest.mark.parametrize("combine", ["ensemble", "best"])
def test_suggestions_are_distinct_rows_without_a_label(data, combine):
    X, y = data
    model = SemiKPCAClassifierCV(combine=combine).fit(X, y)
    before = model.decision_.copy()
    rows = suggest_labels(model, 12)
    assert len(set(rows.tolist())) == 12
    assert (y[rows] == -1).all()
    np.testing.assert_array_equal(suggest_labels(model, 12), rows)
    np.testing.assert_array_equal(model.decision_, before)
    assert len(suggest_labels(model, 1000)) == np.sum(y == -1)


def test_the_expected_change_is_largest_where_no_label_is_near(clear_clusters):
    X, cluster = clear_clusters
    y = np.full(len(X), -1)
    y[[0, 1, 25, 26, 45, 46]] = [0, 0, 1, 1, 2, 2]
    change = expected_change(SemiKPCAClassifierCV().fit(X, y), np.flatnonzero(y == -1))
    by_cluster = [change[cluster[y == -1] == number].mean() for number in range(4)]
    assert np.argmax(by_cluster) == 3


def test_a_target_moves_its_own_row_most_and_its_cluster_more_than_others(clear_clusters):
    X, cluster = clear_clusters
    y = np.where(np.arange(len(X)) % 9 == 0, cluster, -1)
    model = SemiKPCAClassifierCV().fit(X, y)
    rows = np.array([2, 33, 47, 70])
    response = model.label_response(rows)
    assert response.shape == (len(X), 4)
    for column, row in enumerate(rows):
        assert response[row, column] > 0
        own = np.abs(response[cluster == cluster[row], column]).mean()
        assert own > np.abs(response[cluster != cluster[row], column]).mean()
    single = np.column_stack([model.label_response([row])[:, 0] for row in rows])
    assert relative_error(single, response) < SAME_TO_ROUNDING


def response_of_one_candidate(X, y, number, rows):
    """The response of a model in which one candidate has all the weight."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "semikpca.blending._candidates.normalized_weights", lambda log_weights: np.eye(len(log_weights))[number]
        )
        model = SemiKPCAClassifierCV([RBF(gamma=GAMMA)], class_prior=None).fit(X, y)
    assert model.weights_[number] == 1
    return model.label_response(rows)


@pytest.mark.parametrize(("noise", "intercept"), [(0.1, True), (0.1, False), (1.0, True), (1.0, False), (10.0, False)])
@pytest.mark.parametrize("k", [1, None])
def test_a_target_moves_decisions_exactly_as_a_label_would(data, k, noise, intercept):
    X, y = data
    model = SemiKPCAClassifierCV([RBF(gamma=GAMMA)], class_prior=None).fit(X, y)
    settings = (model.results_[name].tolist() for name in ("n_components_removed", "noise", "intercept"))
    number = list(zip(*settings, strict=True)).index((k, noise, intercept))
    K = large_rbf(X, X, GAMMA)
    if k is not None:
        K = label_response(K, k, model.results_["error_weight"][number])
    rows = np.flatnonzero(y == -1)[[0, 7, 20]]
    labeled, n_classes = np.flatnonzero(y != -1), y.max() + 1
    variance = noise_variance(K, labeled, noise)
    expected = []
    for row in rows:
        code = int(row) % n_classes
        moved = []
        for at, codes in ((labeled, y[labeled]), (np.append(labeled, row), np.append(y[labeled], code))):
            alpha, b = lssvm_from_the_paper(K[np.ix_(at, at)], np.eye(n_classes)[codes], 1 / variance, True)
            plain = K[:, at] @ alpha
            moved.append((plain + b, plain + b if intercept else plain - plain.mean(axis=0), plain))
        (f, before, plain), (_, after, _) = moved
        centered = plain - plain.mean(axis=0)
        spread = (centered - centered.mean(axis=1, keepdims=True)).std()
        # A label moves scores by what it says beyond what is known there; half of that is a unit of a signed target.
        surprise = np.eye(n_classes)[code] - f[row]
        expected.append((after - before)[:, code] / surprise[code] / spread / 2)

    found = response_of_one_candidate(X, y, number, rows)

    assert relative_error(found, np.column_stack(expected)) < SAME_TO_ROUNDING


def test_asking_for_a_response_leaves_the_model_alone(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifierCV().fit(X, y)
    before, proba = model.decision_function(X), model.predict_proba(X)
    model.label_response(np.arange(20))
    np.testing.assert_array_equal(model.decision_function(X), before)
    np.testing.assert_array_equal(model.predict_proba(X), proba)


def test_a_row_without_a_label_has_none_to_leave_out(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifierCV().fit(X, y)
    labeled, unlabeled = np.flatnonzero(y != -1)[0], np.flatnonzero(y == -1)[5]
    with pytest.raises(ValueError, match=f"Row {unlabeled} has no label.*ask for labeled rows"):
        model.left_out_decisions([labeled, unlabeled])
    assert model.left_out_decisions([]).shape == (0, 1)


def test_left_out_decisions_come_in_the_order_that_was_asked_for(data):
    X, y = data
    model = SemiKPCAClassifierCV().fit(X, y)
    rows = np.flatnonzero(y != -1)
    np.testing.assert_array_equal(model.left_out_decisions(rows[::-2]), model.left_out_decisions(rows)[::-2])


def test_probabilities_sum_to_one_and_are_higher_where_the_label_is_right(five_classes):
    X, y = five_classes
    generator = np.random.default_rng(2)  # as the fixture draws its rows
    truth = np.arange(75) % 5
    generator.shuffle(truth)
    assert (truth[y != -1] == y[y != -1]).all()
    model = SemiKPCAClassifierCV().fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    highest, right = probabilities.max(axis=1), model.predict(X) == truth
    assert 3 <= (~right).sum() <= 30, "the test needs some of both"
    assert highest[right].mean() > highest[~right].mean() + 0.05


@every_model
def test_probabilities_are_as_high_on_the_mean_as_labels_are_expected_to_be_right(data, name):
    X, y = data
    model = fit_quietly(clone(MODELS[name]), X, y)
    reached = np.setdiff1d(np.arange(len(X)), model.unreachable_rows_)
    confidence = model.label_distributions_[reached].max(axis=1).mean()
    assert confidence == pytest.approx(model.blend_.accuracy.expected_accuracy, abs=MATCHED_CONFIDENCE)
    np.testing.assert_array_equal(model.classes_[model.label_distributions_.argmax(axis=1)], model.transduction_)
    new = X + 0.2
    np.testing.assert_array_equal(model.classes_[model.predict_proba(new).argmax(axis=1)], model.predict(new))


@pytest.mark.parametrize("n_each", [1, 2, 5])
@pytest.mark.parametrize("spread", [0.5, 2.0])
def test_confidence_is_about_as_high_as_accuracy_however_few_the_labels_are(n_each, spread):
    differences = []
    for seed in range(8):
        generator = np.random.default_rng(seed)
        truth = np.arange(120) % 3
        X = 3 * np.eye(3, 5)[truth] + spread * generator.normal(size=(120, 5))
        y = np.full(120, -1)
        for code in range(3):
            y[generator.choice(np.flatnonzero(truth == code), n_each, replace=False)] = code
        model = SemiKPCAClassifierCV().fit(X, y)
        right = model.transduction_[y == -1] == truth[y == -1]
        differences.append(model.label_distributions_[y == -1].max(axis=1).mean() - right.mean())
    # Over many sets a draw is off by 0.11 on the mean with one label a class (decision 0028), on one set by twice that.
    assert abs(np.mean(differences)) < 0.22


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_one_label_a_class_gives_probabilities_between_a_guess_and_certainty(n_classes, rng):
    truth = np.arange(150) % n_classes
    noise = rng.normal(size=(150, 5))
    clear = 30 * rng.normal(size=(n_classes, 5))[truth] + noise
    y = one_label_each(truth)
    confidences = [SemiKPCAClassifierCV().fit(X, y).label_distributions_.max(axis=1).mean() for X in (noise, clear)]
    assert 1 / n_classes < confidences[0] < 0.75 < 0.9 < confidences[1] < 1


def test_rows_out_of_reach_do_not_make_the_others_surer(two_of_four):
    X, y, cluster = two_of_four
    near = cluster < 2
    model = fit_quietly(SemiKPCAClassifierCV([NeighborGraph(4)]), X, y)
    assert model.label_distributions_[near].max(axis=1).mean() == pytest.approx(
        model.blend_.accuracy.expected_accuracy, abs=MATCHED_CONFIDENCE
    )
    np.testing.assert_allclose(model.label_distributions_[~near].max(axis=1), 2 / 3)


# -- pickles and copies ------------------------------------------------------------------------------------------


@every_model
def test_a_loaded_model_answers_and_goes_on_learning(data, name):
    X, y = data
    rows, labels = changes(y)
    model = fit_quietly(clone(MODELS[name]), X, y)
    unlabeled = np.flatnonzero(y == -1)[:4]
    response, answers = model.label_response(unlabeled), model.decision_function(X + 0.1)
    for loaded in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert relative_error(loaded.decision_function(X + 0.1), answers) < SAME_TO_ROUNDING
        assert relative_error(loaded.predict_proba(X), model.predict_proba(X)) < SAME_TO_ROUNDING
        assert relative_error(loaded.label_response(unlabeled), response) < SAME_TO_ROUNDING
        wanted = fit_quietly(clone(model), X, changed(y, rows, labels))
        assert_same_model(loaded.add_labels(rows, labels), wanted, X, tolerance_of(name))
    assert relative_error(model.decision_function(X + 0.1), answers) < SAME_TO_ROUNDING


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_that_goes_on_learning_leaves_the_original_alone(two_classes, duplicate):
    X, y = two_classes
    rows, labels = changes(y)
    model = SemiKPCAClassifierCV().fit(X, y)
    unlabeled = np.flatnonzero(y == -1)[:3]
    before, proba, response = model.decision_function(X), model.predict_proba(X), model.label_response(unlabeled)
    duplicate(model).add_labels(rows, labels)
    np.testing.assert_array_equal(model.decision_function(X), before)
    np.testing.assert_array_equal(model.predict_proba(X), proba)
    assert relative_error(model.label_response(unlabeled), response) < SAME_TO_ROUNDING


def test_a_pickle_is_far_smaller_than_the_kernel_matrices(large_data):
    X, truth = large_data
    model = SemiKPCAClassifierCV().fit(X, np.where(np.arange(len(truth)) < 60, truth, -1))
    fresh = len(pickle.dumps(model))
    model.label_response(np.arange(100, 200))
    # Two whole kernels would be 16 n² bytes; three sparse graphs are a few hundred bytes a row.
    assert fresh < 2 * len(X) ** 2 * 8 / 8
    assert len(pickle.dumps(model)) == fresh


# -- scikit-learn ------------------------------------------------------------------------------------------------


def test_parameters_are_read_set_and_cloned(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifierCV([RBF(gamma=0.3), "graph"], [0.5], n_components_removed=(1, 2), combine="best")
    twin = clone(fit_quietly(model, X, y))
    assert repr(twin) == repr(model)
    assert twin.kernels[0] is not model.kernels[0]
    assert not hasattr(model.kernels[0], "gamma_")
    assert not [name for name in vars(twin) if name.endswith("_") and not name.startswith("_")]
    assert twin.set_params(combine="ensemble", class_prior=None).get_params()["combine"] == "ensemble"
    assert repr(SemiKPCAClassifierCV()) == "SemiKPCAClassifierCV()"
    with pytest.raises(ValueError, match=r"Invalid parameter 'gamma'.*combine"):
        model.set_params(gamma=0.3)


def test_the_way_to_combine_can_be_searched(two_classes, clear_clusters):
    X, cluster = clear_clusters
    search = GridSearchCV(
        SemiKPCAClassifierCV(),
        {"combine": ["ensemble", "best"]},
        scoring="accuracy",
        cv=KFold(3, shuffle=True, random_state=0),
        error_score="raise",
    ).fit(X, cluster)
    assert search.best_score_ == 1
    X, y = two_classes
    search = GridSearchCV(SemiKPCAClassifierCV(), {"class_prior": [None, "labeled"]}, cv=KFold(3), error_score="raise")
    assert search.fit(X, y).best_score_ > 0.5


def test_lists_of_kernels_can_be_searched(clear_clusters):
    X, cluster = clear_clusters
    grid = {"kernels": [None, ["rbf", "graph"], [RBF(gamma=0.1)]]}
    search = GridSearchCV(SemiKPCAClassifierCV(), grid, cv=KFold(2, shuffle=True, random_state=0), error_score="raise")
    assert search.fit(X, cluster).best_score_ == 1


def test_tags_say_what_the_kernels_take():
    assert get_tags(SemiKPCAClassifierCV()).input_tags.sparse
    assert not get_tags(SemiKPCAClassifierCV()).input_tags.pairwise
    assert get_tags(SemiKPCAClassifierCV(["precomputed"])).input_tags.pairwise
    assert not get_tags(SemiKPCAClassifierCV(["precomputed"])).input_tags.sparse


@pytest.mark.parametrize("kernels", ["rbf", [], 3, RBF(), ["rfb"], None, np.array(["rbf", "graph"])], ids=str)
def test_wrong_kernels_do_not_break_the_tags(kernels):
    get_tags(SemiKPCAClassifierCV(kernels))


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.predict([[0.0]]),
        lambda model: model.decision_function([[0.0]]),
        lambda model: model.predict_proba([[0.0]]),
        lambda model: model.score([[0.0]], [0]),
        lambda model: model.label_response([0]),
        lambda model: model.left_out_decisions([0]),
        lambda model: model.add_labels([0], [1]),
        lambda model: model.label_distributions_,
        lambda model: leave_one_label_out(model),
        lambda model: suggest_labels(model),
    ],
)
def test_a_model_that_was_not_fitted_says_so(ask):
    with pytest.raises(NotFittedError, match=r"not fitted yet.*fit"):
        ask(SemiKPCAClassifierCV())


def test_what_the_model_chose_is_logged_on_demand(two_classes, caplog):
    X, y = two_classes
    with caplog.at_level("INFO", logger="semikpca"):
        model = SemiKPCAClassifierCV(verbose=1).fit(X, y)
    assert f"{len(model.weights_)} candidates" in caplog.text
    assert repr(model.best_params_["kernel"]) in caplog.text


# -- refusals ----------------------------------------------------------------------------------------------------


def number_of_shared_letters(a, b):
    return float(len(set(a) & set(b)))


REFUSED = {
    "combine": ({"combine": "blend"}, ["combine", "'blend'", "'ensemble'", "'best'"]),
    "a name alone": ({"kernels": "rbf"}, ["kernels", "'rbf'", "list"]),
    "a kernel alone": ({"kernels": RBF(gamma=2.0)}, ["kernels", "RBF(gamma=2.0)", "list"]),
    "a number": ({"kernels": 3}, ["kernels", "3", "list"]),
    "no kernels": ({"kernels": []}, ["kernels", "[]", "list"]),
    "an unknown name": ({"kernels": ["rbf", "rfb"]}, ["kernel", "'rfb'", "such as RBF()"]),
    "a class": ({"kernels": [RBF]}, ["kernel", "RBF()"]),
    "a weight at the bound without kernels": ({"error_weights": [1.0]}, ["error_weight", "1 of the bound", "below"]),
    "one cut without kernels": ({"n_components_removed": 2}, ["n_components_removed", "2"]),
    "a weight alone": ({"kernels": ["rbf"], "error_weights": 0.5}, ["error_weights", "0.5", "list"]),
    "the word middle alone": ({"kernels": ["rbf"], "error_weights": "middle"}, ["error_weights", "'middle'", "list"]),
    "no weights": ({"kernels": ["rbf"], "error_weights": []}, ["error_weights", "[]", "list"]),
    "another word": ({"kernels": ["rbf"], "error_weights": ["center"]}, ["error_weight", "'center'", "middle"]),
    "no weight": ({"kernels": ["rbf"], "error_weights": [0.5, 0]}, ["error_weight", "positive"]),
    "a cut alone": ({"kernels": ["rbf"], "n_components_removed": 1}, ["n_components_removed", "1", "list"]),
    "no cuts": ({"kernels": ["rbf"], "n_components_removed": ()}, ["n_components_removed", "()", "list"]),
    "None for cuts": ({"kernels": ["rbf"], "n_components_removed": None}, ["n_components_removed", "None", "list"]),
    "half a cut": ({"kernels": ["rbf"], "n_components_removed": [1, 1.5]}, ["n_components_removed", "1.5", "whole"]),
    "a negative cut": ({"kernels": ["rbf"], "n_components_removed": [-1]}, ["n_components_removed", "-1", "0 or more"]),
    "too many cuts": ({"kernels": ["rbf"], "n_components_removed": [60]}, ["n_components_removed=60", "at most 59"]),
    "mixed rows": ({"kernels": ["rbf", "precomputed"]}, ["kind of rows", "matrix", "vectors"]),
    "vectors and objects": ({"kernels": [number_of_shared_letters, "rbf"]}, ["kind of rows", "objects", "vectors"]),
    "tolerance": ({"tol": 0}, ["tol", "0", "positive"]),
    "iterations": ({"max_iter": 0}, ["max_iter", "0", "1 or more"]),
    "back end": ({"backend": "gpu"}, ["backend", "'gpu'", "'dense'"]),
    "a prior by another name": ({"class_prior": "labelled"}, ["class_prior", "'labelled'", "'labeled'", "'auto'"]),
    "a prior of three": ({"class_prior": [0.2, 0.3, 0.5]}, ["class_prior", "[0.2, 0.3, 0.5]", "2 classes"]),
    "a share of zero": ({"class_prior": [0.0, 1.0]}, ["class_prior", "[0.0, 1.0]", "positive"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_value_and_what_is_allowed(two_classes, name):
    X, y = two_classes
    parameters, words = REFUSED[name]
    with pytest.raises(ValueError) as caught:  # noqa: PT011  (the words are checked below)
        SemiKPCAClassifierCV(**parameters).fit(X, y)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("weight", [1, 1.0, 1.75])
def test_a_weight_at_or_above_the_bound_is_refused_with_a_remedy(two_classes, weight):
    X, y = two_classes
    with pytest.raises(UnboundedProblemError, match=f"{weight:g} of the bound.*must stay below.*Lower error_weight"):
        SemiKPCAClassifierCV(["rbf"], ["middle", weight]).fit(X, y)


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_fit_leaves_an_earlier_one_as_it_was(two_classes, name):
    X, y = two_classes
    model = SemiKPCAClassifierCV(["rbf", "linear"]).fit(X, y)
    before, decision, codes = model.predict_proba(X), model.decision_.copy(), model.label_coding_.codes.copy()
    fresh = SemiKPCAClassifierCV(**REFUSED[name][0])
    model.set_params(**fresh.get_params(deep=False))
    for estimator in (model, fresh):
        with pytest.raises(ValueError):  # noqa: PT011  (the test above has the words)
            estimator.fit(X[::-1] + 1, np.where(y == -1, -1, 1 - y))
    np.testing.assert_array_equal(model.decision_, decision)
    np.testing.assert_array_equal(model.label_coding_.codes, codes)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    with pytest.raises(NotFittedError):
        fresh.predict(X)


@pytest.mark.parametrize("prior", ["labelled", [0.5, 0.5]], ids=str)
@pytest.mark.filterwarnings("ignore::semikpca.exceptions.SingleClassWarning")
def test_a_wrong_prior_is_refused_with_one_class_too(two_classes, prior):
    X, y = two_classes
    with pytest.raises(ValueError, match="class_prior"):
        SemiKPCAClassifierCV(class_prior=prior).fit(X, np.where(y == 1, 1, -1))


# -- rows that say little ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 1.0, 1 / 3, 1e6])
def test_equal_rows_are_refused_by_that_name(two_classes, value):
    X, y = two_classes
    with pytest.raises(ValueError, match=r"rows of X are all equal.*other features"):
        SemiKPCAClassifierCV().fit(np.full(X.shape, value), y)


@pytest.mark.parametrize("n_equal", [35, 50, 59])
def test_many_equal_rows_leave_out_what_takes_its_scale_from_distances(two_classes, n_equal):
    X, _ = two_classes
    rows = np.vstack([np.zeros((n_equal, X.shape[1])), X[: 60 - n_equal] + 5])
    labels = np.full(60, -1)
    labels[[0, 1, 59]] = [0, 0, 1]
    model = SemiKPCAClassifierCV().fit(rows, labels)
    assert np.isfinite(model.decision_).all()
    np.testing.assert_allclose(model.decision_[:n_equal], model.decision_[0], atol=SAME_TO_ROUNDING)
    assert (model.transduction_[:n_equal] == 0).all()
    assert model.transduction_[59] == 1
    assert relative_error(model.decision_function(rows), model.decision_) < SAME_TO_ROUNDING


def test_labels_on_equal_rows_alone_get_finite_answers(two_classes):
    X, _ = two_classes
    rows = np.vstack([np.full((6, X.shape[1]), 0.1), X])
    y = np.concatenate([[0, 0, 0, 1, 1, 1], np.full(len(X), -1)])
    model = SemiKPCAClassifierCV().fit(rows, y)
    assert np.isfinite(model.decision_).all()
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    # Nothing speaks for either class anywhere: what is left is rounding, or exactly nothing.
    assert np.abs(model.label_distributions_ - 0.5).max() < 0.2


def test_duplicate_rows_with_the_same_labels_get_equal_answers(data):
    X, y = data
    model = SemiKPCAClassifierCV(class_prior=None).fit(np.vstack([X, X]), np.concatenate([y, y]))
    first, second = np.split(model.decision_, 2)
    assert relative_error(first, second) < SAME_TO_ROUNDING


def test_constant_columns_change_nothing(two_classes):
    X, y = two_classes
    expected = SemiKPCAClassifierCV().fit(X, y).decision_
    assert relative_error(SemiKPCAClassifierCV().fit(np.insert(X, 1, 7.0, axis=1), y).decision_, expected) < (
        SAME_TO_ROUNDING
    )


@pytest.mark.parametrize(
    ("dtype", "factor"),
    [
        (np.float64, 1e-150),
        (np.float64, 1e-158),
        (np.float64, 1e-161),
        (np.float64, 1e-165),
        (np.float64, 1e150),
        (np.float64, 5e153),
        (np.float64, 1e200),
        (np.float32, 1e-15),
        (np.float32, 1e-20),
        (np.float32, 1e-25),
        (np.float32, 1e15),
        (np.float32, 1e18),
    ],
)
def test_rows_in_extreme_units_get_finite_answers_or_advice(two_classes, dtype, factor):
    X, y = two_classes
    rows = (X * factor).astype(dtype)
    refused = None
    try:
        model = SemiKPCAClassifierCV().fit(rows, y)
    except ValueError as error:
        refused = str(error)
    if refused is not None:
        assert re.search(r"[Ss]cale the features|all equal", refused), refused
    else:
        assert np.isfinite(model.decision_).all()
        assert np.isfinite(model.decision_function(rows)).all()


# -- accuracy ----------------------------------------------------------------------------------------------------


def test_digits_from_one_label_each_are_at_least_as_good_as_label_spreading():
    digits, truth = load_digits(return_X_y=True)
    digits, truth = digits[:500] / 16, truth[:500]
    y = one_label_each(truth, seed=3)
    accuracies = {}
    for name, model in {
        "this": SemiKPCAClassifierCV(),
        "rbf": LabelSpreading(),
        "knn": LabelSpreading(kernel="knn"),
    }.items():
        model.fit(digits, y)
        accuracies[name] = np.mean(model.transduction_[y == -1] == truth[y == -1])
    assert accuracies["this"] >= max(accuracies["rbf"], accuracies["knn"]), accuracies
    assert accuracies["this"] > 0.75
