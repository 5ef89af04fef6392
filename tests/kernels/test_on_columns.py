"""Kernels on parts of the columns are those kernels on the parts, on every back end and inside of others."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.exceptions import IndistinguishableRowsError
from semikpca.kernels import (
    RBF,
    CallableKernel,
    Cosine,
    DefaultKernels,
    FactorTiles,
    Laplacian,
    Linear,
    NeighborGraph,
    Normalized,
    Nystroem,
    OnColumns,
    Polynomial,
    Precomputed,
    tiles_of,
)

COLUMNS = [3, 1]
# The same products in the same order; sums over columns that lie elsewhere in memory may be rounded otherwise.
ROUNDING = 1e-10


@pytest.fixture(scope="module")
def data():
    """Return rows of which two columns tell three classes apart, labels of a few, and new rows."""
    generator = np.random.default_rng(3)
    codes = np.arange(160) % 3
    X = generator.normal(size=(160, 5))
    X[:, COLUMNS] += 3 * np.eye(3, 2)[codes]
    y = np.where(np.arange(120) < 12, codes[:120], -1)
    return X[:120], y, X[120:]


KERNELS = [
    RBF(gamma=0.4),
    Laplacian(),
    Polynomial(degree=2, gamma=0.2),
    Cosine(),
    NeighborGraph(6),
    Linear(center=True),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_a_fit_on_columns_is_a_fit_of_these_columns(data, kernel):
    X, y, new = data
    found = SemiKPCAClassifier(OnColumns(kernel, COLUMNS)).fit(X, y)
    wanted = SemiKPCAClassifier(kernel).fit(X[:, COLUMNS], y)
    np.testing.assert_allclose(found.decision_, wanted.decision_, atol=ROUNDING)
    np.testing.assert_allclose(found.decision_function(new), wanted.decision_function(new[:, COLUMNS]), atol=ROUNDING)


@pytest.mark.parametrize("backend", ["dense", "blocked", "torch"])
@pytest.mark.parametrize("outside", [lambda kernel: kernel, Normalized], ids=["plain", "normalized"])
def test_every_back_end_sees_these_columns_only(data, backend, outside):
    X, y, new = data
    if backend == "torch":
        pytest.importorskip("torch")
    found = SemiKPCAClassifier(outside(OnColumns(RBF(gamma=0.4), COLUMNS)), backend=backend, tol=1e-10).fit(X, y)
    wanted = SemiKPCAClassifier(outside(RBF(gamma=0.4)), backend="dense", tol=1e-10).fit(X[:, COLUMNS], y)
    # Both are found to the tolerance, which an eigenvalue gap widens.
    np.testing.assert_allclose(found.decision_, wanted.decision_, atol=1e-6)
    np.testing.assert_allclose(found.decision_function(new), wanted.decision_function(new[:, COLUMNS]), atol=1e-6)


def test_landmarks_are_chosen_among_whole_rows_and_compared_by_the_columns(data):
    X, _, new = data
    kernel = Nystroem(OnColumns(RBF(gamma=0.4), COLUMNS), n_landmarks=len(X), random_state=0).fit(X)
    np.testing.assert_allclose(kernel(new, X), rbf_kernel(new[:, COLUMNS], X[:, COLUMNS], gamma=0.4), atol=1e-6)


def test_products_are_made_of_factors_as_those_of_the_kernel_inside(data):
    X, _, _ = data
    kernel = OnColumns(RBF(gamma=0.4), COLUMNS).fit(X)
    assert isinstance(tiles_of(kernel, X, X, np.float64), FactorTiles)
    assert kernel.factor(X).shape == (120, 2)


def test_columns_side_by_side_are_not_copied(data):
    X, _, _ = data
    assert np.shares_memory(OnColumns(RBF(gamma=0.4), range(1, 4)).fit(X).part_, X)


def test_sparse_rows_are_cut_as_well(data):
    X, _, new = data
    kernel = OnColumns(RBF(gamma=0.4), COLUMNS).fit(sparse.csr_array(X))
    wanted = rbf_kernel(new[:, COLUMNS], X[:, COLUMNS], gamma=0.4)
    np.testing.assert_allclose(kernel(sparse.csr_array(new), sparse.csr_array(X)), wanted, atol=ROUNDING)


@pytest.mark.parametrize(
    "kernel",
    [Normalized("rbf"), Nystroem("rbf"), Precomputed(), CallableKernel(np.dot)],
    ids=lambda kernel: type(kernel).__name__,
)
def test_what_is_made_of_another_kernel_is_refused_inside(data, kernel):
    with pytest.raises(ValueError, match=r"Normalized\(OnColumns"):
        OnColumns(kernel, COLUMNS).fit(data[0])


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ([], "one or more"),
        ([[0, 1]], "one or more"),
        ([0.5], "whole numbers"),
        ([5], "between 0 and 4, got 5"),
        ([-1, 2], "between 0 and 4, got -1"),
    ],
    ids=str,
)
def test_columns_that_are_none_are_refused(data, columns, said):
    with pytest.raises(ValueError, match=said):
        OnColumns("rbf", columns).fit(data[0])


# -- the default kernels on parts of the columns -----------------------------------------------------------------


def test_the_default_kernels_on_all_columns_are_what_is_tried_by_default(data):
    X, y, new = data
    named, default = (SemiKPCAClassifierCV(kernels).fit(X, y) for kernels in ([DefaultKernels()], None))
    np.testing.assert_array_equal(named.decision_, default.decision_)
    np.testing.assert_array_equal(named.decision_function(new), default.decision_function(new))


def test_default_kernels_on_columns_are_those_of_a_table_of_these_columns(data):
    X, y, new = data
    found = SemiKPCAClassifierCV([DefaultKernels(COLUMNS)]).fit(X, y)
    wanted = SemiKPCAClassifierCV().fit(X[:, COLUMNS], y)
    np.testing.assert_allclose(found.weights_, wanted.weights_, atol=1e-8)
    np.testing.assert_allclose(found.decision_, wanted.decision_, atol=1e-8)
    np.testing.assert_allclose(found.decision_function(new), wanted.decision_function(new[:, COLUMNS]), atol=1e-8)


def test_left_out_labels_decide_which_columns_matter(data):
    X, y, _ = data
    rest = [column for column in range(5) if column not in COLUMNS]
    model = SemiKPCAClassifierCV([DefaultKernels(COLUMNS), DefaultKernels(rest)]).fit(X, y)
    kernels = [
        getattr(kernel, "kernel_", kernel) if isinstance(kernel, Normalized) else kernel
        for kernel in model.results_["kernel"]
    ]
    matter = np.array([list(kernel.columns) == COLUMNS for kernel in kernels])
    assert model.weights_[matter].sum() > 0.99


def test_other_labels_and_weights_are_taken_with_the_views_that_are_there(data):
    X, y, _ = data
    views = [DefaultKernels(), DefaultKernels(COLUMNS)]
    other = y.copy()
    other[:2] = -1
    model = SemiKPCAClassifierCV(views).fit(X, y)
    fresh = SemiKPCAClassifierCV(views).fit(X, other)
    np.testing.assert_allclose(model.with_labels(other).decision_, fresh.decision_, atol=1e-8)
    moved = SemiKPCAClassifierCV(views, error_weights=[0.7]).fit(X, y)
    np.testing.assert_allclose(model.at_error_weight(0.7).decision_, moved.decision_, atol=1e-6)


def test_columns_in_which_all_rows_are_alike_are_told(data):
    X, y, _ = data
    X = np.column_stack([X, np.ones(len(X))])
    with pytest.raises(IndistinguishableRowsError):
        SemiKPCAClassifierCV([DefaultKernels(), DefaultKernels([5])]).fit(X, y)
