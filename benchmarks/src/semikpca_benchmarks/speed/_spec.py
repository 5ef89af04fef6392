"""What the speed benchmark runs: kinds of work, sizes, and the methods that are timed against each other."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from semikpca_benchmarks._checks import check_whole_number

PEERS = ("label spreading", "kernel pca")


@dataclass(frozen=True)
class Work:
    """A kind of work, and who does it.

    Attributes
    ----------
    title : str
    methods : tuple of str
        The first one gives the answer that the others are held to.
    sizes, quick_sizes : tuple of int
        Rows.
    most_rows : dict of str to int
        Methods that stop earlier than the sizes do.
    places : tuple of str
        Back ends, where the work is done on several; each has sizes of its own.
    shares_process : bool
        Whether the methods take turns in one process, each beginning with what the one before it made.
    """

    title: str
    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]
    most_rows: tuple[tuple[str, int], ...] = ()
    places: tuple[str, ...] = ("",)
    shares_process: bool = False


WORKS: dict[str, Work] = {
    "fit": Work(
        "Binary fit, exact RBF kernel, 10 features",
        ("dense", "blocked", "blocked float32", "auto", *PEERS),
        (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000),
        (400, 800),
        (("dense", 10_000), ("label spreading", 20_000), ("kernel pca", 20_000)),
    ),
    "product": Work(
        "One product of the kernel matrix with 8 columns, float32, 10 features",
        ("rbf_kernel on row blocks", "blocked float32"),
        (20_000,),
        (1_000,),
    ),
    "nystroem": Work(
        "Binary fit, Nystroem kernel with 1,000 landmarks, 10 features",
        ("exact", "nystroem"),
        (10_000, 100_000, 200_000, 500_000, 1_000_000),
        (600, 3_000, 6_000),
        (("exact", 10_000),),
    ),
    "graph": Work(
        "Fit on a neighbor graph, 16 features, 10 classes, once the graph is there",
        ("exact search", "approximate search"),
        (70_000,),
        (800,),
    ),
    "path": Work(
        "Path of 100 error weights with leave-one-label-out",
        ("fit", "path"),
        (2_000, 10_000, 5_000, 50_000),
        (300, 700, 400, 2_000),
        places=("dense", "blocked", "graph", "nystroem"),
        shares_process=True,
    ),
    "add labels": Work(
        "A label added to a fitted model, exact RBF kernel",
        ("fit", "add labels"),
        (10_000,) * 3,
        (400,) * 3,
        places=("dense", "blocked", "auto"),
        shares_process=True,
    ),
    "automatic": Work(
        "Automatic fit, SemiKPCAClassifierCV()",
        ("fit", "automatic fit"),
        (2_000,),
        (150,),
        shares_process=True,
    ),
}
QUICK_LANDMARKS, LANDMARKS = 40, 1_000


@dataclass(frozen=True)
class SpeedCell:
    """Methods that are timed against each other: one kind of work at one size.

    Attributes
    ----------
    work : str
        From ``WORKS``.
    n : int
        Rows.
    place : str
        The back end, where the work is done on several.
    quick : bool
        Whether this is a small size, for tests.
    """

    work: str
    n: int
    place: str = ""
    quick: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        """Those that take so many rows, in the order of the tables."""
        limits = dict(WORKS[self.work].most_rows)
        return tuple(method for method in WORKS[self.work].methods if self.n <= limits.get(method, self.n))

    @property
    def n_landmarks(self) -> int:
        """Of Nystroem kernels."""
        return QUICK_LANDMARKS if self.quick else LANDMARKS

    def __str__(self) -> str:
        """Return the name of the cell's file."""
        return "-".join([*self.work.split(), *([self.place] if self.place else []), str(self.n)])


@dataclass(frozen=True)
class SpeedSpec:
    """A run of the speed benchmark.

    Attributes
    ----------
    works : tuple of str
        From ``WORKS``.
    repetitions : int
        Rounds over the methods of a cell; those that take long are run in the first round only.
    quick : bool
        Small sizes, which say nothing of speed: for tests.
    """

    works: tuple[str, ...] = tuple(WORKS)
    repetitions: int = 3
    quick: bool = False

    def __post_init__(self) -> None:
        for name in self.works:
            if name not in WORKS:
                raise ValueError(f"There is no work {name!r} to time; there are {', '.join(WORKS)}.")
        if not self.works or len(set(self.works)) != len(self.works):
            raise ValueError(f"works must hold at least one name, each once; got {list(self.works)}.")
        check_whole_number("repetitions", self.repetitions, 1)

    def cells(self) -> tuple[SpeedCell, ...]:
        """Return all cells, work by work, small sizes first."""
        return tuple(cell for name in self.works for cell in _cells(name, self.quick))

    def command(self) -> str:
        """Return the command line that makes this run."""
        parts = [f"semikpca bench speed --repetitions {self.repetitions}"]
        if set(self.works) != set(WORKS):
            parts.append(f'--works "{",".join(self.works)}"')
        if self.quick:
            parts.append("--quick")
        return " ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as JSON takes it."""
        return {"works": list(self.works), "repetitions": self.repetitions, "quick": self.quick}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "SpeedSpec":
        """Return the spec that ``to_dict`` was made of."""
        return cls(**{**values, "works": tuple(values["works"])})


def _cells(name: str, quick: bool) -> Iterable[SpeedCell]:
    work = WORKS[name]
    sizes = work.quick_sizes if quick else work.sizes
    places = work.places if len(work.places) > 1 else work.places * len(sizes)
    return (SpeedCell(name, n, place, quick) for n, place in zip(sizes, places, strict=True))
