"""The application: one file a command, put together here."""

from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from semikpca import __version__


@dataclass(frozen=True)
class _Command:
    """A function or group of functions in a file of its own, and the extra that it needs."""

    module: str
    extra: str
    help: str  # in the list of commands


COMMANDS = {
    "label": _Command("_label", "label", "Give every row of a table a label, learned from the rows that have one."),
    "predict": _Command("_predict", "label", "Label the rows of another table with a saved model."),
    "audit": _Command("_audit", "label", "Show the given labels that look wrong, most suspicious first."),
    "suggest": _Command("_suggest", "label", "Show the rows that are worth labeling next."),
    "app": _Command(
        "_app_command",
        "app",
        "Label rows on a local page: click, and predictions, confidence and accuracy follow at once.",
    ),
    "example": _Command("_example", "label", "Write an example table to try the commands on: support tickets."),
    "paper": _Command("_paper", "paper", "Reproduce the paper's tables and figures, beside the printed numbers."),
    "bench": _Command("_bench", "paper", "How the package does beside what else one can install."),
}


class _Commands(TyperGroup):
    """Commands that are loaded when they are run: none waits for, or fails without, the packages of another."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments begin with."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else _loaded(name), rest


def _loaded(name: str) -> Any:
    command = COMMANDS[name]
    try:
        found = getattr(import_module(f"semikpca.cli.{command.module}"), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "semikpca":
            raise
        typer.echo(
            f"semikpca {name} needs the package {error.name}, which is not installed. Install it with: "
            f"pip install 'semikpca[{command.extra}]'",
            err=True,
        )
        raise typer.Exit(1) from error
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    alone = typer.Typer(add_completion=False)
    alone.command(name)(found)
    return typer.main.get_command(alone)


app = typer.Typer(
    cls=_Commands,
    help="Labels for the rest of your rows: convex, certified semi-supervised learning with kernels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for _name, _command in COMMANDS.items():
    app.command(_name, help=_command.help)(lambda: None)  # its place in the list; see _Commands for the command itself


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
