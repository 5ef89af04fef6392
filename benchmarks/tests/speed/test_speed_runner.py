"""The speed benchmark from spec to records: processes, checks of answers, and methods that fail. No time is judged."""

import math
import multiprocessing
from dataclasses import replace

import numpy as np
import pytest

import speed_children
from semikpca.experiments import RecordStore
from semikpca_benchmarks.speed import PEERS, WORKS, Measurement, SpeedCell, SpeedRecord, SpeedSpec, run_speed_cell
from semikpca_benchmarks.speed import _jobs as jobs
from semikpca_benchmarks.speed import _problems as problems
from semikpca_benchmarks.speed import _runner as runner
from semikpca_benchmarks.speed._runner import Turn, peak_memory_mb

QUICK_FIT = SpeedCell("fit", 400, quick=True)


# -- what is run -----------------------------------------------------------------------------------------------------


def test_every_work_has_a_size_for_every_place():
    for spec in (SpeedSpec(), SpeedSpec(quick=True)):
        cells = spec.cells()
        assert {cell.work for cell in cells} == set(WORKS)
        assert len({str(cell) for cell in cells}) == len(cells)
        for name, work in WORKS.items():
            assert {cell.place for cell in cells if cell.work == name} == set(work.places)


def test_the_sizes_of_the_bars_are_there():
    sizes = {(cell.work, cell.place, cell.n) for cell in SpeedSpec().cells()}
    for n in (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000):
        assert ("fit", "", n) in sizes
    for n in (100_000, 1_000_000):
        assert ("nystroem", "", n) in sizes
    assert {("product", "", 20_000), ("graph", "", 70_000), ("automatic", "", 2_000)} <= sizes
    assert {("path", "dense", 2_000), ("path", "blocked", 10_000), ("path", "graph", 5_000)} <= sizes
    assert {("add labels", place, 10_000) for place in ("auto", "dense", "blocked")} <= sizes


@pytest.mark.parametrize(
    ("n", "methods"),
    [
        (10_000, ("dense", "blocked", "blocked float32", "auto", *PEERS)),
        (20_000, ("blocked", "blocked float32", "auto", *PEERS)),
        (50_000, ("blocked", "blocked float32", "auto")),
    ],
)
def test_methods_stop_where_they_would_take_too_long(n, methods):
    assert SpeedCell("fit", n).methods == methods


@pytest.mark.parametrize("spec", [SpeedSpec(), SpeedSpec(("path", "add labels"), 7, quick=True)])
def test_a_spec_survives_json_and_says_its_command(spec):
    assert SpeedSpec.from_dict(spec.to_dict()) == spec
    assert spec.command().startswith(f"semikpca bench speed --repetitions {spec.repetitions}")
    assert ("--quick" in spec.command()) == spec.quick
    assert ('--works "path,add labels"' in spec.command()) == (len(spec.works) == 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"works": ("fits",)}, "There is no work 'fits' to time; there are fit, product"),
        ({"works": ()}, "at least one name"),
        ({"works": ("fit", "fit")}, "each once"),
        ({"repetitions": 0}, "repetitions must be a whole number, 1 or more, got 0"),
    ],
)
def test_bad_specs_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        SpeedSpec(**arguments)


# -- answers ---------------------------------------------------------------------------------------------------------


def test_the_formulas_are_those_of_the_paper():
    """Written once more, entry by entry."""
    X, y, _ = problems.two_clusters(40)
    K = np.array([[math.exp(-0.1 * sum((a - b) ** 2)) for b in X] for a in X])
    np.testing.assert_allclose(problems.naive_rbf(X, X, 0.1), K, rtol=1e-12)
    values, vectors = np.linalg.eigh(K)
    H = sum(
        (r := 0.2 * value) / (1 - r) * np.outer(vector, vector)
        for value, vector in zip(values[:-1], vectors.T[:-1], strict=True)
    )
    targets = np.where(y == -1, 0.0, np.where(y == 1, 1.0, -1.0))
    np.testing.assert_allclose(problems.algorithm_1(K, y, 0.2), H @ targets, atol=1e-12)
    np.testing.assert_allclose(problems.naive_nystroem(X, X, 0.1), K, atol=1e-9)


@pytest.mark.parametrize("method", [*SpeedCell("fit", 400).methods])
def test_small_answers_of_fits_are_right(method):
    with jobs.known_warnings_silenced():
        jobs.check_fit(QUICK_FIT, method)


@pytest.mark.parametrize("check", ["product", "nystroem", "graph"])
def test_small_answers_of_other_works_are_right(check):
    cell = SpeedCell(check, 400, quick=True)
    for method in WORKS[check].methods:
        if method != "approximate search":
            getattr(jobs, f"check_{check}")(cell, method)


@pytest.mark.parametrize("method", ["dense", "blocked", "kernel pca", "label spreading"])
def test_no_time_is_taken_of_a_wrong_answer(method, monkeypatch):
    right = jobs.naive_rbf
    monkeypatch.setattr(jobs, "naive_rbf", lambda A, B, gamma: right(A, B, 20 * gamma))
    with jobs.known_warnings_silenced(), pytest.raises(jobs.WrongAnswerError, match=r"is off by .* no time was taken"):
        jobs.make_jobs(QUICK_FIT, (method,))


