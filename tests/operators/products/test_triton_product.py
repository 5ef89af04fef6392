"""The fused product, in Triton's interpreter, which runs on any computer.

Triton reads TRITON_INTERPRET when kernels are defined, and another test may have imported them: hence a process of its
own. On a GPU, ``python -m pytest tests/operators/products/triton_product_cases.py`` runs the same cases on the device.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # every step of the product is interpreted

CASES = Path(__file__).with_name("triton_product_cases.py")
ROOT = CASES.parents[3]


def test_the_fused_product_passes_its_cases_in_the_interpreter():
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CASES)]
    finished = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stdout[-5000:] + finished.stderr[-2000:]
