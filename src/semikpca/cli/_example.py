"""``semikpca example``: a table to try the commands on."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from semikpca.cli._messages import console, errors, failing_clearly
from semikpca.cli._table_options import Force, Question, check_outputs
from semikpca.datasets import make_apartments, make_support_tickets
from semikpca.tables import write_table


def example(
    out: Annotated[
        Path | None,
        typer.Argument(help="The file; its suffix says the format. tickets.csv by default, or apartments.csv."),
    ] = None,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="Apartments, of which 60 have a rent, in place of tickets.")
    ] = False,
    force: Force = False,
) -> None:
    """Write an example table to try the commands on: support tickets, or apartments.

    600 made-up tickets with text, categories, numbers, dates and empty cells, of which 40 have a category. With
    --numbers, 500 made-up apartments, of which 60 have a rent.
    """
    with failing_clearly(errors):
        out = Path("apartments.csv" if numbers else "tickets.csv") if out is None else out
        check_outputs({"OUT": out}, (), force=force)
        write_table(make_apartments() if numbers else make_support_tickets(), out)
        console.print(f"[bold]Written:[/] {escape(str(out))}", soft_wrap=True, highlight=False)
        label, name = ("rent", "apartment_id") if numbers else ("category", "ticket_id")
        next_command = Question(out, label, name).command("label")
        console.print(f"Now try: {escape(next_command)}", soft_wrap=True, highlight=False)
