"""Classifiers that learn from labeled and unlabeled rows together."""

import numpy as np

from semikpca import labels as coding
from semikpca.decisions import Reach
from semikpca.estimators._decisions import TransductiveDecisions, squeezed
from semikpca.estimators._response_classifier import ResponseClassifier
from semikpca.operators import REMOTE_BACKEND
from semikpca.problem import DualSolution, warn_unless_solved

# What every training row has; lazy where the rows stay on a cluster.
LAZY_ARRAYS = ("alpha_", "dual_coef_", "eigenvectors_")


class TransductiveClassifier(TransductiveDecisions, ResponseClassifier):
    """A classifier in which an unlabeled row has the target 0: it labels the rows that it was fitted on."""

    _alpha_sign = 1  # a row without a target has α = ±γ f

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

    # -- rows on a cluster, known by their features -------------------------------------------------------------

    def _fit_by_features(self, kernel, rows, y):
        from semikpca.estimators._cluster_fit import ClusterFit

        self._learn_on_cluster(ClusterFit.of(self, kernel, rows, y))

    def _learn_on_cluster(self, fit) -> None:
        """Store what was learned: the small problem's numbers, and lazy arrays for what every row has."""
        for name in ("_solution", "_response", "_components"):
            self.__dict__.pop(name, None)
        self._device = None
        self._cluster_fit, self.small_model_ = fit, fit.small
        self.kernel_, self.X_fit_, self.backend_ = fit.compressed.kernel, fit.rows, REMOTE_BACKEND
        for name in ("error_weight_", "certificate_", "eigenvalues_", "n_iter_", "n_products_"):
            if hasattr(fit.small, name):
                setattr(self, name, getattr(fit.small, name))
        self.intercept_ = fit.small.intercept_.astype(fit.rows.dtype)
        labels = self.label_coding_ = fit.labels
        self.classes_ = labels.classes
        self.reach_, self.unreachable_rows_ = Reach(None, np.zeros(0, dtype=bool)), np.empty(0, dtype=np.intp)
        self._expansion = fit.decision()
        self._learn_shares(labels.codes.values, self._expansion(fit.sample))
        for name, values in fit.lazy_arrays().items():
            setattr(self, name, squeezed(values) if name != "eigenvectors_" else values)
        self.decision_ = squeezed(fit.over_all_rows(self._expansion) + self.class_offsets_)
        self.transduction_ = self.labels_of(self.decision_)
        self._sharpness = []

    def _typical_decisions(self):
        if self._cluster_fit is None:
            return super()._typical_decisions()
        return self._expansion(self._cluster_fit.sample) + self.class_offsets_

    def __getstate__(self):
        """Leave lazy arrays behind with the rows on the cluster: a loaded model predicts and audits without them."""
        state = super().__getstate__()
        if state.get("_cluster_fit") is not None:
            for name in (*LAZY_ARRAYS, "decision_", "transduction_"):
                state.pop(name, None)
        return state

    def __sklearn_is_fitted__(self):
        """Decisions come last; those of rows on a cluster are left there when a model is saved."""
        return self._cluster_fit is not None or super().__sklearn_is_fitted__()

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
        if self._cluster_fit is not None:
            self._learn_on_cluster(self._cluster_fit.with_labels(self, changed))
            return self
        rows = np.flatnonzero(changed.codes != self.label_coding_.codes)
        if not rows.size:
            return self
        dtype = self._solution.decision.dtype
        n_classes = self.label_coding_.n_classes
        before = coding.signed_targets(self.label_coding_.codes[rows], n_classes, dtype)
        after = coding.signed_targets(changed.codes[rows], n_classes, dtype)
        response = self._set_up_again()
        with response.operator.between_products():
            columns = response.columns(rows).on_host()
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
