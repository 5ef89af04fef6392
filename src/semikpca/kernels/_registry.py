"""Kernels by name: the classes for files, the shorthands for ``as_kernel`` and for the command line.

A kernel registers itself when its class is made. Those of other distributions are found by the entry points of the
group ``semikpca.kernels``, which are loaded when they are needed and not before.
"""

from functools import cache
from inspect import isabstract
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semikpca.kernels._base import Kernel

ENTRY_POINTS = "semikpca.kernels"

_classes: "dict[str, type[Kernel]]" = {}


def register(kernel_class: "type[Kernel]") -> None:
    """Make a kernel known by the name of its class, unless that begins with "_" or belongs to a function.

    A class inside a function cannot be found by its name, hence no other process could load what was saved of it.
    """
    name = kernel_class.__name__
    if name.startswith("_") or "<locals>" in kernel_class.__qualname__:
        return
    shorthand = vars(kernel_class).get("shorthand")
    for known in _classes.values():
        if _place(known) == _place(kernel_class):
            continue  # the same class, made again
        taken = {"name": known.__name__, "shorthand": vars(known).get("shorthand")}
        for what, value in (("name", name), ("shorthand", shorthand)):
            if value is not None and value == taken[what]:
                raise TypeError(
                    f"Two kernels have the {what} {value!r}: {_place(known)} and {_place(kernel_class)}. Give one of "
                    f'them another {what}; a class whose name begins with "_" is not made known.'
                )
    _classes[name] = kernel_class


def kernel_classes() -> "dict[str, type[Kernel]]":
    """Return all kernels that this process knows, and those of installed distributions, by the names of their classes.

    Examples
    --------
    >>> kernel_classes()["RBF"]
    <class 'semikpca.kernels._pairwise.RBF'>
    """
    _load_installed()
    return {name: known for name, known in sorted(_classes.items()) if not isabstract(known)}


def shorthands(*, installed: bool = True) -> "dict[str, type[Kernel]]":
    """Return the kernels that have a shorthand, by it; with ``installed`` also those of other distributions.

    Examples
    --------
    >>> shorthands()["rbf"]
    <class 'semikpca.kernels._pairwise.RBF'>
    """
    if installed:
        _load_installed()
    # A shorthand is the class's own: what derives from RBF is another kernel.
    own = {vars(known).get("shorthand"): known for known in _classes.values()}
    return {name: known for name, known in own.items() if name is not None}


@cache
def _load_installed() -> None:
    """Import the kernels of other distributions, which register themselves."""
    from importlib.metadata import entry_points  # some ten milliseconds that most imports of the package can do without

    for entry in entry_points(group=ENTRY_POINTS):
        try:
            entry.load()
        except Exception as error:  # whatever a foreign module raises while it is imported
            origin = f" of {entry.dist.name}" if entry.dist is not None else ""
            raise ImportError(
                f"The kernel {entry.name!r}{origin} cannot be loaded from {entry.value!r} ({type(error).__name__}: "
                f"{error}). Repair or uninstall that distribution."
            ) from error


def _place(kernel_class: type) -> str:
    return f"{kernel_class.__module__}.{kernel_class.__qualname__}"
