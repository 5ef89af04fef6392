"""What counts as a kernel where one is asked for."""

from collections.abc import Callable
from typing import Any, TypeAlias

from semikpca.kernels._base import Kernel
from semikpca.kernels._callable import CallableKernel
from semikpca.kernels._registry import shorthands

KernelLike: TypeAlias = Kernel | str | Callable[[Any, Any], Any]


def as_kernel(kernel: KernelLike) -> Kernel:
    """Return the kernel object for a kernel, a shorthand, or a function of two collections or two objects.

    Examples
    --------
    >>> as_kernel("rbf")
    RBF()
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        known = shorthands(installed=False)
        if kernel in known or kernel in (known := shorthands()):
            return known[kernel]()
    if callable(kernel) and not isinstance(kernel, type):
        return CallableKernel(kernel)
    hint = f" Did you mean {kernel.__name__}()?" if isinstance(kernel, type) else ""
    raise ValueError(
        f"kernel must be a kernel object such as RBF(), one of {sorted(shorthands())}, or a function k(A, B); got "
        f"{kernel!r}.{hint}"
    )
