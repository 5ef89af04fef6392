"""Any change to a model file: the same answers, or a refusal; and nothing in the file is ever run.

Bytes are read as a list of changes to a model that was just saved, so that the corpus does not depend on versions. A
change is made below the seal (which the checksum must find) or by someone who can seal, who may change any answer, but
must not get anything run, nor another error than a refusal.
"""

import codecs
import hashlib
import io
import json
import sys
import zipfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fuzz.judging import Choices, no_warnings
from semikpca.exceptions import ModelFileError, TableError
from semikpca.tables import ColumnRoles, read_table
from semikpca.workflow import LabelingOptions, label_table, load_model, save_model
from small_tables import make_plants

MOST_CHANGES = 6
OPTIONS = LabelingOptions(kernel="rbf,graph")  # a file half the size, with all kinds of parts
ODD_VALUES = [
    *(None, True, 0, -1, 2, 1e308, 2**70, "", "x", [], {}, [None], {"__class__": "dict"}),
    *(
        "builtins",
        "eval",
        "exec",
        "os",
        "system",
        "posix",
        "antigravity",
        "subprocess",
        "Popen",
        "object",
        "__import__",
    ),
    *("numpy", "fromfile", "sklearn.utils", "operator", "attrgetter", "functools", "partial", "type", "__reduce__"),
    *("ObjectNode", "FunctionNode", "MethodNode", "TypeNode", "PartialNode", "JsonNode", "NdArrayNode", "DictNode"),
    *("OperatorFuncNode", "ReduceNode", "SparseMatrixNode", "LossNode", "CachedNode", "ListNode", "../schema.json"),
]
# What Python reports of a program that does more than read a file. Each would be a hole.
FORBIDDEN = ("os.", "subprocess.", "shutil.", "socket.", "ctypes.", "pickle.", "marshal.", "exec", "import")
HARMLESS = ("os.listdir", "os.scandir", "os.stat", "os.walk", "os.fwalk", "ctypes.dlsym")


@cache
def original():
    """Return a model file, the table that it is tried on, and the answers that it gives."""
    with TemporaryDirectory() as folder:
        table = Path(folder) / "plants.csv"
        make_plants(n_rows=36, n_labels=9)[0].to_csv(table, index=False)
        plants = read_table(table)
        save_model(Path(folder) / "model", label_table(plants, ColumnRoles("kind", id="plant"), OPTIONS))
        content = (Path(folder) / "model").read_bytes()
        answers = load_model(Path(folder) / "model").predict_table(plants)
    for encoding in ("utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le"):
        codecs.lookup(encoding)  # what JSON may be written in: modules of Python's own that are imported when needed
    return content, plants, answers


# -- changes ---------------------------------------------------------------------------------------------------


def changed(data):
    """Return a file with the changes that the bytes stand for, and whether it was sealed again."""
    content = original()[0]
    choices = Choices(data)
    if choices.number(4) == 0:
        return _with_bytes_changed(content, choices), False
    first, _, facts, archive = content.split(b"\n", 3)
    kind = choices.number(6)
    if kind == 0:
        facts = json.dumps(_with_values_changed(json.loads(facts), choices)).encode()
    elif kind == 1:
        facts = _with_bytes_changed(facts, choices).replace(b"\n", b" ")
    elif kind == 2:
        archive = _with_bytes_changed(archive, choices)
    else:
        archive = _with_members_changed(archive, choices)
    return sealed(first, facts, archive), True


def sealed(first, facts, archive):
    """Return a model file whose checksum is right."""
    body = facts + b"\n" + archive
    return first + f"\nsha256 {hashlib.sha256(body).hexdigest()} {len(body)}\n".encode() + body


def _place(choices, n):
    return (choices.number(256) * 256 + choices.number(256)) * n // 65536 if n else 0


