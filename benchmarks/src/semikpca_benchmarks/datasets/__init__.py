"""The data sets of the accuracy benchmark: those that come with it, and a folder of the user's."""

from semikpca_benchmarks.datasets._folder import (
    FOLDER_GROUP,
    MOST_FOLDER_ROWS,
    DataFolder,
    FolderListing,
    list_folder,
    load_folder_set,
    matching,
    read_folder,
)
from semikpca_benchmarks.datasets._info import Counting, Scaling, SetInfo
from semikpca_benchmarks.datasets._scaling import scaled, scaling_of
from semikpca_benchmarks.datasets._suite import (
    BENCHMARK_DATASETS,
    BENCHMARK_GROUPS,
    benchmark_info,
    load_benchmark_dataset,
)

__all__ = [
    "BENCHMARK_DATASETS",
    "BENCHMARK_GROUPS",
    "FOLDER_GROUP",
    "MOST_FOLDER_ROWS",
    "Counting",
    "DataFolder",
    "FolderListing",
    "Scaling",
    "SetInfo",
    "benchmark_info",
    "list_folder",
    "load_benchmark_dataset",
    "load_folder_set",
    "matching",
    "read_folder",
    "scaled",
    "scaling_of",
]
