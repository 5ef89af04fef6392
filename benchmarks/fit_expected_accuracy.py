"""How well the automatic classifier expects its own accuracy, and the constants that would expect it best.

``SemiKPCAClassifierCV`` makes its probabilities as high, on the mean, as it expects its labels to be right. What it
expects follows from evidence (``model.blend_.accuracy``) by a formula with six constants
(docs/decisions/0028-probabilities-as-high-as-accuracy.md). This program fits them anew, by the least sum of absolute
errors, on the data sets that defaults may be tuned on: the paper's, digits and the tuning half, and, with --data, those
of a folder. Errors are reported with the present constants, with the fitted ones, and for sets that were held out while
constants were fitted to the others (ten parts of the sets, or as many as there are sets). It changes no source: who
takes over new constants does so by hand.

    python benchmarks/fit_expected_accuracy.py --out benchmarks/results/expected_accuracy.csv
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from results_csv import circumstances, command_line, write_csv
from semikpca import SemiKPCAClassifierCV
from semikpca.blending import AccuracyEvidence
from semikpca_benchmarks.accuracy import (
    FOLDER_COUNTS,
    AccuracyCell,
    AccuracySpec,
    accuracy_groups,
    draw_labeled_rows,
    resolve_datasets,
)
from semikpca_benchmarks.datasets import (
    FOLDER_GROUP,
    DataFolder,
    list_folder,
    load_benchmark_dataset,
    load_folder_set,
    read_folder,
    scaled,
)

TUNING = ("paper", "digits", "tuning")  # groups whose test labels may be looked at
PARTS = 10
MOST_CONSENSUS = 0.995
# One answer is the formula itself: it must give what the package expects, but for rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Constants:
    """What the log-odds of a right label beyond chance are made of, and what left-out labels weigh beside them."""

    at_first: float = -4.0
    of_consensus: float = 1.0
    of_agreement: float = 2.3
    of_classes: float = 0.4
    worth: float = 30.0
    still_to_learn: float = 0.7


PRESENT = Constants()


@dataclass(frozen=True)
class Draw:
    """One fit: what it knew, what it expected, and what was true."""

    cell: AccuracyCell
    evidence: AccuracyEvidence
    accuracy: float  # on the rows without a label


def collected(spec: AccuracySpec) -> Iterator[Draw]:
    """Fit every draw of every cell; draws of a data set share kernels and spectra."""
    known: tuple[str, np.ndarray, np.ndarray, SemiKPCAClassifierCV] | None = None
    for cell in spec.cells():
        if known is None or known[0] != cell.dataset:
            known = None
            X, y = loaded(cell, spec.folder)
        for number in range(spec.repetitions):
            labels = np.full(len(y), -1)
            rows = draw_labeled_rows(cell, y, number, spec.seed)
            labels[rows] = y[rows]
            model = SemiKPCAClassifierCV().fit(X, labels) if known is None else known[3].with_labels(labels)
            known = cell.dataset, X, y, model
            without = labels == -1
            yield Draw(cell, model.blend_.accuracy, float(np.mean(model.transduction_[without] == y[without])))


def loaded(cell: AccuracyCell, folder: DataFolder | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a data set as the accuracy benchmark takes them, and their classes."""
    of_folder = cell.info.sha256 is not None and folder is not None
    data = load_folder_set(folder, cell.info) if of_folder else load_benchmark_dataset(cell.dataset)
    return scaled(data.X, cell.info.scaling), data.y


def expected(draws: Sequence[Draw], constants: Constants) -> np.ndarray:
    """Return the share of right labels that is expected of each draw."""
    consensus, agreement, n_classes, labels_a_class, left_out_accuracy, n_left_out = np.array(
        [astuple(draw.evidence) for draw in draws]
    ).T
    log_odds = (
        constants.at_first
        - constants.of_consensus * np.log(1 - np.minimum(consensus, MOST_CONSENSUS))
        + constants.of_agreement * agreement
        + constants.of_classes * np.log(n_classes)
    )
    by_structure = 1 / n_classes + (1 - 1 / n_classes) * expit(log_odds)
    by_labels = 1 - (1 - left_out_accuracy) * (1 - constants.still_to_learn / np.maximum(1, labels_a_class))
    return (constants.worth * by_structure + n_left_out * by_labels) / (constants.worth + n_left_out)


