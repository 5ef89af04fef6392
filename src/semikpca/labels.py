"""Labels outside (unlabeled is -1, None or NaN) and signed targets inside (unlabeled is 0).

scikit-learn marks an unlabeled row with -1; in the paper -1 is a class and 0 is unlabeled. Both codings hold
{-1, 0, 1}, so a mix-up is silent. This module alone converts between them.
"""

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.arrays import length
from semikpca.exceptions import UnlabeledMarkWarning, warn_user

UNLABELED = -1  # the code of a row without a label, and its label where labels are whole numbers
# What becomes of a mark of an unlabeled row in text: an empty cell of a file, or str(-1), str(nan), str(None).
_MARKS_AS_TEXT = frozenset({"", "-1", "-1.0", "nan", "None", "<NA>", "NaT"})
_LARGEST_EXACT_FLOAT = 2**53  # up to here every whole number is a float64


@dataclass(frozen=True)
class LabelCoding:
    """The given labels as class numbers."""

    classes: npt.NDArray[Any]  # the distinct labels, sorted
    codes: IntArray  # index into ``classes`` for each row; -1 where it is unlabeled

    @property
    def labeled_rows(self) -> IntArray:
        """Row numbers of the labeled rows, ascending."""
        return np.flatnonzero(self.codes != UNLABELED)

    @property
    def n_classes(self) -> int:
        """Number of distinct labels."""
        return len(self.classes)

    @property
    def class_counts(self) -> IntArray:
        """How many labels each class has, shape (n_classes,)."""
        return np.bincount(self.codes[self.labeled_rows], minlength=self.n_classes)

    def changed(self, rows: IntArray, codes: IntArray) -> "LabelCoding":
        """Return the labels with other class numbers at some rows."""
        after = self.codes.copy()
        after[rows] = codes
        return LabelCoding(self.classes, after)

    def without(self, rows: IntArray) -> "LabelCoding":
        """Return the labels without those of some rows; classes that have no other label go with them."""
        codes = self.changed(rows, np.full(len(rows), UNLABELED)).codes
        kept = np.bincount(codes[codes != UNLABELED], minlength=self.n_classes) > 0
        if not kept.any():
            raise ValueError(f"All {len(self.labeled_rows)} labels would be taken away. Leave one at least.")
        number = np.append(np.cumsum(kept) - 1, UNLABELED)  # the last entry is that of unlabeled rows
        return LabelCoding(self.classes[kept], number[codes])

    def encode(self, labels: Any) -> IntArray:
        """Return class numbers for further labels (-1, None and NaN are unlabeled); an unseen label is an error."""
        known = {label: code for code, label in enumerate(self.classes.tolist())}
        values = _as_column(labels).tolist()
        for value in values:
            if not is_missing(value) and value not in known and not _is_minus_one(value):
                raise ValueError(
                    f"The label {value!r} was never seen in fit, which knows {_listed(list(known))}. Fit again with "
                    "at least one row of the new class."
                )
        return np.array([UNLABELED if is_missing(v) else known.get(v, UNLABELED) for v in values], dtype=np.intp)

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        """Return the labels that belong to class numbers."""
        return self.classes[codes]


def encode(y: Any) -> LabelCoding:
    """Return classes and class numbers of ``y``, in which -1, None or NaN marks an unlabeled row.

    In floats and objects -1 does so unless None or NaN already does.

    Examples
    --------
    >>> coding = encode(["cat", None, "dog", "cat"])
    >>> coding.classes.tolist(), coding.codes.tolist()
    (['cat', 'dog'], [0, -1, 1, 0])
    """
    values = _as_column(y)
    labeled = ~unlabeled_mask(values)
    given = encode_given(values[labeled], len(values))
    codes = np.full(len(values), UNLABELED, dtype=np.intp)
    codes[labeled] = given.codes
    return LabelCoding(given.classes, codes)


def warn_of_marks_in_text(labels: LabelCoding) -> None:
    """Warn of classes that look like the mark of an unlabeled row: as text they are no such mark."""
    marks = [code for code, label in enumerate(labels.classes.tolist()) if _is_mark_in_text(label)]
    if marks:
        found = tuple(str(label) for label in labels.classes[marks].tolist())
        warn_user(UnlabeledMarkWarning(found, int(labels.class_counts[marks].sum())))


def labels_in(part: Any, *, minus_one_is_a_class: bool) -> tuple[IntArray, npt.NDArray[Any]]:
    """Return where labels are in a part of y, and the labels; None and NaN are none, and -1 if it is not a class.

    Whether -1 marks unlabeled rows depends on all of y (see :func:`unlabeled_mask`), so that a part has to be told.
    """
    values = _as_column(part)
    missing = _missing_mask(values)
    if not minus_one_is_a_class:
        missing |= _minus_one_mask(values)
    labeled = np.flatnonzero(~missing)
    return labeled, values[labeled]


