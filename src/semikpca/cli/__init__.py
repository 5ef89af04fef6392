"""The command line: ``semikpca paper``, ``semikpca bench`` and what is to come. Only this package prints."""

import sys


def main() -> None:
    """Run the command line, or say what is missing for it."""
    try:
        from semikpca.cli._app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "jinja2", "matplotlib"):
            raise
        print(
            f"The semikpca command needs the package {error.name}, which is not installed. Install it with: "
            "pip install 'semikpca[paper]'",
            file=sys.stderr,
        )
        raise SystemExit(1) from error
    app()
