"""The application: one file a command, put together here."""

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from semikpca import __version__
from semikpca.cli import stopping_at_once


class _Command(NamedTuple):
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
    "example": _Command(
        "_example", "label", "Write an example table to try the commands on: support tickets, or apartments."
    ),
    "paper": _Command("_paper", "paper", "Reproduce the paper's tables and figures, beside the printed numbers."),
}

# Commands of distributions that stand beside this one in its repository, and how to get them.
ELSEWHERE = {
    "bench": "semikpca bench is a distribution of its own, semikpca-benchmarks, which is not installed. Install it "
    "with: pip install ./benchmarks in a checkout, or pip install semikpca-benchmarks"
}


def _added() -> dict[str, EntryPoint]:
    """Return the commands that other installed distributions add, by name; none takes the place of one from here."""
    return {point.name: point for point in entry_points(group="semikpca.commands") if point.name not in COMMANDS}


class _Commands(TyperGroup):
    """Commands that are loaded when they are run: none waits for, or fails without, the packages of another.

    Which ones other distributions add is only looked up for the list and for a name that is none of ours.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names that the help shows."""
        return [*super().list_commands(ctx), *_added()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return what stands for a command in the list, or None where there is no such command."""
        if cmd_name in COMMANDS:
            return super().get_command(ctx, cmd_name)
        added = _added().get(cmd_name)
        if added is None and cmd_name not in ELSEWHERE:
            return None
        # Not the help of the command itself, for which it would have to be loaded.
        summary = "" if added is None or added.dist is None else str(added.dist.metadata["Summary"])
        return _runnable(cmd_name, lambda: None, help=summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments begin with."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else _loaded(name), rest


def _loaded(name: str) -> Any:
    try:
        with stopping_at_once():
            return _runnable(name, _found(name))
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "semikpca":
            raise
        remedy = f"pip install 'semikpca[{COMMANDS[name].extra}]'" if name in COMMANDS else f"pip install {error.name}"
        typer.echo(
            f"semikpca {name} needs the package {error.name}, which is not installed. Install it with: {remedy}",
            err=True,
        )
        raise typer.Exit(1) from error


def _found(name: str) -> Any:
    """Return the function or the group of functions that a command is."""
    if name in COMMANDS:
        return getattr(import_module(f"semikpca.cli.{COMMANDS[name].module}"), name)
    added = _added().get(name)
    if added is None:
        typer.echo(ELSEWHERE[name], err=True)
        raise typer.Exit(1)
    return added.load()


def _runnable(name: str, found: Any, **options: Any) -> Any:
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    alone = typer.Typer(add_completion=False)
    alone.command(name, **options)(found)
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
