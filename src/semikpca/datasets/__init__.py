"""Data to try the package on, the data sets of the paper, and those of the accuracy benchmark."""

from semikpca.datasets._dataset import Dataset
from semikpca.datasets._paper import PAPER_DATASETS, PaperDataset, load_paper_dataset
from semikpca.datasets._suite import BENCHMARK_DATASETS, BENCHMARK_GROUPS, benchmark_shape, load_benchmark_dataset
from semikpca.datasets._synthetic import make_four_clusters
from semikpca.datasets._tickets import make_support_tickets

__all__ = [
    "BENCHMARK_DATASETS",
    "BENCHMARK_GROUPS",
    "PAPER_DATASETS",
    "Dataset",
    "PaperDataset",
    "benchmark_shape",
    "load_benchmark_dataset",
    "load_paper_dataset",
    "make_four_clusters",
    "make_support_tickets",
]
