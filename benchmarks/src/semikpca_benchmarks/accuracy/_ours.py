"""Our classifiers, as the benchmark runs them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from semikpca.convexity import ConvexityCertificate
from semikpca.experiments import PaperSpec
from semikpca.kernels import RBF
from semikpca.labeling import audit_labels
from semikpca.operators import make_operator
from semikpca.problem import path_decisions
from semikpca.spectrum import Spectrum, full_spectrum
from semikpca_benchmarks._typing import FloatArray, IntArray
from semikpca_benchmarks.accuracy._answers import UNLABELED, Answer, Auditor, Predictor, transduced

N_WEIGHTS = 41
"""Error weights that the oracle chooses among."""


class SharedModel:
    """One classifier on draw after draw of the same rows.

    Kernels and spectra do not depend on labels, so all draws of a data set share one model, whose labels are exchanged;
    ``add_labels`` gives what a new fit would, and a test holds it to that.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._known: tuple[FloatArray, Any] | None = None

    def __call__(self, X: FloatArray, y: IntArray) -> Any:
        """Return the model of these rows and labels."""
        classes = np.unique(y[y != UNLABELED])
        if self._known is None or self._known[0] is not X or not np.array_equal(self._known[1].classes_, classes):
            self._known = X, self._make().fit(X, y)
        model = self._known[1]
        changed = np.flatnonzero(_labels_of(model) != y)
        return model.add_labels(changed, y[changed])


def _labels_of(model: Any) -> IntArray:
    """Return the labels that a model has, -1 where it has none."""
    codes = model.label_coding_.codes
    return np.where(codes == UNLABELED, UNLABELED, model.classes_[codes])


def ours(make: Callable[[], Any]) -> tuple[Predictor, Auditor]:
    """Return how a classifier of ours predicts and how it audits labels."""
    fit = SharedModel(make)

    def predict(X: FloatArray, y: IntArray, generator: np.random.Generator) -> Answer:
        return transduced(fit(X, y))

    def audit(X: FloatArray, y: IntArray, generator: np.random.Generator) -> FloatArray:
        found = audit_labels(fit(X, y))
        return np.asarray(found.suspicion[np.argsort(found.rows)])

    return predict, audit


class EveryWeight:
    """Semi-KPCA with the paper's kernel at many error weights, all from one spectrum."""

    def __init__(self) -> None:
        self.relative_weights = PaperSpec(n_weights=N_WEIGHTS).relative_weights()
        self._known: tuple[FloatArray, Spectrum] | None = None

    def __call__(self, X: FloatArray, y: IntArray, generator: np.random.Generator) -> Answer:
        """Return an answer for each weight."""
        spectrum = self._spectrum(X)
        weights = self.relative_weights * ConvexityCertificate.from_spectrum(spectrum, 1).error_weight_max
        signs = np.where(y == UNLABELED, 0.0, 2.0 * y - 1.0)
        decisions = path_decisions(spectrum, 1, signs[:, np.newaxis], weights, sign=-1)
        return Answer(np.asarray(decisions[:, :, 0] > 0, dtype=np.intp))

    def _spectrum(self, X: FloatArray) -> Spectrum:
        # It depends on the rows alone, and all draws of a cell come with the same array of rows.
        if self._known is None or self._known[0] is not X:
            self._known = X, full_spectrum(make_operator(RBF(gamma="median").fit(X), X, "dense"))
        return self._known[1]
