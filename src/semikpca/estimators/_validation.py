"""What every estimator checks at its border."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.utils.validation import _check_feature_names, validate_data

from semikpca._numbers import is_positive_number, is_whole_number
from semikpca.arrays import device_of, is_lazy, namespace
from semikpca.kernels import DefaultKernels, Kernel, as_kernel
from semikpca.operators import checked_lazy_rows, choose_backend, remote_rows

FLOATS = [np.float64, np.float32]


def validate_rows(estimator, X, kernel: Kernel, *, reset: bool):
    """Return the rows as the kernel takes them: a float matrix or tensor, a CSR matrix, or a list of objects.

    A lazy array or data frame becomes rows that are held elsewhere in ``fit`` (``reset``), and afterwards a lazy array.
    """
    if device_of(X) is not None:
        return _validated_tensor(estimator, X, reset=reset)
    if is_lazy(X):
        return _validated_lazy(estimator, X, kernel, reset=reset)
    if kernel.input_kind == "objects" and not _is_table(X) and (reset or not hasattr(estimator, "n_features_in_")):
        return _as_objects(X, minimum=2 if reset else 1)
    if not reset and kernel.input_kind == "matrix" and getattr(X, "ndim", 2) == 2:
        _check_cross_kernel(X, estimator.n_features_in_)
    with np.errstate(invalid="ignore"):  # it adds up X to see whether all is finite, and ∞ − ∞ would be warned of
        return validate_data(
            estimator,
            X,
            reset=reset,
            dtype=FLOATS,
            copy=reset,
            accept_sparse="csr" if kernel.accepts_sparse else False,
            ensure_min_samples=2 if reset else 1,
        )


def set_kernel_tags(tags, kernel):
    """Tell scikit-learn what the kernel takes; an invalid kernel is reported by fit, not here."""
    try:
        kernel = as_kernel(kernel)
    except ValueError:
        return tags
    tags.input_tags.sparse = kernel.accepts_sparse
    tags.input_tags.pairwise = kernel.input_kind == "matrix"
    return tags


def check_count(name: str, value, minimum: int) -> int:
    """Return a whole number that is at least ``minimum``."""
    if not is_whole_number(value, minimum):
        raise ValueError(f"{name} must be a whole number, {minimum} or more, got {value!r}.")
    return int(value)


def check_positive(name: str, value) -> float:
    """Return a positive, finite number."""
    if not is_positive_number(value):
        raise ValueError(f"{name} must be a positive, finite number, got {value!r}.")
    return float(value)


def check_flag(name: str, value) -> bool:
    """Return True or False; words such as "no" would count as True."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_iteration(tol, max_iter) -> None:
    """Check the two parameters that every iterative solve has."""
    check_positive("tol", tol)
    if max_iter is not None:
        check_count("max_iter", max_iter, 1)


def check_kernels(kernels) -> list[Kernel | DefaultKernels]:
    """Return a list of kernels, by their names or as they are, that all take the same kind of rows."""
    if not is_list(kernels):
        raise ValueError(f"kernels must be a list of kernels or None, got {kernels!r}.")
    found = [kernel if isinstance(kernel, DefaultKernels) else as_kernel(kernel) for kernel in kernels]
    kinds = {kernel.input_kind for kernel in found}
    if len(kinds) > 1:
        raise ValueError(f"All kernels must take the same kind of rows; these take {sorted(kinds)}.")
    return found


def is_list(values) -> bool:
    """Return whether these are several values, or at least one."""
    return isinstance(values, list | tuple | np.ndarray) and len(values) > 0


def check_row_numbers(rows, n_samples: int):
    """Return row numbers of the training rows, each of them once; none at all is allowed."""
    rows = np.atleast_1d(np.asarray(rows))
    if not rows.size:
        return np.empty(0, dtype=np.intp)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(f"rows must be whole numbers, got {rows!r}.")
    outside = rows[(rows < 0) | (rows >= n_samples)]
    if outside.size:
        raise ValueError(f"Row {outside[0]} does not exist: the model was fitted on rows 0 to {n_samples - 1}.")
    if len(np.unique(rows)) != len(rows):
        raise ValueError("A row was given twice; give each row one label.")
    return rows.astype(np.intp)


