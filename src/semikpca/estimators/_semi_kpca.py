"""Semi-supervised kernel PCA (Problem 4, Theorem 2, Algorithm 1)."""

import warnings
from numbers import Real

from semikpca import labels as coding
from semikpca.arrays import to_numpy
from semikpca.convexity import ConvexityCertificate
from semikpca.estimators._decisions import logger
from semikpca.estimators._response_classifier import STORED_MATRIX_RTOL
from semikpca.estimators._transductive import TransductiveClassifier
from semikpca.estimators._validation import check_count
from semikpca.exceptions import DegenerateSpectrumWarning
from semikpca.operators import KernelOperator
from semikpca.problem import EIGENPAIR_RTOL, SemiKPCAResponse
from semikpca.spectrum import Spectrum, full_spectrum, removable_spectrum

# Residuals of a path of error weights on a stored matrix: it then equals fits of its own to nine digits.
PATH_RTOL = 1e-10
# Rounding of products may be worth this many times the tolerance, by its bound; what is seen is far less.
_ROUNDING_SHARE = 10
_FAR_FROM_THE_BOUND = 0.1  # of the bound; farther away its error does not count for more than any other


class SemiKPCAClassifier(TransductiveClassifier):
    """Semi-supervised kernel PCA: labels for all rows from a few, by one convex problem.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="rbf"
        Which matrix: a kernel object, a shorthand ("rbf", "laplacian", "poly", "linear", "cosine", "graph",
        "precomputed"), or a function k(A, B) of two collections or of two objects.
    n_components_removed : int, default=1
        k: leading components of the kernel matrix that are taken out. The first one carries little but the mean.
        Where the cut falls inside a repeated eigenvalue, its whole eigenspace is removed, with a warning.
    error_weight : float or "middle", default="middle"
        The paper's γ. A number in (0, 1) in multiples of the bound 1/λ(k+1); "middle" is the paper's rule, the middle
        of (1/λk, 1/λ(k+1)) on a logarithmic scale.
    error_weight_unit : {"relative", "absolute"}, default="relative"
        "absolute" takes ``error_weight`` as it stands.
    class_prior : None, "labeled" or array-like of shape (n_classes,), default=None
        Shares that the predicted classes should have, in the order of ``classes_``; "labeled" takes those of the given
        labels. An offset for each class moves the predicted shares there.
    backend : {"auto", "dense", "blocked", "torch", "sparse", "low-rank", "dask"}, default="auto"
        Where and how the kernel matrix is had; it changes only the cost. "dense" stores it, "blocked" makes it again
        for every product and stores none of it, "torch" does so on a GPU (tf32; "torch:float16", "torch:float32" and
        "torch:float64" choose another precision), "sparse" is for neighbor graphs and "low-rank" for Nystroem kernels,
        "dask" multiplies on the workers of a Dask cluster. "auto" takes "sparse" and "low-rank" for their kernels,
        "torch" for tensors, "dask" for Dask arrays and data frames, and otherwise the faster of "dense" and "blocked"
        within scikit-learn's ``working_memory``: see :func:`semikpca.operators.choose_backend`. Where the matrix would
        fit that memory, it also lets "blocked" keep its blocks, about half of the matrix in float32.
    tol : float, default=1e-6
        Relative tolerance of eigenpairs and solves where the matrix is not stored. With 1e-6 or more, "auto" computes
        kernel values that are not stored in float32.
    max_iter : int or None, default=None
        Most steps of an iterative solve; None allows ten times what theory expects.
    random_state : int, RandomState or None, default=None
        For back ends that draw at random; none does today.
    verbose : int, default=0
        With 1 or more, progress goes to the logger "semikpca": products made, residual, time left.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row. Where the decision is exactly 0, nothing is known of the row, and it gets the
        class with the largest share: that of ``class_prior``, or among the labels.
    decision_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Exactly 0 for rows out of reach.
    unreachable_rows_ : ndarray of int
        Rows in pieces of a neighbor graph that have no label; empty for all other kernels. Their probabilities are the
        shares of the classes. A fit that has any warns with ``UnreachableRowsWarning``.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
    dual_coef_ : ndarray, same shape as ``decision_``
        (I − VVᵀ)α: coefficients of w over the training rows.
    alpha_ : ndarray, same shape as ``decision_``
        The paper's multipliers α.
    eigenvalues_ : ndarray of shape (k + 1,)
    eigenvectors_ : ndarray of shape (n_samples, k)
    error_weight_ : float
        The absolute error weight.
    certificate_ : ConvexityCertificate
    kernel_ : Kernel
        The fitted kernel.
    backend_ : str
    n_iter_ : int
    n_products_ : int
        Products with the kernel matrix so far: what a fit costs where the matrix is not stored.
    small_model_ : SemiKPCAClassifier
        Only where rows stay on a cluster and the kernel has features (``Nystroem``): the same problem on the client,
        with the labeled rows first. What every training row has is a lazy Dask array then.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from semikpca import SemiKPCAClassifier
    >>> X = [[0.0], [0.2], [0.4], [3.0], [3.2], [3.4]]
    >>> model = SemiKPCAClassifier().fit(X, [0, -1, -1, -1, -1, 1])
    >>> model.transduction_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> model.certificate_.regime.has_unique_solution
    True
    """

    def __init__(
        self,
        kernel="rbf",
        *,
        n_components_removed=1,
        error_weight="middle",
        error_weight_unit="relative",
        class_prior=None,
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
        self.class_prior = class_prior
        self.backend = backend
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _check_params(self):
        check_count("n_components_removed", self.n_components_removed, 0)

    def _set_up(self, operator: KernelOperator, targets):
        requested = int(self.n_components_removed)
        rtol = EIGENPAIR_RTOL if operator.facts.is_stored else self._tol_at_the_bound()
        spectrum, cut = removable_spectrum(operator, requested, rtol, targets)
        if cut > requested:
            warnings.warn(DegenerateSpectrumWarning(requested, cut, float(spectrum.eigenvalues[cut - 1])), stacklevel=3)
        interval = ConvexityCertificate.from_spectrum(spectrum, cut)
        self.error_weight_ = interval.resolve(self.error_weight, self.error_weight_unit)
        self.certificate_ = interval.at(self.error_weight_)
        self._refuse_huge_multipliers(operator)
        self.eigenvalues_ = spectrum.eigenvalues
        self.eigenvectors_ = self._handed_out(to_numpy(spectrum.eigenvectors[:, :cut]))
        if self._sharp_enough(operator) is not operator:
            return self._set_up(operator.sharper(), targets)
        if self.verbose:
            logger.info("%s", self.certificate_)
        with operator.between_products():
            return self._restore(operator, spectrum.subspace)

    def _refuse_huge_multipliers(self, operator: KernelOperator) -> None:
        """Refuse a matrix whose multipliers, at most error weight × condition number × √n, may be no numbers."""
        largest = self.error_weight_ * self.certificate_.condition_number * operator.n
        if not largest < float(operator.xp.finfo(operator.dtype).max) / 10:
            raise ValueError(
                f"With the error weight {self.error_weight_:.3g} (condition number "
                f"{self.certificate_.condition_number:.3g}) the multipliers leave the range of {operator.dtype}: the "
                "kernel matrix is too small. Multiply the features or the kernel matrix by a large number, or lower "
                "error_weight."
            )

    def _tol_at_the_bound(self) -> float:
        """Return the tolerance of what the bound is made of: close to it, errors in the bound count for more."""
        is_share = self.error_weight_unit == "relative" and isinstance(self.error_weight, Real)
        distance = 1 - float(self.error_weight) if is_share else 1.0
        return float(self.tol * distance if 0 < distance < _FAR_FROM_THE_BOUND else self.tol)

    def _matrix_options(self):
        return {"tol": self._tol_at_the_bound()}

    def _sharp_enough(self, operator: KernelOperator) -> KernelOperator:
        """Return the operator, or a sharper one where the error weight is so close to the bound that it needs one."""
        amplified = max(float(self.eigenvalues_[0]) * self.error_weight_, 1.0) * self.certificate_.condition_number
        accepted = max(_ROUNDING_SHARE * self.tol, operator.facts.accepted_error)
        return operator if operator.facts.product_error * amplified <= accepted else operator.sharper()

    def full_spectrum(self) -> Spectrum:
        """Return all eigenpairs of the kernel matrix, from which every error weight follows."""
        return full_spectrum(self._set_up_again().operator)

    def path_answers(self, error_weights):
        """Return decisions and left-out decisions at all these (absolute) weights; None where the spectrum has them.

        Shapes (n_weights, n_samples, n_columns) and (n_weights, n_labeled, n_columns).
        """
        response = self._set_up_again()
        assert isinstance(response, SemiKPCAResponse)
        labels, rtol = self.label_coding_, PATH_RTOL if response.operator.facts.is_stored else self.tol
        rows = labels.labeled_rows
        targets = response.operator.block(coding.signed_targets(labels.codes[rows], labels.n_classes))
        return response.path(rows, targets, error_weights, rtol)

    def _restore(self, operator: KernelOperator, subspace=None):
        cut = self.certificate_.n_components_removed
        return SemiKPCAResponse(
            self._sharp_enough(operator),
            self.eigenvalues_[:cut],
            operator.block(self.eigenvectors_),
            self.certificate_,
            rtol=min(self.tol, STORED_MATRIX_RTOL) if operator.facts.is_stored else self.tol,
            max_iter=self.max_iter,
            subspace=subspace,
        )
