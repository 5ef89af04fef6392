"""Which kernels there are: those of the package, and those that others have written."""

import inspect
from typing import Any

from semikpca.kernels._base import Kernel


def kernel_classes() -> dict[str, type[Kernel]]:
    """Return every kernel class that was defined so far, by its name; abstract ones are none.

    A kernel of the package keeps its name, whoever takes it too.
    """
    found: dict[str, type[Kernel]] = {}
    pending: list[Any] = [Kernel]
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        own = kind.__module__.startswith("semikpca.")
        if not inspect.isabstract(kind) and (own or kind.__name__ not in found):
            found[kind.__name__] = kind
    return found
