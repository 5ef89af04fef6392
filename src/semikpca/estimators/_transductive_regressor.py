"""What both regressors share: from a fitted blend to numbers, how sure they are, and other labels."""

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from semikpca.blending import Report, ValueBlend, no_report
from semikpca.estimators._suggested import RemembersSuggestions, warn_of_unreachable_rows
from semikpca.estimators._validation import check_row_numbers, validate_rows, weights_of_labeled
from semikpca.exceptions import UnreachableValuesWarning
from semikpca.labels import require_label_for_each
from semikpca.problem import warn_unless_solved
from semikpca.targets import TargetValues, as_numbers, encode_values, require_whole_rows


class TransductiveRegressor(RemembersSuggestions, MultiOutputMixin, RegressorMixin, BaseEstimator, metaclass=ABCMeta):
    """A regressor that fills in the numbers of the rows that it was fitted on."""

    blend_: ValueBlend
    targets_: TargetValues

    # -- what a subclass provides ------------------------------------------------------------------------------

    @abstractmethod
    def _blend(self, rows, targets: TargetValues, report: Report) -> ValueBlend:
        """Return what the parameters ask for, fitted to validated rows and targets."""

    @abstractmethod
    def _checked_kernels(self):
        """Check the parameters, and return the kernels to try."""

    # -- fit ---------------------------------------------------------------------------------------------------

    def fit(self, X, y):
        """Fill in the numbers of all rows from the rows whose numbers are known.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), list of objects, or kernel matrix
            All rows, labeled and unlabeled, as the kernel takes them.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Numbers; NaN (or None) marks unlabeled rows, in all columns of a row or in none. -1 is a number.

        Returns
        -------
        self
        """
        return self._fit(X, y, no_report)

    def _fit(self, X, y, report: Report):
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        before = vars(self).copy()
        try:
            kernels = self._checked_kernels()
            rows = validate_rows(self, X, kernels[0], reset=True)
            targets = encode_values(y)
            require_label_for_each(rows, targets.values)
            self.suggested_rows_ = np.empty(0, dtype=np.intp)
            self._learn(self._blend(rows, targets, report))
        except BaseException:
            # A fit that is refused or interrupted leaves an earlier one as it was.
            self.__dict__ = before
            raise
        if self.blend_.hardest is not None:
            warn_unless_solved(self.blend_.hardest)
        warn_of_unreachable_rows(self.blend_.reach, UnreachableValuesWarning)
        return self

    def _learn(self, blend: ValueBlend) -> None:
        """Store a blend and what is read off it."""
        self.blend_, self.targets_, self.X_fit_ = blend, blend.targets, blend.sources[0].rows
        self.reach_, self.unreachable_rows_ = blend.reach, np.flatnonzero(blend.reach.out)
        self.weights_, self.results_ = blend.weights, blend.results
        self.certificates_, self.certificate_ = blend.certificates, blend.certificate
        self.n_iter_ = 1 if blend.hardest is None else max(1, blend.hardest.n_iter)
        # Learned when it is first asked for, in a list: to predict must not change the attributes of a model.
        self._deviation_factor: list[float] = []
        self.transduction_ = blend.targets.shaped(blend.values)

    def fit_predict(self, X, y):
        """Fit and return ``transduction_``, the numbers of every row."""
        return self.fit(X, y).transduction_

    # -- answers -----------------------------------------------------------------------------------------------

    def predict(self, X, return_std=False):
        """Return the numbers of each row; on the training rows they equal ``transduction_``.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features), or what the kernel takes
        return_std : bool, default=False
            Whether to return standard deviations as well. A variance is the mean squared error at left-out labels plus
            three times the disagreement of the kernels, by a factor with which it is on the mean as large as the
            squared errors at labels that models were not given (20 of them, or one for each label).

        Returns
        -------
        values : ndarray of shape (n_rows,) or (n_rows, n_targets)
        std : ndarray of the same shape
            Only with ``return_std``; NaN where one label is all there is.
        """
        check_is_fitted(self)
        rows = validate_rows(self, X, self.blend_.sources[0].kernel, reset=False)
        if not return_std:
            return self.targets_.shaped(self.blend_.values_at(rows))
        values, deviations = self.blend_.deviations(self.deviation_factor_, rows)
        return self.targets_.shaped(values), self.targets_.shaped(deviations)

    @property
    def deviation_factor_(self):
        """Factor that makes variances as large as squared errors at held-out labels, found when first asked for."""
        check_is_fitted(self)
        if not self._deviation_factor:
            self._deviation_factor.append(self.blend_.deviation_factor())
        return self._deviation_factor[0]

    @property
    def transduction_std_(self):
        """Standard deviations of ``transduction_``, as ``predict`` gives them."""
        return self.targets_.shaped(self.blend_.deviations(self.deviation_factor_)[1])

    def left_out_values(self, rows):
        """Return the answers at labeled ``rows``, each without its own label, shape (len(rows), n_targets).

        Exact for every candidate; their weights stay those of the whole fit. NaN where there is no other label.
        """
        check_is_fitted(self)
        return self.blend_.left_out(check_row_numbers(rows, len(self.targets_.values)))

    def score(self, X, y, sample_weight=None):
        """Return R² over the rows of ``y`` that are labeled."""
        check_is_fitted(self)
        truth = as_numbers(y)
        predicted = self.predict(X)
        require_label_for_each(predicted, truth)
        table = truth.reshape(len(truth), -1)
        require_whole_rows(table)
        labeled = ~np.isnan(table[:, 0])
        if not labeled.any():
            raise ValueError(f"No label is given: all {len(truth)} rows of y are unlabeled (NaN).")
        sample_weight = weights_of_labeled(sample_weight, labeled)
        return r2_score(table[labeled], predicted.reshape(len(truth), -1)[labeled], sample_weight=sample_weight)

    # -- other labels, other weights ---------------------------------------------------------------------------

    @property
    def labeled_rows_(self):
        """Row numbers of the labeled training rows, ascending."""
        check_is_fitted(self)
        return self.targets_.labeled_rows

    @property
    def unlabeled_rows_(self):
        """Row numbers of all other training rows, ascending."""
        check_is_fitted(self)
        return np.flatnonzero(~self.targets_.is_labeled)

    def add_labels(self, rows, values):
        """Give training rows numbers, or take them away, as if the model had been fitted with them; no new kernel.

        Parameters
        ----------
        rows : int or array-like of int
            Row numbers of the training rows.
        values : float or array-like of shape (n_rows,) or (n_rows, n_targets)
            The numbers of each of them; NaN takes them away.

        Returns
        -------
        self
            The same model, updated: the kernels and what was learned of them are kept.
        """
        check_is_fitted(self)
        if np.ndim(rows) == 0:
            values = [values]
        rows = check_row_numbers(rows, len(self.targets_.values))
        new = as_numbers(values)
        if not len(rows) and not new.size:
            return self
        n_targets = self.targets_.n_targets
        if new.shape not in ((len(rows), n_targets), (len(rows),) if n_targets == 1 else None):
            raise ValueError(
                f"values must have shape ({len(rows)}, {n_targets}), the numbers of each of {len(rows)} rows; got "
                f"{new.shape}."
            )
        new = new.reshape(len(rows), n_targets)
        require_whole_rows(new)
        self._learn(self.blend_.with_labels(self.targets_.changed(rows, new)))
        return self

    def with_labels(self, y):
        """Return another model, fitted to other numbers of the same rows, as ``fit`` takes them.

        Kernels and their spectra are shared with this one, which stays as it is.
        """
        check_is_fitted(self)
        targets = encode_values(y)
        require_label_for_each(self.X_fit_, targets.values)
        return self._around(self.blend_.with_labels(targets))

    def without_labels(self, rows):
        """Return another model that was not given the numbers of these rows; one label at least must be left.

        Kernels and their spectra are shared with this one, which stays as it is.
        """
        check_is_fitted(self)
        rows = check_row_numbers(rows, len(self.targets_.values))
        return self._around(self.blend_.with_labels(self.targets_.without(rows)))

    def _around(self, blend: ValueBlend):
        """Return a model of the same parameters and rows around another blend."""
        model = clone(self)
        for name in ("n_features_in_", "feature_names_in_", "suggested_rows_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        model._learn(blend)
        return model

    # -- scikit-learn ------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self):
        """Answers come last: a first fit that was refused leaves none."""
        return hasattr(self, "transduction_")

    def __getstate__(self):
        """Learn the factor of deviations first: a loaded model then gives them without its kernel matrices."""
        if getattr(self, "_deviation_factor", None) == []:
            _ = self.deviation_factor_
        return super().__getstate__().copy()
