"""What kernels that are made of another kernel have in common."""

from semikpca._typing import Rows
from semikpca.kernels._base import InputKind, Kernel
from semikpca.kernels._shorthand import KernelLike, as_kernel


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
