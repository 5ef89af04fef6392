"""Labels as people type them: one class in several spellings, and words that say that there is no label."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from semikpca._words import counted
from semikpca.labels import UNLABELED
from semikpca.tables._features import MISSING_WORDS, as_text

AS_TYPED = "--keep-labels-as-typed"
_DASHES = frozenset({"-", "--", "---", "–", "—"})
# Nobody calls a class so, and programs write these for an empty cell.
_NO_LABEL = (MISSING_WORDS - {"none"}) | _DASHES | {"n.a.", "??", "???", "…"}
# An answer as good as "mild" or "severe", or the lack of one: only whoever typed it knows.
_DOUBTFUL = frozenset({"none", "unknown", "unlabeled", "unlabelled", "undefined", "missing", "tbd", "todo"})
_MOST_SHOWN = 5


def as_meant(labels: list[Any], column: str) -> tuple[list[Any], list[str]]:
    """Return labels without marks for "no label" and with one spelling for each class, and notes on what was changed.

    The commonest spelling is the name of a class; of two that are equally common, the first in the table.

    Examples
    --------
    >>> labels, notes = as_meant(["Spam", "SPAM", "Spam", None, "n/a", "ham"], "kind")
    >>> labels
    ['Spam', 'Spam', 'Spam', None, None, 'ham']
    """
    labels, marks = without_marks(labels)
    labels, merged = _in_one_spelling(labels)
    return labels, [*_marks_in_words(marks, column), *_merged_in_words(merged, column)]


def is_doubtful(label: Any) -> bool:
    """Whether a class may have been meant as "no label"."""
    return as_text(label).casefold() in _DOUBTFUL or as_text(label) in (str(UNLABELED), f"{UNLABELED}.0")


def plain(label: str) -> str:
    """Return what all spellings of a label have in common: case and blanks do not count."""
    return " ".join(unicodedata.normalize("NFC", label).casefold().split())


def without_marks(labels: list[Any]) -> tuple[list[Any], Counter[str]]:
    """Return labels with None in place of marks for "no label", and how often each mark was there."""
    counts = Counter(label for label in labels if isinstance(label, str))
    # Beside "+" a dash is the class "minus".
    marks = _NO_LABEL - _DASHES if any(set(label) == {"+"} for label in counts) else _NO_LABEL
    found = Counter({label: count for label, count in counts.items() if label.casefold() in marks})
    return [None if isinstance(label, str) and label in found else label for label in labels], found


def _in_one_spelling(labels: list[Any]) -> tuple[list[Any], dict[str, Counter[str]]]:
    """Return the labels, and the other spellings of each class that has some."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for label, count in Counter(label for label in labels if isinstance(label, str)).items():
        spellings[plain(label)][label] = count
    merged = {}
    names: dict[str, str] = {}
    for found in spellings.values():
        (name, _), *others = found.most_common()
        names |= dict.fromkeys(found, name)
        if others:
            merged[name] = Counter(dict(others))
    return [names[label] if isinstance(label, str) else label for label in labels], merged


def _marks_in_words(marks: Counter[str], column: str) -> list[str]:
    if not marks:
        return []
    is_, it_is, a_class = ("is", "it is", "a class") if len(marks) == 1 else ("are", "they are", "classes")
    return [f"{_shown(marks)} in {column!r} {is_} taken as no label. Add {AS_TYPED} if {it_is} {a_class}."]


def marks_as_no_number(marks: Counter[str], column: str) -> list[str]:
    """Return the note on words that stand in a column of numbers where there is none."""
    if not marks:
        return []
    return [f"{_shown(marks)} in {column!r} {'is' if len(marks) == 1 else 'are'} taken as no number."]


def _merged_in_words(merged: dict[str, Counter[str]], column: str) -> list[str]:
    if not merged:
        return []
    shown = [f"{_shown(others)} as {name!r}" for name, others in list(merged.items())[:_MOST_SHOWN]]
    more = [f"{len(merged) - _MOST_SHOWN:,} more"] if len(merged) > _MOST_SHOWN else []
    return [
        f"Labels in {column!r} that differ in case or blanks only are one class: {_joined([*shown, *more])}. Add "
        f"{AS_TYPED} if they are different classes."
    ]


def _shown(spellings: Counter[str]) -> str:
    shown = [f"{label!r} ({counted(count, 'row')})" for label, count in spellings.most_common(_MOST_SHOWN)]
    more = [f"{len(spellings) - _MOST_SHOWN:,} more"] if len(spellings) > _MOST_SHOWN else []
    return _joined([*shown, *more])


def _joined(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
