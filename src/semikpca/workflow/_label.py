"""From a table to labels for all of its rows."""

import warnings as python_warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.exceptions import (
    DegenerateSpectrumWarning,
    IndistinguishableRowsError,
    SingleClassWarning,
    TableError,
    UnlabeledMarkWarning,
    UnreachableRowsWarning,
)
from semikpca.tables import NUMBERS as NUMBERS_KIND
from semikpca.tables import (
    ColumnRoles,
    Table,
    TableToNumbers,
    TextReader,
    check_roles,
    empty_rows,
    feature_columns,
    folder_beside,
    given_labels,
    given_numbers,
    make_vectorizer,
    settled_roles,
)
from semikpca.workflow._labeled import LabeledTable
from semikpca.workflow._numbered import NumberedTable
from semikpca.workflow._options import LabelingOptions
from semikpca.workflow._views import View, judged_views, view_shares

Progress: TypeAlias = Callable[[str, int, int], None]
"""The name of a step, how much of it is done, and how much there is to do; 0 where that is not known."""

# The labeled table names rows out of reach, and notes on the table say which words are taken as classes.
_TOLD_ELSEWHERE = (UnreachableRowsWarning, UnlabeledMarkWarning)
_TOLD = (DegenerateSpectrumWarning, SingleClassWarning, ConvergenceWarning)
NUMBERS = "Columns to numbers"
_STEPS = {"kernels": "Neighbors and kernels", "labels": "Labels"}  # what the fit reports, in words
# Up to so many rows every view of a table is fitted to all of them; above, a sample tells which views matter.
MOST_ROWS_FOR_ALL_VIEWS = 5_000
ROWS_OF_A_SAMPLE = 3_000
# Above so many rows decisions are found to four digits, which confidences in a file have: that takes a third less time.
# Of 20,000 texts with 200 labels it moved 3 predictions.
MOST_ROWS_TO_THE_LAST_DIGIT, TOL_OF_MANY_ROWS = 10_000, 1e-4
LEAST_SHARE = 0.05  # in the blend of the sample
# What rows get that have nothing to go by.
COMMONEST_LABEL = "the commonest label, and its share as confidence"
MEAN_NUMBER = "the mean of the given numbers, and no interval"
_OF_EMPTY_ROWS = {False: COMMONEST_LABEL, True: MEAN_NUMBER}


def label_table(
    table: Table,
    roles: ColumnRoles,
    options: LabelingOptions | None = None,
    *,
    allow_all: bool = False,
    progress: Progress | None = None,
) -> LabeledTable:
    """Return labels for all rows of a table, learned from those that it has.

    Parameters
    ----------
    table : Table
    roles : ColumnRoles
        Which column holds the labels, and which ones say something else than the label.
    options : LabelingOptions, optional
    allow_all : bool, default=False
        Whether every row may have a label. The time then grows with the cube of their number; see :func:`audit_table`.
    progress : callable, optional
        Called with the name of the step, what is done and what there is to do.

    Raises
    ------
    TableError
        Where the table cannot be learned from; the message says what to do.
    """
    options = LabelingOptions() if options is None else options
    prepared = prepare_table(table, roles, allow_all=allow_all, progress=progress)
    return fit_table(table, options, prepared, progress)


def number_table(
    table: Table,
    roles: ColumnRoles,
    options: LabelingOptions | None = None,
    *,
    allow_all: bool = False,
    progress: Progress | None = None,
) -> NumberedTable:
    """Return numbers for all rows of a table, learned from those that it has; the same for numbers instead of classes.

    Whether a label column has numbers is for :func:`semikpca.tables.label_kind` to say.
    """
    options = LabelingOptions() if options is None else options
    as_numbers = replace(roles, labels_as=NUMBERS_KIND)
    prepared = prepare_table(table, as_numbers, allow_all=allow_all, progress=progress)
    return fit_numbers(table, options, prepared, progress)


def fit_table(
    table: Table, options: LabelingOptions, prepared: "PreparedTable", progress: Progress | None
) -> LabeledTable:
    """Return labels for all rows of a table that was prepared."""
    model, notes = _fitted(options, prepared, progress)
    return LabeledTable(table, prepared.roles, options, prepared.vectorizer, prepared.X, model, notes)


def fit_numbers(
    table: Table, options: LabelingOptions, prepared: "PreparedTable", progress: Progress | None
) -> NumberedTable:
    """Return numbers for all rows of a table that was prepared."""
    model, notes = _fitted(options, prepared, progress)
    return NumberedTable(table, prepared.roles, options, prepared.vectorizer, prepared.X, model, notes)


def _fitted(
    options: LabelingOptions, prepared: "PreparedTable", progress: Progress | None
) -> tuple[Any, tuple[str, ...]]:
    """Return the model of a table that was prepared, and what a user should know of both."""
    notes = list(prepared.notes)
    with told(notes):
        model = prepared.model(options, views_that_matter(prepared, options, progress))
        if len(prepared.X) > MOST_ROWS_TO_THE_LAST_DIGIT:
            model.set_params(tol=TOL_OF_MANY_ROWS)
        fit_labels(model, prepared.X, prepared.labels, progress)
    return model, tuple(notes)


