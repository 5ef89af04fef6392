"""Kernels by name: who is known, whose name is refused, and what installed distributions bring."""

import importlib.metadata
import sys
import types
from importlib.metadata import EntryPoint

import pytest

import semikpca.kernels
from semikpca.kernels import RBF, Kernel, Linear, Normalized, ProductKernel, as_kernel, kernel_classes, shorthands
from semikpca.kernels import _registry as registry

OWN = "an_outside_module"


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """Know the kernels of the package and none of other tests; look for installed ones anew."""
    own = {name: known for name, known in registry._classes.items() if known.__module__.startswith("semikpca.")}
    monkeypatch.setattr(registry, "_classes", own)
    registry._load_installed.cache_clear()
    yield
    registry._load_installed.cache_clear()


def define(name, base=RBF, module=OWN, **attributes):
    """Make a class as the body of a module would."""
    return types.new_class(name, (base,), {}, lambda body: body.update(__module__=module, **attributes))


def install(monkeypatch, **values):
    """Let installed distributions bring entry points, by their names."""
    found = [EntryPoint(name, value, registry.ENTRY_POINTS) for name, value in values.items()]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: found if group == found[0].group else [])


# -- who is known ----------------------------------------------------------------------------------------------------


def test_every_public_kernel_is_known_by_its_name():
    exported = {getattr(semikpca.kernels, name) for name in semikpca.kernels.__all__}
    public = {item for item in exported if isinstance(item, type) and issubclass(item, Kernel)}
    known = kernel_classes()
    assert all(known[kernel.__name__] is kernel for kernel in public - {Kernel, ProductKernel})


def test_the_shorthands_of_the_package():
    wanted = {"rbf", "laplacian", "poly", "linear", "cosine", "graph", "precomputed"}
    assert wanted <= set(shorthands())
    assert all(shorthands()[name].shorthand == name for name in wanted)


def test_what_cannot_be_made_is_not_listed():
    define("HalfDone", ProductKernel)
    assert not {"Kernel", "ProductKernel", "WrappedKernel", "HalfDone"} & set(kernel_classes())


def test_a_kernel_from_outside_is_known_as_soon_as_it_is_defined():
    mine = define("Mine", shorthand="mine")
    assert kernel_classes()["Mine"] is mine
    assert type(as_kernel("mine")) is mine
    assert type(Normalized("mine").fit([[0.0], [1.0], [3.0]]).kernel_) is mine


def test_a_private_kernel_and_one_inside_a_function_are_left_out():
    class Local(RBF):
        shorthand = "local"

    define("_Helper", shorthand="helper")
    assert not {"Local", "_Helper"} & set(kernel_classes())
    assert not {"local", "helper"} & set(shorthands())


def test_a_shorthand_is_not_inherited():
    define("Special")
    assert type(as_kernel("rbf")) is RBF
    assert kernel_classes()["Special"].shorthand == "rbf"  # by inheritance; the name stands for RBF all the same


# -- names that are taken --------------------------------------------------------------------------------------------


def test_two_kernels_of_one_name_are_refused_and_both_places_named():
    with pytest.raises(TypeError, match=r"name 'RBF'.*semikpca\.kernels\._pairwise\.RBF.*an_outside_module\.RBF"):
        define("RBF", Linear)
    assert kernel_classes()["RBF"] is RBF


def test_two_kernels_of_one_shorthand_are_refused_and_both_places_named():
    with pytest.raises(
        TypeError, match=r"shorthand 'rbf'.*semikpca\.kernels\._pairwise\.RBF.*an_outside_module\.Other"
    ):
        define("Other", shorthand="rbf")
    assert "Other" not in kernel_classes()


def test_a_class_that_is_defined_again_takes_its_own_place():
    define("Mine", shorthand="mine")
    again = define("Mine", shorthand="mine")
    assert kernel_classes()["Mine"] is again
    assert shorthands()["mine"] is again


# -- what is installed -----------------------------------------------------------------------------------------------


def test_a_kernel_of_an_installed_distribution_is_found_when_its_name_is_asked_for(monkeypatch, tmp_path):
    (tmp_path / "brought.py").write_text(
        "from semikpca.kernels import RBF\n\n\nclass Brought(RBF):\n    shorthand = 'brought'\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "brought", raising=False)
    install(monkeypatch, Brought="brought:Brought")
    as_kernel("rbf")
    assert "brought" not in sys.modules
    assert "brought" not in shorthands(installed=False)
    assert type(as_kernel("brought")).__module__ == "brought"
    assert kernel_classes()["Brought"].__module__ == "brought"


def test_a_kernel_that_cannot_be_loaded_is_named(monkeypatch):
    install(monkeypatch, Broken="no_such_module_at_all:Broken")
    for ask in (kernel_classes, shorthands, lambda: as_kernel("broken")):
        with pytest.raises(ImportError, match=r"kernel 'Broken'.*'no_such_module_at_all:Broken'.*ModuleNotFoundError"):
            ask()
    assert type(as_kernel("rbf")) is RBF
