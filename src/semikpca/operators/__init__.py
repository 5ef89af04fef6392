"""Where and how? An operator is a kernel matrix that can be multiplied, however it is stored."""

from semikpca.operators._algebra import CenteredOperator, DeflatedOperator, ShiftedOperator
from semikpca.operators._base import KernelOperator, KnownSpectrum
from semikpca.operators._dense import DenseOperator
from semikpca.operators._factory import BACKENDS, choose_backend, make_operator
from semikpca.operators._sparse import SparseOperator

__all__ = [
    "BACKENDS",
    "CenteredOperator",
    "DeflatedOperator",
    "DenseOperator",
    "KernelOperator",
    "KnownSpectrum",
    "ShiftedOperator",
    "SparseOperator",
    "choose_backend",
    "make_operator",
]
