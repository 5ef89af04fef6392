"""Commands that other distributions add: listed, run, or said how to get."""

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints, PathDistribution

import pytest
import typer

GROUP = "semikpca.commands"
GREETING = typer.Typer(no_args_is_help=True)


@GREETING.command()
def hello(name: str):
    """Greet somebody."""
    typer.echo(f"Hello, {name}.")


@GREETING.command()
def bye():
    """Leave."""
    raise ValueError("not yet")


def shout(loud: bool = False):
    typer.echo("HEY" if loud else "hey")


@pytest.fixture
def installed(monkeypatch):
    """A function that says which entry points are installed, for the group that it is asked for."""

    def install(*points):
        monkeypatch.setattr("semikpca.cli._app.entry_points", lambda **asked: EntryPoints(points).select(**asked))

    return install


@pytest.fixture
def greeting(monkeypatch, tmp_path):
    """The entry point of a group of commands, in a distribution with a summary."""
    monkeypatch.setitem(sys.modules, "greetings", sys.modules[__name__])
    folder = tmp_path / "greetings-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: greetings\nVersion: 1\nSummary: Words to begin with.\n"
    )
    (folder / "entry_points.txt").write_text(
        f"[{GROUP}]\ngreet = greetings:GREETING\n[other]\nwave = greetings:shout\n"
    )
    return PathDistribution(folder).entry_points


def test_an_added_command_is_listed_with_the_summary_of_its_distribution(semikpca, installed, greeting):
    installed(*greeting)
    listed = " ".join(semikpca("--help").stdout.split())
    assert "greet Words to begin with." in listed
    assert "wave" not in listed  # of another group


def test_an_added_group_is_run_as_one_of_ours(semikpca, installed, greeting):
    installed(*greeting)
    result = semikpca("greet", "hello", "Ada")
    assert (result.exit_code, result.stdout) == (0, "Hello, Ada.\n")
    assert "Leave." in semikpca("greet", "--help").stdout


def test_an_added_function_is_a_command_with_options(semikpca, installed, monkeypatch):
    monkeypatch.setitem(sys.modules, "greetings", sys.modules[__name__])
    installed(EntryPoint("shout", "greetings:shout", GROUP))
    assert semikpca("shout", "--loud").stdout == "HEY\n"
    assert "shout" in semikpca("--help").stdout  # no distribution, no summary


def test_no_distribution_takes_the_place_of_a_command_of_ours(semikpca, installed, monkeypatch):
    monkeypatch.setitem(sys.modules, "greetings", sys.modules[__name__])
    installed(EntryPoint("example", "greetings:shout", GROUP))
    assert "hey" not in semikpca("example").stdout
    assert semikpca("--help").stdout.count("│ example ") == 1


def test_a_package_that_an_added_command_lacks_is_named(semikpca, installed):
    installed(EntryPoint("greet", "no_such_package.cli:greet", GROUP))
    result = semikpca("greet")
    assert result.exit_code == 1
    assert "semikpca greet needs the package no_such_package, which is not installed" in result.stderr
    assert "pip install no_such_package" in result.stderr


def test_without_the_benchmarks_it_is_said_how_to_get_them(semikpca, installed):
    installed()
    for arguments in (["bench"], ["bench", "accuracy", "--repetitions", "2"], ["bench", "--help"]):
        result = semikpca(*arguments)
        assert result.exit_code == 1
        assert "distribution of its own" in result.stderr
        assert "pip install ./benchmarks in a checkout, or pip install semikpca-benchmarks" in result.stderr
        assert result.stdout == ""


def test_without_the_benchmarks_the_list_of_commands_does_not_name_them(semikpca, installed):
    installed()
    listed = semikpca("--help").stdout
    assert "paper" in listed
    assert "bench" not in listed


def test_a_command_that_nobody_has_is_refused(semikpca, installed):
    installed()
    result = semikpca("benhc")
    assert result.exit_code == 2
    assert "No such command 'benhc'" in result.stderr


def test_what_commands_share_is_there_when_it_is_asked_for():
    import semikpca.cli

    for name in semikpca.cli.__all__:
        assert hasattr(semikpca.cli, name), name
    with pytest.raises(AttributeError, match="no attribute 'consoles'"):
        semikpca.cli.consoles  # noqa: B018  (to ask for it is the test)


@pytest.mark.slow  # a process is started
def test_the_entry_of_the_command_line_loads_without_typer():
    script = "import sys; sys.modules['typer'] = None; import semikpca.cli; semikpca.cli.main()"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert finished.returncode == 1
    assert "needs the package typer, which is not installed" in finished.stderr
