"""The command line: ``semikpca label``, ``semikpca app``, ``semikpca paper`` and more. Only this package prints."""

import sys


def main() -> None:
    """Run the command line, or say what is missing for it."""
    try:
        from semikpca.cli._app import app
        from semikpca.cli._messages import INTERRUPTED
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(
            f"The semikpca command needs the package {error.name}, which is not installed. Install it with: "
            "pip install 'semikpca[label]' for tables, pip install 'semikpca[app]' for the page as well, or "
            "pip install 'semikpca[paper]' for the paper and the benchmarks.",
            file=sys.stderr,
        )
        raise SystemExit(1) from error
    try:
        app()
    except KeyboardInterrupt:  # while a command was being loaded
        raise SystemExit(INTERRUPTED) from None
