"""Classifiers that learn from labeled and unlabeled rows together."""

from semikpca import labels as coding
from semikpca.estimators._decisions import TransductiveDecisions
from semikpca.estimators._response_classifier import ResponseClassifier
from semikpca.problem import Fit, warn_unless_solved


class TransductiveClassifier(TransductiveDecisions, ResponseClassifier):
    """A classifier in which an unlabeled row has the target 0: it labels the rows that it was fitted on."""

    def _encode(self, y) -> coding.LabelCoding:
        return coding.encode(y)

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

    def _learn(self, fit: Fit) -> None:
        super()._learn(fit)
        self.transduction_ = self._handed_out(self.labels_of(self.decision_))

    def _take_labels(self, labels: coding.LabelCoding) -> None:
        fit = self._fitted.with_labels(labels)
        if fit is not self._fitted:
            warn_unless_solved(fit.solution)
            self._learn(fit)