def encode_given(labels: npt.NDArray[Any], n_rows: int) -> LabelCoding:
    """Return classes and class numbers of the labels that were given for some of ``n_rows`` rows."""
    if not len(labels):
        raise ValueError(
            f"No label is given: all {n_rows} rows of y are unlabeled (-1, None or NaN). Label at least one row of "
            "each class."
        )
    return LabelCoding(*_numbered(labels))


def require_label_for_each(rows: Any, labels: Any) -> None:
    """Refuse labels that do not belong to the rows: one is needed for each, or the mark of an unlabeled row."""
    if len(labels) != length(rows):
        raise ValueError(
            f"X has {length(rows)} rows and y has {len(labels)} entries: inconsistent numbers of samples. Give one "
            "label for each row, -1, None or NaN where it is not known."
        )


def labeled_values(y: Any, classes: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    """Return labels and the rows that have one; -1 is a label where it is one of ``classes``."""
    values = _as_column(y)
    minus_one_is_a_class = any(_is_minus_one(label) for label in classes.tolist())
    unlabeled = _missing_mask(values) if minus_one_is_a_class else unlabeled_mask(values)
    labeled = np.flatnonzero(~unlabeled)
    if not labeled.size:
        raise ValueError(f"No label is given: all {len(values)} rows of y are unlabeled (-1, None or NaN).")
    classes_, codes = _numbered(values[labeled])
    truth = np.empty(len(values), dtype=classes_.dtype)
    truth[labeled] = classes_[codes]
    return truth, labeled


def encode_all(y: Any) -> LabelCoding:
    """Return classes and class numbers of ``y`` for a model in which every row has a label and -1 is a class."""
    values = _as_column(y)
    missing = _missing_mask(values)
    if missing.any():
        raise ValueError(
            f"Input y contains NaN or None ({np.sum(missing)} of {len(values)} rows), but this model learns from "
            "labeled rows only. Drop the unlabeled rows, or use SemiLSSVMClassifier or SemiKPCAClassifier."
        )
    return LabelCoding(*_numbered(values))


def _numbered(given: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    if given.dtype == object:
        given = _typed(given)
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'). Mark unlabeled rows with NaN."
        )
    # Whole numbers beyond 2**63 are held against their int64 there, which warns of the cast.
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        # Few labels of each class are what is expected here, and no sign of a regression.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        check_classification_targets(given)
    return np.unique(given, return_inverse=True)


def unlabeled_mask(values: npt.NDArray[Any]) -> BoolArray:
    """Return True where a label is missing.

    One rule for every type: None and NaN mark unlabeled rows; a numeric -1 does so where no None or NaN occurs.
    """
    missing = _missing_mask(values)
    return missing if missing.any() else _minus_one_mask(values)


def _minus_one_mask(values: npt.NDArray[Any]) -> BoolArray:
    if values.dtype.kind == "O":
        return np.array([_is_minus_one(value) for value in values.tolist()], dtype=bool)
    if values.dtype.kind in "iuf":
        return np.asarray(values == UNLABELED)
    return np.zeros(len(values), dtype=bool)


def _missing_mask(values: npt.NDArray[Any]) -> BoolArray:
    kind = values.dtype.kind
    if kind == "f":
        return np.asarray(np.isnan(values))
    if kind in "mM":
        return np.asarray(np.isnat(values))
    if kind == "O":
        # Most rows have no label, and most of these None: they are seen without a call.
        return np.array([value is None or is_missing(value) for value in values.tolist()], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def signed_targets(codes: IntArray, n_classes: int, dtype: npt.DTypeLike = np.float64) -> FloatArray:
    """Return the targets of Problem 4, one column a right-hand side: 1, -1, and 0 where unlabeled.

    Two classes (or one) need one column, positive for the last class; more classes get one column each, in which
    the labels of all other classes are -1.
    """
    positive = np.arange(n_classes) if n_classes > 2 else n_classes - 1
    signs = np.where(codes[:, np.newaxis] == positive, 1, -1)
    signs[codes == UNLABELED] = 0
    return signs.astype(dtype)


def only_of_class(codes: IntArray) -> BoolArray:
    """Return whether each of some labels, given as class numbers, is the only one of its class.

    Such a label cannot be left out to see whether it is found again: without it nothing can vote for its class.
    """
    return np.asarray(np.bincount(codes)[codes] == 1)


def predicted_codes(decision: FloatArray, n_classes: int) -> IntArray:
    """Return the class number of each row from its decision values (one column, or one for each class)."""
    return np.asarray(class_scores(decision, n_classes).argmax(axis=1))


def class_scores(decision: FloatArray, n_classes: int) -> FloatArray:
    """Return one score for each class, shape (n, n_classes), from decisions with one column or one for each class."""
    if n_classes == 2:
        column = decision.reshape(-1, 1)
        return np.hstack([-column, column])
    return decision.reshape(len(decision), n_classes)


def from_signs(y: Any) -> IntArray:
    """Return labels for ``fit`` from the paper's coding: -1 and +1 are the classes, 0 is unlabeled.

    The classes come out as 0 (the paper's -1) and 1 (the paper's +1), unlabeled rows as -1.

    Examples
    --------
    >>> from_signs([-1, 0, 1]).tolist()
    [0, -1, 1]
    """
    signs = np.asarray(y)
    strangers = np.setdiff1d(signs, [-1, 0, 1])
    if strangers.size:
        raise ValueError(f"from_signs takes -1, 0 and +1 only, got {strangers[0]!r}.")
    return np.select([signs == 1, signs == -1], [1, 0], default=UNLABELED).astype(np.intp)


def _as_column(y: Any) -> npt.NDArray[Any]:
    if isinstance(y, list | tuple):
        # np.asarray would turn ["a", None] into objects but [1, None] into objects and ["a", nan] into strings.
        mixed = np.empty(len(y), dtype=object)
        mixed[:] = y
        try:
            plain = np.asarray(y)
        except ValueError as error:
            raise ValueError(
                f"A label must be one value, got collections such as {y[0]!r}. Convert labels to strings."
            ) from error
        objects = mixed if plain.ndim == 1 else np.array(y, dtype=object)
        # Beside NaN or a fraction whole numbers became floats, and long ones lost digits: see _typed.
        lost_digits = plain.dtype.kind == "f" and any(
            isinstance(label, int) and abs(label) > _LARGEST_EXACT_FLOAT for label in objects.reshape(-1).tolist()
        )
        y = plain if plain.dtype.kind in "iufb" and not lost_digits else objects
    elif hasattr(y, "to_numpy"):
        y = y.to_numpy()
    values: npt.NDArray[Any] = column_or_1d(y, warn=True)
    return values


def is_missing(value: object) -> bool:
    """Return whether a value stands for a label that nobody gave: None, NaN, or what pandas has for them."""
    # pandas.NA answers comparisons with itself, hence the name test; NaN is the only float unequal to itself.
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float | np.floating) and value != value)
        or (isinstance(value, np.datetime64 | np.timedelta64) and np.isnat(value))
    )


