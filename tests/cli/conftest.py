"""What the tests of the commands on tables share."""

import pytest
from typer.testing import CliRunner

from semikpca.cli._app import app
from small_tables import make_plants


@pytest.fixture
def semikpca(monkeypatch, tmp_path):
    """A function that runs a command in an empty folder, as a user would; it never shows a traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments, piped=None):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=piped)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def plants(tmp_path):
    """``plants.csv`` in that folder, and the kind of each row."""
    frame, names = make_plants()
    frame.to_csv(tmp_path / "plants.csv", index=False)
    return names
