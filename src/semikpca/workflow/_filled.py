"""What tables of classes and tables of numbers share, once every row has something predicted."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.convexity import ConvexityCertificate
from semikpca.kernels import Cosine, Kernel, Linear, NeighborGraph, Normalized, OnColumns, Polynomial, as_kernel
from semikpca.labeling import suggest_labels
from semikpca.tables import (
    ROW,
    ColumnRoles,
    Table,
    empty_rows,
    feature_columns,
    named_rows,
    replaced_columns,
    with_columns,
)
from semikpca.workflow._options import LabelingOptions
from semikpca.workflow._semi_kpca_share import SemiKPCAShare
from semikpca.workflow._views import View, in_words, view_of, view_shares, views_of

# Kernels that are called otherwise than their classes.
_KINDS: dict[type[Kernel], str] = {
    NeighborGraph: "neighbor graph",
    Linear: "linear",
    Cosine: "cosine",
    Polynomial: "polynomial",
}


@dataclass(frozen=True)
class FilledTable:
    """A table and the model that was fitted to it, with what is read off the two whatever the model predicts.

    Attributes
    ----------
    table : Table
    roles : ColumnRoles
    options : LabelingOptions
    vectorizer : fitted transformer
        From feature columns to numbers.
    X : ndarray of float32, shape (n_rows, n_features)
    model : fitted SemiKPCAClassifierCV or SemiKPCARegressorCV
    warnings : tuple of str
        What a user should know before relying on the predictions.
    drawn : ndarray of int or None
        Labeled rows that were drawn at random, for promises; None takes all that the model did not suggest.
    """

    table: Table
    roles: ColumnRoles
    options: LabelingOptions
    vectorizer: Any
    X: FloatArray
    model: Any
    warnings: tuple[str, ...] = ()
    drawn: IntArray | None = None

    # -- what differs ------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def is_given(self) -> BoolArray:
        """Whether each row has a label of the user's, shape (n_rows,)."""

    @property
    @abstractmethod
    def looks_wrong(self) -> BoolArray:
        """Whether the given label of each row looks wrong, shape (n_rows,)."""

    @abstractmethod
    def in_brief(self, rows: IntArray) -> dict[str, list[str]]:
        """Return what is predicted for some rows and how sure it is, in words, by titles of columns."""

    @abstractmethod
    def _predictions(self) -> dict[str, Any]:
        """Return what is predicted for all rows, by the names of the columns that it is written to."""

    @property
    def kept_beside_model(self) -> dict[str, Any]:
        """What a model file holds besides the model: plain data that predictions for another table need."""
        return {}

    # -- what is the same --------------------------------------------------------------------------------------

    @property
    def unreachable(self) -> IntArray:
        """Rows that no label reaches: they get the commonest label, or the mean of the numbers."""
        return np.asarray(self.model.unreachable_rows_)

    @cached_property
    def _empty(self) -> IntArray:
        return empty_rows(self.table.features, feature_columns(self.table, self.roles))

    def with_drawn(self, rows: IntArray) -> Self:
        """Return the same, told which rows were drawn at random to be labeled; other labels promise nothing."""
        return replace(self, drawn=np.intersect1d(rows, np.flatnonzero(self.is_given)))

    @property
    def certificate(self) -> ConvexityCertificate | None:
        """The certificate of the heaviest use of Semi-KPCA in the blend; None where there is none."""
        certificate: ConvexityCertificate | None = self.model.certificate_
        return certificate

    @cached_property
    def semi_kpca(self) -> SemiKPCAShare:
        """What Semi-KPCA has of the blend: the certificate says something of the answer as far as that."""
        return SemiKPCAShare.of(self.model)

    @cached_property
    def kernel_shares(self) -> dict[str, float]:
        """The share that each kind of kernel has in the blend, in plain words, heaviest first."""
        shares: dict[str, float] = {}
        for kernel, weight in zip(self.model.results_["kernel"], self.model.weights_, strict=True):
            words = _kind(kernel)
            shares[words] = shares.get(words, 0.0) + float(weight)
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    @cached_property
    def view_shares(self) -> dict[str, float]:
        """The share that each part of the columns has in the blend, heaviest first."""
        return view_shares(self.views, self.model.results_["kernel"], self.model.weights_)

    @cached_property
    def views(self) -> tuple[View, ...]:
        """The parts of the columns that were tried by themselves."""
        return views_of(self.vectorizer)

    def view_of(self, kernel: Kernel) -> View:
        """Return the part of the columns that a kernel of the blend sees."""
        return view_of(self.views, kernel)

    @property
    def what_matters(self) -> str:
        """A sentence on which columns matter; "" where there was nothing to choose."""
        return "" if self.options.kernel_names else in_words(self.views, self.view_shares)

    def suggestions(self, n: int = 10, check_rows: int = 0) -> IntArray:
        """Return numbers of rows to label next, best first, each telling something else; the last ones at random."""
        return suggest_labels(self.model, n, check_rows=check_rows, random_state=self.options.random_state)

    def with_added(self, added: dict[str, Any], *, labels_only: bool) -> pd.DataFrame:
        """Return the table as it was, without columns of an earlier run, or what its rows go by, and more columns."""
        before = named_rows(self.table, self.roles.id)
        if not labels_only:
            before = self.table.written.drop(columns=replaced_columns(self.table, self.roles))
        return with_columns(before, added)

    def rows_frame(self, rows: IntArray) -> pd.DataFrame:
        """Return some unlabeled rows with what is predicted for them, and the number of each in the table, from 1."""
        before = self.table.written.drop(columns=replaced_columns(self.table, self.roles))
        found = with_columns(before, self._predictions()).iloc[rows]
        if self.table.is_array:
            return found  # with its numbers
        found = with_columns(found, {ROW: rows + 1})
        return found[[found.columns[-1], *found.columns[:-1]]]


def _kind(kernel: Kernel) -> str:
    """Return what a kernel is, without its numbers."""
    if isinstance(kernel, Normalized):
        return f"normalized {_kind(as_kernel(kernel.kernel))}"
    if isinstance(kernel, OnColumns):
        return _kind(as_kernel(kernel.kernel))
    return _KINDS.get(type(kernel), type(kernel).__name__)
