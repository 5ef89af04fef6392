"""Records of the accuracy benchmark on disk, method by method."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from semikpca.exceptions import RecordError
from semikpca.experiments import RecordStore
from semikpca_benchmarks.accuracy._cells import AccuracyCell
from semikpca_benchmarks.accuracy._methods import find_method
from semikpca_benchmarks.accuracy._records import AccuracyRecord
from semikpca_benchmarks.accuracy._spec import AccuracySpec
from semikpca_benchmarks.datasets import SetInfo


class AccuracyStore(RecordStore[AccuracySpec, AccuracyRecord]):
    """A folder of records in which a cell may have the results of some methods and lack those of others."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, AccuracySpec, AccuracyRecord)

    def spec(self) -> AccuracySpec:
        """Return what the run in this folder was asked for; one of an earlier version is refused."""
        try:
            return super().spec()
        except RecordError as error:
            raise RecordError(f"{self.folder} cannot be read. {error}") from error

    def read(self, cell: Any) -> AccuracyRecord:
        """Return a stored cell; RecordError when it is missing, damaged, or of other data than the cell is now."""
        record = super().read(cell)
        changes = _changes(record.cell.info, cell.info)
        if changes:
            raise RecordError(
                f"The record {self.records / f'{cell}.json'} is of other data ({changes}). Run again with --resume: "
                "only such cells are computed."
            )
        return replace(record, cell=cell)  # groups are those of the run, not those of the day

    def forget(self, spec: AccuracySpec, methods: Iterable[str]) -> None:
        """Drop the results of some methods from all finished cells, so that they are computed again."""
        dropped = set(methods)
        for cell in spec.cells():
            record = self._found(cell)
            if record is not None and dropped & set(record.methods):
                super().write(record.without(dropped))

    def lacking(self, spec: AccuracySpec, cell: AccuracyCell) -> tuple[str, ...]:
        """Return the methods of the spec that have yet to be run on a cell."""
        record = self._found(cell)
        done = () if record is None else record.methods
        applying = (name for name in spec.methods if find_method(name).applies_to(cell.info.n_classes))
        return tuple(name for name in applying if name not in done)

    def missing(self, spec: AccuracySpec) -> tuple[list[AccuracyCell], list[RecordError]]:
        """Return the cells that lack methods, and what was wrong with those that are there but cannot be kept."""
        _, damaged = super().missing(spec)
        return [cell for cell in spec.cells() if self.lacking(spec, cell)], damaged

    def write(self, record: AccuracyRecord) -> None:
        """Store the results of some methods on a cell beside those that are there."""
        known = self._found(record.cell)
        super().write(record if known is None else known.joined(record))

    def _found(self, cell: AccuracyCell) -> AccuracyRecord | None:
        try:
            return self.read(cell)
        except RecordError:
            return None


def _changes(known: SetInfo, now: SetInfo) -> str:
    """Say how a data set differs from what a record was made of; groups may change."""
    compared = {
        "SHA-256": (known.sha256, now.sha256),
        "scaling": (known.scaling, now.scaling),
        "rows": (known.n_samples, now.n_samples),
        "classes": (known.n_classes, now.n_classes),
        "labels counted": (known.counting, now.counting),
    }
    changes = [f"{what} {old}, now {new}" for what, (old, new) in compared.items() if old != new]
    if not changes and known.class_sizes != now.class_sizes:
        changes = ["its classes have other sizes"]
    return "; ".join(changes)
