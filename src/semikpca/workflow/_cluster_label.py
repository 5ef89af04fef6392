"""Labels for a table that is larger than one computer's memory: read, learned from and written by a cluster.

The client has the labels, a sample of the rows and figures of each piece; whole columns never come to it. Needs the
extras ``label`` and ``dask``.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.convexity import ConvexityCertificate
from semikpca.estimators import SemiKPCAClassifier
from semikpca.exceptions import ClusterError
from semikpca.kernels import Nystroem, as_kernel
from semikpca.labeling import AccuracyEstimate, audit_labels
from semikpca.operators import REMOTE_BACKEND, join_cluster
from semikpca.tables import (
    ColumnRoles,
    PiecedTable,
    check_roles,
    feature_columns,
    kinds_in_words,
    label_warnings,
    refuse_roles,
    replaced_columns,
    settled_roles,
    text_reading,
)
from semikpca.workflow._cluster_table import READING, ClusterTable, Reader, unseen, write_piece
from semikpca.workflow._label import NUMBERS, Progress, about_empty_rows, fit_labels, fit_vectorizer, told
from semikpca.workflow._labeled import left_out_estimate
from semikpca.workflow._options import LabelingOptions

if TYPE_CHECKING:
    from semikpca.operators.cluster import Cluster

N_LANDMARKS = 1_000
FITTING, WRITING = "Fitting", "Writing"
_SAME_EVERYWHERE = ("semikpca", "skrub")


@dataclass(frozen=True)
class ClusterLabels:
    """What is known of a table that a cluster has labeled; arrays have an entry for each class."""

    n_rows: int
    classes: list[Any]
    n_given: IntArray
    n_predicted: IntArray
    confidence_sums: FloatArray  # over the rows that are predicted to be of the class
    n_looks_wrong: int
    kinds: dict[str, list[str]]  # the columns that were learned from, by what they are
    texts: str  # how columns of text were read, in words
    n_columns: int
    n_numbers: int  # that a row became
    kernel: str
    certificate: ConvexityCertificate
    estimate: AccuracyEstimate
    warnings: tuple[str, ...]


def label_on_cluster(
    table: PiecedTable, roles: ColumnRoles, options: LabelingOptions, out: Path, scheduler: str, progress: Progress
) -> ClusterLabels:
    """Label a table on a cluster, and write it as a folder of Parquet files, a file for each piece.

    All workers must see the files of the table, and the folder of ``out``, under the same path. The output is there
    when it is whole; what was there is replaced. The options have at most one kernel, and no neighbor graph. Raises
    ClusterError for a cluster that cannot do the work, and TableError for a table that cannot be learned from.
    """
    model = cluster_classifier(options)
    refuse_roles(table.head, roles)
    out = out.absolute()
    with join_cluster(scheduler) as cluster, _folder_for(out) as folder:
        progress(READING, 0, 1)
        _refuse_unready_workers(cluster, table.pieces[0].path, folder)
        rows = ClusterTable.of(cluster, table, roles, progress)
        sample = rows.sample(options.random_state, progress)
        roles, left_out = settled_roles(sample, roles)
        notes = [*check_roles(sample, roles), *label_warnings(rows.labels, roles), *left_out]
        columns = feature_columns(sample, roles)
        progress(NUMBERS, 0, 1)
        vectorizer = fit_vectorizer(sample, roles)
        notes += vectorizer.notes_
        X = rows.numbers(Reader(vectorizer, columns, sample.features.dtypes), progress)
        progress(FITTING, 0, 1)
        with told(notes):
            fit_labels(model, X, rows.y)
        estimate, audit = left_out_estimate(model), audit_labels(model)
        progress(FITTING, 1, 1)
        wrong = np.sort(audit.rows[audit.looks_wrong])
        shared = columns, model.class_shares_, replaced_columns(sample, roles)
        predicted, sums, n_empty = _write_pieces(model, rows, wrong, shared, folder, progress)
        notes += about_empty_rows(n_empty)
        _move(folder, out)
    return ClusterLabels(
        n_rows=int(rows.bounds[-1]),
        classes=model.classes_.tolist(),
        n_given=np.bincount(model.label_coding_.codes.values, minlength=len(model.classes_)),
        n_predicted=predicted,
        confidence_sums=sums,
        n_looks_wrong=len(wrong),
        kinds=kinds_in_words(vectorizer),
        texts=text_reading(vectorizer),
        n_columns=len(columns),
        n_numbers=int(vectorizer.n_outputs_),
        kernel=repr(model.kernel),
        certificate=model.certificate_,
        estimate=estimate,
        warnings=tuple(notes),
    )


def cluster_classifier(options: LabelingOptions) -> Any:
    """Return the classifier that the options describe, not fitted: its kernel has features."""
    names = options.kernel_names or ("rbf",)
    if len(names) > 1 or names[0] == "graph":
        raise ValueError(
            f"--kernel {options.kernel} does not go with --scheduler: a cluster takes one kernel of vectors (rbf, "
            "laplacian, poly, linear or cosine). Name one, or leave --kernel out."
        )
    make: Any = SemiKPCAClassifier
    return make(
        Nystroem(as_kernel(names[0]), n_landmarks=N_LANDMARKS, random_state=options.random_state),
        n_components_removed=1 if options.n_components_removed is None else options.n_components_removed,
        error_weight="middle" if options.error_weight is None else options.error_weight,
        backend=REMOTE_BACKEND,
    )


def _refuse_unready_workers(cluster: "Cluster", file: Path, folder: Path) -> None:
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


def _write_pieces(
    model: Any, rows: ClusterTable, wrong: IntArray, shared: tuple[Any, ...], folder: Path, progress: Progress
) -> tuple[IntArray, FloatArray, int]:
    """Let the workers write all pieces, with arguments that all share; return the sums of what they return."""
    progress(WRITING, 0, 1)
    codes = rows.cluster.parts(model.decision_codes(model.decision_))
    chances = rows.cluster.parts(model.label_distributions_)
    digits = len(str(len(rows.pieces)))
    given, flagged = rows.places(rows.labeled), rows.places(wrong)
    paths = [folder / f"part-{i:0{digits}}.parquet" for i in range(len(rows.pieces))]
    asked = [
        (piece, codes[i], chances[i], model.classes_, given[i], flagged[i], paths[i], *shared)
        for i, piece in enumerate(rows.pieces)
    ]
    answers: dict[int, tuple[IntArray, FloatArray, int]] = {}
    rows.cluster.each_answer(write_piece, asked, answers.__setitem__, partial(progress, WRITING))
    predicted, sums, n_empty = zip(*answers.values(), strict=True)
    return np.sum(predicted, axis=0), np.sum(sums, axis=0), sum(n_empty)


@contextmanager
def _folder_for(out: Path) -> Iterator[Path]:
    """Give a new folder beside the output, and take it away again unless it was moved.

    A client that is killed leaves it behind. Its name is never used again: workers may still be writing to it.
    """
    folder = out.with_name(f".{out.name}.{secrets.token_hex(4)}.partial")
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move(folder: Path, out: Path) -> None:
    """Put a whole folder in its place; what was there goes last."""
    old = folder.with_suffix(".old")
    if os.path.lexists(out):
        out.rename(old)
    folder.rename(out)
    if old.is_symlink() or old.is_file():
        old.unlink()
    elif old.exists():
        shutil.rmtree(old)
