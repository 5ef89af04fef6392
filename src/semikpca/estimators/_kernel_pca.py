"""Kernel PCA as a convex problem (Problems 2 and 3, Theorem 1)."""

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.extmath import svd_flip
from sklearn.utils.validation import check_array, check_is_fitted

from semikpca.arrays import is_remote, to_numpy
from semikpca.convexity import ConvexityCertificate, Regime
from semikpca.estimators._lssvm import LSSVMRegressor
from semikpca.estimators._validation import check_count, check_flag, check_positive, set_kernel_tags, validate_rows
from semikpca.exceptions import KernelRankError
from semikpca.kernels import as_kernel
from semikpca.losses import as_loss
from semikpca.operators import CenteredOperator, KernelOperator, make_operator, values_at
from semikpca.problem import Expansion, fit_kernel, kernel_pca_objective
from semikpca.spectrum import Spectrum, full_spectrum, leading_spectrum


class ConvexKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel PCA, with the convexity statement of Theorem 1 for every component.

    Each component k + 1 is the solution of a convex problem (Problem 3) at the error weight 1/λ(k+1), once the first k
    components are removed; below that weight only w = 0 solves it, above it nothing does.

    Parameters
    ----------
    n_components : int or None, default=2
        Components to keep; None keeps all whose eigenvalue is not zero.
    kernel : Kernel, str or callable, default="rbf"
    center : bool, default=False
        Whether to center the rows in feature space. The paper does not; with True the projections are those of
        ``sklearn.decomposition.KernelPCA`` up to sign.
    inverse_error_weight : float, default=1.0
        The error weight (Problem 1) of the regression from projections back to rows in ``inverse_transform``.
    loss : Loss or None, default=None
        ρ of the error term, in ``regime``, ``certificate`` and ``objective``; None is the paper's, the square. The
        components do not depend on it: they are where Problem 3 stops being convex, the same for every loss.
    backend : {"auto", "dense", "blocked", "torch", "sparse", "low-rank", "dask"}, default="auto"
        Where and how the kernel matrix is made; it changes only the cost. As in :class:`SemiKPCAClassifier`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Unit length; the entry of largest size in each is positive.
    kernel_ : Kernel
    backend_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from semikpca import ConvexKernelPCA
    >>> model = ConvexKernelPCA(n_components=1, kernel="linear").fit([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> model.eigenvalues_.round(6).tolist()
    [5.0]
    >>> model.regime(0.1, k=0), model.regime(0.2, k=0), model.regime(0.3, k=0)
    (<Regime.TRIVIAL: 'trivial'>, <Regime.SUBSPACE: 'subspace'>, <Regime.UNBOUNDED: 'unbounded'>)
    >>> from semikpca.losses import PseudoHuber
    >>> model.set_params(loss=PseudoHuber()).regime(0.3, k=0)
    <Regime.BOUNDED: 'bounded'>
    """

    _takes_lazy = True

    def __init__(
        self, n_components=2, kernel="rbf", *, center=False, inverse_error_weight=1.0, loss=None, backend="auto"
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.center = center
        self.inverse_error_weight = inverse_error_weight
        self.loss = loss
        self.backend = backend

    def fit(self, X, y=None):
        """Compute the leading components of the rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), list of objects, or kernel matrix
        y : ignored

        Returns
        -------
        self
        """
        if self.n_components is not None:
            check_count("n_components", self.n_components, 1)
        check_flag("center", self.center)
        check_positive("inverse_error_weight", self.inverse_error_weight)
        as_loss(self.loss)
        kernel = as_kernel(self.kernel)
        rows = validate_rows(self, X, kernel, reset=True)
        kernel, rows, backend, operator = fit_kernel(kernel, rows, self.backend, tol=0.0)
        if self.n_components is not None and self.n_components > operator.n:
            raise ValueError(
                f"n_components={self.n_components} is more than the {operator.n} rows have. Lower it, or use None to "
                "keep all."
            )
        centered = CenteredOperator(operator) if self.center else None
        operator = operator if centered is None else centered
        whole = self.n_components is None
        spectrum = (full_spectrum(operator) if whole else leading_spectrum(operator, self.n_components)).on_host()
        if spectrum.rank == 0:
            raise ValueError(
                f"The kernel matrix of these {operator.n} rows has rank 0: no component is left. Are all rows equal?"
            )
        self.backend_, self.kernel_, self.X_fit_ = backend, kernel, rows
        self._operator, self._spectrum, self._inverse = operator, spectrum, None
        if centered is not None:
            self.row_means_ = to_numpy(centered.row_means())
        kept = spectrum.head(spectrum.rank)
        self.eigenvalues_ = kept.eigenvalues
        self.eigenvectors_, _ = svd_flip(kept.eigenvectors.copy(), None)
        coefficients = self.eigenvectors_ / np.sqrt(self.eigenvalues_)
        self._shift = np.zeros(1, dtype=coefficients.dtype)
        if self.center:
            # Taking the mean off each row of the cross-kernel is taking it off each column of the coefficients.
            coefficients -= coefficients.mean(axis=0)
            self._shift = (self.row_means_ - self.row_means_.mean()) @ coefficients
        self._expansion = Expansion(kernel, rows, coefficients)
        return self

    def fit_transform(self, X, y=None):
        """Fit and return the projections of the training rows, shape (n_samples, n_components)."""
        self.fit(X)
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def transform(self, X):
        """Return the projections of new rows, shape (n_rows, n_components); lazily for a Dask array."""
        check_is_fitted(self)
        rows = validate_rows(self, X, self.kernel_, reset=False)
        return values_at(self._expansion, rows, len(self.eigenvalues_), self.eigenvectors_.dtype) - self._shift

    def inverse_transform(self, Z):
        """Return rows whose projections are close to ``Z``, by regression (Problem 1) from projections to rows.

        Kernel PCA has no exact inverse; as in scikit-learn's ``KernelPCA`` the pre-images are learned from the
        training rows, here with the same kernel on the projections. The regression is fitted at the first call.
        """
        check_is_fitted(self)
        if self.kernel_.input_kind != "vectors":
            raise ValueError(
                f"inverse_transform needs rows that are vectors; {self.kernel_!r} compares "
                f"{'rows of a given kernel matrix' if self.kernel_.input_kind == 'matrix' else 'objects'}."
            )
        if is_remote(self.X_fit_):
            raise ValueError(
                f"inverse_transform learns from all training rows, and these {self.X_fit_.shape[0]:,} are on a "
                "cluster. Fit on a sample of them on the client."
            )
        Z = check_array(Z, dtype=[np.float64, np.float32])
        if Z.shape[1] != len(self.eigenvalues_):
            raise ValueError(f"Z must have {len(self.eigenvalues_)} columns, one a component, got {Z.shape[1]}.")
        if self._inverse is None:
            rows = self.X_fit_.toarray() if hasattr(self.X_fit_, "toarray") else self.X_fit_
            regression = LSSVMRegressor(self.kernel, error_weight=self.inverse_error_weight)
            self._inverse = regression.fit(self.eigenvectors_ * np.sqrt(self.eigenvalues_), rows)
        return self._inverse.predict(Z)

    def certificate(self, k) -> ConvexityCertificate:
        """Return the convexity statement for component k + 1: Problem 3 with the first k components removed.

        Parameters
        ----------
        k : int
            0 to rank − 1.
        """
        return ConvexityCertificate.from_spectrum(self._spectrum_with(k), int(k), as_loss(self.loss))

    def regime(self, error_weight, k) -> Regime:
        """Return what Theorem 1 says of Problem 3 at an absolute error weight with k components removed.

        A loss with a bounded derivative has two regimes: below the bound only w = 0 is a solution (TRIVIAL), and beyond
        it there are solutions w and −w that do not run away (BOUNDED).
        """
        return self.certificate(k).regime_of(error_weight)

    def objective(self, coefficients, error_weight, k) -> float:
        """Return the objective of Problem 3 at w = Σ c_i φ(x_i), without what w has along the first k components.

        That is ½⟨w, w⟩ − γ Σ ρ(⟨w, φ(x_i)⟩), with ρ the ``loss``.

        Parameters
        ----------
        coefficients : array-like of shape (n_samples,)
            c: one coefficient for each training row.
        error_weight : float
            γ, absolute.
        k : int
            0 to rank − 1.
        """
        spectrum = self._spectrum_with(k)
        operator = self._kernel_operator()
        coefficients = np.asarray(coefficients, dtype=operator.dtype)
        error_weight = check_positive("error_weight", error_weight)
        if coefficients.shape != (operator.n,):
            raise ValueError(
                f"coefficients must have one entry for each of the {operator.n} training rows, got shape "
                f"{coefficients.shape}."
            )
        if not np.isfinite(coefficients).all():
            raise ValueError("coefficients must be finite, got NaN or infinity.")
        loss = as_loss(self.loss)
        return kernel_pca_objective(operator, spectrum, coefficients, float(error_weight), int(k), loss)

    def _spectrum_with(self, k) -> Spectrum:
        """Return at least k + 1 eigenpairs; more are computed where fit needed fewer."""
        check_is_fitted(self)
        k = check_count("k", k, 0)
        operator = self._kernel_operator()
        if k >= len(self._spectrum) and len(self._spectrum) < operator.n:
            # Whoever asks for one more component will ask for the next as well.
            self._spectrum = full_spectrum(operator).on_host()
        if k >= min(self._spectrum.rank, len(self._spectrum)):
            raise KernelRankError(k, k, self._spectrum.rank, operator.n)
        return self._spectrum

    def _kernel_operator(self) -> KernelOperator:
        """Return the kernel matrix, built again where the model was loaded without it."""
        if getattr(self, "_operator", None) is None:
            operator = make_operator(self.kernel_, self.X_fit_, self.backend_)
            self._operator = CenteredOperator(operator) if self.center else operator
        return self._operator

    @property
    def _n_features_out(self):
        return len(self.eigenvalues_)

    def __getstate__(self):
        """Leave the kernel matrix behind: n² numbers that come back from the rows when needed."""
        state = super().__getstate__().copy()
        state.pop("_operator", None)
        if "_spectrum" in state:
            state["_spectrum"] = state["_spectrum"].head(max(len(state["eigenvalues_"]), 1))
        return state

    def __sklearn_tags__(self):
        tags = set_kernel_tags(super().__sklearn_tags__(), self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
