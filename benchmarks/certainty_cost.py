"""What prediction sets and accepted labels cost beside a fit.

Part of ``bench_certainty.py``, which says what it is for.
"""

import time
from collections.abc import Callable

import numpy as np

from semikpca import SemiKPCAClassifierCV
from semikpca.labeling import accept_labels, prediction_sets

FEATURES, CLASSES, LABELS, TURNS = 20, 4, 100, 2
FIT = "SemiKPCAClassifierCV().fit"
LEAST_COVERAGE = 0.8  # of sets at an error rate of 0.1, in one draw


def cost_rows(n_rows: int) -> list[dict[str, object]]:
    """Return the best times of a few turns, and their ratios to that of a fit."""
    generator = np.random.default_rng(0)
    truth = generator.integers(CLASSES, size=n_rows)
    X = generator.standard_normal((n_rows, FEATURES)) + generator.standard_normal((CLASSES, FEATURES))[truth]
    y = np.full(n_rows, -1)
    given = generator.choice(n_rows, LABELS, replace=False)
    y[given] = truth[given]
    model = SemiKPCAClassifierCV().fit(X, y)
    check(model, truth)
    jobs: dict[str, Callable[[], object]] = {
        FIT: lambda: SemiKPCAClassifierCV().fit(X, y),
        "prediction_sets": lambda: prediction_sets(model),
        "accept_labels": lambda: accept_labels(model),
    }
    best = dict.fromkeys(jobs, np.inf)
    for _ in range(TURNS):
        for name, job in jobs.items():
            began = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - began)
    sizes = {"rows": n_rows, "features": FEATURES, "classes": CLASSES, "labels": LABELS, "turns": TURNS}
    return [
        {"what": name, **sizes, "seconds": f"{seconds:.4g}", "ratio_to_fit": f"{seconds / best[FIT]:.4g}"}
        for name, seconds in best.items()
    ]


def check(model: SemiKPCAClassifierCV, truth: np.ndarray) -> None:
    """Take no time of sets that do not cover, or of labels that are wrong."""
    found = prediction_sets(model)
    coverage = found.sets[np.arange(len(found.rows)), truth[found.rows]].mean()
    if coverage < LEAST_COVERAGE:
        raise SystemExit(f"Sets cover only {coverage:.1%} of the rows.")
    accepted = accept_labels(model, 0.1)
    wrong = np.mean(accepted.labels != truth[accepted.rows]) if len(accepted.rows) else 0.0
    if wrong > 2 * accepted.error_rate:
        raise SystemExit(f"{wrong:.1%} of the accepted labels are wrong.")
