"""The benchmark of certainty at its smallest size: answers are checked, tables are those of the draws."""

import json

import numpy as np
import pytest

import bench_certainty as benchmark
import certainty_audit
import certainty_cost
import certainty_draws
import certainty_peers
import certainty_tables
from commands import rows_of
from semikpca import SemiKPCAClassifierCV
from semikpca.labeling import prediction_sets

pytest.importorskip("mapie", reason="MAPIE is not installed: pip install './benchmarks[certainty]'")
pytest.importorskip("cleanlab", reason="cleanlab is not installed: pip install './benchmarks[certainty]'")

ROUNDED = 5e-4  # sizes are written with three digits


def blobs(n_rows=90, n_classes=3):
    """Classes that overlap a little."""
    generator = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    return generator.normal(size=(n_rows, 4)) + 1.5 * np.eye(4)[y], y


@pytest.fixture(scope="module")
def problem():
    X, y = blobs()
    return certainty_draws.Problem("blobs", "folder", X, y)


@pytest.fixture(scope="module")
def fits(problem):
    return certainty_draws.Fits(problem, problem.drawn(30, 0))


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    """A run of all parts with few rows and draws: the folder, and its arguments."""
    folder = tmp_path_factory.mktemp("certainty")
    X, y = blobs()
    (folder / "sets").mkdir()
    np.savez(folder / "sets" / "blobs.npz", X=X, y=y)
    common = ["--draws", "2", "--rows", "120", "--records", str(folder / "records"), "--out", str(folder / "out")]
    drawn = ["--data", str(folder / "sets"), "--datasets", "iris", "blobs", "--labels", "30", "60", *common]
    benchmark.main(["--parts", "coverage", *drawn])
    benchmark.main(["--parts", "suggestions", "audit", "--datasets", "iris", *common])
    benchmark.main(["--parts", "cost", "--cost-rows", "300", *common])
    return folder, ["--parts", "coverage", *drawn]


def test_every_method_has_a_row_at_every_rate_and_more_than_a_third_is_never_labeled(small_run):
    rows = rows_of(small_run[0] / "out" / "coverage.csv")
    assert {(row["set"], row["labels"]) for row in rows} == {("iris", "30"), ("blobs", "30")}
    for name, n_methods in (("iris", 5), ("blobs", 7)):  # MAPIE refuses APS where there are two classes
        found = [(row["error_rate"], row["method"]) for row in rows if row["set"] == name]
        assert len(found) == len(set(found)) == 3 * n_methods
        assert {method for _, method in found} >= {"automatic", "automatic, adaptive", "graph", "MAPIE lac, logistic"}


def test_sizes_and_coverages_are_shares_and_say_whether_the_promise_is_kept(small_run):
    for row in rows_of(small_run[0] / "out" / "coverage.csv"):
        coverage, error = float(row["coverage"]), float(row["standard_error"])
        assert 0 <= coverage <= 1
        assert float(row["singletons"]) <= 1
        least = 1 if row["method"] in certainty_tables.OURS else 0
        assert least <= float(row["mean_size"]) <= int(row["classes"])
        assert row["below_nominal"] == ("yes" if coverage < 1 - float(row["error_rate"]) - error else "no")


def test_the_other_tables_have_a_row_for_each_cell(small_run):
    out = small_run[0] / "out"
    accepted = rows_of(out / "acceptance.csv")
    assert [(row["set"], row["error_rate"]) for row in accepted] == [
        (name, rate) for rate in ("0.05", "0.1") for name in ("iris", "blobs", "all")
    ]
    assert [row["set"] for row in rows_of(out / "intervals.csv")] == ["iris", "blobs"]
    suggested = rows_of(out / "suggestions.csv")
    assert [row["way"] for row in suggested] == [way for way in benchmark.WAYS for _ in range(3)]
    # 40 of 120 rows: 20 that are drawn at the beginning, then two rounds, each with three rows to check.
    assert [row["labels_taken_as_drawn"] for row in suggested] == ["40"] * 3 + ["26"] * 3
    audited = rows_of(out / "audit.csv")
    assert {row["flipped"] for row in audited} == {"0.1", "0.0"}
    assert len(audited) == 6
    assert all(row["precision"] == "" for row in audited if row["flipped"] == "0.0")
    times = {row["what"]: row for row in rows_of(out / "cost.csv")}
    fit = float(times[certainty_cost.FIT]["seconds"])
    for row in times.values():
        assert float(row["ratio_to_fit"]) == pytest.approx(float(row["seconds"]) / fit, rel=2e-3)


