"""What is counted when programs are killed, and what must not happen to them."""

from dataclasses import dataclass

PARTIAL = ".partial"


class LostError(AssertionError):
    """Something that was confirmed is gone, or a file is half there."""


@dataclass
class Figures:
    """What happened to one command."""

    what: str
    kills: int = 0
    finished: int = 0  # runs that came to their end before they were killed
    partial_files: int = 0  # left by killed writes
    confirmed: int = 0  # files or clicks that were there after a kill
    under_way: int = 0  # clicks that were saved, and killed before they were answered


def expect(holds: bool, problem: str) -> None:
    """Refuse to go on where something was lost."""
    if not holds:
        raise LostError(problem)
