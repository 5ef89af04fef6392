"""Classifiers that learn from labeled and unlabeled rows together."""

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from semikpca import labels as coding
from semikpca.estimators._response_classifier import ResponseClassifier, warn_unless_solved
from semikpca.estimators._validation import check_row_numbers, check_same_length
from semikpca.problem import DualSolution


class TransductiveClassifier(ResponseClassifier):
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
        self.transduction_ = labels.decode(coding.predicted_codes(self.decision_, labels.n_classes))

    @property
    def label_distributions_(self):
        """Probabilities of the training rows, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        return self.decision_probabilities(self.decision_)

    def fit_predict(self, X, y):
        """Fit and return ``transduction_``, the label of every row."""
        return self.fit(X, y).transduction_

    def score(self, X, y, sample_weight=None):
        """Return the accuracy over the rows of ``y`` that are labeled."""
        check_is_fitted(self)
        truth, labeled = coding.labeled_values(y, self.classes_)
        predicted = self.predict(X)
        check_same_length(predicted, truth)
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight)
            if sample_weight.shape != (len(truth),):
                raise ValueError(
                    f"sample_weight must have one entry for each of the {len(truth)} rows, got shape "
                    f"{sample_weight.shape}."
                )
            sample_weight = sample_weight[labeled]
        return accuracy_score(truth[labeled], predicted[labeled], sample_weight=sample_weight)

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
        check_is_fitted(self)
        if np.ndim(rows) == 0:
            labels = [labels]
        rows = check_row_numbers(rows, len(self.label_coding_.codes))
        if not len(rows) and not len(labels):
            return self
        new_codes = self.label_coding_.encode(labels)
        if len(new_codes) != len(rows):
            raise ValueError(f"{len(rows)} rows and {len(new_codes)} labels were given; each row needs one label.")
        codes = self.label_coding_.codes.copy()
        codes[rows] = new_codes
        if not np.isin(np.arange(self.label_coding_.n_classes), codes).all():
            gone = self.classes_[~np.isin(np.arange(self.label_coding_.n_classes), codes)]
            raise ValueError(
                f"The change would leave class {gone[0]!r} without a label. Keep one label of each class, or fit "
                "again without it."
            )
        changed = coding.LabelCoding(self.classes_, codes)
        dtype = self._solution.decision.dtype
        n_classes = self.label_coding_.n_classes
        before = coding.signed_targets(self.label_coding_.codes[rows], n_classes, dtype)
        after = coding.signed_targets(codes[rows], n_classes, dtype)
        columns = self._set_up_again().columns(rows)
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
