"""Models of earlier formats: what their types were called, and what becomes of their state.

A class that is changed so that it can no longer use the state in older files gets a function here, called from that of
its format in ``_MIGRATIONS``; a class that is taken away leaves a ``FormerType`` behind for that function to read.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from semikpca.workflow._registry import Kind

FORMAT_VERSION = 2

# Format 1 had the modules of version 0.1.0 in place of kinds. Such files exist, so nothing here ever changes.
FORMAT_1_NAMES: Mapping[str, tuple[Kind, str]] = MappingProxyType(
    {
        "semikpca.blending._agreement.NeighborAgreement": (Kind.STATE, "NeighborAgreement"),
        "semikpca.convexity.ConvexityCertificate": (Kind.STATE, "ConvexityCertificate"),
        "semikpca.estimators._reach.Reach": (Kind.STATE, "Reach"),
        "semikpca.estimators._semi_kpca_cv.SemiKPCAClassifierCV": (Kind.ESTIMATOR, "SemiKPCAClassifierCV"),
        "semikpca.estimators._sources.Expansion": (Kind.STATE, "Expansion"),
        "semikpca.estimators._sources.PlainSource": (Kind.STATE, "PlainSource"),
        "semikpca.estimators._sources.ResponseSource": (Kind.STATE, "ResponseSource"),
        "semikpca.kernels._graph.NeighborGraph": (Kind.KERNEL, "NeighborGraph"),
        "semikpca.kernels._normalized.Normalized": (Kind.KERNEL, "Normalized"),
        "semikpca.kernels._pairwise.Cosine": (Kind.KERNEL, "Cosine"),
        "semikpca.kernels._pairwise.Laplacian": (Kind.KERNEL, "Laplacian"),
        "semikpca.kernels._pairwise.Linear": (Kind.KERNEL, "Linear"),
        "semikpca.kernels._pairwise.Polynomial": (Kind.KERNEL, "Polynomial"),
        "semikpca.kernels._pairwise.RBF": (Kind.KERNEL, "RBF"),
        "semikpca.labels.LabelCoding": (Kind.STATE, "LabelCoding"),
        "semikpca.tables._vectorizer.TableToNumbers": (Kind.STATE, "TableToNumbers"),
    }
)


class FormerType:
    """The attributes of an object whose class is no longer there, as they stand in an older file."""


# Names of classes that are no longer there: older files that hold them are still read, as ``FormerType``.
FORMER_NAMES: frozenset[tuple[Kind, str]] = frozenset()


def migrated(objects: Any, format_version: int) -> Any:
    """Return what a file of an earlier format holds with the attributes that the present classes have."""
    for number in range(format_version, FORMAT_VERSION):
        objects = _MIGRATIONS[number](objects)
    return objects


def _from_format_1(objects: Any) -> Any:
    """Put kernels where format 1 had their text; a text that scikit-learn writes otherwise today stays."""
    model = objects["model"]
    kernels = {repr(source.kernel): source.kernel for source in model._sources}
    texts = model.results_["kernel"]
    texts[:] = [kernels.get(text, text) for text in texts]
    if model.best_params_:
        model.best_params_["kernel"] = texts[model.weights_.argmax()]
    return objects


# What turns the objects of a format into those of the next.
_MIGRATIONS: Mapping[int, Callable[[Any], Any]] = {1: _from_format_1}
