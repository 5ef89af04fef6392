"""Labels of which some were flipped, and which of them are found.

Part of ``bench_certainty.py``, which says what it is for.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from certainty_draws import Fits, Problem
from certainty_peers import cleanlab_finds, cross_validated
from semikpca.labeling import audit_labels

AUDITED = ("digits", "segment", "vowel", "wdbc", "ionosphere")
LABELS_A_CLASS = 10
SHARES = (0.1, 0.0)  # of labels that are flipped
OURS, CLEANLAB, CLEANLAB_ON_OURS = (
    "audit_labels",
    "cleanlab, logistic regression",
    "cleanlab, our left-out probabilities",
)


def audited_draws(problem: Problem, _: int, n_draws: int) -> Iterator[dict[str, Any]]:
    """Give for each draw and share of flipped labels what each method finds: listed, listed rightly, flipped, all."""
    fits = None
    for draw in range(n_draws):
        found = {}
        for share in SHARES:
            rows, labels, is_flipped = flipped(problem, share, draw)
            y = np.full(len(problem.y), -1)
            y[rows] = labels
            fits = fits or Fits(problem, y)
            for method, listed in listed_by(problem, fits.automatic(y), rows, labels, draw).items():
                counts = listed.sum(), (listed & is_flipped).sum(), is_flipped.sum(), len(rows)
                found[f"{share} {method}"] = [int(count) for count in counts]
        yield found


def flipped(problem: Problem, share: float, draw: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, as many of each class, their labels, and which of these were changed to another class."""
    generator = np.random.default_rng([draw, 2])
    classes = np.unique(problem.y)
    rows = np.sort(
        np.concatenate(
            [generator.choice(np.flatnonzero(problem.y == one), LABELS_A_CLASS, replace=False) for one in classes]
        )
    )
    labels = problem.y[rows].copy()
    places = generator.choice(len(rows), round(share * len(rows)), replace=False)
    for place in places:
        labels[place] = generator.choice(classes[classes != labels[place]])
    return rows, labels, labels != problem.y[rows]


def listed_by(problem: Problem, model: Any, rows: np.ndarray, labels: np.ndarray, draw: int) -> dict[str, np.ndarray]:
    """Return which of the labels each method takes for wrong."""
    audit = audit_labels(model)
    codes = np.searchsorted(model.classes_, labels)
    left_out = np.asarray(model.decision_probabilities(model.left_out_decisions(rows)))
    return {
        OURS: np.isin(rows, audit.rows[audit.looks_wrong]),
        CLEANLAB: cleanlab_finds(codes, cross_validated(problem.X[rows], codes, draw)),
        CLEANLAB_ON_OURS: cleanlab_finds(codes, left_out),
    }


def audit_rows(records: Sequence[dict[str, Any]]) -> list[dict[str, object]]:
    """Return a row for each set, share of flipped labels and method; counts are added over the draws."""
    rows: list[dict[str, object]] = []
    for record in records:
        for key in record["draws"][0]:
            share, method = key.split(" ", 1)
            listed, rightly, wrong, given = np.sum([draw[key] for draw in record["draws"]], axis=0)
            n_draws = len(record["draws"])
            rows.append(
                {
                    "set": record["set"],
                    "rows": record["rows"],
                    "labels": int(given) // n_draws,
                    "flipped": share,
                    "method": method,
                    "draws": n_draws,
                    "precision": round(float(rightly / listed), 4) if listed and wrong else "",
                    "recall": round(float(rightly / wrong), 4) if wrong else "",
                    "right_called_wrong": round(float(listed - rightly) / n_draws, 3),
                }
            )
    return rows
