"""From a spec to records: the same draws for all methods, and a method that fails does not stop the others."""

import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from semikpca.experiments import WithParent
from semikpca_benchmarks._typing import BoolArray, FloatArray, IntArray
from semikpca_benchmarks.accuracy._answers import UNLABELED, Answer, Auditor
from semikpca_benchmarks.accuracy._cells import AccuracyCell
from semikpca_benchmarks.accuracy._draws import draw_labeled_rows, flip_labels, method_generator
from semikpca_benchmarks.accuracy._methods import Method, find_method, known_warnings_silenced
from semikpca_benchmarks.accuracy._metrics import probability_scores
from semikpca_benchmarks.accuracy._records import SCORES, AccuracyRecord, MethodRecord
from semikpca_benchmarks.accuracy._spec import AccuracySpec
from semikpca_benchmarks.datasets import DataFolder, SetInfo, load_benchmark_dataset, load_folder_set, scaled


@dataclass(frozen=True)
class _Prepared:
    """A data set, scaled as all methods get it."""

    X: FloatArray
    y: IntArray
    n_classes: int


@lru_cache(maxsize=2)  # cells come data set by data set
def _prepare(info: SetInfo, folder: DataFolder | None) -> _Prepared:
    if info.sha256 is None or folder is None:
        data = load_benchmark_dataset(info.name)
    else:
        data = load_folder_set(folder, info)
    return _Prepared(scaled(data.X, info.scaling), data.y, data.n_classes)


@dataclass(frozen=True)
class _Draw:
    """One draw: the labels as all methods get them, and who is to be predicted."""

    y: IntArray
    unlabeled: BoolArray
    wrong: BoolArray  # over the labeled rows, in the order of the rows


@dataclass(frozen=True)
class _Judged:
    """An answer held against the truth; an oracle has a row for each of its settings."""

    class_hits: FloatArray  # shape (n_settings, n_classes), NaN where the method failed
    predicted: FloatArray
    scores: dict[str, float]


def run_accuracy_cell(spec: AccuracySpec, cell: AccuracyCell, methods: Iterable[str] | None = None) -> AccuracyRecord:
    """Run methods, by default all of the spec, on all draws of one cell.

    BLAS is held to one thread, so that rounding, and with it a prediction on the edge, does not depend on how many
    cells run side by side.
    """
    with threadpool_limits(1):
        prepared = _prepare(cell.info, spec.folder)
        draws = [_draw(prepared, cell, number, spec.seed) for number in range(spec.repetitions)]
        chosen = [find_method(name) for name in (spec.methods if methods is None else methods)]
        return AccuracyRecord(
            cell=cell,
            n_features=prepared.X.shape[1],
            labeled=np.stack([_class_counts(prepared.y[~draw.unlabeled], prepared.n_classes) for draw in draws]),
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
    judged: list[_Judged] = []
    seconds, failures, areas = [], {}, []
    for number, draw in enumerate(draws):
        # A method must not change what the next one gets.
        X, y = prepared.X, draw.y.copy()
        begin = time.perf_counter()
        try:
            with known_warnings_silenced():
                answer = method.predict(X, y, method_generator(cell, method.name, number, seed))
            judged.append(_judge(answer, prepared, draw))
        except (Exception, SystemExit) as error:  # one peer calls sys.exit
            failures[number] = _message(error)
            judged.append(_failed(prepared.n_classes))
        seconds.append(time.perf_counter() - begin)
        if cell.flipped and method.audit is not None:
            try:
                areas.append(_audit_area(method.audit, X, draw, method_generator(cell, method.name, number, seed)))
            except Exception as error:
                failures.setdefault(number, f"audit_labels: {_message(error)}")
                areas.append(float("nan"))
    class_hits = np.stack(np.broadcast_arrays(*(one.class_hits for one in judged)), axis=1)
    predicted = np.stack(np.broadcast_arrays(*(one.predicted for one in judged)), axis=1)
    best = int(np.nansum(class_hits, axis=(1, 2)).argmax())
    has_scores = any(one.scores for one in judged)
    return MethodRecord(
        class_hits=class_hits[best],
        predicted=predicted[best],
        seconds=np.array(seconds),
        failures=failures,
        scores=_columns([one.scores for one in judged]) if has_scores else {},
        audit_auc=np.array(areas) if areas else None,
        chosen=method.choices[best] if method.choices and len(class_hits) > 1 else None,
    )


def _judge(answer: Answer, prepared: _Prepared, draw: _Draw) -> _Judged:
    """Hold an answer against the truth on the unlabeled rows."""
    truth = prepared.y[draw.unlabeled]
    labels = np.atleast_2d(answer.labels)[:, draw.unlabeled]
    hits = [_class_counts(truth[row == truth], prepared.n_classes) for row in labels]
    predicted = [_class_counts(row, prepared.n_classes) for row in labels]
    probabilities = answer.probabilities_of(prepared.n_classes)
    scores = {}
    if probabilities is not None:
        scores = asdict(probability_scores(probabilities[draw.unlabeled], labels[0], truth))
    return _Judged(np.array(hits, dtype=np.float64), np.array(predicted, dtype=np.float64), scores)


def _failed(n_classes: int) -> _Judged:
    nothing = np.full((1, n_classes), np.nan)
    return _Judged(nothing, nothing, {})


def _columns(scores: Sequence[Mapping[str, float]]) -> dict[str, FloatArray]:
    """Return the scores of all draws by name, NaN where there are none."""
    return {name: np.array([found.get(name, np.nan) for found in scores]) for name in SCORES}


def _class_counts(labels: IntArray, n_classes: int) -> IntArray:
    """Return how often each class occurs; a label that is no class counts nowhere."""
    return np.asarray((labels[:, np.newaxis] == np.arange(n_classes)).sum(axis=0))


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
