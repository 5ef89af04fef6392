"""Classifiers that learn from labeled and unlabeled rows together."""

import numpy as np

from semikpca import labels as coding
from semikpca.estimators._decisions import TransductiveDecisions
from semikpca.estimators._response_classifier import ResponseClassifier
from semikpca.problem import DualSolution, warn_unless_solved


class TransductiveClassifier(TransductiveDecisions, ResponseClassifier):
    """A classifier in which an unlabeled row has the target 0: it labels the rows that it was fitted on."""

    def _encode(self, y) -> coding.LabelCoding:
        return coding.encode(y)

    def _leave_own_label_out(self, rows, own_alpha, targets):
        # Without its label the row stays, with target 0.
        own_response = self._set_up_again().own_response(own_alpha)
        return self._solution.decision[rows] - own_response[:, np.newaxis] * targets

    def fit(self, X, y):
        """Label all rows from the rows whose label is known.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), list of objects, or kernel matrix
            All rows, labeled and unlabeled, as the kernel takes them.
        y : array-like of shape (n_samples,)
            Labels; unlabeled rows are marked -1 (integers), or None or NaN (strings, objects, floats). Mind that the
            paper codes its classes as -1 and +1 and unlabeled rows as 0: see :func:`semikpca.labels.from_signs`.

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _learn(self, labels: coding.LabelCoding, solution: DualSolution) -> None:
        super()._learn(labels, solution)
        self.transduction_ = self._handed_out(labels.decode(self.decision_codes(self.decision_)))

    # -- labels that change ------------------------------------------------------------------------------------

    def add_labels(self, rows, labels):
        """Give training rows labels, or take them away, as if the model had been fitted with them; no refit.

        Parameters
        ----------
        rows : int or array-like of int
            Row numbers of the training rows.
        labels : label or array-like
            A label for each of them, one of ``classes_``; -1, None or NaN takes a label away.

        Returns
        -------
        self
            The same model, updated: the decisions change by the columns of H at those rows.
        """
        changed = self._changed_labels(rows, labels)
        if changed is None:
            return self
        rows = np.flatnonzero(changed.codes != self.label_coding_.codes)
        if not rows.size:
            return self
        dtype = self._solution.decision.dtype
        n_classes = self.label_coding_.n_classes
        before = coding.signed_targets(self.label_coding_.codes[rows], n_classes, dtype)
        after = coding.signed_targets(changed.codes[rows], n_classes, dtype)
        columns = self._set_up_again().columns(rows).on_host()
        warn_unless_solved(columns, stacklevel=3)
        self._learn(changed, _moved(self._solution, columns, after - before))
        return self


def _moved(solution: DualSolution, columns: DualSolution, change) -> DualSolution:
    """Return the solution after a change of targets: everything in it is linear in them."""
    return DualSolution(
        alpha=solution.alpha + columns.alpha @ change,
        dual_coef=solution.dual_coef + columns.dual_coef @ change,
        intercept=solution.intercept + columns.intercept @ change,
        decision=solution.decision + columns.decision @ change,
        status=columns.status,
        n_iter=columns.n_iter,
        residual=max(solution.residual, columns.residual),
    )
