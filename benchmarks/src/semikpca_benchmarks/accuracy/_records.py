"""What is remembered of a cell: counts for each class, scores of probabilities, seconds and failures in every draw."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from semikpca_benchmarks._typing import FloatArray, IntArray
from semikpca_benchmarks.accuracy._cells import AccuracyCell
from semikpca_benchmarks.accuracy._metrics import balanced_accuracy, rare_f1
from semikpca_benchmarks.accuracy._spec import RECORD_VERSION, check_record_version
from semikpca_benchmarks.datasets import SetInfo

SCORES = ("calibration_error", "brier", "overconfidence")
"""Scores of probabilities, as ``ProbabilityScores`` has them."""

_SCORE_DIGITS = 6


@dataclass(frozen=True)
class MethodRecord:
    """One method in one cell.

    Attributes
    ----------
    class_hits : ndarray of shape (repetitions, n_classes)
        Unlabeled rows of each class that were predicted right; NaN where the method failed.
    predicted : ndarray of shape (repetitions, n_classes)
        Unlabeled rows that were predicted to be of each class, right or wrong; NaN where the method failed.
    seconds : ndarray of shape (repetitions,)
    failures : dict of int to str
        By draw, what went wrong.
    scores : dict of str to ndarray of shape (repetitions,)
        Scores of probabilities by name, NaN where the method failed; empty for methods without probabilities.
    audit_auc : ndarray of shape (repetitions,) or None
        Area under the ROC curve for finding the wrong labels; NaN where there is none.
    chosen : float or None
        For the oracle, the relative weight that was best.
    """

    class_hits: FloatArray
    predicted: FloatArray
    seconds: FloatArray
    failures: dict[int, str] = field(default_factory=dict)
    scores: dict[str, FloatArray] = field(default_factory=dict)
    audit_auc: FloatArray | None = None
    chosen: float | None = None

    @property
    def hits(self) -> FloatArray:
        """Unlabeled rows that were predicted right, shape (repetitions,); NaN where the method failed."""
        return np.asarray(self.class_hits.sum(axis=1))

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON takes it."""
        return {
            "class_hits": _counts_or_none(self.class_hits),
            "predicted": _counts_or_none(self.predicted),
            "seconds": [round(float(value), 4) for value in self.seconds],
            "failures": {str(draw): message for draw, message in self.failures.items()},
            "scores": {name: _without_nan(values.round(_SCORE_DIGITS)) for name, values in self.scores.items()},
            "audit_auc": None if self.audit_auc is None else _without_nan(self.audit_auc),
            "chosen": self.chosen,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any], n_classes: int) -> "MethodRecord":
        """Return the record that ``to_dict`` was made of."""
        return cls(
            class_hits=_from_counts(values["class_hits"], n_classes),
            predicted=_from_counts(values["predicted"], n_classes),
            seconds=np.array(values["seconds"], dtype=np.float64),
            failures={int(draw): message for draw, message in values["failures"].items()},
            scores={name: np.array(numbers, dtype=np.float64) for name, numbers in values["scores"].items()},
            audit_auc=None if values["audit_auc"] is None else np.array(values["audit_auc"], dtype=np.float64),
            chosen=values["chosen"],
        )


@dataclass(frozen=True)
class AccuracyRecord:
    """Everything that a cell's run found.

    Attributes
    ----------
    cell : AccuracyCell
    n_features : int
    labeled : ndarray of int, shape (repetitions, n_classes)
        Labeled rows of each class, by their true classes.
    methods : dict of str to MethodRecord
    """

    cell: AccuracyCell
    n_features: int
    labeled: IntArray
    methods: dict[str, MethodRecord]

    @property
    def unlabeled(self) -> FloatArray:
        """Rows of each class that are to be predicted, shape (repetitions, n_classes)."""
        return np.asarray(np.array(self.cell.info.class_sizes) - self.labeled, dtype=np.float64)

    def accuracies(self, method: str) -> FloatArray:
        """Return the accuracy of each draw in percent; NaN where the method failed."""
        return np.asarray(100.0 * self.methods[method].hits / self.unlabeled.sum(axis=1))

    def balanced_accuracies(self, method: str) -> FloatArray:
        """Return the mean share of the classes that was found, of each draw, in percent; NaN where it failed."""
        return balanced_accuracy(self.methods[method].class_hits, self.unlabeled)

    def rare_f1(self, method: str) -> FloatArray:
        """Return F1 of the rare classes of each draw, in percent; NaN where it failed or no class is rare."""
        found = self.methods[method]
        return rare_f1(found.class_hits, found.predicted, self.unlabeled, self.cell.info.rare_classes)

    def without(self, methods: Iterable[str]) -> "AccuracyRecord":
        """Return the record without some methods."""
        dropped = set(methods)
        return replace(self, methods={name: found for name, found in self.methods.items() if name not in dropped})

    def joined(self, other: "AccuracyRecord") -> "AccuracyRecord":
        """Return the record with the methods of another one of the same cell; those of the other one count."""
        return replace(self, methods={**self.methods, **other.methods})

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON takes it."""
        return {
            "record_version": RECORD_VERSION,
            "set": self.cell.info.to_dict(),
            "labels": self.cell.labels,
            "flipped": self.cell.flipped,
            "n_features": self.n_features,
            "labeled": self.labeled.tolist(),
            "methods": {name: method.to_dict() for name, method in self.methods.items()},
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "AccuracyRecord":
        """Return the record that ``to_dict`` was made of."""
        check_record_version(values)
        info = SetInfo.from_dict(values["set"])
        return cls(
            cell=AccuracyCell(info, values["labels"], values["flipped"]),
            n_features=values["n_features"],
            labeled=np.array(values["labeled"], dtype=np.intp),
            methods={name: MethodRecord.from_dict(found, info.n_classes) for name, found in values["methods"].items()},
        )


def _without_nan(values: FloatArray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _counts_or_none(counts: FloatArray) -> list[list[int] | None]:
    return [None if np.isnan(row).any() else [int(count) for count in row] for row in counts]


def _from_counts(rows: list[list[int] | None], n_classes: int) -> FloatArray:
    return np.array([[np.nan] * n_classes if row is None else row for row in rows], dtype=np.float64)
