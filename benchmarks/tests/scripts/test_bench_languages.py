"""The benchmark of languages at a small size: it writes what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

from commands import rows_of

pytestmark = pytest.mark.slow  # a whole program

SCRIPT = Path(__file__).parents[2] / "bench_languages.py"


def test_the_benchmark_of_languages_reports_both_ways_to_read_text(tmp_path):
    out = tmp_path / "languages.csv"
    sizes = ["--texts", "40", "--labels", "2", "--draws", "2", "--sentences", "1"]
    command = [sys.executable, str(SCRIPT), "--languages", "English", "Greek", *sizes, "--out", str(out)]
    subprocess.run(command, check=True, timeout=300, stdout=subprocess.DEVNULL)
    english, greek = rows_of(out)
    assert (english["known"], greek["known"]) == ("much", "nothing")
    assert 0.2 < float(english["ngrams"]) < float(english["static"]) <= 1
    assert "python benchmarks/bench_languages.py --languages English Greek" in english["command"]
