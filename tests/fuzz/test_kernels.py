"""Every kernel on extreme rows and with extreme parameters: symmetric, finite and the same by every way, or refused."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from fuzz.judging import REFUSALS, no_warnings, refusal
from fuzz.profiles import drawn
from semikpca.kernels import RBF, Cosine, Laplacian, Linear, NeighborGraph, Normalized, Nystroem, Polynomial
from semikpca.operators import choose_backend, make_operator

pytestmark = pytest.mark.slow  # many inputs are drawn

# Two orders of the same sums over at most 5 features, then a power or an exponent: a few dozen roundings, of numbers
# that may cancel against the largest one; exponents up to 16 multiply a relative error by as much.
ROUNDINGS = 2_000

coefficients = st.sampled_from([1.0, 0.01, 1e-8, 1e3, 1e8, 1e-300, 1e300, 5e-324, "median", "scale"])
KERNELS = {
    "rbf": st.builds(RBF, gamma=coefficients),
    "laplacian": st.builds(Laplacian, gamma=coefficients),
    "polynomial": st.builds(
        Polynomial,
        degree=st.sampled_from([1, 2, 3, 20, 1000]),
        gamma=coefficients,
        coef0=st.sampled_from([0.0, 1.0, 1e-300, 1e10, 1e300, -1.0]),
    ),
    "linear": st.builds(Linear, center=st.booleans()),
    "cosine": st.builds(Cosine),
    "normalized rbf": st.builds(lambda gamma: Normalized(RBF(gamma=gamma)), coefficients),
    "normalized linear": st.just(Normalized("linear")),
}
numbers = st.sampled_from(
    [0.0, 1.0, -1.0, 0.5, 3.0, 1e3, 1e-8, 1e8, 1e300, -1e300, 1e-300, 5e-324, 1e160, 1e-160, 1e18]
)


@st.composite
def rows(draw, fewest=1):
    """A few rows: repeated ones, columns that do not vary, numbers of any size, dense or CSR, float32 or float64."""
    n_features = draw(st.integers(1, 5))
    pool = draw(st.lists(numbers, min_size=1, max_size=4))
    distinct = draw(
        st.lists(st.lists(st.sampled_from(pool), min_size=n_features, max_size=n_features), min_size=1, max_size=6)
    )
    chosen = draw(st.lists(st.sampled_from(distinct), min_size=fewest, max_size=9))
    X = np.array(chosen)
    with np.errstate(over="ignore"):
        X = X.astype(draw(st.sampled_from([np.float64, np.float32])))
    assume(np.isfinite(X).all())  # the estimators refuse others before a kernel sees them
    return sparse.csr_array(X) if draw(st.booleans()) else X


@pytest.mark.parametrize("name", KERNELS)
@drawn(60)
@given(data=st.data())
def test_a_kernel_is_symmetric_finite_and_one_by_every_way_or_refused(name, data):
    kernel, X = data.draw(KERNELS[name]), data.draw(rows())
    try:
        with no_warnings():
            fitted = kernel.fit(X)
            dense = make_operator(fitted, X, "dense")
            blocked = make_operator(fitted, X, choose_backend("blocked", X.shape[0]))
            K, diagonal = dense.to_dense(), fitted.diag(X)
            block = np.linspace(-1, 1, 2 * len(K)).reshape(-1, 2).astype(X.dtype)
            products = dense.matmat(block), blocked.matmat(block)
    except REFUSALS as error:
        refusal(error)
        return
    assert K.shape == (X.shape[0], X.shape[0])
    assert K.dtype == X.dtype
    assert np.isfinite(K).all()
    granted = ROUNDINGS * np.finfo(X.dtype).eps * np.abs(K).max()
    assert np.abs(K - K.T).max() <= granted
    assert np.abs(np.diagonal(K) - diagonal).max() <= granted
    assert np.abs(products[0] - products[1]).max() <= len(K) * granted


@pytest.mark.parametrize(
    "kernel", [NeighborGraph(n_neighbors=2), Nystroem(RBF(), n_landmarks=3)], ids=["graph", "nystroem"]
)
@drawn(60)
@given(X=rows(fewest=2))
def test_sparse_and_low_rank_kernels_are_finite_or_refused(kernel, X):
    backend = "sparse" if isinstance(kernel, NeighborGraph) else "low-rank"
    try:
        with no_warnings():
            fitted = kernel.fit(X)
            product = make_operator(fitted, X, backend).matmat(np.eye(X.shape[0], dtype=X.dtype))
    except REFUSALS as error:
        refusal(error)
        return
    assert np.isfinite(product).all()
    assert np.abs(product - product.T).max() <= ROUNDINGS * np.finfo(X.dtype).eps * np.abs(product).max()


@pytest.mark.parametrize("kernel", [RBF(), Laplacian(), Polynomial(gamma="median")], ids=["rbf", "laplacian", "poly"])
def test_sparse_rows_whose_squares_are_no_numbers_are_refused(kernel):
    rows = sparse.csr_array(np.array([[1e300, 0.0], [-1e300, 1.0], [1e300, 1e300]]))
    with no_warnings():
        try:
            values = kernel.fit(rows).pairwise(rows, rows)
        except ValueError as error:
            refusal(error)
        else:
            assert np.isfinite(values).all()
