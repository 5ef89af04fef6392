"""Fits on a Dask cluster of this computer: time, memory of each process, tasks, and the constants of the cost model.

Rows are made on the workers, chunk by chunk from a seed, and never come to the client. Every part checks its answers at
a smaller size against a local fit before it takes the time.

    nystroem   a fit with landmarks, and labels for all rows
    exact      a fit with the exact kernel
    graph      the graph of one exact product: tasks, and seconds to build it
    passes     one pass of the Nystroem route against rows, chunk rows and landmarks

    python benchmarks/bench_dask.py --out benchmarks/results/dask.csv
"""

import argparse
import resource
import sys
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from results_csv import circumstances, command_line, write_csv
from semikpca import SemiKPCAClassifier
from semikpca.kernels import RBF, Nystroem
from semikpca.operators.cluster import ClusterRows
from semikpca.operators.cluster._graphs import chunks_for, symmetric_array
from semikpca.problem._cluster_fit import summed

SEED = 0
N_FEATURES = 10
N_LABELS = 200
# Three overlapping clusters, two of them of one class.
CENTERS = np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
CLASSES = np.array([0, 1, 1])
LEAST_ACCURACY = 0.85  # the best possible is about 0.95; a shuffled answer has about 0.55
SAME_DECISIONS = {"nystroem": 1e-8, "exact": 1e-5}  # rounding; the tolerance of the solve, 1e-6, and float32 values
LANDMARKS_OF_PASSES = (250, 500, 1_000)


# -- rows, made where they are used ------------------------------------------------------------------------------


def clusters_of(chunk: int, n_rows: int) -> tuple[np.random.Generator, np.ndarray]:
    generator = np.random.default_rng([SEED, chunk])
    return generator, generator.integers(len(CENTERS), size=n_rows)


def make_rows(numbers: np.ndarray, block_id: tuple[int, ...]) -> np.ndarray:
    """Return the rows of a chunk; ``numbers`` are theirs and say how many."""
    generator, cluster = clusters_of(block_id[0], len(numbers))
    rows = generator.normal(size=(len(numbers), N_FEATURES))
    rows[:, :2] += CENTERS[cluster]
    return rows


def make_truth(numbers: np.ndarray, block_id: tuple[int, ...]) -> np.ndarray:
    return CLASSES[clusters_of(block_id[0], len(numbers))[1]]


def make_labels(truth: np.ndarray, numbers: np.ndarray, every: int) -> np.ndarray:
    return np.where(numbers % every == 0, truth, -1)


