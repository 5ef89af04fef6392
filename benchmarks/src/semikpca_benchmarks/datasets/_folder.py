"""A folder of the user's data sets, one file NAME.npz each: which there are, how they are grouped, scaled and cut."""

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from semikpca.datasets import Dataset
from semikpca.exceptions import DatasetError
from semikpca_benchmarks.datasets._array_file import ArrayFile, read_array_file, refuse_small_classes
from semikpca_benchmarks.datasets._info import Scaling, SetInfo
from semikpca_benchmarks.datasets._scaling import scaling_of
from semikpca_benchmarks.datasets._suite import BENCHMARK_DATASETS, BENCHMARK_GROUPS, benchmark_info

FOLDER_GROUP = "folder"
"""The group of all sets of the folder."""

MOST_FOLDER_ROWS = 1_200
"""Rows that a set of the folder is cut to, unless something else is asked for."""

GROUPS_FILE = "groups.json"
_SAMPLE_SEED = 0
_NAME = re.compile(r"\w[\w.+-]*")
_RESERVED = ("all", FOLDER_GROUP, *BENCHMARK_GROUPS)


@dataclass(frozen=True)
class FolderListing:
    """The names in a folder, before any file is read.

    Attributes
    ----------
    path : Path
    groups : mapping of str to tuple of str
        "folder", with all names, and the groups of the user's.
    """

    path: Path
    groups: Mapping[str, tuple[str, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return self.groups[FOLDER_GROUP]


def list_folder(path: Path, groups: Iterable[str] = ()) -> FolderListing:
    """Return the names and groups of a folder.

    Parameters
    ----------
    path : Path
        A folder with files NAME.npz, and, if wanted, ``groups.json``: names of groups, each with a list of names of
        sets, in which ``*`` stands for anything.
    groups : iterable of str
        Further groups, each as ``NAME=PATTERN,PATTERN``; they take the place of groups of the same name in the file.
    """
    if not path.is_dir():
        raise DatasetError(f"There is no folder {path}, which --data names. It takes a folder with files NAME.npz.")
    files = sorted(file for file in path.glob("*.npz") if not file.name.startswith("."))
    if not files:
        raise DatasetError(f"{path} has no file NAME.npz; each data set is one, with the arrays X and y.")
    for file in files:
        _check_name(file)
    names = tuple(file.stem for file in files)
    found = {FOLDER_GROUP: names}
    for group, (patterns, source) in {**_groups_of_file(path), **_groups_of_options(groups)}.items():
        if not _NAME.fullmatch(group) or group in _RESERVED or group in names or group in BENCHMARK_DATASETS:
            raise DatasetError(
                f"{source}: {group!r} cannot be the name of a group; it is taken, or is not made of letters, digits, "
                "“_”, “-”, “+” and “.” alone. Choose another one."
            )
        found[group] = matching(names, patterns, source)
    return FolderListing(path, found)


def matching(names: Sequence[str], patterns: Iterable[str], source: str) -> tuple[str, ...]:
    """Return the names that any of the patterns fits, in order; a pattern that fits none is refused."""
    chosen: set[str] = set()
    for pattern in patterns:
        fitting = [name for name in names if fnmatchcase(name, pattern)]
        if not fitting:
            raise DatasetError(f"{source}: no set of the folder is named {pattern!r}; there are {', '.join(names)}.")
        chosen.update(fitting)
    return tuple(name for name in names if name in chosen)


@dataclass(frozen=True)
class DataFolder:
    """Sets of a folder that a run takes, and what it was told about them.

    Attributes
    ----------
    path : str
    names : tuple of str
        Of all sets in the folder.
    sets : tuple of SetInfo
        Those that the run takes.
    most_rows : int
        Rows that a set is cut to.
    standardize, as_is, groups : tuple of str
        What was said of scaling and groups, for the command that makes the same run.
    """

    path: str
    names: tuple[str, ...]
    sets: tuple[SetInfo, ...]
    most_rows: int = MOST_FOLDER_ROWS
    standardize: tuple[str, ...] = ()
    as_is: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the folder as JSON takes it."""
        return {**asdict(self), "sets": [info.to_dict() for info in self.sets]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "DataFolder":
        """Return the folder that ``to_dict`` was made of."""
        said = {name: tuple(values[name]) for name in ("names", "standardize", "as_is", "groups")}
        return cls(**{**values, **said, "sets": tuple(SetInfo.from_dict(info) for info in values["sets"])})


def read_folder(
    listing: FolderListing,
    names: Iterable[str],
    *,
    most_rows: int = MOST_FOLDER_ROWS,
    standardize: Sequence[str] = (),
    as_is: Sequence[str] = (),
    groups: Sequence[str] = (),
) -> DataFolder:
    """Read sets of a folder once, and return what is known of them; sets that cannot be used are refused.

    Parameters
    ----------
    listing : FolderListing
    names : iterable of str
        The sets that are read.
    most_rows : int
    standardize, as_is : sequence of str
        Names or patterns of sets that are scaled in this way, whatever their file or the rule says.
    groups : sequence of str
        As they were given to ``list_folder``.
    """
    said: dict[str, Scaling] = dict.fromkeys(matching(listing.names, standardize, "--standardize"), "standardize")
    for name in matching(listing.names, as_is, "--as-is"):
        if name in said:
            raise DatasetError(f"{name} is named by both --standardize and --as-is; name it once.")
        said[name] = "none"
    sets = tuple(_info(listing, name, most_rows, said.get(name)) for name in names)
    return DataFolder(
        str(listing.path), listing.names, sets, most_rows, tuple(standardize), tuple(as_is), tuple(groups)
    )


def load_folder_set(folder: DataFolder, info: SetInfo) -> Dataset:
    """Return a set of the folder, cut as the run asks for; refused where its file has changed since it was listed."""
    path = Path(folder.path) / f"{info.name}.npz"
    file = read_array_file(path)
    if file.sha256 != info.sha256:
        raise DatasetError(
            f"{path} has changed since the run began: its SHA-256 was {info.sha256}, now it is {file.sha256}. Run "
            "again with --resume: its cells are computed anew."
        )
    return _cut(file, folder.most_rows)


def _info(listing: FolderListing, name: str, most_rows: int, said: Scaling | None) -> SetInfo:
    file = read_array_file(listing.path / f"{name}.npz")
    data = _cut(file, most_rows)
    return SetInfo(
        name=name,
        groups=tuple(group for group, members in listing.groups.items() if name in members),
        class_sizes=tuple(np.bincount(data.y).tolist()),
        counting="each class",
        scaling=said or file.scaling or scaling_of(file.data.X),
        sha256=file.sha256,
    )


def _cut(file: ArrayFile, most_rows: int) -> Dataset:
    """Return a uniform sample of the rows, the same for all draws and runs; a small set is whole."""
    data = file.data
    if len(data.y) <= most_rows:
        return data
    generator = np.random.default_rng([_SAMPLE_SEED, zlib.crc32(data.name.encode())])
    rows = np.sort(generator.choice(len(data.y), most_rows, replace=False))
    where = f"{data.source}, cut from {len(data.y):,} to {most_rows:,} rows,"
    refuse_small_classes(data.y[rows], data.class_names, where, "Raise --most-rows, or leave the class out.")
    source = f"{data.source}, {most_rows:,} of {len(data.y):,} rows"
    return Dataset(data.name, data.X[rows], data.y[rows], data.class_names, source)


def _check_name(file: Path) -> None:
    name = file.stem
    if name in BENCHMARK_DATASETS:
        raise DatasetError(
            f"{file} has the name of a set that comes with the benchmark, {name!r} of the group "
            f"{benchmark_info(name).groups[0]!r}. Rename the file."
        )
    if name in _RESERVED:
        raise DatasetError(f"{file} has the name of a group of the benchmark, {name!r}. Rename the file.")
    if not _NAME.fullmatch(name):
        raise DatasetError(
            f"{file}: the name of a set begins with a letter, a digit or “_” and has nothing but these, “.”, “-” and "
            f"“+”; got {name!r}. Rename the file."
        )


def _groups_of_file(path: Path) -> dict[str, tuple[Sequence[str], str]]:
    """Return the patterns of each group of ``groups.json``, and where they were said."""
    file = path / GROUPS_FILE
    if not file.exists():
        return {}
    try:
        groups = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DatasetError(f"{file} is no JSON ({error}).") from error
    if not isinstance(groups, dict) or not all(
        isinstance(names, list) and names and all(isinstance(name, str) for name in names) for names in groups.values()
    ):
        raise DatasetError(
            f'{file} must hold names of groups, each with a list of names of sets, such as {{"text": ["news-*"]}}.'
        )
    return {group: (names, str(file)) for group, names in groups.items()}


def _groups_of_options(groups: Iterable[str]) -> dict[str, tuple[Sequence[str], str]]:
    found: dict[str, tuple[Sequence[str], str]] = {}
    for given in groups:
        name, equals, patterns = given.partition("=")
        parts = [part.strip() for part in patterns.split(",") if part.strip()]
        if not equals or not parts:
            raise DatasetError(f"--group takes NAME=SET,SET such as text=news-*,mails, got {given!r}.")
        found[name.strip()] = parts, "--group"
    return found
