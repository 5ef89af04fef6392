"""The application: one file a command, put together here."""

from typing import Annotated

import typer

from semikpca import __version__
from semikpca.cli._bench import bench
from semikpca.cli._paper import paper

app = typer.Typer(
    help="Labels for the rest of your rows: convex, certified semi-supervised learning with kernels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(paper)
app.add_typer(bench, name="bench")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"semikpca {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""