def rows_on_workers(n_rows: int, chunk_rows: int) -> tuple[da.Array, da.Array, da.Array]:
    """Return rows, their classes, and labels for about ``N_LABELS`` of them, as lazy Dask arrays."""
    numbers = da.arange(n_rows, chunks=chunk_rows)
    chunks = (numbers.chunks[0], (N_FEATURES,))
    X = da.map_blocks(make_rows, numbers, new_axis=1, chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    truth = da.map_blocks(make_truth, numbers, dtype=np.intp, meta=np.empty(0, dtype=np.intp))
    y = da.map_blocks(make_labels, truth, numbers, every=max(1, n_rows // N_LABELS), dtype=np.intp)
    return X, truth, y


# -- measuring ---------------------------------------------------------------------------------------------------


def peak_mb() -> float:
    """Return the largest memory that this process has had, in MB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024 / 1e6


def sent_bytes(dask_worker) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def computing_seconds(client: Client) -> float:
    """Return the processor time of all workers so far: on a busy computer it says more than the clock."""
    return sum(client.run(time.process_time).values())


def client_peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def cluster_of(options) -> LocalCluster:
    return LocalCluster(
        n_workers=options.workers,
        threads_per_worker=1,
        memory_limit=f"{options.worker_gb}GB",
        host="127.0.0.1",
        dashboard_address=":0",
    )


def checked(name: str, found: np.ndarray, wanted: np.ndarray) -> float:
    """Return how far decisions are apart; stop where they are not the same."""
    difference = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    if not difference < SAME_DECISIONS[name]:
        raise SystemExit(f"No figures: decisions of the {name} route are off by {difference:.1e}.")
    return difference


def accuracy_of(model, truth: da.Array) -> float:
    accuracy = float((model.transduction_ == truth).mean())
    if accuracy < LEAST_ACCURACY:
        raise SystemExit(f"No figures: only {accuracy:.1%} of the labels are right.")
    return accuracy


def classifier(part: str, n_landmarks: int) -> SemiKPCAClassifier:
    kernel = Nystroem(RBF(), n_landmarks, random_state=SEED) if part == "nystroem" else RBF()
    return SemiKPCAClassifier(kernel)


def bench_fit(part: str, options) -> list[dict[str, object]]:
    """Time a fit of one of the two routes, after its answers were held against a local fit on fewer rows."""
    n_rows, chunk_rows, n_checked = {
        "nystroem": (options.rows, options.chunk_rows, options.checked_rows),
        "exact": (options.exact_rows, max(1, options.exact_rows // 8), options.exact_checked_rows),
    }[part]
    with cluster_of(options) as cluster, Client(cluster) as client:
        X, truth, y = rows_on_workers(n_checked, max(1, n_checked // 4))
        model = classifier(part, options.landmarks)
        found = np.asarray(model.fit(X, y).decision_)
        local = classifier(part, options.landmarks).set_params(backend="auto" if part == "nystroem" else "blocked")
        difference = checked(part, found, local.fit(X.compute(), y.compute()).decision_)
    # A fresh cluster, so that peaks are those of the fit alone.
    with cluster_of(options) as cluster, Client(cluster) as client:
        X, truth, y = rows_on_workers(n_rows, chunk_rows)
        idle = max(client.run(peak_mb).values())
        start, computed_before = time.perf_counter(), computing_seconds(client)
        model = classifier(part, options.landmarks).fit(X, y)
        seconds, computed = time.perf_counter() - start, computing_seconds(client) - computed_before
        fit_peaks = sorted(client.run(peak_mb).values())
        moved = sum(client.run(sent_bytes).values())
        start = time.perf_counter()
        accuracy = accuracy_of(model, truth) if part == "nystroem" else _local_accuracy(model, truth)
        label_seconds = time.perf_counter() - start
        record = {
            "part": part,
            "rows": n_rows,
            "chunks": len(X.chunks[0]),
            "landmarks": options.landmarks if part == "nystroem" else "",
            "fit_seconds": f"{seconds:.1f}",
            "cpu_seconds": f"{computed:.1f}",
            "label_seconds": f"{label_seconds:.1f}",
            "products": model.n_products_ if part == "exact" else "",
            "idle_worker_mb": f"{idle:.0f}",
            "worker_peak_mb": f"{max(fit_peaks):.0f}",
            "worker_peak_after_labels_mb": f"{max(client.run(peak_mb).values()):.0f}",
            "client_peak_mb": f"{client_peak_mb():.0f}",
            "moved_mb": f"{moved / 1e6:.1f}",
            "accuracy": f"{accuracy:.4f}",
            "checked_rows": n_checked,
            "difference": f"{difference:.1e}",
        }
    print(
        f"{part}: {n_rows:,} rows in {len(X.chunks[0])} chunks, fit {seconds:.0f} s ({computed:.0f} s of computing), "
        f"labels {label_seconds:.0f} s, worker {record['worker_peak_mb']} MB, client {record['client_peak_mb']} MB, "
        f"accuracy {accuracy:.1%}, local fit of {n_checked:,} rows off by {difference:.1e}",
        flush=True,
    )
    return [record]


def _local_accuracy(model, truth: da.Array) -> float:
    """Return the accuracy of labels that are on the client, as those of the exact route are."""
    model.transduction_ = da.from_array(model.transduction_, chunks=truth.chunks)
    return accuracy_of(model, truth)


def bench_graph(options) -> list[dict[str, object]]:
    """Count the tasks of one exact product, and take the time to build its graph; no row is made."""
    records = []
    for threads in (2, 16, 128):
        n_chunks = chunks_for(options.graph_rows, threads)
        array = da.zeros((options.graph_rows, N_FEATURES), chunks=(-(-options.graph_rows // n_chunks), N_FEATURES))
        start = time.perf_counter()
        graph = dict(symmetric_array(array, None, 12, np.float64).dask)
        seconds = time.perf_counter() - start
        records.append(
            {
                "part": "graph",
                "rows": options.graph_rows,
                "threads_of_workers": threads,
                "chunks": n_chunks,
                "tasks": len(graph),
                "build_seconds": f"{seconds:.2f}",
            }
        )
        print(f"graph: {options.graph_rows:,} rows, {threads} threads: {len(graph):,} tasks in {seconds:.2f} s")
    return records


def bench_passes(options) -> list[dict[str, object]]:
    """Take the time of one pass with landmarks, and of reading the rows alone, against what they depend on."""
    records = []
    unit = options.pass_rows
    # Rows, chunk rows, landmarks: one of them changes at a time.
    cases = [(unit, unit // 8, r) for r in LANDMARKS_OF_PASSES]
    cases += [(2 * unit, unit // 8, 500), (unit, unit // 32, 500), (unit, unit // 2, 500)]
    with cluster_of(options) as cluster, Client(cluster) as client:
        for n_rows, chunk_rows, n_landmarks in cases:
            X, _, _ = rows_on_workers(n_rows, chunk_rows)
            start = time.perf_counter()
            rows = ClusterRows.of(X)
            read_seconds = time.perf_counter() - start
            kernel = Nystroem(RBF(), n_landmarks, random_state=SEED).fit(rows)
            nothing = np.empty(0, dtype=np.intp)
            measured, computed = [], []
            for _ in range(options.repetitions):
                sent_before, computed_before = sum(client.run(sent_bytes).values()), computing_seconds(client)
                start = time.perf_counter()
                summed(rows, kernel, nothing)
                measured.append(time.perf_counter() - start)
                computed.append(computing_seconds(client) - computed_before)
                moved = sum(client.run(sent_bytes).values()) - sent_before
            seconds, cpu_seconds = min(measured), min(computed)
            # Kernel values from their rows, the triangle R, and half of a symmetric matrix.
            flops = n_rows * n_landmarks * (2 * N_FEATURES + 2 * n_landmarks)
            records.append(
                {
                    "part": "passes",
                    "rows": n_rows,
                    "chunks": len(X.chunks[0]),
                    "landmarks": n_landmarks,
                    "read_seconds": f"{read_seconds:.2f}",
                    "pass_seconds": f"{seconds:.2f}",
                    "cpu_seconds": f"{cpu_seconds:.2f}",
                    "cpu_microseconds_a_row": f"{1e6 * cpu_seconds / n_rows:.1f}",
                    "gflops_a_core": f"{flops / cpu_seconds / 1e9:.1f}",
                    "moved_mb": f"{moved / 1e6:.1f}",
                    "worker_peak_mb": f"{max(client.run(peak_mb).values()):.0f}",
                }
            )
            print(
                f"passes: {n_rows:,} rows in {len(X.chunks[0])} chunks, {n_landmarks} landmarks: {seconds:.2f} s, "
                f"{cpu_seconds:.2f} s of computing, {records[-1]['gflops_a_core']} GFlop/s a core, "
                f"{moved / 1e6:.0f} MB moved",
                flush=True,
            )
    return records


PARTS = {
    "nystroem": partial(bench_fit, "nystroem"),
    "exact": partial(bench_fit, "exact"),
    "graph": bench_graph,
    "passes": bench_passes,
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the Nystroem fit")
    parser.add_argument("--chunk-rows", type=int, default=250_000)
    parser.add_argument("--landmarks", type=int, default=1_000)
    parser.add_argument(
        "--checked-rows", type=int, default=100_000, help="of the local fit that answers are held against"
    )
    parser.add_argument("--exact-rows", type=int, default=200_000)
    parser.add_argument("--exact-checked-rows", type=int, default=10_000)
    parser.add_argument("--graph-rows", type=int, default=1_000_000)
    parser.add_argument("--pass-rows", type=int, default=200_000)
    parser.add_argument("--repetitions", type=int, default=2, help="of a pass; the fastest one counts")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--worker-gb", type=float, default=3.0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    command = command_line(__file__, sys.argv[1:] if arguments is None else arguments)
    records = [record for part in options.parts for record in PARTS[part](options)]
    for record in records:
        record.update({"workers": options.workers, "worker_gb": options.worker_gb, "seed": SEED})
        record.update(circumstances(command))
        record.update({name: version(name) for name in ("dask", "distributed")})
    if options.out is not None:
        write_csv(records, options.out)


if __name__ == "__main__":
    main()
