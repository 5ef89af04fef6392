"""What a user does to classes, flags, acceptances and earlier visits: one function an act, each returns what to say."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from semikpca._words import counted
from semikpca.app._opening import Pending
from semikpca.tables import read_table, typed_number
from semikpca.workflow import SavedLabels

if TYPE_CHECKING:
    from semikpca.app._workspace import Tab, Workspace

    Act: TypeAlias = Callable[[Workspace, Tab, dict[str, Any]], str | None]

DIALOGS = ("", "labels")


def asked_class(workspace: "Workspace", event: dict[str, Any]) -> Any:
    """Return the class that an event means: by its name as the tab shows it, or else by its place among the keys.

    A place may be that of another class as soon as another tab has deleted one.
    """
    session = workspace.table.session
    if event.get("name"):
        return session.class_named(str(event["name"]))
    classes, number = session.snapshot().classes, int(event["value"])
    if not 0 <= number < len(classes):
        raise ValueError(f"There are {len(classes)} classes; add one for this key.")
    return classes[number]


# -- classes -------------------------------------------------------------------------------------------------------


def find_class(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> None:
    """List the classes that fit what was typed."""
    tab.class_search = str(event["value"]).strip()


def give_class(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> None:
    """Give the selected rows the class that was typed, or a new one where that is asked for."""
    session, typed = workspace.table.session, str(event["value"]).strip()
    tab.class_search = ""
    if not typed:
        return
    if not tab.selected:
        raise ValueError("No row is selected. Click one on the map, or press n for a suggested one.")
    classes = session.snapshot().classes
    found = matching(classes, typed)
    if event.get("new"):
        same = [label for label in classes if str(label) == typed]
        label = same[0] if same else session.add_class(typed)
    elif not found:
        raise ValueError(f"No class is called {typed}. Press Shift and Enter to add it and give it.")
    else:
        label = found[0]
    workspace.label_selected(tab, label)


def matching(classes: tuple[Any, ...], typed: str) -> list[Any]:
    """Return the classes that fit what was typed: the same, those that begin so, those that have it in them.

    Examples
    --------
    >>> matching(("spam", "no spam", "space"), "SPA")
    ['spam', 'space', 'no spam']
    """
    wanted = typed.strip().casefold()

    def distance(label: Any) -> int:
        name = str(label).casefold()
        return 0 if name == wanted else 1 if name.startswith(wanted) else 2

    return sorted((label for label in classes if wanted in str(label).casefold()), key=distance)


def edit_class(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> None:
    """Open what can be done to a class, or close it."""
    name = str(event.get("name") or "")
    tab.editing, tab.merging = (None if name == tab.editing else name or None), None


def rename_class(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> str | None:
    """Give a class another name; where another class has that name, ask whether to merge the two."""
    session, name = workspace.table.session, str(event["value"]).strip()
    label = asked_class(workspace, event)
    others = [one for one in session.snapshot().classes if one != label]
    if same := [one for one in others if str(one) == name]:
        tab.editing, tab.merging = str(label), str(same[0])
        return None
    session.rename_class(label, name)
    tab.editing = tab.merging = None
    return f"{label} is now called {name}."


def merge_class(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> str:
    """Make one class of two."""
    session = workspace.table.session
    label, target = asked_class(workspace, event), session.class_named(str(event["value"]))
    session.merge_classes(label, target)
    tab.editing = tab.merging = None
    return f"{label} and {target} are one class now: {target}. Undo makes two of them again."


def delete_class(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> str:
    """Take a class away, with its labels."""
    label = asked_class(workspace, event)
    workspace.table.session.delete_class(label)
    tab.editing = tab.merging = None
    return f"The class {label} is no more. Undo brings it back, with its labels."


# -- numbers -------------------------------------------------------------------------------------------------------


def give_number(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> None:
    """Give the selected rows the number that was typed."""
    if not tab.selected:
        raise ValueError("No row is selected. Click one on the map, or press n for a suggested one.")
    workspace.label_selected(tab, typed_number(str(event["value"])))


# -- flags and acceptances -----------------------------------------------------------------------------------------


def flag(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> None:
    """Put a flag on the selected rows, or take it off where all have one; a value of 0 or 1 says which."""
    session = workspace.table.session
    if not tab.selected:
        raise ValueError("No row is selected. Click one on the map, or press n for a suggested one.")
    on = not session.flagged.issuperset(tab.selected)
    if str(event.get("value", "")) in ("0", "1"):
        on = str(event["value"]) == "1"
    session.flag(tab.selected, on)


def accept(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> str:
    """Accept what can be accepted at the share of this tab."""
    session = workspace.table.session
    before = session.snapshot().n_accepted
    n_new = session.accept(tab.error_rate).n_accepted - before
    if not n_new:
        raise ValueError("There is no row more to accept.")
    return f"{counted(n_new, 'row is', 'rows are')} accepted with the predicted label. Undo takes that back."


def withdraw(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> None:
    """Take all acceptances back."""
    workspace.table.session.withdraw_accepted()


# -- earlier visits ------------------------------------------------------------------------------------------------


def dialog(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> None:
    """Open a dialog, or close it."""
    asked = str(event.get("value") or "")
    tab.dialog = asked if asked in DIALOGS else ""


def take_up(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> str | None:
    """Go on with the labels of the last visit, which were offered."""
    if workspace.offer is None:
        return None
    session, before = workspace.table.session, workspace.table.session.given
    n_kept = sum(before[row] != workspace.offer.labels.get(row) for row in session.changed_rows().tolist())
    session.take_up(workspace.offer)
    workspace.offer = None
    if not n_kept:
        return None
    rows = counted(n_kept, "row that you have changed since keeps its", "rows that you have changed since keep their")
    return f"The labels of your last visit are back. {rows} present label."


def start_over(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> None:
    """Leave the labels of the last visit where they are."""
    workspace.offer = None


def open_visit(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> str:
    """Go back to the labels of an earlier visit."""
    saved = _visit(workspace, str(event["value"]))
    workspace.table.session.restore(saved)
    tab.dialog = ""
    return f"These are the labels of {when(saved)}. Undo brings the others back."


def merge_visit(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> str:
    """Give rows without a label that of an earlier visit."""
    saved, session = _visit(workspace, str(event["value"])), workspace.table.session
    before = len(saved.labels.keys() - {row for row, label in enumerate(session.given) if label is not None})
    n_kept = session.merge(saved)
    tab.dialog = ""
    kept = f" {counted(n_kept, 'row has', 'rows have')} another label now and kept it." if n_kept else ""
    return f"{counted(before, 'label')} of {when(saved)} {'was' if before == 1 else 'were'} added.{kept}"


def _visit(workspace: "Workspace", name: str) -> SavedLabels:
    for visit in workspace.table.session.visits():
        if visit.name == name and visit.saved is not None:
            return visit.saved
    raise ValueError("These labels are no longer there, or cannot be read.")


def when(saved: SavedLabels) -> str:
    """Return in words when labels were saved."""
    return saved.saved_at.strftime("%d %B %Y, %H:%M").lstrip("0")


# -- a folder of tables --------------------------------------------------------------------------------------------


def open_file(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> None:
    """Open a table of the folder: ask which column has its labels."""
    if workspace.folder is None:
        raise ValueError("The page was not started with a folder.")
    path = workspace.folder.file(str(event["value"]))

    def read(say: Any) -> Pending:
        return Pending(read_table(path), path.name, "beside the file").looked_at()

    workspace.begin(path.name, read, workspace.ask_for_column, lambda message: workspace.tell(message, tab), "start")


def list_tables(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> None:
    """Look into the folder again."""
    if workspace.folder is not None:
        workspace.folder.look()


def told(workspace: "Workspace", tab: "Tab", event: dict[str, Any]) -> str:
    """Show what the answer to another request says."""
    return str(event["value"])[:600]


ACTS: "dict[str, Act]" = {
    "find-class": find_class,
    "give-class": give_class,
    "edit-class": edit_class,
    "rename-class": rename_class,
    "merge-class": merge_class,
    "delete-class": delete_class,
    "flag": flag,
    "accept": accept,
    "withdraw": withdraw,
    "dialog": dialog,
    "take-up": take_up,
    "start-over": start_over,
    "open-visit": open_visit,
    "merge-visit": merge_visit,
    "open-file": open_file,
    "list": list_tables,
    "told": told,
    "number": give_number,
}