def _with_bytes_changed(content, choices):
    content = bytearray(content)
    for _ in range(1 + choices.number(MOST_CHANGES)):
        # The beginning and the end hold most of what is read first.
        place = choices.one_of([choices.number(256), -1 - choices.number(256), _place(choices, len(content))])
        place = min(max(place % (len(content) or 1), 0), max(len(content) - 1, 0))
        what = choices.number(5)
        if what == 0:
            del content[place:]
        elif what == 1:
            content[place:place] = bytes([choices.number(256)])
        elif what == 2:
            del content[place : place + 1 + choices.number(16)]
        elif content:
            content[place] = choices.number(256) if what == 3 else content[place] ^ (1 << choices.number(8))
    return bytes(content)


def _with_values_changed(tree, choices):
    """Return plain data with some values replaced, by odd ones or by others of its own."""
    for _ in range(1 + choices.number(MOST_CHANGES)):
        places = list(_places(tree))
        if not places:
            break
        holder, key = places[_place(choices, len(places))]
        if choices.number(3) == 0:
            other, there = places[_place(choices, len(places))]
            holder[key] = _copy(other[there])
        elif choices.number(8) == 0:
            del holder[key]
        else:
            holder[key] = _copy(choices.one_of(ODD_VALUES))
    return tree


def _copy(tree):
    return json.loads(json.dumps(tree))


def _places(tree):
    pairs = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)) if isinstance(tree, list) else []
    for key, value in pairs:
        yield tree, key
        yield from _places(value)


def _with_members_changed(archive, choices):
    with zipfile.ZipFile(io.BytesIO(archive)) as before:
        members = {name: before.read(name) for name in before.namelist()}
    names = sorted(members)
    for _ in range(1 + choices.number(2)):
        name = choices.one_of(["schema.json", "schema.json", choices.one_of(names)])
        what = choices.number(6)
        if name == "schema.json" and what < 4 and members.get(name, b"")[:1] == b"{":
            members[name] = json.dumps(_with_values_changed(json.loads(members[name]), choices)).encode()
        elif what == 4:
            members.pop(name, None)
        elif what == 5:
            members[name] = members.get(choices.one_of(names), b"")
        else:
            members[name] = _with_bytes_changed(members.get(name, b""), choices)
    after = io.BytesIO()
    with zipfile.ZipFile(after, "w") as archive_:
        for name, content in members.items():
            archive_.writestr(name, content)
    return after.getvalue()


# -- what becomes of it ----------------------------------------------------------------------------------------


def judge(data):
    """Return how loading and predicting end with the changes that the bytes stand for."""
    return judged(*changed(data))


def judged(content, is_sealed):
    """Return "the same", "other answers" or the message of the refusal; raise where anything else happens."""
    _, plants, answers = original()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(content)
        try:
            with nothing_run():
                model = load_model(path)
        except ModelFileError as error:
            return str(error)
    if not is_sealed:
        with no_warnings():
            assert model.predict_table(plants).equals(answers), "a file that was changed gave other answers"
        return "the same"
    try:
        with np.errstate(all="ignore"):
            found = model.predict_table(plants)
    except (ModelFileError, TableError) as error:
        return str(error)
    assert len(found) == len(plants.frame)
    assert {"predicted_label", "confidence"} <= set(found.columns)
    return "the same" if found.equals(answers) else "other answers"


_seen = None  # what happened since a watch began; hooks can not be taken off again


def _watch(event, arguments):
    if _seen is None or event in HARMLESS:
        return
    writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
    if writes or event.startswith(FORBIDDEN):
        _seen.append(f"{event} {arguments!r:.200}")


@contextmanager
def nothing_run():
    """Watch what Python reports of a block of code, and fail where it ran, imported or wrote anything."""
    global _seen
    _install()
    _seen = []
    try:
        yield
    finally:
        seen, _seen = _seen, None
        assert not seen, f"while a model was loaded: {seen[:3]}"


@cache
def _install():
    sys.addaudithook(_watch)
