"""Models in files: a few lines that say what it is, then skops. No pickle, and nothing that is not registered.

The lines are the name of the format with its version, the checksum and length of all that follows, and a JSON object
with what belongs to the model and is plain data. The checksum finds damage; it is no signature. What keeps a file that
somebody made up from doing harm is the registry of types.
"""

import json
import math
from dataclasses import asdict
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from semikpca._files import versions, write_whole
from semikpca.estimators import SemiKPCAClassifierCV, SemiKPCARegressorCV
from semikpca.exceptions import ModelFileError, TextEncoderError
from semikpca.tables import NGRAMS, ColumnRoles, TextEncoder, feature_columns
from semikpca.workflow._filled import FilledTable
from semikpca.workflow._label_model import LabelModel, NumberModel
from semikpca.workflow._migrations import FORMAT_VERSION, migrated
from semikpca.workflow._objects import RefusedTypesError, read_objects, write_objects

_MODELS = (SemiKPCAClassifierCV, SemiKPCARegressorCV)
_MOST_DECIMALS = 400
_NAME = "semikpca model, format "
_LONGEST_LINE = 10_000_000
# A vocabulary shrinks to a fortieth, anything else far less.
_MOST_UNFOLDED, _MOST_TIMES_UNFOLDED = 64 * 2**20, 64
_VERSIONED = ("skrub", "skops", "pandas")
# A change of these may change what a stored model answers.
_DECIDING = ("semikpca", "scikit-learn", "skrub")


def save_model(path: str | Path, labeled: FilledTable) -> None:
    """Write the model of a labeled table to a file, whole or not at all."""
    facts: dict[str, Any] = {
        "roles": asdict(labeled.roles),
        "features": [str(name) for name in feature_columns(labeled.table, labeled.roles)],
        "versions": versions(_VERSIONED),
    }
    facts |= labeled.kept_beside_model
    objects = {"vectorizer": labeled.vectorizer, "model": labeled.model}
    body = json.dumps(facts).encode() + b"\n" + write_objects(objects)
    head = f"{_NAME}{FORMAT_VERSION}\nsha256 {sha256(body).hexdigest()} {len(body)}\n"
    write_whole(Path(path), head.encode() + body)


def _roles(facts: Any) -> ColumnRoles:
    """Return the roles that a file names; whoever wrote something else than names into it is refused."""
    ident = None if facts["id"] is None else _name(facts["id"])
    text, exclude = (tuple(_name(name) for name in facts[role]) for role in ("text", "exclude"))
    encoder = _name(facts.get("text_encoder", NGRAMS))  # earlier formats have none
    category = tuple(_name(name) for name in facts.get("category", ()))
    as_typed = bool(facts.get("labels_as_typed", False))
    label = _name(facts["label"])
    return ColumnRoles(label, ident, text, exclude, as_typed, text_encoder=encoder, category=category)


