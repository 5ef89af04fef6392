"""The labeled table as a folder of Parquet files that the workers of a cluster write."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.workflow._cluster_pieces import write_piece
from semikpca.workflow._cluster_table import ClusterTable
from semikpca.workflow._label import Progress

WRITING = "Writing"


def write_pieces(
    model: Any, rows: ClusterTable, wrong: IntArray, folder: Path, progress: Progress
) -> tuple[IntArray, FloatArray]:
    """Let the workers write all pieces; return how many rows each class has, and the sums of their confidences."""
    progress(WRITING, 0, 1)
    codes = rows.cluster.parts(model.decision_codes(model.decision_))
    chances = rows.cluster.parts(model.label_distributions_)
    digits = len(str(len(rows.pieces)))
    given, flagged = rows.places(rows.labeled), rows.places(wrong)
    asked = [
        (piece, codes[i], chances[i], model.classes_, given[i], flagged[i], folder / f"part-{i:0{digits}}.parquet")
        for i, piece in enumerate(rows.pieces)
    ]
    predicted, sums = np.zeros(len(model.classes_), dtype=np.int64), np.zeros(len(model.classes_))

    def take(_: int, answer: tuple[IntArray, FloatArray]) -> None:
        nonlocal predicted, sums
        predicted, sums = predicted + answer[0], sums + answer[1]

    rows.cluster.each_answer(write_piece, asked, take, partial(progress, WRITING))
    return predicted, sums


@contextmanager
def folder_for(out: Path) -> Iterator[Path]:
    """Give a new folder beside the output, and take it away again unless it was moved.

    A client that is killed leaves it behind. Its name is never used again: workers may still be writing to it.
    """
    folder = out.with_name(f".{out.name}.{secrets.token_hex(4)}.partial")
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def move(folder: Path, out: Path) -> None:
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
