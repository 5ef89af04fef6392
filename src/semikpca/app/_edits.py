"""What can be done to a state, each as one step that can be undone. Nothing is written here."""

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from semikpca._words import counted
from semikpca.app._state import Change, State, Values
from semikpca.workflow import SavedLabels

LONGEST_NAME = 100
MOST_CLASSES = 1_000  # as many as can be learned


def relabeling(state: State, rows: Iterable[int], label: Any) -> Change:
    """Give rows a label, or take theirs away with None; a row that a person labels is no longer an accepted one."""
    asked = _rows(state, rows)
    given = Values.of(lambda row: state.given[row], dict.fromkeys(asked, label))
    accepted = Values.of(state.accepted.get, dict.fromkeys(asked))
    touched = tuple(dict.fromkeys((*given.rows, *accepted.rows)))
    what = _in_words(touched)
    return Change(f"no label for {what}" if label is None else f"{label} for {what}", given, accepted)


def flagging(state: State, rows: Iterable[int], on: bool) -> Change:
    """Put a flag on rows, or take it off."""
    flagged = Values.of(
        lambda row: True if row in state.flagged else None, dict.fromkeys(_rows(state, rows), on or None)
    )
    return Change(f"{'flag on' if on else 'no flag on'} {_in_words(flagged.rows)}", flagged=flagged)


def acceptance(state: State, labels: Mapping[int, Any]) -> Change:
    """Accept predicted labels by row; rows that have a label, given or accepted, keep it."""
    wanted = {row: label for row, label in labels.items() if state.given[row] is None and row not in state.accepted}
    accepted = Values.of(state.accepted.get, wanted)
    return Change(f"acceptance of {counted(len(accepted.rows), 'row')}", accepted=accepted)


def withdrawal(state: State) -> Change:
    """Take all acceptances back."""
    accepted = Values.of(state.accepted.get, dict.fromkeys(state.accepted))
    return Change(f"withdrawal of {counted(len(accepted.rows), 'accepted row')}", accepted=accepted)


# -- classes -------------------------------------------------------------------------------------------------------


def new_class(state: State, name: str) -> tuple[Any, Change]:
    """Offer one more class; its label comes with the step: a number where all others are numbers."""
    label = as_label(state.classes, name)
    if label in state.classes:
        raise ValueError(f"The class {label!s} is there already.")
    if len(state.classes) >= MOST_CLASSES:
        raise ValueError(f"There are {MOST_CLASSES:,} classes already, and no more can be learned.")
    return label, Change(f"the new class {label}", classes=(state.classes, (*state.classes, label)))


def renaming(state: State, label: Any, name: str) -> Change:
    """Give a class another name, in the same place; a name that another class has is refused: see ``merging``."""
    _known(state, label)
    others = tuple(one for one in state.classes if one != label)
    renamed = as_label(others, name)
    if renamed in others:
        raise ValueError(f"The class {renamed!s} is there already. Merge {label!s} into it, or take another name.")
    classes = tuple(renamed if one == label else one for one in state.classes)
    return _moved(state, label, renamed, classes, f"the name {renamed} for the class {label}")


def merging(state: State, label: Any, target: Any) -> Change:
    """Make one class of two: all rows of the first have the second, and the first is no more."""
    _known(state, label)
    _known(state, target)
    if label == target:
        raise ValueError(f"The class {label!s} cannot be merged into itself.")
    classes = tuple(one for one in state.classes if one != label)
    return _moved(state, label, target, classes, f"the merge of {label} into {target}")


def deletion(state: State, label: Any) -> Change:
    """Take a class away, and with it the labels of its rows."""
    _known(state, label)
    classes = tuple(one for one in state.classes if one != label)
    n_rows = sum(map(len, state.rows_of(label)))
    labels = f" and its {counted(n_rows, 'label')}" if n_rows else ""
    return _moved(state, label, None, classes, f"the end of the class {label}{labels}")


def _moved(state: State, label: Any, target: Any, classes: tuple[Any, ...], what: str) -> Change:
    given, accepted = state.rows_of(label)
    return Change(
        what,
        Values.of(lambda row: state.given[row], dict.fromkeys(given, target)),
        Values.of(state.accepted.get, dict.fromkeys(accepted, target)),
        classes=(state.classes, classes),
        renamed=() if label == target else ((label, target),),
    )


