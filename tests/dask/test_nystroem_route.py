"""Kernels with features on rows of a cluster: the answers of a local fit, whatever the chunks, and nothing gathered."""

import pickle
from functools import cache

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from oracles import (
    SAME_TO_ROUNDING,
    naive_signed_targets,
    paper_error_weight,
    relative_error,
    semi_kpca_from_the_paper,
)
from semikpca import LSSVMClassifier, SemiKPCAClassifier, SemiLSSVMClassifier
from semikpca.exceptions import ClusterError, KernelRankError, SingleClassWarning, UnboundedProblemError
from semikpca.kernels import RBF, Linear, Normalized, Nystroem, _pairwise
from semikpca.labeling import (
    accept_labels,
    audit_labels,
    error_weight_path,
    expected_change,
    leave_one_label_out,
    prediction_sets,
    suggest_labels,
)
from semikpca.problem import _cluster_fit

pytestmark = pytest.mark.slow  # a cluster of worker processes is started

# Two orders of summation, and a square root in between, on systems with a condition number of a few.
SAME_ANSWER = 1e-9
# The same in single precision, of which features keep about half of the digits.
SAME_IN_SINGLE = 2e-3
# The temperature is searched to 1e-5 on a logarithmic scale; probabilities move by less than that.
SAME_TEMPERATURE = 1e-4

N = 300
CHUNKS = {"one chunk": (N,), "even": (60,) * 5, "uneven": (1, 199, 7, 93), "many": (18,) * 16 + (12,)}


@cache
def data(n_classes=2, n=N):
    """Rows of overlapping clusters, a few labels, and the class of every row."""
    generator = np.random.default_rng(n_classes)
    truth = np.arange(n) % n_classes
    X = 2.2 * generator.normal(size=(n_classes, 4))[truth] + generator.normal(size=(n, 4)) * [1.0, 0.8, 0.6, 0.5]
    y = np.full(n, -1)
    for c in range(n_classes):
        y[generator.choice(np.flatnonzero(truth == c), 5, replace=False)] = c
    return X, y, truth


def nystroem(n_landmarks=25, **parameters):
    return Nystroem(RBF(), n_landmarks, **{"random_state": 0, **parameters})


def chunked(X, chunks):
    return da.from_array(X, chunks=(chunks, X.shape[1]))


def assert_same_model(found, wanted, tolerance=SAME_ANSWER):
    """Hold a model on a cluster to a local one."""
    assert found.backend_ == "dask"
    assert found.classes_.tolist() == wanted.classes_.tolist()
    assert found.error_weight_ == pytest.approx(wanted.error_weight_, rel=tolerance)
    names = ["decision_", "alpha_", "dual_coef_", "transduction_", "label_distributions_"]
    lazy = {name: getattr(found, name) for name in names}
    values = dict(zip(names, dask.compute(*lazy.values()), strict=True))
    for name in names[:3]:
        assert isinstance(lazy[name], da.Array)
        assert lazy[name].shape == getattr(wanted, name).shape
        assert lazy[name].dtype == values[name].dtype == getattr(wanted, name).dtype
        assert lazy[name].chunks[0] == found.X_fit_.array.chunks[0]
        assert relative_error(values[name], getattr(wanted, name)) < tolerance
    assert np.array_equal(values["transduction_"], wanted.transduction_)
    chances = max(tolerance, SAME_TEMPERATURE)
    assert relative_error(values["label_distributions_"], wanted.label_distributions_) < chances


# -- the answer --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_answers_are_those_of_a_local_fit_whatever_the_chunks(client, chunks, n_classes):
    X, y, _ = data(n_classes)
    local = SemiKPCAClassifier(nystroem()).fit(X, y)
    model = SemiKPCAClassifier(nystroem()).fit(chunked(X, chunks), y)
    assert_same_model(model, local)
    assert str(model.certificate_) == str(local.certificate_)
    assert model.certificate_.is_estimate
    assert model.kernel_.kernel_.gamma_ == local.kernel_.kernel_.gamma_
    assert np.array_equal(model.kernel_.landmark_numbers_, local.kernel_.landmark_numbers_)
    assert relative_error(model.eigenvalues_, local.eigenvalues_) < SAME_ANSWER
    vectors = model.eigenvectors_.compute()
    signs = np.sign(np.sum(vectors * local.eigenvectors_, axis=0))
    assert relative_error(vectors * signs, local.eigenvectors_) < SAME_ANSWER
    assert model.n_features_in_ == 4


