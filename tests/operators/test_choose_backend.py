"""Which back end "auto" is, and what is said where memory does not suffice."""

import pickle
import tracemalloc

import numpy as np
import pytest
import sklearn

import semikpca.operators._factory as factory
from semikpca import ConvexKernelPCA, LSSVMClassifier, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.exceptions import KernelMemoryError
from semikpca.kernels import RBF, NeighborGraph, Normalized, Nystroem
from semikpca.labeling import error_weight_path
from semikpca.operators import BACKENDS, choose_backend, make_operator, memory_budget

MIB = 2**20

# What is asked, and what comes out, with scikit-learn's working memory at its default of 1,024 MiB: 11,585 rows.
CHOICES = [
    # few rows: a stored matrix is as fast as anything
    ({"n_samples": 1}, "dense"),
    ({"n_samples": 2_500}, "dense"),
    ({"n_samples": 2_501}, "blocked"),
    ({"n_samples": 10**7}, "blocked"),
    # many features: to make a kernel value again costs more than to keep it
    ({"n_samples": 10_000, "n_features": 127}, "blocked"),
    ({"n_samples": 10_000, "n_features": 128}, "dense"),
    ({"n_samples": 11_585, "n_features": 1000}, "dense"),
    ({"n_samples": 11_586, "n_features": 1000}, "blocked"),
    # many products: to keep it pays
    ({"n_samples": 10_000, "many_products": True}, "dense"),
    ({"n_samples": 11_586, "many_products": True}, "blocked"),
    # no vectors: there is nothing to make it again from
    ({"n_samples": 10**6, "on_vectors": False}, "dense"),
    # kernels that say their matrix in another way
    ({"n_samples": 10, "is_sparse": True}, "sparse"),
    ({"n_samples": 10**7, "is_sparse": True}, "sparse"),
    ({"n_samples": 10, "is_low_rank": True}, "low-rank"),
    ({"n_samples": 10**7, "is_low_rank": True, "n_features": 1000}, "low-rank"),
]


@pytest.mark.parametrize(("case", "chosen"), CHOICES, ids=[f"{case} → {chosen}" for case, chosen in CHOICES])
def test_the_choice_is_this_table(case, chosen):
    assert choose_backend("auto", **case) == chosen


@pytest.mark.parametrize(("megabytes", "chosen"), [(1, "blocked"), (8 * 2_000**2 / MIB, "dense"), (4, "blocked")])
def test_the_memory_budget_is_scikit_learns_working_memory(megabytes, chosen):
    with sklearn.config_context(working_memory=megabytes):
        assert memory_budget() == int(megabytes * MIB)
        assert choose_backend("auto", 2_000) == chosen


def test_a_given_budget_counts_and_not_the_setting():
    needed = 8 * 2_000**2
    for megabytes in (1, 10**6):
        with sklearn.config_context(working_memory=megabytes):
            assert choose_backend("auto", 2_000, budget=needed) == "dense"
            assert choose_backend("auto", 2_000, budget=needed - 1) == "blocked"


def test_a_larger_budget_alone_does_not_make_a_matrix_pay():
    with sklearn.config_context(working_memory=10**6):
        assert choose_backend("auto", 50_000) == "blocked"
        assert choose_backend("auto", 50_000, many_products=True) == "dense"


@pytest.mark.parametrize("backend", [backend for backend in BACKENDS if backend not in ("auto", "sparse", "low-rank")])
def test_a_named_back_end_is_taken_whatever_the_size(backend):
    assert choose_backend(backend, 10**6) == backend
    assert choose_backend(backend, 3) == backend


