"""What is remembered of a cell: seconds, memory and how right the answer was, method by method."""

from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from semikpca_benchmarks.speed._spec import SpeedCell


@dataclass(frozen=True)
class Measurement:
    """One method in one cell.

    Attributes
    ----------
    seconds : tuple of float
        Of all repetitions; empty where the method failed or its answer was wrong.
    peak_mb, baseline_mb : float or None
        Largest memory of its process up to the end of the first repetition, and what the process had before it made
        anything, in megabytes (10⁶ bytes); None where the system does not say.
    setup_seconds : float or None
        What was made before and not counted: a neighbor graph.
    error : float or None
        Largest relative difference of the answer to another way to the same numbers, which ``against`` names.
    labels_equal : float or None
        Share of rows with the same label as those of the first method of the cell.
    failure : str
        What went wrong, if anything.
    """

    seconds: tuple[float, ...] = ()
    peak_mb: float | None = None
    baseline_mb: float | None = None
    backend: str = ""
    dtype: str = ""
    n_features: int | None = None
    products: int | None = None
    residual: float | None = None
    setup_seconds: float | None = None
    error: float | None = None
    against: str = ""
    labels_equal: float | None = None
    failure: str = ""

    @property
    def median_seconds(self) -> float | None:
        """The middle one; None where there is none."""
        return median(self.seconds) if self.seconds else None


@dataclass(frozen=True)
class SpeedRecord:
    """Everything that a cell's run found.

    Attributes
    ----------
    cell : SpeedCell
    cores : int
        Processors that the run was allowed to use.
    measurements : dict of str to Measurement
        By method.
    """

    cell: SpeedCell
    cores: int
    measurements: dict[str, Measurement]

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON takes it."""
        found = {method: {**asdict(one), "seconds": list(one.seconds)} for method, one in self.measurements.items()}
        return {"cell": asdict(self.cell), "cores": self.cores, "measurements": found}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "SpeedRecord":
        """Return the record that ``to_dict`` was made of."""
        cell, found = SpeedCell(**values["cell"]), values["measurements"]
        # In the order of the tables: files are sorted by name.
        measurements = {
            method: Measurement(**{**found[method], "seconds": tuple(found[method]["seconds"])})
            for method in cell.methods
        }
        return cls(cell, values["cores"], measurements)
