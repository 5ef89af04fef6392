"""Labels for the rest of your rows: convex, certified semi-supervised learning with kernels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semikpca.estimators import (
        ConvexKernelPCA,
        LSSVMClassifier,
        LSSVMRegressor,
        SemiKPCAClassifier,
        SemiKPCAClassifierCV,
        SemiKPCARegressor,
        SemiKPCARegressorCV,
        SemiLSSVMClassifier,
    )

__version__ = "0.1.0"

__all__ = [
    "ConvexKernelPCA",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "SemiKPCAClassifier",
    "SemiKPCAClassifierCV",
    "SemiKPCARegressor",
    "SemiKPCARegressorCV",
    "SemiLSSVMClassifier",
]


def __getattr__(name: str) -> Any:
    # Loaded when they are asked for: the command can then answer --help and Ctrl-C before SciPy is there.
    if name in __all__:
        return getattr(import_module("semikpca.estimators"), name)
    try:
        if not name.startswith("_"):
            return import_module(f"semikpca.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"semikpca.{name}":
            raise
    raise AttributeError(f"module 'semikpca' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
