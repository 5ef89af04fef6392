"""Other losses than the square on rows of a cluster: products are made there, and a summary of the rows is refused."""

import dask.array as da
import numpy as np
import pytest

from loss_oracles import fixed_point, pseudo_huber
from semikpca import SemiKPCAClassifier
from semikpca.kernels import RBF, Nystroem
from semikpca.labeling import leave_one_label_out
from semikpca.labels import signed_targets
from semikpca.losses import PseudoHuber, Squared

pytestmark = pytest.mark.slow  # a cluster of worker processes is started

# The tolerance of products that are not stored, 1e-6 of the first decisions, over what is left of the interval.
UNSTORED = 1e-5


@pytest.fixture
def rows(two_classes):
    X, y = two_classes
    return da.from_array(np.array(X), chunks=(17, X.shape[1])), X, y


def test_products_on_the_cluster_lead_to_the_fixed_point(client, rows):
    lazy, X, y = rows
    model = SemiKPCAClassifier(RBF(gamma=0.05), loss=PseudoHuber(0.3), error_weight=0.7).fit(lazy, y)
    assert model.backend_ == "dask"
    targets = signed_targets(model.label_coding_.codes, 2)
    K = RBF(gamma=0.05).fit(X).pairwise(X, X)
    wanted = fixed_point(K, targets, 1, model.error_weight_, pseudo_huber(0.3))[:, 0]
    np.testing.assert_allclose(np.asarray(model.decision_), wanted, atol=UNSTORED)
    local = SemiKPCAClassifier(RBF(gamma=0.05), loss=PseudoHuber(0.3), error_weight=0.7).fit(X, y)
    np.testing.assert_allclose(leave_one_label_out(model).decision, leave_one_label_out(local).decision, atol=UNSTORED)


def test_features_on_the_cluster_are_refused_with_the_remedy(client, rows):
    lazy, _, y = rows
    kernel = Nystroem(RBF(gamma=0.05), n_landmarks=20, random_state=0)
    with pytest.raises(ValueError, match=r"loss=PseudoHuber\(delta=0.3\) needs the error of every row.*loss=Squared"):
        SemiKPCAClassifier(kernel, loss=PseudoHuber(0.3)).fit(lazy, y)
    assert SemiKPCAClassifier(kernel, loss=Squared()).fit(lazy, y).is_linear_in_labels


def test_the_gap_of_a_fit_on_features_is_that_of_all_rows(client, rows):
    lazy, X, y = rows
    kernel = Nystroem(RBF(gamma=0.05), n_landmarks=20, random_state=0)
    there = SemiKPCAClassifier(kernel).fit(lazy, y)
    here = SemiKPCAClassifier(there.kernel_).fit(X, y)
    # Rows that stand for the unlabeled ones have the same squares, but for rounding.
    assert there.duality_gap().primal == pytest.approx(here.duality_gap().primal, rel=1e-6)
    assert there.duality_gap().dual == pytest.approx(here.duality_gap().dual, rel=1e-6)
