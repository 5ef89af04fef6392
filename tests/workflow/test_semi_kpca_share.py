"""Who decided, Semi-KPCA or plain kernels, against the weights of the model."""

import numpy as np
import pytest

from semikpca import SemiKPCAClassifierCV
from semikpca.kernels import RBF, NeighborGraph
from semikpca.workflow import SemiKPCAShare, semi_kpca_uses

ROUNDING = 1e-12


@pytest.fixture
def rows(rng):
    """Two clouds that touch, with six labels of each."""
    side = np.arange(120) % 2
    X = rng.normal(size=(120, 3)) + 1.5 * side[:, np.newaxis]
    return X, np.where(np.arange(120) < 12, side, -1)


def by_hand(model):
    """Add the weights up, candidate by candidate; a candidate without removed components is a plain kernel."""
    shares = {}
    results = model.results_
    for number, weight in enumerate(results["weight"]):
        if results["n_components_removed"][number] is not None:
            key = id(results["kernel"][number]), results["error_weight"][number]
            shares[key] = shares.get(key, 0.0) + weight
    return shares


def at_shares(model, share):
    """Give candidates of Semi-KPCA this share of the blend, in the proportions that they have."""
    is_used = np.array([k is not None for k in model.results_["n_components_removed"]])
    weights = np.where(is_used, 1.0, 0.0) * (1 + np.arange(len(is_used)))
    weights *= share / weights.sum()
    weights[~is_used] = (1 - share) / np.sum(~is_used)
    model.weights_ = model.results_["weight"] = weights
    return model


def test_the_shares_are_those_of_the_weights(rows):
    model = SemiKPCAClassifierCV().fit(*rows)
    found, shares = SemiKPCAShare.of(model), by_hand(model)
    assert found.share == pytest.approx(sum(shares.values()), abs=ROUNDING)
    assert found.heaviest == pytest.approx(max(shares.values()), abs=ROUNDING)
    assert [use.share for use in semi_kpca_uses(model)] == pytest.approx(list(shares.values()), abs=ROUNDING)


def test_the_certificate_belongs_to_the_heaviest_use(rows):
    model = SemiKPCAClassifierCV().fit(*rows)
    heaviest = max(semi_kpca_uses(model), key=lambda use: use.share)
    found = SemiKPCAShare.of(model)
    assert found.certificate.error_weight == pytest.approx(heaviest.error_weight, rel=ROUNDING)
    assert found.certificate.n_components_removed == heaviest.n_components_removed


def test_with_a_share_the_words_name_that_of_the_heaviest_use_and_of_all(rows):
    model = at_shares(SemiKPCAClassifierCV([RBF(), NeighborGraph(8)]).fit(*rows), 0.6)
    found = SemiKPCAShare.of(model)
    assert found.decides
    assert found.in_words == f"This use of Semi-KPCA has {found.heaviest:.0%} of the blend, all of its uses 60%."
    assert found.what_would_change_that == ""


@pytest.mark.parametrize(("share", "shown"), [(0.0, "0%"), (0.002, "less than 1%"), (0.04, "4%")])
def test_with_next_to_no_share_plain_kernels_decided(rows, share, shown):
    found = SemiKPCAShare.of(at_shares(SemiKPCAClassifierCV([RBF()]).fit(*rows), share))
    assert not found.decides
    assert found.in_words.startswith(f"Plain kernels decided: Semi-KPCA has {shown} of the blend")
    assert "labels" in found.what_would_change_that


def test_where_plain_kernels_decided_the_error_weight_changes_no_prediction(rng):
    X = rng.uniform(-1, 1, size=(240, 10))  # no clusters: a straight line divides the rows
    side = (X @ rng.normal(size=10) > 0).astype(int)
    model = SemiKPCAClassifierCV().fit(X, np.where(np.arange(240) < 160, side, -1))
    assert not SemiKPCAShare.of(model).decides
    np.testing.assert_array_equal(model.at_error_weight(0.3).transduction_, model.transduction_)


def test_a_graph_alone_decides_alone(rows):
    found = SemiKPCAShare.of(SemiKPCAClassifierCV([NeighborGraph(8)]).fit(*rows))
    assert found.share == pytest.approx(1.0, abs=1e-9)
    assert found.in_words == "This use of Semi-KPCA has 100% of the blend."


@pytest.mark.filterwarnings("ignore::semikpca.exceptions.SingleClassWarning")
def test_nothing_is_said_where_nothing_was_blended(rows):
    X, y = rows
    found = SemiKPCAShare.of(SemiKPCAClassifierCV([RBF()]).fit(X, np.where(y == 1, 1, -1)))
    assert (found.is_known, found.in_words, found.what_would_change_that) == (False, "", "")
