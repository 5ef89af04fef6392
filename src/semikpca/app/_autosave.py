"""Labels that survive the page: one small file, written whole at each change."""

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from semikpca._files import write_whole

FORMAT = 1
STATE_FOLDER_VARIABLE = "SEMIKPCA_STATE_FOLDER"


class AutosaveError(ValueError):
    """A file of saved labels that cannot be used."""


@dataclass(frozen=True)
class SavedLabels:
    """What an earlier visit left behind."""

    classes: tuple[Any, ...]  # in the order of their keys on the page, also those that no row has yet
    labels: dict[int, Any]  # by row, counted from 0
    error_weight: float | str  # or "middle"
    drawn: frozenset[int]  # rows whose labels count as drawn at random
    saved_at: datetime


@dataclass(frozen=True)
class Autosave:
    """The place of the labels of one table."""

    path: Path
    fingerprint: str  # of the rows without their labels: labels are never put on the rows of another table

    @classmethod
    def beside(cls, file: Path, fingerprint: str) -> "Autosave":
        """Return the place beside a file, or in the state folder where its own folder cannot be written to."""
        if os.access(file.parent, os.W_OK):
            return cls(file.with_name(f".{file.name}.semikpca-labels.json"), fingerprint)
        return cls.in_state_folder(file.name, fingerprint)

    @classmethod
    def in_state_folder(cls, name: str, fingerprint: str) -> "Autosave":
        """Return the place of labels of something that is no file of the user's: an upload, an example."""
        # The name is for people who look into the folder; the fingerprint alone tells tables apart.
        plain = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in Path(name).stem)[:40]
        return cls(state_folder() / f"{plain or 'table'}-{fingerprint[:16]}.semikpca-labels.json", fingerprint)

    @property
    def previous(self) -> Path:
        """Where labels go that were not wanted again: nothing that someone gave by hand is deleted."""
        stem, number = self.path.name.removesuffix(".json"), 1
        while (place := self.path.with_name(f"{stem}.previous-{number}.json")).exists():
            number += 1
        return place

    def save(
        self, classes: Sequence[Any], labels: dict[int, Any], error_weight: float | str, drawn: Iterable[int] = ()
    ) -> None:
        """Write all labels; the file is there whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = {
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "saved_at": datetime.now().astimezone().isoformat(timespec="seconds"),
            "error_weight": error_weight,
            "classes": list(classes),
            "labels": [[row, label] for row, label in sorted(labels.items())],
            "drawn": sorted(drawn),
        }
        write_whole(self.path, json.dumps(content, ensure_ascii=False, indent=0))

    def load(self, n_rows: int) -> SavedLabels | None:
        """Return what was saved, or None where nothing was; AutosaveError for a damaged file or one of other rows."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise AutosaveError(f"The saved labels in {self.path} cannot be read: {error}") from error
        try:
            saved = _parsed(json.loads(text), n_rows)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise AutosaveError(f"The saved labels in {self.path} are damaged ({error}). {self._kept}") from error
        if json.loads(text).get("fingerprint") != self.fingerprint:
            changed = "belong to other rows: the table has changed since"
            raise AutosaveError(f"The saved labels in {self.path} {changed}. {self._kept}")
        return saved

    @property
    def _kept(self) -> str:
        return f"They are kept as {self.previous.name} when you give the next label."

    def set_aside(self) -> None:
        """Keep the saved labels under another name, where there are any."""
        if not self.path.exists():
            return
        place = self.previous
        try:
            os.link(self.path, place)  # until the next save they are there under both names, whenever the program dies
        except OSError:
            os.replace(self.path, place)  # a file system without links


def state_folder() -> Path:
    """Return the platform's usual folder for the state of programs, or that of the environment variable."""
    if given := os.environ.get(STATE_FOLDER_VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "semikpca"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "semikpca"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "semikpca"


def fingerprint_of(*parts: bytes) -> str:
    """Return a hash of the rows of a table."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def _parsed(content: dict[str, Any], n_rows: int) -> SavedLabels:
    if content["format"] != FORMAT:
        raise ValueError(f"format {content['format']!r} instead of {FORMAT}")
    labels = {}
    for row, label in content["labels"]:
        labels[_row(row, n_rows)] = _label(label)
    classes = tuple(_label(label) for label in content["classes"])
    if len(set(classes)) != len(classes) or not set(labels.values()) <= set(classes):
        raise ValueError("labels that are none of its classes")
    weight = content["error_weight"]
    if weight != "middle" and not (isinstance(weight, int | float) and 0 < weight < 1):
        raise ValueError(f"error weight {weight!r}")
    # Files of before random checks name none: their labels are learned from, and promise nothing.
    drawn = frozenset(_row(row, n_rows) for row in content.get("drawn", ()))
    return SavedLabels(classes, labels, weight, drawn, datetime.fromisoformat(content["saved_at"]))


def _row(value: Any, n_rows: int) -> int:
    if not (isinstance(value, int) and not isinstance(value, bool) and 0 <= value < n_rows):
        raise ValueError(f"row {value!r} of {n_rows}")
    return value


def _label(value: Any) -> Any:
    if not isinstance(value, str | int | float) or value == "":
        raise ValueError(f"label {value!r}")
    return value
