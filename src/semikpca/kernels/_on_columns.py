"""A kernel that sees some of the columns only: a view of the rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from sklearn.base import clone

from semikpca._typing import Array, BoolArray, FloatArray, IntArray, Rows
from semikpca.kernels._base import Kernel, SparseFactor
from semikpca.kernels._formula import Formula
from semikpca.kernels._low_rank import LowRankFactor
from semikpca.kernels._nystroem import Nystroem
from semikpca.kernels._vectors import as_float
from semikpca.kernels._wrapped import KernelLike, WrappedKernel, as_kernel


class OnColumns(WrappedKernel):
    """k(a[columns], b[columns]): another kernel on some of the columns of the rows.

    A table has columns of several kinds, and which of them matter for the labels is not known beforehand. Kernels on
    parts of the columns can be tried side by side by :class:`~semikpca.SemiKPCAClassifierCV`.

    Parameters
    ----------
    kernel : Kernel, str or callable
        Between vectors, as a whole: ``Normalized(OnColumns("rbf", [0, 1]))`` is the degree-normalized form, and
        ``Nystroem(OnColumns("rbf", [0, 1]))`` the approximation, not the other way around.
    columns : sequence of int
        Which columns, counted from 0.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel inside, fitted to these columns.
    part_ : rows
        These columns of the training rows.

    Examples
    --------
    >>> from semikpca.kernels import Linear, OnColumns
    >>> OnColumns(Linear(), [1])([[5.0, 2.0], [7.0, 3.0]]).tolist()
    [[4.0, 6.0], [6.0, 9.0]]
    """

    def __init__(self, kernel: KernelLike, columns: Sequence[int]) -> None:
        self.kernel = kernel
        self.columns = columns

    @property
    def formula(self) -> Formula | None:
        """As the kernel inside."""
        return self._inside.formula

    def factor(self, rows: Rows) -> Rows:
        """Return the columns as the kernel inside compares them."""
        return self._inside.factor(self.seen(rows))

    @property
    def is_definite(self) -> bool:
        """As the kernel inside."""
        return self._inside.is_definite

    @property
    def is_sparse(self) -> bool:
        """As the kernel inside."""
        return self._inside.is_sparse

    def is_low_rank_on(self, rows: Rows) -> bool:
        """As the kernel inside."""
        return self._inside.is_low_rank_on(self.seen(rows))

    def low_rank_factor(self) -> LowRankFactor:
        """Return the features of the kernel inside, of these columns."""
        return replace(self._inside.low_rank_factor(), columns=self._low_rank_columns)

    def _low_rank_columns(self, rows: Rows) -> FloatArray:
        return self._inside.low_rank_factor().columns(self.seen(rows))

    def fit(self, rows: Rows) -> Self:
        """Fit the kernel inside to these columns."""
        inside = as_kernel(self.kernel)
        if inside.input_kind != "vectors" or isinstance(inside, WrappedKernel | Nystroem):
            raise ValueError(
                f"OnColumns takes a kernel between vectors that is not made of another one, got {inside!r}. Turn it "
                "around where you can: Normalized(OnColumns('rbf', columns)), Nystroem(OnColumns('rbf', columns))."
            )
        part = self._taken(rows)
        return self.learn(clone(inside).fit(part), rows, part)

    def learn(self, inside: Kernel, rows: Rows, part: Rows) -> Self:
        """Be fitted, by whoever has the kernel inside fitted to ``part``, the columns of the training rows."""
        self.kernel_, self.rows_fit_, self.part_ = inside, rows, part
        return self

    def pairwise(self, A: Rows, B: Rows) -> Array:
        """Return the matrix of k(a, b), shape (len(A), len(B))."""
        left = self.seen(A)
        return self._inside.pairwise(left, left if B is A else self.seen(B))

    def diag(self, A: Rows) -> Array:
        """Return k(a, a) for each row a of A."""
        return self._inside.diag(self.seen(A))

    def sparse_factor(self, rows: Rows | None = None) -> SparseFactor:
        """Return what the columns of rows have in the matrix of the kernel inside."""
        return self._inside.sparse_factor(None if rows is None else self.seen(rows))

    def components(self) -> IntArray | None:
        """Return the connected component of each training row by the kernel inside."""
        return self._inside.components()

    def touches(self, A: Rows, marked: BoolArray) -> BoolArray:
        """Return whether the kernel inside connects each row of A with a marked training row."""
        return self._inside.touches(self.seen(A), marked)

    def seen(self, rows: Rows) -> Rows:
        """Return the columns; of the training rows always the same object, by which kernels know them again."""
        return self.part_ if rows is getattr(self, "rows_fit_", None) else self._taken(rows)

    def _taken(self, rows: Rows) -> Rows:
        rows = as_float(rows)
        return rows[:, self._place(rows)]

    def _place(self, rows: Rows) -> slice | IntArray:
        """Return the columns as what takes them out: without a copy, where they lie side by side."""
        chosen = np.asarray(self.columns)
        n_columns = int(rows.shape[1])
        if chosen.ndim != 1 or not chosen.size or chosen.dtype.kind not in "iu":
            raise ValueError(f"columns must be a list of whole numbers, one or more, got {self.columns!r}.")
        outside = chosen[(chosen < 0) | (chosen >= n_columns)]
        if outside.size:
            raise ValueError(f"columns must lie between 0 and {n_columns - 1}, got {int(outside[0])}.")
        if (np.diff(chosen) == 1).all():
            return slice(int(chosen[0]), int(chosen[-1]) + 1)
        return chosen
