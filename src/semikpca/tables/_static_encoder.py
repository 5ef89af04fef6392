"""``static``: the mean of the vectors of word pieces that come inside the wheel of the package wordllama.

The package itself is never imported: its import sets up logging for the whole program, and its own encoder takes as
much memory for each text of a batch as for the longest one.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from semikpca.exceptions import TextEncoderError
from semikpca.tables._encoders import STATIC, EncoderIdentity, Knowledge, TextEncoder, Vectors, checksum_of, unit_rows

PACKAGES = ("wordllama", "tokenizers", "safetensors")
WEIGHTS, TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
# Of a script other than Latin: letters of a word piece, on average, below which pieces are single letters, or parts of
# them, and nothing is left of words. Russian has 2.0, Greek 0.8 (docs/decisions/0022-text-encoders.md).
FEWEST_LETTERS_OF_A_PIECE = 1.5
LAST_LATIN_LETTER = 0x24F
# Where a letter is a word, or half of one, its vector says something even in parts.
WORD_LETTERS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
# What a language is shows in its commonest words. Those that are common in English as well are left out of the others.
ENGLISH = frozenset(
    "the of and to a in is it you that he was for on are with as i his they be at one have this from or had by not but "
    "what all were when we there can an your which their if do will how about out up them then she would so these has "
    "her my me our been no its who did get please".split()
)
OTHERS = frozenset(
    "der das und ist nicht ich sie mit für auf ein eine den dem zu wir auch sich von im "  # codespell:ignore
    "wird haben le la les et est pas une des du que qui dans pour sur avec je nous vous au "  # codespell:ignore
    "ce sont el los las y es por con para del se lo su pero más il di che è non per della "  # codespell:ignore
    "gli não uma os em het een van niet dat voor ook nie się jest na że och att det är "  # codespell:ignore
    "inte som da za pa ni ki bir ve bu için ja ei että og af av i på ca nu și en um pe cu "  # codespell:ignore
    "că és az hogy".split()  # codespell:ignore
).difference(ENGLISH)


class StaticEncoder(TextEncoder):
    """Mean of the vectors of word pieces, brought to length 1."""

    def __init__(self, weights: Path, tokenizer: Path, made_by: str) -> None:
        self.weights, self.tokenizer, self.made_by = weights, tokenizer, made_by

    @cached_property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(STATIC, self.made_by, checksum_of([self.weights, self.tokenizer]))

    def encode(self, texts: Sequence[str]) -> Vectors:
        counts, pieces = self._counts(texts)
        return unit_rows(counts @ (pieces @ self._vectors))

    def knowledge(self, texts: Sequence[str]) -> Knowledge:
        counts, pieces = self._counts(texts)
        words = [word.strip(".,;:!?\"'()").lower() for text in texts for word in text.split()]
        letters = [letter for word in words for letter in word if letter.isalpha()]
        if not letters:
            return "nothing"
        if sum(ord(letter) > LAST_LATIN_LETTER for letter in letters) > len(letters) / 2:
            n_pieces = float(np.sum(counts @ np.asarray(pieces.sum(axis=1))))
            has_word_letters = len(WORD_LETTERS.findall("".join(letters))) > len(letters) / 2
            return "little" if has_word_letters or len(letters) >= FEWEST_LETTERS_OF_A_PIECE * n_pieces else "nothing"
        is_foreign = sum(word in OTHERS for word in words) > sum(word in ENGLISH for word in words)
        return "little" if is_foreign else "much"

    def _counts(self, texts: Sequence[str]) -> tuple[Any, Any]:
        """Return the words of each text and the pieces of each word, as two sparse matrices.

        No piece reaches over a blank, so each distinct word is cut up once. Entries stand in the order of the text,
        unsorted: sums then come out the same to the last bit, whichever texts are encoded together.
        """
        words = [text.split() for text in texts]
        places = {word: place for place, word in enumerate(dict.fromkeys(chain.from_iterable(words)))}
        cut = self._tokenizer.encode_batch(list(places), add_special_tokens=False)
        return (
            _count_matrix([[places[word] for word in text] for text in words], len(places)),
            _count_matrix([piece.ids for piece in cut], len(self._vectors)),
        )

    @cached_property
    def _vectors(self) -> Vectors:
        from safetensors.numpy import load_file

        (table,) = load_file(self.weights).values()
        vectors: Vectors = table.astype(np.float32)
        return vectors

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.tokenizer))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


def static_is_installed() -> bool:
    """Whether the weights and what reads them are there."""
    return not any(find_spec(package) is None for package in PACKAGES) and all(file.exists() for file in _files())


def static_encoder() -> StaticEncoder:
    """Return the encoder, or say what is missing."""
    missing = [package for package in PACKAGES if find_spec(package) is None]
    if missing:
        raise TextEncoderError(
            f"The text encoder static needs the package {' and '.join(missing)}: pip install 'semikpca[label]' "
            "'wordllama<0.5'. Without it, --text-encoder ngrams compares texts by their letters."
        )
    lost = [file for file in _files() if not file.exists()]
    if lost:
        raise TextEncoderError(
            f"The package wordllama {_version()} has no file {lost[0].name}, which the text encoder static reads. "
            "Install one that has it: pip install 'semikpca[label]'."
        )
    return StaticEncoder(*_files(), made_by=f"wordllama {_version()}")


def _files() -> tuple[Path, Path]:
    found = find_spec("wordllama")
    assert found is not None
    assert found.submodule_search_locations is not None
    folder = Path(found.submodule_search_locations[0])
    return folder / WEIGHTS, folder / TOKENIZER


def _version() -> str:
    try:
        return version("wordllama")
    except PackageNotFoundError:  # copied to the path without its metadata
        return "of an unknown version"


def _count_matrix(rows: list[list[int]], width: int) -> Any:
    ends = np.cumsum([0, *map(len, rows)])
    places: npt.NDArray[np.intp] = np.fromiter(chain.from_iterable(rows), np.intp, ends[-1])
    return sparse.csr_array((np.ones(len(places), np.float32), places, ends), shape=(len(rows), width))
