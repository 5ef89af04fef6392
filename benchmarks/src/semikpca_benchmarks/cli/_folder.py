"""What the options on a folder of data sets come to."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from semikpca.cli import split_names
from semikpca_benchmarks.accuracy import FOLDER_COUNTS, resolve_datasets
from semikpca_benchmarks.datasets import FOLDER_GROUP, MOST_FOLDER_ROWS, DataFolder, list_folder, read_folder


@dataclass(frozen=True)
class FolderOptions:
    """The options as they were given; those that were not are None."""

    data: Path | None
    labels_per_class: str | None
    most_rows: int | None
    standardize: Sequence[str] | None
    as_is: Sequence[str] | None
    group: Sequence[str] | None

    def chosen(self, given: Sequence[str]) -> tuple[tuple[str, ...], DataFolder | None]:
        """Return the names of the sets that ``--datasets`` names, and what is known of those of the folder."""
        if self.data is None:
            self._refuse_the_others()
            return resolve_datasets(given or ["all"]), None
        listing = list_folder(self.data, self.group or ())
        names = resolve_datasets(given or [FOLDER_GROUP], listing.groups)
        of_folder = [name for name in names if name in listing.names]
        if not of_folder:
            raise ValueError(
                f"--datasets names no set of {self.data}, which --data names. Name one of {', '.join(listing.names)}, "
                "or leave --data out."
            )
        return names, read_folder(
            listing,
            of_folder,
            most_rows=self.most_rows or MOST_FOLDER_ROWS,
            standardize=split_names(self.standardize or ()),
            as_is=split_names(self.as_is or ()),
            groups=self.group or (),
        )

    def counts(self) -> tuple[int, ...]:
        """Return the label counts on the sets of the folder."""
        if self.labels_per_class is None:
            return FOLDER_COUNTS
        parts = split_names([self.labels_per_class])
        if not all(part.isdecimal() and int(part) > 0 for part in parts):
            raise ValueError(
                f"--labels-per-class takes whole numbers from 1 on, separated by commas, such as 1,2,5,10; got "
                f"{self.labels_per_class!r}."
            )
        return tuple(int(part) for part in parts)

    def _refuse_the_others(self) -> None:
        for option, value in (
            ("--labels-per-class", self.labels_per_class),
            ("--most-rows", self.most_rows),
            ("--standardize", self.standardize),
            ("--as-is", self.as_is),
            ("--group", self.group),
        ):
            if value:
                raise ValueError(f"{option} is about sets of your own: give their folder with --data too.")
