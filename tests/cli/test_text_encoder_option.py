"""``--text-encoder`` in the commands on tables."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from semikpca.cli._app import app

ROWS = [
    (f"{words} in case {row}", label if row < 3 else "")
    for words, label in (("my order never arrived", "parcel"), ("you charged me twice", "money"))
    for row in range(30)
]


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "200"})


@pytest.fixture
def file(tmp_path):
    pd.DataFrame(ROWS, columns=["words", "topic"]).to_csv(tmp_path / "texts.csv", index=False)
    return tmp_path / "texts.csv"


def test_the_summary_says_how_text_was_read(file):
    result = run("label", file, "-l", "topic")
    assert result.exit_code == 0, result.stderr
    assert "Text was read by its meaning, with static (wordllama 0.4" in " ".join(result.stdout.split())
    result = run("label", file, "-l", "topic", "--text-encoder", "ngrams", "--force")
    assert "Text was read by its letters." in " ".join(result.stdout.split())
    # What to type next goes on with the same encoder.
    assert "--text-encoder ngrams" in result.stdout


@pytest.mark.parametrize("command", ["label", "suggest", "audit"])
def test_an_encoder_that_is_not_there_ends_the_command_with_how_to_get_it(file, command):
    result = run(command, file, "-l", "topic", "--text-encoder", "owner/model")
    assert result.exit_code == 1
    assert "fetch it with: hf download owner/model" in " ".join(result.stderr.split())
    assert not list(file.parent.glob("*.labeled.*"))


@pytest.mark.parametrize("command", ["suggest", "audit"])
def test_other_commands_read_text_the_same_way(file, command):
    result = run(command, file, "-l", "topic", "--text-encoder", "ngrams")
    assert result.exit_code == 0, result.stderr
