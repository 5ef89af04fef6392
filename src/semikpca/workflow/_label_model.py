"""Models as they are used on another table, of classes and of numbers."""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from semikpca._typing import FloatArray, IntArray
from semikpca.exceptions import ModelFileError, TableError, TextEncoderError
from semikpca.labeling import reach_of
from semikpca.tables import (
    EMBEDDING,
    ColumnRoles,
    Table,
    empty_rows,
    label_columns,
    listed,
    named_rows,
    number_columns,
    replaced_columns,
    with_columns,
    with_unfolded_vectors,
)
from semikpca.workflow._label import COMMONEST_LABEL, MEAN_NUMBER, Progress, text_reader
from semikpca.workflow._labeled import hidden
from semikpca.workflow._numbered import COVERAGE, hidden_numbers
from semikpca.workflow._rows import printable
from semikpca.workflow._value_estimate import amount


@dataclass(frozen=True)
class LabelModel:
    """A classifier with all that it takes to use it on another table.

    Attributes
    ----------
    vectorizer : fitted transformer
    model : fitted SemiKPCAClassifierCV
    roles : ColumnRoles
    feature_names : tuple of str
        The columns that it learned from.
    versions : dict of str to str
        What it was made with.
    warnings : tuple of str
        Other versions that are installed here.
    """

    vectorizer: Any
    model: Any
    roles: ColumnRoles
    feature_names: tuple[str, ...]
    versions: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def surplus_columns(self, table: Table) -> list[str]:
        """Return the columns of a table that the model does not know, and that no earlier run added."""
        known = {
            *self.feature_names,
            self.roles.label,
            self.roles.id,
            *self.roles.exclude,
            *self.replaced_columns(table),
        }
        return [str(name) for name in table.features.columns if name not in known]

    def predict_table(
        self, table: Table, *, labels_only: bool = False, progress: Progress | None = None
    ) -> pd.DataFrame:
        """Return a table as it was, or what its rows are found by, with what is predicted for each row.

        Labels of an earlier run, which the model did not learn from, go. Columns are found by their names. A category
        that was never seen is like a missing one. Reading texts is reported to ``progress``.
        """
        features = self.learned_from(table)
        try:
            X = self.vectorizer.transform(features, reader=text_reader(table, progress))
            added = self._answers(X, empty_rows(features, self.feature_names))
        except (TableError, TextEncoderError, MemoryError):
            raise
        except Exception as error:  # the parts of a model that somebody put together need not fit each other
            raise ModelFileError(
                f"The model has no answer for this table ({type(error).__name__}: {error}). Train it again with "
                "semikpca label --save."
            ) from error
        before = named_rows(table, self.roles.id)
        if not labels_only:
            before = table.written.drop(columns=self.replaced_columns(table))
        return with_columns(before, added)

    def _answers(self, X: FloatArray, empty: IntArray) -> dict[str, Any]:
        """Return what is predicted for rows, by the names of columns; ``empty`` rows have nothing to go by."""
        decision = hidden(self.model.decision_function(X), empty)
        codes = self.model.decision_codes(decision)
        labels = np.array(self.model.label_coding_.decode(codes).tolist(), dtype=object)
        return label_columns(labels, self.model.decision_probabilities(decision)[np.arange(len(codes)), codes])

    def in_words(self, frame: pd.DataFrame) -> str:
        """Return what :meth:`predict_table` has found, in a few words."""
        labels, confidence = frame[frame.columns[-2]], frame[frame.columns[-1]]
        shares = ", ".join(f"{printable(name)} {count:,}" for name, count in Counter(labels).most_common(8))
        return f"{len(frame):,} rows labeled ({shares}), mean confidence {confidence.mean():.2f}"

    @property
    def of_empty_rows(self) -> str:
        """What rows get that have nothing to go by."""
        return COMMONEST_LABEL

    def replaced_columns(self, table: Table) -> list[str]:
        """Return the labels of an earlier run in a table; the model may have learned from such columns itself."""
        return replaced_columns(table, replace(self.roles, keep=self.feature_names))

    def learned_from(self, table: Table) -> pd.DataFrame:
        """Return the columns of a table that the model learned from, or refuse one that lacks some."""
        features = table.features
        missing = [name for name in self.feature_names if name not in features.columns]
        if missing and table.is_array:  # models were once made of a column for each number of an array
            features = with_unfolded_vectors(features, missing)
            missing = [name for name in missing if name not in features.columns]
        if missing:
            hint = f" --embeddings FILE brings the vectors {EMBEDDING!r}." if EMBEDDING in missing else ""
            raise TableError(
                f"{table.path or 'The table'} lacks {_columns(missing)}, which the model learned from. It has "
                f"{_columns(features.columns)}.{hint}"
            )
        return features[list(self.feature_names)]


@dataclass(frozen=True)
class NumberModel(LabelModel):
    """The same for numbers: a regressor, and how far it was off at numbers that were left out.

    Attributes
    ----------
    errors : tuple of float
        Absolute errors at left-out numbers, which intervals are made of.
    decimals : int
        Of predicted numbers that are written.
    coverage : float
        The share of numbers that are to be in their intervals.
    """

    errors: tuple[float, ...] = ()
    decimals: int = 6
    coverage: float = COVERAGE

    def _answers(self, X: FloatArray, empty: IntArray) -> dict[str, Any]:
        values = hidden_numbers(self.model.predict(X), self.model, empty)
        reach = np.full(len(values), reach_of(np.array(self.errors), 1 - self.coverage))
        reach[empty] = np.inf
        return number_columns(*(np.round(ends, self.decimals) for ends in (values, values - reach, values + reach)))

    def in_words(self, frame: pd.DataFrame) -> str:
        """Return what :meth:`predict_table` has found, in a few words."""
        values = frame[frame.columns[-3]].to_numpy(dtype=float)
        low, middle, high = (amount(value, self.decimals) for value in np.quantile(values, (0, 0.5, 1)))
        reach = reach_of(np.array(self.errors), 1 - self.coverage)
        found = f"{len(frame):,} rows got a number, from {low} to {high}, half of them below {middle}"
        if not np.isfinite(reach):
            return f"{found}; too few numbers were given for intervals"
        return f"{found}; {100 * self.coverage:.3g}% of them are expected within {amount(reach, self.decimals)}"

    @property
    def of_empty_rows(self) -> str:
        """What rows get that have nothing to go by."""
        return MEAN_NUMBER


def _columns(names: Any) -> str:
    return f"the column{'' if len(names) == 1 else 's'} {listed(names, 8)}"
