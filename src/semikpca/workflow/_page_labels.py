"""Labels that the labeling page keeps for a table: where they lie, how they are read, what rows they belong to.

The page writes them (``semikpca.app``); whoever reads them needs nothing of the page.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import pandas as pd

from semikpca.tables import Table, vector_length

FORMAT = 2
STATE_FOLDER_VARIABLE = "SEMIKPCA_STATE_FOLDER"
_PREVIOUS = ".previous-"


class PageLabelsError(ValueError):
    """A file of saved labels that cannot be used."""


@dataclass(frozen=True)
class SavedLabels:
    """What a visit to the page left behind."""

    classes: tuple[Any, ...]  # in the order of their keys on the page, also those that no row has yet
    labels: dict[int, Any]  # by row, counted from 0: what people have said
    error_weight: float | str  # or "middle"
    drawn: frozenset[int]  # rows whose labels count as drawn at random
    saved_at: datetime
    accepted: dict[int, Any] = field(default_factory=dict)  # predictions that were accepted; nobody has looked at them
    flagged: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Visit:
    """One of the files of a table: what it holds, or why it cannot be used."""

    name: str  # of the file
    saved: SavedLabels | None
    problem: str = ""
    is_present: bool = False  # the one that the next change is written to


@dataclass(frozen=True)
class PageLabels:
    """The place of the labels of one table."""

    path: Path
    fingerprint: str  # of the rows without their labels: labels are never put on the rows of another table

    @classmethod
    def beside(cls, file: Path, fingerprint: str) -> Self:
        """Return the place beside a file, or in the state folder where its own folder cannot be written to."""
        if os.access(file.parent, os.W_OK):
            return cls(kept_beside(file), fingerprint)
        return cls.in_state_folder(file.name, fingerprint)

    @classmethod
    def in_state_folder(cls, name: str, fingerprint: str) -> Self:
        """Return the place of labels of something that is no file of the user's: an upload, an example."""
        # The name is for people who look into the folder; the fingerprint alone tells tables apart.
        plain = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in Path(name).stem)[:40]
        return cls(state_folder() / f"{plain or 'table'}-{fingerprint[:16]}.semikpca-labels.json", fingerprint)

    @property
    def previous(self) -> Path:
        """Where labels go that were not wanted again: nothing that someone gave by hand is deleted."""
        number = 1
        while (place := self._previous(str(number))).exists():
            number += 1
        return place

    def _previous(self, number: str) -> Path:
        return self.path.with_name(f"{self.path.name.removesuffix('.json')}{_PREVIOUS}{number}.json")

    def load(self, n_rows: int) -> SavedLabels | None:
        """Return what was saved, or None where nothing was; PageLabelsError for a damaged file or one of other rows."""
        return self._read(self.path, n_rows)

    def visits(self, n_rows: int) -> list[Visit]:
        """Return the present labels and those of earlier visits, newest first; what cannot be used comes last."""
        start = f"{self.path.name.removesuffix('.json')}{_PREVIOUS}"
        folder = self.path.parent
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        numbers = [name.removeprefix(start).removesuffix(".json") for name in names if name.startswith(start)]
        places = [self.path, *(self._previous(number) for number in numbers if number.isdecimal())]
        found = []
        for place in places:
            is_present = place == self.path
            try:
                saved = self._read(place, n_rows)
            except PageLabelsError as error:
                found.append(Visit(place.name, None, str(error), is_present))
            else:
                found += [] if saved is None else [Visit(place.name, saved, is_present=is_present)]
        return sorted(found, key=lambda visit: 0 if visit.saved is None else -visit.saved.saved_at.timestamp())

    def _read(self, path: Path, n_rows: int) -> SavedLabels | None:
        try:
            content = read_kept(path)
            saved = None if content is None else _parsed(content, n_rows)
        except PageLabelsError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise PageLabelsError(f"The saved labels in {path} are damaged ({error}).") from error
        if content is not None and content.get("fingerprint") != self.fingerprint:
            raise PageLabelsError(
                f"The saved labels in {path} belong to other rows: the table has changed since, or they were given for "
                "another column."
            )
        return saved


