"""Least-squares support vector machines (Problem 1), and the paper's two ways to use them."""

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from semikpca import labels as coding
from semikpca.arrays import on_host
from semikpca.estimators._response_classifier import ResponseClassifier, TransductiveClassifier
from semikpca.estimators._validation import check_flag, check_iteration, check_positive, set_kernel_tags, validate_rows
from semikpca.kernels import as_kernel
from semikpca.operators import gathered, values_at
from semikpca.problem import Expansion, Fit, LSSVMProblem, fit_kernel, warn_unless_solved


class _LSSVMParameters:
    """The parameters of Problem 1."""

    _row_stays = False  # an unlabeled row is no part of the problem
    _fitted: Fit  # of a classifier

    def __init__(
        self,
        kernel="rbf",
        *,
        error_weight=1.0,
        fit_intercept=True,
        backend="auto",
        tol=1e-6,
        max_iter=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.error_weight = error_weight
        self.fit_intercept = fit_intercept
        self.backend = backend
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _check_params(self):
        check_positive("error_weight", self.error_weight)
        check_flag("fit_intercept", self.fit_intercept)

    @property
    def residual_(self):
        """The largest residual of a column, y − b − Kα − α/γ, relative to its targets; 0 for a direct solve."""
        check_is_fitted(self)
        return float(self._fitted.solution.residual)

    def _problem(self) -> LSSVMProblem:
        return LSSVMProblem(
            float(self.error_weight), bool(self.fit_intercept), self.tol, self.max_iter, row_stays=self._row_stays
        )


class SemiLSSVMClassifier(_LSSVMParameters, TransductiveClassifier):
    """LS-SVM over labeled and unlabeled rows, with target 0 for the unlabeled ones (the paper's Semi-LSSVM).

    Parameters
    ----------
    kernel : Kernel, str or callable, default="rbf"
    error_weight : float, default=1.0
        γ of Problem 1: any positive number, always absolute; larger values follow the targets more closely.
    fit_intercept : bool, default=True
        Whether to fit the bias b. The paper's runs do without.
    backend : {"auto", "dense", "blocked", "torch", "sparse", "low-rank", "dask"}, default="auto"
    tol : float, default=1e-6
        Relative tolerance of iterative solves that work without a stored matrix.
    max_iter : int or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    classes_, transduction_, decision_, unreachable_rows_, label_distributions_, dual_coef_, alpha_, error_weight_, \
kernel_, backend_, n_iter_, n_products_ :
        As in :class:`semikpca.SemiKPCAClassifier`.
    residual_ : float
        The relative residual of the solve; a ``ConvergenceWarning`` says where it is not below ``tol``.
    intercept_ : ndarray of shape (1,) or (n_classes,)

    Examples
    --------
    >>> from semikpca import SemiLSSVMClassifier
    >>> X = [[0.0], [0.2], [0.4], [3.0], [3.2], [3.4]]
    >>> SemiLSSVMClassifier().fit(X, [0, -1, -1, -1, -1, 1]).transduction_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    _row_stays = True


class LSSVMClassifier(_LSSVMParameters, ResponseClassifier):
    """LS-SVM classifier: regression on targets ±1, one against the rest (Problem 1).

    A supervised model: every row needs a label, and -1 is a class like any other, as in scikit-learn's ``SVC``. The
    paper's Subs-LSSVM is this model on the labeled rows.

    Parameters
    ----------
    kernel, error_weight, fit_intercept, backend, tol, max_iter, verbose :
        As in :class:`semikpca.SemiLSSVMClassifier`.

    Attributes
    ----------
    classes_, decision_, dual_coef_, alpha_, intercept_, error_weight_, kernel_, backend_, n_iter_, n_products_, \
residual_ :
        As in :class:`semikpca.SemiLSSVMClassifier`.

    Examples
    --------
    >>> from semikpca import LSSVMClassifier
    >>> LSSVMClassifier().fit([[0.0], [0.2], [3.0], [3.2]], [-1, -1, 1, 1]).predict([[0.1], [2.9]]).tolist()
    [-1, 1]
    """

    learns_from_unlabeled = False

    def fit(self, X, y):
        """Fit on rows that all have a label.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), list of objects, or kernel matrix
        y : array-like of shape (n_samples,)
            A class for each row; -1 is a class too.

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _encode(self, y) -> coding.LabelCoding:
        return coding.encode_all(y)


class LSSVMRegressor(_LSSVMParameters, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """LS-SVM for regression (Problem 1): kernel ridge regression with a bias.

    Parameters
    ----------
    kernel, error_weight, fit_intercept, backend, tol, max_iter, verbose :
        As in :class:`semikpca.SemiLSSVMClassifier`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
    intercept_ : float or ndarray of shape (n_targets,)
    error_weight_ : float
    kernel_ : Kernel
    backend_ : str
    n_iter_, n_products_ : int
    residual_ : float

    Examples
    --------
    >>> from semikpca import LSSVMRegressor
    >>> model = LSSVMRegressor("linear", error_weight=1e6).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(3).tolist()
    [7.0]
    """

    _takes_lazy = True

    def fit(self, X, y):
        """Fit one model for each column of y.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), list of objects, or kernel matrix
        y : array-like of shape (n_samples,) or (n_samples, n_targets)

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        self._check_params()
        check_iteration(self.tol, self.max_iter)
        kernel = as_kernel(self.kernel)
        rows = validate_rows(self, X, kernel, reset=True)
        y = check_array(on_host(gathered(y)), ensure_2d=False, dtype=np.float64, input_name="y")
        coding.require_label_for_each(rows, y)
        kernel, rows, backend, operator = fit_kernel(kernel, rows, self.backend, tol=self.tol, many_products=True)
        targets = operator.block(y.reshape(len(y), -1))
        facts, response = self._problem().set_up(operator, targets)
        solution = response.solve(targets).on_host()
        warn_unless_solved(solution)
        self.backend_, self.kernel_, self.X_fit_ = backend, kernel, rows
        self.error_weight_ = facts.error_weight
        single = y.ndim == 1
        self.dual_coef_ = solution.dual_coef[:, 0] if single else solution.dual_coef
        self.intercept_ = solution.intercept[0] if single else solution.intercept
        self.n_iter_, self.n_products_ = solution.n_iter, operator.log.n_products
        self._residual = solution.residual
        self._expansion = Expansion(kernel, rows, self.dual_coef_)
        return self

    @property
    def residual_(self):
        """As in :class:`semikpca.SemiLSSVMClassifier`."""
        check_is_fitted(self)
        return float(self._residual)

    def predict(self, X):
        """Return f(x) for each row, shape (n_rows,) or (n_rows, n_targets); lazily for a Dask array."""
        check_is_fitted(self)
        rows = validate_rows(self, X, self.kernel_, reset=False)
        n_columns = None if self.dual_coef_.ndim == 1 else self.dual_coef_.shape[1]
        return values_at(self._expansion, rows, n_columns, self.dual_coef_.dtype) + self.intercept_

    def __sklearn_tags__(self):
        return set_kernel_tags(super().__sklearn_tags__(), self.kernel)
