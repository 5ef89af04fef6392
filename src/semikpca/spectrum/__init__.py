"""The leading eigenpairs of an operator, with what is known of their error."""

from semikpca.spectrum._base import Spectrum
from semikpca.spectrum._compute import full_spectrum, leading_spectrum, removable_spectrum
from semikpca.spectrum._definite import require_semidefinite

__all__ = ["Spectrum", "full_spectrum", "leading_spectrum", "removable_spectrum", "require_semidefinite"]
