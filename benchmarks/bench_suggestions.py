"""What five more labels are worth when rows are suggested, drawn at random, or chosen for being the most uncertain.

Two labels of each class to start with; then five times: choose a row, add its true label, no refit. Accuracy on the
rows that were unlabeled at the start, mean over the draws. With --automatic the classifier is the one that the page and
``semikpca suggest`` use, and "whole steps" are suggestions as if every label added as much as where nothing is known.

    python benchmarks/bench_suggestions.py --out benchmarks/results/suggestions.csv
    python benchmarks/bench_suggestions.py --automatic --draws 8 --out benchmarks/results/suggestions-automatic.csv
"""

import argparse
import copy
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from results_csv import write_csv
from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.datasets import make_four_clusters
from semikpca.experiments import versions
from semikpca.labeling import expected_change, suggest_labels

ROWS = 300  # at most, of each data set


def data_sets(names: list[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    sources = {
        "four clusters": lambda: make_four_clusters(random_state=0),
        "wine": lambda: load_wine(return_X_y=True),
        "iris": lambda: load_iris(return_X_y=True),
        "breast cancer": lambda: load_breast_cancer(return_X_y=True),
        "digits": lambda: load_digits(return_X_y=True),
    }
    chosen = {}
    for name in names or sources:
        X, y = sources[name]()
        rows = np.random.default_rng(0).permutation(len(y))[:ROWS]
        chosen[name] = StandardScaler().fit_transform(X[rows]), y[rows]
    return chosen


def most_uncertain(model, rng) -> int:
    unlabeled = np.flatnonzero(model.label_coding_.codes == -1)
    top_two = np.sort(model.label_distributions_[unlabeled], axis=1)[:, -2:]
    return int(unlabeled[np.argmin(top_two[:, 1] - top_two[:, 0])])


def largest_change_of_predict_proba(model, rng) -> int:
    unlabeled = np.flatnonzero(model.label_coding_.codes == -1)
    return int(unlabeled[np.argmax(expected_change(model, unlabeled))])


def with_whole_steps(model, rng) -> int:
    changed = copy.copy(model)
    changed.label_steps = lambda rows: (model.label_response(rows), np.ones((len(rows), len(model.classes_))))
    return int(suggest_labels(changed, 1, max_candidates=ROWS)[0])


CHOICES = {
    "suggest_labels": lambda model, rng: int(suggest_labels(model, 1, max_candidates=ROWS)[0]),
    "of 64 candidates": lambda model, rng: int(suggest_labels(model, 1, max_candidates=64)[0]),
    "whole steps": with_whole_steps,
    "expected change of predict_proba": largest_change_of_predict_proba,
    "most uncertain": most_uncertain,
    "random": lambda model, rng: int(rng.choice(np.flatnonzero(model.label_coding_.codes == -1))),
}


ONLY_AUTOMATIC = ("of 64 candidates", "whole steps")  # what differs for blends alone


def accuracies(X: np.ndarray, truth: np.ndarray, draw: int, *, automatic: bool = False) -> dict[str, float]:
    make = SemiKPCAClassifierCV if automatic else SemiKPCAClassifier
    rng = np.random.default_rng(draw)
    y = np.full(len(truth), -1)
    for label in np.unique(truth):
        y[rng.choice(np.flatnonzero(truth == label), 2, replace=False)] = label
    start = make().fit(X, y)
    found = {"start": float(np.mean((start.transduction_ == truth)[y == -1]))}
    for name, choose in CHOICES.items():
        if name in ONLY_AUTOMATIC and not automatic:
            continue
        model = make().fit(X, y)
        for _ in range(5):
            row = choose(model, rng)
            model.add_labels(row, truth[row])
        found[name] = float(np.mean((model.transduction_ == truth)[y == -1]))
    # Adding labels must be the same as having had them: checked on the last model.
    again = make().fit(X, np.where(model.label_coding_.codes >= 0, truth, -1))
    np.testing.assert_allclose(model.decision_, again.decision_, rtol=1e-6, atol=1e-9 * np.abs(again.decision_).max())
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--datasets", nargs="*", default=[])
    parser.add_argument("--automatic", action="store_true", help="with the automatic classifier")
    parser.add_argument("--out", type=Path, help="CSV file to write")
    options = parser.parse_args(arguments)
    rows = []
    for name, (X, truth) in data_sets(options.datasets).items():
        found = [accuracies(X, truth, draw, automatic=options.automatic) for draw in range(options.draws)]
        mean = {key: round(float(np.mean([one[key] for one in found])), 4) for key in found[0]}
        rows.append({"data": name, **mean, "draws": options.draws, "rows": len(truth), **versions()})
        print(name, mean, flush=True)
    if options.out:
        write_csv(rows, options.out)


if __name__ == "__main__":
    main()
