"""What makes vectors of texts: one interface, the names that encoders go by, and how one is known again.

``ngrams`` stands for the letters of a text. What letters say is learned from each table, so it is no encoder here:
:class:`~semikpca.tables.TableToNumbers` leaves such columns to skrub.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from semikpca.exceptions import TextEncoderError
from semikpca.tables._cleaning import CLEANING_VERSION

Vectors: TypeAlias = npt.NDArray[np.float32]
Knowledge: TypeAlias = Literal["much", "little", "nothing"]

AUTO, STATIC, NGRAMS = "auto", "static", "ngrams"
_SHOWN_DIGITS = 12


@dataclass(frozen=True)
class EncoderIdentity:
    """What tells two encoders apart; stored models carry it in place of the weights.

    Attributes
    ----------
    name : str
        ``static``, or the name or folder of a model.
    version : str
        Package and version that the weights or the program come from. Two versions with the same files are one encoder.
    checksum : str
        SHA-256 of the weights and of what cuts texts into tokens.
    cleaning : int
        Version of the rules by which texts are made plain first.
    """

    name: str
    version: str
    checksum: str
    cleaning: int = CLEANING_VERSION

    def __str__(self) -> str:
        return f"{self.version}, sha256 {self.checksum[:_SHOWN_DIGITS]}, cleaning {self.cleaning}"


class TextEncoder(ABC):
    """Texts in, vectors of length 1 out; each text by itself, so that it does not matter which ones come together."""

    @property
    @abstractmethod
    def identity(self) -> EncoderIdentity:
        """What it is known again by; found without loading it where that takes long."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return plain texts as rows of length 1; zeros for a text that nothing is known of."""

    def knowledge(self, texts: Sequence[str]) -> Knowledge:
        """Return what the vectors of plain texts are worth, as far as it can be told from the texts alone."""
        return "much"


def find_encoder(name: str) -> TextEncoder | None:
    """Return the encoder of a name, or None for ``ngrams``; ``auto`` is ``static`` where it is installed.

    Any other name is the folder of a model of model2vec or sentence-transformers, or its name on Hugging Face. Nothing
    is ever downloaded.

    Raises
    ------
    TextEncoderError
        Where there is no such encoder on this computer; the message says how to get it.
    """
    from semikpca.tables._static_encoder import static_is_installed

    if name == AUTO:
        name = STATIC if static_is_installed() else NGRAMS
    return None if name == NGRAMS else _found(name)


def encoder_like(identity: EncoderIdentity) -> TextEncoder:
    """Return the encoder that a model was made with.

    Raises
    ------
    TextEncoderError
        Where it is missing, or is another one by now.
    """
    found = find_encoder(identity.name)
    if found is None or (found.identity.checksum, found.identity.cleaning) != (identity.checksum, identity.cleaning):
        here = "none" if found is None else str(found.identity)
        raise TextEncoderError(
            f"Its texts were read by the encoder {identity.name!r} ({identity}), and here that is another one "
            f"({here}), whose numbers mean something else. Install what it was made with ({identity.version}), or "
            "train it again with semikpca label --save."
        )
    return found


@lru_cache(maxsize=4)
def _found(name: str) -> TextEncoder:
    if name == STATIC:
        from semikpca.tables._static_encoder import static_encoder

        return static_encoder()
    if close := get_close_matches(name, (STATIC, NGRAMS, AUTO), n=1, cutoff=0.75):
        raise TextEncoderError(f"There is no text encoder {name!r}. Did you mean {close[0]}?")
    from semikpca.tables._library_encoders import library_encoder

    return library_encoder(name)


def checksum_of(files: Iterable[Path]) -> str:
    """Return one checksum for the contents of files, in their order; for a single file it is that of sha256sum."""
    digest = sha256()
    for file in files:
        with open(file, "rb") as stream:
            while block := stream.read(2**20):
                digest.update(block)
    return digest.hexdigest()


def unit_rows(values: npt.ArrayLike) -> Vectors:
    """Return rows of length 1; a row of zeros, or with something else than numbers in it, is zeros."""
    rows = np.asarray(values, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    usable = np.isfinite(lengths) & (lengths > 0)
    unit = np.where(usable, rows, 0) / np.where(usable, lengths, 1)
    return unit.astype(np.float32)
