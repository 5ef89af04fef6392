"""Vectors for many texts: each distinct text once, in chunks, and kept beside the table when that saves time."""

import io
import logging
import re
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import numpy as np

from semikpca._files import write_whole
from semikpca.tables._cleaning import LONGEST_TEXT, plain_text
from semikpca.tables._encoders import EncoderIdentity, TextEncoder, Vectors

logger = logging.getLogger("semikpca")

Progress: TypeAlias = Callable[[str, int, int], None]

READING_TEXTS = "Reading texts"
# Of a chunk: what is lost when a run is stopped, and what an encoder has to hold at once.
MOST_TEXTS, MOST_LETTERS = 4_096, 100 * LONGEST_TEXT
SECONDS_WORTH_KEEPING = 2.0
_CHUNK_NAME = re.compile(r"[0-9a-f]{64}\.npz")


def folder_beside(file: Path) -> Path:
    """Return the folder in which the vectors of the texts of a table are kept."""
    return file.with_name(f".{file.name}.semikpca-texts")


class TextReader:
    """Vectors of texts by any encoder, each chunk computed once while the reader lives.

    Once computing has taken more than two seconds, chunks are also written to a folder, under names made of the encoder
    and the texts in them. A run that was stopped goes on where it was, and the next run on the same texts computes
    nothing. Chunks that are damaged are computed again; a folder that cannot be written to is none.

    Parameters
    ----------
    folder : Path or None
        Where chunks are kept; None keeps none.
    progress : callable, optional
        Called with the name of the step, how many texts are done, and how many there are.
    """

    def __init__(self, folder: Path | None = None, progress: Progress | None = None) -> None:
        self.folder, self.progress = folder, progress
        self._chunks: dict[str, Vectors] = {}
        self._unwritten: set[str] = set()
        self._seconds = 0.0

    def read(self, encoder: TextEncoder, texts: Sequence[str]) -> Vectors:
        """Return a vector for each text, shape (n_texts, width); zeros where a text is blank."""
        parts: list[Vectors] = []
        done = 0
        for chunk in _chunks_of(texts):
            self._say(done, len(texts))
            parts.append(self._chunk(encoder, chunk))
            done += len(chunk)
        self._say(done, len(texts))
        width = max((part.shape[1] for part in parts), default=0)
        # A chunk of blank texts alone has no width yet.
        return np.concatenate([part if part.shape[1] else np.zeros((len(part), width), np.float32) for part in parts])

    def forget_others(self) -> None:
        """Take away chunks of earlier runs that were of no use now, so that the folder does not grow with each edit."""
        if self.folder is None or not self._chunks or not self.folder.is_dir():
            return
        try:
            for file in self.folder.iterdir():
                if _CHUNK_NAME.fullmatch(file.name) and file.stem not in self._chunks:
                    file.unlink(missing_ok=True)
        except OSError as error:
            logger.info("Old vectors stay in %s: %s", self.folder, error)

    def _say(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(READING_TEXTS, done, total)

    def _chunk(self, encoder: TextEncoder, texts: list[str]) -> Vectors:
        key = _key(encoder.identity, texts)
        if key not in self._chunks and (kept := self._kept(key, len(texts))) is not None:
            self._chunks[key] = kept
        if key not in self._chunks:
            start = time.perf_counter()
            self._chunks[key] = _encoded(encoder, texts)
            self._seconds += time.perf_counter() - start
            self._unwritten.add(key)
            if self._seconds > SECONDS_WORTH_KEEPING:
                self._write()
        return self._chunks[key]

    # -- the folder ------------------------------------------------------------------------------------------------

    def _kept(self, key: str, n_texts: int) -> Vectors | None:
        if self.folder is None:
            return None
        try:
            content = io.BytesIO((self.folder / f"{key}.npz").read_bytes())
            with np.load(content, allow_pickle=False) as stored:
                vectors: Vectors = stored["vectors"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None  # not there, or damaged: zip archives have checksums
        is_whole = vectors.ndim == 2 and len(vectors) == n_texts and vectors.dtype == np.float32
        return vectors if is_whole and bool(np.isfinite(vectors).all()) else None

    def _write(self) -> None:
        if self.folder is None:
            return
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            for key in sorted(self._unwritten):
                content = io.BytesIO()
                np.savez(content, vectors=self._chunks[key])
                write_whole(self.folder / f"{key}.npz", content.getvalue())
        except OSError as error:  # read-only, full, or a file in its place: then texts are read again next time
            logger.info("Vectors of texts are not kept in %s: %s", self.folder, error)
            self.folder = None
        self._unwritten.clear()


def _chunks_of(texts: Sequence[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    n_letters = 0
    for text in texts:
        length = min(len(text), LONGEST_TEXT)
        if chunk and (len(chunk) >= MOST_TEXTS or n_letters + length > MOST_LETTERS):
            yield chunk
            chunk, n_letters = [], 0
        chunk.append(text)
        n_letters += length
    if chunk:
        yield chunk


def _key(identity: EncoderIdentity, texts: list[str]) -> str:
    digest = sha256(repr((identity.checksum, identity.cleaning, identity.version)).encode())
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8))
        digest.update(content)
    return digest.hexdigest()


def _encoded(encoder: TextEncoder, texts: list[str]) -> Vectors:
    plain = [plain_text(text) for text in texts]
    present = [place for place, text in enumerate(plain) if text]
    if not present:
        return np.zeros((len(texts), 0), np.float32)
    found = encoder.encode([plain[place] for place in present])
    vectors = np.zeros((len(texts), found.shape[1]), np.float32)
    vectors[present] = found
    return vectors
