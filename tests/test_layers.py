"""What a package may import of another: its public names, and never a module whose name begins with an underscore.

import-linter has no contract for that. The layers themselves, and who may import Dask and torch, are contracts in
pyproject.toml.
"""

import ast
from pathlib import Path

import pytest

import semikpca

SOURCE = Path(semikpca.__file__).parent

# "importing module: private module" for those that are still there. The list may only become shorter.
KNOWN = """
"""


# Functions that import by a string.
IMPORTING = {"import_module", "__import__", "find_spec"}


def package_of(module):
    """Return the package of the root that a module belongs to: semikpca.x for semikpca.x.y._z."""
    return ".".join(module.split(".")[:2])


def private_module(name):
    """Return a dotted name up to its first private part, or None where all of it is public or of another project.

    The files of the root that begin with an underscore (_typing, _numbers, _files) are for all packages.
    """
    parts = name.split(".")
    private = [number for number, part in enumerate(parts) if number >= 2 and part.startswith("_")]
    return ".".join(parts[: private[0] + 1]) if private and parts[0] == "semikpca" else None


def imported(tree):
    """Give the dotted names of all that a module imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in IMPORTING:
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            yield from (str(argument.value) for argument in arguments if isinstance(argument, ast.Constant))


def offences(module, source):
    """Return "module: private module" for each private module of another package that a source imports."""
    found = {private_module(name) for name in imported(ast.parse(source))} - {None}
    return {f"{module}: {name}" for name in found if package_of(name) != package_of(module)}


def all_offences():
    found = set()
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(["semikpca", *path.relative_to(SOURCE).with_suffix("").parts])
        found |= offences(module, path.read_text(encoding="utf-8"))
    return sorted(found)


def test_no_package_imports_a_private_module_of_another():
    new = sorted(set(all_offences()) - set(KNOWN.split("\n")))
    assert not new, "Export what is needed in the __init__.py of its package:\n" + "\n".join(new)


def test_the_list_of_private_imports_has_no_line_that_is_no_longer_needed():
    known = KNOWN.strip("\n").split("\n") if KNOWN.strip() else []
    assert known == sorted(set(known))
    gone = sorted(set(known) - set(all_offences()))
    assert not gone, "These are gone; take them off the list:\n" + "\n".join(gone)


@pytest.mark.parametrize(
    "source",
    [
        "from semikpca.b._c import d",
        "from semikpca.b import _c",
        "import semikpca.b._c",
        "import semikpca.b._c as short",
        "def f():\n    from semikpca.b._c import d",
        "importlib.import_module('semikpca.b._c')",
        "import_module(name='semikpca.b._c')",
    ],
)
def test_every_way_to_import_a_private_module_is_seen(source):
    assert offences("semikpca.a._x", source) == {"semikpca.a._x: semikpca.b._c"}
    assert offences("semikpca.b.c._x", source) == set()


@pytest.mark.parametrize(
    "source", ["from semikpca.b import d", "from semikpca._typing import Rows", "import numpy._core"]
)
def test_public_names_and_what_is_for_all_packages_may_be_imported(source):
    assert offences("semikpca.a._x", source) == set()
