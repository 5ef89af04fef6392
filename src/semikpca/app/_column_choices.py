"""What a user says the columns of a table are, kept in a small file for the next visit."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from semikpca._files import write_whole
from semikpca.tables import AUTO_KIND, CLASSES, NUMBERS, ColumnRoles, Table

FORMAT = 1
FOUND, CATEGORY, TEXT, IDENTIFIER, LEFT_OUT = "found", "category", "text", "identifier", "left out"
CHOICES = (FOUND, CATEGORY, TEXT, IDENTIFIER, LEFT_OUT)
OF_LABELS = (CLASSES, NUMBERS)  # what is said of the column with the labels
_LABELS, _COLUMNS = ".semikpca-labels.json", ".semikpca-columns.json"


@dataclass(frozen=True)
class ColumnChoices:
    """What was said on the page of some columns; the others are as they were found, or as the command line says.

    Attributes
    ----------
    kinds : mapping of str to str
        One of ``CHOICES`` for each column that something was said of, or one of ``OF_LABELS``.
    text_encoder : str or None
        What texts are compared by; None where nothing was said.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    text_encoder: str | None = None

    def applied_to(self, roles: ColumnRoles, table: Table) -> ColumnRoles:
        """Return roles with these choices in place of what they say of the same columns."""
        columns = set(table.features.columns) - {roles.label}
        # Another visit may have had the labels in another column.
        kinds = {name: kind for name, kind in self.kinds.items() if name in columns and kind in CHOICES}
        said = {kind: tuple(name for name in kinds if kinds[name] == kind) for kind in CHOICES}

        def others(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in names if name not in kinds)

        # One column names the rows, the one that was named last; nothing is learned from the others either.
        names = [*reversed(said[IDENTIFIER]), *([roles.id] if roles.id is not None and roles.id not in kinds else [])]
        return replace(
            roles,
            id=names[0] if names else None,
            text=others(roles.text) + said[TEXT],
            category=others(roles.category) + said[CATEGORY],
            exclude=tuple(dict.fromkeys([*others(roles.exclude), *said[LEFT_OUT], *names[1:]])),
            # The numbers of an array are in no cell, and nobody takes them for an identifier.
            keep=others(roles.keep) + tuple(name for name in said[FOUND] if name in table.frame.columns),
            text_encoder=roles.text_encoder if self.text_encoder is None else self.text_encoder,
        )

    def with_kind_of_labels(self, roles: ColumnRoles) -> ColumnRoles:
        """Return roles that say whether the labels are classes or numbers, where they do not and somebody has."""
        said = self.kinds.get(roles.label)
        if roles.labels_as != AUTO_KIND or said not in OF_LABELS:
            return roles
        return replace(roles, labels_as=said)

    def saying(self, name: str, kind: str) -> "ColumnChoices":
        """Return the same with what is said of one column."""
        return replace(self, kinds={**self.kinds, name: kind})

    def without(self, names: Collection[str]) -> "ColumnChoices":
        """Return the same without what was said of some columns."""
        return replace(self, kinds={name: kind for name, kind in self.kinds.items() if name not in names})

    def save(self, place: Path) -> None:
        """Write the choices; the file is there whole or not at all."""
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = {
            "format": FORMAT,
            "columns": dict(self.kinds),
            "text_encoder": self.text_encoder,
        }
        write_whole(place, json.dumps(content, ensure_ascii=False, indent=0))


NOTHING_SAID = ColumnChoices()


def roles_in(roles: ColumnRoles, table: Table) -> ColumnRoles:
    """Return what roles say of the columns that a table has."""
    here = set(table.features.columns)
    several: dict[str, Any] = {
        name: tuple(column for column in getattr(roles, name) if column in here)
        for name in ("text", "category", "exclude", "keep")
    }
    return replace(roles, id=roles.id if roles.id in here else None, **several)


def place_beside(labels: Path) -> Path:
    """Return where the choices are that belong to the file of saved labels of a table."""
    return labels.with_name(labels.name.removesuffix(_LABELS) + _COLUMNS)


def remembered(place: Path) -> ColumnChoices:
    """Return the choices of an earlier visit; none where there are none, or where they cannot be read.

    They can be made again with a few clicks, so a damaged file is no reason to stop.
    """
    try:
        return _parsed(json.loads(place.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return NOTHING_SAID


def _parsed(content: Any) -> ColumnChoices:
    if content["format"] != FORMAT:
        raise ValueError(f"format {content['format']!r} instead of {FORMAT}")
    kinds, encoder = content["columns"], content["text_encoder"]
    if not all(isinstance(name, str) and kind in (*CHOICES, *OF_LABELS) for name, kind in kinds.items()):
        raise ValueError(f"columns {kinds!r}")
    if not (encoder is None or isinstance(encoder, str)):
        raise ValueError(f"text encoder {encoder!r}")
    return ColumnChoices(kinds, encoder)
