"""Columns of free text: which ones they are, and the vectors of their cells."""

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from semikpca._typing import FloatArray, IntArray
from semikpca.tables._cleaning import LONGEST_TEXT, plain_text
from semikpca.tables._encoders import TextEncoder, Vectors
from semikpca.tables._features import LONGEST_CELL, as_text, is_missing, present_cells
from semikpca.tables._text_reading import TextReader

FEWEST_TEXTS = 40  # from so many different ones on, skrub takes a column for text too
SEEN_FOR_WORDS = 1_000
WORDS_OF_A_CODE, WORDS_OF_A_CATEGORY = 1.5, 4.0  # on average; free text has more
WORDS_OF_A_NAME = 2.5  # up to so many say who or what it is, and are compared by their letters
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")
_SEEN_FOR_DATES = 20
_LONGEST_DATE = 100  # characters
_WITHOUT_LETTERS = re.compile(r"(?<!\S)[\W\d_]+(?!\S)")
# Scripts without blanks between words: of these, two letters count as a word.
_WITHOUT_BLANKS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


def mean_words(cells: pd.Series) -> float:
    """Return how many words cells of text have, on average over the first thousand."""
    seen = [cell[:LONGEST_TEXT] for cell in cells.iloc[:SEEN_FOR_WORDS]]
    n_words = sum(len(cell.split()) + len(_WITHOUT_BLANKS.findall(cell)) / 2 for cell in seen)
    return n_words / max(1, len(seen))


def is_free_text(column: pd.Series) -> bool:
    """Whether the cells of a column are sentences rather than numbers, codes, names, categories or dates."""
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return False
    cells = _texts(column)
    # Telephone numbers and coordinates have blanks in them too.
    lettered = cells.iloc[:SEEN_FOR_WORDS].str.replace(_WITHOUT_LETTERS, " ", regex=True)
    n_words, n_different = mean_words(lettered), cells.nunique()
    if n_words <= WORDS_OF_A_NAME or _are_dates(cells):
        return False
    return n_different >= FEWEST_TEXTS or (n_words > WORDS_OF_A_CATEGORY and n_different > len(cells) / 2)


def _texts(column: pd.Series) -> pd.Series:
    """Return the cells that hold something, as text."""
    return pd.Series([as_text(cell) for cell in column[present_cells(column)]], dtype=object)


def _are_dates(cells: pd.Series) -> bool:
    seen = cells.iloc[:_SEEN_FOR_DATES]
    if seen.str.len().max() > _LONGEST_DATE:
        return False  # the parser of dates takes time that grows with the square of the length
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of time zones that are not known
        dates = pd.to_datetime(seen, errors="coerce", format="mixed", utc=True)
    return bool(dates.notna().all())


# -- which ones are read by their meaning ------------------------------------------------------------------------


def columns_to_embed(
    rows: pd.DataFrame, declared: Iterable[str], encoder: TextEncoder, asked_for: str
) -> tuple[list[str], tuple[str, ...]]:
    """Return the columns that an encoder is to read, and notes on those that it knows little of.

    These are the declared ones and those that look like free text. Where the encoder knows nothing of a language, a
    column is left to its letters, unless the encoder was asked for by its name.
    """
    chosen, notes = [], []
    for name in rows.columns:
        texts = _texts(rows[name])
        if name not in declared and not is_free_text(rows[name]):
            continue
        known = encoder.knowledge([plain_text(text) for text in texts.iloc[:SEEN_FOR_WORDS]])
        if known == "nothing" and asked_for != encoder.identity.name:
            notes.append(
                f"The texts of {name!r} are in a language or a script that the text encoder {encoder.identity.name} "
                f"knows nothing of: they are compared by their letters. {_OTHER_LANGUAGES}"
            )
            continue
        chosen.append(name)
        if known != "much":
            notes.append(
                f"The texts of {name!r} do not look English, and the text encoder {encoder.identity.name} knows "
                f"{known} of other languages. {_OTHER_LANGUAGES}"
            )
    return chosen, tuple(notes)


_OTHER_LANGUAGES = "A model of that language does better: --text-encoder with its name or folder."


# -- their cells -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextColumn:
    """The cells of a column as vectors of its different texts; zeros where a cell is empty."""

    places: IntArray
    vectors: Vectors

    @classmethod
    def read(cls, column: pd.Series, encoder: TextEncoder, reader: TextReader) -> "TextColumn":
        """Read each different text of a column once."""
        places, texts = pd.factorize(readable(column, is_text=True))
        return cls(places, reader.read(encoder, texts.tolist()))

    def rows(self, which: Any = slice(None)) -> FloatArray:
        """Return the vectors of some rows, or of all."""
        vectors: FloatArray = self.vectors[self.places[which]].astype(np.float64)
        return vectors


def joined_texts(columns: pd.DataFrame) -> pd.Series:
    """Return the texts of each row as one, those that are not empty in the order of the columns."""
    texts = [readable(columns[name], is_text=True) for name in columns]
    joined = ["\n".join(filter(str.strip, cells)) for cells in zip(*texts, strict=True)]
    return pd.Series(joined, columns.index, object)


def readable(column: pd.Series, is_text: bool) -> pd.Series:
    """Return dates as dates and everything else as text; a missing cell is None, or "" in a column of text."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype) and not is_text:
        return column
    empty = "" if is_text else None
    cells = [empty if is_missing(cell) else as_text(cell)[:LONGEST_CELL] for cell in column]
    return pd.Series(cells, column.index, object, column.name)
