"""Rows whose numbers would tell the most about those of all others."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray

_MOST_ROWS = 2_000  # on which a search looks at variances: a sample where there are more


def suggested_for_numbers(model: Any, unlabeled: IntArray, n: int, max_candidates: int, random_state: Any) -> IntArray:
    """Return n of the unlabeled rows, best first: each lowers the variance of all rows the most, after those before it.

    Every candidate of the blend is a Gaussian process. Its variances do not depend on the numbers that a label will
    have, so that the gain is known beforehand, and rows are chosen one after the other without a guess at their
    numbers. Candidates count by their weights. Where more rows are unlabeled than ``max_candidates``, so many are drawn
    at random.
    """
    if not unlabeled.size or not n:
        return np.empty(0, dtype=np.intp)
    size = max(max_candidates, n)
    pool = unlabeled
    if len(pool) > size:
        pool = np.sort(random_state.choice(pool, size, replace=False))
    n_rows = len(model.targets_.values)
    among = np.arange(n_rows)
    if n_rows > _MOST_ROWS:
        among = np.sort(random_state.choice(n_rows, _MOST_ROWS, replace=False))
    searches = [
        _Search(weight, noise, covariance[among], covariance[pool])
        for weight, noise, covariance in model.blend_.covariances(pool)
    ]
    chosen: list[int] = []
    for _ in range(min(n, len(pool))):
        gains = np.zeros(len(pool)) + sum(search.gains() for search in searches)
        gains[chosen] = -np.inf
        best = int(np.argmax(gains))
        chosen.append(best)
        for search in searches:
            search.take(best)
    return np.asarray(pool[chosen])


@dataclass
class _Search:
    """One Gaussian process during a search: what labels of the pool would tell."""

    weight: float
    noise: float
    of_all: FloatArray  # covariances of all rows with those of the pool
    of_pool: FloatArray  # and of the pool with itself

    def gains(self) -> FloatArray:
        """Return by how much a label of each row lowers the mean variance of all rows, times the weight."""
        variances = np.maximum(np.diagonal(self.of_pool), 0) + self.noise
        squares = np.mean(np.square(self.of_all), axis=0)
        # Where nothing is left to vary, nothing is to be gained.
        return np.asarray(self.weight * np.divide(squares, variances, out=np.zeros_like(squares), where=variances > 0))

    def take(self, place: int) -> None:
        """Go on as if a row of the pool had a label."""
        variance = max(float(self.of_pool[place, place]), 0.0) + self.noise
        if variance > 0:
            along = self.of_pool[place] / variance
            self.of_all = self.of_all - np.outer(self.of_all[:, place], along)
            self.of_pool = self.of_pool - np.outer(self.of_pool[:, place], along)
