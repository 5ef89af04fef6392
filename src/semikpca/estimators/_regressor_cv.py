"""Numbers for all rows from a few, with nothing to choose."""

from semikpca.blending import Report, ValueBlend, no_report, sources_of
from semikpca.estimators._automatic import AutomaticChoice
from semikpca.estimators._decisions import logger
from semikpca.estimators._transductive_regressor import TransductiveRegressor
from semikpca.targets import TargetValues


class SemiKPCARegressorCV(AutomaticChoice, TransductiveRegressor):
    """Numbers for all rows from a few, with nothing to choose: many candidates, weighed by exact leave-one-label-out.

    A candidate is a kernel between rows (the label response of Semi-KPCA, or a plain kernel, the LS-SVM limit), fitted
    to the given numbers with an intercept at one level of noise. Each is judged by its errors at left-out labels, in
    closed form; weights are those with which the sum of all misses left-out labels least (stacking), with a pull
    towards what each has earned alone.

    Parameters
    ----------
    kernels : list of Kernel, str or callable, or None, default=None
        Kernels to try. None tries those that suit the rows, as :class:`SemiKPCAClassifierCV` does.
    error_weights : list of float or "middle", or None, default=None
        Error weights to try, relative to the bound; None takes the paper's "middle".
    n_components_removed : sequence of int, default=(1,)
        Numbers of removed components to try. Both concern Semi-KPCA; plain kernels have neither.
    combine : {"ensemble", "best"}, default="ensemble"
        Whether candidates are blended by their weights, or the best one decides alone.
    backend : str, default="auto"
        As in :class:`SemiKPCAClassifier`.
    tol : float, default=1e-6
    max_iter : int or None, default=None
    random_state : int, RandomState or None, default=None
        For back ends that draw at random.
    verbose : int, default=0

    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The numbers of every training row: predicted ones, also where they are given.
    transduction_std_ : ndarray of the same shape
        Standard deviations, as :meth:`predict` returns them.
    unreachable_rows_ : ndarray of int
        Rows that no label reaches by any kernel: they get the mean of the given numbers.
    results_ : dict of arrays
        A column each for kernel, n_components_removed, error_weight, noise, left_out_error (in units of the standard
        deviation of the given numbers) and weight; an entry a candidate.
    weights_ : ndarray of shape (n_candidates,)
    best_params_ : dict
        The candidate with the largest weight.
    certificates_ : list of ConvexityCertificate
        One for each use of Semi-KPCA among the candidates.
    certificate_ : ConvexityCertificate or None
        That of the heaviest of them.
    blend_ : ValueBlend
        What the answers are read off; it never changes.
    n_features_in_ : int

    Notes
    -----
    What each kernel says leaves the range of the given numbers by half of it at most: rows at the edge of a graph get
    answers far outside, which must not be averaged in. docs/decisions/0031 has the design and the trials.

    Examples
    --------
    >>> import numpy as np
    >>> from semikpca import SemiKPCARegressorCV
    >>> angles = np.linspace(0, 3, 40)
    >>> X = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> y = np.full(40, np.nan)
    >>> y[::6] = angles[::6]
    >>> model = SemiKPCARegressorCV().fit(X, y)
    >>> bool(np.abs(model.transduction_ - angles).max() < 0.2)
    True
    """

    def __init__(
        self,
        kernels=None,
        error_weights=None,
        n_components_removed=(1,),
        combine="ensemble",
        *,
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
        self.backend = backend
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, *, progress=None):
        """Fill in the numbers of all rows from the rows whose numbers are known.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), or what the kernels take
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Numbers; NaN (or None) marks unlabeled rows, in all columns of a row or in none. -1 is a number.
        progress : callable, optional
            Called with "kernels" or "labels", how many of them are done, and how many there are.

        Returns
        -------
        self
        """
        return self._fit(X, y, no_report if progress is None else progress)

    def _blend(self, rows, targets: TargetValues, report: Report) -> ValueBlend:
        sources = sources_of(self._checked_kernels(), rows, self.backend, self._problems(), report=report)
        return ValueBlend.of(sources, targets, self.combine, report)

    def _learn(self, blend: ValueBlend) -> None:
        self.best_params_ = blend.best_params
        if self.verbose and self.best_params_:
            logger.info("%d candidates; the heaviest: %s", len(blend.weights), self.best_params_)
        super()._learn(blend)

    def at_error_weight(self, error_weight):
        """Return another model in which Semi-KPCA has another error weight in all candidates.

        As :meth:`SemiKPCAClassifierCV.at_error_weight`: relative to the bound of each kernel, kernels and spectra are
        shared, and its ``error_weights`` is ``[error_weight]``.
        """
        blend = self.blend_.at_weight(error_weight)
        return self._around(blend).set_params(error_weights=[error_weight])
