"""Records of the accuracy benchmark on disk, method by method."""

from collections.abc import Iterable
from pathlib import Path

from semikpca.exceptions import RecordError
from semikpca.experiments import RecordStore
from semikpca_benchmarks.accuracy._methods import find_method
from semikpca_benchmarks.accuracy._records import AccuracyRecord
from semikpca_benchmarks.accuracy._spec import AccuracyCell, AccuracySpec
from semikpca_benchmarks.datasets import benchmark_shape


class AccuracyStore(RecordStore[AccuracySpec, AccuracyRecord]):
    """A folder of records in which a cell may have the results of some methods and lack those of others."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, AccuracySpec, AccuracyRecord)

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
        n_classes = benchmark_shape(cell.dataset)[1]
        return tuple(name for name in spec.methods if name not in done and find_method(name).applies_to(n_classes))

    def missing(self, spec: AccuracySpec) -> tuple[list[AccuracyCell], list[RecordError]]:
        """Return the cells that lack methods, and what was wrong with those that are there but damaged."""
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
