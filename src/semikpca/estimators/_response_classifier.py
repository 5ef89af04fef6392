"""What all kernel classifiers of the package share: decisions that are linear in the labels.

:class:`TransductiveClassifier` is for those that learn from labeled and unlabeled rows together.
"""

from abc import abstractmethod
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from semikpca import labels as coding
from semikpca.arrays import device_of, is_lazy
from semikpca.decisions import Reach, prior_offsets, resolve_prior
from semikpca.estimators._decisions import DecisionClassifier, TransductiveDecisions, logger, squeezed
from semikpca.estimators._validation import check_iteration, check_row_numbers, set_kernel_tags, validate_rows
from semikpca.exceptions import SingleClassWarning, warn_user
from semikpca.kernels import as_kernel
from semikpca.operators import Progress, map_rows, values_at
from semikpca.problem import Fit, Problem, fit_problem, warn_unless_solved


class ResponseClassifier(DecisionClassifier):
    """A classifier whose decisions are H y: H from the rows, y from the labels.

    A subclass says which problem is solved and how labels are read. Fitting, prediction on new rows and probabilities
    are the same for all, wherever the rows are.
    """

    _takes_tensors = True
    _takes_lazy = True

    # -- what a subclass provides ------------------------------------------------------------------------------

    @abstractmethod
    def _check_params(self) -> None:
        """Check the parameters that only this class has."""

    @abstractmethod
    def _problem(self) -> Problem:
        """Return the problem that the parameters ask for."""

    @abstractmethod
    def _encode(self, y) -> coding.LabelCoding:
        """Return the classes and class numbers of y."""

    # -- fit ---------------------------------------------------------------------------------------------------

    def _fit(self, X, y):
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        before = vars(self).copy()
        try:
            self._check_params()
            check_iteration(self.tol, self.max_iter)
            kernel = as_kernel(self.kernel)
            rows = validate_rows(self, X, kernel, reset=True)
            self._device = device_of(rows)
            progress = Progress(logger.info) if self.verbose else None
            options = {"backend": self.backend, "progress": progress}
            self._learn(fit_problem(self._problem(), kernel, rows, y, self._encode, **options))
            self.suggested_rows_ = np.empty(0, dtype=np.intp)
        except BaseException:
            # A fit that is refused or interrupted leaves an earlier one as it was.
            self.__dict__ = before
            raise
        if len(self.classes_) == 1:
            warn_user(SingleClassWarning(self.classes_[0]))
        solution = self._fitted.solution
        warn_unless_solved(solution)
        if self.verbose:
            logger.info("solved in %d steps, relative residual %.1e", solution.n_iter, solution.residual)
        self._warn_of_unreachable_rows()
        return self

    def _learn(self, fit: Fit) -> None:
        """Store a fit and everything that is read off it; arrays are handed out as the rows came."""
        self._fitted = fit
        self.kernel_, self.X_fit_, self.backend_ = fit.kernel, fit.rows, fit.backend
        self.label_coding_, self.classes_ = fit.labels, fit.labels.classes
        self.error_weight_ = fit.facts.error_weight
        self.intercept_ = fit.intercept
        self.n_iter_, self.n_products_ = fit.solution.n_iter, fit.n_products
        self.reach_ = Reach.of(fit.components, fit.label_codes())
        self.unreachable_rows_ = np.flatnonzero(self.reach_.out)
        self._learn_shares(fit.label_codes(), self.reach_.reached(fit.typical_decisions()))
        self.alpha_ = self._handed_out(squeezed(fit.values("alpha")))
        self.dual_coef_ = self._handed_out(squeezed(fit.values("dual_coef")))
        decision = fit.values("decision") + self.class_offsets_
        self.decision_ = self._handed_out(squeezed(self.reach_.hide(decision)))
        # Learned when it is first asked for, in a list: to predict must not change the attributes of a model.
        self._sharpness: list[float] = []
        if fit.small is not None:
            self.small_model_ = self._around(fit.small)

    def _around(self, fit: Fit):
        """Return a model of the same parameters around another fit."""
        model = clone(self).set_params(kernel=fit.kernel, backend=fit.backend)
        if "class_prior" in model.get_params(deep=False):
            model.set_params(class_prior=None)  # shares are those of all rows, which the small ones do not have
        model.n_features_in_ = int(fit.rows.shape[1])
        model._learn(fit)
        model.suggested_rows_ = np.empty(0, dtype=np.intp)
        return model

    def _learn_shares(self, codes, decision) -> None:
        """Learn the shares of the classes and the offsets that lead to them, from labels and decisions of rows."""
        n_classes = self.label_coding_.n_classes
        prior = resolve_prior(self.class_prior, codes, n_classes)
        self.class_offsets_ = np.zeros(decision.shape[1], dtype=decision.dtype)
        if prior is not None and n_classes > 1:
            offsets = prior_offsets(coding.class_scores(decision, n_classes), prior)
            # Two classes share one column, whose sign flips between them.
            self.class_offsets_ += (offsets[1] - offsets[0]) / 2 if n_classes == 2 else offsets
        self.class_shares_ = resolve_prior("labeled", codes, n_classes) if prior is None else prior

    # -- readings of H -----------------------------------------------------------------------------------------

    def linear_decision(self):
        """Return H @ targets plus class offsets at all training rows, shape (n_samples, n_columns).

        Linear in the labels, and ``decision_`` but for the rows out of reach, where that is 0.
        """
        check_is_fitted(self)
        return self._fitted.local().values("decision") + self.class_offsets_

    def label_response(self, rows):
        """Return the columns of H at ``rows``, shape (n_samples, len(rows)): how decisions answer to a target there.

        Decisions are H @ targets (plus class offsets), so this is what a unit of label at each row would add.
        """
        check_is_fitted(self)
        return self._fitted.label_response(check_row_numbers(rows, len(self.label_coding_.codes)))

    def label_response_at(self, X, rows):
        """Return how the decisions of new rows answer to a target at training ``rows``, shape (n_new, len(rows))."""
        check_is_fitted(self)
        new = validate_rows(self, X, self.kernel_, reset=False)
        return self._fitted.local().label_response_at(new, check_row_numbers(rows, len(self.label_coding_.codes)))

    def left_out_decisions(self, rows, rtol=None):
        """Return decisions at labeled ``rows``, each without its own label, shape (len(rows), n_columns).

        0 where the row's own label is the only one that reaches it.
        """
        check_is_fitted(self)
        rows = check_row_numbers(rows, len(self.label_coding_.codes))
        decision = self._fitted.left_out(rows, rtol) + self.class_offsets_
        decision[self.reach_.alone(rows, self.label_coding_.codes)] = 0
        return decision

    def _typical_decisions(self):
        return self.reach_.reached(self._fitted.typical_decisions()) + self.class_offsets_

    # -- predict -----------------------------------------------------------------------------------------------

    def decision_function(self, X):
        """Return f(x) for new rows, exact: on the training rows it equals ``decision_``.

        Returns
        -------
        ndarray of shape (n_rows,) for two classes, positive for ``classes_[1]``, or (n_rows, n_classes)
            For a Dask array or data frame a lazy Dask array.
        """
        check_is_fitted(self)
        rows = validate_rows(self, X, self.kernel_, reset=False)
        offsets = self.class_offsets_
        decision = values_at(self._fitted.expansion, rows, len(offsets), offsets.dtype) + self.intercept_ + offsets
        if self.reach_.out.any():
            touched = map_rows(partial(self.kernel_.touches, marked=~self.reach_.out), rows, None, bool)
            decision = np.where(touched[:, np.newaxis].astype(bool), decision, 0)
        return self._handed_out(squeezed(decision))

    # -- scikit-learn ------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self):
        """Return whether there is a fit; one that was refused leaves none behind."""
        return hasattr(self, "_fitted")

    def __getstate__(self):
        """Leave lazy arrays behind with the rows on the cluster: a loaded model predicts and audits without them."""
        return {name: value for name, value in super().__getstate__().items() if not is_lazy(value)}

    def __sklearn_tags__(self):
        return set_kernel_tags(super().__sklearn_tags__(), self.kernel)


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
        self._fit(X, y)
        coding.warn_of_marks_in_text(self.label_coding_)
        return self

    def _learn(self, fit: Fit) -> None:
        super()._learn(fit)
        self.transduction_ = self._handed_out(self.labels_of(self.decision_))

    def _take_labels(self, labels: coding.LabelCoding) -> None:
        fit = self._fitted.with_labels(labels)
        if fit is not self._fitted:
            warn_unless_solved(fit.solution)
            self._learn(fit)