def test_every_row_says_how_to_make_it_again(small_run):
    for path in (small_run[0] / "out").glob("*.csv"):
        for row in rows_of(path):
            assert "python benchmarks/bench_certainty.py --parts" in row["command"]
            assert row["semikpca"]
            assert row["numpy"]


def test_what_is_recorded_is_not_measured_again(small_run, monkeypatch):
    folder, arguments = small_run
    before = (folder / "out" / "coverage.csv").read_text()
    monkeypatch.setattr(benchmark, "measured_draw", None)
    benchmark.main(arguments)
    assert (folder / "out" / "coverage.csv").read_text() == before


def test_nothing_is_begun_when_time_is_over(tmp_path, capsys):
    options = ["--minutes", "-1", "--records", str(tmp_path / "records"), "--out", str(tmp_path / "out")]
    benchmark.main(["--parts", "coverage", "--datasets", "iris", "--labels", "30", *options])
    assert capsys.readouterr().out == "not reached: drawn iris 30\n"
    assert not list((tmp_path / "records").iterdir())


def test_a_second_process_begins_with_the_last_set(tmp_path, capsys):
    options = ["--minutes", "-1", "--records", str(tmp_path / "records"), "--out", str(tmp_path / "out")]
    benchmark.main(["--parts", "coverage", "--datasets", "iris", "wine", "--labels", "30", "--reverse", *options])
    assert [line.split()[3] for line in capsys.readouterr().out.splitlines()] == ["wine", "iris"]


def test_labels_are_drawn_from_all_rows_and_draws_differ(problem):
    first, second = problem.drawn(30, 0), problem.drawn(30, 1)
    for labels in (first, second):
        given = labels != -1
        assert given.sum() == 30
        np.testing.assert_array_equal(labels[given], problem.y[given])
    assert np.any(first != second)
    often = np.mean([problem.drawn(30, draw) != -1 for draw in range(300)], axis=0)
    assert np.all(np.abs(often - 1 / 3) < 5 * np.sqrt(2 / 9 / 300))  # five standard errors


def test_labels_of_one_class_are_drawn_again():
    y = np.zeros(20, dtype=int)
    y[0] = 1
    rare = certainty_draws.Problem("rare", "folder", np.zeros((20, 1)), y)
    assert all(len(np.unique(rare.drawn(2, draw))) == 3 for draw in range(5))


def test_sets_are_judged_row_by_row(problem):
    rows, classes = np.array([0, 1, 2, 3]), np.array([0, 1])  # truth 0, 1, 2, 0; nothing is labeled 2
    sets = np.array([[True, False], [True, False], [True, True], [True, True]])
    assert certainty_draws.judged(problem, rows, sets, classes, False) == (0.5, 1.5, 0.5, pytest.approx(2 / 3), 0.0)
    assert certainty_draws.judged(problem, rows, sets, classes, True) == (0.75, 1.5, 0.5, pytest.approx(2 / 3), 0.0)


def test_a_model_that_shares_its_refits_makes_each_of_them_once_and_gives_the_same_sets(problem, monkeypatch):
    labels = problem.drawn(30, 3)
    plain = SemiKPCAClassifierCV().fit(problem.X, labels)
    wanted = prediction_sets(plain, 0.1)
    calls = []
    refit = SemiKPCAClassifierCV.without_labels
    monkeypatch.setattr(
        SemiKPCAClassifierCV, "without_labels", lambda self, rows: (calls.append(len(rows)), refit(self, rows))[1]
    )
    shared = certainty_draws.sharing_refits(SemiKPCAClassifierCV().fit(problem.X, labels))
    for _ in range(2):
        np.testing.assert_array_equal(prediction_sets(shared, 0.1).p_values, wanted.p_values)
    assert (len(calls), sum(calls)) == (20, 30)


