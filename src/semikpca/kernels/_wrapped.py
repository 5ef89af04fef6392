"""A kernel as a parameter: what counts as one, and what kernels that are made of another one have in common."""

from collections.abc import Callable
from typing import Any, TypeAlias

from semikpca._typing import Rows
from semikpca.kernels._base import InputKind, Kernel
from semikpca.kernels._given import CallableKernel
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


class WrappedKernel(Kernel):
    """A kernel made of the one in its parameter ``kernel``, which ``fit`` leaves fitted in ``kernel_``.

    The rows are those of the kernel inside; whatever else a subclass takes over from it, it says itself.
    """

    kernel: KernelLike
    kernel_: Kernel

    @property
    def _inside(self) -> Kernel:
        return self.kernel_ if hasattr(self, "kernel_") else as_kernel(self.kernel)

    @property
    def input_kind(self) -> InputKind:
        """As the kernel inside."""
        return self._inside.input_kind

    def seen(self, rows: Rows) -> Rows:
        """As the kernel inside."""
        return self._inside.seen(rows)

    @property
    def accepts_sparse(self) -> bool:
        """As the kernel inside."""
        return self._inside.accepts_sparse
