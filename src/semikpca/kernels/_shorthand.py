"""Names for kernels with their defaults."""

from collections.abc import Callable
from typing import Any, TypeAlias

from semikpca.kernels._base import Kernel
from semikpca.kernels._callable import CallableKernel
from semikpca.kernels._graph import NeighborGraph
from semikpca.kernels._pairwise import RBF, Cosine, Laplacian, Linear, Polynomial
from semikpca.kernels._precomputed import Precomputed

KernelLike: TypeAlias = Kernel | str | Callable[[Any, Any], Any]

SHORTHANDS: dict[str, type[Kernel]] = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "poly": Polynomial,
    "linear": Linear,
    "cosine": Cosine,
    "graph": NeighborGraph,
    "precomputed": Precomputed,
}


def as_kernel(kernel: KernelLike) -> Kernel:
    """Return the kernel object for a kernel, a shorthand, or a function of two collections or two objects.

    Examples
    --------
    >>> as_kernel("rbf")
    RBF()
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in SHORTHANDS:
        return SHORTHANDS[kernel]()
    if callable(kernel) and not isinstance(kernel, type):
        return CallableKernel(kernel)
    hint = f" Did you mean {kernel.__name__}()?" if isinstance(kernel, type) else ""
    raise ValueError(
        f"kernel must be a kernel object such as RBF(), one of {sorted(SHORTHANDS)}, or a function k(A, B); got "
        f"{kernel!r}.{hint}"
    )
