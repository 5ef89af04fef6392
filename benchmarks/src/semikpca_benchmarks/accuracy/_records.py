"""What is remembered of a cell: counts of hits, seconds and failures of every method in every draw."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from semikpca_benchmarks._typing import FloatArray
from semikpca_benchmarks.accuracy._spec import AccuracyCell


@dataclass(frozen=True)
class MethodRecord:
    """One method in one cell.

    Attributes
    ----------
    hits : ndarray of shape (repetitions,)
        Unlabeled rows that were predicted right; NaN where the method failed.
    seconds : ndarray of shape (repetitions,)
    failures : dict of int to str
        By draw, what went wrong.
    audit_auc : ndarray of shape (repetitions,) or None
        Area under the ROC curve for finding the wrong labels; NaN where there is none.
    chosen : float or None
        For the oracle, the relative weight that was best.
    """

    hits: FloatArray
    seconds: FloatArray
    failures: dict[int, str] = field(default_factory=dict)
    audit_auc: FloatArray | None = None
    chosen: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON takes it."""
        return {
            "hits": [None if np.isnan(count) else int(count) for count in self.hits],
            "seconds": [round(float(value), 4) for value in self.seconds],
            "failures": {str(draw): message for draw, message in self.failures.items()},
            "audit_auc": None if self.audit_auc is None else _without_nan(self.audit_auc),
            "chosen": self.chosen,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "MethodRecord":
        """Return the record that ``to_dict`` was made of."""
        return cls(
            hits=np.array(values["hits"], dtype=np.float64),
            seconds=np.array(values["seconds"], dtype=np.float64),
            failures={int(draw): message for draw, message in values["failures"].items()},
            audit_auc=None if values["audit_auc"] is None else np.array(values["audit_auc"], dtype=np.float64),
            chosen=values["chosen"],
        )


@dataclass(frozen=True)
class AccuracyRecord:
    """Everything that a cell's run found.

    Attributes
    ----------
    cell : AccuracyCell
    n_samples, n_features, n_classes : int
    majority_share : float
    methods : dict of str to MethodRecord
    """

    cell: AccuracyCell
    n_samples: int
    n_features: int
    n_classes: int
    majority_share: float
    methods: dict[str, MethodRecord]

    def accuracies(self, method: str) -> FloatArray:
        """Return the accuracy of each draw in percent; NaN where the method failed."""
        return np.asarray(100.0 * self.methods[method].hits / (self.n_samples - self.cell.n_labeled))

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
            "dataset": self.cell.dataset,
            "labels": self.cell.labels,
            "flipped": self.cell.flipped,
            "n_samples": self.n_samples,
            "n_features": self.n_features,
            "n_classes": self.n_classes,
            "majority_share": self.majority_share,
            "methods": {name: method.to_dict() for name, method in self.methods.items()},
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "AccuracyRecord":
        """Return the record that ``to_dict`` was made of."""
        return cls(
            cell=AccuracyCell(values["dataset"], values["labels"], values["flipped"]),
            n_samples=values["n_samples"],
            n_features=values["n_features"],
            n_classes=values["n_classes"],
            majority_share=values["majority_share"],
            methods={name: MethodRecord.from_dict(method) for name, method in values["methods"].items()},
        )


def _without_nan(values: FloatArray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
