"""Rows of the tables: what was measured, how it grows with the rows, and the bars that it is held to."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from semikpca_benchmarks.speed._records import Measurement, SpeedRecord
from semikpca_benchmarks.speed._spec import PEERS, WORKS

RESULT_COLUMNS = (
    "work",
    "place",
    "n",
    "n_features",
    "method",
    "backend",
    "dtype",
    "seconds",
    "repetitions",
    "reference",
    "ratio",
    "peak_mb",
    "baseline_mb",
    "seconds_growth",
    "memory_growth",
    "setup_seconds",
    "products",
    "residual",
    "error",
    "against",
    "labels_equal",
    "failure",
    "cores",
)
BAR_COLUMNS = ("work", "n", "what", "value", "sense", "bar", "unit", "met")

# What a method's seconds are divided by; a fit by those of the faster peer.
_REFERENCES = {"product": "rbf_kernel on row blocks", "path": "fit", "add labels": "fit", "automatic": "fit"}


def result_rows(records: Iterable[SpeedRecord]) -> list[dict[str, Any]]:
    """Return a row for each method in each cell."""
    records = list(records)
    rows = []
    for record in records:
        for method, found in record.measurements.items():
            reference = _reference(record, method)
            smaller = _next_smaller(records, record, method)
            rows.append(
                {
                    "work": record.cell.work,
                    "place": record.cell.place,
                    "n": record.cell.n,
                    "n_features": found.n_features,
                    "method": method,
                    "backend": found.backend,
                    "dtype": found.dtype,
                    "seconds": _digits(found.median_seconds),
                    "repetitions": len(found.seconds),
                    "reference": reference,
                    "ratio": _digits(_ratio(found, record.measurements.get(reference or ""))),
                    "peak_mb": _digits(found.peak_mb),
                    "baseline_mb": _digits(found.baseline_mb),
                    "seconds_growth": _digits(_growth(record, smaller, method, _seconds), 3),
                    "memory_growth": _digits(_growth(record, smaller, method, _above_baseline), 3),
                    "setup_seconds": _digits(found.setup_seconds),
                    "products": found.products,
                    "residual": _digits(found.residual, 2),
                    "error": _digits(found.error, 2),
                    "against": found.against,
                    "labels_equal": found.labels_equal,
                    "failure": found.failure,
                    "cores": record.cores,
                }
            )
    return rows


def _reference(record: SpeedRecord, method: str) -> str | None:
    if record.cell.work == "fit":
        timed = {peer: found.median_seconds for peer in PEERS if (found := record.measurements.get(peer))}
        seconds = {peer: value for peer, value in timed.items() if value is not None}
        return None if method in PEERS or not seconds else min(seconds, key=lambda peer: seconds[peer])
    reference = _REFERENCES.get(record.cell.work)
    return None if method == reference else reference


def _seconds(found: Measurement) -> float | None:
    return found.median_seconds


def _above_baseline(found: Measurement) -> float | None:
    """Return what the method itself takes: libraries do not grow."""
    if found.peak_mb is None or found.baseline_mb is None or not found.seconds:
        return None
    return found.peak_mb - found.baseline_mb


def _next_smaller(records: Sequence[SpeedRecord], record: SpeedRecord, method: str) -> SpeedRecord | None:
    cell = record.cell
    others = [
        other
        for other in records
        if (other.cell.work, other.cell.place) == (cell.work, cell.place)
        and other.cell.n < cell.n
        and method in other.measurements
    ]
    return max(others, key=lambda other: other.cell.n, default=None)


def _growth(
    record: SpeedRecord, smaller: SpeedRecord | None, method: str, of: Callable[[Measurement], float | None]
) -> float | None:
    """Return p where something grows like n^p between two sizes."""
    if smaller is None:
        return None
    here, there = of(record.measurements[method]), of(smaller.measurements[method])
    if not here or not there or here <= 0 or there <= 0:
        return None
    return math.log(here / there) / math.log(record.cell.n / smaller.cell.n)


def _ratio(found: Measurement | None, reference: Measurement | None) -> float | None:
    if found is None or reference is None:
        return None
    above, below = found.median_seconds, reference.median_seconds
    return None if above is None or below is None else above / below


def _digits(value: float | None, n: int = 4) -> float | None:
    return None if value is None else float(f"{value:.{n}g}")


# -- bars ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bar:
    """A promise: what is measured, and what it is held to."""

    work: str
    n: int
    what: str
    value: float
    sense: Literal["at least", "at most"]
    bar: float
    unit: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the promise is kept."""
        return self.value >= self.bar if self.sense == "at least" else self.value <= self.bar


def bars(records: Iterable[SpeedRecord]) -> list[Bar]:
    """Return every promise that the records can be held to, at the sizes that it is made for."""
    found = {(record.cell.work, record.cell.place, record.cell.n): record.measurements for record in records}
    return [
        *_fit_bars({n: methods for (work, _, n), methods in found.items() if work == "fit"}),
        *_product_bars(found),
        *_large_bars({n: methods for (work, _, n), methods in found.items() if work == "nystroem"}),
        *_reading_bars(found),
    ]


