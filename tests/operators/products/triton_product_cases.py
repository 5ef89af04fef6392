"""The fused product in Triton's interpreter; ``test_triton_product.py`` runs this file with TRITON_INTERPRET=1."""

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
if os.environ.get("TRITON_INTERPRET") != "1" and not torch.cuda.is_available():
    pytest.skip("needs TRITON_INTERPRET=1 or a GPU", allow_module_level=True)

from outside_kernel import Matern  # noqa: E402
from semikpca.kernels import (  # noqa: E402
    RBF,
    Cosine,
    ExponentialDecay,
    Formula,
    Laplacian,
    Polynomial,
    ProductKernel,
)
from semikpca.operators.products import _torch, _triton  # noqa: E402
from semikpca.operators.products._triton import MODES, FusedProduct, is_fusible  # noqa: E402
from semikpca.operators.products._triton_programs import Tiles  # noqa: E402

# Operands have 11 bits, so an entry is off by up to 2^-11 twice; over random signs that is what is left of a sum.
# "float32" carries 22 bits and adds in float32.
TOLERANCE = {"tf32": 1.5e-3, "float16": 1.5e-3, "float32": 3e-6}
FEW = Tiles(128, 128, 8, 2)  # few tiles: the interpreter takes a millisecond for each operation

DEVICE = "cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda"


def rbf(A, B, gamma):
    return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(-1))


def laplacian(A, B, gamma):
    return np.exp(-gamma * np.abs(A[:, None] - B[None]).sum(-1))


def polynomial(A, B, gamma, degree=3, coef0=1.0):
    return (gamma * A @ B.T + coef0) ** degree


class Decay(ProductKernel):
    """p(t) exp(−t) of any distance."""

    def __init__(self, pairing, coefficients, root=False, gamma=0.2):
        self.pairing, self.coefficients, self.root, self.gamma = pairing, coefficients, root, gamma

    @property
    def formula(self):
        return Formula(self.pairing, ExponentialDecay(self.coefficients, self.root), self.gamma)

    def by_hand(self, A, B):
        differences = A[:, None] - B[None]
        distances = (differences**2 if self.pairing == "squared distance" else np.abs(differences)).sum(-1)
        t = np.sqrt(self.gamma * distances) if self.root else self.gamma * distances
        return sum(c * t**n for n, c in enumerate(self.coefficients)) * np.exp(-t)


def formula(kernel, A, B):
    A, B = A.double().cpu().numpy(), B.double().cpu().numpy()
    if isinstance(kernel, Matern):
        t = np.sqrt(3 * ((A[:, None] - B[None]) ** 2).sum(-1)) / kernel.length_
        return (1 + t) * np.exp(-t)
    if isinstance(kernel, Decay):
        return kernel.by_hand(A, B)
    if isinstance(kernel, Polynomial):
        return polynomial(A, B, kernel.gamma, kernel.degree, kernel.coef0)
    return (rbf if isinstance(kernel, RBF) else laplacian)(A, B, kernel.gamma)


def relative_error(found, expected):
    found = found.double().cpu().numpy()
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


def product_error(kernel, rows, columns, mode, new_rows=None, tiles=FEW):
    found = FusedProduct(kernel, rows, mode, tiles).multiply(columns, new_rows)
    expected = formula(kernel, rows if new_rows is None else new_rows, rows) @ columns.double().cpu().numpy()
    assert found.dtype == torch.float32
    assert found.shape == expected.shape
    return relative_error(found, expected)


every_mode = pytest.mark.parametrize("mode", MODES)
# tf32 and float16 differ in how rows are rounded and in nothing else.
every_width = pytest.mark.parametrize("mode", ["float16", "float32"])
KERNELS = [
    RBF(gamma=0.01),  # small exponents: norms outside of the tile
    RBF(gamma=0.4),  # large ones: inside
    Laplacian(gamma=0.1),
    Polynomial(gamma=0.2),
    Polynomial(gamma=0.2, degree=2, coef0=-0.5),
    Polynomial(gamma=0.2, degree=1, coef0=0.0),
]
DECAYS = [
    Matern(2.0).fit(None),
    Matern(1.2).fit(None),
    Decay("squared distance", (3.0,)),
    Decay("squared distance", (1.0, 1.0, 1 / 3), root=True),  # Matérn 5/2
    Decay("squared distance", (1e4, 1e4, 4e3, 1e3), root=True),  # 7/2 without its unit: values beyond float16
    Decay("squared distance", (1.0, -0.5, 0.25)),
    Decay("city-block distance", (1.0, 1.0)),
    Decay("city-block distance", (1.0,), root=True),
]


