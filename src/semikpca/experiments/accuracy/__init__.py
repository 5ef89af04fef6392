"""The accuracy benchmark: our classifiers and what else one can install, on the same draws."""

from semikpca.experiments.accuracy._methods import METHODS, REFERENCE, Method, default_methods, find_method
from semikpca.experiments.accuracy._records import AccuracyRecord, MethodRecord
from semikpca.experiments.accuracy._runner import run_accuracy_cell, run_accuracy_cells
from semikpca.experiments.accuracy._spec import AccuracyCell, AccuracySpec, group_of, label_counts, resolve_datasets
from semikpca.experiments.accuracy._store import AccuracyStore
from semikpca.experiments.accuracy._tables import (
    accuracy_groups,
    behind_rows,
    failure_rows,
    noise_rows,
    paired_test_rows,
    result_rows,
    summary_rows,
)

__all__ = [
    "METHODS",
    "REFERENCE",
    "AccuracyCell",
    "AccuracyRecord",
    "AccuracySpec",
    "AccuracyStore",
    "Method",
    "MethodRecord",
    "accuracy_groups",
    "behind_rows",
    "default_methods",
    "failure_rows",
    "find_method",
    "group_of",
    "label_counts",
    "noise_rows",
    "paired_test_rows",
    "resolve_datasets",
    "result_rows",
    "run_accuracy_cell",
    "run_accuracy_cells",
    "summary_rows",
]