def turn(decision, labels=None, seconds=(1.0,), **values):
    return Turn(Measurement(seconds=seconds, **values), np.array(decision), np.array(labels or [0, 1]), 1e-4)


def test_an_answer_that_differs_from_the_first_loses_its_time():
    reference = turn([1.0, 2.0])
    off = runner._judged(QUICK_FIT, turn([1.0, 2.1]), reference).measurement
    assert off.seconds == ()
    assert "off by 4.5e-02 from decisions of 'dense', 1e-04 is allowed" in off.failure
    near = runner._judged(QUICK_FIT, turn([1.0, 2.00001], error=1e-9), reference).measurement
    assert near.seconds == (1.0,)
    assert near.error == pytest.approx(4.5e-6, rel=0.1)
    assert near.labels_equal == 1


def test_labels_that_differ_from_the_first_lose_the_time():
    found = runner._judged(QUICK_FIT, turn([1.0, 2.0], [1, 1]), turn([1.0, 2.0], [0, 1])).measurement
    assert found.seconds == ()
    assert "only 50.00% of its labels" in found.failure


def test_labels_of_a_peer_may_differ():
    peer = replace(turn([1.0], [1, 1]), decision=None)
    found = runner._judged(QUICK_FIT, peer, turn([1.0, 2.0], [0, 1])).measurement
    assert found.seconds == (1.0,)
    assert found.labels_equal == 0.5


# -- processes -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record():
    return run_speed_cell(SpeedCell("add labels", 400, "blocked", quick=True), 2)


def test_a_record_has_all_that_was_promised(record):
    assert list(record.measurements) == ["fit", "add labels"]
    for found in record.measurements.values():
        assert found.failure == ""
        assert len(found.seconds) >= 2
        assert min(found.seconds) > 0
        assert found.backend == "blocked"
        assert found.dtype == "float64"
        assert found.n_features == 10
        assert found.products >= 2
        assert found.residual < 1e-5
        assert found.error < 1e-4
        assert 20 < found.baseline_mb <= found.peak_mb < 2_000
    assert record.measurements["add labels"].against == "a fit with all labels"
    assert record.cores >= 1


def test_a_record_survives_the_store(record, tmp_path):
    store = RecordStore(tmp_path, SpeedSpec, SpeedRecord)
    store.records.mkdir()
    store.write(record)
    assert store.read(record.cell) == record


def test_a_process_that_dies_is_said_to_have_died(monkeypatch):
    monkeypatch.setattr(runner, "_work", speed_children.die)
    found = run_speed_cell(SpeedCell("product", 1_000, quick=True), 2)
    for one in found.measurements.values():
        assert one.seconds == ()
        assert one.failure == "its process was killed by signal 9, which is what lack of memory does"


def test_a_process_that_nobody_waits_for_any_more_ends_quietly():
    here, there = multiprocessing.Pipe(duplex=False)
    here.close()
    runner._work(there, SpeedCell("product", 1_000, quick=True), ("blocked float32",))


@pytest.mark.slow  # processes are started
def test_an_error_is_written_down_and_the_others_go_on(monkeypatch):
    monkeypatch.setattr(runner, "_work", speed_children.fail_with_the_plain_product)
    found = run_speed_cell(SpeedCell("product", 1_000, quick=True), 2).measurements
    assert found["rbf_kernel on row blocks"].failure == "ArithmeticError: no luck"
    assert found["blocked float32"].seconds


@pytest.mark.slow  # a process is started, interrupted and waited for
def test_ctrl_c_leaves_no_process_behind(monkeypatch):
    monkeypatch.setattr(runner, "_work", speed_children.press_ctrl_c)
    before = set(multiprocessing.active_children())
    with pytest.raises(KeyboardInterrupt):
        run_speed_cell(SpeedCell("product", 1_000, quick=True), 1)
    assert not set(multiprocessing.active_children()) - before  # those of other tests may end meanwhile


def test_a_peer_that_does_not_fit_the_memory_is_not_run(monkeypatch):
    monkeypatch.setattr(runner, "_memory", lambda: 10**6)
    assert "would take about" in runner._reason_to_skip(SpeedCell("fit", 20_000), "label spreading")
    assert runner._reason_to_skip(SpeedCell("fit", 20_000), "blocked") == ""
    assert runner._reason_to_skip(SpeedCell("fit", 100), "kernel pca") == ""


def test_what_needs_faiss_says_so(monkeypatch):
    monkeypatch.setattr(runner, "find_spec", lambda name: None)
    assert "faiss is not installed" in runner._reason_to_skip(SpeedCell("graph", 800), "approximate search")


def test_memory_is_that_of_this_process():
    before = peak_memory_mb()
    block = np.ones(30_000_000)
    assert peak_memory_mb() >= max(before, 240)
    del block
    assert peak_memory_mb() >= 240  # the largest so far, not what is held now
