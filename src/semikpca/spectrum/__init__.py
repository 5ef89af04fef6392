"""Eigenpairs of kernel operators, and what is known of their error."""

from semikpca.spectrum._base import Spectrum
from semikpca.spectrum._block_krylov import orthonormal_against, rayleigh_ritz
from semikpca.spectrum._choice import full_spectrum, leading_spectrum, removable_spectrum, require_semidefinite

__all__ = [
    "Spectrum",
    "full_spectrum",
    "leading_spectrum",
    "orthonormal_against",
    "rayleigh_ritz",
    "removable_spectrum",
    "require_semidefinite",
]
