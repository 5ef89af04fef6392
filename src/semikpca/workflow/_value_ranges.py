"""How numbers are distributed: counts between round numbers."""

from dataclasses import dataclass

import numpy as np

from semikpca._typing import FloatArray

_N_RANGES = 8  # about so many


@dataclass(frozen=True)
class ValueRange:
    """Numbers from ``low`` up to ``high``, both as a reader writes them."""

    low: str
    high: str
    n_given: int
    n_predicted: int


def value_ranges(given: FloatArray, predicted: FloatArray) -> list[ValueRange]:
    """Return how many given and predicted numbers are between round numbers, lowest first."""
    edges = round_edges(min(given.min(), predicted.min()), max(given.max(), predicted.max()))
    ends = round_numbers(edges)
    counts = (np.histogram(values, edges)[0].tolist() for values in (given, predicted))
    return [ValueRange(*line) for line in zip(ends[:-1], ends[1:], *counts, strict=True)]


def round_numbers(edges: FloatArray) -> list[str]:
    """Return equally spaced round numbers in writing, all with as many decimals as their distance has."""
    decimals = max(0, -int(np.floor(np.log10(edges[1] - edges[0]) + 1e-9)))
    if decimals > 12 or np.abs(edges).max() >= 1e15:
        return [f"{edge:.6g}" for edge in edges]
    return [f"{edge + 0.0:,.{decimals}f}" for edge in edges]


def round_edges(low: float, high: float) -> FloatArray:
    """Return round numbers that are equally far apart, from below the lowest to above the highest.

    Examples
    --------
    >>> round_edges(312.0, 1480.0).tolist()
    [200.0, 400.0, 600.0, 800.0, 1000.0, 1200.0, 1400.0, 1600.0]
    """
    wanted = max(high - low, 1e-12 * max(abs(low), abs(high)), np.finfo(float).tiny) / _N_RANGES
    size = 10.0 ** np.floor(np.log10(wanted))
    step = size * next(factor for factor in (1, 2, 5, 10) if factor * size >= wanted * (1 - 1e-9))
    return np.asarray(step * np.arange(np.floor(low / step), np.floor(high / step) + 2))
