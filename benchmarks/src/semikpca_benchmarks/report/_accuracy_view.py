"""The report on the accuracy benchmark as plain data: everything that the page shows, before any of it is drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

from semikpca_benchmarks.accuracy import (
    BEST_KERNEL,
    CLOSE,
    DIGITS_COUNTS,
    ENOUGH_LABELS,
    FURTHER_COUNTS,
    METHODS,
    N_BINS,
    NOISE_COUNT,
    NOISE_DATASETS,
    NOISE_PERCENTS,
    RARE_COUNTS,
    REFERENCE,
    AccuracyRecord,
    AccuracySpec,
    behind_rows,
    failure_rows,
    n_cells_with_enough_labels,
    paired_test_rows,
    result_rows,
    seconds_by_method,
    summary_rows,
)
from semikpca_benchmarks.report import _accuracy_cells as cells
from semikpca_benchmarks.report import _accuracy_groups as groups
from semikpca_benchmarks.report._accuracy_summary import summary_cards, summary_sentences
from semikpca_benchmarks.report._accuracy_words import KINDS, counted


def accuracy_view(spec: AccuracySpec, versions: Mapping[str, str], records: Sequence[AccuracyRecord]) -> dict[str, Any]:
    """Return what the report on a run shows: strings, numbers, lists and dicts only.

    Parameters
    ----------
    spec : AccuracySpec
        What was run.
    versions : mapping of str to str
        What it was run with.
    records : sequence of AccuracyRecord
        In the order of the spec; cells that are missing are left out of every count.
    """
    results, summary = result_rows(records), summary_rows(records)
    table = {(row["group"], row["method"]): row for row in summary}
    shown = groups.groups_of(summary)
    methods = groups.by_rank(table, spec.methods)
    run = [method for method in methods if method != BEST_KERNEL]
    behind = behind_rows(records)
    return {
        "title": "Few labels, many rows: semikpca against what else one can install",
        "reference": REFERENCE if REFERENCE in spec.methods else None,
        "close": CLOSE,
        "enough_labels": ENOUGH_LABELS,
        "n_bins": N_BINS,
        "repetitions": spec.repetitions,
        "summary": {
            "cards": summary_cards(table, behind, records),
            "sentences": summary_sentences(table, behind, records),
        },
        "groups": shown,
        "headline": [groups.headline_row(table, shown, method) for method in methods],
        "best_kernel": BEST_KERNEL if BEST_KERNEL in methods else None,
        "steps": groups.steps(table, summary, methods),
        "rare": groups.rare_tables(table, summary, methods),
        "probabilities": groups.probability_tables(table, summary, run),
        "calibration": groups.calibration_curves(table, summary, run),
        "ranks": groups.ranks(table, shown),
        "tests": groups.tests(paired_test_rows(records)),
        "behind": behind,
        "n_enough_labels": n_cells_with_enough_labels(records),
        "failures": failure_rows(records),
        "curves": cells.curves(results),
        "results": cells.all_results(results, run),
        "noise": cells.noise(records, results, run),
        "datasets": cells.data_sets(records),
        "methods": _methods(spec, records),
        "absent": _absent(spec, versions),
        "settings": _settings(spec),
        "versions": [{"name": name, "version": version} for name, version in sorted(versions.items())],
        "command": spec.command(),
    }


def accuracy_headlines(spec: AccuracySpec, versions: Mapping[str, str], records: Sequence[AccuracyRecord]) -> list[str]:
    """Return what a run comes to in a few sentences, for the terminal."""
    table = {(row["group"], row["method"]): row for row in summary_rows(records)}
    return [*summary_sentences(table, behind_rows(records), records), *_absent(spec, versions)]


def _methods(spec: AccuracySpec, records: Sequence[AccuracyRecord]) -> list[dict[str, Any]]:
    seconds = seconds_by_method(records)
    n_fits = {
        method: sum(len(record.methods[method].seconds) for record in records if method in record.methods)
        for method in seconds
    }
    return [
        {
            "name": method.name,
            "kind": KINDS[method.kind],
            "settings": method.settings,
            "seconds": seconds[method.name] / n_fits[method.name] if n_fits.get(method.name) else None,
        }
        for method in METHODS
        if method.name in spec.methods
    ]


def _absent(spec: AccuracySpec, versions: Mapping[str, str]) -> list[str]:
    """Say which methods were left out for want of a package."""
    absent: dict[str, list[str]] = {}
    for method in METHODS:
        if method.package is not None and method.package not in versions and method.name not in spec.methods:
            absent.setdefault(method.package, []).append(method.name)
    return [
        f"Not run, because the package {package} was not installed: {', '.join(names)}."
        for package, names in absent.items()
    ]


def _settings(spec: AccuracySpec) -> list[dict[str, str]]:
    noise = " and ".join(f"{percent}%" for percent in NOISE_PERCENTS)
    settings = {
        "Repetitions": f"{counted(spec.repetitions, 'draw')} of the labeled rows for each cell, the same for all "
        "methods",
        "Seed": f"{spec.seed}, of the draws; the data are always the same",
        "Labels": "The paper’s sets: its four counts, drawn uniformly, again until both classes are there. Digits: "
        f"{_listed(DIGITS_COUNTS)} of each class. Further sets: {_listed(FURTHER_COUNTS)} per class on average, one "
        f"row of each class and the rest uniformly. Rare classes: {_listed(RARE_COUNTS)} of each class. Counts beyond "
        "a third of the rows are skipped",
        **_folder_settings(spec),
        "Features": "mean 0 and variance 1, constant columns left alone; digits divided by 16. Sets of more than 1,000 "
        "rows are cut to a random sample of 1,000, but for digits",
        "Accuracy": "on the unlabeled rows, in percent; a fit that failed is left out of its mean and counted",
        "Balanced accuracy": "the mean over the classes of the share of their unlabeled rows that was found",
        "F1 of rare classes": "the mean over classes with at most half of the rows that they would have if all classes "
        "were of one size",
        "Probabilities": f"calibration error over {N_BINS} bins of the confidence of equal width, weighed by their "
        "rows; Brier score, the mean squared distance from the truth over all classes (0 to 2); over-confidence, the "
        "mean confidence minus the accuracy. The confidence is the probability of the label that was predicted",
        "Ranks": "by the mean over the draws in each cell, among all methods that do not use the test labels; equal "
        "means share their rank",
        "Halves": "the 24 further sets and the 16 with a rare class were split by a hash of their names before any "
        "result was seen. Defaults were tuned on the paper’s sets, on digits and on the tuning halves alone",
        "Wrong labels": (
            f"{noise} of the given labels turned into another class, {NOISE_COUNT} labels per class, on "
            f"{', '.join(NOISE_DATASETS)}; the draws are those without wrong labels"
            if spec.noise
            else "not run"
        ),
    }
    return [{"name": name, "value": value} for name, value in settings.items()]


def _folder_settings(spec: AccuracySpec) -> dict[str, str]:
    if spec.folder is None:
        return {}
    return {
        "Folder": f"{_listed(spec.labels_per_class)} labels of each class; a class that is too small for that keeps at "
        f"least a third of its rows unlabeled. Sets of more than {spec.folder.most_rows:,} rows are cut to a uniform "
        "sample, the same for all draws. How the features of each set were scaled is listed with the data sets"
    }


def _listed(counts: Sequence[int]) -> str:
    return ", ".join(map(str, counts[:-1])) + " and " + str(counts[-1]) if len(counts) > 1 else str(counts[0])
