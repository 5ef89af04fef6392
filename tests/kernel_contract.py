"""The contract of kernels: what holds for every one of them, whoever wrote it.

A test file derives from ``KernelContract`` and says in the fixture ``case`` which kernels are held to it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from semikpca.kernels import Kernel

# Two ways to compute the same number agree to some dozens of roundings, relative to the largest entry.
ROUNDING = {np.float64: 1e-13, np.float32: 3e-6}

generator = np.random.default_rng(20240607)
TRAINING = generator.normal(size=(30, 4))
NEW = generator.normal(size=(7, 4))
# About half of the entries are zero, as in rows that are worth storing as CSR.
TRAINING[generator.random(TRAINING.shape) < 0.5] = 0
NEW[generator.random(NEW.shape) < 0.5] = 0

every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


@dataclass(frozen=True)
class Case:
    """A kernel whose parameters are all numbers, and the same function by scikit-learn or NumPy."""

    kernel: Kernel
    reference: Callable[[Any, Any], Any]


def fitted(case, rows=TRAINING):
    return clone(case.kernel).fit(rows)


def assert_close(found, expected, dtype=np.float64, factor=1.0):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=factor * ROUNDING[dtype] * scale)


class KernelContract:
    """What every kernel keeps."""

    @pytest.fixture
    def formula_case(self, case):
        """Return a kernel that sees rows of any numbers as floats."""
        return case

    def test_pairwise_has_a_row_for_each_row_and_a_column_for_each_column(self, case):
        assert fitted(case).pairwise(NEW, TRAINING).shape == (7, 30)
        assert fitted(case).pairwise(NEW[:1], TRAINING).shape == (1, 30)

    def test_calling_a_kernel_is_pairwise(self, case):
        kernel = fitted(case)
        np.testing.assert_array_equal(kernel(TRAINING), kernel.pairwise(TRAINING, TRAINING))
        np.testing.assert_array_equal(kernel(NEW, TRAINING), kernel.pairwise(NEW, TRAINING))

    @every_dtype
    def test_values_equal_those_of_scikit_learn(self, case, dtype):
        training, new = TRAINING.astype(dtype), NEW.astype(dtype)
        kernel = fitted(case, training)
        assert_close(kernel.pairwise(training, training), case.reference(TRAINING, TRAINING), dtype)
        assert_close(kernel.pairwise(new, training), case.reference(NEW, TRAINING), dtype)

    @every_dtype
    def test_values_have_the_type_of_the_rows(self, case, dtype):
        rows = TRAINING.astype(dtype)
        assert fitted(case, rows).pairwise(rows, rows).dtype == dtype
        assert fitted(case, rows).diag(rows).dtype == dtype

    @every_dtype
    def test_the_training_matrix_is_symmetric(self, case, dtype):
        rows = TRAINING.astype(dtype)
        K = fitted(case, rows)(rows)
        assert_close(K, K.T, dtype)

    @every_dtype
    def test_the_training_matrix_is_positive_semidefinite(self, case, dtype):
        rows = TRAINING.astype(dtype)
        eigenvalues = np.linalg.eigvalsh(fitted(case, rows)(rows).astype(np.float64))
        assert eigenvalues[-1] > 0
        # An eigenvalue moves by no more than the norm of the rounding errors, which n entries a row can add up to.
        assert eigenvalues[0] >= -len(rows) * ROUNDING[dtype] * eigenvalues[-1]

    @every_dtype
    def test_diag_is_the_diagonal_of_pairwise(self, case, dtype):
        rows = TRAINING.astype(dtype)
        kernel = fitted(case, rows)
        diagonal = kernel.diag(rows)
        assert diagonal.shape == (30,)
        assert_close(diagonal, np.diagonal(kernel(rows)), dtype)

    @every_dtype
    @pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
    def test_csr_rows_give_what_dense_rows_give(self, case, dtype, container):
        training, new = TRAINING.astype(dtype), NEW.astype(dtype)
        dense = fitted(case, training)
        csr_training, csr_new = container(training), container(new)
        kernel = fitted(case, csr_training)
        K = kernel.pairwise(csr_new, csr_training)
        assert isinstance(K, np.ndarray)
        assert K.dtype == dtype
        assert_close(K, dense.pairwise(new, training), dtype)
        assert_close(kernel.diag(csr_training), dense.diag(training), dtype)

    def test_csr_and_dense_rows_can_meet(self, case):
        expected = fitted(case).pairwise(NEW, TRAINING)
        csr_training = sparse.csr_array(TRAINING)
        assert_close(fitted(case).pairwise(sparse.csr_array(NEW), TRAINING), expected)
        assert_close(fitted(case, csr_training).pairwise(NEW, csr_training), expected)

    def test_the_matrix_may_be_overwritten_without_harm(self, case):
        rows = TRAINING.copy()
        kernel = fitted(case, rows)
        first = kernel(rows)
        expected = first.copy()
        first[:] = np.nan
        diagonal = kernel.diag(rows)
        diagonal[:] = np.nan
        np.testing.assert_array_equal(rows, TRAINING)
        np.testing.assert_array_equal(kernel(rows), expected)

    def test_rows_are_never_modified(self, case):
        dense, csr = TRAINING.copy(), sparse.csr_array(TRAINING)
        dense.flags.writeable = False
        for rows in (dense, csr):
            kernel = fitted(case, rows)
            kernel(rows)
            kernel.diag(rows)
        assert (csr != sparse.csr_array(TRAINING)).nnz == 0

    def test_the_layout_of_the_rows_does_not_matter(self, case):
        expected = fitted(case)(TRAINING)
        for rows in (np.asfortranarray(TRAINING), np.repeat(TRAINING, 2, axis=0)[::2], TRAINING[::-1].copy()[::-1]):
            assert_close(fitted(case, rows)(rows), expected)

    @pytest.mark.parametrize("dtype", [np.int8, np.int64, bool])
    @pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
    def test_whole_numbers_are_computed_with_as_floats(self, formula_case, dtype, container):
        whole = np.abs(np.round(20 * TRAINING)).astype(dtype)
        expected = fitted(formula_case, whole.astype(float))(whole.astype(float))
        rows = container(whole)
        assert_close(fitted(formula_case, rows)(rows), expected)

    def test_a_clone_gives_the_same_values_and_shares_nothing(self, case):
        twin = clone(case.kernel)
        assert twin is not case.kernel
        assert type(twin) is type(case.kernel)
        assert repr(twin) == repr(case.kernel)
        np.testing.assert_array_equal(twin.fit(TRAINING)(TRAINING), fitted(case)(TRAINING))

    def test_a_clone_of_a_fitted_kernel_is_not_fitted(self, case):
        assert not [name for name in vars(clone(fitted(case))) if name.endswith("_")]

    def test_parameters_can_be_read_and_set(self, case):
        params = case.kernel.get_params(deep=False)
        rebuilt = type(case.kernel)(**params)
        assert rebuilt.get_params(deep=False) == params
        assert rebuilt.set_params(**params) is rebuilt

    def test_fit_returns_the_kernel_itself(self, case):
        kernel = clone(case.kernel)
        assert kernel.fit(TRAINING) is kernel

    def test_the_training_matrix_of_one_row_is_its_diagonal(self, case):
        kernel = fitted(case)
        assert_close(kernel.pairwise(TRAINING[:1], TRAINING[:1])[0], kernel.diag(TRAINING[:1]))