def test_sets_are_not_read_off_wrong_p_values(problem, fits):
    model = fits.automatic(problem.drawn(30, 1))
    found = prediction_sets(model, 0.2)
    certainty_draws.check_sets(model, found)
    found.p_values[:] = 0.11
    with pytest.raises(AssertionError, match="not equal"):
        certainty_draws.check_sets(model, found)


def test_models_with_shared_kernels_must_be_those_of_a_fit(problem, fits, monkeypatch):
    fits.check(problem.drawn(30, 1))
    monkeypatch.setattr(fits, "graph", lambda labels: fits.automatic(labels))
    with pytest.raises(AssertionError, match="blobs: other labels on the same kernels"):
        fits.check(problem.drawn(30, 1))


def split_sets(problem, fits, n_labels):
    labels = problem.drawn(n_labels, 0)
    return certainty_peers.split_conformal_sets(problem.X, labels, fits.automatic, (0.05, 0.2), 0, checked=True)


def test_a_rate_that_half_of_the_labels_cannot_promise_excludes_nothing(problem, fits):
    for sets in split_sets(problem, fits, 30).values():
        assert sets[0.05].all()  # 15 labels can promise 1/16 at best
    assert not all(sets[0.2].all() for sets in split_sets(problem, fits, 30).values())
    assert [certainty_peers.can_be_had(0.05, n) for n in (18, 19, 20)] == [False, False, True]  # MAPIE wants 20


def test_sets_of_mapie_that_are_not_those_of_split_conformal_prediction_are_refused(problem, fits, monkeypatch):
    right = certainty_peers._mapie_sets

    def wrong(*given):
        return {rate: ~sets for rate, sets in right(*given).items()}

    monkeypatch.setattr(certainty_peers, "_mapie_sets", wrong)
    with pytest.raises(AssertionError, match="MAPIE's sets"):
        split_sets(problem, fits, 30)


def record(draws, labels=60, way=None):
    about = {"set": "made", "group": "folder", "rows": 500, "classes": 3, "labels": labels, "draws": draws}
    return about if way is None else {**about, "way": way}


def made_draw(coverage, size, wrong, interval=(0.9, 0.8, 0.95), accuracy=0.9):
    sets = {
        method: {str(rate): (coverage, size, 0.5, coverage, 0.0) for rate in certainty_draws.RATES}
        for method in certainty_tables.OURS
    }
    sets["MAPIE lac, logistic"] = {str(rate): (0.9, 1.4, 0.5, 0.9, 0.1) for rate in certainty_draws.RATES}
    accepted = {str(rate): (0.5, wrong) for rate in certainty_draws.ACCEPTED_RATES}
    interval = list(interval)
    return {
        "sets": sets,
        "accepted": accepted,
        "interval": interval,
        "interval before": interval,
        "accuracy": accuracy,
    }


def test_cells_below_nominal_and_smaller_sets_of_peers_are_flagged():
    draws = [made_draw(0.88, 2.0, 0.0), made_draw(0.90, 1.2, 0.0)]
    rows = certainty_tables.coverage_rows([record(draws)])
    ours = {row["error_rate"]: row for row in rows if row["method"] == "automatic"}
    assert ours[0.1]["coverage"] == 0.89
    assert ours[0.1]["standard_error"] == 0.01
    assert ours[0.1]["mean_size"] == pytest.approx(1.6, abs=ROUNDED)
    assert {rate: row["below_nominal"] for rate, row in ours.items()} == {0.05: "yes", 0.1: "no", 0.2: "no"}
    both = "automatic; automatic, adaptive"
    peers = [row for row in rows if row["method"] == "MAPIE lac, logistic"]
    assert {(row["smaller_than_ours"], row["smaller_without_empty_sets"]) for row in peers} == {(both, both)}