Methods = Mapping[str, Measurement]


def _value(methods: Methods | None, method: str, of: Callable[[Measurement], float | None] = _seconds) -> float | None:
    if methods is None or method not in methods or methods[method].failure:
        return None
    return of(methods[method])


def _peak(found: Measurement) -> float | None:
    return found.peak_mb


def _fit_bars(fits: Mapping[int, Methods]) -> Iterable[Bar]:
    for n, at_least in ((5_000, 1.0), (10_000, 1.0), (20_000, 15.0)):
        for peer in PEERS:
            ours, theirs = _value(fits.get(n), "auto"), _value(fits.get(n), peer)
            if ours and theirs:
                yield Bar("fit", n, f"fit, times faster than {_PEER_NAMES[peer]}", theirs / ours, "at least", at_least)
    for peer in PEERS:
        ours, theirs = (_value(fits.get(20_000), method, _peak) for method in ("blocked", peer))
        if ours and theirs:
            yield Bar("fit", 20_000, f"memory of blocked, share of {_PEER_NAMES[peer]}", ours / theirs, "at most", 0.1)
    for n, methods in sorted(fits.items()):
        named = [value for method in ("dense", "blocked") if (value := _value(methods, method))]
        auto = _value(methods, "auto")
        if auto and named:
            yield Bar(
                "fit", n, "automatic choice, share of the best back end's time", auto / min(named), "at most", 1.3
            )
    large, small = _value(fits.get(100_000), "auto"), _value(fits.get(20_000), "label spreading")
    if large and small:
        what = "fit, share of LabelSpreading's time for 20,000 rows"
        yield Bar("fit", 100_000, what, large / small, "at most", 2.0)
    memory = _value(fits.get(100_000), "auto", _peak)
    if memory:
        yield Bar("fit", 100_000, "memory of the fit", memory, "at most", 1_000.0, "MB")


_PEER_NAMES = {"label spreading": "LabelSpreading", "kernel pca": "KernelPCA"}


def _product_bars(found: Mapping[tuple[str, str, int], Methods]) -> Iterable[Bar]:
    for (work, _, n), methods in found.items():
        ours, theirs = _value(methods, "blocked float32"), _value(methods, "rbf_kernel on row blocks")
        if work == "product" and ours and theirs:
            yield Bar(
                work, n, "one product, times faster than rbf_kernel on row blocks", theirs / ours, "at least", 6.0
            )
        seconds = _value(methods, "exact search")
        if work == "graph" and seconds:
            yield Bar(work, n, "fit after the graph", seconds, "at most", 10.0, "s")


def _large_bars(fits: Mapping[int, Methods]) -> Iterable[Bar]:
    n = 1_000_000
    seconds, memory = (_value(fits.get(n), "nystroem", of) for of in (_seconds, _peak))
    if seconds:
        yield Bar("nystroem", n, "fit", seconds, "at most", 120.0, "s")
        start = _value(fits.get(100_000), "nystroem")
        if start:
            growth = math.log(seconds / start) / math.log(10)
            # Two cores that others use too: a tenth more than linear is noise.
            yield Bar("nystroem", n, "power of n that the time grows with, from 100,000 rows", growth, "at most", 1.1)
    if memory:
        yield Bar("nystroem", n, "memory of the fit", memory, "at most", 6_000.0, "MB")


def _reading_bars(found: Mapping[tuple[str, str, int], Methods]) -> Iterable[Bar]:
    for (work, place, n), methods in found.items():
        fit = _value(methods, "fit")
        if work == "path" and fit and (path := _value(methods, "path")):
            yield Bar(work, n, f"path of 100 weights, share of a fit ({place})", path / fit, "at most", 1.3)
        if work == "add labels" and fit and (added := _value(methods, "add labels")):
            yield Bar(work, n, f"a label added, share of a fit ({place})", added / fit, "at most", 0.1)
            yield Bar(work, n, f"a label added ({place})", 1_000 * added, "at most", 200.0, "ms")
        if work == "automatic" and fit and (automatic := _value(methods, "automatic fit")):
            yield Bar(work, n, "automatic fit, times a plain fit", automatic / fit, "at most", 10.0)


def bar_rows(records: Iterable[SpeedRecord]) -> list[dict[str, Any]]:
    """Return the bars as rows of a table, in the order of the works; a quick run meets none and misses none."""
    order, records = list(WORKS), list(records)
    quick = any(record.cell.quick for record in records)
    found = sorted(bars(records), key=lambda bar: order.index(bar.work))
    return [
        {
            "work": bar.work,
            "n": bar.n,
            "what": bar.what,
            "value": _digits(bar.value, 3),
            "sense": bar.sense,
            "bar": bar.bar,
            "unit": bar.unit,
            "met": "" if quick else "yes" if bar.is_met else "no",
        }
        for bar in found
    ]
