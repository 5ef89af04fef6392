"""Two halves of the labels, and how well the labelings from each agree: refits from scratch, scikit-learn's kappa."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from blending_oracles import halves, label_response, labelings_of_halves
from oracles import large_rbf
from semikpca import SemiKPCAClassifierCV
from semikpca.blending import NO_COLUMNS, PlainSource
from semikpca.blending._halves import agreement_of_halves, halves_of
from semikpca.kernels import RBF, Linear

GAMMA = 0.1
NOISES = (0.1, 1.0, 10.0)
SAME = 1e-12  # the same labels: kappa is a ratio of counts


def as_lists(found):
    return tuple(half.tolist() for half in found)


# -- halves ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_labels_of_a_class_take_turns_from_the_middle_outwards(rng, n_classes):
    for n_labels in (n_classes, 2 * n_classes, 37):
        codes = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_labels - n_classes)])
        rng.shuffle(codes)
        distances = rng.normal(size=n_labels)
        assert as_lists(halves_of(codes, distances)) == halves(codes.tolist(), distances.tolist())


@pytest.mark.parametrize("counts", [(2, 2), (5, 3), (1, 4), (1, 1, 2), (7, 8, 1)], ids=str)
def test_every_class_is_in_both_halves_and_no_class_is_split_unevenly(rng, counts):
    codes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    one, other = halves_of(codes, rng.normal(size=len(codes)))
    in_one, in_other = (np.bincount(codes[half], minlength=len(counts)) for half in (one, other))
    for count, a, b in zip(counts, in_one, in_other, strict=True):
        assert (a, b) == ((1, 1) if count == 1 else (count - count // 2, count // 2))
    shared = set(one) & set(other)
    assert shared == {int(np.flatnonzero(codes == code)[0]) for code, count in enumerate(counts) if count == 1}
    assert set(one) | set(other) == set(range(len(codes)))
    assert (np.diff(one) > 0).all()
    assert (np.diff(other) > 0).all()


def test_the_order_of_labels_and_the_names_of_classes_do_not_matter(rng):
    codes = rng.integers(3, size=20)
    distances = rng.normal(size=20)
    expected = [set(half.tolist()) for half in halves_of(codes, distances)]
    order = rng.permutation(20)
    assert [set(order[half].tolist()) for half in halves_of(codes[order], distances[order])] == expected
    for names in ([2, 0, 1], [0, 2, 1], [1, 2, 0]):
        assert [set(half.tolist()) for half in halves_of(np.array(names)[codes], distances)] == expected


# -- agreement ---------------------------------------------------------------------------------------------------


def agreement(kernel, X, y, noises=NOISES):
    """What the package says, for a kernel as it is."""
    labeled = np.flatnonzero(y != -1)
    source = PlainSource(kernel.fit(X), X)
    targets = np.eye(y.max() + 1)[y[labeled]]
    return agreement_of_halves(source, NO_COLUMNS.moved(source, labeled), y[labeled], targets, noises)


def kappa_of_refits(K, y, noise, intercept):
    labeled = np.flatnonzero(y != -1)
    one, other = labelings_of_halves(K, labeled, y[labeled], y.max() + 1, noise, intercept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns where both are one class
        found = cohen_kappa_score(one, other, labels=np.arange(y.max() + 1))
    return 0.0 if np.isnan(found) else found


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", [RBF(gamma=GAMMA), Linear()], ids=str)
def test_agreement_is_the_kappa_of_labelings_from_refits(data, kernel, noise, intercept):
    X, y = data
    K = large_rbf(X, X, GAMMA) if isinstance(kernel, RBF) else X @ X.T
    found = agreement(kernel, X, y)
    assert set(found) == {(level, with_it) for level in NOISES for with_it in (False, True)}
    assert found[noise, intercept] == pytest.approx(kappa_of_refits(K, y, noise, intercept), abs=SAME)


def test_agreement_of_a_model_is_that_of_its_label_responses(data):
    X, y = data
    model = SemiKPCAClassifierCV([RBF(gamma=GAMMA)]).fit(X, y)
    K = large_rbf(X, X, GAMMA)
    names = ("n_components_removed", "error_weight", "noise", "intercept", "halves")
    seen = 0
    for k, weight, noise, intercept, found in zip(*(model.results_[name] for name in names), strict=True):
        own = K if k is None else label_response(K, k, weight)
        assert found == pytest.approx(kappa_of_refits(own, y, noise, intercept), abs=SAME)
        seen += found > 0.2
    assert seen > 3, "the halves must have something in common"


def test_labels_alone_in_their_class_are_in_both_halves(five_classes):
    X, y = five_classes
    y = y.copy()
    y[np.flatnonzero(y == 2)[1:]] = -1
    found = agreement(RBF(gamma=GAMMA), X, y)
    for (noise, intercept), kappa in found.items():
        assert kappa == pytest.approx(kappa_of_refits(large_rbf(X, X, GAMMA), y, noise, intercept), abs=SAME)


def test_halves_of_clear_clusters_agree_and_those_of_labels_at_random_do_not(clear_clusters, rng):
    X, cluster = clear_clusters
    y = np.where(np.arange(80) % 5 == 0, cluster, -1)
    assert agreement(RBF(gamma=0.05), X, y)[1.0, False] == 1
    shuffled = y.copy()
    shuffled[y != -1] = rng.permutation(y[y != -1])
    assert agreement(RBF(gamma=0.05), X, shuffled)[1.0, False] < 0.6


def test_a_kernel_that_cannot_tell_the_labels_of_a_half_apart_says_nothing(rng):
    rows = rng.normal(size=(30, 2))
    rows[:4] = 0.0
    y = np.full(30, -1)
    y[:4] = [0, 0, 1, 1]
    assert agreement(RBF(gamma=1.0), rows, y) == {}


# -- when they are asked -----------------------------------------------------------------------------------------


def test_halves_are_zero_where_there_are_none_or_labels_are_many(two_classes, rng):
    X, y = two_classes
    one_each = np.full(60, -1)
    one_each[[np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]]] = [0, 1]
    assert not SemiKPCAClassifierCV().fit(X, one_each).results_["halves"].any()
    many = SemiKPCAClassifierCV().fit(X, y).transduction_.copy()
    rows = [rng.choice(np.flatnonzero(many == code), 10, replace=False) for code in (0, 1)]
    ten_each = np.full(60, -1)
    ten_each[np.concatenate(rows)] = np.repeat([0, 1], 10)
    assert not SemiKPCAClassifierCV().fit(X, ten_each).results_["halves"].any()
    ten_each[rows[0][0]] = -1
    assert SemiKPCAClassifierCV().fit(X, ten_each).results_["halves"].any()
