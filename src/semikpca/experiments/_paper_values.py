"""The numbers that the paper prints in Table 2."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TypeAlias

CellKey: TypeAlias = tuple[str, int, str, str]
"""Data set, number of labels, choice of the error weight ("best" or "fixed"), model."""


@dataclass(frozen=True)
class PaperValue:
    """One printed cell: mean and standard deviation of the accuracy over ten draws, in percent."""

    mean: float
    std: float


@cache
def paper_values() -> MappingProxyType[CellKey, PaperValue]:
    """Return the 216 printed cells of Table 2."""
    text = files("semikpca.experiments").joinpath("paper_values.csv").read_text(encoding="utf-8")
    return MappingProxyType(
        {
            (row["dataset"], int(row["n_labeled"]), row["gamma_choice"], row["model"]): PaperValue(
                float(row["accuracy_mean"]), float(row["accuracy_std"])
            )
            for row in csv.DictReader(text.splitlines())
        }
    )


def paper_label_counts(dataset: str) -> tuple[int, ...]:
    """Return the numbers of labels that the paper used for a data set, ascending."""
    return tuple(sorted({n_labeled for name, n_labeled, _, _ in paper_values() if name == dataset}))
