"""Rows on a Dask cluster."""

import math
from collections.abc import Callable
from typing import Any, Self

import dask
import dask.array as da
import numpy as np
from distributed import Client

from semikpca._typing import FloatArray, IntArray
from semikpca.exceptions import ClusterError
from semikpca.kernels import Kernel
from semikpca.operators._cluster import (
    clear_errors,
    computed,
    current_client,
    data_in_graph_is_meant,
    n_threads,
    wait_for,
)
from semikpca.operators._cluster_tasks import summed

# Rows and bytes that may be fetched at once. Sketches of the rows need a few thousand (the median rule 4,000, landmarks
# as many as there are); more of them would be a way to gather everything on the client.
MOST_FETCHED_ROWS = 50_000
_MOST_FETCHED_BYTES = 2**28
# Rows of one chunk of an array that is sent to the workers: some megabytes.
_SENT_NUMBERS = 2**20
# A chunk of this many rows makes pairs that take a second or a few; smaller ones would be lost in what a task costs.
_MOST_CHUNK_ROWS = 2**15
_FEWEST_CHUNK_ROWS = 512
_MOST_CHUNKS = 128
# Pairs for each thread, so that none waits long for the last ones.
_PAIRS_PER_THREAD = 16
_PROBED_ROWS = 16


class ClusterRows:
    """Rows that the workers of a Dask cluster hold or read; the client fetches a few of them at most.

    Made by :meth:`of`. Pickled, it leaves the rows behind: :meth:`attach` gives them back.

    Attributes
    ----------
    array : dask.array.Array of shape (n, n_features)
        In one block of columns, with known lengths, float32 or float64.
    client : distributed.Client
    feature_names : list of str, or None
        The columns of a data frame.
    """

    is_remote = True
    ndim = 2
    nbytes = 0  # on the client

    def __init__(self, array: da.Array, client: Client, feature_names: list[str] | None = None) -> None:
        self._array: da.Array | None = array
        self._client: Client | None = client
        self.feature_names = feature_names
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))
        self.dtype: np.dtype[Any] = np.dtype(array.dtype)
        self._is_held = False
        self._probe: FloatArray | None = None

    @classmethod
    def of(cls, X: Any, client: Client | None = None, *, minimum: int = 2) -> Self:
        """Return the rows of a Dask array, a Dask data frame or a NumPy array; one pass looks at every number.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or ndarray of shape (n, n_features)
            Floats, or other numbers, which become float64. Chunks may have any shape and unknown lengths.
        client : distributed.Client, optional
            The current one unless given.
        minimum : int, default=2
            Fewer rows are refused.

        Raises
        ------
        ClusterError
            Where no client is running.
        ValueError
            For anything but a table of finite numbers.
        """
        client = current_client(client)
        n_threads(client)
        array, names = lazy_rows(X)
        # Once and for all: whatever is computed from now on has the same graph for the same chunk.
        (array,) = dask.optimize(array)
        lengths, n_strange = _looked_at(array, client)
        if n_strange:
            raise ValueError(
                f"Input X contains NaN or infinity: {n_strange:,} of its {sum(lengths):,} rows. Drop such rows, or "
                "fill them in."
            )
        array = _with_lengths(array, lengths)
        if array.shape[0] < minimum:
            raise ValueError(f"Found array with {array.shape[0]} sample(s) while a minimum of {minimum} is required.")
        return cls(array, client, names)

    # -- where they are ----------------------------------------------------------------------------------------

    @property
    def array(self) -> da.Array:
        """The rows as a Dask array."""
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
        array = self.array.rechunk({0: _even_chunks(self.shape[0], n_chunks)})
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
        rows = ClusterRows(held, client, self.feature_names)
        rows._is_held = True
        return rows

    # -- what the client may have of them ----------------------------------------------------------------------

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: IntArray | slice) -> FloatArray:
        """Return a few rows, by numbers or a slice, as an array.

        Raises
        ------
        ValueError
            Where they are too many to be fetched.
        """
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
        take = dask.delayed(_taken)
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
            from semikpca.operators._dask import DaskOperator

            return DaskOperator(kernel, self).matmat(coefficients.reshape(len(self), -1)).reshape(coefficients.shape)
        from semikpca.operators._cluster_expansion import ClusterExpansion

        return np.asarray(ClusterExpansion(kernel, self, coefficients)(A))

    def summed(self, of_chunk: Callable[[FloatArray, Any, Any], FloatArray], shared: Any) -> FloatArray:
        """Return the sum of ``of_chunk(chunk, shared, None)`` over all chunks, added up on the workers."""
        from semikpca.operators._cluster_sums import reduced

        nothing = [None] * len(self.array.chunks[0])
        return np.asarray(reduced(self.client, self.array, of_chunk, summed, shared, nothing))

    # -- models that were saved --------------------------------------------------------------------------------

    def attach(self, X: Any, client: Client | None = None) -> Self:
        """Give back the rows to a model that was loaded, and return them.

        Parameters
        ----------
        X : what the model was fitted on
            Its shape, type and some of its rows are compared.
        client : distributed.Client, optional
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


def lazy_rows(X: Any) -> tuple[da.Array, list[str] | None]:
    """Return rows as a Dask array of float32 or float64 in one block of columns, and the names of its columns.

    Nothing is computed: lengths may stay unknown, and NaN is not looked for.
    """
    names: list[str] | None = None
    if isinstance(X, np.ndarray):
        sent_rows = max(1, _SENT_NUMBERS // max(1, math.prod(X.shape[1:])))
        X = da.from_array(X, chunks=(sent_rows, *([-1] * (X.ndim - 1))), name=False)
    elif hasattr(X, "to_dask_array"):
        if X.ndim == 2:
            strange = [name for name, dtype in X.dtypes.items() if not _is_number(dtype)]
            if strange:
                raise ValueError(
                    f"Column {strange[0]!r} of X is not of numbers (it is {X.dtypes[strange[0]]}). Drop it, or make "
                    "numbers of it."
                )
            names = [str(name) for name in X.columns]
        X = X.to_dask_array()
    if not isinstance(X, da.Array):
        raise TypeError(f"X must be a Dask array, a Dask data frame or a NumPy array, got {type(X).__name__}.")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape X to (n_samples, n_features).")
    if not isinstance(X._meta, np.ndarray):
        raise ValueError(
            f"backend='dask' takes blocks that are NumPy arrays, got {type(X._meta).__name__}. Use X.map_blocks("
            "lambda block: block.toarray()) on sparse ones, if dense rows fit the workers."
        )
    if not X.shape[1]:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if not _is_number(X.dtype):
        raise ValueError(f"X must hold numbers, got dtype {X.dtype}. Convert it, for example with X.astype(float).")
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64), names


def checked_rows(X: Any) -> da.Array:
    """Return new rows as a lazy Dask array whose blocks are looked through when they are computed."""
    array, _ = lazy_rows(X)
    return array.map_blocks(_checked, dtype=array.dtype, meta=array._meta)


def chunks_for(n_rows: int, threads: int) -> int:
    """Return into how many chunks rows are cut for exact products, which are made for each pair of chunks.

    Enough pairs to keep all threads busy, and chunks of 512 to 32,768 rows; but never more than 128 chunks, with which
    a product has 9,400 tasks.

    Examples
    --------
    >>> chunks_for(200_000, threads=2), chunks_for(1_000_000, threads=64), chunks_for(300, threads=64)
    (8, 45, 1)
    """
    # p (p + 1) / 2 pairs are at least so many for each thread.
    busy = math.ceil((math.sqrt(1 + 8 * _PAIRS_PER_THREAD * threads) - 1) / 2)
    wanted = max(busy, math.ceil(n_rows / _MOST_CHUNK_ROWS))
    return max(1, min(wanted, n_rows // _FEWEST_CHUNK_ROWS, _MOST_CHUNKS))


def _even_chunks(n_rows: int, n_chunks: int) -> tuple[int, ...]:
    return tuple(np.diff(np.linspace(0, n_rows, n_chunks + 1).astype(int)).tolist())


def _is_number(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "fiub"


def _probed(n_rows: int) -> IntArray:
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, _PROBED_ROWS)).astype(np.intp))


def _looked_at(array: da.Array, client: Client) -> tuple[list[int], int]:
    """Return the length of each chunk, and how many rows hold NaN or infinity."""
    look = dask.delayed(_look)
    blocks = array.to_delayed(optimize_graph=False).ravel()
    (found,) = computed(client, [dask.delayed(list)([look(block) for block in blocks])])
    return [length for length, _ in found], sum(strange for _, strange in found)


def _look(block: Any) -> tuple[int, int]:
    if not isinstance(block, np.ndarray):
        raise ValueError(
            f"backend='dask' takes blocks that are NumPy arrays, and one is a {type(block).__name__}. Use "
            "X.map_blocks(lambda block: block.toarray()) on sparse ones, if dense rows fit the workers."
        )
    return len(block), len(block) - int(np.isfinite(block).all(axis=1).sum())


def _checked(block: Any) -> FloatArray:
    _, n_strange = _look(block)
    if n_strange:
        raise ValueError("Input X contains NaN or infinity. Drop such rows, or fill them in.")
    return np.asarray(block)


def _taken(block: FloatArray, numbers: IntArray) -> FloatArray:
    return np.asarray(block[numbers])


def _with_lengths(array: da.Array, lengths: list[int]) -> da.Array:
    """Return the array with its chunks known, and without empty ones."""
    known = da.Array(array.dask, array.name, (tuple(lengths), array.chunks[1]), dtype=array.dtype, meta=array._meta)
    full = [number for number, length in enumerate(lengths) if length]
    if len(full) in (0, len(lengths)):
        return known
    return da.concatenate([known.blocks[number] for number in full])
