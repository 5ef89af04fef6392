"""What each column of an open table is, why it was taken so, and what else it can be."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from semikpca._words import counted
from semikpca.app._column_choices import CATEGORY, FOUND, IDENTIFIER, LEFT_OUT, TEXT
from semikpca.tables import (
    NUMBERS,
    ColumnRoles,
    Table,
    TableToNumbers,
    feature_counts,
    identifier_reason,
    is_free_text,
    number_style,
    vector_length,
)

MOST_CATEGORIES = 1_000  # that tables takes, see check_roles
_SEEN = 1_000  # rows by which it is told what a column would be that is not learned from
_VALUES, _LETTERS = 3, 24  # of a sample
_SAID = "you said so"


@dataclass(frozen=True)
class ColumnFacts:
    """A column in words."""

    name: str
    kind: str  # "number", "category", "date", "text", "vector", "identifier", "left out" or "label"
    why: str
    sample: str
    choice: str  # what it is taken for now, one of ``CHOICES``
    choices: tuple[tuple[str, str], ...]  # what it can be, with words for each; none for the labels


def column_facts(
    table: Table, asked: ColumnRoles, settled: ColumnRoles, vectorizer: TableToNumbers
) -> tuple[ColumnFacts, ...]:
    """Return the facts of all columns, in their order; roles as they were asked for, and with what was left out."""
    counts = feature_counts(vectorizer)
    return tuple(_facts(table, str(name), asked, settled, vectorizer, counts) for name in table.features.columns)


def _facts(
    table: Table, name: str, asked: ColumnRoles, settled: ColumnRoles, vectorizer: Any, counts: dict[str, int]
) -> ColumnFacts:
    column = table.features[name]
    sample = _sample(column)
    if name == settled.label:
        taken = ", taken as numbers" if settled.labels_as == NUMBERS else ""
        return ColumnFacts(name, "label", f"the labels are in it{taken}", sample, FOUND, ())
    found = _found(column, name, vectorizer)
    choices = _choices(column, found)
    if name == settled.id:
        return ColumnFacts(name, "identifier", "it names the rows", sample, IDENTIFIER, choices)
    if name in settled.exclude:
        why = _SAID if name in asked.exclude else identifier_reason(column)
        kind = "left out" if name in asked.exclude or not why else "identifier"
        return ColumnFacts(name, kind, why or "it comes from an earlier run", sample, LEFT_OUT, choices)
    if not counts.get(name) and not any(name in parts for parts in vectorizer.joined_.values()):
        return ColumnFacts(name, "left out", "the same in every row, or empty", sample, FOUND, choices)
    if name in asked.text or name in asked.category:
        choice = TEXT if name in asked.text else CATEGORY
        return ColumnFacts(name, choice, _SAID, sample, choice, choices)
    return ColumnFacts(name, found, _reason(column, found, name, vectorizer), sample, FOUND, choices)


def _found(column: pd.Series, name: str, vectorizer: Any) -> str:
    """Return what a column is by itself."""
    if name in vectorizer.kinds_ and name not in (*vectorizer.text, *vectorizer.category):
        return str(vectorizer.kinds_[name])
    seen = column.iloc[:_SEEN]
    if vector_length(seen) is not None:
        return "vector"
    if number_style(seen) is not None:
        return "number"
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return "date"
    return "text" if is_free_text(seen) else "category"


def _choices(column: pd.Series, found: str) -> tuple[tuple[str, str], ...]:
    choices = [(FOUND, f"{found}, as found")]
    if found == "vector":
        return (*choices, (LEFT_OUT, "left out"))
    if found != "category" and column.dropna().astype(str).nunique() <= MOST_CATEGORIES:
        choices.append((CATEGORY, "category"))
    if found != "text":
        choices.append((TEXT, "text"))
    return (*choices, (IDENTIFIER, "identifier: names the rows"), (LEFT_OUT, "left out"))


def _reason(column: pd.Series, found: str, name: str, vectorizer: Any) -> str:
    if found == "number":
        return "all of its cells are numbers"
    if found == "date":
        return "its cells are dates"
    if found == "vector":
        return f"a list of {vector_length(column) or 0:,} numbers in every row"
    if found == "category":
        return counted(int(column.nunique()), "different value")
    if name in vectorizer.embedded_ or any(name in parts for parts in vectorizer.joined_.values()):
        return "sentences, compared by their meaning"
    return f"{counted(int(column.nunique()), 'different value')}, compared by their letters"


def _sample(column: pd.Series) -> str:
    """Return a few different cells."""
    if vector_length(column.iloc[:_SEEN]) is not None:
        return ""
    values = (str(value) for value in column.iloc[:_SEEN].dropna().unique()[:_VALUES])
    return ", ".join(value if len(value) <= _LETTERS else f"{value[: _LETTERS - 1]}…" for value in values)
