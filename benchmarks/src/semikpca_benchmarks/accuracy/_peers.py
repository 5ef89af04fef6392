"""What else one can install, as the benchmark runs it."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import SelfTrainingClassifier

from semikpca.estimators import LSSVMClassifier
from semikpca.kernels import RBF
from semikpca_benchmarks._typing import FloatArray, IntArray
from semikpca_benchmarks.accuracy._answers import UNLABELED, Answer, Predictor, transduced

N_NEIGHBORS = 10
"""Neighbors of a row in the graphs that graphlearning gets."""

_LEAST_DISTANCE = 1e-10


def median_gamma(X: FloatArray) -> float:
    """Return the coefficient of the Gaussian kernel with the median bandwidth."""
    return float(RBF(gamma="median").fit(X).gamma_)


def transductive(make: Callable[[FloatArray], Any]) -> Predictor:
    """Return the predictor of a scikit-learn model that labels the rows that it was fitted on."""

    def predict(X: FloatArray, y: IntArray, generator: np.random.Generator) -> Answer:
        return transduced(make(X).fit(X, y))

    return predict


def self_training(X: FloatArray, y: IntArray, generator: np.random.Generator) -> Answer:
    """Return the answer of logistic regression that trains itself."""
    model = SelfTrainingClassifier(LogisticRegression()).fit(X, y)
    # Its transduction_ leaves rows unlabeled that it was never sure of; predict has an answer for all.
    return Answer(np.asarray(model.predict(X)), np.asarray(model.predict_proba(X)), np.asarray(model.classes_))


def supervised(make: Callable[[FloatArray], Any], *, probabilities: bool = False) -> Predictor:
    """Return the predictor of a model that learns from the labeled rows alone."""

    def predict(X: FloatArray, y: IntArray, generator: np.random.Generator) -> Answer:
        labeled = y != UNLABELED
        model = make(X).fit(X[labeled], y[labeled])
        labels = np.asarray(model.predict(X))
        if not probabilities:
            return Answer(labels)
        return Answer(labels, np.asarray(model.predict_proba(X)), np.asarray(model.classes_))

    return predict


def lssvm(X: FloatArray, **options: Any) -> Any:
    """Return an LS-SVM with the median bandwidth of all rows."""
    classifier: Any = LSSVMClassifier
    return classifier(RBF(gamma=median_gamma(X)), **options)


def graphlearning(model: str, **options: Any) -> Predictor:
    """Return the predictor of a model of graphlearning's."""

    def predict(X: FloatArray, y: IntArray, generator: np.random.Generator) -> Answer:
        library: Any = import_module("graphlearning")
        # Its own search is approximate above five features; the exact one is better for it, and always the same.
        rows_near, distances = library.weightmatrix.knnsearch(X, N_NEIGHBORS + 1, method="kdtree")
        # It divides by the distance of the last neighbor, which is 0 where a row has that many copies.
        neighbors = rows_near, np.maximum(distances, _LEAST_DISTANCE)
        graph = library.weightmatrix.knn(X, N_NEIGHBORS, knn_data=neighbors)
        rows = np.flatnonzero(y != UNLABELED)
        return Answer(np.asarray(getattr(library.ssl, model)(graph, **options).fit_predict(rows, y[rows])))

    return predict
