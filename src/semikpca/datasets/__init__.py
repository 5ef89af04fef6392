"""Data to try the package on, and the data sets of the paper."""

from semikpca.datasets._paper import PAPER_DATASETS, PaperDataset, load_paper_dataset
from semikpca.datasets._synthetic import make_four_clusters

__all__ = ["PAPER_DATASETS", "PaperDataset", "load_paper_dataset", "make_four_clusters"]
