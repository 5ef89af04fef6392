"""Time fits of wide rows against scikit-learn's Label Spreading, and fits with many labels and classes.

    python benchmarks/bench_wide.py --out benchmarks/results/wide.csv
    python benchmarks/bench_wide.py --small --repetitions 1 --out small.csv

Three sets, all made from a seed: unit vectors like embeddings of texts (10,000 × 768, float32), rows with very many
features (1,500 × 12,000), and 2,000 rows of 500 classes with 1,000 labels. Answers are checked before their times are
taken: decisions against Algorithm 1 of the paper written naively and radii of the graph against differences, both on
some of the same rows, expected changes against refits, and labels against the truth on all rows. Repetitions are
interleaved, so that whatever else the computer does falls on all candidates alike, and what counts is the ratio of the
best times.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.semi_supervised import LabelSpreading

from results_csv import circumstances, command_line, write_csv
from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.kernels import NeighborGraph
from semikpca.labeling import expected_change, suggest_labels

SEED = 0
CHECKED_ROWS = 300  # of which everything is computed naively
# Largest difference of two answers against the largest one, by the type of the rows; solves on stored matrices have
# all digits, and the distances of a graph at least eleven of them.
ALLOWED = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-3}
LEAST_ACCURACY = 0.9  # of every method, on classes that are well apart

FIT, GRAPH, AUTOMATIC = "SemiKPCAClassifier()", 'SemiKPCAClassifier("graph")', "SemiKPCAClassifierCV()"
SPREADING_KNN, SPREADING_RBF = 'LabelSpreading(kernel="knn")', 'LabelSpreading(kernel="rbf")'
SEARCH, SKLEARN_SEARCH = "NeighborGraph().fit", "NearestNeighbors().kneighbors"
LABELING, LIMIT = "SemiKPCAClassifierCV().fit and suggest_labels", "20 seconds"
LIMIT_SECONDS = 20.0

# Rows of the report: what is timed, against what, and the ratio it should not exceed (None: said for the record).
COMPARISONS: dict[str, list[tuple[str, str, float | None]]] = {
    "unit vectors": [
        (FIT, SPREADING_KNN, 1.0),
        (GRAPH, SPREADING_KNN, 1.0),
        (AUTOMATIC, SPREADING_KNN, 2.0),
        (SEARCH, SKLEARN_SEARCH, 1.0),
    ],
    "many features": [(FIT, SPREADING_RBF, 3.0), (GRAPH, SPREADING_RBF, None), (AUTOMATIC, SPREADING_RBF, 3.0)],
    "many classes": [(LABELING, LIMIT, 1.0)],
}


@dataclass(frozen=True)
class Problem:
    """Rows with a few labels (-1 elsewhere), and the class of every row."""

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray

    @property
    def sizes(self) -> dict[str, int]:
        """What the report says of it."""
        return {
            "rows": len(self.X),
            "features": self.X.shape[1],
            "classes": len(np.unique(self.truth)),
            "labels": int(np.sum(self.y != -1)),
        }

    def head(self) -> "Problem":
        """Return the labeled rows and some others, few enough for naive answers, and two of their classes alone."""
        two = np.flatnonzero(self.truth < 2)
        order = two[np.argsort(self.y[two] == -1, kind="stable")][:CHECKED_ROWS]
        return Problem(self.X[order], self.y[order], self.truth[order])


Timed = Callable[[], object]


def main(arguments: list[str] | None = None) -> None:
    """Check, time, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=COMPARISONS, default=list(COMPARISONS), help="default: all")
    parser.add_argument("--small", action="store_true", help="a few hundred rows, to try the program")
    parser.add_argument("--repetitions", type=int, default=5, help="of each measurement (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="CSV file to write (default: none)")
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    records: list[dict[str, object]] = []
    for name in options.sets:
        problem = PROBLEMS[name](options.small)
        CHECKS[name](problem)
        jobs = JOBS[name](problem)
        seconds = best_seconds(jobs, options.repetitions)
        seconds.setdefault(LIMIT, LIMIT_SECONDS)
        for what, reference, bar in COMPARISONS[name]:
            records.append(record(name, what, reference, bar, seconds, problem, options.repetitions, command))
    print_table(records)
    if options.out:
        write_csv(records, options.out)


# -- data ------------------------------------------------------------------------------------------------------


def clusters(n_rows: int, n_features: int, n_classes: int, distance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return normal clusters whose centers are ``distance`` deviations off in a typical feature, and the classes."""
    generator = np.random.default_rng(SEED)
    truth = generator.permutation(np.arange(n_rows) % n_classes)
    X = generator.standard_normal((n_rows, n_features))
    X += distance * generator.standard_normal((n_classes, n_features))[truth]
    return X, truth


def some_labels(X: np.ndarray, truth: np.ndarray, n_labels: int) -> Problem:
    """Return a problem in which every class has as many labels as every other, or one more."""
    generator = np.random.default_rng(SEED + 1)
    order = generator.permutation(len(truth))
    turns = np.empty(len(truth), dtype=int)  # the first row of each class, the second of each, ...
    for code in np.unique(truth):
        own = order[truth[order] == code]
        turns[own] = np.arange(len(own))
    chosen = order[np.argsort(turns[order], kind="stable")][:n_labels]
    y = np.full(len(truth), -1)
    y[chosen] = truth[chosen]
    return Problem(X, y, truth)


def unit_vectors(small: bool) -> Problem:
    """Return unit vectors in ten classes, ten labels each."""
    n_rows, n_features = (600, 96) if small else (10_000, 768)
    X, truth = clusters(n_rows, n_features, 10, 0.7)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return some_labels(X.astype(np.float32), truth, 100)


def many_features(small: bool) -> Problem:
    """Return rows with more features than rows, in four classes, ten labels each."""
    n_rows, n_features = (200, 800) if small else (1_500, 12_000)
    X, truth = clusters(n_rows, n_features, 4, 0.4 if small else 0.15)
    return some_labels(X, truth, 40)


def many_classes(small: bool) -> Problem:
    """Return rows of many classes, of which half are labeled."""
    n_rows, n_classes = (200, 25) if small else (2_000, 500)
    X, truth = clusters(n_rows, 50, n_classes, 2.0)
    return some_labels(X, truth, n_rows // 2)


# -- checks ----------------------------------------------------------------------------------------------------


def squared_distances(X: np.ndarray) -> np.ndarray:
    """Return all squared distances from differences in float64, a row at a time."""
    X = X.astype(np.float64)
    return np.array([((X - row) ** 2).sum(axis=1) for row in X])


def algorithm_1(K: np.ndarray, signed_targets: np.ndarray, k: int, gamma: float) -> np.ndarray:
    """Return the decisions of Algorithm 1, line by line; shares no code with the package."""
    eigenvalues, eigenvectors = np.linalg.eigh(K)
    for value, vector in list(zip(eigenvalues[::-1], eigenvectors.T[::-1], strict=True))[:k]:
        K = K - value * np.outer(vector, vector)
    alpha = np.linalg.solve(np.eye(len(K)) / gamma - K, signed_targets)
    return K @ alpha


def check_decision(problem: Problem) -> None:
    """Stop unless the default fit decides as Algorithm 1 does."""
    squared = squared_distances(problem.X)
    median = np.median(np.sqrt(squared[np.triu_indices(len(squared), k=1)]))
    K = np.exp(-squared / (2 * median**2))
    eigenvalues = np.linalg.eigvalsh(K)[::-1]
    gamma = 1 / np.sqrt(eigenvalues[0] * eigenvalues[1])
    signed_targets = np.select([problem.y == 1, problem.y == 0], [1.0, -1.0], default=0.0)
    decision = SemiKPCAClassifier().fit(problem.X, problem.y).decision_
    require_equal("decision", decision, algorithm_1(K, signed_targets, 1, gamma), problem.X.dtype)


def check_graph(problem: Problem) -> None:
    """Stop unless radii and links of the graph are those that differences give."""
    graph, squared = NeighborGraph(10).fit(problem.X), squared_distances(problem.X)
    radii = np.sqrt(np.sort(squared, axis=1)[:, 10])
    require_equal("radius of the graph", graph.radii_, radii, np.dtype(np.float64))
    near = np.sqrt(squared) <= radii * (1 + 1e-9)
    if not np.array_equal(graph.matrix_.toarray() > 0, near | near.T):
        raise SystemExit("No times: the links of the graph are not those of the nearest neighbors.")


def check_automatic(problem: Problem) -> None:
    """Stop unless the automatic fit decides on its rows as on new ones, and a label added equals a label given."""
    model = SemiKPCAClassifierCV().fit(problem.X, problem.y)
    dtype = problem.X.dtype
    require_equal("automatic decision", model.decision_function(problem.X.copy()), model.decision_, dtype)
    row = np.flatnonzero(problem.y != -1)[:1]
    fewer = problem.y.copy()
    fewer[row] = -1
    added = SemiKPCAClassifierCV().fit(problem.X, fewer).add_labels(row, problem.y[row])
    require_equal("automatic decision with a label added", added.decision_, model.decision_, dtype)


def check_suggestions(problem: Problem) -> None:
    """Stop unless the expected change is that of refits, and suggestions are rows without a label."""
    classes = np.arange(5)
    some = np.flatnonzero(np.isin(problem.truth, classes))
    X, y = problem.X[some], problem.y[some]
    model = SemiKPCAClassifier().fit(X, y)
    rows = np.flatnonzero(y == -1)[:3]
    wanted = [change_by_refits(model, X, y, int(row)) for row in rows]
    require_equal("expected change", expected_change(model, rows), np.array(wanted), X.dtype)
    suggested = suggest_labels(SemiKPCAClassifierCV().fit(X, y), n=3)
    if len(set(suggested.tolist())) < 3 or (y[suggested] != -1).any():
        raise SystemExit("No times: suggestions are not different rows without a label.")


def change_by_refits(model: SemiKPCAClassifier, X: np.ndarray, y: np.ndarray, row: int) -> float:
    """Return the expected change when a row gets a label: one refit for each class it may turn out to have."""

    def chances(decision: np.ndarray) -> np.ndarray:
        powers = np.exp(model.sharpness_ * (decision - decision.max(axis=1, keepdims=True)))
        return powers / powers.sum(axis=1, keepdims=True)

    before, total = chances(model.decision_), 0.0
    for code, label in enumerate(model.classes_):
        changed = y.copy()
        changed[row] = label
        after = chances(clone(model).fit(X, changed).decision_)
        total += before[row, code] * 0.5 * float(np.abs(after - before).sum())
    return total


def check_wide(problem: Problem) -> None:
    """Check what is timed on wide rows."""
    head = problem.head()
    check_decision(head)
    check_graph(head)
    check_automatic(head)
    for model in (SemiKPCAClassifier(), SemiKPCAClassifier("graph"), SemiKPCAClassifierCV()):
        require_accuracy(model, problem)


def check_many_classes(problem: Problem) -> None:
    """Check what is timed with many classes."""
    check_suggestions(problem)
    require_accuracy(SemiKPCAClassifierCV(), problem)


def require_equal(what: str, found: np.ndarray, wanted: np.ndarray, dtype: np.dtype) -> None:
    """Stop with the numbers where two answers differ."""
    difference = np.abs(found - wanted).max() / np.abs(wanted).max()
    if not difference <= ALLOWED[dtype]:
        raise SystemExit(f"No times: the {what} is off by {difference:.1e} of its largest value.")


def require_accuracy(model: SemiKPCAClassifier | SemiKPCAClassifierCV, problem: Problem) -> None:
    """Stop where a model does not find classes that are well apart."""
    unlabeled = problem.y == -1
    found = model.fit(problem.X, problem.y).transduction_
    accuracy = float(np.mean(found[unlabeled] == problem.truth[unlabeled]))
    if not accuracy >= LEAST_ACCURACY:
        raise SystemExit(f"No times: {model!r} labels only {accuracy:.1%} of the rows as they should be.")


# -- times -----------------------------------------------------------------------------------------------------


def fits_of(problem: Problem) -> dict[str, Timed]:
    X, y = problem.X, problem.y
    return {
        FIT: lambda: SemiKPCAClassifier().fit(X, y),
        GRAPH: lambda: SemiKPCAClassifier("graph").fit(X, y),
        AUTOMATIC: lambda: SemiKPCAClassifierCV().fit(X, y),
    }


def jobs_of_unit_vectors(problem: Problem) -> dict[str, Timed]:
    """Return what is timed, by the names that COMPARISONS uses."""
    X, y = problem.X, problem.y
    return {
        SPREADING_KNN: lambda: LabelSpreading(kernel="knn").fit(X, y),
        **fits_of(problem),
        SKLEARN_SEARCH: lambda: NearestNeighbors(n_neighbors=10, algorithm="brute").fit(X).kneighbors(),
        SEARCH: lambda: NeighborGraph(n_neighbors=10).fit(X),
    }


def jobs_of_many_features(problem: Problem) -> dict[str, Timed]:
    """Return what is timed; Label Spreading gets the median rule's coefficient, which it does not have to compute."""
    X, y = problem.X, problem.y
    gamma = float(SemiKPCAClassifier().fit(X, y).kernel_.gamma_)
    return {SPREADING_RBF: lambda: LabelSpreading(kernel="rbf", gamma=gamma).fit(X, y), **fits_of(problem)}


def jobs_of_many_classes(problem: Problem) -> dict[str, Timed]:
    """Return what is timed."""
    return {LABELING: lambda: suggest_labels(SemiKPCAClassifierCV().fit(problem.X, problem.y), n=10)}


def best_seconds(jobs: dict[str, Timed], repetitions: int) -> dict[str, float]:
    """Return the best time of each job, by turns; the fits before, which were checked, have warmed everything up."""
    seconds = dict.fromkeys(jobs, np.inf)
    for _ in range(repetitions):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


PROBLEMS: dict[str, Callable[[bool], Problem]] = {
    "unit vectors": unit_vectors,
    "many features": many_features,
    "many classes": many_classes,
}
CHECKS: dict[str, Callable[[Problem], None]] = {
    "unit vectors": check_wide,
    "many features": check_wide,
    "many classes": check_many_classes,
}
JOBS: dict[str, Callable[[Problem], dict[str, Timed]]] = {
    "unit vectors": jobs_of_unit_vectors,
    "many features": jobs_of_many_features,
    "many classes": jobs_of_many_classes,
}


# -- report ----------------------------------------------------------------------------------------------------


def record(
    data: str,
    what: str,
    reference: str,
    bar: float | None,
    seconds: dict[str, float],
    problem: Problem,
    repetitions: int,
    command: str,
) -> dict[str, object]:
    """Return one row of the report, with everything needed to make it again."""
    ratio = seconds[what] / seconds[reference]
    return {
        "data": data,
        "what": what,
        "seconds": f"{seconds[what]:.4g}",
        "reference": reference,
        "reference_seconds": f"{seconds[reference]:.4g}",
        "ratio": f"{ratio:.4g}",
        "bar": "" if bar is None else bar,
        "met": "" if bar is None else ("yes" if ratio <= bar else "no"),
        **problem.sizes,
        "repetitions": repetitions,
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "",
        **circumstances(command),
    }


def print_table(records: Sequence[dict[str, object]]) -> None:
    print(f"{'data':<14} {'what':<46} {'s':>8}   {'against':<31} {'s':>8} {'ratio':>7} {'bar':>5} met")
    for row in records:
        print(
            f"{row['data']:<14} {row['what']:<46} {row['seconds']:>8}   {row['reference']:<31} "
            f"{row['reference_seconds']:>8} {row['ratio']:>7} {row['bar']:>5} {row['met']}"
        )


if __name__ == "__main__":
    main()
