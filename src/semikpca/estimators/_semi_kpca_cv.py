"""Semi-supervised kernel PCA that chooses and blends by itself."""

import warnings

import numpy as np
from sklearn.utils.validation import check_is_fitted

from semikpca import labels as coding
from semikpca.arrays import one_blas_thread
from semikpca.blending import (
    Candidate,
    Expansion,
    LabelSystem,
    NeighborAgreement,
    Source,
    cautious_offsets,
    default_sources,
    expand_sources,
    fit_candidates,
    heaviest_certificate,
    keep_columns,
    named_sources,
    neighbor_links,
    sources_at_weight,
    weigh_candidates,
)
from semikpca.decisions import Reach, joined_components, prior_offsets, resolve_prior
from semikpca.estimators._decisions import TransductiveDecisions, logger, squeezed
from semikpca.estimators._validation import (
    check_count,
    check_iteration,
    check_kernels,
    check_row_numbers,
    check_same_length,
    is_list,
    set_kernel_tags,
    validate_rows,
)
from semikpca.exceptions import SingleClassWarning
from semikpca.kernels import as_kernel
from semikpca.problem import warn_unless_solved


class SemiKPCAClassifierCV(TransductiveDecisions):
    """Labels for all rows from a few, with nothing to choose: many candidates, weighed by exact leave-one-label-out.

    A candidate is a kernel between rows (the label response of Semi-KPCA, or a plain kernel, the LS-SVM limit), fitted
    to the labels at one level of label noise, with or without an intercept. Each is judged by its left-out labels in
    closed form and by how well its labeling agrees with the neighborhoods of the rows, and counts accordingly.

    Parameters
    ----------
    kernels : list of Kernel, str or callable, or None, default=None
        Kernels to try. None tries a linear, a Laplacian and a narrow RBF kernel as they are, and Semi-KPCA with two
        normalized RBF kernels (up to 5,000 rows: they need the whole matrix) and three neighbor graphs.
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
    results_ : dict of arrays
        A column each for kernel, n_components_removed, error_weight, noise, intercept, left_out_loss,
        left_out_accuracy, agreement and weight; an entry a candidate. ``pandas.DataFrame(model.results_)`` shows it.
        Kernels are the fitted objects.
    weights_ : ndarray of shape (n_candidates,)
    best_params_ : dict
        The candidate with the largest weight.
    certificates_ : list of ConvexityCertificate
        One for each use of Semi-KPCA among the candidates.
    certificate_ : ConvexityCertificate or None
        That of the heaviest of them.
    n_features_in_ : int

    Notes
    -----
    docs/decisions/0011 has the design and the trials behind its constants.

    Examples
    --------
    >>> from semikpca import SemiKPCAClassifierCV
    >>> X = [[0.0], [0.2], [0.4], [0.5], [3.0], [3.2], [3.4], [3.6]]
    >>> SemiKPCAClassifierCV().fit(X, [0, -1, -1, -1, -1, -1, -1, 1]).transduction_.tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """

    # Whoever shows the progress of a fit sets this on the model: it is called with "kernels" or "labels", how many of
    # them are done, and how many there are. It is not kept with a model.
    report_progress = None

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

    def fit(self, X, y):
        """Label all rows from the rows whose label is known.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), or what the kernels take
        y : array-like of shape (n_samples,)
            Labels; unlabeled rows are marked -1 (integers), or None or NaN (strings, objects, floats).

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        kernels = self._checked_kernels()
        rows = validate_rows(self, X, kernels[0], reset=True)
        labels = coding.encode(y)
        check_same_length(rows, labels.codes)
        self._prior(labels)  # refuse it now: a fit that is refused leaves an earlier one as it was
        if labels.n_classes == 1:
            warnings.warn(SingleClassWarning(labels.classes[0]), stacklevel=2)
        options = {"backend": self.backend, "rtol": self.tol, "max_iter": self.max_iter, "report": self._report}
        settings = self.n_components_removed, ["middle"] if self.error_weights is None else self.error_weights
        if self.kernels is None:
            sources = default_sources(rows, *settings, **options)
        else:
            sources = named_sources(kernels, rows, *settings, **options)
        self._sources: list[Source] = sources
        self._agreement = NeighborAgreement(neighbor_links(rows, sources))
        self._components = joined_components([source.kernel.components() for source in sources])
        self.X_fit_, self.classes_ = rows, labels.classes
        self._learn(labels)
        self._warn_of_unreachable_rows(stacklevel=3)
        return self

    def _report(self, step: str, done: int, total: int) -> None:
        if self.report_progress is not None:
            self.report_progress(step, done, total)

    def __getstate__(self):
        state = super().__getstate__()
        state.pop("report_progress", None)
        return state

    def _checked_kernels(self):
        if self.combine not in ("ensemble", "best"):
            raise ValueError(f"combine must be 'ensemble' or 'best', got {self.combine!r}.")
        check_iteration(self.tol, self.max_iter)
        for name, optional in (("error_weights", True), ("n_components_removed", False)):
            values = getattr(self, name)
            if not (optional and values is None) and not is_list(values):
                raise ValueError(f"{name} must be a list of values to try, got {values!r}.")
        for count in self.n_components_removed:
            check_count("n_components_removed", count, 0)
        return [as_kernel("rbf")] if self.kernels is None else check_kernels(self.kernels)

    def _learn(self, labels: coding.LabelCoding) -> None:
        """Fit all candidates to the labels, weigh them, and store the blend."""
        n_classes, at = labels.n_classes, labels.labeled_rows
        self.label_coding_ = labels
        self.reach_ = Reach.of(self._components, labels.codes)
        self.unreachable_rows_ = np.flatnonzero(self.reach_.out)
        prior = self._prior(labels)
        self.class_shares_ = resolve_prior("labeled", labels.codes, n_classes) if prior is None else prior
        self._sharpness: list[float] = []
        keep_columns(self._sources, at, report=self._report)
        candidates = fit_candidates(self._sources, labels, self._agreement) if n_classes > 1 else []
        self._weigh(candidates, labels)
        self._blend(candidates, labels)
        with one_blas_thread():
            self._offsets = self._class_offsets(prior, labels)
        hardest = max(
            (source.hardest for source in self._sources if source.hardest), key=lambda s: s.residual, default=None
        )
        self.n_iter_ = 1 if hardest is None else max(1, hardest.n_iter)
        if hardest is not None:
            warn_unless_solved(hardest, stacklevel=4)
        self.decision_ = squeezed(self.reach_.hide(self.linear_decision()))
        self.transduction_ = labels.decode(self.decision_codes(self.decision_))

    def _weigh(self, candidates: list[Candidate], labels: coding.LabelCoding) -> None:
        self.weights_, self.results_ = weigh_candidates(candidates, labels, self.combine)
        best = int(np.argmax(self.weights_)) if candidates else None
        self.best_params_ = {} if best is None else {name: values[best] for name, values in self.results_.items()}
        self.certificates_ = [source.certificate for source in self._sources if source.certificate is not None]
        self.certificate_ = heaviest_certificate(candidates, self.weights_, self.certificates_)
        if self.verbose and best is not None:
            logger.info("%d candidates; the heaviest: %s", len(candidates), self.best_params_)

    def _blend(self, candidates: list[Candidate], labels: coding.LabelCoding) -> None:
        at, n_classes = labels.labeled_rows, labels.n_classes
        self._constant = np.zeros(n_classes)
        self._left_out = np.zeros((len(at), n_classes))
        self._settings: dict[int, list[tuple[float, bool, float]]] = {}
        sums: list[tuple[Source, np.ndarray]] = []
        for number, source in enumerate(self._sources):
            coefficients = np.zeros((len(at), n_classes))
            for candidate, weight in zip(candidates, self.weights_, strict=True):
                if candidate.source is source and weight > 0:
                    share = weight / candidate.spread
                    coefficients += share * candidate.coefficients
                    self._constant += share * candidate.shift
                    self._left_out += weight * candidate.left_out
                    self._settings.setdefault(number, []).append((candidate.noise, candidate.intercept, share))
            if number in self._settings:
                sums.append((source, coefficients))
        self._expansions: list[Expansion] = expand_sources(sums, at)
        scores = np.zeros((len(labels.codes), n_classes))
        for expansion in self._expansions:
            scores += expansion.decision
        self._scores = scores + self._constant

    def _prior(self, labels: coding.LabelCoding):
        """Return the shares that the user asks for, or None."""
        if isinstance(self.class_prior, str) and self.class_prior not in ("auto", "labeled"):
            raise ValueError(
                f"class_prior must be 'auto', None, 'labeled' or an array of shares, got {self.class_prior!r}."
            )
        asked = None if isinstance(self.class_prior, str) and self.class_prior == "auto" else self.class_prior
        return resolve_prior(asked, labels.codes, labels.n_classes)

    def _class_offsets(self, prior, labels: coding.LabelCoding):
        """Return what is added to the scores of each class."""
        reached = self._scores[~self.reach_.out]
        if labels.n_classes > 1 and prior is not None:
            return prior_offsets(reached, prior)
        if labels.n_classes > 2 and self.class_prior is not None:
            return cautious_offsets(self._scores, self.reach_.out, labels.class_counts, self._agreement)
        return np.zeros(labels.n_classes)

    # -- decisions ---------------------------------------------------------------------------------------------

    def linear_decision(self):
        """Return the decisions at all training rows, shape (n_samples, n_columns); ``decision_`` where labels reach."""
        return _as_decision(self._scores + self._offsets)

    def left_out_decisions(self, rows, rtol=None):
        """Return decisions at labeled ``rows``, each without its own label, shape (len(rows), n_columns).

        Exact for every candidate; weights and offsets stay those of the whole fit.
        """
        check_is_fitted(self)
        rows = check_row_numbers(rows, len(self.label_coding_.codes))
        place = {int(row): number for number, row in enumerate(self.label_coding_.labeled_rows)}
        unlabeled = [int(row) for row in rows if int(row) not in place]
        if unlabeled:
            raise ValueError(f"Row {unlabeled[0]} has no label that could be left out; ask for labeled rows.")
        decision = _as_decision(self._left_out[[place[int(row)] for row in rows]] + self._offsets)
        decision[self.reach_.alone(rows, self.label_coding_.codes)] = 0
        return decision

    def label_response(self, rows):
        """Return how decisions answer to a target at each of ``rows``, shape (n_samples, len(rows)).

        For each unit that the target differs from the decision; weights and offsets stay as they are.
        """
        check_is_fitted(self)
        rows = check_row_numbers(rows, len(self.label_coding_.codes))
        at = self.label_coding_.labeled_rows
        response = np.zeros((len(self.label_coding_.codes), len(rows)))
        for number, settings in self._settings.items():
            source = self._sources[number]
            known, asked = source.columns(at), source.columns(rows)
            system = LabelSystem(known[at], known.mean(axis=0, dtype=np.float64))
            for noise, intercept, share in settings:
                response += share * system.response(noise, known, asked, rows, at, intercept=intercept)
            source.keep_only(at)
        return response / 2  # targets are -1 and 1, class scores 0 and 1

    def decision_function(self, X):
        """Return f(x) for new rows; on the training rows it equals ``decision_``.

        Returns
        -------
        ndarray of shape (n_rows,) for two classes, positive for ``classes_[1]``, or (n_rows, n_classes)
        """
        check_is_fitted(self)
        kernel = self._sources[0].kernel
        rows = validate_rows(self, X, kernel, reset=False)
        n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        scores = np.zeros((n_rows, self.label_coding_.n_classes))
        for expansion in self._expansions:
            scores += expansion(rows)
        decision = _as_decision(scores + self._constant + self._offsets)
        if self.reach_.out.any():
            touched = [source.kernel.touches(rows, ~self.reach_.out) for source in self._sources]
            decision[~np.any(touched, axis=0)] = 0
        return squeezed(decision)

    def add_labels(self, rows, labels):
        """Give training rows labels, or take them away, as if the model had been fitted with them.

        Parameters
        ----------
        rows : int or array-like of int
            Row numbers of the training rows.
        labels : label or array-like
            A label for each of them, one of ``classes_``; -1, None or NaN takes a label away.

        Returns
        -------
        self
            The same model, updated: kernels and their spectra are kept, the fits to the labels are made anew.
        """
        changed = self._changed_labels(rows, labels)
        if changed is not None:
            self._learn(changed)
        return self

    def relabel(self, y):
        """Give the training rows other labels, as if the model had been fitted with them; classes may come and go.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            All labels, as ``fit`` takes them.

        Returns
        -------
        self
            The same model, updated: kernels and their spectra are kept.
        """
        check_is_fitted(self)
        labels = coding.encode(y)
        if len(labels.codes) != len(self.label_coding_.codes):
            raise ValueError(
                f"y has {len(labels.codes)} entries and the model {len(self.label_coding_.codes)} rows; relabel takes a"
                " label, or the mark of an unlabeled row, for each."
            )
        self._prior(labels)
        self.classes_ = labels.classes
        self._learn(labels)
        return self

    def change_error_weight(self, error_weight):
        """Move the error weight of Semi-KPCA in all candidates, as if the model had been fitted with it.

        Parameters
        ----------
        error_weight : float or "middle"
            Relative to the bound of each kernel, inside (0, 1).

        Returns
        -------
        self
            The same model, updated: kernels and their spectra are kept. ``error_weights`` becomes ``[error_weight]``.

        Raises
        ------
        UnboundedProblemError
            At 1 or above; the model stays as it was.
        """
        check_is_fitted(self)
        self._sources = sources_at_weight(self._sources, error_weight)
        self.error_weights = [error_weight]
        self._learn(self.label_coding_)
        return self

    def __sklearn_tags__(self):
        kernel = self.kernels[0] if is_list(self.kernels) else "rbf"
        return set_kernel_tags(super().__sklearn_tags__(), kernel)


def _as_decision(scores):
    """Return class scores as decision columns: one for two classes, positive for the second."""
    return (scores[:, 1:] - scores[:, :1]) / 2 if scores.shape[1] == 2 else scores
