"""Numbers that are known for some rows: real targets, in which NaN marks an unlabeled row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.labels import UNLABELED, is_missing


@dataclass(frozen=True)
class TargetValues:
    """The given numbers; a row has all of its targets or none."""

    values: FloatArray  # shape (n_samples, n_targets), NaN in unlabeled rows
    is_one_column: bool  # whether y was one column without a second dimension, and answers are to be

    @property
    def is_labeled(self) -> BoolArray:
        """Whether each row is labeled."""
        return np.asarray(~np.isnan(self.values[:, 0]))

    @property
    def labeled_rows(self) -> IntArray:
        """Row numbers of the labeled rows, ascending."""
        return np.flatnonzero(self.is_labeled)

    @property
    def marks(self) -> IntArray:
        """0 for labeled rows, ``UNLABELED`` for all others: all that reach asks of labels."""
        return np.where(self.is_labeled, 0, UNLABELED)

    @property
    def given(self) -> FloatArray:
        """The targets of the labeled rows, shape (n_labeled, n_targets)."""
        return np.asarray(self.values[self.labeled_rows])

    @property
    def n_targets(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def changed(self, rows: IntArray, values: FloatArray) -> "TargetValues":
        """Return the targets with other values at some rows, NaN where they are taken away; one must be left."""
        after = self.values.copy()
        after[rows] = values
        if np.isnan(after).all():
            raise ValueError(f"All {len(self.labeled_rows)} labels would be taken away. Leave one at least.")
        return TargetValues(after, self.is_one_column)

    def without(self, rows: IntArray) -> "TargetValues":
        """Return the targets without those of some rows."""
        return self.changed(rows, np.full((len(rows), self.n_targets), np.nan))

    def shaped(self, columns: FloatArray) -> FloatArray:
        """Return answers with a column for each target in the shape that y had."""
        return columns[:, 0] if self.is_one_column else columns


def encode_values(y: Any) -> TargetValues:
    """Return the targets in ``y``, in which NaN (or None) marks an unlabeled row; -1 is a number like any other.

    Examples
    --------
    >>> targets = encode_values([1.5, None, -1.0])
    >>> targets.labeled_rows.tolist(), targets.given[:, 0].tolist()
    ([0, 2], [1.5, -1.0])
    """
    values = as_numbers(y)
    if values.ndim not in (1, 2) or (values.ndim == 2 and not values.shape[1]):
        raise ValueError(f"y must have shape (n_samples,) or (n_samples, n_targets), got {values.shape}.")
    table = values.reshape(len(values), -1)
    require_whole_rows(table)
    if np.isnan(table).all():
        raise ValueError(f"No label is given: all {len(table)} rows of y are unlabeled (NaN). Label at least one row.")
    return TargetValues(table, values.ndim == 1)


def as_numbers(y: Any) -> npt.NDArray[np.float64]:
    """Return values as floats, NaN where they are missing; refuse what is no number, and infinity."""
    values = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{values!r}\n")
    if values.dtype.kind not in "iufb":
        flat = [np.nan if is_missing(value) else _number(value) for value in values.reshape(-1).tolist()]
        values = np.array(flat, dtype=np.float64).reshape(values.shape)
    numbers = values.astype(np.float64)
    if np.isinf(numbers).any():
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'). Mark unlabeled rows with NaN."
        )
    return numbers


def require_whole_rows(table: FloatArray) -> None:
    """Refuse rows in which some targets are known and others are not."""
    missing = np.isnan(table)
    partly = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
    if partly.size:
        raise ValueError(
            f"Row {partly[0]} of y has some of its {table.shape[1]} targets and lacks others (NaN); {len(partly)} rows "
            "do. Give all targets of a row or none, or fit a model for each column."
        )


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # whatever it is: what is no number is refused below
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y has {value!r}, which is no number. Regressors fill in numbers; for classes use SemiKPCAClassifierCV."
        ) from error
