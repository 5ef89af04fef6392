"""What the accuracy benchmark runs: data sets, label counts, methods, label noise."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote
from types import MappingProxyType
from typing import Any

from semikpca.exceptions import DatasetError, RecordError
from semikpca_benchmarks._checks import check_whole_number
from semikpca_benchmarks.accuracy._cells import FOLDER_COUNTS, AccuracyCell, label_counts
from semikpca_benchmarks.accuracy._methods import METHODS, default_methods, find_method
from semikpca_benchmarks.datasets import (
    BENCHMARK_DATASETS,
    BENCHMARK_GROUPS,
    FOLDER_GROUP,
    MOST_FOLDER_ROWS,
    DataFolder,
    SetInfo,
    benchmark_info,
)

NOISE_DATASETS = ("digits", "segment", "twonorm", "phoneme")
NOISE_COUNT = 10
NOISE_PERCENTS = (20, 40)
"""Label noise: on which sets, with how many labels per class, and the percent of the given labels that is wrong."""

RECORD_VERSION = 2
"""Of what a cell's record holds; since 2 it has counts for each class and scores of probabilities."""


@dataclass(frozen=True)
class AccuracySpec:
    """A run of the accuracy benchmark.

    Attributes
    ----------
    datasets : tuple of str
        From ``BENCHMARK_DATASETS`` and from the folder.
    methods : tuple of str
        Names from ``METHODS``; by default all whose packages are installed.
    repetitions : int
        Draws of the labeled rows for each cell.
    seed : int
        Of the draws; the data are always the same.
    noise : bool
        Whether the cells with wrong labels are run as well.
    labels_per_class : tuple of int
        Label counts on the sets of the folder.
    folder : DataFolder or None
        What is known of the sets of the user's. Runs that differ in it alone are equal: it says what the files hold,
        not what was asked for, and each record is held against it when it is read.
    """

    datasets: tuple[str, ...] = BENCHMARK_DATASETS
    methods: tuple[str, ...] = default_methods()
    repetitions: int = 50
    seed: int = 0
    noise: bool = True
    labels_per_class: tuple[int, ...] = FOLDER_COUNTS
    folder: DataFolder | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        known = {*BENCHMARK_DATASETS, *(info.name for info in self._folder_sets())}
        for name in self.datasets:
            if name not in known:
                raise unknown_dataset(name, [info.name for info in self._folder_sets()])
        for name in self.methods:
            find_method(name)
        for option, names in (("datasets", self.datasets), ("methods", self.methods)):
            if not names or len(set(names)) != len(names):
                raise ValueError(f"{option} must hold at least one name, each once; got {list(names)}.")
        for option, value, minimum in (("repetitions", self.repetitions, 1), ("seed", self.seed, 0)):
            check_whole_number(option, value, minimum)
        for count in self.labels_per_class:
            check_whole_number("labels_per_class", count, 1)
        if not self.labels_per_class or len(set(self.labels_per_class)) != len(self.labels_per_class):
            raise ValueError(f"labels_per_class must hold a count, each once; got {list(self.labels_per_class)}.")
        if not self.cells():
            raise ValueError(
                f"labels_per_class={list(self.labels_per_class)} leaves nothing to run on {', '.join(self.datasets)}: "
                "the labels of all classes must be at most a third of the rows. Take smaller counts."
            )

    def info(self, dataset: str) -> SetInfo:
        """Return what is known of a data set of the run."""
        of_folder = (info for info in self._folder_sets() if info.name == dataset)
        return next(of_folder, None) or benchmark_info(dataset)

    def cells(self) -> tuple[AccuracyCell, ...]:
        """Return all cells: data set by data set with labels as they are, then those with wrong labels."""
        infos = [self.info(name) for name in self.datasets]
        clean = [AccuracyCell(info, count) for info in infos for count in label_counts(info, self.labels_per_class)]
        noisy = [
            AccuracyCell(self.info(name), NOISE_COUNT, percent)
            for name in NOISE_DATASETS
            for percent in NOISE_PERCENTS
            if self.noise and name in self.datasets
        ]
        return (*clean, *noisy)

    def sets_without_cells(self) -> tuple[SetInfo, ...]:
        """Return the data sets that are too small for all of the label counts."""
        infos = (self.info(name) for name in self.datasets)
        return tuple(info for info in infos if not label_counts(info, self.labels_per_class))

    def command(self) -> str:
        """Return the command line that makes this run."""
        parts = [f"semikpca bench accuracy --repetitions {self.repetitions} --seed {self.seed}"]
        parts += self._folder_options()
        of_folder = () if self.folder is None else self.folder.names
        if set(self.datasets) != set(of_folder or BENCHMARK_DATASETS):
            groups = {**BENCHMARK_GROUPS, FOLDER_GROUP: of_folder} if of_folder else BENCHMARK_GROUPS
            parts.append(f"--datasets {','.join(_with_groups(self.datasets, groups))}")
        if self.methods not in _DEFAULTS:
            parts.append(f'--methods "{",".join(self.methods)}"')
        if not self.noise:
            parts.append("--no-noise")
        return " ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as JSON takes it."""
        return {
            "record_version": RECORD_VERSION,
            "datasets": list(self.datasets),
            "methods": list(self.methods),
            "repetitions": self.repetitions,
            "seed": self.seed,
            "noise": self.noise,
            "labels_per_class": list(self.labels_per_class),
            "folder": None if self.folder is None else self.folder.to_dict(),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "AccuracySpec":
        """Return the spec that ``to_dict`` was made of."""
        check_record_version(values)
        return cls(
            datasets=tuple(values["datasets"]),
            methods=tuple(values["methods"]),
            repetitions=values["repetitions"],
            seed=values["seed"],
            noise=values["noise"],
            labels_per_class=tuple(values["labels_per_class"]),
            folder=None if values["folder"] is None else DataFolder.from_dict(values["folder"]),
        )

    def _folder_sets(self) -> tuple[SetInfo, ...]:
        return () if self.folder is None else self.folder.sets

    def _folder_options(self) -> list[str]:
        if self.folder is None:
            return []
        said: dict[str, str | None] = {
            "--data": self.folder.path,
            "--labels-per-class": _joined(self.labels_per_class) if self.labels_per_class != FOLDER_COUNTS else None,
            "--most-rows": str(self.folder.most_rows) if self.folder.most_rows != MOST_FOLDER_ROWS else None,
            "--standardize": _joined(self.folder.standardize),
            "--as-is": _joined(self.folder.as_is),
        }
        options = [f"{option} {quote(value)}" for option, value in said.items() if value]
        return options + [f"--group {quote(group)}" for group in self.folder.groups]


# What a run without --methods takes, with and without the optional packages.
_DEFAULTS = (
    tuple(method.name for method in METHODS),
    tuple(method.name for method in METHODS if method.package is None),
)


def check_record_version(values: Mapping[str, Any]) -> None:
    """Refuse runs and records of earlier versions, which lack what the tables are made of."""
    version = values.get("record_version", 1)
    if version != RECORD_VERSION:
        raise RecordError(
            f"It was written by another version of the benchmark: records of version {version}, and this one reads "
            f"{RECORD_VERSION}, with counts for each class and scores of probabilities. Nothing of it can be kept. "
            "Start anew without --resume, which discards its records, or choose another --out."
        )


def resolve_datasets(
    given: Iterable[str], folder_groups: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> tuple[str, ...]:
    """Return data sets from names and groups, in order, each once.

    Parameters
    ----------
    given : iterable of str
        Names of sets, of groups of the benchmark or of the folder, or "all".
    folder_groups : mapping of str to sequence of str
        The groups of the folder, "folder" with all of its sets among them.

    Examples
    --------
    >>> resolve_datasets(["digits", "iris", "digits"])
    ('digits', 'iris')
    """
    of_folder = tuple(folder_groups.get(FOLDER_GROUP, ()))
    groups = {**BENCHMARK_GROUPS, **folder_groups, "all": (*BENCHMARK_DATASETS, *of_folder)}
    names: dict[str, None] = {}
    for name in given:
        if name not in groups and name not in groups["all"]:
            raise unknown_dataset(name, of_folder)
        names.update(dict.fromkeys(groups.get(name, (name,))))
    return tuple(names)


def unknown_dataset(name: str, of_folder: Sequence[str]) -> DatasetError:
    """Return the error for a name that neither the benchmark nor the folder has."""
    folder = f"; the folder has {', '.join(of_folder)}" if of_folder else ""
    return DatasetError(f"There is no data set {name!r}; the benchmark has {', '.join(BENCHMARK_DATASETS)}{folder}.")


def _with_groups(names: tuple[str, ...], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return names with whole groups under the name of the group, the largest first."""
    found: list[str] = []
    left = dict.fromkeys(names)
    for group in sorted(groups, key=lambda group: -len(groups[group])):
        if groups[group] and set(groups[group]) <= set(left):
            found.append(group)
            left = {name: None for name in left if name not in groups[group]}
    in_order = [group for group in groups if group in found]
    return [*in_order, *left]


def _joined(values: Iterable[object]) -> str:
    return ",".join(map(str, values))
