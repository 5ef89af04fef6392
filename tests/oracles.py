"""Naive answers to hold the package to: the paper's formulas on dense matrices, written out; no code is shared.

Nothing here is fast or careful about memory. Kernels are double loops (or scikit-learn's pairwise functions where a
double loop would take seconds), solves are numpy.linalg.solve, spectra are numpy.linalg.eigh.
"""

import math

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

UNLABELED = -1

# Two ways to the same double-precision number: both solve a system whose condition number is at most about 1e3 in the
# tests, so they agree to about 1e3 * sqrt(n) * 2e-16 * (ratio of the first to the next eigenvalue) < 1e-9.
SAME_TO_ROUNDING = 1e-8


def relative_error(found, wanted):
    """Return ‖found − wanted‖ / ‖wanted‖ over all entries."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    assert found.shape == wanted.shape, f"shapes differ: {found.shape} and {wanted.shape}"
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


# -- the paper ---------------------------------------------------------------------------------------------------


def eigenpairs(K):
    """All eigenvalues, largest first, and their eigenvectors."""
    eigenvalues, eigenvectors = np.linalg.eigh(K)
    return eigenvalues[::-1], eigenvectors[:, ::-1]


def algorithm_1(K, signed_targets, k, gamma, pairs=None):
    """Algorithm 1 line by line; return α, the projected matrix K′ and the removed eigenvectors.

    ``pairs`` are the eigenpairs of K, where the caller has them already.
    """
    n = len(K)
    eigenvalues, eigenvectors = eigenpairs(K) if pairs is None else pairs
    if gamma >= 1 / eigenvalues[k]:
        raise ValueError("Unbounded problem")
    projected = np.array(K, dtype=float)
    for value, vector in zip(eigenvalues[:k], eigenvectors.T[:k], strict=True):
        projected -= value * np.outer(vector, vector)
    alpha = np.linalg.solve(np.eye(n) / gamma - projected, signed_targets)
    return alpha, projected, eigenvectors[:, :k]


def semi_kpca_from_the_paper(K, signed_targets, k, gamma, pairs=None):
    """The decisions K′α of Algorithm 1."""
    alpha, projected, _ = algorithm_1(K, signed_targets, k, gamma, pairs)
    return projected @ alpha


def semi_kpca_on_new_rows(K, cross, signed_targets, k, gamma, pairs=None):
    """Decisions on new rows: cross kernel × (I − VVᵀ) α, since w has no part along the removed components."""
    alpha, _, V = algorithm_1(K, signed_targets, k, gamma, pairs)
    return cross @ ((np.eye(len(K)) - V @ V.T) @ alpha)


def paper_error_weight(K, k, error_weight, unit="relative", pairs=None):
    """The absolute error weight: a share of 1/λ(k+1), a number as it stands, or the middle of (1/λk, 1/λ(k+1))."""
    eigenvalues, _ = eigenpairs(K) if pairs is None else pairs
    if error_weight == "middle":
        # The interval has no lower end for k = 0; the package takes half of the bound there.
        return 1 / math.sqrt(eigenvalues[k - 1] * eigenvalues[k]) if k else 0.5 / eigenvalues[0]
    return error_weight / eigenvalues[k] if unit == "relative" else error_weight


def lssvm_from_the_paper(K, targets, gamma, fit_intercept):
    """Problem 1 by its bordered system [0 1ᵀ; 1 K + I/γ] [b; α] = [0; y]; return α and b."""
    n, n_columns = targets.shape
    system = K + np.eye(n) / gamma
    if not fit_intercept:
        return np.linalg.solve(system, targets), np.zeros(n_columns)
    bordered = np.zeros((n + 1, n + 1))
    bordered[0, 1:] = bordered[1:, 0] = 1
    bordered[1:, 1:] = system
    solution = np.linalg.solve(bordered, np.vstack([np.zeros((1, n_columns)), targets]))
    return solution[1:], solution[0]


def lssvm_decision(K, targets, gamma, fit_intercept):
    """The decisions of Problem 1 on the training rows."""
    alpha, b = lssvm_from_the_paper(K, targets, gamma, fit_intercept)
    return K @ alpha + b


# -- labels ------------------------------------------------------------------------------------------------------


def naive_signed_targets(y, unlabeled=UNLABELED):
    """Two classes: one ±1 column, positive for the last class. More: one column each against the rest. 0: unlabeled."""
    classes = sorted({label for label in y.tolist() if label != unlabeled})
    positives = classes[1:] if len(classes) == 2 else classes
    targets = np.zeros((len(y), len(positives)))
    for i, label in enumerate(y.tolist()):
        for column, positive in enumerate(positives):
            if label != unlabeled:
                targets[i, column] = 1.0 if label == positive else -1.0
    return targets


def naive_one_hot(y, unlabeled=UNLABELED):
    """One column for each class, 1 at its labels."""
    classes = sorted({label for label in y.tolist() if label != unlabeled})
    return np.array([[float(label == one) for one in classes] for label in y.tolist()])


def naive_predictions(decision, classes):
    """The class of each row: by sign with one column, otherwise the column with the largest value."""
    decision = decision.reshape(len(decision), -1)
    if decision.shape[1] == 1:
        return np.array([classes[1] if value > 0 else classes[0] for value in decision[:, 0]])
    return np.array([classes[int(np.argmax(row))] for row in decision])


def as_fitted(columns):
    """One column the way fitted attributes show it: flat for two classes."""
    return columns[:, 0] if columns.shape[1] == 1 else columns


# -- kernels -----------------------------------------------------------------------------------------------------


def entrywise(function, A, B):
    """The matrix of function(a, b), by a double loop."""
    return np.array([[function(a, b) for b in B] for a in A], dtype=float)


def naive_rbf(gamma):
    return lambda a, b: math.exp(-gamma * sum((p - q) ** 2 for p, q in zip(a, b, strict=True)))


def naive_laplacian(gamma):
    return lambda a, b: math.exp(-gamma * sum(abs(p - q) for p, q in zip(a, b, strict=True)))


def naive_linear(a, b):
    return math.fsum(p * q for p, q in zip(a, b, strict=True))


def naive_polynomial(degree, gamma, coef0):
    return lambda a, b: (gamma * naive_linear(a, b) + coef0) ** degree


def naive_cosine(a, b):
    return naive_linear(a, b) / math.sqrt(naive_linear(a, a) * naive_linear(b, b))


def naive_shared_pairs(a, b):
    """A kernel on strings: how many pairs of neighboring letters two strings share, counted with multiplicity."""
    return float(sum(a[i : i + 2] == b[j : j + 2] for i in range(len(a) - 1) for j in range(len(b) - 1)))


def naive_normalized(function, A, B, training):
    """k(a, b) / sqrt(d(a) d(b)) with degrees summed over the training rows."""
    degrees_a = [math.fsum(function(a, x) for x in training) for a in A]
    degrees_b = [math.fsum(function(b, x) for x in training) for b in B]
    return entrywise(function, A, B) / np.sqrt(np.outer(degrees_a, degrees_b))


def naive_median_gamma(X):
    """1 / (2 median²) over all pairs of distinct rows."""
    distances = [math.dist(X[i], X[j]) for i in range(len(X)) for j in range(i)]
    return 0.5 / float(np.median(distances)) ** 2


def large_rbf(A, B, gamma):
    """The Gaussian kernel by scikit-learn, for matrices on which a double loop would take seconds."""
    return rbf_kernel(A, B, gamma=gamma)
