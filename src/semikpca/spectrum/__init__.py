"""Eigenpairs of kernel operators, and what is known of their error."""

from semikpca.spectrum._base import Spectrum
from semikpca.spectrum._compute import full_spectrum, leading_spectrum, removable_spectrum
from semikpca.spectrum._definite import require_semidefinite
from semikpca.spectrum._label_space import LabelSpace, label_space
from semikpca.spectrum._polynomial_path import polynomial_path

__all__ = [
    "LabelSpace",
    "Spectrum",
    "full_spectrum",
    "label_space",
    "leading_spectrum",
    "polynomial_path",
    "removable_spectrum",
    "require_semidefinite",
]
