"""Semi-supervised kernel PCA (Problem 4)."""

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import one_blas_thread, to_numpy
from semikpca.convexity import ConvexityCertificate
from semikpca.losses import Loss
from semikpca.operators import DeflatedOperator, KernelOperator, ShiftedOperator, Storage, Subspace
from semikpca.problem._label_space import label_space
from semikpca.problem._polynomial_path import polynomial_path
from semikpca.problem._response import DualSolution, LabelResponse
from semikpca.solvers import AdaptiveSolver

# Labels whose kernel columns are made rather than a product: they take n numbers each, a product n² but no memory.
_FEW_LABELS = 256
# Of what one label adds on a stored matrix: nine digits, as a path of error weights has them.
_COLUMN_RTOL = 1e-10
# Of a path on a neighbor graph: seven digits of the decisions at the largest weight, more at all others.
_SERIES_RTOL = 1e-7
PathAnswers = tuple[FloatArray, FloatArray]


class SemiKPCAResponse(LabelResponse):
    """Problem 4 by Theorem 2: (I/γ − K′) α = y and f = K′ α.

    This is the case of the squared loss, in which α = γ ρ′(y + f) is linear in f, and so f in y. The eigenpairs are the
    removed components, the certificate has an error weight inside the interval, and ``subspace`` is what the search for
    the eigenpairs has learned of K.
    """

    loss: Loss

    def __init__(
        self,
        operator: KernelOperator,
        eigenvalues: FloatArray,
        eigenvectors: FloatArray,
        certificate: ConvexityCertificate,
        *,
        rtol: float,
        max_iter: int | None = None,
        subspace: Subspace | None = None,
    ) -> None:
        assert certificate.error_weight is not None, "the weight is resolved before the system is set up"
        self.operator, self.eigenvectors, self.subspace = operator, eigenvectors, subspace
        self.certificate, self.rtol, self.max_iter, self.loss = certificate, rtol, max_iter, certificate.loss
        self.error_weight = certificate.error_weight
        self.deflated = DeflatedOperator(operator, eigenvalues, eigenvectors)
        system = ShiftedOperator(self.deflated, 1.0 / self.error_weight, sign=-1)
        known = None
        # To keep a search conjugate to a few vectors takes as long as a sparse product, and saves few of them.
        if subspace is not None and operator.facts.storage is not Storage.SPARSE_FACTOR:
            W = subspace.basis
            images = system.applied(W, self.deflated.applied(W, subspace.images + 0))
            known = Subspace(W, images, subspace.n_last)
        self.solver = AdaptiveSolver(system, certificate.condition_number, rtol, max_iter, known)

    def _known_own_alpha(self, rows: IntArray) -> FloatArray | None:
        return self.solver.inverse_diagonal(rows)

    def columns(self, rows: IntArray, rtol: float | None = None) -> DualSolution:
        """Solve for unit targets at ``rows``; on a stored matrix for the decisions, whose right-hand side it holds."""
        if self.operator.facts.storage is not Storage.ENTRIES:
            return super().columns(rows, rtol)
        return self._solve_for_decisions(self.operator.units(rows), _COLUMN_RTOL if rtol is None else rtol)

    def path(self, rows: IntArray, targets: FloatArray, error_weights: FloatArray, rtol: float) -> PathAnswers | None:
        """Return the answers to targets at ``rows`` for all these weights; None where the spectrum has them at less.

        Decisions, shape (n_weights, n, n_columns), and those at the rows without their own targets.
        """
        storage = self.operator.facts.storage
        if storage is Storage.FEATURES:
            return None  # its whole spectrum is small and known
        if storage is Storage.SPARSE_FACTOR:
            leading = None if self.subspace is None else self.subspace.basis
            with one_blas_thread():
                return polynomial_path(self.deflated, rows, targets, error_weights, max(rtol, _SERIES_RTOL), leading)
        with self.operator.between_products():
            space = label_space(self.deflated, rows, float(error_weights.max()), rtol, self.subspace)
        return None if space is None else space.answers(targets, error_weights)

    def own_response(self, own_alpha: FloatArray) -> FloatArray:
        """Return H[i, i]: K′α = α/γ − y."""
        return own_alpha / self.error_weight - 1

    def multipliers(self, decision: FloatArray, targets: FloatArray) -> FloatArray:
        """Return α = γ ρ′(e) with the errors e = y + f."""
        alpha: FloatArray = self.error_weight * self.loss.derivative(decision + targets)
        return alpha

    def dual_coef(self, decision: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the dual coefficients of a solution that is known by its decisions."""
        return self._projected(self.multipliers(decision, targets))

    def _projected(self, alpha: FloatArray) -> FloatArray:
        """Return (I − VVᵀ) α."""
        return alpha - self.eigenvectors @ (self.eigenvectors.T @ alpha)

    def solve(self, targets: FloatArray, rtol: float | None = None) -> DualSolution:
        """Solve Problem 4 for each column of ``targets``."""
        if not self.operator.facts.is_stored:
            return self._solve_for_decisions(targets, rtol)
        solution = self.solver.solve(targets, rtol)
        dual_coef = self._projected(solution.values)
        return DualSolution.of(
            solution,
            alpha=solution.values,
            dual_coef=dual_coef,
            intercept=np.zeros(targets.shape[1], dtype=targets.dtype),
            decision=self.operator.matmat(dual_coef) if solution.product is None else solution.product,
        )

    def _solve_for_decisions(self, targets: FloatArray, rtol: float | None) -> DualSolution:
        """Solve (I/γ − K′) f = K′ y, and take α = γ (f + y).

        Where products are costly, f should be as accurate as the tolerance says, and not more. In α it is a small
        difference: with few labels among many rows, almost all of y lies where K′ has nothing to say.
        """
        solution = self.solver.solve(self._pushed(targets), rtol)
        alpha, intercept = self.multipliers(solution.values, targets), self.operator.block(np.zeros(targets.shape[1]))
        dual_coef = self._projected(alpha)
        return DualSolution.of(
            solution, alpha=alpha, dual_coef=dual_coef, intercept=intercept, decision=solution.values
        )

    def _pushed(self, targets: FloatArray) -> FloatArray:
        """Return K′ y: from the columns at the labeled rows, where these are few."""
        labeled = np.flatnonzero(to_numpy((targets != 0).any(axis=1)))
        if len(labeled) > _FEW_LABELS:
            return self.deflated.matmat(targets)
        return self.deflated.columns(labeled) @ targets[labeled]
