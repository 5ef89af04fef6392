"""The plain and the automatic classifier go one way from a kernel matrix to a label response, with the same guards."""

import numpy as np
import pytest

from blending_oracles import label_response
from oracles import relative_error
from semikpca import SemiKPCAClassifier, SemiKPCAClassifierCV
from semikpca.exceptions import UnboundedProblemError
from semikpca.kernels import RBF
from semikpca.problem import SemiKPCAProblem

GAMMA = 0.3
# A ten-thousandth below the bound, rounding of kernel values counts ten thousand times.
CLOSE = 0.9999
# Eigenpairs and solves to 1e-6 of what they are relative to, ten thousand times over, and a little more.
CLOSE_TO_EXACT = 2e-2


def plain(weight, kernel=None, **options):
    return SemiKPCAClassifier(RBF(gamma=GAMMA) if kernel is None else kernel, error_weight=weight, **options)


def automatic(weight, kernel=None, **options):
    kernels = [RBF(gamma=GAMMA) if kernel is None else kernel]
    return SemiKPCAClassifierCV(kernels, error_weights=[weight], **options)


def set_up_of(model):
    """What was learned of the kernel matrix, and the label response."""
    if isinstance(model, SemiKPCAClassifier):
        return model._fitted.facts, model._fitted.response
    source = model.blend_.sources[0]
    return source.facts, source.response


both = pytest.mark.parametrize("make", [plain, automatic])


@pytest.fixture
def blocked(monkeypatch):
    """Let 300 rows count as many: kernel values are then computed for every product, in float32 where that does."""
    monkeypatch.setattr("semikpca.operators._factory._FEW_ROWS", 100)
    generator = np.random.default_rng(5)
    truth = generator.integers(2, size=400)
    X = generator.standard_normal((400, 3)) + 1.5 * truth[:, np.newaxis]
    y = np.full(400, -1)
    y[:20] = truth[:20]
    return X, y


@both
def test_a_fit_is_set_up_by_the_one_function(make, two_classes, monkeypatch):
    calls = []
    set_up = SemiKPCAProblem.set_up

    def counted(self, *args, **kwargs):
        calls.append(self)
        return set_up(self, *args, **kwargs)

    monkeypatch.setattr(SemiKPCAProblem, "set_up", counted)
    make(0.5).fit(*two_classes)
    assert [problem.error_weight for problem in calls] == [0.5]


@both
def test_close_to_the_bound_kernel_values_have_more_digits(make, blocked):
    far, close = (set_up_of(make(weight).fit(*blocked))[1].operator for weight in (0.5, CLOSE))
    assert (far.value_dtype, close.value_dtype) == (np.float32, np.float64)


@both
def test_close_to_the_bound_the_response_is_that_of_the_whole_spectrum(make, blocked):
    X, y = blocked
    facts, response = set_up_of(make(CLOSE).fit(X, y))
    rows = np.arange(5)
    wanted = label_response(RBF(gamma=GAMMA)(X), 1, facts.error_weight)[:, rows]
    assert relative_error(response.columns(rows).decision, wanted) < CLOSE_TO_EXACT


@both
def test_eigenpairs_are_the_sharper_the_closer_the_weight_is_to_the_bound(make, blocked):
    far, close = (set_up_of(make(weight).fit(*blocked))[0].removed.rtol for weight in (0.5, CLOSE))
    assert close == pytest.approx(far * (1 - CLOSE))


@both
def test_the_solve_begins_with_what_the_search_for_eigenpairs_has_learned(make, blocked):
    facts, response = set_up_of(make(0.5).fit(*blocked))
    assert response.subspace is facts.removed.subspace is not None


@both
@pytest.mark.parametrize(("dtype", "scale"), [(np.float64, 1e-306), (np.float32, 1e-36)])
def test_multipliers_that_leave_the_range_of_numbers_are_refused(make, dtype, scale, two_classes):
    X, y = two_classes
    K = (scale * RBF(gamma=GAMMA)(X)).astype(dtype)
    with pytest.raises(ValueError, match="multipliers leave the range of float.*Multiply the features"):
        make(0.999, "precomputed").fit(K, y)


@both
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_weight_at_the_bound_is_refused_in_any_precision(make, dtype, two_classes):
    X, y = two_classes
    with pytest.raises(UnboundedProblemError):
        make(1.0).fit(X.astype(dtype), y)


@both
def test_in_float32_the_response_close_to_the_bound_is_as_good_as_its_rows(make, two_classes):
    X, y = two_classes
    rows = np.arange(5)
    (single, response), (double, exact) = (set_up_of(make(0.99).fit(X.astype(t), y)) for t in (np.float32, np.float64))
    assert single.certificate.error_weight == pytest.approx(double.certificate.error_weight, rel=1e-4)
    # A hundredth below the bound an error of the bound counts a hundred times.
    assert relative_error(response.columns(rows).decision, exact.columns(rows).decision) < 100 * 1e-4


def test_another_weight_closer_to_the_bound_gets_sharper_eigenpairs(blocked):
    model = automatic(0.5).fit(*blocked)
    facts, response = set_up_of(model.at_error_weight(CLOSE))
    assert facts.removed.rtol < set_up_of(model)[0].removed.rtol
    assert response.operator.value_dtype == np.float64
