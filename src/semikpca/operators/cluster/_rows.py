"""Rows on a Dask cluster."""

from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any, Self

import dask
import dask.array as da
import numpy as np
from distributed import Client
from distributed.protocol.pickle import dumps

from semikpca._typing import FloatArray, IntArray
from semikpca.exceptions import ClusterError
from semikpca.kernels import Kernel
from semikpca.operators.cluster._client import (
    clear_errors,
    computed,
    current_client,
    data_in_graph_is_meant,
    n_threads,
    wait_for,
)
from semikpca.operators.cluster._graphs import chunks_for, even_chunks
from semikpca.operators.cluster._lazy import lazy_rows, looked_at, of_parts
from semikpca.operators.cluster._tasks import loaded, one_threaded, summed

# Rows and bytes that may be fetched at once. Sketches of the rows need a few thousand (the median rule 4,000, landmarks
# as many as there are); more of them would be a way to gather everything on the client.
MOST_FETCHED_ROWS = 50_000
_MOST_FETCHED_BYTES = 2**28
_PROBED_ROWS = 16
# Parts that are joined at a time: few, so that few of them are in the memory of a worker.
_SPLIT_EVERY = 8


class ClusterRows:
    """Rows that the workers of a Dask cluster hold or read; the client fetches a few of them at most.

    Made by :meth:`of`. Pickled, it leaves the rows behind: :meth:`attach` gives them back.
    """

    is_remote = True
    ndim = 2
    nbytes = 0  # on the client

    def __init__(self, array: da.Array, client: Client) -> None:
        self._array: da.Array | None = array
        self._client: Client | None = client
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))
        self.dtype: np.dtype[Any] = np.dtype(array.dtype)
        self._is_held = False
        self._probe: FloatArray | None = None

    @classmethod
    def of(cls, X: Any, client: Client | None = None) -> Self:
        """Return the rows of a Dask array, a Dask data frame or a NumPy array; one pass looks at every number.

        They are floats, or other numbers, which become float64; chunks may have any shape and unknown lengths. The
        client is the current one unless given. Anything but a table of finite numbers is refused.
        """
        client = current_client(client)
        n_threads(client)
        # Once and for all: whatever is computed from now on has the same graph for the same chunk.
        (array,) = dask.optimize(lazy_rows(X))
        found = of_parts(client, looked_at, array.to_delayed(optimize_graph=False).ravel())
        lengths, n_strange = [length for length, _ in found], sum(strange for _, strange in found)
        if n_strange:
            raise ValueError(
                f"Input X contains NaN or infinity: {n_strange:,} of its {sum(lengths):,} rows. Drop such rows, or "
                "fill them in."
            )
        array = _with_lengths(array, lengths)
        if array.shape[0] < 2:
            raise ValueError(f"Found array with {array.shape[0]} sample(s) while a minimum of 2 is required.")
        return cls(array, client)

    # -- where they are ----------------------------------------------------------------------------------------

    @property
    def array(self) -> da.Array:
        """The rows as a Dask array in one block of columns, with known lengths, float32 or float64."""
        if self._array is None:
            raise ClusterError(
                f"The {self.shape[0]:,} training rows of this model were left on the cluster when it was saved. Give "
                "them back with model.X_fit_.attach(X), where X is the Dask array or data frame that it was fitted on."
            )
        return self._array

    @property
    def client(self) -> Client:
        """The client of the cluster."""
        return current_client(self._client)

    @property
    def bounds(self) -> IntArray:
        """Row numbers at which chunks begin, and n: shape (n_chunks + 1,)."""
        return np.cumsum([0, *self.array.chunks[0]])

    def persisted(self, n_chunks: int | None = None) -> "ClusterRows":
        """Return the same rows in chunks of one size, held in the memory of the workers.

        A chunk that is lost with a worker is made again from the graph of the array. ``n_chunks`` comes from
        :func:`chunks_for` unless given.
        """
        if n_chunks is None and self._is_held:
            return self
        client = self.client
        n_chunks = chunks_for(self.shape[0], n_threads(client)) if n_chunks is None else n_chunks
        array = self.array.rechunk({0: even_chunks(self.shape[0], n_chunks)})
        with clear_errors(), data_in_graph_is_meant():
            held = client.persist(array, optimize_graph=False)
            try:
                wait_for(client, held)
                # An error in a chunk is raised here, where it is understood, and not in the middle of a product.
                failed = [future for future in client.futures_of(held) if future.status == "error"]
                if failed:
                    failed[0].result()
            except BaseException:
                client.cancel(held, force=True)
                raise
        rows = ClusterRows(held, client)
        rows._is_held = True
        return rows

    # -- what the client may have of them ----------------------------------------------------------------------

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: IntArray | slice) -> FloatArray:
        """Return a few rows, by numbers or a slice, as an array; more than may be fetched are refused."""
        if isinstance(key, slice):
            numbers: IntArray = np.arange(*key.indices(self.shape[0]))
        else:
            numbers = np.asarray(key, dtype=np.intp)
            numbers = np.where(numbers < 0, numbers + self.shape[0], numbers)
        if numbers.ndim != 1 or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < self.shape[0]):
            raise IndexError(f"Rows 0 to {self.shape[0] - 1} exist, got {key!r}.")
        row_bytes = max(1, self.shape[1] * self.dtype.itemsize)
        allowed = min(MOST_FETCHED_ROWS, _MOST_FETCHED_BYTES // row_bytes)
        if len(numbers) > allowed:
            raise ValueError(
                f"This needs {len(numbers):,} of {self.shape[0]:,} rows on the client, and up to {allowed:,} may be "
                "fetched from a cluster. Use fewer rows, or fit on the client with X.compute() if they fit its memory."
            )
        return self._fetched(numbers)

    def _fetched(self, numbers: IntArray) -> FloatArray:
        rows: FloatArray = np.empty((len(numbers), self.shape[1]), dtype=self.dtype)
        bounds = self.bounds
        chunk_of = np.searchsorted(bounds, numbers, side="right") - 1
        touched = np.unique(chunk_of)
        blocks = self.array.to_delayed(optimize_graph=False).ravel()
        take = dask.delayed(getitem)
        parts = [take(blocks[chunk], numbers[chunk_of == chunk] - bounds[chunk]) for chunk in touched]
        for chunk, part in zip(touched, computed(self.client, parts), strict=True):
            rows[chunk_of == chunk] = part
        return rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        """Refuse: rows are on the cluster because they are too many for the client."""
        raise TypeError(
            f"{self.shape[0]:,} rows on a cluster are not gathered on the client. Use backend='dask', or X.compute() "
            "if they fit its memory."
        )

    def __repr__(self) -> str:
        where = "left behind" if self._array is None else f"in {len(self._array.chunks[0])} chunks"
        return f"ClusterRows(shape={self.shape}, dtype={self.dtype}, {where})"

    # -- figures of all rows -----------------------------------------------------------------------------------

    def mean(self, axis: int = 0) -> FloatArray:
        """Return the mean of each column."""
        assert axis == 0, "rows have no mean of interest"
        return np.asarray(computed(self.client, [self.array.mean(axis=0)])[0])

    def var(self) -> float:
        """Return the variance of all numbers."""
        return float(computed(self.client, [self.array.var()])[0])

    def cross_product(self, kernel: Kernel, A: Any, coefficients: FloatArray) -> FloatArray:
        """Return K(A, rows) @ coefficients, for an array A or these rows themselves: see ``products.cross_product``."""
        if A is self:
            from semikpca.operators.cluster._operator import DaskOperator

            return DaskOperator(kernel, self).matmat(coefficients.reshape(len(self), -1)).reshape(coefficients.shape)
        return np.asarray(self.expansion(kernel, coefficients)(A))

    def expansion(self, kernel: Kernel, coefficients: FloatArray) -> Callable[[Any], Any]:
        """Return the function x ↦ Σ c_i k(x, x_i) over these rows; of a lazy array its values are lazy."""
        from semikpca.operators.cluster._operator import ClusterExpansion

        return ClusterExpansion(kernel, self, coefficients)

    def over_all(self, function: Callable[[FloatArray, int], FloatArray], n_columns: int, dtype: Any) -> da.Array:
        """Return ``function(chunk, first row number)`` of all chunks, as a lazy array (n, n_columns)."""
        chunks, meta = (self.array.chunks[0], (n_columns,)), np.empty((0, 0), dtype=dtype)
        own: dict[str, Any] = {"function": function, "bounds": self.bounds}
        return self.array.map_blocks(_called_in_chunk, **own, dtype=dtype, chunks=chunks, meta=meta)

    def reduced(
        self, of_chunk: Callable[..., Any], join: Callable[[list[Any]], Any], shared: Any, arguments: Sequence[Any]
    ) -> Any:
        """Return what ``join`` makes of ``of_chunk(chunk, shared, argument)`` of all chunks, in their order.

        Parts are joined as a tree on the workers, and only the last join comes to the client. ``shared`` is one node of
        the graph: a worker that joins later, or takes the place of one that died, gets it as any other result.
        """
        node = dask.delayed(loaded, pure=False)(dumps(shared))
        task, join_task = dask.delayed(one_threaded, pure=False), dask.delayed(join, pure=False)
        blocks = self.array.to_delayed(optimize_graph=False).ravel()
        parts = [task(of_chunk, block, node, own) for block, own in zip(blocks, arguments, strict=True)]
        while len(parts) > 1:
            parts = [join_task(parts[at : at + _SPLIT_EVERY]) for at in range(0, len(parts), _SPLIT_EVERY)]
        return computed(self.client, parts)[0]

    def summed(self, of_chunk: Callable[[FloatArray, Any, Any], FloatArray], shared: Any) -> FloatArray:
        """Return the sum of ``of_chunk(chunk, shared, None)`` over all chunks, added up on the workers."""
        return np.asarray(self.reduced(of_chunk, summed, shared, [None] * len(self.array.chunks[0])))

    # -- models that were saved --------------------------------------------------------------------------------

    def attach(self, X: Any, client: Client | None = None) -> Self:
        """Give back the rows to a model that was loaded, and return them.

        X is what the model was fitted on: its shape, type and some of its rows are compared.
        """
        rows = ClusterRows.of(X, client)
        if rows.shape != self.shape or rows.dtype != self.dtype:
            raise ValueError(
                f"The model was fitted on {self.shape[0]:,} rows with {self.shape[1]} features ({self.dtype}), got "
                f"{rows.shape[0]:,} with {rows.shape[1]} ({rows.dtype}). Give the rows that it was fitted on."
            )
        if self._probe is not None and not np.array_equal(rows[_probed(self.shape[0])], self._probe):
            raise ValueError("These are other rows than the model was fitted on, or in another order. Give the same.")
        rows = rows.persisted()
        self._array, self._client, self._is_held = rows._array, rows._client, True
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave the rows on the cluster, and keep a few of them to know them again."""
        state = self.__dict__.copy()
        if self._array is not None and self._probe is None:
            state["_probe"] = self._fetched(_probed(self.shape[0]))
        return {**state, "_array": None, "_client": None}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing of it can be changed


def _probed(n_rows: int) -> IntArray:
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, _PROBED_ROWS)).astype(np.intp))


def _called_in_chunk(
    chunk: FloatArray, function: Callable[[FloatArray, int], FloatArray], bounds: IntArray, block_id: tuple[int, ...]
) -> FloatArray:
    return function(chunk, int(bounds[block_id[0]]))


def _with_lengths(array: da.Array, lengths: list[int]) -> da.Array:
    """Return the array with its chunks known, and without empty ones."""
    known = da.Array(array.dask, array.name, (tuple(lengths), array.chunks[1]), dtype=array.dtype, meta=array._meta)
    full = [number for number, length in enumerate(lengths) if length]
    if len(full) in (0, len(lengths)):
        return known
    return da.concatenate([known.blocks[number] for number in full])
