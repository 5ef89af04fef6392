"""The distribution: it adds its command to those of semikpca, and uses nothing that semikpca keeps to itself."""

import ast
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

import semikpca_benchmarks

SOURCE = Path(semikpca_benchmarks.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
COMMAND = [sys.executable, "-c", "from semikpca.cli import main; main()"]


def imported_from_semikpca(path):
    """Return the dotted names of all that a file imports from semikpca."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in names if name.split(".")[0] == "semikpca"]


@pytest.mark.slow  # two processes are started
def test_bench_is_a_command_of_semikpca_where_it_is_installed():
    listed = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True).stdout
    assert "bench" in listed
    assert "How semikpca does beside what else one can install." in " ".join(listed.split())
    shown = subprocess.run([*COMMAND, "bench", "--help"], capture_output=True, text=True, check=True).stdout
    assert "accuracy" in shown
    assert "speed" in shown


def test_the_version_of_the_distribution_is_that_of_its_package():
    assert distribution("semikpca-benchmarks").version == semikpca_benchmarks.__version__


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_private_of_semikpca_is_imported(path):
    private = [name for name in imported_from_semikpca(path) if any(part.startswith("_") for part in name.split("."))]
    assert private == []


def test_some_of_semikpca_is_imported():
    assert "semikpca.experiments.RecordStore" in imported_from_semikpca(SOURCE / "cli" / "_speed.py")
