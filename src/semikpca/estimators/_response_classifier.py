"""What all kernel classifiers of the package share: decisions that are linear in the labels."""

import warnings
from abc import abstractmethod
from functools import partial

import numpy as np
from sklearn.utils.validation import check_is_fitted

from semikpca import labels as coding
from semikpca.arrays import is_tensor
from semikpca.decisions import Reach, prior_offsets, resolve_prior
from semikpca.estimators._decisions import DecisionClassifier, logger, squeezed
from semikpca.estimators._lazy import values_at
from semikpca.estimators._validation import (
    check_iteration,
    check_row_numbers,
    check_same_length,
    labels_on_client,
    set_kernel_tags,
    validate_rows,
)
from semikpca.exceptions import SingleClassWarning
from semikpca.kernels import as_kernel
from semikpca.operators import KernelOperator, Progress
from semikpca.problem import (
    DualSolution,
    Expansion,
    LabelResponse,
    fit_kernel,
    goes_by_features_on_cluster,
    kernel_matrix,
    warn_unless_solved,
)

# A stored matrix makes products cheap, so digits are worth more than the few steps they cost.
STORED_MATRIX_RTOL = 1e-12


class ResponseClassifier(DecisionClassifier):
    """A classifier whose decisions are H y: H from the rows, y from the labels.

    A subclass says how H comes from a kernel operator, how labels are read, and what becomes of a decision when its
    own label is left out. Fitting, prediction on new rows and probabilities are the same for all.
    """

    _takes_tensors = True
    _takes_dask = True
    _cluster_fit = None  # what was learned of rows that stay on a cluster, where a kernel has features

    # -- what a subclass provides ------------------------------------------------------------------------------

    @abstractmethod
    def _check_params(self) -> None:
        """Check the parameters that only this class has."""

    @abstractmethod
    def _set_up(self, operator: KernelOperator, targets) -> LabelResponse:
        """Return H for the training rows, and store what was learned of the kernel matrix.

        ``targets`` are those of the first solve; H does not depend on them, but the search for it may begin with them.
        """

    @abstractmethod
    def _restore(self, operator: KernelOperator) -> LabelResponse:
        """Return H again, from what ``_set_up`` stored."""

    @abstractmethod
    def _encode(self, y) -> coding.LabelCoding:
        """Return the classes and class numbers of y."""

    @abstractmethod
    def _leave_own_label_out(self, rows, own_alpha, targets):
        """Return decisions at labeled ``rows`` without their own labels, from ``LabelResponse.own_alpha``."""

    # -- fit ---------------------------------------------------------------------------------------------------

    def _fit(self, X, y):
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        before = vars(self).copy()
        try:
            self._fit_anew(X, y)
        except BaseException:
            # A fit that is refused or interrupted leaves an earlier one as it was.
            self.__dict__ = before
            raise
        self._warn_of_unreachable_rows(stacklevel=4)
        return self

    def _fit_anew(self, X, y):
        self._check_params()
        check_iteration(self.tol, self.max_iter)
        kernel = as_kernel(self.kernel)
        rows = validate_rows(self, X, kernel, reset=True)
        self._cluster_fit = None
        if goes_by_features_on_cluster(kernel, rows, self.backend):
            return self._fit_by_features(kernel, rows, y)
        labels = self._encode(labels_on_client(y))
        check_same_length(rows, labels.codes)
        if labels.n_classes == 1:
            warnings.warn(SingleClassWarning(labels.classes[0]), stacklevel=4)
        self._device = rows.device if is_tensor(rows) else None
        self.kernel_, self.X_fit_, self.backend_, operator = fit_kernel(
            kernel, rows, self.backend, **self._matrix_options()
        )
        if self.verbose:
            operator.log.progress = Progress(logger.info)
        targets = operator.block(coding.signed_targets(labels.codes, labels.n_classes))
        self._response = self._set_up(operator, targets)
        self.classes_ = labels.classes
        self._components = self.kernel_.components()
        with operator.between_products():
            self._learn(labels, self._solve(targets))

    def _fit_by_features(self, kernel, rows, y):
        """Fit on rows of a cluster by a summary of their features; a subclass for which that does says how."""
        raise ValueError(
            f"{type(self).__name__} learns from labeled rows only, and with {kernel!r} on a cluster labeled rows are "
            "taken to be few. Fit it on the client with the labeled rows, X[rows].compute()."
        )

    def _solve(self, targets) -> DualSolution:
        solution = self._response.solve(targets).on_host()
        warn_unless_solved(solution, stacklevel=6)
        if self.verbose:
            logger.info("solved in %d steps, relative residual %.1e", solution.n_iter, solution.residual)
        return solution

    def _learn(self, labels: coding.LabelCoding, solution: DualSolution) -> None:
        """Store the solution and everything that is read off it."""
        self.label_coding_ = labels
        self._solution = solution
        self._expansion = Expansion(self.kernel_, self.X_fit_, solution.dual_coef)
        self.alpha_ = self._handed_out(squeezed(solution.alpha))
        self.dual_coef_ = self._handed_out(squeezed(solution.dual_coef))
        self.intercept_ = solution.intercept
        self.n_iter_ = solution.n_iter
        self.n_products_ = self._set_up_again().operator.log.n_products
        self.reach_ = Reach.of(self._components, labels.codes)
        self.unreachable_rows_ = np.flatnonzero(self.reach_.out)
        self._learn_shares(labels.codes, solution.decision[~self.reach_.out])
        self.decision_ = self._handed_out(squeezed(self.reach_.hide(self.linear_decision())))
        # Learned when it is first asked for, in a list: to predict must not change the attributes of a model.
        self._sharpness: list[float] = []

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

    def linear_decision(self):
        """Return H @ targets plus class offsets at all training rows, shape (n_samples, n_columns).

        Linear in the labels, and ``decision_`` but for the rows out of reach, where that is 0.
        """
        self._require_local_problem()
        return self._solution.decision + self.class_offsets_

    def label_response(self, rows):
        """Return the columns of H at ``rows``, shape (n_samples, len(rows)): how decisions answer to a target there.

        Decisions are H @ targets (plus class offsets), so this is what a unit of label at each row would add.
        """
        response = self._set_up_again()
        with response.operator.between_products():
            return response.columns(check_row_numbers(rows, response.operator.n)).on_host().decision

    def left_out_decisions(self, rows, rtol=None):
        """Return decisions at labeled ``rows``, each without its own label, shape (len(rows), n_columns).

        0 where the row's own label is the only one that reaches it.
        """
        check_is_fitted(self)
        labels = self.label_coding_
        rows = check_row_numbers(rows, len(labels.codes))
        if self._cluster_fit is not None:
            return self._cluster_fit.left_out_decisions(rows, rtol) + self.class_offsets_
        solution = self._solution
        targets = coding.signed_targets(labels.codes, labels.n_classes, solution.decision.dtype)[rows]
        response = self._set_up_again()
        with response.operator.between_products():
            own_alpha = response.own_alpha(rows, rtol)
        decision = self._leave_own_label_out(rows, own_alpha, targets) + self.class_offsets_
        decision[self.reach_.alone(rows, labels.codes)] = 0
        return decision

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
        decision = values_at(self._expansion, rows, len(offsets), offsets.dtype) + self.intercept_ + offsets
        if self.reach_.out.any():
            touched = values_at(partial(self.kernel_.touches, marked=~self.reach_.out), rows, None, bool)
            decision = np.where(touched[:, np.newaxis].astype(bool), decision, 0)
        return self._handed_out(squeezed(decision))

    def _matrix_options(self):
        return {"tol": self.tol}

    def _set_up_again(self) -> LabelResponse:
        """Return H, set up again where the model was loaded without it."""
        self._require_local_problem()
        if getattr(self, "_response", None) is None:
            check_is_fitted(self)
            options = self._matrix_options()
            self._response = self._restore(kernel_matrix(self.kernel_, self.X_fit_, self.backend, **options)[1])
        return self._response

    def _require_local_problem(self) -> None:
        """Refuse what takes numbers for every training row, where these are on a cluster and go by features."""
        if self._cluster_fit is not None:
            raise NotImplementedError(
                f"This takes numbers for every one of {len(self.label_coding_.codes):,} training rows, which stay on "
                f"the cluster with {self.kernel_!r}. For the labeled rows alone ask model.small_model_, the same "
                "problem on the client; for suggestions fit a sample of the rows there."
            )

    # -- scikit-learn ------------------------------------------------------------------------------------------

    def __getstate__(self):
        """Leave the kernel matrix and its factor behind: n² numbers that come back from the rows when needed."""
        state = super().__getstate__()
        state.pop("_response", None)
        return state

    def __sklearn_tags__(self):
        return set_kernel_tags(super().__sklearn_tags__(), self.kernel)
