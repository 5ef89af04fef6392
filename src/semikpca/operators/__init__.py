"""Where and how? An operator is a kernel matrix that can be multiplied, however it is stored."""

from semikpca.operators._algebra import CenteredOperator, DeflatedOperator, ShiftedOperator
from semikpca.operators._base import KernelOperator
from semikpca.operators._dense import DenseOperator
from semikpca.operators._factory import BACKENDS, choose_backend, make_operator

__all__ = [
    "BACKENDS",
    "CenteredOperator",
    "DeflatedOperator",
    "DenseOperator",
    "KernelOperator",
    "ShiftedOperator",
    "choose_backend",
    "make_operator",
]
