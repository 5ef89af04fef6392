"""What `import semikpca` brings, and what it must not."""

import json
import re
import subprocess
import sys

import pytest

import semikpca
import semikpca.datasets
import semikpca.kernels
import semikpca.labeling

OPTIONAL = ["torch", "dask", "distributed", "matplotlib", "pandas", "polars", "cvxpy", "faiss", "llvmlite", "numba"]

WITHOUT_THEM = f"""
import sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {OPTIONAL!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NotInstalled())
"""


def modules_after(*statements):
    """Names of all modules that a fresh interpreter has loaded after the statements."""
    script = "\n".join([*statements, "import json, sys", "print(json.dumps(sorted(sys.modules)))"])
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert finished.stderr == ""
    return set(json.loads(finished.stdout))


@pytest.mark.slow  # a process is started
def test_no_optional_package_is_loaded():
    loaded = modules_after("import semikpca")
    assert "semikpca" in loaded
    required = sorted(name for name in loaded if name.split(".")[0] in ("numpy", "scipy", "sklearn"))
    # What the required packages load on their own account is not ours to prevent.
    baseline = modules_after("import importlib", f"for name in {required!r}: importlib.import_module(name)")
    brought_in = {name.split(".")[0] for name in loaded - baseline}
    assert not brought_in & set(OPTIONAL)


@pytest.mark.slow  # a process is started
def test_the_package_works_without_optional_packages():
    loaded = modules_after(
        WITHOUT_THEM,
        "import semikpca, semikpca.kernels, semikpca.labeling, semikpca.datasets, semikpca.convexity",
        "from semikpca import SemiKPCAClassifier",
        "SemiKPCAClassifier().fit([[0.0], [0.1], [3.0], [3.1]], [0, -1, -1, 1])",
    )
    assert "semikpca.labeling" in loaded


@pytest.mark.parametrize(
    "module", [semikpca, semikpca.kernels, semikpca.labeling, semikpca.datasets], ids=lambda module: module.__name__
)
def test_every_public_name_exists(module):
    for name in module.__all__:
        assert hasattr(module, name), name
    assert len(set(module.__all__)) == len(module.__all__)


def test_the_version_is_set():
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", semikpca.__version__)


def test_importing_everything_by_star_brings_the_public_names():
    namespace = {}
    exec("from semikpca import *", namespace)
    assert set(semikpca.__all__) <= set(namespace)