def errors(draws: Sequence[Draw], constants: Constants) -> np.ndarray:
    return np.abs(expected(draws, constants) - [draw.accuracy for draw in draws])


def fitted(draws: Sequence[Draw]) -> Constants:
    """Return the constants with the least sum of absolute errors, searched from the present ones."""

    def loss(values: np.ndarray) -> float:
        constants = Constants(*values)
        if constants.worth < 0 or not 0 <= constants.still_to_learn <= 1:
            return np.inf  # a weight, and a share
        return float(errors(draws, constants).mean())

    # The sum has kinks, which a simplex does not mind.
    start = np.array(astuple(PRESENT))
    found = minimize(loss, start, method="Nelder-Mead", options={"maxiter": 4_000, "fatol": 1e-6, "xatol": 1e-3})
    return Constants(*map(float, found.x))


def held_out_errors(draws: Sequence[Draw]) -> np.ndarray:
    """Return the errors for each draw of constants that were fitted without any draw of its data set."""
    names = sorted({draw.cell.dataset for draw in draws})
    part = {name: number % min(PARTS, len(names)) for number, name in enumerate(names)}
    found = np.full(len(draws), np.nan)
    for number in range(len(set(part.values()))):
        held_out = np.array([part[draw.cell.dataset] == number for draw in draws])
        others = [draw for draw, is_held_out in zip(draws, held_out, strict=True) if not is_held_out]
        if others:
            constants = fitted(others)
            own = [draw for draw, is_held_out in zip(draws, held_out, strict=True) if is_held_out]
            found[held_out] = errors(own, constants)
    return found


def summarized(draws: Sequence[Draw], constants: Constants) -> Iterator[dict[str, object]]:
    """Give a row for each group of data sets and number of labels."""
    columns = {
        "error_present": errors(draws, PRESENT),
        "error_fitted": errors(draws, constants),
        "error_held_out": held_out_errors(draws),
    }
    accuracy, guess = np.array([draw.accuracy for draw in draws]), expected(draws, PRESENT)
    for group in accuracy_groups(dict.fromkeys(draw.cell for draw in draws)):
        inside = np.array([draw.cell in group.cells for draw in draws])
        row: dict[str, object] = {
            "collection": group.collection,
            "labels": group.labels or "all",
            "sets": len({cell.dataset for cell in group.cells}),
            "draws": int(inside.sum()),
            "accuracy": round(float(accuracy[inside].mean()), 4),
            "expected": round(float(guess[inside].mean()), 4),
        }
        row |= {name: round(float(values[inside].mean()), 4) for name, values in columns.items()}
        print(" ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        yield row


def check(draws: Iterable[Draw]) -> None:
    """Refuse to fit a formula that is not the one of the package."""
    draws = list(draws)
    own = [draw.evidence.expected_accuracy for draw in draws]
    np.testing.assert_allclose(expected(draws, PRESENT), own, rtol=ROUNDING, err_msg="PRESENT is out of date.")


def main(arguments: list[str]) -> None:
    """Fit, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="*", help=f"names or groups; by default {', '.join(TUNING)}")
    parser.add_argument("--data", type=Path, help="a folder with files NAME.npz, whose sets are taken as well")
    parser.add_argument("--draws", type=int, default=10, help="draws of the labeled rows for each number of labels")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args(arguments)
    listing = None if asked.data is None else list_folder(asked.data)
    of_folder = () if listing is None else listing.names
    names = resolve_datasets(
        [*(asked.datasets or TUNING), *([FOLDER_GROUP] if of_folder else [])],
        {} if listing is None else listing.groups,
    )
    spec = AccuracySpec(
        datasets=names,
        methods=("semikpca cv",),
        repetitions=asked.draws,
        seed=asked.seed,
        noise=False,
        labels_per_class=FOLDER_COUNTS,
        folder=None if listing is None else read_folder(listing, of_folder),
    )
    draws = list(collected(spec))
    check(draws)
    constants = fitted(draws)
    print(constants, flush=True)
    values = {field.name: round(getattr(constants, field.name), 3) for field in fields(constants)}
    common = values | circumstances(command_line(sys.argv[0], arguments))
    write_csv([{**row, **common} for row in summarized(draws, constants)], asked.out)


if __name__ == "__main__":
    main(sys.argv[1:])
