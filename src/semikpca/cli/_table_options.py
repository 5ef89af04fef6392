"""What the commands on tables share: their options, the checks before the work, and the bar while it goes on."""

import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from semikpca.cli._messages import errors
from semikpca.cli._pipes import PIPE, read_given
from semikpca.tables import (
    AUTO,
    AUTO_KIND,
    CLASSES,
    NUMBERS,
    ColumnRoles,
    Table,
    check_output,
    label_kind,
    label_warnings,
)
from semikpca.workflow import (
    AuditedNumbers,
    AuditedTable,
    FilledTable,
    LabelingOptions,
    kernel_names,
    label_table,
    number_table,
    printable,
    with_page_labels,
)
from semikpca.workflow import Progress as Say

TAB = "\t"

FileArgument = Annotated[
    Path,
    typer.Argument(
        help="The table: CSV, TSV, Excel (.xlsx), Parquet, JSON lines (.jsonl), or embeddings in .npy or .npz; - reads "
        "standard input.",
        show_default=False,
    ),
]
_LABEL_COLUMN = "The column with the labels; rows in which it is empty are unlabeled."
IdColumn = Annotated[str | None, typer.Option(help="A column that names the rows; nothing is learned from it.")]
Exclude = Annotated[
    list[str] | None, typer.Option(help="A column to learn nothing from; give the option once for each.")
]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="A column to learn from though it looks like an identifier, or like labels of an earlier run."),
]
TextColumns = Annotated[
    list[str] | None, typer.Option(help="A column to be taken as free text, whatever it looks like; once for each.")
]
CategoryColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--category-column", help="A column to be taken as categories, though its cells are numbers or texts."
    ),
]
AsTyped = Annotated[
    bool,
    typer.Option(
        "--keep-labels-as-typed",
        help="Take each different text in the label column as a class: also 'Spam' beside 'spam', 'n/a', and any "
        "number of dates.",
    ),
]
AsNumbers = Annotated[
    bool,
    typer.Option(
        "--numbers",
        help="Take the label column as numbers, such as prices, to be predicted by their size; by default a column of "
        "many different numbers is.",
    ),
]
AsClasses = Annotated[
    bool, typer.Option("--classes", help="Take the label column as classes, also where it has many different numbers.")
]
Coverage = Annotated[
    float | None,
    typer.Option(
        help="With numbers: the share of them that is to be in the interval from low to high, 0.9 by default."
    ),
]
TextEncoderName = Annotated[
    str,
    typer.Option(
        "--text-encoder",
        help="What reads free text: static (by its meaning, English), ngrams (by its letters), or a model of model2vec "
        "or sentence-transformers on this computer, by name or folder. auto is static where it is installed.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What separates the cells of a text file, such as ';' or tab; found in the file.",
        callback=lambda given: TAB if given in ("\\t", "tab") else given,
    ),
]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file, such as cp1252; UTF-8 by default.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel file, by name or number; the first by default.")]
HeaderRow = Annotated[
    int | None, typer.Option(min=1, help="Row of an Excel sheet with the column names; found by default.")
]
LabelsFile = Annotated[
    Path | None, typer.Option(help="A table with as many rows, for embeddings that come without labels.")
]
EmbeddingsFile = Annotated[
    Path | None,
    typer.Option(
        help="Vectors of the rows, to learn from as well: .npy (in the order of the rows), .npz or Parquet with a "
        "column of lists (by the id column, if they have it too)."
    ),
]
_KERNELS = ", ".join(kernel_names(installed=False))
Kernel = Annotated[
    str | None,
    typer.Option(help=f"For experts: {_KERNELS}, or several with commas; by default, many are tried and blended."),
]
Removed = Annotated[
    int | None,
    typer.Option("--n-components-removed", "-k", help="For experts: components that are removed; 1 by default."),
]
_ERROR_WEIGHT = "For experts: error weight as a share of its bound, between 0 and 1; the paper's middle by default."
PageLabelsToo = Annotated[
    bool,
    typer.Option(
        "--with-page-labels",
        help="Take the labels that the labeling page (semikpca app) keeps for this table, before those in it.",
    ),
]
RawCells = Annotated[
    bool, typer.Option("--raw-cells", help="Take cells as they are: no apostrophe before what a spreadsheet would run.")
]
LabelsOnly = Annotated[
    bool, typer.Option("--labels-only", help="Write the labels alone, by the id column or the number of the row.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist already.")]