@every_mode
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_products_equal_those_of_the_formula(kernel, mode):
    assert product_error(kernel, normal(200, 5), normal(200, 3, seed=1), mode) < TOLERANCE[mode]


@every_mode
@pytest.mark.parametrize("kernel", DECAYS, ids=repr)
def test_polynomials_before_an_exponential_equal_those_of_the_formula(kernel, mode):
    rows, columns = normal(200, 5), normal(200, 3, seed=1)
    rows[:20] = rows[20:40]  # equal rows, whose distance is 0 but for rounding
    assert product_error(kernel, rows, columns, mode) < TOLERANCE[mode]
    assert product_error(kernel, rows, columns, mode, new_rows=1.5 * normal(70, 5, seed=2)) < TOLERANCE[mode]


@every_mode
@pytest.mark.parametrize("n_features", [1, 3, 64, 65])
def test_any_number_of_features(n_features, mode):
    kernel = RBF(gamma=0.5 / n_features)
    assert product_error(kernel, normal(70, n_features), normal(70, 2, seed=1), mode) < TOLERANCE[mode]


@pytest.mark.parametrize("n_rows", [1, 2, 255, 256, 257])
def test_any_number_of_rows(n_rows):
    assert product_error(RBF(gamma=0.1), normal(n_rows, 3), normal(n_rows, 2, seed=1), "float16") < 1.5e-3


@every_width
@pytest.mark.parametrize("n_columns", [1, 2, 16, 17, 70])
def test_any_number_of_columns(n_columns, mode):
    assert product_error(RBF(gamma=0.1), normal(90, 3), normal(90, n_columns, seed=1), mode) < TOLERANCE[mode]


@every_mode
@pytest.mark.parametrize("kernel", KERNELS[:4], ids=repr)
def test_new_rows_against_old_ones(kernel, mode):
    new_rows = 1.5 * normal(70, 5, seed=2) + 0.1
    assert product_error(kernel, normal(200, 5), normal(200, 3, seed=1), mode, new_rows) < TOLERANCE[mode]


@pytest.mark.parametrize("tiles", [Tiles(128, 128, 8, 3, halves=True), Tiles(64, 32, 4, 1), None], ids=str)
@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[1], KERNELS[3]], ids=repr)
def test_the_cut_of_the_work_changes_nothing_but_rounding(tiles, kernel):
    assert product_error(kernel, normal(300, 4), normal(300, 3, seed=1), "float32", tiles=tiles) < TOLERANCE["float32"]


@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[2]], ids=repr)
def test_long_sums_in_several_parts(kernel, monkeypatch):
    launched = []
    monkeypatch.setattr(_triton, "_TERMS_OF_SUM", 48)  # three tiles of 16: the last sum of a part is shorter
    monkeypatch.setattr(_triton, "_wanted_programs", lambda device: 5)
    launch = FusedProduct._launch
    monkeypatch.setattr(FusedProduct, "_launch", lambda *given: launched.append(launch(*given)) or launched[-1])
    error = product_error(kernel, normal(200, 3), normal(200, 2, seed=1), "float32", tiles=Tiles(256, 16, 4, 1))
    assert error < TOLERANCE["float32"]
    assert launched[0].shape[0] == 2


@every_mode
def test_rows_far_from_the_origin(mode):
    rows = normal(100, 3) + 1000.0  # exact distances of these rows, whose own digits end at 6e-5
    assert product_error(RBF(gamma=0.1), rows, normal(100, 2, seed=1), mode) < max(TOLERANCE[mode], 1e-4)


@every_mode
def test_clusters_far_from_each_other(mode):
    # γ‖x‖² is 2,500 here. Norms of the unrounded rows would turn the rounding of products into factors of e.
    rows = normal(120, 3)
    rows[:60, 0] += 100.0
    error = product_error(RBF(gamma=1.0), rows, normal(120, 2, seed=1), mode)
    # Rows move by 2^-12 of their distance from the mean, 50, which is 0.01 beside distances of about 1 to 2.
    assert error < (0.03 if mode != "float32" else 2e-3)


