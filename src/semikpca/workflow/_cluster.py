"""Whether the workers of a cluster can label a table."""

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from semikpca.exceptions import ClusterError
from semikpca.workflow._cluster_pieces import unseen

if TYPE_CHECKING:
    from semikpca.operators.cluster import DaskCluster

_SAME_EVERYWHERE = ("semikpca", "skrub")


def refuse_unready_workers(cluster: "DaskCluster", file: Path, folder: Path) -> None:
    """Refuse workers without the packages, and those that do not see the files."""
    for package in _SAME_EVERYWHERE:
        for worker, found in cluster.on_each_worker(version, package, errors_are_answers=True).items():
            if found != version(package):
                has = f"has {package} {found}" if isinstance(found, str) else f"does not have {package}"
                raise ClusterError(
                    f"The worker {worker} {has}, and this computer has {version(package)}. Install the same there: "
                    "pip install 'semikpca[label,dask]'."
                )
    for worker, what in cluster.on_each_worker(unseen, file, folder).items():
        if what:
            raise ClusterError(
                f"The worker {worker} does not see {what}. The table and the folder of the output must be under "
                "the same path on this computer and on all workers: put both in a folder that they share."
            )
