"""The benchmark on texts at a small size: every method and protocol has a row, and accuracies are shares."""

import subprocess
import sys
from pathlib import Path

import pytest

from commands import rows_of

pytestmark = pytest.mark.slow  # a whole program, with dozens of fits

SCRIPT = Path(__file__).parents[2] / "bench_text.py"
COUNTS = ["1", "2", "5", "10"]


def test_every_protocol_and_method_is_measured_at_every_number_of_labels(tmp_path):
    out = tmp_path / "text.csv"
    command = [sys.executable, str(SCRIPT), "--rows", "200", "--draws", "1", "--out", str(out)]
    subprocess.run(command, check=True, timeout=600, stdout=subprocess.DEVNULL)
    rows = rows_of(out)
    methods = {
        "texts": ["label, static", "label, ngrams", "logistic regression, static", "nearest neighbor, static"],
        "noise beside the text": ["label, text alone", "label, text and ten columns of noise"],
        "useless text beside numbers": ["label, numbers alone", "label, numbers and a useless text"],
    }
    for protocol, wanted in methods.items():
        found = [(row["labels_per_class"], row["method"]) for row in rows if row["protocol"] == protocol]
        assert found == [(count, method) for count in COUNTS for method in wanted]
    assert all(0 < float(row["accuracy"]) < 1 for row in rows)
    assert {row["set"] for row in rows} == {"support tickets"}
    accuracies = {(row["labels_per_class"], row["method"]): float(row["accuracy"]) for row in rows}
    assert accuracies["10", "label, static"] > 0.8  # far above what shuffled texts would give
