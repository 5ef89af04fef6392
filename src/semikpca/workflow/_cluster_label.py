"""Labels for a table that is larger than one computer's memory: read, learned from and written by a Dask cluster.

The client has the labels, a sample of the rows and figures of each piece; whole columns never come to it. Needs the
extras ``label`` and ``dask``.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
import pandas as pd
from distributed import Client, as_completed
from distributed.protocol.pickle import dumps

from semikpca._typing import FloatArray, IntArray
from semikpca.convexity import ConvexityCertificate
from semikpca.estimators import SemiKPCAClassifier
from semikpca.exceptions import TableError
from semikpca.kernels import Nystroem, as_kernel
from semikpca.labeling import audit_labels
from semikpca.operators.cluster._client import clear_errors, data_in_graph_is_meant
from semikpca.operators.cluster._tasks import loaded
from semikpca.tables import (
    ColumnRoles,
    Table,
    check_roles,
    feature_columns,
    feature_kinds,
    given_labels,
)
from semikpca.tables._features import features_of
from semikpca.tables._labels import label_warnings
from semikpca.tables._pieces import PiecedTable, frame_of
from semikpca.tables._roles import refuse_two_roles, refuse_unknown_columns
from semikpca.workflow._cluster import connected, each_answer, memory_of_workers, refuse_unready_workers
from semikpca.workflow._cluster_pieces import (
    MOST_SAMPLED_ROWS,
    Reader,
    labels_in,
    labels_of_piece,
    numbers_of,
    rows_at,
    write_piece,
)
from semikpca.workflow._estimate import AccuracyEstimate, left_out_estimate
from semikpca.workflow._label import NUMBERS, Progress, fit_labels, fit_vectorizer, told
from semikpca.workflow._options import LabelingOptions

N_LANDMARKS = 1_000
MOST_LABELS = 1_000_000
_SHARE_OF_MEMORY = 0.5  # of the workers, that the numbers of all rows may take; otherwise rows are read again
READING, FITTING, WRITING = "Reading the table", "Fitting", "Writing"


@dataclass(frozen=True)
class ClusterLabels:
    """What is known of a table that a cluster has labeled.

    Attributes
    ----------
    n_rows : int
    classes : list
    n_given, n_predicted : ndarray of int, shape (n_classes,)
    confidence_sums : ndarray of shape (n_classes,)
        Over the rows that are predicted to be of each class.
    n_looks_wrong : int
    kinds : dict of str to list of str
        The columns that were learned from, by what they are.
    n_columns, n_numbers : int
        Columns, and numbers that a row became.
    kernel : str
    certificate : ConvexityCertificate
    estimate : AccuracyEstimate
    warnings : tuple of str
    """

    n_rows: int
    classes: list[Any]
    n_given: IntArray
    n_predicted: IntArray
    confidence_sums: FloatArray
    n_looks_wrong: int
    kinds: dict[str, list[str]]
    n_columns: int
    n_numbers: int
    kernel: str
    certificate: ConvexityCertificate
    estimate: AccuracyEstimate
    warnings: tuple[str, ...]


def label_on_cluster(
    table: PiecedTable, roles: ColumnRoles, options: LabelingOptions, out: Path, scheduler: str, progress: Progress
) -> ClusterLabels:
    """Label a table on a cluster, and write it as a folder of Parquet files, a file for each piece.

    Parameters
    ----------
    table : PiecedTable
        Its files must be seen by all workers under the same path.
    roles : ColumnRoles
    options : LabelingOptions
        At most one kernel, and no neighbor graph.
    out : Path
        The folder, in one that all workers may write to. It is there when it is whole; what was there is replaced.
    scheduler : str
        Address of the Dask scheduler.
    progress : callable
        Called with the name of the step, what is done and what there is to do.

    Raises
    ------
    ClusterError
        Where the cluster does not answer, cannot do the work, or breaks down.
    TableError
        Where the table cannot be learned from.
    """
    model = cluster_classifier(options)
    refuse_unknown_columns(table.head, roles)
    refuse_two_roles(roles)
    out = out.absolute()
    with connected(scheduler) as client, _folder_for(out) as folder:
        progress(READING, 0, 1)
        refuse_unready_workers(client, table.pieces[0].path, folder)
        rows = _Rows.of(client, table, roles, progress)
        sample = rows.sample(client, options.random_state, progress)
        notes = [*check_roles(sample, roles), *label_warnings(rows.labels, roles)]
        columns = feature_columns(sample, roles)
        progress(NUMBERS, 0, 1)
        vectorizer = fit_vectorizer(sample, roles)
        X = _numbers(client, rows, Reader(vectorizer, columns, sample.features.dtypes), progress)
        progress(FITTING, 0, 1)
        with told(notes):
            fit_labels(model, X, rows.y)
        estimate, audit = left_out_estimate(model), audit_labels(model)
        progress(FITTING, 1, 1)
        wrong = np.sort(audit.rows[audit.looks_wrong])
        predicted, sums = _write(client, model, rows, wrong, folder, progress)
        _move(folder, out)
    return ClusterLabels(
        n_rows=int(rows.bounds[-1]),
        classes=model.classes_.tolist(),
        n_given=np.bincount(model.label_coding_.codes.values, minlength=len(model.classes_)),
        n_predicted=predicted,
        confidence_sums=sums,
        n_looks_wrong=len(wrong),
        kinds=feature_kinds(vectorizer),
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
        backend="dask",
    )


# -- reading -----------------------------------------------------------------------------------------------------


class _Sample(Table):
    """Some rows of a table, which know where they stand in it."""

    def line_of(self, row: int) -> str:
        return f"data row {self.options['rows'][row] + 1:,}"


@dataclass(frozen=True)
class _Rows:
    """The pieces of a table that have rows, and its labels.

    ``bounds`` has the row number at which each piece begins, and the number of all rows; ``labels`` has the labeled
    rows, whose numbers are ``labeled``, and one more without a label if there is any in the table.
    """

    table: PiecedTable
    pieces: list[Any]
    bounds: IntArray
    labeled: IntArray
    given: npt.NDArray[Any]
    labels: Table

    @classmethod
    def of(cls, client: Client, table: PiecedTable, roles: ColumnRoles, progress: Progress) -> "_Rows":
        """Read the column of the labels."""
        look = dask.delayed(labels_in, pure=False)
        found: dict[int, tuple[int, IntArray, list[Any]]] = {}
        n_labels = 0

        def take(number: int, answer: tuple[int, IntArray, list[Any]]) -> None:
            nonlocal n_labels
            found[number] = answer
            n_labels += len(answer[2])
            if n_labels > MOST_LABELS:
                raise TableError(
                    f"More than {MOST_LABELS:,} rows of {table.path.name} have a label in {roles.label!r}. So many "
                    "need no others to learn from: empty the cells of most of them."
                )

        each_answer(client, [look(piece, roles.label) for piece in table.pieces], READING, progress, take)
        full = [number for number in range(len(table.pieces)) if found[number][0]]
        if not full:
            raise TableError(f"{table.path.name} has no rows.")
        bounds = np.cumsum([0, *(found[number][0] for number in full)])
        labeled = np.concatenate([found[number][1] + start for number, start in zip(full, bounds, strict=False)])
        cells = [cell for number in full for cell in found[number][2]]
        if len(cells) < bounds[-1]:
            cells.append(None)
        column = pd.DataFrame({roles.label: pd.Series(cells, dtype=object)})
        labels = _Sample(column, column, table.path, table.format, {"rows": labeled})
        given = given_labels(labels, roles)[: len(labeled)]
        return cls(table, [table.pieces[number] for number in full], bounds, labeled, given, labels)

    def places(self, rows: IntArray) -> list[IntArray]:
        """Return which of some rows, ascending, are in each piece, counted from its beginning."""
        cuts = np.searchsorted(rows, self.bounds)
        return [rows[cuts[i] : cuts[i + 1]] - start for i, start in enumerate(self.bounds[:-1])]

    def sample(self, client: Client, seed: int, progress: Progress) -> _Sample:
        """Fetch rows from all pieces, without their labels: all, or a sample of many."""
        n = int(self.bounds[-1])
        size = min(n, MOST_SAMPLED_ROWS)
        rows = np.sort(np.random.default_rng(seed).choice(n, size, replace=False))
        fetch = dask.delayed(rows_at, pure=False)
        places = self.places(rows)
        asked = [number for number, inside in enumerate(places) if len(inside)]
        tasks = [fetch(self.pieces[number], places[number]) for number in asked]
        parts: dict[int, Any] = {}
        each_answer(client, tasks, "Fetching a sample", progress, parts.__setitem__)
        import pyarrow as pa

        frame = frame_of(pa.concat_tables([parts[number] for number in range(len(asked))]))
        frame[self.labels.frame.columns[0]] = None
        options = {"rows": rows, "notes": self.table.notes}
        return _Sample(frame, features_of(frame), self.table.path, self.table.format, options)

    @property
    def y(self) -> da.Array:
        """The labels as a Dask array, None where there is none."""
        make = dask.delayed(labels_of_piece, pure=False)
        cuts = np.searchsorted(self.labeled, self.bounds)
        blocks = []
        for number, inside in enumerate(self.places(self.labeled)):
            n = int(self.bounds[number + 1] - self.bounds[number])
            block = make(n, inside, self.given[cuts[number] : cuts[number + 1]])
            blocks.append(da.from_delayed(block, (n,), dtype=object))
        return da.concatenate(blocks)


def _numbers(client: Client, rows: _Rows, reader: Reader, progress: Progress) -> da.Array:
    """Return all rows as numbers: held by the workers where their memory allows, otherwise made when needed."""
    shared = dask.delayed(loaded, pure=False)(dumps(reader))
    make, n_numbers = dask.delayed(numbers_of, pure=False), int(reader.vectorizer.n_outputs_)
    lengths = np.diff(rows.bounds).tolist()
    blocks = [
        da.from_delayed(make(piece, shared), (n, n_numbers), dtype=np.float32)
        for piece, n in zip(rows.pieces, lengths, strict=True)
    ]
    X = da.concatenate(blocks)
    with clear_errors(), data_in_graph_is_meant():
        if X.nbytes <= _SHARE_OF_MEMORY * memory_of_workers(client):
            X = client.persist(X)
            for done, _ in enumerate(as_completed(client.futures_of(X)), 1):
                progress(NUMBERS, done, len(blocks))
    return X


# -- writing -----------------------------------------------------------------------------------------------------


def _write(
    client: Client, model: Any, rows: _Rows, wrong: IntArray, folder: Path, progress: Progress
) -> tuple[IntArray, FloatArray]:
    """Let the workers write all pieces; return how many rows each class has, and the sums of their confidences."""
    progress(WRITING, 0, 1)
    codes = model.decision_codes(model.decision_).to_delayed(optimize_graph=False).ravel()
    chances = model.label_distributions_.to_delayed(optimize_graph=False).ravel()
    write = dask.delayed(write_piece, pure=False)
    digits = len(str(len(rows.pieces)))
    given, flagged = rows.places(rows.labeled), rows.places(wrong)
    tasks = [
        write(
            piece,
            codes[i],
            chances[i],
            model.classes_,
            given[i],
            flagged[i],
            folder / f"part-{i:0{digits}}.parquet",
        )
        for i, piece in enumerate(rows.pieces)
    ]
    predicted, sums = np.zeros(len(model.classes_), dtype=np.int64), np.zeros(len(model.classes_))

    def take(_: int, answer: tuple[IntArray, FloatArray]) -> None:
        nonlocal predicted, sums
        predicted, sums = predicted + answer[0], sums + answer[1]

    each_answer(client, tasks, WRITING, progress, take)
    return predicted, sums


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
    if not os.path.lexists(out):
        folder.rename(out)
        return
    old = folder.with_suffix(".old")
    out.rename(old)
    folder.rename(out)
    if old.is_symlink() or old.is_file():
        old.unlink()
    else:
        shutil.rmtree(old)