@every_width
def test_blocks_of_any_memory_layout(mode):
    rows, columns = normal(6, 200).T[:, ::2], torch.linalg.qr(normal(200, 4, seed=1))[0]
    assert not rows.is_contiguous()
    assert not columns.is_contiguous() or columns.T.is_contiguous()
    assert product_error(RBF(gamma=0.1), rows, columns, mode) < TOLERANCE[mode]
    assert product_error(RBF(gamma=0.1), rows, normal(200, 8, seed=2)[:, ::3], mode) < TOLERANCE[mode]


@every_width
@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[2], KERNELS[3], KERNELS[5]], ids=repr)
def test_rows_and_columns_of_zeros(kernel, mode):
    rows, columns = normal(80, 3), normal(80, 3, seed=1)
    rows[5:9] = 0
    columns[:, 1] = 0
    assert product_error(kernel, rows, columns, mode) < TOLERANCE[mode]
    found = FusedProduct(kernel, torch.zeros_like(rows), mode, FEW).multiply(columns)
    expected = formula(kernel, torch.zeros_like(rows), torch.zeros_like(rows)) @ columns.double().cpu().numpy()
    np.testing.assert_allclose(found.cpu().numpy(), expected, atol=80 * TOLERANCE[mode])


@every_width
@pytest.mark.parametrize("size", [1e-35, 1e-20, 1e20, 1e35])
def test_columns_of_any_size(size, mode):
    rows, columns = normal(60, 3), size * normal(60, 2, seed=1)
    columns[:, 1] *= 1e-3
    found = FusedProduct(RBF(gamma=0.1), rows, mode, FEW).multiply(columns)
    expected = formula(RBF(gamma=0.1), rows, rows) @ columns.double().cpu().numpy()
    error = np.linalg.norm(found.double().cpu().numpy() - expected, axis=0) / np.linalg.norm(expected, axis=0)
    assert error.max() < (TOLERANCE[mode] if size >= 1e-30 else 0.01)


@every_width
def test_small_coefficients_keep_their_digits_beside_a_large_one(mode):
    """A column with a label in one row and a millionth of it everywhere else, as conjugate gradients have them."""
    rows, columns = normal(80, 2), 1e-6 * normal(80, 1, seed=1)
    rows[0] += 50.0  # so far away that it shares nothing with the others
    columns[0] = 1.0
    found = FusedProduct(RBF(gamma=0.3), rows, mode, FEW).multiply(columns)[1:]
    expected = (formula(RBF(gamma=0.3), rows, rows) @ columns.double().cpu().numpy())[1:]
    assert relative_error(found, expected) < 0.03


@every_width
def test_a_polynomial_of_rows_of_all_sizes_is_right_in_each_row(mode):
    rows = normal(80, 4)
    rows[:5] *= 100.0
    columns = torch.ones(80, 1, device=DEVICE)
    columns[:5] = 0  # the large rows must not swamp what the small ones say of each other
    kernel = Polynomial(gamma=0.5, degree=2, coef0=1.0)
    found = FusedProduct(kernel, rows, mode, FEW).multiply(columns).double().cpu().numpy()
    expected = formula(kernel, rows, rows) @ columns.double().cpu().numpy()
    # Values of small rows are 1e-4 of the largest in their row, and float16 has them to 2^-11 all the same.
    assert np.abs(found / expected - 1).max() < 3 * TOLERANCE[mode]


@every_width
@pytest.mark.parametrize("gamma", [1e-12, 1e-4, 1e4])
def test_a_tiny_or_huge_gamma(gamma, mode):
    rows, columns = normal(70, 3), normal(70, 2, seed=1)
    expected = rbf(rows.double().cpu().numpy(), rows.double().cpu().numpy(), gamma) @ columns.double().cpu().numpy()
    found = FusedProduct(RBF(gamma=gamma), rows, mode, FEW).multiply(columns)
    scale = np.abs(columns.cpu().numpy()).sum(axis=0)
    # With gamma = 1e4 exponents are differences of numbers like 1e5, and float32 has them to a hundredth.
    tolerance = TOLERANCE[mode] if gamma < 1 else 0.05
    assert (np.abs(found.double().cpu().numpy() - expected) <= tolerance * scale).all()


