"""Two halves of the labels: where both tell the same story of all rows, the kernel has to do with the classes."""

from collections.abc import Sequence

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.blending._columns import Columns
from semikpca.blending._label_fit import LabelSystem
from semikpca.blending._sources import Source


def halves_of(codes: IntArray, distances: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the places of the labels in each half; a label alone in its class is in both.

    Labels of a class take turns, in the order of their ``distances`` from the middle of all rows: the halves do not
    depend on the order of the rows, nor on the names of the classes.
    """
    order = np.lexsort((distances, codes))
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(codes)))
    rank = np.arange(len(codes)) - np.repeat(starts, sizes)
    alone = np.repeat(sizes == 1, sizes)
    return np.sort(order[(rank % 2 == 0) | alone]), np.sort(order[(rank % 2 == 1) | alone])


def agreement_of_halves(
    source: Source, columns: Columns, codes: IntArray, targets: FloatArray, noises: Sequence[float]
) -> dict[tuple[float, bool], float]:
    """Return how well the labelings from each half of the labels agree, for each noise, without and with intercept.

    Cohen's kappa over all rows: 1 where they are the same, 0 where they agree as often as by chance.
    """
    n_labeled, n_classes = targets.shape
    labelings: list[dict[tuple[float, bool], IntArray]] = []
    own, means = columns.own, columns.means
    # ‖φ(x) − mean‖² in the feature space of the kernel, up to a constant.
    for half in halves_of(codes, np.diagonal(own) - 2 * means):
        system = LabelSystem(own[np.ix_(half, half)], means[half])
        if not system.scale > 0:
            return {}
        fits = [system.fit(targets[half], noise) for noise in noises]
        coefficients = np.zeros((n_labeled, len(noises) * n_classes))
        coefficients[half] = np.hstack([fit.coefficients for fit in fits])
        sums = np.split(columns.times(source, coefficients), len(noises), axis=1)
        found = {}
        for noise, fit, scores in zip(noises, fits, sums, strict=True):
            found[noise, False] = (scores - fit.center).argmax(axis=1)
            found[noise, True] = (scores + fit.intercept).argmax(axis=1)
        labelings.append(found)
    one, other = labelings
    return {key: _kappa(one[key], other[key], n_classes) for key in one}


def _kappa(one: IntArray, other: IntArray, n_classes: int) -> float:
    shares = [np.bincount(codes, minlength=n_classes) / len(codes) for codes in (one, other)]
    chance = float(shares[0] @ shares[1])
    return 0.0 if chance == 1 else (float(np.mean(one == other)) - chance) / (1 - chance)
