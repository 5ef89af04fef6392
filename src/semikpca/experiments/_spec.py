"""What to run and what the paper found: its protocol and the numbers of its Table 2, as data."""

import csv
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from semikpca._numbers import is_whole_number
from semikpca._typing import FloatArray
from semikpca.datasets import PAPER_DATASETS
from semikpca.exceptions import DatasetError

MODEL_NAMES: MappingProxyType[str, str] = MappingProxyType(
    {
        "semi_kpca_0": "Semi-KPCA, k = 0",
        "semi_kpca_1": "Semi-KPCA, k = 1",
        "semi_lssvm": "Semi-LSSVM",
        "subs_lssvm": "Subs-LSSVM",
    }
)
MODELS: tuple[str, ...] = tuple(MODEL_NAMES)
"""The four models of the paper: Semi-KPCA with k = 0 and k = 1, and LS-SVM on all and on the labeled rows."""

# Semi-KPCA: shares of the bound, from far below it to just inside. LS-SVM: multiples of d/N, four decades to either
# side of the paper's own choice of 10 d/N.
_SHARE_ENDS = (1e-3, 0.9999)
_MULTIPLE_ENDS = (1e-3, 1e5)


class PaperValue(NamedTuple):
    """One printed cell: mean and standard deviation of the accuracy over ten draws, in percent."""

    mean: float
    std: float


@cache
def paper_values() -> MappingProxyType[tuple[str, int, str, str], PaperValue]:
    """Return the 216 printed cells of Table 2, by data set, number of labels, "best" or "fixed" weight, and model."""
    text = files("semikpca.experiments").joinpath("paper_values.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        key = row["dataset"], int(row["n_labeled"]), row["gamma_choice"], row["model"]
        found[key] = PaperValue(float(row["accuracy_mean"]), float(row["accuracy_std"]))
    return MappingProxyType(found)


def paper_label_counts(dataset: str) -> tuple[int, ...]:
    """Return the numbers of labels that the paper used for a data set, ascending."""
    return tuple(sorted({n_labeled for name, n_labeled, _, _ in paper_values() if name == dataset}))


@dataclass(frozen=True)
class Cell:
    """One data set with one number of labels: the unit of work, and of what is stored."""

    dataset: str
    n_labeled: int

    def __str__(self) -> str:
        return f"{self.dataset}-{self.n_labeled}"


@dataclass(frozen=True)
class PaperSpec:
    """A run of the paper's experiments."""

    datasets: tuple[str, ...] = PAPER_DATASETS
    repetitions: int = 10  # draws of the labeled rows for each cell; the paper has ten
    seed: int = 0  # of the draws, and of the synthetic data set
    n_weights: int = 81  # error weights on the grid of each model

    def __post_init__(self) -> None:
        for name in self.datasets:
            if name not in PAPER_DATASETS:
                raise DatasetError(f"There is no data set {name!r}; the paper has {', '.join(PAPER_DATASETS)}.")
        if not self.datasets or len(set(self.datasets)) != len(self.datasets):
            raise ValueError(f"datasets must name at least one data set, each once; got {list(self.datasets)}.")
        for name, minimum in (("repetitions", 1), ("seed", 0), ("n_weights", 2)):
            if not is_whole_number(value := getattr(self, name), minimum):
                raise ValueError(f"{name} must be a whole number, {minimum} or more, got {value!r}.")

    def cells(self) -> tuple[Cell, ...]:
        """Return all cells, in the order of Table 2."""
        return tuple(Cell(name, n_labeled) for name in self.datasets for n_labeled in paper_label_counts(name))

    def relative_weights(self) -> FloatArray:
        """Return the grid of Semi-KPCA, in multiples of the bound: dense at both ends."""
        return np.asarray(expit(np.linspace(logit(_SHARE_ENDS[0]), logit(_SHARE_ENDS[1]), self.n_weights)))

    def lssvm_weights(self, n_samples: int, n_features: int) -> FloatArray:
        """Return the grid of the LS-SVM models, absolute."""
        return np.geomspace(*_MULTIPLE_ENDS, self.n_weights) * n_features / n_samples

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as JSON takes it."""
        return {**asdict(self), "datasets": list(self.datasets)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "PaperSpec":
        """Return the spec that ``to_dict`` was made of."""
        return cls(**{**values, "datasets": tuple(values["datasets"])})
