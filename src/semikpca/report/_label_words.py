"""Numbers and names in the words of the report."""

from collections.abc import Sequence
from typing import Any

from semikpca.workflow import shortened

MOST_LISTED = 12  # names in one line of text


def percent(share: float) -> str:
    """Return a share in whole percent."""
    return f"{share:.0%}"


def shortened_list(names: Sequence[Any], n_all: int | None = None) -> str:
    """Return names with commas between them, the last ones as a number where there are many."""
    n_all = len(names) if n_all is None else n_all
    shown = [shortened(name) for name in names[:MOST_LISTED]]
    return ", ".join(shown) + (f" and {n_all - len(shown):,} more" if n_all > len(shown) else "")