def test_decisions_are_those_of_algorithm_1_on_the_matrix_of_the_landmarks(client):
    X, y, _ = data(3)
    model = SemiKPCAClassifier(nystroem(), n_components_removed=2).fit(chunked(X, (140, 160)), y)
    Z, gamma = model.kernel_.landmarks_, model.kernel_.kernel_.gamma_
    cross = rbf_kernel(X, Z, gamma=gamma)
    K = cross @ np.linalg.solve(rbf_kernel(Z, gamma=gamma), cross.T)
    error_weight = paper_error_weight(K, 2, "middle")
    wanted = semi_kpca_from_the_paper(K, naive_signed_targets(y), 2, error_weight)
    assert relative_error(model.decision_.compute(), wanted) < SAME_TO_ROUNDING


KERNELS = {
    "k-means++": nystroem(landmarks="k-means++"),
    "given landmarks": nystroem(landmarks=data()[0][::20]),
    "gamma by scale": Nystroem(RBF(gamma="scale"), 25, random_state=0),
    "all rows are landmarks": nystroem(2 * N),
    "polynomial": Nystroem("poly", 20, random_state=0),
    "normalized": Normalized(nystroem()),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_other_kernels_with_features_give_the_local_answers_too(client, kernel):
    X, y, _ = data(3)
    local = SemiKPCAClassifier(kernel).fit(X, y)
    # With all rows as landmarks the smallest eigenvalues of k(Z, Z) are at the edge of rounding, and so is R.
    tolerance = 1e-5 if kernel is KERNELS["all rows are landmarks"] else SAME_ANSWER
    assert_same_model(SemiKPCAClassifier(kernel).fit(chunked(X, (100, 150, 50)), y), local, tolerance)


@pytest.mark.parametrize("kernel", [Linear(), Linear(center=True), Normalized(nystroem())], ids=repr)
def test_predictions_for_new_rows_are_the_local_ones(client, kernel, monkeypatch):
    monkeypatch.setattr(_pairwise, "_MANY_ROWS", 0)  # so that few rows go by features with a linear kernel as well
    X, y, _ = data(3)
    new_rows = X[:40] + 0.1
    local = SemiKPCAClassifier(kernel).fit(X, y)
    model = SemiKPCAClassifier(kernel).fit(chunked(X, (100, 200)), y)
    assert_same_model(model, local)
    assert relative_error(model.decision_function(new_rows), local.decision_function(new_rows)) < SAME_ANSWER
    lazy = model.predict_proba(da.from_array(new_rows, chunks=(15, 2)))
    assert relative_error(lazy.compute(), local.predict_proba(new_rows)) < SAME_TEMPERATURE
    assert np.array_equal(model.predict(chunked(new_rows, (7, 33))).compute(), local.predict(new_rows))


@pytest.mark.parametrize("error_weight", [0.3, 0.99])
def test_error_weights_in_multiples_of_the_bound_are_the_local_ones(client, error_weight):
    X, y, _ = data()
    local = SemiKPCAClassifier(nystroem(), error_weight=error_weight).fit(X, y)
    assert_same_model(clone(local).fit(chunked(X, (100, 200)), y), local, 1e-7)  # its condition number is 100


def test_semi_lssvm_without_a_bias_is_the_same_with_the_other_sign(client):
    X, y, _ = data(3)
    local = SemiLSSVMClassifier(nystroem(), fit_intercept=False).fit(X, y)
    model = clone(local).fit(chunked(X, (100, 200)), y)
    assert_same_model(model, local, 1e-7)  # condition numbers of up to n
    assert not hasattr(model, "eigenvectors_")


def test_float32_rows_stay_float32(client):
    X, y, _ = data(3)
    local = SemiKPCAClassifier(nystroem()).fit(X.astype(np.float32), y)
    model = SemiKPCAClassifier(nystroem()).fit(chunked(X.astype(np.float32), (100, 200)), y)
    assert_same_model(model, local, SAME_IN_SINGLE)
    assert model.decision_function(X[:3].astype(np.float32)).dtype == np.float32


def test_numpy_rows_are_sent_to_the_cluster_where_dask_is_asked_for(client):
    X, y, _ = data()
    local = SemiKPCAClassifier(nystroem()).fit(X, y)
    assert_same_model(SemiKPCAClassifier(nystroem(), backend="dask").fit(X, y), local)


def test_a_data_frame_gives_its_names_and_its_labels(client):
    X, y, _ = data(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["label"] = np.array(["x", "y", "z", None], dtype=object)[y]
    table = dd.from_pandas(frame, npartitions=4)
    local = SemiKPCAClassifier(nystroem()).fit(frame[["a", "b", "c", "d"]], frame["label"])
    model = SemiKPCAClassifier(nystroem()).fit(table[["a", "b", "c", "d"]], table["label"])
    assert_same_model(model, local)
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    found = model.predict(table[["a", "b", "c", "d"]])
    assert np.array_equal(found.compute(), local.transduction_)


# -- labels in odd places ----------------------------------------------------------------------------------------


def labels_at(rows, truth):
    y = np.full(N, -1)
    y[rows] = truth[rows]
    return y


def odd_places():
    _, _, truth = data(3)
    by_class = [np.flatnonzero(truth == c) for c in range(3)]
    return {
        "all in the first chunk": labels_at(np.arange(12), truth),
        "a class in one chunk only": labels_at(
            np.concatenate([by_class[0][:5], by_class[1][:5], by_class[2][-5:]]), truth
        ),
        "a chunk of labels only": labels_at(np.arange(100, 200), truth),
        "more labels than landmarks": labels_at(np.arange(0, 300, 5), truth),
        "every row": truth.copy(),
        "one each": labels_at(np.array([0, 151, 296]), truth),
    }


@pytest.mark.parametrize("place", odd_places())
def test_it_does_not_matter_in_which_chunks_the_labels_are(client, place):
    X, _, _ = data(3)
    y = odd_places()[place]
    local = SemiKPCAClassifier(nystroem()).fit(X, y)
    model = SemiKPCAClassifier(nystroem()).fit(chunked(X, (100, 100, 100)), da.from_array(y, chunks=77))
    assert_same_model(model, local)
    assert model.label_coding_.labeled_rows.tolist() == np.flatnonzero(y != -1).tolist()


# -- readings ----------------------------------------------------------------------------------------------------


def test_labels_are_left_out_and_audited_by_the_numbers_of_the_large_data(client):
    X, y, truth = data(3)
    y = y.copy()
    wrong = np.flatnonzero(y == 0)[0]
    y[wrong] = 1
    local = SemiKPCAClassifier(nystroem()).fit(X, y)
    model = SemiKPCAClassifier(nystroem()).fit(chunked(X, (130, 170)), y)
    found, wanted = leave_one_label_out(model), leave_one_label_out(local)
    assert np.array_equal(found.rows, wanted.rows)
    assert relative_error(found.decision, wanted.decision) < SAME_ANSWER
    assert np.array_equal(found.predictions, wanted.predictions)
    assert found.accuracy == wanted.accuracy
    audit = audit_labels(model)
    assert audit.rows[0] == wrong == audit_labels(local).rows[0]
    assert audit.suggested[0] == truth[wrong]
    assert relative_error(audit.suspicion, audit_labels(local).suspicion) < SAME_TEMPERATURE


def test_labels_are_added_and_taken_away_without_reading_the_rows_again(client, monkeypatch):
    X, y, truth = data(3)
    changes = [(np.array([7, 250]), truth[[7, 250]]), (np.flatnonzero(y == 0)[:1], np.array([-1]))]
    model = SemiKPCAClassifier(nystroem()).fit(chunked(X, (130, 170)), y)
    monkeypatch.setattr(_cluster_fit, "summed", None)  # a pass over the rows would call it
    after = y.copy()
    for rows, labels in changes:
        assert model.add_labels(rows, labels) is model
        after[rows] = labels
        assert_same_model(model, SemiKPCAClassifier(nystroem()).fit(X, after))
    assert model.label_coding_.labeled_rows.tolist() == np.flatnonzero(after != -1).tolist()


def test_the_last_label_of_a_class_cannot_be_taken_away(client):
    X, y, _ = data(3)
    model = SemiKPCAClassifier(nystroem()).fit(chunked(X, (130, 170)), y)
    with pytest.raises(ValueError, match=r"leave class .*2.* without a label"):
        model.add_labels(np.flatnonzero(y == 2), [-1] * 5)
    with pytest.raises(ValueError, match=r"Row 300 does not exist"):
        model.add_labels([300], [1])


@pytest.mark.parametrize("class_prior", ["labeled", [0.6, 0.3, 0.1]])
def test_class_priors_move_the_shares_as_they_do_locally(client, class_prior):
    X, y, _ = data(3)
    local = SemiKPCAClassifier(nystroem(), class_prior=class_prior).fit(X, y)
    # The offsets come out of a search that stops at a slope of 1e-5.
    assert_same_model(clone(local).fit(chunked(X, (130, 170)), y), local, 1e-5)


def test_beyond_the_sample_probabilities_and_shares_come_from_a_part_of_the_rows(client, monkeypatch):
    X, y, _ = data(3, n=3_000)
    monkeypatch.setattr(_cluster_fit, "_MOST_SAMPLED_ROWS", 1_000)
    local = SemiKPCAClassifier(nystroem(), class_prior=[0.5, 0.3, 0.2]).fit(X, y)
    model = clone(local).fit(chunked(X, (1_000,) * 3), y)
    shares = np.bincount(model.transduction_.compute(), minlength=3) / 3_000
    # A share counted on 1,000 rows is off by one or two hundredths; three standard errors are 0.05.
    assert np.abs(shares - [0.5, 0.3, 0.2]).max() < 0.05
    assert np.abs(model.class_offsets_ - local.class_offsets_).max() > 0


# -- what stays where --------------------------------------------------------------------------------------------


def refuse_to_compute(*ignored):
    raise AssertionError("a lazy answer was computed")


def test_answers_are_lazy_until_they_are_asked_for(client, monkeypatch):
    X, y, _ = data(3)
    model = SemiKPCAClassifier(nystroem()).fit(chunked(X, (130, 170)), y)
    broken = chunked(X, (100, 200)).map_blocks(refuse_to_compute, dtype=X.dtype, meta=X[:0])
    monkeypatch.setattr(Client, "compute", refuse_to_compute)
    monkeypatch.setattr(Client, "get", refuse_to_compute)
    for answer, columns in ((model.predict, ()), (model.decision_function, (3,)), (model.predict_proba, (3,))):
        lazy = answer(broken)
        assert isinstance(lazy, da.Array)
        assert lazy.shape == (N, *columns)
        assert lazy.chunks[0] == (100, 200)
    assert isinstance(model.label_distributions_, da.Array)


def test_of_many_rows_only_a_few_come_to_the_client(client, monkeypatch):
    n, d = 30_000, 20
    X = da.random.default_rng(0).normal(size=(n, d), chunks=(5_000, d))
    y = np.full(n, -1)
    y[:20] = np.arange(20) % 2
    monkeypatch.setattr(_cluster_fit, "_MOST_SAMPLED_ROWS", 500)
    fetched = []

    def recording(client, futures, *arguments, **options):
        answers = gather(client, futures, *arguments, **options)
        fetched.append(len(pickle.dumps(answers)))
        return answers

    gather = Client.gather
    monkeypatch.setattr(Client, "gather", recording)
    model = SemiKPCAClassifier(nystroem(50)).fit(X, y)
    assert model.decision_.shape == (n,)
    # The median rule takes 2,828 rows; the sample, the labels and the sums over landmarks are less than that.
    assert max(fetched) < 1.2 * 2_828 * d * 8
    assert sum(fetched) < n * d * 8 / 5


def test_a_saved_model_leaves_the_rows_behind_and_answers_all_the_same(client):
    X, y, _ = data(3)
    model = SemiKPCAClassifier(nystroem()).fit(chunked(X, (130, 170)), y)
    loaded = pickle.loads(pickle.dumps(model))
    assert relative_error(loaded.decision_function(X), model.decision_.compute()) < SAME_ANSWER
    assert np.array_equal(audit_labels(loaded).rows, audit_labels(model).rows)
    assert loaded.predict_proba(X[:2]).shape == (2, 3)
    assert not hasattr(loaded, "decision_")
    assert str(loaded.certificate_) == str(model.certificate_)


def test_a_local_fit_after_one_on_a_cluster_has_nothing_of_it(client):
    X, y, _ = data(3)
    model = SemiKPCAClassifier(nystroem())
    model.fit(chunked(X, (130, 170)), y)
    model.fit(X, y)
    assert model.backend_ == "low-rank"
    assert isinstance(model.decision_, np.ndarray)
    assert len(suggest_labels(model, n=2)) == 2


# -- what is refused ---------------------------------------------------------------------------------------------


def test_readings_of_every_row_are_refused_and_say_what_to_do(client):
    X, y, _ = data(3)
    model = SemiKPCAClassifier(nystroem()).fit(chunked(X, (130, 170)), y)
    every_row = (suggest_labels, prediction_sets, accept_labels, error_weight_path)
    for reading in (*every_row, lambda model: expected_change(model, [0])):
        with pytest.raises(NotImplementedError, match=r"300 (training )?rows, which stay on the cluster"):
            reading(model)
    path = error_weight_path(model.small_model_, 5)
    wanted = error_weight_path(SemiKPCAClassifier(nystroem()).fit(X, y), 5)
    assert relative_error(path.left_out_decision, wanted.left_out_decision) < SAME_ANSWER


def test_a_bias_over_all_rows_and_leverage_scores_are_refused(client):
    X, y, _ = data()
    rows = chunked(X, (130, 170))
    with pytest.raises(ValueError, match=r"Use fit_intercept=False"):
        SemiLSSVMClassifier(nystroem()).fit(rows, y)
    with pytest.raises(ValueError, match=r"LS-SVM learns from labeled rows only"):
        LSSVMClassifier(nystroem()).fit(rows, np.maximum(y, 0))
    with pytest.raises(ValueError, match=r"'leverage' scores every row.*Use 'k-means\+\+' or 'uniform'"):
        SemiKPCAClassifier(nystroem(landmarks="leverage")).fit(rows, y)


def test_errors_of_the_problem_are_those_of_a_local_fit(client):
    X, y, _ = data()
    rows = chunked(X, (130, 170))
    with pytest.raises(UnboundedProblemError, match=r"error_weight="):
        SemiKPCAClassifier(nystroem(), error_weight=1.5).fit(rows, y)
    with pytest.raises(KernelRankError, match=r"of these 300 rows has rank 3"):
        SemiKPCAClassifier(nystroem(3), n_components_removed=3).fit(rows, y)
    with pytest.raises(ValueError, match=r"X has 300 rows and y has 299 entries"):
        SemiKPCAClassifier(nystroem()).fit(rows, y[:-1])
    with pytest.warns(SingleClassWarning, match=r"All given labels are .*'only'"):
        SemiKPCAClassifier(nystroem()).fit(rows, np.where(y == 0, "only", None))


def test_a_refused_fit_leaves_the_earlier_model_as_it_was(client):
    X, y, _ = data()
    model = SemiKPCAClassifier(nystroem()).fit(chunked(X, (130, 170)), y)
    before = model.decision_
    with pytest.raises(ValueError, match="No label is given"):
        model.fit(chunked(X, (130, 170)), np.full(N, -1))
    assert model.decision_ is before


def test_without_a_client_the_way_to_start_one_is_named():
    X, y, _ = data()
    with pytest.raises(ClusterError, match=r"client = Client\(\)"):
        SemiKPCAClassifier(nystroem()).fit(chunked(X, (130, 170)), y)
