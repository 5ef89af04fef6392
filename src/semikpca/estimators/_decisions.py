"""What all classifiers of the package share: from decisions to labels and probabilities."""

import logging
from abc import ABCMeta, abstractmethod
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from semikpca import labels as coding
from semikpca.arrays import on_device, on_host, to_numpy
from semikpca.decisions import Reach, decided_codes, decided_probabilities, learn_sharpness, rows_to_leave_out
from semikpca.estimators._suggested import RemembersSuggestions, warn_of_unreachable_rows
from semikpca.estimators._validation import check_row_numbers, weights_of_labeled
from semikpca.exceptions import UnreachableRowsWarning
from semikpca.operators import gathered, map_rows

logger = logging.getLogger("semikpca")

# One temperature is learned from left-out decisions, whose error is the square of this: see LabelResponse.own_alpha.
TEMPERATURE_RTOL = 1e-6


class DecisionClassifier(RemembersSuggestions, ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A classifier with decisions at its training rows, also at each labeled row without its own label.

    A subclass fits; what is read off its decisions is the same for all.
    """

    # Whether probabilities are as high as labels are expected to be right, whatever the labels.
    foresees_accuracy = False
    learns_from_unlabeled = True  # a row without its label stays, or else it is gone
    class_prior = None  # a subclass may have a parameter of this name
    _device = None  # where answers go as tensors, if the rows came as tensors

    label_coding_: coding.LabelCoding
    reach_: Reach

    @property
    def is_linear_in_labels(self) -> bool:
        """Whether decisions are a sum over the labels: not where labels decide weights as well, or errors theirs."""
        return True

    @property
    def has_label_response(self) -> bool:
        """Whether ``label_response`` says what a further label adds to the decisions; if not, it takes another fit."""
        return True

    @property
    def labeled_rows_(self):
        """Row numbers of the labeled training rows, ascending."""
        check_is_fitted(self)
        return self.label_coding_.labeled_rows

    @property
    def unlabeled_rows_(self):
        """Row numbers of all other training rows, ascending."""
        check_is_fitted(self)
        return np.flatnonzero(self.label_coding_.codes == coding.UNLABELED)

    # -- what a subclass provides ------------------------------------------------------------------------------

    @abstractmethod
    def decision_function(self, X):
        """Return the decisions of new rows."""

    @abstractmethod
    def linear_decision(self):
        """Return the decisions at all training rows before those out of reach are set to 0."""

    @abstractmethod
    def label_response(self, rows):
        """Return how the decisions answer to a target at ``rows``, shape (n_samples, len(rows))."""

    def label_steps(self, rows):
        """Return ``label_response(rows)``, and how many times as much a label of each class adds there.

        The second has the shape (len(rows), n_classes): 1 where decisions are a sum over the labels. Where they are
        not, a label that was foreseen adds next to nothing, and one that contradicts adds more.
        """
        return self.label_response(rows), np.ones((len(rows), self.label_coding_.n_classes))

    @abstractmethod
    def left_out_decisions(self, rows, rtol=None):
        """Return decisions at labeled ``rows``, each without its own label, shape (len(rows), n_columns)."""

    def __sklearn_is_fitted__(self):
        """Decisions come last: a first fit that was refused leaves none."""
        return hasattr(self, "decision_")

    # -- labels and probabilities ------------------------------------------------------------------------------

    @property
    def sharpness_(self):
        """Factor that turns class scores into log-probabilities, learned when it is first asked for."""
        check_is_fitted(self)
        if not self._sharpness:
            self._sharpness.append(self._learned_sharpness())
        return self._sharpness[0]

    def _learned_sharpness(self):
        """Return the factor under which labels that are left out are likeliest."""
        labels = self.label_coding_
        rows = rows_to_leave_out(labels.labeled_rows)
        left_out = self.left_out_decisions(rows, rtol=TEMPERATURE_RTOL)
        return learn_sharpness(left_out, labels.codes[rows], labels.n_classes, self._typical_decisions())

    @abstractmethod
    def _typical_decisions(self):
        """Return decisions by which their spread is known: of rows that a label reaches."""

    def left_out_codes(self, rows, decision):
        """Return the class numbers that belong to the decisions of labeled ``rows`` without their own labels."""
        labels = self.label_coding_
        codes = self.decision_codes(decision)
        alone = self.reach_.alone(rows, labels.codes)
        if alone.any() and (self.class_prior is None or isinstance(self.class_prior, str)):
            # The shares are those of the other labels.
            counts = np.bincount(labels.codes[labels.labeled_rows], minlength=labels.n_classes)
            codes[alone] = (counts - np.eye(labels.n_classes)[labels.codes[rows[alone]]]).argmax(axis=1)
        return codes

    def predict(self, X):
        """Return the label of each row."""
        return self._handed_out(self.labels_of(self.decision_function(X)))

    def labels_of(self, decision):
        """Return the labels that belong to decision values, shape (n_rows,); lazily for a Dask array."""
        check_is_fitted(self)
        return map_rows(
            partial(_labels, self.classes_, self.class_shares_), on_host(decision), None, self.classes_.dtype
        )

    def decision_codes(self, decision):
        """Return the class numbers that belong to decision values, shape (n_rows,); lazily for a Dask array.

        A decision of exactly 0 says nothing, and gets the class of the largest share.
        """
        check_is_fitted(self)
        return map_rows(partial(decided_codes, self.class_shares_), on_host(decision), None, np.intp)

    def predict_proba(self, X):
        """Return the probability of each class, shape (n_rows, n_classes), in the order of ``classes_``.

        One factor, ``sharpness_``, turns decisions into probabilities. It is learned from decisions at labeled rows
        without their own labels, and with few labels it stays cautious. :class:`SemiKPCAClassifierCV` chooses it so
        that probabilities are as high, on the mean, as its labels are expected to be right.
        """
        return self._handed_out(self.decision_probabilities(self.decision_function(X)))

    def decision_probabilities(self, decision, sharpness=None):
        """Return the class probabilities that belong to decision values, shape (n_rows, n_classes).

        ``sharpness`` takes the place of ``sharpness_`` where probabilities of another confidence are asked for. A
        decision of exactly 0 says nothing: rows that no label reaches have it. Its probabilities are the shares of the
        classes, given by ``class_prior`` or counted among the labels.
        """
        check_is_fitted(self)
        sharpness = self.sharpness_ if sharpness is None else sharpness
        chances = partial(decided_probabilities, self.class_shares_, sharpness)
        return map_rows(chances, on_host(decision), self.label_coding_.n_classes, decision.dtype)

    def _handed_out(self, values):
        """Return numbers as the rows came: as tensors on their device, or as they are."""
        return on_device(values, self._device)

    def _warn_of_unreachable_rows(self) -> None:
        warn_of_unreachable_rows(self.reach_, UnreachableRowsWarning)

    def __getstate__(self):
        """Learn the sharpness first: a loaded model then gives probabilities without its kernel matrix."""
        if getattr(self, "_sharpness", None) == []:
            _ = self.sharpness_
        return super().__getstate__().copy()


class TransductiveDecisions(DecisionClassifier):
    """A classifier that labels the rows that it was fitted on."""

    @abstractmethod
    def fit(self, X, y):
        """Label all rows from the rows whose label is known."""

    @property
    def label_distributions_(self):
        """Probabilities of the training rows, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        return self._handed_out(self.decision_probabilities(self.decision_))

    def fit_predict(self, X, y):
        """Fit and return ``transduction_``, the label of every row."""
        return self.fit(X, y).transduction_

    def score(self, X, y, sample_weight=None):
        """Return the accuracy over the rows of ``y`` that are labeled."""
        check_is_fitted(self)
        truth, labeled = coding.labeled_values(on_host(gathered(y)), self.classes_)
        predicted = to_numpy(self.predict(X))
        coding.require_label_for_each(predicted, truth)
        is_labeled = np.isin(np.arange(len(truth)), labeled)
        sample_weight = weights_of_labeled(sample_weight, is_labeled)
        return accuracy_score(truth[labeled], predicted[labeled], sample_weight=sample_weight)

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
            The same model, updated: the kernels and what was learned of them are kept.
        """
        changed = self._changed_labels(rows, labels)
        if changed is not None:
            self._take_labels(changed)
        return self

    @abstractmethod
    def _take_labels(self, labels: coding.LabelCoding) -> None:
        """Learn from other labels of the same classes."""

    def _changed_labels(self, rows, labels) -> coding.LabelCoding | None:
        """Return the labels after a change, as ``add_labels`` takes it; None where nothing is to change."""
        check_is_fitted(self)
        if np.ndim(rows) == 0:
            labels = [labels]
        rows = check_row_numbers(rows, len(self.label_coding_.codes))
        if not len(rows) and not len(labels):
            return None
        new_codes = self.label_coding_.encode(labels)
        if len(new_codes) != len(rows):
            raise ValueError(f"{len(rows)} rows and {len(new_codes)} labels were given; each row needs one label.")
        changed = self.label_coding_.changed(rows, new_codes)
        gone = self.classes_[changed.class_counts == 0]
        if len(gone):
            raise ValueError(
                f"The change would leave class {gone[0]!r} without a label. Keep one label of each class, or fit "
                "again without it."
            )
        return changed


def _labels(classes, class_shares, decision):
    return classes[decided_codes(class_shares, decision)]


def squeezed(columns):
    """Return a single column as a vector, several as they are."""
    return columns[:, 0] if columns.shape[1] == 1 else columns
