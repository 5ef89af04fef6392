"""How the command starts: by its own name or as a module, with and without the packages that it needs."""

import runpy
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from semikpca import __version__
from semikpca.cli import INTERRUPTED, stopping_at_once
from semikpca.cli._app import app

AS_A_MODULE = [sys.executable, "-m", "semikpca"]
A_START = 60  # seconds; far more than it takes, so that a command that hangs fails

WITHOUT_A_PACKAGE = """
import runpy, sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, NotInstalled())
{start}
"""
STARTS = {
    "the command": "from semikpca.cli import main; main()",
    "the module": "runpy.run_module('semikpca', run_name='__main__')",
}


def outcome(*command):
    """Return the finished process of a command."""
    return subprocess.run(command, capture_output=True, text=True, timeout=A_START, check=False)


def test_the_version_is_printed():
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"semikpca {__version__}\n"


@pytest.mark.parametrize("command", ["label", "predict", "audit", "suggest", "app"])
def test_the_help_says_what_happens_by_default(command):
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "by itself" not in " ".join(result.stdout.split())


@pytest.mark.slow  # a process is started
def test_the_module_prints_the_version():
    result = outcome(*AS_A_MODULE, "--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"semikpca {__version__}\n", "")


@pytest.mark.slow  # a process is started
def test_the_module_runs_commands_and_calls_itself_what_was_typed():
    result = outcome(*AS_A_MODULE, "example", "--help")
    assert result.returncode == 0, result.stderr
    assert "python -m semikpca example" in result.stdout
    assert "support tickets" in result.stdout


@pytest.mark.slow  # a process is started
def test_the_module_ends_with_the_code_of_the_command():
    result = outcome(*AS_A_MODULE, "predict", "no-such.model", "no-such-table.csv")
    assert result.returncode == 1
    assert "no-such" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow  # processes are started
@pytest.mark.parametrize("command", ["label", "app"])
@pytest.mark.parametrize("pause", [0.05, 0.1, 0.3, 1.0])
def test_an_early_ctrl_c_ends_a_command_without_a_traceback(command, pause, tmp_path):
    """While packages are loaded; what comes before ``main`` is Python's own start."""
    (tmp_path / "t.csv").write_text("size,kind\n1,a\n2,b\n3,\n")
    start = "import sys, semikpca.cli as cli; print('started', flush=True); cli.main()"
    process = subprocess.Popen(
        [sys.executable, "-c", start, command, "t.csv", "-l", "kind"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "started\n"
    time.sleep(pause)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=A_START)
    assert "Traceback" not in messages
    assert process.returncode == INTERRUPTED


def test_loading_a_command_leaves_ctrl_c_as_it_was():
    before = signal.getsignal(signal.SIGINT)
    with stopping_at_once():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_importing_the_module_runs_nothing(monkeypatch):
    """A spawned worker process imports the file that was run; it must not run the command once more."""
    monkeypatch.setattr(sys, "argv", ["semikpca", "--version"])
    runpy.run_module("semikpca", run_name="__mp_main__")


@pytest.mark.slow  # a process is started
@pytest.mark.parametrize("package", ["typer", "rich"])
@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_without_a_package_that_it_needs_the_command_says_what_to_install(start, package):
    result = outcome(sys.executable, "-c", WITHOUT_A_PACKAGE.format(package=package, start=start))
    assert result.returncode == 1
    assert f"needs the package {package}, which is not installed" in result.stderr
    assert "pip install 'semikpca[paper]'" in result.stderr
    assert "Traceback" not in result.stderr
