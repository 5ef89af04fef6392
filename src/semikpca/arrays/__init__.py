"""Arrays of several libraries, rows of any collection, and threads: what all layers above stand on."""

from semikpca.arrays._namespace import (
    device_of,
    is_lazy,
    is_remote,
    is_tensor,
    length,
    like,
    namespace,
    on_device,
    on_host,
    taken,
    to_numpy,
)
from semikpca.arrays._threads import OwnMemory, allowed_threads, in_threads, one_blas_thread, one_thread, slices

__all__ = [
    "OwnMemory",
    "allowed_threads",
    "device_of",
    "in_threads",
    "is_lazy",
    "is_remote",
    "is_tensor",
    "length",
    "like",
    "namespace",
    "on_device",
    "on_host",
    "one_blas_thread",
    "one_thread",
    "slices",
    "taken",
    "to_numpy",
]
