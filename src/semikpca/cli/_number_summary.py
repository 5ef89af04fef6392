"""What ``semikpca label`` says at its end where the labels are numbers."""

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from semikpca._words import counted
from semikpca.cli._label_summary import MEASURES_OF_TRUST, print_fit, print_learned_from, print_next_steps
from semikpca.cli._table_options import Question
from semikpca.workflow import NumberedTable, ValueEstimate, percent, value_ranges

_BAR = 20
_FEW = 20  # with fewer numbers left out, the figures are a hint


def print_number_summary(console: Console, numbered: NumberedTable, question: Question) -> None:
    """Print what was learned from, the numbers, how far they are off, and what to do next."""
    print_learned_from(console, numbered, question, "number")
    console.print(_distribution(numbered))
    console.print()
    _print_errors(console, numbered)
    console.print()
    print_fit(console, numbered, "They have the mean of the given numbers; give one of them a number.")
    print_next_steps(console, int(numbered.looks_wrong.sum()), question, "number")


def _distribution(numbered: NumberedTable) -> Grid:
    """Return how many given and predicted numbers are in each range between round numbers."""
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for title in ("From", "to", "Given", "Predicted", "Share"):
        grid.add_column(title, justify="right")
    grid.add_column("", no_wrap=True)
    for line in value_ranges(numbered.given[numbered.is_given], numbered.predicted):
        share = line.n_predicted / len(numbered.predicted)
        bar = "█" * round(_BAR * share) or ("▏" if line.n_predicted else "")
        counts = (f"{line.n_given:,}", f"{line.n_predicted:,}", f"{share:.0%}")
        grid.add_row(line.low, line.high, *counts, Text(bar, style="cyan"))
    return grid


def _print_errors(console: Console, numbered: NumberedTable) -> None:
    console.print("[bold]How far numbers are off when they are left out[/]")
    estimate, baseline = numbered.estimate, numbered.baseline
    if not estimate.is_known:
        line = "This cannot be told: it takes two given numbers, drawn at random, at least."
        console.print(Padding(line, (0, 0, 0, 2)), highlight=False)
        return
    grid = Grid(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    for title in ("", *MEASURES_OF_TRUST):
        grid.add_column(title, justify="right" if title else "left", no_wrap=True)
    grid.add_row("with the unlabeled rows", *_figures(numbered, estimate, "bold green"))
    if baseline.is_known:
        grid.add_row("LS-SVM on the labels alone", *_figures(numbered, baseline, ""))
    console.print(Padding(grid, (0, 0, 0, 2)))
    for line in (*_of_intervals(numbered), *_cautions(estimate, baseline)):
        console.print(Padding(line, (0, 0, 0, 2)), highlight=False)


def _figures(numbered: NumberedTable, estimate: ValueEstimate, style: str) -> tuple[Text, str, str]:
    share = estimate.share_of_variance
    return (
        Text(numbered.amount(estimate.root_mean_square), style=style),
        numbered.amount(estimate.median_absolute),
        "–" if np.isnan(share) else f"{max(share, -9.99):.0%}",
    )


def _of_intervals(numbered: NumberedTable) -> list[str]:
    wanted = percent(numbered.coverage)
    n = numbered.estimate.counted
    if not np.isfinite(numbered.reach):
        needed = int(np.ceil(numbered.coverage / (1 - numbered.coverage) - 1e-9))
        return [
            f"{counted(n, 'number is', 'numbers are')} too few for intervals with {wanted} of the numbers: that takes "
            f"{needed:,}. The columns low and high are empty."
        ]
    found = f"{numbered.n_inside} of {n} left-out numbers ({numbered.n_inside / n:.0%})"
    return [
        f"{wanted} of the numbers are expected between low and high, about {numbered.amount(numbered.reach)} to either "
        f"side; {found} are in the interval that the others make."
    ]


def _cautions(estimate: ValueEstimate, baseline: ValueEstimate) -> list[str]:
    lines = []
    if estimate.counted < _FEW:
        lines.append(
            f"{counted(estimate.counted, 'number is', 'numbers are')} few: take the figures as a hint, and give more "
            "rows a number."
        )
    if estimate.share_of_variance < 0.05:
        lines.append(
            "The mean of the given numbers is about as good: nothing in the columns tells these numbers. Check the "
            "columns, or give more rows a number."
        )
    elif baseline.is_known and baseline.root_mean_square < estimate.root_mean_square:
        lines.append("The labels alone did better here: the rows without a number did not help.")
    return lines
