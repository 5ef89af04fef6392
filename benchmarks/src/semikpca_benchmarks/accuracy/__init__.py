"""The accuracy benchmark: our classifiers and what else one can install, on the same draws."""

from semikpca_benchmarks.accuracy._answers import Answer
from semikpca_benchmarks.accuracy._cells import (
    DIGITS_COUNTS,
    FOLDER_COUNTS,
    FURTHER_COUNTS,
    RARE_COUNTS,
    AccuracyCell,
    label_counts,
    labels_of_class,
)
from semikpca_benchmarks.accuracy._draws import draw_labeled_rows
from semikpca_benchmarks.accuracy._groups import ALL, PAPER_SHARES, CellGroup, accuracy_groups
from semikpca_benchmarks.accuracy._methods import (
    BEST_KERNEL,
    METHODS,
    REFERENCE,
    SINGLE_KERNELS,
    Method,
    default_methods,
    find_method,
)
from semikpca_benchmarks.accuracy._metrics import N_BINS
from semikpca_benchmarks.accuracy._records import SCORES, AccuracyRecord, MethodRecord
from semikpca_benchmarks.accuracy._results import (
    BEHIND_COLUMNS,
    CLOSE,
    ENOUGH_LABELS,
    MEASURES,
    NOISE_COLUMNS,
    RESULT_COLUMNS,
    behind_rows,
    failure_rows,
    n_cells_with_enough_labels,
    noise_rows,
    result_rows,
    seconds_by_method,
    values_of,
)
from semikpca_benchmarks.accuracy._runner import run_accuracy_cell, run_accuracy_cells
from semikpca_benchmarks.accuracy._spec import (
    NOISE_COUNT,
    NOISE_DATASETS,
    NOISE_PERCENTS,
    AccuracySpec,
    resolve_datasets,
)
from semikpca_benchmarks.accuracy._store import AccuracyStore
from semikpca_benchmarks.accuracy._summary import SUMMARY_COLUMNS, TEST_COLUMNS, paired_test_rows, summary_rows

__all__ = [
    "ALL",
    "BEHIND_COLUMNS",
    "BEST_KERNEL",
    "CLOSE",
    "DIGITS_COUNTS",
    "ENOUGH_LABELS",
    "FOLDER_COUNTS",
    "FURTHER_COUNTS",
    "MEASURES",
    "METHODS",
    "NOISE_COLUMNS",
    "NOISE_COUNT",
    "NOISE_DATASETS",
    "NOISE_PERCENTS",
    "N_BINS",
    "PAPER_SHARES",
    "RARE_COUNTS",
    "REFERENCE",
    "RESULT_COLUMNS",
    "SCORES",
    "SINGLE_KERNELS",
    "SUMMARY_COLUMNS",
    "TEST_COLUMNS",
    "AccuracyCell",
    "AccuracyRecord",
    "AccuracySpec",
    "AccuracyStore",
    "Answer",
    "CellGroup",
    "Method",
    "MethodRecord",
    "accuracy_groups",
    "behind_rows",
    "default_methods",
    "draw_labeled_rows",
    "failure_rows",
    "find_method",
    "label_counts",
    "labels_of_class",
    "n_cells_with_enough_labels",
    "noise_rows",
    "paired_test_rows",
    "resolve_datasets",
    "result_rows",
    "run_accuracy_cell",
    "run_accuracy_cells",
    "seconds_by_method",
    "summary_rows",
    "values_of",
]
