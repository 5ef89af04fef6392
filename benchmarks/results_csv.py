"""What the benchmarks share: the file that results go to, and what each row says of where it was made."""

import csv
import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import scipy
import sklearn

import semikpca

THREADS = "OPENBLAS_NUM_THREADS"


def write_csv(rows: Sequence[Mapping[str, object]], path: Path, columns: Sequence[str] | None = None) -> None:
    """Write rows under given columns, or those that any row has; what a row does not have stays empty."""
    names = columns or list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def circumstances(command: str) -> dict[str, object]:
    """Return what the numbers of a row were made with."""
    return {
        "cores": os.cpu_count(),
        "threads": os.environ.get(THREADS, "all"),
        "semikpca": semikpca.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit_learn": sklearn.__version__,
        "command": command,
    }


def command_line(script: str, arguments: Sequence[str]) -> str:
    """Return what to type to make these numbers again."""
    setting = [f"{THREADS}={os.environ[THREADS]}"] if THREADS in os.environ else []
    return shlex.join([*setting, "python", f"benchmarks/{Path(script).name}", *arguments])