def test_a_peer_may_owe_its_smaller_sets_to_empty_ones():
    rows = certainty_tables.coverage_rows([record([made_draw(0.9, 1.45, 0.0)] * 2)])
    peers = [row for row in rows if row["method"] == "MAPIE lac, logistic"]  # 1.4 classes, and a tenth is empty
    assert {row["smaller_than_ours"] for row in peers} == {"automatic; automatic, adaptive"}
    assert {row["smaller_without_empty_sets"] for row in peers} == {""}


def test_promises_that_are_broken_too_often_are_beyond_noise():
    seldom = record([made_draw(0.9, 1, 0.06 if draw < 12 else 0.01) for draw in range(100)])
    often = record([made_draw(0.9, 1, 0.06 if draw < 20 else 0.01) for draw in range(100)])
    by_rate = {}
    for name, some in (("seldom", seldom), ("often", often)):
        for row in certainty_tables.acceptance_rows([some]):
            by_rate[name, row["set"], row["error_rate"]] = row["broken"], row["beyond_noise"]
    assert by_rate["seldom", "made", 0.05] == by_rate["seldom", "all", 0.05] == (0.12, "no")
    assert by_rate["often", "made", 0.05] == (0.2, "yes")
    assert by_rate["often", "made", 0.1] == (0.0, "no")


def test_intervals_above_the_truth_are_too_good():
    draws = [made_draw(0.9, 1, 0, (0.9, 0.85, 0.95), accuracy) for accuracy in (0.9, 0.84, 0.96, 0.86)]
    (row,) = certainty_tables.interval_rows([record(draws)])
    assert (row["contains"], row["too_good"], row["bias"]) == (0.5, 0.25, 0.01)


def test_the_error_of_independent_predictions_spreads_as_far_as_it_should():
    generator = np.random.default_rng(0)
    estimates, truths = generator.binomial(60, 0.8, 4_000) / 60, generator.binomial(440, 0.8, 4_000) / 440
    draws = [made_draw(0.9, 1, 0, (one, 0, 1), truth) for one, truth in zip(estimates, truths, strict=True)]
    (row,) = certainty_tables.interval_rows([record(draws)])
    assert row["spread"] == pytest.approx(1, abs=0.04)  # a standard deviation from 4,000 draws, 3.5 of its errors


def test_flipped_labels_are_as_many_as_asked_for_and_of_another_class(problem):
    rows, labels, is_flipped = certainty_audit.flipped(problem, 0.1, 0)
    assert np.bincount(problem.y[rows]).tolist() == [10, 10, 10]
    assert is_flipped.sum() == 3
    assert np.all(labels[is_flipped] != problem.y[rows][is_flipped])
    assert not certainty_audit.flipped(problem, 0.0, 0)[2].any()


def test_audits_are_added_over_the_draws():
    draws = [{"0.1 audit_labels": [4, 3, 5, 50]}, {"0.1 audit_labels": [0, 0, 5, 50]}]
    (row,) = certainty_audit.audit_rows([record(draws)])
    assert (row["precision"], row["recall"], row["right_called_wrong"], row["labels"]) == (0.75, 0.3, 0.5, 50)


def test_no_time_is_taken_of_sets_that_do_not_cover(monkeypatch):
    monkeypatch.setattr(certainty_cost, "LEAST_COVERAGE", 1.01)
    with pytest.raises(SystemExit, match="Sets cover only"):
        certainty_cost.cost_rows(300)


def test_a_record_that_was_not_finished_is_no_record(tmp_path, problem):
    def breaks(*given):
        yield {"sets": {}}
        raise KeyboardInterrupt

    class Asked:
        records, draws, until = tmp_path, 2, np.inf

    with pytest.raises(KeyboardInterrupt):
        benchmark.recorded(Asked, "drawn", problem, 30, breaks)
    assert not list(tmp_path.iterdir())
    (found,) = benchmark.recorded(Asked, "drawn", problem, 30, lambda *given: iter([{"sets": {}}]))
    assert json.loads(next(tmp_path.iterdir()).read_text())["draws"] == found["draws"]