def as_label(classes: tuple[Any, ...], name: str) -> Any:
    """Return a typed name as a label: a number where all classes are numbers, or else the text."""
    text = name.strip()
    if not text:
        raise ValueError("A class needs a name.")
    if len(text) > LONGEST_NAME:
        raise ValueError(f"The name has {len(text)} letters; at most {LONGEST_NAME} fit on the page.")
    if not classes or any(isinstance(label, str) for label in classes):
        return text
    try:
        number = int(text) if all(isinstance(label, int) for label in classes) else float(text)
        if not math.isfinite(number):
            raise ValueError(text)
        return number
    except (ValueError, OverflowError):
        shown = ", ".join(str(label) for label in classes[:3])
        raise ValueError(f"The classes of this table are numbers ({shown} …), and {text!r} is none.") from None


# -- labels from elsewhere -----------------------------------------------------------------------------------------


def taking_up(state: State, saved: SavedLabels, kept: Mapping[int, Any], known: Collection[Any], what: str) -> Change:
    """Go on with what was saved, in place of all labels but those of ``kept`` rows, which stay as they are there.

    Classes are those that were saved, and those that are new or in use. Others that were ``known`` from the start are
    gone: they were renamed, merged or deleted in that visit.
    """
    wanted = {row: kept.get(row, saved.labels.get(row)) for row in range(len(state.given))}
    accepted = {row: saved.accepted.get(row) for row in {*state.accepted, *saved.accepted}}
    used = set(wanted.values())
    more = [label for label in state.classes if label in used or label not in known]
    classes = (*saved.classes, *(label for label in more if label not in saved.classes))
    return _with(state, saved, wanted, accepted, classes, what)


def filling_in(state: State, saved: SavedLabels, what: str) -> tuple[Change, int]:
    """Add what was saved to the present labels, which stay; return also how many rows have another label there."""
    present = state.labels
    wanted = {row: label for row, label in saved.labels.items() if row not in present}
    accepted = {row: label for row, label in saved.accepted.items() if row not in state.accepted}
    n_kept = sum(present.get(row, label) != label for row, label in saved.labels.items())
    classes = (*state.classes, *(label for label in saved.classes if label not in state.classes))
    return _with(state, saved, wanted, accepted, classes, what), n_kept


def importing(state: State, labels: Mapping[int, str], accepted: Mapping[int, str], what: str) -> tuple[Change, int]:
    """Give rows the labels of a file, in place of their own; return also how many had another label."""
    classes = list(state.classes)

    def known(name: str) -> Any:
        label = as_label(tuple(classes), name)
        if label not in classes:
            classes.append(label)
        if len(classes) > MOST_CLASSES:
            raise ValueError(f"The file has too many classes: more than {MOST_CLASSES:,} cannot be learned.")
        return label

    wanted = {row: known(name) for row, name in labels.items()}
    answers = {row: known(name) for row, name in accepted.items() if state.given[row] is None and row not in labels}
    n_replaced = sum(state.given[row] not in (None, label) for row, label in wanted.items())
    given = Values.of(lambda row: state.given[row], wanted)
    answered = Values.of(state.accepted.get, {**answers, **dict.fromkeys(wanted)})
    return Change(what, given, answered, classes=(state.classes, tuple(classes))), n_replaced


def giving(state: State, labels: Mapping[int, Any], what: str) -> tuple[Change, int]:
    """Give rows labels, each its own, in place of theirs; return also how many had another label."""
    n_replaced = sum(state.given[row] not in (None, label) for row, label in labels.items())
    return Change(what, Values.of(lambda row: state.given[row], labels)), n_replaced


def _with(
    state: State,
    saved: SavedLabels,
    labels: Mapping[int, Any],
    accepted: Mapping[int, Any],
    classes: tuple[Any, ...],
    what: str,
) -> Change:
    given = Values.of(lambda row: state.given[row], labels)
    has_label = {row for row, label in enumerate(state.given.tolist()) if label is not None} - set(given.rows)
    has_label |= {row for row, label in given.pairs(back=False) if label is not None}
    # A row that a person has labeled is none that was accepted.
    answers = {row: None if row in has_label else label for row, label in accepted.items()}
    answers |= {row: None for row in state.accepted if row in has_label}
    return Change(
        what,
        given,
        Values.of(state.accepted.get, answers),
        Values.of(lambda row: True if row in state.flagged else None, dict.fromkeys(saved.flagged, True)),
        (state.classes, classes),
    )


def _known(state: State, label: Any) -> None:
    if label not in state.classes:
        raise ValueError(f"There is no class {label!r}. Add it first.")


def _rows(state: State, rows: Iterable[int]) -> list[int]:
    asked = list(dict.fromkeys(int(row) for row in rows))
    for row in asked:
        if not 0 <= row < len(state.given):
            raise ValueError(f"There is no row {row}: rows are counted from 0 to {len(state.given) - 1}.")
    return asked


def _in_words(rows: tuple[int, ...]) -> str:
    return f"row {rows[0] + 1}" if len(rows) == 1 else f"{len(rows)} rows"
