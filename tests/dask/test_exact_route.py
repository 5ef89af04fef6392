"""Estimators on rows of a cluster, exactly: answers as on the client, lazy for new rows, and nothing gathered."""

import pickle
from dataclasses import replace

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracles import (
    algorithm_1,
    eigenpairs,
    large_rbf,
    lssvm_decision,
    naive_signed_targets,
    paper_error_weight,
    relative_error,
)
from semikpca import (
    ConvexKernelPCA,
    LSSVMClassifier,
    LSSVMRegressor,
    SemiKPCAClassifier,
    SemiKPCAClassifierCV,
    SemiLSSVMClassifier,
)
from semikpca.exceptions import ClusterError
from semikpca.kernels import RBF, Cosine, Laplacian, Linear, NeighborGraph, Normalized, Polynomial
from semikpca.labeling import (
    accept_labels,
    audit_labels,
    error_weight_path,
    estimate_accuracy,
    leave_one_label_out,
    prediction_sets,
    suggest_labels,
)
from semikpca.operators import _rough
from semikpca.operators.cluster import _rows as _cluster_rows

pytestmark = pytest.mark.slow  # a cluster of worker processes is started

TOL = 1e-6  # of the estimators, by default
# Removed eigenvectors are found to TOL · λ1, which moves decisions by that over the gap, a fifth of λ1 or more in these
# data; residuals of TOL add about as much.
ALLOWED = 10 * TOL
GAMMA = 0.12
N, N_NEW, D = 700, 50, 5


@pytest.fixture(scope="module")
def data():
    """Overlapping clusters with few labels: rows, labels, new rows."""
    generator = np.random.default_rng(4)
    truth = np.arange(N + N_NEW) % 3
    centers = 1.6 * generator.normal(size=(3, D))
    X = centers[truth] + np.linspace(1.3, 0.5, D) * generator.normal(size=(N + N_NEW, D))
    y = np.full(N, -1)
    for label in range(3):
        y[generator.choice(np.flatnonzero(truth[:N] == label), 4, replace=False)] = label
    for array in (X, y):
        array.setflags(write=False)
    return X[:N], y, X[N:]


@pytest.fixture(scope="module")
def wanted(data):
    """Decisions of Algorithm 1 on the dense matrix: at the rows, and at new ones."""
    X, y, new = data
    K = large_rbf(X, X, GAMMA)
    pairs = eigenpairs(K)
    gamma = paper_error_weight(K, 1, "middle", pairs=pairs)
    alpha, projected, V = algorithm_1(K, naive_signed_targets(y), 1, gamma, pairs)
    return projected @ alpha, large_rbf(new, X, GAMMA) @ (alpha - V @ (V.T @ alpha))


def far(X, rows=150, columns=3):
    return da.from_array(X, chunks=(rows, columns))


@pytest.fixture
def model(client, data):
    X, y, _ = data
    return SemiKPCAClassifier(RBF(GAMMA)).fit(far(X), y)


# -- the same answers ------------------------------------------------------------------------------------------------


def test_decisions_are_those_of_algorithm_1(model, data, wanted):
    assert model.backend_ == "dask"
    assert model.n_features_in_ == D
    assert 2 <= model.n_products_ <= 25
    assert relative_error(model.decision_, wanted[0]) <= ALLOWED
    assert relative_error(model.decision_function(data[2]), wanted[1]) <= ALLOWED
    assert relative_error(model.decision_function(far(data[2], 20)).compute(), wanted[1]) <= ALLOWED
    assert relative_error(model.decision_function(far(data[0])).compute(), model.decision_) <= ALLOWED


cuts = st.lists(st.integers(1, 300), min_size=1, max_size=6)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(rows=cuts, columns=st.integers(1, D), n_held=st.integers(1, 5))
def test_decisions_do_not_depend_on_the_chunks(client, data, wanted, rows, columns, n_held):
    X, y, _ = data
    ends = np.unique(np.clip(np.cumsum(rows), 0, N))
    lengths = tuple(np.diff([0, *ends, N][: len(ends) + (1 if ends[-1] == N else 2)]).tolist())
    kernel = RBF(GAMMA)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cluster_rows, "chunks_for", lambda n_rows, threads: n_held)
        model = SemiKPCAClassifier(kernel).fit(da.from_array(X, chunks=(lengths, columns)), y)
    assert len(model.X_fit_.bounds) == n_held + 1
    assert relative_error(model.decision_, wanted[0]) <= ALLOWED


