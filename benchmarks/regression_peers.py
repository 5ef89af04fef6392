"""What else one would use to fill in numbers: models of the labeled rows, and one that teaches itself.

Part of ``bench_regression.py``, which says what it is for. Each has what it is usually given: settings that labels
alone choose, by five folds of them, or the usual ones. None sees the numbers of the other rows.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor

from semikpca import LSSVMRegressor, kernels

_FOLDS = 5
_TREES = 100
_ROUNDS = 4  # of self-training, each of which takes on a fifth of the unlabeled rows

Answer = np.ndarray


def _median_gamma(X: np.ndarray) -> float:
    distances = pairwise_distances(X)
    return float(1 / (2 * np.median(distances[np.triu_indices(len(X), 1)]) ** 2))


def _chosen(model: Any, grid: dict[str, Any], X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    folds = KFold(_FOLDS, shuffle=True, random_state=seed)
    return GridSearchCV(model, grid, scoring="neg_mean_squared_error", cv=folds).fit(X, y)


def kernel_ridge(X: np.ndarray, rows: np.ndarray, y: np.ndarray, seed: int) -> Answer:
    """Return kernel ridge regression with an RBF kernel; targets are centered, for it has no intercept."""
    gammas = _median_gamma(X) * np.array([0.25, 1.0, 4.0])
    grid = {"alpha": np.geomspace(1e-3, 10, 5), "gamma": gammas}
    return y.mean() + _chosen(KernelRidge(kernel="rbf"), grid, X[rows], y - y.mean(), seed).predict(X)


def ls_svm(X: np.ndarray, rows: np.ndarray, y: np.ndarray, seed: int) -> Answer:
    """Return LS-SVM with an RBF kernel of the median width."""
    model = LSSVMRegressor(kernels.RBF(gamma=_median_gamma(X)))
    return _chosen(model, {"error_weight": np.geomspace(0.1, 1000, 5)}, X[rows], y, seed).predict(X)


def gaussian_process(X: np.ndarray, rows: np.ndarray, y: np.ndarray, seed: int) -> Answer:
    """Return a Gaussian process with an RBF kernel and noise, both by the likelihood."""
    kernel = ConstantKernel(1.0) * RBF(np.sqrt(X.shape[1])) + WhiteKernel(0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the likelihood is flat where there are few labels
        return GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed).fit(X[rows], y).predict(X)


def nearest_neighbors(X: np.ndarray, rows: np.ndarray, y: np.ndarray, seed: int) -> Answer:
    """Return the mean of the nearest labeled rows, each by its distance."""
    most = len(rows) - -(-len(rows) // _FOLDS)
    grid = {"n_neighbors": [k for k in (1, 2, 3, 5, 8, 12) if k <= most]}
    return _chosen(KNeighborsRegressor(weights="distance"), grid, X[rows], y, seed).predict(X)


def random_forest(X: np.ndarray, rows: np.ndarray, y: np.ndarray, seed: int) -> Answer:
    """Return a forest of 100 trees."""
    return RandomForestRegressor(_TREES, random_state=seed).fit(X[rows], y).predict(X)


def self_training(X: np.ndarray, rows: np.ndarray, y: np.ndarray, seed: int) -> Answer:
    """Return a forest that takes on its own answers, a fifth of the rows a round, those that trees agree on."""
    known = np.full(len(X), np.nan)
    known[rows] = y
    forest = RandomForestRegressor(_TREES, random_state=seed).fit(X[rows], y)
    n_each = max(1, (len(X) - len(rows)) // (_ROUNDS + 1))
    for _ in range(_ROUNDS):
        open_rows = np.flatnonzero(np.isnan(known))
        spread = np.std([tree.predict(X[open_rows]) for tree in forest.estimators_], axis=0)
        sure = open_rows[np.argsort(spread, kind="stable")[:n_each]]
        known[sure] = forest.predict(X[sure])
        taken = np.flatnonzero(~np.isnan(known))
        forest = RandomForestRegressor(_TREES, random_state=seed).fit(X[taken], known[taken])
    return forest.predict(X)


PEERS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray, int], Answer]] = {
    "KernelRidge": kernel_ridge,
    "LSSVMRegressor": ls_svm,
    "GaussianProcessRegressor": gaussian_process,
    "nearest neighbors": nearest_neighbors,
    "random forest": random_forest,
    "self-training": self_training,
}
