"""The contract of a loss."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from semikpca._typing import Array, FloatArray
from semikpca.arrays import to_numpy

_MOST_DOUBLINGS = 60  # errors up to 1e18
_HALVINGS = 100


class Loss(BaseEstimator, ABC):
    """A convex, even function ρ of an error, with ρ(0) = 0; arrays of any shape and library go in and come out.

    Five members say all that a fit needs. Parameters are read and set as those of a kernel are, so that ``loss__delta``
    can be searched for; a fitted model keeps a copy. A loss from outside the package goes through :func:`check_loss`
    when it comes in.

    Examples
    --------
    Fair's loss, ρ(e) = c² (|e|/c − log(1 + |e|/c)):

    >>> import numpy as np
    >>> from semikpca import SemiKPCAClassifier
    >>> from semikpca.losses import Loss, check_loss
    >>> class Fair(Loss):
    ...     def __init__(self, c=1.0):
    ...         self.c = c
    ...     def value(self, errors):
    ...         return self.c**2 * (abs(errors) / self.c - np.log1p(abs(errors) / self.c))
    ...     def derivative(self, errors):
    ...         return errors / (1 + abs(errors) / self.c)
    ...     def second_derivative(self, errors):
    ...         return 1 / (1 + abs(errors) / self.c) ** 2
    ...     lipschitz_constant = 1.0
    ...     has_bounded_derivative = True
    >>> check_loss(Fair())
    >>> X = [[0.0], [0.2], [0.4], [3.0], [3.2], [3.4]]
    >>> SemiKPCAClassifier(loss=Fair(c=2.0)).fit(X, [0, -1, -1, -1, -1, 1]).transduction_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    @abstractmethod
    def value(self, errors: Array) -> Array:
        """Return ρ(e)."""

    @abstractmethod
    def derivative(self, errors: Array) -> Array:
        """Return ρ′(e)."""

    @abstractmethod
    def second_derivative(self, errors: Array) -> Array:
        """Return ρ″(e), between 0 and ``lipschitz_constant``."""

    @property
    @abstractmethod
    def lipschitz_constant(self) -> float:
        """The largest value of ρ″, at most 1."""

    @property
    @abstractmethod
    def has_bounded_derivative(self) -> bool:
        """Whether ρ′ is bounded: the objective then has a lower bound at every error weight."""

    @property
    def is_linear(self) -> bool:
        """Whether ρ′(e) = e, so that the answer is linear in the targets and everything has its closed form."""
        return False

    def conjugate(self, slopes: FloatArray) -> FloatArray:
        """Return ρ*(β) = sup over e of β e − ρ(e), infinite for slopes that ρ′ does not take.

        It states the dual objective and takes no part in a fit. Unless a loss knows better, the e with ρ′(e) = β is
        found by bisection: where e is off by a little, the supremum is off by the square of it.
        """
        sizes = np.abs(np.asarray(slopes, dtype=np.float64))
        high = np.ones_like(sizes)
        for _ in range(_MOST_DOUBLINGS):
            high = np.where(to_numpy(self.derivative(high)) < sizes, 2 * high, high)
        is_taken = to_numpy(self.derivative(high)) >= sizes
        low = np.zeros_like(high)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            is_below = to_numpy(self.derivative(middle)) < sizes
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        values: FloatArray = sizes * high - to_numpy(self.value(high))
        return np.where(is_taken, np.maximum(values, 0), np.inf)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, as scikit-learn's searches do on copies of their own; return the loss itself."""
        known = self.get_params(deep=False)
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"{self!r} has no parameter {name!r}; it has {sorted(known)}.")
            object.__setattr__(self, name, value)  # the losses below are frozen for everybody else
        return self
