"""scikit-learn estimators: validate, call the problem, store the results."""

from semikpca.estimators._decisions import DecisionClassifier
from semikpca.estimators._kernel_pca import ConvexKernelPCA
from semikpca.estimators._lssvm import LSSVMClassifier, LSSVMRegressor, SemiLSSVMClassifier
from semikpca.estimators._semi_kpca import SemiKPCAClassifier
from semikpca.estimators._semi_kpca_cv import SemiKPCAClassifierCV

__all__ = [
    "ConvexKernelPCA",
    "DecisionClassifier",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "SemiKPCAClassifier",
    "SemiKPCAClassifierCV",
    "SemiLSSVMClassifier",
]
