"""What a long computation says of itself."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass


class Progress:
    """Says after each product, in one line of text, how far a computation is and how long it may still take."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._start = time.monotonic()
        self._stage, self._first, self._at_first = "", math.nan, 0

    def note(self, stage: str, n_products: int, residual: float, goal: float) -> None:
        """Say how far a stage is: relative residual now, and the one that ends it."""
        seconds = time.monotonic() - self._start
        if stage != self._stage:
            self._stage, self._first, self._at_first = stage, residual, n_products
        line = f"{stage}: {n_products} products, residual {residual:.1e} of {goal:.1e}, {seconds:.1f} s"
        left = self._products_left(n_products, residual, goal)
        if left is not None and n_products:
            line += f", about {left * seconds / n_products:.1f} s left in this stage"
        self._say(line)

    def _products_left(self, n_products: int, residual: float, goal: float) -> float | None:
        """Return the products to the goal if the residual goes on falling as it has fallen in this stage."""
        made = n_products - self._at_first
        if not made or not 0 < residual < self._first or goal <= 0:
            return None
        return max(0.0, math.log(residual / goal)) / (math.log(self._first / residual) / made)


@dataclass(eq=False)
class ProductLog:
    """How many products with a matrix were made, and who listens.

    One log belongs to one matrix: operators that are made of it, and its form with more digits, share the log.
    """

    n_products: int = 0
    progress: Progress | None = None  # who is told how far a computation is

    def report(self, stage: str, residual: float, goal: float) -> None:
        """Say how far a computation with products is, where somebody listens."""
        if self.progress is not None:
            self.progress.note(stage, self.n_products, residual, goal)
