"""``semikpca label --scheduler``: the same command for tables that are larger than a memory."""

import glob
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.text import Text

from semikpca._words import counted
from semikpca.cli._label_summary import class_grid, learned_from, print_accuracy, print_sizes
from semikpca.cli._messages import console
from semikpca.cli._table_options import Question, steps, tell
from semikpca.operators import require_cluster_packages
from semikpca.tables import in_pieces
from semikpca.workflow import (
    AccuracyEstimate,
    ClusterLabels,
    LabelingOptions,
    cluster_classifier,
    label_on_cluster,
    printable,
)

SUFFIX = ".parquet"


def label_by_scheduler(
    question: Question,
    options: LabelingOptions,
    scheduler: str,
    out: Path | None,
    unfit: Mapping[str, Path | None],
    *,
    force: bool,
) -> None:
    """Label a table on the cluster of a scheduler; ``unfit`` has the options that do not go with one."""
    for option, given in unfit.items():
        if given is not None:
            raise ValueError(
                f"{option} does not go with --scheduler: it needs all rows on one computer. Leave it out, or label a "
                "part of the table without --scheduler."
            )
    try:
        require_cluster_packages()
    except ImportError as error:
        raise ValueError(f"--scheduler needs the package {error.name}: pip install 'semikpca[dask]'") from error
    cluster_classifier(options)  # what it refuses is refused before files are looked at
    target = _output(question.file, out, force=force)
    table = in_pieces(question.file, delimiter=question.delimiter, encoding=question.encoding)
    _refuse_pieces_in_output(table.pieces, target)
    with steps() as say:
        labeled = label_on_cluster(table, question.roles(table.head), options, target, scheduler, say)
    _print_summary(labeled, question.file.name)
    tell(labeled.warnings)
    console.print(f"[bold]Labels:[/] {escape(str(target))}", soft_wrap=True, highlight=False)


def _output(file: Path, out: Path | None, *, force: bool) -> Path:
    """Return the folder to write, or refuse one that cannot or must not be written."""
    if out is None:
        if glob.has_magic(file.name) and not file.exists():
            raise ValueError(f"{file} names several files. Name the output with -o OUT{SUFFIX}.")
        out = file.with_name(f"{file.stem}.labeled{SUFFIX}")
    if out.suffix.lower() != SUFFIX:
        raise ValueError(
            f"-o names {out}, and workers write a folder of Parquet files, whose name ends in {SUFFIX}. Name it "
            f"{out.with_suffix(SUFFIX)}."
        )
    if not out.parent.is_dir():
        raise ValueError(f"-o names {out}, and there is no folder {out.parent}. Make it first.")
    if not os.access(out.parent, os.W_OK):
        raise ValueError(f"-o names {out}, and the folder {out.parent} may not be written to.")
    if out.is_symlink() or out.exists():
        if not force:
            raise ValueError(f"{out} exists already. Add --force to replace it, or choose another name with -o.")
        strange = [] if not out.is_dir() else [entry.name for entry in out.iterdir() if entry.suffix != SUFFIX]
        if strange:
            raise ValueError(
                f"{out} holds {strange[0]}, which is no Parquet file: such a folder is not replaced. Choose another "
                "name with -o."
            )
    return out


def _refuse_pieces_in_output(pieces: tuple[Any, ...], out: Path) -> None:
    place = out.resolve()
    for piece in pieces:
        read = piece.path.resolve()
        if place == read or place in read.parents:
            raise ValueError(f"-o names {out}, which is read: it is never written over. Choose another name.")


def _print_summary(labeled: ClusterLabels, name: str) -> None:
    n_given = int(labeled.n_given.sum())
    print_sizes(console, name, labeled.n_rows, n_given)
    console.print(learned_from(labeled.kinds, labeled.n_columns, labeled.n_numbers), highlight=False)
    console.print()
    console.print(class_grid(labeled.classes, labeled.n_given, labeled.n_predicted, labeled.confidence_sums))
    console.print()
    print_accuracy(console, n_given, labeled.estimate, AccuracyEstimate.of(0, 0))
    console.print()
    console.print(Text(str(labeled.certificate)), highlight=False)
    console.print(Text(f"  {'kernel':<23}{printable(labeled.kernel)}"), highlight=False)
    console.print()
    if labeled.n_looks_wrong:
        wrong = counted(labeled.n_looks_wrong, "given label looks", "given labels look")
        console.print(f"[yellow]{wrong} wrong:[/] the rows with looks_wrong in the output.", highlight=False)
    else:
        console.print("No given label looks wrong.", highlight=False)