@dataclass(frozen=True)
class Question:
    """A table, what was said about its columns, and what experts set: the options that commands on a table share."""

    file: FileArgument
    label_column: Annotated[str, typer.Option("--label-column", "-l", help=_LABEL_COLUMN, show_default=False)]
    id_column: IdColumn = None
    exclude: Exclude = None
    keep: Keep = None
    text_column: TextColumns = None
    category_column: CategoryColumns = None
    keep_labels_as_typed: AsTyped = False
    numbers: AsNumbers = False
    classes: AsClasses = False
    text_encoder: TextEncoderName = AUTO
    delimiter: Delimiter = None
    encoding: Encoding = None
    sheet: Sheet = None
    header_row: HeaderRow = None
    raw_cells: RawCells = False
    labels: LabelsFile = None
    embeddings: EmbeddingsFile = None
    with_page_labels: PageLabelsToo = False
    kernel: Kernel = None
    n_components_removed: Removed = None
    error_weight: Annotated[float | None, typer.Option(help=_ERROR_WEIGHT)] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn at random.")] = 0

    @property
    def options(self) -> LabelingOptions:
        """The settings of the classifier; ValueError for what no fit could use."""
        return LabelingOptions(self.kernel, self.n_components_removed, self.error_weight, self.seed)

    @property
    def files(self) -> tuple[Path | None, ...]:
        """What is read, and never written over."""
        return self.file, self.labels, self.embeddings

    def roles(self, table: Table) -> ColumnRoles:
        """Return the roles of the columns; several names with commas do where no column has that name itself."""
        given = (self.text_column, self.exclude, self.keep, self.category_column)
        text, exclude, keep, category = (_single_names(names, table) for names in given)
        as_typed, encoder = self.keep_labels_as_typed, self.text_encoder
        labels_as = kind_of_labels(numbers=self.numbers, classes=self.classes)
        return ColumnRoles(
            self.label_column, self.id_column, text, exclude, as_typed, encoder, keep, category, labels_as
        )

    def read(self, say: Say) -> tuple[Table, ColumnRoles]:
        """Return the table and the roles of its columns; they say so where the labels are numbers."""
        say("Reading the table", 0, 1)
        how = {"delimiter": self.delimiter, "encoding": self.encoding, "raw_cells": self.raw_cells}
        where = {"sheet": self.sheet, "header_row": self.header_row}
        beside = {"labels": self.labels, "embeddings": self.embeddings, "id_column": self.id_column}
        table = read_given(self.file, **how, **where, **beside)
        roles = self.roles(table)
        table, notes = with_page_labels(table, roles, take=self.with_page_labels)
        say("Reading the table", 1, 1)
        tell(notes)
        tell(label_warnings(table, roles))  # before the work, in which these labels are learned from
        return table, replace(roles, labels_as=NUMBERS) if label_kind(table, roles).is_number else roles

    def filled(self, options: LabelingOptions, say: Say) -> FilledTable:
        """Return the table with labels or numbers for all rows."""
        table, roles = self.read(say)
        fill = number_table if roles.labels_as == NUMBERS else label_table
        return fill(table, roles, options, progress=say)

    def command(self, name: str) -> str:
        """Return what to type to ask another command about the same table."""
        words = ["semikpca", name, str(self.file), "--label-column", self.label_column]
        words += [] if self.id_column is None else ["--id-column", self.id_column]
        several = (
            ("--exclude", self.exclude),
            ("--keep", self.keep),
            ("--text-column", self.text_column),
            ("--category-column", self.category_column),
        )
        for option, values in several:
            words += [word for value in values or () for word in (option, value)]
        words += ["--keep-labels-as-typed"] if self.keep_labels_as_typed else []
        words += ["--numbers"] if self.numbers else ["--classes"] if self.classes else []
        delimiter = "tab" if self.delimiter == TAB else self.delimiter
        read_by: dict[str, Any] = {"--delimiter": delimiter, "--encoding": self.encoding, "--sheet": self.sheet}
        read_by |= {"--header-row": self.header_row, "--labels": self.labels, "--embeddings": self.embeddings}
        for option, value in read_by.items():
            words += [] if value is None else [option, str(value)]
        words += ["--raw-cells"] if self.raw_cells else []
        words += ["--with-page-labels"] if self.with_page_labels else []
        words += [] if self.text_encoder == AUTO else ["--text-encoder", self.text_encoder]
        return shlex.join(words)


