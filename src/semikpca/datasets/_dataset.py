"""What a data set is, wherever it comes from."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from semikpca._typing import FloatArray, IntArray


@dataclass(frozen=True)
class Dataset:
    """Rows with a class each; ``X, y = data`` takes it apart.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n_samples, n_features)
        The features as the source has them: not scaled, no missing values.
    y : ndarray of int, shape (n_samples,)
        0 to n_classes − 1.
    class_names : tuple of str
        What the classes are called at the source, in the order of their numbers.
    source : str
        Where the rows came from.
    """

    name: str
    X: FloatArray
    y: IntArray
    class_names: tuple[str, ...]
    source: str

    def __iter__(self) -> Iterator[FloatArray | IntArray]:
        yield self.X
        yield self.y

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_names)

    @property
    def majority_share(self) -> float:
        """Share of the largest class."""
        return float(np.bincount(self.y).max() / len(self.y))
