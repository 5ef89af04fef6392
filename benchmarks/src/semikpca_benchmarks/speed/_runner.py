"""From a spec to records: every method in processes of its own, in turns, and no time of a wrong answer."""

import multiprocessing
import os
import sys
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from semikpca_benchmarks._typing import FloatArray, IntArray
from semikpca_benchmarks.speed._problems import difference
from semikpca_benchmarks.speed._records import Measurement, SpeedRecord
from semikpca_benchmarks.speed._spec import PEERS, WORKS, SpeedCell, SpeedSpec

# A process repeats its methods until this many seconds have passed, or this often.
_SECONDS_A_TURN, _REPETITIONS_A_TURN = 1.0, 5
# A process that took longer, with what it does not count, has its turn in the first round only.
_LONG = 15.0
# Labels that may differ between two back ends, and between landmarks and the exact kernel.
_MOST_OTHER_LABELS = {"fit": 0.001, "nystroem": 0.02, "graph": 0.05}
# Bytes for each pair of rows that the peers were seen to need: they store several matrices.
_PEER_BYTES = 24


@dataclass
class Turn:
    """What one process has found of one method.

    ``allowed`` is the largest error of its answer, ``elapsed`` the seconds that all repetitions took together.
    """

    measurement: Measurement
    decision: FloatArray | None = None
    labels: IntArray | None = None
    allowed: float = 0.0
    elapsed: float = 0.0


def run_speed_cells(spec: SpeedSpec, cells: Sequence[SpeedCell]) -> Generator[SpeedRecord, None, None]:
    """Yield the records of cells, one after the other: whatever runs beside a clock slows it down."""
    for cell in cells:
        yield run_speed_cell(cell, spec.repetitions)


def run_speed_cell(cell: SpeedCell, repetitions: int) -> SpeedRecord:
    """Time all methods of a cell, in turns, each turn in a process of its own."""
    work, found = WORKS[cell.work], dict[str, Turn]()
    skipped = {method: reason for method in cell.methods if (reason := _reason_to_skip(cell, method))}
    methods = tuple(method for method in cell.methods if method not in skipped)
    groups = [methods] if work.shares_process else [(method,) for method in methods]
    for number in range(repetitions):
        for group in groups:
            if number and not all(_is_worth_repeating(found[method]) for method in group):
                continue
            for method, turn in _in_a_process(cell, group).items():
                found[method] = _joined(found[method], turn) if number else turn
        if not number:
            found = {method: _judged(cell, turn, next(iter(found.values()))) for method, turn in found.items()}
    measurements = {method: found[method].measurement for method in methods}
    measurements |= {method: Measurement(failure=reason) for method, reason in skipped.items()}
    ordered = {method: measurements[method] for method in cell.methods}
    return SpeedRecord(cell, _cores(), ordered)


def _is_worth_repeating(turn: Turn) -> bool:
    return not turn.measurement.failure and turn.elapsed < _LONG


def _joined(first: Turn, later: Turn) -> Turn:
    measurement = first.measurement
    if later.measurement.failure:
        return replace(first, measurement=later.measurement)
    seconds = (*measurement.seconds, *later.measurement.seconds)
    return replace(first, measurement=replace(measurement, seconds=seconds))


def _judged(cell: SpeedCell, turn: Turn, reference: Turn) -> Turn:
    """Hold an answer to that of the first method, and take its seconds away where it is wrong."""
    measurement = turn.measurement
    if measurement.failure:
        return turn
    if turn is not reference and turn.decision is not None and reference.decision is not None and cell.work == "fit":
        error = difference(turn.decision, reference.decision)
        if measurement.error is None or error > measurement.error:
            measurement = replace(measurement, error=error, against=f"decisions of {_first(cell)}")
    if turn is not reference and turn.labels is not None and reference.labels is not None:
        share = float(np.mean(turn.labels == reference.labels))
        measurement = replace(measurement, labels_equal=share)
        allowed = _MOST_OTHER_LABELS.get(cell.work)
        if turn.decision is not None and allowed is not None and share < 1 - allowed:
            measurement = _wrong(measurement, f"only {share:.2%} of its labels are those of {_first(cell)}")
    if not measurement.failure and measurement.error is not None and not measurement.error <= turn.allowed:
        text = f"its answer is off by {measurement.error:.1e} from {measurement.against}, {turn.allowed:.0e} is allowed"
        measurement = _wrong(measurement, text)
    return replace(turn, measurement=measurement)


def _first(cell: SpeedCell) -> str:
    return f"'{cell.methods[0]}'"


