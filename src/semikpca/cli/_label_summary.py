"""What ``semikpca label`` says at its end."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from semikpca._typing import FloatArray, IntArray
from semikpca._words import counted
from semikpca.cli._pipes import shown_name
from semikpca.cli._table_options import Question
from semikpca.labeling import AcceptedLabels
from semikpca.tables import feature_columns, kinds_in_words, text_reading
from semikpca.workflow import (
    AccuracyEstimate,
    FilledTable,
    LabeledTable,
    accepted_in_words,
    printable,
    row_names,
    shortened,
)

_WIDE = 0.2  # an interval of more than 20 points says little
_MOST_CLASSES = 15
_MOST_NAMED_ROWS = 5
_BAR = 20
# The titles of the figures that say how far predicted numbers are off.
MEASURES_OF_TRUST = ("root mean square", "median", "variance explained")
_DRAWN = (
    "This holds for labels of rows drawn at random. Labels of suggested rows, or of rows picked by hand, promise "
    "nothing: a column that tells them apart can be named with --drawn."
)
_CANNOT_BE_TOLD = (
    "This cannot be told: every class has one label, and without it the class is gone. Give each class a second label."
)


def print_summary(
    console: Console,
    labeled: LabeledTable,
    question: Question,
    accepted: AcceptedLabels | None = None,
    review: Path | None = None,
) -> None:
    """Print what was learned from, how good the labels are, which can be accepted, and what to do next."""
    print_learned_from(console, labeled, question)
    console.print(_classes(labeled))
    console.print()
    print_accuracy(console, len(labeled.acceptance.found.rows), labeled.estimate, labeled.baseline)
    console.print()
    if accepted is not None:
        _print_accepted(console, labeled, accepted, review)
    print_fit(console, labeled, "They have the commonest label, and its share as confidence; label one of them.")
    print_next_steps(console, int(labeled.looks_wrong.sum()), question)


def print_learned_from(console: Console, labeled: FilledTable, question: Question, what: str = "label") -> None:
    """Print the sizes of a table, and which of its columns matter."""
    n_given, (n_rows, n_numbers) = int(labeled.is_given.sum()), labeled.X.shape
    n_columns = len(feature_columns(labeled.table, labeled.roles))
    kinds, texts = kinds_in_words(labeled.vectorizer), text_reading(labeled.vectorizer)
    print_sizes(console, shown_name(question.file), n_rows, n_given, kinds, n_columns, n_numbers, texts, what)
    if labeled.what_matters:
        console.print(f"{escape(printable(labeled.what_matters))}\n", highlight=False)


def print_fit(console: Console, labeled: FilledTable, of_unreachable: str) -> None:
    """Print the certificate, the kernels of the blend, and rows that no label reaches."""
    _print_certificate(console, labeled)
    shares = ", ".join(f"{name} {share:.0%}" for name, share in labeled.kernel_shares.items() if share >= 0.005)
    console.print(Padding(f"{'kernels in the blend':<23}{shares}", (0, 0, 0, 2)), highlight=False)
    if labeled.unreachable.size:
        console.print()
        console.print(_unreachable(labeled, of_unreachable), highlight=False)
    console.print()


def print_sizes(
    console: Console,
    name: str,
    n_rows: int,
    n_given: int,
    kinds: dict[str, list[str]],
    n_columns: int,
    n_numbers: int,
    texts: str,
    what: str = "label",
) -> None:
    """Print how many rows and labels a table has, what was learned from, and how texts were read."""
    made_of = "; ".join(f"{kind}: {_named(names)}" for kind, names in kinds.items() if names)
    sizes = f"{n_rows:,} rows, {n_given:,} with a {what}, {n_rows - n_given:,} without"
    console.print(
        f"[bold]{escape(printable(name))}[/]: {sizes}\n"
        f"Learned from {counted(n_columns, 'column')}, made into {counted(n_numbers, 'number')} a row "
        f"({escape(made_of)}){escape(f'. {texts}' if texts else '')}\n",
        highlight=False,
    )


def _named(names: list[str], most: int = 5) -> str:
    shown = ", ".join(shortened(name, 30) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _classes(labeled: LabeledTable) -> Grid:
    classes = labeled.model.classes_.tolist()
    codes = labeled.predicted_codes
    predicted = np.bincount(codes, minlength=len(classes))
    given = np.bincount(labeled.model.label_coding_.codes[labeled.is_given], minlength=len(classes))
    sums: FloatArray = np.bincount(codes, labeled.confidence, len(classes)).astype(np.float64)
    return class_grid(classes, given, predicted, sums)


def class_grid(classes: list[Any], given: IntArray, predicted: IntArray, confidence_sums: FloatArray) -> Grid:
    """Return the classes with their counts, commonest first, and the mean of the confidences of their rows."""
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("Label")
    for title in ("Given", "Predicted", "Share"):
        grid.add_column(title, justify="right")
    grid.add_column("", no_wrap=True)
    grid.add_column("Mean confidence", justify="right")
    order = np.argsort(-predicted, kind="stable")
    for code in order[:_MOST_CLASSES]:
        share = predicted[code] / predicted.sum()
        grid.add_row(
            Text(shortened(classes[code], 40)),
            f"{given[code]:,}",
            f"{predicted[code]:,}",
            f"{share:.0%}",
            Text("█" * round(_BAR * share) or "▏", style="cyan"),
            f"{confidence_sums[code] / predicted[code]:.2f}" if predicted[code] else "–",
        )
    if len(order) > _MOST_CLASSES:
        rest = order[_MOST_CLASSES:]
        grid.add_row(f"{len(rest)} more labels", f"{given[rest].sum():,}", f"{predicted[rest].sum():,}", "", "", "")
    return grid


def print_accuracy(console: Console, n_labels: int, estimate: AccuracyEstimate, baseline: AccuracyEstimate) -> None:
    """Print how often a label is found again, with and without the unlabeled rows, and how far to trust that."""
    console.print("[bold]How often a label is found again when it is left out[/]")
    if not estimate.is_known:
        console.print(Padding(_CANNOT_BE_TOLD, (0, 0, 0, 2)), highlight=False)
        return
    grid = Grid(box=None, show_header=False, pad_edge=False, padding=(0, 2))
    for _ in range(4):
        grid.add_column(no_wrap=True)
    grid.add_row("with the unlabeled rows", *_figures(estimate, "bold green"))
    if baseline.is_known:
        grid.add_row("LS-SVM on the labels alone", *_figures(baseline, ""))
    console.print(Padding(grid, (0, 0, 0, 2)))
    for line in _cautions(n_labels, estimate, baseline):
        console.print(Padding(line, (0, 0, 0, 2)), highlight=False)


def _print_accepted(console: Console, labeled: LabeledTable, accepted: AcceptedLabels, review: Path | None) -> None:
    n_accepted, n_left = int(labeled.is_accepted(accepted).sum()), len(labeled.to_review(accepted))
    words = accepted_in_words(accepted, n_accepted)
    where = "" if review is None or not n_left else f", the other {n_left:,} are in {escape(printable(str(review)))}"
    console.print("[bold]Which labels can be accepted unseen[/]")
    lines = [f"{words}{where if n_accepted else ''}.", _DRAWN]
    for line in lines:
        console.print(Padding(line, (0, 0, 0, 2)), highlight=False)
    console.print()


def _print_certificate(console: Console, labeled: FilledTable) -> None:
    """Print the certificate with the share of what it belongs to, and first who decided where that was not it."""
    found = labeled.semi_kpca
    lines = list(filter(None, (found.in_words, found.what_would_change_that)))
    if found.is_known and found.certificate is not None and not found.decides:
        lines.append("The certificate of its heaviest use, which these labels do not rest on:")
    words = Padding("\n".join(lines), (0, 0, 0, 2))
    if lines and not found.decides:
        console.print(words, highlight=False)
    if found.certificate is not None:
        console.print(Text(str(found.certificate)), highlight=False)
    if lines and found.decides:
        console.print(words, highlight=False)


def _figures(estimate: AccuracyEstimate, style: str) -> tuple[str, Text, str]:
    return (
        f"{estimate.right} of {estimate.counted}",
        Text(f"{estimate.share:.0%}", style=style),
        f"95% interval {estimate.low:.0%} to {estimate.high:.0%}",
    )


def _cautions(n_labels: int, estimate: AccuracyEstimate, baseline: AccuracyEstimate) -> list[str]:
    lines = []
    if n_labels > estimate.counted:
        alone = counted(n_labels - estimate.counted, "label is", "labels are")
        lines.append(f"{alone} the only one of their class and cannot be left out.")
    if estimate.high - estimate.low > _WIDE:
        lines.append(
            f"The interval is wide, because {counted(estimate.counted, 'label is', 'labels are')} few: take it as a "
            "hint, and label more rows to narrow it."
        )
    if baseline.is_known and min(estimate.high, baseline.high) > max(estimate.low, baseline.low):
        lines.append("The two intervals overlap: these labels do not settle which of the two is better.")
    return lines


def _unreachable(labeled: FilledTable, of_unreachable: str) -> str:
    rows = labeled.unreachable
    named = ", ".join(row_names(labeled, rows[:_MOST_NAMED_ROWS]))
    more = f" and {len(rows) - _MOST_NAMED_ROWS:,} more" if len(rows) > _MOST_NAMED_ROWS else ""
    return f"[yellow]No label reaches {counted(len(rows), 'row')}:[/] {escape(named)}{more}. {of_unreachable}"


def print_next_steps(console: Console, n_wrong: int, question: Question, what: str = "label") -> None:
    """Print whether given labels look wrong, and the commands to go on with."""
    wrong = f"No given {what} looks wrong."
    if n_wrong:
        found = counted(n_wrong, f"given {what} looks", f"given {what}s look")
        wrong = f"[yellow]{found} wrong.[/] See which: {escape(printable(question.command('audit')))}"
    for line in (wrong, f"Rows to label next: {escape(printable(question.command('suggest')))}"):
        console.print(line, highlight=False, soft_wrap=True)
