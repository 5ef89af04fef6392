"""The paper's problems as plain functions of a kernel operator.

Problem 1 (LS-SVM), Problem 3 (kernel PCA) and Problem 4 (Semi-KPCA). Both classifiers are linear in their targets:
decision = H y with a matrix H, the label response, that does not depend on y. Everything in closed form
(leaving a label out, adding one, the path of error weights) is a reading of H, and only the columns of H that are
asked for are ever computed.
"""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from semikpca._typing import FloatArray, IntArray
from semikpca.convexity import ConvexityCertificate
from semikpca.kernels._namespace import to_numpy
from semikpca.kernels._threads import one_blas_thread
from semikpca.operators import (
    DeflatedOperator,
    DenseOperator,
    KernelOperator,
    LowRankOperator,
    ShiftedOperator,
    SparseOperator,
    Subspace,
)
from semikpca.solvers import AdaptiveSolver, Status
from semikpca.spectrum import Spectrum, label_space, polynomial_path

_COLUMNS_AT_ONCE = 32
# Labels whose kernel columns are made rather than a product: they take n numbers each, a product n² but no memory.
_FEW_LABELS = 256
# Of what one label adds on a stored matrix: nine digits, as a path of error weights has them.
_COLUMN_RTOL = 1e-10
# Of a path on a neighbor graph: seven digits of the decisions at the largest weight, more at all others.
_SERIES_RTOL = 1e-7
PathAnswers = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class DualSolution:
    """The answer to one set of targets; every array has a column for each right-hand side.

    Attributes
    ----------
    alpha : ndarray of shape (n, n_columns)
        The multipliers of the paper.
    dual_coef : ndarray of shape (n, n_columns)
        Coefficients of w over the training rows, so that f(x) = k(x, rows) @ dual_coef + intercept.
    intercept : ndarray of shape (n_columns,)
    decision : ndarray of shape (n, n_columns)
        f on the training rows.
    status : Status
    n_iter : int
    residual : float
    """

    alpha: FloatArray
    dual_coef: FloatArray
    intercept: FloatArray
    decision: FloatArray
    status: Status
    n_iter: int
    residual: float

    def on_host(self) -> "DualSolution":
        """Return the solution with NumPy arrays, wherever it was computed."""
        names = ("alpha", "dual_coef", "intercept", "decision")
        return replace(self, **{name: to_numpy(getattr(self, name)) for name in names})


