"""``semikpca bench``: how the package does beside what else one can install."""

import typer

from semikpca_benchmarks.cli._accuracy import accuracy
from semikpca_benchmarks.cli._speed import speed

bench = typer.Typer(
    help="How the package does beside what else one can install.", no_args_is_help=True, add_completion=False
)
bench.command()(accuracy)
bench.command()(speed)

__all__ = ["bench"]
