"""scikit-learn estimators: validate, call the problem, store the results."""

from semikpca.estimators._kernel_pca import ConvexKernelPCA
from semikpca.estimators._lssvm import LSSVMClassifier, LSSVMRegressor, SemiLSSVMClassifier
from semikpca.estimators._response_classifier import ResponseClassifier
from semikpca.estimators._semi_kpca import SemiKPCAClassifier

__all__ = [
    "ConvexKernelPCA",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "ResponseClassifier",
    "SemiKPCAClassifier",
    "SemiLSSVMClassifier",
]
