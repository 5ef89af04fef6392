"""What is measured in one draw of labels: prediction sets, accepted labels and the interval of the accuracy.

Part of ``bench_certainty.py``, which says what it is for.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from certainty_peers import split_conformal_sets
from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.exceptions import UnreachableRowsWarning
from semikpca.labeling import (
    Acceptance,
    AccuracyEstimate,
    PredictionSets,
    leave_one_label_out,
    prediction_sets,
    suggest_labels,
    worth_of_labels,
)
from semikpca_benchmarks.accuracy import resolve_datasets
from semikpca_benchmarks.datasets import (
    FOLDER_GROUP,
    benchmark_info,
    list_folder,
    load_benchmark_dataset,
    load_folder_set,
    read_folder,
    scaled,
)

RATES = (0.05, 0.1, 0.2)  # of prediction sets
ACCEPTED_RATES = (0.05, 0.1)
CONFIDENCE = 0.9  # of accepted labels
INTERVAL = 0.95  # confidence of the interval of the accuracy
UNLABELED = -1
EVERYTHING = 1_000_000_000  # rows, more than any set has
# Sharing kernels and spectra must not change an answer: solves on stored matrices have all digits but the last few.
ALLOWED = 1e-6
AUTOMATIC, ADAPTIVE, GRAPH = "automatic", "automatic, adaptive", "graph"

# What is kept of the prediction sets of a draw: coverage, mean size, share of singletons, coverage of the rows whose
# class has a label, and share of empty sets.
Judged = tuple[float, float, float, float, float]


@dataclass(frozen=True)
class Problem:
    """The rows of a data set, as the methods get them, and their classes."""

    name: str
    group: str
    X: np.ndarray
    y: np.ndarray

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(np.unique(self.y))

    def drawn(self, n_labels: int, draw: int) -> np.ndarray:
        """Return labels of rows that are drawn at random from all rows, -1 elsewhere; two classes at least.

        A draw in which all labels are of one class is drawn again: nothing could be learned from it.
        """
        generator = np.random.default_rng([draw, n_labels])
        while True:
            rows = generator.choice(len(self.y), n_labels, replace=False)
            if len(np.unique(self.y[rows])) > 1:
                return self.labeled(rows)

    def labeled(self, rows: np.ndarray) -> np.ndarray:
        """Return the labels of some rows, -1 elsewhere."""
        labels = np.full(len(self.y), UNLABELED)
        labels[rows] = self.y[rows]
        return labels


def problems_of(names: Sequence[str], folder: Path | None, most_rows: int = EVERYTHING) -> Iterator[Problem]:
    """Give data sets of the repository and of a folder, of each a sample of rows, always the same."""
    listing = None if folder is None else list_folder(folder)
    wanted = resolve_datasets(names, {} if listing is None else listing.groups)
    of_folder = () if listing is None else listing.groups[FOLDER_GROUP]
    for name in wanted:
        if listing is not None and name in of_folder:
            known = read_folder(listing, [name], most_rows=EVERYTHING)
            info, data = known.sets[0], load_folder_set(known, known.sets[0])
        else:
            info, data = benchmark_info(name), load_benchmark_dataset(name)
        rows = np.sort(np.random.default_rng(0).permutation(len(data.y))[:most_rows])
        yield Problem(name, info.groups[0], scaled(data.X[rows], info.scaling), data.y[rows])


class Fits:
    """Models of one problem: kernels and spectra are computed once, labels come and go."""

    def __init__(self, problem: Problem, labels: np.ndarray):
        self._problem = problem
        self._first = SemiKPCAClassifierCV().fit(problem.X, labels)
        self._graphs: dict[bytes, SemiKPCAClassifier] = {}

    def automatic(self, labels: np.ndarray) -> SemiKPCAClassifierCV:
        """Return the automatic classifier; its refits without labels are computed once, whoever asks for them."""
        return sharing_refits(self._first.with_labels(labels))

    def graph(self, labels: np.ndarray) -> SemiKPCAClassifier:
        """Return the classifier of one neighbor graph, which is linear in the labels; the next one takes its place."""
        key = np.unique(labels[labels != UNLABELED]).tobytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnreachableRowsWarning)  # rows of other pieces have a set as well
            if key not in self._graphs:
                self._graphs[key] = SemiKPCAClassifier("graph").fit(self._problem.X, labels)
            return self._graphs[key].add_labels(np.arange(len(labels)), labels)

    def check(self, labels: np.ndarray) -> None:
        """Refuse to go on where a model with shared kernels is not the one of a fit of its own."""
        name, X = self._problem.name, self._problem.X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnreachableRowsWarning)
            fresh = SemiKPCAClassifierCV().fit(X, labels), SemiKPCAClassifier("graph").fit(X, labels)
        for own, shared in zip(fresh, (self.automatic(labels), self.graph(labels)), strict=True):
            np.testing.assert_allclose(
                shared.label_distributions_,
                own.label_distributions_,
                atol=ALLOWED,
                err_msg=f"{name}: other labels on the same kernels are not what a fit gives.",
            )


def sharing_refits(model: SemiKPCAClassifierCV) -> SemiKPCAClassifierCV:
    """Have a model remember what it is without some labels: sets and accepted labels need the same 20 refits."""
    known: dict[bytes, SemiKPCAClassifierCV] = {}
    refit = model.without_labels

    def without_labels(rows):
        key = np.asarray(rows, dtype=np.intp).tobytes()
        if key not in known:
            known[key] = refit(rows)
        return known[key]

    model.without_labels = without_labels
    return model


def judged(problem: Problem, rows: np.ndarray, sets: np.ndarray, classes: np.ndarray, covers_new: bool) -> Judged:
    """Return what sets of classes are worth, in the order of ``Judged``.

    A row whose class has no label is covered where classes without labels are not excluded.
    """
    truth = problem.y[rows]
    place = np.minimum(np.searchsorted(classes, truth), len(classes) - 1)
    is_known = classes[place] == truth
    covered = np.where(is_known, sets[np.arange(len(rows)), place], covers_new)
    sizes = sets.sum(axis=1)
    of_known = covered[is_known].mean() if is_known.any() else np.nan
    return (
        float(covered.mean()),
        float(sizes.mean()),
        float(np.mean(sizes == 1)),
        float(of_known),
        float(np.mean(sizes == 0)),
    )


def at_rate(found: PredictionSets, rate: float) -> np.ndarray:
    """Return the sets for a lower error rate, read off the p-values; the class that is predicted stays in."""
    return found.sets | (found.p_values > rate)


def judged_sets(problem: Problem, model: Any, found: PredictionSets) -> dict[str, Judged]:
    """Return what the sets of a model are worth at every error rate, from those at the highest one."""
    return {
        str(rate): judged(problem, found.rows, at_rate(found, rate), model.classes_, found.new_class_p_value > rate)
        for rate in RATES
    }


def check_sets(model: Any, found: PredictionSets) -> None:
    """Refuse to read sets off p-values that are not those which the function itself returns."""
    for rate in RATES:
        asked = prediction_sets(model, rate)
        np.testing.assert_array_equal(at_rate(found, rate), asked.sets)
        assert asked.may_be_new_class == (found.new_class_p_value > rate)


def accepted_of(problem: Problem, acceptance: Acceptance) -> dict[str, tuple[float, float]]:
    """Return the share of the unlabeled rows that is accepted at each rate, and the share of them that is wrong."""
    found = {}
    for rate in ACCEPTED_RATES:
        accepted = acceptance.accepted(rate, CONFIDENCE)
        wrong = float(np.mean(accepted.labels != problem.y[accepted.rows])) if len(accepted.rows) else 0.0
        found[str(rate)] = len(accepted.rows) / accepted.n_unlabeled, wrong
    return found


def interval_before(model: SemiKPCAClassifierCV) -> tuple[float, float, float]:
    """Return the estimate that was printed before, with Wilson's interval: the weights of the blend saw every label."""
    left_out = leave_one_label_out(model)
    counted = ~left_out.is_only_label
    right = (left_out.predictions == left_out.given)[counted]
    if not len(right):
        return np.nan, 0.0, 1.0
    ends = binomtest(int(right.sum()), len(right)).proportion_ci(confidence_level=INTERVAL, method="wilson")
    return float(right.mean()), float(ends.low), float(ends.high)


