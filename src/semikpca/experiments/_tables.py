"""Tables made of records: what the paper prints, and how far ours is from it."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from semikpca.experiments._records import CellRecord
from semikpca.experiments._spec import MODELS, paper_values

CHOICES = ("best", "fixed")
PAPER_DRAWS = 10
_LEAST_STANDARD_ERROR = 0.3  # points: the paper prints one digit, and ten draws rarely agree better than this


def dataset_rows(records: Iterable[CellRecord]) -> list[dict[str, Any]]:
    """Return Table 1: one row a data set."""
    first = {record.cell.dataset: record for record in reversed(list(records))}
    return [
        {
            "dataset": name,
            "n_samples": record.n_samples,
            "n_features": record.n_features,
            "majority_percent": round(100 * record.majority_share, 1),
        }
        for name, record in reversed(first.items())
    ]


def result_rows(records: Iterable[CellRecord]) -> list[dict[str, Any]]:
    """Return Table 2: one row for each data set, label count, choice of the error weight and model.

    ``paper_mean``, ``paper_std`` and ``z`` are None for Semi-KPCA with k = 0, which the paper does not print. z is the
    difference of the means in standard errors of a mean over ten draws: the larger of the two spreads divided by
    sqrt(10), at least 0.3 points.
    """
    rows = []
    for record in records:
        for choice in CHOICES:
            for model in MODELS:
                accuracies = record.chosen_accuracies(model, choice)
                mean, std = float(accuracies.mean()), _spread(accuracies)
                paper = paper_values().get((record.cell.dataset, record.cell.n_labeled, choice, model))
                paper_mean = paper_std = z = None
                if paper is not None:
                    paper_mean, paper_std = paper.mean, paper.std
                    error = max(max(std, paper_std) / np.sqrt(PAPER_DRAWS), _LEAST_STANDARD_ERROR)
                    z = round(float((mean - paper_mean) / error), 3)
                rows.append(
                    {
                        **asdict(record.cell),
                        "gamma_choice": choice,
                        "model": model,
                        "accuracy_mean": round(mean, 4),
                        "accuracy_std": round(std, 4),
                        "paper_mean": paper_mean,
                        "paper_std": paper_std,
                        "z": z,
                    }
                )
    return rows


def curve_rows(records: Iterable[CellRecord]) -> list[dict[str, Any]]:
    """Return Figure 3 as numbers: mean accuracy at every error weight of every model."""
    return [
        {
            **asdict(record.cell),
            "model": model,
            "error_weight": weight,
            "accuracy_mean": round(float(accuracies.mean()), 4),
            "accuracy_std": round(_spread(accuracies), 4),
        }
        for record in records
        for model in MODELS
        for weight, accuracies in zip(
            record.models[model].error_weights.tolist(), record.accuracies(model), strict=True
        )
    ]


@dataclass(frozen=True)
class Agreement:
    """How well a run agrees with the paper."""

    n_cells: int  # of Table 2 that the run covers
    within_2: int  # of these, within two standard errors
    within_3: int
    n_datasets: int
    # Data sets on which Semi-KPCA with k = 1 has the highest mean of the paper's three models at the smallest number of
    # labels, with the best error weight; in this run and in the paper.
    ahead_at_fewest: int
    paper_ahead_at_fewest: int


def summarize(rows: list[dict[str, Any]]) -> Agreement:
    """Return the agreement of Table 2's rows with the paper."""
    scores = [abs(float(row["z"])) for row in rows if row["z"] is not None]
    fewest = {row["dataset"]: row["n_labeled"] for row in reversed(rows)}
    at_fewest = [row for row in rows if row["n_labeled"] == fewest[row["dataset"]]]
    printed = [row for row in at_fewest if row["gamma_choice"] == "best" and row["paper_mean"] is not None]
    return Agreement(
        n_cells=len(scores),
        within_2=sum(score <= 2 for score in scores),
        within_3=sum(score <= 3 for score in scores),
        n_datasets=len(fewest),
        ahead_at_fewest=_leads(printed, "accuracy_mean"),
        paper_ahead_at_fewest=_leads(printed, "paper_mean"),
    )


def _leads(rows: list[dict[str, Any]], column: str) -> int:
    of_datasets = [[row for row in rows if row["dataset"] == name] for name in {row["dataset"] for row in rows}]
    return sum(max(group, key=itemgetter(column))["model"] == "semi_kpca_1" for group in of_datasets)


def _spread(accuracies: Any) -> float:
    return float(accuracies.std(ddof=1)) if len(accuracies) > 1 else 0.0
