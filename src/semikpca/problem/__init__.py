"""The paper's problems as plain functions of a kernel operator.

Problem 1 (LS-SVM), Problem 3 (kernel PCA) and Problem 4 (Semi-KPCA). Both classifiers are linear in their targets:
decision = H y with a matrix H, the label response, that does not depend on y. Everything in closed form
(leaving a label out, adding one, the path of error weights) is a reading of H, and only the columns of H that are
asked for are ever computed. With another loss than the square there is no H: a fit takes Newton steps, and what is in
closed form otherwise takes more of them, from where the fit ended.
"""

from semikpca.problem._choice import fit_problem
from semikpca.problem._duality import DualityGap, duality_gap
from semikpca.problem._fit import Fit, LocalFit, Problem
from semikpca.problem._kernel_matrix import Expansion, fit_kernel, kernel_matrix, stores_matrix
from semikpca.problem._kernel_pca import kernel_pca_objective
from semikpca.problem._label_space import LabelSpace, label_space
from semikpca.problem._loss_response import LossResponse
from semikpca.problem._lssvm import LSSVMFacts, LSSVMProblem, LSSVMResponse
from semikpca.problem._newton import NewtonSolution, newton
from semikpca.problem._nonlinear_fit import NonlinearFit
from semikpca.problem._polynomial_path import polynomial_path
from semikpca.problem._response import DualSolution, LabelResponse, warn_unless_solved
from semikpca.problem._semi_kpca import SemiKPCAResponse
from semikpca.problem._semi_kpca_problem import RemovedComponents, SemiKPCAFacts, SemiKPCAProblem
from semikpca.problem._spectral_filter import lssvm_path, path_decisions

__all__ = [
    "DualSolution",
    "DualityGap",
    "Expansion",
    "Fit",
    "LSSVMFacts",
    "LSSVMProblem",
    "LSSVMResponse",
    "LabelResponse",
    "LabelSpace",
    "LocalFit",
    "LossResponse",
    "NewtonSolution",
    "NonlinearFit",
    "Problem",
    "RemovedComponents",
    "SemiKPCAFacts",
    "SemiKPCAProblem",
    "SemiKPCAResponse",
    "duality_gap",
    "fit_kernel",
    "fit_problem",
    "kernel_matrix",
    "kernel_pca_objective",
    "label_space",
    "lssvm_path",
    "newton",
    "path_decisions",
    "polynomial_path",
    "stores_matrix",
    "warn_unless_solved",
]