def _wrong(measurement: Measurement, reason: str) -> Measurement:
    return replace(measurement, seconds=(), failure=f"no time: {reason}")


def _reason_to_skip(cell: SpeedCell, method: str) -> str:
    """Say why a method cannot be run here; empty where it can."""
    needed, present = _PEER_BYTES * cell.n**2, _memory()
    if method in PEERS and present is not None and needed > 0.9 * present:
        return f"not run: it would take about {needed / 1e9:.0f} GB, and {present / 1e9:.0f} GB are there"
    if method == "approximate search" and find_spec("faiss") is None:
        return "not run: faiss is not installed (pip install 'semikpca[neighbors]')"
    return ""


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int | None:
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


# -- processes -------------------------------------------------------------------------------------------------------


def _context() -> Any:
    """Return how processes are started: from a server that has loaded the libraries and made nothing."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["semikpca_benchmarks.speed._jobs"])
    return context


def _in_a_process(cell: SpeedCell, methods: tuple[str, ...]) -> dict[str, Turn]:
    """Return what a new process finds of some methods; where it dies, how."""
    context = _context()
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(there, cell, methods), daemon=True)
    try:
        process.start()
        there.close()
        found: dict[str, Turn] | str = here.recv()
    except EOFError:
        process.join()
        found = _cause_of_death(process.exitcode)
    finally:
        # Also after Ctrl-C: nothing goes on working for nobody.
        here.close()
        if process.pid is not None:
            process.join(timeout=5 if sys.exc_info()[0] is None else 0)
            if process.is_alive():
                process.kill()
                process.join()
    if isinstance(found, str):
        return {method: Turn(Measurement(failure=found)) for method in methods}
    return found


def _cause_of_death(code: int | None) -> str:
    if code is not None and code < 0:
        return f"its process was killed by signal {-code}" + (
            ", which is what lack of memory does" if code == -9 else ""
        )
    return f"its process ended with code {code}"


def _work(connection: Any, cell: SpeedCell, methods: tuple[str, ...]) -> None:
    """Do what the process is there for, and send back what it found, or what went wrong."""
    try:
        connection.send(_answer(cell, methods))
    except (KeyboardInterrupt, BrokenPipeError):
        return  # whoever has started this was stopped, and listens no more


def _answer(cell: SpeedCell, methods: tuple[str, ...]) -> dict[str, Turn] | str:
    """Return what is found of some methods, or what went wrong."""
    # Not imported by whoever starts processes: it would carry the libraries that it measures.
    from semikpca_benchmarks.speed._jobs import known_warnings_silenced, make_jobs

    baseline = peak_memory_mb()
    try:
        with known_warnings_silenced():
            return _turns(make_jobs(cell, methods), baseline)
    except (Exception, SystemExit) as error:
        lines = str(error).splitlines()
        return f"{type(error).__name__}: {lines[0] if lines else ''}".removesuffix(": ")


def _turns(jobs: Any, baseline: float | None) -> dict[str, Turn]:
    """Time the jobs of a process in turns; memory is read after the first turn of each, before anything is read off."""
    seconds: dict[str, list[float]] = {method: [] for method in jobs}
    peaks: dict[str, float | None] = {}
    answers: dict[str, Any] = {}
    elapsed = 0.0
    for _ in range(_REPETITIONS_A_TURN):
        for method, job in jobs.items():
            start = time.perf_counter()
            result = job.run()
            taken = time.perf_counter() - start
            elapsed += taken
            seconds[method].append(taken - job.not_counted())
            if method not in peaks:
                peaks[method] = peak_memory_mb()
                answers[method] = job.read(result)
            del result
        if elapsed >= _SECONDS_A_TURN:
            break
    return {
        method: Turn(
            Measurement(
                seconds=tuple(seconds[method]),
                peak_mb=peaks[method],
                baseline_mb=baseline,
                backend=answer.backend,
                dtype=answer.dtype,
                n_features=answer.n_features,
                products=answer.products,
                residual=answer.residual,
                setup_seconds=answer.setup_seconds,
                error=answer.error,
                against=answer.against,
            ),
            answer.decision,
            answer.labels,
            answer.allowed,
            elapsed,
        )
        for method, answer in answers.items()
    }


def peak_memory_mb() -> float | None:
    """Return the largest memory of this process so far, in megabytes (10⁶ bytes); None where nothing says it."""
    try:
        # Of this program alone; what getrusage says may be that of the process that started it.
        with open("/proc/self/status", encoding="ascii") as file:
            (line,) = (line for line in file if line.startswith("VmHWM:"))
        return 1024 * float(line.split()[1]) / 1e6
    except (OSError, ValueError):
        pass
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
