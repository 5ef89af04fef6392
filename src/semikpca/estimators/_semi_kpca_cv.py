"""Semi-supervised kernel PCA that chooses and blends by itself."""

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from semikpca import labels as coding
from semikpca.blending import Blend, BlendSettings, no_report, sources_of
from semikpca.decisions import matching_sharpness
from semikpca.estimators._automatic import AutomaticChoice
from semikpca.estimators._decisions import TransductiveDecisions, logger, squeezed
from semikpca.estimators._validation import check_row_numbers, validate_rows
from semikpca.exceptions import SingleClassWarning, warn_user
from semikpca.problem import warn_unless_solved


class SemiKPCAClassifierCV(AutomaticChoice, TransductiveDecisions):
    """Labels for all rows from a few, with nothing to choose: many candidates, weighed by exact leave-one-label-out.

    A candidate is a kernel between rows (the label response of Semi-KPCA, or a plain kernel, the LS-SVM limit), fitted
    to the labels at one level of label noise, with or without an intercept. Each is judged by its left-out labels in
    closed form, and by its labeling of all rows: whether it agrees with the neighborhoods of the rows, whether the
    classes lie apart, and whether both halves of the labels lead to it. It counts accordingly.

    Parameters
    ----------
    kernels : list of Kernel, str or callable, or None, default=None
        Kernels to try. None tries those that suit the rows, see :class:`~semikpca.kernels.DefaultKernels`:

        - tables: a linear, a Laplacian (up to 2,000 dense features) and a narrow RBF kernel as they are, and Semi-KPCA
          with three neighbor graphs (5 and 7 neighbors, and 20 by the Mahalanobis distance) and two normalized RBF
          kernels (up to 5,000 rows: they need the whole matrix);
        - embeddings, whose rows have one length: a narrow RBF kernel as it is, and Semi-KPCA with graphs of 10 and 20
          neighbors, and of 20 by the centered cosine (dense rows, up to 5,000);
        - counts of words: the cosine as it is, and Semi-KPCA with graphs of 10 and 20 neighbors by the cosine.
    error_weights : list of float or "middle", or None, default=None
        Error weights to try, relative to the bound; None takes the paper's "middle".
    n_components_removed : sequence of int, default=(1,)
        Numbers of removed components to try. Both concern Semi-KPCA; plain kernels have neither.
    combine : {"ensemble", "best"}, default="ensemble"
        Whether candidates are blended by their weights, or the best one decides alone.
    class_prior : "auto", None, "labeled" or array-like of shape (n_classes,), default="auto"
        Shares that the predicted classes should have. "auto" draws three classes or more towards the shares that the
        labels make likely, as far as that does not cut through neighborhoods.
    backend : str, default="auto"
        As in :class:`SemiKPCAClassifier`.
    tol : float, default=1e-6
        Relative tolerance of iterative solves.
    max_iter : int or None, default=None
    random_state : int, RandomState or None, default=None
        For back ends that draw at random.
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    transduction_ : ndarray of shape (n_samples,)
    decision_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Probabilities, as high on the mean for the predicted classes as labels are expected to be right
        (``blend_.accuracy.expected_accuracy``).
    results_ : dict of arrays
        A column each for kernel, n_components_removed, error_weight, noise, intercept, left_out_loss,
        left_out_accuracy, agreement, separation, halves and weight; an entry a candidate.
        ``pandas.DataFrame(model.results_)`` shows it. Kernels are the fitted objects.
    weights_ : ndarray of shape (n_candidates,)
    best_params_ : dict
        The candidate with the largest weight.
    certificates_ : list of ConvexityCertificate
        One for each use of Semi-KPCA among the candidates.
    certificate_ : ConvexityCertificate or None
        That of the heaviest of them.
    blend_ : Blend
        What the answers are read off; it never changes.
    n_features_in_ : int

    Notes
    -----
    docs/decisions/0011 has the design, 0027 the weights and the trials behind their constants, 0028 the probabilities.
    What labels are expected to be right is off by about 0.1 with one or two labels a class, by 0.05 with ten.

    Examples
    --------
    >>> from semikpca import SemiKPCAClassifierCV
    >>> X = [[0.0], [0.2], [0.4], [0.5], [3.0], [3.2], [3.4], [3.6]]
    >>> SemiKPCAClassifierCV().fit(X, [0, -1, -1, -1, -1, -1, -1, 1]).transduction_.tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """

    foresees_accuracy = True

    @property
    def is_linear_in_labels(self) -> bool:
        """False: labels decide the weights of the candidates as well."""
        return False

    def __init__(
        self,
        kernels=None,
        error_weights=None,
        n_components_removed=(1,),
        combine="ensemble",
        *,
        class_prior="auto",
        backend="auto",
        tol=1e-6,
        max_iter=None,
        random_state=None,
        verbose=0,
    ):
        self.kernels = kernels
        self.error_weights = error_weights
        self.n_components_removed = n_components_removed
        self.combine = combine
        self.class_prior = class_prior
        self.backend = backend
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    # -- fit ---------------------------------------------------------------------------------------------------

    def fit(self, X, y, *, progress=None):
        """Label all rows from the rows whose label is known.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), or what the kernels take
        y : array-like of shape (n_samples,)
            Labels; unlabeled rows are marked -1 (integers), or None or NaN (strings, objects, floats).
        progress : callable, optional
            Called with "kernels" or "labels", how many of them are done, and how many there are.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        kernels = self._checked_kernels()
        rows = validate_rows(self, X, kernels[0], reset=True)
        labels = coding.encode(y)
        coding.require_label_for_each(rows, labels.codes)
        settings = BlendSettings(self.combine, self.class_prior)
        settings.prior(labels)  # refuse it now: a fit that is refused leaves an earlier one as it was
        if labels.n_classes == 1:
            warn_user(SingleClassWarning(labels.classes[0]))
        coding.warn_of_marks_in_text(labels)
        report = no_report if progress is None else progress
        sources = sources_of(kernels, rows, self.backend, self._problems(), report=report)
        blend = Blend.of(sources, labels, settings, report)
        self.X_fit_ = rows
        self.suggested_rows_ = np.empty(0, dtype=np.intp)
        self._learn(blend)
        self._warn_of_unreachable_rows()
        return self

    def _learn(self, blend: Blend) -> None:
        """Store a blend and what is read off it."""
        labels = blend.labels
        self.blend_, self.label_coding_, self.classes_ = blend, labels, labels.classes
        self.reach_, self.unreachable_rows_ = blend.reach, np.flatnonzero(blend.reach.out)
        self.class_shares_ = blend.class_shares
        self.weights_, self.results_ = blend.weights, blend.results
        self.certificates_, self.certificate_ = blend.certificates, blend.certificate
        self.best_params_ = blend.best_params
        if self.verbose and self.best_params_:
            logger.info("%d candidates; the heaviest: %s", len(blend.weights), self.best_params_)
        self.n_iter_ = 1 if blend.hardest is None else max(1, blend.hardest.n_iter)
        self._sharpness: list[float] = []
        self.decision_ = squeezed(blend.reach.hide(blend.decision))
        self.transduction_ = labels.decode(self.decision_codes(self.decision_))
        if blend.hardest is not None:
            warn_unless_solved(blend.hardest)

    # -- decisions ---------------------------------------------------------------------------------------------

    def linear_decision(self):
        """Return the decisions at all training rows, shape (n_samples, n_columns); ``decision_`` where labels reach."""
        check_is_fitted(self)
        return self.blend_.decision

    def _typical_decisions(self):
        return self.decision_[~self.reach_.out]

    def _learned_sharpness(self):
        """Return the factor with which probabilities are as high, on the mean, as labels are expected to be right."""
        if self.blend_.accuracy is None:
            return 1.0  # one class is certain, and decisions that no candidate makes are 0, whatever the factor is
        expected, n_classes = self.blend_.accuracy.expected_accuracy, self.label_coding_.n_classes
        return matching_sharpness(self._typical_decisions(), n_classes, expected)

    def left_out_decisions(self, rows, rtol=None):
        """Return decisions at labeled ``rows``, each without its own label, shape (len(rows), n_columns).

        Exact for every candidate; weights and offsets stay those of the whole fit.
        """
        check_is_fitted(self)
        return self.blend_.left_out(check_row_numbers(rows, len(self.label_coding_.codes)))

    def label_response(self, rows):
        """Return how decisions answer to a target at each of ``rows``, shape (n_samples, len(rows)).

        For each unit that the target differs from the decision; weights and offsets stay as they are.
        """
        check_is_fitted(self)
        return self.blend_.label_response(check_row_numbers(rows, len(self.label_coding_.codes)))

    def label_steps(self, rows):
        """Return ``label_response(rows)``, and how many times as much a label of each class adds there.

        The second has the shape (len(rows), n_classes). A label of a class pulls its score up and those of all others
        down until they agree with it: by 1 where nothing is known of the row, by nothing where the label is foreseen.
        """
        check_is_fitted(self)
        n_classes = self.label_coding_.n_classes
        response, foreseen = self.blend_.label_steps(check_row_numbers(rows, len(self.label_coding_.codes)))
        if n_classes == 1:
            return response, np.zeros((response.shape[1], 1))
        return response, np.maximum(1 - foreseen, 0) * n_classes / (n_classes - 1)

    def decision_function(self, X):
        """Return f(x) for new rows; on the training rows it equals ``decision_``.

        Returns
        -------
        ndarray of shape (n_rows,) for two classes, positive for ``classes_[1]``, or (n_rows, n_classes)
        """
        check_is_fitted(self)
        rows = validate_rows(self, X, self.blend_.sources[0].kernel, reset=False)
        return squeezed(self.blend_.decisions_at(rows))

    # -- other labels, other weights ---------------------------------------------------------------------------

    def _take_labels(self, labels: coding.LabelCoding) -> None:
        self._learn(self.blend_.with_labels(labels))

    def with_labels(self, y):
        """Return another model, fitted to other labels of the same rows; classes may come and go.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            All labels, as ``fit`` takes them.

        Returns
        -------
        SemiKPCAClassifierCV
            Kernels and their spectra are shared with this one, which stays as it is.
        """
        check_is_fitted(self)
        labels = coding.encode(y)
        coding.require_label_for_each(self.X_fit_, labels.codes)
        return self._around(self.blend_.with_labels(labels))

    def prepare_labels(self, rows):
        """Solve beforehand for what labels of a few rows will need: ``with_labels`` is quicker then, and says the same.

        Parameters
        ----------
        rows : array-like of int
            Training rows that are likely to get a label next.
        """
        check_is_fitted(self)
        self.blend_.prepare(check_row_numbers(rows, len(self.label_coding_.codes)))

    def without_labels(self, rows):
        """Return another model that was not given the labels of these rows; classes that have no other label go.

        Parameters
        ----------
        rows : array-like of int
            Labeled training rows; one label at least must be left.

        Returns
        -------
        SemiKPCAClassifierCV
            Kernels and their spectra are shared with this one, which stays as it is.
        """
        check_is_fitted(self)
        rows = check_row_numbers(rows, len(self.label_coding_.codes))
        return self._around(self.blend_.without_labels(rows))

    def at_error_weight(self, error_weight):
        """Return another model in which Semi-KPCA has another error weight in all candidates.

        Parameters
        ----------
        error_weight : float or "middle"
            Relative to the bound of each kernel, inside (0, 1).

        Returns
        -------
        SemiKPCAClassifierCV
            Kernels and their spectra are shared with this one, which stays as it is. Its ``error_weights`` is
            ``[error_weight]``.

        Raises
        ------
        UnboundedProblemError
            At 1 or above.
        """
        check_is_fitted(self)
        return self._around(self.blend_.at_weight(error_weight)).set_params(error_weights=[error_weight])

    def _around(self, blend: Blend):
        """Return a model of the same parameters and rows around another blend."""
        model = clone(self)
        for name in ("X_fit_", "n_features_in_", "feature_names_in_", "suggested_rows_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        model._learn(blend)
        return model
