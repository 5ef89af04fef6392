"""Data to try the package on, and the data sets of the paper."""

from semikpca.datasets._apartments import make_apartments
from semikpca.datasets._packaged import PackagedFile, keel_file
from semikpca.datasets._paper import PAPER_DATASETS, Dataset, PaperDataset, load_paper_dataset, make_four_clusters
from semikpca.datasets._tickets import make_support_tickets

__all__ = [
    "PAPER_DATASETS",
    "Dataset",
    "PackagedFile",
    "PaperDataset",
    "keel_file",
    "load_paper_dataset",
    "make_apartments",
    "make_four_clusters",
    "make_support_tickets",
]