def warn_unless_solved(solution: DualSolution, stacklevel: int) -> None:
    """Warn of a solve that stopped early; ``stacklevel`` counts from here, 2 being the caller."""
    if solution.status is not Status.SOLVED:
        warnings.warn(
            f"The solve was {solution.status.value} (relative residual {solution.residual:.1e} after {solution.n_iter} "
            "steps).",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


class LabelResponse(ABC):
    """The linear map H from targets to decisions, as a problem that is set up before any label is known."""

    operator: KernelOperator

    @abstractmethod
    def solve(self, targets: FloatArray, rtol: float | None = None) -> DualSolution:
        """Solve for each column of ``targets``, shape (n, n_columns); ``rtol`` may ask for fewer digits."""

    def columns(self, rows: IntArray, rtol: float | None = None) -> DualSolution:
        """Solve for unit targets at ``rows``: its ``decision`` holds those columns of H."""
        return self.solve(self.operator.units(rows), rtol)

    def own_alpha(self, rows: IntArray, rtol: float | None = None) -> FloatArray:
        """Return the multiplier of each of ``rows`` for a unit target at that row alone.

        With conjugate gradients its error is the square of ``rtol``: it is a quadratic form of the system's inverse.
        """
        known = self._known_own_alpha(rows)
        if known is not None:
            return known
        # A few columns at a time where memory is what counts: each takes several arrays of n numbers.
        step = max(1, len(rows) if self.operator.can_be_dense else _COLUMNS_AT_ONCE)
        blocks = [rows[start : start + step] for start in range(0, len(rows), step)]
        own = []
        for block in blocks:
            answers = self.solve(self.operator.units(block), rtol)
            warn_unless_solved(answers, stacklevel=4)
            own.append(to_numpy(answers.alpha[block, np.arange(len(block))]))
        return np.concatenate(own) if own else np.empty(0)

    @abstractmethod
    def _known_own_alpha(self, rows: IntArray) -> FloatArray | None:
        """Return ``own_alpha`` where it is to be had without a solve for each row."""

    @abstractmethod
    def own_response(self, own_alpha: FloatArray) -> FloatArray:
        """Return H[i, i], how much each decision owes to its own target, from ``own_alpha``."""


class SemiKPCAResponse(LabelResponse):
    """Problem 4 by Theorem 2: (I/γ − K′) α = y and f = K′ α.

    Parameters
    ----------
    operator : KernelOperator
        The kernel matrix K.
    eigenvalues, eigenvectors : ndarray of shape (k,) and (n, k)
        The removed components.
    certificate : ConvexityCertificate
        With an error weight inside the interval.
    rtol, max_iter : see :class:`semikpca.solvers.AdaptiveSolver`
    subspace : Subspace, optional
        What the search for the eigenpairs has learned of K.
    """

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
        self.operator = operator
        self.eigenvectors = eigenvectors
        assert certificate.error_weight is not None, "the weight is resolved before the system is set up"
        self.deflated = DeflatedOperator(operator, eigenvalues, eigenvectors)
        self.subspace = subspace
        self.error_weight, self.error_weight_max = certificate.error_weight, certificate.error_weight_max
        system = ShiftedOperator(self.deflated, 1.0 / self.error_weight, sign=-1)
        known = None
        # To keep a search conjugate to a few vectors takes as long as a product with a graph, and saves few of them.
        if subspace is not None and not isinstance(operator, SparseOperator):
            W = subspace.basis
            images = system.applied(W, self.deflated.applied(W, subspace.images + 0))
            known = Subspace(W, images, subspace.n_last)
        self.solver = AdaptiveSolver(system, certificate.condition_number, rtol, max_iter, known)

    def _known_own_alpha(self, rows: IntArray) -> FloatArray | None:
        return self.solver.inverse_diagonal(rows)

    def columns(self, rows: IntArray, rtol: float | None = None) -> DualSolution:
        """Solve for unit targets at ``rows``; on a stored matrix for the decisions, whose right-hand side it holds."""
        if not isinstance(self.operator, DenseOperator):
            return super().columns(rows, rtol)
        return self._solve_for_decisions(self.operator.units(rows), _COLUMN_RTOL if rtol is None else rtol)

    def path(self, rows: IntArray, targets: FloatArray, error_weights: FloatArray, rtol: float) -> PathAnswers | None:
        """Return the answers to targets at ``rows`` for all these weights; None where the spectrum has them at less.

        Decisions, shape (n_weights, n, n_columns), and those at the rows without their own targets.
        """
        if isinstance(self.operator, LowRankOperator):
            return None  # its whole spectrum is small and known
        if isinstance(self.operator, SparseOperator):
            leading = None if self.subspace is None else self.subspace.basis
            with one_blas_thread():
                return polynomial_path(self.deflated, rows, targets, error_weights, max(rtol, _SERIES_RTOL), leading)
        with self.operator.between_products():
            space = label_space(self.deflated, rows, float(error_weights.max()), rtol, self.subspace)
        return None if space is None else space.answers(targets, error_weights)

    def own_response(self, own_alpha: FloatArray) -> FloatArray:
        """Return H[i, i]: K′α = α/γ − y."""
        return own_alpha / self.error_weight - 1

    def dual_coef(self, decision: FloatArray, targets: FloatArray) -> FloatArray:
        """Return the dual coefficients of a solution that is known by its decisions: α = γ (K′α + y)."""
        alpha = self.error_weight * (decision + targets)
        return np.asarray(alpha - self.eigenvectors @ (self.eigenvectors.T @ alpha))

    def solve(self, targets: FloatArray, rtol: float | None = None) -> DualSolution:
        """Solve Problem 4 for each column of ``targets``."""
        if not self.operator.is_stored:
            return self._solve_for_decisions(targets, rtol)
        solution = self.solver.solve(targets, rtol)
        V = self.eigenvectors
        dual_coef = solution.values - V @ (V.T @ solution.values)
        return DualSolution(
            alpha=solution.values,
            dual_coef=dual_coef,
            intercept=np.zeros(targets.shape[1], dtype=targets.dtype),
            decision=self.operator.matmat(dual_coef) if solution.product is None else solution.product,
            status=solution.status,
            n_iter=solution.n_iter,
            residual=solution.residual,
        )

    def _solve_for_decisions(self, targets: FloatArray, rtol: float | None) -> DualSolution:
        """Solve (I/γ − K′) f = K′ y, and take α = γ (f + y).

        Where products are costly, f should be as accurate as the tolerance says, and not more. In α it is a small
        difference: with few labels among many rows, almost all of y lies where K′ has nothing to say.
        """
        solution = self.solver.solve(self._pushed(targets), rtol)
        V, decision = self.eigenvectors, solution.values
        alpha = self.error_weight * (decision + targets)
        return DualSolution(
            alpha=alpha,
            dual_coef=alpha - V @ (V.T @ alpha),
            intercept=self.operator.block(np.zeros(targets.shape[1])),
            decision=decision,
            status=solution.status,
            n_iter=solution.n_iter,
            residual=solution.residual,
        )

    def _pushed(self, targets: FloatArray) -> FloatArray:
        """Return K′ y: from the columns at the labeled rows, where these are few."""
        labeled = np.flatnonzero(to_numpy((targets != 0).any(axis=1)))
        if len(labeled) > _FEW_LABELS:
            return self.deflated.matmat(targets)
        return self.deflated.columns(labeled) @ targets[labeled]


class LSSVMResponse(LabelResponse):
    """Problem 1: (I/γ + K) α = y − b with 1ᵀα = 0, or without the bias b.

    Parameters
    ----------
    operator : KernelOperator
        The kernel matrix K.
    error_weight : float
        γ, any positive number.
    fit_intercept : bool
        Whether there is a bias b.
    rtol, max_iter : see :class:`semikpca.solvers.AdaptiveSolver`
    """

    def __init__(
        self,
        operator: KernelOperator,
        error_weight: float,
        *,
        fit_intercept: bool,
        rtol: float,
        max_iter: int | None = None,
    ) -> None:
        self.operator = operator
        self.fit_intercept = fit_intercept
        system = ShiftedOperator(operator, 1.0 / error_weight, sign=1)
        # The trace bounds the largest eigenvalue, hence the condition number.
        condition_number = 1.0 + error_weight * float(to_numpy(operator.diag()).sum(dtype=np.float64))
        self.error_weight = error_weight
        self.solver = AdaptiveSolver(system, condition_number, rtol, max_iter)

    def _known_own_alpha(self, rows: IntArray) -> FloatArray | None:
        own = self.solver.inverse_diagonal(rows)
        if own is None or not self.fit_intercept:
            return own
        # A unit target at row i has ν = C⁻¹e_i and 1ᵀν = η_i: its α_i is ν_i − η_i² / 1ᵀη.
        eta = self.solver.solve(np.ones((self.operator.n, 1), dtype=self.operator.dtype)).values[:, 0]
        return np.asarray(own - eta[rows].astype(np.float64) ** 2 / eta.sum(dtype=np.float64))

    def own_response(self, own_alpha: FloatArray) -> FloatArray:
        """Return H[i, i]: Kα + b = y − α/γ."""
        return 1 - own_alpha / self.error_weight

    def solve(self, targets: FloatArray, rtol: float | None = None) -> DualSolution:
        """Solve Problem 1 for each column of ``targets``."""
        n_columns = targets.shape[1]
        intercept = self.operator.block(np.zeros(n_columns))
        if not self.fit_intercept:
            solution = self.solver.solve(targets, rtol)
            alpha, product = solution.values, solution.product
        else:
            # Eliminate b: with η = C⁻¹1 and ν = C⁻¹y, 1ᵀα = 0 gives b = 1ᵀν / 1ᵀη and α = ν − b η.
            ones = self.operator.block(np.ones((self.operator.n, 1)))
            solution = self.solver.solve(self.operator.xp.hstack([targets, ones]), rtol)
            nu, eta = solution.values[:, :-1], solution.values[:, -1:]
            intercept = nu.sum(axis=0) / eta.sum()
            alpha = nu - eta * intercept
            product = solution.product
            if product is not None:
                product = product[:, :-1] - product[:, -1:] * intercept
        return DualSolution(
            alpha=alpha,
            dual_coef=alpha,
            intercept=intercept,
            decision=(self.operator.matmat(alpha) if product is None else product) + intercept,
            status=solution.status,
            n_iter=solution.n_iter,
            residual=solution.residual,
        )


def spectral_filter(eigenvalues: FloatArray, error_weights: FloatArray, sign: Literal[-1, 1]) -> FloatArray:
    """Return the eigenvalues γλ/(1 + sign · γλ) of H, shape (len(eigenvalues), len(error_weights)).

    ``eigenvalues`` are those that are left after the removal; the sign is that of the system: −1 for Semi-KPCA, +1 for
    LS-SVM without bias.
    """
    products = eigenvalues[:, np.newaxis] * error_weights
    return np.asarray(products / (1 + sign * products))


def path_decisions(
    spectrum: Spectrum, k: int, targets: FloatArray, error_weights: FloatArray, sign: Literal[-1, 1] = -1
) -> FloatArray:
    """Return the decisions for every error weight from one whole spectrum, shape (n_weights, n, n_columns)."""
    V = spectrum.eigenvectors[:, k:]
    gains = spectral_filter(spectrum.eigenvalues[k:], error_weights, sign)
    coordinates = V.T @ targets
    filtered = gains[:, :, np.newaxis] * coordinates[:, np.newaxis, :]
    n_weights, n_columns = len(error_weights), targets.shape[1]
    decisions = V @ filtered.reshape(len(gains), n_weights * n_columns)
    return decisions.reshape(spectrum.n, n_weights, n_columns).transpose(1, 0, 2)


def lssvm_path(spectrum: Spectrum, targets: FloatArray, error_weights: FloatArray) -> FloatArray:
    """Return the dual coefficients of LS-SVM without bias for every error weight, shape (n_weights, n, n_columns).

    On new rows the decision is k(new, rows) @ coefficients, as in :class:`LSSVMResponse`.
    """
    V = spectrum.eigenvectors
    gains = error_weights / (1 + spectrum.eigenvalues[:, np.newaxis] * error_weights)
    coordinates = V.T @ targets
    return np.asarray(np.einsum("il,lw,lc->wic", V, gains, coordinates, optimize=True))


def kernel_pca_objective(
    operator: KernelOperator, spectrum: Spectrum, coefficients: FloatArray, error_weight: float, k: int
) -> float:
    """Return the objective of Problem 3, ½⟨w, w⟩ − γ/2 Σ e², at w = Σ c_i φ(x_i) without its first k components.

    Parameters
    ----------
    spectrum : Spectrum
        At least k eigenpairs of the operator.
    coefficients : ndarray of shape (n,)
        c; what w has along the first k components is taken off, as the constraints ask.
    """
    removed = spectrum.head(k)
    deflated = DeflatedOperator(operator, removed.eigenvalues, removed.eigenvectors)
    errors = deflated.matmat(coefficients[:, np.newaxis])[:, 0]
    return float(0.5 * coefficients @ errors - 0.5 * error_weight * errors @ errors)
