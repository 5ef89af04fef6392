"""Records on disk: one file a cell, written whole or not at all."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

from semikpca._files import versions, write_whole
from semikpca.exceptions import RecordError

FORMAT = 1


class _Stored(Protocol):
    """A way to JSON and back."""

    def to_dict(self) -> dict[str, Any]: ...

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self: ...


class _StoredSpec(_Stored, Protocol):
    """What to run: its cells, each with a name of its own, in the order of the tables."""

    def cells(self) -> tuple[Any, ...]: ...


class _StoredRecord(_Stored, Protocol):
    """What the run of one cell found."""

    @property
    def cell(self) -> Any: ...


SpecT = TypeVar("SpecT", bound=_StoredSpec)
RecordT = TypeVar("RecordT", bound=_StoredRecord)


class RecordStore(Generic[SpecT, RecordT]):
    """A folder of records of one type, found by runs of one type of spec.

    ``run.json`` says what was asked for and with which versions; ``records/`` holds a file for each finished cell. Each
    file carries a checksum of its content, so that a damaged one is seen, and is written under another name and
    renamed, so that a killed run leaves none behind.
    """

    def __init__(self, folder: Path, spec_type: type[SpecT], record_type: type[RecordT]) -> None:
        self._spec_type, self._record_type = spec_type, record_type
        self.folder, self.run_file, self.records = folder, folder / "run.json", folder / "records"

    def begin(self, spec: SpecT, *, resume: bool, command: str = "", packages: Iterable[str] = ()) -> None:
        """Make the folder ready for a run; with ``resume`` it must hold records of the same spec, or none.

        ``command`` is written down for readers, and so are the versions of ``packages`` that are installed.
        """
        self.records.mkdir(parents=True, exist_ok=True)
        if resume and self.run_file.exists():
            known = self.spec()
            if known != spec:
                raise RecordError(
                    f"{self.folder} holds records of another run ({_differences(known, spec)}). Resume with the same "
                    "options, choose another --out, or start anew without --resume."
                )
        else:
            for stale in self.records.glob("*.json"):
                stale.unlink()
        note = {"command": command} if command else {}
        write_whole(self.run_file, _sealed({"spec": spec.to_dict(), "versions": versions(packages), **note}))

    def spec(self) -> SpecT:
        """Return what the run in this folder was asked for."""
        return self._spec_type.from_dict(_opened(self.run_file)["spec"])

    def versions(self) -> dict[str, str]:
        """Return the versions that the run was made with."""
        return dict(_opened(self.run_file)["versions"])

    def write(self, record: RecordT) -> None:
        """Store a finished cell."""
        write_whole(self._path(record.cell), _sealed(record.to_dict()))

    def read(self, cell: Any) -> RecordT:
        """Return a stored cell; RecordError when it is missing or damaged."""
        return self._record_type.from_dict(_opened(self._path(cell)))

    def read_all(self, spec: SpecT) -> list[RecordT]:
        """Return all cells of the spec, in the order of the tables."""
        return [self.read(cell) for cell in spec.cells()]

    def missing(self, spec: SpecT) -> tuple[list[Any], list[RecordError]]:
        """Return the cells that have yet to be computed, and what was wrong with those that are there but damaged."""
        cells: list[Any] = []
        damaged: list[RecordError] = []
        for cell in spec.cells():
            try:
                self.read(cell)
            except RecordError as error:
                cells.append(cell)
                if self._path(cell).exists():
                    damaged.append(error)
        return cells, damaged

    def _path(self, cell: Any) -> Path:
        return self.records / f"{cell}.json"


def _sealed(content: dict[str, Any]) -> str:
    return json.dumps({"format": FORMAT, "sha256": _checksum(content), "content": content}, sort_keys=True) + "\n"


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _opened(path: Path) -> dict[str, Any]:
    advice = "Run again with --resume: only damaged and missing cells are computed."
    try:
        envelope = json.loads(path.read_text(encoding="utf-8"))
        content: dict[str, Any] = envelope["content"]
        intact, found_format = envelope["sha256"] == _checksum(content), envelope["format"]
    except FileNotFoundError as error:
        raise RecordError(f"There is no record {path}. {advice}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(f"The record {path} is damaged ({type(error).__name__}: {error}). {advice}") from error
    if found_format != FORMAT:
        raise RecordError(f"The record {path} has format {found_format!r}; this version reads {FORMAT}.")
    if not intact:
        raise RecordError(f"The record {path} is damaged: its checksum does not fit its content. {advice}")
    return content


def _differences(known: _Stored, asked: _Stored) -> str:
    old, new = known.to_dict(), asked.to_dict()
    return "; ".join(f"{name} was {old[name]}, now {new[name]}" for name in old if old[name] != new[name])
