"""Rows of the speed tables and the bars, from records written by hand."""

import pytest

from semikpca_benchmarks.speed import (
    BAR_COLUMNS,
    RESULT_COLUMNS,
    Measurement,
    SpeedCell,
    SpeedRecord,
    bar_rows,
    bars,
    result_rows,
)


def took(seconds, peak=1_100.0, **values):
    return Measurement(seconds=(seconds,), peak_mb=peak, baseline_mb=100.0, n_features=10, dtype="float64", **values)


def record(work, n, place="", quick=False, **methods):
    named = {name.replace("_", " "): found for name, found in methods.items()}
    return SpeedRecord(SpeedCell(work, n, place, quick), 2, named)


FITS = [
    record("fit", 1_000, dense=took(0.1, 110), blocked=took(0.2, 105), auto=took(0.12, 110)),
    record("fit", 10_000, dense=took(10.0, 1_100), blocked=took(4.0, 110), auto=took(2.0, 110),
           label_spreading=took(8.0), kernel_pca=took(6.0)),
    record("fit", 20_000, blocked=took(8.0, 120), auto=took(4.0, 120), label_spreading=took(40.0, 10_000),
           kernel_pca=took(80.0, 9_000)),
    record("fit", 100_000, auto=took(70.0, 990)),
]  # fmt: skip


def by_what(records):
    return {(row["n"], row["what"]): row for row in bar_rows(records)}


def test_rows_hold_medians_ratios_and_growth():
    rows = {(row["n"], row["method"]): row for row in result_rows(FITS)}
    assert set(rows[1_000, "auto"]) == set(RESULT_COLUMNS)
    large = rows[10_000, "dense"]
    assert (large["seconds"], large["peak_mb"], large["cores"]) == (10.0, 1_100.0, 2)
    assert large["seconds_growth"] == 2.0  # ten times the rows, a hundred times the seconds
    assert large["memory_growth"] == 2.0  # above the libraries: 10 MB and 1,000 MB
    assert rows[1_000, "dense"]["seconds_growth"] is None
    # A fit is held to the faster peer, and peers to nobody.
    assert (rows[10_000, "auto"]["reference"], rows[10_000, "auto"]["ratio"]) == ("kernel pca", 0.3333)
    assert rows[10_000, "label spreading"]["reference"] is None
    assert rows[1_000, "auto"]["ratio"] is None


def test_the_median_counts():
    found = Measurement(seconds=(3.0, 1.0, 2.0))
    assert found.median_seconds == 2.0
    assert Measurement().median_seconds is None


def test_growth_is_that_between_neighbors_of_the_same_method():
    rows = {(row["n"], row["method"]): row for row in result_rows(FITS)}
    # From 20,000 to 100,000, with blocked left out at 100,000.
    assert rows[100_000, "auto"]["seconds_growth"] == pytest.approx(1.78, abs=0.01)


def test_failures_have_a_reason_and_no_time():
    failed = record("product", 20_000, **{"rbf_kernel_on_row_blocks": took(1.0)})
    failed.measurements["blocked float32"] = Measurement(failure="no time: off by 1e+00")
    row = result_rows([failed])[-1]
    assert row["seconds"] is None
    assert row["ratio"] is None
    assert row["failure"] == "no time: off by 1e+00"
    assert bars([failed]) == []


@pytest.mark.parametrize(
    ("n", "what", "value", "met"),
    [
        (10_000, "fit, times faster than LabelSpreading", 4.0, "yes"),
        (10_000, "fit, times faster than KernelPCA", 3.0, "yes"),
        (20_000, "fit, times faster than LabelSpreading", 10.0, "no"),
        (20_000, "fit, times faster than KernelPCA", 20.0, "yes"),
        (20_000, "memory of blocked, share of LabelSpreading", 0.012, "yes"),
        (20_000, "memory of blocked, share of KernelPCA", 0.0133, "yes"),
        (1_000, "automatic choice, share of the best back end's time", 1.2, "yes"),
        (10_000, "automatic choice, share of the best back end's time", 0.5, "yes"),
        (100_000, "fit, share of LabelSpreading's time for 20,000 rows", 1.75, "yes"),
        (100_000, "memory of the fit", 990.0, "yes"),
    ],
)
def test_fits_are_held_to_their_bars(n, what, value, met):
    row = by_what(FITS)[n, what]
    assert set(row) == set(BAR_COLUMNS)
    assert (row["value"], row["met"]) == (value, met)


def test_an_automatic_choice_that_is_too_slow_is_missed():
    slow = record("fit", 5_000, dense=took(1.0), blocked=took(2.0), auto=took(1.31))
    assert by_what([slow])[5_000, "automatic choice, share of the best back end's time"]["met"] == "no"


def test_other_works_are_held_to_their_bars():
    records = [
        record("product", 20_000, blocked_float32=took(1.0), rbf_kernel_on_row_blocks=took(5.9)),
        record("nystroem", 100_000, nystroem=took(10.0)),
        record("nystroem", 1_000_000, nystroem=took(100.0, 5_000)),
        record("graph", 70_000, exact_search=took(9.0)),
        record("path", 2_000, "dense", fit=took(1.0), path=took(1.4)),
        record("add labels", 10_000, "auto", fit=took(1.0), add_labels=took(0.15)),
        record("automatic", 2_000, fit=took(1.0), automatic_fit=took(9.0)),
    ]
    records[0].measurements["rbf_kernel on row blocks"] = records[0].measurements.pop("rbf kernel on row blocks")
    found = {row["what"]: (row["value"], row["met"]) for row in bar_rows(records)}
    assert found == {
        "one product, times faster than rbf_kernel on row blocks": (5.9, "no"),
        "fit": (100.0, "yes"),
        "power of n that the time grows with, from 100,000 rows": (1.0, "yes"),
        "memory of the fit": (5_000.0, "yes"),
        "fit after the graph": (9.0, "yes"),
        "path of 100 weights, share of a fit (dense)": (1.4, "no"),
        "a label added, share of a fit (auto)": (0.15, "no"),
        "a label added (auto)": (150.0, "yes"),
        "automatic fit, times a plain fit": (9.0, "yes"),
    }


def test_a_quick_run_meets_no_bar_and_misses_none():
    quick = record("path", 300, "dense", quick=True, fit=took(1.0), path=took(9.0))
    assert [row["met"] for row in bar_rows([quick])] == [""]
