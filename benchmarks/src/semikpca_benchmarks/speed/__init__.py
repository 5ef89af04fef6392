"""The speed benchmark: time and memory of the package beside scikit-learn, over the number of rows."""

from semikpca_benchmarks.speed._problems import two_clusters
from semikpca_benchmarks.speed._records import Measurement, SpeedRecord
from semikpca_benchmarks.speed._runner import run_speed_cell, run_speed_cells
from semikpca_benchmarks.speed._spec import PEERS, WORKS, SpeedCell, SpeedSpec
from semikpca_benchmarks.speed._tables import BAR_COLUMNS, RESULT_COLUMNS, Bar, bar_rows, bars, result_rows

__all__ = [
    "BAR_COLUMNS",
    "PEERS",
    "RESULT_COLUMNS",
    "WORKS",
    "Bar",
    "Measurement",
    "SpeedCell",
    "SpeedRecord",
    "SpeedSpec",
    "bar_rows",
    "bars",
    "result_rows",
    "run_speed_cell",
    "run_speed_cells",
    "two_clusters",
]
