"""The data of the speed benchmark, and answers on them by formulas that share no code with what is timed."""

import numpy as np

from semikpca_benchmarks._typing import FloatArray, IntArray

SEED = 0
N_FEATURES, N_LABELS = 10, 20
GRAPH_FEATURES, GRAPH_CLASSES, GRAPH_LABELS_EACH = 16, 10, 10


def two_clusters(n: int, dtype: str = "float64") -> tuple[FloatArray, IntArray, IntArray]:
    """Return two Gaussian clusters four standard deviations apart, a few labels, and all classes."""
    generator = np.random.default_rng(SEED)
    classes = np.arange(n) % 2
    X = generator.standard_normal((n, N_FEATURES), dtype=np.float64)
    X[:, 0] += 4 * classes
    return X.astype(dtype, copy=False), _few_labels(generator, classes, N_LABELS // 2), classes


def mixture(n: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Return a Gaussian mixture of ten classes that touch, a few labels of each, and all classes."""
    generator = np.random.default_rng(SEED)
    centers = 3 * generator.standard_normal((GRAPH_CLASSES, GRAPH_FEATURES))
    classes = np.arange(n) % GRAPH_CLASSES
    X = centers[classes] + generator.standard_normal((n, GRAPH_FEATURES))
    return X, _few_labels(generator, classes, GRAPH_LABELS_EACH), classes


def _few_labels(generator: np.random.Generator, classes: IntArray, n_each: int) -> IntArray:
    y = np.full(len(classes), -1)
    for label in np.unique(classes):
        y[generator.choice(np.flatnonzero(classes == label), n_each, replace=False)] = label
    return y


def naive_rbf(A: FloatArray, B: FloatArray, gamma: float) -> FloatArray:
    """Return the Gaussian kernel between all pairs of rows."""
    return np.asarray(np.exp(-gamma * ((A[:, np.newaxis] - B) ** 2).sum(axis=2)))


def naive_nystroem(X: FloatArray, landmarks: FloatArray, gamma: float) -> FloatArray:
    """Return the approximate matrix: C W⁺ Cᵀ."""
    C, W = naive_rbf(X, landmarks, gamma), naive_rbf(landmarks, landmarks, gamma)
    return np.asarray(C @ np.linalg.pinv(W, hermitian=True) @ C.T)


def algorithm_1(K: FloatArray, y: IntArray, error_weight: float | None = None) -> FloatArray:
    """Return the decisions of Algorithm 1 of the paper, one component removed, at the middle weight or a given one."""
    values, vectors = np.linalg.eigh(K)
    weight = 1 / np.sqrt(values[-1] * values[-2]) if error_weight is None else error_weight
    projected = K - values[-1] * np.outer(vectors[:, -1], vectors[:, -1])
    classes = np.unique(y[y >= 0])
    positives = classes[1:] if len(classes) == 2 else classes
    targets = np.where(y[:, np.newaxis] < 0, 0.0, np.where(y[:, np.newaxis] == positives, 1.0, -1.0))
    decision = projected @ np.linalg.solve(np.eye(len(K)) / weight - projected, targets)
    return np.asarray(decision[:, 0] if decision.shape[1] == 1 else decision)


def difference(found: FloatArray, wanted: FloatArray) -> float:
    """Return ‖found − wanted‖ / ‖wanted‖."""
    return float(np.linalg.norm(np.asarray(found, float) - wanted) / np.linalg.norm(wanted))