KERNELS = [
    RBF(),
    Laplacian(),
    Polynomial(),
    Cosine(),
    Linear(center=True),
    Normalized(RBF(GAMMA)),
    Normalized(Normalized(Laplacian(0.2))),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel_has_the_decisions_of_the_dense_back_end(client, data, kernel, dtype):
    X, y, new = (np.asarray(array, dtype=array.dtype if array.ndim == 1 else dtype) for array in data)
    dense = SemiKPCAClassifier(kernel, backend="dense").fit(X, y)
    model = SemiKPCAClassifier(kernel, backend="dask").fit(far(X), y)
    assert model.decision_.dtype == dtype
    eps = float(np.finfo(dtype).eps)
    # Rounding of products counts in units of the removed eigenvalue over the gap, and with the condition number.
    rounding = 100 * eps * float(dense.eigenvalues_[0] * dense.error_weight_) * dense.certificate_.condition_number
    allowed = ALLOWED * dense.certificate_.condition_number + rounding
    assert relative_error(model.decision_, dense.decision_) <= allowed
    assert relative_error(model.decision_function(far(new, 20)).compute(), dense.decision_function(new)) <= allowed
    assert relative_error(model.decision_function(new), dense.decision_function(new)) <= allowed


def test_rows_on_the_client_are_sent_where_that_is_asked_for(client, data, wanted):
    X, y, new = data
    model = SemiKPCAClassifier(RBF(GAMMA), backend="dask").fit(X, y)
    assert model.backend_ == "dask"
    assert relative_error(model.decision_, wanted[0]) <= ALLOWED
    assert isinstance(model.predict(new), np.ndarray)


def test_labels_may_be_a_dask_array_or_a_column(client, data, wanted):
    X, y, _ = data
    column = dd.from_pandas(pd.Series(y), npartitions=3)
    for given_y in (da.from_array(y, chunks=99), column, list(y)):
        model = SemiKPCAClassifier(RBF(GAMMA)).fit(far(X), given_y)
        np.testing.assert_array_equal(model.label_coding_.codes, y)
    labeled = y >= 0
    hits = np.mean(model.transduction_[labeled] == y[labeled])
    assert model.score(far(X), column) == pytest.approx(hits)
    with pytest.raises(ValueError, match="X has 700 rows and y has 699 entries"):
        model.fit(far(X), da.from_array(y[1:], chunks=99))


def test_words_are_labels_too(client, data):
    X, y, new = data
    words = np.array(["ant", "bee", "cat", None], dtype=object)[y]
    local = SemiKPCAClassifier(RBF(GAMMA)).fit(X, words)
    model = SemiKPCAClassifier(RBF(GAMMA)).fit(far(X), words)
    np.testing.assert_array_equal(model.transduction_, local.transduction_)
    lazy = model.predict(far(new, 20))
    assert lazy.dtype == local.predict(new).dtype
    np.testing.assert_array_equal(lazy.compute(), local.predict(new))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lssvm_decisions_are_those_of_the_bordered_system(client, data, fit_intercept):
    X, _, new = data
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    K = large_rbf(X, X, GAMMA)
    targets = naive_signed_targets(y, unlabeled=None)
    decision = lssvm_decision(K, targets, 2.0, fit_intercept)[:, 0]
    # Residuals of TOL are amplified by a condition number of some hundreds, most of it harmless.
    allowed = 1e-4
    kind = LSSVMClassifier if fit_intercept else SemiLSSVMClassifier
    options = {"error_weight": 2.0, "fit_intercept": fit_intercept}
    model = kind(RBF(GAMMA), **options).fit(far(X), y)
    assert relative_error(model.decision_, decision) <= allowed
    known = kind(RBF(GAMMA), **options).fit(X, y).predict(new)
    np.testing.assert_array_equal(model.predict(far(new, 20)).compute(), known)
    # One column of targets, or several.
    wanted_y = targets[:, 0] if fit_intercept else np.hstack([targets, -targets])
    regression = LSSVMRegressor(RBF(GAMMA), **options)
    known = regression.fit(X, wanted_y).predict(new)
    lazy = regression.fit(far(X), da.from_array(wanted_y)).predict(far(new, 20))
    assert lazy.shape == known.shape
    assert relative_error(lazy.compute(), known) <= allowed


@pytest.mark.parametrize("center", [False, True])
def test_kernel_pca_has_the_eigenpairs_of_the_matrix(client, data, center):
    X, _, new = data
    K, cross = large_rbf(X, X, GAMMA), large_rbf(new, X, GAMMA)
    if center:
        cross = cross - cross.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, vectors = eigenpairs(K)
    model = ConvexKernelPCA(3, RBF(GAMMA), center=center).fit(far(X))
    # No tolerance is given away where eigenpairs are the answer.
    np.testing.assert_allclose(model.eigenvalues_, values[:3], rtol=1e-9)
    lazy = model.transform(far(new, 20))
    assert lazy.chunks == ((20, 20, 10), (3,))
    signs = np.sign((model.eigenvectors_ * vectors[:, :3]).sum(axis=0))
    assert relative_error(lazy.compute() * signs, cross @ vectors[:, :3] / np.sqrt(values[:3])) <= 1e-8
    assert model.certificate(1).error_weight_max == pytest.approx(1 / values[1], rel=1e-8)
    with pytest.raises(ValueError, match="inverse_transform learns from all training rows, and these 700 are"):
        model.inverse_transform(lazy[:1].compute())


# -- readings of the labels ------------------------------------------------------------------------------------------


@pytest.fixture
def local(data):
    X, y, _ = data
    return SemiKPCAClassifier(RBF(GAMMA), backend="dense").fit(X, y)


def test_every_reading_equals_that_of_the_dense_back_end(model, local):
    ours, theirs = leave_one_label_out(model), leave_one_label_out(local)
    # A left-out decision is a difference of two numbers, and may be smaller than either.
    assert relative_error(ours.decision, theirs.decision) <= 10 * ALLOWED
    np.testing.assert_array_equal(suggest_labels(model, n=3), suggest_labels(local, n=3))
    suspicion = [audit.suspicion[np.argsort(audit.rows)] for audit in (audit_labels(model), audit_labels(local))]
    np.testing.assert_allclose(*suspicion, rtol=0, atol=10 * ALLOWED)
    weights = [0.2, 0.7]
    assert relative_error(error_weight_path(model, weights).decision, error_weight_path(local, weights).decision) <= (
        10 * ALLOWED
    )


def test_sets_and_accepted_labels_equal_those_of_the_dense_back_end(model, local, data):
    new = data[2]
    np.testing.assert_array_equal(prediction_sets(model).p_values, prediction_sets(local).p_values)
    np.testing.assert_array_equal(prediction_sets(model, X=new).p_values, prediction_sets(local, X=new).p_values)
    assert set(accept_labels(model, 0.4).rows.tolist()) == set(accept_labels(local, 0.4).rows.tolist())
    assert estimate_accuracy(model) == estimate_accuracy(local)


def test_added_labels_equal_a_fit_with_them(model, local, data):
    _, y, new = data
    rows = np.flatnonzero(y < 0)[[3, 90]]
    model.add_labels(rows, [0, 1])
    local.add_labels(rows, [0, 1])
    assert relative_error(model.decision_, local.decision_) <= ALLOWED
    assert relative_error(model.decision_function(far(new, 20)).compute(), local.decision_function(new)) <= ALLOWED


def test_the_whole_spectrum_is_refused_where_the_matrix_is_too_large(model, monkeypatch):
    operator = model._fitted.response.operator
    monkeypatch.setattr(operator, "facts", replace(operator.facts, can_be_dense=False))
    with pytest.raises(ValueError, match=r"whole kernel matrix of 700 rows, .* up to 2,048 rows"):
        model.full_spectrum()


# -- lazy, and never gathered ----------------------------------------------------------------------------------------


def counting(path):
    def count(block):
        (path / np.base_repr(np.random.default_rng().integers(2**62), 36)).touch()
        return block

    return count


def test_predictions_compute_nothing_until_they_are_asked_for(model, local, data, tmp_path):
    _, _, new = data
    lazy_rows = far(new, 20, D).map_blocks(counting(tmp_path), dtype=float, meta=np.empty((0, 0)))
    _ = model.sharpness_  # a number of the model, learned when it is first needed
    answers = [getattr(model, name)(lazy_rows) for name in ("decision_function", "predict", "predict_proba")]
    assert list(tmp_path.iterdir()) == []
    for answer, name in zip(answers, ("decision_function", "predict", "predict_proba"), strict=True):
        known = getattr(local, name)(new)
        assert isinstance(answer, da.Array)
        assert answer.shape == known.shape
        assert answer.dtype == known.dtype
        assert answer.chunks[0] == (20, 20, 10)
        assert isinstance(answer._meta, np.ndarray)
        computed = answer.compute()
        assert computed.dtype == answer.dtype
        np.testing.assert_allclose(computed, known, atol=ALLOWED * np.abs(known).max())


def test_rows_of_unknown_number_have_lazy_answers_too(model, data):
    _, _, new = data
    some = far(new, 20)
    some = some[some[:, 0] > 0]
    answer = model.predict(some)
    assert np.isnan(answer.shape[0])
    np.testing.assert_array_equal(answer.compute(), model.predict(new[new[:, 0] > 0]))


def test_two_classes_have_one_column(client, data):
    X, y, new = data
    y = np.where(y == 2, 0, y)
    model, local = SemiKPCAClassifier(RBF(GAMMA)).fit(far(X), y), SemiKPCAClassifier(RBF(GAMMA)).fit(X, y)
    decision, chances = model.decision_function(far(new, 20)), model.predict_proba(far(new, 20))
    assert decision.ndim == 1
    assert chances.chunks == ((20, 20, 10), (2,))
    np.testing.assert_allclose(chances.compute(), local.predict_proba(new), atol=10 * ALLOWED)


def test_a_fit_and_a_prediction_fetch_no_more_rows_than_have_labels_or_a_search_begins_with(client, data, monkeypatch):
    X, y, new = data
    monkeypatch.setattr(_rough, "_SAMPLE_ROWS", int((y >= 0).sum()))
    monkeypatch.setattr(_cluster_rows, "MOST_FETCHED_ROWS", int((y >= 0).sum()))
    model = SemiKPCAClassifier(RBF(GAMMA)).fit(far(X), y)
    assert model.predict(far(new, 20)).compute().shape == (N_NEW,)
    assert leave_one_label_out(model).accuracy >= 0
    with pytest.raises(TypeError, match="are not gathered"):
        np.asarray(model.X_fit_)


def test_a_model_of_the_client_answers_lazily_too(data):
    """Its rows go to the workers with the question; with no cluster at all, the threads of the client do it."""
    X, y, new = data
    for kernel in (RBF(GAMMA), NeighborGraph(8)):
        local = SemiKPCAClassifier(kernel).fit(X, y)
        with dask.config.set(scheduler="single-threaded"):
            lazy = local.predict_proba(far(new, 20))
            assert isinstance(lazy, da.Array)
            np.testing.assert_allclose(lazy.compute(), local.predict_proba(new), atol=1e-12)


def test_lazy_answers_know_rows_that_no_label_reaches():
    X = np.vstack([np.random.default_rng(0).normal(size=(30, 2)), 100 + np.random.default_rng(1).normal(size=(30, 2))])
    y = np.full(60, -1)
    y[:4] = [0, 1, 0, 1]
    with pytest.warns(UserWarning, match="No label reaches 30 rows"):
        local = SemiKPCAClassifier(NeighborGraph(5)).fit(X, y)
    with dask.config.set(scheduler="single-threaded"):
        decision = local.decision_function(da.from_array(X, chunks=(25, 2))).compute()
    np.testing.assert_array_equal(decision, local.decision_function(X))
    assert (decision[30:] == 0).all()
    assert (decision[:30] != 0).any()


# -- data frames -----------------------------------------------------------------------------------------------------


def test_columns_of_a_data_frame_are_known_by_name(client, data, wanted):
    X, y, new = data
    names = list("abcde")
    table = dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=3)
    model = SemiKPCAClassifier(RBF(GAMMA)).fit(table, y)
    assert model.feature_names_in_.tolist() == names
    assert relative_error(model.decision_, wanted[0]) <= ALLOWED
    later = dd.from_pandas(pd.DataFrame(new, columns=names), npartitions=2)
    assert relative_error(model.decision_function(later).compute(), wanted[1]) <= ALLOWED
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(later.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="X has 4 features, but SemiKPCAClassifier is expecting 5"):
        SemiKPCAClassifier(RBF(GAMMA)).fit(far(X), y).predict(far(new[:, :4]))


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SemiKPCAClassifier("graph"), "Dask collections need a kernel between vectors"),
        (SemiKPCAClassifier("precomputed"), "Dask collections need a kernel between vectors"),
        (SemiKPCAClassifier(lambda a, b: 1.0), "Dask collections need a kernel between vectors"),
        (SemiKPCAClassifier(backend="blocked"), "backend='blocked' does not take Dask collections"),
        (SemiKPCAClassifier(backend="torch"), "backend='torch' does not take Dask collections"),
        (SemiKPCAClassifierCV(), r"SemiKPCAClassifierCV does not take Dask collections.* X\.compute\(\)"),
    ],
    ids=["graph", "precomputed", "function", "blocked", "torch", "CV"],
)
def test_what_is_not_for_a_cluster_is_refused_before_anything_is_read(data, model, message):
    X, y, _ = data
    unreadable = far(X).map_blocks(lambda block: 1 / 0, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=message):
        model.fit(unreadable, y)


