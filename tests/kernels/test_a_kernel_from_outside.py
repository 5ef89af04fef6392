"""A kernel that somebody adds, one class in a module of their own, has all that the kernels of the package have.

``docs/architecture.md`` shows the class. Its product on a GPU is among the cases of ``test_triton_product.py``.
"""

import pickle
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Matern as SklearnMatern

from kernel_contract import Case, KernelContract
from oracles import algorithm_1, eigenpairs, naive_signed_targets, paper_error_weight, relative_error
from outside_kernel import Matern
from semikpca import SemiKPCAClassifier
from semikpca.kernels import FactorTiles, Normalized, Nystroem, PairwiseTiles, as_kernel, kernel_classes, tiles_of
from semikpca.operators import cross_product, make_operator

LENGTH = 1.7
# Removed eigenvectors and solutions are found to 1e-6, which moves decisions by a few times that over the gap.
ALLOWED = 1e-5


def matern(A, B, length=LENGTH):
    return SklearnMatern(length_scale=length, nu=1.5)(A, B)


@pytest.fixture
def case():
    return Case(Matern(LENGTH), matern)


class TestMatern(KernelContract):
    """Tests are in ``tests/kernel_contract.py``."""


@cache
def data():
    """Overlapping clusters with few labels: rows, labels, new rows."""
    generator = np.random.default_rng(5)
    truth = np.arange(350) % 3
    X = 2.0 * np.eye(3, 4)[truth] + generator.normal(size=(350, 4)) * [1.0, 0.8, 0.6, 0.4]
    y = np.full(300, -1)
    y[:12] = truth[:12]
    return X[:300], y, X[300:]


@cache
def decisions():
    """Decisions of Algorithm 1 on the training rows and on new rows."""
    X, y, new = data()
    K = matern(X, X)
    pairs = eigenpairs(K)
    weight = paper_error_weight(K, 1, "middle", pairs=pairs)
    alpha, projected, _ = algorithm_1(K, naive_signed_targets(y), 1, weight, pairs)
    V = pairs[1][:, :1]
    return projected @ alpha, matern(new, X) @ (alpha - V @ (V.T @ alpha))


# -- every back end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["dense", "blocked", "blocked, compiled", "torch"])
def test_every_back_end_gives_the_decisions_of_the_paper(backend, request):
    if backend == "torch":
        pytest.importorskip("torch")
    if backend.endswith("compiled"):
        request.getfixturevalue("with_programs")
        backend = "blocked"
    X, y, new = data()
    on_rows, on_new_rows = decisions()
    model = SemiKPCAClassifier(Matern(LENGTH), backend=backend).fit(X, y)
    assert relative_error(model.decision_, on_rows) <= ALLOWED
    assert relative_error(model.decision_function(new), on_new_rows) <= ALLOWED


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_blocks_come_from_products_of_factors(dtype, container):
    X = data()[0].astype(dtype)
    rows, block = container(X), np.random.default_rng(0).normal(size=(300, 3)).astype(dtype)
    kernel = Matern(4.0).fit(rows)
    assert isinstance(tiles_of(kernel, rows, rows, dtype), FactorTiles)
    product = make_operator(kernel, rows, "blocked").matmat(block)
    # Distances are off by some roundings of numbers up to 16, and sums of 300 of them are compared with their norm.
    wanted = matern(X.astype(float), X.astype(float), 4.0) @ block
    assert relative_error(product, wanted) <= 1e3 * np.finfo(dtype).eps


def test_rows_far_apart_are_compared_by_their_differences():
    X = data()[0].copy()
    X[150:] += 1e6
    kernel = Matern(LENGTH).fit(X)
    assert isinstance(tiles_of(kernel, X, X, np.float64), PairwiseTiles)
    np.testing.assert_allclose(kernel(X), matern(X, X), rtol=0, atol=1e-9)  # digits of the rows end at 1e-10


@pytest.mark.parametrize("chunks", [(0, 0), (0, 1)])
def test_a_worker_of_a_cluster_multiplies_with_it(chunks):
    pytest.importorskip("distributed")
    from semikpca.operators.cluster._tasks import Sent, pair_product

    X, V, (i, j) = data()[0], np.random.default_rng(0).normal(size=(300, 2)), chunks
    sent = Sent.of(Matern(LENGTH).fit(X), V, np.array([0, 120, 300]), np.dtype(float))
    parts = [slice(0, 120), slice(120, 300)]
    first, _ = pair_product(X[parts[i]], X[parts[j]], sent, i, j)
    assert relative_error(first, matern(X[parts[i]], X[parts[j]]) @ V[parts[j]]) <= 1e-12


@pytest.mark.parametrize("wrapper", [Normalized(Matern(LENGTH)), Nystroem(Matern(LENGTH), 300)], ids=repr)
def test_it_can_be_wrapped(wrapper):
    X, _, new = data()
    kernel = clone(wrapper).fit(X)
    wanted = matern(new, X)
    if isinstance(wrapper, Normalized):
        wanted = wanted / np.sqrt(np.outer(wanted.sum(axis=1), matern(X, X).sum(axis=1)))
    block = np.random.default_rng(0).normal(size=(300, 2))
    # With all rows as landmarks Nystroem is the kernel itself, to half of the digits.
    assert relative_error(cross_product(kernel, new, X, block), wanted @ block) <= 1e-7


# -- new rows, names, files --------------------------------------------------------------------------------------------


def test_training_rows_seen_again_get_what_they_got():
    X, y, _ = data()
    model = SemiKPCAClassifier("matern").fit(X, y)
    np.testing.assert_array_equal(model.predict(X.copy()), model.transduction_)
    assert model.kernel_.length_ == pytest.approx(
        np.median(np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(300, 1)])
    )


def test_a_pickled_model_gives_the_same_decisions():
    X, y, new = data()
    model = SemiKPCAClassifier(Matern()).fit(X, y)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).decision_function(new), model.decision_function(new)
    )


def test_its_names_are_known():
    assert type(as_kernel("matern")) is Matern
    assert kernel_classes()["Matern"] is Matern


def test_the_command_line_takes_its_shorthand():
    pytest.importorskip("skrub")
    from semikpca.workflow import LabelingOptions

    model = LabelingOptions(kernel="matern").classifier()
    X, y, _ = data()
    model.fit(X, y)
    assert {type(source.kernel) for source in model.blend_.sources} == {Matern}
