"""Models of model2vec and sentence-transformers, by folder or by name, through the libraries that the user has.

Only files that are on this computer are loaded, and only weights that cannot run a program.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from semikpca.exceptions import TextEncoderError
from semikpca.tables._encoders import EncoderIdentity, TextEncoder, Vectors, checksum_of, unit_rows

WEIGHTS = ".safetensors"
SUFFIXES = (WEIGHTS, ".json", ".txt", ".model")  # of the files that decide what a model answers
OWNER_BY_DEFAULT = "sentence-transformers"
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


class LibraryEncoder(TextEncoder):
    """A model in a folder; its library is imported with the first text."""

    def __init__(self, name: str, folder: Path, library: str) -> None:
        self.name, self.folder, self.library = name, folder, library

    @cached_property
    def identity(self) -> EncoderIdentity:
        files = sorted(file for file in self.folder.rglob("*") if file.is_file() and file.suffix in SUFFIXES)
        return EncoderIdentity(self.name, f"{self.library} {version(self.library)}", checksum_of(files))

    def encode(self, texts: Sequence[str]) -> Vectors:
        options = {"show_progress_bar": False}
        return unit_rows(self._model.encode(list(texts), **options))

    @cached_property
    def _model(self) -> Any:
        if self.library == "model2vec":
            from model2vec import StaticModel

            return StaticModel.from_pretrained(self.folder)
        from sentence_transformers import SentenceTransformer

        # Weights in pickles, which could run a program, are not taken.
        return SentenceTransformer(str(self.folder), local_files_only=True, model_kwargs={"use_safetensors": True})


def library_encoder(name: str) -> LibraryEncoder:
    """Return the model of a folder, or of a name that was fetched before; or say how to get it."""
    if (folder := Path(name).expanduser()).is_dir():
        folder = folder.absolute()
        name = str(folder)
    else:
        name, folder = _fetched(name)
    libraries = _libraries(folder)
    if not libraries:
        raise TextEncoderError(
            f"{folder} holds no model of model2vec or sentence-transformers with weights in {WEIGHTS}; other kinds of "
            "weights could run a program and are not loaded. Choose another text encoder."
        )
    installed = [library for library in libraries if find_spec(library.replace("-", "_")) is not None]
    if not installed:
        raise TextEncoderError(
            f"The text encoder {name!r} needs the package {' or '.join(libraries)}: pip install {libraries[0]}"
        )
    return LibraryEncoder(name, folder, installed[0])


def _libraries(folder: Path) -> list[str]:
    """Return the libraries that can load the model of a folder, the lighter one first."""
    libraries = []
    if (folder / "model.safetensors").is_file() and (folder / "tokenizer.json").is_file():
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(folder / "model.safetensors", "numpy") as weights:
                if "embeddings" in weights.keys():
                    libraries.append("model2vec")
        except (OSError, SafetensorError):
            return []
    if (folder / "modules.json").is_file() and any(folder.rglob(f"*{WEIGHTS}")):
        libraries.append("sentence-transformers")
    return libraries


def _fetched(name: str) -> tuple[str, Path]:
    """Return where the files of a name on Hugging Face are, with its full name; they are not fetched."""
    full = name if "/" in name else f"{OWNER_BY_DEFAULT}/{name}"
    if not _HUB_NAME.fullmatch(full):
        raise TextEncoderError(
            f"There is no folder {name!r} with a text encoder. Others: static, ngrams, or OWNER/NAME on Hugging Face."
        )
    if find_spec("huggingface_hub") is not None:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

        try:
            return full, Path(snapshot_download(full, local_files_only=True))
        except (LocalEntryNotFoundError, HFValidationError):
            pass
    raise TextEncoderError(
        f"There is no text encoder {name!r} on this computer: it is neither static nor ngrams, nor a folder, nor a "
        f"model that was fetched before. Nothing is downloaded unasked. If you mean https://huggingface.co/{full}, "
        f"fetch it with: hf download {full}"
    )
