"""Wrong labels that were planted on purpose must come first."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from sklearn.exceptions import NotFittedError

from oracles import SAME_TO_ROUNDING, relative_error
from semikpca import LSSVMClassifier, SemiKPCAClassifier, SemiKPCAClassifierCV, SemiLSSVMClassifier
from semikpca.kernels import NeighborGraph
from semikpca.labeling import LabelAudit, audit_labels, leave_one_label_out, listed_as_wrong
from semikpca.labeling._audit import wrong_chances

MODELS = [SemiKPCAClassifier, SemiLSSVMClassifier]
SETTLED = 1e-4  # expectation-maximization ends where a step is below 1e-6, and its steps shrink by a factor


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


def test_the_longest_list_of_contradicted_labels_with_few_right_ones_is_listed():
    suspicion = np.array([0.99, 0.95, 0.9, 0.7, 0.6, np.nan])
    contradicted = np.array([True, False, True, True, True, True])
    # Of the contradicted ones 0.01, 0.055, 0.137 and 0.2025 are expected to be right, on the mean of the list so far.
    for rate, listed in ((0.005, []), (0.01, [0]), (0.1, [0, 2]), (0.15, [0, 2, 3]), (0.5, [0, 2, 3, 4])):
        np.testing.assert_array_equal(np.flatnonzero(listed_as_wrong(suspicion, contradicted, rate + 1e-9)), listed)


def naive_penalized_likelihood(right, share, n_classes):
    """Log-likelihood of given labels of which a share is wrong, and of ten labels more of which 5% were."""
    chances = (1 - share) * right + share * (1 - right) / (n_classes - 1)
    return np.log(chances).sum() + 0.5 * np.log(share) + 9.5 * np.log(1 - share)


@pytest.mark.parametrize("share_flipped", [0, 0.15])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_suspicion_is_a_mean_over_powers_each_with_the_likeliest_share_that_scipy_finds(n_classes, share_flipped, rng):
    codes = rng.integers(n_classes, size=60)
    probabilities = rng.dirichlet(np.ones(n_classes), size=60)
    probabilities[np.arange(60), codes] += 1.5
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    flipped = rng.random(60) < share_flipped
    codes = np.where(flipped, (codes + 1) % n_classes, codes)

    powers = np.geomspace(0.5, 8, 9)
    chances, wrong, share = wrong_chances(probabilities, codes, powers, norm.logpdf(np.log(powers), np.log(1.8), 0.2))

    weights, wanted = [], []
    for power in powers:
        surer = probabilities**power / np.sum(probabilities**power, axis=1, keepdims=True)
        right = np.clip(surer[np.arange(60), codes], 1e-6, 1 - 1e-6)
        best = minimize_scalar(
            lambda tried, right=right: -naive_penalized_likelihood(right, tried, n_classes),
            bounds=(1e-6, 1 - 1e-6),
            method="bounded",
            options={"xatol": 1e-10},
        )
        odds = best.x * (1 - right) / (n_classes - 1) / ((1 - best.x) * right)
        weights.append(np.exp(-best.fun) * norm.pdf(np.log(power), np.log(1.8), 0.2))
        wanted.append((surer, odds / (1 + odds), best.x))
    weights = np.array(weights) / np.sum(weights)
    # Shares are settled to about this much, and likelihoods and posteriors with them.
    for found, values in zip((chances, wrong, share), zip(*wanted, strict=True), strict=True):
        np.testing.assert_allclose(found, np.tensordot(weights, np.array(values), axes=1), atol=SETTLED)


@pytest.mark.parametrize("model_class", MODELS)
def test_suspicion_follows_from_the_left_out_decisions(data, model_class):
    X, y = data
    model = model_class().fit(X, y)
    left_out = leave_one_label_out(model)
    beside = model.decision_probabilities(left_out.decision)
    # Of a single classifier nothing is known of how sure it should be.
    _, wrong, share = wrong_chances(beside, left_out.given, np.geomspace(0.1, 100, 40), np.zeros(40))

    audit = audit_labels(model)

    wanted = dict(zip(left_out.rows.tolist(), wrong, strict=True))
    assert relative_error(audit.suspicion, [wanted[row] for row in audit.rows.tolist()]) < SAME_TO_ROUNDING
    assert audit.share_wrong == share


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


def of_suspicions(suspicion, suggested, **options):
    n = len(suspicion)
    return LabelAudit(
        rows=np.arange(n),
        suspicion=np.array(suspicion),
        given=np.full(n, "a"),
        suggested=np.array(suggested),
        suggested_probability=np.full(n, 0.9),
        **options,
    )


def test_labels_look_wrong_as_long_as_few_of_them_are_expected_to_be_right():
    suspicion = [0.99, 0.95, 0.8, 0.8, 0.3, float("nan")]
    suggested = ["b", "a", "b", "b", "b", "b"]
    # Of the first, third and fourth 0.01, 0.21 / 2 and 0.41 / 3 are expected to be right.
    found = {rate: of_suspicions(suspicion, suggested, false_discovery_rate=rate) for rate in (0.005, 0.1, 0.12, 0.14)}
    assert found[0.005].looks_wrong.tolist() == [False] * 6
    assert found[0.1].looks_wrong.tolist() == [True, False, False, False, False, False]
    assert found[0.12].looks_wrong.tolist() == [True, False, True, False, False, False]
    assert found[0.14].looks_wrong.tolist() == [True, False, True, True, False, False]


@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiLSSVMClassifier, SemiKPCAClassifierCV])
def test_flipped_labels_and_no_others_look_wrong_among_clear_clusters(half_labeled, make):
    X, y = half_labeled
    planted = np.array([4, 26, 44, 78])
    flipped = y.copy()
    flipped[planted] = (y[planted] + 1) % 4

    audit = audit_labels(make().fit(X, flipped))

    assert set(audit.rows[audit.looks_wrong].tolist()) == set(planted.tolist())
    assert 0.03 < audit.share_wrong < 0.2  # 4 of 40


@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiLSSVMClassifier, SemiKPCAClassifierCV])
def test_of_two_classes_flipped_labels_come_first_and_no_others_look_wrong(half_labeled, make):
    # Two classes whose labels contradict each other at equal margins may overlap as well: the list may be short.
    X, y = half_labeled
    y = np.where(y == -1, -1, y // 2)
    planted = np.array([4, 26, 44, 78])
    flipped = y.copy()
    flipped[planted] = 1 - y[planted]

    audit = audit_labels(make().fit(X, flipped))

    assert set(audit.rows[:4].tolist()) == set(planted.tolist())
    assert audit.suspicion[3] > 10 * audit.suspicion[4]
    assert not audit.looks_wrong[4:].any()


@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiLSSVMClassifier, SemiKPCAClassifierCV])
def test_no_right_label_of_clear_clusters_looks_wrong(half_labeled, make):
    audit = audit_labels(make().fit(*half_labeled))
    assert not audit.looks_wrong.any()
    assert audit.share_wrong < 0.05


@pytest.mark.filterwarnings("ignore::semikpca.exceptions.SingleClassWarning")
@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiKPCAClassifierCV])
def test_of_one_class_nothing_looks_wrong(two_classes, make):
    X, y = two_classes

    audit = audit_labels(make().fit(X, np.where(y == 0, 0, -1)))

    assert np.isnan(audit.suspicion).all()
    assert not audit.looks_wrong.any()
    assert audit.share_wrong == 0


@pytest.mark.parametrize("make", [SemiKPCAClassifier, SemiKPCAClassifierCV])
def test_of_labels_that_are_all_the_only_ones_of_their_class_nothing_looks_wrong(clear_clusters, make):
    X, _ = clear_clusters
    y = np.full(80, -1)
    y[[0, 20, 40, 60]] = [0, 1, 2, 3]

    audit = audit_labels(make().fit(X, y))

    assert np.isnan(audit.suspicion).all()
    assert not audit.looks_wrong.any()


@pytest.mark.filterwarnings("ignore::semikpca.exceptions.UnreachableRowsWarning")
def test_a_label_that_no_other_reaches_is_not_suspected(clear_clusters):
    X, _ = clear_clusters
    y = np.full(80, -1)
    y[[0, 5, 20, 25, 40]] = [0, 0, 1, 1, 0]

    audit = audit_labels(SemiKPCAClassifier(NeighborGraph(5)).fit(X, y))

    assert audit.rows[-1] == 40
    assert np.isnan(audit.suspicion).tolist() == [False] * 4 + [True]


@pytest.mark.parametrize("rate", [0, 1, -1, float("nan")])
def test_a_false_discovery_rate_outside_0_and_1_is_refused(two_classes, rate):
    with pytest.raises(ValueError, match="false_discovery_rate must lie between 0 and 1"):
        audit_labels(SemiKPCAClassifier().fit(*two_classes), false_discovery_rate=rate)


def test_one_turned_label_of_twenty_is_rather_wrong_than_right(clear_clusters):
    X, cluster = clear_clusters
    y = np.where(np.arange(80) % 20 < 5, cluster, -1)
    y[22] = 3

    audit = audit_labels(SemiKPCAClassifierCV().fit(X, y))

    assert audit.rows[0] == 22
    assert audit.suspicion[0] > 0.5 > audit.suspicion[1]
