"""Cells and records made by hand, whose numbers can be checked on paper."""

from dataclasses import replace

import numpy as np

from semikpca_benchmarks.accuracy import AccuracyCell, AccuracyRecord, MethodRecord
from semikpca_benchmarks.datasets import SetInfo, benchmark_info

N_UNLABELED = 1000
MANY_ROWS = 10**6


def cell_of(name, labels, flipped=0):
    """A cell of a set of the benchmark as it is."""
    return AccuracyCell(benchmark_info(name), labels, flipped)


def made_cell(name, labels, flipped=0, info=None, unlabeled=None):
    """A cell with 1,000 rows to be predicted: ``unlabeled`` of each class, or as many of each as of the others."""
    info = benchmark_info(name) if info is None else info
    n_labeled = AccuracyCell(replace(info, class_sizes=(MANY_ROWS,) * info.n_classes), labels).n_labeled
    parts = unlabeled or split(N_UNLABELED, info.n_classes), split(n_labeled, info.n_classes)
    sizes = tuple(sum(rows) for rows in zip(*parts, strict=True))
    return AccuracyCell(replace(info, class_sizes=sizes), labels, flipped)


def split(total, n_parts):
    """A whole number in parts that differ by one at most."""
    return tuple(total // n_parts + (part < total % n_parts) for part in range(n_parts))


def made_record(cell, accuracies, audit=None, scores=None):
    """A record from accuracies in percent by method, None where a draw failed, and scores of probabilities."""
    n_draws = len(next(iter(accuracies.values())))
    labeled = np.tile(split(cell.n_labeled, cell.info.n_classes), (n_draws, 1))
    unlabeled = np.array(cell.info.class_sizes) - labeled[0]
    assert unlabeled.sum() == N_UNLABELED
    return AccuracyRecord(
        cell=cell,
        n_features=4,
        labeled=labeled,
        methods={
            name: MethodRecord(
                class_hits=np.stack([hits_of(value, unlabeled) for value in values]),
                predicted=np.stack([np.full(len(unlabeled), np.nan) if v is None else unlabeled for v in values]),
                seconds=np.full(n_draws, 0.5),
                failures={i: "ValueError: no" for i, value in enumerate(values) if value is None},
                scores=(scores or {}).get(name, {}),
                audit_auc=None if audit is None or name not in audit else np.array(audit[name], dtype=float),
            )
            for name, values in accuracies.items()
        },
    )


def hits_of(accuracy, unlabeled):
    """Hits of each class that come to an accuracy in percent: whole classes first."""
    if accuracy is None:
        return np.full(len(unlabeled), np.nan)
    left, hits = round(10 * accuracy), []
    for size in unlabeled:
        hits.append(min(left, size))
        left -= hits[-1]
    return np.array(hits, dtype=float)


def folder_info(name="mails", class_sizes=(40, 60), groups=("folder",), **changes):
    """A set of a folder of the user's."""
    facts = {"counting": "each class", "scaling": "none", "sha256": "0" * 64, **changes}
    return SetInfo(name, groups, class_sizes, **facts)