@every_mode
@pytest.mark.parametrize("kernel", [RBF(gamma=0.01), RBF(gamma=1.0), Laplacian(gamma=1.0)], ids=repr)
def test_a_new_row_out_of_the_range_of_float16_is_like_no_other(kernel, mode):
    new_rows = torch.tensor([[1e30, 0.0], [-1e6, 1e6], [0.0, 0.0]], device=DEVICE)
    rows = normal(50, 2)
    found = FusedProduct(kernel, rows, mode, FEW).multiply(torch.ones(50, 1, device=DEVICE), new_rows)
    assert found[:2].tolist() == [[0.0], [0.0]]
    assert found[2].item() == pytest.approx(float(formula(kernel, new_rows[2:], rows).sum()), rel=TOLERANCE[mode])


def test_arguments_are_left_as_they_were():
    rows, columns = normal(60, 3), normal(60, 2, seed=1)
    before = rows.clone(), columns.clone()
    FusedProduct(RBF(gamma=0.1), rows, "tf32", FEW).multiply(columns)
    assert torch.equal(rows, before[0])
    assert torch.equal(columns, before[1])


def test_an_unknown_mode_is_named():
    with pytest.raises(ValueError, match=r"mode must be one of .*'float16'.*, got 'bfloat16'"):
        FusedProduct(RBF(gamma=0.1), normal(5, 2), "bfloat16")


def test_what_cannot_be_fused_is_known():
    rows = normal(5, 2)
    assert is_fusible(RBF(gamma=1.0), rows)
    assert not is_fusible(Cosine(), rows)
    assert not is_fusible(RBF(gamma=1.0), rows.double())
    assert not is_fusible(RBF(gamma=1.0), normal(5, 513))
    assert not is_fusible(Polynomial(degree=9, gamma=1.0), rows)
    assert is_fusible(Matern(1.0).fit(rows), rows)
    # A root has no digits left at 0 where nothing squares it again; and there is room for four coefficients.
    assert not is_fusible(Decay("squared distance", (1.0,), root=True), rows)
    assert is_fusible(Decay("city-block distance", (1.0,), root=True), rows)
    assert not is_fusible(Decay("squared distance", (1.0,) * 5), rows)


# -- the choice among products, with the fused one on a CPU too --------------------------------------------------------


@pytest.fixture
def fused_everywhere(monkeypatch):
    def fused_modes(kernel, rows, precision):
        return ("float32",) if precision == "float32" else (precision, "float32")

    monkeypatch.setattr(_torch, "fused_modes", fused_modes)


@pytest.mark.usefixtures("fused_everywhere")
@every_mode
def test_the_error_that_is_measured_covers_that_of_other_columns(mode):
    rows, columns = normal(200, 4), normal(200, 5, seed=1)
    product, error = _torch.prepare_product(RBF(gamma=0.1), rows, mode)
    assert product.mode == mode
    assert error <= TOLERANCE[mode]
    K = formula(RBF(gamma=0.1), rows, rows)
    difference = product.multiply(columns).double().cpu().numpy() - K @ columns.double().cpu().numpy()
    norms = np.linalg.norm(columns.double().cpu().numpy(), axis=0)
    assert (np.linalg.norm(difference, axis=0) <= error * np.linalg.norm(K, 2) * norms).all()


@pytest.mark.usefixtures("fused_everywhere")
def test_rows_that_need_more_digits_get_a_better_mode():
    rows = normal(120, 3)
    rows[:60, 0] += 100.0
    kernel, columns = RBF(gamma=1.0), normal(120, 2, seed=1)
    product, error = _torch.prepare_product(kernel, rows, "tf32")
    assert product.mode == "chunked"
    assert error < 1e-5
    expected = formula(kernel, rows, rows) @ columns.double().cpu().numpy()
    assert relative_error(product.multiply(columns), expected) < 1e-5


@pytest.mark.usefixtures("fused_everywhere")
def test_rows_out_of_range_are_left_to_blocks():
    rows = normal(40, 3) * 1e6
    product, _ = _torch.prepare_product(RBF(gamma=1.0), rows, "float16")
    assert product.mode == "chunked"
