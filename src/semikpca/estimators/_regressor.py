"""Semi-supervised kernel PCA for numbers: Problem 4 with real targets."""

from semikpca.blending import Report, ResponseSource, ValueBlend
from semikpca.estimators._decisions import logger
from semikpca.estimators._transductive_regressor import TransductiveRegressor
from semikpca.estimators._validation import check_count, check_iteration, set_kernel_tags
from semikpca.kernels import as_kernel
from semikpca.operators import Progress
from semikpca.problem import SemiKPCAProblem, fit_kernel
from semikpca.targets import TargetValues


class SemiKPCARegressor(TransductiveRegressor):
    """Semi-supervised kernel PCA for numbers: those of all rows from a few, by one convex problem.

    The label response H of Problem 4, which unlabeled rows have shaped, is fitted to the given numbers: answers are H c
    plus an intercept, the answer of Problem 4 to targets c at the labeled rows. c follows from the numbers by LS-SVM
    with H as its kernel, at several levels of noise that are weighed by left-out labels.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="rbf"
    n_components_removed : int, default=1
    error_weight : float or "middle", default="middle"
    error_weight_unit : {"relative", "absolute"}, default="relative"
        As in :class:`SemiKPCAClassifier`, all four.
    backend : {"auto", "dense", "blocked", "torch", "sparse", "low-rank"}, default="auto"
    tol : float, default=1e-6
    max_iter : int or None, default=None
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        As in :class:`SemiKPCAClassifier`. Rows are NumPy arrays, CSR matrices or objects: neither tensors nor Dask
        collections.

    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The numbers of every training row: predicted ones, also where they are given.
    transduction_std_ : ndarray of the same shape
        Standard deviations, as :meth:`predict` returns them.
    unreachable_rows_ : ndarray of int
        Rows in pieces of a neighbor graph that have no label: they get the mean of the given numbers.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Coefficients of w over the training rows.
    intercept_ : float or ndarray of shape (n_targets,)
    eigenvalues_ : ndarray of shape (k + 1,)
    error_weight_ : float
        The absolute error weight.
    certificate_ : ConvexityCertificate
    results_ : dict of arrays
        A column each for kernel, n_components_removed, error_weight, noise, left_out_error (in units of the standard
        deviation of the given numbers) and weight; an entry for each level of noise.
    weights_ : ndarray of shape (n_levels,)
    kernel_ : Kernel
        The fitted kernel.
    backend_ : str
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Predictions follow a change of unit of the targets, and a factor of the kernel changes nothing. They leave the range
    of the given numbers by half of it at most. With one label all answers are its number. Several targets share their
    weights. docs/decisions/0031 has the reasons.

    Examples
    --------
    >>> import numpy as np
    >>> from semikpca import SemiKPCARegressor
    >>> X = np.linspace(0, 1, 11)[:, np.newaxis]
    >>> y = np.full(11, np.nan)
    >>> y[[0, 5, 10]] = [0.0, 1.0, 2.0]
    >>> SemiKPCARegressor().fit(X, y).transduction_[[0, 5, 10]].round(1).tolist()
    [0.0, 1.0, 2.0]
    """

    def __init__(
        self,
        kernel="rbf",
        *,
        n_components_removed=1,
        error_weight="middle",
        error_weight_unit="relative",
        backend="auto",
        tol=1e-6,
        max_iter=None,
        random_state=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.n_components_removed = n_components_removed
        self.error_weight = error_weight
        self.error_weight_unit = error_weight_unit
        self.backend = backend
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _checked_kernels(self):
        check_count("n_components_removed", self.n_components_removed, 0)
        check_iteration(self.tol, self.max_iter)
        return [as_kernel(self.kernel)]

    def _problem(self) -> SemiKPCAProblem:
        return SemiKPCAProblem(
            int(self.n_components_removed), self.error_weight, self.error_weight_unit, self.tol, self.max_iter
        )

    def _blend(self, rows, targets: TargetValues, report: Report) -> ValueBlend:
        problem = self._problem()
        kernel, rows, self.backend_, operator = fit_kernel(
            as_kernel(self.kernel), rows, self.backend, tol=problem.matrix_tol
        )
        operator.log.progress = Progress(logger.info) if self.verbose else None
        source = ResponseSource(kernel, rows, self.backend, problem, *problem.set_up(operator))
        if self.verbose:
            logger.info("%s", source.certificate)
        return ValueBlend.of([source], targets, "ensemble", report)

    def _learn(self, blend: ValueBlend) -> None:
        (source,) = blend.sources
        assert isinstance(source, ResponseSource), "the plain regressor has no other"
        self.kernel_, self.error_weight_ = source.kernel, source.error_weight
        self.eigenvalues_ = source.facts.removed.eigenvalues
        self.dual_coef_ = blend.targets.shaped(blend.dual_coef)
        self.intercept_ = blend.targets.shaped(blend.intercept)[0]
        super()._learn(blend)

    def _around(self, blend: ValueBlend):
        model = super()._around(blend)
        model.backend_ = self.backend_
        return model

    def __sklearn_tags__(self):
        return set_kernel_tags(super().__sklearn_tags__(), self.kernel)
