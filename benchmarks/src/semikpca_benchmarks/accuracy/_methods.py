"""The methods that are held against each other: from rows and some labels to a label for each row."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from semikpca import exceptions
from semikpca.convexity import ConvexityCertificate
from semikpca.estimators import LSSVMClassifier, SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.experiments import PaperSpec
from semikpca.kernels import RBF
from semikpca.labeling import audit_labels
from semikpca.operators import make_operator
from semikpca.problem import path_decisions
from semikpca.spectrum import Spectrum, full_spectrum
from semikpca_benchmarks._typing import FloatArray, IntArray

Predictor: TypeAlias = Callable[[FloatArray, IntArray, np.random.Generator], IntArray]
"""Rows, labels (-1 is unlabeled) and random numbers in; a label for each row out, shape (n_samples,).

That of an oracle returns one answer for each setting among which the test labels choose, shape (n_settings, n_samples).
"""

Auditor: TypeAlias = Callable[[FloatArray, IntArray, np.random.Generator], FloatArray]
"""The same in; for each labeled row, in the order of the rows, how suspicious its label is."""

UNLABELED = -1
REFERENCE = "semikpca cv"
"""The method that all others are held against."""

_OUR_WARNINGS = [kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Warning)]
_NEIGHBORS = 10
_LEAST_DISTANCE = 1e-10
_N_WEIGHTS = 41


@dataclass(frozen=True)
class Method:
    """One method of the benchmark.

    Attributes
    ----------
    name : str
        On the command line, in tables and in records.
    kind : {"ours", "peer", "oracle"}
        An oracle looks at the test labels: it is shown, but never ranked and never a peer.
    settings : str
        What exactly is run, in words.
    predict : Predictor
    audit : Auditor or None
        For methods that find wrong labels.
    choices : tuple of float
        For an oracle, the relative weights among which the test labels choose.
    two_classes_only : bool
    package : str or None
        An optional package that it needs.
    """

    name: str
    kind: Literal["ours", "peer", "oracle"]
    settings: str
    predict: Predictor
    audit: Auditor | None = None
    choices: tuple[float, ...] = ()
    two_classes_only: bool = False
    package: str | None = None

    def applies_to(self, n_classes: int) -> bool:
        """Whether the method is run on data with so many classes."""
        return n_classes == 2 or not self.two_classes_only

    @property
    def is_installed(self) -> bool:
        """Whether the package that it needs, if any, is there."""
        return self.package is None or find_spec(self.package) is not None


@contextmanager
def known_warnings_silenced() -> Iterator[None]:
    """Silence what is known to be said and does not stop a method: no convergence, a division by zero in a peer."""
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, *_OUR_WARNINGS):
            warnings.simplefilter("ignore", category)
        for module in (r"sklearn\.", r"graphlearning", r"scipy\.", r"numpy\."):
            warnings.filterwarnings("ignore", category=RuntimeWarning, module=module)
            warnings.filterwarnings("ignore", category=FutureWarning, module=module)
        yield


# -- ours -----------------------------------------------------------------------------------------------------------


class _SemiKPCACV:
    """``SemiKPCAClassifierCV()`` on draw after draw of the same rows.

    Kernels and spectra do not depend on labels, so all draws of a cell share one model, whose labels are exchanged;
    ``add_labels`` gives what a new fit would, and a test holds it to that.
    """

    def __init__(self) -> None:
        self._known: tuple[FloatArray, Any] | None = None

    def __call__(self, X: FloatArray, y: IntArray) -> Any:
        classes = np.unique(y[y != UNLABELED])
        if self._known is None or self._known[0] is not X or not np.array_equal(self._known[1].classes_, classes):
            self._known = X, _fitted(SemiKPCAClassifierCV, X, y)
        model = self._known[1]
        changed = np.flatnonzero(_labels_of(model) != y)
        return model.add_labels(changed, y[changed])


def _fitted(classifier: Any, X: FloatArray, y: IntArray) -> Any:
    """Return a classifier with its defaults, fitted."""
    return classifier().fit(X, y)


def _labels_of(model: Any) -> IntArray:
    """Return the labels that a model has, -1 where it has none."""
    codes = model.label_coding_.codes
    return np.where(codes == UNLABELED, UNLABELED, model.classes_[codes])


def _ours(fit: Callable[[FloatArray, IntArray], Any]) -> tuple[Predictor, Auditor]:
    def predict(X: FloatArray, y: IntArray, generator: np.random.Generator) -> IntArray:
        return np.asarray(fit(X, y).transduction_)

    def audit(X: FloatArray, y: IntArray, generator: np.random.Generator) -> FloatArray:
        found = audit_labels(fit(X, y))
        return np.asarray(found.suspicion[np.argsort(found.rows)])

    return predict, audit


class _EveryWeight:
    """Semi-KPCA with the paper's kernel at many error weights, all from one spectrum."""

    def __init__(self) -> None:
        self.relative_weights = PaperSpec(n_weights=_N_WEIGHTS).relative_weights()
        self._known: tuple[FloatArray, Spectrum] | None = None

    def __call__(self, X: FloatArray, y: IntArray, generator: np.random.Generator) -> IntArray:
        spectrum = self._spectrum(X)
        weights = self.relative_weights * ConvexityCertificate.from_spectrum(spectrum, 1).error_weight_max
        signs = np.where(y == UNLABELED, 0.0, 2.0 * y - 1.0)
        decisions = path_decisions(spectrum, 1, signs[:, np.newaxis], weights, sign=-1)
        return np.asarray(decisions[:, :, 0] > 0, dtype=np.intp)

    def _spectrum(self, X: FloatArray) -> Spectrum:
        # It depends on the rows alone, and all draws of a cell come with the same array of rows.
        if self._known is None or self._known[0] is not X:
            self._known = X, full_spectrum(make_operator(RBF(gamma="median").fit(X), X, "dense"))
        return self._known[1]