@pytest.mark.parametrize(
    ("backend", "case"),
    [
        ("sparse", {}),
        ("low-rank", {}),
        ("low-rank", {"is_sparse": True}),
        ("blocked", {"on_vectors": False}),
        ("blocked", {"is_sparse": True}),
        ("dask", {"on_vectors": False}),
        ("dask", {"is_sparse": True}),
        ("torch", {"on_vectors": False}),
        ("torch", {"is_sparse": True}),
    ],
)
def test_a_back_end_that_does_not_suit_the_kernel_is_refused_with_a_remedy(backend, case):
    with pytest.raises(ValueError, match=f"backend='{backend}' needs a kernel") as caught:
        choose_backend(backend, 10, **case)
    assert "Use backend='auto'" in str(caught.value)


@pytest.mark.parametrize("case", [{}, {"is_low_rank": True}, {"many_products": True}])
def test_rows_on_a_cluster_stay_there(case):
    assert choose_backend("auto", 10, on_cluster=True, **case) == "dask"
    assert choose_backend("dask", 10, on_cluster=True, **case) == "dask"


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name not in ("auto", "dask")])
def test_no_other_back_end_takes_rows_on_a_cluster(backend):
    with pytest.raises(ValueError, match=rf"backend='{backend}' does not take Dask collections.*X\.compute"):
        choose_backend(backend, 10, on_cluster=True)


@pytest.mark.parametrize("case", [{"is_sparse": True}, {"on_vectors": False}])
def test_rows_on_a_cluster_need_a_kernel_between_vectors(case):
    with pytest.raises(ValueError, match="Dask collections need a kernel between vectors"):
        choose_backend("auto", 10, on_cluster=True, **case)


# -- what the estimators take ----------------------------------------------------------------------------------------


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(400, 3))


@pytest.fixture
def labels():
    y = np.full(400, -1)
    y[:6] = [0, 0, 0, 1, 1, 1]
    return y


@pytest.mark.parametrize("model", [SemiKPCAClassifier, SemiLSSVMClassifier, ConvexKernelPCA])
@pytest.mark.parametrize(("megabytes", "chosen"), [(100, "dense"), (1, "blocked")])
def test_the_choice_is_stored_with_the_fit(rows, labels, model, megabytes, chosen):
    with sklearn.config_context(working_memory=megabytes):
        assert model(kernel=RBF(0.5)).fit(rows, labels).backend_ == chosen


def test_the_budget_at_the_time_of_a_later_solve_does_not_change_the_back_end(rows, labels):
    model = SemiKPCAClassifier(RBF(0.5)).fit(rows, labels)
    with sklearn.config_context(working_memory=1):
        loaded = pickle.loads(pickle.dumps(model)).add_labels([10], [1])
    assert loaded.backend_ == "dense"
    # A stored matrix gives twelve digits, a blocked one in float32 six.
    np.testing.assert_allclose(loaded.decision_, model.add_labels([10], [1]).decision_, rtol=0, atol=1e-5)


HALF = 4 * 400**2 // 2  # bytes of half of the matrix in float32


@pytest.mark.parametrize(
    ("backend", "megabytes", "is_kept"),
    [
        ("auto", 8 * 400**2 / MIB, True),
        ("auto", 8 * 400**2 / MIB - 0.01, False),
        ("blocked", 100, False),
    ],
)
def test_blocks_are_kept_where_the_matrix_fits_the_budget_and_nobody_asked_for_less(
    rows, labels, monkeypatch, backend, megabytes, is_kept
):
    monkeypatch.setattr(factory, "_FEW_ROWS", 100)
    with sklearn.config_context(working_memory=megabytes):
        model = SemiKPCAClassifier(RBF(0.5), backend=backend).fit(rows, labels)
    assert model.backend_ == "blocked"
    kept = model._fitted.response.operator.nbytes
    assert kept > HALF if is_kept else kept < HALF / 4
    # Half of the matrix, the blocks on its diagonal whole, and the factors of the blocks.
    assert kept < 2 * HALF


@pytest.mark.parametrize("kernel", [NeighborGraph(5), Nystroem(RBF(0.5), n_landmarks=20), Normalized(RBF(0.5))])
def test_other_kernels_find_their_own_way(rows, labels, kernel):
    model = SemiKPCAClassifier(kernel).fit(rows, labels)
    wanted = {"NeighborGraph": "sparse", "Nystroem": "low-rank", "Normalized": "dense"}[type(kernel).__name__]
    assert model.backend_ == wanted


