"""Tables of the draws: coverage, intervals, accepted labels.

Part of ``bench_certainty.py``, which says what it is for.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import binom

from certainty_draws import ACCEPTED_RATES, ADAPTIVE, AUTOMATIC, CONFIDENCE, GRAPH, RATES
from certainty_peers import SPLIT_METHODS

OURS = (AUTOMATIC, ADAPTIVE, GRAPH)
Record = dict[str, Any]
Row = dict[str, object]
BEYOND_NOISE = 0.01  # so unlikely is a number of broken promises that no chance explains


def coverage_rows(records: Sequence[Record]) -> list[Row]:
    """Return a row for each set, number of labels, error rate and method."""
    rows = []
    for record in records:
        for rate in RATES:
            own: dict[str, float] = {}
            for method in (*OURS, *SPLIT_METHODS):
                found = sets_of(record, method, rate)
                if not len(found):
                    continue
                coverage, size, singletons, of_known, empty = np.nanmean(found, axis=0)
                own[method] = size
                error = standard_error(found[:, 0])
                rows.append(
                    {
                        **about(record, len(found)),
                        "error_rate": rate,
                        "method": method,
                        "coverage": rounded(coverage),
                        "standard_error": rounded(error),
                        "mean_size": rounded(size, 3),
                        "singletons": rounded(singletons, 3),
                        "empty": rounded(empty, 3),
                        "coverage_of_labeled_classes": rounded(of_known),
                        "below_nominal": yes(coverage < 1 - rate - error),
                        "smaller_than_ours": "" if method in OURS else smaller(size, own),
                        "smaller_without_empty_sets": "" if method in OURS else smaller(size + empty, own),
                    }
                )
    return rows


def smaller(size: float, own: dict[str, float]) -> str:
    """Return which of our sets a peer's are smaller than, on the mean.

    Ours have the predicted class at least, a peer's may be empty. They are compared as they are, and once more with the
    predicted class put into empty ones.
    """
    return "; ".join(method for method in (AUTOMATIC, ADAPTIVE) if size < own[method])


def sets_of(record: Record, method: str, rate: float) -> np.ndarray:
    """Return what was measured of the sets of a method, a line for each draw that has them."""
    return np.array(
        [draw["sets"][method][str(rate)] for draw in record["draws"] if method in draw["sets"]], dtype=float
    )


def interval_rows(records: Sequence[Record]) -> list[Row]:
    """Return a row for each set and number of labels: how often the interval has the truth, and the bias."""
    rows = []
    for record in records:
        row = about(record, len(record["draws"]))
        for name, key in (("", "interval"), ("_before", "interval before")):
            row |= interval_figures(record, key, name)
        rows.append(row)
    return rows


def interval_figures(record: Record, key: str, name: str = "") -> Row:
    """Return how often an interval has the truth, how often it lies above it, and the mean and spread of the error.

    The spread is over that of independent predictions: of as many labels, and of as many other rows.
    """
    truth = np.array([draw["accuracy"] for draw in record["draws"]])
    estimate, low, high = np.array([draw[key] for draw in record["draws"]], dtype=float).T
    n_labels, n_others = record["labels"], record["rows"] - record["labels"]
    independent = np.sqrt(truth.mean() * (1 - truth.mean()) * (1 / n_labels + 1 / n_others))
    return {
        f"contains{name}": rounded(np.mean((low <= truth) & (truth <= high))),
        f"too_good{name}": rounded(np.mean(truth < low)),
        f"bias{name}": rounded(np.nanmean(estimate - truth)),
        f"spread{name}": rounded(np.nanstd(estimate - truth) / independent, 3) if independent else "",
    }


def acceptance_rows(records: Sequence[Record]) -> list[Row]:
    """Return a row for each set, number of labels and error rate, and rows of all of them."""
    rows = []
    for rate in ACCEPTED_RATES:
        for record in records:
            rows.append({**about(record, len(record["draws"])), **acceptance_figures([record], rate)})
        for n_labels in sorted({record["labels"] for record in records}):
            some = [record for record in records if record["labels"] == n_labels]
            n_draws = sum(len(record["draws"]) for record in some)
            rows.append(
                {"set": "all", "group": "all", "labels": n_labels, "draws": n_draws, **acceptance_figures(some, rate)}
            )
    return rows


def acceptance_figures(records: Sequence[Record], rate: float) -> Row:
    """Return how much is accepted, and how often more of it is wrong than was promised."""
    share, wrong = np.array([draw["accepted"][str(rate)] for record in records for draw in record["draws"]]).T
    n_broken = int(np.sum(wrong > rate))
    some = share > 0
    return {
        "error_rate": rate,
        "accepted": rounded(share.mean(), 3),
        "draws_with_any": int(some.sum()),
        "wrong_among_accepted": rounded(wrong[some].mean()) if some.any() else "",
        "broken": rounded(n_broken / len(share)),
        "beyond_noise": yes(binom.sf(n_broken - 1, len(share), 1 - CONFIDENCE) < BEYOND_NOISE),
    }


def suggestion_rows(records: Sequence[Record]) -> list[Row]:
    """Return a row for each set, way to choose labels and error rate."""
    rows = []
    for record in records:
        for rate in RATES:
            coverage, size, singletons, *_ = np.nanmean(sets_of(record, ADAPTIVE, rate), axis=0)
            error = standard_error(sets_of(record, ADAPTIVE, rate)[:, 0])
            row = {
                **about(record, len(record["draws"])),
                "way": record["way"],
                "labels_taken_as_drawn": record["draws"][0]["drawn"],
                "error_rate": rate,
                "coverage": rounded(coverage),
                "standard_error": rounded(error),
                "mean_size": rounded(size, 3),
                "singletons": rounded(singletons, 3),
                "below_nominal": yes(coverage < 1 - rate - error),
            }
            if rate in ACCEPTED_RATES:
                row |= acceptance_figures([record], rate)
            rows.append(row | interval_figures(record, "interval"))
    return rows


def about(record: Record, n_draws: int) -> Row:
    """Return what a row says of its set."""
    return {name: record[name] for name in ("set", "group", "rows", "classes", "labels")} | {"draws": n_draws}


def standard_error(values: np.ndarray) -> float:
    """Return that of a mean over draws."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def rounded(value: Any, digits: int = 4) -> float:
    """Return a number for a table."""
    return round(float(value), digits)


def yes(is_so: Any) -> str:
    """Return a word for a table."""
    return "yes" if is_so else "no"
