"""What the accuracy benchmark runs: data sets, label counts, methods, label noise."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from semikpca.exceptions import DatasetError
from semikpca.experiments import paper_label_counts
from semikpca_benchmarks._checks import check_whole_number
from semikpca_benchmarks.accuracy._methods import METHODS, default_methods, find_method
from semikpca_benchmarks.datasets import BENCHMARK_DATASETS, BENCHMARK_GROUPS, benchmark_shape

DIGITS_COUNTS = (1, 2, 3, 5, 10)
"""Labels of each class on digits."""

FURTHER_COUNTS = (1, 2, 5, 10, 20)
"""Labels per class on average on the further sets; counts beyond a third of the rows are skipped."""

NOISE_DATASETS = ("digits", "segment", "twonorm", "phoneme")
NOISE_COUNT = 10
NOISE_PERCENTS = (20, 40)
"""Label noise: on which sets, with how many labels per class, and the percent of the given labels that is wrong."""


def group_of(dataset: str) -> str:
    """Return the group of a data set: "paper", "digits", "tuning" or "aside"."""
    return next(group for group, names in BENCHMARK_GROUPS.items() if dataset in names)


@dataclass(frozen=True)
class AccuracyCell:
    """One data set with one number of labels: the unit of work, and of what is stored.

    Attributes
    ----------
    dataset : str
    labels : int
        In all on the paper's sets, per class (on average, but on digits) on the others.
    flipped : int
        Percent of the given labels that are wrong.
    """

    dataset: str
    labels: int
    flipped: int = 0

    @property
    def n_labeled(self) -> int:
        """Labels in all."""
        return self.labels if group_of(self.dataset) == "paper" else self.labels * benchmark_shape(self.dataset)[1]

    @property
    def labels_per_class(self) -> float:
        """Labels per class, on average."""
        return self.n_labeled / benchmark_shape(self.dataset)[1]

    def __str__(self) -> str:
        noise = f"-flipped{self.flipped}" if self.flipped else ""
        return f"{self.dataset}-{self.labels}{noise}"


def label_counts(dataset: str) -> tuple[int, ...]:
    """Return the label counts of a data set, ascending, as ``AccuracyCell.labels`` counts them."""
    group = group_of(dataset)
    if group == "paper":
        return paper_label_counts(dataset)
    if group == "digits":
        return DIGITS_COUNTS
    n_samples, n_classes = benchmark_shape(dataset)
    return tuple(count for count in FURTHER_COUNTS if 3 * count * n_classes <= n_samples)


@dataclass(frozen=True)
class AccuracySpec:
    """A run of the accuracy benchmark.

    Attributes
    ----------
    datasets : tuple of str
        From ``BENCHMARK_DATASETS``.
    methods : tuple of str
        Names from ``METHODS``; by default all whose packages are installed.
    repetitions : int
        Draws of the labeled rows for each cell.
    seed : int
        Of the draws; the data are always the same.
    noise : bool
        Whether the cells with wrong labels are run as well.
    """

    datasets: tuple[str, ...] = BENCHMARK_DATASETS
    methods: tuple[str, ...] = default_methods()
    repetitions: int = 50
    seed: int = 0
    noise: bool = True

    def __post_init__(self) -> None:
        for name in self.datasets:
            if name not in BENCHMARK_DATASETS:
                raise DatasetError(f"There is no data set {name!r}; the benchmark has {', '.join(BENCHMARK_DATASETS)}.")
        for name in self.methods:
            find_method(name)
        for option, names in (("datasets", self.datasets), ("methods", self.methods)):
            if not names or len(set(names)) != len(names):
                raise ValueError(f"{option} must hold at least one name, each once; got {list(names)}.")
        for option, value, minimum in (("repetitions", self.repetitions, 1), ("seed", self.seed, 0)):
            check_whole_number(option, value, minimum)

    def cells(self) -> tuple[AccuracyCell, ...]:
        """Return all cells: data set by data set with labels as they are, then those with wrong labels."""
        clean = [AccuracyCell(name, count) for name in self.datasets for count in label_counts(name)]
        noisy = [
            AccuracyCell(name, NOISE_COUNT, percent)
            for name in NOISE_DATASETS
            for percent in NOISE_PERCENTS
            if self.noise and name in self.datasets
        ]
        return (*clean, *noisy)

    def command(self) -> str:
        """Return the command line that makes this run."""
        parts = [f"semikpca bench accuracy --repetitions {self.repetitions} --seed {self.seed}"]
        if set(self.datasets) != set(BENCHMARK_DATASETS):
            parts.append(f"--datasets {','.join(_with_groups(self.datasets))}")
        if self.methods not in _DEFAULTS:
            parts.append(f'--methods "{",".join(self.methods)}"')
        if not self.noise:
            parts.append("--no-noise")
        return " ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as JSON takes it."""
        return {**asdict(self), "datasets": list(self.datasets), "methods": list(self.methods)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "AccuracySpec":
        """Return the spec that ``to_dict`` was made of."""
        return cls(**{**values, "datasets": tuple(values["datasets"]), "methods": tuple(values["methods"])})


# What a run without --methods takes, with and without the optional packages.
_DEFAULTS = (
    tuple(method.name for method in METHODS),
    tuple(method.name for method in METHODS if method.package is None),
)


def resolve_datasets(given: Iterable[str]) -> tuple[str, ...]:
    """Return data sets from names and groups ("paper", "digits", "tuning", "aside", "all"), in order, each once.

    Examples
    --------
    >>> resolve_datasets(["digits", "iris", "digits"])
    ('digits', 'iris')
    """
    names: dict[str, None] = {}
    for name in given:
        names.update(dict.fromkeys(BENCHMARK_DATASETS if name == "all" else BENCHMARK_GROUPS.get(name, (name,))))
    return tuple(names)


def _with_groups(names: tuple[str, ...]) -> list[str]:
    """Return names with whole groups under the name of the group."""
    whole = [group for group, members in BENCHMARK_GROUPS.items() if set(members) <= set(names)]
    return [*whole, *(name for name in names if group_of(name) not in whole)]
