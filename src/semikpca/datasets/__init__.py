"""Data to try the package on."""

from semikpca.datasets._synthetic import make_four_clusters

__all__ = ["make_four_clusters"]
