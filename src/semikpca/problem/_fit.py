"""A problem, fitted to labels of training rows: one interface, whether the rows are here or on a cluster.

:class:`LocalFit` has numbers for every training row. :class:`semikpca.problem._cluster_fit.ClusterFit` has them for the
labeled rows; what every other row has is a function of it that stays lazy. :func:`semikpca.problem.fit_problem`
chooses, once; nobody above asks which it was.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from semikpca._typing import Array, FloatArray, IntArray, Rows
from semikpca.arrays import slices
from semikpca.kernels import Kernel
from semikpca.labels import LabelCoding, signed_targets
from semikpca.operators import Progress
from semikpca.problem._duality import DualityGap, duality_gap
from semikpca.problem._kernel_matrix import Expansion, fit_kernel, kernel_matrix
from semikpca.problem._lssvm import LSSVMProblem
from semikpca.problem._response import DualSolution, LabelResponse
from semikpca.problem._semi_kpca_problem import SemiKPCAProblem

# Residuals of a path of error weights on a stored matrix: it then equals fits of its own to nine digits.
_PATH_RTOL = 1e-10
_CHANGES_AT_ONCE = 32  # whose decisions at all rows are in memory together

# One of the paper's problems as it is asked: what decides the answer beside kernel matrix and labels.
Problem: TypeAlias = SemiKPCAProblem | LSSVMProblem


class Fit(ABC):
    """The answer of a problem to the labels of training rows; none of it changes."""

    problem: Problem
    kernel: Kernel  # fitted
    rows: Rows  # the training rows, where they are
    backend: str
    labels: LabelCoding
    facts: Any  # what was learned of the kernel matrix, such as the certificate

    @property
    @abstractmethod
    def solution(self) -> DualSolution:
        """The solve behind the answer, with its status; for rows on a cluster that of the small problem."""

    @property
    @abstractmethod
    def n_products(self) -> int:
        """Products with the kernel matrix so far."""

    @property
    @abstractmethod
    def components(self) -> IntArray | None:
        """The connected component of each training row; None where the kernel connects all of them."""

    @abstractmethod
    def values(self, which: str) -> Array:
        """Return "alpha", "dual_coef", "eigenvectors" or "decision" of all training rows, shape (n, n_columns).

        Lazy where the rows are on a cluster. ``decision`` is that of the problem: H y with its intercept.
        """

    @property
    @abstractmethod
    def intercept(self) -> FloatArray:
        """What is added to the expansion, shape (n_columns,)."""

    @property
    @abstractmethod
    def expansion(self) -> Callable[[Rows], FloatArray]:
        """The function x ↦ f(x) − intercept for new rows."""

    @abstractmethod
    def typical_decisions(self) -> FloatArray:
        """Return decisions by which their spread is known: those of all rows, or of a fixed sample of many."""

    @abstractmethod
    def label_codes(self) -> IntArray:
        """Return class numbers that hold those of all labels: of all rows, or of the labeled ones alone."""

    @abstractmethod
    def label_response(self, rows: IntArray) -> FloatArray:
        """Return the columns of H at ``rows``, shape (n, len(rows))."""

    @abstractmethod
    def left_out(self, rows: IntArray, rtol: float | None) -> FloatArray:
        """Return decisions at labeled ``rows``, each without its own label, shape (len(rows), n_columns)."""

    @abstractmethod
    def with_labels(self, labels: LabelCoding) -> "Fit":
        """Return the fit to other labels; classes may be fewer, where these have lost all of theirs."""

    @abstractmethod
    def local(self) -> "LocalFit":
        """Return the fit with numbers for every training row, or refuse where these stay on a cluster."""

    @property
    def small(self) -> "LocalFit | None":
        """The same problem on the client, where the rows are on a cluster."""
        return None


@dataclass(frozen=True)
class LocalFit(Fit):
    """A fit that has numbers for every training row."""

    problem: Problem
    kernel: Kernel
    rows: Rows
    backend: str
    asked_backend: str
    labels: LabelCoding
    facts: Any
    answer: DualSolution
    made: dict[str, LabelResponse] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        problem: Problem,
        kernel: Kernel,
        rows: Rows,
        backend: str,
        labels: LabelCoding,
        progress: Progress | None = None,
    ) -> "LocalFit":
        """Fit the kernel, set up the problem and solve it."""
        tol, many = problem.matrix_tol, problem.many_products
        fitted, rows, chosen, operator = fit_kernel(kernel, rows, backend, tol=tol, many_products=many)
        operator.log.progress = progress
        targets = operator.block(signed_targets(labels.codes, labels.n_classes))
        facts, response = problem.set_up(operator, targets)
        with operator.between_products():
            answer = response.solve(targets).on_host()
        return cls(problem, fitted, rows, chosen, backend, labels, facts, answer, {"response": response})

    @property
    def response(self) -> LabelResponse:
        """H; set up again where the fit was loaded without it."""
        if "response" not in self.made:
            tol, many = self.problem.matrix_tol, self.problem.many_products
            operator = kernel_matrix(self.kernel, self.rows, self.asked_backend, tol=tol, many_products=many)[1]
            self.made["response"] = self.problem.restored(operator, self.facts)
        return self.made["response"]

    @property
    def solution(self) -> DualSolution:
        return self.answer

    @property
    def n_products(self) -> int:
        return self.response.operator.log.n_products

    @property
    def components(self) -> IntArray | None:
        return self.kernel.components()

    def values(self, which: str) -> FloatArray:
        if which == "eigenvectors":
            return np.asarray(self.facts.removed.eigenvectors)
        return np.asarray(getattr(self.answer, which))

    @property
    def intercept(self) -> FloatArray:
        return self.answer.intercept

    @cached_property
    def expansion(self) -> Expansion:
        return Expansion(self.kernel, self.rows, self.answer.dual_coef)

    def typical_decisions(self) -> FloatArray:
        return self.answer.decision

    def label_codes(self) -> IntArray:
        return self.labels.codes

    def label_response(self, rows: IntArray) -> FloatArray:
        with self.response.operator.between_products():
            return self.response.columns(rows).on_host().decision

    def label_response_at(self, new: Rows, rows: IntArray) -> FloatArray:
        """Return how the decisions of new rows answer to a target at training ``rows``, shape (n_new, len(rows))."""
        with self.response.operator.between_products():
            columns = self.response.columns(rows).on_host()
        return np.asarray(Expansion(self.kernel, self.rows, columns.dual_coef)(new) + columns.intercept)

    def left_out(self, rows: IntArray, rtol: float | None) -> FloatArray:
        targets = signed_targets(self.labels.codes, self.labels.n_classes, self.answer.decision.dtype)[rows]
        response = self.response
        with response.operator.between_products():
            own_alpha = response.own_alpha(rows, rtol)
        if self.problem.row_stays:
            # Without its label the row stays, with target 0.
            return np.asarray(self.answer.decision[rows] - response.own_response(own_alpha)[:, np.newaxis] * targets)
        # Without its label the row is gone. The classical identity, (f − H y) / (1 − H), in a form that keeps its
        # digits where H is close to 1.
        return np.asarray(targets - self.answer.alpha[rows] / own_alpha[:, np.newaxis])

    def with_labels(self, labels: LabelCoding) -> "LocalFit":
        """Return the fit to other labels: the answer is linear in them, so that columns of H are all it takes."""
        if labels.n_classes != self.labels.n_classes:
            return self._solved_again(labels)
        rows = np.flatnonzero(labels.codes != self.labels.codes)
        if not rows.size:
            return self
        dtype, n_classes = self.answer.decision.dtype, labels.n_classes
        before = signed_targets(self.labels.codes[rows], n_classes, dtype)
        after = signed_targets(labels.codes[rows], n_classes, dtype)
        response = self.response
        with response.operator.between_products():
            columns = response.columns(rows).on_host()
        return replace(self, labels=labels, answer=self.answer.moved(columns, after - before))

    def decisions_with(self, rows: IntArray, codes: IntArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the decisions of all training rows if each of ``rows`` by itself had another label, a few at a time.

        With each part come the places in ``rows`` that it is about; shape (n_places, n, n_columns).
        """
        n_classes, decision = self.labels.n_classes, self.answer.decision
        change = signed_targets(codes, n_classes) - signed_targets(self.labels.codes[rows], n_classes)
        for some in slices(0, len(rows), _CHANGES_AT_ONCE):
            columns = self.label_response(rows[some])
            yield some, decision + columns.T[:, :, np.newaxis] * change[some][:, np.newaxis]

    def _solved_again(self, labels: LabelCoding) -> "LocalFit":
        """Return the fit to labels of other classes, whose columns are others."""
        operator = self.response.operator
        targets = operator.block(signed_targets(labels.codes, labels.n_classes))
        with operator.between_products():
            return replace(self, labels=labels, answer=self.response.solve(targets).on_host())

    def path(self, error_weights: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return decisions and left-out decisions at all these (absolute) weights; None where the spectrum has them.

        Shapes (n_weights, n, n_columns) and (n_weights, n_labeled, n_columns).
        """
        response: Any = self.response
        rtol = _PATH_RTOL if response.operator.facts.is_stored else self.problem.tol
        rows = self.labels.labeled_rows
        targets = response.operator.block(signed_targets(self.labels.codes[rows], self.labels.n_classes))
        answers: tuple[FloatArray, FloatArray] | None = response.path(rows, targets, error_weights, rtol)
        return answers

    def duality_gap(self) -> DualityGap:
        """Return the primal and the dual objective of Problem 4 at the answer, for a fit of Semi-KPCA."""
        response: Any = self.response
        targets = signed_targets(self.labels.codes, self.labels.n_classes)
        with response.operator.between_products():
            return duality_gap(response.deflated, self.facts.certificate, targets, self.answer.alpha)

    def local(self) -> "LocalFit":
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave the kernel matrix and its factor behind: n² numbers that come back from the rows when needed."""
        return {**self.__dict__, "made": {}}
