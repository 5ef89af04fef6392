"""LS-SVM from a kernel matrix to its label response."""

from dataclasses import dataclass

from semikpca._typing import Array, Rows
from semikpca.kernels import Kernel
from semikpca.operators import KernelOperator
from semikpca.problem._lssvm import LSSVMResponse
from semikpca.problem._semi_kpca_problem import STORED_MATRIX_RTOL


@dataclass(frozen=True)
class LSSVMFacts:
    """What a fit has learned of a kernel matrix: nothing; the error weight is the one that was asked for."""

    error_weight: float


@dataclass(frozen=True)
class LSSVMProblem:
    """Problem 1 as it is asked.

    Attributes
    ----------
    error_weight : float
        γ, any positive number.
    fit_intercept : bool
        Whether there is a bias b.
    tol : float
        Relative tolerance of solves where the matrix is not stored.
    max_iter : int or None
    row_stays : bool
        Whether a row without a label is part of the problem, with target 0; or only labeled rows are.
    """

    error_weight: float
    fit_intercept: bool
    tol: float
    max_iter: int | None
    row_stays: bool

    alpha_sign = -1  # a row without a target has α = −γ f
    many_products = True

    @property
    def matrix_tol(self) -> float:
        """The tolerance that decides in which digits kernel values are computed."""
        return self.tol

    def refuse_on_cluster(self, kernel: Kernel, rows: Rows) -> None:
        """Refuse what a summary of the rows on a cluster does not tell."""
        if not self.row_stays:
            raise ValueError(
                f"LS-SVM learns from labeled rows only, and with {kernel!r} on a cluster labeled rows are taken to be "
                "few. Fit it on the client with the labeled rows, X[rows].compute()."
            )
        if self.fit_intercept:
            raise ValueError(
                f"fit_intercept=True needs all {rows.shape[0]:,} rows one by one, and with {kernel!r} they stay on the "
                "cluster. Use fit_intercept=False, as the paper does, or SemiKPCAClassifier."
            )

    def set_up(self, operator: KernelOperator, targets: Array | None = None) -> tuple[LSSVMFacts, LSSVMResponse]:
        """Return what is learned of the kernel matrix, and the label response."""
        facts = LSSVMFacts(self.error_weight)
        return facts, self.restored(operator, facts)

    def restored(self, operator: KernelOperator, facts: LSSVMFacts) -> LSSVMResponse:
        """Return the label response again."""
        return LSSVMResponse(
            operator,
            facts.error_weight,
            fit_intercept=self.fit_intercept,
            rtol=min(self.tol, STORED_MATRIX_RTOL) if operator.facts.is_stored else self.tol,
            max_iter=self.max_iter,
        )
