"""Where a problem is fitted: here, or on a cluster. The only place that asks."""

from collections.abc import Callable
from typing import Any

from semikpca._typing import Rows
from semikpca.arrays import is_lazy, on_host
from semikpca.kernels import Kernel
from semikpca.labels import LabelCoding, require_label_for_each
from semikpca.operators import Progress, gathered, is_on_cluster, remote_rows
from semikpca.problem._cluster_fit import ClusterFit
from semikpca.problem._few_labels import FewLabels, labels_on_cluster
from semikpca.problem._fit import Fit, LocalFit, Problem
from semikpca.problem._nonlinear_fit import NonlinearFit


def fit_problem(
    problem: Problem,
    kernel: Kernel,
    rows: Rows,
    y: Any,
    encode: Callable[[Any], LabelCoding],
    *,
    backend: str,
    progress: Progress | None = None,
) -> Fit:
    """Fit a problem to labels; refuse a problem on a cluster that would need all rows one by one.

    The kernel is not fitted yet, and the back end is as the user names it. Rows are validated: a NumPy array, a CSR
    matrix, a tensor, a list of objects, or rows on a cluster. Labels are as the caller got them, and lazy ones stay on
    the cluster where the rows do; ``encode`` turns them into classes and class numbers.
    """
    if not (is_on_cluster(backend, rows) and kernel.is_low_rank_on(rows)):
        labels = encode(on_host(gathered(y)))
        require_label_for_each(rows, labels.codes)
        kind = LocalFit if problem.is_linear else NonlinearFit
        return kind.of(problem, kernel, rows, backend, labels, progress)
    problem.refuse_on_cluster(kernel, rows)
    rows = remote_rows(rows)
    few = labels_on_cluster(y) if is_lazy(y) else FewLabels.of(encode(y))
    require_label_for_each(rows, few.codes)
    return ClusterFit.of(problem, kernel, rows, few, verbose=progress is not None)
