"""Labels for the rest of your rows: convex, certified semi-supervised learning with kernels."""

from semikpca.estimators import (
    ConvexKernelPCA,
    LSSVMClassifier,
    LSSVMRegressor,
    SemiKPCAClassifier,
    SemiKPCAClassifierCV,
    SemiLSSVMClassifier,
)

__version__ = "0.1.0"

__all__ = [
    "ConvexKernelPCA",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "SemiKPCAClassifier",
    "SemiKPCAClassifierCV",
    "SemiLSSVMClassifier",
]
