"""Who is labeled."""

import zlib

import numpy as np

from semikpca._typing import IntArray
from semikpca.experiments._spec import Cell


def draw_labeled_rows(cell: Cell, n_samples: int, repetitions: int, seed: int) -> IntArray:
    """Return the labeled rows of every draw, shape (repetitions, n_labeled).

    Uniform without replacement; nothing forces both classes in, as in the paper. A draw depends on the seed, the cell
    and its own number alone, so that ten draws are the first ten of a hundred, whatever runs beside them.
    """
    name = zlib.crc32(cell.dataset.encode())
    return np.stack(
        [
            np.random.default_rng([seed, name, cell.n_labeled, draw]).choice(n_samples, cell.n_labeled, replace=False)
            for draw in range(repetitions)
        ]
    )
