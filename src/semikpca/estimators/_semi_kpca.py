"""Semi-supervised kernel PCA (Problem 4, Theorem 2, Algorithm 1)."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from semikpca.estimators._decisions import logger
from semikpca.estimators._response_classifier import TransductiveClassifier
from semikpca.estimators._validation import check_count, check_row_numbers
from semikpca.losses import as_loss
from semikpca.problem import DualityGap, Fit, SemiKPCAProblem
from semikpca.spectrum import Spectrum, full_spectrum


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
    loss : Loss or None, default=None
        ρ of the error term: :class:`semikpca.losses.Squared` (None), the paper's;
        :class:`~semikpca.losses.PseudoHuber` or :class:`~semikpca.losses.LogCosh`, in which large errors count for
        less; or one of your own. The convex interval is the same for all (docs/losses.md). With another than the
        square the answer is not linear in the labels: it takes Newton steps, and so does what is in closed form
        otherwise.
    class_prior : None, "labeled" or array-like of shape (n_classes,), default=None
        Shares that the predicted classes should have, in the order of ``classes_``; "labeled" takes those of the given
        labels. An offset for each class moves the predicted shares there.
    backend : {"auto", "dense", "blocked", "torch", "sparse", "low-rank", "dask"}, default="auto"
        Where and how the kernel matrix is made; it changes only the cost. "dense" stores it, "blocked" makes it again
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
        The convex interval, where the fit is in it, the loss and the contraction factor γλ(k+1).
    kernel_ : Kernel
        The fitted kernel.
    backend_ : str
    n_iter_ : int
        Steps of the solve: of conjugate gradients, 1 for a direct solve; Newton steps for losses but the squared one.
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
        loss=None,
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
        self.loss = loss
        self.class_prior = class_prior
        self.backend = backend
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _check_params(self):
        check_count("n_components_removed", self.n_components_removed, 0)

    def _problem(self) -> SemiKPCAProblem:
        return SemiKPCAProblem(
            int(self.n_components_removed),
            self.error_weight,
            self.error_weight_unit,
            self.tol,
            self.max_iter,
            loss=as_loss(self.loss),
        )

    @property
    def is_linear_in_labels(self) -> bool:
        """Whether decisions are a sum over the labels: those of the squared loss are."""
        return self._fitted.problem.is_linear if hasattr(self, "_fitted") else as_loss(self.loss).is_linear

    @property
    def has_label_response(self) -> bool:
        """As ``is_linear_in_labels``."""
        return self.is_linear_in_labels

    def _learn(self, fit: Fit) -> None:
        self.certificate_, self.eigenvalues_ = fit.facts.certificate, fit.facts.removed.eigenvalues
        self.eigenvectors_ = self._handed_out(fit.values("eigenvectors"))
        super()._learn(fit)
        if self.verbose:
            logger.info("%s", self.certificate_)

    def full_spectrum(self) -> Spectrum:
        """Return all eigenpairs of the kernel matrix, from which every error weight follows."""
        check_is_fitted(self)
        return full_spectrum(self._fitted.local().response.operator)

    def path_answers(self, error_weights):
        """Return decisions and left-out decisions at all these (absolute) weights; None where the spectrum has them.

        Shapes (n_weights, n_samples, n_columns) and (n_weights, n_labeled, n_columns).
        """
        check_is_fitted(self)
        return self._fitted.local().path(error_weights)

    def duality_gap(self) -> DualityGap:
        """Return the primal and the dual objective of the fit and the gap between them: strong duality as a number.

        It takes one product with the kernel matrix. The primal objective is at most ``excess`` above its minimum.

        Examples
        --------
        >>> from semikpca import SemiKPCAClassifier
        >>> X = [[0.0], [0.2], [0.4], [3.0], [3.2], [3.4]]
        >>> found = SemiKPCAClassifier(error_weight=0.5).fit(X, [0, -1, -1, -1, -1, 1]).duality_gap()
        >>> abs(found.dual - found.primal) < 1e-12, abs(found.gap) < 1e-12
        (True, True)
        """
        check_is_fitted(self)
        fit = self._fitted if self._fitted.small is None else self._fitted.small
        return fit.local().duality_gap()

    # -- the same rows with other labels -----------------------------------------------------------------------

    def without_labels(self, rows):
        """Return another model that was not given the labels of these rows; classes that have no other label go.

        Parameters
        ----------
        rows : array-like of int
            Labeled training rows; one label at least must be left.

        Returns
        -------
        SemiKPCAClassifier
            The kernel matrix and its eigenpairs are shared with this one, which stays as it is.
        """
        check_is_fitted(self)
        labels = self.label_coding_.without(check_row_numbers(rows, len(self.label_coding_.codes)))
        return self._with(labels)

    def with_label(self, row, code):
        """Return another model in which a training row has the label of this class number; this one stays as it is."""
        check_is_fitted(self)
        rows = check_row_numbers(row, len(self.label_coding_.codes))
        return self._with(self.label_coding_.changed(rows, np.array([code])))

    def _with(self, labels):
        """Return a model of the same parameters and rows with other labels."""
        other = object.__new__(type(self))  # not copy.copy, which would learn the sharpness first
        other.__dict__.update(self.__dict__)
        if not (self.class_prior is None or isinstance(self.class_prior, str)):
            other.class_prior = np.asarray(self.class_prior)[np.isin(self.classes_, labels.classes)]
        other._take_labels(labels)
        return other

    def decisions_with(self, rows, codes):
        """Yield the decisions of all training rows if each of ``rows`` by itself had the class number in ``codes``.

        Each part comes with the places in ``rows`` that it is about, and has shape (n_places, n_samples, n_columns);
        rows out of reach are not set to 0. A column of H for each row, or Newton steps from the present answer for
        losses but the squared one.
        """
        check_is_fitted(self)
        for some, decisions in self._fitted.local().decisions_with(np.asarray(rows), np.asarray(codes)):
            yield some, decisions + self.class_offsets_
