"""Work that goes on while the page answers: a file that is read, a table that is opened."""

from collections.abc import Callable
from dataclasses import dataclass, field

STAGES = ("Reading the table", "Columns to numbers", "Neighbors and kernels", "The map")
# What is told of the work begins with one of these, and belongs to the stage of that place.
_BEGINNINGS = (
    ("Reading the",),
    ("Columns to numbers", "Reading texts"),
    ("Finding neighbors", "Neighbors and"),
    ("Drawing the map",),
)

Say = Callable[[str], None]


class OpeningStopped(Exception):  # noqa: N818  (no error: somebody asked for it)
    """The work is not wanted any more."""


@dataclass
class Opening:
    """A table that is on its way to the page: its name, what is being done, and whether it is still wanted."""

    name: str
    stage: int = 0  # of STAGES
    detail: str = ""
    is_stopped: bool = field(default=False, repr=False)

    def say(self, step: str) -> None:
        """Take note of a step; a work that is not wanted any more ends here."""
        if self.is_stopped:
            raise OpeningStopped
        for number, beginnings in enumerate(_BEGINNINGS):
            if step.startswith(beginnings):
                self.stage, self.detail = number, step if ":" in step else ""
