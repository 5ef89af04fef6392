"""The methods that are held against each other, by name."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading
from sklearn.svm import SVC

from semikpca import exceptions
from semikpca.estimators import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.kernels import RBF, NeighborGraph, Normalized
from semikpca_benchmarks.accuracy._answers import Auditor, Predictor
from semikpca_benchmarks.accuracy._ours import N_WEIGHTS, EveryWeight, ours
from semikpca_benchmarks.accuracy._peers import (
    N_NEIGHBORS,
    graphlearning,
    lssvm,
    median_gamma,
    self_training,
    supervised,
    transductive,
)

REFERENCE = "semikpca cv"
"""The method that all others are held against."""

BEST_KERNEL = "best single kernel"
"""In tables of groups: in each cell the best of our methods with one kernel, which the test labels choose."""

_OUR_WARNINGS = [kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Warning)]

Kind = Literal["ours", "peer", "oracle"]


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
    kind: Kind
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
    """Silence what is known and stops no method: no convergence, a division by zero, one label for each class."""
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, *_OUR_WARNINGS):
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%", UserWarning)
        for module in (r"sklearn\.", r"graphlearning", r"scipy\.", r"numpy\."):
            warnings.filterwarnings("ignore", category=RuntimeWarning, module=module)
            warnings.filterwarnings("ignore", category=FutureWarning, module=module)
        yield


def _listed() -> Iterator[Method]:
    automatic: Any = SemiKPCAClassifierCV
    yield Method(REFERENCE, "ours", "SemiKPCAClassifierCV() with its defaults", *ours(automatic))
    yield from _with_one_kernel()
    every_weight = EveryWeight()
    yield Method(
        "semikpca rbf best weight",
        "oracle",
        f"semikpca rbf at {N_WEIGHTS} error weights, 0.001 to 0.9999 of the bound; the one with the highest mean "
        "accuracy over the draws of a cell counts. Uses the test labels, as the paper's “best” does. Two classes only",
        every_weight,
        choices=tuple(every_weight.relative_weights.tolist()),
        two_classes_only=True,
    )
    yield from _of_scikit_learn()
    yield Method(
        "lssvm",
        "peer",
        "LSSVMClassifier(error_weight=1.0) with bias, on the labeled rows; Gaussian kernel with the median bandwidth "
        "of all rows",
        supervised(lssvm),
    )
    yield Method(
        "lssvm paper rule",
        "peer",
        "LSSVMClassifier(error_weight=100 d/N, fit_intercept=False), the paper's Subs-LSSVM with its fixed weight; the "
        "same kernel",
        supervised(lambda X: lssvm(X, error_weight=100 * X.shape[1] / len(X), fit_intercept=False)),
    )
    graph = f"W = weightmatrix.knn(X, {N_NEIGHBORS}), exact neighbors"
    yield Method(
        "graphlearning laplace",
        "peer",
        f"graphlearning, ssl.laplace(W) with {graph}",
        graphlearning("laplace"),
        package="graphlearning",
    )
    yield Method(
        "graphlearning poisson",
        "peer",
        f'graphlearning, ssl.poisson(W, solver="gradient_descent") with {graph}; its default solver diverges where the '
        "graph is in several pieces",
        graphlearning("poisson", solver="gradient_descent"),
        package="graphlearning",
    )


def _with_one_kernel() -> Iterator[Method]:
    classifier: Any = SemiKPCAClassifier
    for name, settings, make in (
        (
            "semikpca rbf",
            "SemiKPCAClassifier(): Gaussian kernel with the median bandwidth, k = 1, middle weight",
            lambda: classifier(),
        ),
        (
            "semikpca normalized rbf",
            "SemiKPCAClassifier(Normalized(RBF())): the same kernel divided by the roots of its row sums",
            lambda: classifier(Normalized(RBF())),
        ),
        (
            "semikpca graph",
            'SemiKPCAClassifier("graph"): the graph of the ten nearest neighbors',
            lambda: classifier("graph"),
        ),
        (
            "semikpca cosine graph",
            'SemiKPCAClassifier(NeighborGraph(metric="cosine")): the ten nearest by angle',
            lambda: classifier(NeighborGraph(metric="cosine")),
        ),
    ):
        yield Method(name, "ours", settings, *ours(make))


def _of_scikit_learn() -> Iterator[Method]:
    for name, settings, make in (
        ("label spreading knn", 'LabelSpreading(kernel="knn")', lambda X: LabelSpreading(kernel="knn")),
        (
            "label spreading rbf",
            'LabelSpreading(kernel="rbf", gamma=1/(2 median²))',
            lambda X: LabelSpreading(kernel="rbf", gamma=median_gamma(X)),
        ),
        ("label spreading defaults", "LabelSpreading()", lambda X: LabelSpreading()),
        ("label propagation knn", 'LabelPropagation(kernel="knn")', lambda X: LabelPropagation(kernel="knn")),
    ):
        yield Method(name, "peer", f"scikit-learn, {settings}", transductive(make))
    yield Method(
        "self-training",
        "peer",
        "scikit-learn, SelfTrainingClassifier(LogisticRegression()): logistic regression has probabilities from the "
        "first label on, which SVC has only by cross-validation",
        self_training,
    )
    for name, settings, make in (
        ("nearest neighbor", "KNeighborsClassifier(n_neighbors=1)", lambda X: KNeighborsClassifier(n_neighbors=1)),
        ("svc", "SVC()", lambda X: SVC()),
    ):
        yield Method(name, "peer", f"scikit-learn, {settings} on the labeled rows", supervised(make))
    yield Method(
        "logistic regression",
        "peer",
        "scikit-learn, LogisticRegression() on the labeled rows",
        supervised(lambda X: LogisticRegression(), probabilities=True),
    )


METHODS: tuple[Method, ...] = tuple(_listed())
"""All methods, ours first."""

SINGLE_KERNELS: tuple[str, ...] = tuple(
    method.name for method in METHODS if method.kind == "ours" and method.name != REFERENCE
)
"""Our methods with one kernel, among which ``BEST_KERNEL`` chooses."""


def find_method(name: str) -> Method:
    """Return the method of a name; ValueError, with the known names, where there is none."""
    for method in METHODS:
        if method.name == name:
            return method
    raise ValueError(f"There is no method {name!r}; there are {', '.join(method.name for method in METHODS)}.")


def default_methods() -> tuple[str, ...]:
    """Return the names of all methods whose packages are installed."""
    return tuple(method.name for method in METHODS if method.is_installed)
