"""Check and time whole fits on a GPU: exact RBF, binary, in each precision.

    python benchmarks/bench_gpu_fit.py
    python benchmarks/bench_gpu_fit.py --rows 3000 --large 0 --checked 2000 --device cpu --out small.csv

On 20,000 rows decisions are first compared with those of a fit in float64, and labels with its labels; a fit that is
off by more than its bound ends the run. Times are wall-clock seconds of ``fit`` on rows that lie on the device, after
a fit on fewer rows that compiles: bandwidth, eigenpairs, solve, certificate and labels of all rows included. Memory is
the peak of torch's allocator, rows included.
"""

import argparse
import platform
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

import semikpca
from results_csv import command_line, write_csv
from semikpca import SemiKPCAClassifier

RESULTS = Path(__file__).parent / "results" / "gpu_fit.csv"
SEED = 0
N_FEATURES = 64
N_LABELS = 20
BACKENDS = ("torch", "torch:float16", "torch:float32")
# What the default and the fastest precision promise: relative norm of the difference of decisions, and equal labels.
LARGEST_DIFFERENCE = 1e-2
EQUAL_LABELS = 0.999


def main(arguments: list[str] | None = None) -> None:
    """Check, time, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the main fit (default: %(default)s)")
    parser.add_argument("--large", type=int, default=5_000_000, help="of the large fit, 0 for none (%(default)s)")
    parser.add_argument("--checked", type=int, default=20_000, help="of the check against float64 (%(default)s)")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    records = []
    for data in (two_clusters, one_cloud):
        X, y = data(options.checked, options.device)
        exact = SemiKPCAClassifier(backend="torch:float64", tol=1e-9).fit(X.double(), y)
        for backend in BACKENDS:
            records.append(check(data.__name__, backend, exact, X, y))
    for n_rows, backends, repetitions in (
        (options.rows // 10, BACKENDS, options.repetitions),
        (options.rows, BACKENDS, options.repetitions),
        (options.large, BACKENDS[:2], 1),
    ):
        if n_rows:
            X, y = two_clusters(n_rows, options.device)
            records += [timed(backend, X, y, repetitions) for backend in backends]
            del X
    common = facts(options.device) | {"command": command}
    write_csv([record | common for record in records], options.out)


def two_clusters(n_rows: int, device: str) -> tuple[torch.Tensor, np.ndarray]:
    """Return two Gaussian clusters, and the classes of 20 rows."""
    X, classes = normal(n_rows, device), np.arange(n_rows) % 2
    X[1::2, 0] += 4
    return X, few_labels(classes)


def one_cloud(n_rows: int, device: str) -> tuple[torch.Tensor, np.ndarray]:
    """Return one Gaussian cloud, cut in half by class: the second eigenvalue has 63 neighbors, the hard case."""
    X = normal(n_rows, device)
    return X, few_labels((X[:, 0] > 0).cpu().numpy().astype(int))


def normal(n_rows: int, device: str) -> torch.Tensor:
    return torch.randn((n_rows, N_FEATURES), generator=torch.Generator(device).manual_seed(SEED), device=device)


def few_labels(classes: np.ndarray) -> np.ndarray:
    y = np.full(len(classes), -1)
    for c in (0, 1):
        rows = np.random.default_rng(SEED).choice(np.flatnonzero(classes == c), N_LABELS // 2, replace=False)
        y[rows] = c
    return y


def check(data: str, backend: str, exact: Any, X: torch.Tensor, y: np.ndarray) -> dict[str, Any]:
    """Compare a fit with one in float64; stop where it is off by more than its bound."""
    model = SemiKPCAClassifier(backend=backend).fit(X, y)
    wanted = exact.decision_
    difference = float(torch.linalg.vector_norm(model.decision_ - wanted) / torch.linalg.vector_norm(wanted))
    equal = float((model.transduction_ == exact.transduction_).double().mean())
    record = row("check, " + data, backend, X, model) | {
        "difference": f"{difference:.2e}",
        "equal_labels": f"{equal:.5f}",
    }
    print(record["what"], backend, f"decisions off by {difference:.1e}, {equal:.3%} of labels equal", flush=True)
    if not difference <= LARGEST_DIFFERENCE or not equal >= EQUAL_LABELS:
        raise SystemExit(f"No times: {backend} is off by {difference:.1e}, with {equal:.3%} of labels equal.")
    return record


def timed(backend: str, X: torch.Tensor, y: np.ndarray, repetitions: int) -> dict[str, Any]:
    """Return the median time of a fit, and the peak of memory."""
    SemiKPCAClassifier(backend=backend).fit(X[:50_000], y[:50_000] if (y[:50_000] == 1).any() else small_labels(X))
    is_cuda = X.is_cuda
    if is_cuda:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    seconds, model = [], None
    for _ in range(repetitions):
        del model
        start = time.perf_counter()
        model = SemiKPCAClassifier(backend=backend).fit(X, y)
        if is_cuda:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    record = row("fit", backend, X, model) | {"seconds": f"{median(seconds):.3f}"}
    if is_cuda:
        record["peak_gb"] = f"{torch.cuda.max_memory_allocated() / 1e9:.2f}"
    print(f"fit {X.shape[0]:>9,} {backend:<14} {record['seconds']:>8} s {record.get('peak_gb', ''):>6} GB "
          f"{record['products']} products, residual {record['residual']}", flush=True)  # fmt: skip
    return record


def small_labels(X: torch.Tensor) -> np.ndarray:
    y = np.full(min(len(X), 50_000), -1)
    y[:2] = 0, 1
    return y


def row(what: str, backend: str, X: torch.Tensor, model: Any) -> dict[str, Any]:
    return {
        "what": what,
        "backend": backend,
        "rows": X.shape[0],
        "features": X.shape[1],
        "products": model.n_products_,
        "residual": f"{model._fitted.solution.residual:.1e}",
        "bound_uncertainty": f"{model.certificate_.uncertainty / model.certificate_.next_eigenvalue:.1e}",
    }


def facts(device: str) -> dict[str, str]:
    return {
        "device": torch.cuda.get_device_name() if device == "cuda" else device,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "semikpca": semikpca.__version__,
    }


if __name__ == "__main__":
    main()
