"""What a further label would change, where it takes another fit to know: losses but the squared one."""

from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray


def change_by_fits(
    model: Any, rows: IntArray, sharpness: float, among: IntArray, negligible: float, most_classes: int
) -> FloatArray:
    """Return the expected change of the rows ``among`` when each of ``rows`` gets a label.

    Each class that a row may have is given to it by Newton steps. Passed over are classes less likely than
    ``negligible``, and all but the ``most_classes`` likeliest of each row. Rows that stay out of reach do not change.
    """
    reach = model.reach_
    reached = reach.hide(model.linear_decision())
    own = model.decision_probabilities(reached[rows], sharpness)
    if most_classes < own.shape[1]:
        own[own < np.partition(own, -most_classes, axis=1)[:, -most_classes, np.newaxis]] = 0
    candidates, codes = np.nonzero(own > negligible)
    before = model.decision_probabilities(reached[among], sharpness)
    distances = np.zeros(len(candidates))
    for some, decisions in model.decisions_with(rows[candidates], codes):
        places = np.arange(len(candidates))[some]
        for place, decision in zip(places, decisions, strict=True):
            hidden = reach.with_label_at(int(rows[candidates[place]])).hide(decision)
            after = model.decision_probabilities(hidden[among], sharpness)
            distances[place] = np.abs(after - before).sum() / 2
    expected = own[candidates, codes] * distances
    return np.asarray(np.bincount(candidates, expected, minlength=len(rows)), dtype=np.float64)


def suggested_by_fits(
    model: Any, pool: IntArray, n: int, sharpness: float, among: IntArray, negligible: float, most_classes: int
) -> IntArray:
    """Return n rows of the pool, best first, each as if those before it had been given their likeliest label."""
    chosen: list[int] = []
    remaining = pool
    while len(chosen) < min(n, len(pool)):
        change = change_by_fits(model, remaining, sharpness, among, negligible, most_classes)
        row = int(remaining[np.argmax(change)])
        chosen.append(row)
        remaining = remaining[remaining != row]
        decision = model.reach_.hide(model.linear_decision())[row][np.newaxis]
        likely = int(np.argmax(model.decision_probabilities(decision, sharpness)[0]))
        model = model.with_label(row, likely)
    return np.array(chosen, dtype=np.intp)