def views_that_matter(
    prepared: "PreparedTable", options: LabelingOptions, progress: Progress | None = None
) -> tuple[View, ...]:
    """Return the views of a table to fit kernels on: all of them, or those that matter in a sample of many rows."""
    views = judged_views(prepared.vectorizer, prepared.X)
    given = np.flatnonzero(prepared.is_given)
    n_rows = len(prepared.X)
    if len(views) < 2 or options.kernel_names or n_rows <= MOST_ROWS_FOR_ALL_VIEWS:
        return views
    if len(set(prepared.labels[given])) < 2:
        return views[:2]  # nothing to decide by: all columns, and the text if there is one
    generator = np.random.RandomState(options.random_state)
    rest = np.setdiff1d(np.arange(n_rows), given)
    parts = [generator.permutation(some)[: ROWS_OF_A_SAMPLE // 2] for some in (given, rest)]
    rows = np.sort(np.concatenate(parts))
    sample = prepared.model(options, views)
    fit_labels(sample, prepared.X[rows], prepared.labels[rows], progress)
    return views_in_blend(views, sample)


def views_in_blend(views: tuple[View, ...], model: Any) -> tuple[View, ...]:
    """Return the views that have a share in the blend of a fitted classifier."""
    shares = view_shares(views, model.results_["kernel"], model.weights_)
    return tuple(view for view in views if shares[view.name] >= LEAST_SHARE)


@dataclass(frozen=True)
class PreparedTable:
    """A table as a classifier takes it, or a regressor."""

    roles: ColumnRoles  # as they were given, and without what nothing should be learned from
    vectorizer: TableToNumbers
    X: FloatArray  # float32
    labels: npt.NDArray[Any]  # objects, None where there is none; or numbers, NaN where there is none
    notes: tuple[str, ...]  # what a user should know of the table
    empty: IntArray  # rows without anything in the columns that are learned from

    @property
    def is_given(self) -> BoolArray:
        """Whether each row has a label."""
        return np.asarray(pd.notna(self.labels))

    def model(self, options: LabelingOptions, views: Sequence[View] = ()) -> Any:
        """Return what the options make of these labels, not fitted."""
        is_number = self.roles.labels_as == NUMBERS_KIND
        return options.regressor(views) if is_number else options.classifier(views)


def prepare_table(
    table: Table,
    roles: ColumnRoles,
    *,
    allow_all: bool = False,
    allow_fewer: bool = False,
    allow_many_categories: bool = False,
    progress: Progress | None = None,
) -> PreparedTable:
    """Return the numbers and the labels of a table, once all was checked that can be checked without them.

    What is allowed is said in :func:`~semikpca.tables.given_labels` and :func:`~semikpca.tables.check_roles`.
    """
    say = progress if progress is not None else lambda *_: None
    roles, left_out = settled_roles(table, roles)
    notes = [*check_roles(table, roles, allow_many_categories=allow_many_categories), *left_out]
    is_number = roles.labels_as == NUMBERS_KIND
    labels: npt.NDArray[Any]
    if is_number:
        labels = given_numbers(table, roles, allow_all=allow_all, allow_fewer=allow_fewer)
    else:
        labels = given_labels(table, roles, allow_all=allow_all, allow_fewer=allow_fewer)
    say(NUMBERS, 0, 1)
    vectorizer, reader = make_vectorizer(roles), text_reader(table, progress)
    X = vectorizer.fit_transform(table.features[feature_columns(table, roles)], reader=reader)
    reader.forget_others()
    say(NUMBERS, 1, 1)
    empty = empty_rows(table.features, feature_columns(table, roles))
    notes += [*vectorizer.notes_, *about_empty_rows(len(empty), _OF_EMPTY_ROWS[is_number])]
    return PreparedTable(roles, vectorizer, X, labels, tuple(notes), empty)


def about_empty_rows(n_rows: int, what_they_have: str = COMMONEST_LABEL) -> list[str]:
    """Return the note on rows that have nothing to go by; none where there are no such rows."""
    if not n_rows:
        return []
    found, they_have = ("1 row has", "It has") if n_rows == 1 else (f"{n_rows:,} rows have", "They have")
    return [f"{found} nothing in the columns that are learned from. {they_have} {what_they_have}."]


def text_reader(table: Table, progress: Progress | None = None) -> TextReader:
    """Return what reads the texts of a table and, where that takes long, keeps their vectors beside its file."""
    return TextReader(None if table.path is None else folder_beside(table.path), progress)


def fit_vectorizer(table: Table, roles: ColumnRoles) -> TableToNumbers:
    """Return a transformer that has learned from the feature columns of a table; it finds them by name."""
    return make_vectorizer(roles).fit(table.features[feature_columns(table, roles)])


def fit_labels(model: Any, X: FloatArray, labels: npt.NDArray[Any], progress: Progress | None = None) -> None:
    """Fit the classifier; numbers that are too alike are a matter of the table."""
    options: dict[str, Progress] = {}
    if progress is not None:  # not every classifier can report
        options["progress"] = lambda step, done, total: progress(_STEPS.get(step, step), done, total)
    try:
        model.fit(X, labels, **options)
    except IndistinguishableRowsError as error:
        raise TableError(
            "The columns to learn from are the same in all rows, or nearly so: nothing tells rows apart. Give other "
            "columns."
        ) from error


@contextmanager
def told(notes: list[str]) -> Iterator[None]:
    """Collect the warnings of the fit as notes; those of others go on as they are."""
    with python_warnings.catch_warnings(record=True) as caught:
        for category in (*_TOLD_ELSEWHERE, *_TOLD):
            python_warnings.simplefilter("always", category)
        yield
    for warning in caught:
        if isinstance(warning.message, _TOLD_ELSEWHERE):
            continue
        if isinstance(warning.message, _TOLD):
            notes.append(str(warning.message))
        else:
            python_warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
