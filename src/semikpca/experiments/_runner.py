"""From a spec to records: one spectrum for each data set serves all draws and all error weights."""

import zlib
from collections.abc import Generator, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from semikpca._typing import FloatArray, IntArray
from semikpca.convexity import ConvexityCertificate
from semikpca.datasets import load_paper_dataset
from semikpca.experiments._records import CellRecord, ModelRecord
from semikpca.experiments._spec import Cell, PaperSpec
from semikpca.experiments._workers import WithParent
from semikpca.kernels import RBF
from semikpca.operators import DenseOperator, KernelOperator, make_operator
from semikpca.problem import lssvm_path, path_decisions
from semikpca.spectrum import Spectrum, full_spectrum

_EIGENVALUES_KEPT = 6  # for Figure 2 and the certificates of the report


class _Prepared(NamedTuple):
    """A data set with all that does not depend on which rows are labeled."""

    n_features: int
    majority_share: float
    signs: FloatArray  # the truth, ±1
    operator: KernelOperator
    spectrum: Spectrum


@lru_cache(maxsize=2)  # cells come data set by data set
def _prepare(name: str, seed: int) -> _Prepared:
    data = load_paper_dataset(name, seed=seed)
    X = StandardScaler().fit_transform(data.X)
    operator = make_operator(RBF(gamma="median").fit(X), X, "dense")
    return _Prepared(X.shape[1], data.majority_share, 2.0 * data.y - 1.0, operator, full_spectrum(operator))


def run_cell(spec: PaperSpec, cell: Cell) -> CellRecord:
    """Run all models on all draws of one cell.

    BLAS is held to one thread, so that rounding, and with it a prediction on the edge, does not depend on how many
    cells run side by side.
    """
    with threadpool_limits(1):
        prepared = _prepare(cell.dataset, spec.seed)
        n_samples = prepared.operator.n
        draws = draw_labeled_rows(cell, n_samples, spec.repetitions, spec.seed)
        # One column for each draw: the sign of a labeled row, 0 for the others.
        targets = np.zeros((n_samples, len(draws)))
        targets[draws, np.arange(len(draws))[:, np.newaxis]] = prepared.signs[draws]
        return CellRecord(
            cell=cell,
            n_samples=n_samples,
            n_features=prepared.n_features,
            majority_share=prepared.majority_share,
            eigenvalues=tuple(prepared.spectrum.eigenvalues[:_EIGENVALUES_KEPT].tolist()),
            models={
                "semi_kpca_0": _semi_kpca(prepared, targets, spec, k=0),
                "semi_kpca_1": _semi_kpca(prepared, targets, spec, k=1),
                "semi_lssvm": _semi_lssvm(prepared, targets, spec),
                "subs_lssvm": _subs_lssvm(prepared, targets, spec, draws),
            },
        )


def run_missing(spec: PaperSpec, cells: Iterable[Cell], jobs: int = 1) -> Generator[CellRecord, None, None]:
    """Yield the records of ``cells`` as they are finished, from ``jobs`` processes side by side."""
    parallel: Any = Parallel(n_jobs=jobs, return_as="generator_unordered")
    yield from parallel(delayed(WithParent.here(run_cell))(spec, cell) for cell in cells)


def draw_labeled_rows(cell: Cell, n_samples: int, repetitions: int, seed: int) -> IntArray:
    """Return the labeled rows of every draw, shape (repetitions, n_labeled).

    Uniform without replacement; nothing forces both classes in, as in the paper. A draw depends on the seed, the cell
    and its own number alone, so that ten draws are the first ten of a hundred, whatever runs beside them.
    """
    name = zlib.crc32(cell.dataset.encode())
    seeds = ([seed, name, cell.n_labeled, draw] for draw in range(repetitions))
    return np.stack([np.random.default_rng(s).choice(n_samples, cell.n_labeled, replace=False) for s in seeds])


def _semi_kpca(prepared: _Prepared, targets: FloatArray, spec: PaperSpec, k: int) -> ModelRecord:
    certificate = ConvexityCertificate.from_spectrum(prepared.spectrum, k)
    weights, fixed = spec.relative_weights() * certificate.error_weight_max, certificate.resolve("middle")
    decisions = path_decisions(prepared.spectrum, k, targets, np.append(weights, fixed), sign=-1)
    return _record(prepared, targets, weights, fixed, decisions)


def _semi_lssvm(prepared: _Prepared, targets: FloatArray, spec: PaperSpec) -> ModelRecord:
    weights = spec.lssvm_weights(prepared.operator.n, prepared.n_features)
    fixed = 10.0 * prepared.n_features / prepared.operator.n
    decisions = path_decisions(prepared.spectrum, 0, targets, np.append(weights, fixed), sign=1)
    return _record(prepared, targets, weights, fixed, decisions)


def _subs_lssvm(prepared: _Prepared, targets: FloatArray, spec: PaperSpec, draws: IntArray) -> ModelRecord:
    weights = spec.lssvm_weights(prepared.operator.n, prepared.n_features)
    fixed = 100.0 * prepared.n_features / prepared.operator.n
    K = prepared.operator.to_dense()
    decisions = np.empty((len(weights) + 1, len(K), len(draws)))
    for draw, rows in enumerate(draws):
        among_labeled = full_spectrum(DenseOperator(K[np.ix_(rows, rows)]))
        coefficients = lssvm_path(among_labeled, prepared.signs[rows, np.newaxis], np.append(weights, fixed))
        decisions[:, :, draw] = coefficients[:, :, 0] @ K[rows]
    return _record(prepared, targets, weights, fixed, decisions)


def _record(
    prepared: _Prepared, targets: FloatArray, weights: FloatArray, fixed: float, decisions: FloatArray
) -> ModelRecord:
    """Count hits; ``decisions`` has shape (n_weights + 1, n_samples, repetitions), the fixed weight last."""
    # A decision of zero is on nobody's side: it counts as an error.
    right = decisions * prepared.signs[:, np.newaxis] > 0
    hits = (right & (targets == 0)).sum(axis=1)
    return ModelRecord(error_weights=weights, hits=hits[:-1], fixed_error_weight=fixed, fixed_hits=hits[-1])
