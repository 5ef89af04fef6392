"""``semikpca example``: a table to try the commands on."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from semikpca.cli._messages import console, errors, failing_clearly
from semikpca.cli._table_options import Force, Question, check_outputs
from semikpca.datasets import make_support_tickets
from semikpca.tables import write_table


def example(
    out: Annotated[Path, typer.Argument(help="The file; its suffix says the format.")] = Path("tickets.csv"),
    force: Force = False,
) -> None:
    """Write an example table to try the commands on: support tickets.

    600 made-up tickets with text, categories, numbers, dates and empty cells, of which 40 have a category.
    """
    with failing_clearly(errors):
        check_outputs({"OUT": out}, (), force=force)
        write_table(make_support_tickets(), out)
        console.print(f"[bold]Written:[/] {escape(str(out))}", soft_wrap=True, highlight=False)
        next_command = Question(out, "category", "ticket_id").command("label")
        console.print(f"Now try: {escape(next_command)}", soft_wrap=True, highlight=False)
