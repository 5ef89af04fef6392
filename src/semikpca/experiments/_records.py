"""What is remembered of a cell: counts of hits, from which every number is made."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.experiments._spec import Cell


@dataclass(frozen=True)
class ModelRecord:
    """One model in one cell; hits are unlabeled rows that were predicted right."""

    error_weights: FloatArray  # the grid, absolute and ascending, shape (n_weights,)
    hits: IntArray  # shape (n_weights, repetitions)
    fixed_error_weight: float  # the paper's rule of thumb
    fixed_hits: IntArray  # shape (repetitions,)


@dataclass(frozen=True)
class CellRecord:
    """Everything that a cell's run found."""

    cell: Cell
    n_samples: int
    n_features: int
    majority_share: float
    eigenvalues: tuple[float, ...]  # the leading ones of the kernel matrix, λ1 first
    models: dict[str, ModelRecord]

    @property
    def n_unlabeled(self) -> int:
        """Rows on which the accuracy is measured."""
        return self.n_samples - self.cell.n_labeled

    def accuracies(self, model: str) -> FloatArray:
        """Return accuracies in percent over the grid, shape (n_weights, repetitions)."""
        return np.asarray(100.0 * self.models[model].hits / self.n_unlabeled)

    def best_index(self, model: str) -> int:
        """Return where on the grid the mean accuracy is highest: the paper's "best", which sees the test labels."""
        return int(self.models[model].hits.sum(axis=1).argmax())

    def chosen_accuracies(self, model: str, choice: str) -> FloatArray:
        """Return accuracies in percent of each draw for the choice "best" or "fixed" of the error weight."""
        if choice == "best":
            return np.asarray(self.accuracies(model)[self.best_index(model)])
        return np.asarray(100.0 * self.models[model].fixed_hits / self.n_unlabeled)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON takes it."""
        values = asdict(self)
        for model in values["models"].values():
            model.update({name: np.asarray(numbers).tolist() for name, numbers in model.items()})
        return {**values.pop("cell"), **values, "eigenvalues": list(self.eigenvalues)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "CellRecord":
        """Return the record that ``to_dict`` was made of."""
        models = {
            name: ModelRecord(
                error_weights=np.asarray(model["error_weights"], dtype=np.float64),
                hits=np.asarray(model["hits"], dtype=np.intp),
                fixed_error_weight=model["fixed_error_weight"],
                fixed_hits=np.asarray(model["fixed_hits"], dtype=np.intp),
            )
            for name, model in values["models"].items()
        }
        same = {name: values[name] for name in ("n_samples", "n_features", "majority_share")}
        cell = Cell(values["dataset"], values["n_labeled"])
        return cls(cell=cell, eigenvalues=tuple(values["eigenvalues"]), models=models, **same)