def _numbers(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what a file says of numbers that were left out; whoever wrote something else into it is refused."""
    known = facts["numbers"]
    errors, decimals = tuple(float(error) for error in known["errors"]), int(known["decimals"])
    if not all(0 <= error < math.inf for error in errors) or not 0 <= decimals <= _MOST_DECIMALS:
        raise ValueError("its errors at left-out numbers are no distances")
    return {"errors": errors, "decimals": decimals}


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a column is called {value!r}")
    return value


def load_model(path: str | Path) -> LabelModel:
    """Return the model of a file.

    Raises
    ------
    ModelFileError
        For a file that is no model, is damaged, comes from a later version, or holds what no model holds; and where the
        encoder that read its texts is missing here, or is another one.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ModelFileError(f"There is no file {path}.") from error
    except IsADirectoryError as error:
        raise ModelFileError(f"{path} is a folder. Name a file that semikpca label --save wrote.") from error
    format_version, facts, payload = _opened(path, content)
    del content
    _refuse_bomb(path, payload)
    try:
        objects = read_objects(payload, format_version)
        if not isinstance(objects, dict) or not isinstance(objects.get("model"), _MODELS):
            raise TypeError("it holds no classifier and no regressor")
        is_number = isinstance(objects["model"], SemiKPCARegressorCV)
        if not is_number:  # regressors are in files of the last format only
            objects = migrated(objects, format_version)
        make, more = (NumberModel, _numbers(facts)) if is_number else (LabelModel, {})
        encoder = objects["vectorizer"].encoder()
        made_with = {str(name): str(number) for name, number in facts["versions"].items()}
        return make(
            objects["vectorizer"],
            objects["model"],
            _roles(facts["roles"]),
            tuple(str(name) for name in facts["features"]),
            made_with,
            (*_other_versions(made_with), *_other_encoder(objects["vectorizer"], encoder)),
            **more,
        )
    except RefusedTypesError as error:
        raise ModelFileError(f"{path} {error}. It was not loaded.") from error
    except TextEncoderError as error:
        raise ModelFileError(f"{path} was not loaded. {error}") from error
    except Exception as error:
        # The checksum is right, so this was written by other versions, or by hand; skops has no error of its own here.
        raise ModelFileError(
            f"{path} cannot be loaded ({type(error).__name__}: {error}). It was made with "
            f"{', '.join(f'{name} {number}' for name, number in facts['versions'].items())}; train it again with "
            "semikpca label --save."
        ) from error


def _opened(path: Path, content: bytes) -> tuple[int, dict[str, Any], bytes]:
    """Return the format, the plain data and the skops part of a file, once its seal was found unbroken."""
    first, *_ = content[:200].split(b"\n", 1)
    if not first.startswith(_NAME.encode()):
        raise ModelFileError(f"{path} is not a model of semikpca{_guess(content)}. It was not loaded.")
    number = first[len(_NAME) :].decode(errors="replace")
    if not number.isdecimal() or int(number) < 1:
        raise ModelFileError(f"{path} is damaged: its first line is {first!r}. Save the model again.")
    if int(number) > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format {number}, and this version of semikpca reads formats up to {FORMAT_VERSION}. Install a "
            "newer one: pip install --upgrade semikpca"
        )
    second = content.find(b"\n", len(first) + 1, len(first) + 200)
    try:
        word, digest, length = content[len(first) + 1 : max(second, 0)].decode().split(" ")
        size = int(length)
    except ValueError as error:
        raise ModelFileError(f"{path} is damaged: its second line is broken. Save the model again.") from error
    body = memoryview(content)[second + 1 :]
    if word != "sha256" or len(body) != size:
        raise ModelFileError(
            f"{path} is incomplete or was changed: it should have {size:,} bytes after its second line and has "
            f"{len(body):,}. Copy or save it again."
        )
    if sha256(body).hexdigest() != digest:
        raise ModelFileError(
            f"{path} was changed since it was saved: its checksum does not match. It was not loaded. Copy or save it "
            "again."
        )
    third = content.find(b"\n", second + 1, second + 1 + _LONGEST_LINE)
    try:
        facts = json.loads(content[second + 1 : max(third, 0)])
        if not isinstance(facts, dict) or not {"roles", "features", "versions"} <= set(facts):
            raise ValueError("entries are missing")
        if not isinstance(facts["versions"], dict):
            raise ValueError("its versions are no object")
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is damaged: its third line cannot be read ({error}).") from error
    return int(number), facts, content[third + 1 :]


def _guess(content: bytes) -> str:
    """Return what a file seems to be instead."""
    if content[:1] == b"\x80" and content[1:2] <= b"\x05":
        return ": it looks like a pickle, which could run any program when it is opened"
    if content[:2] == b"PK":
        return ": it is a zip archive (a workbook, or a bare skops file)"
    return ": it is empty" if not content else ""


def _refuse_bomb(path: Path, payload: bytes) -> None:
    """Refuse an archive that would unfold into far more than any model does."""
    try:
        with ZipFile(BytesIO(payload)) as archive:
            # What is read from an entry never exceeds the size that it states.
            unfolded = sum(entry.file_size for entry in archive.infolist())
    except (BadZipFile, ValueError, NotImplementedError) as error:
        raise ModelFileError(f"{path} is damaged: what follows its third line cannot be read ({error}).") from error
    if unfolded > _MOST_UNFOLDED + _MOST_TIMES_UNFOLDED * len(payload):
        raise ModelFileError(
            f"{path} would unfold from {len(payload):,} to {unfolded:,} bytes, which no model does. It was not loaded."
        )


def _other_versions(made_with: dict[str, str]) -> tuple[str, ...]:
    here = versions(_VERSIONED)
    return tuple(
        f"The model was made with {name} {made_with[name]}, and {here.get(name, 'none')} is installed: predictions may "
        "differ a little from those of the run that saved it."
        for name in _DECIDING
        if name in made_with and here.get(name) != made_with[name]
    )


def _other_encoder(vectorizer: Any, encoder: TextEncoder | None) -> tuple[str, ...]:
    """Say that the same weights come from another version: of a library, it may use them otherwise."""
    if encoder is None or encoder.identity.version == vectorizer.encoder_.version:
        return ()
    return (
        f"The texts of the model were read with {vectorizer.encoder_.version}, and {encoder.identity.version} is "
        "installed, with the same weights: predictions may differ a little.",
    )
