"""What a further label adds to the decisions of a blend, against fits from scratch with the weights held."""

import numpy as np
import pytest

from blending_oracles import label_fit, label_response
from oracles import SAME_TO_ROUNDING, relative_error
from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.kernels import RBF
from semikpca.labeling import suggest_labels

GAMMA = 0.1


def naive_rbf(X):
    return np.exp(-GAMMA * ((X[:, np.newaxis] - X) ** 2).sum(axis=2))


def blended_scores(model, X, y, spreads=None):
    """The weighted sum of all candidates, each solved from scratch; and the spreads by which they are divided."""
    labeled, n_classes = np.flatnonzero(y != -1), len(model.classes_)
    results, total, found = model.results_, 0.0, []
    for number, weight in enumerate(model.weights_):
        K, k = naive_rbf(X), results["n_components_removed"][number]
        if k is not None:
            K = label_response(K, k, results["error_weight"][number])
        alpha, b = label_fit(K, labeled, np.eye(n_classes)[y[labeled]], results["noise"][number])
        plain = K[:, labeled] @ alpha
        centered = plain - plain.mean(axis=0)
        found.append((centered - centered.mean(axis=1, keepdims=True)).std())
        spread = found[-1] if spreads is None else spreads[number]
        total = total + weight / spread * (plain + b if results["intercept"][number] else centered)
    return total, found


def noise_is_that_of_the_labels_before(monkeypatch, labeled):
    """A further label must not change the scale of the noise: the response holds it."""
    import blending_oracles

    plain = blending_oracles.noise_variance
    monkeypatch.setattr(blending_oracles, "noise_variance", lambda K, at, noise: plain(K, labeled, noise))


def test_a_label_moves_its_own_row_exactly_as_a_fit_with_it_would(data, monkeypatch):
    X, y = data
    model = SemiKPCAClassifierCV([RBF(gamma=GAMMA)], class_prior=None).fit(X, y)
    noise_is_that_of_the_labels_before(monkeypatch, np.flatnonzero(y != -1))
    before, spreads = blended_scores(model, X, y)
    rows = np.flatnonzero(y == -1)[[0, 3, 9]]
    response, foreseen = model.blend_.label_steps(rows)
    n_classes = len(model.classes_)

    for place, row in enumerate(rows):
        for code in range(n_classes):
            changed = y.copy()
            changed[row] = code
            after, _ = blended_scores(model, X, changed, spreads)
            # Two units of response for each unit of a class score.
            step = 2 * response[row, place] * (np.eye(n_classes)[code] - foreseen[place])
            assert relative_error(step, after[row] - before[row]) < SAME_TO_ROUNDING


def test_a_label_that_is_foreseen_adds_less_than_one_that_contradicts(clear_clusters):
    X, cluster = clear_clusters
    y = np.where(np.arange(len(X)) % 9 == 0, cluster, -1)
    model = SemiKPCAClassifierCV().fit(X, y)
    rows = np.flatnonzero(y == -1)[:10]
    _, steps = model.label_steps(rows)
    is_predicted = model.transduction_[rows][:, np.newaxis] == model.classes_
    assert steps[is_predicted].max() < 0.5
    assert steps[is_predicted].max() < steps[~is_predicted].min()


def test_where_decisions_are_sums_over_the_labels_every_label_adds_as_much(two_classes):
    X, y = two_classes
    model = SemiKPCAClassifier().fit(X, y)
    rows = np.flatnonzero(y == -1)[:5]
    response, steps = model.label_steps(rows)
    np.testing.assert_array_equal(response, model.label_response(rows))
    np.testing.assert_array_equal(steps, np.ones((5, 2)))


@pytest.mark.parametrize("n", [1, 7])
def test_rows_that_the_model_is_nearly_sure_of_are_not_suggested_while_there_are_others(rng, n):
    side = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) + 1.5 * side[:, np.newaxis]
    y = np.where(np.arange(400) < 40, side, -1)
    model = SemiKPCAClassifierCV().fit(X, y)
    confidence = model.label_distributions_.max(axis=1)
    assert np.sum(confidence[y == -1] < 0.9) > 32, "the table must have doubtful rows"
    assert np.mean(confidence[y == -1] >= 0.9) > 0.3, "and sure ones"
    assert (confidence[suggest_labels(model, n)] < 0.9).all()