# -- peers ----------------------------------------------------------------------------------------------------------


def _median_gamma(X: FloatArray) -> float:
    return float(RBF(gamma="median").fit(X).gamma_)


def _transductive(make: Callable[[FloatArray], Any]) -> Predictor:
    """Return the predictor of a scikit-learn model that labels the rows that it was fitted on."""

    def predict(X: FloatArray, y: IntArray, generator: np.random.Generator) -> IntArray:
        return np.asarray(make(X).fit(X, y).transduction_)

    return predict


def _self_training(X: FloatArray, y: IntArray, generator: np.random.Generator) -> IntArray:
    # Its transduction_ leaves rows unlabeled that it was never sure of; predict has an answer for all.
    return np.asarray(SelfTrainingClassifier(LogisticRegression()).fit(X, y).predict(X))


def _supervised(make: Callable[[FloatArray], Any]) -> Predictor:
    """Return the predictor of a model that learns from the labeled rows alone."""

    def predict(X: FloatArray, y: IntArray, generator: np.random.Generator) -> IntArray:
        labeled = y != UNLABELED
        return np.asarray(make(X).fit(X[labeled], y[labeled]).predict(X))

    return predict


def _lssvm(X: FloatArray, **options: Any) -> Any:
    classifier: Any = LSSVMClassifier
    return classifier(RBF(gamma=_median_gamma(X)), **options)


def _graphlearning(model: str, **options: Any) -> Predictor:
    def predict(X: FloatArray, y: IntArray, generator: np.random.Generator) -> IntArray:
        library: Any = import_module("graphlearning")
        # Its own search is approximate above five features; the exact one is better for it, and always the same.
        rows_near, distances = library.weightmatrix.knnsearch(X, _NEIGHBORS + 1, method="kdtree")
        # It divides by the distance of the last neighbor, which is 0 where a row has that many copies.
        neighbors = rows_near, np.maximum(distances, _LEAST_DISTANCE)
        graph = library.weightmatrix.knn(X, _NEIGHBORS, knn_data=neighbors)
        rows = np.flatnonzero(y != UNLABELED)
        return np.asarray(getattr(library.ssl, model)(graph, **options).fit_predict(rows, y[rows]))

    return predict


