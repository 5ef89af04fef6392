"""Which labels can be accepted: a naive sequence of tests, and the promise in a simulation."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import clone

from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.kernels import RBF, Linear
from semikpca.labeling import Acceptance, HeldOut, accept_labels, held_out, suggest_labels
from semikpca.labeling._accept import labels_needed


def known(confidence, is_right, unlabeled=()):
    """What is known of a model of two classes: how sure it is of labels that it was not given, and of other rows."""
    confidence, is_right = np.asarray(confidence, dtype=float), np.asarray(is_right, dtype=bool)
    probabilities = np.column_stack([confidence, 1 - confidence])
    found = HeldOut(np.arange(len(confidence)), np.where(is_right, 0, 1), probabilities)
    surest_first = np.sort(np.asarray(unlabeled, dtype=float))[::-1]
    rows = len(confidence) + np.arange(len(surest_first))
    return Acceptance(found, rows, surest_first, np.zeros(len(rows), dtype=int))


def fewest_right(error_rate, doubt):
    """How many labels, all right, are needed, counted up one by one."""
    n = 1
    while binomtest(0, n, error_rate, alternative="less").pvalue > doubt:
        n += 1
    return n


def naive_threshold(confidence, is_right, error_rate, doubt):
    """Walk down the thresholds until the labels above no longer speak for few errors; two walks with many labels."""
    n = len(confidence)

    def walk(first, spent):
        best = np.inf
        for threshold in sorted(set(confidence), reverse=True):
            above = confidence >= threshold
            if above.sum() < first:
                continue
            if (
                binomtest(int((~is_right[above]).sum()), int(above.sum()), error_rate, alternative="less").pvalue
                > spent
            ):
                break
            best = threshold
        return best

    for_half = fewest_right(error_rate, doubt / 2)
    if n < 3 * for_half:
        return walk(fewest_right(error_rate, doubt), doubt)
    return min(walk(for_half, doubt / 2), walk(max(for_half, n // 2), doubt / 2))


@pytest.mark.parametrize("decimals", [12, 2, 1])  # with 2 and 1 many are equally sure
@pytest.mark.parametrize("n_labels", [30, 60, 150, 400])
@pytest.mark.parametrize("seed", range(4))
def test_the_threshold_is_that_of_a_naive_sequence_of_tests(seed, n_labels, decimals):
    generator = np.random.default_rng(seed)
    confidence = np.round(generator.uniform(0.5, 1, n_labels), decimals)
    is_right = generator.random(n_labels) < 1 - 1.2 * (1 - confidence) ** 2
    unlabeled = np.round(generator.uniform(0.5, 1, 300), decimals)
    acceptance = known(confidence, is_right, unlabeled)

    for error_rate in (0.05, 0.1, 0.2):
        accepted = acceptance.accepted(error_rate, 0.9)

        wanted = naive_threshold(confidence, is_right, error_rate, 1 - 0.9)
        assert accepted.threshold == wanted
        assert len(accepted.rows) == np.sum(unlabeled >= wanted)
        assert acceptance.shares([error_rate])[0] == np.mean(unlabeled >= wanted)
        assert (accepted.n_labels_needed is None) == np.isfinite(wanted)


@pytest.mark.parametrize(("error_rate", "doubt"), [(0.05, 0.1), (0.1, 0.1), (0.01, 0.05), (0.2, 0.5), (0.5, 0.25)])
def test_labels_that_are_needed_are_those_that_a_count_finds(error_rate, doubt):
    assert labels_needed(error_rate, doubt) == fewest_right(error_rate, doubt)


def test_forty_five_right_labels_promise_five_percent_and_one_less_does_not():
    assert labels_needed(0.05, 0.1) == 45
    enough = known(np.full(45, 0.9), np.full(45, True), [0.95, 0.9, 0.8]).accepted(0.05, 0.9)
    assert enough.rows.tolist() == [45, 46]
    assert enough.n_labels_needed is None
    too_few = known(np.full(44, 0.9), np.full(44, True), [0.95, 0.9, 0.8]).accepted(0.05, 0.9)
    assert too_few.rows.tolist() == []
    assert too_few.threshold == np.inf
    assert too_few.n_labels_needed >= 1


def test_labels_that_are_equally_sure_are_tested_together():
    # Twenty-two right ones come first by chance of their order; a threshold lets in the ten wrong ones as well.
    confidence, is_right = np.full(32, 0.9), np.append(np.full(22, True), np.full(10, False))

    accepted = known(confidence, is_right, [0.95, 0.9]).accepted(0.1, 0.9)

    assert accepted.rows.tolist() == []


def test_the_promise_is_kept_in_as_many_draws_as_it_says():
    generator = np.random.default_rng(7)
    n_draws, broken, n_accepted = 400, 0, 0
    for _ in range(n_draws):
        confidence = generator.uniform(0.5, 1, 700)
        is_right = generator.random(700) < 1 - 0.6 * (1 - confidence)
        acceptance = known(confidence[:100], is_right[:100], confidence[100:])
        threshold = acceptance.accepted(0.1, 0.8).threshold
        taken = confidence[100:] >= threshold
        n_accepted += taken.sum()
        broken += bool(taken.any()) and np.mean(~is_right[100:][taken]) > 0.1
    # A share of 0.2 over 400 draws has a standard error of 0.02; the promise is about all rows, and 600 are seen here.
    assert broken / n_draws <= 0.2 + 2 * 0.02
    assert n_accepted / (600 * n_draws) > 0.1


@pytest.mark.parametrize("make", [lambda: SemiKPCAClassifier(), lambda: SemiKPCAClassifierCV([RBF(), Linear()])])
def test_accepted_labels_are_those_predicted_for_the_surest_rows(clear_clusters, make):
    X, cluster = clear_clusters
    words = np.array(["a", "b", "c", "d"], dtype=object)[cluster]
    y = np.where(np.arange(80) % 2 == 0, words, None)
    model = make().fit(X, y)

    accepted = accept_labels(model, 0.1, 0.9)

    chances = model.label_distributions_.max(axis=1)
    wanted = np.flatnonzero((y == None) & (chances >= accepted.threshold))  # noqa: E711  (element by element)
    assert len(wanted) > 0
    assert sorted(accepted.rows.tolist()) == wanted.tolist()
    assert (np.diff(chances[accepted.rows]) <= 0).all()
    np.testing.assert_array_equal(accepted.labels, model.transduction_[accepted.rows])
    assert (accepted.n_labels, accepted.n_unlabeled, accepted.error_rate, accepted.confidence) == (40, 40, 0.1, 0.9)


def test_nothing_can_be_accepted_from_few_labels_and_the_number_that_is_needed_is_said(two_classes):
    X, y = two_classes

    accepted = accept_labels(SemiKPCAClassifier().fit(X, y))

    assert accepted.rows.tolist() == accepted.labels.tolist() == []
    assert accepted.n_labels == 12
    assert accepted.n_labels_needed >= labels_needed(0.05, 0.1) - 12


def test_more_labels_are_needed_where_more_are_wrong():
    few = known(np.linspace(0.9, 0.6, 20), np.full(20, True)).accepted(0.1).n_labels_needed
    many = known(np.linspace(0.9, 0.6, 20), np.arange(20) % 5 > 0).accepted(0.1).n_labels_needed
    assert 1 <= few < many


@pytest.mark.parametrize("n_wrong", [0, 1])
def test_as_many_labels_as_are_asked_for_would_be_enough_if_errors_stay_rare(n_wrong):
    n_labels = 40
    is_right = np.arange(n_labels) >= n_wrong
    needed = known(np.linspace(0.99, 0.6, n_labels), is_right).accepted(0.05).n_labels_needed

    total = n_labels + needed

    assert binomtest(0, total, 0.05, alternative="less").pvalue <= 0.1


def test_labels_of_suggested_rows_promise_nothing(clear_clusters):
    X, cluster = clear_clusters
    y = np.where(np.arange(80) % 2 == 0, cluster, -1)
    model = SemiKPCAClassifier().fit(X, y)
    rows = suggest_labels(model, 5, check_rows=2)
    model.add_labels(rows, cluster[rows])

    assert accept_labels(model, 0.1).n_labels == 42
    nothing = accept_labels(model, 0.1, drawn_rows=[])
    assert nothing.n_labels == 0
    assert nothing.rows.tolist() == []
    assert nothing.n_labels_needed >= labels_needed(0.1, 0.1)


def test_where_all_rows_are_labeled_there_is_nothing_to_accept(clear_clusters):
    X, cluster = clear_clusters
    acceptance = Acceptance.of(SemiKPCAClassifier().fit(X, cluster))

    accepted = acceptance.accepted()

    assert accepted.rows.tolist() == []
    assert accepted.n_unlabeled == 0
    assert accepted.n_labels_needed is None  # the promise could be made
    assert acceptance.shares(np.array([0.05, 0.1])).tolist() == [0, 0]


def test_no_more_labels_are_asked_for_where_rows_are_less_sure_than_the_promise_goes():
    accepted = known(np.full(45, 0.9), np.full(45, True), [0.8, 0.7]).accepted(0.05, 0.9)
    assert accepted.rows.tolist() == []
    assert accepted.threshold == 0.9
    assert accepted.n_labels_needed is None


def test_what_is_known_of_a_model_serves_every_error_rate(clear_clusters):
    X, cluster = clear_clusters
    model = SemiKPCAClassifier().fit(X, np.where(np.arange(80) % 2 == 0, cluster, -1))
    acceptance = Acceptance.of(model)

    shares = acceptance.shares(np.array([0.01, 0.1, 0.3]))

    assert (np.diff(shares) >= 0).all()
    for share, rate in zip(shares, (0.01, 0.1, 0.3), strict=True):
        assert share == len(accept_labels(model, rate).rows) / 40
    np.testing.assert_array_equal(acceptance.found.probabilities, held_out(model).probabilities)


@pytest.mark.parametrize("name", ["error_rate", "confidence"])
@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, float("nan"), "much"])
def test_rates_outside_0_and_1_are_refused(two_classes, name, value):
    model = SemiKPCAClassifier().fit(*two_classes)
    with pytest.raises(ValueError, match=f"{name} must lie between 0 and 1"):
        accept_labels(model, **{name: value})


def test_rows_without_a_label_were_not_drawn(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="has no label"):
        accept_labels(clone(SemiKPCAClassifier()).fit(X, y), drawn_rows=np.flatnonzero(y == -1)[:1])


def test_models_on_tensors_accept_what_models_on_arrays_do(clear_clusters):
    torch = pytest.importorskip("torch")
    X, cluster = clear_clusters
    y = np.where(np.arange(80) % 2 == 0, cluster, -1)

    accepted = accept_labels(SemiKPCAClassifier().fit(torch.tensor(X), y), 0.1)

    assert set(accepted.rows.tolist()) == set(accept_labels(SemiKPCAClassifier().fit(X, y), 0.1).rows.tolist())