def certainty_of(problem: Problem, model: SemiKPCAClassifierCV, drawn_rows: Any = None) -> dict[str, Any]:
    """Return what the automatic classifier promises, beside what is true."""
    found = prediction_sets(model, RATES[-1], score="adaptive", drawn_rows=drawn_rows)
    acceptance = Acceptance.of(model, drawn_rows)
    right, counted = int(acceptance.found.is_right.sum()), len(acceptance.found.rows)
    estimate = AccuracyEstimate.of(right, counted, INTERVAL, worth_of_labels(model))
    return {
        "sets": {ADAPTIVE: judged_sets(problem, model, found)},
        "accepted": accepted_of(problem, acceptance),
        "interval": [estimate.share, estimate.low, estimate.high],
        "accuracy": float(np.mean(model.transduction_[found.rows] == problem.y[found.rows])),
    }


def measured_draw(problem: Problem, fits: Fits, labels: np.ndarray, draw: int, checked: bool) -> dict[str, Any]:
    """Return everything about one draw of random labels, peers included."""
    model = fits.automatic(labels)
    result = certainty_of(problem, model)
    result["interval before"] = interval_before(model)
    smallest = prediction_sets(model, RATES[-1])
    result["sets"][AUTOMATIC] = judged_sets(problem, model, smallest)
    graph = fits.graph(labels)
    of_graph = prediction_sets(graph, RATES[-1])
    result["sets"][GRAPH] = judged_sets(problem, graph, of_graph)
    if checked:
        check_sets(model, smallest)
        check_sets(graph, of_graph)
    classes = model.classes_
    for method, sets in split_conformal_sets(problem.X, labels, fits.automatic, RATES, draw, checked).items():
        rows = np.flatnonzero(labels == UNLABELED)
        result["sets"][method] = {
            str(rate): judged(problem, rows, sets[rate], classes, covers_new=False) for rate in RATES
        }
    return result


def suggested_draw(
    problem: Problem, fits: Fits, draw: int, first: int, last: int, at_once: int, check_rows: int, candidates: int
) -> dict[str, Any]:
    """Return the same where labels were suggested: taken for drawn ones without rows to check, else told apart."""
    model = fits.automatic(problem.drawn(first, draw))
    while len(rows := model.label_coding_.labeled_rows) < last:
        n = min(at_once, last - len(rows))
        chosen = suggest_labels(model, n, check_rows=min(check_rows, n), max_candidates=candidates, random_state=draw)
        model = sharing_refits(model.with_labels(problem.labeled(np.concatenate([rows, chosen]))))
    drawn_rows = drawn_labels(model) if check_rows else model.label_coding_.labeled_rows
    return {**certainty_of(problem, model, drawn_rows), "drawn": len(drawn_rows)}


def drawn_labels(model: SemiKPCAClassifierCV) -> np.ndarray:
    """Return the labeled rows that were not suggested, which is what the functions take by themselves."""
    return np.setdiff1d(model.label_coding_.labeled_rows, model.suggested_rows_)
