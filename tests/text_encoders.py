"""Text encoders that tests share: one that counts what it is asked, and models of the two libraries, made up."""

import json
import sys
from importlib.metadata import version as real_version
from types import ModuleType

import numpy as np
from safetensors.numpy import save_file

from semikpca.tables import EncoderIdentity, TextEncoder

WIDTH = 5


class CountingEncoder(TextEncoder):
    """Vectors made of the letters of a text, and a list of all texts that it was asked for."""

    def __init__(self, name="counting", checksum="0" * 64):
        self.named, self.checksum, self.asked = name, checksum, []

    @property
    def identity(self):
        return EncoderIdentity(self.named, "counting 1.0", self.checksum)

    def encode(self, texts):
        self.asked += texts
        rows = [[ord(letter) for letter in (text * WIDTH)[:WIDTH]] for text in texts]
        return (np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def write_model(folder, library="model2vec", tensor="embeddings"):
    """Write a folder that looks like a model of a library; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"normalize": False}))
    (folder / "tokenizer.json").write_text("{}")
    save_file({tensor: np.ones((3, WIDTH), np.float32)}, folder / "model.safetensors")
    if library == "sentence-transformers":
        (folder / "modules.json").write_text("[]")
    return folder


def install_library(monkeypatch, library):
    """Put a library in the place of the real one whose models say where they come from and what they were asked."""
    asked = []

    class Model:
        def __init__(self, folder, **options):
            asked.append((str(folder), options))

        from_pretrained = classmethod(lambda cls, folder, **options: cls(folder, **options))

        def encode(self, texts, **options):
            asked.append((list(texts), options))
            return np.array([[len(text), 1.0, 0.0] for text in texts])

    name = library.replace("-", "_")
    module = ModuleType(name)
    module.__spec__ = sys.__spec__
    module.StaticModel = module.SentenceTransformer = Model
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(
        "semikpca.tables._library_encoders.version", lambda given: "9.9" if given == library else real_version(given)
    )
    return asked
