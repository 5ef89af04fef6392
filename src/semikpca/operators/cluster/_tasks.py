"""What a worker of a cluster does with chunks of rows; nothing here knows of graphs.

Every task uses one thread: a worker has as many tasks at a time as it has threads, and those that Dask starts hold BLAS
to one as well (OMP_NUM_THREADS). Kernel values are computed by ``products/_blocked.py``, or by ``products/_torch.py``
where the worker sees a GPU, from the one formula of each kernel.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
from distributed.protocol.pickle import dumps, loads

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import one_thread
from semikpca.kernels import Kernel, tiles_of
from semikpca.operators import products

_DEVICE = "cuda"


@dataclass(frozen=True)
class Sent:
    """What every worker is sent for a computation."""

    content: bytes  # the fitted kernel, pickled: see ``loaded``
    block: FloatArray  # numbers that go with all rows of the cluster, or rows to compare them with
    bounds: IntArray  # where the chunks of rows begin, and n
    dtype: Any  # what kernel values are computed in

    @classmethod
    def of(cls, kernel: Kernel, block: FloatArray, bounds: IntArray, dtype: Any) -> "Sent":
        """Return it with the kernel pickled."""
        return cls(dumps(kernel), block, bounds, dtype)

    @property
    def kernel(self) -> Kernel:
        """The kernel, made of its bytes where it is used."""
        return cast(Kernel, loaded(self.content))

    def part(self, chunk: int) -> FloatArray:
        """Return the numbers that go with the rows of a chunk."""
        return self.block[self.bounds[chunk] : self.bounds[chunk + 1]]


@lru_cache(maxsize=8)
def loaded(content: bytes) -> Any:
    """Return an object from its bytes, or say that this worker cannot make it.

    Objects in a graph, or scattered ones, are made before any task runs, and a worker that fails there does nothing
    more, and says nothing to the client. Bytes that a task makes an object of end in an error of the task.
    """
    try:
        return loads(content)
    except ImportError as error:
        raise ImportError(
            f"A worker cannot load what a fit sends it: {error}. Install that module where the workers run, or send it "
            "with client.upload_file."
        ) from error


def one_threaded(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function answers on this thread alone."""
    with one_thread():
        return function(*arguments)


def pair_product(A: FloatArray, B: FloatArray, sent: Sent, i: int, j: int) -> tuple[FloatArray, FloatArray | None]:
    """Return K(A, B) @ V_j and K(A, B)ᵀ @ V_i for chunks i and j; where they are the same chunk, once is enough."""
    kernel, dtype, right, left = sent.kernel, sent.dtype, sent.part(j), sent.part(i)
    with one_thread():
        if sees_gpu():
            first = _gpu_product(kernel, A, B, right, dtype)
            return first, None if i == j else _gpu_product(kernel, B, A, left, dtype)
        if i == j:
            return products.symmetric_product(tiles_of(kernel, A, A, dtype), len(A), right, dtype), None
        return products.two_sided_product(tiles_of(kernel, A, B, dtype), (len(A), len(B)), right, left, dtype)


def cross_product(new_rows: FloatArray, rows: FloatArray, sent: Sent, chunk: int) -> FloatArray:
    """Return K(new_rows, rows) @ V_chunk."""
    with one_thread():
        if sees_gpu():
            dtype = np.result_type(new_rows, rows)
            return _gpu_product(sent.kernel, new_rows, rows, sent.part(chunk), dtype)
        return np.asarray(products.cross_product(sent.kernel, new_rows, rows, sent.part(chunk)))


def columns_at(rows: FloatArray, sent: Sent) -> FloatArray:
    """Return the kernel values between rows and those that were sent."""
    with one_thread():
        return sent.kernel.pairwise(rows, sent.block)


def expanded(rows: FloatArray, sent: Sent) -> FloatArray:
    """Return Σ c_i k(x, x_i) for each row, over rows x_i that were sent with their coefficients beside them."""
    n_features = rows.shape[1]
    with one_thread():
        return np.asarray(
            products.cross_product(sent.kernel, rows, sent.block[:, :n_features], sent.block[:, n_features:])
        )


def diagonal(rows: FloatArray, sent: Sent) -> FloatArray:
    """Return k(x, x) for each row, and beside it how far a product is off on this worker: shape (n_rows, 2)."""
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        values = sent.kernel.diag(rows)
        error = _gpu_error(sent.kernel, rows, sent.dtype) if sees_gpu() else 0.0
    return np.column_stack([values, np.full(len(rows), error, dtype=values.dtype)])


def sum_of_sides(pairs: list[tuple[FloatArray, FloatArray | None]], sides: list[int]) -> FloatArray:
    """Return the sum over products of pairs, of one side of each."""
    return summed([pair[side] for pair, side in zip(pairs, sides, strict=True)])


def summed(parts: list[Any]) -> FloatArray:
    """Return the sum, as a new array."""
    total: FloatArray = np.array(parts[0])
    for part in parts[1:]:
        total += part
    return total


# -- a GPU, where the worker sees one ----------------------------------------------------------------------------


@lru_cache(maxsize=1)
def sees_gpu() -> bool:
    """Return whether this process can compute on a GPU; torch is only imported where there seems to be one."""
    if find_spec("torch") is None or not (os.path.exists("/dev/nvidiactl") or shutil.which("nvidia-smi")):
        return False
    import torch

    return bool(torch.cuda.is_available())


def _gpu_product(kernel: Kernel, A: FloatArray, B: FloatArray, block: FloatArray, dtype: Any) -> FloatArray:
    """Return K(A, B) @ block with kernel values in float32 or float64, in the type of the block."""
    from semikpca.operators.products._torch import torch_cross_product

    rows, columns, coefficients = (_on_gpu(array, dtype) for array in (A, B, block))
    product = torch_cross_product(kernel, rows, columns, coefficients, np.dtype(dtype).name)
    return np.asarray(product.cpu().numpy().astype(np.result_type(block, dtype), copy=False))


def _gpu_error(kernel: Kernel, rows: FloatArray, dtype: Any) -> float:
    from semikpca.operators.products._torch import prepare_product

    return prepare_product(kernel, _on_gpu(rows, dtype), np.dtype(dtype).name)[1]


def _on_gpu(array: FloatArray, dtype: Any) -> Any:
    import torch

    return torch.as_tensor(np.array(array, dtype=dtype), device=_DEVICE)