def kind_of_labels(*, numbers: bool, classes: bool) -> str:
    """Return what the labels are to be taken for, by two options of which one can be given."""
    if numbers and classes:
        raise ValueError("--numbers and --classes contradict each other. Leave out one of them.")
    return NUMBERS if numbers else CLASSES if classes else AUTO_KIND


def about_a_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a question, which it takes as its first argument, around those of its own."""
    shared = signature(Question).parameters
    _, *own = signature(command).parameters.values()
    file, label_column, *others = shared.values()

    @wraps(command)
    def run(**given: Any) -> None:
        command(Question(**{name: given.pop(name) for name in shared}), **given)

    options = (file, label_column, *own, *others)
    vars(run)["__signature__"] = Signature([option.replace(kind=Parameter.KEYWORD_ONLY) for option in options])
    return run


def checked_coverage(given: float) -> float:
    """Return a share of numbers that are to be in their intervals, or refuse what is none."""
    if not 0 < given < 1:
        hint = f" For {given:g}% write {given / 100:g}." if 1 < given < 100 else ""
        raise ValueError(f"--coverage must lie between 0 and 1, got {given:g}.{hint}")
    return given


def _single_names(given: Iterable[str] | None, table: Table) -> tuple[str, ...]:
    names: list[str] = []
    for name in given or ():
        parts = [part.strip() for part in name.split(",")]
        names += parts if name not in table.features.columns and set(parts) <= set(table.features.columns) else [name]
    return tuple(names)


def default_output(file: Path, word: str) -> Path:
    """Return a name beside a file; embeddings have no place for labels, so that they get a CSV file."""
    if file == PIPE:
        return PIPE
    suffix = ".csv" if file.suffix.lower() in (".npy", ".npz") else file.suffix
    return file.with_name(f"{file.stem}.{word}{suffix}")


def check_outputs(
    written: dict[str, Path | None], read: Iterable[Path | None], *, force: bool, folder: bool = False
) -> None:
    """Refuse files that cannot or must not be written, before any work is done; ``force`` replaces all but those read.

    Files go by the options that name them; "-o" and "OUT" are tables, which are folders on a cluster.
    """
    seen: dict[Path, str] = {}
    for option, path in written.items():
        if path is None or (path == PIPE and option == "-o" and not folder):
            continue
        if path == PIPE:
            raise ValueError(f"{option} - would be standard output, where only the table of labels goes. Name a file.")
        place = _true_place(path)
        if place in seen:
            raise ValueError(f"{option} and {seen[place]} both name {path}. Give each a file of its own.")
        seen[place] = option
        if path.is_dir() and not folder:
            raise ValueError(f"{option} names {path}, which is a folder. Name a file in it.")
        if any(other is not None and place in (true := _true_place(other), *true.parents) for other in read):
            raise ValueError(f"{option} names {path}, which is read: it is never written over. Choose another name.")
        if not path.parent.is_dir():
            raise ValueError(f"{option} names {path}, and there is no folder {path.parent}. Make it first.")
        if option in ("-o", "OUT") and not folder:
            check_output(path)
        if os.path.lexists(path) and not force:
            raise ValueError(f"{path} exists already. Add --force to replace it, or choose another name with {option}.")
        if not os.access(path.parent, os.W_OK):
            raise ValueError(f"{option} names {path}, and the folder {path.parent} may not be written to.")


def _true_place(path: Path) -> Path:
    # Not Path.resolve, which fails for a loop of links in some versions of Python.
    return Path(os.path.realpath(path))


@contextmanager
def steps() -> Iterator[Say]:
    """Show the steps of the work with a bar each, for as long as it goes on; give the function that reports them."""
    bar = Progress(
        TextColumn("{task.description:<30}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    )
    tasks: dict[str, Any] = {}

    def say(step: str, done: int, total: int) -> None:
        if step not in tasks:
            tasks[step] = bar.add_task(step, total=None)
        # A bar that stands still looks broken: it moves back and forth until there is something to count.
        bar.update(tasks[step], completed=done, total=total if done else None)

    with bar:
        yield say


def tell(notes: Iterable[str]) -> None:
    """Print what a user should mind."""
    for note in notes:
        errors.print(f"[yellow]Note:[/] {escape(printable(note))}", soft_wrap=True, highlight=False)


def tell_rest(labeled: FilledTable | AuditedTable | AuditedNumbers, notes: Iterable[str] = ()) -> None:
    """Print the notes on a result that were not told before the work, and those on what was written."""
    told = label_warnings(labeled.table, labeled.roles)
    tell([*(note for note in labeled.warnings if note not in told), *notes])
