"""scikit-learn estimators: validate, call the problem, store the results."""

from semikpca.estimators._decisions import DecisionClassifier
from semikpca.estimators._kernel_pca import ConvexKernelPCA
from semikpca.estimators._lssvm import LSSVMClassifier, LSSVMRegressor, SemiLSSVMClassifier
from semikpca.estimators._regressor import SemiKPCARegressor
from semikpca.estimators._regressor_cv import SemiKPCARegressorCV
from semikpca.estimators._semi_kpca import SemiKPCAClassifier
from semikpca.estimators._semi_kpca_cv import SemiKPCAClassifierCV
from semikpca.estimators._transductive_regressor import TransductiveRegressor

__all__ = [
    "ConvexKernelPCA",
    "DecisionClassifier",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "SemiKPCAClassifier",
    "SemiKPCAClassifierCV",
    "SemiKPCARegressor",
    "SemiKPCARegressorCV",
    "SemiLSSVMClassifier",
    "TransductiveRegressor",
]
