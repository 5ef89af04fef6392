"""Nothing that the package loads can run a program: no pickle, no code from data, anywhere in its source."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(path for source in ("src", "benchmarks/src") for path in (ROOT / source).rglob("*.py"))

# Modules that only serve to load and store objects as pickles or code.
FORBIDDEN_MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve", "jsonpickle"}
# Functions by their last name: whatever they are imported from, they run or unpickle what they are given.
FORBIDDEN_CALLS = {
    "read_pickle",
    "to_pickle",
    "unpickle",
    "Unpickler",
    "eval",
    "exec",
    "compile",
    "__import__",
    "unsafe_load",
    "full_load",
}
# Innocent names that are dangerous on some modules.
FORBIDDEN_ON = {
    "load": {"joblib", "torch", "yaml", "cloudpickle", "pickle", "marshal"},
    "loads": {"pickle", "marshal", "cloudpickle"},
    "load_all": {"yaml"},
}
ARRAY_LOADERS = {"load", "memmap", "NpzFile", "read_array"}
# ``re.compile`` is not the built-in.
HARMLESS_OWNERS = {"compile": {"re"}}


def problems_of(text):
    """Return what a module does that could run a program from a file, each with its line."""
    tree = ast.parse(text)
    names = _imported(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found += [(node.lineno, f"imports {name}") for name in _modules(node) if name in FORBIDDEN_MODULES]
        elif isinstance(node, ast.Call):
            owner, name = _called(node.func, names)
            keywords = {word.arg: word.value for word in node.keywords}
            if name in FORBIDDEN_CALLS and owner not in HARMLESS_OWNERS.get(name, ()):
                found.append((node.lineno, f"calls {name}"))
            elif owner in FORBIDDEN_ON.get(name, ()):
                found.append((node.lineno, f"calls {owner}.{name}"))
            elif owner == "numpy" and name in ARRAY_LOADERS and not _is_false(keywords.get("allow_pickle")):
                found.append((node.lineno, f"calls numpy.{name} without allow_pickle=False"))
            elif not _is_false(keywords.get("allow_pickle", ast.Constant(False))):
                found.append((node.lineno, "allows pickles"))
            elif name == "loads" and owner == "skops.io" and "trusted" not in keywords:
                found.append((node.lineno, "calls skops.io.loads without the list of trusted types"))
    return found


def _imported(tree):
    """Return where each imported name comes from: ``np`` is numpy, ``load`` of ``from torch import load`` is torch."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = alias.name if alias.asname else alias.name.split(".")[0]
                names[alias.asname or module] = (module, None)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = (node.module, alias.name)
    return names


def _modules(node):
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    return [(node.module or "").split(".")[0], *(alias.name for alias in node.names)]


def _called(function, names):
    """Return the module that a function is called on, where it is one, and the last part of its name."""
    if isinstance(function, ast.Name):
        module, name = names.get(function.id, ("builtins", None))
        return module, name or function.id
    if isinstance(function, ast.Attribute):
        owner = function.value
        return (names.get(owner.id, (None, None))[0] if isinstance(owner, ast.Name) else None), function.attr
    return None, None


def _is_false(node):
    return isinstance(node, ast.Constant) and node.value is False


def test_there_are_modules_to_look_at():
    assert len(MODULES) > 100


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_loads_what_could_run(path):
    assert problems_of(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "import pickle as p",
        "from pickle import loads",
        "import joblib\njoblib.load(path)",
        "from joblib import load\nload(path)",
        "from joblib import load as read\nread(path)",
        "import marshal",
        "def f():\n    import shelve",
        "import numpy as np\nnp.load(path)",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "from numpy import load\nload(path)",
        "import numpy as np\nnp.load(path, allow_pickle=flag)",
        "np.savez(path, allow_pickle=True)",
        "import pandas as pd\npd.read_pickle(path)",
        "frame.to_pickle(path)",
        "import torch\ntorch.load(path)",
        "import torch\ntorch.load(path, weights_only=True)",
        "import yaml\nyaml.load(text)",
        "eval(text)",
        "exec(text)",
        "compile(text, '', 'exec')",
        "__import__(name)",
        "frame.eval(text)",
        "from multiprocessing import pickle",
        "from skops.io import loads\nloads(data)",
    ],
)
def test_what_could_run_is_seen(text):
    assert problems_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "import json\njson.loads(text)",
        "import numpy as np\nnp.load(path, allow_pickle=False)",
        "import re\nre.compile(pattern)",
        "from skops.io import loads\nloads(data, trusted=names)",
        "store.load(path)",
        "import yaml\nyaml.safe_load(text)",
    ],
)
def test_what_only_reads_data_is_left_alone(text):
    assert problems_of(text) == []