def kept_beside(file: Path) -> Path:
    """Return where the labels of a file lie if its folder can be written to."""
    return file.with_name(f".{file.name}.semikpca-labels.json")


def read_kept(path: Path) -> dict[str, Any] | None:
    """Return what a file of saved labels says, in the present format; None where there is no such file."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PageLabelsError(f"The saved labels in {path} cannot be read: {error}") from error
    except ValueError as error:
        raise PageLabelsError(f"The saved labels in {path} are damaged ({error}).") from error
    if not isinstance(content, dict):
        raise PageLabelsError(f"The saved labels in {path} are damaged (no object).")
    while content.get("format") in _MIGRATIONS:
        content = _MIGRATIONS[content["format"]](content)
    if content.get("format") != FORMAT:
        raise PageLabelsError(
            f"The saved labels in {path} are damaged (format {content.get('format')!r} instead of {FORMAT})."
        )
    return content


def state_folder() -> Path:
    """Return the platform's usual folder for the state of programs, or that of the environment variable."""
    if given := os.environ.get(STATE_FOLDER_VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "semikpca"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "semikpca"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "semikpca"


# -- which rows they belong to -------------------------------------------------------------------------------------


def fingerprint_of(*parts: bytes) -> str:
    """Return a hash of the rows of a table."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def table_fingerprint(table: Table, label: str) -> str:
    """Return a hash of all cells of a table but its labels, and of the name of their column."""
    others = [name for name in table.features if name != label]
    names = json.dumps([*map(str, others), label]).encode()
    return fingerprint_of(names, *(_bytes_of(table, name) for name in others))


def _bytes_of(table: Table, name: str) -> bytes:
    """Return what tells the cells of a column from other cells."""
    if vector_length(table.features[name]) is not None:
        return b"".join(b"" if cell is None else cell.tobytes() for cell in table.features[name])
    hashes = pd.util.hash_pandas_object(table.frame[name].astype(str), index=False)
    return bytes(hashes.to_numpy().tobytes())


# -- what stands in a file -----------------------------------------------------------------------------------------


def _from_format_1(content: dict[str, Any]) -> dict[str, Any]:
    """Return what pages wrote that knew neither flags nor acceptance; the first of them drew no rows either."""
    # Labels of before random checks are learned from, and promise nothing.
    return {"drawn": [], **content, "format": 2, "accepted": [], "flagged": []}


_MIGRATIONS: Mapping[Any, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_format_1}


def _parsed(content: dict[str, Any], n_rows: int) -> SavedLabels:
    labels, accepted = (
        {_row(row, n_rows): _label(label) for row, label in content[name]} for name in ("labels", "accepted")
    )
    classes = tuple(_label(label) for label in content["classes"])
    if len(set(classes)) != len(classes) or not {*labels.values(), *accepted.values()} <= set(classes):
        raise ValueError("labels that are none of its classes")
    if both := labels.keys() & accepted.keys():
        raise ValueError(f"row {min(both)} both labeled and accepted")
    weight = content["error_weight"]
    if weight != "middle" and not (isinstance(weight, int | float) and 0 < weight < 1):
        raise ValueError(f"error weight {weight!r}")
    drawn, flagged = (frozenset(_row(row, n_rows) for row in content.get(name, ())) for name in ("drawn", "flagged"))
    saved_at = datetime.fromisoformat(content["saved_at"])
    return SavedLabels(classes, labels, weight, drawn, saved_at, accepted, flagged)


def _row(value: Any, n_rows: int) -> int:
    if not (isinstance(value, int) and not isinstance(value, bool) and 0 <= value < n_rows):
        raise ValueError(f"row {value!r} of {n_rows}")
    return value


def _label(value: Any) -> Any:
    if not isinstance(value, str | int | float) or value == "":
        raise ValueError(f"label {value!r}")
    return value
