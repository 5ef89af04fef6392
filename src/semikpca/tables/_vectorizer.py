"""From columns of any kind to numbers of a common scale."""

import json
import warnings
from collections.abc import Mapping
from copy import copy
from itertools import chain
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted
from skrub import DatetimeEncoder, StringEncoder, TableVectorizer

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.exceptions import TableError
from semikpca.tables._encoders import AUTO, EncoderIdentity, TextEncoder, encoder_like, find_encoder
from semikpca.tables._features import as_numbers, is_too_large, number_style, present_cells
from semikpca.tables._free_text import TextColumn, columns_to_embed, joined_texts, readable
from semikpca.tables._table import ColumnRoles, close_names, listed
from semikpca.tables._text_reading import TextReader
from semikpca.tables._vectors import as_matrix, vector_length

# Encoders learn from this many rows: by then it is known what a text is made of, and memory stays bounded.
MOST_ROWS_TO_LEARN_FROM = 10_000
ROWS_AT_ONCE = 10_000
# A column that spreads less than this, relative to the size of its values, differs by rounding only.
NO_SPREAD, NO_ENCODED_SPREAD = 1e-12, 1e-6  # encoders count in float32
LONGEST_CATEGORY = 1_000  # characters
KINDS = {"low_cardinality": "category", "high_cardinality": "text", "specific": "text", "datetime": "date"}
# What a text column weighs beside the text that it is joined to: next to nothing in the whole table, where the joined
# text stands for it. Kernels on the column alone take their scale from its own distances.
SHARE_OF_A_JOINED_COLUMN = 1e-6
PLURALS = {"number": "numbers", "date": "dates", "category": "categories", "text": "text", "vector": "vectors"}


def make_vectorizer(roles: ColumnRoles) -> "TableToNumbers":
    """Return an unfitted transformer from the feature columns of a table to numbers of a common scale."""
    return TableToNumbers(text=roles.text, text_encoder=roles.text_encoder, category=roles.category)


def feature_kinds(vectorizer: "TableToNumbers") -> dict[str, list[str]]:
    """Return the columns of each kind: "numbers", "dates", "categories", "text", "vectors"; "left out" if still."""
    kinds: dict[str, list[str]] = {}
    for name, count in feature_counts(vectorizer).items():
        if name in vectorizer.joined_:
            continue
        kind = PLURALS[vectorizer.kinds_[name]] if count else "left out"
        kinds.setdefault(kind, []).append(name)
    return {kind: kinds[kind] for kind in (*PLURALS.values(), "left out") if kind in kinds}


def feature_counts(vectorizer: "TableToNumbers") -> dict[str, int]:
    """Return how many numbers each column became, in the order of the columns; 0 where it was left out.

    What several columns became as one stands at the end.
    """
    counts = dict.fromkeys(map(str, vectorizer.feature_names_in_), 0)
    counts.update(zip(vectorizer.number_styles_, map(int, vectorizer.varies_), strict=True))
    counts.update({name: len(scale) for name, scale in vectorizer.scales_.items()})
    return counts


def kinds_in_words(vectorizer: "TableToNumbers") -> dict[str, list[str]]:
    """Return the columns of each kind for people; a vector with its length, as in "embedding (384 numbers)"."""
    kinds, counts = feature_kinds(vectorizer), feature_counts(vectorizer)
    vectors = {"vectors": [f"{name} ({counts[name]:,} numbers)" for name in kinds.get("vectors", ())]}
    return {**kinds, **vectors} if vectors["vectors"] else kinds


def feature_places(vectorizer: "TableToNumbers") -> dict[str, range]:
    """Return which of the numbers of a row each column became, in their order; none where it was left out."""
    counts = feature_counts(vectorizer)
    ordered = [*vectorizer.number_styles_, *vectorizer.steps_]
    places = dict.fromkeys(counts, range(0))
    start = 0
    for name in ordered:
        places[name] = range(start, start + counts[name])
        start += counts[name]
    return places


