"""``semikpca label --scheduler``: the same command for tables that are larger than a memory."""

import glob
from collections.abc import Mapping
from pathlib import Path

from rich.markup import escape
from rich.text import Text

from semikpca._words import counted
from semikpca.cli._label_summary import class_grid, print_accuracy, print_sizes
from semikpca.cli._messages import console
from semikpca.cli._table_options import Question, check_outputs, steps, tell
from semikpca.operators import require_cluster_packages
from semikpca.tables import in_pieces
from semikpca.workflow import AccuracyEstimate, ClusterLabels, cluster_classifier, label_on_cluster, printable

SUFFIX = ".parquet"


def label_by_scheduler(
    question: Question, scheduler: str, out: Path | None, unfit: Mapping[str, object], *, force: bool
) -> None:
    """Label a table on the cluster of a scheduler; ``unfit`` has the options that do not go with one."""
    for option, given in unfit.items():
        if given:
            raise ValueError(
                f"{option} does not go with --scheduler: it needs all rows on one computer. Leave it out, or label a "
                "part of the table without --scheduler."
            )
    try:
        require_cluster_packages()
    except ImportError as error:
        raise ValueError(f"--scheduler needs the package {error.name}: pip install 'semikpca[dask]'") from error
    options = question.options
    cluster_classifier(options)  # what it refuses is refused before files are looked at
    target = _output(question.file, out)
    table = in_pieces(
        question.file, delimiter=question.delimiter, encoding=question.encoding, raw_cells=question.raw_cells
    )
    check_outputs({"-o": target}, [piece.path for piece in table.pieces], force=force, folder=True)
    with steps() as say:
        labeled = label_on_cluster(table, question.roles(table.head), options, target, scheduler, say)
    _print_summary(labeled, question.file.name)
    tell(labeled.warnings)
    console.print(f"[bold]Labels:[/] {escape(str(target))}", soft_wrap=True, highlight=False)


def _output(file: Path, out: Path | None) -> Path:
    """Return the folder to write, or refuse one that is not to be written by workers."""
    if out is None:
        if glob.has_magic(file.name) and not file.exists():
            raise ValueError(f"{file} names several files. Name the output with -o OUT{SUFFIX}.")
        out = file.with_name(f"{file.stem}.labeled{SUFFIX}")
    if out.suffix.lower() != SUFFIX:
        raise ValueError(
            f"-o names {out}, and workers write a folder of Parquet files, whose name ends in {SUFFIX}. Name it "
            f"{out.with_suffix(SUFFIX)}."
        )
    strange = [entry.name for entry in out.iterdir() if entry.suffix != SUFFIX] if out.is_dir() else []
    if strange:
        raise ValueError(
            f"{out} holds {strange[0]}, which is no Parquet file: such a folder is not replaced. Choose another name "
            "with -o."
        )
    return out


def _print_summary(labeled: ClusterLabels, name: str) -> None:
    n_given = int(labeled.n_given.sum())
    learned = (labeled.kinds, labeled.n_columns, labeled.n_numbers, labeled.texts)
    print_sizes(console, name, labeled.n_rows, n_given, *learned)
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
