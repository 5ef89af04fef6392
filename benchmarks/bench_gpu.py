"""Check and time products with kernel matrices on a GPU: the fused one in its precisions, against chunked PyTorch.

    python benchmarks/bench_gpu.py
    python benchmarks/bench_gpu.py --rows 4000 --table 2000 --out small

Every precision is checked first: against float64 on 20,000 rows, and at full size on a sample of rows, where errors of
long sums would show. A product that is off by more than its bound ends the run. Then times are taken: CUDA events,
after a run on fewer rows that compiles, medians, random data. Memory is the peak of torch's allocator, rows included.

On a computer without a GPU (``--device cpu``) only the checks of the chunked product run: a way to test the script.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

import semikpca
from results_csv import write_csv
from semikpca.kernels import RBF, Kernel, Laplacian, Polynomial
from semikpca.operators._torch import TorchOperator
from semikpca.operators.products._torch import ChunkedProduct

RESULTS = Path(__file__).parent / "results"
SEED = 0
N_FEATURES = 64
N_COLUMNS = 16
CHECKED_ROWS = 20_000
SAMPLED_ROWS = 64

# Largest relative error of a product with random columns and of one with a constant column, against float64.
LARGEST_ERROR = {
    "tf32": (2e-3, 1e-3),
    "float16": (2e-3, 1e-3),
    "float32": (1e-5, 1e-5),
    "chunked": (1e-5, 1e-5),
}
# Limits of one H200: exponentials (132 multiprocessors, 16 a clock, at the 1.8 GHz seen under this load), and dense
# matrix products in float16 as PyTorch reached them on it; tf32 has half of that.
EXPONENTIALS_A_SECOND = 132 * 16 * 1.8e9
FLOAT16_A_SECOND = 790e12

FIELDS = [
    "what", "kernel", "mode", "rows", "features", "columns", "seconds", "entries_per_second", "times_chunked",
    "error_random", "error_constant", "precision", "peak_gb", "device", "torch", "triton", "python", "semikpca",
    "command",
]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Check, time, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the main comparison (default: %(default)s)")
    parser.add_argument(
        "--table", type=int, default=131_072, help="rows of the table over sizes, 0 for none (default: %(default)s)"
    )
    parser.add_argument(
        "--large", type=int, default=0, help="rows of one more product, such as 5000000 (default: none)"
    )
    parser.add_argument("--repetitions", type=int, default=3, help="of each measurement (default: %(default)s)")
    parser.add_argument("--device", default="cuda", help="(default: %(default)s)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of gpu.csv (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.device != "cpu" and not torch.cuda.is_available():
        raise SystemExit("This benchmark needs a GPU that torch can use; --device cpu runs its checks alone.")
    sizes = {name: getattr(options, name) for name in ("rows", "table", "large", "repetitions", "device")}
    command = " ".join(["python benchmarks/bench_gpu.py", *(f"--{name} {value}" for name, value in sizes.items())])
    records = []
    for record in run(options):
        records.append(record | facts(options.device) | {"command": command})
        print(f"  {line(records[-1])}", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = [{k: f"{v:.5g}" if isinstance(v, float) else v for k, v in record.items()} for record in records]
    write_csv(rows, options.out / "gpu.csv", FIELDS)
    print_summary(records)


def run(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one record after the other, the checks first."""
    modes = list(LARGEST_ERROR) if options.device != "cpu" else ["chunked"]
    X = normal(min(CHECKED_ROWS, options.rows), N_FEATURES, options.device)
    for kernel in (rbf(N_FEATURES), sharp_rbf(N_FEATURES), laplacian(N_FEATURES), polynomial(N_FEATURES)):
        yield from check("accuracy", kernel, modes, X, step=1)
    if options.device == "cpu":
        return
    X = normal(options.rows, N_FEATURES, options.device)
    yield from check("accuracy, sampled", rbf(N_FEATURES), modes, X, step=max(1, options.rows // SAMPLED_ROWS))
    for precision in modes[:-1]:
        yield make_operator(precision, X)
    chunked = measure("product", rbf(N_FEATURES), "chunked", X, N_COLUMNS, 1)
    yield chunked
    for mode in modes[:-1]:
        record = measure("product", rbf(N_FEATURES), mode, X, N_COLUMNS, options.repetitions)
        yield record | {"times_chunked": chunked["seconds"] / record["seconds"]}
    if options.table:
        yield from table(options)
    if options.large:
        X = normal(options.large, N_FEATURES, options.device)
        for mode in ("float16", "tf32"):
            yield measure("product", rbf(N_FEATURES), mode, X, N_COLUMNS, 1)


def table(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield products of other widths, columns and kernels, each against chunked PyTorch of the same size."""
    sizes = [(rbf, d, N_COLUMNS) for d in (3, 16, 64, 128, 256, 512)] + [(rbf, N_FEATURES, c) for c in (1, 32, 64)]
    others = [(make, N_FEATURES, N_COLUMNS) for make in (sharp_rbf, polynomial, laplacian)]
    for make, n_features, n_columns in sizes + others:
        kernel = make(n_features)
        X = normal(options.table, n_features, options.device)
        part = max(1, options.table // 32) if make is laplacian else None  # chunked PyTorch takes minutes for all rows
        chunked = measure("table", kernel, "chunked", X, n_columns, 1, part)
        yield chunked
        for mode in ("float16", "tf32", "float32"):
            record = measure("table", kernel, mode, X, n_columns, options.repetitions)
            yield record | {"times_chunked": chunked["seconds"] / record["seconds"]}


def rbf(n_features: int) -> Kernel:
    """Return the kernel of the median rule for standard normal rows, about."""
    return RBF(gamma=1 / (4 * n_features))


def sharp_rbf(n_features: int) -> Kernel:
    """Return one with a third of the bandwidth, where squared norms are too large to be taken out of the tile."""
    return RBF(gamma=2.5 / n_features)


def polynomial(n_features: int) -> Kernel:
    return Polynomial(gamma=1 / n_features)


def laplacian(n_features: int) -> Kernel:
    return Laplacian(gamma=0.9 / n_features)


def normal(n_rows: int, n_columns: int, device: str) -> torch.Tensor:
    generator = torch.Generator(device=device).manual_seed(SEED)
    return torch.randn(n_rows, n_columns, generator=generator, device=device)


def product(kernel: Kernel, mode: str, X: torch.Tensor) -> Any:
    """Return something with ``multiply``, in just this mode."""
    if mode == "chunked":
        return ChunkedProduct(kernel, X)
    from semikpca.operators.products._triton import FusedProduct

    return FusedProduct(kernel, X, mode)


def check(what: str, kernel: Kernel, modes: list[str], X: torch.Tensor, step: int) -> Iterator[dict[str, Any]]:
    """Compare products with float64 in every ``step``-th row; end the run where one is off."""
    columns = torch.column_stack([normal(len(X), N_COLUMNS - 1, X.device.type), X.new_ones(len(X))])
    wanted = exact_product(kernel, X[::step].double(), X, columns)
    for mode in modes:
        job = product(kernel, mode, X)
        # Blocks of rows do not know of each other; a fused product is checked as it is used, whole.
        found = job.multiply(columns, X[::step]) if mode == "chunked" else job.multiply(columns)[::step]
        norms, errors = wanted.norm(dim=0), (found.double() - wanted).norm(dim=0)
        random = float(errors[:-1].norm() / norms[:-1].norm())
        constant = float(errors[-1] / norms[-1])
        for name, error, bound in zip(("random", "constant"), (random, constant), LARGEST_ERROR[mode], strict=True):
            if not error <= bound:
                raise SystemExit(
                    f"{what}: {kernel!r}, {mode}: off by {error:.1e} with {name} columns, above {bound:.0e}."
                )
        yield shape(what, kernel, mode, X, N_COLUMNS) | {"error_random": random, "error_constant": constant}


def make_operator(precision: str, X: torch.Tensor) -> dict[str, Any]:
    """Time what comes before the first product of a fit: gamma, factors, and the error measured on these rows."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    operator = TorchOperator(RBF(gamma="median").fit(X), X, precision)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    if operator.mode != precision:
        raise SystemExit(f"operator: {precision} was asked for and {operator.mode} is used.")
    return shape("operator", operator.kernel, precision, X, 0) | {
        "seconds": seconds,
        "peak_gb": torch.cuda.max_memory_allocated() / 1e9,
        "precision": operator.facts.precision,
    }


def exact_product(kernel: Kernel, A: torch.Tensor, X: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Return the product by the formula in float64, from differences; shares no code with the package."""
    total = A.new_zeros(len(A), columns.shape[1])
    for start in range(0, len(X), 10_000):
        B = X[start : start + 10_000].double()
        if isinstance(kernel, Polynomial):
            values = (kernel.gamma * A @ B.T + kernel.coef0) ** kernel.degree
        elif isinstance(kernel, Laplacian):
            values = torch.exp(-kernel.gamma * torch.cdist(A, B, p=1))
        else:
            distances = torch.cdist(A, B, compute_mode="donot_use_mm_for_euclid_dist")
            values = torch.exp(-kernel.gamma * distances.square())
        total += values @ columns[start : start + 10_000].double()
    return total


def measure(
    what: str, kernel: Kernel, mode: str, X: torch.Tensor, n_columns: int, repetitions: int, part: int | None = None
) -> dict[str, Any]:
    """Time a product; with ``part``, that of the first rows, scaled up to all of them."""
    columns = normal(len(X), n_columns, X.device.type)
    torch.cuda.reset_peak_memory_stats()
    job = product(kernel, mode, X)
    new_rows = None if part is None else X[:part]
    product(kernel, mode, X[:20_000]).multiply(columns[:20_000])
    seconds = statistics.median(seconds_of(lambda: job.multiply(columns, new_rows)) for _ in range(repetitions))
    seconds *= 1 if part is None else len(X) / part
    return shape(what, kernel, mode, X, n_columns) | {
        "seconds": seconds,
        "entries_per_second": len(X) ** 2 / seconds,
        "peak_gb": torch.cuda.max_memory_allocated() / 1e9,
    }


def seconds_of(job: Callable[[], Any]) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    job()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / 1000


def shape(what: str, kernel: Kernel, mode: str, X: torch.Tensor, n_columns: int) -> dict[str, Any]:
    return {
        "what": what,
        "kernel": repr(kernel),
        "mode": mode,
        "rows": len(X),
        "features": X.shape[1],
        "columns": n_columns,
    }


def facts(device: str) -> dict[str, str]:
    try:
        import triton

        triton_version = triton.__version__
    except ImportError:
        triton_version = ""
    return {
        "device": torch.cuda.get_device_name() if device != "cpu" else platform.processor() or "cpu",
        "torch": torch.__version__,
        "triton": triton_version,
        "python": platform.python_version(),
        "semikpca": semikpca.__version__,
    }


def line(record: dict[str, Any]) -> str:
    text = "{what}: {kernel}, {mode}, {rows:,} x {features} x {columns}:".format(**record)
    if "seconds" in record:
        text += f" {record['seconds']:.4f} s, {record['peak_gb']:.2f} GB"
    if "entries_per_second" in record:
        text += f", {record['entries_per_second']:.2e} entries/s"
    if "times_chunked" in record:
        text += f", {record['times_chunked']:.1f} times chunked"
    if "precision" in record:
        text += f", precision {record['precision']:.1e}"
    if "error_constant" in record:
        text += f" errors {record['error_random']:.1e} (random), {record['error_constant']:.1e} (constant)"
    return text


def print_summary(records: list[dict[str, Any]]) -> None:
    """Print the main comparison, and how far it is from the limits of the chip."""
    print("\nproduct      mode     seconds  x chunked  of exponentials  of tensor cores   peak GB")
    for record in records:
        if record["what"] != "product":
            continue
        entries, mode = float(record["rows"]) ** 2, record["mode"]
        exponentials = entries / EXPONENTIALS_A_SECOND
        # tf32: the first product at half the rate; float32: three products instead of one.
        first, second = {"tf32": (2, 1), "float16": (1, 1), "float32": (3, 3), "chunked": (0, 0)}[mode]
        operations = entries * (2 * record["features"] * first + 2 * record["columns"] * second)
        shares = (exponentials / record["seconds"], operations / FLOAT16_A_SECOND / record["seconds"])
        ratio = f"{record['times_chunked']:.1f}" if "times_chunked" in record else ""
        print(
            f"{record['rows']:>9,}    {mode:8} {record['seconds']:7.3f}  {ratio:>9}  {shares[0]:15.0%}  "
            f"{shares[1]:15.0%}  {record['peak_gb']:8.2f}"
        )


if __name__ == "__main__":
    main()