@pytest.mark.parametrize("backend", ["blocked", "sparse", "low-rank"])
def test_a_given_matrix_is_refused_by_back_ends_that_cannot_take_it(backend):
    with pytest.raises(ValueError, match="needs a kernel"):
        SemiKPCAClassifier("precomputed", backend=backend).fit(np.eye(6), [0, 0, 1, 1, -1, -1])


# -- out of memory is foreseen ---------------------------------------------------------------------------------------


def peak_of(work):
    """Bytes that were taken at most while something was done."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_matrix_that_the_computer_cannot_hold_is_refused_before_it_is_made():
    # Four million rows of one number: a matrix of 2^53 bytes and more.
    rows = np.zeros((4_000_000, 1))
    kernel = RBF(1.0)

    def refused():
        with pytest.raises(KernelMemoryError) as caught:
            make_operator(kernel, rows, "dense")
        error = caught.value
        assert error.needed == 8 * 4_000_000**2
        assert 0 < error.allowed < error.needed
        text = str(error)
        assert "4,000,000 rows takes 119209.3 GiB" in text
        assert f"{error.allowed / 2**30:.1f} GiB are there" in text
        assert "backend='blocked'" in text
        assert "Nystroem" in text

    assert peak_of(refused) < 50 * MIB


@pytest.mark.parametrize("model", [SemiKPCAClassifier, SemiLSSVMClassifier, LSSVMClassifier, ConvexKernelPCA])
def test_estimators_refuse_it_before_anything_is_computed(model):
    rows = np.zeros((1_000_000, 1))
    rows[:, 0] = np.arange(1_000_000) % 7
    y = np.arange(1_000_000) % 2

    def refused():
        with pytest.raises(KernelMemoryError, match=r"takes 7450\.6 GiB"):
            model(kernel=RBF(1.0), backend="dense").fit(rows, y)

    # Rows and labels are checked and targets made: a few arrays of a million numbers, and no more.
    assert peak_of(refused) < 300 * MIB


def test_the_error_survives_a_parallel_worker():
    error = KernelMemoryError("The kernel matrix", 10, 800, 100, is_budget=True)
    loaded = pickle.loads(pickle.dumps(error))
    assert str(loaded) == str(error)
    assert (loaded.n_rows, loaded.needed, loaded.allowed, loaded.is_budget) == (10, 800, 100, True)
    assert isinstance(error, MemoryError)


def test_what_needs_the_whole_matrix_names_need_limit_and_remedy(rows, labels):
    with sklearn.config_context(working_memory=1):
        model = SemiKPCAClassifier(RBF(0.5), backend="blocked").fit(rows, labels)
        with pytest.raises(KernelMemoryError) as caught:
            model.full_spectrum()
    text = str(caught.value)
    assert "400 rows" in text
    assert "allowed" in text
    assert "working_memory" in text
    assert caught.value.needed == 8 * 400**2
    assert caught.value.allowed == MIB


def test_a_path_within_the_budget_needs_no_matrix(rows, labels):
    with sklearn.config_context(working_memory=1):
        model = SemiKPCAClassifier(RBF(0.5), backend="blocked").fit(rows, labels)
        assert error_weight_path(model, 5).decision.shape == (5, 400)


@pytest.mark.parametrize("k", [0, 1])
def test_a_blocked_fit_stays_far_below_the_matrix(k):
    # 3,000 rows: a matrix of 72 MB; rows, a basis of 40 to 80 columns, their images and sums for each thread.
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(3000, 5))
    y = np.full(3000, -1)
    y[:10] = np.arange(10) % 2
    model = SemiKPCAClassifier(RBF(0.1), n_components_removed=k, backend="blocked")
    assert peak_of(lambda: model.fit(rows, y)) < 72e6 / 5