def _is_number(value: object) -> bool:
    # NumPy counts spans of time among its whole numbers.
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_ | np.timedelta64)


def _is_minus_one(value: object) -> bool:
    return _is_number(value) and value == UNLABELED


def _is_mark_in_text(value: object) -> bool:
    return isinstance(value, str) and value.strip() in _MARKS_AS_TEXT


def _typed(given: npt.NDArray[Any]) -> npt.NDArray[Any]:
    kinds = {_kind(v) for v in given.tolist()}
    if len(kinds) > 1:
        raise ValueError(
            f"The labels mix {' and '.join(sorted(kinds))}, for example {given[0]!r}: classes cannot be put in "
            "order. Convert all labels to one type."
        )
    values = given.tolist()
    try:
        typed = np.array(values)
    except ValueError:  # collections of different lengths
        typed = given
    if typed.dtype == object or typed.ndim != 1:  # collections of the same length make a matrix
        raise ValueError(
            f"Labels of type {type(given[0]).__name__} cannot be sorted into classes, for example {given[0]!r}. "
            "Convert them to strings or numbers."
        )
    if typed.dtype.kind in "USf":
        # NumPy drops null characters at the end of a text, and the last digits of large numbers beside fractions.
        for value, stored in zip(values, typed.tolist(), strict=True):
            if value != stored:
                raise ValueError(
                    f"The label {value!r} would become {stored!r} in an array. Use labels without a null character at "
                    "the end, and numbers below 2**53, or strings."
                )
    return typed


def _kind(value: object) -> str:
    """Return what a label is, in one word for NumPy's and Python's own types."""
    if _is_number(value):
        return "a number"
    if isinstance(value, str):
        return "str"
    return "bool" if isinstance(value, bool | np.bool_) else type(value).__name__


def _listed(items: list[Any], most: int = 8) -> str:
    shown = ", ".join(repr(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, … ({len(items)} classes)"
