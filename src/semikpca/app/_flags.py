"""Rows that were marked for later: kept by the session where it can, or else by the tab."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semikpca.app._session import LabelingSession
    from semikpca.app._workspace import Tab


def flagged_rows(session: "LabelingSession", tab: "Tab") -> list[int]:
    """Return the rows with a flag, in the order of the file."""
    return sorted(getattr(session, "flagged", tab.flags))


def toggle_flags(session: "LabelingSession", tab: "Tab") -> None:
    """Flag the selected rows, or take the flags away where all of them have one."""
    on = not set(tab.selected) <= set(flagged_rows(session, tab))
    keep: Any = getattr(session, "flag", None)
    if keep is not None:
        keep(tab.selected, on)
    elif on:
        tab.flags |= set(tab.selected)
    else:
        tab.flags -= set(tab.selected)