def weights_of_labeled(sample_weight, labeled):
    """Return the weights of the rows that are labeled; None stays None, and each row must have one."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight)
    if weights.shape != labeled.shape:
        raise ValueError(
            f"sample_weight must have one entry for each of the {len(labeled)} rows, got shape {weights.shape}."
        )
    return weights[labeled]


def _validated_tensor(estimator, X, *, reset: bool):
    """Check a tensor as validate_data checks an array; it stays on its device."""
    if not getattr(estimator, "_takes_tensors", False):
        raise ValueError(
            f"{type(estimator).__name__} does not take torch tensors. Pass X.cpu().numpy(); with backend='torch' it "
            "computes on the GPU all the same."
        )
    xp = namespace(X)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D tensor, got {X.ndim}D tensor instead. Reshape X to (n_samples, n_features).")
    minimum = 2 if reset else 1
    if X.shape[0] < minimum:
        raise ValueError(f"Found tensor with {X.shape[0]} sample(s) while a minimum of {minimum} is required.")
    if not X.is_floating_point():
        X = X.to(xp.float32)
    if not bool(xp.isfinite(X).all()):
        raise ValueError("Input X contains NaN or infinity. Drop such rows, or fill them in.")
    if reset:
        estimator.n_features_in_ = int(X.shape[1])
        return X.detach().clone()
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input."
        )
    return X.detach()


def _validated_lazy(estimator, X, kernel: Kernel, *, reset: bool):
    """Check a lazy array or data frame as validate_data checks an array; its rows stay where they are."""
    name = type(estimator).__name__
    if not getattr(estimator, "_takes_lazy", False):
        other = (
            "LSSVMRegressor, which needs a number for every row" if is_regressor(estimator) else "SemiKPCAClassifier"
        )
        raise ValueError(f"{name} does not take Dask collections. Use {other}, or pass X.compute().")
    if reset:
        # What the kernel cannot do is said before anything is read.
        backend, on_vectors = getattr(estimator, "backend", "auto"), kernel.input_kind == "vectors"
        choose_backend(backend, 2, kernel.is_sparse, on_vectors=on_vectors, on_cluster=True)
    _check_feature_names(estimator, getattr(X, "_meta", X) if hasattr(X, "columns") else X, reset=reset)
    if reset:
        rows = remote_rows(X)
        estimator.n_features_in_ = rows.shape[1]
        return rows
    rows = checked_lazy_rows(X)
    if rows.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {name} is expecting {estimator.n_features_in_} features as input."
        )
    return rows


def _is_table(X) -> bool:
    if sparse.issparse(X) or (hasattr(X, "columns") and len(getattr(X, "shape", ())) == 2):
        return True
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"


def _as_objects(X, minimum: int) -> list[Any]:
    if isinstance(X, str | bytes):
        raise ValueError(f"X must be a sequence of objects, got one string, {X[:30]!r}. Pass a list of strings.")
    if not isinstance(X, Iterable):
        raise ValueError(f"X must be a sequence of objects, got {X!r}.")
    rows = list(X)
    if len(rows) < minimum:
        raise ValueError(f"Found {len(rows)} object(s) in X, while a minimum of {minimum} is required.")
    return rows


def _check_cross_kernel(X, n_training_rows: int) -> None:
    shape = np.shape(X)
    if len(shape) == 2 and shape[1] != n_training_rows:
        raise ValueError(
            f"X has {shape[1]} features, but a precomputed kernel expects {n_training_rows} features as input: one "
            "kernel value for each training row, shape (n_rows, n_training_rows)."
        )