def test_kernels_and_rows_that_need_the_client_are_refused_by_name(data):
    from scipy import sparse

    X, y, _ = data
    with pytest.raises(ValueError, match="backend='dask' needs a kernel between vectors"):
        SemiKPCAClassifier("graph", backend="dask").fit(X, y)
    with pytest.raises(ValueError, match="backend='dask' takes dense rows only"):
        SemiKPCAClassifier(RBF(GAMMA), backend="dask").fit(sparse.csr_array(X), y)


def test_without_a_client_it_is_said_how_to_start_one(data):
    X, y, _ = data
    with pytest.raises(ClusterError, match=r"client = Client\(\)"):
        SemiKPCAClassifier(RBF(GAMMA)).fit(far(X), y)


def test_a_refused_fit_leaves_the_earlier_one(model, data, wanted):
    X, y, _ = data
    with pytest.raises(ValueError, match="NaN or infinity: 1 of its 700 rows"):
        model.fit(far(np.where(np.arange(N)[:, None] == 5, np.nan, X)), y)
    assert relative_error(model.decision_function(data[2]), wanted[1]) <= ALLOWED


# -- models that were stored -----------------------------------------------------------------------------------------


def test_a_stored_model_leaves_its_rows_and_takes_them_back(model, data):
    X, _, new = data
    model.predict(new)
    stored = pickle.dumps(model)
    # Decisions, coefficients, labels and an eigenvector; not the rows.
    assert len(stored) < 8 * N * (4 * 3 + 6) + 20_000
    loaded = pickle.loads(stored)
    np.testing.assert_array_equal(loaded.transduction_, model.transduction_)
    np.testing.assert_array_equal(loaded.label_distributions_, model.label_distributions_)
    for needs_rows in (lambda: loaded.predict(new), lambda: loaded.add_labels([9], [0])):
        with pytest.raises(ClusterError, match=r"model\.X_fit_\.attach\(X\)"):
            needs_rows()
    loaded.X_fit_.attach(far(X, 400))
    np.testing.assert_allclose(loaded.decision_function(new), model.decision_function(new), rtol=1e-9)
    assert relative_error(loaded.add_labels([9], [0]).decision_, model.add_labels([9], [0]).decision_) <= ALLOWED


def test_a_stored_normalized_model_takes_its_rows_back(client, data):
    X, y, new = data
    model = SemiKPCAClassifier(Normalized(RBF(GAMMA))).fit(far(X), y)
    loaded = pickle.loads(pickle.dumps(model))
    loaded.X_fit_.attach(far(X))
    np.testing.assert_allclose(loaded.decision_function(new), model.decision_function(new), rtol=1e-9)