def text_reading(vectorizer: "TableToNumbers") -> str:
    """Return in words how the columns of text were read; "" where there are none."""
    texts = feature_kinds(vectorizer).get("text", [])
    letters = [name for name in texts if name not in vectorizer.embedded_]
    parts = []
    if vectorizer.encoder_ is not None:
        encoder = vectorizer.encoder_
        read_so = f" ({listed(vectorizer.embedded_, 5)})" if letters else ""
        parts.append(f"by its meaning, with {encoder.name} ({encoder.version}){read_so}")
    if letters:
        parts.append("by its letters" + (f" ({listed(letters, 5)})" if parts else ""))
    return f"Text was read {' and '.join(parts)}." if parts else ""


class TableToNumbers(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Numbers of a common scale from columns of any kind.

    Numbers get mean 0 and variance 1. Free text becomes vectors by a text encoder; categories, dates and short texts
    are encoded by skrub's ``TableVectorizer``. Each of these columns is scaled as a whole, so that what encodes it
    does not drown a number: a category and a date weigh as much as one number, a text or a vector as much as
    ``text_weight`` of them. Missing numbers, dates and vectors become the mean, a missing category is a category of
    its own, and a missing text has the vector zero. Columns that do not vary are left out.

    What a column is (number, category, date, text) is found in ``fit``. In ``transform`` columns are looked up by
    name, and a cell that does not fit what its column is gets refused.

    Columns in ``text`` are text and those in ``category`` categories, whatever they contain. ``text_encoder`` reads
    texts, see :func:`find_encoder`; those that are compared by their letters become up to ``n_text_components``
    numbers.
    """

    category: tuple[str, ...] = ()  # of those in model files from before there were any

    def __init__(
        self,
        text: tuple[str, ...] = (),
        text_weight: float = 6.0,
        n_text_components: int = 30,
        random_state: int = 0,
        text_encoder: str = AUTO,
        category: tuple[str, ...] = (),
    ) -> None:
        self.text = text
        self.text_weight = text_weight
        self.n_text_components = n_text_components
        self.random_state = random_state
        self.text_encoder = text_encoder
        self.category = category

    def fit(self, X: pd.DataFrame, y: Any = None, *, reader: TextReader | None = None) -> "TableToNumbers":
        """Find out what each column is, and learn how to encode and to scale it.

        A reader reads the texts of all rows, so that :meth:`transform` with the same one need not read them again.
        """
        self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        styles = {name: number_style(X[name]) for name in X.columns if name not in self._declared}
        # How the cells of each column of numbers are written.
        self.number_styles_ = {name: style for name, style in styles.items() if style is not None}
        # "number", "category", "date", "text" or "vector" for each column that is learned from.
        self.kinds_ = dict.fromkeys(self.number_styles_, "number")
        self._fit_numbers(X)
        self._fit_others(X, reader)
        self.n_outputs_ = sum(feature_counts(self).values())
        if not self.n_outputs_:
            raise TableError(f"No column varies, so there is nothing to learn from: {listed(X.columns)}.")
        return self

    def fit_transform(
        self, X: pd.DataFrame, y: Any = None, *, reader: TextReader | None = None
    ) -> npt.NDArray[np.float32]:
        """Fit to the rows and return them as numbers; texts are read once."""
        reader = TextReader() if reader is None else reader
        return self.fit(X, reader=reader).transform(X, reader=reader)

    def transform(self, X: pd.DataFrame, *, reader: TextReader | None = None) -> npt.NDArray[np.float32]:
        """Return the rows as numbers, shape (n_rows, n_outputs_): finite, whatever is missing.

        Raises
        ------
        TextEncoderError
            Where the encoder of texts is another one here than in ``fit``.
        """
        check_is_fitted(self, "n_outputs_")
        for name in self.feature_names_in_:
            if name not in X.columns:
                close = close_names(name, X.columns)
                meant = f" Is it {' or '.join(map(repr, close))} here? Rename it." if close else ""
                raise TableError(f"The column {name!r}, which was learned from, is missing.{meant}")
        encoder = self.encoder()
        reader = TextReader() if reader is None else reader
        texts = {} if encoder is None else {n: self._text_column(n, X, encoder, reader) for n in self.embedded_}
        result = np.empty((len(X), self.n_outputs_), dtype=np.float32)
        for start in range(0, len(X), ROWS_AT_ONCE):
            rows = X.iloc[start : start + ROWS_AT_ONCE]
            blocks = [self._scaled_numbers(rows, start)]
            for name in self.steps_:
                is_embedded, here = name in texts, slice(start, start + len(rows))
                encoded = texts[name].rows(here) if is_embedded else self._encoded(rows[name], start)
                blocks.append(self._scaled(name, encoded))
            np.concatenate(blocks, axis=1, out=result[start : start + len(rows)], casting="same_kind")
        return result

    def encoder(self) -> TextEncoder | None:
        """Return what reads the texts, once it was found to be the same as in ``fit``; None where nothing does."""
        return None if self.encoder_ is None else encoder_like(self.encoder_)

    # -- numbers ---------------------------------------------------------------------------------------------------

    def _fit_numbers(self, X: pd.DataFrame) -> None:
        values = self._numbers(X, 0)
        with np.errstate(invalid="ignore"):  # of a NaN that is marked as signaling, as damaged files have them
            # All columns of numbers at once: they may be hundreds.
            self.scaler_ = StandardScaler().fit(values) if values.shape[1] else None
        spread, size = ([], []) if self.scaler_ is None else (np.sqrt(self.scaler_.var_), np.abs(self.scaler_.mean_))
        self.varies_ = np.asarray(spread) > NO_SPREAD * np.asarray(size)

    def _scaled_numbers(self, rows: pd.DataFrame, start: int) -> FloatArray:
        values = self._numbers(rows, start)
        if self.scaler_ is not None:
            with np.errstate(invalid="ignore"):
                values = self.scaler_.transform(values)[:, self.varies_]
        return _without_nan(values)

    def _numbers(self, rows: pd.DataFrame, start: int) -> FloatArray:
        names = list(self.number_styles_)
        values: FloatArray
        if names and (rows[names].dtypes == np.float32).all():
            values = rows[names].to_numpy()  # embeddings: as they are
        else:
            values = np.empty((len(rows), len(names)))
            for place, name in enumerate(names):
                column = as_numbers(rows[name], self.number_styles_[name])
                _refuse_misfits(rows[name], column.isna().to_numpy(), start, "number")
                values[:, place] = column
        beyond = np.argwhere(is_too_large(values))
        if len(beyond):
            row, place = beyond[0]
            _refuse_too_large(rows[names[place]], start + row, values[row, place])
        return values

    # -- categories, dates, text -----------------------------------------------------------------------------------

    def _fit_others(self, X: pd.DataFrame, reader: TextReader | None) -> None:
        sample = np.arange(len(X))
        if len(X) > MOST_ROWS_TO_LEARN_FROM:
            order = np.random.RandomState(self.random_state).permutation(len(X))
            sample = np.sort(order[:MOST_ROWS_TO_LEARN_FROM])
        rows = X.iloc[sample]
        # What TableVectorizer does with each column, step by step; nothing for texts that an encoder reads. It is not
        # kept itself: it refers to each encoder from many places, and in a stored model each would be a copy.
        self.steps_: dict[str, list[Any]] = {}
        # Which of the numbers that encode a column vary, what is subtracted from them, and what multiplies them.
        self.kept_: dict[str, BoolArray] = {}
        self.centers_: dict[str, FloatArray] = {}
        self.scales_: dict[str, FloatArray] = {}
        names = [name for name in X.columns if name not in self.number_styles_ and present_cells(rows[name]).any()]
        vectors = [name for name in names if name not in self._declared and vector_length(rows[name]) is not None]
        names = [name for name in names if name not in vectors]
        encoder = find_encoder(self.text_encoder)
        embedded: list[str] = []
        self.notes_: tuple[str, ...] = ()
        if encoder is not None:
            open_ones = [name for name in names if name not in self.category]
            embedded, self.notes_ = columns_to_embed(rows[open_ones], self.text, encoder, self.text_encoder)
        # Several texts of a row, such as a subject and a message, say more as one than side by side.
        self.joined_ = {_joined_name(embedded): tuple(embedded)} if len(embedded) > 1 else {}
        self._fit_by_skrub(rows[[name for name in names if name not in embedded]])
        self.embedded_: tuple[str, ...] = ()
        for name in [*embedded, *self.joined_]:
            self._fit_text(name, X, sample, encoder, reader)
        self.encoder_: EncoderIdentity | None = encoder.identity if encoder is not None and self.embedded_ else None
        for name in vectors:
            self.steps_[name], self.kinds_[name] = [], "vector"
            self._fit_scale(name, self._encoded(rows[name], 0))

    def _fit_text(self, name: str, X: pd.DataFrame, sample: IntArray, encoder: Any, reader: TextReader | None) -> None:
        if reader is None:
            vectors = self._text_column(name, X.iloc[sample], encoder, TextReader()).rows()
        else:
            vectors = self._text_column(name, X, encoder, reader).rows(sample)
        self.steps_[name], self.kinds_[name] = [], "text"
        self._fit_scale(name, vectors)
        self.embedded_ += (name,) if name in self.kinds_ else ()

    def _text_column(self, name: str, X: pd.DataFrame, encoder: TextEncoder, reader: TextReader) -> TextColumn:
        column = joined_texts(X[list(self.joined_[name])]) if name in self.joined_ else X[name]
        return TextColumn.read(column, encoder, reader)

    def _fit_by_skrub(self, rows: pd.DataFrame) -> None:
        if rows.empty:
            return
        category = [name for name in rows.columns if name in self.category]
        text = [name for name in rows.columns if name in self.text or (name not in category and _is_long(rows[name]))]
        vectorizer = self._table_vectorizer(text, category, len(rows))
        with warnings.catch_warnings():
            # Few texts, or short ones, have few n-grams: then each n-gram is a column.
            warnings.filterwarnings("ignore", "The matrix shape is", UserWarning)
            vectorizer.fit(pd.DataFrame({name: self._readable(rows[name]) for name in rows.columns}))
        for name, kind in vectorizer.column_to_kind_.items():
            steps = vectorizer.all_processing_steps_[name]
            # The last step only casts the outputs, one by one, to float32.
            self.steps_[name] = [step for step in steps if not isinstance(step, Mapping)]
            self.kinds_[name] = "category" if name in category else KINDS[kind]
            self._fit_scale(name, self._encoded(rows[name], 0))

    def _readable(self, column: pd.Series) -> pd.Series:
        """Return the cells as skrub takes them: dates as dates, unless they were said to be something else."""
        if column.name in self.category and pd.api.types.is_datetime64_any_dtype(column.dtype):
            column = column.astype(object).where(column.notna(), None)
        return readable(column, column.name in self.text)

    @property
    def _declared(self) -> tuple[str, ...]:
        return (*self.text, *self.category)

    def _table_vectorizer(self, text: list[str], category: list[str], n_rows: int) -> Any:
        # A truncated SVD has fewer components than rows.
        n_components = max(1, min(self.n_text_components, n_rows - 1))
        encoder = StringEncoder(n_components=n_components, random_state=self.random_state)
        one_hot = OneHotEncoder(sparse_output=False, dtype="float32", handle_unknown="ignore")
        return TableVectorizer(
            low_cardinality=one_hot,
            high_cardinality=encoder,
            datetime=DatetimeEncoder(add_weekday=True),
            specific_transformers=[(how, names) for how, names in ((encoder, text), (one_hot, category)) if names],
        )

    def _fit_scale(self, name: str, encoded: FloatArray) -> None:
        center, spread = np.nanmean(encoded, axis=0), np.nanstd(encoded, axis=0)
        is_vector = self.kinds_[name] == "vector"  # whose numbers may all be tiny
        kept = spread > (
            NO_SPREAD * np.abs(center) if is_vector else NO_ENCODED_SPREAD * np.maximum(np.abs(center), 1.0)
        )
        if not kept.any():
            del self.steps_[name], self.kinds_[name]
            return
        center, spread = center[kept], spread[kept]
        # The parts of a date have units of their own (days, months); those of a category, text or vector share one.
        unit = spread if self.kinds_[name] == "date" else np.ones_like(spread)
        weight = self.text_weight if self.kinds_[name] in ("text", "vector") else 1.0
        weight *= SHARE_OF_A_JOINED_COLUMN if any(name in columns for columns in self.joined_.values()) else 1.0
        self.kept_[name] = kept
        self.centers_[name] = center
        self.scales_[name] = np.sqrt(weight / np.sum((spread / unit) ** 2)) / unit

    def _scaled(self, name: str, encoded: FloatArray) -> FloatArray:
        return _without_nan((encoded[:, self.kept_[name]] - self.centers_[name]) * self.scales_[name])

    def _encoded(self, column: pd.Series, start: int) -> FloatArray:
        name = str(column.name)
        if self.kinds_[name] == "vector":
            return self._vectors(column, start)
        # Cells repeat, and each is encoded once.
        places, cells = pd.factorize(self._readable(column), use_na_sentinel=False)
        encoded = pd.Series(cells, name=name)
        for step in self.steps_[name]:
            encoded = step.transform(encoded.to_frame() if isinstance(step, OneHotEncoder) else encoded)
        values: FloatArray = np.asarray(encoded, dtype=np.float64)[places]
        if self.kinds_[name] == "date":
            _refuse_misfits(column, np.isnan(values[:, 0]), start, "date")
        return values

    def _vectors(self, column: pd.Series, start: int) -> FloatArray:
        length = len(self.kept_[name]) if (name := str(column.name)) in self.kept_ else vector_length(column)
        values = as_matrix(column, length or 0, start)
        beyond = np.argwhere(is_too_large(values))
        if len(beyond):
            _refuse_too_large(column, beyond[0][0] + start, values[tuple(beyond[0])])
        return values

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with each vocabulary as one text: skops would write a node for each of its n-grams."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "steps_" in state:
            state["steps_"] = {name: [_folded(step) for step in steps] for name, steps in self.steps_.items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore what :meth:`__getstate__` has folded."""
        super().__setstate__(state)
        for step in chain.from_iterable(getattr(self, "steps_", {}).values()):
            if isinstance(step, StringEncoder) and isinstance(step.vectorizer_.vocabulary_, str):
                words = json.loads(step.vectorizer_.vocabulary_)
                step.vectorizer_.vocabulary_ = {word: place for place, word in enumerate(words)}


def _joined_name(columns: list[str]) -> str:
    return f"{', '.join(columns[:-1])} and {columns[-1]} as one"


def _folded(step: Any) -> Any:
    if not isinstance(step, StringEncoder):
        return step
    step = copy(step)
    step.vectorizer_ = copy(step.vectorizer_)
    words = step.vectorizer_.vocabulary_
    step.vectorizer_.vocabulary_ = json.dumps(sorted(words, key=words.__getitem__))
    return step


def _is_long(column: pd.Series) -> bool:
    """Whether a column has cells too long for a category or a date.

    Skrub would try each as a date, with a parser whose time grows with the square of the length.
    """
    return any(isinstance(cell, str) and len(cell) > LONGEST_CATEGORY for cell in column)


def _without_nan(values: FloatArray) -> FloatArray:
    values[np.isnan(values)] = 0.0
    return values


def _refuse_too_large(column: pd.Series, row: int, value: float) -> NoReturn:
    raise TableError(
        f"Column {str(column.name)!r}, data row {row + 1}: {value:g} is infinite or too large. Empty the cell or "
        "correct it, or leave the column out."
    )


def _refuse_misfits(column: pd.Series, is_nan: BoolArray, start: int, kind: str) -> None:
    """Refuse cells that hold something else than what their column is made of."""
    if is_nan.any() and (misfits := is_nan & present_cells(column)).any():
        row = int(np.flatnonzero(misfits)[0])
        raise TableError(
            f"Column {str(column.name)!r}, data row {start + row + 1}: {column.iloc[row]!r} is no {kind}, as the cells "
            "of this column were when it was learned from. Correct the cell or empty it."
        )
