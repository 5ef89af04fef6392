"""From a spec to records: the same draws for all methods, and a method that fails does not stop the others."""

import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from semikpca.experiments import WithParent
from semikpca_benchmarks._typing import BoolArray, FloatArray, IntArray
from semikpca_benchmarks.accuracy._draws import draw_labeled_rows, flip_labels, method_generator
from semikpca_benchmarks.accuracy._methods import UNLABELED, Auditor, Method, find_method, known_warnings_silenced
from semikpca_benchmarks.accuracy._records import AccuracyRecord, MethodRecord
from semikpca_benchmarks.accuracy._spec import AccuracyCell, AccuracySpec
from semikpca_benchmarks.datasets import load_benchmark_dataset

_PIXEL_MAX = 16.0  # of digits


@dataclass(frozen=True)
class _Prepared:
    """A data set, scaled as all methods get it."""

    X: FloatArray
    y: IntArray
    n_classes: int
    majority_share: float


@lru_cache(maxsize=2)  # cells come data set by data set
def _prepare(name: str) -> _Prepared:
    data = load_benchmark_dataset(name)
    X = data.X / _PIXEL_MAX if name == "digits" else StandardScaler().fit_transform(data.X)
    return _Prepared(X, data.y, data.n_classes, data.majority_share)


@dataclass(frozen=True)
class _Draw:
    """One draw: the labels as all methods get them, and who is to be predicted."""

    y: IntArray
    unlabeled: BoolArray
    wrong: BoolArray  # over the labeled rows, in the order of the rows


def run_accuracy_cell(spec: AccuracySpec, cell: AccuracyCell, methods: Iterable[str] | None = None) -> AccuracyRecord:
    """Run methods, by default all of the spec, on all draws of one cell.

    BLAS is held to one thread, so that rounding, and with it a prediction on the edge, does not depend on how many
    cells run side by side.
    """
    with threadpool_limits(1):
        prepared = _prepare(cell.dataset)
        draws = [_draw(prepared, cell, number, spec.seed) for number in range(spec.repetitions)]
        chosen = [find_method(name) for name in (spec.methods if methods is None else methods)]
        return AccuracyRecord(
            cell=cell,
            n_samples=len(prepared.y),
            n_features=prepared.X.shape[1],
            n_classes=prepared.n_classes,
            majority_share=prepared.majority_share,
            methods={
                method.name: _run_method(method, prepared, draws, cell, spec.seed)
                for method in chosen
                if method.applies_to(prepared.n_classes)
            },
        )


def run_accuracy_cells(
    spec: AccuracySpec, methods: Mapping[AccuracyCell, Sequence[str]], jobs: int = 1
) -> Generator[AccuracyRecord, None, None]:
    """Yield the records of cells, each with its methods, as they are finished, from ``jobs`` processes side by side."""
    parallel: Any = Parallel(n_jobs=jobs, return_as="generator_unordered")
    yield from parallel(
        delayed(WithParent.here(run_accuracy_cell))(spec, cell, names) for cell, names in methods.items()
    )


def _draw(prepared: _Prepared, cell: AccuracyCell, number: int, seed: int) -> _Draw:
    rows = np.sort(draw_labeled_rows(cell, prepared.y, number, seed))
    given = flip_labels(cell, prepared.y[rows], prepared.n_classes, number, seed)
    y = np.full(len(prepared.y), UNLABELED, dtype=np.intp)
    y[rows] = given
    return _Draw(y, y == UNLABELED, given != prepared.y[rows])


def _run_method(method: Method, prepared: _Prepared, draws: list[_Draw], cell: AccuracyCell, seed: int) -> MethodRecord:
    hits: list[FloatArray] = []
    seconds, failures, areas = [], {}, []
    for number, draw in enumerate(draws):
        # A method must not change what the next one gets.
        X, y = prepared.X, draw.y.copy()
        begin = time.perf_counter()
        try:
            with known_warnings_silenced():
                predicted = method.predict(X, y, method_generator(cell, method.name, number, seed))
            right = np.atleast_2d(predicted)[:, draw.unlabeled] == prepared.y[draw.unlabeled]
            hits.append(right.sum(axis=1, dtype=np.float64))
        except (Exception, SystemExit) as error:  # one peer calls sys.exit
            failures[number] = _message(error)
            hits.append(np.array([np.nan]))
        seconds.append(time.perf_counter() - begin)
        if cell.flipped and method.audit is not None:
            try:
                areas.append(_audit_area(method.audit, X, draw, method_generator(cell, method.name, number, seed)))
            except Exception as error:
                failures.setdefault(number, f"audit_labels: {_message(error)}")
                areas.append(float("nan"))
    by_setting = np.stack(np.broadcast_arrays(*hits), axis=-1)
    best = int(np.nansum(by_setting, axis=1).argmax())
    return MethodRecord(
        hits=by_setting[best],
        seconds=np.array(seconds),
        failures=failures,
        audit_auc=np.array(areas) if areas else None,
        chosen=method.choices[best] if method.choices and len(by_setting) > 1 else None,
    )


def _audit_area(audit: Auditor, X: FloatArray, draw: _Draw, generator: np.random.Generator) -> float:
    """Return the area under the ROC curve for finding the wrong labels; NaN where it has no value."""
    if draw.wrong.all() or not draw.wrong.any():
        return float("nan")
    with known_warnings_silenced():
        suspicion = audit(X, draw.y.copy(), generator)
    # A label that nothing is known of is the last one that the audit would name.
    return float(roc_auc_score(draw.wrong, np.nan_to_num(suspicion, nan=-1.0)))


def _message(error: BaseException) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}".removesuffix(": ")
