"""What plans, draws and tables know of a data set: everything but its rows."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from semikpca.datasets import Dataset

Counting: TypeAlias = Literal["in all", "each class", "on average"]
"""What a number of labels counts: all labels, those of each class, or labels per class on average."""

Scaling: TypeAlias = Literal["standardize", "none", "pixels"]
"""Mean 0 and variance 1 in each column; as they are; or divided by 16, as the pixels of digits."""


@dataclass(frozen=True)
class SetInfo:
    """A data set of the accuracy benchmark, without its rows.

    Attributes
    ----------
    name : str
    groups : tuple of str
        The groups that it is summarized in; the first one is its own.
    class_sizes : tuple of int
        Rows of each class, in the order of their numbers, as the methods get them.
    counting : Counting
    scaling : Scaling
    sha256 : str or None
        Checksum of the file, for a set from a folder of the user's.
    """

    name: str
    groups: tuple[str, ...]
    class_sizes: tuple[int, ...]
    counting: Counting
    scaling: Scaling
    sha256: str | None = None

    @property
    def n_samples(self) -> int:
        """Rows in all."""
        return sum(self.class_sizes)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_sizes)

    @property
    def rare_classes(self) -> tuple[int, ...]:
        """Classes with at most half of the rows that they would have if all classes were of one size.

        Examples
        --------
        >>> SetInfo("made up", ("tuning",), (75, 25), "on average", "none").rare_classes
        (1,)
        """
        return tuple(
            number for number, size in enumerate(self.class_sizes) if 2 * size * self.n_classes <= self.n_samples
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as JSON takes them."""
        return {**asdict(self), "groups": list(self.groups), "class_sizes": list(self.class_sizes)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "SetInfo":
        """Return the facts that ``to_dict`` was made of."""
        return cls(**{**values, "groups": tuple(values["groups"]), "class_sizes": tuple(values["class_sizes"])})


@dataclass(frozen=True)
class SuiteSet:
    """A set that comes with the benchmark: what is known of it, and how its rows are had."""

    info: SetInfo
    load: Callable[[], Dataset]
