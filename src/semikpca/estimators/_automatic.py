"""What the automatic models share: the kernels and settings of Semi-KPCA that they try."""

from typing import Any

from sklearn.base import BaseEstimator

from semikpca.estimators._validation import check_count, check_iteration, check_kernels, is_list, set_kernel_tags
from semikpca.kernels import DefaultKernels
from semikpca.problem import SemiKPCAProblem

_EIGENPAIR_SHARE = 0.01  # eigenpairs are found to this share of the tolerance of the solves


class AutomaticChoice(BaseEstimator):
    """An estimator with parameters that say what is tried."""

    kernels: Any
    error_weights: Any
    n_components_removed: Any
    combine: Any
    tol: Any
    max_iter: Any

    def _checked_kernels(self):
        if self.combine not in ("ensemble", "best"):
            raise ValueError(f"combine must be 'ensemble' or 'best', got {self.combine!r}.")
        check_iteration(self.tol, self.max_iter)
        for name, optional in (("error_weights", True), ("n_components_removed", False)):
            values = getattr(self, name)
            if not (optional and values is None) and not is_list(values):
                raise ValueError(f"{name} must be a list of values to try, got {values!r}.")
        for count in self.n_components_removed:
            check_count("n_components_removed", count, 0)
        return check_kernels([DefaultKernels()] if self.kernels is None else self.kernels)

    def _problems(self):
        """Return the settings of Semi-KPCA to try with each kernel."""
        weights = ["middle"] if self.error_weights is None else self.error_weights
        rtols = {"stored_eigenpair_rtol": _EIGENPAIR_SHARE * self.tol, "stored_solve_rtol": self.tol}
        return [
            SemiKPCAProblem(int(count), weight, "relative", self.tol, self.max_iter, **rtols)
            for count in dict.fromkeys(self.n_components_removed)
            for weight in weights
        ]

    def __sklearn_tags__(self):
        kernel = self.kernels[0] if is_list(self.kernels) else "rbf"
        return set_kernel_tags(super().__sklearn_tags__(), kernel)