def _listed() -> Iterator[Method]:
    predict, audit = _ours(_SemiKPCACV())
    yield Method(REFERENCE, "ours", "SemiKPCAClassifierCV() with its defaults", predict, audit)
    predict, audit = _ours(lambda X, y: _fitted(SemiKPCAClassifier, X, y))
    yield Method(
        "semikpca rbf",
        "ours",
        "SemiKPCAClassifier(): Gaussian kernel with the median bandwidth, k = 1, middle weight",
        predict,
        audit,
    )
    every_weight = _EveryWeight()
    yield Method(
        "semikpca rbf best weight",
        "oracle",
        f"The same at {_N_WEIGHTS} error weights, 0.001 to 0.9999 of the bound; the one with the highest mean accuracy "
        "over the draws of a cell counts. Uses the test labels, as the paper's “best” does. Two classes only",
        every_weight,
        choices=tuple(every_weight.relative_weights.tolist()),
        two_classes_only=True,
    )
    for name, settings, make in (
        ("label spreading knn", 'LabelSpreading(kernel="knn")', lambda X: LabelSpreading(kernel="knn")),
        (
            "label spreading rbf",
            'LabelSpreading(kernel="rbf", gamma=1/(2 median²))',
            lambda X: LabelSpreading(kernel="rbf", gamma=_median_gamma(X)),
        ),
        ("label spreading defaults", "LabelSpreading()", lambda X: LabelSpreading()),
        ("label propagation knn", 'LabelPropagation(kernel="knn")', lambda X: LabelPropagation(kernel="knn")),
    ):
        yield Method(name, "peer", f"scikit-learn, {settings}", _transductive(make))
    yield Method(
        "self-training",
        "peer",
        "scikit-learn, SelfTrainingClassifier(LogisticRegression()): logistic regression has probabilities from the "
        "first label on, which SVC has only by cross-validation",
        _self_training,
    )
    for name, settings, make in (
        ("nearest neighbor", "KNeighborsClassifier(n_neighbors=1)", lambda X: KNeighborsClassifier(n_neighbors=1)),
        ("svc", "SVC()", lambda X: SVC()),
        ("logistic regression", "LogisticRegression()", lambda X: LogisticRegression()),
    ):
        yield Method(name, "peer", f"scikit-learn, {settings} on the labeled rows", _supervised(make))
    yield Method(
        "lssvm",
        "peer",
        "LSSVMClassifier(error_weight=1.0) with bias, on the labeled rows; Gaussian kernel with the median bandwidth "
        "of all rows",
        _supervised(_lssvm),
    )
    yield Method(
        "lssvm paper rule",
        "peer",
        "LSSVMClassifier(error_weight=100 d/N, fit_intercept=False), the paper's Subs-LSSVM with its fixed weight; the "
        "same kernel",
        _supervised(lambda X: _lssvm(X, error_weight=100 * X.shape[1] / len(X), fit_intercept=False)),
    )
    graph = f"W = weightmatrix.knn(X, {_NEIGHBORS}), exact neighbors"
    yield Method(
        "graphlearning laplace",
        "peer",
        f"graphlearning, ssl.laplace(W) with {graph}",
        _graphlearning("laplace"),
        package="graphlearning",
    )
    yield Method(
        "graphlearning poisson",
        "peer",
        f'graphlearning, ssl.poisson(W, solver="gradient_descent") with {graph}; its default solver diverges where the '
        "graph is in several pieces",
        _graphlearning("poisson", solver="gradient_descent"),
        package="graphlearning",
    )


METHODS: tuple[Method, ...] = tuple(_listed())
"""All methods, ours first."""


def find_method(name: str) -> Method:
    """Return the method of a name; ValueError, with the known names, where there is none."""
    for method in METHODS:
        if method.name == name:
            return method
    raise ValueError(f"There is no method {name!r}; there are {', '.join(method.name for method in METHODS)}.")


def default_methods() -> tuple[str, ...]:
    """Return the names of all methods whose packages are installed."""
    return tuple(method.name for method in METHODS if method.is_installed)
